// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/reader/answers.h>

#include <algorithm>
#include <set>

#include <telltale/analysis/logdocument.h>
#include <telltale/core/kinds.h>
#include <telltale/judge/incident.h>
#include <telltale/store/archive.h>

namespace telltale::reader {
namespace {

using exchange::Selection;
using store::SourceState;

tl::unexpected<Error> wrong(const std::string& what)
{
    return failure(ErrorCode::BadInput, what);
}

const char* wordOf(SourceState state)
{
    switch (state) {
    case SourceState::Running:
        return "running";
    case SourceState::Finished:
        return "finished";
    case SourceState::Failed:
        return "failed";
    case SourceState::Lost:
        break;
    }
    return "lost";
}

/// The numbers or texts of one key of a selection.
template <typename Value> Expected<std::vector<Value>> listOf(const Json& document, const char* key)
{
    std::vector<Value> values;
    if (const auto found = document.find(key); found != document.end()) {
        for (const Json& one : *found) {
            if (!(std::is_same_v<Value, std::string> ? one.is_string() : one.is_number_integer()))
                return wrong(std::string(key) + " holds " + one.dump() + ", which is of another type");
            values.push_back(one.get<Value>());
        }
    }
    return values;
}

/// The words of one key as the values that they name.
template <typename Value>
Expected<void> readWords(const Json& document, const char* key, const char* what,
    std::optional<Value> (*named)(std::string_view), std::vector<Value>& to)
{
    const auto words = listOf<std::string>(document, key);
    if (!words)
        return tl::unexpected(words.error());
    for (const std::string& word : *words) {
        const auto value = named(word);
        if (!value)
            return wrong("there is no " + std::string(what) + " '" + word + "'");
        to.push_back(*value);
    }
    return {};
}

}

Expected<Selection> selectionFrom(std::string_view json)
{
    const Json document = Json::parse(json, nullptr, false);
    if (!document.is_object())
        return wrong("a selection is a JSON object");
    Selection selection;
    if (auto ok = readWords<Kind>(document, "kinds", "kind", kindFromName, selection.kinds); !ok)
        return tl::unexpected(ok.error());
    if (auto ok = readWords<Stat>(document, "stats", "statistic", statFromName, selection.stats); !ok)
        return tl::unexpected(ok.error());
    if (const auto derived = std::find_if(selection.stats.begin(), selection.stats.end(), isDerivedStat);
        derived != selection.stats.end())
        return wrong("the statistic '" + std::string(statName(*derived)) + "' is made of others and not stored");
    const auto ranks = listOf<std::int64_t>(document, "ranks");
    const auto steps = listOf<std::int64_t>(document, "steps");
    if (!ranks || !steps)
        return tl::unexpected(!ranks ? ranks.error() : steps.error());
    for (const std::int64_t rank : *ranks)
        selection.ranks.emplace_back(static_cast<std::int32_t>(rank));
    if (!steps->empty()) {
        if (steps->size() != 2)
            return wrong("the steps of a selection are its first and its last");
        selection.steps = StepRange { Step { (*steps)[0] }, Step { (*steps)[1] } };
    }
    selection.modules = NamePattern(document.value("modules", ""));
    if (!selection.modules.isValid())
        return wrong("modules is not a regular expression: " + selection.modules.error());
    return selection;
}

Json factsOf(const store::RunHandle& run, const store::Catalog& catalog)
{
    Json sources = Json::array();
    Step durable = catalog.steps.last;
    for (const store::SourceInfo& source : catalog.sources) {
        sources.push_back({ { "rank", source.rank.value }, { "attempt", source.attempt }, { "host", source.host },
            { "pid", source.pid }, { "device", source.device }, { "framework", source.framework }, { "dp", source.dp },
            { "tp", source.tp }, { "pp", source.pp }, { "ep", source.ep }, { "first_step", source.firstStep.value },
            { "last_step", source.lastStep.value }, { "state", wordOf(source.state) } });
        if (source.state == SourceState::Running)
            durable = std::min(durable, Step { source.lastStep.value - 1 }); // more of the newest one may come
    }
    std::map<Kind, std::pair<std::set<Stat>, std::uint64_t>> kinds;
    for (const store::GroupInfo& group : catalog.groups)
        kinds[group.kind].first.insert(group.stats.begin(), group.stats.end());
    for (const store::SeriesInfo& series : catalog.series)
        ++kinds[series.kind].second;
    Json measured = Json::object();
    for (const auto& [kind, of] : kinds) {
        Json stats = Json::array();
        for (const Stat stat : of.first)
            stats.push_back(statName(stat));
        measured[std::string(kindName(kind))] = { { "stats", stats }, { "series", of.second } };
    }
    const store::RunSummary summary = store::describeRun(run.locator);
    return { { "path", run.locator.text() }, { "id", summary.id }, { "name", catalog.name },
        { "created_ns", catalog.createdNs }, { "first_step", catalog.steps.first.value },
        { "last_step", catalog.steps.last.value }, { "durable_step", durable.value },
        { "state", store::runStateName(summary.state) }, { "sources", sources }, { "kinds", measured },
        { "damage", catalog.damage } };
}

Json seriesOf(const std::vector<exchange::MeasuredTable>& tables)
{
    Json rows = Json::array();
    for (const exchange::MeasuredTable& table : tables) {
        Json stats = Json::array();
        for (const Stat stat : table.stats)
            stats.push_back(statName(stat));
        for (const store::SeriesInfo* series : table.series) {
            Json& row = rows.emplace_back(Json { { "name", series->desc->name }, { "slot", series->desc->slot.text() },
                { "chunk", series->desc->vppStage }, { "definition", series->desc->definition },
                { "micro_step", series->desc->microStep }, { "rank", table.source->rank.value },
                { "attempt", table.source->attempt }, { "kind", kindName(table.kind) }, { "stats", stats },
                { "shape", series->desc->shape }, { "dtype", dtypeName(series->desc->dtype) },
                { "elements", series->desc->numel } });
            if (table.edges)
                row["bins"] = table.edges->size() - 1;
        }
    }
    return rows;
}

Expected<Json> logOf(store::RunReader& reader, const std::string& kind)
{
    const auto records = store::readWholeLog(reader, { kind, {}, {} });
    if (!records)
        return tl::unexpected(records.error());
    Json log = Json::array();
    for (const store::LogRecord& record : *records)
        log.push_back(analysis::toJson(record));
    return log;
}

Expected<Json> incidentsOf(store::RunReader& reader)
{
    judge::IncidentBook book;
    if (const auto read = book.update(reader); !read)
        return tl::unexpected(read.error());
    Json incidents = Json::array();
    for (const judge::Incident* incident : book.inOrder())
        incidents.push_back(Json::parse(judge::toJson(*incident)));
    return incidents;
}

}
