// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include <telltale/agent/layoutregistry.h>
#include <telltale/agent/slabring.h>
#include <telltale/core/samplebatch.h>
#include <telltale/core/threadhome.h>
#include <telltale/protocol/payloadbuilder.h>
#include <telltale/spool/heldstore.h>

namespace telltale::agent {

/// A payload that has not taken a seq yet.
struct EncodedBatch {
    std::string payload;
    BatchInfo info;
    std::vector<Drop> drops;
    std::uint64_t events = 0, blobs = 0;
};

/// Gathers steps into payloads: all steps of one batch time, cut between steps, or between layouts when one step is too
/// large for a message (then only the last part says that the step is complete). Thread: sender.
class Encoder {
public:
    using Clock = std::chrono::steady_clock;
    using Sink = std::function<void(EncodedBatch&&)>;

    explicit Encoder(Sink sink);

    void beginStep(std::int64_t step, std::int64_t wallNs, Clock::time_point now);
    /// The block's values are copied. Unknown layouts cannot happen: the writer looked them up.
    void addBlock(const Layout& layout, const SlabRing::Block& block);

    void addEvent(const Event& event, Clock::time_point now);
    void addBlob(const Blob& blob, Clock::time_point now);
    void addDrops(const std::vector<Drop>& drops, Clock::time_point now);

    /// Hands what is open to the sink.
    void finish();
    bool isEmpty() const { return m_builder.isEmpty(); }
    /// When the open batch was begun.
    Clock::time_point openSince() const { return m_openSince; }

private:
    void addPart(const Layout::Part& part, StepBlock&& block);
    /// What something adds to a message, by every measure that the server limits.
    struct Cost {
        std::size_t decodedBytes = 0;
        std::size_t layoutBytes = 0;
        std::size_t submessages = 1;
        std::size_t blocks = 0;
        std::size_t elements = 0;
    };
    bool fits(const Cost& cost) const;
    void add(const Cost& cost);
    void touch(Clock::time_point now);
    void emit(bool stepComplete);

    Sink m_sink;
    protocol::PayloadBuilder m_builder;
    Clock::time_point m_openSince;
    Clock::time_point m_now;
    std::int64_t m_step = 0;
    std::int64_t m_wallNs = 0;
    StepRange m_steps;
    std::vector<LayoutId> m_usedLayouts;
    std::shared_ptr<const std::vector<LayoutId>> m_lastUsedLayouts; ///< usually the next batch uses the same
    std::size_t m_layoutBytes = 0;
    std::size_t m_decodedBytes = 0;
    std::size_t m_submessages = 0;
    std::size_t m_blocks = 0;
    std::size_t m_elements = 0;
    std::uint64_t m_events = 0, m_blobs = 0;
    std::vector<Drop> m_drops;
    ThreadHome m_home;
};

/// How many series of a block are present. Thread: any (pure).
std::uint32_t presentCount(const Layout& layout, const std::byte* data);

}
