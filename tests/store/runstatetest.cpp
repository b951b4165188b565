// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include <QTemporaryDir>
#include <QTest>

#include <telltale/store/archive.h>
#include <telltale/store/sqlite.h>

#include "capsulecontent.h"

using namespace telltale;
using namespace telltale::store;
using namespace telltale::store::test;

namespace {

double one(std::int64_t, std::size_t, std::size_t)
{
    return 1;
}

}

/// What a run is called, and what becomes of it when its agents go or its file breaks. Thread: the store's is its own.
class RunStateTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void aRunWhoseAgentsAreGoneIsLostAndComesBack()
    {
        QTemporaryDir dir;
        StoreOptions options;
        options.dataDir = dir.path().toStdString();
        options.lostAfterMs = 100;
        Recorder recorder(options.dataDir, options);
        const auto opened = recorder.open(makeRequest("job", 1));
        QCOMPARE(stateOf(opened), RunState::Live);
        recorder.service().closeStream(opened.stream, {}, 0);
        QTRY_VERIFY(opened.run->live->lost.load());
        QCOMPARE(stateOf(opened), RunState::Lost);
        QCOMPARE(recorder.service().liveRuns().size(), std::size_t { 1 });
        const auto again = recorder.open(makeRequest("job", 1));
        QCOMPARE(again.run->path, opened.run->path);
        QVERIFY(!opened.run->live->lost.load());
        QCOMPARE(stateOf(opened), RunState::Live);
        recorder.service().closeStream(again.stream, "finished", 0);
        QTRY_COMPARE(stateOf(opened), RunState::Finished);
    }

    void aLostRunStaysLostWhenRecordingEnds()
    {
        QTemporaryDir dir;
        std::string path;
        {
            StoreOptions options;
            options.dataDir = dir.path().toStdString();
            options.lostAfterMs = 50;
            Recorder recorder(options.dataDir, options);
            const auto opened = recorder.open(makeRequest("job", 1));
            path = opened.run->path;
            recorder.service().closeStream(opened.stream, {}, 0);
            QTRY_VERIFY(opened.run->live->lost.load());
        }
        QCOMPARE(describeRun(path).state, RunState::Lost);
    }

    void aRunIsNotLostWhileSomebodyIsConnected()
    {
        QTemporaryDir dir;
        StoreOptions options;
        options.dataDir = dir.path().toStdString();
        options.lostAfterMs = 0;
        Recorder recorder(options.dataDir, options);
        const auto gone = recorder.open(makeRequest("job", 1, 0));
        const auto there = recorder.open(makeRequest("job", 2, 1));
        recorder.service().closeStream(gone.stream, {}, 0);
        recorder.send(there.stream, 1, { makeBlock(makeLayout(1, Kind::Actv, { Stat::Norm }, 2), 0, one) });
        QVERIFY(recorder.waitDurable(there.stream, 1));
        QTest::qWait(500); // two turns of the store's clock
        QVERIFY(!there.run->live->lost.load());
    }

    void aRecorderThatWasKilledLeavesNoLiveRun()
    {
        QTemporaryDir dir;
        QVERIFY(QDir(dir.path()).mkpath(QStringLiteral("runs")));
        StoreOptions options;
        options.dataDir = dir.path().toStdString();
        std::string path;
        {
            Recorder recorder(options.dataDir, options);
            path = recorder.open(makeRequest("job", 1)).run->path;
        }
        const auto db = openDatabase(path, OpenMode::Write);
        QVERIFY(execute(db->get(), "UPDATE meta SET value='0' WHERE key='state'"));
        QCOMPARE(describeRun(path).state, RunState::Interrupted);
    }

    void batchesThatAgentsToldOfAndNeverSentAreCounted()
    {
        QTemporaryDir dir;
        StoreOptions options;
        options.dataDir = dir.path().toStdString();
        Recorder recorder(options.dataDir, options);
        const auto opened = recorder.open(makeRequest("job", 1));
        recorder.send(opened.stream, 1, { makeBlock(makeLayout(1, Kind::Actv, { Stat::Norm }, 2), 0, one) });
        QVERIFY(recorder.waitDurable(opened.stream, 1));
        QCOMPARE(describeRun(opened.run->path).missingBatches, std::uint64_t { 0 });
        recorder.service().closeStream(opened.stream, {}, 5);
        QTRY_COMPARE(describeRun(opened.run->path).missingBatches, std::uint64_t { 4 });
        const auto again = recorder.open(makeRequest("job", 1));
        QCOMPARE(describeRun(opened.run->path).missingBatches, std::uint64_t { 0 }); // they may still come
        QVERIFY(again.epoch > opened.epoch);
    }

    void aHopelessFileEndsItsRunAndNoOther()
    {
        QTemporaryDir dir;
        StoreOptions options;
        options.dataDir = dir.path().toStdString();
        Recorder recorder(options.dataDir, options);
        const auto broken = recorder.open(makeRequest("broken", 1));
        const auto whole = recorder.open(makeRequest("whole", 2));
        const auto layout = makeLayout(1, Kind::Actv, { Stat::Norm }, 2);
        {
            // Somebody writes into the capsule what only the store may.
            const auto db = openDatabase(broken.run->path, OpenMode::Write);
            QVERIFY(execute(db->get(), "INSERT INTO layout VALUES(1, 1, x'00', 0)"));
        }
        recorder.send(broken.stream, 1, { makeBlock(layout, 0, one) });
        recorder.send(whole.stream, 1, { makeBlock(layout, 0, one) });
        QVERIFY(recorder.waitDurable(whole.stream, 1));
        const auto stopped = [&]() -> const RunStopped* {
            recorder.collect();
            for (const StoreEvent& event : recorder.events) {
                if (const auto* found = std::get_if<RunStopped>(&event))
                    return found;
            }
            return nullptr;
        };
        QTRY_VERIFY(stopped() != nullptr);
        QCOMPARE(stopped()->streams, std::vector<StreamId> { broken.stream });
        QVERIFY2(stopped()->error.what.find("SQLITE") == std::string::npos
                && stopped()->error.what.find("constraint failed") == std::string::npos,
            stopped()->error.what.c_str());
        QVERIFY(std::none_of(recorder.events.begin(), recorder.events.end(), [&](const StoreEvent& event) {
            const auto* durable = std::get_if<StreamDurable>(&event);
            return durable && durable->stream == broken.stream && durable->seq > 0;
        }));
        QVERIFY(broken.run->live->closed.load());
        QVERIFY(!recorder.service().counters().inTrouble);
        // Its agent comes back with what was never acknowledged, and is told why not.
        recorder.events.clear();
        recorder.service().openStream(makeRequest("broken", 1));
        const auto refused = [&] {
            recorder.collect();
            return std::any_of(recorder.events.begin(), recorder.events.end(),
                [](const StoreEvent& event) { return std::holds_alternative<StreamRefused>(event); });
        };
        QTRY_VERIFY(refused());
    }

private:
    static RunState stateOf(const StreamOpened& opened) { return describeRun(opened.run->path).state; }
};

QTEST_GUILESS_MAIN(RunStateTest)
#include "runstatetest.moc"
