// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <telltale/protocol/joinstring.h>
#include <telltale/protocol/messages.h>

namespace telltale::bench {

/// The leanest possible agent: one blocking loopback socket, frames masked with the zero key, credits honored.
/// Not the product's agent: it measures the server, so it must cost next to nothing itself. Thread: owned by one.
class WireClient {
public:
    explicit WireClient(const protocol::JoinString& join);
    ~WireClient();
    WireClient(const WireClient&) = delete;
    WireClient& operator=(const WireClient&) = delete;

    protocol::Welcome hello(const protocol::Hello& hello);
    /// Sends payloads[i] as seq i + 1 within the credit and returns when the last one is acknowledged.
    void deliver(const std::vector<std::string>& payloads);

private:
    void sendMessage(const protocol::Message& message);
    protocol::Message receive();
    void fill(std::size_t bytes);
    void take(const protocol::Message& message);
    bool readable() const;

    int m_socket = -1;
    std::string m_in;
    std::uint32_t m_epoch = 0;
    std::uint64_t m_durable = 0;
    std::uint64_t m_creditBytes = 0;
    std::uint64_t m_creditBatches = 0;
};

}
