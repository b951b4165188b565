// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/readercache.h>

#include <algorithm>
#include <string>
#include <utility>

#include <telltale/store/capsulereader.h>

namespace telltale::store {

struct ReaderCache::Entry {
    RunLocator locator;
    std::shared_ptr<const LiveRun> live;
    std::unique_ptr<RunReader> reader;
    Clock::time_point lastUse;
};

ReaderCache::ReaderCache(SharedReads& shared)
    : m_shared(shared)
{
}

ReaderCache::~ReaderCache() = default;

Expected<RunReader*> ReaderCache::reader(const RunHandle& run, Clock::time_point now)
{
    const auto it = std::find_if(m_entries.begin(), m_entries.end(),
        [&run](const Entry& entry) { return entry.locator == run.locator && entry.live == run.live; });
    if (it != m_entries.end()) {
        it->lastUse = now;
        m_entries.splice(m_entries.begin(), m_entries, it);
        return it->reader.get();
    }
    auto opened = openReader(run, m_shared);
    if (!opened)
        return tl::unexpected<Error>(std::move(opened.error()));
    while (m_entries.size() >= kMaxReaders)
        m_entries.pop_back();
    m_entries.push_front({ run.locator, run.live, std::move(*opened), now });
    return m_entries.front().reader.get();
}

void ReaderCache::closeAll()
{
    m_entries.clear();
}

void ReaderCache::closeIdle(Clock::time_point now)
{
    m_entries.remove_if([now](const Entry& entry) { return now - entry.lastUse >= kIdle; });
}

}
