// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <memory>

#include <telltale/common/dataview.h>

#include "curvequery.h"

namespace telltale::views {

/// The curves of the run that is compared with: asked beside a view's own, merged behind the series that they belong
/// to. Thread: gui; `Read` runs in the query pool.
class ComparedCurves {
public:
    using Read = Expected<CurvePicture> (*)(
        store::RunReader& reader, const CurveRequest& request, const series::CancelToken& cancel);

    explicit ComparedCurves(const ViewContext& context);
    ~ComparedCurves();
    ComparedCurves(const ComparedCurves&) = delete;
    ComparedCurves& operator=(const ComparedCurves&) = delete;

    /// Asks what `request` asks of the run that is shown; `arrived` when the answer is there. Without a compared run
    /// there is no answer.
    void ask(CurveRequest request, Read read, std::function<void()> arrived);
    /// `main` with the compared series; `main` itself where there are none, or where they are of other steps.
    std::shared_ptr<const CurvePicture> mergedWith(std::shared_ptr<const CurvePicture> main) const;

private:
    ViewContext m_context;
    store::QueryPool::ViewId m_id;
    std::shared_ptr<const CurvePicture> m_other;
};

}
