// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/agent/earlierstreams.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <telltale/core/quietthread.h>
#include <telltale/spool/spoolstream.h>

namespace fs = std::filesystem;

namespace telltale::agent {
namespace {

constexpr std::chrono::seconds kIntroductionTime { 2 };

}

/// What the searching thread and the sender have together.
struct EarlierStreams::Search {
    std::mutex mutex;
    std::deque<Waiting> ready; ///< under the mutex, as all but the flag
    std::deque<std::string> troubles;
    bool isOver = false; ///< nothing more will be ready
    std::atomic<bool> isCanceled { false };

    void add(Waiting waiting)
    {
        std::lock_guard lock(mutex);
        ready.push_back(std::move(waiting));
    }
    void trouble(std::string sentence)
    {
        std::lock_guard lock(mutex);
        troubles.push_back(std::move(sentence));
    }
    void read(const fs::path& runFolder, std::uint64_t capBytes, const std::shared_ptr<Disk>& disk);
};

void EarlierStreams::Search::read(const fs::path& runFolder, std::uint64_t capBytes, const std::shared_ptr<Disk>& disk)
{
    std::error_code error;
    std::vector<ProductionPage::Left> pages = ProductionPage::leftByRun(runFolder);
    std::vector<std::pair<fs::file_time_type, fs::path>> folders;
    for (const auto& entry : fs::directory_iterator(runFolder, error))
        if (entry.is_directory(error))
            folders.emplace_back(fs::last_write_time(entry.path(), error), entry.path());
    // The oldest first, so that attempts are numbered in the order in which they ran.
    std::sort(folders.begin(), folders.end());
    for (const auto& [age, folder] : folders) {
        auto spooled = openSpooledStream(folder, capBytes, &isCanceled, disk);
        if (isCanceled)
            return;
        if (!spooled) {
            // A spool of a living process is nothing to tell of.
            if (spooled.error().code != ErrorCode::Busy && spooled.error().code != ErrorCode::NotFound)
                trouble(spooled.error().sentence());
            continue;
        }
        for (std::string& damage : spooled->damages)
            trouble(std::move(damage));
        if (!spooled->stream)
            continue;
        spooled->stream->disk.useThread();
        auto page = ProductionPage::leftBy(spooled->stream->hello.incarnation);
        if (page)
            std::erase_if(pages, [&page](const auto& other) { return other.path == page->path; });
        add({ std::move(spooled->stream), std::move(spooled->byeReason), std::move(page) });
    }
    // What a killed process had not even spooled: there is nothing to deliver but how much it was.
    for (ProductionPage::Left& page : pages) {
        auto stream = std::make_unique<Stream>(page.hello, runFolder / "none", capBytes, disk);
        add({ std::move(stream), {}, std::move(page) });
    }
}

EarlierStreams::EarlierStreams(boost::asio::io_context& context, protocol::JoinString join, const fs::path& runFolder,
    std::uint64_t capBytes, const std::shared_ptr<Disk>& disk, LastError& lastError)
    : m_context(context)
    , m_join(std::move(join))
    , m_lastError(lastError)
    , m_search(std::make_shared<Search>())
{
    try {
        quietThread("telltale-spools", [search = m_search, runFolder, capBytes, disk] {
            try {
                search->read(runFolder, capBytes, disk);
            } catch (const std::exception& failed) {
                search->trouble(fmt::format("an earlier spool cannot be read: {}", failed.what()));
            }
            std::lock_guard lock(search->mutex);
            search->isOver = true;
        }).detach();
    } catch (const std::exception& failed) {
        m_search->trouble(fmt::format("earlier spools are not looked for: {}", failed.what()));
        m_search->isOver = true;
    }
}

EarlierStreams::~EarlierStreams()
{
    m_search->isCanceled = true;
}

void EarlierStreams::openNext()
{
    {
        std::lock_guard lock(m_search->mutex);
        if (!m_search->troubles.empty()) {
            m_lastError.set(Trouble::Spool, m_search->troubles.front());
            m_search->troubles.pop_front();
        }
        if (m_search->ready.empty())
            return;
        Waiting& next = m_search->ready.front();
        m_stream = std::move(next.stream);
        m_byeReason = std::move(next.byeReason);
        m_page = std::move(next.page);
        m_search->ready.pop_front();
    }
    Session::Events events;
    events.describe = [this](protocol::Heartbeat& heartbeat) {
        if (m_page) {
            heartbeat.producedSamples = m_page->produced.samples;
            heartbeat.producedScalars = m_page->produced.scalars;
            heartbeat.isFinal = true;
        }
    };
    m_session = std::make_unique<Session>(m_context, m_join, *m_stream, nullptr, m_lastError, std::move(events));
}

void EarlierStreams::tick(Clock::time_point now)
{
    m_home.check();
    if (!m_session)
        openNext();
    if (!m_session)
        return;
    m_session->tick(now);
    if (!m_stream->held.isEmpty() || (m_page && !m_session->isOpen()))
        return;
    m_session->sayBye(m_byeReason.empty() ? "restarting" : m_byeReason, [page = std::exchange(m_page, {})] {
        if (page)
            page->remove();
    });
    m_session.reset();
    m_stream->disk.close(std::nullopt);
    m_stream.reset();
}

bool EarlierStreams::isDone() const
{
    std::lock_guard lock(m_search->mutex);
    return m_search->isOver && m_search->ready.empty() && !m_stream;
}

bool EarlierStreams::isIntroduced(Clock::time_point now) const
{
    if (now - m_started > kIntroductionTime || isDone())
        return true;
    std::lock_guard lock(m_search->mutex);
    return m_search->isOver && m_search->ready.empty() && m_session && m_session->wasEverOpen();
}

}
