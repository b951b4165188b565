// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/tensorboardwriter.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace telltale::exchange {
namespace {

/// Written at once: what fits a cache costs no fresh pages.
constexpr std::size_t kPartBytes = 256u << 10;
/// A block has the steps of a row side by side, an event the rows of a step: so many steps at once use whole lines of
/// cache.
constexpr std::int64_t kTurnedSteps = 32;

double seconds(std::int64_t ns)
{
    return static_cast<double>(ns) * 1e-9;
}

/// Upper ends of the bins, the open ones closed: TensorBoard draws no infinity.
struct ClosedEdges {
    std::vector<double> limits;
    double least = 0;

    explicit ClosedEdges(const std::vector<double>& edges)
        : limits(edges.begin() + 1, edges.end())
        , least(edges.front())
    {
        if (!std::isfinite(least))
            least = std::isfinite(limits.front()) ? limits.front() - std::fabs(limits.front()) : 0;
        if (limits.size() > 1 && !std::isfinite(limits.back()))
            limits.back() = limits[limits.size() - 2] + std::fabs(limits[limits.size() - 2]);
    }
};

}

TensorBoardWriter::TensorBoardWriter(std::string folder, std::string runId, TagStyle style)
    : m_folder(std::move(folder))
    , m_runId(std::move(runId))
    , m_tags(style)
{
}

Expected<OutputFile*> TensorBoardWriter::fileOf(const store::SourceInfo& source, const StepTimes& times)
{
    if (const auto open = m_open.find(source.id); open != m_open.end())
        return &open->second;
    const std::string attempt = source.attempt == 0 ? std::string() : fmt::format("-attempt{}", source.attempt);
    auto file = OutputFile::create(fmt::format("{}/rank{}{}/events.out.tfevents.{:010}.telltale.{}", m_folder,
        source.rank.value, attempt, times.createdNs / 1'000'000'000, m_runId));
    if (!file)
        return tl::unexpected<Error>(std::move(file.error()));
    if (auto done = file->append(firstRecord(seconds(times.createdNs))); !done)
        return tl::unexpected<Error>(std::move(done.error()));
    return &m_open.emplace(source.id, std::move(*file)).first->second;
}

ScalarEvent& TensorBoardWriter::eventOf(const MeasuredTable& table, const std::vector<const ValueBlock*>& blocks)
{
    ScalarEvent& event = m_events[{ table.series.front()->id, table.series.size() }];
    if (event.isEmpty()) {
        std::vector<std::string> tags;
        for (const ValueBlock* block : blocks) {
            for (const store::SeriesInfo* series : table.series)
                tags.push_back(m_tags.of(*series, table.source->rank, block->stat));
        }
        event = ScalarEvent(tags);
    }
    return event;
}

Expected<void> TensorBoardWriter::write(
    const MeasuredTable& table, const std::vector<ValueBlock>& told, const StepTimes& times)
{
    std::vector<const ValueBlock*> blocks;
    for (const ValueBlock& block : told) {
        if (isIdentity(block.stat))
            leaveOut("checksums, which are no numbers to be drawn",
                static_cast<std::uint64_t>(std::count_if(block.states.begin(), block.states.end(),
                    [](series::CellState state) { return state == series::CellState::Value; })));
        else
            blocks.push_back(&block);
    }
    if (blocks.empty() || std::none_of(blocks.begin(), blocks.end(), [](const auto* block) { return block->hasAny(); }))
        return {};
    auto file = fileOf(*table.source, times);
    if (!file)
        return tl::unexpected<Error>(std::move(file.error()));
    ScalarEvent& event = eventOf(table, blocks);
    const StepRange all = blocks.front()->steps;
    const std::size_t rows = table.series.size(), tags = blocks.size() * rows;
    std::uint64_t rounded = 0;
    m_out.clear();
    for (Step first = all.first; first <= all.last; first.value += kTurnedSteps) {
        const StepRange steps { first, Step { std::min(first.value + kTurnedSteps - 1, all.last.value) } };
        rounded += turn(blocks, rows, steps);
        for (Step step = first; step <= steps.last; ++step.value) {
            const auto at = static_cast<std::size_t>(step.value - first.value) * tags;
            event.set(std::span(m_values).subspan(at, tags), std::span(m_isThere).subspan(at, tags));
            countValues(event.appendTo(m_out, seconds(times.at(step)), step));
            if (m_out.size() < kPartBytes)
                continue;
            if (auto done = (*file)->append(m_out); !done)
                return done;
            m_out.clear();
        }
    }
    if (rounded > 0)
        leaveOut("digits beyond a float32's, which is all that a scalar has there", rounded);
    return (*file)->append(m_out);
}

std::uint64_t TensorBoardWriter::turn(const std::vector<const ValueBlock*>& blocks, std::size_t rows, StepRange steps)
{
    const auto count = static_cast<std::size_t>(steps.count());
    const std::size_t tags = blocks.size() * rows;
    m_values.resize(count * tags);
    m_isThere.resize(count * tags);
    std::uint64_t rounded = 0;
    std::size_t tag = 0;
    for (const ValueBlock* block : blocks) {
        for (std::size_t row = 0; row < rows; ++row, ++tag) {
            const std::size_t from = block->at(row, steps.first);
            for (std::size_t i = 0; i < count; ++i) {
                const double value = block->shown(from + i);
                const auto narrow = static_cast<float>(value);
                rounded += static_cast<std::uint64_t>(block->states[from + i] == series::CellState::Value
                    && static_cast<double>(narrow)
                        != value); // NOLINT(clang-diagnostic-float-equal): are its digits kept
                m_values[i * tags + tag] = narrow;
                m_isThere[i * tags + tag] = block->hasValue(from + i) ? 1 : 0;
            }
        }
    }
    return rounded;
}

Expected<void> TensorBoardWriter::write(
    const MeasuredTable& table, std::span<const HistogramRow> rows, const StepTimes& times)
{
    auto file = fileOf(*table.source, times);
    if (!file)
        return tl::unexpected<Error>(std::move(file.error()));
    const ClosedEdges edges(*table.edges);
    std::vector<double> counts;
    std::string out;
    for (const HistogramRow& row : rows) {
        const std::string tag = m_tags.of(*row.series, table.source->rank, Stat::Hist);
        for (const store::HistogramValue& value : row.steps) {
            if (std::any_of(value.counts.begin(), value.counts.end(), [](std::int64_t count) { return count < 0; })) {
                leaveOut("histograms of which a bin cannot be read");
                continue;
            }
            counts.assign(value.counts.begin(), value.counts.end());
            appendHistogram(out, { tag, edges.least, edges.limits.back(), edges.limits, counts },
                seconds(times.at(value.step)), value.step);
            countValues(1);
        }
    }
    return (*file)->append(out);
}

Expected<void> TensorBoardWriter::writeText(
    const store::SourceInfo& source, const std::string& tag, const std::string& text, const StepTimes& times)
{
    auto file = fileOf(source, times);
    if (!file)
        return tl::unexpected<Error>(std::move(file.error()));
    std::string out;
    appendText(out, tag, text, seconds(times.createdNs));
    return (*file)->append(out);
}

Expected<void> TensorBoardWriter::flush()
{
    for (auto& [source, file] : m_open) {
        if (auto done = file.flush(); !done)
            return done;
    }
    return {};
}

Expected<void> TensorBoardWriter::finish()
{
    for (auto& [source, file] : m_open) {
        if (auto done = file.keep(); !done)
            return done;
        addFile(file.path());
    }
    m_open.clear();
    return {};
}

}
