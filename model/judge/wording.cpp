// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/wording.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <telltale/core/blockname.h>

namespace telltale::judge {
namespace {

using series::CellState;

const char* stateWord(CellState state)
{
    return state == CellState::NaN ? "NaN" : state == CellState::PosInf ? "+Inf" : "-Inf";
}

/// A measured number, of four figures: beside another, "5.24" looks less exact than "6.461".
std::string figuresText(double value)
{
    const double magnitude = std::abs(value);
    return magnitude >= 0.001 && magnitude < 999.95 ? fmt::format("{:#.4g}", value) : numberText(value);
}

/// What was compared may be of a whole block, of which the place beside it is a part: the root of the sum of the
/// squares of its tensors' norms.
std::string subjectText(const Watched& row, const Rollup& rollup, const series::SeriesKey& key)
{
    const bool isTotal = row.kind != Kind::Scalar && rollup.members > 1;
    return fmt::format("{} of {}",
        row.kind == Kind::Scalar ? "value"
            : isTotal            ? "total norm"
                                 : "norm",
        isTotal ? rollup.block : key.name);
}

}

std::string numberText(double value)
{
    // Five whole figures are written out, as the views do.
    const double magnitude = std::abs(value);
    return magnitude >= 9999.5 && magnitude < 99999.5 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

Witness witnessOf(const series::RowIndex& rows, const Watchlist& list, const Sighting& sighting, Step step)
{
    const Watched& row = list.rows[static_cast<std::size_t>(sighting.row)];
    const series::SeriesKey& key = rows.key(row.tensor);
    Witness witness;
    witness.moment = sighting.moment;
    witness.seen = step;
    witness.block = row.kind == Kind::Scalar ? key.name : blockOf(key.name);
    witness.opens = sighting.opens;
    if (sighting.rule == Rule::LearningRate && sighting.opens)
        witness.rateBefore = sighting.expected;
    Finding& finding = witness.finding;
    finding.rule = idOf(sighting.rule);
    finding.severity = sighting.severity;
    finding.step = sighting.moment.step;
    finding.rank = list.rank;
    finding.kind = row.kind;
    finding.name = key.name;
    finding.slot = key.slot.text();
    finding.microStep = key.microStep;
    finding.stat = row.stat;
    switch (sighting.rule) {
    case Rule::NonFinite:
        finding.sentence
            = fmt::format("{} is {}", row.kind == Kind::Scalar ? "the value" : "an element", stateWord(sighting.state));
        break;
    case Rule::Overflow:
        finding.stat = Stat::AbsMax;
        finding.sentence = fmt::format("its largest magnitude is {}, {} times below the limit of its type, {}",
            numberText(sighting.value), numberText(sighting.expected / sighting.value), numberText(sighting.expected));
        break;
    case Rule::Loss:
    case Rule::Level: {
        const Rollup& rollup = list.rollups[static_cast<std::size_t>(sighting.rollup)];
        const double factor = sighting.value / sighting.expected;
        finding.sentence = fmt::format("the {} is {} {} its usual {} (z {:.0f})", subjectText(row, rollup, key),
            figuresText(factor >= 1 ? factor : 1 / factor), factor >= 1 ? "times" : "times below",
            figuresText(sighting.expected), sighting.z);
        break;
    }
    case Rule::Vanished:
        finding.sentence = fmt::format(
            "has been exactly 0 for {} steps; it was about {}", sighting.lasted, numberText(sighting.expected));
        break;
    case Rule::Frozen:
        finding.sentence = sighting.isToTheBit
            ? fmt::format("has not changed for {} steps, while other weights have", sighting.lasted)
            : fmt::format("has had exactly the same norm for {} steps, while other weights changed", sighting.lasted);
        break;
    case Rule::LossScale:
        if (sighting.value > sighting.expected || sighting.lasted < 2)
            finding.sentence = fmt::format("{} from {} to {}", sighting.value > sighting.expected ? "jumped" : "fell",
                numberText(sighting.expected), numberText(sighting.value));
        else
            finding.sentence = fmt::format("fell {} times, to {}", sighting.lasted, numberText(sighting.value));
        break;
    case Rule::EntropyCollapse:
        finding.sentence = fmt::format(
            "its entropy is {}, and was about {}", numberText(sighting.value), numberText(sighting.expected));
        break;
    case Rule::Drift:
        finding.sentence = fmt::format("its norm is {}, {} times what it was about 20 steps before",
            numberText(sighting.value), numberText(sighting.value / sighting.expected));
        break;
    case Rule::Explosion: {
        const Rollup& rollup = list.rollups[static_cast<std::size_t>(sighting.rollup)];
        finding.sentence = fmt::format("the {} grew by {:.1f} % a step, {} times within {} steps, to {}",
            subjectText(row, rollup, key), 100 * std::expm1(sighting.growth),
            numberText(sighting.value / sighting.expected), sighting.lasted, numberText(sighting.value));
        break;
    }
    case Rule::LearningRate:
        finding.sentence = fmt::format("rose from {} to {}", numberText(sighting.expected), numberText(sighting.value));
        break;
    case Rule::Staleness:
        finding.sentence
            = fmt::format("the gradients of {} are {} times as large as their second moments know them (sum "
                          "of g²/v {}, usually {})",
                list.rollups[static_cast<std::size_t>(sighting.rollup)].block, numberText(std::sqrt(sighting.value)),
                numberText(sighting.value), numberText(sighting.expected));
        break;
    case Rule::UpdateRatio:
        finding.sentence
            = fmt::format("a step changes {} by {} % of its weights' norm, and never by more than {} % before",
                list.rollups[static_cast<std::size_t>(sighting.rollup)].block, numberText(100 * sighting.value),
                numberText(100 * sighting.expected));
        break;
    case Rule::DeadUnits:
        finding.sentence
            = fmt::format("{:.1f} % of its elements have been exactly 0 for {} steps; it was about {:.1f} %",
                100 * sighting.value, sighting.lasted, 100 * sighting.expected);
        break;
    case Rule::MaxLogit:
        finding.stat = Stat::MaxLogit;
        finding.sentence = fmt::format("its largest logit has grown for {} steps, to {}; it was about {}",
            sighting.lasted, numberText(sighting.value), numberText(sighting.expected));
        break;
    case Rule::Replica:
    case Rule::Straggler:
    case Rule::Outlier:
    case Rule::Attempt:
    case Rule::NoiseScale:
        break;
    }
    return witness;
}

Witness witnessOf(const series::RowIndex& rows, const Replicas::Divergence& one)
{
    const series::SeriesKey& key = rows.key(one.tensor);
    Witness witness;
    witness.seen = one.step;
    // Why it differs, where a rule knows that, comes first.
    witness.moment = { one.step, phaseOf(one.kind), std::numeric_limits<std::int32_t>::max() };
    witness.block = blockOf(key.name);
    Finding& finding = witness.finding;
    finding.rule = idOf(Rule::Replica);
    finding.severity = store::Severity::Critical;
    finding.step = one.step;
    finding.rank = one.minority.size() == 1 ? one.minority.front() : Rank { -1 };
    finding.kind = one.kind;
    finding.name = key.name;
    finding.slot = key.slot.text();
    finding.microStep = key.microStep;
    finding.stat = Stat::Checksum;
    std::string ranks;
    for (const Rank rank : one.minority)
        ranks.append(ranks.empty() ? "" : ", ").append(std::to_string(rank.value));
    if (one.areParts)
        finding.sentence = fmt::format(
            "holds the same bits on ranks {}, which should hold different parts of it (the same seed?)", ranks);
    else if (one.minority.size() < one.ranks)
        finding.sentence = fmt::format("differs on rank {} from the other {} ranks that held the same bits until then",
            ranks, one.ranks - one.minority.size());
    else
        finding.sentence = fmt::format("differs between ranks {}, which held the same bits until then", ranks);
    return witness;
}

Witness witnessOfGivenUp(const std::deque<Step>& lately, Rank rank)
{
    // A scaler now and then gives a step up, to try how far it can go: where some follow each other, they are it.
    auto began = std::prev(lately.end());
    while (began != lately.begin() && began->value - std::prev(began)->value <= 1)
        --began;
    if (began == std::prev(lately.end()))
        began = lately.begin();
    Witness witness;
    witness.seen = lately.back();
    witness.moment = { *began, Phase::Loss, std::numeric_limits<std::int32_t>::min() };
    Finding& finding = witness.finding;
    finding.rule = idOf(Rule::LossScale);
    finding.step = *began;
    finding.rank = rank;
    finding.kind = Kind::Scalar;
    finding.stat = Stat::Value;
    finding.name = witness.block = "loss-scale";
    const std::int64_t span = lately.back().value - lately.front().value + 1;
    finding.sentence = fmt::format("{} tries {} were given up, for gradients that were not finite", lately.size(),
        span == 1 ? std::string("of this step") : fmt::format("within {} steps", span));
    return witness;
}

}
