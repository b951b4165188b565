// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/storethread.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include <telltale/store/clock.h>
#include <telltale/store/runfiles.h>

namespace telltale::store {
namespace {

constexpr std::chrono::milliseconds kTick { 200 };
constexpr std::chrono::milliseconds kFirstRetry { 100 };
constexpr std::chrono::milliseconds kLongestRetry { 2000 };
constexpr std::size_t kMaxQuarantineBytes = 64u << 10;

}

StoreThread::StoreThread(const StoreOptions& options, StoreQueue& queue, Outlet outlet)
    : m_options(options)
    , m_queue(queue)
    , m_outlet(std::move(outlet))
    , m_giveUpAt([] { return Clock::time_point::max(); })
{
}

StoreThread::~StoreThread() = default;

void StoreThread::recover()
{
    for (const std::string& path : capsulePaths(m_options.dataDir)) {
        std::error_code error;
        const bool hasLog = std::filesystem::exists(path + "-wal", error);
        if (!hasLog) {
            const auto facts = readRunFacts(path);
            if (!facts || facts->state != RunState::Live)
                continue;
        }
        // What cannot be opened stays as it is: the list of runs shows it as damaged or newer.
        auto run = LiveRunEntry::open(path);
        if (run && (*run)->writer().finish((*run)->finalState()))
            static_cast<void>((*run)->writer().leaveWal());
    }
}

void StoreThread::run(const std::function<Clock::time_point()>& giveUpAt)
{
    m_giveUpAt = giveUpAt;
    m_lastTick = Clock::now();
    for (;;) {
        const auto deadline
            = m_groupBatches > 0 ? m_groupSince + std::chrono::milliseconds(m_options.commitMs) : m_lastTick + kTick;
        auto message = m_queue.pop(deadline);
        const bool ends = !message && m_queue.isClosed();
        if (Clock::now() >= m_giveUpAt())
            return;
        if (message)
            handle(std::move(*message));
        const bool due = m_groupBatches > 0
            && (ends || m_groupBytes >= m_options.commitBytes || m_groupBatches >= m_options.commitBatches
                || Clock::now() >= m_groupSince + std::chrono::milliseconds(m_options.commitMs));
        if (due && !flush())
            return;
        if (ends)
            break;
        if (Clock::now() - m_lastTick >= kTick) {
            m_lastTick = Clock::now();
            closeFinishedRuns();
            leaveWalModes();
        }
    }
    closeAll();
}

void StoreThread::handle(StoreMessage message)
{
    if (auto* batch = std::get_if<std::shared_ptr<const SampleBatch>>(&message))
        return takeBatch(*batch);
    if (auto* bad = std::get_if<QuarantineMessage>(&message))
        return takeQuarantine(std::move(*bad));
    if (!flush())
        return;
    if (const auto* request = std::get_if<StreamRequest>(&message))
        open(*request);
    else
        close(std::get<CloseMessage>(message));
}

void StoreThread::takeBatch(const std::shared_ptr<const SampleBatch>& batch)
{
    const auto found = m_streams.find(batch->stream);
    if (found == m_streams.end())
        return;
    if (m_groupBatches == 0)
        m_groupSince = Clock::now();
    m_groupBytes += batch->payload.empty() ? batch->byteCost() : batch->payload.size();
    ++m_groupBatches;
    if (m_groupStreams.empty() || m_groupStreams.back() != batch->stream)
        m_groupStreams.push_back(batch->stream);
    CapsuleWriter& writer = found->second.run->writer();
    std::string why = writer.stage(found->second.row, batch);
    if (why.empty()) {
        ++m_counters.batches;
        m_counters.samples += batch->samples;
        m_counters.scalars += batch->scalars;
        return;
    }
    writer.stageQuarantine(found->second.row, batch->seq, batch->payload.substr(0, kMaxQuarantineBytes), why);
    m_afterCommit.emplace_back(BatchQuarantined { batch->stream, batch->seq, std::move(why) });
}

void StoreThread::takeQuarantine(QuarantineMessage message)
{
    const auto found = m_streams.find(message.stream);
    if (found == m_streams.end())
        return;
    if (m_groupBatches == 0)
        m_groupSince = Clock::now();
    ++m_groupBatches;
    m_groupStreams.push_back(message.stream);
    message.raw.resize(std::min(message.raw.size(), kMaxQuarantineBytes));
    m_groupBytes += message.raw.size();
    m_afterCommit.emplace_back(BatchQuarantined { message.stream, message.seq, message.reason });
    found->second.run->writer().stageQuarantine(
        found->second.row, message.seq, std::move(message.raw), std::move(message.reason));
}

bool StoreThread::retry(const std::string& what, const std::function<Expected<void>()>& work)
{
    auto pause = kFirstRetry;
    for (;;) {
        auto done = work();
        if (done) {
            if (std::exchange(m_counters.inTrouble, false)) {
                m_outlet.counters(m_counters);
                m_outlet.events({ StoreTrouble { true, {} } });
            }
            return true;
        }
        if (!std::exchange(m_counters.inTrouble, true)) {
            Error error = std::move(done.error());
            error.what = what + " failed (" + error.what + ")";
            m_outlet.counters(m_counters);
            m_outlet.events({ StoreTrouble { false, std::move(error) } });
        }
        const auto until = std::min(Clock::now() + pause, m_giveUpAt());
        if (m_queue.waitClosed(until) && Clock::now() < m_giveUpAt()) {
            // Closed: the rest of the time goes into trying, without the queue to wake us.
            std::this_thread::sleep_until(std::min(Clock::now() + kFirstRetry, m_giveUpAt()));
        }
        if (Clock::now() >= m_giveUpAt())
            return false;
        pause = std::min(pause * 2, kLongestRetry);
    }
}

bool StoreThread::commitRun(LiveRunEntry& run)
{
    const auto start = Clock::now();
    if (!retry("writing the run " + run.ref()->name, [&run] { return run.writer().commit(); }))
        return false;
    ++m_counters.commits;
    m_counters.lastCommitUs = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count();
    return true;
}

bool StoreThread::flush()
{
    if (m_groupBatches == 0)
        return true;
    for (auto& run : m_runs) {
        const bool touched = std::any_of(m_groupStreams.begin(), m_groupStreams.end(),
            [&](StreamId stream) { return m_streams.at(stream).run == run.get(); });
        if (touched && !commitRun(*run))
            return false;
    }
    std::vector<StoreEvent> events = std::move(m_afterCommit);
    std::sort(m_groupStreams.begin(), m_groupStreams.end());
    m_groupStreams.erase(std::unique(m_groupStreams.begin(), m_groupStreams.end()), m_groupStreams.end());
    for (StreamId stream : m_groupStreams) {
        const OpenStream& open = m_streams.at(stream);
        StreamDurable durable;
        durable.stream = stream;
        durable.seq = open.run->writer().streams().at(open.row).durableSeq;
        events.emplace_back(durable);
    }
    m_afterCommit.clear();
    m_groupStreams.clear();
    m_groupBytes = 0;
    m_groupBatches = 0;
    m_counters.queuedBytes = m_queue.bytes();
    m_outlet.counters(m_counters);
    m_outlet.events(std::move(events));
    return true;
}

}
