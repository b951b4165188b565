// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <telltale/store/runreader.h>

#include "heatpicture.h"

namespace telltale::views {

/// Everything a heat map is asked for, taken from the state on the gui thread. Thread: any (a value).
struct HeatRequest {
    std::shared_ptr<const store::Catalog> catalog;
    HeatAxes axes = HeatAxes::ModuleByStep;
    HeatScale scale = HeatScale::Log;
    RowOrder order = RowOrder::Model;
    Kind kind = Kind::Unspecified;
    Stat stat = Stat::Norm;
    Rank rank;
    QString filter;
    std::vector<ModuleKey> selection; ///< RankByStep shows the first
    std::vector<ModuleKey> only {}; ///< ModuleByStep shows these, in this order, when it is not empty
    std::vector<RankBand> rankBands {}; ///< order and groups of an axis of ranks; empty: by number
    StepRange range;
    Step atStep { 0 };
    int pixels = 0;
    double whole = 1; ///< ModuleByStep shows values as shares of this
    QSize plot; ///< the cells are painted at once for a plot of this size in logical pixels, unless it is empty
    double pixelRatio = 1;
    const Theme* theme = nullptr;
    bool isLive = false;
};

/// Paints the cells of a picture for the plot that was asked for, unless there is none: many rows in one line of pixels
/// take too long for the thread of the window. Thread: query.
void paintCells(HeatPicture& picture, const HeatRequest& request);

/// Reads and prepares one picture. Thread: query.
Expected<HeatPicture> readHeat(
    store::RunReader& reader, const HeatRequest& request, const series::CancelToken& cancel = {});

}
