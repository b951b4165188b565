// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/core/ids.h>
#include <telltale/core/kinds.h>
#include <telltale/series/blockcache.h>
#include <telltale/store/helpers.h>
#include <telltale/store/laneblock.h>
#include <telltale/store/sqlite.h>

namespace telltale::store {

/// Where a stored tile lies and what it covers, without its bytes.
struct TileHead {
    std::int64_t id = 0;
    std::int64_t firstColumn = 0;
    std::uint32_t crc = 0;
    StepRange steps; ///< smallest and largest
};

/// The tiles of one statistic of one group. `counts` tells which counts of non-finite elements lie beside it. AbsMax is
/// derived from Min and Max; its heads are those of Max. Shares of number formats are of Hist.
struct TileSet {
    GroupId group;
    Stat stat = Stat::Unspecified;
    std::uint8_t counts = 0; ///< bits: 1 Nans, 2 PosInfs, 4 NegInfs
    std::shared_ptr<const BinShares> shares {}; ///< of such a share, and null else
};

/// The steps of a tile's columns (or buckets).
struct TileSteps : series::CachedBlock {
    std::vector<Step> first;
    std::vector<Step> last;

    std::size_t byteSize() const override { return sizeof(TileSteps) + (first.size() + last.size()) * sizeof(Step); }
};

/// Reads stored tiles: heads, steps and decoded lanes, through the cache. A blob whose crc does not fit gives
/// ErrorCode::Damaged. Thread: its reader's.
class TileSource {
public:
    using Blocks = std::vector<std::shared_ptr<const LaneBlock>>;

    /// A reading of much that nobody looks at: what is decoded while it lives leaves the cache with it.
    class Scan {
    public:
        explicit Scan(TileSource& source);
        Scan(const Scan&) = delete;
        Scan& operator=(const Scan&) = delete;
        ~Scan();

    private:
        friend class TileSource;
        TileSource& m_source;
        std::vector<series::BlockKey> m_kept;
    };

    static Expected<std::unique_ptr<TileSource>> make(sqlite3* db, std::uint64_t runHash,
        std::shared_ptr<series::BlockCache> cache, std::shared_ptr<Helpers> helpers);

    /// Heads of one level with first column in [from, to), by first column.
    Expected<std::vector<TileHead>> heads(const TileSet& set, int level, std::int64_t from, std::int64_t to);
    /// The newest first column of level 0, -1 without any tile.
    Expected<std::int64_t> newestFirstColumn(const TileSet& set);
    /// Loading the blob for its steps decodes the sub-blocks that the caller will want too.
    Expected<std::shared_ptr<const TileSteps>> steps(
        const TileSet& set, int level, const TileHead& head, std::span<const int> subBlocks);
    /// Reads tiles whose steps will be asked for: some threads decode what the connection gives them one by one. Those
    /// that cannot be read are left to who asks for them.
    void readAhead(const TileSet& set, int level, std::span<const TileHead> heads, std::span<const int> subBlocks);
    /// The lanes of the wanted sub-blocks, in their order; null where the tile ends before. The blob is read once at
    /// most.
    Expected<Blocks> lanes(const TileSet& set, int level, const TileHead& head, std::span<const int> subBlocks);
    /// Whether a tile was met among those of the group, and left out, that does not belong there.
    bool hasMisplaced(GroupId group) const { return m_misplaced.contains(group); }

private:
    /// A blob as it was read, and what its row says of it.
    struct Blob {
        TileHead head;
        std::string bytes;
    };
    /// A tile with the counts that lie beside it.
    struct Stored {
        Blob tile;
        std::array<std::optional<Blob>, 3> counts;
    };
    struct Decoded {
        std::shared_ptr<TileSteps> steps;
        Blocks blocks; ///< null where the tile ends before
    };
    TileSource(std::uint64_t runHash, std::shared_ptr<series::BlockCache> cache, std::shared_ptr<Helpers> helpers);
    void keep(const series::BlockKey& key, std::shared_ptr<const series::CachedBlock> block);
    void keep(
        const TileSet& set, int level, const TileHead& head, std::span<const int> subBlocks, const Blocks& blocks);
    series::BlockKey key(const TileSet& set, int level, const TileHead& head, int part) const;
    /// The row must say of itself what the index that led to it says.
    Expected<Blob> load(const TileSet& set, int level, const TileHead& head);
    Expected<Blob> loadCounts(const TileSet& set, Stat stat, std::int64_t firstColumn);
    Expected<Stored> loadAll(const TileSet& set, int level, const TileHead& head);
    /// The blob must have the steps that its row names. The view looks into its bytes. Thread: any.
    static Expected<TileView> opened(const Blob& blob);
    /// Thread: any.
    static Expected<Decoded> decode(
        const TileSet& set, int level, const Stored& stored, std::span<const int> subBlocks);

    const std::uint64_t m_runHash;
    const std::shared_ptr<series::BlockCache> m_cache;
    const std::shared_ptr<Helpers> m_helpers;
    Expected<Blocks> absMaxLanes(const TileSet& set, int level, const TileHead& head, std::span<const int> subBlocks);

    Scan* m_scan = nullptr;
    std::set<GroupId> m_misplaced;
    Statement m_heads;
    Statement m_newest;
    Statement m_blob;
    Statement m_place;
};

}
