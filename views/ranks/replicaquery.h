// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/heatmap/heatquery.h>

#include "rankspicture.h"

namespace telltale::views {

/// What the ranks that hold the same part of the model as `request.rank` measured of one tensor: that of `ranks`, the
/// face of ranks and steps, of which its spread is taken; whether all tensors of `layers`, the face of layers and
/// ranks, are the same. Thread: query.
Expected<ReplicaPicture> readReplicas(store::RunReader& reader, const HeatRequest& request,
    const analysis::RankTopology& topology, const HeatPicture& ranks, const HeatPicture& layers, int pixels,
    const series::CancelToken& cancel);

}
