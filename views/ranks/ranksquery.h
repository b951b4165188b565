// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <memory>
#include <optional>

#include <telltale/heatmap/heatquery.h>

#include "rankspicture.h"

namespace telltale::views {

/// The faces of the cube of layers, ranks and steps. Each is a plane through what is selected in the others.
enum Face : std::size_t { LayersBySteps = 0, LayersByRanks = 1, RanksBySteps = 2 };
inline constexpr std::size_t kFaces = 3;

/// Everything that a view of ranks is asked for, taken from the state on the gui thread. Thread: any (a value).
struct RanksRequest {
    HeatRequest face; ///< what all faces have in common
    std::array<QSize, kFaces> plots; ///< as HeatRequest::plot
    std::optional<analysis::Parallel> grouping; ///< of the axes of ranks; by number without
    int replicaPixels = 0; ///< 0: no replicas are wanted
};

struct RanksAnswer {
    std::array<std::shared_ptr<const HeatPicture>, kFaces> faces;
    std::shared_ptr<const RankMapPicture> map;
    std::shared_ptr<const ReplicaPicture> replicas;
};

/// The groups of an axis of ranks, with their words.
std::vector<RankBand> rankBands(const analysis::RankTopology& topology, std::optional<analysis::Parallel> grouping);

/// Reads three faces on one scale of colors, marks the ranks that are unlike their peers, and what the map and the
/// replicas show. Thread: query.
Expected<RanksAnswer> readRanks(
    store::RunReader& reader, const RanksRequest& request, const series::CancelToken& cancel = {});

}
