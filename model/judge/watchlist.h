// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <telltale/judge/incident.h>
#include <telltale/judge/scalarrole.h>
#include <telltale/series/query.h>
#include <telltale/store/catalog.h>

namespace telltale::judge {

/// Of a weight.
constexpr bool isParameter(Kind kind)
{
    return kind == Kind::ParamUpdated || kind == Kind::ParamOrigin;
}

/// One tensor of one kind on one rank, and how it is judged. Thread: any (a value).
struct Watched {
    Kind kind = Kind::Unspecified;
    std::uint32_t tensor = 0; ///< of the run's index
    Phase phase = Phase::Forward;
    std::int32_t place = 0; ///< among all of its rank and phase, in the order in which a step comes to them
    std::int32_t rollup = -1; ///< of the rank; -1: in none
    Stat stat = Stat::Norm;
    bool isMatrix = false;
    ScalarRole role = ScalarRole::Other; ///< of scalars
    double limit = 0; ///< of its type, where that is a 16-bit float and the magnitude is known; else 0
    series::RowAttempts attempts {};
    Stat extra = Stat::Unspecified; ///< what else is asked of it: the mean of second moments, an output's share of
                                    ///< zeros, a head's logits
    std::uint64_t numel = 0; ///< 0 = not known
    std::int32_t use = -1; ///< of a weight and its gradients: a row that its module's use makes; -1: none is known
};

/// Tensors of one kind that are judged as one: those of a block, or of the whole model ("").
struct Rollup {
    Kind kind = Kind::Unspecified;
    std::string block;
    std::uint32_t members = 0;
    ScalarRole role = ScalarRole::Other; ///< of a scalar, which is judged alone
};

/// Everything that is judged of one rank in one attempt. Thread: any (a value).
struct Watchlist {
    SourceId source;
    Rank rank;
    std::vector<Watched> rows;
    std::vector<Rollup> rollups;
};

/// By source, in the order of their ids.
std::vector<Watchlist> watchlistsOf(const store::Catalog& catalog);

}
