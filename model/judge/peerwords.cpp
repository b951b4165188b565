// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/peerwords.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <telltale/judge/wording.h>
#include <telltale/series/rowindex.h>

namespace telltale::judge {
namespace {

using series::CellState;

const Rollup* rollupOf(const Watchlist& list, const Watched& row)
{
    return row.rollup < 0 ? nullptr : &list.rollups[static_cast<std::size_t>(row.rollup)];
}

/// The logarithms of tensors of one kind on one rank at a step.
std::map<std::uint32_t, double> logsOf(
    store::RunReader& reader, const Watchlist& list, const std::vector<const Watched*>& wanted, Step step)
{
    std::vector<series::RowAttempts> rows;
    std::vector<std::uint32_t> tensors;
    for (const Watched& row : list.rows) {
        const auto isSame = [&row](const Watched* one) { return one->tensor == row.tensor && one->kind == row.kind; };
        if (!std::any_of(wanted.begin(), wanted.end(), isSame))
            continue;
        rows.push_back(row.attempts);
        tensors.push_back(row.tensor);
    }
    std::map<std::uint32_t, double> logs;
    const auto cells = reader.column(step, wanted.front()->stat, rows);
    for (std::size_t i = 0; cells && i < cells->size(); ++i) {
        if ((*cells)[i].state == CellState::Value && (*cells)[i].value > 0)
            logs[tensors[i]] = std::log((*cells)[i].value);
    }
    return logs;
}

/// The first of those that are about as far from the other ranks as the farthest.
const Watched* sourceOf(store::RunReader& reader, const std::map<SourceId, const Watchlist*>& lists,
    const std::vector<const Watched*>& rows, SourceId source, const Peers::Odd& odd)
{
    const auto own = logsOf(reader, *lists.at(source), rows, odd.since);
    std::map<std::uint32_t, std::vector<double>> others;
    for (const SourceId peer : odd.peers) {
        if (peer == source)
            continue;
        for (const auto& [tensor, log] : logsOf(reader, *lists.at(peer), rows, odd.since))
            others[tensor].push_back(log);
    }
    const auto farOf = [&](const Watched& row) {
        const auto mine = own.find(row.tensor);
        const auto theirs = others.find(row.tensor);
        if (mine == own.end() || theirs == others.end())
            return 0.0;
        const auto middle = theirs->second.begin() + std::ssize(theirs->second) / 2;
        std::nth_element(theirs->second.begin(), middle, theirs->second.end());
        return std::abs(mine->second - *middle);
    };
    double farthest = 0;
    for (const Watched* row : rows)
        farthest = std::max(farthest, farOf(*row));
    const Watched* first = nullptr;
    for (const Watched* row : rows) {
        if (farOf(*row) * 2 >= farthest && (first == nullptr || row->place < first->place))
            first = row;
    }
    return first;
}

std::string sentenceOf(const Peers::Odd& odd, const std::string& what)
{
    const std::string others = odd.peers.size() == 2
        ? "the other rank"
        : fmt::format("the median of {} ranks that do the same", odd.peers.size());
    if (odd.rule == Rule::Straggler)
        return fmt::format("computes {:.0f} % longer than {} (z {:.0f})", 100 * (odd.factor - 1), others, odd.z);
    const std::string factor
        = odd.factor >= 1 ? numberText(odd.factor) + " times" : "1/" + numberText(1 / odd.factor) + " of";
    return odd.source
        ? fmt::format("{} is {} that of {} (z {:.0f})", what, factor, others, odd.z)
        : fmt::format("{} is on one rank {} that on the other, and none of them left its own past (z {:.0f})", what,
            factor, odd.z);
}

}

Witness witnessOf(store::RunReader& reader, const store::Catalog& catalog,
    const std::map<SourceId, const Watchlist*>& lists, const Peers::Odd& odd)
{
    const SourceId source = odd.source.value_or(odd.peers.front());
    const Watchlist& list = *lists.at(source);
    std::vector<const Watched*> rows;
    for (const Watched& row : list.rows) {
        const Rollup* rollup = rollupOf(list, row);
        if (rollup != nullptr && rollup->kind == odd.kind && rollup->block == odd.block)
            rows.push_back(&row);
    }
    const Watched& row = *(rows.size() == 1 ? rows.front() : sourceOf(reader, lists, rows, source, odd));
    const series::SeriesKey& key = catalog.rows->key(row.tensor);
    Witness witness;
    witness.moment = { odd.since, row.phase, row.place };
    witness.seen = odd.seen;
    witness.block = odd.block;
    Finding& finding = witness.finding;
    finding.rule = idOf(odd.rule);
    finding.step = odd.since;
    finding.rank = odd.source ? list.rank : Rank { -1 };
    finding.kind = row.kind;
    finding.name = key.name;
    finding.slot = key.slot.text();
    finding.stat = row.stat;
    finding.sentence = sentenceOf(odd,
        row.kind == Kind::Scalar ? "the value"
            : rows.size() > 1    ? "the total norm of " + odd.block
                                 : "the norm of " + key.name);
    return witness;
}

Witness witnessOf(const NoiseScale::Odd& odd)
{
    const std::size_t ranks = odd.ranks.size();
    std::string text;
    for (const Rank rank : odd.ranks)
        text.append(text.empty() ? "" : ", ").append(std::to_string(rank.value));
    Witness witness;
    witness.moment = { odd.since, Phase::Gradient, std::numeric_limits<std::int32_t>::max() };
    witness.seen = odd.seen;
    Finding& finding = witness.finding;
    finding.rule = idOf(Rule::NoiseScale);
    finding.step = odd.since;
    finding.kind = Kind::Scalar;
    finding.stat = Stat::Value;
    finding.name = witness.block = "noise-scale";
    const double batches = odd.noise / static_cast<double>(ranks);
    finding.sentence = odd.usual > 0
        ? fmt::format("the gradient noise scale of ranks {} is {} batches of a step, {} {} what it was", text,
            numberText(batches), numberText(std::max(odd.noise / odd.usual, odd.usual / odd.noise)),
            odd.noise > odd.usual ? "times" : "times below")
        : fmt::format("the gradient noise scale of ranks {} is {} batches of a step: a step follows noise", text,
            numberText(batches));
    return witness;
}

}
