// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/tilesource.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>

#include <telltale/core/bytes.h>
#include <telltale/store/tilerow.h>

namespace telltale::store {
namespace {

constexpr int kStepsPart = 0xFFFF;
constexpr std::size_t kTilesWorth = 4; ///< tiles that are worth a thread

Stat storedStat(const TileSet& set)
{
    return set.shares ? Stat::Hist : set.stat == Stat::AbsMax ? Stat::Max : set.stat;
}

TileSet with(const TileSet& set, Stat stat)
{
    TileSet other = set;
    other.stat = stat;
    return other;
}

/// Steps beyond what a step can be are cut: load() then finds that they are not those of the blob.
TileHead headOf(const Statement& row)
{
    const auto step
        = [&row](int column) { return Step { std::clamp(row.integer(column), -kFarthestStep, kFarthestStep) }; };
    return { row.integer(0), row.integer(1), static_cast<std::uint32_t>(row.integer(2)), { step(3), step(4) } };
}

/// Whether the row was written where it was found.
bool isOwn(const Statement& row, const TileSet& set, int level)
{
    return TileRow { level, static_cast<int>(storedStat(set)), set.group.value, row.integer(1), row.integer(3),
        row.integer(4) }
        .fits(row.integer(2));
}

constexpr std::array kCountStats { Stat::Nans, Stat::PosInfs, Stat::NegInfs };

}

TileSource::TileSource(
    std::uint64_t runHash, std::shared_ptr<series::BlockCache> cache, std::shared_ptr<Helpers> helpers)
    : m_runHash(runHash)
    , m_cache(std::move(cache))
    , m_helpers(std::move(helpers))
{
}

Expected<std::unique_ptr<TileSource>> TileSource::make(
    sqlite3* db, std::uint64_t runHash, std::shared_ptr<series::BlockCache> cache, std::shared_ptr<Helpers> helpers)
{
    std::unique_ptr<TileSource> source(new TileSource(runHash, std::move(cache), std::move(helpers)));
    const std::pair<Statement*, const char*> wanted[] {
        { &source->m_heads,
            "SELECT id, c0, crc, first_step, last_step FROM tile WHERE lvl=?1 AND stat=?2 AND grp=?3 AND c0>=?4 AND "
            "c0<?5 ORDER BY c0" },
        { &source->m_newest,
            "SELECT coalesce(max(c0), -1) FROM tile WHERE lvl=0 AND stat=?1 AND grp=?2 AND c0 < 1 << 48" },
        { &source->m_blob, "SELECT data, lvl, stat, grp, c0 FROM tile WHERE id=?1" },
        { &source->m_place,
            "SELECT id, c0, crc, first_step, last_step FROM tile WHERE lvl=0 AND stat=?1 AND grp=?2 AND c0=?3" },
    };
    for (const auto& [statement, sql] : wanted) {
        auto prepared = Statement::prepare(db, sql);
        if (!prepared)
            return tl::unexpected<Error>(std::move(prepared.error()));
        *statement = std::move(*prepared);
    }
    return source;
}

Expected<std::vector<TileHead>> TileSource::heads(const TileSet& set, int level, std::int64_t from, std::int64_t to)
{
    std::vector<TileHead> heads;
    m_heads.reset();
    m_heads.bind(1, level)
        .bind(2, static_cast<int>(storedStat(set)))
        .bind(3, set.group.value)
        .bind(4, from)
        .bind(5, to);
    for (;;) {
        const auto row = m_heads.step();
        if (!row)
            return tl::unexpected<Error>(row.error());
        if (!*row)
            return heads;
        heads.push_back(headOf(m_heads));
        // No tile of ours begins there, or covers nothing, or is this one.
        if (heads.back().firstColumn % tileColumns(level) != 0 || heads.back().steps.isEmpty()
            || !isOwn(m_heads, set, level)) {
            heads.pop_back();
            m_misplaced.insert(set.group);
        }
    }
}

Expected<std::int64_t> TileSource::newestFirstColumn(const TileSet& set)
{
    m_newest.reset();
    m_newest.bind(1, static_cast<int>(storedStat(set))).bind(2, set.group.value);
    const auto row = m_newest.step();
    if (!row)
        return tl::unexpected<Error>(row.error());
    const std::int64_t newest = *row ? m_newest.integer(0) : -1;
    m_newest.reset();
    return newest;
}

TileSource::Scan::Scan(TileSource& source)
    : m_source(source)
{
    source.m_scan = this;
}

TileSource::Scan::~Scan()
{
    m_source.m_scan = nullptr;
    m_source.m_cache->drop(m_kept);
}

void TileSource::keep(const series::BlockKey& key, std::shared_ptr<const series::CachedBlock> block)
{
    if (m_scan)
        m_scan->m_kept.push_back(key);
    m_cache->put(key, std::move(block));
}

void TileSource::keep(
    const TileSet& set, int level, const TileHead& head, std::span<const int> subBlocks, const Blocks& blocks)
{
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (blocks[i])
            keep(key(set, level, head, subBlocks[i]), blocks[i]);
    }
}

series::BlockKey TileSource::key(const TileSet& set, int level, const TileHead& head, int part) const
{
    series::BlockKey key;
    key.run = m_runHash;
    key.group = set.group.value;
    key.firstColumn = head.firstColumn;
    key.crc = head.crc;
    key.level = static_cast<std::uint8_t>(level);
    key.stat = static_cast<std::uint8_t>(set.stat);
    key.part = static_cast<std::uint16_t>(part);
    return key;
}

Expected<TileSource::Blob> TileSource::load(const TileSet& set, int level, const TileHead& head)
{
    m_blob.reset();
    m_blob.bind(1, head.id);
    const auto row = m_blob.step();
    if (!row)
        return tl::unexpected<Error>(row.error());
    if (!*row)
        return failure(ErrorCode::Damaged, "a tile is gone");
    const bool isHere = m_blob.integer(1) == level && m_blob.integer(2) == static_cast<int>(storedStat(set))
        && m_blob.integer(3) == set.group.value && m_blob.integer(4) == head.firstColumn;
    Blob blob { head, std::string(m_blob.blob(0)) };
    m_blob.reset();
    if (!isHere)
        return failure(ErrorCode::Damaged, "a tile lies in another's place");
    return blob;
}

Expected<TileSource::Blob> TileSource::loadCounts(const TileSet& set, Stat stat, std::int64_t firstColumn)
{
    m_place.reset();
    m_place.bind(1, static_cast<int>(stat)).bind(2, set.group.value).bind(3, firstColumn);
    const auto row = m_place.step();
    if (!row)
        return tl::unexpected<Error>(row.error());
    if (!*row)
        return failure(ErrorCode::Damaged, "a tile's counts are gone");
    const TileHead head = headOf(m_place);
    const bool isHere = isOwn(m_place, with(set, stat), 0);
    m_place.reset();
    if (!isHere)
        return failure(ErrorCode::Damaged, "a tile's counts are those of another");
    return load(with(set, stat), 0, head);
}

Expected<TileSource::Stored> TileSource::loadAll(const TileSet& set, int level, const TileHead& head)
{
    auto tile = load(set, level, head);
    if (!tile)
        return tl::unexpected<Error>(std::move(tile.error()));
    Stored stored { std::move(*tile), {} };
    for (std::size_t i = 0; level == 0 && !isWhole(set.stat) && i < kCountStats.size(); ++i) {
        if ((set.counts >> i & 1) == 0)
            continue;
        auto counts = loadCounts(set, kCountStats[i], head.firstColumn);
        if (!counts)
            return tl::unexpected<Error>(std::move(counts.error()));
        stored.counts[i] = std::move(*counts);
    }
    return stored;
}

Expected<TileView> TileSource::opened(const Blob& blob)
{
    if (crc32c(blob.bytes) != blob.head.crc)
        return failure(ErrorCode::Damaged, "a tile's checksum does not fit");
    auto view = openTile(blob.bytes);
    if (!view)
        return view;
    const auto& first = view->firstSteps();
    const auto& last = view->lastSteps();
    if (*std::min_element(first.begin(), first.end()) != blob.head.steps.first
        || *std::max_element(last.begin(), last.end()) != blob.head.steps.last)
        return failure(ErrorCode::Damaged, "a tile has other steps than its row says");
    return view;
}

Expected<std::shared_ptr<const TileSteps>> TileSource::steps(
    const TileSet& set, int level, const TileHead& head, std::span<const int> subBlocks)
{
    if (set.stat == Stat::AbsMax)
        return steps(with(set, Stat::Max), level, head, subBlocks);
    if (const auto cached = m_cache->find(key(set, level, head, kStepsPart)))
        return std::static_pointer_cast<const TileSteps>(cached);
    const auto stored = loadAll(set, level, head);
    if (!stored)
        return tl::unexpected<Error>(stored.error());
    // Kept only when the whole place can be read: a planner must meet damage every time.
    const auto decoded = decode(set, level, *stored, subBlocks);
    if (!decoded)
        return tl::unexpected<Error>(decoded.error());
    keep(set, level, head, subBlocks, decoded->blocks);
    keep(key(set, level, head, kStepsPart), decoded->steps);
    return decoded->steps;
}

void TileSource::readAhead(
    const TileSet& set, int level, std::span<const TileHead> heads, std::span<const int> subBlocks)
{
    struct Tile {
        const TileHead& head;
        std::optional<Decoded> decoded {};
    };
    std::vector<Tile> tiles;
    for (const TileHead& head : heads) {
        if (set.stat != Stat::AbsMax && !m_cache->find(key(set, level, head, kStepsPart)))
            tiles.push_back({ head });
    }
    std::mutex reading; // of the connection, which one thread at a time may use
    std::size_t next = 0;
    const auto work = [&] {
        for (;;) {
            std::unique_lock lock(reading);
            if (next == tiles.size())
                return;
            Tile& tile = tiles[next++];
            const auto stored = loadAll(set, level, tile.head);
            lock.unlock();
            if (!stored)
                continue;
            if (auto decoded = decode(set, level, *stored, subBlocks))
                tile.decoded = std::move(*decoded);
        }
    };
    const std::size_t threads = std::min<std::size_t>(std::thread::hardware_concurrency(), tiles.size() / kTilesWorth);
    m_helpers->run(std::max<std::size_t>(threads, 1) - 1, work);
    for (const Tile& tile : tiles) {
        if (!tile.decoded)
            continue;
        keep(set, level, tile.head, subBlocks, tile.decoded->blocks);
        keep(key(set, level, tile.head, kStepsPart), tile.decoded->steps);
    }
}

Expected<TileSource::Blocks> TileSource::lanes(
    const TileSet& set, int level, const TileHead& head, std::span<const int> subBlocks)
{
    Blocks blocks;
    for (const int subBlock : subBlocks) {
        const auto cached = m_cache->find(key(set, level, head, subBlock));
        if (!cached)
            break;
        blocks.push_back(std::static_pointer_cast<const LaneBlock>(cached));
    }
    if (blocks.size() == subBlocks.size())
        return blocks;
    if (set.stat == Stat::AbsMax)
        return absMaxLanes(set, level, head, subBlocks);
    const auto stored = loadAll(set, level, head);
    if (!stored)
        return tl::unexpected<Error>(stored.error());
    const auto missing = subBlocks.subspan(blocks.size());
    auto rest = decode(set, level, *stored, missing);
    if (!rest)
        return tl::unexpected<Error>(std::move(rest.error()));
    keep(set, level, head, missing, rest->blocks);
    std::move(rest->blocks.begin(), rest->blocks.end(), std::back_inserter(blocks));
    return blocks;
}

Expected<TileSource::Blocks> TileSource::absMaxLanes(
    const TileSet& set, int level, const TileHead& head, std::span<const int> subBlocks)
{
    const TileSet minSet = with(set, Stat::Min);
    const auto minHeads = heads(minSet, level, head.firstColumn, head.firstColumn + 1);
    if (!minHeads)
        return tl::unexpected<Error>(minHeads.error());
    if (minHeads->empty())
        return failure(ErrorCode::Damaged, "a tile is gone");
    auto mins = lanes(minSet, level, minHeads->front(), subBlocks);
    if (!mins)
        return mins;
    auto maxes = lanes(with(set, Stat::Max), level, head, subBlocks);
    if (!maxes)
        return maxes;
    Blocks blocks;
    for (std::size_t i = 0; i < subBlocks.size(); ++i) {
        const auto& min = (*mins)[i];
        const auto& max = (*maxes)[i];
        const bool fits = min && max && min->lanes() == max->lanes() && min->columns() == max->columns();
        blocks.push_back(fits ? LaneBlock::absMax(*min, *max) : nullptr);
        if (fits)
            keep(key(set, level, head, subBlocks[i]), blocks.back());
    }
    return blocks;
}

Expected<TileSource::Decoded> TileSource::decode(
    const TileSet& set, int level, const Stored& stored, std::span<const int> subBlocks)
{
    const auto tile = opened(stored.tile);
    if (!tile)
        return tl::unexpected<Error>(tile.error());
    std::array<std::optional<TileView>, kCountStats.size()> counts;
    std::array<const TileView*, kCountStats.size()> views {};
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (!stored.counts[i])
            continue;
        auto count = opened(*stored.counts[i]);
        if (!count)
            return tl::unexpected<Error>(std::move(count.error()));
        counts[i] = std::move(*count);
        views[i] = &*counts[i];
        // Without its counts a value over the finite elements would pass for all of them.
        if (views[i]->lanes() != tile->lanes() || views[i]->columns() != tile->columns())
            return failure(ErrorCode::Damaged, "a tile's counts are those of another");
    }
    Decoded decoded { std::make_shared<TileSteps>(), {} };
    decoded.steps->first = tile->firstSteps();
    decoded.steps->last = tile->lastSteps();
    for (const int subBlock : subBlocks) {
        if (subBlock >= tile->subBlocks()) {
            decoded.blocks.push_back(nullptr);
            continue;
        }
        auto block = set.shares ? LaneBlock::fromBins(*tile, level > 0, *set.shares, subBlock)
            : level == 0        ? LaneBlock::fromSamples(*tile, views, set.stat, subBlock)
                                : LaneBlock::fromBuckets(*tile, subBlock);
        if (!block)
            return tl::unexpected<Error>(std::move(block.error()));
        decoded.blocks.push_back(std::move(*block));
    }
    return decoded;
}

}
