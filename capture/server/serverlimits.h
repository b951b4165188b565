// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include <telltale/protocol/limits.h>

namespace telltale::server {

/// Every bound that the server holds a peer to. The defaults are the product's; tests shorten the waits.
/// Thread: any (a value).
struct ServerLimits {
    using Milliseconds = std::chrono::milliseconds;

    std::size_t messageBytes = protocol::limits::kMaxMessageBytes;
    std::size_t helloBytes = 64u << 10; ///< messages before Welcome
    std::size_t fragments = protocol::limits::kMaxFragments;
    std::size_t unsentBytes = protocol::limits::kMaxUnsentBytes;
    /// Connections that have not said Hello, in all and of one address. All agents of a cluster come from one address
    /// through a tunnel.
    std::size_t newcomers = protocol::limits::kMaxNewcomers;
    std::size_t newcomersPerAddress = protocol::limits::kMaxNewcomersPerAddress;
    /// Once they are that many, one that has stood still for this long makes room for the next. An agent's step takes
    /// a round trip; 512 silent peers are gone through in this time.
    Milliseconds newcomerGrace { 500 };
    /// Qt's backlog of 50 makes a storm of 512 reconnecting agents last 4 s.
    int backlog = 4096;
    Milliseconds handshake = protocol::limits::kHandshakeTimeout;
    Milliseconds hello = protocol::limits::kHelloTimeout;
    Milliseconds wholeMessage = protocol::limits::kMessageTimeout;
    Milliseconds heartbeat = protocol::limits::kHeartbeat;
    /// How long a closed peer may take to answer our close frame.
    Milliseconds closing { 2000 };
    /// Deadlines and unsent bytes are looked at this often: a ping flood grows by 160 MB/s, so 8 MiB + 16 MiB at most.
    Milliseconds sweep { 100 };
    Milliseconds drain { 1500 }; ///< of stop(): for acks of what the store has already taken
    Milliseconds logInterval { 60'000 };
    int wrongTokens = 5; ///< per address and wrongTokenWindow, then wrongTokenWait
    Milliseconds wrongTokenWindow { 60'000 };
    Milliseconds wrongTokenWait { 30'000 };
    std::uint64_t creditTotalBytes = protocol::limits::kCreditTotalBytes;
    std::uint64_t creditMaxBytes = protocol::limits::kCreditMaxBytes;
    /// Four commit groups: the agent keeps sending while one is committed.
    std::uint64_t creditBatches = 1024;
};

}
