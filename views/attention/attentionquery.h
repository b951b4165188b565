// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <memory>

#include <telltale/heatmap/heatquery.h>
#include <telltale/plot/curvequery.h>

#include "attentionpicture.h"
#include "headmappicture.h"

namespace telltale::views {

/// What is drawn below the maps.
enum class BelowMaps {
    Curves, ///< of the selected heads
    Strips, ///< all heads of one layer over the visible steps
    HeadMaps, ///< queries x keys of the selected heads, where they were recorded
};

struct AttentionAnswer;

/// Everything an attention view is asked for, taken from the state on the gui thread. Thread: any (a value).
struct AttentionRequest {
    std::shared_ptr<const store::Catalog> catalog;
    std::array<HeadValue, 2> values { HeadValue::Entropy, HeadValue::SoftmaxMax };
    HeadAxes axes = HeadAxes::LayerByHead;
    HeadOrder order = HeadOrder::Number;
    BelowMaps below = BelowMaps::Curves;
    Rank rank;
    bool isSpread = false; ///< over the ranks
    QString layer; ///< whose ranks are shown; that of the first selected head where it is empty or gone
    QString filter;
    std::vector<ModuleKey> selection;
    Step atStep { 0 };
    CurveRequest curves; ///< steps, pixels and ranks of what is below; the selection of it is chosen here
    HeatRequest strips;
    std::uint64_t news = 0; ///< another number: the run has more than before
    std::shared_ptr<const AttentionAnswer> last; ///< what of it still holds is not read again
};

/// What is below one map: the one or the other.
struct BelowPicture {
    std::shared_ptr<const CurvePicture> curves;
    std::shared_ptr<const HeatPicture> strips;
};

/// What curves and strips depend on.
struct BelowKey {
    std::uint64_t news = 0;
    BelowMaps below = BelowMaps::Curves;
    std::array<HeadValue, 2> values {};
    Rank rank;
    std::optional<std::vector<Rank>> ranks;
    std::vector<ModuleKey> shown;
    std::vector<int> colors;
    QString layer;
    StepRange range;
    std::array<int, 3> pixels {}; ///< of curves; of strips, width and height
    double ratio = 1;
    QRgb base = 0; ///< of the theme that strips are painted with

    bool operator==(const BelowKey&) const = default;
};

struct AttentionAnswer {
    std::shared_ptr<const AttentionPicture> maps;
    std::array<BelowPicture, 2> below;
    std::shared_ptr<const HeadMapPicture> headMaps; ///< where they are what is below
    BelowKey belowKey;
    std::vector<ModuleKey> shown; ///< heads whose curves are drawn
    bool areChosen = false; ///< by the user; else they are the lowest of the map
    bool areAll = false; ///< the map has no others
    QString layer; ///< whose strips are drawn
    QStringList layers; ///< every one that there is
};

/// Reads the heads of one rank at one step, and what is below them. Thread: query.
Expected<AttentionAnswer> readAttention(
    store::RunReader& reader, const AttentionRequest& request, const series::CancelToken& cancel = {});

}
