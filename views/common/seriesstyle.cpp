// SPDX-License-Identifier: GPL-3.0-or-later
#include "seriesstyle.h"

namespace telltale::views {

SeriesStyle SeriesStyle::forSlot(int slot, const Theme& theme)
{
    if (slot < 0 || slot >= kDistinct)
        return { theme.text3, 0, 0 };
    const QColor color = theme.series.at(static_cast<std::size_t>(slot) % theme.series.size());
    if (slot < kColors)
        return { color, 0, 0 };
    return slot < 2 * kColors ? SeriesStyle { color, 6, 3 } : SeriesStyle { color, 2, 3 };
}

int SeriesStyle::slotOfRun(int run, int place, int runs)
{
    return runs <= kColors ? run + place * kColors % kDistinct : run % kDistinct;
}

SeriesStyle otherRunStyle(SeriesStyle own)
{
    own.dashOff = own.dashOn == 6 ? 4 : 3;
    own.dashOn = own.dashOn == 0 ? 6 : own.dashOn == 6 ? 3 : 1;
    return own;
}

}
