// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/noisescale.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

namespace telltale::judge {
namespace {

constexpr double kSameNorm = 1e-3; ///< as far apart as norms may be that say the same
constexpr std::size_t kMostNoiseSteps = 65'536; ///< that wait for the other ranks
constexpr double kSlowNoise = 1.0 / 256; ///< of the average that an estimate is held against
constexpr int kNoiseKnown = 128; ///< estimates before that means anything

}

void NoiseEstimate::take(std::size_t ranks, double small, double big)
{
    const auto n = static_cast<double>(ranks);
    const double weight = std::max(1.0 / kAveraged, 1.0 / ++m_seen);
    m_gradient += ((n * big - small) / (n - 1) - m_gradient) * weight;
    m_noise += ((small - big) / (1 - 1 / n) - m_noise) * weight;
}

std::optional<double> NoiseEstimate::value() const
{
    return m_seen >= kAveraged && m_gradient > 0 && m_noise > 0 ? std::optional(m_noise / m_gradient) : std::nullopt;
}

std::optional<NoiseScale::Member> NoiseScale::memberOf(const store::Catalog& catalog, const Watchlist& list)
{
    Member member;
    std::map<std::string, std::uint32_t> unreduced, reduced; // tensors of a block
    for (std::size_t i = 0; i < list.rollups.size(); ++i) {
        const Rollup& rollup = list.rollups[i];
        if (rollup.role == ScalarRole::GradNorm)
            member.gradNorm = i;
        if (rollup.kind != Kind::GradUnreduced && rollup.kind != Kind::GradReduced)
            continue;
        const bool isReduced = rollup.kind == Kind::GradReduced;
        (isReduced ? member.reduced : member.unreduced).push_back(i);
        (isReduced ? reduced : unreduced)[rollup.block] = rollup.members;
    }
    // The same tensors, whole: a shard is a part of what was reduced, and a micro step a part of the batch.
    std::uint64_t elements = 0, elementsReduced = 0;
    for (const Watched& row : list.rows) {
        elements += row.kind == Kind::GradUnreduced ? row.numel : 0;
        elementsReduced += row.kind == Kind::GradReduced ? row.numel : 0;
    }
    const bool isOtherwise = std::any_of(catalog.series.begin(), catalog.series.end(), [&](const auto& series) {
        const bool isGradient = series.kind == Kind::GradUnreduced || series.kind == Kind::GradReduced;
        return series.source == list.source && isGradient && (series.desc->form & (form::kScaled | form::kMicro)) != 0;
    });
    if (unreduced.empty() || unreduced != reduced || elements != elementsReduced || isOtherwise)
        return {};
    return member;
}

void NoiseScale::take(const store::Catalog& catalog, const std::vector<const Watchlist*>& lists)
{
    m_members.clear();
    m_groupOf.clear();
    m_attempts.clear();
    if (!m_rules.isOn(Rule::NoiseScale))
        return;
    std::map<std::tuple<int, int, int, int>, Group> groups;
    for (const store::SourceInfo& info : catalog.sources) {
        const auto list = std::find_if(
            lists.begin(), lists.end(), [&info](const Watchlist* one) { return one->source == info.id; });
        auto member = list == lists.end() ? std::nullopt : memberOf(catalog, **list);
        if (!member)
            continue;
        m_members.emplace(info.id, *std::move(member));
        groups[{ info.attempt, info.pp, info.tp, info.ep }].ranks.emplace(info.id, info.rank);
        m_attempts[info.id] = info.attempt;
    }
    std::vector<Group> newer;
    for (auto& entry : groups) {
        const auto& key = entry.first; // names of their own: a lambda keeps no structured binding
        Group& group = entry.second;
        // Of a rank that sends nothing, what was reduced has a part.
        const bool isWhole
            = std::none_of(catalog.sources.begin(), catalog.sources.end(), [&](const store::SourceInfo& info) {
                  return std::tuple(info.attempt, info.pp, info.tp, info.ep) == key
                      && (!group.ranks.contains(info.id) || info.dp >= static_cast<int>(group.ranks.size()));
              });
        if (group.ranks.size() < 2 || !isWhole)
            continue;
        const auto known = std::find_if(
            m_groups.begin(), m_groups.end(), [&](const Group& one) { return one.ranks == group.ranks; });
        for (const auto& [source, rank] : group.ranks)
            m_groupOf[source] = newer.size();
        newer.push_back(known == m_groups.end() ? std::move(group) : *known);
    }
    m_groups = std::move(newer);
}

void NoiseScale::add(SourceId source, Step step, const std::vector<float>& rollups)
{
    if (!m_groupOf.contains(source))
        return;
    const Member& member = m_members.at(source);
    const auto valueAt
        = [&rollups](std::size_t i) { return i < rollups.size() ? static_cast<double>(rollups[i]) : NAN; };
    Squares squares { 0, 0 };
    for (const std::size_t i : member.unreduced)
        squares.first += valueAt(i) * valueAt(i);
    for (const std::size_t i : member.reduced)
        squares.second += valueAt(i) * valueAt(i);
    // What the training itself says of their norm is of before it clipped them.
    const double norm = member.gradNorm ? valueAt(*member.gradNorm) : NAN;
    if (std::isfinite(norm))
        squares.second = std::max(squares.second, norm * norm);
    if (std::isfinite(squares.first) && std::isfinite(squares.second))
        m_waiting[{ m_attempts.at(source), step }][source] = squares;
}

std::vector<NoiseScale::Odd> NoiseScale::judge(int attempt, Step last)
{
    std::vector<Odd> found;
    for (auto waiting = m_waiting.begin(); waiting != m_waiting.end(); waiting = m_waiting.erase(waiting)) {
        const auto& [when, values] = *waiting;
        if (when.first >= attempt && (when.first > attempt || when.second > last)
            && m_waiting.size() <= kMostNoiseSteps)
            break;
        for (Group& group : m_groups)
            judge(group, values, when.second, found);
    }
    return found;
}

void NoiseScale::judge(Group& group, const std::map<SourceId, Squares>& values, Step step, std::vector<Odd>& out) const
{
    double small = 0, least = HUGE_VAL, big = 0;
    for (const auto& [source, rank] : group.ranks) {
        const auto known = values.find(source);
        if (known == values.end())
            return;
        small += known->second.first / static_cast<double>(group.ranks.size());
        least = std::min(least, known->second.second);
        big = std::max(big, known->second.second);
    }
    // A mean of gradients is no longer than they are: else it is a sum, or scaled; and all ranks have the same.
    if (!(big > 0) || big > small * (1 + kSameNorm) || big > least * (1 + kSameNorm))
        return;
    const bool isClipped = std::abs(big - group.highest) <= kSameNorm * kSameNorm * big;
    group.highest = std::max(group.highest, big);
    if (isClipped)
        return;
    group.estimate.take(group.ranks.size(), small, big);
    const auto noise = group.estimate.value();
    if (!noise)
        return;
    const double log = std::log(*noise);
    const double far = group.known < kNoiseKnown ? 0 : log - group.level;
    group.level += (log - group.level) * std::max(kSlowNoise, 1.0 / ++group.known);
    const bool isOther = std::abs(far) >= std::log(m_rules.value(Rule::NoiseScale, 0));
    const auto local = static_cast<double>(group.ranks.size()); // batches of which a step is made
    const bool isAbove = *noise >= m_rules.value(Rule::NoiseScale, 1) * local;
    for (const bool isOfBatch : { false, true }) {
        Group::Lasting& lasting = isOfBatch ? group.above : group.other;
        lasting.steps = (isOfBatch ? isAbove : isOther) ? lasting.steps + 1 : 0;
        if (lasting.steps == 1)
            lasting.since = step;
        if (lasting.steps != static_cast<int>(m_rules.value(Rule::NoiseScale, 2)))
            continue;
        Odd odd { lasting.since, step, {}, *noise, isOfBatch ? 0 : std::exp(log - far) };
        for (const auto& [source, rank] : group.ranks)
            odd.ranks.push_back(rank);
        std::sort(odd.ranks.begin(), odd.ranks.end());
        out.push_back(std::move(odd));
    }
}

std::optional<double> NoiseScale::valueOf(SourceId source) const
{
    const auto group = m_groupOf.find(source);
    return group == m_groupOf.end() ? std::nullopt : m_groups[group->second].estimate.value();
}

}
