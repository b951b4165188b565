// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/analysis/replicadrift.h>

#include <algorithm>
#include <map>

namespace telltale::analysis {

using series::CellState;
using series::CellValue;

namespace {

constexpr std::int64_t kFewValues = 40'000; ///< of all replicas, that are read one by one
constexpr std::size_t kAsked = 4; ///< replicas, for a step that has a checksum: the first of them may have ended

bool isCanceled(const series::CancelToken& cancel)
{
    return cancel && cancel->load(std::memory_order_relaxed);
}

/// How many replicas have which bits, in the order of their first.
std::vector<std::pair<std::uint64_t, std::size_t>> countsOf(std::span<const CellValue> checksums)
{
    std::vector<std::pair<std::uint64_t, std::size_t>> counts;
    for (const CellValue& one : checksums) {
        if (one.state != CellState::Value)
            continue;
        const auto known = std::find_if(
            counts.begin(), counts.end(), [&one](const auto& count) { return count.first == one.identity; });
        if (known == counts.end())
            counts.emplace_back(one.identity, 1);
        else
            ++known->second;
    }
    return counts;
}

SamenessAt samenessAt(Step step, std::span<const CellValue> checksums)
{
    SamenessAt at { step, samenessOf(checksums), {} };
    for (std::size_t i = 0; i < checksums.size(); ++i) {
        if (checksums[i].state != CellState::Value)
            at.without.push_back(i);
    }
    return at;
}

Expected<ReplicaDrift> readEvery(store::RunReader& reader, const std::vector<series::RowAttempts>& replicas,
    StepRange range, const series::CancelToken& cancel)
{
    std::map<Step, std::vector<CellValue>> steps;
    for (std::size_t i = 0; i < replicas.size(); ++i) {
        auto read = reader.raw(replicas[i], Stat::Checksum, range, [&](const series::RawValue& raw) {
            if (raw.state == CellState::Value) {
                std::vector<CellValue>& own = steps[raw.step];
                own.resize(replicas.size());
                own[i] = { raw.value, raw.state, 0, 0, 0, raw.identity };
            }
            return !isCanceled(cancel);
        });
        if (!read)
            return tl::unexpected(std::move(read).error());
    }
    ReplicaDrift drift;
    drift.isEveryStep = true;
    for (const auto& [step, checksums] : steps) {
        drift.steps.push_back(samenessAt(step, checksums));
        if (!drift.first && drift.steps.back().is == Sameness::Different)
            drift.first = step;
    }
    return drift;
}

}

bool isReplicated(Kind kind)
{
    return kind == Kind::ParamOrigin || kind == Kind::ParamUpdated || kind == Kind::GradReduced || kind == Kind::ExpAvg
        || kind == Kind::ExpAvgSq;
}

bool isMadeOfReplicated(Kind kind)
{
    return kind == Kind::MgDirection || kind == Kind::Update || kind == Kind::UpdateRatio;
}

Sameness samenessOf(std::span<const CellValue> checksums)
{
    const auto counts = countsOf(checksums);
    if (counts.size() > 1)
        return Sameness::Different;
    return !counts.empty() && counts.front().second > 1 ? Sameness::Same : Sameness::Unknown;
}

std::vector<std::size_t> minorityOf(std::span<const CellValue> checksums)
{
    const auto counts = countsOf(checksums);
    std::size_t all = 0;
    std::size_t most = 0;
    for (const auto& [bits, count] : counts) {
        all += count;
        most = std::max(most, count);
    }
    std::vector<std::size_t> odd;
    for (std::size_t i = 0; i < checksums.size() && counts.size() > 1; ++i) {
        if (checksums[i].state != CellState::Value)
            continue;
        const auto own = std::find_if(
            counts.begin(), counts.end(), [&](const auto& count) { return count.first == checksums[i].identity; });
        if (most * 2 <= all || own->second < most)
            odd.push_back(i);
    }
    return odd;
}

Expected<ReplicaDrift> readDrift(store::RunReader& reader, const std::vector<series::RowAttempts>& replicas,
    StepRange range, int most, const series::CancelToken& cancel)
{
    if (range.isEmpty() || replicas.size() < 2 || most <= 0)
        return ReplicaDrift {};
    if (range.count() * static_cast<std::int64_t>(replicas.size()) <= kFewValues)
        return readEvery(reader, replicas, range, cancel);
    ReplicaDrift drift;
    // The first step in a range that has a checksum: what other steps hold would be compared with it otherwise.
    const auto firstIn = [&](StepRange steps) -> Expected<std::optional<SamenessAt>> {
        if (isCanceled(cancel))
            return failure(ErrorCode::Canceled, "the question is no longer asked");
        std::optional<Step> found;
        for (std::size_t i = 0; i < std::min(replicas.size(), kAsked) && !found; ++i) {
            auto read = reader.raw(replicas[i], Stat::Checksum, steps, [&found](const series::RawValue& raw) {
                if (raw.state == CellState::Value)
                    found = raw.step;
                return !found;
            });
            if (!read)
                return tl::unexpected(std::move(read).error());
        }
        if (!found)
            return std::optional<SamenessAt>();
        return reader.column(*found, Stat::Checksum, replicas).map([&found](const std::vector<CellValue>& column) {
            return std::optional(samenessAt(*found, column));
        });
    };
    for (std::int64_t i = 0; i < most; ++i) {
        const auto one = firstIn({ Step { range.first.value + range.count() * i / most },
            Step { range.first.value + range.count() * (i + 1) / most - 1 } });
        if (!one)
            return tl::unexpected(one.error());
        if (*one)
            drift.steps.push_back(**one);
    }
    const auto odd = std::find_if(
        drift.steps.begin(), drift.steps.end(), [](const SamenessAt& one) { return one.is == Sameness::Different; });
    if (odd == drift.steps.end())
        return drift;
    drift.first = odd->step;
    const auto before = std::find_if(std::make_reverse_iterator(odd), drift.steps.rend(),
        [](const SamenessAt& one) { return one.is == Sameness::Same; });
    if (before == drift.steps.rend())
        return drift;
    // Bisection: at `low` they were the same or there was nothing from there on; at `first` they differ.
    std::int64_t low = before->step.value;
    std::int64_t high = odd->step.value;
    while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        const auto one = firstIn({ Step { middle }, Step { high - 1 } });
        if (!one)
            return tl::unexpected(one.error());
        if (*one && (*one)->is == Sameness::Different) {
            drift.first = (*one)->step;
            high = middle;
        } else {
            low = *one ? (*one)->step.value : low;
            high = *one ? high : middle;
        }
    }
    return drift;
}

}
