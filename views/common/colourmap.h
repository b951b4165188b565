// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>

#include <QRgb>

#include "theme.h"

namespace telltale::views {

/// 256 opaque colours, low to high. Thread: any (immutable).
using ColourTable = std::array<QRgb, 256>;

extern const ColourTable kSequentialTable;
extern const ColourTable kDivergingDarkTable;
extern const ColourTable kDivergingLightTable;

/// The map for deviations from a centre: its middle melts into the theme's base.
inline const ColourTable& divergingTable(Theme::Mode mode)
{
    return mode == Theme::Mode::Dark ? kDivergingDarkTable : kDivergingLightTable;
}

}
