// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/core/ids.h>
#include <telltale/store/catalog.h>

namespace telltale::analysis {

/// In what way ranks share a model: each holds other data (dp), another piece of each matrix (tp), other layers (pp) or
/// other experts (ep).
enum class Parallel { Data, Tensor, Pipeline, Expert };
inline constexpr std::array kParallels { Parallel::Data, Parallel::Tensor, Parallel::Pipeline, Parallel::Expert };
std::string_view parallelName(Parallel way); ///< "dp", "tp", "pp", "ep"

/// Ranks with one coordinate in common.
struct RankGroup {
    int coordinate = -1; ///< -1: not told
    std::vector<Rank> ranks; ///< ascending
    bool operator==(const RankGroup&) const = default;
};

/// Where the ranks of a run stand in its parallelism, as their newest attempts told it. A rank that told nothing has -1
/// everywhere. Thread: any (a value).
class RankTopology {
public:
    using Place = std::array<int, kParallels.size()>; ///< by Parallel

    RankTopology() = default;
    explicit RankTopology(const store::Catalog& catalog);

    std::vector<Rank> ranks() const; ///< ascending
    const std::map<Rank, Place>& places() const { return m_places; }
    int coordinate(Rank rank, Parallel way) const; ///< -1: not told
    /// Ways in which ranks of this run differ.
    std::vector<Parallel> ways() const;
    /// All ranks, by one coordinate, ascending.
    std::vector<RankGroup> groups(Parallel way) const;
    /// Those that hold the same part of the model on other data, itself among them; where nothing was told of it, all
    /// ranks of which nothing was told: what a run without a topology is, is data parallelism.
    std::vector<Rank> replicasOf(Rank rank) const;
    /// All ranks, each among those that hold the same part.
    std::vector<std::vector<Rank>> replicas() const;

private:
    std::map<Rank, Place> m_places;
};

}
