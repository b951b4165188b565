// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/tilesource.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <telltale/core/bytes.h>
#include <telltale/store/tilerow.h>

namespace telltale::store {
namespace {

constexpr int kStepsPart = 0xFFFF;
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

TileSource::TileSource(std::uint64_t runHash, std::shared_ptr<series::BlockCache> cache)
    : m_runHash(runHash)
    , m_cache(std::move(cache))
{
}

Expected<std::unique_ptr<TileSource>> TileSource::make(
    sqlite3* db, std::uint64_t runHash, std::shared_ptr<series::BlockCache> cache)
{
    std::unique_ptr<TileSource> source(new TileSource(runHash, std::move(cache)));
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

Expected<std::unique_ptr<TileSource::Loaded>> TileSource::load(const TileSet& set, int level, const TileHead& head)
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
    auto loaded = std::make_unique<Loaded>();
    loaded->bytes = m_blob.blob(0);
    m_blob.reset();
    if (!isHere)
        return failure(ErrorCode::Damaged, "a tile lies in another's place");
    if (crc32c(loaded->bytes) != head.crc)
        return failure(ErrorCode::Damaged, "a tile's checksum does not fit");
    auto view = openTile(loaded->bytes);
    if (!view)
        return tl::unexpected<Error>(std::move(view.error()));
    loaded->view = std::move(*view);
    const auto& first = loaded->view.firstSteps();
    const auto& last = loaded->view.lastSteps();
    if (*std::min_element(first.begin(), first.end()) != head.steps.first
        || *std::max_element(last.begin(), last.end()) != head.steps.last)
        return failure(ErrorCode::Damaged, "a tile has other steps than its row says");
    return loaded;
}

Expected<std::unique_ptr<TileSource::Loaded>> TileSource::loadCounts(
    const TileSet& set, Stat stat, std::int64_t firstColumn)
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

Expected<std::shared_ptr<const TileSteps>> TileSource::steps(
    const TileSet& set, int level, const TileHead& head, std::span<const int> subBlocks)
{
    if (set.stat == Stat::AbsMax)
        return steps(with(set, Stat::Max), level, head, subBlocks);
    if (const auto cached = m_cache->find(key(set, level, head, kStepsPart)))
        return std::static_pointer_cast<const TileSteps>(cached);
    const auto loaded = load(set, level, head);
    if (!loaded)
        return tl::unexpected<Error>(loaded.error());
    auto steps = std::make_shared<TileSteps>();
    steps->first = (*loaded)->view.firstSteps();
    steps->last = (*loaded)->view.lastSteps();
    // Kept only when the whole place can be read: a planner must meet damage every time.
    if (const auto decoded = decode(set, level, head, (*loaded)->view, subBlocks); !decoded)
        return tl::unexpected<Error>(decoded.error());
    keep(key(set, level, head, kStepsPart), steps);
    return steps;
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
    const auto loaded = load(set, level, head);
    if (!loaded)
        return tl::unexpected<Error>(loaded.error());
    auto rest = decode(set, level, head, (*loaded)->view, subBlocks.subspan(blocks.size()));
    if (!rest)
        return rest;
    std::move(rest->begin(), rest->end(), std::back_inserter(blocks));
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

Expected<TileSource::Blocks> TileSource::decode(
    const TileSet& set, int level, const TileHead& head, const TileView& tile, std::span<const int> subBlocks)
{
    const bool isAlone = isWhole(set.stat);
    std::array<std::unique_ptr<Loaded>, kCountStats.size()> counts;
    std::array<const TileView*, kCountStats.size()> views {};
    for (std::size_t i = 0; level == 0 && !isAlone && i < counts.size(); ++i) {
        if ((set.counts >> i & 1) == 0)
            continue;
        auto count = loadCounts(set, kCountStats[i], head.firstColumn);
        if (!count)
            return tl::unexpected<Error>(std::move(count.error()));
        counts[i] = std::move(*count);
        views[i] = &counts[i]->view;
        // Without its counts a value over the finite elements would pass for all of them.
        if (views[i]->lanes() != tile.lanes() || views[i]->columns() != tile.columns())
            return failure(ErrorCode::Damaged, "a tile's counts are those of another");
    }
    Blocks blocks;
    for (const int subBlock : subBlocks) {
        if (subBlock >= tile.subBlocks()) {
            blocks.push_back(nullptr);
            continue;
        }
        auto decoded = set.shares ? LaneBlock::fromBins(tile, level > 0, *set.shares, subBlock)
            : level == 0          ? LaneBlock::fromSamples(tile, views, set.stat, subBlock)
                                  : LaneBlock::fromBuckets(tile, subBlock);
        if (!decoded)
            return tl::unexpected<Error>(std::move(decoded.error()));
        if (*decoded)
            keep(key(set, level, head, subBlock), *decoded);
        blocks.push_back(std::move(*decoded));
    }
    return blocks;
}

}
