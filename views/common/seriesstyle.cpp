// SPDX-License-Identifier: GPL-3.0-or-later
#include "seriesstyle.h"

namespace telltale::views {

SeriesStyle SeriesStyle::forSlot(int slot, const Theme& theme)
{
    if (slot < 0 || slot >= kDistinct)
        return { theme.text3, 0, 0 };
    const QColor colour = theme.series.at(static_cast<std::size_t>(slot) % theme.series.size());
    if (slot < 6)
        return { colour, 0, 0 };
    return slot < 12 ? SeriesStyle { colour, 6, 3 } : SeriesStyle { colour, 2, 3 };
}

}
