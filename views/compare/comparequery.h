// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <vector>

#include <telltale/heatmap/heatpicture.h>
#include <telltale/plot/curvequery.h>

#include "alignment.h"

namespace telltale::views {

enum class BelowMap { Lines, Band, Findings, Facts };

/// Everything that a comparison is asked for, taken from the state on the gui thread. Thread: any (a value).
struct CompareRequest {
    QStringList names; ///< of the runs: the reference first
    std::vector<StepRange> steps; ///< that each of them has by now
    std::size_t against = 1; ///< which of them is held against the reference in the map
    XAxis alignment = XAxis::Step;
    HeatScale value = HeatScale::Difference; ///< or Ratio
    RowOrder order = RowOrder::Model;
    bool hasBand = false; ///< curves of all runs as one band and their median
    Kind kind = Kind::Unspecified;
    Stat stat = Stat::Norm;
    Rank rank;
    QString filter;
    std::vector<ModuleKey> selection;
    int omitted = 0; ///< more that are selected and would be too much to draw
    bool showsAll = false; ///< curves of all that is selected, however many
    StepRange range; ///< of the reference
    int mapPixels = 0;
    int curvePixels = 0;
    QSize plot; ///< as HeatRequest
    double pixelRatio = 1;
    const Theme* theme = nullptr;
    bool isLive = false;
};

/// What the reference says of itself, and how the others are to be laid beside it. Thread: any (immutable).
struct CompareFrame {
    std::vector<ModuleKey> curves; ///< what is selected, or what stands for it
    std::vector<std::pair<double, double>> mapQuantities; ///< that each column ends its first and last step with
    std::vector<std::pair<double, double>> curveQuantities;
    bool isByStep = true;
};

/// One run's part of an answer, in the columns of the reference. Thread: any (a value).
struct ComparePart {
    std::vector<Row> rows;
    series::HeatResult heat;
    std::vector<CurveSeries> curves;
    std::shared_ptr<const XWarp> warp;
    StepRange own; ///< steps of the reference that it has something beside
    std::shared_ptr<const CompareFrame> frame; ///< the reference's alone
    bool isAligned = true; ///< false: it does not record what the runs are aligned by
};

/// Of the reference (no frame) or another run. Thread: query.
Expected<ComparePart> readComparePart(store::RunReader& reader, const CompareRequest& request, std::size_t run,
    const CompareFrame* frame, const series::CancelToken& cancel);

/// Thread: any (a value).
struct CompareAnswer {
    std::shared_ptr<const HeatPicture> map;
    std::shared_ptr<const CurvePicture> curves;
    std::vector<ModuleKey> shown; ///< whose curves they are
    int onlyInA = 0; ///< rows of the map's runs
    int onlyInB = 0;
    QStringList lacking; ///< runs without a curve, while others have some
    bool isAligned = true; ///< false: the map's other run is not laid beside the reference, and there is no map
    QStringList unaligned; ///< runs that do not record what they should be aligned by: the reference, or all others
};

/// Puts the parts together: one of each run, in their order. Thread: query.
CompareAnswer compareParts(const CompareRequest& request, std::vector<ComparePart> parts);

}
