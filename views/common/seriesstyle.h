// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>

#include "theme.h"

namespace telltale::views {

/// Color and dash of a selected series by its slot: six colors solid, then dash 6 3, then dash 2 3; beyond 18 all are
/// gray and only the hovered one is colored. Thread: any (a value).
struct SeriesStyle {
    static constexpr int kColors = 6;
    static constexpr int kDistinct = 3 * kColors;

    QColor color;
    int dashOn = 0; ///< 0 = solid, px
    int dashOff = 0;

    static SeriesStyle forSlot(int slot, const Theme& theme);
    /// Slot of a line in the color of its run, of `runs`. Of few, the dash is that of the row's `place`, the fourth's
    /// the first's again; of more than there are colors it is the run's.
    static int slotOfRun(int run, int place, int runs);
};

/// The line of the same row in another run: the same color, in dashes that the row's own line never has.
SeriesStyle otherRunStyle(SeriesStyle own);

}
