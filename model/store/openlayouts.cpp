// SPDX-License-Identifier: GPL-3.0-or-later
// Sealing and publishing; giving back and restoring are in layoutrelease.cpp.
#include <telltale/store/openlayouts.h>

#include <algorithm>
#include <chrono>

#include <telltale/store/tailreplay.h>

namespace telltale::store {
namespace {

constexpr std::int64_t kSealBudgetMs = 25; ///< longest a commit seals tiles that can wait

constexpr std::size_t kMostOpenBytes = std::size_t { 128 } << 20;
constexpr int kFewestColumns = 16; ///< of a tile that is closed early: what a bucket of the pyramid has

bool hasClosedTile(const LiveLayout& layout, const LiveGroup& group)
{
    return std::any_of(group.tiles.begin(), group.tiles.end(),
        [&](const auto& tile) { return layout.isClosed(*tile) && tile->firstColumn() >= group.sealed; });
}

}

Expected<std::vector<std::string>> OpenLayouts::load(sqlite3* db)
{
    auto replay = replayTail(db);
    if (!replay)
        return tl::unexpected<Error>(std::move(replay.error()));
    m_layouts = std::move(replay->layouts);
    for (TailReplay::Row& row : replay->rows)
        m_tail.addWritten(row.id, std::move(row.columns));
    auto ok = m_tail.prepare(db);
    if (!ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    auto sealer = TileSealer::create(db);
    if (!sealer)
        return tl::unexpected<Error>(std::move(sealer.error()));
    m_sealer = std::move(*sealer);
    keepOpen(kMostOpenBytes);
    auto next = queryInteger(db, "SELECT ifnull(max(id), 0) + 1 FROM grp");
    if (!next)
        return tl::unexpected<Error>(std::move(next.error()));
    m_nextGroup = *next;
    return std::move(replay->damage);
}

void OpenLayouts::keepOpen(std::size_t bytes)
{
    m_mostOpenBytes = bytes;
    m_sealer->keepPieces(bytes / 8);
}

Expected<void> OpenLayouts::resume()
{
    for (LiveLayout* layout : select([](const LiveLayout&) { return true; })) {
        for (const LiveGroup& group : layout->groups()) {
            if (auto ok = m_sealer->resume(group, layout->layout()->stats); !ok)
                return ok;
        }
        m_touched.insert(layout);
        publish(*layout);
    }
    return {};
}

LiveLayout* OpenLayouts::find(std::int64_t stream, LayoutId id) const
{
    const auto known = m_layouts.find({ stream, id });
    return known == m_layouts.end() ? nullptr : known->second.get();
}

LiveLayout* OpenLayouts::add(std::int64_t stream, const std::shared_ptr<const SeriesLayout>& layout)
{
    auto groups = groupsOf(*layout);
    for (LiveGroup& group : groups)
        group.id = GroupId(m_nextGroup++);
    auto& added = m_layouts[{ stream, layout->id }];
    added = std::make_unique<LiveLayout>(stream, layout, std::move(groups));
    return added.get();
}

std::vector<std::shared_ptr<const SeriesLayout>> OpenLayouts::layoutsOf(std::int64_t stream) const
{
    std::vector<std::shared_ptr<const SeriesLayout>> known;
    for (auto at = m_layouts.lower_bound({ stream, LayoutId() }); at != m_layouts.end() && at->first.first == stream;
         ++at)
        known.push_back(at->second->layout());
    return known;
}

/// Ranks collect the same steps: their tiles would all be full at once. Closed one by one they are of every age from
/// then on, so that the limit costs few columns a tile, and sealing is spread over the steps.
void OpenLayouts::closeFullest()
{
    std::size_t bytes = 0;
    std::vector<LiveLayout*> fullest;
    for (const auto& [key, layout] : m_layouts) {
        bytes += layout->openBytes();
        if (layout->openColumns() >= kFewestColumns)
            fullest.push_back(layout.get());
    }
    if (bytes <= m_mostOpenBytes)
        return;
    std::sort(fullest.begin(), fullest.end(),
        [](const LiveLayout* a, const LiveLayout* b) { return a->openColumns() > b->openColumns(); });
    for (auto layout = fullest.begin(); layout != fullest.end() && bytes > m_mostOpenBytes; ++layout) {
        bytes -= (*layout)->openBytes();
        (*layout)->closeTile();
        m_touched.insert(*layout);
    }
}

void OpenLayouts::findFull()
{
    closeFullest();
    for (LiveLayout* layout : m_touched) {
        for (std::size_t g = 0; g < layout->groups().size(); ++g) {
            const bool queued = std::any_of(m_full.begin(), m_full.end(),
                [&](const SealJob& job) { return job.layout == layout && job.group == g; });
            if (hasClosedTile(*layout, layout->groups()[g]) && !queued)
                m_full.push_back({ layout, g });
        }
    }
}

Expected<void> OpenLayouts::sealSome()
{
    m_home.check();
    const auto start = std::chrono::steady_clock::now();
    // A quarter of what waits spreads the work over the steps that fill the next tiles.
    const std::size_t share = (m_full.size() + 3) / 4;
    std::size_t sealedCount = 0;
    for (const SealJob& job : m_full) {
        const LiveGroup& group = job.layout->groups()[job.group];
        // Readers see two open tiles of a group: a third must not begin.
        const bool urgent
            = group.tiles.size() > 2 || (group.tiles.size() == 2 && job.layout->isClosed(*group.tiles.back()));
        const bool late = std::chrono::steady_clock::now() - start > std::chrono::milliseconds(kSealBudgetMs);
        if (!urgent && (sealedCount >= share || late))
            continue;
        std::int64_t& sealedTo = m_sealedNow.try_emplace(&group, group.sealed).first->second;
        std::size_t left = group.tiles.size();
        bool sealedOne = false;
        for (const auto& tile : group.tiles) {
            if (tile->firstColumn() < group.sealed) {
                --left;
                continue;
            }
            if (!job.layout->isClosed(*tile) || (sealedOne && left < 2))
                break;
            sealedOne = true;
            if (auto ok = m_sealer->seal(group, *tile, true); !ok)
                return ok;
            sealedTo = tile->firstColumn() + series::kTileColumns;
            --left;
            ++sealedCount;
        }
    }
    return m_sealedNow.empty() ? Expected<void> {} : dropSealedTails();
}

bool OpenLayouts::isSealedTo(const LiveLayout& layout, std::int64_t column) const
{
    return std::all_of(layout.groups().begin(), layout.groups().end(), [&](const LiveGroup& group) {
        const auto now = m_sealedNow.find(&group);
        return column < (now == m_sealedNow.end() ? group.sealed : now->second);
    });
}

Expected<void> OpenLayouts::dropSealedTails()
{
    return m_tail.dropSealed(
        [this](const LiveLayout& layout, std::int64_t column) { return isSealedTo(layout, column); });
}

void OpenLayouts::publish(LiveLayout& layout)
{
    for (LiveGroup& group : layout.groups()) {
        for (const auto& tile : group.tiles)
            tile->publish(tile->writtenColumns());
        const std::size_t count = group.tiles.size();
        m_live.setPreviousTile(group.id, count > 1 ? group.tiles[count - 2] : nullptr);
        if (count > 0)
            m_live.setOpenTile(group.id, group.tiles.back());
    }
}

void OpenLayouts::committed()
{
    m_home.check();
    std::set<LiveLayout*> changed = m_touched;
    for (const SealJob& job : m_full) {
        LiveGroup& group = job.layout->groups()[job.group];
        const auto now = m_sealedNow.find(&group);
        if (now == m_sealedNow.end())
            continue;
        group.sealed = now->second;
        changed.insert(job.layout);
    }
    std::erase_if(
        m_full, [](const SealJob& job) { return !hasClosedTile(*job.layout, job.layout->groups()[job.group]); });
    for (LiveLayout* layout : changed) {
        // A tile that was just sealed stays readable until the next one begins.
        for (LiveGroup& group : layout->groups()) {
            while (group.tiles.size() > 1 && group.tiles.front()->firstColumn() < group.sealed)
                group.tiles.pop_front();
        }
        publish(*layout);
    }
    m_touched.clear();
    forgetSealed();
}

void OpenLayouts::forgetSealed()
{
    m_tail.committed();
    m_sealedNow.clear();
}

void OpenLayouts::rolledBack()
{
    m_tail.rolledBack();
    m_sealedNow.clear();
}

}
