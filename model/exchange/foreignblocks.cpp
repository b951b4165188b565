// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/foreignblocks.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

namespace telltale::exchange {
namespace {

constexpr std::size_t kMostSeries = 4096; ///< of one layout
constexpr std::size_t kMostGrids = 16; ///< sets of steps that have layouts of their own

/// Rising steps, each once, as it was told last.
void putInOrder(Track& track, std::size_t width, ForeignRun& run)
{
    const auto& steps = track.steps;
    const bool isRising = std::adjacent_find(steps.begin(), steps.end(), [](std::int64_t a, std::int64_t b) {
        return a >= b;
    }) == steps.end();
    const auto isThere = [](std::int64_t step) { return isStep(step); };
    if (isRising && std::all_of(steps.begin(), steps.end(), isThere))
        return;
    std::vector<std::size_t> order(steps.size());
    std::iota(order.begin(), order.end(), std::size_t { 0 });
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return steps[a] < steps[b]; });
    Track sorted { track.stat, {}, {} };
    for (std::size_t i = 0; i < order.size(); ++i) {
        const std::int64_t step = steps[order[i]];
        if (!isStep(step)) {
            run.leaveOut("values of steps farther from 0 than 2^53");
            continue;
        }
        if (i + 1 < order.size() && steps[order[i + 1]] == step) {
            run.leaveOut("values that were told again for the same step (the last one counts)");
            continue;
        }
        sorted.steps.push_back(step);
        const auto first = track.values.begin() + static_cast<std::ptrdiff_t>(order[i] * width);
        sorted.values.insert(sorted.values.end(), first, first + static_cast<std::ptrdiff_t>(width));
    }
    track = std::move(sorted);
}

std::uint64_t hashOf(const std::vector<std::int64_t>& steps)
{
    std::uint64_t hash = steps.size();
    for (const std::int64_t step : steps)
        hash = (hash ^ static_cast<std::uint64_t>(step)) * 0x9E3779B97F4A7C15U + 1;
    return hash;
}

bool isWholeNumber(double value)
{
    return value >= 0 && value < 18446744073709551616.0 && std::trunc(value) == value;
}

}

ForeignBlocks::ForeignBlocks(ForeignProcess& process, ForeignRun& run)
    : m_process(process)
{
    if (!process.times().empty()) {
        SeriesDesc desc;
        desc.name = kWallTimeName;
        desc.numel = 1;
        ForeignSeries& times = process.series(Kind::Scalar, desc);
        if (Track& track = times.track(Stat::Value); track.steps.empty()) {
            for (const auto& [step, ns] : process.times())
                track.add(step, static_cast<double>(ns));
        }
    }
    // By kind, bins and statistics; what one series says at other steps than its other statistics stands apart.
    using Key = std::tuple<Kind, std::vector<double>, std::vector<Stat>>;
    std::map<Key, std::vector<Member>> found;
    for (ForeignSeries& series : process.all()) {
        for (Track& track : series.tracks)
            putInOrder(track, series.width(), run);
        std::sort(
            series.tracks.begin(), series.tracks.end(), [](const Track& a, const Track& b) { return a.stat < b.stat; });
        std::vector<bool> isTaken(series.tracks.size());
        for (std::size_t first = 0; first < series.tracks.size(); ++first) {
            if (isTaken[first] || series.tracks[first].steps.empty())
                continue;
            Member member { &series, {}, 0 };
            std::vector<Stat> stats;
            for (std::size_t i = first; i < series.tracks.size(); ++i) {
                if (isTaken[i] || (i > first && series.tracks[i].steps != series.tracks[first].steps))
                    continue;
                isTaken[i] = true;
                member.tracks.push_back(&series.tracks[i]);
                stats.push_back(series.tracks[i].stat);
            }
            found[{ series.kind, series.edges, stats }].push_back(std::move(member));
        }
    }
    for (auto& [key, members] : found) {
        std::map<std::uint64_t, std::vector<Member>> byGrid;
        for (Member& member : members)
            byGrid[hashOf(member.tracks.front()->steps)].push_back(member);
        if (byGrid.size() > kMostGrids) {
            addGroup(std::move(members));
            continue;
        }
        for (auto& [grid, same] : byGrid)
            addGroup(std::move(same));
    }
    std::sort(m_order.begin(), m_order.end());
}

void ForeignBlocks::addGroup(std::vector<Member> members)
{
    for (std::size_t first = 0; first < members.size(); first += kMostSeries) {
        Group group;
        const auto end = std::min(first + kMostSeries, members.size());
        group.members.assign(
            members.begin() + static_cast<std::ptrdiff_t>(first), members.begin() + static_cast<std::ptrdiff_t>(end));
        const ForeignSeries& one = *group.members.front().series;
        auto layout = std::make_shared<SeriesLayout>();
        layout->id = LayoutId { static_cast<std::uint32_t>(m_layouts.size() + 1) };
        layout->kind = one.kind;
        layout->edges = one.edges;
        for (const Track* track : group.members.front().tracks)
            layout->stats.push_back(track->stat);
        for (std::size_t stat = 0; stat < layout->stats.size(); ++stat) {
            group.isWhole.push_back(isWhole(layout->stats[stat])
                && (isIdentity(layout->stats[stat])
                    || std::all_of(group.members.begin(), group.members.end(), [stat](const Member& member) {
                           const auto& values = member.tracks[stat]->values;
                           return std::all_of(values.begin(), values.end(), isWholeNumber);
                       })));
        }
        std::vector<std::int64_t> steps;
        for (const Member& member : group.members) {
            layout->series.push_back(member.series->desc);
            const auto& more = member.tracks.front()->steps;
            if (more == steps)
                continue;
            std::vector<std::int64_t> both;
            std::set_union(steps.begin(), steps.end(), more.begin(), more.end(), std::back_inserter(both));
            steps = std::move(both);
        }
        for (const std::int64_t step : steps)
            m_order.emplace_back(step, static_cast<std::uint32_t>(m_groups.size()));
        group.layout = std::move(layout);
        m_layouts.push_back(group.layout);
        m_groups.push_back(std::move(group));
    }
}

Column ForeignBlocks::makeColumn(Group& group, std::size_t stat, Step step) const
{
    const std::size_t width = group.layout->width();
    const bool isId = isIdentity(group.layout->stats[stat]);
    Column column { group.layout->stats[stat], {} };
    std::vector<std::uint64_t> whole(group.isWhole[stat] ? group.layout->cells() : 0);
    std::vector<double> wide(group.isWhole[stat] ? 0 : group.layout->cells());
    for (std::size_t i = 0; i < group.members.size(); ++i) {
        const Member& member = group.members[i];
        const Track& track = *member.tracks[stat];
        if (member.at >= track.steps.size() || track.steps[member.at] != step.value)
            continue;
        const double* values = track.values.data() + member.at * width;
        for (std::size_t bin = 0; bin < width; ++bin) {
            if (wide.empty())
                whole[i * width + bin]
                    = isId ? std::bit_cast<std::uint64_t>(values[bin]) : static_cast<std::uint64_t>(values[bin]);
            else
                wide[i * width + bin] = values[bin];
        }
    }
    if (wide.empty())
        column.values = std::move(whole);
    else
        column.values = std::move(wide);
    return column;
}

StepBlock ForeignBlocks::next()
{
    const auto [value, index] = m_order[m_next++];
    Group& group = m_groups[index];
    StepBlock block;
    block.layout = group.layout;
    block.step = Step { value };
    if (const auto time = m_process.times().find(value); time != m_process.times().end())
        block.wallNs = time->second;
    for (std::size_t stat = 0; stat < group.layout->stats.size(); ++stat)
        block.columns.push_back(makeColumn(group, stat, block.step));
    block.present.assign((group.members.size() + 63) / 64, 0);
    std::size_t there = 0;
    for (std::size_t i = 0; i < group.members.size(); ++i) {
        Member& member = group.members[i];
        const auto& steps = member.tracks.front()->steps;
        if (member.at >= steps.size() || steps[member.at] != value)
            continue;
        block.present[i / 64] |= std::uint64_t { 1 } << (i % 64);
        ++member.at;
        ++there;
    }
    if (there == group.members.size())
        block.present.clear();
    return block;
}

}
