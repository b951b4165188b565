// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>

#include <telltale/core/samplebatch.h>
#include <telltale/protocol/messages.h>

namespace telltale::test {

/// What a capture server would have on disk. Survives the FakeServer that fills it. Thread: any.
struct FakeStore {
    struct Stream {
        protocol::Hello hello; ///< the last one
        std::uint64_t durableSeq = 0;
        std::map<std::uint64_t, SampleBatch> batches;
        std::string bye;
        protocol::CostSums cost {}; ///< as the last heartbeat has it
        std::int64_t nextStep = 0; ///< the same
    };

    mutable std::mutex mutex;
    std::string storeId = "store-1";
    std::map<std::uint64_t, Stream> streams; ///< by incarnation
    std::uint64_t undecodable = 0;
    std::uint64_t repeated = 0; ///< accepted twice: must never happen
    std::uint64_t hellos = 0;
    std::vector<std::string> complaints;
    std::vector<protocol::ConfigStatus> statuses; ///< in the order in which they came

    std::uint64_t samples() const;
    std::uint64_t scalars() const;
    std::uint64_t droppedItems(std::uint32_t dropClass) const;
    std::vector<std::string> eventKinds() const;
    std::size_t statusCount() const;
    /// The last one of the revision and number; none: nothing in it.
    protocol::ConfigStatus statusOf(std::uint64_t rev, std::uint32_t status) const;
    /// What the last heartbeat of the only stream says.
    protocol::CostSums cost() const;
    /// Steps with at least one block, over all streams.
    std::set<std::int64_t> steps() const;
};

/// A capture server made of the protocol library and blocking sockets, with a fault for every occasion.
class FakeServer {
public:
    struct Faults {
        std::atomic<int> losePercent { 0 }; ///< batches that vanish after they were read: the next one is ahead
        std::atomic<int> disconnectEvery { 0 }; ///< batches per connection, 0 = never
        std::atomic<bool> isMute { false }; ///< reads, never acknowledges
        std::atomic<bool> isHung { false }; ///< accepts connections and does nothing
        std::atomic<bool> isDeafAfterWelcome { false }; ///< says Welcome and never reads again
        std::atomic<bool> isRejecting { false }; ///< refuses every batch for good
        std::atomic<bool> isOlder { false }; ///< wants the token with the upgrade, as servers once did
        std::atomic<bool> isSquatting { false }; ///< does not know the token and claims to
        std::atomic<std::uint64_t> creditBytes { 4u << 20 };
        std::atomic<std::uint64_t> creditBatches { 64 };
    };

    /// Port 0 = any. `tls` may be null.
    FakeServer(FakeStore& store, std::uint16_t port = 0, boost::asio::ssl::context* tls = nullptr);
    ~FakeServer();

    std::uint16_t port() const { return m_port; }
    std::string join(const std::string& fingerprint = {}) const;
    Faults& faults() { return m_faults; }
    std::uint64_t connections() const { return m_connections; }
    /// To whoever says something next.
    void offer(protocol::ConfigOffer offer);
    /// Every byte that came in, but for TLS: requests, frames with their masks off.
    std::string heard() const;
    /// Lets go of all that came in, here and in the store: a training sends more the longer a test takes.
    void forgetHeard();

    static constexpr const char* kToken = "test-token";

private:
    struct Connection;

    void acceptLoop();
    template <typename Socket> void serve(Socket& socket);
    void hear(std::string_view bytes);
    std::optional<protocol::ConfigOffer> nextOffer();

    FakeStore& m_store;
    boost::asio::ssl::context* m_tls;
    Faults m_faults;
    boost::asio::io_context m_context;
    boost::asio::ip::tcp::acceptor m_acceptor;
    std::uint16_t m_port = 0;
    std::atomic<bool> m_isStopping { false };
    std::atomic<std::uint64_t> m_connections { 0 };
    mutable std::mutex m_mutex;
    std::string m_heard;
    std::deque<protocol::ConfigOffer> m_offers;
    std::vector<int> m_sockets;
    std::vector<std::thread> m_threads;
    std::thread m_acceptor_thread;
};

/// A fresh self-signed certificate and its sha256 fingerprint.
struct SelfSigned {
    SelfSigned();
    std::unique_ptr<boost::asio::ssl::context> context;
    std::string fingerprint;
};

}
