// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/series/opentile.h>
#include <telltale/series/pixelmap.h>
#include <telltale/store/tilesource.h>

namespace telltale::store {

/// A stretch of consecutive columns (or buckets) of one tile, and the pixel that each goes to.
struct Piece {
    int level = 0;
    TileHead head; ///< when sealed
    std::shared_ptr<const series::OpenTile> open; ///< else
    int from = 0;
    std::vector<std::int32_t> pixels;

    /// Where its columns begin in what is read of it: of an open tile, these columns alone.
    int begin() const { return open ? 0 : from; }
};

/// Where the answer for one group and one range of steps lies: every collected step of the range in exactly one piece.
struct ColumnPlan {
    std::vector<Piece> pieces; ///< by step
    std::vector<StepRange> damaged;
    int level = 0; ///< coarsest level used
};

/// Tiles of a group that are not sealed yet, oldest first; taken before the read transaction begins, so that what is
/// sealed in between is seen twice, never not at all.
using OpenTiles = std::vector<std::shared_ptr<const series::OpenTile>>;

/// Chooses, from the coarsest level down, the tiles that answer for a range of steps. A bucket is used when all of it
/// lies inside the range and it is no wider than the narrowest pixel, so that none stays empty that has a sample; finer
/// levels answer for the rest. A damaged tile of a pyramid level is answered for by the finer ones, too.
///
/// A column counts only when its step is smaller than every later column's: after a rewind the later columns answer
/// from their first step on. A rewind inside one bucket shows when it reaches behind the bucket's first step, or
/// repeats more steps than the bucket's span can hold; otherwise the bucket keeps the samples of both passes.
class ColumnPlanner {
public:
    enum class Depth : std::uint8_t {
        Pixels, ///< the coarsest level that a pixel allows
        EverySample, ///< level 0 alone
        NewestPiece, ///< level 0 alone, and no more than the newest piece
    };

    /// `range` is inside the map's.
    ColumnPlanner(TileSource& source, const TileSet& set, OpenTiles open, const series::PixelMap& map, StepRange range,
        std::span<const int> subBlocks, Depth depth = Depth::Pixels);

    Expected<ColumnPlan> make();

private:
    static constexpr std::int64_t kNoStep = std::numeric_limits<std::int64_t>::max();

    /// Columns [from, to); `before` is the last step of the columns right before `from`.
    struct Stretch {
        std::int64_t from = 0;
        std::int64_t to = 0;
        std::int64_t before = 0;
    };

    bool isAnsweredByOpen();
    Expected<void> descend(int level, Stretch stretch);
    Expected<void> takeTile(int level, const TileHead& head, Stretch stretch);
    Expected<void> takeBuckets(int level, const TileHead& head, const TileSteps& steps, Stretch stretch);
    Expected<void> takeSamples(Stretch stretch);
    void readSamplesAhead(Stretch stretch);
    Expected<void> takeSealed(const TileHead& head, Stretch stretch);
    void takeOpen(const std::shared_ptr<const series::OpenTile>& tile, Stretch stretch);
    void takeColumns(const Piece& piece, std::int64_t firstColumn, std::span<const Step> steps, Stretch stretch);
    void keep(Piece piece, int from, std::vector<std::int32_t>& newestFirst);
    bool canSkip(const TileHead& head, std::int64_t end, Stretch stretch) const;
    bool isIrrelevant(StepRange steps) const;
    static bool isWhole(const TileHead& head, Stretch stretch);
    bool isPassedOver(const TileHead& head, Stretch stretch) const;
    /// `before`: the last step of the bucket before.
    bool fitsPixel(StepRange steps, std::int64_t before) const;
    std::int32_t pixelFor(StepRange steps) const;
    bool isDone() const { return m_depth == Depth::NewestPiece && !m_plan.pieces.empty(); }
    void lower(Step step) { m_bound = std::min(m_bound, step.value); }

    TileSource& m_source;
    const TileSet m_set;
    const OpenTiles m_open;
    const series::PixelMap m_map;
    const StepRange m_range;
    const std::span<const int> m_subBlocks;
    const Depth m_depth;
    const std::int64_t m_narrowest; ///< steps in the narrowest pixel
    std::int64_t m_end = 0; ///< behind the newest sealed column of level 0, rounded up to a tile
    std::int64_t m_bound = kNoStep; ///< smallest step of all columns behind the cursor
    ColumnPlan m_plan; ///< newest piece first while it is made
};

}
