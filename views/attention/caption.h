// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QLabel;
class QWidget;

namespace telltale::views {

constexpr int kCaptionHeight = 24;
constexpr int kCaptionInset = 12; ///< px behind one, and between two

/// A line over a plot; says with dots that there is more than it has room for.
QLabel* makeCaption(QWidget* parent);

}
