// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <telltale/judge/watchlist.h>

namespace telltale::judge {

/// Which rows of a watchlist each rule looks at: found once a list, since going over all of them for each rule is most
/// of what judging a step takes. Thread: any (a value).
struct RowPlaces {
    using Rows = std::vector<std::uint32_t>; ///< places in the list, rising

    RowPlaces() = default;
    explicit RowPlaces(const Watchlist& list);
    std::span<const std::uint32_t> membersOf(std::int32_t rollup) const;

    Rows tuning {}; ///< learning rates and loss scales
    Rows limited {}; ///< whose magnitude is judged
    Rows matrices {}; ///< weights that are matrices
    Rows entropies {};
    Rows logits {}; ///< attention heads whose largest logit is known
    Rows outputs {}; ///< whose share of zeros is judged
    Rows moments {}; ///< second moments of a roll-up whose mean is known
    // Beside the list's rows, and small.
    std::vector<std::int32_t> rollups {}; ///< -1: in none
    std::vector<Kind> kinds {};

private:
    Rows m_members {}; ///< by roll-up
    std::vector<std::size_t> m_ends {}; ///< in m_members, beside the list's roll-ups
};

}
