// SPDX-License-Identifier: GPL-3.0-or-later
#include "distributionquery.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include <telltale/core/histogram.h>
#include <telltale/items/shownname.h>
#include <telltale/store/rowsof.h>

#include "distributioncurves.h"

namespace telltale::views {

using series::CellState;
using series::RowIndex;

namespace {

bool isBelow(const std::string& name, const std::string& module)
{
    return name.size() > module.size() && name.starts_with(module) && name[module.size()] == '.';
}

Row labelled(const RowIndex& index, const RowIndex::Row& from)
{
    const series::SeriesKey& key = index.key(from);
    Row row;
    row.key = { QString::fromStdString(key.name), key.slot };
    row.kind = from.kind;
    row.rank = from.rank;
    row.label = items::shownName(shortNameOf(row.key.name));
    if (key.slot.hasText())
        row.label += QLatin1Char(' ') + items::shownSlot(key.slot);
    row.microStep = key.microStep;
    row.micro = microText(key.microStep, std::ranges::any_of(index.named(key.name), [&](const RowIndex::Row* other) {
        return other->kind == from.kind && index.key(*other).microStep != key.microStep;
    }));
    row.label = row.withMicro(row.label);
    row.group = groupOf(row.key.name);
    row.attempts = from.attempts;
    row.tensor = from.tensor;
    return row;
}

/// Fills the strip's reaches.
Expected<void> readReaches(store::RunReader& reader, const RowIndex::Row& statistics, int pixels, StepRange range,
    DistributionStrip& strip, const series::CancelToken& cancel)
{
    constexpr double kOpen = std::numeric_limits<double>::infinity();
    strip.reaches.assign(static_cast<std::size_t>(strip.columns), { -kOpen, kOpen });
    for (const Stat stat : { Stat::Min, Stat::Max }) {
        const auto curve = reader.curve({ statistics.attempts, stat, range, pixels }, cancel);
        if (!curve)
            return tl::unexpected(curve.error());
        for (std::size_t i = 0; i < std::min(strip.reaches.size(), curve->buckets.size()); ++i) {
            const series::Bucket& bucket = curve->buckets[i];
            if (bucket.finite > 0 && bucket.finite >= strip.samples[i])
                (stat == Stat::Min ? strip.reaches[i].first : strip.reaches[i].second)
                    = stat == Stat::Min ? bucket.min : bucket.max;
        }
    }
    return {};
}

Expected<DistributionStrip> readStrip(store::RunReader& reader, const DistributionRequest& request,
    const RowIndex& index, const RowIndex::Row& from, const series::CancelToken& cancel)
{
    DistributionStrip strip;
    strip.row = labelled(index, from);
    strip.edges = store::edgesOf(*request.catalog, from);
    const store::SeriesInfo& histogram = request.catalog->series[from.newest];
    strip.numel = histogram.desc->numel;
    const int pixels = static_cast<int>(std::min<std::int64_t>(request.pixels, request.range.count()));
    series::HeatQuery heat;
    heat.stat = Stat::Hist;
    heat.range = request.range;
    heat.pixels = pixels;
    heat.rows.assign(static_cast<std::size_t>(strip.bins()), from.attempts);
    for (int bin = 0; bin < strip.bins(); ++bin)
        heat.rows[static_cast<std::size_t>(bin)].bin = bin;
    const auto cells = reader.heatmap(heat, cancel);
    if (!cells)
        return tl::unexpected(cells.error());
    const auto first = reader.curve({ from.attempts, Stat::Hist, request.range, pixels }, cancel);
    if (!first)
        return tl::unexpected(first.error());
    strip.columns = cells->columns;
    const auto columns = static_cast<std::size_t>(cells->columns);
    const auto bins = static_cast<std::size_t>(strip.bins());
    strip.counts.assign(columns * bins, 0);
    strip.totals.assign(columns, 0);
    strip.samples.assign(columns, 0);
    strip.states.assign(columns, CellState::NotCollected);
    for (std::size_t column = 0; column < columns; ++column) {
        for (std::size_t bin = 0; bin < bins; ++bin) {
            const CellState state = cells->states[bin * columns + column];
            strip.states[column] = std::max(strip.states[column], state);
            if (state != CellState::Value)
                continue;
            const auto count = static_cast<double>(cells->values[bin * columns + column]);
            strip.counts[column * bins + bin] = count;
            strip.totals[column] += count;
        }
        if (column < first->buckets.size())
            strip.samples[column] = first->buckets[column].samples;
    }
    const auto [statistics, stat] = store::statisticsBeside(*request.catalog, histogram, from.rank);
    const auto others = statistics ? reader.curve({ statistics->attempts, stat, request.range, pixels }, cancel)
                                   : Expected<series::CurveResult>(series::CurveResult {});
    if (!others)
        return tl::unexpected(others.error());
    for (std::size_t column = 0; column < columns; ++column) {
        if (column < others->buckets.size() && series::isNonFinite(others->buckets[column].state))
            strip.states[column] = std::max(strip.states[column], others->buckets[column].state);
        if (!statistics && hasOpenEnds(*strip.edges)
            && isMissing(strip.totals[column], strip.numel, strip.samples[column]))
            strip.states[column] = CellState::NaN;
    }
    if (request.below == BelowStrips::Quantiles && statistics && statistics->answers(Stat::AbsMax)) {
        if (auto read = readReaches(reader, *statistics, pixels, request.range, strip, cancel); !read)
            return tl::unexpected(std::move(read).error());
    }
    strip.finish(request.color, request.range);
    strip.heat.isLive = request.isLive;
    return strip;
}

}

std::vector<Kind> histogramKinds(const store::Catalog& catalog)
{
    std::set<Kind> kinds;
    for (const store::GroupInfo& group : catalog.groups) {
        if (group.edges)
            kinds.insert(group.kind);
    }
    return { kinds.begin(), kinds.end() };
}

std::vector<Rank> histogramRanks(const store::Catalog& catalog, Kind kind)
{
    std::set<Rank> ranks;
    for (const store::GroupInfo& group : catalog.groups) {
        if (!group.edges || group.kind != kind)
            continue;
        for (const store::SourceInfo& source : catalog.sources) {
            if (source.id == group.source)
                ranks.insert(source.rank);
        }
    }
    return { ranks.begin(), ranks.end() };
}

/// `isExample`: nothing that is selected has any, and the first that there is stands for it.
std::vector<const RowIndex::Row*> histogramRows(const DistributionRequest& request, bool& isExample)
{
    const RowIndex& index = store::rowsOf(*request.catalog);
    RowIndex::Rows all = index.select(request.kind, request.rank, Stat::Hist);
    std::erase_if(all, [&](const RowIndex::Row* row) { return !store::edgesOf(*request.catalog, *row); });
    RowIndex::Rows found;
    const auto take = [&](const auto& isMeant) {
        for (const RowIndex::Row* row : all) {
            if (isMeant(index.key(*row)) && std::find(found.begin(), found.end(), row) == found.end())
                found.push_back(row);
        }
    };
    for (const ModuleKey& key : request.selection) {
        const std::string name = key.name.toStdString();
        Slot slot = key.slot;
        slot.bin = -1;
        const std::size_t before = found.size();
        take([&](const series::SeriesKey& one) { return one.name == name && one.slot == slot; });
        if (found.size() == before)
            take([&](const series::SeriesKey& one) { return one.name == name || isBelow(one.name, name); });
    }
    if (!found.empty())
        return found;
    isExample = !request.selection.empty();
    const std::vector<bool> chosen = index.matching(NamePattern(request.filter.toStdString()));
    std::erase_if(all, [&](const RowIndex::Row* row) { return !chosen[row->tensor]; });
    // What a filter lets through is asked for; without one the first tensor is an example.
    if (request.filter.isEmpty() && all.size() > 1)
        all.erase(all.begin() + 1, all.end());
    return all;
}

Expected<DistributionPicture> readDistribution(
    store::RunReader& reader, const DistributionRequest& request, const series::CancelToken& cancel)
{
    DistributionPicture picture;
    picture.range = request.range;
    picture.kind = request.kind;
    picture.rank = request.rank;
    picture.isLive = request.isLive;
    if (request.range.isEmpty() || request.pixels <= 0)
        return picture;
    const RowIndex& index = store::rowsOf(*request.catalog);
    auto rows = histogramRows(request, picture.isExample);
    // A later micro step takes no other tensor's place.
    std::ranges::stable_sort(
        rows, {}, [&](const RowIndex::Row* row) { return std::max(index.key(*row).microStep, 0); });
    picture.isFiltered = !request.filter.isEmpty() && (request.selection.empty() || picture.isExample);
    for (const RowIndex::Row* row : rows) {
        if (static_cast<int>(picture.strips.size()) >= request.most) {
            ++picture.omitted;
            continue;
        }
        auto strip = readStrip(reader, request, index, *row, cancel);
        if (!strip)
            return tl::unexpected(std::move(strip).error());
        picture.strips.push_back(std::move(*strip));
    }
    picture.belowIs = request.below;
    if (!picture.isEmpty())
        picture.below = std::make_shared<const CurvePicture>(
            curvesBelow(picture.strips.front(), request.below, request.range, request.isLive));
    return picture;
}

}
