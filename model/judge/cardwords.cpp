// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/cardwords.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <telltale/core/blockname.h>
#include <telltale/series/rowindex.h>

namespace telltale::judge {
namespace {

using series::CellState;

constexpr std::int64_t kNotedSteps = 64; ///< how far back something that was noted can be a cause
constexpr std::size_t kMostNoted = 4; ///< that a card says

/// 12,345
std::string grouped(std::uint64_t value)
{
    std::string text = std::to_string(value);
    for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
        text.insert(static_cast<std::size_t>(at), 1, ',');
    return text;
}

std::string sourceTest(store::RunReader& reader, const store::Catalog& catalog, const Incident& incident)
{
    const Finding& first = incident.first;
    if (first.kind != Kind::Actv && first.kind != Kind::ActvGrad)
        return {};
    // What went into it: its inputs and weights, or, on the way back, the gradient of its output.
    std::vector<series::RowAttempts> inputs;
    std::vector<series::RowAttempts> weights;
    for (const series::RowIndex::Row& row : catalog.rows->rows()) {
        if (row.rank != first.rank || !row.answers(Stat::Norm))
            continue;
        const series::SeriesKey& key = catalog.rows->key(row);
        const Role into = first.kind == Kind::Actv ? Role::Input : Role::Output;
        if (row.kind == first.kind && key.name == first.name && key.slot.role == into && key.slot.text() != first.slot)
            inputs.push_back(row.attempts);
        if (row.kind == Kind::ParamOrigin && key.name.starts_with(first.name + '.'))
            weights.push_back(row.attempts);
    }
    const auto areFinite = [&](const std::vector<series::RowAttempts>& rows) -> std::optional<bool> {
        const auto cells
            = rows.empty() ? Expected<std::vector<series::CellValue>>() : reader.column(first.step, Stat::Norm, rows);
        if (!cells || cells->empty())
            return {};
        if (std::any_of(cells->begin(), cells->end(), [](const auto& cell) { return series::isNonFinite(cell.state); }))
            return false;
        const bool isKnown = std::any_of(
            cells->begin(), cells->end(), [](const auto& cell) { return cell.state == CellState::Value; });
        return isKnown ? std::optional(true) : std::nullopt;
    };
    const auto input = areFinite(inputs);
    const auto weight = areFinite(weights);
    const char* const what = first.kind == Kind::Actv ? "inputs" : "output's gradient";
    if (input == true && weight == true)
        return fmt::format("Its {} and weights were finite.", what);
    if (input == true)
        return fmt::format("Its {} {} finite.", what, first.kind == Kind::Actv ? "were" : "was");
    if (input == false)
        return fmt::format("Its {} {} not finite either.", what, first.kind == Kind::Actv ? "were" : "was");
    return weight == true ? "Its weights were finite." : "";
}

}

void describe(store::RunReader& reader, const store::Catalog& catalog, const IncidentDesk& desk, const RanksSeen& ranks,
    IncidentDesk::Case& one)
{
    one.isNew = false;
    one.isChanged = true;
    Incident& incident = one.incident;
    Finding& first = incident.first;
    incident.evidence.clear();
    // How much of it: only the capsule knows.
    if (first.rule == idOf(Rule::NonFinite) && first.kind != Kind::Scalar) {
        for (const series::RowIndex::Row& row : catalog.rows->rows()) {
            const series::SeriesKey& key = catalog.rows->key(row);
            if (row.kind != first.kind || row.rank != first.rank || key.name != first.name
                || key.slot.text() != first.slot)
                continue;
            const auto cells = reader.column(first.step, first.stat, { &row.attempts, 1 });
            const std::uint64_t numel = catalog.series[row.newest].desc->numel;
            if (!cells || cells->front().nans + cells->front().posInfs + cells->front().negInfs == 0)
                continue;
            std::string counts;
            for (const auto& [count, word] : { std::pair { cells->front().nans, "NaN" },
                     std::pair { cells->front().posInfs, "+Inf" }, std::pair { cells->front().negInfs, "-Inf" } }) {
                if (count > 0)
                    counts.append(counts.empty() ? "" : ", ").append(word).append(" in ").append(grouped(count));
            }
            // Of a collective that was called several times in the step, or with several tensors, all count.
            const std::uint64_t bad = cells->front().nans + cells->front().posInfs + cells->front().negInfs;
            first.sentence = bad > numel ? fmt::format("{} elements", counts)
                                         : fmt::format("{} of {} elements", counts, grouped(numel));
        }
    }
    const std::string block = first.kind == Kind::Scalar ? first.name : blockOf(first.name);
    // One line of each place, where that began; and one of what is of many blocks at once.
    for (const Witness* noted : desk.noted(block, first.step, kNotedSteps)) {
        const bool isKnown
            = std::any_of(incident.evidence.begin(), incident.evidence.end(), [&](const Finding& finding) {
                  const bool isSamePlace = finding.name == noted->finding.name && finding.kind == noted->finding.kind
                      && finding.rank == noted->finding.rank;
                  return finding.rule == noted->finding.rule && (isSamePlace || finding.rule != idOf(Rule::Level));
              });
        // What else is not finite from that step on is that again, or follows from it.
        const bool isSame = noted->finding == first
            || (noted->finding.rule == first.rule && first.rule == idOf(Rule::NonFinite)
                && noted->finding.step >= first.step);
        if (!isKnown && !isSame && incident.evidence.size() < kMostNoted)
            incident.evidence.push_back(noted->finding);
    }
    const std::string test = sourceTest(reader, catalog, incident);
    std::set<Rank> bad = ranks.bad;
    for (const Reach& reach : incident.reach) {
        if (reach.rank.value >= 0)
            bad.insert(reach.rank);
    }
    if (ranks.all.size() > 1 && first.rank.value >= 0) {
        Finding others = first;
        others.rule = "ranks";
        others.severity = store::Severity::Notice;
        others.sentence = bad.size() <= 1
            ? fmt::format("only rank {} of {} was abnormal", first.rank.value, ranks.all.size())
            : fmt::format("{} of {} ranks were abnormal", bad.size(), ranks.all.size());
        incident.evidence.push_back(std::move(others));
    }
    const std::string rank
        = first.rank.value >= 0 && ranks.all.size() > 1 ? fmt::format(", rank {}", first.rank.value) : std::string();
    incident.sentence = fmt::format("First abnormal: step {}{}, {}, {}: {}.{}", first.step.value, rank, placeOf(first),
        phaseWord(incident.phase), first.sentence, test.empty() ? "" : ' ' + test);
}

}
