// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QScrollArea;
class QWidget;

namespace telltale::views {

/// The content in an area that scrolls downwards where there is no room for all of it, so that nothing is squeezed.
/// Thread: gui.
QScrollArea* scrolled(QWidget* content);

}
