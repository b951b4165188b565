// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <ostream>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/analysis/rundocument.h>
#include <telltale/core/drops.h>
#include <telltale/core/plaintext.h>
#include <telltale/series/serieskey.h>
#include <telltale/store/account.h>
#include <telltale/store/archive.h>
#include <telltale/store/rowsof.h>

#include "report.h"

namespace telltale::app {
namespace {

std::string_view sourceStateName(store::SourceState state)
{
    switch (state) {
    case store::SourceState::Running:
        return "running";
    case store::SourceState::Finished:
        return "finished";
    case store::SourceState::Failed:
        return "failed";
    case store::SourceState::Lost:
        break;
    }
    return "lost";
}

struct KindSummary {
    std::size_t series = 0;
    std::set<Stat> stats;
    std::set<std::string> names; ///< "layers.0.attn:output"
};

std::map<Kind, KindSummary> kindsOf(const store::Catalog& catalog, bool withNames)
{
    std::map<Kind, KindSummary> kinds;
    const series::RowIndex& index = store::rowsOf(catalog);
    std::map<SeriesId, SourceId> sources;
    for (const store::SeriesInfo& series : catalog.series)
        sources.emplace(series.id, series.source);
    for (const series::RowIndex::Row& row : index.rows()) {
        KindSummary& kind = kinds[row.kind];
        std::set<SourceId> attempts; // that have it, in however many layouts: a change of the config makes one anew
        for (const SeriesId id : row.attempts.series)
            attempts.insert(sources[id]);
        kind.series += attempts.size();
        if (withNames)
            kind.names.insert(index.key(row).text());
    }
    for (const store::GroupInfo& group : catalog.groups)
        kinds[group.kind].stats.insert(group.stats.begin(), group.stats.end());
    return kinds;
}

std::size_t seriesOf(const std::map<Kind, KindSummary>& kinds)
{
    return std::accumulate(kinds.begin(), kinds.end(), std::size_t { 0 },
        [](std::size_t sum, const auto& kind) { return sum + kind.second.series; });
}

std::set<Rank> ranksOf(const store::Catalog& catalog)
{
    std::set<Rank> ranks;
    for (const store::SourceInfo& source : catalog.sources)
        ranks.insert(source.rank);
    return ranks;
}

/// What became of everything that was produced.
struct Sums {
    store::Balance samples, scalars;
    bool isExact = true;
    bool areKnown = false; ///< false: recorded before capsules kept accounts
};

Sums sumsOf(const store::RunLocator& where, const store::RunSummary& run)
{
    Sums sums;
    const auto accounts = store::readAccounts(where, run.state == store::RunState::Live);
    for (std::size_t i = 0; accounts && i < accounts->size(); ++i) {
        const store::SourceAccount& account = (*accounts)[i];
        sums.samples += account.samples;
        sums.scalars += account.scalars;
        sums.isExact = sums.isExact && account.isExact;
        sums.areKnown = true;
    }
    return sums;
}

nlohmann::json toJson(const store::Balance& balance, bool isExact)
{
    return { { "produced", balance.produced }, { "stored", balance.stored }, { "dropped", balance.dropped },
        { "missing", balance.missing }, { "beyond", balance.beyond }, { "exact", isExact } };
}

/// "at least 6600 produced, 6480 stored, 100 dropped, at least 20 never came, the rest is not known".
std::string textOf(const store::Balance& balance, bool isExact)
{
    std::string text = fmt::format("{}{} produced, {} stored, {} dropped", isExact ? "" : "at least ", balance.produced,
        balance.stored, balance.dropped);
    if (balance.missing > 0)
        text += fmt::format(", {}{} never came", isExact ? "" : "at least ", balance.missing);
    if (!isExact)
        text += ", the rest is not known";
    if (balance.beyond > 0)
        text += fmt::format("; {} more than their processes said they had produced", balance.beyond);
    return text;
}

/// Sentences name steps where they are known.
std::string stepsText(const StepRange& steps)
{
    return steps.isEmpty() ? "" : fmt::format("steps {} to {}: ", steps.first.value, steps.last.value);
}

std::string_view itemsWord(std::uint32_t dropClass)
{
    switch (dropClass) {
    case dropclass::kEvents:
        return "events";
    case dropclass::kScalars:
        return "metrics";
    case dropclass::kBlobs:
        return "documents";
    default:
        return "samples";
    }
}

struct Log {
    std::size_t events = 0;
    std::vector<store::LogRecord> drops;
    std::vector<std::string> changes; ///< what was done to the file since: it has less than was recorded
    std::uint64_t lostSamples = 0; ///< dropped, or never came
};

Log logOf(std::vector<store::LogRecord> records)
{
    Log log;
    for (store::LogRecord& record : records) {
        log.events += record.isDrop ? 0 : 1;
        if (!record.isDrop && (record.kind == "thinned" || record.kind == "repaired"))
            log.changes.push_back(record.text);
        log.lostSamples += dropclass::isSamples(record.dropClass) ? record.items : 0;
        if (record.isDrop)
            log.drops.push_back(std::move(record));
    }
    return log;
}

const store::SourceInfo* sourceOf(const store::Catalog& catalog, const store::MissingInfo& missing)
{
    const auto found = std::find_if(catalog.sources.begin(), catalog.sources.end(),
        [&missing](const store::SourceInfo& source) { return source.id == missing.source; });
    return found == catalog.sources.end() ? nullptr : &*found;
}

/// A rank runs while its run is live. In any other it stopped without a word.
std::string_view stateOf(const store::SourceInfo& source, const store::RunSummary& run)
{
    return sourceStateName(source.state == store::SourceState::Running && run.state != store::RunState::Live
            ? store::SourceState::Lost
            : source.state);
}

nlohmann::json toJson(const OpenedCapsule& capsule, const Log& log, const store::RunSummary& run, bool withNames,
    const std::optional<store::VerifyReport>& report, const std::string& verifyError)
{
    const store::Catalog& catalog = *capsule.catalog;
    auto sources = nlohmann::json::array();
    for (const store::SourceInfo& source : catalog.sources) {
        sources.push_back({ { "rank", source.rank.value }, { "attempt", source.attempt },
            { "agent_id", source.agentId }, { "host", source.host }, { "pid", source.pid }, { "device", source.device },
            { "framework", source.framework }, { "dp", source.dp }, { "tp", source.tp }, { "pp", source.pp },
            { "ep", source.ep }, { "first_step", source.firstStep.value }, { "last_step", source.lastStep.value },
            { "state", stateOf(source, run) } });
    }
    const auto summaries = kindsOf(catalog, withNames);
    auto kinds = nlohmann::json::array();
    for (const auto& [kind, summary] : summaries) {
        auto stats = nlohmann::json::array();
        for (const Stat stat : summary.stats)
            stats.push_back(statName(stat));
        nlohmann::json entry { { "kind", kindName(kind) }, { "series", summary.series }, { "stats", stats } };
        if (withNames)
            entry["names"] = summary.names;
        kinds.push_back(std::move(entry));
    }
    auto dropped = nlohmann::json::array();
    for (const store::LogRecord& drop : log.drops) {
        dropped.push_back({ { "class", drop.dropClass }, { "first_step", drop.steps.first.value },
            { "last_step", drop.steps.last.value }, { "items", drop.items }, { "reason", drop.text } });
    }
    auto missing = nlohmann::json::array();
    for (const store::MissingInfo& info : catalog.missing) {
        const store::SourceInfo* source = sourceOf(catalog, info);
        missing.push_back({ { "rank", source ? source->rank.value : -1 }, { "attempt", source ? source->attempt : -1 },
            { "host", source ? source->host : "" }, { "first_seq", info.firstSeq }, { "last_seq", info.lastSeq },
            { "batches", info.count() } });
    }
    nlohmann::json document { { "path", capsule.handle.locator.text() }, { "name", catalog.name },
        { "state", store::runStateName(run.state) }, { "run_key", catalog.runKey }, { "store_id", catalog.storeId },
        { "created", utcTimeText(catalog.createdNs) }, { "size", run.fileBytes }, { "ranks", ranksOf(catalog).size() },
        { "first_step", catalog.steps.first.value }, { "last_step", catalog.steps.last.value },
        { "series", seriesOf(summaries) }, { "kinds", kinds }, { "sources", sources }, { "events", log.events },
        { "changes", log.changes }, { "dropped", dropped }, { "missing", missing }, { "damage", catalog.damage } };
    if (const Sums sums = sumsOf(capsule.handle.locator, run); sums.areKnown) {
        document["samples"] = toJson(sums.samples, sums.isExact);
        document["scalars"] = toJson(sums.scalars, sums.isExact);
    }
    if (report) {
        auto problems = report->problems;
        if (!verifyError.empty())
            problems.push_back(verifyError);
        document["verify"] = { { "blobs", report->blobs }, { "bytes", report->bytes }, { "problems", problems },
            { "whole", problems.empty() } };
    }
    return document;
}

/// What the run says of itself: hyperparameters, environment, tags, notes.
void writeText(std::ostream& out, const analysis::RunDocument& document)
{
    if (!document.tags.empty())
        out << "tags     " << terminalText(fmt::format("{}", fmt::join(document.tags, ", "))) << '\n';
    if (!document.notes.empty())
        out << "notes    " << terminalText(document.notes) << '\n';
    const auto table = [&out](const char* title, const analysis::Json& object) {
        const auto facts = analysis::factsOf(object);
        if (!facts.empty())
            out << title << '\n';
        for (const analysis::Fact& fact : facts)
            out << fmt::format("  {:<30} {}\n", terminalText(fact.name), terminalText(fact.value));
    };
    table("hyperparameters", document.hyperparameters);
    table("environment", document.environment);
    for (const auto& [rank, environment] : document.otherEnvironments)
        table(fmt::format("environment of rank {}", rank.value).c_str(), environment);
}

void writeText(
    std::ostream& out, const OpenedCapsule& capsule, const Log& log, const store::RunSummary& run, bool withNames)
{
    const store::Catalog& catalog = *capsule.catalog;
    out << fmt::format("path     {}\nname     {}\nstate    {}\nrun key  {}\ncreated  {}\nsize     {}\nranks    {}\n",
        terminalText(capsule.handle.locator.text()), terminalText(catalog.name), store::runStateName(run.state),
        terminalText(catalog.runKey), utcTimeText(catalog.createdNs), bytesText(run.fileBytes),
        ranksOf(catalog).size());
    if (catalog.steps.isEmpty())
        out << "steps    none\n";
    else
        out << fmt::format("steps    {} to {}\n", catalog.steps.first.value, catalog.steps.last.value);
    const auto kinds = kindsOf(catalog, withNames);
    out << fmt::format("series   {}\n", seriesOf(kinds));
    for (const auto& [kind, summary] : kinds) {
        std::vector<std::string_view> stats;
        for (const Stat stat : summary.stats)
            stats.push_back(statName(stat));
        out << fmt::format("  {:<15}{:>8}  {}\n", kindName(kind), summary.series, fmt::join(stats, " "));
        for (const std::string& name : summary.names)
            out << "    " << terminalText(name) << '\n';
    }
    out << "sources\n";
    for (const store::SourceInfo& source : catalog.sources) {
        out << fmt::format("  rank {:<5} attempt {:<3} {:<9} steps {} to {}  {} pid {}\n", source.rank.value,
            source.attempt, stateOf(source, run), source.firstStep.value, source.lastStep.value,
            terminalText(source.host), source.pid);
    }
    if (const Sums sums = sumsOf(capsule.handle.locator, run); sums.areKnown)
        out << fmt::format(
            "samples  {}\nmetrics  {}\n", textOf(sums.samples, sums.isExact), textOf(sums.scalars, sums.isExact));
    for (const std::string& change : log.changes)
        out << "since    " << terminalText(change) << '\n';
    out << fmt::format("events   {}\nlost     {} samples\n", log.events, log.lostSamples);
    for (const store::LogRecord& drop : log.drops) {
        const std::string items = drop.items == 0 ? "" : fmt::format("{} {}, ", drop.items, itemsWord(drop.dropClass));
        out << fmt::format("  {}{}{}\n", stepsText(drop.steps), items, terminalText(drop.text));
    }
    for (const store::MissingInfo& info : catalog.missing) {
        const store::SourceInfo* source = sourceOf(catalog, info);
        out << fmt::format(
            "missing  rank {} attempt {}: {} made and never received (number {}{}); if the spool is still on {}, "
            "'telltale import SPOOL' brings what is in it\n",
            source ? source->rank.value : -1, source ? source->attempt : -1,
            countText(info.count(), "batch", "batches"), info.firstSeq,
            info.count() == 1 ? "" : fmt::format(" to {}", info.lastSeq),
            source ? terminalText(source->host) : "its machine");
    }
    for (const std::string& sentence : catalog.damage)
        out << "damaged  " << terminalText(sentence) << '\n';
}

int runInspect(const Args& args, Report& report)
{
    std::ostream& out = report.out();
    auto capsule = openRun(args);
    if (!capsule)
        return report.fail(capsule.error());
    const auto log = store::readWholeLog(*capsule->reader).map(logOf);
    if (!log)
        return report.fail(log.error());
    const auto document = analysis::readRunDocument(*capsule->reader);
    if (!document)
        return report.fail(document.error());
    if (auto catalog = capsule->reader->catalog()) // with the damage that the log has
        capsule->catalog = std::move(*catalog);
    store::RunSummary summary = store::describeRun(capsule->handle.locator);

    std::optional<store::VerifyReport> verification;
    std::string verifyError;
    if (args.has("--verify")) {
        auto verified = store::verifyRun(capsule->handle.locator);
        verification = verified ? std::move(*verified) : store::VerifyReport {};
        if (!verified)
            verifyError = verified.error().sentence();
    }
    // A damaged catalog shows without looking at every blob, and the list of runs knows what looking has found before.
    std::vector<std::string> problems = capsule->catalog->damage;
    if (verification)
        problems.insert(problems.end(), verification->problems.begin(), verification->problems.end());
    if (!verifyError.empty())
        problems.push_back(verifyError);
    if (const auto dataDir = dataDirOf(args)) {
        const store::RunLocator& run = capsule->handle.locator;
        if (verification || !problems.empty())
            store::rememberDamage(*dataDir, run, problems.empty() ? std::string() : problems.front());
        if (const std::string known = store::rememberedDamage(*dataDir, run); !known.empty()) {
            summary.state = store::RunState::Damaged;
            if (problems.empty())
                problems.push_back(known);
        }
    }
    const bool withNames = args.has("--names");
    if (args.has("--json")) {
        nlohmann::json json = toJson(*capsule, *log, summary, withNames, verification, verifyError);
        json.update(nlohmann::json(analysis::toJson(*document)));
        writeJson(out, json);
    } else {
        writeText(out, *capsule, *log, summary, withNames);
        writeText(out, *document);
        if (verification && verifyError.empty())
            out << fmt::format("verified {} blobs, {}\n", verification->blobs, bytesText(verification->bytes));
    }
    std::set<std::string> said;
    for (const std::string& problem : problems) {
        if (said.insert(problem).second)
            report.say(problem);
    }
    return problems.empty() ? kExitDone : kExitFailed;
}

}

Verb inspectVerb()
{
    return { "inspect", "what is inside a run, and whether all of it can be read",
        "Says what is in a capsule. CAPSULE is a path or an id from 'telltale runs'.", { "CAPSULE", 1, 1 },
        { { "--names", "", "the names of all series by kind, as 'telltale show --series' takes them" },
            { "--verify", "", "read every blob and check every checksum; exit 1 when something is lost" },
            { "--json", "", "one JSON document on standard output" },
            { "--data-dir", "DIR", "where ids are looked up instead of $TELLTALE_DATA_DIR" } },
        runInspect };
}

}
