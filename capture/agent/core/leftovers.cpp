// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/agent/leftovers.h>

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <telltale/agent/spoolstream.h>
#include <telltale/core/quietthread.h>

namespace fs = std::filesystem;

namespace telltale::agent {
namespace {

constexpr std::chrono::seconds kIntroductionTime { 2 };

}

Leftovers::Leftovers(boost::asio::io_context& context, protocol::JoinString join, const fs::path& runFolder,
    std::uint64_t capBytes, LastError& lastError)
    : m_context(context)
    , m_join(std::move(join))
    , m_capBytes(capBytes)
    , m_lastError(lastError)
{
    std::error_code error;
    if (!fs::is_directory(runFolder, error)) {
        m_isRead = true;
        return;
    }
    m_reader = quietThread("telltale-spools", [this, runFolder] {
        try {
            read(runFolder);
        } catch (const std::exception& failed) {
            m_lastError.set(fmt::format("an earlier spool cannot be read: {}", failed.what()));
        }
        std::lock_guard lock(m_mutex);
        m_isRead = true;
    });
}

Leftovers::~Leftovers()
{
    m_isCancelled = true;
    if (m_reader.joinable())
        m_reader.join();
}

void Leftovers::read(const fs::path& runFolder)
{
    std::error_code error;
    std::vector<std::pair<fs::file_time_type, fs::path>> folders;
    for (const auto& entry : fs::directory_iterator(runFolder, error))
        if (entry.is_directory(error))
            folders.emplace_back(fs::last_write_time(entry.path(), error), entry.path());
    // The oldest first, so that attempts are numbered in the order in which they ran.
    std::sort(folders.begin(), folders.end());
    for (const auto& [age, folder] : folders) {
        if (m_isCancelled)
            return;
        auto spooled = openSpooledStream(folder, m_capBytes, &m_isCancelled);
        if (!spooled)
            continue;
        for (const std::string& damage : spooled->damages)
            m_lastError.set(damage);
        if (!spooled->stream)
            continue;
        std::lock_guard lock(m_mutex);
        m_ready.push_back(std::move(spooled->stream));
    }
}

void Leftovers::openNext()
{
    {
        std::lock_guard lock(m_mutex);
        if (m_ready.empty())
            return;
        m_stream = std::move(m_ready.front());
        m_ready.pop_front();
    }
    Session::Events events;
    events.replaceDamaged = [](std::uint64_t, const std::string& why) { return lostBatchPayload(why); };
    m_session = std::make_unique<Session>(m_context, m_join, *m_stream, nullptr, m_lastError, std::move(events));
}

void Leftovers::tick(Clock::time_point now)
{
    if (!m_session)
        openNext();
    if (!m_session)
        return;
    m_session->tick(now);
    if (!m_stream->held.isEmpty())
        return;
    m_session->sayBye("restarting");
    m_session.reset();
    m_stream->spool.removeIfEmpty();
    m_stream.reset();
}

bool Leftovers::isDone() const
{
    std::lock_guard lock(m_mutex);
    return m_isRead && m_ready.empty() && !m_stream;
}

bool Leftovers::isIntroduced(Clock::time_point now) const
{
    if (now - m_started > kIntroductionTime || isDone())
        return true;
    std::lock_guard lock(m_mutex);
    return m_isRead && m_ready.empty() && m_session && m_session->wasEverOpen();
}

}
