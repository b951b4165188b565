// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/agent/agent.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <new>

#include <fmt/format.h>

#include <telltale/agent/say.h>
#include <telltale/core/drops.h>
#include <telltale/core/quietthread.h>
#include <telltale/protocol/datarules.h>
#include <telltale/protocol/limits.h>
#include <telltale/protocol/utf8.h>
#include <telltale/spool/forkguard.h>

namespace telltale::agent {
namespace {

constexpr std::chrono::milliseconds kFlushPoll { 2 };
constexpr std::size_t kUsualBlocks = 256;
/// The sender ends within its flush time; a process must end even if it does not.
constexpr std::chrono::milliseconds kEndMargin { 500 };
constexpr std::size_t kMaxEventText = 64u << 10;
constexpr std::size_t kReasonsTold = 5;
constexpr const char* kSideQueueFull = "too many events and documents waited to be sent";

std::int64_t wallNs()
{
    timespec now {};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}

Agent::Agent(AgentOptions options)
    : m_options(std::move(options))
    , m_page(m_options.mode == Mode::Disabled ? std::nullopt : std::optional(m_options.hello), m_options.runFolder())
{
    if (m_options.mode == Mode::Disabled)
        return;
    m_step.agent = this;
    m_step.blocks.reserve(kUsualBlocks);
    m_handover = std::make_shared<Handover>(m_options);
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

Expected<std::uint32_t> Agent::addLayout(LayoutRequest request)
{
    if (!request.mended.empty())
        noteMended(request.mended);
    const auto layout = m_handover->layouts.add(std::move(request));
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
    m_stepWithoutRoom.reset();
    if (!m_handover->ring.begin(step, wallNs())) {
        m_stepWithoutRoom = step;
        return nullptr;
    }
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
    noteProduced();
    m_handover->ring.commit();
    if (!isWhole)
        countDropped(m_step.number, lostSamples, lostScalars);
}

/// Before anything can happen to the samples.
void Agent::noteProduced()
{
    const Counters& counters = m_handover->counters;
    m_page.set(
        counters.produced.load(std::memory_order_relaxed), counters.scalarsProduced.load(std::memory_order_relaxed));
}

void Agent::abandonStep()
{
    if (!m_step.isOpen || isChild())
        return;
    m_step.isOpen = false;
    m_handover->ring.abandon();
}

void Agent::countUnstored(std::int64_t step, std::uint64_t samples, std::uint64_t scalars)
{
    countDropped(step, samples, scalars, m_stepWithoutRoom == step ? kRingFull : kNoSeries);
}

void Agent::countDropped(std::int64_t step, std::uint64_t samples, std::uint64_t scalars, const char* why)
{
    if (!m_handover || isChild())
        return;
    Counters& counters = m_handover->counters;
    counters.produced += samples;
    counters.scalarsProduced += scalars;
    noteProduced();
    counters.dropped += samples;
    counters.scalarsDropped += scalars;
    if (m_pendingDrop.samples + m_pendingDrop.scalars > 0)
        pushRingDrop();
    m_pendingDrop.step = step;
    m_pendingDrop.samples += samples;
    m_pendingDrop.scalars += scalars;
    m_pendingDrop.why = why;
    pushRingDrop();
}

void Agent::pushRingDrop()
{
    if (m_handover->ringDrops.tryPush(m_pendingDrop))
        m_pendingDrop = {};
}

void Agent::setConfigInForce(std::uint64_t rev, std::int64_t step, const char* json, const char* why)
{
    if (isActive())
        m_handover->steering.setInForce(rev, step, json, why);
}

void Agent::refuseConfig(std::uint64_t rev, std::int64_t step, const char* reason)
{
    if (isActive())
        m_handover->steering.refuse(rev, step, reason);
}

bool Agent::pushEvent(Event event)
{
    if (!isActive())
        return false;
    protocol::mendNames(event);
    event.text = protocol::toUtf8(event.text);
    event.json = protocol::toUtf8(event.json);
    if (event.text.size() > kMaxEventText) {
        noteMended(fmt::format("an event of kind {} has a text of {} bytes; it is cut at {}", event.kind,
            event.text.size(), kMaxEventText));
        event.text.resize(protocol::cutUtf8(event.text, kMaxEventText).size());
    }
    const std::size_t cost = 64 + event.bytes();
    if (const auto ok = protocol::checkEvent(event); !ok) {
        countRefused(dropclass::kEvents, event.step.value, cost, ok.error().what);
        return false;
    }
    if (cost > protocol::limits::kMaxBlobPartBytes) {
        countRefused(dropclass::kEvents, event.step.value, cost, "an event was too large");
        return false;
    }
    event.wallNs = wallNs();
    const std::int64_t step = event.step.value;
    if (m_handover->side.tryPush(std::move(event), cost))
        return true;
    countRefused(dropclass::kEvents, step, cost, kSideQueueFull);
    return false;
}

bool Agent::pushBlob(Blob blob)
{
    if (!isActive())
        return false;
    constexpr std::size_t kPart = protocol::limits::kMaxBlobPartBytes - 4096;
    const std::size_t parts = std::max<std::size_t>(1, (blob.bytes.size() + kPart - 1) / kPart);
    const std::size_t size = blob.bytes.size();
    if (size + m_handover->side.cost() > kSideQueueBytes) {
        countRefused(dropclass::kBlobs, blob.step.value, size, kSideQueueFull);
        return false;
    }
    const std::string bytes = std::move(blob.bytes);
    blob.kind = protocol::toName(blob.kind);
    blob.name = protocol::toName(blob.name);
    blob.id = protocol::toName(fmt::format("{}-{}", blob.kind, m_blobs.fetch_add(1) + 1));
    blob.parts = static_cast<std::uint32_t>(parts);
    for (std::size_t i = 0; i < parts; ++i) {
        Blob part = blob;
        part.part = static_cast<std::uint32_t>(i);
        part.bytes = bytes.substr(i * kPart, kPart);
        const std::size_t cost = part.bytes.size() + 128;
        if (!m_handover->side.tryPush(std::move(part), cost)) {
            countRefused(dropclass::kBlobs, blob.step.value, size, kSideQueueFull);
            return false;
        }
    }
    return true;
}

void Agent::countRefused(std::uint32_t dropClass, std::int64_t step, std::size_t bytes, const std::string& reason)
{
    if (m_handover && !isChild())
        m_handover->drops.add(dropClass, reason, step, step, 1, bytes);
}

bool Agent::flush(std::chrono::milliseconds timeout)
{
    if (!m_sender || isChild())
        return !m_sender;
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    const std::uint64_t ticket = m_sender->requestFlush();
    while (!m_sender->isFlushed(ticket)) {
        if (std::chrono::steady_clock::now() >= deadline || !isActive() || m_handover->counters.refused)
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
    // No later step waits for the queue to have room.
    const auto [step, samples, scalars, why] = std::exchange(m_pendingDrop, {});
    m_handover->drops.add(dropclass::kTensors, why, step, step, samples);
    m_handover->drops.add(dropclass::kScalars, why, step, step, scalars);
    if (m_thread.joinable()) {
        m_sender->stop(reason, m_options.flush);
        if (m_sender->waitEnded(Sender::Clock::now() + m_options.flush + kEndMargin))
            m_thread.join();
        else
            m_thread.detach();
        forkguard::unwatch(&m_isChild);
        if (m_sender->hasToldAll())
            m_page.remove();
        tellLosses();
    }
    return m_sender->isAllAcknowledged();
}

/// What was lost, once, when all is over: counts by reason, largest first.
void Agent::tellLosses() const
{
    const Counters& counters = m_handover->counters;
    std::map<std::string, std::uint64_t> byReason;
    std::uint64_t others = 0;
    for (const auto& [key, items] : m_handover->drops.totals()) {
        byReason[key.second] += items;
        others += key.first == dropclass::kEvents || key.first == dropclass::kBlobs ? items : 0;
    }
    if (byReason.empty())
        return;
    std::vector<std::pair<std::uint64_t, std::string>> reasons;
    reasons.reserve(byReason.size());
    for (const auto& [reason, items] : byReason)
        reasons.emplace_back(items, reason);
    std::sort(reasons.rbegin(), reasons.rend());
    std::string why;
    for (std::size_t i = 0; i < std::min<std::size_t>(reasons.size(), kReasonsTold); ++i)
        why += fmt::format("{}{} ({})", i == 0 ? "" : ", ", reasons[i].second, reasons[i].first);
    std::vector<std::string> what;
    if (counters.dropped > 0)
        what.push_back(fmt::format("{} of {} samples", counters.dropped.load(), counters.produced.load()));
    if (counters.scalarsDropped > 0)
        what.push_back(
            fmt::format("{} of {} metrics", counters.scalarsDropped.load(), counters.scalarsProduced.load()));
    if (others > 0)
        what.push_back(fmt::format("{} events or documents", others));
    say(fmt::format("{} were not stored: {}", fmt::join(what, " and "), why));
}

void Agent::noteError(Trouble trouble, const std::string& sentence)
{
    if (!m_handover)
        return;
    ++m_handover->counters.internalErrors;
    m_handover->lastError.set(trouble, sentence);
}

void Agent::noteMended(const std::string& sentence)
{
    if (!isActive() || m_isMendingTold.exchange(true))
        return;
    say(sentence);
    pushEvent({ "log", Step { m_step.number }, 0, sentence, {} });
}

}
