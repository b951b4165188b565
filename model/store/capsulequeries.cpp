// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/capsulereader.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <telltale/series/envelope.h>
#include <telltale/store/heatassembler.h>
#include <telltale/store/readsnapshot.h>

namespace telltale::store {
namespace {

constexpr int kMaxPixels = 1 << 20;

tl::unexpected<Error> canceled()
{
    return failure(ErrorCode::Canceled, "the question is no longer asked");
}

bool isCanceled(const series::CancelToken& cancel)
{
    return cancel && cancel->load(std::memory_order_relaxed);
}

Expected<void> checkQuestion(Stat stat, StepRange range, int pixels)
{
    if (isIdentity(stat))
        return failure(ErrorCode::BadInput,
            "the statistic " + std::string(statName(stat)) + " says whether tensors are the same and has no picture",
            "its values stand in the inspector and in 'telltale show --stat " + std::string(statName(stat)) + "'");
    if (range.isEmpty() || pixels <= 0 || pixels > kMaxPixels)
        return failure(ErrorCode::BadInput, "a picture needs at least one step and one pixel");
    return {};
}

StepRange intersect(StepRange a, StepRange b)
{
    return { std::max(a.first, b.first), std::min(a.last, b.last) };
}

void markBuckets(
    std::vector<series::Bucket>& buckets, StepRange steps, const series::PixelMap& map, series::CellState state)
{
    const StepRange inside = intersect(steps, map.range());
    if (inside.isEmpty())
        return;
    for (int pixel = map.pixelOf(inside.first); pixel <= map.pixelOf(inside.last); ++pixel) {
        series::Bucket& bucket = buckets[static_cast<std::size_t>(pixel)];
        bucket.state = series::stronger(bucket.state, state);
    }
}

/// From the first of these steps to the next bucket with a sample.
void markLoss(std::vector<series::Bucket>& buckets, StepRange steps, const series::PixelMap& map)
{
    const StepRange inside = intersect(steps, map.range());
    if (inside.isEmpty())
        return;
    int pixel = map.pixelOf(inside.first);
    if (buckets[static_cast<std::size_t>(pixel)].samples > 0)
        ++pixel; // it shows what came before the loss
    for (; pixel <= map.pixelOf(inside.last) && buckets[static_cast<std::size_t>(pixel)].samples == 0; ++pixel) {
        series::Bucket& bucket = buckets[static_cast<std::size_t>(pixel)];
        bucket.state = series::stronger(bucket.state, series::CellState::Gap);
    }
}

}

Expected<void> CapsuleReader::refreshNow()
{
    auto snapshot = ReadSnapshot::begin(m_statements);
    if (!snapshot)
        return tl::unexpected<Error>(std::move(snapshot.error()));
    return refresh();
}

std::shared_ptr<const FoundUnits> CapsuleReader::find(std::span<const series::RowAttempts> rows, Stat stat) const
{
    std::map<std::tuple<GroupId, Step, Step>, std::size_t> places;
    auto found = std::make_shared<FoundUnits>();
    found->revision = m_index.revision();
    for (std::size_t row = 0; row < rows.size(); ++row) {
        for (const RowSegment& segment : m_index.segments(rows[row], stat)) {
            const auto [it, isNew] = places.try_emplace(
                { segment.tiles.group, segment.steps.first, segment.steps.last }, found->units.size());
            if (isNew) {
                found->units.push_back({ segment.source, segment.kind, segment.tiles, segment.steps, {}, {}, {} });
                found->units.back().tiles.shares = m_index.sharesOf(segment.series, stat);
            }
            found->units[it->second].members.push_back({ static_cast<int>(row), segment.lane });
        }
    }
    for (RowUnit& unit : found->units)
        unit.settle();
    // A row's older attempt comes first.
    std::stable_sort(found->units.begin(), found->units.end(),
        [](const RowUnit& a, const RowUnit& b) { return a.steps.first < b.steps.first; });
    return found;
}

std::vector<RowUnit> CapsuleReader::unitsOf(
    std::span<const series::RowAttempts> rows, Stat stat, StepRange range, series::RowsMemo* memo) const
{
    auto found = std::dynamic_pointer_cast<const FoundUnits>(memo ? memo->found : nullptr);
    if (!found || found->revision != m_index.revision())
        found = find(rows, stat);
    if (memo)
        memo->found = found;
    std::vector<RowUnit> units;
    for (const RowUnit& unit : found->units) {
        const StepRange steps = intersect(unit.steps, range);
        if (steps.isEmpty())
            continue;
        units.push_back(unit);
        units.back().steps = steps;
        units.back().open = openTiles(unit.tiles.group);
    }
    return units;
}

Expected<ColumnPlan> CapsuleReader::plan(const RowUnit& unit, const series::PixelMap& map)
{
    auto plan = ColumnPlanner(*m_tiles, unit.tiles, unit.open, map, unit.steps, unit.subBlocks).make();
    if (plan)
        noteDamage(unit.tiles, plan->damaged);
    return plan;
}

Expected<TileSource::Blocks> CapsuleReader::blocksOf(const RowUnit& unit, const Piece& piece)
{
    if (!piece.open)
        return m_tiles->lanes(unit.tiles, piece.level, piece.head, unit.subBlocks);
    TileSource::Blocks blocks;
    const auto columns = static_cast<int>(piece.pixels.size());
    for (const int subBlock : unit.subBlocks)
        blocks.push_back(unit.tiles.shares
                ? LaneBlock::fromOpenBins(*piece.open, *unit.tiles.shares, subBlock, piece.from, columns)
                : LaneBlock::fromOpen(*piece.open, unit.tiles.stat, subBlock, piece.from, columns));
    return blocks;
}

Expected<series::CurveResult> CapsuleReader::readCurve(
    const series::CurveQuery& query, const series::CancelToken& cancel)
{
    if (auto ok = checkQuestion(query.stat, query.range, query.pixels); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    if (auto ok = refreshNow(); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    const auto units = unitsOf({ &query.row, 1 }, query.stat, query.range);
    const auto snapshot = ReadSnapshot::begin(m_statements);
    if (!snapshot)
        return tl::unexpected<Error>(snapshot.error());
    const series::PixelMap map(query.range, query.pixels);
    series::CurveResult result;
    result.range = query.range;
    result.buckets.resize(static_cast<std::size_t>(query.pixels));
    for (const RowUnit& unit : units) {
        auto planned = plan(unit, map);
        if (!planned)
            return tl::unexpected<Error>(planned.error());
        result.level = std::max(result.level, planned->level);
        for (const Piece& piece : planned->pieces) {
            if (isCanceled(cancel))
                return canceled();
            const auto blocks = blocksOf(unit, piece);
            if (!blocks && blocks.error().code != ErrorCode::Damaged)
                return tl::unexpected<Error>(blocks.error());
            if (!blocks) {
                planned->damaged.push_back(piece.head.steps);
                noteDamage(unit.tiles, { piece.head.steps });
                continue;
            }
            const LaneBlock* block = blocks->front().get();
            const int lane = unit.members.front().lane % kSubBlockSeries;
            if (!block || lane >= block->lanes())
                continue;
            for (std::size_t i = 0; i < piece.pixels.size(); ++i) {
                const series::Bucket one = block->bucket(lane, piece.begin() + static_cast<int>(i));
                if (one.samples > 0)
                    series::append(result.buckets[static_cast<std::size_t>(piece.pixels[i])], one);
            }
        }
        for (const StepRange& steps : planned->damaged)
            markBuckets(result.buckets, intersect(steps, unit.steps), map, series::CellState::Damaged);
        for (const StepRange& gap : m_index.gaps(unit.source, unit.kind))
            markBuckets(result.buckets, intersect(gap, unit.steps), map, series::CellState::Gap);
        for (const StepRange& loss : m_index.losses(unit.source))
            markLoss(result.buckets, intersect(loss, unit.steps), map);
    }
    result.exact = result.level == 0;
    return result;
}

Expected<series::HeatResult> CapsuleReader::readHeat(const series::HeatQuery& query, const series::CancelToken& cancel)
{
    if (auto ok = checkQuestion(query.stat, query.range, query.pixels); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    if (auto ok = refreshNow(); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    const auto units = unitsOf(query.rows, query.stat, query.range, query.memo.get());
    const auto snapshot = ReadSnapshot::begin(m_statements);
    if (!snapshot)
        return tl::unexpected<Error>(snapshot.error());
    const series::PixelMap map(query.range, query.pixels);
    series::HeatResult result;
    result.range = query.range;
    HeatAssembler picture(static_cast<int>(query.rows.size()), query.pixels, series::reductionFor(query.stat));
    for (const RowUnit& unit : units) {
        std::optional<TileSource::Scan> scan; // what one of them needs is there until it is read
        if (query.isScan)
            scan.emplace(*m_tiles);
        auto planned = plan(unit, map);
        if (!planned)
            return tl::unexpected<Error>(planned.error());
        result.level = std::max(result.level, planned->level);
        for (const Piece& piece : planned->pieces) {
            if (isCanceled(cancel))
                return canceled();
            const auto blocks = blocksOf(unit, piece);
            if (!blocks && blocks.error().code != ErrorCode::Damaged)
                return tl::unexpected<Error>(blocks.error());
            if (!blocks) {
                planned->damaged.push_back(piece.head.steps);
                noteDamage(unit.tiles, { piece.head.steps });
                continue;
            }
            std::size_t at = 0;
            for (const RowUnit::Member& member : unit.members) {
                while (unit.subBlocks[at] != member.lane / kSubBlockSeries)
                    ++at; // both are by lane
                const LaneBlock* block = (*blocks)[at].get();
                if (block && member.lane % kSubBlockSeries < block->lanes())
                    picture.add(member.row, *block, member.lane % kSubBlockSeries, piece.begin(), piece.pixels);
            }
        }
        const std::vector<StepRange> gaps = m_index.gaps(unit.source, unit.kind);
        const std::vector<StepRange> losses = m_index.losses(unit.source);
        for (const RowUnit::Member& member : unit.members) {
            for (const StepRange& steps : planned->damaged)
                picture.mark(member.row, intersect(steps, unit.steps), map, cell::kDamaged);
            for (const StepRange& gap : gaps)
                picture.mark(member.row, intersect(gap, unit.steps), map, cell::kGap);
            for (const StepRange& loss : losses)
                picture.markLoss(member.row, intersect(loss, unit.steps), map);
        }
    }
    picture.finish(result);
    return result;
}

}
