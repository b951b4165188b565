// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <telltale/agent/agentoptions.h>
#include <telltale/agent/sender.h>
#include <telltale/spool/productionpage.h>

namespace telltale::agent {
class Agent;
}

/// The one open step of an agent. Thread: training.
struct tt_step {
    struct Block {
        const telltale::agent::Layout* layout;
        const std::byte* data; ///< null when the ring had no room
    };

    telltale::agent::Agent* agent = nullptr;
    std::int64_t number = 0;
    bool isOpen = false;
    std::vector<Block> blocks;
};

namespace telltale::agent {

/// What stands behind tt_agent. Thread: step functions belong to one training thread, the rest to any.
class Agent {
public:
    explicit Agent(AgentOptions options);
    ~Agent();
    Agent(const Agent&) = delete;
    Agent& operator=(const Agent&) = delete;

    /// Neither switched off nor a forked copy.
    bool isActive() const
    {
        return m_sender && !m_isChild.load(std::memory_order_relaxed)
            && !m_handover->isDisabled.load(std::memory_order_relaxed);
    }
    bool isChild() const { return m_isChild.load(std::memory_order_relaxed); }
    Mode mode() const { return isActive() ? m_options.mode : Mode::Disabled; }

    Expected<std::uint32_t> addLayout(LayoutRequest request);

    tt_step* beginStep(std::int64_t step);
    /// Space for a block of a layout of that type; nullptr when there is none.
    std::byte* reserve(std::uint32_t layoutId, BlockType type, const Layout*& layout);
    void commitStep();
    void abandonStep();
    /// What the caller could not put into a step: the ring had no room for it, or there is no layout for it.
    void countUnstored(std::int64_t step, std::uint64_t samples, std::uint64_t scalars);

    void noteCost(std::uint64_t insideNs, std::uint64_t elapsedNs, std::uint64_t steps)
    {
        if (!isActive())
            return;
        Counters& counters = m_handover->counters;
        counters.monitorNs.fetch_add(insideNs, std::memory_order_relaxed);
        counters.stepNs.fetch_add(elapsedNs, std::memory_order_relaxed);
        counters.steps.fetch_add(steps, std::memory_order_relaxed);
    }

    void noteThinning(std::uint64_t every, std::uint64_t budgetPpm)
    {
        if (!isActive())
            return;
        m_handover->counters.collectedEvery.store(every, std::memory_order_relaxed);
        m_handover->counters.budgetPpm.store(budgetPpm, std::memory_order_relaxed);
    }

    const Steering::Due* configDue(std::int64_t nextStep)
    {
        return isActive() ? m_handover->steering.due(nextStep) : nullptr;
    }
    const std::string* recorderAsked() { return isActive() ? m_handover->steering.recorderAsked() : nullptr; }
    void configWords(std::int64_t*& nextStep, const std::uint8_t*& isWaiting)
    {
        if (isActive())
            m_handover->steering.words(nextStep, isWaiting);
    }
    void setConfigInForce(std::uint64_t rev, std::int64_t step, const char* json, const char* why);
    bool isConfigOffered(const char* json) { return isActive() && m_handover->steering.isWaiting(json); }
    void refuseConfig(std::uint64_t rev, std::int64_t step, const char* reason);

    bool pushEvent(Event event);
    bool pushBlob(Blob blob);

    bool flush(std::chrono::milliseconds timeout);
    bool close(const std::string& reason);
    Counters* counters() { return m_handover ? &m_handover->counters : nullptr; }
    const Counters* counters() const { return m_handover ? &m_handover->counters : nullptr; }
    std::pair<Trouble, std::string> lastError() const
    {
        return m_handover ? m_handover->lastError.get() : std::pair<Trouble, std::string>();
    }
    const std::filesystem::path& spoolDir() const { return m_options.spoolDir; }
    void noteError(Trouble trouble, const std::string& sentence);
    /// Something was made to fit: said once, to the user and in the run.
    void noteMended(const std::string& sentence);
    /// An event or blob that is not even tried.
    void countRefused(std::uint32_t dropClass, std::int64_t step, std::size_t bytes, const std::string& reason);

private:
    void countDropped(std::int64_t step, std::uint64_t samples, std::uint64_t scalars, const char* why = kRingFull);
    void pushRingDrop();
    void noteProduced();
    void tellLosses() const;

    const AgentOptions m_options;
    // The thread owns both as well: should it not end in time, it is left behind with what it touches.
    std::shared_ptr<Handover> m_handover; ///< null when disabled from the start
    std::shared_ptr<Sender> m_sender;
    std::thread m_thread;
    ProductionPage m_page;
    tt_step m_step;
    std::optional<std::int64_t> m_stepWithoutRoom; ///< that the ring did not take last
    RingDrop m_pendingDrop; ///< not yet in the queue
    std::atomic<bool> m_isChild { false };
    std::atomic<std::uint64_t> m_blobs { 0 };
    std::atomic<bool> m_isMendingTold { false };
};

}
