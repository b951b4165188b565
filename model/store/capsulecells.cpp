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

using series::CellState;

namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

bool covers(const std::vector<StepRange>& ranges, Step step)
{
    return std::any_of(ranges.begin(), ranges.end(), [step](StepRange range) { return range.contains(step); });
}

Expected<std::vector<Step>> stepsOf(const Piece& piece, TileSource& source, const TileSet& tiles)
{
    std::vector<Step> steps(piece.pixels.size());
    if (piece.open) {
        for (std::size_t i = 0; i < steps.size(); ++i)
            steps[i] = piece.open->stepAt(piece.from + static_cast<int>(i));
        return steps;
    }
    const auto sealed = source.steps(tiles, 0, piece.head, {});
    if (!sealed)
        return tl::unexpected<Error>(sealed.error());
    std::copy_n((*sealed)->first.begin() + piece.from, steps.size(), steps.begin());
    return steps;
}

}

/// A row on the way to its answer.
struct CapsuleReader::Finding {
    static constexpr int kDistances = 8;

    series::CellValue cell; ///< without a sample, what the step is: not collected, a gap, damaged
    CellState without = CellState::NotCollected;
    Step at { 0 }; ///< the step that is asked for, or the newest of a rank that has not come to it
    Step oldest { 0 }; ///< of its samples so far
    std::int64_t stride = 0;
    int distances = 0; ///< of which `stride` is the smallest
    bool hasSample = false;
    bool isPassedOver = false; ///< what lies beside it was collected after its newest sample
    bool isDone = false;

    /// Its newest sample, then those before it, which say how often it has one.
    void add(Step step)
    {
        if (hasSample) {
            const std::int64_t distance = oldest.value - step.value;
            stride = distances == 0 ? distance : std::min(stride, distance);
            ++distances;
        }
        hasSample = true;
        oldest = step;
        const std::int64_t age = at.value - cell.step.value;
        isDone = age <= 0 || distances == kDistances || (distances > 0 && stride <= age);
    }
    series::CellValue answer(Step asked) const
    {
        const std::int64_t age = at.value - cell.step.value;
        const bool stands = hasSample && (age <= 0 || (distances > 0 ? age < stride : !isPassedOver));
        series::CellValue none;
        none.state = without;
        none.step = asked;
        return stands ? cell : none;
    }
};

Expected<std::vector<series::CellValue>> CapsuleReader::readColumn(
    Step step, Stat stat, std::span<const series::RowAttempts> rows, bool nearest)
{
    if (auto ok = refreshNow(); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    std::vector<Finding> found(rows.size());
    const StepRange all { nearest ? Step { std::numeric_limits<std::int64_t>::min() / 4 } : step, step };
    auto units = unitsOf(rows, stat, all);
    const auto snapshot = ReadSnapshot::begin(m_statements);
    if (!snapshot)
        return tl::unexpected<Error>(snapshot.error());
    // Newest attempts first: an older one answers only for rows that these leave open.
    for (auto unit = units.rbegin(); unit != units.rend(); ++unit) {
        if (auto ok = readCells(std::move(*unit), step, found); !ok)
            return tl::unexpected<Error>(std::move(ok.error()));
    }
    std::vector<series::CellValue> cells;
    cells.reserve(found.size());
    for (const Finding& one : found)
        cells.push_back(one.answer(step));
    return cells;
}

Expected<void> CapsuleReader::readCells(RowUnit unit, Step step, std::vector<Finding>& found)
{
    m_home.check();
    const auto of
        = [&found](const RowUnit::Member& member) -> Finding& { return found[static_cast<std::size_t>(member.row)]; };
    const bool isGrowing = m_live && !m_live->closed;
    const Step at = std::min(step, isGrowing ? m_index.newestStep(unit.source).value_or(step) : step);
    bool isFirst = true;
    while (!unit.steps.isEmpty()) {
        std::erase_if(unit.members, [&of](const RowUnit::Member& member) { return of(member).isDone; });
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
            Finding& one = of(member);
            if (!isFirst || one.hasSample)
                continue;
            one.at = at;
            if (covers(planned->damaged, step)) {
                one.without = CellState::Damaged;
                one.isDone = true;
            } else if (covers(m_index.gaps(unit.source, unit.kind), step)) {
                one.without = CellState::Gap;
            }
        }
        isFirst = false;
        if (planned->pieces.empty())
            return {};
        const Piece& piece = planned->pieces.back();
        const auto steps = stepsOf(piece, *m_tiles, unit.tiles);
        if (!steps)
            return tl::unexpected<Error>(steps.error());
        for (const RowUnit::Member& member : unit.members) {
            if (of(member).isDone)
                continue;
            if (auto ok = fillCell(unit, piece, *steps, member.lane, of(member)); !ok)
                return ok;
        }
        unit.steps.last = Step { steps->front().value - 1 };
    }
    return {};
}

Expected<void> CapsuleReader::fillCell(
    const RowUnit& unit, const Piece& piece, std::span<const Step> steps, int lane, Finding& found)
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
    for (std::size_t i = steps.size(); i-- > 0 && !found.isDone;) {
        const int column = piece.begin() + static_cast<int>(i);
        if (block->count(LaneBlock::Samples, inner, column) == 0) {
            found.isPassedOver = found.isPassedOver || !found.hasSample;
            continue;
        }
        if (!found.hasSample) {
            const series::Sample sample = block->sample(inner, column);
            found.cell
                = { sample.finite ? sample.value : kNoValue, stateOf(sample), 0, 0, 0, sample.identity, steps[i] };
            if (unit.tiles.counts != 0 && (sample.nan || sample.posInf || sample.negInf)) {
                if (auto ok = readCounts(one, piece, inner, column, found.cell); !ok)
                    return ok;
            }
        }
        found.add(steps[i]);
    }
    return {};
}

Expected<void> CapsuleReader::readCounts(
    RowUnit unit, const Piece& piece, int inner, int column, series::CellValue& cell)
{
    for (const auto& [stat, count] : { std::pair { Stat::Nans, &cell.nans }, std::pair { Stat::PosInfs, &cell.posInfs },
             std::pair { Stat::NegInfs, &cell.negInfs } }) {
        unit.tiles.stat = stat;
        Piece place = piece;
        if (!piece.open) {
            const auto heads = m_tiles->heads(unit.tiles, 0, piece.head.firstColumn, piece.head.firstColumn + 1);
            if (!heads)
                return tl::unexpected<Error>(heads.error());
            if (heads->empty())
                continue;
            place.head = heads->front();
        }
        const auto counts = blocksOf(unit, place);
        if (!counts)
            return tl::unexpected<Error>(counts.error());
        if (const LaneBlock* values = counts->front().get(); values && inner < values->lanes())
            *count = static_cast<std::uint64_t>(std::max(0.0, values->number(LaneBlock::Min, inner, column)));
    }
    return {};
}

Expected<void> CapsuleReader::readRaw(const series::RowAttempts& row, Stat stat, StepRange range,
    const std::function<bool(const series::RawValue&)>& sink, std::vector<StepRange>* damaged)
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
        const auto goOn = readRaw(unit, sink, damaged);
        if (!goOn)
            return tl::unexpected<Error>(goOn.error());
        if (!*goOn)
            return {};
    }
    return {};
}

Expected<bool> CapsuleReader::readRaw(
    const RowUnit& unit, const std::function<bool(const series::RawValue&)>& sink, std::vector<StepRange>* damaged)
{
    ColumnPlanner planner(*m_tiles, unit.tiles, unit.open, series::PixelMap(unit.steps, 1), unit.steps, unit.subBlocks,
        ColumnPlanner::Depth::EverySample);
    auto planned = planner.make();
    if (!planned)
        return tl::unexpected<Error>(std::move(planned.error()));
    noteDamage(unit.tiles, planned->damaged);
    if (damaged)
        damaged->insert(damaged->end(), planned->damaged.begin(), planned->damaged.end());
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
