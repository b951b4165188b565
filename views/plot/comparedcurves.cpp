// SPDX-License-Identifier: GPL-3.0-or-later
#include "comparedcurves.h"

#include <algorithm>
#include <set>

#include <QCoreApplication>

#include <telltale/common/seriesstyle.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/guithread.h>

#include "runnames.h"

namespace telltale::views {

namespace {

bool belongTogether(const CurveSeries& a, const CurveSeries& b)
{
    return a.row.key == b.row.key && a.row.label == b.row.label && a.stat == b.stat;
}

}

QString besideText(const ViewState& state, const CurvePicture* picture)
{
    std::set<int> drawn;
    for (std::size_t i = 0; picture && i < picture->series.size(); ++i)
        drawn.insert(picture->series[i].run);
    drawn.erase(0);
    if (drawn.empty() || !state.comparedRun())
        return {}; // it may have been drawn before nothing is compared
    const auto count = static_cast<int>(drawn.size());
    return state.comparedRuns().size() > 1
        ? QCoreApplication::translate("ComparedCurves", ", beside %n runs", nullptr, count)
        : QCoreApplication::translate("ComparedCurves", ", beside %1").arg(state.comparedName());
}

ComparedCurves::ComparedCurves(const ViewContext& context)
    : m_context(context)
{
    for (std::size_t i = 0; context.queries && i < ViewState::kMostCompared; ++i)
        m_ids.push_back(context.queries->newView());
}

ComparedCurves::~ComparedCurves()
{
    for (const auto id : m_ids)
        m_context.queries->cancel(id);
}

void ComparedCurves::ask(const CurveRequest& shown, Read read, const std::function<void()>& arrived)
{
    items::assertGuiThread();
    const std::vector<ComparedRun>& runs = m_context.state->comparedRuns();
    m_others.resize(m_context.queries ? runs.size() : 0);
    for (std::size_t i = m_others.size(); i < m_ids.size(); ++i)
        m_context.queries->cancel(m_ids[i]);
    for (std::size_t i = 0; i < m_others.size(); ++i) {
        CurveRequest request = shown;
        request.catalog = runs[i].catalog;
        request.own = request.catalog->steps;
        request.runName = m_context.state->runName(i + 1);
        request.ranks = std::vector<Rank> {}; // one line a run: runs with all their ranks are a thicket
        const auto& sources = request.catalog->sources;
        const bool hasRank = std::any_of(sources.begin(), sources.end(),
            [&](const store::SourceInfo& source) { return source.rank == request.rank; });
        if (!hasRank && !sources.empty())
            request.rank = sources.front().rank;
        m_context.queries->submit(m_ids[i], runs[i].run,
            [this, i, request = std::move(request), read, arrived](
                Expected<store::RunReader*> reader, const series::CancelToken& cancel) -> store::QueryPool::Delivery {
                auto picture = reader ? read(**reader, request, cancel) : tl::unexpected(reader.error());
                if (!picture)
                    return {}; // the run that is shown says what is wrong; a missing comparison is seen
                auto shared = std::make_shared<const CurvePicture>(std::move(*picture));
                return [this, i, shared, arrived] {
                    if (i >= m_others.size())
                        return;
                    m_others[i] = shared;
                    arrived();
                };
            });
    }
}

std::shared_ptr<const CurvePicture> ComparedCurves::mergedWith(
    std::shared_ptr<const CurvePicture> main, bool hasRunColors) const
{
    const auto isReady = [&](const auto& other) { return other && main && other->range == main->range; };
    const std::size_t runs = std::min(m_others.size(), m_context.state->comparedRuns().size());
    const auto last = m_others.begin() + static_cast<std::ptrdiff_t>(runs);
    if (std::none_of(m_others.begin(), last, isReady))
        return main;
    auto merged = std::make_shared<CurvePicture>(*main);
    merged->runs = runNames(*m_context.state);
    const QStringList names = briefRunNames(merged->runs);
    const bool isOneRow = std::ranges::all_of(
        merged->series, [&](const CurveSeries& one) { return belongTogether(merged->series.front(), one); });
    const bool isByRun = hasRunColors || runs > 1 || isOneRow;
    int place = -1;
    const CurveSeries* before = nullptr;
    for (CurveSeries& own : merged->series) {
        own.runName = names.front();
        place += before && belongTogether(*before, own) ? 0 : 1;
        before = &own;
        if (!isByRun)
            continue;
        own.hasRunColor = true;
        own.slot = SeriesStyle::slotOfRun(0, place, static_cast<int>(runs + 1));
    }
    for (std::size_t run = 0; run < runs; ++run) {
        if (!isReady(m_others[run]))
            continue;
        const std::size_t count = merged->series.size();
        const QString name = names.value(static_cast<int>(run + 1));
        for (const CurveSeries& one : m_others[run]->series) {
            const auto beside = std::find_if(merged->series.rbegin(), merged->series.rend(),
                [&](const CurveSeries& other) { return belongTogether(one, other); });
            if (beside == merged->series.rend())
                continue;
            CurveSeries other = one;
            other.run = static_cast<int>(run + 1);
            other.runName = name;
            other.hasRunColor = isByRun;
            other.slot = isByRun
                ? SeriesStyle::slotOfRun(other.run, beside->slot / SeriesStyle::kColors, static_cast<int>(runs + 1))
                : beside->slot;
            merged->series.insert(beside.base(), std::move(other));
        }
        if (merged->series.size() == count && !merged->isEmpty())
            merged->lacking.append(name);
    }
    return merged;
}

}
