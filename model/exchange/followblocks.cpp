// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/followblocks.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

namespace telltale::exchange {
namespace {

// With all its names a layout fits one message.
constexpr std::size_t kMostFollowedSeries = 256;
constexpr std::size_t kMostNameBytes = 128u << 10;

std::string textOf(const ForeignSeries& series, Stat stat)
{
    std::string key = std::to_string(static_cast<int>(series.kind)) + ' ' + std::to_string(static_cast<int>(stat)) + ' '
        + std::to_string(series.desc.vppStage) + ' ' + std::to_string(series.desc.microStep) + ' '
        + series.desc.slot.text() + '\n' + series.desc.name;
    key.append(1, '\0').append(
        reinterpret_cast<const char*>(series.edges.data()), series.edges.size() * sizeof(double));
    return key;
}

/// The same for values that are the same once they are stored.
std::uint64_t hashOf(Stat stat, const double* values, std::size_t width)
{
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < width; ++i) {
        double value = values[i];
        if (columnType(stat) == ColumnType::F32)
            value = static_cast<double>(static_cast<float>(value));
        auto bits = std::bit_cast<std::uint64_t>(value);
        if (!isIdentity(stat)) // whose bits are no number's
            bits = std::isnan(value) ? ~std::uint64_t { 0 } : std::bit_cast<std::uint64_t>(value + 0.0);
        hash = (hash ^ bits) * 0x9e3779b97f4a7c15U;
    }
    return hash;
}

/// Takes all other steps out of a track.
template <typename Wanted> void keepSteps(Track& track, std::size_t width, const Wanted& isWanted)
{
    std::size_t kept = 0;
    for (std::size_t i = 0; i < track.steps.size(); ++i) {
        if (!isWanted(i))
            continue;
        track.steps[kept] = track.steps[i];
        std::copy_n(track.values.begin() + static_cast<std::ptrdiff_t>(i * width), width,
            track.values.begin() + static_cast<std::ptrdiff_t>(kept * width));
        ++kept;
    }
    track.steps.resize(kept);
    track.values.resize(kept * width);
}

template <typename T> std::vector<T> convert(const std::vector<double>& values)
{
    std::vector<T> out(values.size());
    std::transform(values.begin(), values.end(), out.begin(), [](double value) { return static_cast<T>(value); });
    return out;
}

}

void FollowBlocks::addTimes(ForeignProcess& process, std::optional<std::int64_t> held)
{
    SeriesDesc desc;
    desc.name = kWallTimeName;
    desc.numel = 1;
    Track& track = process.series(Kind::Scalar, desc).track(Stat::Value);
    for (const auto& [step, ns] : process.times()) {
        if (step != held && isStep(step) && m_timed.insert(step).second)
            track.add(step, static_cast<double>(ns));
    }
}

void FollowBlocks::addLayouts(std::vector<Fresh>& fresh, FollowedBlocks& out, ForeignRun& run)
{
    const auto rank = [](const Fresh& one) { return std::tie(one.series->kind, one.track->stat, one.series->edges); };
    std::stable_sort(fresh.begin(), fresh.end(), [&](const Fresh& a, const Fresh& b) { return rank(a) < rank(b); });
    std::shared_ptr<SeriesLayout> layout;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < fresh.size(); ++i) {
        const Fresh& one = fresh[i];
        const bool isNew = !layout || rank(fresh[i - 1]) != rank(one) || layout->series.size() == kMostFollowedSeries
            || bytes > kMostNameBytes;
        if (isNew) {
            layout = std::make_shared<SeriesLayout>();
            layout->id = LayoutId { static_cast<std::uint32_t>(m_layoutsBefore + m_layouts.size() + 1) };
            layout->kind = one.series->kind;
            layout->stats = { one.track->stat };
            layout->edges = one.series->edges;
            m_layouts.push_back(layout);
            out.layouts.push_back(layout);
            bytes = 0;
        }
        SeriesDesc desc = one.series->desc;
        if (m_mend(desc))
            run.leaveOut("names that were too long or no text: they are mended");
        bytes += desc.name.size() + 64;
        const Place place { static_cast<std::uint32_t>(m_layouts.size() - 1),
            static_cast<std::uint32_t>(layout->series.size()) };
        layout->series.push_back(std::move(desc));
        m_places.emplace(one.key, place);
        m_known.emplace(Key { one.series, one.track->stat }, place);
    }
}

void FollowBlocks::findPlaces(ForeignProcess& process, ForeignRun& run, FollowedBlocks& out)
{
    std::vector<Fresh> fresh;
    for (ForeignSeries& series : process.all()) {
        for (Track& track : series.tracks) {
            const Key key { &series, track.stat };
            if (track.steps.empty() || m_known.contains(key))
                continue;
            std::string text = textOf(series, track.stat);
            if (const auto there = m_places.find(text); there != m_places.end())
                m_known.emplace(key, there->second);
            else
                fresh.push_back({ &track, &series, std::move(text) });
        }
    }
    addLayouts(fresh, out, run);
}

StepBlock FollowBlocks::blockOf(const SeriesLayout& layout, std::int64_t step, Cells&& cells, ForeignRun& run) const
{
    StepBlock block;
    block.step = Step { step };
    const Stat stat = layout.stats.front();
    switch (columnType(stat)) {
    case ColumnType::U64:
        for (double& value : cells.values) {
            if (value >= 0 && value < 18446744073709551616.0 && value == std::trunc(value))
                continue;
            run.leaveOut("counts that are no whole numbers");
            value = 0;
        }
        block.columns.push_back({ stat, convert<std::uint64_t>(cells.values) });
        break;
    case ColumnType::F32: {
        auto narrow = convert<float>(cells.values);
        for (std::size_t i = 0; i < narrow.size(); ++i) {
            if (static_cast<double>(narrow[i]) != cells.values[i] && !std::isnan(cells.values[i]))
                run.leaveOut("digits of statistics beyond a float32's");
        }
        block.columns.push_back({ stat, std::move(narrow) });
        break;
    }
    default:
        block.columns.push_back({ stat, std::move(cells.values) });
        break;
    }
    std::size_t there = 0;
    for (const std::uint64_t word : cells.present)
        there += static_cast<std::size_t>(std::popcount(word));
    if (there < layout.series.size())
        block.present = std::move(cells.present);
    return block;
}

void FollowBlocks::goOnAfter(const ForeignProcess& stored, std::size_t layouts)
{
    m_layoutsBefore = layouts;
    for (const ForeignSeries& series : stored.all()) {
        for (const Track& track : series.tracks) {
            auto& steps = m_stored[textOf(series, track.stat)];
            for (std::size_t i = 0; i < track.steps.size(); ++i)
                steps.emplace_back(
                    track.steps[i], hashOf(track.stat, &track.values[i * series.width()], series.width()));
            std::sort(steps.begin(), steps.end());
        }
    }
}

void FollowBlocks::leaveStored(ForeignProcess& process, ForeignRun& run)
{
    if (m_stored.empty())
        return;
    for (ForeignSeries& series : process.all()) {
        ForeignSeries named; // as a run has it
        named.kind = series.kind;
        named.desc = series.desc;
        named.edges = series.edges;
        m_mend(named.desc);
        for (Track& track : series.tracks) {
            const auto stored = track.steps.empty() ? m_stored.end() : m_stored.find(textOf(named, track.stat));
            if (stored == m_stored.end())
                continue;
            keepSteps(track, series.width(), [&](std::size_t i) {
                const auto there = std::lower_bound(
                    stored->second.begin(), stored->second.end(), std::pair(track.steps[i], std::uint64_t { 0 }));
                if (there == stored->second.end() || there->first != track.steps[i])
                    return true;
                // Whose records of a step have times of their own, tells one of them.
                if (series.desc.name != kWallTimeName
                    && there->second != hashOf(track.stat, &track.values[i * series.width()], series.width()))
                    run.leaveOut("values that were told again for a step that the run has (the stored ones stay)");
                return false;
            });
        }
    }
}

FollowedBlocks FollowBlocks::take(ForeignProcess& process, std::optional<std::int64_t> held, ForeignRun& run)
{
    FollowedBlocks out;
    addTimes(process, held);
    leaveStored(process, run);
    findPlaces(process, run, out);
    std::map<std::pair<std::int64_t, std::uint32_t>, Cells> found; // by step and layout
    for (ForeignSeries& series : process.all()) {
        const std::size_t width = series.width();
        for (Track& track : series.tracks) {
            if (track.steps.empty())
                continue;
            const Place place = m_known.at({ &series, track.stat });
            const SeriesLayout& layout = *m_layouts[place.layout];
            for (std::size_t i = 0; i < track.steps.size(); ++i) {
                const std::int64_t step = track.steps[i];
                if (step == held)
                    continue;
                if (!isStep(step)) {
                    run.leaveOut("values of steps farther from 0 than 2^53");
                    continue;
                }
                Cells& cells = found[{ step, place.layout }];
                if (cells.values.empty()) {
                    cells.values.resize(layout.cells());
                    cells.present.resize((layout.series.size() + 63) / 64);
                }
                std::copy_n(track.values.begin() + static_cast<std::ptrdiff_t>(i * width), width,
                    cells.values.begin() + static_cast<std::ptrdiff_t>(place.index * width));
                std::uint64_t& word = cells.present[place.index / 64];
                const std::uint64_t bit = std::uint64_t { 1 } << (place.index % 64);
                if ((word & bit) != 0)
                    run.leaveOut("values that were told again for the same step (the last one counts)");
                word |= bit;
            }
            keepSteps(track, width, [&](std::size_t i) { return track.steps[i] == held; });
        }
    }
    for (auto& [at, cells] : found) {
        StepBlock block = blockOf(*m_layouts[at.second], at.first, std::move(cells), run);
        block.layout = m_layouts[at.second];
        const auto time = process.times().find(at.first);
        block.wallNs = time == process.times().end() ? 0 : time->second;
        out.blocks.push_back(std::move(block));
    }
    process.keepTimes([held](std::int64_t step) { return step == held; });
    return out;
}

}
