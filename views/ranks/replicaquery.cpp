// SPDX-License-Identifier: GPL-3.0-or-later
#include "replicaquery.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include <telltale/plot/curvetrace.h>
#include <telltale/store/rowsof.h>

namespace telltale::views {

using analysis::Sameness;
using series::CellState;
using series::CellValue;

namespace {

/// The newest step at or before one at which any of them has a checksum that still stands.
Expected<std::optional<Step>> lastChecksum(
    store::RunReader& reader, const std::vector<series::RowAttempts>& rows, Step step)
{
    return reader.column(step, Stat::Checksum, rows, true).map([](const std::vector<CellValue>& cells) {
        std::optional<Step> found;
        for (const CellValue& one : cells) {
            if (one.state == CellState::Value)
                found = std::max(found, std::optional(one.step));
        }
        return found;
    });
}

/// The first places of `drift` are those of ranks with checksums: `placeOf` says which they are among all `count`.
void placeAmongAll(analysis::ReplicaDrift& drift, const std::vector<std::size_t>& placeOf, std::size_t count)
{
    for (analysis::SamenessAt& one : drift.steps) {
        std::vector<bool> has(count);
        for (const std::size_t place : placeOf)
            has[place] = true;
        for (const std::size_t without : one.without)
            has[placeOf[without]] = false;
        one.without.clear();
        for (std::size_t i = 0; i < count; ++i) {
            if (!has[i])
                one.without.push_back(i);
        }
    }
}

/// Those that have nothing where others have.
std::vector<Rank> lackingOf(const std::vector<Rank>& ranks, const std::set<Rank>& present)
{
    std::vector<Rank> lacking;
    if (!present.empty())
        std::ranges::set_difference(ranks, present, std::back_inserter(lacking));
    return lacking;
}

void addSpread(ReplicaPicture& picture, const HeatPicture& ranks)
{
    std::vector<CellValue> column;
    std::vector<series::Bucket> buckets;
    for (int at = 0; at < ranks.columns(); ++at) {
        column.clear();
        CellState strongest = CellState::NotCollected;
        std::set<Rank> present;
        for (int row = 0; row < ranks.result.rows; ++row) {
            const Rank rank = ranks.rows[static_cast<std::size_t>(row)].rank;
            const bool isOther // a later micro step
                = ranks.rows[static_cast<std::size_t>(row)].microStep != ranks.rows.front().microStep;
            if (isOther || !std::binary_search(picture.ranks.begin(), picture.ranks.end(), rank))
                continue;
            const CellState state = ranks.state(row, at);
            if (state >= CellState::Absent)
                present.insert(rank);
            strongest = std::max(strongest, state);
            column.push_back({ static_cast<double>(ranks.value(row, at)), state });
        }
        picture.states.push_back(strongest);
        picture.without.push_back(lackingOf(picture.ranks, present));
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
    std::map<std::pair<ModuleKey, int>, Checksums> checksums; // of each micro step
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
            Checksums& of = checksums[{ { QString::fromStdString(key.name), key.slot }, key.microStep }];
            of.ranks.push_back(rows[i]->rank);
            of.values.push_back((*column)[i]);
        }
    }
    std::set<Rank> present; // at the step
    for (const auto& [key, of] : checksums) {
        for (std::size_t i = 0; i < of.ranks.size(); ++i) {
            if (of.values[i].state == CellState::Value)
                present.insert(of.ranks[i]);
        }
    }
    std::vector<CellValue> values;
    for (int row = 0; row < layers.result.rows; ++row) {
        values.clear();
        for (int at = 0; at < layers.columns(); ++at) {
            const Rank rank = layers.columnRanks[static_cast<std::size_t>(at)];
            if (!std::binary_search(picture.ranks.begin(), picture.ranks.end(), rank))
                continue;
            values.push_back({ static_cast<double>(layers.value(row, at)), layers.state(row, at) });
            if (checksums.empty() && values.back().state >= CellState::Absent)
                present.insert(rank);
        }
        ReplicaOf one { layers.rows[static_cast<std::size_t>(row)].key, Sameness::Unknown, {}, spreadOf(values),
            std::ranges::any_of(values, [](const CellValue& value) { return series::isNonFinite(value.state); }) };
        if (const auto known = checksums.find({ one.key, layers.rows[static_cast<std::size_t>(row)].microStep });
            known != checksums.end()) {
            one.is = analysis::samenessOf(known->second.values);
            for (const std::size_t odd : unlikeMost(known->second.values))
                one.odd.push_back(known->second.ranks[odd]);
            // Ranks that have others of the kind, but not this: it is not known to be the same on all.
            std::set<Rank> withThis;
            for (std::size_t i = 0; i < known->second.ranks.size(); ++i) {
                if (known->second.values[i].state == CellState::Value)
                    withThis.insert(known->second.ranks[i]);
            }
            const auto isOnlyOthers = [&](Rank rank) { return present.contains(rank) && !withThis.contains(rank); };
            if (one.is == Sameness::Same && std::ranges::any_of(known->second.ranks, isOnlyOthers))
                one.is = Sameness::Unknown;
        }
        picture.tensors.push_back(std::move(one));
    }
    picture.absent = lackingOf(picture.ranks, present);
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
    std::vector<std::size_t> placeOf; // of those, among the ranks
    for (const series::RowIndex::Row* row : rankRows(*request.catalog, request.kind, picture.key)) {
        if (!std::binary_search(same.begin(), same.end(), row->rank))
            continue;
        picture.ranks.push_back(row->rank);
        rows.push_back(row->attempts);
        if (!row->answers(Stat::Checksum))
            continue;
        withChecksums.push_back(row->attempts);
        placeOf.push_back(picture.ranks.size() - 1);
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
        placeAmongAll(picture.drift, placeOf, rows.size());
        // What differs in the part of the run that is shown may have differed before it.
        if (const StepRange before { Step { 0 }, picture.range.last };
            picture.drift.first && !(before == picture.range)) {
            const auto run = analysis::readDrift(reader, withChecksums, before, std::min(pixels, 256), cancel);
            if (!run)
                return tl::unexpected(run.error());
            picture.drift.isEveryStep = run->isEveryStep;
            picture.drift.first = std::min(*picture.drift.first, run->first.value_or(*picture.drift.first));
        }
        auto last = lastChecksum(reader, withChecksums, request.atStep);
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
