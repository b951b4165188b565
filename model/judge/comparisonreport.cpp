// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/comparisonreport.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/core/plaintext.h>
#include <telltale/judge/wording.h>

namespace telltale::judge {

using series::CellState;
using series::CellValue;

using Json = nlohmann::json;

std::string comparedText(const CellValue& cell, Stat stat, bool isWhole)
{
    if (isIdentity(stat))
        return identityText(cell.identity);
    switch (cell.state) {
    case CellState::NaN:
        return "NaN";
    case CellState::PosInf:
        return "+Inf";
    case CellState::NegInf:
        return "-Inf";
    case CellState::Absent:
        return "nothing";
    default:
        return !isWhole                           ? numberText(cell.value)
            : columnType(stat) == ColumnType::F32 ? fmt::format("{}", static_cast<float>(cell.value))
                                                  : fmt::format("{}", cell.value);
    }
}

std::pair<std::string, std::string> comparedTexts(const Deviation& one)
{
    std::pair texts { comparedText(one.a, one.stat, false), comparedText(one.b, one.stat, false) };
    if (texts.first == texts.second)
        texts = { comparedText(one.a, one.stat, true), comparedText(one.b, one.stat, true) };
    return texts;
}

std::string Comparison::sentence() const
{
    const std::string how = tolerance == 0 ? "Equal" : fmt::format("Equal to {:g}", tolerance);
    if (compared == 0)
        return fmt::format("Nothing was measured in both at steps {} to {}.", steps.first.value, steps.last.value);
    if (isEqual())
        return fmt::format("{} at all steps from {} to {}.", how, steps.first.value, steps.last.value);
    const Deviation& one = first.front();
    const std::string until = one.step == steps.first
        ? fmt::format("Different from step {} on:", one.step.value)
        : fmt::format("{} until step {}; first: step {},", how, one.step.value - 1, one.step.value);
    const auto [a, b] = comparedTexts(one);
    std::string text = fmt::format("{} rank {}, {}, {} {}: {} against {}", until, one.rank.value, one.key.text(),
        kindName(one.kind), statName(one.stat), a, b);
    if (std::isfinite(one.relative))
        text += fmt::format(" (by {:.3g} % of the larger)", one.relative * 100);
    return text + '.';
}

namespace {

Json jsonOf(const CellValue& cell, Stat stat)
{
    if (isIdentity(stat))
        return identityText(cell.identity);
    switch (cell.state) {
    case CellState::NaN:
        return "NaN";
    case CellState::PosInf:
        return "Infinity";
    case CellState::NegInf:
        return "-Infinity";
    case CellState::Value:
        // A float32 has few digits of its own; as a double it would have many that say nothing.
        return static_cast<double>(static_cast<float>(cell.value)) == cell.value
            ? Json::parse(fmt::format("{}", static_cast<float>(cell.value)))
            : Json(cell.value);
    default:
        return {};
    }
}

Json jsonOf(const Deviation& one)
{
    return { { "step", one.step.value }, { "rank", one.rank.value }, { "kind", kindName(one.kind) },
        { "name", one.key.name }, { "slot", one.key.slot.text() }, { "stat", statName(one.stat) },
        { "phase", phaseWord(one.phase) }, { "a", jsonOf(one.a, one.stat) }, { "b", jsonOf(one.b, one.stat) },
        { "relative", std::isfinite(one.relative) ? Json(one.relative) : Json() } };
}

Json jsonOf(const Comparison::OfSigns& one)
{
    const SignVerdict& verdict = one.verdict;
    return { { "rank", one.rank.value }, { "kind", kindName(one.kind) }, { "name", one.key.name },
        { "slot", one.key.slot.text() }, { "first_step", verdict.first.step.value },
        { "first", verdict.first.similarity }, { "least_step", verdict.least.step.value },
        { "least", verdict.least.similarity }, { "largest_drop", verdict.largestDrop },
        { "suspicious", verdict.suspicious ? Json(verdict.suspicious->value) : Json() },
        { "reason", verdict.isSuspicious() ? Json(verdict.reason()) : Json() } };
}

Json jsonOf(const DifferingFact& fact)
{
    Json values = Json::array();
    for (const auto& value : fact.values)
        values.push_back(value ? Json(*value) : Json());
    return { { "section", fact.section }, { "name", fact.name }, { "values", values } };
}

template <typename List> Json listOf(const List& list)
{
    Json all = Json::array();
    for (const auto& one : list)
        all.push_back(jsonOf(one));
    return all;
}

}

std::string reportJson(const Comparison& found, std::span<const DifferingFact> facts, int indent)
{
    Json kinds = Json::array();
    for (const Comparison::OfKind& of : found.kinds) {
        kinds.push_back({ { "kind", kindName(of.kind) }, { "compared", of.compared }, { "differing", of.differing },
            { "largest", of.largest ? jsonOf(*of.largest) : Json() } });
    }
    Json ranks = Json::array();
    for (const Comparison::OfRank& of : found.ranks) {
        ranks.push_back({ { "rank", of.rank.value }, { "compared", of.compared }, { "differing", of.differing },
            { "first_step", of.first ? Json(of.first->value) : Json() } });
    }
    const Json document { { "equal", found.isEqual() }, { "sentence", found.sentence() },
        { "tolerance", found.tolerance }, { "steps", { found.steps.first.value, found.steps.last.value } },
        { "series", found.rows }, { "only_in_a", found.onlyInA }, { "only_in_b", found.onlyInB },
        { "histograms_in_a", found.histogramsInA }, { "histograms_in_b", found.histogramsInB },
        { "compared", found.compared }, { "differing", found.differing }, { "unmatched", found.unmatched },
        { "steps_apart", found.stepsApart.size() }, { "timings", found.timings }, { "first", listOf(found.first) },
        { "first_count", found.firstCount }, { "kinds", kinds }, { "ranks", ranks }, { "signs", listOf(found.signs) },
        { "facts", listOf(facts) } };
    return document.dump(indent, ' ', false, Json::error_handler_t::replace);
}

namespace {

void addSigns(std::string& text, const std::vector<Comparison::OfSigns>& signs)
{
    constexpr std::ptrdiff_t kMost = 10;
    const auto suspicious = std::count_if(
        signs.begin(), signs.end(), [](const Comparison::OfSigns& one) { return one.verdict.isSuspicious(); });
    if (signs.empty())
        return;
    text += fmt::format("\nsigns: {} of {} suspicious (below {} at first, or a drop over {})\n", suspicious,
        signs.size(), SignVerdict::kLeastAtFirst, SignVerdict::kMostDrop);
    for (std::ptrdiff_t i = 0; i < std::min(kMost, suspicious); ++i) {
        const Comparison::OfSigns& one = signs[static_cast<std::size_t>(i)];
        text += fmt::format("  rank {}, step {}: {}: {}\n", one.rank.value, one.verdict.suspicious->value,
            terminalText(one.key.text()), one.verdict.reason());
    }
}

void addFacts(std::string& text, std::span<const DifferingFact> facts)
{
    if (!facts.empty())
        text += "\nwhat else differs:\n";
    for (const DifferingFact& fact : facts) {
        text += fmt::format("  {:<16} {}:", fact.section, terminalText(fact.name));
        for (std::size_t i = 0; i < fact.values.size(); ++i)
            text += (i == 0 ? " " : " | ") + (fact.values[i] ? terminalText(*fact.values[i]) : "-");
        text += '\n';
    }
}

}

std::string reportText(const Comparison& found, std::span<const DifferingFact> facts)
{
    std::string text = terminalText(found.sentence()) + '\n';
    if (found.firstCount > 1)
        text += fmt::format("{} values differ at that step, in this order:\n", found.firstCount);
    for (std::size_t i = 0; found.firstCount > 1 && i < found.first.size(); ++i) {
        const Deviation& one = found.first[i];
        text += fmt::format("  {:<10} rank {}  {:<15} {} {}\n", phaseWord(one.phase), one.rank.value,
            kindName(one.kind), terminalText(one.key.text()), statName(one.stat));
    }
    text += fmt::format("\n{:<16}{:>14}{:>14}  {}\n", "KIND", "COMPARED", "DIFFERING", "LARGEST");
    for (const Comparison::OfKind& of : found.kinds) {
        const std::string largest = !of.largest
            ? std::string()
            : fmt::format("{} at step {}, {}",
                isIdentity(of.largest->stat) ? "other bits" : fmt::format("{:.3g}", of.largest->relative),
                of.largest->step.value, terminalText(of.largest->key.text()));
        text += fmt::format("{:<16}{:>14}{:>14}  {}\n", kindName(of.kind), of.compared, of.differing, largest);
    }
    if (found.ranks.size() > 1)
        text += fmt::format("\n{:<16}{:>14}{:>14}  {}\n", "RANK", "COMPARED", "DIFFERING", "FIRST");
    for (std::size_t i = 0; found.ranks.size() > 1 && i < found.ranks.size(); ++i) {
        const Comparison::OfRank& of = found.ranks[i];
        text += fmt::format("{:<16}{:>14}{:>14}  {}\n", of.rank.value, of.compared, of.differing,
            of.first ? fmt::format("step {}", of.first->value) : std::string());
    }
    text += fmt::format("\n{} series in both, {} in the first alone, {} in the second alone\n", found.rows,
        found.onlyInA, found.onlyInB);
    if (found.histogramsInA + found.histogramsInB > 0)
        text += fmt::format("histograms are not compared: {} series in the first, {} in the second\n",
            found.histogramsInA, found.histogramsInB);
    if (found.unmatched > 0)
        text += fmt::format("{} values that only one of them has at their step were left out\n", found.unmatched);
    if (!found.timings.empty()) {
        text += "times were left out:";
        for (const std::string& name : found.timings)
            text += ' ' + terminalText(name);
        text += '\n';
    }
    addSigns(text, found.signs);
    addFacts(text, facts);
    return text;
}

}
