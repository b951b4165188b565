// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/tilesealer.h>

#include <algorithm>
#include <numeric>

#include <telltale/core/bytes.h>
#include <telltale/store/pyramid.h>
#include <telltale/store/tilecodec.h>
#include <telltale/store/tilerow.h>

namespace telltale::store {

using series::kTileColumns;
using series::OpenTile;
using series::PlaneType;

namespace {

std::size_t bytesOf(const std::vector<std::string>& pieces)
{
    return std::accumulate(pieces.begin(), pieces.end(), std::size_t { 0 },
        [](std::size_t sum, const std::string& piece) { return sum + piece.capacity(); });
}

StepRange rangeOf(std::span<const Step> first, std::span<const Step> last)
{
    return { *std::min_element(first.begin(), first.end()), *std::max_element(last.begin(), last.end()) };
}

template <typename T>
void copyBlock(OpenTile& tile, int stat, int firstLane, int lanes, int columns, const std::vector<T>& cells)
{
    std::vector<T> row(static_cast<std::size_t>(lanes));
    for (int column = 0; column < columns; ++column) {
        for (int lane = 0; lane < lanes; ++lane)
            row[static_cast<std::size_t>(lane)] = cells[static_cast<std::size_t>(lane * columns + column)];
        tile.setLanes(firstLane, stat, column, std::span<const T>(row));
    }
}

Expected<void> loadStat(OpenTile& tile, int index, const TileView& view)
{
    const Stat stat = tile.stats()[static_cast<std::size_t>(index)];
    const PlaneType type = view.planeType(PlaneRole::Value);
    const bool integers = isWhole(stat) && type != PlaneType::F64;
    for (int block = 0; block < view.subBlocks(); ++block) {
        const int lanes = view.lanesOf(block);
        const auto cells = static_cast<std::size_t>(lanes * view.columns());
        const auto decodeInto = [&]<typename T>(std::vector<T> values, auto decode) -> Expected<void> {
            values.resize(cells);
            if (Expected<void> ok = decode(values.data()); !ok)
                return ok;
            copyBlock(tile, index, block * kSubBlockSeries, lanes, view.columns(), values);
            return {};
        };
        Expected<void> ok;
        if (integers || type == PlaneType::U64)
            ok = decodeInto(std::vector<std::uint64_t> {},
                [&](std::uint64_t* out) { return view.decodeIntegers(PlaneRole::Value, block, out); });
        else if (type == PlaneType::F32)
            ok = decodeInto(
                std::vector<float> {}, [&](float* out) { return view.decodeFloats(PlaneRole::Value, block, out); });
        else
            ok = decodeInto(
                std::vector<double> {}, [&](double* out) { return view.decode(PlaneRole::Value, block, out); });
        if (!ok)
            return ok;
    }
    return {};
}

}

Expected<std::unique_ptr<TileSealer>> TileSealer::create(sqlite3* db)
{
    auto sealer = std::unique_ptr<TileSealer>(new TileSealer(db));
    struct {
        Statement* statement;
        std::string_view sql;
    } const statements[] = {
        { &sealer->m_insert,
            "INSERT OR REPLACE INTO tile(lvl, stat, grp, c0, first_step, last_step, crc, data) "
            "VALUES(?, ?, ?, ?, ?, ?, ?, ?)" },
        { &sealer->m_select, "SELECT crc, data FROM tile WHERE lvl = ? AND stat = ? AND grp = ? AND c0 = ?" },
        { &sealer->m_delete, "DELETE FROM tile WHERE lvl = ? AND grp = ? AND c0 + ? > ?" },
    };
    for (const auto& [statement, sql] : statements) {
        auto prepared = Statement::prepare(db, sql);
        if (!prepared)
            return tl::unexpected<Error>(std::move(prepared.error()));
        *statement = std::move(*prepared);
    }
    return sealer;
}

Expected<void> TileSealer::insert(
    int level, Stat stat, GroupId group, std::int64_t c0, Step first, Step last, const std::string& data)
{
    const TileRow row { level, static_cast<int>(stat), group.value, c0, first.value, last.value };
    return m_insert.bind(1, level)
        .bind(2, static_cast<int>(stat))
        .bind(3, group.value)
        .bind(4, c0)
        .bind(5, first.value)
        .bind(6, last.value)
        .bind(7, row.crcWith(data))
        .bindBlob(8, data)
        .run();
}

Expected<std::string> TileSealer::read(int level, Stat stat, GroupId group, std::int64_t c0)
{
    m_select.bind(1, level).bind(2, static_cast<int>(stat)).bind(3, group.value).bind(4, c0);
    auto row = m_select.step();
    if (!row)
        return tl::unexpected<Error>(std::move(row.error()));
    if (!*row)
        return std::string();
    std::string data(m_select.blob(1));
    const bool whole = crc32c(data) == static_cast<std::uint32_t>(m_select.integer(0));
    m_select.reset();
    if (!whole)
        return failure(ErrorCode::Damaged, "a tile of group " + std::to_string(group.value) + " has a wrong checksum");
    return data;
}

void TileSealer::addPieces(const LiveGroup& group, const OpenTile& tile, bool areNeeded)
{
    const std::pair key { group.id, tile.firstColumn() };
    removePieces(key.first, key.second, key.second + 1);
    if (!areNeeded && m_pieceBytes >= m_mostPieceBytes)
        return;
    const auto flags = nonFiniteFlags(tile);
    std::vector<std::string> pieces;
    pieces.reserve(tile.stats().size());
    for (std::size_t s = 0; s < tile.stats().size(); ++s) {
        pieces.push_back(
            isIdentity(tile.stats()[s]) ? std::string() : encodeBuckets(reduceTile(tile, static_cast<int>(s), flags)));
        pieces.back().shrink_to_fit(); // it grew by halves, and is kept for hundreds of steps
    }
    m_pieceBytes += bytesOf(pieces);
    m_pieces[key] = std::move(pieces);
}

void TileSealer::removePieces(GroupId group, std::int64_t from, std::int64_t to)
{
    const auto first = m_pieces.lower_bound({ group, from });
    const auto last = m_pieces.lower_bound({ group, to });
    for (auto piece = first; piece != last; ++piece)
        m_pieceBytes -= bytesOf(piece->second);
    m_pieces.erase(first, last);
}

/// Makes the pieces of a level-1 tile that were not kept, from the tiles of level 0.
Expected<void> TileSealer::recallPieces(const LiveGroup& group, const std::vector<Stat>& stats, std::int64_t c0)
{
    for (std::int64_t from = c0; from < c0 + tileColumns(1); from += kTileColumns) {
        if (m_pieces.contains({ group.id, from }))
            continue;
        const auto stored = read(0, stats.front(), group.id, from);
        if (!stored)
            return tl::unexpected<Error>(stored.error());
        if (stored->empty())
            continue;
        auto tile = load(group, stats, from);
        if (!tile)
            return tl::unexpected<Error>(std::move(tile.error()));
        addPieces(group, **tile, true);
    }
    return {};
}

Expected<void> TileSealer::seal(const LiveGroup& group, const OpenTile& tile, bool isClosed)
{
    m_home.check();
    const int columns = tile.writtenColumns();
    std::vector<Step> steps;
    steps.reserve(static_cast<std::size_t>(columns));
    for (int i = 0; i < columns; ++i)
        steps.push_back(tile.stepAt(i));
    const StepRange range = rangeOf(steps, steps);
    TilePlanes planes;
    planes.lanes = tile.seriesCount();
    planes.columns = columns;
    planes.firstSteps = steps;
    planes.presence = tile.presence();
    planes.planes.resize(1);
    for (std::size_t s = 0; s < tile.stats().size(); ++s) {
        const series::PlaneData data = tile.plane(static_cast<int>(s));
        planes.planes[0] = { PlaneRole::Value, data.type, data.values, 1, static_cast<std::size_t>(tile.seriesCount()),
            tile.stats()[s] == Stat::Hist };
        auto ok = insert(0, tile.stats()[s], group.id, tile.firstColumn(), range.first, range.last, encodeTile(planes));
        if (!ok)
            return ok;
    }
    addPieces(group, tile, false);
    return isClosed ? writeLevels(group, tile.stats(), tile.firstColumn() + kTileColumns, false) : Expected<void> {};
}

Expected<void> TileSealer::writeLevels(
    const LiveGroup& group, const std::vector<Stat>& stats, std::int64_t columns, bool close)
{
    const bool adds = factsOf(stats.front()).reduction == Reduction::Sum;
    for (int level = 1; level <= kMaxLevel; ++level) {
        const std::int64_t width = tileColumns(level);
        const bool complete = columns % width == 0;
        // A level of a few buckets is not worth its rows; of histograms, a lane for each bin, none that is no full tile
        // wide: it would only serve pictures narrower than an icon.
        const std::int64_t least = adds ? kLevelBuckets : 4;
        if (close ? columns < least * bucketColumns(level) : !complete)
            break;
        if (close && complete)
            continue;
        if (auto ok = writeLevel(group, stats, level, (columns - 1) / width * width); !ok)
            return ok;
    }
    return {};
}

Expected<void> TileSealer::writeLevel(
    const LiveGroup& group, const std::vector<Stat>& stats, int level, std::int64_t c0)
{
    const std::int64_t part = tileColumns(level - 1);
    if (auto ok = level == 1 ? recallPieces(group, stats, c0) : Expected<void> {}; !ok)
        return ok;
    for (std::size_t s = 0; s < stats.size(); ++s) {
        if (isIdentity(stats[s]))
            continue; // no bucket of them says anything
        LevelBuckets buckets;
        buckets.adds = factsOf(stats[s]).reduction == Reduction::Sum;
        buckets.lanes = group.lanes;
        for (std::int64_t from = c0; from < c0 + tileColumns(level); from += part) {
            std::string stored;
            if (level == 1) {
                const auto piece = m_pieces.find({ group.id, from });
                if (piece != m_pieces.end())
                    stored = piece->second[s];
            } else {
                auto read = this->read(level - 1, stats[s], group.id, from);
                if (!read)
                    return tl::unexpected<Error>(std::move(read.error()));
                stored = std::move(*read);
            }
            if (stored.empty())
                break;
            buckets.padTo((from - c0) / bucketColumns(level));
            const auto view = openTile(stored);
            if (!view)
                return tl::unexpected<Error>(view.error());
            if (auto ok = appendBuckets(buckets, *view, level == 1 ? 1 : 4); !ok)
                return ok;
        }
        if (buckets.buckets() == 0)
            return {};
        const StepRange range = rangeOf(buckets.firstSteps, buckets.lastSteps);
        if (auto ok = insert(level, stats[s], group.id, c0, range.first, range.last, encodeBuckets(buckets)); !ok)
            return ok;
    }
    if (level == 1)
        removePieces(group.id, 0, c0 + tileColumns(1));
    return {};
}

Expected<void> TileSealer::sealPartialLevels(
    const LiveGroup& group, const std::vector<Stat>& stats, std::int64_t columns)
{
    return writeLevels(group, stats, columns, true);
}

Expected<void> TileSealer::resume(const LiveGroup& group, const std::vector<Stat>& stats)
{
    for (std::int64_t c0 = group.sealed / tileColumns(1) * tileColumns(1); c0 < group.sealed; c0 += kTileColumns) {
        auto tile = load(group, stats, c0);
        if (!tile)
            return tl::unexpected<Error>(std::move(tile.error()));
        addPieces(group, **tile, false);
    }
    return {};
}

Expected<std::shared_ptr<OpenTile>> TileSealer::load(
    const LiveGroup& group, const std::vector<Stat>& stats, std::int64_t firstColumn)
{
    m_home.check();
    auto tile = std::make_shared<OpenTile>(group.id, firstColumn, stats, group.lanes);
    for (std::size_t s = 0; s < stats.size(); ++s) {
        auto data = read(0, stats[s], group.id, firstColumn);
        if (!data)
            return tl::unexpected<Error>(std::move(data.error()));
        const auto view = openTile(*data);
        if (!view)
            return tl::unexpected<Error>(view.error());
        if (view->lanes() != group.lanes || (s > 0 && view->columns() != tile->writtenColumns()))
            return failure(ErrorCode::Damaged, "the tiles of a group do not agree");
        if (s == 0) {
            for (int column = 0; column < view->columns(); ++column) {
                tile->appendColumn(view->firstSteps()[static_cast<std::size_t>(column)]);
                for (int lane = 0; lane < group.lanes; ++lane)
                    tile->setPresent(lane, column, view->isPresent(lane, column));
            }
        }
        if (auto ok = loadStat(*tile, static_cast<int>(s), *view); !ok)
            return tl::unexpected<Error>(std::move(ok.error()));
    }
    return tile;
}

Expected<void> TileSealer::removeFrom(GroupId group, std::int64_t column)
{
    for (int level = 0; level <= kMaxLevel; ++level) {
        auto ok = m_delete.bind(1, level).bind(2, group.value).bind(3, tileColumns(level)).bind(4, column).run();
        if (!ok)
            return ok;
    }
    return {};
}

}
