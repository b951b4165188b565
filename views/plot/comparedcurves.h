// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <telltale/common/dataview.h>

#include "curvequery.h"

namespace telltale::views {

/// ", beside NAME", or of several compared runs how many are drawn in `picture`; empty where none is.
QString besideText(const ViewState& state, const CurvePicture* picture);

/// The curves of the runs that are compared with: asked beside a view's own, merged behind the series that they belong
/// to. One run beside several rows has its row's color in dashes of its own; of several, beside one row, or where it
/// is asked for, each has a color, and a row its dash. Thread: gui; `Read` runs in the query pool.
class ComparedCurves {
public:
    using Read = Expected<CurvePicture> (*)(
        store::RunReader& reader, const CurveRequest& request, const series::CancelToken& cancel);

    explicit ComparedCurves(const ViewContext& context);
    ~ComparedCurves();
    ComparedCurves(const ComparedCurves&) = delete;
    ComparedCurves& operator=(const ComparedCurves&) = delete;

    /// Asks what `request` asks of the run that is shown; `arrived` with each answer. Without a compared run there is
    /// none.
    void ask(const CurveRequest& shown, Read read, const std::function<void()>& arrived);
    /// `main` with the compared series; `main` itself where there are none, or where they are of other steps.
    std::shared_ptr<const CurvePicture> mergedWith(
        std::shared_ptr<const CurvePicture> main, bool hasRunColors = false) const;

private:
    ViewContext m_context;
    std::vector<store::QueryPool::ViewId> m_ids; ///< a compared run each
    std::vector<std::shared_ptr<const CurvePicture>> m_others; ///< null where there is no answer yet
};

}
