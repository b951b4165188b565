// SPDX-License-Identifier: GPL-3.0-or-later
#include "pulsemeter.h"

#include <algorithm>

#include <telltale/common/viewstate.h>
#include <telltale/core/drops.h>
#include <telltale/items/guithread.h>
#include <telltale/store/clock.h>

#include "runlist.h"

namespace telltale::shell {
namespace {

constexpr double kFrameMs = 1000.0 / 60;

std::uint64_t droppedSamples(const views::ViewState& state)
{
    std::uint64_t items = state.droppedSamples();
    const auto catalog = state.catalog();
    for (std::size_t i = 0; catalog && i < catalog->unaccounted.size(); ++i)
        items += dropclass::isSamples(catalog->unaccounted[i].dropClass) ? catalog->unaccounted[i].items : 0;
    return items;
}

}

PulseMeter::PulseMeter()
{
    m_second.start();
    m_clock.start();
}

void PulseMeter::begin()
{
    items::assertGuiThread();
    m_pace = {};
    m_pulse.stepsPerSecond = 0;
    m_pulse.rates.clear();
}

void PulseMeter::setRunName(const views::ViewState& state, const items::RunsModel& runs)
{
    m_pulse.runName.clear();
    m_pulse.shownName.clear();
    const store::RunRef run = state.run();
    if (!run)
        return;
    const auto catalog = state.catalog();
    const store::RunSummary* summary = runs.runAt(runs.indexOf(QString::fromStdString(run->id)));
    const bool isUnnamed = run->id.empty() || run->id == run->locator.text();
    m_pulse.runName = QString::fromStdString(summary ? summary->name
            : catalog && isUnnamed                   ? catalog->name
                                                     : run->name);
    m_pulse.shownName = summary ? runs.shownName(*summary) : m_pulse.runName;
}

void PulseMeter::measure(
    const views::ViewState& state, const items::RunsModel& runs, const std::vector<ConnectionInfo>& connections)
{
    items::assertGuiThread();
    m_second.restart();
    const store::RunRef run = state.run();
    const auto catalog = state.catalog();
    m_pulse.hasRun = run != nullptr;
    m_pulse.live = isLive(run);
    m_pulse.state = m_pulse.live ? stateOf(*run->live) : store::RunState::Finished;
    m_pulse.framesPerSecond = static_cast<int>(
        std::min(60.0, 1000.0 / std::max(kFrameMs, kFrameMs + static_cast<double>(m_longestGapMs - 8))));
    m_longestGapMs = 0;
    m_pulse.agents = 0;
    m_reached = -1;
    m_heardNs = 0;
    int ofRun = 0, ended = 0;
    m_pulse.spoolBytes = 0;
    m_pulse.lagSeconds = m_pulse.samplesPerSecond = 0;
    for (const ConnectionInfo& connection : connections) {
        m_pulse.agents += connection.connected ? 1 : 0;
        m_pulse.spoolBytes += connection.spoolBytes;
        if (!catalog || connection.runKey != catalog->runKey)
            continue;
        ++ofRun;
        ended += connection.saidBye && !connection.connected ? 1 : 0;
        m_heardNs = std::max(m_heardNs, connection.lastHeardNs);
        if (connection.connected || !connection.saidBye)
            m_pulse.lagSeconds = std::max(m_pulse.lagSeconds, connection.lagSeconds);
        // A training that is switched off sends nothing of its steps.
        if (connection.connected) {
            m_reached = std::max(m_reached, connection.nextStep - 1);
            m_pulse.samplesPerSecond += static_cast<double>(connection.samplesPerSecond);
        }
    }
    m_hasEnded = ofRun > 0 && ended == ofRun;
    m_pulse.awaySeconds = -1;
    m_pulse.cost = m_pulse.live && catalog ? MonitoringCost(connections, catalog->runKey) : MonitoringCost();
    setRunName(state, runs);
    if (!run)
        m_pulse.fileBytes = m_pulse.storedSamples = 0;
    if (run && run->live) {
        measureLive(*run->live, state);
    } else if (run) {
        m_pulse.step = catalog ? catalog->steps.last : Step { -1 };
        m_pulse.storedSamples = 0;
        m_pulse.dropped = droppedSamples(state);
        if (const store::RunSummary* summary = runs.runAt(runs.indexOf(QString::fromStdString(run->id)))) {
            m_pulse.state = summary->state;
            m_pulse.fileBytes = summary->fileBytes;
            m_pulse.ranks = summary->ranks;
        }
    }
}

bool PulseMeter::reach(Step step)
{
    if (!m_pulse.live || step <= m_pulse.step)
        return false;
    m_pulse.step = step;
    return true;
}

void PulseMeter::measureLive(const store::LiveRun& live, const views::ViewState& state)
{
    m_pulse.step = Step { std::max(live.lastStep.load(std::memory_order_relaxed), m_reached) };
    m_pulse.ranks = live.ranks.load(std::memory_order_relaxed);
    m_pulse.connectedRanks = live.connectedRanks.load(std::memory_order_relaxed);
    // The file's also has what processes that are gone never handed over.
    m_pulse.dropped = std::max(live.droppedSamples.load(std::memory_order_relaxed), droppedSamples(state));
    m_pulse.fileBytes = live.fileBytes.load(std::memory_order_relaxed);
    m_pulse.storedSamples = live.storedSamples.load(std::memory_order_relaxed);
    if (m_pulse.live && m_pulse.ranks > 0 && m_pulse.connectedRanks == 0 && !m_hasEnded) {
        const std::int64_t last = m_heardNs > 0 ? m_heardNs : live.lastCommitWallNs.load(std::memory_order_relaxed);
        m_pulse.awaySeconds = std::max(0.0, static_cast<double>(store::wallClockNs() - last) / 1e9);
        return begin(); // it has no pace, and what comes after is another
    }
    m_pace.note(m_clock.elapsed(), m_pulse.step.value);
    m_pulse.stepsPerSecond = m_pace.stepsPerSecond();
    m_pulse.rates = m_pace.rates();
}

}
