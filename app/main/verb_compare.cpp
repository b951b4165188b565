// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <cmath>
#include <cstdlib>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/core/namepattern.h>
#include <telltale/core/plaintext.h>
#include <telltale/judge/runcomparison.h>

#include "report.h"

namespace telltale::app {
namespace {

using judge::Comparison;
using judge::Deviation;

nlohmann::json valueJson(const series::CellValue& cell, Stat stat)
{
    if (isIdentity(stat))
        return identityText(cell.identity);
    return nlohmann::json::parse(jsonText(cell.value, cell.state));
}

nlohmann::json toJson(const Deviation& one)
{
    nlohmann::json json { { "step", one.step.value }, { "rank", one.rank.value }, { "kind", kindName(one.kind) },
        { "name", one.key.name }, { "slot", one.key.slot.text() }, { "stat", statName(one.stat) },
        { "phase", judge::phaseWord(one.phase) }, { "a", valueJson(one.a, one.stat) },
        { "b", valueJson(one.b, one.stat) } };
    json["relative"] = std::isfinite(one.relative) ? nlohmann::json(one.relative) : nlohmann::json();
    return json;
}

nlohmann::json toJson(const Comparison& found)
{
    auto kinds = nlohmann::json::array();
    for (const Comparison::OfKind& of : found.kinds) {
        kinds.push_back({ { "kind", kindName(of.kind) }, { "compared", of.compared }, { "differing", of.differing },
            { "largest", of.largest ? toJson(*of.largest) : nlohmann::json() } });
    }
    auto first = nlohmann::json::array();
    for (const Deviation& one : found.first)
        first.push_back(toJson(one));
    return { { "equal", found.isEqual() }, { "sentence", found.sentence() }, { "tolerance", found.tolerance },
        { "steps", { found.steps.first.value, found.steps.last.value } }, { "series", found.rows },
        { "only_in_a", found.onlyInA }, { "only_in_b", found.onlyInB }, { "compared", found.compared },
        { "differing", found.differing }, { "unmatched", found.unmatched }, { "timings", found.timings },
        { "first", first }, { "first_count", found.firstCount }, { "kinds", kinds } };
}

void print(std::ostream& out, const Comparison& found)
{
    out << terminalText(found.sentence()) << '\n';
    if (found.firstCount > 1)
        out << fmt::format("{} values differ at that step, in this order:\n", found.firstCount);
    for (std::size_t i = 0; found.firstCount > 1 && i < found.first.size(); ++i) {
        const Deviation& one = found.first[i];
        out << fmt::format("  {:<10} rank {}  {:<15} {} {}\n", judge::phaseWord(one.phase), one.rank.value,
            kindName(one.kind), terminalText(one.key.text()), statName(one.stat));
    }
    out << fmt::format("\n{:<16}{:>14}{:>14}  {}\n", "KIND", "COMPARED", "DIFFERING", "LARGEST");
    for (const Comparison::OfKind& of : found.kinds) {
        const std::string largest = !of.largest ? std::string()
                                                : fmt::format("{:.3g} at step {}, {}", of.largest->relative,
                                                    of.largest->step.value, terminalText(of.largest->key.text()));
        out << fmt::format("{:<16}{:>14}{:>14}  {}\n", kindName(of.kind), of.compared, of.differing, largest);
    }
    out << fmt::format("\n{} series in both, {} in the first alone, {} in the second alone\n", found.rows,
        found.onlyInA, found.onlyInB);
    if (found.unmatched > 0)
        out << fmt::format("{} values that only one of them has at their step were left out\n", found.unmatched);
    if (!found.timings.empty()) {
        out << "times were left out:";
        for (const std::string& name : found.timings)
            out << ' ' << terminalText(name);
        out << '\n';
    }
}

Expected<judge::ComparisonWish> wishOf(const Args& args, StepRange all)
{
    judge::ComparisonWish wish;
    if (const auto name = args.value("--kind")) {
        wish.kind = kindFromName(*name);
        if (!wish.kind)
            return failure(
                ErrorCode::BadInput, "--kind '" + *name + "' is not a kind", "for example grad_reduced, actv, exp_avg");
    }
    if (const auto name = args.value("--stat")) {
        wish.stat = statFromName(*name);
        if (!wish.stat)
            return failure(
                ErrorCode::BadInput, "--stat '" + *name + "' is not a statistic", "for example norm, mean, max, nans");
    }
    const auto rank = rankOf(args);
    if (!rank)
        return tl::unexpected(rank.error());
    wish.rank = *rank;
    wish.pattern = args.value("--modules").value_or("");
    if (const NamePattern pattern(wish.pattern); !pattern.isValid())
        return failure(
            ErrorCode::BadInput, "--modules " + wish.pattern + " is not a regular expression", pattern.error());
    if (const auto text = args.value("--steps")) {
        const auto steps = parseSteps(*text, all);
        if (!steps)
            return tl::unexpected(steps.error());
        wish.steps = *steps;
    }
    if (const auto text = args.value("--tolerance")) {
        char* end = nullptr;
        wish.tolerance = std::strtod(text->c_str(), &end);
        if (text->empty() || *end != '\0' || !(wish.tolerance >= 0) || wish.tolerance >= 1)
            return failure(ErrorCode::BadInput, "--tolerance '" + *text + "' is no number from 0 to 1",
                "1e-6 takes values that differ by a millionth as equal");
    }
    return wish;
}

int runCompare(const Args& args, Report& report)
{
    std::vector<OpenedCapsule> opened;
    for (const std::string& run : args.positionals()) {
        auto capsule
            = runNamed(args, run).and_then([](const store::RunLocator& locator) { return openCapsule(locator); });
        if (!capsule)
            return report.fail(capsule.error());
        opened.push_back(std::move(*capsule));
    }
    const auto wish = wishOf(args, opened[0].catalog->steps);
    if (!wish)
        return report.failUsage(wish.error());
    const auto found = judge::compareRuns(
        { *opened[0].reader, *opened[0].catalog }, { *opened[1].reader, *opened[1].catalog }, *wish);
    if (!found)
        return report.fail(found.error());
    for (const OpenedCapsule& one : opened) {
        for (const std::string& sentence : one.catalog->damage)
            report.say(sentence);
    }
    if (args.has("--json"))
        writeJson(report.out(), toJson(*found));
    else
        print(report.out(), *found);
    return args.has("--fail") && !found->isEqual() ? kExitFailed : kExitDone;
}

}

Verb compareVerb()
{
    return { "compare", "where two runs begin to differ",
        "Compares two runs value by value: the same tensor or metric, rank and step. Says until which step they are\n"
        "equal, what differs first, in the order in which a step comes to it, and how far each kind is apart.\n"
        "Scalars that tell times are left out. A and B are paths or ids from 'telltale runs'.",
        { "RUN...", 2, 2 },
        { { "--kind", "KIND", "this kind alone: grad_reduced, actv, exp_avg, ..." },
            { "--stat", "STAT", "this statistic alone: norm, mean, max, checksum, ..." },
            { "--modules", "PATTERN", "names that match: text, glob* or /regex/" },
            { "--rank", "R", "this rank alone" }, { "--steps", "A:B", "these steps alone" },
            { "--tolerance", "T", "values are equal that differ by this share of the larger one (0: the same number)" },
            { "--fail", "", "exit 1 where they differ" }, { "--json", "", "one JSON document on standard output" },
            { "--data-dir", "DIR", "where ids are looked up instead of $TELLTALE_DATA_DIR" } },
        runCompare };
}

}
