// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include <QTemporaryDir>

#include <telltale/store/archive.h>
#include <telltale/store/storefeed.h>

#include "capsulecontent.h"

namespace storefeedtest {

using namespace telltale;
using namespace telltale::store;
using namespace telltale::store::test;

namespace {

/// Keeps what it hears; may be made to stand still in a call. Thread: any.
class Listener : public StoreSubscriber {
public:
    void onDurable(const Durable& durable) override
    {
        std::unique_lock lock(m_mutex);
        ++m_calls;
        // What it is told is in the file already.
        const std::string& path = durable.run->locator.text();
        const auto between = [&path](const char* table, const IdRange& ids) {
            return numberOf(path,
                "SELECT count(*) FROM " + std::string(table) + " WHERE id BETWEEN " + std::to_string(ids.first)
                    + " AND " + std::to_string(ids.last));
        };
        for (const auto& [table, ids] : { std::pair("series", durable.series), std::pair("event", durable.events) })
            m_isAllThere = m_isAllThere && (ids.isEmpty() || between(table, ids) == ids.last - ids.first + 1);
        for (const Durable::Batches& batches : durable.batches) {
            m_isAllThere = m_isAllThere
                && numberOf(path, "SELECT durable_seq FROM stream WHERE id = " + std::to_string(batches.stream))
                    >= static_cast<std::int64_t>(batches.last);
            m_isInOrder = m_isInOrder && batches.first == m_all.seq + 1;
            m_all.seq = batches.last;
        }
        m_all.durable.add(durable);
        m_thread = std::this_thread::get_id();
        m_changed.notify_all();
        m_changed.wait(lock, [this] { return !m_isHeld; });
    }
    void onRuns(const std::vector<RunRef>& live) override
    {
        const std::lock_guard lock(m_mutex);
        m_runs.push_back(live.size());
    }

    void hold(bool on)
    {
        const std::lock_guard lock(m_mutex);
        m_isHeld = on;
        m_changed.notify_all();
    }
    bool waitForCall()
    {
        std::unique_lock lock(m_mutex);
        return m_changed.wait_for(lock, std::chrono::seconds(20), [this] { return m_calls > 0; });
    }

    struct All {
        Durable durable;
        std::uint64_t seq = 0;
    };
    All all()
    {
        const std::lock_guard lock(m_mutex);
        return m_all;
    }
    bool isRight()
    {
        const std::lock_guard lock(m_mutex);
        return m_isAllThere && m_isInOrder && m_thread != std::this_thread::get_id();
    }
    int calls()
    {
        const std::lock_guard lock(m_mutex);
        return m_calls;
    }
    std::vector<std::size_t> runs()
    {
        const std::lock_guard lock(m_mutex);
        return m_runs;
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    All m_all;
    std::vector<std::size_t> m_runs;
    std::thread::id m_thread;
    int m_calls = 0;
    bool m_isAllThere = true;
    bool m_isInOrder = true;
    bool m_isHeld = false;
};

double one(std::int64_t, std::size_t, std::size_t)
{
    return 1;
}

StoreOptions eachBatchAlone()
{
    StoreOptions options;
    options.commitBatches = 1;
    return options;
}

std::shared_ptr<SampleBatch> batchOf(const StreamOpened& opened, std::uint64_t seq, StepBlock block)
{
    auto batch = std::make_shared<SampleBatch>();
    batch->stream = opened.stream;
    batch->seq = seq;
    batch->layouts = { block.layout };
    batch->events = { { "anomaly", block.step, 1, "something", "" } };
    batch->blocks = { std::move(block) };
    return batch;
}

}

/// What the store tells its subscribers. Thread: the store's and the subscriptions' are their own.
class StoreFeedTest : public QObject {
    Q_OBJECT

private:
    static constexpr int kBatches = 60;
    static constexpr int kSeries = 5;

    /// Sends kBatches, each a commit of its own, and waits until they are durable.
    static StreamOpened record(Recorder& recorder)
    {
        const auto layout = makeLayout(1, Kind::Actv, { Stat::Norm }, kSeries);
        StreamOpened opened = recorder.open(makeRequest("job", 1));
        for (std::uint64_t seq = 1; seq <= kBatches; ++seq) {
            recorder.send(batchOf(opened, seq, makeBlock(layout, static_cast<std::int64_t>(seq), one)));
            if (!recorder.waitDurable(opened.stream, seq))
                qFatal("batch %d is not durable", static_cast<int>(seq));
        }
        return opened;
    }

private Q_SLOTS:
    void whatIsToldIsDurableAndComplete()
    {
        QTemporaryDir dir;
        Recorder recorder(dir.path().toStdString(), eachBatchAlone());
        Listener listener;
        const auto subscription = recorder.service().subscribe(listener);
        const auto opened = record(recorder);
        QTRY_COMPARE(listener.all().seq, std::uint64_t { kBatches });
        const Durable heard = listener.all().durable;
        QCOMPARE(heard.steps, (StepRange { Step { 1 }, Step { kBatches } }));
        QCOMPARE(heard.series, (IdRange { 1, kSeries }));
        QCOMPARE(heard.events, (IdRange { 1, kBatches }));
        QVERIFY(heard.areSourcesChanged && heard.blobs.isEmpty() && heard.drops.isEmpty());
        QVERIFY(listener.isRight());
        QCOMPARE(subscription->missed(), std::uint64_t { 0 });
        recorder.service().closeStream(opened.stream, "finished", kBatches);
        QTRY_COMPARE(listener.runs(), (std::vector<std::size_t> { 1, 0 }));
    }

    void aStepOfWhichAPartIsStillToComeIsOpen()
    {
        QTemporaryDir dir;
        Recorder recorder(dir.path().toStdString(), eachBatchAlone());
        Listener listener;
        const auto subscription = recorder.service().subscribe(listener);
        const auto opened = recorder.open(makeRequest("job", 1));
        const auto layout = makeLayout(1, Kind::Actv, { Stat::Norm }, kSeries);
        const auto send = [&](std::uint64_t seq, bool isWhole) {
            auto batch = batchOf(opened, seq, makeBlock(layout, 7, one));
            batch->stepComplete = isWhole;
            recorder.send(std::move(batch));
        };
        const auto openStep = [&]() -> std::optional<Step> {
            const auto open = listener.all().durable.openSteps;
            return open.empty() ? std::optional<Step>() : open.begin()->second;
        };
        send(1, false);
        QTRY_COMPARE(listener.all().seq, std::uint64_t { 1 });
        QCOMPARE(openStep(), std::optional(Step { 7 }));
        send(2, true);
        QTRY_COMPARE(listener.all().seq, std::uint64_t { 2 });
        QCOMPARE(openStep(), std::optional<Step>());
    }

    void aSubscriberThatStandsStillHoldsNobodyUpAndHearsWhatItMissed()
    {
        constexpr std::size_t kCapacity = 4;
        QTemporaryDir dir;
        Recorder recorder(dir.path().toStdString(), eachBatchAlone());
        Listener listener;
        listener.hold(true);
        const auto subscription = recorder.service().subscribe(listener, kCapacity);
        record(recorder);
        QVERIFY(listener.waitForCall());
        QCOMPARE(listener.calls(), 1); // it still stands there, and everything is durable
        const std::uint64_t missed = subscription->missed();
        QVERIFY2(missed >= kBatches - kCapacity - 2, qPrintable(QString::number(missed)));
        listener.hold(false);
        QTRY_COMPARE(listener.all().seq, std::uint64_t { kBatches });
        const Durable heard = listener.all().durable;
        QCOMPARE(heard.missed, missed);
        QCOMPARE(heard.events, (IdRange { 1, kBatches }));
        QCOMPARE(heard.steps, (StepRange { Step { 1 }, Step { kBatches } }));
        QVERIFY(listener.isRight());
        QVERIFY(listener.calls() <= static_cast<int>(kCapacity) + 2);
    }

    void whoUnsubscribesIsNotCalledAgainAndTheOthersAre()
    {
        QTemporaryDir dir;
        Recorder recorder(dir.path().toStdString(), eachBatchAlone());
        Listener stays;
        const auto subscription = recorder.service().subscribe(stays);
        auto leaves = std::make_unique<Listener>();
        auto left = recorder.service().subscribe(*leaves);
        const auto layout = makeLayout(1, Kind::Actv, { Stat::Norm }, kSeries);
        const auto opened = recorder.open(makeRequest("job", 1));
        recorder.send(batchOf(opened, 1, makeBlock(layout, 1, one)));
        QVERIFY(leaves->waitForCall());
        left.reset();
        leaves.reset();
        recorder.send(batchOf(opened, 2, makeBlock(layout, 2, one)));
        QTRY_COMPARE(stays.all().seq, std::uint64_t { 2 });
    }

    void whatDoesNotFitIsOneForEachRun()
    {
        StoreFeed feed;
        Listener listener;
        const auto runs
            = { std::make_shared<RunHandle>(), std::make_shared<RunHandle>(), std::make_shared<RunHandle>() };
        listener.hold(true);
        const auto subscription = feed.subscribe(listener, 2);
        constexpr int kRounds = 10;
        for (int i = 1; i <= kRounds; ++i) {
            for (const auto& run : runs) {
                Durable durable;
                durable.run = run;
                durable.blobs.add(i);
                feed.publish(durable);
                QVERIFY(listener.waitForCall()); // the first one is out of the queue
            }
        }
        QCOMPARE(subscription->missed(), std::uint64_t { 3 * kRounds - 1 - 2 - 3 });
        listener.hold(false);
        QTRY_COMPARE(listener.calls(), 1 + 2 + 3);
        QCOMPARE(listener.all().durable.blobs, (IdRange { 1, kRounds }));
    }
};

TELLTALE_TEST(QTEST_APPLESS_MAIN, StoreFeedTest)

}

#include "storefeedtest.moc"
