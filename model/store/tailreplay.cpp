// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/tailreplay.h>

#include <algorithm>

#include <telltale/core/bytes.h>
#include <telltale/store/layoutcodec.h>
#include <telltale/store/sqlite.h>
#include <telltale/store/tailcodec.h>
#include <telltale/store/tilecodec.h>
#include <telltale/store/tilerow.h>

namespace telltale::store {
namespace {

/// Tiles without a value, of all groups of a capsule together, that a replay makes where something damaged is missing:
/// some 64 MiB of memory. What would need more is nonsense.
constexpr std::int64_t kMaxGapTiles = 2048;

/// How many of them it takes until every group of the layout has its tile for `column`.
std::int64_t gapTiles(const LiveLayout& layout, std::int64_t column)
{
    std::int64_t gap = 0;
    for (const LiveGroup& group : layout.groups()) {
        const std::int64_t next
            = group.tiles.empty() ? group.sealed : group.tiles.back()->firstColumn() + series::kTileColumns;
        gap += std::max<std::int64_t>(0, (column - next) / series::kTileColumns);
        if (gap > kMaxGapTiles)
            break; // far from overflowing
    }
    return gap;
}

bool crcFits(std::string_view data, std::int64_t crc)
{
    return crc32c(data) == static_cast<std::uint32_t>(crc);
}

/// Finds where the sealed columns of a group end.
Expected<void> findSealed(Statement& tiles, std::string_view stats, LiveGroup& group)
{
    for (const char stat : stats) {
        tiles.bind(1, stat).bind(2, group.id.value);
        for (auto row = tiles.step();; row = tiles.step()) {
            if (!row)
                return tl::unexpected<Error>(std::move(row.error()));
            if (!*row)
                break;
            const std::int64_t column = tiles.integer(0);
            if (!TileRow { 0, stat, group.id.value, column, tiles.integer(2), tiles.integer(3) }.fits(tiles.integer(1)))
                continue;
            // An impossible column makes the group unlike what its layout expects.
            const bool isPossible = tiles.isInteger(0) && isColumn(column) && column % series::kTileColumns == 0;
            group.sealed = std::max(group.sealed, isPossible ? column + series::kTileColumns : 0);
            group.lanes = isPossible ? group.lanes : 0;
            break;
        }
        tiles.reset();
    }
    return {};
}

Expected<void> loadLayouts(sqlite3* db, TailReplay& replay)
{
    std::map<TailReplay::Key, std::vector<LiveGroup>> groups;
    // Columns go on behind a tile of level 0, even one that was closed before it was full.
    auto tiles = Statement::prepare(
        db, "SELECT c0, crc, first_step, last_step FROM tile WHERE lvl=0 AND stat=?1 AND grp=?2 ORDER BY c0 DESC");
    if (!tiles)
        return tl::unexpected<Error>(std::move(tiles.error()));
    auto loaded = forEachRow(db, "SELECT stream, layout, id, first_position, series, stats FROM grp ORDER BY id",
        [&](const Statement& row) -> Expected<void> {
            LiveGroup group;
            group.id = GroupId(row.integer(2));
            group.firstPosition = static_cast<int>(row.integer(3));
            group.lanes = static_cast<int>(row.integer(4));
            if (auto ok = findSealed(*tiles, row.blob(5), group); !ok)
                return ok;
            groups[{ row.integer(0), LayoutId(static_cast<std::uint32_t>(row.integer(1))) }].push_back(
                std::move(group));
            return {};
        });
    if (!loaded)
        return loaded;
    return forEachRow(db, "SELECT stream, id, bytes, crc FROM layout", [&](const Statement& row) {
        const TailReplay::Key key { row.integer(0), LayoutId(static_cast<std::uint32_t>(row.integer(1))) };
        auto layout = crcFits(row.blob(2), row.integer(3)) ? decodeLayout(row.blob(2))
                                                           : failure(ErrorCode::Damaged, "its checksum is wrong");
        const auto found = groups.find(key);
        if (!layout || found == groups.end()) {
            replay.damage.push_back("layout " + std::to_string(key.second.value) + " cannot be read");
            return;
        }
        const auto expected = groupsOf(**layout);
        bool agree = expected.size() == found->second.size()
            && std::equal(
                expected.begin(), expected.end(), found->second.begin(), [](const LiveGroup& a, const LiveGroup& b) {
                    return a.firstPosition == b.firstPosition && a.lanes == b.lanes;
                });
        auto live = std::make_unique<LiveLayout>(key.first, *layout, std::move(found->second));
        agree = agree && gapTiles(*live, live->nextColumn()) <= kMaxGapTiles;
        if (!agree) {
            replay.damage.push_back("layout " + std::to_string(key.second.value) + " does not fit its groups");
            return;
        }
        replay.layouts[key] = std::move(live);
    });
}

void replayRow(const Statement& row, TailReplay& replay)
{
    const std::int64_t stream = row.integer(1);
    // A row may have more blocks than anybody wants to read of.
    const auto note = [&replay, id = row.integer(0)](std::string_view why) {
        std::string sentence = "tail row " + std::to_string(id) + " " + std::string(why);
        if (replay.damage.empty() || replay.damage.back() != sentence)
            replay.damage.push_back(std::move(sentence));
    };
    if (!crcFits(row.blob(3), row.integer(2)))
        return note("has a wrong checksum");
    TailReplay::Row kept { row.integer(0), {} };
    LiveLayout* layout = nullptr; // of the block at hand
    const auto wanted = [&](const TailBlock& head) {
        const auto found = replay.layouts.find({ stream, head.layout });
        if (found == replay.layouts.end()) {
            note("uses an unknown layout");
            return false;
        }
        layout = found->second.get();
        const bool isPlace = fits(head, *layout->layout()) && isColumn(head.column) && isStep(head.block.step.value);
        const std::int64_t gap = isPlace ? gapTiles(*layout, head.column) : 0;
        if (!isPlace || replay.gapTiles + gap > kMaxGapTiles) {
            note("does not fit its layout");
            return false;
        }
        replay.gapTiles += gap;
        return true;
    };
    const auto whole = decodeTail(row.blob(3), wanted, [&](TailBlock& tail) {
        tail.block.layout = layout->layout();
        if (!LiveLayout::mismatch(*layout->layout(), tail.block).empty())
            return note("does not fit its layout");
        // A gap in the columns (a damaged row) is filled with columns in which nothing is present.
        layout->fill(tail.block, tail.column);
        kept.columns.emplace_back(layout, tail.column);
    });
    if (!whole)
        return note("cannot be read");
    replay.rows.push_back(std::move(kept));
}

}

std::vector<std::shared_ptr<const series::OpenTile>> TailReplay::openTiles() const
{
    std::vector<std::shared_ptr<const series::OpenTile>> tiles;
    for (const auto& [key, layout] : layouts) {
        for (const LiveGroup& group : layout->groups()) {
            for (const auto& tile : group.tiles) {
                tile->publish(tile->writtenColumns());
                tiles.push_back(tile);
            }
        }
    }
    return tiles;
}

Expected<TailReplay> replayTail(sqlite3* db)
{
    TailReplay replay;
    if (auto ok = loadLayouts(db, replay); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    auto ok = forEachRow(db, "SELECT id, stream, crc, data FROM tail ORDER BY id",
        [&replay](const Statement& row) { replayRow(row, replay); });
    if (!ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    return replay;
}

}
