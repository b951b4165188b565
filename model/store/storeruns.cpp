// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/folders.h>
#include <telltale/store/storethread.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include <telltale/store/clock.h>
#include <telltale/store/runfiles.h>

namespace telltale::store {

void StoreThread::open(const StreamRequest& request)
{
    auto run = findRun(request);
    Expected<std::int64_t> row = run ? (*run)->admit(request) : tl::unexpected<Error>(run.error());
    if (!row) {
        m_outlet.events({ StreamRefused { request.token, std::move(row.error()) } });
        return;
    }
    const RunRecorder& recorder = (*run)->recorder();
    StreamOpened opened;
    opened.token = request.token;
    opened.stream = StreamId(++m_lastStream);
    opened.storeId = recorder.meta().storeId;
    opened.epoch = recorder.streams().at(*row).epoch;
    opened.durableSeq = recorder.streams().at(*row).durableSeq;
    opened.layouts = recorder.layouts(*row);
    opened.run = (*run)->ref();
    // The newest Hello wins; handle() has committed what the older one brought.
    std::erase_if(m_streams, [&](const auto& entry) {
        const bool isSame = entry.second.run == *run && entry.second.row == *row;
        if (isSame)
            opened.fenced.push_back(entry.first);
        return isSame;
    });
    m_streams[opened.stream] = { *run, *row };
    publishRuns();
    m_outlet.events({ std::move(opened) });
}

void StoreThread::close(const CloseMessage& message)
{
    const auto found = m_streams.find(message.stream);
    if (found == m_streams.end())
        return;
    const OpenStream stream = found->second;
    m_streams.erase(found);
    const auto leave = [&] {
        return stream.run->leave(stream.row, message.byeReason, message.lastSeq, message.produced, wallClockNs());
    };
    if (retry("writing the run " + stream.run->ref()->name, leave) == Outcome::Hopeless)
        stopRun(*stream.run);
    closeFinishedRuns();
}

void StoreThread::stopRun(LiveRunEntry& run)
{
    RunStopped stopped { run.ref()->name, run.ref()->locator, {}, m_hopeless };
    for (const auto& [id, stream] : m_streams) {
        if (stream.run == &run)
            stopped.streams.push_back(id);
    }
    const auto isGone = [&](StreamId id) {
        return std::find(stopped.streams.begin(), stopped.streams.end(), id) != stopped.streams.end();
    };
    std::erase_if(m_groupStreams, isGone);
    std::erase_if(m_afterCommit, [&](const StoreEvent& event) {
        const auto* bad = std::get_if<BatchQuarantined>(&event);
        return bad && isGone(bad->stream);
    });
    for (const StreamId id : stopped.streams)
        m_streams.erase(id);
    std::vector<StoreEvent> events;
    run.recorder().giveUpRecords(m_hopeless);
    addWritten(run, events);
    m_stopped.insert_or_assign(stopped.locator, stopped.error);
    tell(run);
    run.abandon();
    std::erase_if(m_runs, [&run](const auto& entry) { return entry.get() == &run; });
    ++m_counters.stoppedRuns;
    m_outlet.counters(m_counters);
    publishRuns();
    events.emplace_back(std::move(stopped));
    m_outlet.events(std::move(events));
}

void StoreThread::writeIdle(OwnRecord record)
{
    RecordWritten written { record.token, 0, {} };
    const auto stopped = m_stopped.find(record.run);
    const auto ours = checkIsOurs(m_options.dataDir, record.run);
    const auto before = !ours        ? tl::unexpected<Error>(ours.error())
        : stopped == m_stopped.end() ? readRunFacts(record.run)
                                     : tl::unexpected<Error>(stopped->second);
    std::erase_if(m_leaving, [&record](const auto& run) { return run->ref()->locator == record.run; });
    auto run = before ? LiveRunEntry::open(record.run) : tl::unexpected<Error>(before.error());
    Expected<void> done = run ? Expected<void>() : tl::unexpected<Error>(run.error());
    if (done) {
        (*run)->recorder().stageRecord(std::move(record));
        // An attempt that failed half-way left it live.
        const bool isLeftLive = before->state == RunState::Live;
        done = (*run)->recorder().finish(isLeftLive ? (*run)->finalState() : before->state);
    }
    if (done) {
        written = (*run)->recorder().takeWritten().front();
        tell(**run);
        if (!(*run)->recorder().tidyUp())
            m_leaving.push_back(std::move(*run));
    } else {
        written.error = std::move(done.error());
    }
    m_outlet.events({ std::move(written) });
}

void StoreThread::noticeLosses()
{
    const auto now = Clock::now();
    bool isNew = false;
    for (auto& run : m_runs)
        isNew = run->noticeLoss(now, std::chrono::milliseconds(m_options.lostAfterMs)) || isNew;
    if (isNew)
        publishRuns();
}

void StoreThread::releaseIdle()
{
    // What cannot be written now stays open and is tried again.
    for (auto& run : m_runs)
        static_cast<void>(run->recorder().releaseIdle(Clock::now(), std::chrono::milliseconds(m_options.closeAfterMs)));
}

Expected<LiveRunEntry*> StoreThread::findRun(const StreamRequest& request)
{
    const auto archived = archivedRuns(request.runKey);
    const std::int64_t now = wallClockNs();
    for (auto& run : m_runs) {
        if (run->facts().knows(request))
            return run.get();
    }
    for (const auto& [locator, facts] : archived) {
        if (!facts.knows(request))
            continue;
        const auto stopped = m_stopped.find(locator);
        // What may only be read may have become writable; what broke under our hands stays broken.
        if (stopped != m_stopped.end() && stopped->second.code != ErrorCode::Denied)
            return tl::unexpected<Error>(stopped->second);
        return reopen(locator);
    }
    for (auto run = m_runs.rbegin(); run != m_runs.rend(); ++run) {
        if ((*run)->facts().welcomes(request, now))
            return run->get();
    }
    for (const auto& [locator, facts] : archived) {
        if (m_stopped.contains(locator) || !facts.welcomes(request, now))
            continue;
        // A capsule that cannot be continued must not keep the training from being recorded.
        if (auto run = reopen(locator))
            return run;
    }
    auto created = LiveRunEntry::create(m_options.dataDir, request);
    if (!created)
        return tl::unexpected<Error>(std::move(created.error()));
    m_runs.push_back(std::move(*created));
    return m_runs.back().get();
}

Expected<LiveRunEntry*> StoreThread::reopen(const RunLocator& locator)
{
    const auto leaving = std::find_if(
        m_leaving.begin(), m_leaving.end(), [&locator](const auto& run) { return run->ref()->locator == locator; });
    if (leaving != m_leaving.end())
        m_leaving.erase(leaving);
    auto run = LiveRunEntry::open(locator);
    if (!run)
        return tl::unexpected<Error>(std::move(run.error()));
    m_stopped.erase(locator);
    m_runs.push_back(std::move(*run));
    return m_runs.back().get();
}

std::vector<std::pair<RunLocator, RunFacts>> StoreThread::archivedRuns(const std::string& runKey)
{
    std::vector<std::pair<RunLocator, RunFacts>> found;
    for (std::string& path : capsulePaths(m_options.dataDir)) {
        const auto locator = RunLocator::ofFile(std::move(path));
        const bool isLive = std::any_of(
            m_runs.begin(), m_runs.end(), [&locator](const auto& run) { return run->ref()->locator == locator; });
        const auto known = m_runKeys.find(locator);
        if (isLive || (known != m_runKeys.end() && known->second != runKey))
            continue;
        // What cannot be read now may be readable for the next agent.
        const auto facts = readRunFacts(locator);
        if (!facts)
            continue;
        m_runKeys[locator] = facts->runKey;
        if (facts->runKey == runKey)
            found.emplace_back(locator, *facts);
    }
    std::sort(found.begin(), found.end(),
        [](const auto& a, const auto& b) { return a.second.createdNs > b.second.createdNs; });
    return found;
}

void StoreThread::closeFinishedRuns()
{
    const auto isOver = [&, now = Clock::now()](const std::unique_ptr<LiveRunEntry>& run) {
        return run->isOver(now, std::chrono::milliseconds(m_options.closeAfterMs));
    };
    // Before the loop: it takes runs whose file is broken out of the list.
    if (std::none_of(m_runs.begin(), m_runs.end(), isOver) || !flush())
        return;
    for (std::size_t i = 0; i < m_runs.size();) {
        if (!isOver(m_runs[i])) {
            ++i;
            continue;
        }
        auto run = std::move(m_runs[i]);
        m_runs.erase(m_runs.begin() + static_cast<std::ptrdiff_t>(i));
        closeRun(std::move(run));
    }
}

void StoreThread::closeRun(std::unique_ptr<LiveRunEntry> run)
{
    std::erase_if(m_streams, [&run](const auto& entry) { return entry.second.run == run.get(); });
    const Outcome outcome
        = retry("closing the run " + run->ref()->name, [&run] { return run->recorder().finish(run->finalState()); });
    if (outcome == Outcome::Hopeless) {
        m_stopped.insert_or_assign(run->ref()->locator, m_hopeless);
        run->abandon();
        ++m_counters.stoppedRuns;
        m_outlet.counters(m_counters);
        m_outlet.events({ RunStopped { run->ref()->name, run->ref()->locator, {}, m_hopeless } });
    }
    tell(*run);
    publishRuns();
    if (outcome == Outcome::Done && !run->recorder().tidyUp())
        m_leaving.push_back(std::move(run));
}

void StoreThread::tidyUp()
{
    // Who listed the archive while somebody still read one of them has its state from before its last commit.
    if (std::erase_if(m_leaving, [](const auto& run) { return run->recorder().tidyUp(); }) > 0)
        publishRuns();
}

void StoreThread::closeAll()
{
    while (!m_runs.empty() && Clock::now() < m_giveUpAt()) {
        auto run = std::move(m_runs.back());
        m_runs.pop_back();
        closeRun(std::move(run));
    }
    // Readers close their idle connections within a second or so; a file that stays in WAL mode is whole all the same.
    for (; !m_leaving.empty() && Clock::now() < m_giveUpAt(); tidyUp())
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    m_leaving.clear();
}

void StoreThread::publishRuns()
{
    std::vector<RunRef> runs;
    for (const auto& run : m_runs)
        runs.push_back(run->ref());
    m_feed.publishRuns(std::move(runs));
}

void StoreThread::tell(LiveRunEntry& run)
{
    if (const Durable news = run.takeNews(); !news.isEmpty())
        m_feed.publish(news);
}

}
