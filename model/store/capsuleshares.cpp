// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/capsulereader.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include <telltale/core/numberformats.h>
#include <telltale/store/rowsof.h>

namespace telltale::store {

using series::CellState;

namespace {

/// A share where the statistics beside it are in some state. Without them one of the finite elements would pass for
/// that of all.
CellState marked(CellState share, CellState beside)
{
    const bool isShown = share >= CellState::Absent && !series::isNonFinite(share);
    return isShown && (beside == CellState::NaN || beside == CellState::Damaged) ? beside : share;
}

}

Expected<series::CurveResult> CapsuleReader::curve(const series::CurveQuery& query, const series::CancelToken& cancel)
{
    auto result = readCurve(query, cancel);
    if (result && isFormatShare(query.stat)) {
        if (auto ok = markNaN(query, *result, cancel); !ok)
            return tl::unexpected<Error>(std::move(ok.error()));
    }
    return result;
}

Expected<series::HeatResult> CapsuleReader::heatmap(const series::HeatQuery& query, const series::CancelToken& cancel)
{
    auto result = readHeat(query, cancel);
    if (result && isFormatShare(query.stat)) {
        if (auto ok = markNaN(query, *result, cancel); !ok)
            return tl::unexpected<Error>(std::move(ok.error()));
    }
    return result;
}

Expected<std::vector<series::CellValue>> CapsuleReader::column(
    Step step, Stat stat, std::span<const series::RowAttempts> rows, bool nearest)
{
    auto cells = readColumn(step, stat, rows, nearest);
    if (cells && isFormatShare(stat)) {
        if (auto ok = markNaN(step, rows, *cells); !ok)
            return tl::unexpected<Error>(std::move(ok.error()));
    }
    return cells;
}

Expected<void> CapsuleReader::raw(const series::RowAttempts& row, Stat stat, StepRange range,
    const std::function<bool(const series::RawValue&)>& sink)
{
    if (!isFormatShare(stat))
        return readRaw(row, stat, range, sink);
    std::vector<series::RawValue> values;
    auto read = readRaw(row, stat, range, [&values](const series::RawValue& value) {
        values.push_back(value);
        return true;
    });
    std::map<Step, CellState> known;
    std::vector<StepRange> damaged;
    for (const auto& [other, rows] : besides({ &row, 1 })) {
        if (!read)
            break;
        const auto note = [&known](const series::RawValue& value) {
            if (value.state >= CellState::Absent)
                known[value.step] = value.state;
            return true;
        };
        read = readRaw(rows.front(), other, range, note, &damaged);
    }
    if (!read)
        return read;
    for (series::RawValue& value : values) {
        const auto isHere = [&value](StepRange steps) { return steps.contains(value.step); };
        const auto beside = known.find(value.step);
        if (beside != known.end())
            value.state = marked(value.state, beside->second);
        else if (std::any_of(damaged.begin(), damaged.end(), isHere))
            value.state = marked(value.state, CellState::Damaged);
        if (value.state == CellState::Damaged)
            value.value = std::numeric_limits<double>::quiet_NaN();
        if (!sink(value))
            break;
    }
    return {};
}

std::map<Stat, std::vector<series::RowAttempts>> CapsuleReader::besides(std::span<const series::RowAttempts> rows) const
{
    std::map<Stat, std::vector<series::RowAttempts>> found;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Beside beside = rows[i].series.empty() ? Beside {} : m_index.statisticsBeside(rows[i].series.back());
        if (!beside.row)
            continue;
        auto& others = found[beside.stat];
        others.resize(rows.size());
        others[i] = beside.row->attempts;
    }
    return found;
}

Expected<void> CapsuleReader::markNaN(
    const series::CurveQuery& query, series::CurveResult& result, const series::CancelToken& cancel)
{
    for (auto& [stat, rows] : besides({ &query.row, 1 })) {
        const auto other = readCurve({ std::move(rows.front()), stat, query.range, query.pixels }, cancel);
        if (!other)
            return tl::unexpected<Error>(other.error());
        for (std::size_t i = 0; i < result.buckets.size(); ++i) {
            series::Bucket& bucket = result.buckets[i];
            const series::Bucket& beside = other->buckets[i];
            if (bucket.samples > 0 && beside.nans > 0) {
                bucket.nans = std::clamp(beside.nans, bucket.nans, bucket.samples);
                bucket.state = CellState::NaN;
            } else if (marked(bucket.state, beside.state) == CellState::Damaged) {
                bucket = {};
                bucket.state = CellState::Damaged;
            }
        }
    }
    return {};
}

Expected<void> CapsuleReader::markNaN(
    const series::HeatQuery& query, series::HeatResult& result, const series::CancelToken& cancel)
{
    series::HeatQuery asked { {}, Stat::Unspecified, query.range, query.pixels, nullptr, query.isScan };
    for (auto& [stat, rows] : besides(query.rows)) {
        asked.stat = stat;
        asked.rows = std::move(rows);
        const auto other = readHeat(asked, cancel);
        if (!other)
            return tl::unexpected<Error>(other.error());
        for (std::size_t i = 0; i < result.states.size(); ++i) {
            result.states[i] = marked(result.states[i], other->states[i]);
            if (result.states[i] == CellState::Damaged)
                result.values[i] = std::numeric_limits<float>::quiet_NaN();
        }
    }
    float min = std::numeric_limits<float>::infinity();
    float max = -min;
    for (std::size_t i = 0; i < result.states.size(); ++i) {
        if (result.states[i] != CellState::Value)
            continue;
        min = std::min(min, result.values[i]);
        max = std::max(max, result.values[i]);
    }
    result.min = min <= max ? min : 0;
    result.max = min <= max ? max : 0;
    return {};
}

Expected<void> CapsuleReader::markNaN(
    Step asked, std::span<const series::RowAttempts> rows, std::vector<series::CellValue>& cells)
{
    for (const auto& [stat, others] : besides(rows)) {
        std::map<Step, std::vector<std::size_t>> places; // cells may be of different steps
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (cells[i].state >= CellState::Absent && !others[i].series.empty())
                places[cells[i].step].push_back(i);
        }
        for (const auto& [step, wanted] : places) {
            std::vector<series::RowAttempts> chosen;
            chosen.reserve(wanted.size());
            for (const std::size_t place : wanted)
                chosen.push_back(others[place]);
            const auto beside = readColumn(step, stat, chosen, false);
            if (!beside)
                return tl::unexpected<Error>(beside.error());
            for (std::size_t i = 0; i < wanted.size(); ++i) {
                series::CellValue& cell = cells[wanted[i]];
                cell.state = marked(cell.state, (*beside)[i].state);
                if (cell.state == CellState::Damaged)
                    cell = { .state = cell.state, .step = asked };
                else if (cell.state == CellState::NaN)
                    cell.nans = (*beside)[i].nans;
            }
        }
    }
    return {};
}

}
