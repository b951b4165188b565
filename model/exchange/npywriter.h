// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>
#include <tuple>

#include <telltale/exchange/outputfile.h>
#include <telltale/exchange/runwriter.h>

namespace telltale::exchange {

/// A folder for numpy.load: "rank0/grad_reduced.0.norm.npy" is [steps, series] of a table, float64 (counts and
/// checksums uint64), "grad_reduced.0.norm.there.npy" says which cells were measured, "grad_reduced.0.steps.npy" the
/// steps, and "grad_reduced.0.csv" the series, a line a column. Histograms: [rows, 2 + bins] of series, step and
/// counts, with
/// "...edges.npy". Later attempts of a rank: "rank0-attempt1". Thread: one.
class NpyWriter final : public RunWriter {
public:
    explicit NpyWriter(std::string folder)
        : m_folder(std::move(folder))
    {
    }
    Expected<void> write(
        const MeasuredTable& table, const std::vector<ValueBlock>& blocks, const StepTimes& times) override;
    Expected<void> write(
        const MeasuredTable& table, std::span<const HistogramRow> rows, const StepTimes& times) override;
    Expected<void> flush() override;
    Expected<void> finish() override;

private:
    /// One array that grows by rows; its head is written again at the end.
    struct Array {
        OutputFile file;
        std::string type; ///< "<f8"
        std::uint64_t rows = 0;
        std::uint64_t columns = 0; ///< 0: it has one dimension
    };
    Expected<std::string> stemOf(const MeasuredTable& table);
    Expected<Array*> arrayOf(const std::string& path, const char* type, std::uint64_t columns);
    Expected<void> append(
        const std::string& path, const char* type, std::uint64_t columns, std::string_view bytes, std::uint64_t rows);

    std::string m_folder;
    std::map<std::pair<SeriesId, std::size_t>, std::string> m_stems; ///< by a table's first series, and how many
    std::map<std::pair<SourceId, std::string>, int> m_numbers; ///< of a source's tables of a kind
    std::map<std::string, Array> m_arrays;
    std::map<std::string, OutputFile> m_lists;
};

}
