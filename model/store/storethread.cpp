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

/// A disk gets room again and a cable is plugged in again; a file that is read-only, broken or gone stays so while we
/// hold it open.
bool isHopeless(ErrorCode code)
{
    return code == ErrorCode::Denied || code == ErrorCode::Damaged || code == ErrorCode::Unsupported;
}

}

StoreThread::StoreThread(const StoreOptions& options, StoreQueue& queue, StoreFeed& feed, Outlet outlet)
    : m_options(options)
    , m_queue(queue)
    , m_feed(feed)
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
        const auto locator = RunLocator::ofFile(path);
        if (!hasLog) {
            const auto facts = readRunFacts(locator);
            if (!facts || facts->state != RunState::Live)
                continue;
        }
        // What cannot be opened stays as it is: the list of runs shows it as damaged or newer.
        const auto before = readRunFacts(locator);
        auto run = LiveRunEntry::open(locator);
        if (!run)
            continue;
        const bool wasLost = before && before->state == RunState::Lost && !(*run)->facts().isDone();
        if ((*run)->recorder().finish(wasLost ? RunState::Lost : (*run)->finalState()))
            static_cast<void>((*run)->recorder().tidyUp());
    }
}

void StoreThread::run(const std::function<Clock::time_point()>& giveUpAt)
{
    m_home.check();
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
            noticeLosses();
            closeFinishedRuns();
            releaseIdle();
            tidyUp();
        }
        for (const auto& run : m_runs)
            tell(*run);
    }
    closeAll();
}

void StoreThread::handle(StoreMessage message)
{
    if (auto* batch = std::get_if<std::shared_ptr<const SampleBatch>>(&message))
        return takeBatch(*batch);
    if (auto* bad = std::get_if<QuarantineMessage>(&message))
        return takeQuarantine(std::move(*bad));
    if (auto* record = std::get_if<OwnRecord>(&message))
        return takeRecord(std::move(*record));
    if (!flush())
        return;
    if (const auto* request = std::get_if<StreamRequest>(&message)) {
        open(*request);
    } else if (const auto* wanted = std::get_if<FlushMessage>(&message)) {
        for (const auto& run : m_runs)
            tell(*run);
        wanted->done->set_value();
    } else {
        close(std::get<CloseMessage>(message));
    }
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
    RunRecorder& recorder = found->second.run->recorder();
    std::string why;
    LiveRunEntry& run = *found->second.run;
    const Outcome outcome = retry("writing the run " + run.ref()->name, [&]() -> Expected<void> {
        auto staged = recorder.stage(found->second.row, batch);
        if (!staged)
            return tl::unexpected<Error>(std::move(staged.error()));
        why = std::move(*staged);
        return {};
    });
    if (outcome == Outcome::Hopeless)
        stopRun(run);
    if (outcome != Outcome::Done)
        return;
    if (why.empty()) {
        ++m_counters.batches;
        m_counters.samples += batch->samples;
        m_counters.scalars += batch->scalars;
        return;
    }
    recorder.stageQuarantine(found->second.row, batch->seq, batch->payload.substr(0, kMaxQuarantineBytes), why,
        { batch->samples, batch->scalars }, batch->drops);
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
    found->second.run->recorder().stageQuarantine(
        found->second.row, message.seq, std::move(message.raw), std::move(message.reason), message.lost, {});
}

void StoreThread::takeRecord(OwnRecord record)
{
    const auto run = std::find_if(
        m_runs.begin(), m_runs.end(), [&record](const auto& entry) { return entry->ref()->locator == record.run; });
    if (run == m_runs.end())
        return writeIdle(std::move(record));
    if (m_groupBatches == 0)
        m_groupSince = Clock::now();
    ++m_groupBatches;
    m_groupBytes += record.event.bytes();
    (*run)->recorder().stageRecord(std::move(record));
}

void StoreThread::setTrouble(const Error* error)
{
    if (m_counters.inTrouble == (error != nullptr))
        return;
    m_counters.inTrouble = error != nullptr;
    m_outlet.counters(m_counters);
    m_outlet.events({ StoreTrouble { error == nullptr, error ? *error : Error {} } });
}

StoreThread::Outcome StoreThread::retry(const std::string& what, const std::function<Expected<void>()>& work)
{
    auto pause = kFirstRetry;
    for (;;) {
        auto done = work();
        if (done) {
            setTrouble(nullptr);
            return Outcome::Done;
        }
        Error error = std::move(done.error());
        error.what = what + " failed (" + error.what + ")";
        if (isHopeless(error.code)) {
            setTrouble(nullptr);
            m_hopeless = std::move(error);
            return Outcome::Hopeless;
        }
        setTrouble(&error);
        const auto until = std::min(Clock::now() + pause, m_giveUpAt());
        if (m_queue.waitClosed(until) && Clock::now() < m_giveUpAt()) {
            // Closed: the rest of the time goes into trying, without the queue to wake us.
            std::this_thread::sleep_until(std::min(Clock::now() + kFirstRetry, m_giveUpAt()));
        }
        if (Clock::now() >= m_giveUpAt())
            return Outcome::TimeUp;
        pause = std::min(pause * 2, kLongestRetry);
    }
}

StoreThread::Outcome StoreThread::commitRun(LiveRunEntry& run)
{
    const auto start = Clock::now();
    const Outcome outcome = retry("writing the run " + run.ref()->name, [&run] { return run.recorder().commit(); });
    if (outcome == Outcome::Done) {
        ++m_counters.commits;
        m_counters.lastCommitUs = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count();
    }
    return outcome;
}

void StoreThread::addWritten(LiveRunEntry& run, std::vector<StoreEvent>& events)
{
    for (RecordWritten& written : run.recorder().takeWritten())
        events.emplace_back(std::move(written));
}

bool StoreThread::flush()
{
    if (m_groupBatches == 0)
        return true;
    std::vector<std::pair<LiveRunEntry*, Error>> hopeless;
    for (auto& run : m_runs) {
        const bool touched = run->recorder().hasStaged()
            || std::any_of(m_groupStreams.begin(), m_groupStreams.end(),
                [&](StreamId stream) { return m_streams.at(stream).run == run.get(); });
        const Outcome outcome = touched ? commitRun(*run) : Outcome::Done;
        if (outcome == Outcome::TimeUp)
            return false;
        if (outcome == Outcome::Hopeless)
            hopeless.emplace_back(run.get(), m_hopeless);
    }
    for (const auto& [run, why] : hopeless) {
        m_hopeless = why;
        stopRun(*run);
    }
    std::vector<StoreEvent> events = std::move(m_afterCommit);
    for (auto& run : m_runs)
        addWritten(*run, events);
    std::sort(m_groupStreams.begin(), m_groupStreams.end());
    m_groupStreams.erase(std::unique(m_groupStreams.begin(), m_groupStreams.end()), m_groupStreams.end());
    for (StreamId stream : m_groupStreams) {
        const OpenStream& open = m_streams.at(stream);
        StreamDurable durable;
        durable.stream = stream;
        durable.seq = open.run->recorder().streams().at(open.row).durableSeq;
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
