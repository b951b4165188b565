// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/series/query.h>
#include <telltale/store/catalog.h>
#include <telltale/store/runhandle.h>

namespace telltale::store {

constexpr std::size_t kLogPage = 2000; ///< records that are worth one turn of the gui's loop

/// Answers every question about one run in O(pixels), over sealed and open tiles alike: a live and an archived run are
/// the same thing to every view. Thread: query (each instance owned by one thread; never writes, never checkpoints).
class RunReader {
public:
    virtual ~RunReader() = default;

    /// The directory as it is now; the same object until something is added to it. No event or drop does.
    virtual Expected<std::shared_ptr<const Catalog>> catalog() = 0;
    /// What was added to the log behind `after`, at most `limit` records of each sort.
    virtual Expected<LogPage> log(LogCursor after, const LogFilter& filter = {}, std::size_t limit = kLogPage) = 0;
    /// `cancel` may be null. A canceled query fails with ErrorCode::Canceled.
    virtual Expected<series::CurveResult> curve(const series::CurveQuery& query, const series::CancelToken& cancel = {})
        = 0;
    virtual Expected<series::HeatResult> heatmap(const series::HeatQuery& query, const series::CancelToken& cancel = {})
        = 0;
    /// All rows at one step. When `nearest`, a row without a sample there answers with its newest one before it, as
    /// long as that stands: until one is due again by the smallest of the row's last distances between samples (routed
    /// experts have none in most steps), or after a single one until others beside it are collected. A rank of a live
    /// run that has not come to the step yet is taken as it is.
    virtual Expected<std::vector<series::CellValue>> column(
        Step step, Stat stat, std::span<const series::RowAttempts> rows, bool nearest = false)
        = 0;
    /// Every stored sample in the range, for export and `telltale show`. `sink` returns false to stop.
    virtual Expected<void> raw(const series::RowAttempts& row, Stat stat, StepRange range,
        const std::function<bool(const series::RawValue&)>& sink)
        = 0;
    /// A stored blob (stack text, structure, config), newest of that kind and name at or before `step`.
    virtual Expected<std::string> blob(const std::string& kind, const std::string& name, Step step) = 0;
    /// Every stored document of a kind that is whole and newer than the one of id `after`, in the order in which they
    /// came. All of them, asked for again, cost what is new.
    virtual Expected<std::vector<DocumentInfo>> documents(const std::string& kind, std::int64_t after = 0) = 0;
    /// The bytes of one of them.
    virtual Expected<std::string> document(std::int64_t id) = 0;
};

/// The whole log at once, by LogRecord::placeNs(), with what is unaccounted for: for reports, not for views.
Expected<std::vector<LogRecord>> readWholeLog(RunReader& reader, const LogFilter& filter = {});

/// A step of a histogram. A bin that could not be read is -1.
struct HistogramValue {
    Step step;
    std::vector<std::int64_t> counts;
};
/// Every stored step of a row of histograms with so many bins, as RunReader::raw.
Expected<std::vector<HistogramValue>> readHistograms(
    RunReader& reader, series::RowAttempts row, int bins, StepRange range);

/// Opens a capsule read-only, whatever its state: live (WAL), archived, in a folder that cannot be written (immutable),
/// damaged (what can be read is; Catalog::damage says what is lost). Newer format: ErrorCode::Newer. `live` may be
/// null.
Expected<std::unique_ptr<RunReader>> openReader(const RunHandle& run);

}
