// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/core/samplebatch.h>
#include <telltale/series/opentile.h>

namespace telltale::store {

/// At most 128 consecutive values of a layout's column, those of whole series, and its tiles that are not sealed yet,
/// oldest first. A lane is a series, or a bin of one.
/// Thread: its owner's.
struct LiveGroup {
    GroupId id;
    int firstPosition = 0; ///< among the column's values, of lane 0
    int lanes = 0;
    std::int64_t sealed = 0; ///< columns below this are in tiles of level 0, or are none; a multiple of 256
    std::deque<std::shared_ptr<series::OpenTile>> tiles;
};

/// The columns of one (stream, layout) that are not sealed yet. A column is one step; all groups have the same ones.
/// Thread: its owner's.
class LiveLayout {
public:
    LiveLayout(std::int64_t stream, std::shared_ptr<const SeriesLayout> layout, std::vector<LiveGroup> groups);

    std::int64_t stream() const { return m_stream; }
    const std::shared_ptr<const SeriesLayout>& layout() const { return m_layout; }
    std::vector<LiveGroup>& groups() { return m_groups; }
    const std::vector<LiveGroup>& groups() const { return m_groups; }
    /// Columns below this are sealed in every group.
    std::int64_t sealedColumns() const;
    std::int64_t nextColumn() const { return m_nextColumn; }
    /// Where the tile of the newest column ends.
    std::int64_t tileEnd() const;
    /// Nothing more is placed in the tile: it has all its columns, or columns go on in the next one.
    bool isClosed(const series::OpenTile& tile) const
    {
        return tile.writtenColumns() > 0 && m_nextColumn >= tile.firstColumn() + series::kTileColumns;
    }
    /// Columns of the newest tile, 0 when it is closed; and what they take in memory.
    int openColumns() const;
    std::size_t openBytes() const;
    /// Goes on in the next tile, however many columns the newest one has.
    void closeTile() { m_nextColumn = tileEnd(); }
    /// All columns are sealed and no tile is open: nothing may be placed before the last tile is taken apart again.
    bool isReleased() const;
    void release();
    /// When a batch last had a block of it, and which batch of its stream that was.
    std::chrono::steady_clock::time_point lastUse() const { return m_lastUse; }
    std::uint64_t lastBatch() const { return m_lastBatch; }
    void use(std::chrono::steady_clock::time_point now, std::uint64_t batch)
    {
        m_lastUse = now;
        m_lastBatch = batch;
    }
    /// A partial tile was taken apart again: columns go on behind its last one.
    void rewindTo(std::int64_t column) { m_nextColumn = column; }

    /// Empty, or why the block cannot belong to the layout.
    static std::string mismatch(const SeriesLayout& layout, const StepBlock& block);

    /// Where the block's values go: a new column, or the one that the step has already (the newest, or for scalars any
    /// that is not sealed).
    std::int64_t place(const StepBlock& block);
    /// Copies the values into every group whose tile for `column` is not sealed; columns up to it come into being.
    void fill(const StepBlock& block, std::int64_t column);

private:
    static void fillGroup(LiveGroup& group, const SeriesLayout& layout, const StepBlock& block, std::int64_t column);

    std::int64_t m_stream = 0;
    std::shared_ptr<const SeriesLayout> m_layout;
    std::vector<LiveGroup> m_groups;
    std::int64_t m_nextColumn = 0;
    std::chrono::steady_clock::time_point m_lastUse = std::chrono::steady_clock::now();
    std::uint64_t m_lastBatch = 0;
};

/// How a layout's series fall into groups; ids are left 0.
std::vector<LiveGroup> groupsOf(const SeriesLayout& layout);

}
