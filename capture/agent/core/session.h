// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>

#include <boost/asio/io_context.hpp>

#include <telltale/agent/backoff.h>
#include <telltale/agent/counters.h>
#include <telltale/agent/introduction.h>
#include <telltale/agent/resolver.h>
#include <telltale/agent/steering.h>
#include <telltale/agent/transport.h>
#include <telltale/core/threadhome.h>
#include <telltale/protocol/joinstring.h>
#include <telltale/spool/outgoing.h>
#include <telltale/spool/stream.h>

namespace telltale::agent {

/// Delivers one stream: connects, says Hello, sends nothing before Welcome, then batches within the credit, forgets
/// them on Ack, starts over after whatever went wrong. Thread: sender; tick() often.
class Session final : private Transport::Handler {
public:
    using Clock = std::chrono::steady_clock;

    struct Events {
        /// Something left the held store.
        std::function<void(const HeldStore::Forgotten&)> onForgotten;
        /// The server did not take (all of) a batch.
        std::function<void(const std::string& reason, Lost lost)> onRejected;
        /// The server lost seqs it had acknowledged and that are gone here.
        std::function<void(std::uint64_t first, std::uint64_t last)> onGap;
        /// Fills in what a heartbeat says besides clocks and seq.
        std::function<void(protocol::Heartbeat&)> describe;
        /// Whether the training goes on and sends nothing of it: heartbeats alone say how far it is.
        std::function<bool()> isSilent;
    };

    /// steering: of the training behind the stream; null = there is none that could change what it collects.
    Session(boost::asio::io_context& context, protocol::JoinString join, Stream& stream, Counters* counters,
        LastError& lastError, Events events, Steering* steering = nullptr);
    ~Session();

    void tick(Clock::time_point now);
    bool isOpen() const { return m_state == State::Open; }
    bool wasEverOpen() const { return m_wasOpen; }
    /// Waiting for a retry after a failure, or for the first attempt.
    bool isWaiting() const { return m_state == State::Waiting; }
    std::uint32_t failures() const { return m_failures; }
    /// Says Bye and closes in the background. No more ticks after that. `onTaken`: the server has taken it in, and with
    /// it how much was produced; it may come when this object is gone.
    void sayBye(const std::string& reason, std::function<void()> onTaken = {});

private:
    enum class State { Waiting, Resolving, Connecting, AwaitingProof, AwaitingWelcome, Open, Over };

    void onOpen() override;
    void onMessage(std::string_view bytes) override;
    void onClosed(const std::string& reason) override;

    void connectResolved(Clock::time_point now);
    void handle(const protocol::Challenge& challenge);
    void handle(const protocol::Welcome& welcome);
    void handle(const protocol::Ack& ack);
    void handle(const protocol::Nack& nack);
    void handle(const protocol::Bye& bye);
    void handle(const protocol::ConfigOffer& offer);
    void handle(const protocol::Notice& notice);
    void sendBatches();
    void sendHeartbeat(Clock::time_point now);
    void note(const protocol::Rejected& rejected);
    void forget();
    void takeGap();
    void retryLater(const std::string& why);

    boost::asio::io_context& m_context;
    const protocol::JoinString m_join;
    Stream& m_stream;
    Counters* m_counters;
    LastError& m_lastError;
    Events m_events;
    Steering* const m_steering;

    State m_state = State::Waiting;
    Backoff m_backoff;
    Resolver m_resolver;
    Introduction m_introduction { m_join };
    std::shared_ptr<Transport> m_transport;
    Clock::time_point m_retryAt {};
    Clock::time_point m_deadline {};
    Clock::time_point m_lastReceived {};
    Clock::time_point m_lastHeartbeat {};
    std::chrono::milliseconds m_heartbeat;
    std::chrono::milliseconds m_serverWantsPause { 0 };
    std::unordered_set<LayoutId> m_sentLayouts;
    std::uint64_t m_preparedSeq = 0;
    Outgoing m_prepared;
    std::uint32_t m_failures = 0;
    bool m_wasOpen = false;
    bool m_isRefusalTold = false;
    Clock::time_point m_noticesSince {};
    int m_notices = 0; ///< shown since then
    ThreadHome m_home;
};

protocol::Clocks clocksNow();

}
