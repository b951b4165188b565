// SPDX-License-Identifier: GPL-3.0-or-later
#include "comparedcurves.h"

#include <algorithm>

#include <telltale/common/viewstate.h>
#include <telltale/items/guithread.h>

namespace telltale::views {

namespace {

bool belongTogether(const CurveSeries& a, const CurveSeries& b)
{
    return a.row.key == b.row.key && a.row.label == b.row.label && a.stat == b.stat;
}

}

ComparedCurves::ComparedCurves(const ViewContext& context)
    : m_context(context)
    , m_id(context.queries ? context.queries->newView() : 0)
{
}

ComparedCurves::~ComparedCurves()
{
    if (m_context.queries)
        m_context.queries->cancel(m_id);
}

void ComparedCurves::ask(CurveRequest request, Read read, std::function<void()> arrived)
{
    items::assertGuiThread();
    const store::RunRef run = m_context.state->comparedRun();
    const auto catalog = m_context.state->comparedCatalog();
    if (!run || !catalog || !m_context.queries) {
        m_other.reset();
        if (m_context.queries)
            m_context.queries->cancel(m_id);
        return;
    }
    request.catalog = catalog;
    request.runName = m_context.state->comparedName();
    request.ranks = std::vector<Rank> {}; // one line a run: two runs with all their ranks are a thicket
    const bool hasRank = std::any_of(catalog->sources.begin(), catalog->sources.end(),
        [&](const store::SourceInfo& source) { return source.rank == request.rank; });
    if (!hasRank && !catalog->sources.empty())
        request.rank = catalog->sources.front().rank;
    m_context.queries->submit(m_id, run,
        [this, request, read, arrived = std::move(arrived)](
            Expected<store::RunReader*> reader, const series::CancelToken& cancel) -> store::QueryPool::Delivery {
            auto picture = reader ? read(**reader, request, cancel) : tl::unexpected(reader.error());
            if (!picture)
                return {}; // the run that is shown says what is wrong; a missing comparison is seen
            auto shared = std::make_shared<const CurvePicture>(std::move(*picture));
            return [this, shared, arrived] {
                m_other = shared;
                arrived();
            };
        });
}

std::shared_ptr<const CurvePicture> ComparedCurves::mergedWith(std::shared_ptr<const CurvePicture> main) const
{
    if (!m_other || !main || !m_context.state->comparedRun() || m_other->range != main->range)
        return main;
    auto merged = std::make_shared<CurvePicture>(*main);
    for (CurveSeries& own : merged->series)
        own.runName = m_context.state->runName(0);
    for (const CurveSeries& one : m_other->series) {
        const auto last = std::find_if(merged->series.rbegin(), merged->series.rend(),
            [&](const CurveSeries& other) { return belongTogether(one, other); });
        if (last == merged->series.rend())
            continue;
        CurveSeries beside = one;
        beside.slot = last->slot;
        merged->series.insert(last.base(), std::move(beside));
    }
    return merged;
}

}
