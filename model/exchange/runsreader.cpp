// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/runsreader.h>

#include <algorithm>
#include <bit>
#include <map>

#include <telltale/exchange/mappedfile.h>
#include <telltale/exchange/measuredtable.h>
#include <telltale/store/runreader.h>

namespace telltale::exchange {
namespace {

constexpr const char* kDocuments[] { "config", "structure", "module_struct", "stack", "hyperparameters", "environment",
    "text", "image", "console", "comm_sites", "attention_map", "grad_sign" };

Expected<void> readSeries(store::RunReader& reader, const MeasuredTable& table, ForeignProcess& to, ForeignRun& run)
{
    constexpr StepRange kAll { Step { -kFarthestStep }, Step { kFarthestStep } };
    const StepRange all { std::max(kAll.first, table.source->firstStep), std::min(kAll.last, table.source->lastStep) };
    for (const store::SeriesInfo* info : table.series) {
        if (table.edges) {
            const auto found
                = store::readHistograms(reader, { info->id }, static_cast<int>(table.edges->size()) - 1, all);
            if (!found)
                return tl::unexpected<Error>(found.error());
            Track& track = to.series(info->kind, *info->desc, *table.edges).track(Stat::Hist);
            for (const store::HistogramValue& value : *found) {
                if (std::any_of(value.counts.begin(), value.counts.end(), [](std::int64_t n) { return n < 0; })) {
                    run.leaveOut("histograms of which a bin cannot be read");
                    continue;
                }
                track.steps.push_back(value.step.value);
                track.values.insert(track.values.end(), value.counts.begin(), value.counts.end());
            }
            continue;
        }
        ForeignSeries& series = to.series(info->kind, *info->desc);
        for (const Stat stat : table.stats) {
            Track& track = series.track(stat);
            auto read = reader.raw({ info->id }, stat, all, [&](const series::RawValue& value) {
                if (value.state == series::CellState::Absent)
                    track.add(value.step.value, std::numeric_limits<double>::quiet_NaN());
                else if (value.state > series::CellState::Gap)
                    track.add(value.step.value, isIdentity(stat) ? std::bit_cast<double>(value.identity) : value.value);
                return true;
            });
            if (!read)
                return read;
        }
    }
    return {};
}

Expected<void> readDocuments(
    store::RunReader& reader, ForeignRun& run, const std::map<std::pair<int, Rank>, int>& attempts)
{
    for (const char* kind : kDocuments) {
        const auto found = reader.documents(kind);
        if (!found)
            return tl::unexpected<Error>(found.error());
        for (const store::DocumentInfo& info : *found) {
            const auto bytes = reader.document(info.id);
            const auto attempt = attempts.find({ info.attempt, info.rank });
            if (!bytes || attempt == attempts.end())
                run.leaveOut("documents that cannot be read");
            else
                run.process(info.rank, attempt->second).documents.push_back({ kind, info.name, info.step, *bytes });
        }
    }
    return {};
}

}

bool RunsReader::claims(const std::filesystem::path& path) const
{
    const std::string head = headOf(path, 72);
    return head.size() == 72 && head.starts_with("SQLite format 3") && head.substr(68) == "TTLR";
}

Expected<void> RunsReader::read(const std::filesystem::path& path, ForeignRun& run, const Progress& progress) const
{
    store::RunHandle handle;
    handle.locator = store::RunLocator::ofFile(path.string());
    auto reader = store::openReader(handle);
    if (!reader)
        return tl::unexpected<Error>(std::move(reader.error()));
    const auto catalog = (*reader)->catalog();
    if (!catalog)
        return tl::unexpected<Error>(catalog.error());
    for (const std::string& sentence : (*catalog)->damage)
        run.noteDamage(path.string() + ": " + sentence);
    if (run.name.empty())
        run.name = (*catalog)->name;
    if (run.createdNs == 0 || ((*catalog)->createdNs > 0 && (*catalog)->createdNs < run.createdNs))
        run.createdNs = (*catalog)->createdNs;
    std::map<Rank, int> before;
    std::map<std::pair<int, Rank>, int> attempts;
    for (const store::SourceInfo& source : (*catalog)->sources) {
        before.try_emplace(source.rank, run.attemptsOf(source.rank));
        const int attempt = attempts[{ source.attempt, source.rank }] = before[source.rank] + source.attempt;
        ForeignProcess& process = run.process(source.rank, attempt);
        process.framework = source.framework;
        process.host = source.host;
        process.device = source.device;
        process.dp = source.dp;
        process.tp = source.tp;
        process.pp = source.pp;
        process.ep = source.ep;
    }
    const auto tables = measuredTables(**catalog, [](const store::SeriesInfo&) { return true; });
    std::size_t done = 0;
    for (const MeasuredTable& table : tables) {
        if (auto on = goOn(progress, static_cast<double>(done++) / static_cast<double>(tables.size())); !on)
            return on;
        ForeignProcess& process
            = run.process(table.source->rank, attempts[{ table.source->attempt, table.source->rank }]);
        if (auto ok = readSeries(**reader, table, process, run); !ok)
            return ok;
    }
    const auto log = store::readWholeLog(**reader);
    if (!log)
        return tl::unexpected<Error>(log.error());
    for (const store::LogRecord& record : *log) {
        const auto source = std::find_if((*catalog)->sources.begin(), (*catalog)->sources.end(),
            [&](const store::SourceInfo& one) { return one.id == record.source; });
        if (record.isDrop || record.rank.value < 0 || source == (*catalog)->sources.end()) {
            run.leaveOut("records of the log that its server wrote (" + record.kind.substr(0, 32) + ")");
            continue;
        }
        Event event;
        event.kind = record.kind;
        event.step = record.steps.first;
        event.wallNs = record.wallNs;
        event.text = record.text;
        event.json = record.json;
        event.rule = record.rule;
        event.phase = record.phase;
        event.cause = record.cause;
        event.author = record.author;
        run.process(source->rank, attempts[{ source->attempt, source->rank }]).events.push_back(std::move(event));
    }
    return readDocuments(**reader, run, attempts);
}

}
