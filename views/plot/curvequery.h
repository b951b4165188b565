// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <vector>

#include <telltale/common/viewstate.h>
#include <telltale/store/runreader.h>

#include "curvepicture.h"

namespace telltale::views {

/// Everything curves are asked for, taken from the state on the gui thread. Thread: any (a value).
struct CurveRequest {
    std::shared_ptr<const store::Catalog> catalog;
    Kind kind = Kind::Unspecified;
    Stat stat = Stat::Norm;
    Rank rank;
    std::vector<ModuleKey> selection;
    std::vector<int> colours; ///< colour of each selected row
    StepRange range;
    int pixels = 0;
    bool withOtherRanks = false; ///< the first selected gets the envelope of all other ranks
    bool isLive = false;
};

/// The selected rows of one rank; a selected row that has no series of the asked kind shows its scalar, if it is one.
/// Thread: query.
Expected<CurvePicture> readCurves(
    store::RunReader& reader, const CurveRequest& request, const series::CancelToken& cancel = {});

/// All scalars of one rank, loss first, without the reserved ones. Thread: query.
Expected<CurvePicture> readScalars(
    store::RunReader& reader, const CurveRequest& request, const series::CancelToken& cancel = {});

/// Cells of every series of a picture at some steps: result[i][s] for step i and series s. Thread: query.
Expected<std::vector<std::vector<series::CellValue>>> readValues(
    store::RunReader& reader, const CurvePicture& picture, const std::vector<Step>& steps);

}
