// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/agent/agent.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <new>

#include <fmt/format.h>

#include <telltale/agent/forkguard.h>
#include <telltale/core/quietthread.h>
#include <telltale/protocol/limits.h>

namespace telltale::agent {
namespace {

constexpr std::chrono::milliseconds kFlushPoll { 2 };
constexpr std::size_t kUsualBlocks = 256;
/// The sender ends within its flush time; a process must end even if it does not.
constexpr std::chrono::milliseconds kEndMargin { 500 };

std::int64_t wallNs()
{
    timespec now {};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}

Agent::Agent(AgentOptions options)
    : m_options(std::move(options))
{
    if (m_options.mode == Mode::Disabled)
        return;
    m_step.agent = this;
    m_step.blocks.reserve(kUsualBlocks);
    m_handover = std::make_shared<Handover>(m_options.ringBytes);
    m_sender = std::make_shared<Sender>(m_options, *m_handover);
    if (!m_options.configText.empty()) {
        Blob blob;
        blob.kind = "config";
        blob.name = "config.json";
        blob.bytes = m_options.configText;
        pushBlob(std::move(blob));
    }
    // The thread comes last: an exception after it would destroy it while it runs.
    forkguard::watch(&m_isChild);
    try {
        m_thread = quietThread("telltale-sender", [sender = m_sender, handover = m_handover] { sender->run(); });
    } catch (...) {
        forkguard::unwatch(&m_isChild);
        throw;
    }
}

Agent::~Agent()
{
    if (m_thread.joinable())
        close("error");
}

Expected<std::uint32_t> Agent::addLayout(
    Kind kind, std::vector<Stat> stats, BlockType type, std::vector<SeriesDesc> series)
{
    const auto layout = m_handover->layouts.add(kind, std::move(stats), type, std::move(series));
    if (!layout)
        return tl::unexpected(layout.error());
    return (*layout)->id;
}

tt_step* Agent::beginStep(std::int64_t step)
{
    if (!isActive())
        return nullptr;
    if (m_step.isOpen)
        abandonStep();
    if (m_pendingDrop.samples + m_pendingDrop.scalars > 0)
        pushRingDrop();
    if (!m_handover->ring.begin(step, wallNs()))
        return nullptr;
    m_step.number = step;
    m_step.isOpen = true;
    m_step.blocks.clear();
    return &m_step;
}

std::byte* Agent::reserve(std::uint32_t layoutId, BlockType type, const Layout*& layout)
{
    layout = m_handover->layouts.find(layoutId);
    if (!m_step.isOpen || isChild() || !layout || layout->type != type)
        return nullptr;
    for (const tt_step::Block& block : m_step.blocks)
        if (block.layout == layout)
            return nullptr;
    // What is in the ring must be in the list, which may find no memory: the list first.
    try {
        m_step.blocks.push_back({ layout, nullptr });
    } catch (const std::bad_alloc&) {
        const std::uint64_t count = layout->count;
        countDropped(m_step.number, count * layout->samplesPerSeries, count * layout->scalarsPerSeries);
        throw;
    }
    std::byte* data = m_handover->ring.reserve(layoutId, layout->count, layout->blockBytes());
    m_step.blocks.back().data = data;
    return data;
}

void Agent::commitStep()
{
    if (!m_step.isOpen || isChild())
        return;
    Counters& counters = m_handover->counters;
    std::uint64_t samples = 0, scalars = 0, lostSamples = 0, lostScalars = 0;
    for (const tt_step::Block& block : m_step.blocks) {
        const std::uint64_t present = block.data ? presentCount(*block.layout, block.data) : block.layout->count;
        (block.data ? samples : lostSamples) += present * block.layout->samplesPerSeries;
        (block.data ? scalars : lostScalars) += present * block.layout->scalarsPerSeries;
    }
    m_step.isOpen = false;
    const bool isWhole = lostSamples + lostScalars == 0;
    if (!isWhole && !m_handover->ring.startedEmpty()) {
        // A step is handed over whole or not at all, unless no ring of this size could ever take it.
        m_handover->ring.abandon();
        return countDropped(m_step.number, samples + lostSamples, scalars + lostScalars);
    }
    if (samples > 0)
        counters.produced.fetch_add(samples, std::memory_order_relaxed);
    if (scalars > 0)
        counters.scalarsProduced.fetch_add(scalars, std::memory_order_relaxed);
    m_handover->ring.commit();
    if (!isWhole)
        countDropped(m_step.number, lostSamples, lostScalars);
}

void Agent::abandonStep()
{
    if (!m_step.isOpen || isChild())
        return;
    m_step.isOpen = false;
    m_handover->ring.abandon();
}

void Agent::countDropped(std::int64_t step, std::uint64_t samples, std::uint64_t scalars)
{
    if (!m_handover || isChild())
        return;
    Counters& counters = m_handover->counters;
    counters.produced += samples;
    counters.scalarsProduced += scalars;
    counters.dropped += samples;
    counters.scalarsDropped += scalars;
    if (m_pendingDrop.samples + m_pendingDrop.scalars > 0)
        pushRingDrop();
    m_pendingDrop.step = step;
    m_pendingDrop.samples += samples;
    m_pendingDrop.scalars += scalars;
    pushRingDrop();
}

void Agent::pushRingDrop()
{
    if (m_handover->ringDrops.tryPush(m_pendingDrop))
        m_pendingDrop = {};
}

bool Agent::pushEvent(Event event)
{
    const std::size_t cost = 64 + event.kind.size() + event.text.size() + event.json.size();
    if (!isActive() || cost > protocol::limits::kMaxBlobPartBytes)
        return false;
    event.wallNs = wallNs();
    if (m_handover->side.tryPush(std::move(event), cost))
        return true;
    ++m_handover->counters.dropsByClass[0];
    return false;
}

bool Agent::pushBlob(Blob blob)
{
    if (!isActive())
        return false;
    constexpr std::size_t kPart = protocol::limits::kMaxBlobPartBytes - 4096;
    const std::size_t parts = std::max<std::size_t>(1, (blob.bytes.size() + kPart - 1) / kPart);
    if (blob.bytes.size() + m_handover->side.cost() > kSideQueueBytes) {
        ++m_handover->counters.dropsByClass[4];
        return false;
    }
    const std::string bytes = std::move(blob.bytes);
    blob.id = fmt::format("{}-{}", blob.kind, m_blobs.fetch_add(1) + 1);
    blob.parts = static_cast<std::uint32_t>(parts);
    for (std::size_t i = 0; i < parts; ++i) {
        Blob part = blob;
        part.part = static_cast<std::uint32_t>(i);
        part.bytes = bytes.substr(i * kPart, kPart);
        const std::size_t cost = part.bytes.size() + 128;
        if (!m_handover->side.tryPush(std::move(part), cost)) {
            ++m_handover->counters.dropsByClass[4];
            return false;
        }
    }
    return true;
}

bool Agent::flush(std::chrono::milliseconds timeout)
{
    if (!m_sender || isChild())
        return !m_sender;
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    const std::uint64_t ticket = m_sender->requestFlush();
    while (!m_sender->isFlushed(ticket)) {
        if (std::chrono::steady_clock::now() >= deadline || !isActive())
            return false;
        std::this_thread::sleep_for(kFlushPoll);
    }
    return true;
}

bool Agent::close(const std::string& reason)
{
    if (!m_sender)
        return true;
    if (isChild())
        return false;
    if (m_step.isOpen)
        abandonStep();
    if (m_pendingDrop.samples + m_pendingDrop.scalars > 0)
        pushRingDrop();
    if (m_thread.joinable()) {
        m_sender->stop(reason, m_options.flush);
        if (m_sender->waitEnded(Sender::Clock::now() + m_options.flush + kEndMargin))
            m_thread.join();
        else
            m_thread.detach();
        forkguard::unwatch(&m_isChild);
    }
    return m_sender->isAllAcknowledged();
}

void Agent::noteError(const std::string& sentence)
{
    if (!m_handover)
        return;
    ++m_handover->counters.internalErrors;
    m_handover->lastError.set(sentence);
}

}
