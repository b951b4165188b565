// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <telltale/core/threadhome.h>
#include <telltale/store/livelayout.h>
#include <telltale/store/runhandle.h>
#include <telltale/store/taillog.h>
#include <telltale/store/tilesealer.h>

namespace telltale::store {

/// The layouts of a capsule with their open tiles: seals what is full, publishes what is durable, takes the memory of
/// idle ones back and brings it again. Writing functions work in the transaction under way; what they did holds once
/// committed() was called, and is undone by rolledBack(). Thread: store.
class OpenLayouts {
public:
    explicit OpenLayouts(LiveRun& live)
        : m_live(live)
    {
    }
    /// Goes on where the file ends. Gives a sentence for each row that was left out.
    Expected<std::vector<std::string>> load(sqlite3* db);
    Expected<void> resume();

    /// Null for one that the stream did not send yet.
    LiveLayout* find(std::int64_t stream, LayoutId id) const;
    LiveLayout* add(std::int64_t stream, const std::shared_ptr<const SeriesLayout>& layout);
    std::vector<std::shared_ptr<const SeriesLayout>> layoutsOf(std::int64_t stream) const;
    template <typename Wanted> std::vector<LiveLayout*> select(Wanted wanted) const
    {
        std::vector<LiveLayout*> found;
        for (const auto& [key, layout] : m_layouts) {
            if (!layout->isReleased() && wanted(*layout))
                found.push_back(layout.get());
        }
        return found;
    }
    TailLog& tail() { return m_tail; }

    /// A block of it was filled in: the next commit publishes it.
    void touch(LiveLayout* layout) { m_touched.insert(layout); }
    /// What the open tiles of a run may take before the fullest of them are sealed early; what the next pyramid tiles
    /// need of sealed ones may take a sixth of it. After load().
    void keepOpen(std::size_t bytes);
    void findFull();
    Expected<void> sealSome();
    Expected<void> sealAll();
    /// Seals idle layouts whole; releaseSealed() gives them back once that is durable.
    Expected<void> sealIdle(const std::vector<LiveLayout*>& idle);
    void releaseSealed(const std::vector<LiveLayout*>& idle);
    /// Takes the last tile of a released layout apart again, and publishes it. If that fails, giveBack() undoes it.
    Expected<void> restore(LiveLayout& layout);
    void giveBack(LiveLayout& layout);
    void committed();
    void rolledBack();

private:
    struct SealJob {
        LiveLayout* layout = nullptr;
        std::size_t group = 0;
    };
    void closeFullest();
    bool isSealedTo(const LiveLayout& layout, std::int64_t column) const;
    Expected<void> dropSealedTails();
    Expected<void> seal(LiveLayout& layout);
    Expected<void> restoreTile(LiveLayout& layout);
    Expected<void> writeTail(LiveLayout& layout, std::int64_t c0, int columns);
    void publish(LiveLayout& layout);
    void forgetSealed();

    LiveRun& m_live;
    std::unique_ptr<TileSealer> m_sealer;
    TailLog m_tail;
    std::map<std::pair<std::int64_t, LayoutId>, std::unique_ptr<LiveLayout>> m_layouts;
    std::set<LiveLayout*> m_touched;
    std::deque<SealJob> m_full; ///< groups with a full tile, round-robin
    std::map<const LiveGroup*, std::int64_t> m_sealedNow; ///< in the transaction under way: sealed up to
    std::int64_t m_nextGroup = 1;
    std::size_t m_mostOpenBytes = 0;
    ThreadHome m_home;
};

}
