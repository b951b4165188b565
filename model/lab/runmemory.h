// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include <telltale/store/runreader.h>

namespace telltale::lab {

/// What was read of a run, so that it is judged again without reading: rules that move change nothing of it. What does
/// not fit is read each time. Thread: any; queries of several threads share one.
class RunMemory {
public:
    static constexpr std::size_t kMostBytes = 192u << 20; ///< 38 M samples

    std::size_t bytes() const;
    /// False: what did not fit is read again by every replay.
    bool isWhole() const;

private:
    friend class RememberingReader;
    using Rows = std::vector<series::RowAttempts>;
    struct Columns {
        std::shared_ptr<const store::Catalog> catalog;
        std::vector<Rows> rows; ///< that were asked for, each list once
        std::map<std::tuple<std::size_t, Stat, std::int64_t, std::int64_t>, std::shared_ptr<const series::HeatResult>>
            heats; ///< rows, statistic, first and last step
        std::map<std::tuple<std::size_t, Stat, std::int64_t, bool>, std::vector<series::CellValue>> cells;
    };

    /// Drops everything where the run has become another one since.
    std::shared_ptr<const store::Catalog> takeCatalog(std::shared_ptr<const store::Catalog> catalog);
    std::size_t placeOf(std::span<const series::RowAttempts> rows); ///< call with the lock
    bool reserve(std::size_t bytes); ///< call with the lock

    mutable std::mutex m_mutex;
    Columns m_columns;
    std::size_t m_bytes = 0;
    bool m_isWhole = true;
};

/// Answers what a memory has, and reads and keeps what it has not. Thread: its reader's.
class RememberingReader final : public store::RunReader {
public:
    RememberingReader(store::RunReader& reader, RunMemory& memory);

    Expected<std::shared_ptr<const store::Catalog>> catalog() override;
    Expected<store::LogPage> log(store::LogCursor after, const store::LogFilter& filter, std::size_t limit) override;
    Expected<series::CurveResult> curve(const series::CurveQuery& query, const series::CancelToken& cancel) override;
    Expected<series::HeatResult> heatmap(const series::HeatQuery& query, const series::CancelToken& cancel) override;
    Expected<std::vector<series::CellValue>> column(
        Step step, Stat stat, std::span<const series::RowAttempts> rows, bool nearest) override;
    Expected<void> raw(const series::RowAttempts& row, Stat stat, StepRange range,
        const std::function<bool(const series::RawValue&)>& sink) override;
    Expected<std::string> blob(const std::string& kind, const std::string& name, Step step) override;
    Expected<std::vector<store::DocumentInfo>> documents(const std::string& kind, std::int64_t after) override;
    Expected<std::string> document(std::int64_t id) override;

private:
    store::RunReader& m_reader;
    RunMemory& m_memory;
    std::shared_ptr<const store::Catalog> m_catalog; ///< one for a whole replay
};

}
