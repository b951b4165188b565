// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include <telltale/core/ids.h>
#include <telltale/series/opentile.h>
#include <telltale/store/runlocator.h>

namespace telltale::store {

struct SharedDirectory;

/// What a live run publishes: its state, and the tiles that are not sealed yet. What changed a StoreSubscriber is told.
/// Thread: the store thread writes, any thread reads.
class LiveRun {
public:
    LiveRun();

    std::atomic<std::int64_t> lastStep { -1 }; ///< newest complete durable step of any source
    std::atomic<std::int64_t> firstStep { 0 };
    std::atomic<std::uint64_t> storedSamples { 0 };
    std::atomic<std::uint64_t> droppedSamples { 0 };
    std::atomic<std::uint64_t> fileBytes { 0 };
    std::atomic<std::int64_t> lastCommitWallNs { 0 };
    std::atomic<int> connectedRanks { 0 };
    std::atomic<int> ranks { 0 };
    std::atomic<bool> lost { false }; ///< nobody is connected and somebody never said Bye, for too long
    std::atomic<bool> closed { false }; ///< the run ended; the file is complete and openTiles is empty

    /// What its readers have read of the run's directory, in common: views, the judge and whoever else looks.
    const std::shared_ptr<SharedDirectory>& directory() const { return m_directory; }

    /// The open tile of a group, null when it has none.
    std::shared_ptr<const series::OpenTile> openTile(GroupId group) const
    {
        std::lock_guard lock(m_mutex);
        const auto it = m_tiles.find(group);
        return it == m_tiles.end() ? nullptr : it->second;
    }
    // Store thread. A tile that is full stays here until its sealed form is committed; then the next replaces it.
    // `previous` is the one before: readers look at both, and sealed tiles win over open ones with the same first
    // column.
    void setOpenTile(GroupId group, std::shared_ptr<const series::OpenTile> tile)
    {
        std::lock_guard lock(m_mutex);
        m_tiles[group] = std::move(tile);
    }
    void removeTiles(GroupId group)
    {
        std::lock_guard lock(m_mutex);
        m_tiles.erase(group);
        m_previous.erase(group);
    }
    void clearOpenTiles()
    {
        std::lock_guard lock(m_mutex);
        m_tiles.clear();
        m_previous.clear();
    }
    std::shared_ptr<const series::OpenTile> previousTile(GroupId group) const
    {
        std::lock_guard lock(m_mutex);
        const auto it = m_previous.find(group);
        return it == m_previous.end() ? nullptr : it->second;
    }
    void setPreviousTile(GroupId group, std::shared_ptr<const series::OpenTile> tile)
    {
        std::lock_guard lock(m_mutex);
        if (tile)
            m_previous[group] = std::move(tile);
        else
            m_previous.erase(group);
    }

private:
    const std::shared_ptr<SharedDirectory> m_directory; ///< never null
    mutable std::mutex m_mutex;
    std::unordered_map<GroupId, std::shared_ptr<const series::OpenTile>> m_tiles;
    std::unordered_map<GroupId, std::shared_ptr<const series::OpenTile>> m_previous;
};

/// Names one run for views and queries: where it is, and its live part while it is being recorded here.
/// Thread: any (immutable).
struct RunHandle {
    RunLocator locator;
    std::string id; ///< short id, as `telltale runs` prints it
    std::string name;
    std::shared_ptr<const LiveRun> live; ///< null for archived runs

    bool isLive() const { return live && !live->closed.load(std::memory_order_acquire); }
};
using RunRef = std::shared_ptr<const RunHandle>;

}
