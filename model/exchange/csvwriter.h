// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include <telltale/exchange/outputfile.h>
#include <telltale/exchange/runwriter.h>

namespace telltale::exchange {

/// One file with a line a value: step, rank, attempt, kind, name, slot, micro_step, chunk, definition, stat, value.
/// Values have all their digits, NaN and infinities are words, a checksum is 16 hexadecimal digits, a histogram is a
/// line for each of its bins, whose stat says its edges. Thread: one.
class CsvRunWriter final : public RunWriter {
public:
    static Expected<std::unique_ptr<RunWriter>> create(const std::string& path);

    Expected<void> write(
        const MeasuredTable& table, const std::vector<ValueBlock>& blocks, const StepTimes& times) override;
    Expected<void> write(
        const MeasuredTable& table, std::span<const HistogramRow> rows, const StepTimes& times) override;
    Expected<void> flush() override { return m_file.flush(); }
    Expected<void> finish() override;

private:
    explicit CsvRunWriter(OutputFile file)
        : m_file(std::move(file))
    {
    }
    OutputFile m_file;
};

}
