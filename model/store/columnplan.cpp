// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/columnplan.h>

#include <utility>

namespace telltale::store {

using series::OpenTile;

namespace {

constexpr int kAheadLevel = 2; ///< of the tiles whose samples are decoded at once: 16 tiles

}

ColumnPlanner::ColumnPlanner(TileSource& source, const TileSet& set, OpenTiles open, const series::PixelMap& map,
    StepRange range, std::span<const int> subBlocks, Depth depth)
    : m_source(source)
    , m_set(set)
    , m_open(std::move(open))
    , m_map(map)
    , m_range(range)
    , m_subBlocks(subBlocks)
    , m_depth(depth)
    , m_narrowest(std::max<std::int64_t>(map.range().count() / map.pixels(), 1))
{
}

Expected<ColumnPlan> ColumnPlanner::make()
{
    if (isAnsweredByOpen()) {
        std::reverse(m_plan.pieces.begin(), m_plan.pieces.end());
        return std::move(m_plan);
    }
    const auto newest = m_source.newestFirstColumn(m_set);
    if (!newest)
        return tl::unexpected<Error>(newest.error());
    m_end = *newest < 0 ? 0 : *newest + series::kTileColumns;
    int level = 0;
    while (level < kMaxLevel && tileColumns(level + 1) <= m_end * 4)
        ++level;
    if (auto ok = descend(level, { 0, kNoStep, std::numeric_limits<std::int64_t>::min() }); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    std::reverse(m_plan.pieces.begin(), m_plan.pieces.end());
    return std::move(m_plan);
}

/// Whether the open tiles reach back to the first step that is asked for: then the file, which has what is older, need
/// not be asked. So it is for whoever follows a run.
bool ColumnPlanner::isAnsweredByOpen()
{
    constexpr Stretch kAll { 0, kNoStep, std::numeric_limits<std::int64_t>::min() };
    const auto isAnswered = [this] { return m_bound <= m_range.first.value || isDone(); };
    for (auto it = m_open.rbegin(); it != m_open.rend() && !isAnswered(); ++it)
        takeOpen(*it, kAll);
    if (isAnswered())
        return true;
    m_bound = kNoStep;
    m_plan = {};
    return false;
}

/// Nothing in these steps belongs to the answer: outside the range, or taken over by later columns.
bool ColumnPlanner::isIrrelevant(StepRange steps) const
{
    return steps.last < m_range.first || m_range.last < steps.first || steps.first.value >= m_bound;
}

/// A bucket goes to the pixel of its middle. The next one's middle is no farther away than from its last step to that
/// of the one before it: within the narrowest pixel, no pixel between them stays empty.
bool ColumnPlanner::fitsPixel(StepRange steps, std::int64_t before) const
{
    const std::int64_t first = std::max(before + 1, m_range.first.value);
    return steps.last.value - first < m_narrowest || m_map.pixelOf(steps.first) == m_map.pixelOf(steps.last);
}

std::int32_t ColumnPlanner::pixelFor(StepRange steps) const
{
    return m_map.pixelOf(Step { steps.first.value + (steps.last.value - steps.first.value) / 2 });
}

/// A head speaks for the whole tile: only when all of it is asked for, and none of its columns can lie elsewhere.
bool ColumnPlanner::canSkip(const TileHead& head, std::int64_t end, Stretch stretch) const
{
    return isIrrelevant(head.steps) && head.firstColumn >= stretch.from && end <= std::min(stretch.to, m_end);
}

Expected<void> ColumnPlanner::descend(int level, Stretch stretch)
{
    if (stretch.from >= stretch.to || isDone())
        return {};
    if (level == 0)
        return takeSamples(stretch);
    const std::int64_t columns = tileColumns(level);
    const auto heads = m_source.heads(m_set, level, stretch.from / columns * columns, stretch.to);
    if (!heads)
        return tl::unexpected<Error>(heads.error());
    std::int64_t cursor = stretch.to;
    for (std::size_t i = heads->size(); i-- > 0;) {
        const TileHead& head = (*heads)[i];
        const std::int64_t end = head.firstColumn + columns;
        if (auto ok = descend(level - 1, { std::max(end, stretch.from), cursor, head.steps.last.value }); !ok)
            return ok;
        const std::int64_t before = i > 0 ? (*heads)[i - 1].steps.last.value : stretch.before;
        cursor = std::max(head.firstColumn, stretch.from);
        if (auto ok = takeTile(level, head, { cursor, std::min(end, stretch.to), before }); !ok)
            return ok;
    }
    return descend(level - 1, { stretch.from, cursor, stretch.before });
}

Expected<void> ColumnPlanner::takeTile(int level, const TileHead& head, Stretch stretch)
{
    if (canSkip(head, head.firstColumn + tileColumns(level), stretch)) {
        lower(head.steps.first);
        return {};
    }
    const bool isTooCoarse = head.steps.count() / kLevelBuckets > m_narrowest;
    if (m_depth != Depth::Pixels || isTooCoarse) {
        const std::int64_t fineBuckets = tileColumns(level) / bucketColumns(1);
        const bool isAllTooCoarse = m_depth == Depth::EverySample || head.steps.count() / fineBuckets > m_narrowest;
        if (level == kAheadLevel && isAllTooCoarse && m_depth != Depth::NewestPiece)
            readSamplesAhead(stretch);
        return descend(level - 1, stretch);
    }
    const auto steps = m_source.steps(m_set, level, head, m_subBlocks);
    if (!steps && steps.error().code != ErrorCode::Damaged)
        return tl::unexpected<Error>(steps.error());
    return steps ? takeBuckets(level, head, **steps, stretch) : descend(level - 1, stretch);
}

Expected<void> ColumnPlanner::takeBuckets(int level, const TileHead& head, const TileSteps& steps, Stretch stretch)
{
    const std::int64_t width = bucketColumns(level);
    const auto count = static_cast<std::int64_t>(steps.first.size());
    const std::int64_t covered = head.firstColumn + count * width;
    if (covered < stretch.to) {
        const Stretch rest { std::max(covered, stretch.from), stretch.to, steps.last.back().value };
        if (auto ok = descend(level - 1, rest); !ok)
            return ok;
    }
    const Piece piece { level, head, nullptr, 0, {} };
    std::vector<std::int32_t> pixels; // newest first
    for (std::int64_t b = std::min(count, (stretch.to - head.firstColumn + width - 1) / width) - 1; b >= 0; --b) {
        const std::int64_t from = head.firstColumn + b * width;
        if (from + width <= stretch.from)
            break;
        const auto i = static_cast<std::size_t>(b);
        const StepRange bucket { steps.first[i], steps.last[i] };
        const std::int64_t before = i > 0 ? steps.last[i - 1].value : stretch.before;
        // Without samples, in place of columns that a tile which was closed early does not have.
        if (b > 0 && b + 1 < count && bucket == StepRange { steps.last[i - 1], steps.last[i - 1] }) {
            keep(piece, static_cast<int>(b) + 1, pixels);
            continue;
        }
        const bool isAllAsked = from >= stretch.from && (from + width <= stretch.to || b + 1 == count);
        const bool isOnePass
            = before < bucket.first.value && (bucket.count() >= width || b + 1 == count) && bucket.last.value < m_bound;
        const bool isInside = m_range.first <= bucket.first && bucket.last <= m_range.last;
        if (isAllAsked && isIrrelevant(bucket)) {
            keep(piece, static_cast<int>(b) + 1, pixels);
            lower(bucket.first);
        } else if (isAllAsked && isOnePass && isInside && fitsPixel(bucket, before)) {
            pixels.push_back(pixelFor(bucket));
            lower(bucket.first);
        } else {
            keep(piece, static_cast<int>(b) + 1, pixels);
            const Stretch inner { std::max(from, stretch.from), std::min(from + width, stretch.to), before };
            if (auto ok = descend(level - 1, inner); !ok)
                return ok;
        }
        if (b == 0 || from <= stretch.from)
            keep(piece, static_cast<int>(b), pixels);
    }
    return {};
}

Expected<void> ColumnPlanner::takeSamples(Stretch stretch)
{
    const std::int64_t columns = series::kTileColumns;
    const auto heads = m_source.heads(m_set, 0, stretch.from / columns * columns, stretch.to);
    if (!heads)
        return tl::unexpected<Error>(heads.error());
    const auto isSealed = [&heads](const OpenTile& tile) {
        return std::any_of(heads->begin(), heads->end(),
            [&tile](const TileHead& head) { return head.firstColumn == tile.firstColumn(); });
    };
    // Open tiles follow the sealed ones.
    for (auto it = m_open.rbegin(); it != m_open.rend(); ++it) {
        const std::int64_t first = (*it)->firstColumn();
        if (first < stretch.to && first + columns > stretch.from && !isSealed(**it))
            takeOpen(*it, stretch);
    }
    for (std::size_t i = heads->size(); i-- > 0;) {
        if (auto ok = takeSealed((*heads)[i], stretch); !ok)
            return ok;
    }
    return {};
}

/// The samples below a tile of kAheadLevel, when all of them will be asked for.
void ColumnPlanner::readSamplesAhead(Stretch stretch)
{
    auto heads = m_source.heads(m_set, 0, stretch.from / series::kTileColumns * series::kTileColumns, stretch.to);
    if (!heads)
        return; // who asks for them will say it
    std::erase_if(*heads, [&](const TileHead& head) { return isPassedOver(head, stretch); });
    m_source.readAhead(m_set, 0, *heads, m_subBlocks);
}

bool ColumnPlanner::isWhole(const TileHead& head, Stretch stretch)
{
    return head.firstColumn >= stretch.from && head.firstColumn + series::kTileColumns <= stretch.to;
}

/// Whether a sealed tile need not be read.
bool ColumnPlanner::isPassedOver(const TileHead& head, Stretch stretch) const
{
    return isWhole(head, stretch) && isIrrelevant(head.steps);
}

Expected<void> ColumnPlanner::takeSealed(const TileHead& head, Stretch stretch)
{
    if (isDone())
        return {};
    if (isPassedOver(head, stretch)) {
        lower(head.steps.first);
        return {};
    }
    const auto steps = m_source.steps(m_set, 0, head, m_subBlocks);
    if (!steps) {
        if (steps.error().code != ErrorCode::Damaged)
            return tl::unexpected<Error>(steps.error());
        if (isWhole(head, stretch))
            lower(head.steps.first);
        m_plan.damaged.push_back(
            { std::max(head.steps.first, m_range.first), std::min(head.steps.last, m_range.last) });
        return {};
    }
    takeColumns({ 0, head, nullptr, 0, {} }, head.firstColumn, (*steps)->first, stretch);
    return {};
}

void ColumnPlanner::takeOpen(const std::shared_ptr<const OpenTile>& tile, Stretch stretch)
{
    if (isDone())
        return;
    const int published = tile->publishedColumns();
    std::vector<Step> steps(static_cast<std::size_t>(published));
    for (int i = 0; i < published; ++i)
        steps[static_cast<std::size_t>(i)] = tile->stepAt(i);
    takeColumns({ 0, {}, tile, 0, {} }, tile->firstColumn(), steps, stretch);
}

void ColumnPlanner::takeColumns(
    const Piece& piece, std::int64_t firstColumn, std::span<const Step> steps, Stretch stretch)
{
    std::vector<std::int32_t> pixels; // newest first
    const auto count = static_cast<std::int64_t>(steps.size());
    const std::int64_t first = std::max<std::int64_t>(0, stretch.from - firstColumn);
    std::int64_t c = std::min(count, stretch.to - firstColumn) - 1;
    for (; c >= first && m_bound > m_range.first.value; --c) { // older ones are no part of the answer
        const Step step = steps[static_cast<std::size_t>(c)];
        if (m_range.contains(step) && step.value < m_bound)
            pixels.push_back(m_map.pixelOf(step));
        else
            keep(piece, static_cast<int>(c) + 1, pixels);
        lower(step);
    }
    keep(piece, static_cast<int>(c) + 1, pixels);
}

void ColumnPlanner::keep(Piece piece, int from, std::vector<std::int32_t>& newestFirst)
{
    if (newestFirst.empty() || isDone()) {
        newestFirst.clear();
        return;
    }
    piece.from = from;
    piece.pixels.assign(newestFirst.rbegin(), newestFirst.rend());
    newestFirst.clear();
    m_plan.level = std::max(m_plan.level, piece.level);
    m_plan.pieces.push_back(std::move(piece));
}

}
