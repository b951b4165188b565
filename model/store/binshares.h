// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace telltale::store {

/// How a share of a number format (core/numberformats.h) is read from the histograms of a group, each of which lies in
/// isLost.size() lanes. Thread: any (immutable).
struct BinShares {
    std::vector<std::uint8_t> isLost; ///< beside the bins: whether its elements are part of the share
    /// Elements of each histogram, by its place in the group: where fewer are in bins, the rest is NaN. 0: unknown, or
    /// statistics of the tensor know it better.
    std::vector<std::uint64_t> numels;

    int bins() const { return static_cast<int>(isLost.size()); }
    std::uint64_t numelOf(int place) const
    {
        return static_cast<std::size_t>(place) < numels.size() ? numels[static_cast<std::size_t>(place)] : 0;
    }
};

}
