// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <telltale/common/viewstate.h>
#include <telltale/store/runreader.h>

#include "curvepicture.h"

namespace telltale::views {

/// How the names of scalars begin that say what process and machine use.
inline constexpr QLatin1String kSystemGroup { "system/" };

/// Everything curves are asked for, taken from the state on the gui thread. Thread: any (a value).
struct CurveRequest {
    std::shared_ptr<const store::Catalog> catalog;
    Kind kind = Kind::Unspecified;
    Stat stat = Stat::Norm;
    Rank rank;
    std::vector<ModuleKey> selection;
    std::vector<int> colors; ///< color of each selected row
    StepRange range; ///< in sight
    StepRange own; ///< that the run has: of a live one the catalog knows the first ones only
    int pixels = 0;
    std::optional<std::vector<Rank>> ranks; ///< drawn beside `rank`: as ViewState::ranks
    XAxis xAxis = XAxis::Step;
    double smoothing = 0; ///< weight of the past, 0 = off
    int omitted = 0; ///< selected rows left out, for the legend
    QString runName; ///< of a compared run
    bool isLive = false;
    bool areRanksApart = false; ///< the ranks of one tensor have colors of their own
    /// Of a row, of which its values are shown as shares; 0: not known, and nothing is shown. Empty: values as they
    /// are.
    std::function<double(const ModuleKey&)> wholeOf {};
    bool isSystem = false; ///< of scalars: what process and machine use alone; else all others

    /// What both kinds of picture take from the state.
    static CurveRequest of(const ViewState& state, int pixels);
};

/// The selected rows, each with its other ranks behind it; a selected row that has no series of the asked kind shows
/// its scalar, if it is one. Thread: query.
Expected<CurvePicture> readCurves(
    store::RunReader& reader, const CurveRequest& request, const series::CancelToken& cancel = {});

/// All scalars, loss first, without the reserved ones, each with its other ranks behind it. Thread: query.
Expected<CurvePicture> readScalars(
    store::RunReader& reader, const CurveRequest& request, const series::CancelToken& cancel = {});

/// The curve of one row. Thread: query.
Expected<CurveSeries> readCurve(
    store::RunReader& reader, Row row, Stat stat, const CurveRequest& request, const series::CancelToken& cancel);

/// What a scalar has at the first of the run's steps that has it: where time counts from, whatever is in sight. None
/// where it has nothing finite. Thread: query.
Expected<std::optional<double>> readStart(
    store::RunReader& reader, const series::RowAttempts& row, StepRange steps, const series::CancelToken& cancel);

/// Cells of one run's series of a picture at some steps, or before, as RunReader::column() has the nearest:
/// result[i][s] for step i and series s. Thread: query.
Expected<std::vector<std::vector<series::CellValue>>> readValues(
    store::RunReader& reader, const CurvePicture& picture, int run, const std::vector<Step>& steps);

}
