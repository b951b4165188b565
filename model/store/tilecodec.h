// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/core/ids.h>
#include <telltale/series/opentile.h>
#include <telltale/store/packedcounts.h>

namespace telltale::store {

// How the stat tiles of a group combine
// -------------------------------------
// Each (level, stat, group, c0) is one blob. At level 0 it has one plane, Value. A cell means, in this order:
//   not present                        -> not collected
//   the group has count stats          -> NaN, +Inf or -Inf when the count in the Nans, PosInfs, NegInfs tile of the
//   same (Nans, PosInfs, NegInfs)              group and c0 is above 0 (NaN over +Inf over -Inf), for all other stats
//   alike;
//                                         the value is still the one over the finite elements. A value that is itself
//                                         NaN or infinite is "absent": no finite element.
//   the group has no count stats       -> the value itself says NaN, +Inf or -Inf (scalars, imports).
// A count stat's own tile holds plain numbers, always finite.
//
// Levels k >= 1 have buckets of bucketColumns(k) collected steps, with planes Min, Max, Mean over the finite values and
// the counts Samples, Finite, Nans, PosInfs, NegInfs *of samples* with the rule above already applied: nothing needs to
// be combined. A bucket with Finite = 0 has 0 in Min, Max and Mean; Samples = 0 means not collected. Min and Max are
// exact; Mean is rounded to 16 bits of mantissa and kept within [Min, Max]. What adds up over steps (the counts of a
// histogram's bin) has Sum in place of Min, Max and Mean, exact up to 2^53; in runs of formats 1 and 2 it has those.
//
// A tile of level 0 has up to 256 columns, c0 a multiple of 256; one that was closed before it was full is followed by
// the tile at the next multiple, and the buckets of the columns that it lacks have no samples. A tile of level k >= 1
// has up to 64 buckets, c0 (in columns) a multiple of tileColumns(k). While a run is live only complete tiles are in
// the file; closing it writes the partial ones. A level may stop short of the newest columns, or be missing in a short
// run: finer levels cover the rest. Steps rise within a group except after a rewind (a training that goes back to an
// earlier step): then later columns win; where a step is repeated the later column wins too.

inline constexpr int kSubBlockSeries = 16; ///< series that are decoded together
inline constexpr int kLevelBuckets = 64; ///< buckets of a full tile of level >= 1
inline constexpr int kMaxLevel = 12;

/// Collected steps per cell: 1, 16, 64, 256, 1024, ...
constexpr std::int64_t bucketColumns(int level)
{
    return level == 0 ? 1 : std::int64_t { 1 } << (2 * (level + 1));
}
/// Collected steps per full tile: 256, 1024, 4096, 16384, ...
constexpr std::int64_t tileColumns(int level)
{
    return level == 0 ? series::kTileColumns : bucketColumns(level) * kLevelBuckets;
}

enum class PlaneRole : std::uint8_t {
    Value = 0,
    Min = 1,
    Max = 2,
    Mean = 3,
    Samples = 4,
    Finite = 5,
    Nans = 6,
    PosInfs = 7,
    NegInfs = 8,
    Sum = 9,
};

/// One plane to encode, wherever it lies in memory: value (lane, column) is element lane * laneStride +
/// column * columnStride of `values`. Zero planes need no array.
struct TilePlane {
    PlaneRole role = PlaneRole::Value;
    series::PlaneType type = series::PlaneType::Zero;
    const void* values = nullptr;
    std::size_t laneStride = 1;
    std::size_t columnStride = 1;
    bool areBins = false; ///< U64 only: bins of histograms, which are read together
};

/// Columns are counted in collected steps: far fewer than this, so that no sum of them overflows.
constexpr bool isColumn(std::int64_t column)
{
    return 0 <= column && column < std::int64_t { 1 } << 48;
}

/// What encodeTile needs. Level 0: lastSteps and presence as described; levels >= 1: lastSteps per bucket, no presence.
struct TilePlanes {
    int lanes = 0; ///< 1..128
    int columns = 0; ///< 1..256
    std::span<const Step> firstSteps; ///< one a column: the step, or the bucket's smallest
    std::span<const Step> lastSteps; ///< the bucket's largest; empty at level 0
    const std::uint8_t* presence = nullptr; ///< lane + column * lanes; null = all present
    std::vector<TilePlane> planes;
};

// Bytes of a tile, all numbers little-endian
//   0  u8   version, 1
//   1  u8   P, number of planes
//   2  u8   L, lanes
//   3  u8   flags: 1 = presence chunk follows, 2 = last steps follow
//   4  u16  C, columns
//   6  u16  0
//   8  P x { u8 role, u8 type (1 f32, 2 f64, 3 u64, 4 u64 of all lanes together), u16 0 }
//      directory: u32 for first steps, [u32 last steps], [u32 presence], then u32 for each plane and in it for each
//      sub-block of 16 lanes; one for all lanes together. An entry is chunk bytes | encoding << 29.
//      chunks in the order of the directory.
// Encodings: 0 zero (no bytes), 1 constant (one element), 2 byte-shuffled and zstd, 3 raw.
//   steps: 1 = { i64 first, i64 stride }, 2 = C x i64 differences to the previous step (the first to 0), shuffled, zstd
//   presence: ceil(C * L / 8) bytes, bit lane + column * L, always zstd without shuffle (2) or raw (3)
//   plane sub-block: lanes of the block x C elements, lane-major (time runs fastest)
//   all lanes together (from format 6 on, for histograms): 0, or 3 = packedcounts.h
std::string encodeTile(const TilePlanes& tile);

/// A tile's directory over the blob's bytes, which must outlive it. Opening decodes only the steps; each sub-block of
/// 16 series is decoded alone. Every size is checked against the blob: hostile bytes give ErrorCode::Damaged. Thread:
/// any (immutable).
class TileView {
public:
    int lanes() const { return m_lanes; }
    int columns() const { return m_columns; }
    int subBlocks() const { return (m_lanes + kSubBlockSeries - 1) / kSubBlockSeries; }
    int lanesOf(int subBlock) const;
    const std::vector<Step>& firstSteps() const { return m_firstSteps; }
    /// The same as firstSteps() at level 0.
    const std::vector<Step>& lastSteps() const { return m_lastSteps.empty() ? m_firstSteps : m_lastSteps; }

    bool hasPlane(PlaneRole role) const { return planeIndex(role) >= 0; }
    series::PlaneType planeType(PlaneRole role) const;
    /// The one value of all cells of the sub-block when it is stored as such; saves the decoding.
    std::optional<double> constant(PlaneRole role, int subBlock) const;
    /// Writes lanesOf(subBlock) x columns() values, lane-major.
    Expected<void> decode(PlaneRole role, int subBlock, double* out) const;
    /// The same for planes of planeType F32: half the memory.
    Expected<void> decodeFloats(PlaneRole role, int subBlock, float* out) const;
    /// The exact integers of a U64 or F32 plane (counts, checksums).
    Expected<void> decodeIntegers(PlaneRole role, int subBlock, std::uint64_t* out) const;
    /// Adds up the lanes [first, end), column by column: all of them to `all`, and those whose `isMarked` (from `first`
    /// on) is not 0 to `marked`, too. Exact for whole numbers up to 2^53.
    Expected<void> addLanes(
        PlaneRole role, int first, int end, const std::uint8_t* isMarked, double* all, double* marked) const;

    bool isAllPresent() const { return m_presence.empty(); }
    bool isPresent(int lane, int column) const;

private:
    friend Expected<TileView> openTile(std::string_view blob);
    struct Chunk {
        std::uint8_t encoding = 0;
        std::string_view bytes;
    };
    struct Plane {
        PlaneRole role = PlaneRole::Value;
        series::PlaneType type = series::PlaneType::F32;
        std::vector<Chunk> chunks;
        std::shared_ptr<const PackedCounts> together; ///< in place of chunks
    };

    int planeIndex(PlaneRole role) const;
    Expected<void> decodeRaw(const Plane& plane, int subBlock, char* out) const;
    template <typename T> Expected<void> decodeAs(PlaneRole role, int subBlock, T* out) const;

    int m_lanes = 0;
    int m_columns = 0;
    std::vector<Step> m_firstSteps;
    std::vector<Step> m_lastSteps;
    std::string m_presence; ///< bitmap
    std::vector<Plane> m_planes;
};

/// The caller has checked the blob's crc32c against tile.crc.
Expected<TileView> openTile(std::string_view blob);

}
