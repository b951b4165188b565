// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/exporter.h>

#include <algorithm>
#include <utility>

#include <telltale/exchange/foreignrun.h>
#include <telltale/series/rowindex.h>
#include <telltale/store/rowsof.h>

namespace telltale::exchange {
namespace {

constexpr std::int64_t kBlockSteps = 256; ///< a tile's
constexpr std::size_t kBlockSeries = 512;

std::int64_t blocksOf(StepRange steps)
{
    return (steps.count() + kBlockSteps - 1) / kBlockSteps;
}

}

Exporter::Exporter(store::RunReader& reader, Selection selection, RunWriter& writer, Progress progress)
    : m_reader(reader)
    , m_selection(std::move(selection))
    , m_writer(writer)
    , m_progress(std::move(progress))
{
}

Expected<void> Exporter::advance()
{
    const auto catalog = m_reader.catalog();
    if (!catalog)
        return tl::unexpected<Error>(catalog.error());
    std::map<SourceId, std::vector<MeasuredTable>> ofSource;
    for (MeasuredTable& table : chosenTables(**catalog, m_selection, kBlockSeries))
        ofSource[table.source->id].push_back(std::move(table));
    m_isLive = std::any_of((*catalog)->sources.begin(), (*catalog)->sources.end(),
        [](const store::SourceInfo& source) { return source.state == store::SourceState::Running; });
    m_done = m_all = 0;
    std::vector<std::pair<const store::SourceInfo*, StepRange>> work;
    for (const store::SourceInfo& source : (*catalog)->sources) {
        const auto of = ofSource.find(source.id);
        if (of == ofSource.end())
            continue;
        work.emplace_back(&source, stepsOf(source));
        m_all += static_cast<double>(blocksOf(work.back().second)) * static_cast<double>(of->second.size());
    }
    for (const auto& [source, steps] : work) {
        if (auto done = advance(**catalog, *source, ofSource[source->id], steps); !done)
            return done;
    }
    return m_writer.flush();
}

StepRange Exporter::stepsOf(const store::SourceInfo& source)
{
    const auto [at, isNew] = m_begun.try_emplace(source.id, Begun { source.firstStep, {}, false });
    StepRange steps { at->second.next, source.lastStep };
    if (source.state == store::SourceState::Running)
        --steps.last.value;
    return m_selection.wanted(steps);
}

Expected<void> Exporter::advance(const store::Catalog& catalog, const store::SourceInfo& source,
    std::span<const MeasuredTable> tables, StepRange steps)
{
    if (steps.isEmpty())
        return {};
    Begun& begun = m_begun[source.id];
    if (auto done = readTimes(catalog, source, steps); !done)
        return done;
    if (!std::exchange(begun.hasTexts, true)) {
        if (auto done = writeTexts(source, begun); !done)
            return done;
    }
    for (Step first = steps.first; first <= steps.last; first.value += kBlockSteps) {
        const StepRange block { first, Step { std::min(first.value + kBlockSteps - 1, steps.last.value) } };
        for (const MeasuredTable& table : tables) {
            if (m_progress && !m_progress(m_all > 0 ? m_done / m_all : 0))
                return failure(ErrorCode::Canceled, "the export was canceled");
            auto done
                = table.edges ? writeHistograms(table, block, begun.times) : writeBlocks(table, block, begun.times);
            if (!done)
                return done;
            ++m_done;
        }
        begun.next = Step { block.last.value + 1 };
    }
    return {};
}

Expected<void> Exporter::writeBlocks(const MeasuredTable& table, StepRange steps, const StepTimes& times)
{
    const auto blocks = readChosen(m_reader, table, m_selection, steps);
    if (!blocks)
        return tl::unexpected<Error>(blocks.error());
    return m_writer.write(table, *blocks, times);
}

Expected<void> Exporter::writeHistograms(const MeasuredTable& table, StepRange steps, const StepTimes& times)
{
    std::vector<HistogramRow> rows;
    for (const store::SeriesInfo* info : table.series) {
        auto found = store::readHistograms(m_reader, { info->id }, static_cast<int>(table.edges->size()) - 1, steps);
        if (!found)
            return tl::unexpected<Error>(std::move(found.error()));
        if (!found->empty())
            rows.push_back({ info, std::move(*found) });
    }
    return rows.empty() ? Expected<void>() : m_writer.write(table, rows, times);
}

Expected<void> Exporter::readTimes(const store::Catalog& catalog, const store::SourceInfo& source, StepRange steps)
{
    StepTimes& times = m_begun[source.id].times;
    times.createdNs = catalog.createdNs;
    const series::RowIndex& index = store::rowsOf(catalog);
    for (const series::RowIndex::Row* row : index.named(kWallTimeName)) {
        if (row->rank != source.rank)
            continue;
        auto read = m_reader.raw(row->attempts, Stat::Value, steps, [&times](const series::RawValue& value) {
            if (value.state == series::CellState::Value)
                times.ns[value.step] = static_cast<std::int64_t>(value.value);
            return true;
        });
        if (!read)
            return read;
    }
    return {};
}

Expected<void> Exporter::writeTexts(const store::SourceInfo& source, Begun& begun)
{
    const auto config = m_reader.blob("config", "config.json", source.firstStep);
    return config && !config->empty() ? m_writer.writeText(source, "config", *config, begun.times) : Expected<void>();
}

}
