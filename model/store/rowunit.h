// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include <telltale/store/columnplan.h>
#include <telltale/store/runindex.h>

namespace telltale::store {

/// Rows of one question whose values lie in the same tiles and who answer for the same steps: they share one plan.
struct RowUnit {
    struct Member {
        int row = 0; ///< of the question
        int lane = 0; ///< of the group
    };

    SourceId source;
    Kind kind = Kind::Unspecified;
    TileSet tiles;
    StepRange steps;
    OpenTiles open;
    std::vector<Member> members; ///< by lane
    std::vector<int> subBlocks; ///< those of the members' lanes, rising

    /// Puts members in order and finds their sub-blocks.
    void settle();
};

/// The units of rows over all steps, with no open tiles yet.
struct FoundUnits final : series::FoundRows {
    std::uint64_t revision = 0; ///< of the index
    std::vector<RowUnit> units; ///< older attempts first
};

}
