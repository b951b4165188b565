// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QAction;
class QToolButton;
class QWidget;

namespace telltale::shell {

/// A flat button of 26 px that shows an action's icon alone and says its tool tip to screen readers.
QToolButton* iconButton(QAction* action, QWidget* parent);

}
