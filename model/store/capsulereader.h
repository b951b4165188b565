// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <telltale/series/blockcache.h>
#include <telltale/store/columnplan.h>
#include <telltale/store/rowunit.h>
#include <telltale/store/runindex.h>
#include <telltale/store/runreader.h>
#include <telltale/store/sqlite.h>
#include <telltale/store/tilesource.h>

namespace telltale::store {

/// openReader with a cache that several readers share.
Expected<std::unique_ptr<RunReader>> openReader(const RunHandle& run, std::shared_ptr<series::BlockCache> blocks);

/// RunReader over one capsule file and its live part. Thread: query (each instance owned by one thread).
class CapsuleReader : public RunReader {
public:
    static Expected<std::unique_ptr<RunReader>> open(const RunHandle& run, std::shared_ptr<series::BlockCache> blocks);

    Expected<std::shared_ptr<const Catalog>> catalog() override;
    Expected<series::CurveResult> curve(const series::CurveQuery& query, const series::CancelToken& cancel) override;
    Expected<series::HeatResult> heatmap(const series::HeatQuery& query, const series::CancelToken& cancel) override;
    Expected<std::vector<series::CellValue>> column(
        Step step, Stat stat, std::span<const series::RowAttempts> rows, bool nearest) override;
    Expected<void> raw(const series::RowAttempts& row, Stat stat, StepRange range,
        const std::function<bool(const series::RawValue&)>& sink) override;
    Expected<std::string> blob(const std::string& kind, const std::string& name, Step step) override;

private:
    CapsuleReader(const RunHandle& run, Connection db, std::shared_ptr<series::BlockCache> blocks);
    Expected<void> prepare();
    /// What changed since the last snapshot: sources' steps, the catalog, the tail of a capsule that lives elsewhere.
    Expected<void> refresh();
    Expected<void> refreshNow();
    Expected<void> loadCatalog();
    OpenTiles openTiles(GroupId group) const;
    /// The shares of rows that lie in the same tiles and answer for the same steps, with the open tiles as they are
    /// now.
    std::vector<RowUnit> unitsOf(std::span<const series::RowAttempts> rows, Stat stat, StepRange range) const;
    Expected<ColumnPlan> plan(const RowUnit& unit, const series::PixelMap& map);
    Expected<TileSource::Blocks> blocksOf(const RowUnit& unit, const Piece& piece);
    void noteDamage(const TileSet& set, const std::vector<StepRange>& damaged);

    Expected<void> readCells(RowUnit unit, Step step, bool nearest, std::vector<series::CellValue>& cells);
    Expected<void> fillCell(const RowUnit& unit, const Piece& piece, int lane, bool nearest, series::CellValue& cell);
    Expected<bool> readRaw(const RowUnit& unit, const std::function<bool(const series::RawValue&)>& sink);

    const std::string m_path;
    const std::shared_ptr<const LiveRun> m_live;
    Connection m_db;
    std::shared_ptr<series::BlockCache> m_blocks;
    std::unique_ptr<TileSource> m_tiles;
    Statement m_dataVersion;
    std::int64_t m_seenDataVersion = -1;
    std::uint64_t m_seenCatalog = 0;
    bool m_hasCatalog = false;
    std::unique_ptr<RunIndex> m_index;
    std::shared_ptr<const Catalog> m_published; ///< the index's catalog, with the damage met since
    std::map<GroupId, OpenTiles> m_tail; ///< columns that only the tail has, when nobody here records the run
    std::vector<std::string> m_damage;
    std::vector<std::string> m_tailDamage;
};

}
