// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

#include <boost/asio/io_context.hpp>

#include <telltale/agent/session.h>
#include <telltale/agent/stream.h>

namespace telltale::agent {

/// Delivers what earlier processes of this run left in their spools, one after the other, each as the stream it was. A
/// spool whose process lives is locked and left alone. Thread: sender.
class Leftovers {
public:
    using Clock = std::chrono::steady_clock;

    Leftovers(boost::asio::io_context& context, protocol::JoinString join, const std::filesystem::path& runFolder,
        std::uint64_t capBytes, LastError& lastError);
    ~Leftovers();

    void tick(Clock::time_point now);
    /// Whether the server knows the earlier streams of this run, so that a new one gets a later attempt; or it is no
    /// use to wait for that.
    bool isIntroduced(Clock::time_point now) const;
    bool isDone() const;

private:
    void read(const std::filesystem::path& runFolder);
    void openNext();

    boost::asio::io_context& m_context;
    const protocol::JoinString m_join;
    const std::uint64_t m_capBytes;
    LastError& m_lastError;
    std::unique_ptr<Stream> m_stream;
    std::unique_ptr<Session> m_session;
    const Clock::time_point m_started = Clock::now();

    mutable std::mutex m_mutex;
    std::deque<std::unique_ptr<Stream>> m_ready; ///< under m_mutex
    bool m_isRead = false; ///< under m_mutex: nothing more will be ready
    std::atomic<bool> m_isCancelled { false };
    std::thread m_reader;
};

}
