// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/runindex.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <limits>
#include <utility>

#include <telltale/core/drops.h>
#include <telltale/core/histogram.h>
#include <telltale/core/numberformats.h>
#include <telltale/series/rowindex.h>

namespace telltale::store {
namespace {

bool has(const std::vector<Stat>& stats, Stat stat)
{
    return std::find(stats.begin(), stats.end(), stat) != stats.end();
}

/// Groups and series stand in the order of their ids.
template <typename Row, typename Id> auto find(const std::vector<Row>& rows, Id id)
{
    const auto at
        = std::lower_bound(rows.begin(), rows.end(), id, [](const Row& row, Id wanted) { return row.id < wanted; });
    return at != rows.end() && at->id == id ? at : rows.end();
}

}

std::optional<RunIndex::Place> RunIndex::placeOf(const SeriesInfo& series, int bin) const
{
    auto group = find(m_catalog->groups, series.group);
    if (group == m_catalog->groups.end() || bin >= group->bins())
        return std::nullopt;
    const auto& edges = group->edges;
    int lane = series.lane + bin;
    // Histograms of protocol 1 may go on in the next group.
    while (lane >= group->lanes) {
        lane -= group->lanes;
        const std::int64_t next = group->id.value + 1;
        if (++group == m_catalog->groups.end() || group->id.value != next || group->edges != edges)
            return std::nullopt;
    }
    return Place { &*group, lane };
}

void RunIndex::changed()
{
    static std::atomic<std::uint64_t> newest { 0 };
    m_revision = ++newest;
}

void RunIndex::setCatalog(std::shared_ptr<const Catalog> catalog)
{
    if (catalog != m_catalog)
        changed();
    m_catalog = std::move(catalog);
}

void RunIndex::setSources(const std::vector<SourceInfo>& sources)
{
    for (const SourceInfo& source : sources) {
        const StepRange now { source.firstStep, source.lastStep };
        StepRange& known = m_sourceSteps[source.id];
        if (known.isEmpty() != now.isEmpty() || known.first != now.first)
            changed();
        known = now;
        m_ranks.emplace(source.id, source.rank);
    }
}

void RunIndex::addLosses(const std::vector<LogRecord>& records)
{
    for (const LogRecord& record : records) {
        if (record.isDrop && !record.grows() && !record.steps.isEmpty())
            m_dropped[record.source].push_back({ record.dropClass, record.steps });
        else if (record.kind == "gap")
            m_lossesAfter[record.rank].push_back(record.steps.first);
    }
}

std::vector<RowSegment> RunIndex::segments(const series::RowAttempts& row, Stat stat) const
{
    std::vector<RowSegment> segments; // newest first
    std::int64_t last = kEver.last.value;
    const auto isOfOldest = [&](SourceId source) {
        const auto oldest = find(m_catalog->series, row.series.front());
        return oldest != m_catalog->series.end() && oldest->source == source;
    };
    for (auto id = row.series.rbegin(); id != row.series.rend(); ++id) {
        const auto series = find(m_catalog->series, *id);
        if (series == m_catalog->series.end())
            continue;
        const SeriesInfo& info = *series;
        const auto place = placeOf(info, row.bin);
        const auto steps = m_sourceSteps.find(info.source);
        if (!place || steps == m_sourceSteps.end() || steps->second.isEmpty())
            continue;
        const std::int64_t first = steps->second.first.value;
        if (first <= last && series::answers(statBits(*place->group), stat)) {
            const auto& stats = place->group->stats;
            const int counts = (has(stats, Stat::Nans) ? 1 : 0) | (has(stats, Stat::PosInfs) ? 2 : 0)
                | (has(stats, Stat::NegInfs) ? 4 : 0);
            // The oldest attempt also answers for what lies before the step that its source names as its first.
            const bool isOldest = isOfOldest(info.source);
            segments.push_back({ info.source, info.kind, { place->group->id, stat, static_cast<std::uint8_t>(counts) },
                place->lane, info.id, { isOldest ? kEver.first : Step { first }, Step { last } } });
        }
        // Layouts of one attempt share its steps: each answers for those that it was collected in.
        const auto older = std::next(id);
        const auto next = older == row.series.rend() ? m_catalog->series.end() : find(m_catalog->series, *older);
        if (next == m_catalog->series.end() || next->source != info.source)
            last = std::min(last, first - 1);
    }
    std::reverse(segments.begin(), segments.end());
    return segments;
}

Beside RunIndex::statisticsBeside(SeriesId histogram) const
{
    const auto series = find(m_catalog->series, histogram);
    if (series == m_catalog->series.end())
        return {};
    const auto rank = m_ranks.find(series->source);
    return rank == m_ranks.end() ? Beside {} : store::statisticsBeside(*m_catalog, *series, rank->second);
}

std::shared_ptr<const BinShares> RunIndex::sharesOf(SeriesId histogram, Stat stat) const
{
    const auto own = find(m_catalog->series, histogram);
    const auto place = own == m_catalog->series.end() ? std::nullopt : placeOf(*own, 0);
    if (!isFormatShare(stat) || !place || !place->group->edges)
        return nullptr;
    const GroupInfo& group = *place->group;
    auto shares = std::make_shared<BinShares>();
    shares->isLost = lostBins(*group.edges, stat);
    shares->numels.resize(static_cast<std::size_t>(group.lanes / group.bins()));
    // In closed bins more than NaN may be missing.
    if (!hasOpenEnds(*group.edges))
        return shares;
    const auto isOther = [&](const SeriesInfo& one) { return one.group != own->group; };
    const auto end = std::find_if(own, m_catalog->series.end(), isOther); // a group's series follow one another
    const auto before = std::find_if(std::make_reverse_iterator(own), m_catalog->series.rend(), isOther);
    for (auto one = before.base(); one != end; ++one) {
        const auto at = static_cast<std::size_t>(one->lane / group.bins());
        if (at < shares->numels.size() && !statisticsBeside(one->id).row)
            shares->numels[at] = one->desc->numel;
    }
    return shares;
}

std::optional<Step> RunIndex::newestStep(SourceId source) const
{
    const auto it = m_sourceSteps.find(source);
    return it == m_sourceSteps.end() || it->second.isEmpty() ? std::nullopt : std::optional(it->second.last);
}

std::vector<StepRange> RunIndex::gaps(SourceId source, Kind kind) const
{
    std::vector<StepRange> gaps;
    const auto it = m_dropped.find(source);
    if (it == m_dropped.end())
        return gaps;
    for (const Dropped& dropped : it->second) {
        const bool isOfKind
            = kind == Kind::Scalar ? dropped.dropClass == dropclass::kScalars : dropclass::isSamples(dropped.dropClass);
        if (isOfKind)
            gaps.push_back(dropped.steps);
    }
    return gaps;
}

std::vector<StepRange> RunIndex::losses(SourceId source) const
{
    std::vector<StepRange> losses;
    const auto rank = m_ranks.find(source);
    const auto steps = m_sourceSteps.find(source);
    if (rank == m_ranks.end() || steps == m_sourceSteps.end())
        return losses;
    const auto after = m_lossesAfter.find(rank->second);
    for (std::size_t i = 0; after != m_lossesAfter.end() && i < after->second.size(); ++i) {
        const Step step = after->second[i];
        if (steps->second.contains(step))
            losses.push_back({ Step { step.value + 1 }, steps->second.last });
    }
    return losses;
}

}
