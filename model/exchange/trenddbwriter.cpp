// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/trenddbwriter.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include <telltale/exchange/msprobewords.h>

namespace telltale::exchange {
namespace {

namespace fs = std::filesystem;
using store::Statement;

constexpr std::int64_t kPartition = 500; ///< steps of a table in the schema of 8
constexpr double kMostDb = 1e9; ///< data2db clamps what is larger

/// The columns that msprobe's viewer knows, in its order.
constexpr std::array kTrendStats { Stat::Norm, Stat::Min, Stat::Max, Stat::Zeros, Stat::Nans, Stat::Mean, Stat::Entropy,
    Stat::SoftmaxMax, Stat::StableRank, Stat::KernelNorm };

constexpr const char* kCommonTables
    = "CREATE TABLE monitoring_targets (target_id INTEGER PRIMARY KEY AUTOINCREMENT, target_name TEXT NOT NULL, "
      "vpp_stage INTEGER NOT NULL, micro_step INTEGER NOT NULL DEFAULT 0, UNIQUE(target_name, vpp_stage, "
      "micro_step));"
      "CREATE TABLE monitoring_metrics (metric_id INTEGER PRIMARY KEY AUTOINCREMENT, metric_name TEXT UNIQUE NOT "
      "NULL);";
constexpr const char* kTables8
    = "CREATE TABLE metric_stats (metric_id INTEGER NOT NULL, stat_name TEXT NOT NULL, PRIMARY KEY(metric_id, "
      "stat_name), FOREIGN KEY(metric_id) REFERENCES monitoring_metrics(metric_id)) WITHOUT ROWID;"
      "CREATE TABLE global_stats (stat_name TEXT PRIMARY KEY, stat_value INTEGER NOT NULL) WITHOUT ROWID;";
constexpr const char* kTables26
    = "CREATE TABLE monitoring_tags (tag_id INTEGER PRIMARY KEY AUTOINCREMENT, tag_name TEXT NOT NULL, category TEXT "
      "NOT NULL, metric_id INTEGER NOT NULL, UNIQUE(tag_name, category, metric_id), FOREIGN KEY (metric_id) "
      "REFERENCES monitoring_metrics(metric_id));"
      "CREATE TABLE tag_target_mapping (tag_id INTEGER NOT NULL, target_id INTEGER NOT NULL, PRIMARY KEY (tag_id, "
      "target_id), FOREIGN KEY (tag_id) REFERENCES monitoring_tags(tag_id), FOREIGN KEY (target_id) REFERENCES "
      "monitoring_targets(target_id));"
      "CREATE TABLE trend_data (rank INTEGER NOT NULL, step INTEGER NOT NULL, target_id INTEGER NOT NULL, metric_id "
      "INTEGER NOT NULL, norm REAL DEFAULT NULL, min REAL DEFAULT NULL, max REAL DEFAULT NULL, zeros REAL DEFAULT "
      "NULL, nans REAL DEFAULT NULL, mean REAL DEFAULT NULL, entropy REAL DEFAULT NULL, softmax_max REAL DEFAULT "
      "NULL, sr REAL DEFAULT NULL, kernel_norm REAL DEFAULT NULL, PRIMARY KEY (rank, step, target_id, metric_id), "
      "FOREIGN KEY (target_id) REFERENCES monitoring_targets(target_id), FOREIGN KEY (metric_id) REFERENCES "
      "monitoring_metrics(metric_id)) WITHOUT ROWID;";

/// "layers.22.attn.weight": its words as modules, a word with a number as a layer. As msprobe tags targets.
std::set<std::pair<std::string, std::string>> tagsOf(const std::string& target)
{
    std::vector<std::string> parts(1);
    for (const char c : target) {
        if (c == '.')
            parts.emplace_back();
        else
            parts.back() += c;
    }
    const auto isNumber = [](const std::string& part) {
        return !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
    };
    std::set<std::pair<std::string, std::string>> tags;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (!isNumber(parts[i]))
            tags.emplace(parts[i], "module");
        else if (i > 0 && !isNumber(parts[i - 1]))
            tags.emplace(parts[i - 1] + '.' + parts[i], "layer");
    }
    return tags;
}

Expected<std::int64_t> insertedId(sqlite3* db, Expected<void> done)
{
    if (!done)
        return tl::unexpected<Error>(std::move(done.error()));
    return store::queryInteger(db, "SELECT last_insert_rowid()");
}

}

Expected<std::unique_ptr<RunWriter>> TrendDbWriter::create(const std::string& path, Schema schema)
{
    std::error_code error;
    if (fs::exists(path, error))
        return failure(ErrorCode::BadInput, path + " is there already", "remove it, or choose another place");
    if (const fs::path folder = fs::path(path).parent_path(); !folder.empty())
        fs::create_directories(folder, error);
    std::unique_ptr<TrendDbWriter> writer(new TrendDbWriter(path, schema));
    if (auto ok = writer->begin(); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    return writer;
}

TrendDbWriter::~TrendDbWriter()
{
    m_db.reset();
    std::error_code error;
    for (const char* side : { "", "-journal" }) {
        if (!m_isKept)
            fs::remove(m_path + ".part" + side, error);
    }
}

Expected<void> TrendDbWriter::begin()
{
    std::error_code error;
    fs::remove(m_path + ".part", error);
    auto db = store::openDatabase(m_path + ".part", store::OpenMode::Create);
    if (!db)
        return tl::unexpected<Error>(std::move(db.error()));
    m_db = std::move(*db);
    const std::string sql = std::string("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;") + kCommonTables
        + (m_schema == Schema::Csv2Db8 ? kTables8 : kTables26);
    return store::execute(m_db.get(), sql.c_str());
}

Expected<std::int64_t> TrendDbWriter::metricOf(const std::string& name, const Columns& columns)
{
    auto at = m_metrics.find(name);
    if (at == m_metrics.end()) {
        auto insert = Statement::prepare(m_db.get(), "INSERT INTO monitoring_metrics(metric_name) VALUES(?)");
        if (!insert)
            return tl::unexpected<Error>(std::move(insert.error()));
        auto id = insertedId(m_db.get(), insert->run(name));
        if (!id)
            return id;
        at = m_metrics.emplace(name, *id).first;
    }
    for (const ValueBlock* column : columns)
        m_stats[at->second].emplace(statName(column->stat));
    return at->second;
}

Expected<std::int64_t> TrendDbWriter::targetOf(
    const store::SeriesInfo& series, const std::string& name, std::int64_t metric)
{
    const std::tuple key { name, series.desc->vppStage, std::max(series.desc->microStep, 0) };
    auto at = m_targets.find(key);
    if (at == m_targets.end()) {
        auto insert = Statement::prepare(
            m_db.get(), "INSERT INTO monitoring_targets(target_name, vpp_stage, micro_step) VALUES(?, ?, ?)");
        if (!insert)
            return tl::unexpected<Error>(std::move(insert.error()));
        auto id = insertedId(m_db.get(), insert->run(name, series.desc->vppStage, std::max(series.desc->microStep, 0)));
        if (!id)
            return id;
        at = m_targets.emplace(key, *id).first;
    }
    if (m_schema == Schema::Data2Db26 && m_tagged.emplace(at->second, metric).second) {
        for (const auto& [tag, category] : tagsOf(name)) {
            auto insert = Statement::prepare(
                m_db.get(), "INSERT OR IGNORE INTO monitoring_tags(tag_name, category, metric_id) VALUES(?, ?, ?)");
            auto map = Statement::prepare(m_db.get(),
                "INSERT OR IGNORE INTO tag_target_mapping(tag_id, target_id) SELECT tag_id, ? FROM monitoring_tags "
                "WHERE tag_name = ? AND category = ? AND metric_id = ?");
            if (!insert || !map)
                return tl::unexpected<Error>(!insert ? insert.error() : map.error());
            auto ok = insert->run(tag, category, metric);
            if (ok)
                ok = map->run(at->second, tag, category, metric);
            if (!ok)
                return tl::unexpected<Error>(std::move(ok.error()));
        }
    }
    return at->second;
}

Expected<std::string> TrendDbWriter::tableOf(std::int64_t metric, std::int64_t step, const Columns& columns)
{
    if (m_schema == Schema::Data2Db26)
        return std::string("trend_data");
    const std::int64_t first = (step >= 0 ? step / kPartition : -((-step + kPartition - 1) / kPartition)) * kPartition;
    const std::int64_t last = first + kPartition - 1;
    std::string name = fmt::format("\"metric_{}_step_{}_{}\"", metric, first, last);
    std::set<std::string>& known = m_tables[name];
    std::string sql;
    if (known.empty())
        sql = fmt::format("CREATE TABLE {} (rank INTEGER NOT NULL, step INTEGER NOT NULL CHECK(step BETWEEN {} AND "
                          "{}), target_id INTEGER NOT NULL, PRIMARY KEY (rank, step, target_id), FOREIGN KEY "
                          "(target_id) REFERENCES monitoring_targets(target_id)) WITHOUT ROWID;",
            name, first, last);
    for (const ValueBlock* column : columns) {
        if (known.emplace(statName(column->stat)).second)
            sql += fmt::format("ALTER TABLE {} ADD COLUMN \"{}\" REAL DEFAULT NULL;", name, statName(column->stat));
    }
    if (!sql.empty()) {
        if (auto ok = store::execute(m_db.get(), sql.c_str()); !ok)
            return tl::unexpected<Error>(std::move(ok.error()));
    }
    return name;
}

Expected<void> TrendDbWriter::writeRows(
    const MeasuredTable& table, const std::string& metric, const std::vector<std::size_t>& rows, const Columns& columns)
{
    const auto id = metricOf(metric, columns);
    if (!id)
        return tl::unexpected<Error>(id.error());
    const bool isNew = m_schema == Schema::Data2Db26;
    std::vector<std::int64_t> targets;
    for (const std::size_t row : rows) {
        const auto target
            = targetOf(*table.series[row], msprobeRowWords(*table.series[row], columns.front()->stat).name, *id);
        if (!target)
            return tl::unexpected<Error>(target.error());
        targets.push_back(*target);
    }
    std::string names, marks, sets;
    for (const ValueBlock* column : columns) {
        names += fmt::format(", \"{}\"", statName(column->stat));
        marks += ", ?";
        sets += fmt::format(
            "{}\"{}\" = excluded.\"{}\"", sets.empty() ? "" : ", ", statName(column->stat), statName(column->stat));
    }
    const StepRange steps = columns.front()->steps;
    std::string open;
    Statement insert;
    std::uint64_t missing = 0, clamped = 0;
    for (Step step = steps.first; step <= steps.last; ++step.value) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const std::size_t at = columns.front()->at(rows[i], step);
            const bool isThere = std::any_of(
                columns.begin(), columns.end(), [at](const ValueBlock* column) { return column->hasValue(at); });
            if (!isThere)
                continue;
            auto name = tableOf(*id, step.value, columns);
            if (!name)
                return tl::unexpected<Error>(std::move(name.error()));
            if (*name != open) {
                auto prepared = Statement::prepare(m_db.get(),
                    fmt::format("INSERT INTO {0} (rank, step, target_id{1}{2}) VALUES(?, ?, ?{3}{4}) ON CONFLICT(rank, "
                                "step, target_id{1}) DO UPDATE SET {5}",
                        *name, isNew ? ", metric_id" : "", names, isNew ? ", ?" : "", marks, sets));
                if (!prepared)
                    return tl::unexpected<Error>(std::move(prepared.error()));
                insert = std::move(*prepared);
                open = *name;
            }
            insert.bind(1, table.source->rank.value).bind(2, step.value).bind(3, targets[i]);
            int position = 4;
            if (isNew)
                insert.bind(position++, *id);
            for (const ValueBlock* column : columns) {
                double value = column->hasValue(at) ? column->shown(at) : std::nan("");
                missing += column->hasValue(at) && std::isnan(value) ? 1U : 0U;
                if (isNew && std::fabs(value) > kMostDb) {
                    ++clamped;
                    value = std::copysign(std::isinf(value) ? kMostDb + 1 : kMostDb, value);
                }
                insert.bindReal(position++, value);
                countValues(column->hasValue(at) ? 1 : 0);
            }
            if (auto ok = insert.run(); !ok)
                return ok;
            m_minStep = m_hasRows ? std::min(m_minStep, step.value) : step.value;
            m_maxStep = m_hasRows ? std::max(m_maxStep, step.value) : step.value;
            m_maxRank = std::max<std::int64_t>(m_maxRank, table.source->rank.value);
            m_hasRows = true;
        }
    }
    if (missing > 0)
        leaveOut("NaN, which a column of SQLite has as NULL", missing);
    if (clamped > 0)
        leaveOut("numbers beyond 1e9, which are clamped as msprobe does", clamped);
    return {};
}

Expected<void> TrendDbWriter::write(
    const MeasuredTable& table, const std::vector<ValueBlock>& blocks, const StepTimes& /*times*/)
{
    std::map<std::string, std::pair<std::vector<std::size_t>, Columns>> metrics;
    for (const ValueBlock& block : blocks) {
        const auto present = static_cast<std::uint64_t>(std::count_if(block.states.begin(), block.states.end(),
            [](series::CellState state) { return state > series::CellState::Gap; }));
        if (present == 0)
            continue;
        if (std::find(kTrendStats.begin(), kTrendStats.end(), block.stat) == kTrendStats.end()) {
            leaveOut(fmt::format("the statistic {} of {}", statName(block.stat), kindName(table.kind)), present);
            continue;
        }
        for (std::size_t row = 0; row < table.series.size(); ++row) {
            const MsprobeRowWords words = msprobeRowWords(*table.series[row], block.stat);
            if (words.prefix.empty()) {
                leaveOut("kinds that msprobe has no word for");
                continue;
            }
            auto& [rows, columns] = metrics[words.prefix];
            if (rows.empty() || rows.back() < row)
                rows.push_back(row);
            if (columns.empty() || columns.back() != &block)
                columns.push_back(&block);
        }
    }
    if (table.source->attempt > 0 && !metrics.empty())
        leaveOut("earlier attempts of a rank, where a later one has the same steps");
    for (const auto& [metric, found] : metrics) {
        if (auto ok = writeRows(table, metric, found.first, found.second); !ok)
            return ok;
    }
    return {};
}

Expected<void> TrendDbWriter::finishStats()
{
    if (m_schema == Schema::Csv2Db8) {
        std::string sql;
        for (const auto& [metric, stats] : m_stats) {
            for (const std::string& stat : stats)
                sql += fmt::format("INSERT INTO metric_stats VALUES({}, '{}');", metric, stat);
        }
        sql += fmt::format("INSERT INTO global_stats VALUES('max_rank', {}), ('min_step', {}), ('max_step', {}), "
                           "('step_partition_size', {});",
            m_maxRank, m_minStep, m_maxStep, kPartition);
        return store::execute(m_db.get(), sql.c_str());
    }
    std::string names, values;
    for (const auto& [name, id] : m_metrics) { // words of msprobe's: nothing to be quoted in them
        names += fmt::format(", \"{}\" TEXT DEFAULT NULL", name);
        std::string stats;
        for (const std::string& stat : m_stats[id])
            stats += (stats.empty() ? "" : ",") + stat;
        values += fmt::format(", '{}'", stats);
    }
    return store::execute(m_db.get(),
        fmt::format("CREATE TABLE global_stats (min_step INTEGER DEFAULT 0, max_step INTEGER DEFAULT 0, max_rank "
                    "INTEGER DEFAULT 0{}); INSERT INTO global_stats VALUES({}, {}, {}{});",
            names, m_minStep, m_maxStep, m_maxRank, values)
            .c_str());
}

Expected<void> TrendDbWriter::finish()
{
    auto ok = finishStats();
    if (ok)
        ok = store::execute(m_db.get(), "COMMIT;");
    if (!ok)
        return ok;
    m_db.reset();
    std::error_code error;
    fs::rename(m_path + ".part", m_path, error);
    if (error)
        return failure(ErrorCode::Io, "cannot write " + m_path + " (" + error.message() + ")");
    m_isKept = true;
    addFile(m_path);
    return {};
}

}
