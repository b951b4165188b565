// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>

#include <telltale/store/storeservice.h>

namespace telltale::store {

struct QuarantineMessage {
    StreamId stream;
    std::uint64_t seq = 0;
    std::string raw;
    std::string reason;
    Lost lost;
};
struct CloseMessage {
    StreamId stream;
    std::string byeReason;
    std::uint64_t lastSeq = 0;
    Produced produced;
};
/// Commits what came before it.
struct FlushMessage {
    std::shared_ptr<std::promise<void>> done; ///< all of it has been told; never, where the store ends before
};
using StoreMessage = std::variant<std::shared_ptr<const SampleBatch>, StreamRequest, QuarantineMessage, CloseMessage,
    OwnRecord, FlushMessage>;

/// What waits for the store thread, in order, bounded in bytes. The end of a stream always fits, or a full queue would
/// lose it: there are no more of these than streams were opened. Thread: any.
class StoreQueue {
public:
    explicit StoreQueue(std::size_t maxBytes)
        : m_maxBytes(maxBytes)
    {
    }

    /// False: full (or closed), offer it again. Requests for streams and records of our own have a limit each, since a
    /// queue that is full of batches is a store at work, and one full of those is not.
    bool offer(StoreMessage message);
    void push(CloseMessage message);
    /// The oldest message; nothing when the deadline passes, or after close() when none is left.
    std::optional<StoreMessage> pop(std::chrono::steady_clock::time_point deadline);
    /// Waits without taking anything; true when closed meanwhile.
    bool waitClosed(std::chrono::steady_clock::time_point deadline);
    void close();
    bool isClosed() const;
    std::size_t bytes() const;

private:
    std::size_t& counterOf(const StoreMessage& message);

    mutable std::mutex m_mutex;
    std::condition_variable m_ready;
    std::deque<StoreMessage> m_messages;
    const std::size_t m_maxBytes;
    std::size_t m_bytes = 0; ///< of batches and quarantined ones
    std::size_t m_requestBytes = 0;
    std::size_t m_recordBytes = 0;
    bool m_closed = false;
};

}
