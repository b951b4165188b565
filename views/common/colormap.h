// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>

#include <QRgb>

#include "theme.h"

namespace telltale::views {

/// 256 opaque colors, low to high. Thread: any (immutable).
using ColorTable = std::array<QRgb, 256>;

extern const ColorTable kSequentialTable;
extern const ColorTable kDivergingDarkTable;
extern const ColorTable kDivergingLightTable;

/// The map for deviations from a center: its middle melts into the theme's base.
inline const ColorTable& divergingTable(Theme::Mode mode)
{
    return mode == Theme::Mode::Dark ? kDivergingDarkTable : kDivergingLightTable;
}

}
