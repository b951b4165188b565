// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <telltale/store/tilecodec.h>

namespace telltale::store {

/// Buckets of one stat of one group, on the way from one level to the next. All arrays are column-major: lane + bucket
/// * lanes. Thread: its owner's.
struct LevelBuckets {
    int lanes = 0;
    std::vector<Step> firstSteps;
    std::vector<Step> lastSteps;
    bool adds = false; ///< Reduction::Sum: `mean` has sums, and nobody reads min and max
    std::vector<double> min, max, mean;
    std::vector<std::uint64_t> samples, finite, nans, posInfs, negInfs;

    int buckets() const { return static_cast<int>(firstSteps.size()); }
    void addBuckets(int count);
    /// Buckets without samples for the columns that a tile which was closed early does not have.
    void padTo(std::int64_t count);
};

/// Which samples of a tile have a NaN, +Inf or -Inf element: bits 1, 2, 4, column-major; empty = none has.
std::vector<std::uint8_t> nonFiniteFlags(const series::OpenTile& tile);
bool hasCounts(const std::vector<Stat>& stats);

/// Level-1 buckets (16 columns each, the last maybe fewer) of what the tile holds.
LevelBuckets reduceTile(const series::OpenTile& tile, int statIndex, const std::vector<std::uint8_t>& flags);

/// Appends the buckets of a tile of level >= 1, `factor` of them merged to one.
Expected<void> appendBuckets(LevelBuckets& out, const TileView& tile, int factor);

std::string encodeBuckets(const LevelBuckets& buckets);

}
