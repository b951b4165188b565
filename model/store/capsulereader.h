// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <telltale/core/threadhome.h>
#include <telltale/series/blockcache.h>
#include <telltale/store/columnplan.h>
#include <telltale/store/directoryreader.h>
#include <telltale/store/logreader.h>
#include <telltale/store/rowunit.h>
#include <telltale/store/runindex.h>
#include <telltale/store/runreader.h>
#include <telltale/store/sqlite.h>
#include <telltale/store/tilesource.h>

namespace telltale::store {

/// What the readers of a pool have in common. Thread: any.
struct SharedReads {
    std::shared_ptr<series::BlockCache> blocks = std::make_shared<series::BlockCache>();
    std::shared_ptr<Helpers> helpers = std::make_shared<Helpers>();
    Directories directories;
};

Expected<std::unique_ptr<RunReader>> openReader(const RunHandle& run, SharedReads& shared);

/// RunReader over one capsule file and its live part. Thread: query (each instance owned by one thread).
class CapsuleReader : public RunReader {
public:
    static Expected<std::unique_ptr<RunReader>> open(const RunHandle& run, SharedReads& shared);

    Expected<std::shared_ptr<const Catalog>> catalog() override;
    Expected<LogPage> log(LogCursor after, const LogFilter& filter, std::size_t limit) override;
    Expected<series::CurveResult> curve(const series::CurveQuery& query, const series::CancelToken& cancel) override;
    Expected<series::HeatResult> heatmap(const series::HeatQuery& query, const series::CancelToken& cancel) override;
    Expected<std::vector<series::CellValue>> column(
        Step step, Stat stat, std::span<const series::RowAttempts> rows, bool nearest) override;
    Expected<void> raw(const series::RowAttempts& row, Stat stat, StepRange range,
        const std::function<bool(const series::RawValue&)>& sink) override;
    Expected<std::string> blob(const std::string& kind, const std::string& name, Step step) override;
    Expected<std::vector<DocumentInfo>> documents(const std::string& kind, std::int64_t after) override;
    Expected<std::string> document(std::int64_t id) override;

private:
    CapsuleReader(const RunHandle& run, Connection db, SharedReads& shared);
    Expected<void> prepare();
    /// What was added since the last snapshot: to the directory, to the losses, to the tail of a capsule that lives
    /// elsewhere.
    Expected<void> refresh();
    Expected<void> refreshNow();
    Expected<void> refreshDirectory();
    Expected<void> refreshTail();
    Expected<void> refreshLosses();
    OpenTiles openTiles(GroupId group) const;
    /// The shares of rows that lie in the same tiles and answer for the same steps, with the open tiles as they are
    /// now.
    std::vector<RowUnit> unitsOf(
        std::span<const series::RowAttempts> rows, Stat stat, StepRange range, series::RowsMemo* memo = nullptr) const;
    std::shared_ptr<const FoundUnits> find(std::span<const series::RowAttempts> rows, Stat stat) const;
    Expected<ColumnPlan> plan(const RowUnit& unit, const series::PixelMap& map);
    Expected<TileSource::Blocks> blocksOf(const RowUnit& unit, const Piece& piece);
    void noteDamage(const TileSet& set, const std::vector<StepRange>& damaged);

    Expected<series::CurveResult> readCurve(const series::CurveQuery& query, const series::CancelToken& cancel);
    Expected<series::HeatResult> readHeat(const series::HeatQuery& query, const series::CancelToken& cancel);
    Expected<std::vector<series::CellValue>> readColumn(
        Step step, Stat stat, std::span<const series::RowAttempts> rows, bool nearest);
    Expected<void> readRaw(const series::RowAttempts& row, Stat stat, StepRange range,
        const std::function<bool(const series::RawValue&)>& sink, std::vector<StepRange>* damaged = nullptr);
    /// For each statistic that knows of NaN in the tensors of some histograms, the rows that have it, beside theirs:
    /// NaN is in no bin.
    std::map<Stat, std::vector<series::RowAttempts>> besides(std::span<const series::RowAttempts> rows) const;
    /// Mark where a share of elements is one of those alone that are no NaN, or may be: nobody can read whether.
    Expected<void> markNaN(
        const series::CurveQuery& query, series::CurveResult& result, const series::CancelToken& cancel);
    Expected<void> markNaN(
        const series::HeatQuery& query, series::HeatResult& result, const series::CancelToken& cancel);
    Expected<void> markNaN(
        Step asked, std::span<const series::RowAttempts> rows, std::vector<series::CellValue>& cells);

    struct Finding;
    Expected<void> readCells(RowUnit unit, Step step, std::vector<Finding>& found);
    Expected<void> fillCell(
        const RowUnit& unit, const Piece& piece, std::span<const Step> steps, int lane, Finding& found);
    Expected<void> readCounts(RowUnit unit, const Piece& piece, int inner, int column, series::CellValue& cell);
    Expected<bool> readRaw(
        const RowUnit& unit, const std::function<bool(const series::RawValue&)>& sink, std::vector<StepRange>* damaged);

    const std::string m_path;
    const std::shared_ptr<const LiveRun> m_live;
    Connection m_db;
    StatementCache m_statements;
    std::shared_ptr<series::BlockCache> m_blocks;
    std::shared_ptr<Helpers> m_helpers;
    std::unique_ptr<TileSource> m_tiles;
    Statement m_dataVersion;
    std::int64_t m_seenDataVersion = -1;
    std::shared_ptr<SharedDirectory> m_directory;
    RunIndex m_index;
    LogCursor m_seenLosses;
    std::shared_ptr<const Catalog> m_published; ///< the index's catalog, with the damage met since
    std::uint64_t m_publishedRevision = 0; ///< of the index's catalog
    std::map<GroupId, OpenTiles> m_tail; ///< columns that only the tail has, when nobody here records the run
    std::map<std::string, std::vector<DocumentInfo>> m_documents; ///< by kind, of those that were all asked for
    std::vector<std::string> m_damage;
    std::vector<std::string> m_tailDamage;
    ThreadHome m_home;
};

}
