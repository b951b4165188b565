// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/msprobewriter.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

#include <telltale/exchange/csvtext.h>
#include <telltale/exchange/msprobefolder.h>
#include <telltale/exchange/msprobewords.h>

namespace telltale::exchange {
namespace {

constexpr std::int64_t kStepsPerFile = 1000;
constexpr std::int64_t kShanghai = 8 * 3600; ///< msprobe's clock, wherever it runs
constexpr Stat kOfOneNumber[] { Stat::Norm, Stat::Min, Stat::Max, Stat::Mean, Stat::Zeros, Stat::Nans };

void appendMsprobeNumber(std::string& out, double value)
{
    if (std::isnan(value))
        out += "nan";
    else if (std::isinf(value))
        out += value > 0 ? "inf" : "-inf";
    else
        appendNumber(out, value);
}

/// What msprobe's statistics of a direction are: those of a tensor with that one number.
double ofOneNumber(Stat stat, double value)
{
    return stat == Stat::Norm ? std::fabs(value)
        : stat == Stat::Zeros ? (std::fabs(value) < 1e-8 ? 1 : 0)
        : stat == Stat::Nans  ? (std::isnan(value) ? 1 : 0)
                              : value;
}

std::string shapeText(const store::SeriesInfo& series)
{
    if (series.kind == Kind::MgDirection)
        return "[]";
    if (series.kind == Kind::Comm && series.desc->shape.empty())
        return "nan";
    std::string text = "[";
    for (const std::int64_t size : series.desc->shape)
        text += (text.size() > 1 ? ", " : "") + std::to_string(size);
    return text + ']';
}

}

std::string MsprobeWriter::folderOf(const store::SourceInfo& source, const StepTimes& times) const
{
    const std::time_t at = times.createdNs / 1'000'000'000 + kShanghai + source.attempt;
    std::tm parts {};
    gmtime_r(&at, &parts);
    constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
    return fmt::format("{}/{}{:02}_{:02}-{:02}-{:02}-rank{}-{:.8}", m_folder,
        kMonths.substr(static_cast<std::size_t>(parts.tm_mon) * 3, 3), parts.tm_mday, parts.tm_hour, parts.tm_min,
        parts.tm_sec, source.rank.value, m_runId);
}

Expected<OutputFile*> MsprobeWriter::fileOf(const store::SourceInfo& source, const std::string& prefix,
    std::int64_t first, const std::string& header, const StepTimes& times)
{
    auto& files = m_open[{ source.id, prefix, first }];
    if (const auto found = files.find(header); found != files.end())
        return &found->second;
    const auto begin = first + static_cast<std::int64_t>(files.size());
    auto file = OutputFile::create(
        fmt::format("{}/{}_{}-{}.csv", folderOf(source, times), prefix, begin, first + kStepsPerFile - 1));
    if (!file)
        return tl::unexpected<Error>(std::move(file.error()));
    if (auto done = file->append(header); !done)
        return tl::unexpected<Error>(std::move(done.error()));
    return &files.emplace(header, std::move(*file)).first->second;
}

Expected<void> MsprobeWriter::writeRows(
    const MeasuredTable& table, const std::vector<std::size_t>& rows, const Columns& columns, const StepTimes& times)
{
    const bool isDirection = table.kind == Kind::MgDirection && columns.front()->stat == Stat::Agreement;
    const MsprobeRowWords words = msprobeRowWords(*table.series[rows.front()], columns.front()->stat);
    std::string header = "vpp_stage,name,step";
    header += words.hasMicroStep ? ",micro_step" : "";
    if (isDirection) {
        for (const Stat stat : kOfOneNumber)
            header += fmt::format(",{}", statName(stat));
    } else {
        for (const ValueBlock* column : columns)
            header += ',' + msprobeColumn(table.kind, column->stat);
    }
    header += words.isFixed ? "\n" : ",shape,dtype\n";
    std::vector<std::string> fronts, ends;
    for (const std::size_t row : rows) {
        const store::SeriesInfo& series = *table.series[row];
        fronts.push_back(fmt::format("{},", series.desc->vppStage));
        appendCell(fronts.back(), msprobeRowWords(series, columns.front()->stat).name);
        fronts.back() += ',';
        std::string end;
        if (!words.isFixed) {
            end += ',';
            appendCell(end, shapeText(series));
            end += ',' + (series.kind == Kind::MgDirection ? "torch.float32" : msprobeDTypeText(series.desc->dtype));
        }
        ends.push_back(end + '\n');
    }
    const StepRange steps = columns.front()->steps;
    std::string out;
    for (Step step = steps.first; step <= steps.last; ++step.value) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const std::size_t at = columns.front()->at(rows[i], step);
            const bool isThere = std::any_of(
                columns.begin(), columns.end(), [at](const ValueBlock* column) { return column->hasValue(at); });
            if (!isThere)
                continue;
            out += fronts[i];
            fmt::format_to(std::back_inserter(out), "{}", step.value);
            if (words.hasMicroStep)
                fmt::format_to(std::back_inserter(out), ",{}", std::max(table.series[rows[i]]->desc->microStep, 0));
            for (const ValueBlock* column : columns) {
                if (isDirection) {
                    for (const Stat stat : kOfOneNumber) {
                        out += ',';
                        appendMsprobeNumber(out, ofOneNumber(stat, column->shown(at)));
                    }
                    continue;
                }
                out += ',';
                if (!column->hasValue(at))
                    out += "nan";
                else if (!column->identities.empty())
                    fmt::format_to(std::back_inserter(out), "{:016x}", column->identities[at]);
                else if (isWhole(column->stat) && column->states[at] == series::CellState::Value)
                    fmt::format_to(std::back_inserter(out), "{:.0f}", column->value(at));
                else
                    appendMsprobeNumber(out, column->shown(at));
                countValues(column->hasValue(at) ? 1 : 0);
            }
            out += ends[i];
        }
        const bool isFileFull = (step.value + 1) % kStepsPerFile == 0;
        if ((isFileFull || step == steps.last) && !out.empty()) {
            const std::int64_t number
                = step.value >= 0 ? step.value / kStepsPerFile : -((-step.value + kStepsPerFile - 1) / kStepsPerFile);
            auto file = fileOf(*table.source, words.prefix, number * kStepsPerFile, header, times);
            if (!file)
                return tl::unexpected<Error>(std::move(file.error()));
            if (auto done = (*file)->append(out); !done)
                return done;
            out.clear();
        }
    }
    return {};
}

Expected<void> MsprobeWriter::write(
    const MeasuredTable& table, const std::vector<ValueBlock>& blocks, const StepTimes& times)
{
    // Series of one file and the same columns together; a router's statistics have a file each.
    std::map<std::tuple<std::string, bool>, std::pair<std::vector<std::size_t>, Columns>> files;
    for (const ValueBlock& block : blocks) {
        if (!block.hasAny())
            continue;
        std::uint64_t without = 0;
        for (std::size_t row = 0; row < table.series.size(); ++row) {
            const MsprobeRowWords words = msprobeRowWords(*table.series[row], block.stat);
            if (words.prefix.empty()) {
                ++without;
                continue;
            }
            auto& [rows, columns] = files[{ words.prefix, words.hasMicroStep }];
            if (rows.empty() || rows.back() < row)
                rows.push_back(row);
            if (columns.empty() || columns.back() != &block)
                columns.push_back(&block);
        }
        if (without > 0)
            leaveOut("kinds that msprobe has no file for", without);
    }
    const bool hasDefinitions = std::any_of(table.series.begin(), table.series.end(),
        [](const store::SeriesInfo* series) { return series->desc->definition.starts_with("F^2"); });
    if (hasDefinitions)
        leaveOut("by which definition a number was measured (of linear layers, routers and attention)");
    for (const auto& [key, file] : files) {
        if (auto done = writeRows(table, file.first, file.second, times); !done)
            return done;
    }
    return {};
}

Expected<void> MsprobeWriter::flush()
{
    for (auto& [key, files] : m_open) {
        for (auto& [header, file] : files) {
            if (auto done = file.flush(); !done)
                return done;
        }
    }
    return {};
}

Expected<void> MsprobeWriter::finish()
{
    for (auto& [key, files] : m_open) {
        for (auto& [header, file] : files) {
            if (auto done = file.keep(); !done)
                return done;
            addFile(file.path());
        }
    }
    m_open.clear();
    return {};
}

}
