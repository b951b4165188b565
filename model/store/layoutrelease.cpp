// SPDX-License-Identifier: GPL-3.0-or-later
// Layouts that nobody writes any more give their open tiles back; one that is written again takes its last tile apart.
#include <telltale/store/openlayouts.h>

#include <algorithm>

#include <telltale/store/tailcodec.h>

namespace telltale::store {
namespace {

/// A tail row of a restored tile: far below what a row may hold.
constexpr std::size_t kTailRowBytes = 4u << 20;

template <typename T> void copyCells(Column& column, const T* cells, std::size_t first, std::size_t lanes)
{
    auto& values = std::get<std::vector<T>>(column.values);
    std::copy_n(cells, lanes, values.begin() + static_cast<std::ptrdiff_t>(first));
}

/// The stat's widest form among the groups decides for the column.
series::PlaneType widestOf(const LiveLayout& layout, int stat)
{
    bool doubles = false;
    bool integers = false;
    bool floats = false;
    for (const LiveGroup& group : layout.groups()) {
        const series::PlaneType type = group.tiles.front()->plane(stat).type;
        doubles = doubles || type == series::PlaneType::F64;
        integers = integers || type == series::PlaneType::U64;
        floats = floats || type == series::PlaneType::F32;
    }
    if (doubles || (integers && floats))
        return series::PlaneType::F64;
    return integers ? series::PlaneType::U64 : series::PlaneType::F32;
}

/// One column of the layout's front tiles as the block it came from.
StepBlock blockAt(const LiveLayout& layout, int at)
{
    StepBlock block;
    block.layout = layout.layout();
    const std::size_t count = block.layout->cells();
    const std::size_t width = block.layout->width();
    block.step = layout.groups().front().tiles.front()->stepAt(at);
    block.present.assign((block.layout->series.size() + 63) / 64, 0);
    for (std::size_t s = 0; s < block.layout->stats.size(); ++s) {
        Column column;
        column.stat = block.layout->stats[s];
        const auto type = widestOf(layout, static_cast<int>(s));
        if (type == series::PlaneType::F64)
            column.values = std::vector<double>(count);
        else if (type == series::PlaneType::U64)
            column.values = std::vector<std::uint64_t>(count);
        else
            column.values = std::vector<float>(count);
        for (const LiveGroup& group : layout.groups()) {
            const series::OpenTile& tile = *group.tiles.front();
            const auto plane = tile.plane(static_cast<int>(s));
            const auto first = static_cast<std::size_t>(group.firstPosition);
            const auto lanes = static_cast<std::size_t>(group.lanes);
            const std::size_t offset = static_cast<std::size_t>(at) * lanes;
            if (plane.type == series::PlaneType::Zero)
                continue;
            if (type == series::PlaneType::F64) {
                std::vector<double> cells(lanes);
                std::uint8_t present = 0;
                for (int lane = 0; lane < group.lanes; ++lane)
                    tile.read(lane, static_cast<int>(s), at, 1, &cells[static_cast<std::size_t>(lane)], &present);
                copyCells(column, cells.data(), first, lanes);
            } else if (type == series::PlaneType::U64) {
                copyCells(column, static_cast<const std::uint64_t*>(plane.values) + offset, first, lanes);
            } else {
                copyCells(column, static_cast<const float*>(plane.values) + offset, first, lanes);
            }
        }
        block.columns.push_back(std::move(column));
    }
    for (const LiveGroup& group : layout.groups()) {
        for (int lane = 0; lane < group.lanes; ++lane) {
            const std::size_t i = static_cast<std::size_t>(group.firstPosition + lane) / width;
            if (group.tiles.front()->isPresent(lane, at))
                block.present[i / 64] |= std::uint64_t { 1 } << (i % 64);
        }
    }
    return block;
}

}

Expected<void> OpenLayouts::seal(LiveLayout& layout)
{
    for (LiveGroup& group : layout.groups()) {
        for (const auto& tile : group.tiles) {
            if (tile->firstColumn() < group.sealed || tile->writtenColumns() == 0)
                continue;
            if (auto ok = m_sealer->seal(group, *tile, layout.isClosed(*tile)); !ok)
                return ok;
        }
        if (layout.nextColumn() == 0)
            continue;
        if (auto ok = m_sealer->sealPartialLevels(group, layout.layout()->stats, layout.nextColumn()); !ok)
            return ok;
    }
    return {};
}

Expected<void> OpenLayouts::sealAll()
{
    for (LiveLayout* layout : select([](const LiveLayout&) { return true; })) {
        if (auto ok = seal(*layout); !ok)
            return ok;
    }
    return {};
}

Expected<void> OpenLayouts::sealIdle(const std::vector<LiveLayout*>& idle)
{
    for (LiveLayout* layout : idle) {
        if (auto ok = seal(*layout); !ok)
            return ok;
        for (const LiveGroup& group : layout->groups())
            m_sealedNow[&group] = layout->tileEnd();
    }
    return dropSealedTails();
}

void OpenLayouts::releaseSealed(const std::vector<LiveLayout*>& idle)
{
    for (LiveLayout* layout : idle) {
        std::erase_if(m_full, [layout](const SealJob& job) { return job.layout == layout; });
        giveBack(*layout);
    }
    forgetSealed();
}

Expected<void> OpenLayouts::restore(LiveLayout& layout)
{
    m_home.check();
    if (auto ok = restoreTile(layout); !ok)
        return ok;
    for (const LiveGroup& group : layout.groups()) {
        if (auto ok = m_sealer->resume(group, layout.layout()->stats); !ok)
            return ok;
    }
    // Before COMMIT takes the sealed form away: what is published is durable in one of the two.
    publish(layout);
    return {};
}

void OpenLayouts::giveBack(LiveLayout& layout)
{
    for (const LiveGroup& group : layout.groups()) {
        m_sealer->forget(group.id);
        m_live.removeTiles(group.id);
    }
    layout.release();
}

Expected<void> OpenLayouts::restoreTile(LiveLayout& layout)
{
    std::int64_t c0 = -1;
    int columns = 0;
    for (LiveGroup& group : layout.groups()) {
        if (group.sealed == 0 || !group.tiles.empty())
            continue;
        auto tile = m_sealer->load(group, layout.layout()->stats, group.sealed - series::kTileColumns);
        if (!tile)
            return tl::unexpected<Error>(std::move(tile.error()));
        if ((*tile)->isFull())
            continue;
        c0 = (*tile)->firstColumn();
        columns = (*tile)->writtenColumns();
        group.sealed = c0;
        group.tiles.push_back(std::move(*tile));
        if (auto ok = m_sealer->removeFrom(group.id, c0); !ok)
            return ok;
    }
    if (c0 < 0) {
        // Incomplete levels of groups that ended on a full tile go too: they will be written complete.
        for (const LiveGroup& group : layout.groups()) {
            if (auto ok = m_sealer->removeFrom(group.id, group.sealed); !ok)
                return ok;
        }
        return {};
    }
    layout.rewindTo(c0 + columns);
    for (const LiveGroup& group : layout.groups()) {
        if (group.tiles.empty() || group.tiles.front()->writtenColumns() != columns)
            return failure(ErrorCode::Damaged, "the groups of a layout have different columns");
    }
    return writeTail(layout, c0, columns);
}

Expected<void> OpenLayouts::writeTail(LiveLayout& layout, std::int64_t c0, int columns)
{
    TailEncoder encoder;
    StepRange steps;
    for (int at = 0; at < columns; ++at) {
        const StepBlock block = blockAt(layout, at);
        steps = encoder.isEmpty() ? StepRange { block.step, block.step }
                                  : StepRange { std::min(steps.first, block.step), std::max(steps.last, block.step) };
        encoder.append(block, c0 + at);
        if (encoder.byteSize() < kTailRowBytes && at + 1 < columns)
            continue;
        const std::int64_t row = m_tail.add({ { &layout, c0 + at } });
        if (auto ok = m_tail.write(row, layout.stream(), -row, steps, encoder.take()); !ok)
            return ok;
        encoder = {};
    }
    return {};
}

}
