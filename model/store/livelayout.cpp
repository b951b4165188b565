// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/livelayout.h>

#include <algorithm>
#include <string>

#include <telltale/core/histogram.h>

namespace telltale::store {

static_assert(kMaxBins <= static_cast<std::size_t>(series::kTileSeries));

using series::kTileColumns;
using series::kTileSeries;
using series::OpenTile;

std::vector<LiveGroup> groupsOf(const SeriesLayout& layout)
{
    std::vector<LiveGroup> groups;
    const int count = static_cast<int>(layout.cells());
    const int width = static_cast<int>(layout.width());
    const int most = kTileSeries / width * width;
    for (int first = 0; first < count; first += most) {
        LiveGroup group;
        group.firstPosition = first;
        group.lanes = std::min(most, count - first);
        groups.push_back(std::move(group));
    }
    return groups;
}

LiveLayout::LiveLayout(std::int64_t stream, std::shared_ptr<const SeriesLayout> layout, std::vector<LiveGroup> groups)
    : m_stream(stream)
    , m_layout(std::move(layout))
    , m_groups(std::move(groups))
{
    for (const LiveGroup& group : m_groups)
        m_nextColumn = std::max(m_nextColumn, group.sealed);
}

std::int64_t LiveLayout::sealedColumns() const
{
    std::int64_t sealed = m_nextColumn;
    for (const LiveGroup& group : m_groups)
        sealed = std::min(sealed, group.sealed);
    return sealed;
}

std::int64_t LiveLayout::tileEnd() const
{
    return (m_nextColumn + kTileColumns - 1) / kTileColumns * kTileColumns;
}

int LiveLayout::openColumns() const
{
    const auto& tiles = m_groups.front().tiles;
    return tiles.empty() || isClosed(*tiles.back()) ? 0 : tiles.back()->writtenColumns();
}

std::size_t LiveLayout::openBytes() const
{
    const int columns = openColumns();
    if (columns == 0)
        return 0;
    std::size_t each = 1; // present or not
    for (int stat = 0; stat < static_cast<int>(m_layout->stats.size()); ++stat) {
        const series::PlaneType type = m_groups.front().tiles.back()->plane(stat).type;
        each += type == series::PlaneType::Zero ? 0 : type == series::PlaneType::F32 ? sizeof(float) : sizeof(double);
    }
    return each * m_layout->cells() * static_cast<std::size_t>(columns);
}

bool LiveLayout::isReleased() const
{
    return m_nextColumn > 0
        && std::all_of(m_groups.begin(), m_groups.end(), [](const LiveGroup& group) { return group.tiles.empty(); });
}

void LiveLayout::release()
{
    m_nextColumn = tileEnd();
    for (LiveGroup& group : m_groups) {
        group.sealed = m_nextColumn;
        group.tiles.clear();
    }
}

std::string LiveLayout::mismatch(const SeriesLayout& layout, const StepBlock& block)
{
    if (block.columns.size() != layout.stats.size())
        return "a block has another number of columns than its layout has stats";
    if (!block.present.empty() && block.present.size() != (layout.series.size() + 63) / 64)
        return "a presence bitmap has another size than its layout";
    for (std::size_t i = 0; i < layout.stats.size(); ++i) {
        if (block.columns[i].stat != layout.stats[i])
            return "a block's columns are in another order than its layout's stats";
        if (block.columns[i].size() != layout.cells())
            return "a column has another number of values than its layout";
    }
    return {};
}

std::int64_t LiveLayout::place(const StepBlock& block)
{
    const auto& tiles = m_groups.front().tiles;
    for (auto it = tiles.rbegin(); it != tiles.rend(); ++it) {
        const OpenTile& tile = **it;
        const int written = tile.writtenColumns();
        if (written == 0)
            continue;
        if (tile.stepAt(written - 1) < block.step)
            break;
        const int found = m_layout->kind == Kind::Scalar                     ? tile.findColumn(block.step)
            : tile.stepAt(written - 1) == block.step && it == tiles.rbegin() ? written - 1
                                                                             : -1;
        // Groups are sealed one by one: a column may be gone from some and open in others.
        const std::int64_t column = tile.firstColumn() + found;
        const bool open = std::all_of(
            m_groups.begin(), m_groups.end(), [column](const LiveGroup& group) { return group.sealed <= column; });
        if (found >= 0 && open)
            return column;
        if (m_layout->kind != Kind::Scalar)
            break;
    }
    return m_nextColumn;
}

void LiveLayout::fill(const StepBlock& block, std::int64_t column)
{
    m_nextColumn = std::max(m_nextColumn, column + 1);
    for (LiveGroup& group : m_groups) {
        if (column >= group.sealed)
            fillGroup(group, *m_layout, block, column);
    }
}

void LiveLayout::fillGroup(LiveGroup& group, const SeriesLayout& layout, const StepBlock& block, std::int64_t column)
{
    const std::int64_t firstColumn = column / kTileColumns * kTileColumns;
    while (group.tiles.empty() || group.tiles.back()->firstColumn() < firstColumn) {
        const std::int64_t next = group.tiles.empty() ? group.sealed : group.tiles.back()->firstColumn() + kTileColumns;
        group.tiles.push_back(std::make_shared<OpenTile>(group.id, next, layout.stats, group.lanes));
    }
    OpenTile& tile = *group.tiles[static_cast<std::size_t>((firstColumn - group.tiles.front()->firstColumn()))
        / static_cast<std::size_t>(kTileColumns)];
    const int at = static_cast<int>(column - firstColumn);
    while (tile.writtenColumns() <= at)
        tile.appendColumn(block.step);
    const auto first = static_cast<std::size_t>(group.firstPosition);
    const auto lanes = static_cast<std::size_t>(group.lanes);
    if (block.present.empty()) {
        tile.setAllPresent(at);
        for (std::size_t s = 0; s < block.columns.size(); ++s) {
            std::visit(
                [&](const auto& values) {
                    tile.setLanes(0, static_cast<int>(s), at, std::span(values).subspan(first, lanes));
                },
                block.columns[s].values);
        }
        return;
    }
    // An absent series keeps what an earlier block of the same step said.
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        if (!block.isPresent((first + lane) / layout.width()))
            continue;
        for (std::size_t s = 0; s < block.columns.size(); ++s) {
            std::visit(
                [&](const auto& values) {
                    tile.setLanes(
                        static_cast<int>(lane), static_cast<int>(s), at, std::span(values).subspan(first + lane, 1));
                },
                block.columns[s].values);
        }
        tile.setPresent(static_cast<int>(lane), at, true);
    }
}

}
