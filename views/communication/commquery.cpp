// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <telltale/common/rowlist.h>
#include <telltale/items/numbertext.h>
#include <telltale/store/rowsof.h>

#include "commpicture.h"

namespace telltale::views {

using series::CellState;
using series::CellValue;

namespace {

constexpr std::int64_t kBack = 1024; ///< steps before the cursor in which a step with collectives is looked for
constexpr std::size_t kMostSites = 1000;
constexpr int kTickedHeight = 210; ///< px of a legend's colors, at most
constexpr int kTickDistance = 30;

/// What the catalog has of a call site.
struct Found {
    CommSite site;
    ModuleKey key;
    std::vector<std::size_t> before; ///< places in Sites::rows
    std::vector<std::size_t> results; ///< before the call, what it writes to
    std::vector<std::size_t> after;
    std::array<std::size_t, kCommMetrics> metrics {}; ///< places in Sites::scalars + 1; 0: none
};

struct Sites {
    std::vector<Found> found;
    std::vector<series::RowAttempts> rows;
    std::vector<series::RowAttempts> scalars;
};

std::optional<series::RowAttempts> scalarOf(const series::RowIndex& index, Rank rank, const std::string& name)
{
    for (const series::RowIndex::Row* row : index.named(name)) {
        if (row->kind == Kind::Scalar && row->rank == rank)
            return row->attempts;
    }
    return std::nullopt;
}

/// PyTorch's collectives whose first argument is where the result goes.
bool isGivenResultFirst(const QString& op)
{
    constexpr std::array kOps { "all_gather", "reduce_scatter", "all_to_all", "scatter", "_all_gather_base",
        "_reduce_scatter_base" };
    return std::ranges::any_of(kOps, [&](const char* name) { return op.startsWith(QLatin1String(name)); });
}

Sites sitesOf(const CommRequest& request, std::vector<CommSite> described)
{
    const series::RowIndex& index = store::rowsOf(*request.catalog);
    const NamePattern pattern(request.filter.toStdString());
    Sites sites;
    std::map<QString, std::size_t> placeOf;
    const auto siteAt = [&](CommSite site) -> Found* {
        const auto [place, isNew] = placeOf.try_emplace(site.name, sites.found.size());
        if (isNew && sites.found.size() == kMostSites)
            return nullptr;
        if (isNew)
            sites.found.emplace_back().site = std::move(site);
        return place->second < sites.found.size() ? &sites.found[place->second] : nullptr;
    };
    std::map<QString, CommSite> known;
    for (CommSite& site : described)
        known.emplace(site.name, site);
    for (const series::RowIndex::Row* row : index.select(Kind::Comm, request.rank, request.stat)) {
        if (!index.chooses(pattern, row->tensor))
            continue;
        const series::SeriesKey& key = index.key(*row);
        const QString name = QString::fromStdString(key.name);
        const auto told = known.find(name);
        Found* found = siteAt(told == known.end() ? siteOfName(name) : told->second);
        if (!found)
            continue;
        const bool isAfter = key.slot.role == Role::After;
        // What it writes to holds anything yet: before the call there is what it sends.
        const bool isResult = !isAfter && key.slot.number == 0 && isGivenResultFirst(found->site.op);
        auto& into = isAfter ? found->after : isResult ? found->results : found->before;
        const bool isFirst = into.empty() && (isAfter || found->after.empty());
        into.push_back(sites.rows.size());
        sites.rows.push_back(row->attempts);
        if (isFirst)
            found->key = { name, key.slot };
        const QString dtype = QString::fromUtf8(dtypeName(request.catalog->series[row->newest].desc->dtype));
        if (told == known.end() && !found->site.dtypes.contains(dtype))
            found->site.dtypes.append(dtype);
    }
    for (Found& found : sites.found) {
        if (found.before.empty())
            found.before = std::move(found.results);
    }
    for (CommSite& site : described) {
        if (request.filter.isEmpty())
            siteAt(std::move(site)); // none of its tensors could be measured
    }
    for (Found& found : sites.found) {
        for (std::size_t metric = 0; metric < kCommMetrics; ++metric) {
            auto row = scalarOf(index, request.rank, commMetricName(static_cast<CommMetric>(metric), found.site.name));
            if (!row)
                continue;
            sites.scalars.push_back(std::move(*row));
            found.metrics[metric] = sites.scalars.size();
        }
    }
    return sites;
}

/// The newest step until then at which any site was called.
Expected<std::optional<Step>> lastStep(store::RunReader& reader, const Sites& sites, Step until)
{
    std::optional<Step> last;
    for (const Found& found : sites.found) {
        if (found.metrics[0] == 0)
            continue;
        const Step from = last ? Step { last->value + 1 } : Step { std::max<std::int64_t>(0, until.value - kBack) };
        if (from > until)
            break;
        auto read = reader.raw(
            sites.scalars[found.metrics[0] - 1], Stat::Value, { from, until }, [&last](const series::RawValue& raw) {
                if (raw.state == CellState::Value)
                    last = raw.step;
                return true;
            });
        if (!read)
            return tl::unexpected(std::move(read).error());
    }
    return last;
}

/// Of the arguments of a call: what is not finite, else the first.
CellValue together(const std::vector<CellValue>& column, const std::vector<std::size_t>& rows)
{
    CellValue all;
    for (const std::size_t row : rows) {
        if (column[row].state > all.state)
            all = column[row];
    }
    return all;
}

Expected<void> readTimes(store::RunReader& reader, const CommRequest& request, CommPicture& picture)
{
    const auto wall = scalarOf(store::rowsOf(*request.catalog), request.rank, "telltale.wall_ns");
    if (!wall || !picture.step)
        return {};
    const std::array rows { *wall };
    const auto end = reader.column(*picture.step, Stat::Value, rows);
    if (!end)
        return tl::unexpected(end.error());
    const auto begin = reader.column(Step { picture.step->value - 1 }, Stat::Value, rows);
    if (!begin)
        return tl::unexpected(begin.error());
    picture.endNs = end->front().state == CellState::Value ? end->front().value : 0;
    picture.beginNs = begin->front().state == CellState::Value ? begin->front().value : 0;
    return {};
}

Expected<CommPicture> readTable(store::RunReader& reader, const CommRequest& request)
{
    CommPicture picture;
    picture.rank = request.rank;
    picture.atStep = request.atStep;
    picture.stat = request.stat;
    std::vector<CommSite> described;
    constexpr Step newest { std::numeric_limits<std::int64_t>::max() };
    const auto blob = reader.blob("comm_sites", "rank" + std::to_string(request.rank.value), newest);
    if (blob) // a run of an agent that says nothing of its sites has their names all the same
        described = readSites(*blob, &picture.times);
    const Sites sites = sitesOf(request, std::move(described));
    auto step = lastStep(reader, sites, request.atStep);
    if (!step)
        return tl::unexpected(std::move(step).error());
    picture.step = *step;
    const Step at = picture.step.value_or(request.atStep);
    auto values = reader.column(at, request.stat, sites.rows, !picture.step);
    if (!values)
        return tl::unexpected(std::move(values).error());
    auto scalars = reader.column(at, Stat::Value, sites.scalars);
    if (!scalars)
        return tl::unexpected(std::move(scalars).error());
    for (const Found& found : sites.found) {
        CommRow row { found.site, found.key, together(*values, found.before), together(*values, found.after), {} };
        for (std::size_t metric = 0; metric < kCommMetrics; ++metric) {
            if (found.metrics[metric] > 0)
                row.metrics[metric] = (*scalars)[found.metrics[metric] - 1];
        }
        picture.rows.push_back(std::move(row));
    }
    if (auto read = readTimes(reader, request, picture); !read)
        return tl::unexpected(std::move(read).error());
    return picture;
}

/// One metric of all sites over the steps, each by the name of its site; a click in it means the site's tensor.
Expected<HeatPicture> readStrip(
    store::RunReader& reader, const CommRequest& request, const CommPicture& table, const series::CancelToken& cancel)
{
    HeatRequest strip = request.strip;
    strip.catalog = request.catalog;
    strip.kind = Kind::Scalar;
    strip.stat = Stat::Value;
    strip.rank = request.rank;
    strip.filter.clear();
    std::map<QString, const CommRow*> siteOf;
    for (const CommRow& row : table.rows) {
        const QString name = QString::fromStdString(commMetricName(*request.metric, row.site.name));
        strip.only.push_back({ name });
        siteOf.emplace(name, &row);
    }
    if (strip.only.empty())
        return HeatPicture {};
    auto picture = readHeat(reader, strip, cancel);
    if (!picture)
        return picture;
    picture->title = commMetricText(*request.metric);
    for (Row& row : picture->rows) {
        const auto site = siteOf.find(row.key.name);
        if (site == siteOf.end())
            continue;
        row.key = site->second->key.name.isEmpty() ? ModuleKey { site->second->site.name } : site->second->key;
        row.label = site->second->site.shortCall();
        row.group.clear();
    }
    if (request.metric == CommMetric::Seconds) { // in the table's unit
        for (float& value : picture->result.values)
            value *= 1000;
    }
    picture->longestGroup.clear();
    picture->bands.clear();
    picture->finish(); // of these names and values
    if (request.metric == CommMetric::Bytes) {
        picture->ticks = picture->scale.ticks(kTickedHeight, kTickDistance);
        for (ValueScale::Tick& tick : picture->ticks)
            tick.label = items::formatBytes(static_cast<quint64>(std::llround(std::max(tick.value, 0.0))));
    }
    paintCells(*picture, strip);
    return picture;
}

}

Expected<CommAnswer> readComm(store::RunReader& reader, const CommRequest& request, const series::CancelToken& cancel)
{
    auto table = readTable(reader, request);
    if (!table)
        return tl::unexpected(std::move(table).error());
    CommAnswer answer;
    if (request.metric) {
        auto strip = readStrip(reader, request, *table, cancel);
        if (!strip)
            return tl::unexpected(std::move(strip).error());
        if (!strip->rows.empty())
            answer.strip = std::make_shared<const HeatPicture>(std::move(*strip));
    }
    answer.table = std::make_shared<const CommPicture>(std::move(*table));
    return answer;
}

}
