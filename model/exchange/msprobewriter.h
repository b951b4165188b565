// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>
#include <tuple>

#include <telltale/exchange/outputfile.h>
#include <telltale/exchange/runwriter.h>

namespace telltale::exchange {

/// A folder as msprobe's monitor leaves it: "Nov21_14-32-30-rank0-4e480051" with "grad_reduced_0-999.csv" in it,
/// columns as it has them, all digits. Later attempts of a rank are folders of a later second. Where series of a kind
/// have different statistics, those of others begin a file one step later in its name. Thread: one.
class MsprobeWriter final : public RunWriter {
public:
    MsprobeWriter(std::string folder, std::string runId)
        : m_folder(std::move(folder))
        , m_runId(std::move(runId))
    {
    }
    using RunWriter::write;
    Expected<void> write(
        const MeasuredTable& table, const std::vector<ValueBlock>& blocks, const StepTimes& times) override;
    Expected<void> flush() override;
    Expected<void> finish() override;

private:
    using Columns = std::vector<const ValueBlock*>;
    Expected<void> writeRows(const MeasuredTable& table, const std::vector<std::size_t>& rows, const Columns& columns,
        const StepTimes& times);
    Expected<OutputFile*> fileOf(const store::SourceInfo& source, const std::string& prefix, std::int64_t first,
        const std::string& header, const StepTimes& times);
    std::string folderOf(const store::SourceInfo& source, const StepTimes& times) const;

    std::string m_folder;
    std::string m_runId;
    std::map<std::tuple<SourceId, std::string, std::int64_t>, std::map<std::string, OutputFile>>
        m_open; ///< by source, prefix and first step; then by header
};

}
