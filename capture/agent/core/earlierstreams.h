// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include <telltale/agent/session.h>
#include <telltale/core/threadhome.h>
#include <telltale/spool/productionpage.h>
#include <telltale/spool/stream.h>

namespace telltale::agent {

/// Delivers what earlier processes of this run left in their spools, one after the other, each as the stream it was. A
/// spool whose process lives is locked and left alone. Never waits for the disk: what looks for the spools is left
/// behind where it hangs. Thread: sender.
class EarlierStreams {
public:
    using Clock = std::chrono::steady_clock;

    EarlierStreams(boost::asio::io_context& context, protocol::JoinString join, const std::filesystem::path& runFolder,
        std::uint64_t capBytes, const std::shared_ptr<Disk>& disk, LastError& lastError);
    ~EarlierStreams();

    void tick(Clock::time_point now);
    /// Whether the server knows the earlier streams of this run, so that a new one gets a later attempt; or it is no
    /// use to wait for that.
    bool isIntroduced(Clock::time_point now) const;
    bool isDone() const;

private:
    struct Search;

    /// A stream, and what its process left to say of it.
    struct Waiting {
        std::unique_ptr<Stream> stream;
        std::string byeReason; ///< empty: it ended without a word
        std::optional<ProductionPage::Left> page;
    };

    void openNext();

    boost::asio::io_context& m_context;
    const protocol::JoinString m_join;
    LastError& m_lastError;
    std::unique_ptr<Stream> m_stream;
    std::string m_byeReason;
    std::optional<ProductionPage::Left> m_page;
    std::unique_ptr<Session> m_session;
    const Clock::time_point m_started = Clock::now();
    const std::shared_ptr<Search> m_search;
    ThreadHome m_home;
};

}
