// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/npywriter.h>

#include <algorithm>

#include <fmt/format.h>

#include <telltale/core/bytes.h>
#include <telltale/exchange/csvtext.h>
#include <telltale/exchange/msprobefolder.h>

namespace telltale::exchange {
namespace {

constexpr std::size_t kNpyHead = 128; ///< of every array, so that its shape can be written last

/// Version 1 of the format: magic, length of the dictionary, the dictionary padded by spaces.
std::string npyHead(const std::string& type, std::uint64_t rows, std::uint64_t columns)
{
    std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},{}), }}", type, rows,
        columns > 0 ? " " + std::to_string(columns) : std::string());
    std::string head("\x93NUMPY\x01\x00", 8);
    putLe(head, static_cast<std::uint16_t>(kNpyHead - 10));
    text.resize(kNpyHead - 11, ' ');
    return head + text + '\n';
}

}

Expected<std::string> NpyWriter::stemOf(const MeasuredTable& table)
{
    std::string& stem = m_stems[{ table.series.front()->id, table.series.size() }];
    if (!stem.empty())
        return stem;
    const std::string kind(kindName(table.kind));
    const std::string attempt = table.source->attempt == 0 ? "" : fmt::format("-attempt{}", table.source->attempt);
    stem = fmt::format("{}/rank{}{}/{}.{}", m_folder, table.source->rank.value, attempt, kind,
        m_numbers[{ table.source->id, kind }]++);
    auto list = OutputFile::create(stem + ".csv");
    if (!list)
        return tl::unexpected<Error>(std::move(list.error()));
    std::string text = "column,name,slot,micro_step,chunk,definition,shape,dtype\r\n";
    for (std::size_t i = 0; i < table.series.size(); ++i) {
        const store::SeriesInfo& series = *table.series[i];
        text += fmt::format("{},", i);
        appendCell(text, series.desc->name);
        text += ',';
        appendCell(text, series.desc->slot.text());
        text += fmt::format(",{},{},", series.desc->microStep, series.desc->vppStage);
        appendCell(text, series.desc->definition);
        text += fmt::format(
            ",\"[{}]\",{}\r\n", fmt::join(series.desc->shape, ", "), msprobeDTypeText(series.desc->dtype));
    }
    if (auto done = list->append(text); !done)
        return tl::unexpected<Error>(std::move(done.error()));
    m_lists.emplace(stem, std::move(*list));
    return stem;
}

Expected<NpyWriter::Array*> NpyWriter::arrayOf(const std::string& path, const char* type, std::uint64_t columns)
{
    if (const auto found = m_arrays.find(path); found != m_arrays.end())
        return &found->second;
    auto file = OutputFile::create(path);
    if (!file)
        return tl::unexpected<Error>(std::move(file.error()));
    if (auto done = file->append(npyHead(type, 0, columns)); !done)
        return tl::unexpected<Error>(std::move(done.error()));
    return &m_arrays.emplace(path, Array { std::move(*file), type, 0, columns }).first->second;
}

Expected<void> NpyWriter::append(
    const std::string& path, const char* type, std::uint64_t columns, std::string_view bytes, std::uint64_t rows)
{
    auto array = arrayOf(path, type, columns);
    if (!array)
        return tl::unexpected<Error>(std::move(array.error()));
    (*array)->rows += rows;
    return (*array)->file.append(bytes);
}

Expected<void> NpyWriter::write(
    const MeasuredTable& table, const std::vector<ValueBlock>& blocks, const StepTimes& /*times*/)
{
    // A step without any value of the table is no row.
    std::vector<Step> steps;
    for (Step step = blocks.empty() ? Step { 0 } : blocks.front().steps.first;
         !blocks.empty() && step <= blocks.front().steps.last; ++step.value) {
        const bool isThere = std::any_of(blocks.begin(), blocks.end(), [&](const ValueBlock& block) {
            for (std::size_t row = 0; row < table.series.size(); ++row) {
                if (block.hasValue(block.at(row, step)))
                    return true;
            }
            return false;
        });
        if (isThere)
            steps.push_back(step);
    }
    if (steps.empty())
        return {};
    const auto stem = stemOf(table);
    if (!stem)
        return tl::unexpected<Error>(stem.error());
    const std::uint64_t columns = table.series.size();
    std::string bytes;
    for (const Step step : steps)
        putLe(bytes, step.value);
    auto done = append(*stem + ".steps.npy", "<i8", 0, bytes, steps.size());
    for (const ValueBlock& block : blocks) {
        std::string there;
        bytes.clear();
        for (const Step step : steps) {
            for (std::size_t row = 0; row < columns; ++row) {
                const std::size_t at = block.at(row, step);
                const bool isThere = block.hasValue(at);
                there += static_cast<char>(isThere);
                if (!block.identities.empty())
                    putLe(bytes, isThere ? block.identities[at] : std::uint64_t { 0 });
                else
                    putLe(bytes, isThere ? block.shown(at) : 0.0);
                countValues(isThere ? 1 : 0);
            }
        }
        const std::string of = fmt::format("{}.{}", *stem, statName(block.stat));
        if (done)
            done = append(of + ".npy", block.identities.empty() ? "<f8" : "<u8", columns, bytes, steps.size());
        if (done)
            done = append(of + ".there.npy", "|b1", columns, there, steps.size());
    }
    return done;
}

Expected<void> NpyWriter::write(
    const MeasuredTable& table, std::span<const HistogramRow> rows, const StepTimes& /*times*/)
{
    const auto stem = stemOf(table);
    if (!stem)
        return tl::unexpected<Error>(stem.error());
    std::string bytes;
    if (!m_arrays.contains(*stem + ".edges.npy")) {
        for (const double edge : *table.edges)
            putLe(bytes, edge);
        if (auto done = append(*stem + ".edges.npy", "<f8", 0, bytes, table.edges->size()); !done)
            return done;
        bytes.clear();
    }
    std::uint64_t count = 0;
    for (const HistogramRow& row : rows) {
        const auto place = std::find(table.series.begin(), table.series.end(), row.series) - table.series.begin();
        for (const store::HistogramValue& value : row.steps) {
            if (std::any_of(value.counts.begin(), value.counts.end(), [](std::int64_t bin) { return bin < 0; })) {
                leaveOut("histograms of which a bin cannot be read");
                continue;
            }
            putLe(bytes, static_cast<std::int64_t>(place));
            putLe(bytes, value.step.value);
            for (const std::int64_t bin : value.counts)
                putLe(bytes, bin);
            ++count;
            countValues(1);
        }
    }
    return append(*stem + ".hist.npy", "<i8", table.edges->size() + 1, bytes, count);
}

Expected<void> NpyWriter::flush()
{
    for (auto& [path, array] : m_arrays) {
        auto done = array.file.rewrite(npyHead(array.type, array.rows, array.columns));
        if (!done)
            return done;
    }
    return {};
}

Expected<void> NpyWriter::finish()
{
    auto done = flush();
    for (auto& [path, array] : m_arrays) {
        if (done)
            done = array.file.keep();
        addFile(path);
    }
    for (auto& [stem, list] : m_lists) {
        if (done)
            done = list.keep();
        addFile(list.path());
    }
    return done;
}

}
