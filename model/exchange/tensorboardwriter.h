// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <telltale/exchange/eventfile.h>
#include <telltale/exchange/outputfile.h>
#include <telltale/exchange/runwriter.h>
#include <telltale/exchange/tensorboardtags.h>

namespace telltale::exchange {

/// A folder for `tensorboard --logdir`: each rank is a run of its own there ("rank0"; later attempts "rank0-attempt1"),
/// with one event file. Scalars are float32, NaN and infinities among them; the counts of bins are histograms; the
/// config is a text. Checksums and numbers that a float32 does not hold are named in leftOut(). Thread: one.
class TensorBoardWriter final : public RunWriter {
public:
    /// `runId` becomes a part of the files' names, so that a run is written into a folder once.
    TensorBoardWriter(std::string folder, std::string runId, TagStyle style);

    Expected<void> write(
        const MeasuredTable& table, const std::vector<ValueBlock>& blocks, const StepTimes& times) override;
    Expected<void> write(
        const MeasuredTable& table, std::span<const HistogramRow> rows, const StepTimes& times) override;
    Expected<void> writeText(const store::SourceInfo& source, const std::string& tag, const std::string& text,
        const StepTimes& times) override;
    Expected<void> flush() override;
    Expected<void> finish() override;

private:
    Expected<OutputFile*> fileOf(const store::SourceInfo& source, const StepTimes& times);
    /// Fills m_values and m_isThere. How many of them a float32 does not hold.
    std::uint64_t turn(const std::vector<const ValueBlock*>& blocks, std::size_t rows, StepRange steps);
    ScalarEvent& eventOf(const MeasuredTable& table, const std::vector<const ValueBlock*>& blocks);

    std::string m_folder;
    std::string m_runId;
    TensorBoardTags m_tags;
    std::map<SourceId, OutputFile> m_open;
    std::map<std::pair<SeriesId, std::size_t>, ScalarEvent>
        m_events; ///< by a table's first series, and how many it has
    std::vector<float> m_values; ///< of a few steps, one after the other: what the event of each takes
    std::vector<std::uint8_t> m_isThere; ///< which of them there are
    std::string m_out; ///< records that are not in the file yet
};

}
