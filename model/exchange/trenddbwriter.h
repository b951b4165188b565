// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>

#include <telltale/exchange/runwriter.h>
#include <telltale/store/sqlite.h>

namespace telltale::exchange {

/// SQLite as msprobe's csv2db (8.2 to 8.3) and data2db (26) write it, each process's newest value of a step. Steps are
/// the run's own (data2db's `--micro_step false`). What a column cannot say is NULL (NaN) or clamped (26, as msprobe
/// has it), and named in leftOut(). Thread: one.
class TrendDbWriter final : public RunWriter {
public:
    enum class Schema { Csv2Db8, Data2Db26 };
    static Expected<std::unique_ptr<RunWriter>> create(const std::string& path, Schema schema);
    ~TrendDbWriter() override;

    using RunWriter::write;
    Expected<void> write(
        const MeasuredTable& table, const std::vector<ValueBlock>& blocks, const StepTimes& times) override;
    Expected<void> flush() override { return {}; }
    Expected<void> finish() override;

private:
    TrendDbWriter(std::string path, Schema schema)
        : m_path(std::move(path))
        , m_schema(schema)
    {
    }
    using Columns = std::vector<const ValueBlock*>;
    Expected<void> begin();
    Expected<void> writeRows(const MeasuredTable& table, const std::string& metric,
        const std::vector<std::size_t>& rows, const Columns& columns);
    Expected<std::int64_t> metricOf(const std::string& name, const Columns& columns);
    Expected<std::int64_t> targetOf(const store::SeriesInfo& series, const std::string& name, std::int64_t metric);
    Expected<std::string> tableOf(std::int64_t metric, std::int64_t step, const Columns& columns);
    Expected<void> finishStats();

    std::string m_path;
    Schema m_schema;
    store::Connection m_db;
    bool m_isKept = false, m_hasRows = false;
    std::int64_t m_minStep = 0, m_maxStep = 0, m_maxRank = 0;
    std::map<std::string, std::int64_t> m_metrics;
    std::map<std::int64_t, std::set<std::string>> m_stats; ///< of a metric
    std::map<std::tuple<std::string, int, int>, std::int64_t> m_targets;
    std::set<std::pair<std::int64_t, std::int64_t>> m_tagged;
    std::map<std::string, std::set<std::string>> m_tables; ///< their columns
};

}
