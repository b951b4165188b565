// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/trenddbreader.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include <telltale/exchange/mappedfile.h>
#include <telltale/exchange/msproberows.h>
#include <telltale/store/sqlite.h>

namespace telltale::exchange {
namespace {

using store::Statement;

/// What data2db writes for infinities.
constexpr double kClampedInf = 1e9 + 1;

struct Target {
    std::string name;
    std::int32_t vppStage = 0;
    std::int32_t microStep = 0;
};

/// One database, read whole: tables of targets and metrics first, then the rows.
class TrendDb {
public:
    TrendDb(const std::string& path, ForeignRun& run, const ForeignReader::Progress& progress)
        : m_path(path)
        , m_run(run)
        , m_progress(progress)
    {
    }

    Expected<void> read()
    {
        auto db = store::openDatabase(m_path, store::OpenMode::Read);
        if (!db)
            return tl::unexpected<Error>(std::move(db.error()));
        m_db = std::move(*db);
        if (auto ok = readNames(); !ok)
            return ok;
        if (m_tables.contains("trend_data")) {
            m_isClamped = true;
            if (auto ok = readCollected26(); !ok)
                return ok;
            return readRows("trend_data", 0);
        }
        auto ok = store::forEachRow(m_db.get(), "SELECT metric_id, stat_name FROM metric_stats",
            [this](const Statement& row) { m_collected[row.integer(0)].insert(std::string(row.text(1))); });
        std::size_t done = 0;
        for (const std::string& table : m_tables) {
            if (!ok || !table.starts_with("metric_") || table.find("_step_") == std::string::npos)
                continue;
            ok = goOn(m_progress, static_cast<double>(done++) / static_cast<double>(m_tables.size()));
            if (ok)
                ok = readRows(table, std::strtoll(table.c_str() + 7, nullptr, 10));
        }
        return ok;
    }

private:
    Expected<void> readNames()
    {
        auto ok = store::forEachRow(m_db.get(), "SELECT name FROM sqlite_master WHERE type = 'table'",
            [this](const Statement& row) { m_tables.emplace(row.text(0)); });
        if (ok)
            ok = store::forEachRow(m_db.get(), "SELECT metric_id, metric_name FROM monitoring_metrics",
                [this](const Statement& row) { m_metrics[row.integer(0)] = std::string(row.text(1)); });
        if (ok)
            ok = store::forEachRow(m_db.get(),
                "SELECT target_id, target_name, vpp_stage, micro_step FROM monitoring_targets",
                [this](const Statement& row) {
                    m_targets[row.integer(0)] = { std::string(row.text(1)), static_cast<std::int32_t>(row.integer(2)),
                        static_cast<std::int32_t>(row.integer(3)) };
                    m_hasMicroSteps = m_hasMicroSteps || row.integer(3) > 0;
                });
        return ok;
    }

    /// global_stats has a column a metric, with the names of its statistics.
    Expected<void> readCollected26()
    {
        for (const auto& [id, name] : m_metrics) {
            std::string quoted;
            for (const char c : name)
                quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
            auto ok = store::forEachRow(
                m_db.get(), "SELECT \"" + quoted + "\" FROM global_stats", [&, id = id](const Statement& row) {
                    std::string_view words = row.text(0);
                    while (!words.empty()) {
                        const std::size_t comma = std::min(words.find(','), words.size());
                        m_collected[id].emplace(words.substr(0, comma));
                        words.remove_prefix(std::min(comma + 1, words.size()));
                    }
                });
            if (!ok)
                return ok;
        }
        return {};
    }

    Expected<void> readRows(const std::string& table, std::int64_t metric)
    {
        std::vector<std::string> columns;
        auto ok = store::forEachRow(m_db.get(), "SELECT name FROM pragma_table_info('" + table + "')",
            [&](const Statement& row) { columns.emplace_back(row.text(0)); });
        if (!ok)
            return ok;
        std::vector<std::pair<int, Stat>> stats;
        std::vector<std::string> words;
        int rank = -1, step = -1, target = -1, of = -1;
        for (int i = 0; i < static_cast<int>(columns.size()); ++i) {
            const std::string& name = columns[static_cast<std::size_t>(i)];
            int* const place = name == "rank" ? &rank
                : name == "step"              ? &step
                : name == "target_id"         ? &target
                : name == "metric_id"         ? &of
                                              : nullptr;
            if (place)
                *place = i;
            else if (const auto stat = msprobeStat(name))
                stats.emplace_back(i, *stat);
            else
                m_run.leaveOut("the column " + name.substr(0, 64) + " of the database");
        }
        if (rank < 0 || step < 0 || target < 0)
            return failure(ErrorCode::BadInput, m_path + ": its table " + table + " has no rank, step and target");
        std::size_t count = 0, strange = 0;
        ok = store::forEachRow(m_db.get(), "SELECT * FROM " + table, [&](const Statement& row) -> Expected<void> {
            if (++count % 65536 == 0) {
                if (auto on = goOn(m_progress, 0.5); !on)
                    return on;
            }
            const std::int64_t id = of >= 0 ? row.integer(of) : metric;
            ForeignSeries* const series = row.isInteger(rank) && row.isInteger(step)
                ? seriesOf(row.integer(rank), row.integer(target), id)
                : nullptr;
            if (!series) {
                ++strange;
                return {};
            }
            const auto& collected = m_collected[id];
            for (const auto& [column, stat] : stats) {
                const bool isNull = row.isNull(column);
                if (isNull && !collected.contains(columns[static_cast<std::size_t>(column)]))
                    continue;
                double value = isNull ? std::nan("") : row.real(column);
                if (m_isClamped && std::fabs(value) == kClampedInf)
                    value = std::copysign(std::numeric_limits<double>::infinity(), value);
                series->track(stat).add(row.integer(step), value);
            }
            return {};
        });
        if (strange > 0)
            m_run.noteDamage(m_path + ": " + std::to_string(strange) + " rows of " + table
                + " name no rank, step, target or kind that the database has");
        if (!ok && ok.error().code != ErrorCode::Canceled) {
            m_run.noteDamage(ok.error().sentence());
            return {};
        }
        return ok;
    }

    ForeignSeries* seriesOf(std::int64_t rank, std::int64_t targetId, std::int64_t metricId)
    {
        const auto [at, isNew] = m_known.try_emplace({ rank, targetId, metricId }, nullptr);
        if (!isNew)
            return at->second;
        const auto target = m_targets.find(targetId);
        const auto metric = m_metrics.find(metricId);
        if (target == m_targets.end() || metric == m_metrics.end() || rank < 0 || rank > 10'000'000)
            return nullptr;
        auto place = msprobePlace(metric->second, target->second.name, {}, true);
        if (!place)
            return nullptr;
        place->desc.vppStage = target->second.vppStage;
        const bool isByMicro = place->kind == Kind::Actv || place->kind == Kind::ActvGrad
            || target->second.microStep > 0 || (m_hasMicroSteps && place->kind == Kind::GradUnreduced);
        place->desc.microStep = isByMicro ? target->second.microStep : -1;
        const Rank of { static_cast<std::int32_t>(rank) };
        const auto [attempt, isFirst] = m_attempts.try_emplace(of, m_run.attemptsOf(of));
        ForeignProcess& process = m_run.process(of, attempt->second);
        process.framework = "msprobe";
        return at->second = &process.series(place->kind, place->desc);
    }

    std::string m_path;
    ForeignRun& m_run;
    const ForeignReader::Progress& m_progress;
    store::Connection m_db;
    bool m_isClamped = false, m_hasMicroSteps = false;
    std::set<std::string> m_tables;
    std::map<std::int64_t, std::string> m_metrics;
    std::map<std::int64_t, Target> m_targets;
    std::map<std::int64_t, std::set<std::string>> m_collected;
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, ForeignSeries*> m_known;
    std::map<Rank, int> m_attempts;
};

}

bool TrendDbReader::claims(const std::filesystem::path& path) const
{
    if (!headOf(path, 16).starts_with("SQLite format 3"))
        return false;
    const auto db = store::openDatabase(path.string(), store::OpenMode::Read);
    const auto tables = db ? store::queryInteger(db->get(),
                            "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN "
                            "('monitoring_targets', 'monitoring_metrics')")
                           : tl::unexpected(db.error());
    return tables && *tables == 2;
}

Expected<void> TrendDbReader::read(const std::filesystem::path& path, ForeignRun& run, const Progress& progress) const
{
    return TrendDb(path.string(), run, progress).read();
}

}
