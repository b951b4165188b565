// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <memory>

#include <telltale/heatmap/heatquery.h>
#include <telltale/plot/curvequery.h>

#include "attentionpicture.h"

namespace telltale::views {

/// What is drawn below the maps.
enum class BelowMaps {
    Curves, ///< of the selected heads
    Strips, ///< all heads of one layer over the visible steps
};

/// Everything an attention view is asked for, taken from the state on the gui thread. Thread: any (a value).
struct AttentionRequest {
    std::shared_ptr<const store::Catalog> catalog;
    std::array<HeadValue, 2> values { HeadValue::Entropy, HeadValue::SoftmaxMax };
    HeadOrder order = HeadOrder::Number;
    BelowMaps below = BelowMaps::Curves;
    Rank rank;
    QString filter;
    std::vector<ModuleKey> selection;
    Step atStep { 0 };
    CurveRequest curves; ///< steps, pixels and ranks of what is below; the selection of it is chosen here
    HeatRequest strips;
};

/// What is below one map: the one or the other.
struct BelowPicture {
    std::shared_ptr<const CurvePicture> curves;
    std::shared_ptr<const HeatPicture> strips;
};

struct AttentionAnswer {
    std::shared_ptr<const AttentionPicture> maps;
    std::array<BelowPicture, 2> below;
    std::vector<ModuleKey> shown; ///< heads whose curves are drawn
    bool areChosen = false; ///< by the user; else they are the lowest of the map
    QString layer; ///< whose strips are drawn
};

/// Reads the heads of one rank at one step, and what is below them. Thread: query.
Expected<AttentionAnswer> readAttention(
    store::RunReader& reader, const AttentionRequest& request, const series::CancelToken& cancel = {});

}
