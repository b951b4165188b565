// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/runindex.h>

#include <algorithm>
#include <limits>
#include <utility>

#include <telltale/core/drops.h>

namespace telltale::store {
namespace {

bool has(const std::vector<Stat>& stats, Stat stat)
{
    return std::find(stats.begin(), stats.end(), stat) != stats.end();
}

}

bool answers(const std::vector<Stat>& stored, Stat stat)
{
    return stat == Stat::AbsMax ? has(stored, Stat::Min) && has(stored, Stat::Max) : has(stored, stat);
}

RunIndex::RunIndex(std::shared_ptr<const Catalog> catalog)
    : m_catalog(std::move(catalog))
{
    m_series.reserve(m_catalog->series.size());
    for (const SeriesInfo& series : m_catalog->series)
        m_series.emplace(series.id, &series);
    for (const GroupInfo& group : m_catalog->groups)
        m_groups.emplace(group.id, &group);
    for (const SourceInfo& source : m_catalog->sources) {
        m_sourceSteps.emplace(source.id, StepRange { source.firstStep, source.lastStep });
        m_ranks.emplace(source.id, source.rank);
    }
    for (const EventInfo& event : m_catalog->events) {
        if (event.kind == "gap")
            m_lossesAfter[event.rank].push_back(event.step);
    }
    for (const DroppedInfo& dropped : m_catalog->dropped)
        m_dropped[dropped.source].push_back(&dropped);
}

std::vector<RowSegment> RunIndex::segments(const series::RowAttempts& row, Stat stat, StepRange range) const
{
    std::vector<RowSegment> segments; // newest first
    std::int64_t last = range.last.value;
    const auto isOfOldest = [&](SourceId source) {
        const auto oldest = m_series.find(row.front());
        return oldest != m_series.end() && oldest->second->source == source;
    };
    for (auto id = row.rbegin(); id != row.rend() && last >= range.first.value; ++id) {
        const auto series = m_series.find(*id);
        if (series == m_series.end())
            continue;
        const SeriesInfo& info = *series->second;
        const auto group = m_groups.find(info.group);
        const auto steps = m_sourceSteps.find(info.source);
        if (group == m_groups.end() || steps == m_sourceSteps.end() || steps->second.isEmpty())
            continue;
        const std::int64_t first = steps->second.first.value;
        if (first <= last && answers(group->second->stats, stat)) {
            const auto& stats = group->second->stats;
            const int counts = (has(stats, Stat::Nans) ? 1 : 0) | (has(stats, Stat::PosInfs) ? 2 : 0)
                | (has(stats, Stat::NegInfs) ? 4 : 0);
            // The oldest attempt also answers for what lies before the step that its source names as its first.
            const bool isOldest = isOfOldest(info.source);
            segments.push_back({ info.source, info.kind, { info.group, stat, static_cast<std::uint8_t>(counts) },
                info.lane, { isOldest ? range.first : std::max(range.first, Step { first }), Step { last } } });
        }
        // Layouts of one attempt share its steps: each answers for those that it was collected in.
        const auto older = std::next(id);
        const auto next = older == row.rend() ? m_series.end() : m_series.find(*older);
        if (next == m_series.end() || next->second->source != info.source)
            last = std::min(last, first - 1);
    }
    std::reverse(segments.begin(), segments.end());
    return segments;
}

std::vector<StepRange> RunIndex::gaps(SourceId source, Kind kind) const
{
    std::vector<StepRange> gaps;
    const auto it = m_dropped.find(source);
    if (it == m_dropped.end())
        return gaps;
    for (const DroppedInfo* dropped : it->second) {
        const bool isOfKind = kind == Kind::Scalar ? dropped->dropClass == dropclass::kScalars
                                                   : dropclass::isSamples(dropped->dropClass);
        if (isOfKind && !dropped->steps.isEmpty())
            gaps.push_back(dropped->steps);
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
