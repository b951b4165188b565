// SPDX-License-Identifier: GPL-3.0-or-later
#include "replicaquery.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <telltale/plot/curvetrace.h>
#include <telltale/store/rowsof.h>

namespace telltale::views {

using analysis::Sameness;
using series::CellState;
using series::CellValue;

namespace {

constexpr std::int64_t kBack = 1024; ///< steps before the cursor in which a checksum is looked for

/// The newest step at or before one that has a checksum.
Expected<std::optional<Step>> lastChecksum(store::RunReader& reader, const series::RowAttempts& row, Step step)
{
    std::optional<Step> found;
    return reader
        .raw(row, Stat::Checksum, { Step { std::max<std::int64_t>(0, step.value - kBack) }, step },
            [&found](const series::RawValue& raw) {
                if (raw.state == CellState::Value)
                    found = raw.step;
                return true;
            })
        .map([&found] { return found; });
}

void addSpread(ReplicaPicture& picture, const HeatPicture& ranks)
{
    std::vector<CellValue> column;
    std::vector<series::Bucket> buckets;
    for (int at = 0; at < ranks.columns(); ++at) {
        column.clear();
        CellState strongest = CellState::NotCollected;
        for (int row = 0; row < ranks.result.rows; ++row) {
            if (!std::binary_search(
                    picture.ranks.begin(), picture.ranks.end(), ranks.rows[static_cast<std::size_t>(row)].rank))
                continue;
            const CellState state = ranks.state(row, at);
            strongest = std::max(strongest, state);
            column.push_back({ static_cast<double>(ranks.value(row, at)), state });
        }
        picture.states.push_back(strongest);
        picture.spread.push_back(static_cast<float>(spreadOf(column)));
        buckets.emplace_back().samples = strongest >= CellState::Absent ? 1 : 0;
    }
    picture.join = longestJoin(buckets);
}

/// Every tensor of the kind: the spread of its statistic, and its checksums where it has some.
Expected<void> addTensors(store::RunReader& reader, const HeatRequest& request, ReplicaPicture& picture,
    const HeatPicture& layers, std::optional<Step> checksumStep)
{
    struct Checksums {
        std::vector<Rank> ranks;
        std::vector<CellValue> values;
    };
    std::map<ModuleKey, Checksums> checksums;
    if (checksumStep) {
        const series::RowIndex& index = store::rowsOf(*request.catalog);
        std::vector<series::RowAttempts> asked;
        std::vector<const series::RowIndex::Row*> rows;
        for (const series::RowIndex::Row* row : index.select(request.kind, {}, Stat::Checksum)) {
            if (!std::binary_search(picture.ranks.begin(), picture.ranks.end(), row->rank))
                continue;
            asked.push_back(row->attempts);
            rows.push_back(row);
        }
        auto column = reader.column(*checksumStep, Stat::Checksum, asked);
        if (!column)
            return tl::unexpected(std::move(column).error());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const series::SeriesKey& key = index.key(*rows[i]);
            Checksums& of = checksums[{ QString::fromStdString(key.name), key.slot }];
            of.ranks.push_back(rows[i]->rank);
            of.values.push_back((*column)[i]);
        }
    }
    std::vector<CellValue> values;
    for (int row = 0; row < layers.result.rows; ++row) {
        values.clear();
        for (int at = 0; at < layers.columns(); ++at) {
            if (std::binary_search(
                    picture.ranks.begin(), picture.ranks.end(), layers.columnRanks[static_cast<std::size_t>(at)]))
                values.push_back({ static_cast<double>(layers.value(row, at)), layers.state(row, at) });
        }
        ReplicaOf one { layers.rows[static_cast<std::size_t>(row)].key, Sameness::Unknown, {}, spreadOf(values),
            std::ranges::any_of(values, [](const CellValue& value) { return series::isNonFinite(value.state); }) };
        if (const auto known = checksums.find(one.key); known != checksums.end()) {
            one.is = analysis::samenessOf(known->second.values);
            for (const std::size_t odd : unlikeMost(known->second.values))
                one.odd.push_back(known->second.ranks[odd]);
        }
        picture.tensors.push_back(std::move(one));
    }
    std::stable_sort(picture.tensors.begin(), picture.tensors.end(), [](const ReplicaOf& a, const ReplicaOf& b) {
        const auto keyOf = [](const ReplicaOf& one) {
            return std::pair(one.is != Sameness::Different, std::isnan(one.spread) ? 0 : -one.spread);
        };
        return keyOf(a) < keyOf(b);
    });
    return {};
}

}

Expected<ReplicaPicture> readReplicas(store::RunReader& reader, const HeatRequest& request,
    const analysis::RankTopology& topology, const HeatPicture& ranks, const HeatPicture& layers, int pixels,
    const series::CancelToken& cancel)
{
    ReplicaPicture picture;
    picture.key = ranks.rows.front().key;
    picture.kind = request.kind;
    picture.stat = request.stat;
    picture.range = ranks.result.range;
    const std::vector<Rank> same = topology.replicasOf(request.rank);
    std::vector<series::RowAttempts> rows;
    std::vector<series::RowAttempts> withChecksums;
    for (const series::RowIndex::Row* row : rankRows(*request.catalog, request.kind, picture.key)) {
        if (!std::binary_search(same.begin(), same.end(), row->rank))
            continue;
        picture.ranks.push_back(row->rank);
        rows.push_back(row->attempts);
        if (row->answers(Stat::Checksum))
            withChecksums.push_back(row->attempts);
    }
    picture.hasChecksums = !withChecksums.empty();
    picture.haveOthersChecksums = std::ranges::any_of(request.catalog->groups, [&](const store::GroupInfo& group) {
        return group.kind != request.kind && std::ranges::find(group.stats, Stat::Checksum) != group.stats.end();
    });
    addSpread(picture, ranks);
    auto values = reader.column(request.atStep, request.stat, rows, true);
    if (!values)
        return tl::unexpected(std::move(values).error());
    picture.values = std::move(*values);
    for (const CellValue& one : picture.values)
        picture.valuesStep = std::max(picture.valuesStep, one.step);
    std::optional<Step> checksumStep;
    if (picture.hasChecksums) {
        auto drift = analysis::readDrift(reader, withChecksums, picture.range, std::min(pixels, 256), cancel);
        if (!drift)
            return tl::unexpected(std::move(drift).error());
        picture.drift = std::move(*drift);
        // What differs in the part of the run that is shown may have differed before it.
        if (const StepRange before { Step { 0 }, picture.range.last };
            picture.drift.first && !(before == picture.range)) {
            const auto run = analysis::readDrift(reader, withChecksums, before, std::min(pixels, 256), cancel);
            if (!run)
                return tl::unexpected(run.error());
            picture.drift.isEveryStep = run->isEveryStep;
            picture.drift.first = std::min(*picture.drift.first, run->first.value_or(*picture.drift.first));
        }
        auto last = lastChecksum(reader, withChecksums.front(), request.atStep);
        if (!last)
            return tl::unexpected(std::move(last).error());
        checksumStep = *last;
    }
    if (checksumStep) {
        auto checksums = reader.column(*checksumStep, Stat::Checksum, rows);
        if (!checksums)
            return tl::unexpected(std::move(checksums).error());
        picture.checksums = std::move(*checksums);
    } else {
        picture.checksums.resize(rows.size());
    }
    picture.atStep = checksumStep.value_or(layers.atStep);
    if (auto added = addTensors(reader, request, picture, layers, checksumStep); !added)
        return tl::unexpected(std::move(added).error());
    return picture;
}

}
