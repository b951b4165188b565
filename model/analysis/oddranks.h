// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <telltale/series/query.h>

namespace telltale::analysis {

/// How much of what a rank measures is far from what its peers measure.
struct RankOddness {
    enum class Grade {
        Like, ///< as its peers, or there are too few to tell
        AtTimes, ///< very far somewhere
        Odd, ///< far in many places, or not finite where most are
    };
    Grade grade = Grade::Like;
    std::size_t compared = 0; ///< cells that were compared
    std::size_t far = 0; ///< of them, far from the others or not finite
    double strongest = 0; ///< the largest distance, in deviations of the peers
    std::size_t strongestAt = 0; ///< the cell of that
};

inline constexpr std::size_t kLeastPeers = 3; ///< of two that differ, nobody knows which one is odd
inline constexpr double kFar = 6; ///< deviations
inline constexpr double kVeryFar = 25;
inline constexpr double kOddShare = 0.1; ///< of the compared cells

/// Compares peers: rank r measured `values[r * cells + c]` (state `states[...]`) of the same thing c, a layer or a
/// step, as the others did. One answer a rank.
///
/// The distance of a rank in a cell is |y - median(y)| / max(s, S, F) over its peers: y is ln|value| where all values
/// of the cell are above zero (so that factors count), else the value in units of the cell's median magnitude; s is
/// 1.4826 x MAD, S the median of s over all cells, so that a few peers that happen to agree do not make the next one
/// loud, and F 1 %, below which a difference between ranks means nothing. The median and the MAD bear that just under
/// half of the peers are wrong. Thread: any (pure).
std::vector<RankOddness> oddRanks(
    std::span<const float> values, std::span<const series::CellState> states, std::size_t ranks, std::size_t cells);

}
