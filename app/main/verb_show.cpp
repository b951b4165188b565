// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <ostream>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/core/histogram.h>
#include <telltale/core/namepattern.h>
#include <telltale/core/numberformats.h>
#include <telltale/core/plaintext.h>
#include <telltale/store/rowsof.h>
#include <telltale/store/runindex.h>

#include "formatloss.h"
#include "packedvalues.h"
#include "report.h"
#include "showmaps.h"

namespace telltale::app {
namespace {

using series::CellState;
using series::RawValue;

/// One row of the answer: the same tensor in every attempt of one rank.
struct Row {
    Rank rank;
    Kind kind = Kind::Unspecified;
    series::SeriesKey key;
    Stat stat = Stat::Unspecified;
    std::uint64_t numel = 0;
    std::string position; ///< of its slot
    series::RowAttempts attempts;
    std::shared_ptr<const std::vector<double>> edges {}; ///< of the histogram that it is
};

/// How the series was measured, in words.
std::vector<std::string> formWords(std::uint32_t bits)
{
    static constexpr std::pair<std::uint32_t, const char*> kWords[] {
        { form::kAccumulated, "accumulated" },
        { form::kScaled, "scaled" },
        { form::kClipped, "clipped" },
        { form::kTotal, "total" },
        { form::kSampled, "sampled" },
        { form::kMicro, "micro" },
        { form::kInputSide, "input side" },
    };
    std::vector<std::string> words;
    for (const auto& [bit, word] : kWords) {
        if ((bits & bit) != 0)
            words.emplace_back(word);
    }
    return words;
}

struct Wanted {
    std::string name;
    std::optional<Rank> rank;
    std::optional<Kind> kind;
    std::optional<Stat> stat;
    bool isForPeople = true; ///< not JSON
};

Expected<Wanted> readWanted(const Args& args)
{
    Wanted wanted;
    wanted.name = *args.value("--series");
    wanted.isForPeople = !args.has("--json");
    const auto rank = rankOf(args);
    if (!rank)
        return tl::unexpected<Error>(rank.error());
    wanted.rank = *rank;
    if (const auto text = args.value("--kind")) {
        wanted.kind = kindFromName(*text);
        if (!wanted.kind)
            return failure(ErrorCode::BadInput, "there is no kind '" + *text + "'", "see 'telltale inspect CAPSULE'");
    }
    if (args.has("--formats")) {
        wanted.stat = Stat::Hist; // it is read from these alone
    } else if (const auto text = args.value("--stat")) {
        wanted.stat = statFromName(*text);
        if (!wanted.stat)
            return failure(
                ErrorCode::BadInput, "there is no statistic '" + *text + "'", "see 'telltale inspect CAPSULE'");
    }
    return wanted;
}

Stat defaultStat(const std::vector<Stat>& stats)
{
    for (const Stat stat : { Stat::Norm, Stat::Value, Stat::Entropy }) {
        if (series::answers(series::statBits(stats), stat))
            return stat;
    }
    return stats.empty() ? Stat::Norm : stats.front();
}

std::string nearbyNames(const store::Catalog& catalog, const std::string& name)
{
    std::vector<std::string> nearby;
    for (const store::SeriesInfo& info : catalog.series) {
        if (nearby.size() < 3 && info.desc->name.find(name) != std::string::npos
            && std::find(nearby.begin(), nearby.end(), info.desc->name) == nearby.end())
            nearby.push_back(info.desc->name);
    }
    return nearby.empty() ? "" : fmt::format("did you mean {}?", fmt::join(nearby, ", "));
}

/// Rows of exactly this name, or name and slot; where there are none and it is a pattern, those that it chooses.
series::RowIndex::Rows rowsOfName(const series::RowIndex& index, const std::string& name, const NamePattern& pattern)
{
    series::RowIndex::Rows exact, chosen;
    const bool isPattern = !pattern.isPlainText() && !pattern.matchesAll();
    const std::vector<bool> hits
        = isPattern ? index.matching(pattern) : std::vector<bool>(index.tensorCount(), name == "*");
    for (const series::RowIndex::Row& row : index.rows()) {
        const series::SeriesKey& key = index.key(row);
        if (key.name == name || key.text() == name)
            exact.push_back(&row);
        else if (hits[row.tensor])
            chosen.push_back(&row);
    }
    return exact.empty() ? chosen : exact;
}

Expected<std::vector<Row>> findRows(const store::Catalog& catalog, const Wanted& wanted)
{
    const series::RowIndex& index = store::rowsOf(catalog);
    const NamePattern pattern(wanted.name);
    if (!pattern.isValid())
        return failure(
            ErrorCode::BadInput, fmt::format("--series {} is not a regular expression", wanted.name), pattern.error());
    series::RowIndex::Rows found = rowsOfName(index, wanted.name, pattern);
    if (found.empty())
        return failure(ErrorCode::BadInput, fmt::format("there is no series '{}' in this capsule", wanted.name),
            nearbyNames(catalog, wanted.name));
    std::erase_if(found, [&wanted](const auto* row) {
        return (wanted.kind && row->kind != *wanted.kind) || (wanted.rank && row->rank != *wanted.rank);
    });
    std::stable_sort(found.begin(), found.end(), [&index](const auto* a, const auto* b) {
        return std::tie(a->rank, a->kind, index.key(*a)) < std::tie(b->rank, b->kind, index.key(*b));
    });

    std::unordered_map<GroupId, const store::GroupInfo*> groups;
    for (const store::GroupInfo& group : catalog.groups)
        groups.emplace(group.id, &group);
    std::vector<Row> rows;
    std::vector<Row> histograms; // of 127 columns: for who asks for them, or where there is nothing else
    std::vector<std::string> available;
    for (const series::RowIndex::Row* row : found) {
        const store::SeriesInfo& newest = catalog.series[row->newest];
        const auto group = groups.find(newest.group);
        const std::vector<Stat> stats = group == groups.end() ? std::vector<Stat> {} : group->second->stats;
        const std::uint32_t bits = group == groups.end() ? 0 : store::statBits(*group->second);
        for (const StatFacts& facts : kStatTable) {
            if (facts.stat != Stat::Unspecified && series::answers(bits, facts.stat))
                available.emplace_back(facts.word);
        }
        if (wanted.stat && !series::answers(bits, *wanted.stat))
            continue;
        const Stat stat = wanted.stat.value_or(defaultStat(stats));
        (stat == Stat::Hist && wanted.isForPeople && !wanted.stat ? histograms : rows)
            .push_back({ row->rank, row->kind, index.key(*row), stat, newest.desc->numel, newest.desc->slot.position,
                row->attempts, group == groups.end() || stat != Stat::Hist ? nullptr : group->second->edges });
    }
    if (rows.empty())
        rows = std::move(histograms);
    if (!rows.empty())
        return rows;
    if (available.empty())
        return failure(ErrorCode::BadInput,
            fmt::format("series '{}' exists, but not for the rank and kind asked for", wanted.name));
    std::sort(available.begin(), available.end());
    available.erase(std::unique(available.begin(), available.end()), available.end());
    return failure(ErrorCode::BadInput,
        fmt::format("series '{}' has no statistic '{}'", wanted.name, statName(*wanted.stat)),
        fmt::format("it has {}", fmt::join(available, ", ")));
}

constexpr std::string_view stateName(CellState state)
{
    switch (state) {
    case CellState::NaN:
        return "nan";
    case CellState::PosInf:
        return "posinf";
    case CellState::NegInf:
        return "neginf";
    case CellState::Value:
        return "value";
    case CellState::Absent:
        return "absent";
    case CellState::Damaged:
        return "damaged";
    case CellState::Gap:
        return "gap";
    case CellState::NotCollected:
        break;
    }
    return "not_collected";
}

/// Text: a line a value, with what the finite elements say beside a non-finite one.
void writeTextValue(std::ostream& out, const Row& row, const RawValue& value)
{
    std::string text = isIdentity(row.stat) && value.state == CellState::Value ? identityText(value.identity)
                                                                               : sampleText(value.value, value.state);
    if (text.empty())
        text = stateName(value.state);
    else if (isNonFinite(value.state) && std::isfinite(value.value))
        text += fmt::format("  (finite elements: {})", numberText(value.value));
    out << fmt::format("{:<9} {:<5} {:<15} {}\n", value.step.value, row.rank.value, kindName(row.kind), text);
}

/// {"step", "value"} (an identity as text, which no reader rounds), and where it says more: "state", and "finite" for
/// the value over the finite elements.
void writeJsonValue(std::ostream& out, const Row& row, const RawValue& value)
{
    const std::string text = isIdentity(row.stat) && value.state == CellState::Value
        ? '"' + identityText(value.identity) + '"'
        : jsonText(value.value, value.state);
    out << fmt::format("{{\"step\":{},\"value\":{}", value.step.value, text);
    if (value.state != CellState::Value)
        out << ",\"state\":\"" << stateName(value.state) << '"';
    if (isNonFinite(value.state) && std::isfinite(value.value))
        out << ",\"finite\":" << numberText(value.value);
    out << '}';
}

/// What could not be read of what was asked for.
struct Damaged {
    std::uint64_t values = 0;
    StepRange steps;

    void note(const RawValue& value)
    {
        if (value.state != CellState::Damaged)
            return;
        steps = values++ == 0 ? StepRange { value.step, value.step }
                              : StepRange { std::min(steps.first, value.step), std::max(steps.last, value.step) };
    }
};

/// The row's values as a readout says them: a share of zeros beside non-finite elements is a share of all elements, and
/// NaN only where nothing is finite.
Expected<void> readValues(
    store::RunReader& reader, const Row& row, StepRange range, const std::function<bool(const RawValue&)>& sink)
{
    if (row.stat != Stat::Zeros)
        return reader.raw(row.attempts, row.stat, range, sink);
    std::map<Step, std::uint64_t> nonFinite;
    for (const Stat count : { Stat::Nans, Stat::PosInfs, Stat::NegInfs }) {
        auto done = reader.raw(row.attempts, count, range, [&nonFinite](const RawValue& value) {
            if (value.value > 0)
                nonFinite[value.step] += static_cast<std::uint64_t>(value.value);
            return true;
        });
        if (!done)
            return done;
    }
    return reader.raw(row.attempts, row.stat, range, [&](const RawValue& value) {
        series::CellValue cell { value.value, value.state, 0, 0, 0 };
        if (const auto found = nonFinite.find(value.step); found != nonFinite.end())
            cell.nans = found->second;
        const CellState state = series::readoutState(Stat::Zeros, cell, row.numel);
        return sink({ value.step, state == CellState::NaN ? std::nan("") : value.value, state });
    });
}

/// The steps of a histogram, each written by `write`.
Expected<void> writeHistograms(store::RunReader& reader, const Row& row, StepRange range, Damaged& damaged,
    const std::function<void(const store::HistogramValue&, const std::vector<std::string>& counts)>& write)
{
    const auto found = store::readHistograms(reader, row.attempts, static_cast<int>(row.edges->size()) - 1, range);
    if (!found)
        return tl::unexpected<Error>(found.error());
    for (const store::HistogramValue& value : *found) {
        std::vector<std::string> counts;
        for (const std::int64_t count : value.counts) {
            if (count < 0)
                damaged.note({ value.step, 0, CellState::Damaged });
            counts.push_back(count < 0 ? "null" : std::to_string(count));
        }
        write(value, counts);
    }
    return {};
}

/// Nothing where there is none, or where a file has something else in its place.
std::string positionJson(const std::string& position)
{
    const auto keys = nlohmann::json::parse(position, nullptr, false);
    return keys.is_array() ? "\"position\":" + keys.dump() + "," : std::string();
}

/// With all digits of a double: an edge in a float's shortest ones is another number to who reads doubles.
std::string edgesJson(const std::vector<double>& edges)
{
    std::vector<std::string> texts;
    texts.reserve(edges.size());
    for (const double edge : edges)
        texts.push_back(std::isfinite(edge) ? fmt::format("{}", edge) : jsonText(edge, CellState::Value));
    return fmt::format("[{}]", fmt::join(texts, ","));
}

std::string binsText(const std::vector<double>& edges)
{
    std::vector<std::string> texts;
    for (std::size_t bin = 0; bin + 1 < edges.size(); ++bin)
        texts.push_back(binText(edges, bin));
    return fmt::format("{}", fmt::join(texts, " "));
}

/// In the agent's words. One definition is that of all statistics of a series; of attention all are means over queries
/// but the largest logit.
std::string definitionText(const Row& row)
{
    constexpr std::string_view kMean = "mean over ";
    std::string words = terminalText(row.key.definition);
    if (row.stat == Stat::MaxLogit && words.starts_with(kMean))
        words.replace(0, kMean.size(), "largest over ");
    return words.empty() ? words : "  = " + words;
}

Expected<void> writeText(std::ostream& out, store::RunReader& reader, const std::vector<Row>& rows, StepRange range,
    Damaged& damaged, bool formats)
{
    for (const Row& row : rows) {
        out << fmt::format("# {}{}  {}{}{}{}\n{:<9} {:<5} {:<15} {}\n",
            row.key.chunk == 0 ? "" : fmt::format("{}:", row.key.chunk), terminalText(row.key.text()),
            statName(row.stat), row.key.microStep < 0 ? "" : fmt::format("  micro step {}", row.key.microStep),
            row.key.form == 0 ? "" : fmt::format("  ({})", fmt::join(formWords(row.key.form), ", ")),
            definitionText(row), "STEP", "RANK", "KIND",
            formats         ? formatLossHeading()
                : row.edges ? binsText(*row.edges)
                            : "VALUE");
        const auto writeCounts = [&](const store::HistogramValue& value, const std::vector<std::string>& counts) {
            out << fmt::format("{:<9} {:<5} {:<15} {}\n", value.step.value, row.rank.value, kindName(row.kind),
                formats ? formatLossText(*row.edges, value.counts) : fmt::format("{}", fmt::join(counts, " ")));
        };
        auto done = row.edges ? writeHistograms(reader, row, range, damaged, writeCounts)
                              : readValues(reader, row, range, [&out, &row, &damaged](const RawValue& value) {
                                    damaged.note(value);
                                    writeTextValue(out, row, value);
                                    return static_cast<bool>(out);
                                });
        if (!done)
            return done;
    }
    return {};
}

/// Streamed, since a series may have more values than a document in memory should.
Expected<void> writeJsonRows(std::ostream& out, store::RunReader& reader, const std::vector<Row>& rows, StepRange range,
    Damaged& damaged, bool formats)
{
    const auto quoted = [](const std::string& text) {
        return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    };
    out << "{\"series\":[";
    for (const Row& row : rows) {
        out << (&row == &rows.front() ? "\n" : ",\n")
            << fmt::format("{{\"name\":{},\"slot\":{},\"chunk\":{},\"definition\":{},\"micro_step\":{},\"rank\":{},"
                           "\"kind\":\"{}\",\"stat\":\"{}\","
                           "\"form\":{},{}{}\"values\":[",
                   quoted(row.key.name), quoted(row.key.slot.text()), row.key.chunk, quoted(row.key.definition),
                   row.key.microStep, row.rank.value, kindName(row.kind), statName(row.stat),
                   nlohmann::json(formWords(row.key.form)).dump(), positionJson(row.position),
                   row.edges ? "\"edges\":" + edgesJson(*row.edges) + "," : "");
        bool first = true;
        const auto separate = [&out, &first] { out << (std::exchange(first, false) ? "\n" : ",\n"); };
        const auto writeCounts = [&](const store::HistogramValue& value, const std::vector<std::string>& counts) {
            separate();
            out << fmt::format("{{\"step\":{},\"value\":[{}]{}}}", value.step.value, fmt::join(counts, ","),
                formats ? ",\"formats\":" + formatLossJson(*row.edges, value.counts) : "");
        };
        auto done = row.edges ? writeHistograms(reader, row, range, damaged, writeCounts)
                              : readValues(reader, row, range, [&](const RawValue& value) {
                                    damaged.note(value);
                                    separate();
                                    writeJsonValue(out, row, value);
                                    return static_cast<bool>(out);
                                });
        if (!done) {
            out << "]}],\"error\":" << quoted(done.error().sentence()) << "}\n";
            return done;
        }
        out << "]}";
    }
    out << "]}\n";
    return {};
}

/// Into a file, which may be a pipe: what goes to standard output is made fit for a terminal.
Expected<void> writePackedRows(
    const std::string& path, const OpenedCapsule& capsule, const std::vector<Row>& rows, StepRange range)
{
    std::vector<SeriesId> chosen;
    for (const Row& row : rows)
        chosen.insert(chosen.end(), row.attempts.series.begin(), row.attempts.series.end());
    const auto fail
        = [&path] { return failure(ErrorCode::Io, fmt::format("cannot write {}: {}", path, std::strerror(errno))); };
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    if (!file)
        return fail();
    if (auto done = writePacked(file, *capsule.reader, *capsule.catalog, chosen, range); !done)
        return done;
    if (!file.flush())
        return fail();
    return {};
}

int runShow(const Args& args, Report& report)
{
    if (args.has("--maps"))
        return runShowMaps(args, report);
    if (!args.has("--series"))
        return report.failUsage({ ErrorCode::BadInput, "'telltale show' needs --series NAME, or --maps NAME",
            "see 'telltale inspect CAPSULE --names'" });
    std::ostream& out = report.out();
    const auto wanted = readWanted(args);
    if (!wanted)
        return report.failUsage(wanted.error());
    const auto capsule = openRun(args);
    if (!capsule)
        return report.fail(capsule.error());
    const auto range = parseSteps(args.value("--steps").value_or(":"), capsule->catalog->steps);
    if (!range)
        return report.failUsage(range.error());
    const bool formats = args.has("--formats");
    auto rows = findRows(*capsule->catalog, *wanted);
    if (formats && rows) {
        std::erase_if(*rows, [](const Row& row) { return !row.edges || !hasOctaves(*row.edges); });
        if (rows->empty())
            return report.failUsage(Error { ErrorCode::BadInput,
                fmt::format("series '{}' has no log2 histogram, from which --formats is read", wanted->name),
                "name its kind in telltale.histogram of the config" });
    }
    if (!rows) {
        // It may be among what the run has lost.
        for (const std::string& sentence : capsule->catalog->damage)
            report.say(sentence);
        return report.failUsage(rows.error());
    }
    Damaged damaged;
    const auto done = args.has("--packed") ? writePackedRows(*args.value("--packed"), *capsule, *rows, *range)
        : args.has("--json")               ? writeJsonRows(out, *capsule->reader, *rows, *range, damaged, formats)
                                           : writeText(out, *capsule->reader, *rows, *range, damaged, formats);
    if (!done) {
        // The document says it itself; a second one would make it no document.
        report.say(done.error().sentence());
        return kExitFailed;
    }
    // What was met while reading, and what the run's lists had lost before.
    const auto met = capsule->reader->catalog();
    const std::vector<std::string>& damage = (met ? *met : capsule->catalog)->damage;
    for (const std::string& sentence : damage)
        report.say(sentence);
    if (damaged.values == 0)
        return damage.empty() ? kExitDone : kExitFailed;
    report.say(fmt::format("{} of the values asked for are damaged and cannot be read, steps {} to {}", damaged.values,
        damaged.steps.first.value, damaged.steps.last.value));
    return kExitFailed;
}

}

Verb showVerb()
{
    return { "show", "the raw values of a series",
        "Prints the stored values of a series: every rank and kind that has it, unless told which.\n"
        "CAPSULE is a path or an id from 'telltale runs'. NAME may carry a slot: 'layers.0.attn:output'.\n"
        "NAME may also be a glob ('layers.[0-3].*', or '*' for everything) or a /regular expression/.\n"
        "The whole model's own input and output are those of '(model)'.",
        { "CAPSULE", 1, 1 },
        { { "--series", "NAME", "the tensor or scalar, as 'telltale inspect CAPSULE --names' and the window name it" },
            { "--maps", "NAME", "attention maps of a module instead, a line a head; their cells with --json" },
            { "--rank", "R", "this rank only" }, { "--steps", "A:B", "from step A to step B, both included" },
            { "--stat", "S", "norm (default), mean, min, max, absmax, zeros, nans, fp16_underflow, ..." },
            { "--kind", "K", "grad_unreduced, param_origin, scalar, ..." },
            { "--formats", "", "what fp16, bf16 and fp8 would lose, of series with a log2 histogram" },
            { "--json", "", "one JSON document on standard output" },
            { "--packed", "FILE", "for programs: every statistic into FILE, as app/main/packedvalues.h says" },
            { "--data-dir", "DIR", "where ids are looked up instead of $TELLTALE_DATA_DIR" } },
        runShow };
}

}
