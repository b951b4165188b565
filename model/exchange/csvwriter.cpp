// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/csvwriter.h>

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include <telltale/core/histogram.h>
#include <telltale/exchange/csvtext.h>

namespace telltale::exchange {
namespace {

constexpr std::string_view kHead = "step,rank,attempt,kind,name,slot,micro_step,chunk,definition,stat,value\r\n";

/// What every line of one series and statistic has between its step and its value.
std::string middleOf(const MeasuredTable& table, const store::SeriesInfo& series, std::string_view stat)
{
    std::string text = fmt::format(",{},{},{},", table.source->rank.value, table.source->attempt, kindName(table.kind));
    appendCell(text, series.desc->name);
    text += ',';
    appendCell(text, series.desc->slot.text());
    text += fmt::format(",{},{},", series.desc->microStep, series.desc->vppStage);
    appendCell(text, series.desc->definition);
    text += ',';
    appendCell(text, stat);
    return text += ',';
}

void appendStep(std::string& out, Step step)
{
    std::array<char, 24> digits {};
    out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), step.value).ptr);
}

}

Expected<std::unique_ptr<RunWriter>> CsvRunWriter::create(const std::string& path)
{
    auto file = OutputFile::create(path);
    if (!file)
        return tl::unexpected<Error>(std::move(file.error()));
    if (auto done = file->append(kHead); !done)
        return tl::unexpected<Error>(std::move(done.error()));
    return std::unique_ptr<RunWriter>(new CsvRunWriter(std::move(*file)));
}

Expected<void> CsvRunWriter::write(
    const MeasuredTable& table, const std::vector<ValueBlock>& blocks, const StepTimes& /*times*/)
{
    std::string out;
    for (const ValueBlock& block : blocks) {
        for (std::size_t row = 0; row < table.series.size(); ++row) {
            const std::string middle = middleOf(table, *table.series[row], statName(block.stat));
            for (Step step = block.steps.first; step <= block.steps.last; ++step.value) {
                const std::size_t at = block.at(row, step);
                if (!block.hasValue(at))
                    continue;
                appendStep(out, step);
                out += middle;
                if (block.identities.empty())
                    appendNumber(out, block.shown(at));
                else
                    out += fmt::format("{:016x}", block.identities[at]);
                out += "\r\n";
                countValues(1);
            }
        }
    }
    return m_file.append(out);
}

Expected<void> CsvRunWriter::write(
    const MeasuredTable& table, std::span<const HistogramRow> rows, const StepTimes& /*times*/)
{
    std::string out;
    for (const HistogramRow& row : rows) {
        for (std::size_t bin = 0; bin + 1 < table.edges->size(); ++bin) {
            const std::string middle = middleOf(table, *row.series, "hist " + binText(*table.edges, bin));
            for (const store::HistogramValue& value : row.steps) {
                appendStep(out, value.step);
                out += middle;
                if (value.counts[bin] >= 0)
                    out += fmt::format("{}\r\n", value.counts[bin]);
                else
                    out += "\r\n";
            }
        }
        countValues(row.steps.size());
    }
    return m_file.append(out);
}

Expected<void> CsvRunWriter::finish()
{
    auto done = m_file.keep();
    addFile(m_file.path());
    return done;
}

}
