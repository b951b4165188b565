// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <telltale/exchange/measuredtable.h>

namespace telltale::exchange {

/// When steps ended, in nanoseconds of Unix time, of one process; as far as it told.
struct StepTimes {
    std::map<Step, std::int64_t> ns;
    std::int64_t createdNs = 0; ///< of the run: what stands where nothing is known

    /// Of the step, or of the last one before it that is known.
    std::int64_t at(Step step) const
    {
        const auto after = ns.upper_bound(step);
        return after == ns.begin() ? createdNs : std::prev(after)->second;
    }
};

/// A row of histograms.
struct HistogramRow {
    const store::SeriesInfo* series = nullptr;
    std::vector<store::HistogramValue> steps;
};

/// One format that runs are written in: what an exporter reads comes in here, table after table, in steps that only
/// rise within a table. Nothing is at its place before finish(). Thread: one, whoever exports.
class RunWriter {
public:
    virtual ~RunWriter() = default;

    /// `blocks` are those of the table's statistics, over the same steps.
    virtual Expected<void> write(
        const MeasuredTable& table, const std::vector<ValueBlock>& blocks, const StepTimes& times)
        = 0;
    /// A format that has no place for histograms leaves them out.
    virtual Expected<void> write(
        const MeasuredTable& /*table*/, std::span<const HistogramRow> rows, const StepTimes& /*times*/)
    {
        for (const HistogramRow& row : rows)
            leaveOut("histograms", row.steps.size());
        return {};
    }
    /// A document about the run, as its process `source` told it: its config. A format that has no place for one leaves
    /// it out.
    virtual Expected<void> writeText(const store::SourceInfo& /*source*/, const std::string& /*tag*/,
        const std::string& /*text*/, const StepTimes& /*times*/)
    {
        leaveOut("configs and other documents of the run");
        return {};
    }
    /// Makes what came until now readable, for those who follow.
    virtual Expected<void> flush() = 0;
    /// Puts everything at its place. Without it nothing is left behind.
    virtual Expected<void> finish() = 0;

    std::uint64_t values() const { return m_values; } ///< written until now; a histogram is one
    const std::vector<std::string>& files() const { return m_files; } ///< that are at their places
    /// What of the run the format cannot say, and how often it was met: a sentence each.
    const std::map<std::string, std::uint64_t>& leftOut() const { return m_leftOut; }

protected:
    void leaveOut(const std::string& what, std::uint64_t count = 1) { m_leftOut[what] += count; }
    void countValues(std::uint64_t more) { m_values += more; }
    void addFile(std::string path) { m_files.push_back(std::move(path)); }

private:
    std::uint64_t m_values = 0;
    std::vector<std::string> m_files;
    std::map<std::string, std::uint64_t> m_leftOut;
};

}
