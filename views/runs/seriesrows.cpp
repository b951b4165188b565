// SPDX-License-Identifier: GPL-3.0-or-later
#include "seriesrows.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <telltale/common/rowlist.h>

namespace telltale::views {

namespace {

std::unordered_map<SourceId, const store::SourceInfo*> sourcesById(const store::Catalog& catalog)
{
    std::unordered_map<SourceId, const store::SourceInfo*> result;
    for (const store::SourceInfo& source : catalog.sources)
        result.emplace(source.id, &source);
    return result;
}

struct Attempt {
    int number;
    const store::SeriesInfo* series;
};

/// Oldest attempt first; of several series of one attempt (micro steps, definitions) the first stays.
void keepOnePerAttempt(std::vector<Attempt>& attempts)
{
    std::stable_sort(
        attempts.begin(), attempts.end(), [](const Attempt& a, const Attempt& b) { return a.number < b.number; });
    const auto same = [](const Attempt& a, const Attempt& b) { return a.number == b.number; };
    attempts.erase(std::unique(attempts.begin(), attempts.end(), same), attempts.end());
}

series::RowAttempts idsOf(const std::vector<Attempt>& attempts)
{
    series::RowAttempts ids;
    for (const Attempt& attempt : attempts)
        ids.push_back(attempt.series->id);
    return ids;
}

}

std::vector<SeriesRow> seriesRows(const store::Catalog& catalog, Kind kind, Rank rank)
{
    const auto sources = sourcesById(catalog);
    std::map<std::pair<std::string_view, std::string_view>, std::size_t> place;
    std::vector<std::vector<Attempt>> found;
    for (const store::SeriesInfo& series : catalog.series) {
        const auto source = sources.find(series.source);
        if (series.kind != kind || source == sources.end() || source->second->rank != rank)
            continue;
        const auto [at, isNew] = place.try_emplace({ series.name, series.slot }, found.size());
        if (isNew)
            found.emplace_back();
        found[at->second].push_back({ source->second->attempt, &series });
    }
    std::vector<SeriesRow> rows;
    rows.reserve(found.size());
    for (std::vector<Attempt>& attempts : found) {
        keepOnePerAttempt(attempts);
        const store::SeriesInfo* newest = attempts.back().series;
        rows.push_back({ { QString::fromStdString(newest->name), QString::fromStdString(newest->slot) },
            idsOf(attempts), newest });
    }
    return rows;
}

std::vector<std::pair<Rank, series::RowAttempts>> rankRows(
    const store::Catalog& catalog, Kind kind, const ModuleKey& key)
{
    const auto sources = sourcesById(catalog);
    const std::string name = key.name.toStdString(), slot = key.slot.toStdString();
    std::map<Rank, std::vector<Attempt>> found;
    for (const store::SeriesInfo& series : catalog.series) {
        const auto source = sources.find(series.source);
        if (series.kind == kind && series.name == name && series.slot == slot && source != sources.end())
            found[source->second->rank].push_back({ source->second->attempt, &series });
    }
    std::vector<std::pair<Rank, series::RowAttempts>> rows;
    for (auto& [rank, attempts] : found) {
        keepOnePerAttempt(attempts);
        rows.emplace_back(rank, idsOf(attempts));
    }
    return rows;
}

ModuleKeys keysOf(const store::Catalog& catalog, Kind kind, const QString& name)
{
    const std::string wanted = name.toStdString();
    const std::set<GroupId> histograms = groupsWith(catalog, Stat::Hist); // a series a bin: none of them is the tensor
    ModuleKeys found;
    auto& [chosen, keys] = found;
    for (const store::SeriesInfo& series : catalog.series) {
        if (series.name != wanted || histograms.contains(series.group))
            continue;
        if (chosen == Kind::Unspecified || (chosen != kind && series.kind == kind)) {
            chosen = series.kind;
            keys.clear();
        }
        const ModuleKey key { name, QString::fromStdString(series.slot) };
        if (series.kind == chosen && std::find(keys.begin(), keys.end(), key) == keys.end())
            keys.push_back(key);
    }
    return found;
}

}
