// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/capsulereader.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include <telltale/series/envelope.h>
#include <telltale/store/readsnapshot.h>

namespace telltale::store {
namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

bool covers(const std::vector<StepRange>& ranges, Step step)
{
    return std::any_of(ranges.begin(), ranges.end(), [step](StepRange range) { return range.contains(step); });
}

Step firstStepOf(const Piece& piece, TileSource& source, const TileSet& tiles)
{
    if (piece.open)
        return piece.open->stepAt(piece.from);
    const auto steps = source.steps(tiles, 0, piece.head, {});
    return steps ? (*steps)->first[static_cast<std::size_t>(piece.from)] : piece.head.steps.first;
}

}

Expected<std::vector<series::CellValue>> CapsuleReader::column(
    Step step, Stat stat, std::span<const series::RowAttempts> rows, bool nearest)
{
    if (auto ok = refreshNow(); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    std::vector<series::CellValue> cells(rows.size());
    const StepRange all { nearest ? Step { std::numeric_limits<std::int64_t>::min() / 4 } : step, step };
    auto units = unitsOf(rows, stat, all);
    const auto snapshot = ReadSnapshot::begin(m_statements);
    if (!snapshot)
        return tl::unexpected<Error>(snapshot.error());
    // Newest attempts first: an older one answers only for rows that these leave open.
    for (auto unit = units.rbegin(); unit != units.rend(); ++unit) {
        if (auto ok = readCells(std::move(*unit), step, nearest, cells); !ok)
            return tl::unexpected<Error>(std::move(ok.error()));
    }
    return cells;
}

Expected<void> CapsuleReader::readCells(RowUnit unit, Step step, bool nearest, std::vector<series::CellValue>& cells)
{
    m_home.check();
    const auto isSettled = [&cells](const RowUnit::Member& member) {
        const series::CellState state = cells[static_cast<std::size_t>(member.row)].state;
        return state != series::CellState::NotCollected && state != series::CellState::Gap;
    };
    bool isFirst = true;
    while (!unit.steps.isEmpty()) {
        unit.members.erase(std::remove_if(unit.members.begin(), unit.members.end(), isSettled), unit.members.end());
        unit.settle();
        if (unit.members.empty())
            return {};
        ColumnPlanner planner(*m_tiles, unit.tiles, unit.open, series::PixelMap(unit.steps, 1), unit.steps,
            unit.subBlocks, ColumnPlanner::Depth::NewestPiece);
        const auto planned = planner.make();
        if (!planned)
            return tl::unexpected<Error>(planned.error());
        noteDamage(unit.tiles, planned->damaged);
        for (const RowUnit::Member& member : unit.members) {
            series::CellValue& cell = cells[static_cast<std::size_t>(member.row)];
            if (isFirst && covers(planned->damaged, step))
                cell.state = series::CellState::Damaged;
            else if (isFirst && covers(m_index.gaps(unit.source, unit.kind), step))
                cell.state = series::CellState::Gap;
        }
        isFirst = false;
        if (planned->pieces.empty())
            return {};
        const Piece& piece = planned->pieces.back();
        for (const RowUnit::Member& member : unit.members) {
            if (isSettled(member))
                continue;
            if (auto ok = fillCell(unit, piece, member.lane, nearest, cells[static_cast<std::size_t>(member.row)]); !ok)
                return ok;
        }
        if (!nearest)
            return {};
        unit.steps.last = Step { firstStepOf(piece, *m_tiles, unit.tiles).value - 1 };
    }
    return {};
}

Expected<void> CapsuleReader::fillCell(
    const RowUnit& unit, const Piece& piece, int lane, bool nearest, series::CellValue& cell)
{
    RowUnit one = unit;
    one.subBlocks = { lane / kSubBlockSeries };
    const auto blocks = blocksOf(one, piece);
    if (!blocks)
        return tl::unexpected<Error>(blocks.error());
    const LaneBlock* block = blocks->front().get();
    const int inner = lane % kSubBlockSeries;
    if (!block || inner >= block->lanes())
        return {};
    int column = piece.begin() + static_cast<int>(piece.pixels.size()) - 1;
    while (nearest && column > piece.begin() && block->count(LaneBlock::Samples, inner, column) == 0)
        --column;
    if (block->count(LaneBlock::Samples, inner, column) == 0)
        return {};
    const series::Sample sample = block->sample(inner, column);
    cell.state = stateOf(sample);
    cell.value = sample.finite ? sample.value : kNoValue;
    cell.identity = sample.identity;
    if (unit.tiles.counts == 0 || !(sample.nan || sample.posInf || sample.negInf))
        return {};
    for (const auto& [stat, count] : { std::pair { Stat::Nans, &cell.nans }, std::pair { Stat::PosInfs, &cell.posInfs },
             std::pair { Stat::NegInfs, &cell.negInfs } }) {
        one.tiles.stat = stat;
        Piece place = piece;
        if (!piece.open) {
            const auto heads = m_tiles->heads(one.tiles, 0, piece.head.firstColumn, piece.head.firstColumn + 1);
            if (!heads)
                return tl::unexpected<Error>(heads.error());
            if (heads->empty())
                continue;
            place.head = heads->front();
        }
        const auto counts = blocksOf(one, place);
        if (!counts)
            return tl::unexpected<Error>(counts.error());
        if (const LaneBlock* values = counts->front().get(); values && inner < values->lanes())
            *count = static_cast<std::uint64_t>(std::max(0.0, values->number(LaneBlock::Min, inner, column)));
    }
    return {};
}

Expected<void> CapsuleReader::raw(const series::RowAttempts& row, Stat stat, StepRange range,
    const std::function<bool(const series::RawValue&)>& sink)
{
    if (range.isEmpty())
        return {};
    if (auto ok = refreshNow(); !ok)
        return ok;
    const auto units = unitsOf({ &row, 1 }, stat, range);
    const auto snapshot = ReadSnapshot::begin(m_statements);
    if (!snapshot)
        return tl::unexpected<Error>(snapshot.error());
    for (const RowUnit& unit : units) {
        const auto goOn = readRaw(unit, sink);
        if (!goOn)
            return tl::unexpected<Error>(goOn.error());
        if (!*goOn)
            return {};
    }
    return {};
}

Expected<bool> CapsuleReader::readRaw(const RowUnit& unit, const std::function<bool(const series::RawValue&)>& sink)
{
    ColumnPlanner planner(*m_tiles, unit.tiles, unit.open, series::PixelMap(unit.steps, 1), unit.steps, unit.subBlocks,
        ColumnPlanner::Depth::EverySample);
    auto planned = planner.make();
    if (!planned)
        return tl::unexpected<Error>(std::move(planned.error()));
    noteDamage(unit.tiles, planned->damaged);
    std::sort(
        planned->damaged.begin(), planned->damaged.end(), [](StepRange a, StepRange b) { return a.first < b.first; });
    auto lost = planned->damaged.begin();
    const auto tellLost = [&](Step before) {
        for (; lost != planned->damaged.end() && lost->first < before; ++lost) {
            if (!lost->isEmpty() && !sink({ lost->first, kNoValue, series::CellState::Damaged }))
                return false;
        }
        return true;
    };
    const int lane = unit.members.front().lane % kSubBlockSeries;
    for (const Piece& piece : planned->pieces) {
        const auto blocks = blocksOf(unit, piece);
        if (!blocks)
            return tl::unexpected<Error>(blocks.error());
        const LaneBlock* block = blocks->front().get();
        if (!block || lane >= block->lanes())
            continue;
        std::shared_ptr<const TileSteps> sealed;
        if (!piece.open) {
            auto steps = m_tiles->steps(unit.tiles, 0, piece.head, {});
            if (!steps)
                return tl::unexpected<Error>(std::move(steps.error()));
            sealed = std::move(*steps);
        }
        for (std::size_t i = 0; i < piece.pixels.size(); ++i) {
            const int column = piece.begin() + static_cast<int>(i);
            const Step step = sealed ? sealed->first[static_cast<std::size_t>(column)]
                                     : piece.open->stepAt(piece.from + static_cast<int>(i));
            if (!tellLost(step))
                return false;
            if (block->count(LaneBlock::Samples, lane, column) == 0)
                continue;
            const series::Sample sample = block->sample(lane, column);
            if (!sink({ step, sample.finite ? sample.value : kNoValue, stateOf(sample), sample.identity }))
                return false;
        }
    }
    return tellLost(Step { std::numeric_limits<std::int64_t>::max() });
}

Expected<std::vector<HistogramValue>> readHistograms(
    RunReader& reader, series::RowAttempts row, int bins, StepRange range)
{
    std::map<Step, std::vector<std::int64_t>> found;
    for (row.bin = 0; row.bin < bins; ++row.bin) {
        auto done = reader.raw(row, Stat::Hist, range, [&](const series::RawValue& value) {
            auto& counts = found.try_emplace(value.step, static_cast<std::size_t>(bins), -1).first->second;
            if (value.state == series::CellState::Value)
                counts[static_cast<std::size_t>(row.bin)] = static_cast<std::int64_t>(value.value);
            return true;
        });
        if (!done)
            return tl::unexpected<Error>(done.error());
    }
    std::vector<HistogramValue> values;
    values.reserve(found.size());
    for (auto& [step, counts] : found)
        values.push_back({ step, std::move(counts) });
    return values;
}

}
