// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <telltale/core/ids.h>
#include <telltale/core/kinds.h>
#include <telltale/core/zeropages.h>

namespace telltale::series {

inline constexpr int kTileColumns = 256; ///< collected steps of one sealed level-0 tile
inline constexpr int kTileSeries = 128; ///< series of one group

/// How one stat of an open tile is held. Zero: every value so far has all bits 0 and there is no array.
enum class PlaneType : std::uint8_t { Zero = 0, F32 = 1, F64 = 2, U64 = 3 };

/// The array behind one stat: kTileColumns columns of `lanes` values each, column-major.
struct PlaneData {
    PlaneType type = PlaneType::Zero;
    const void* values = nullptr;
};

/// The newest columns of one group, in memory until they are sealed; as large as what has been written. A fresh object
/// per kTileColumns columns: a reader keeps its shared_ptr and nothing under it moves. Thread: the store thread writes;
/// any thread reads columns below publishedColumns(). What is published is durable. The one exception to "never
/// changes": a repeated step of a scalar overwrites its cell (atomically) up to one commit before it is durable.
class OpenTile {
public:
    OpenTile(GroupId group, std::int64_t firstColumn, std::vector<Stat> stats, int seriesCount);
    ~OpenTile();
    OpenTile(const OpenTile&) = delete;
    OpenTile& operator=(const OpenTile&) = delete;

    GroupId group() const { return m_group; }
    /// Index of column 0, counted in collected steps of the group.
    std::int64_t firstColumn() const { return m_firstColumn; }
    const std::vector<Stat>& stats() const { return m_stats; }
    int seriesCount() const { return m_seriesCount; }

    /// Acquire. Columns below this are finished, durable and never change.
    int publishedColumns() const { return m_published.load(std::memory_order_acquire); }
    Step stepAt(int column) const { return m_steps[static_cast<std::size_t>(column)]; }
    /// Copies `count` columns of one series and stat. present[i] is 0 where the series was not measured.
    void read(int lane, int statIndex, int firstColumn, int count, double* values, std::uint8_t* present) const;
    /// All 64 bits of whole numbers.
    void readWhole(int lane, int statIndex, int firstColumn, int count, std::uint64_t* values) const;

    // Store thread only (or a tile that nobody else writes any more).
    PlaneData plane(int statIndex) const;
    bool isPresent(int lane, int column) const;
    /// seriesCount() bytes a column, column-major.
    const std::uint8_t* presence() const { return m_present; }
    /// Index of the newest column of `step`, -1 without one.
    int findColumn(Step step) const;
    int writtenColumns() const { return m_written; }
    bool isFull() const { return m_written == kTileColumns; }
    /// Starts a column; values default to "not present".
    int appendColumn(Step step);
    void set(int lane, int statIndex, int column, double value);
    void setPresent(int lane, int column, bool present);
    void setAllPresent(int column);
    /// Bulk forms for whole blocks: one stat of `lanes` consecutive series at one column.
    void setLanes(int firstLane, int statIndex, int column, std::span<const float> values);
    void setLanes(int firstLane, int statIndex, int column, std::span<const double> values);
    void setLanes(int firstLane, int statIndex, int column, std::span<const std::uint64_t> values);
    /// Release: columns below `count` become readable.
    void publish(int count) { m_published.store(count, std::memory_order_release); }

private:
    struct Plane;
    std::size_t cells() const { return static_cast<std::size_t>(m_seriesCount) * kTileColumns; }
    template <typename T> void store(int firstLane, int statIndex, int column, std::span<const T> values);
    const GroupId m_group;
    const std::int64_t m_firstColumn;
    const std::vector<Stat> m_stats;
    const int m_seriesCount;
    std::vector<Step> m_steps;
    const ZeroPages m_memory; ///< eight bytes a cell for each stat, then its presence
    std::vector<std::unique_ptr<Plane>> m_planes;
    std::uint8_t* const m_present;
    int m_written = 0;
    std::atomic<int> m_published { 0 };
};

}
