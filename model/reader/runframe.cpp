// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/reader/runframe.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <telltale/store/capsulereader.h>

namespace telltale::reader {
namespace {

using exchange::MeasuredTable;
using exchange::Selection;
using exchange::ValueBlock;
using series::CellState;

constexpr std::int64_t kPieceCells = 1 << 19; ///< of one statistic that are read at once

/// A part of the frame that is read by one reader in one go.
struct Piece {
    MeasuredTable table;
    StepRange steps;
    RunFrame read {}; ///< without tables
};

FrameColumn emptyColumn(Stat stat)
{
    FrameColumn column { stat, 1, {}, {} };
    if (isIdentity(stat) || isWhole(stat))
        column.values = std::vector<std::uint64_t>();
    else if (columnType(stat) != ColumnType::F32)
        column.values = std::vector<double>();
    return column;
}

/// Runs of other tools may have doubles where agents send floats.
bool isWiderThanFloats(const ValueBlock& block)
{
    return std::any_of(block.wide.begin(), block.wide.end(),
        [](double value) { return std::isfinite(value) && static_cast<double>(static_cast<float>(value)) != value; });
}

void widen(FrameColumn& column)
{
    if (const auto* floats = std::get_if<std::vector<float>>(&column.values))
        column.values = std::vector<double>(floats->begin(), floats->end());
}

/// Whether every cell of a row holds a finite value in every block.
bool isFull(const std::vector<ValueBlock>& blocks, std::size_t first, std::size_t cells)
{
    return std::all_of(blocks.begin(), blocks.end(), [&](const ValueBlock& block) {
        const CellState* states = block.states.data() + first;
        return std::all_of(states, states + cells, [](CellState state) { return state == CellState::Value; });
    });
}

template <typename To, typename From>
void appendRun(std::vector<To>& to, const std::vector<From>& from, std::size_t first, std::size_t cells)
{
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first);
    if constexpr (std::is_same_v<To, From>)
        to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(cells));
    else
        std::transform(begin, begin + static_cast<std::ptrdiff_t>(cells), std::back_inserter(to),
            [](From value) { return static_cast<To>(value); });
}

/// The cells of a row that is full.
void appendFull(FrameColumn& column, const ValueBlock& block, std::size_t first, std::size_t cells)
{
    std::visit(
        [&](auto& values) {
            if (!block.identities.empty())
                appendRun(values, block.identities, first, cells);
            else if (!block.wide.empty())
                appendRun(values, block.wide, first, cells);
            else
                appendRun(values, block.narrow, first, cells);
        },
        column.values);
}

/// One cell; `rows` are those before it.
void appendCell(FrameColumn& column, const ValueBlock& block, std::size_t at, std::size_t rows)
{
    const bool isThere = block.hasValue(at);
    std::visit(
        [&](auto& values) {
            using Value = typename std::decay_t<decltype(values)>::value_type;
            if (!isThere)
                values.push_back(std::is_floating_point_v<Value> ? std::numeric_limits<Value>::quiet_NaN() : Value {});
            else if (!block.identities.empty())
                values.push_back(static_cast<Value>(block.identities[at]));
            else
                values.push_back(static_cast<Value>(block.shown(at)));
        },
        column.values);
    if (!isThere && column.missing.empty())
        column.missing.assign(rows, 0);
    if (!column.missing.empty() || !isThere)
        column.missing.push_back(isThere ? 0 : 1);
}

Expected<void> read(store::RunReader& reader, const Selection& selection, Piece& piece)
{
    auto blocks = exchange::readChosen(reader, piece.table, selection, piece.steps);
    if (!blocks)
        return tl::unexpected<Error>(std::move(blocks.error()));
    RunFrame& out = piece.read;
    for (const ValueBlock& block : *blocks) {
        out.columns.push_back(emptyColumn(block.stat));
        if (isWiderThanFloats(block))
            widen(out.columns.back());
    }
    const auto cells = static_cast<std::size_t>(piece.steps.count());
    for (std::size_t place = 0; place < piece.table.series.size(); ++place) {
        const std::size_t first = place * cells;
        const std::size_t before = out.steps.size();
        if (isFull(*blocks, first, cells)) {
            for (std::size_t i = 0; i < cells; ++i)
                out.steps.push_back(piece.steps.first.value + static_cast<std::int64_t>(i));
            for (std::size_t i = 0; i < blocks->size(); ++i) {
                appendFull(out.columns[i], (*blocks)[i], first, cells);
                if (!out.columns[i].missing.empty())
                    out.columns[i].missing.resize(out.steps.size());
            }
        } else {
            for (std::size_t at = first; at < first + cells; ++at) {
                for (const ValueBlock& block : *blocks)
                    out.damaged += block.states[at] == CellState::Damaged ? 1 : 0;
                if (std::none_of(
                        blocks->begin(), blocks->end(), [at](const ValueBlock& block) { return block.hasValue(at); }))
                    continue;
                for (std::size_t i = 0; i < blocks->size(); ++i)
                    appendCell(out.columns[i], (*blocks)[i], at, out.steps.size());
                out.steps.push_back(piece.steps.first.value + static_cast<std::int64_t>(at - first));
            }
        }
        out.counts.push_back(out.steps.size() - before);
    }
    return {};
}

std::vector<Piece> piecesOf(const store::Catalog& catalog, const Selection& selection)
{
    std::vector<Piece> pieces;
    for (MeasuredTable& whole : exchange::chosenTables(catalog, selection)) {
        if (whole.edges)
            continue;
        const StepRange steps = selection.wanted({ whole.source->firstStep, whole.source->lastStep });
        if (steps.isEmpty())
            continue;
        const auto most = static_cast<std::size_t>(std::max<std::int64_t>(kPieceCells / steps.count(), 1));
        for (std::size_t first = 0; first < whole.series.size(); first += most) {
            Piece piece { { whole.source, whole.kind, whole.stats, nullptr, {} }, steps };
            const auto begin = whole.series.begin() + static_cast<std::ptrdiff_t>(first);
            const auto count = static_cast<std::ptrdiff_t>(std::min(most, whole.series.size() - first));
            piece.table.series.assign(begin, begin + count);
            pieces.push_back(std::move(piece));
        }
    }
    return pieces;
}

/// What a piece has of a column of the frame, at its place there.
void placeColumn(FrameColumn& to, FrameColumn* from, std::size_t row, std::size_t rows)
{
    std::visit(
        [&](auto& values) {
            using Values = std::decay_t<decltype(values)>;
            const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row);
            if (from && !std::holds_alternative<Values>(from->values))
                std::copy_n(std::get<std::vector<float>>(from->values).begin(), rows, begin);
            else if (from)
                std::copy_n(std::get<Values>(from->values).begin(), rows, begin);
            else if (std::is_floating_point_v<typename Values::value_type>)
                std::fill_n(begin, rows, std::numeric_limits<typename Values::value_type>::quiet_NaN());
        },
        to.values);
    const auto begin = to.missing.begin() + static_cast<std::ptrdiff_t>(row);
    if (!from)
        std::fill_n(begin, rows, std::uint8_t { 1 });
    else if (!from->missing.empty())
        std::copy_n(from->missing.begin(), rows, begin);
}

RunFrame joined(std::vector<Piece>& pieces)
{
    RunFrame whole;
    std::size_t rows = 0;
    std::vector<bool> hasMissing;
    for (Piece& piece : pieces) {
        rows += piece.read.steps.size();
        for (const FrameColumn& column : piece.read.columns) {
            auto found = std::find_if(whole.columns.begin(), whole.columns.end(),
                [&column](const FrameColumn& one) { return one.stat == column.stat; });
            if (found == whole.columns.end())
                found = whole.columns.insert(found, emptyColumn(column.stat));
            if (std::holds_alternative<std::vector<double>>(column.values))
                widen(*found);
        }
        whole.damaged += piece.read.damaged;
    }
    std::sort(whole.columns.begin(), whole.columns.end(),
        [](const FrameColumn& a, const FrameColumn& b) { return a.stat < b.stat; });
    whole.steps.reserve(rows);
    for (FrameColumn& column : whole.columns) {
        std::visit([rows](auto& values) { values.resize(rows); }, column.values);
        column.missing.resize(rows);
    }
    for (Piece& piece : pieces) {
        RunFrame& part = piece.read;
        for (FrameColumn& column : whole.columns) {
            const auto found = std::find_if(part.columns.begin(), part.columns.end(),
                [&column](const FrameColumn& one) { return one.stat == column.stat; });
            placeColumn(column, found == part.columns.end() ? nullptr : &*found, whole.steps.size(), part.steps.size());
        }
        whole.steps.insert(whole.steps.end(), part.steps.begin(), part.steps.end());
        whole.counts.insert(whole.counts.end(), part.counts.begin(), part.counts.end());
        whole.tables.push_back(std::move(piece.table));
        part = {};
    }
    for (FrameColumn& column : whole.columns) {
        if (std::none_of(column.missing.begin(), column.missing.end(), [](std::uint8_t one) { return one != 0; }))
            column.missing = {};
    }
    return whole;
}

}

Expected<RunFrame> readFrame(const store::RunHandle& run, std::shared_ptr<const store::Catalog> catalog,
    const Selection& selection, unsigned threads)
{
    std::vector<Piece> pieces = piecesOf(*catalog, selection);
    if (threads == 0)
        threads = std::max(std::thread::hardware_concurrency(), 1U);
    threads = static_cast<unsigned>(std::clamp<std::size_t>(pieces.size(), 1, threads));
    store::SharedReads shared;
    std::atomic<std::size_t> next { 0 };
    std::mutex mutex;
    std::optional<Error> trouble;
    const auto work = [&] {
        auto reader = store::openReader(run, shared);
        auto done = reader ? Expected<void>() : tl::unexpected(reader.error());
        for (std::size_t at = next++; done && at < pieces.size(); at = next++)
            done = read(**reader, selection, pieces[at]);
        if (!done) {
            const std::lock_guard lock(mutex);
            trouble = done.error();
            next = pieces.size();
        }
    };
    std::vector<std::thread> helpers;
    for (unsigned i = 1; i < threads; ++i)
        helpers.emplace_back(work);
    work();
    for (std::thread& helper : helpers)
        helper.join();
    if (trouble)
        return tl::unexpected(*trouble);
    RunFrame frame = joined(pieces);
    frame.catalog = std::move(catalog);
    return frame;
}

Expected<RunFrame> readHistogramFrame(
    store::RunReader& reader, std::shared_ptr<const store::Catalog> catalog, const Selection& selection)
{
    RunFrame frame;
    std::vector<std::int64_t> counts;
    for (MeasuredTable& table : exchange::chosenTables(*catalog, selection)) {
        if (!table.edges)
            continue;
        const StepRange steps = selection.wanted({ table.source->firstStep, table.source->lastStep });
        bool isOther = !frame.edges.empty() && frame.edges != *table.edges; // of another config, maybe at other steps
        if (!isOther)
            frame.edges = *table.edges;
        for (std::size_t i = 0; i < table.series.size(); ++i) {
            auto found = store::readHistograms(
                reader, { table.series[i]->id }, static_cast<int>(table.edges->size()) - 1, steps);
            if (!found)
                return tl::unexpected<Error>(std::move(found.error()));
            if (isOther && found->empty())
                continue;
            if (isOther && !counts.empty())
                return failure(ErrorCode::BadInput, "the histograms of this selection do not all have the same bins",
                    "choose one kind, or fewer modules or steps");
            if (isOther) { // the tables before it are empty
                isOther = false;
                frame = {};
                frame.edges = *table.edges;
                frame.counts.assign(i, 0);
            }
            for (const store::HistogramValue& value : *found) {
                frame.steps.push_back(value.step.value);
                counts.insert(counts.end(), value.counts.begin(), value.counts.end());
                frame.damaged += static_cast<std::uint64_t>(
                    std::count_if(value.counts.begin(), value.counts.end(), [](std::int64_t one) { return one < 0; }));
            }
            frame.counts.push_back(found->size());
        }
        if (isOther)
            continue;
        frame.tables.push_back(std::move(table));
    }
    frame.catalog = std::move(catalog);
    if (!frame.edges.empty())
        frame.columns.push_back({ Stat::Hist, frame.edges.size() - 1, std::move(counts), {} });
    return frame;
}

}
