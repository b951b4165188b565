// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QRect>

#include <telltale/common/theme.h>

#include "distributionpicture.h"

class QPainter;

namespace telltale::views {

/// The columns that are drawn as ridges in a plot so wide: evenly spaced from the first to the newest that have
/// elements, and of one alone the newest.
std::vector<int> ridgeColumns(const DistributionStrip& strip, int width);

/// px right of a plot that its last ridges may have.
inline constexpr int kRidgeRoom = 68;

/// One outline a column: it stands on its step and reaches to the right as far as the share of elements in each bin
/// says, the largest over two distances if the last ones have the room; earlier ones stand in front. A column without a
/// finite element is a line with the sign of what it is. Thread: gui.
void paintRidges(QPainter& painter, const QRect& plot, const DistributionStrip& strip, const Theme& theme);

}
