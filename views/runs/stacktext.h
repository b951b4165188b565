// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

class QLabel;

namespace telltale::views {

/// A module's call stack as an agent writes it ("File PATH, line N, in FUNCTION, \n CODE \n" a frame) for a label: each
/// frame's place is a link. What is no such text stays as it is; nothing of it is taken for HTML.
QString stackHtml(const QString& stack);
/// A click on a place (or Tab and Enter) copies it as "PATH:LINE", and the label's tool tip says so. Thread: gui.
void makeStackLabel(QLabel* label);

}
