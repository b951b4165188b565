// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <algorithm>

#include <QDir>
#include <QFile>
#include <QTemporaryDir>

#include <telltale/store/archive.h>
#include <telltale/store/catalog.h>
#include <telltale/store/sqlite.h>

#include "capsulecontent.h"
#include "heapbytes.h"

namespace runstatetest {

using namespace telltale;
using namespace telltale::store;
using namespace telltale::store::test;

namespace {

/// What this process and the data directory hold.
struct Use {
    int files = 0;
    int logs = 0;
    long long kilobytes = 0;
    long long bytesPerRun = 0;

    static Use now(const QTemporaryDir& dir)
    {
        Use use;
        use.files
            = static_cast<int>(QDir(QStringLiteral("/proc/self/fd")).entryList(QDir::Files | QDir::System).size());
        use.kilobytes = telltale::test::heapBytes() / 1024;
        const auto files = QDir(dir.filePath(QStringLiteral("runs"))).entryInfoList(QDir::Files);
        long long runs = 0;
        for (const QFileInfo& file : files) {
            runs += file.fileName().endsWith(QStringLiteral(".telltale")) ? 1 : 0;
            use.logs += file.fileName().endsWith(QStringLiteral("-wal")) ? 1 : 0;
            use.bytesPerRun += file.size();
        }
        use.bytesPerRun /= std::max(runs, 1LL);
        return use;
    }
};

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
        QCOMPARE(again.run->locator.text(), opened.run->locator.text());
        QVERIFY(!opened.run->live->lost.load());
        QCOMPARE(stateOf(opened), RunState::Live);
        recorder.service().closeStream(again.stream, "finished", 0);
        QTRY_COMPARE(stateOf(opened), RunState::Finished);
    }

    void whoBringsTheRestOfAProcessDoesNotChangeHowItEnded()
    {
        QTemporaryDir dir;
        Recorder recorder(dir.path().toStdString());
        std::string path;
        // The process itself; then the next one, an import or a server that passes its spool on.
        for (const char* reason : { "finished", "restarting", "" }) {
            const auto opened = recorder.open(makeRequest("job", 1));
            path = opened.run->locator.text();
            recorder.service().closeStream(opened.stream, reason, 0);
            QTRY_COMPARE(numberOf(path, "SELECT state FROM source"), static_cast<std::int64_t>(SourceState::Finished));
        }
        QTRY_COMPARE(describeRun(RunLocator::ofFile(path)).state, RunState::Finished);
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
            path = opened.run->locator.text();
            recorder.service().closeStream(opened.stream, {}, 0);
            QTRY_VERIFY(opened.run->live->lost.load());
        }
        QCOMPARE(describeRun(RunLocator::ofFile(path)).state, RunState::Lost);
    }

    void aLostRunClosesByItselfAndGoesOnWithWhoComesBack()
    {
        QTemporaryDir dir;
        StoreOptions options;
        options.lostAfterMs = 20;
        options.closeAfterMs = 100;
        Recorder recorder(dir.path().toStdString(), options);
        const auto layout = makeLayout(1, Kind::Actv, { Stat::Norm }, 2);
        const auto first = recorder.open(makeRequest("job", 1));
        const std::string path = first.run->locator.text();
        recorder.send(first.stream, 1, { makeBlock(layout, 0, one), makeBlock(layout, 1, one) });
        QVERIFY(recorder.waitDurable(first.stream, 1));
        QVERIFY(QFile::exists(QString::fromStdString(path + "-wal")));
        recorder.service().closeStream(first.stream, {}, 0);
        QTRY_VERIFY(recorder.service().liveRuns().empty());
        QTRY_VERIFY(!QFile::exists(QString::fromStdString(path + "-wal")));
        QVERIFY(first.run->live->closed.load());
        QCOMPARE(describeRun(RunLocator::ofFile(path)).state, RunState::Lost);
        // The file alone is the run.
        const QString copy = dir.filePath(QStringLiteral("copy.telltale"));
        QVERIFY(QFile::copy(QString::fromStdString(path), copy));
        QCOMPARE(readContent(copy.toStdString()).begin()->second.steps, (std::vector<std::int64_t> { 0, 1 }));

        const auto again = recorder.open(makeRequest("job", 1));
        QCOMPARE(again.run->locator.text(), path);
        QCOMPARE(again.durableSeq, std::uint64_t { 1 });
        recorder.send(again.stream, 2, { makeBlock(layout, 2, one) });
        QVERIFY(recorder.waitDurable(again.stream, 2));
        QCOMPARE(describeRun(RunLocator::ofFile(path)).state, RunState::Live);
        recorder.service().closeStream(again.stream, "finished", 2);
        QTRY_COMPARE(describeRun(RunLocator::ofFile(path)).state, RunState::Finished);
        QCOMPARE(readContent(path).begin()->second.steps, (std::vector<std::int64_t> { 0, 1, 2 }));
    }

    void killedRunsLeaveNothingBehindInTheServer()
    {
        QTemporaryDir dir;
        StoreOptions options;
        options.lostAfterMs = 0;
        options.closeAfterMs = 0;
        Recorder recorder(dir.path().toStdString(), options);
        const auto layout = makeLayout(1, Kind::Actv, { Stat::Norm, Stat::Mean, Stat::Min, Stat::Max }, 256);
        const int runs = qEnvironmentVariableIntValue("TELLTALE_KILLED_RUNS") > 0
            ? qEnvironmentVariableIntValue("TELLTALE_KILLED_RUNS")
            : 40;
        Use before;
        for (int i = 0; i < runs; ++i) {
            const auto opened = recorder.open(makeRequest("job" + std::to_string(i), 1));
            recorder.send(opened.stream, 1, { makeBlock(layout, i, one), makeBlock(layout, i + 1, one) });
            QVERIFY(recorder.waitDurable(opened.stream, 1));
            recorder.service().closeStream(opened.stream, {}, 0);
            recorder.events.clear();
            if (i != runs / 4)
                continue;
            QTRY_VERIFY(recorder.service().liveRuns().empty());
            before = Use::now(dir);
        }
        QTRY_VERIFY(recorder.service().liveRuns().empty());
        QTRY_COMPARE(Use::now(dir).logs, 0);
        // The last file is closed after its run has left the list.
        QTRY_VERIFY2(Use::now(dir).files <= before.files, qPrintable(QString::number(Use::now(dir).files)));
        const Use after = Use::now(dir);
        qInfo("%d killed runs: %d files open (%d after a quarter), %lld KB of memory (%lld), %lld bytes a run (%lld)",
            runs, after.files, before.files, after.kilobytes, before.kilobytes, after.bytesPerRun, before.bytesPerRun);
        QVERIFY(after.bytesPerRun <= before.bytesPerRun);
        // A run that stays open keeps 1 MB of open tiles.
        QVERIFY2(
            after.kilobytes - before.kilobytes < 200 * (runs - runs / 4), qPrintable(QString::number(after.kilobytes)));
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
        // A run whose last rank goes after that is found lost by a later turn of the same clock.
        const auto other = recorder.open(makeRequest("other", 3));
        recorder.service().closeStream(other.stream, {}, 0);
        QTRY_VERIFY(other.run->live->lost.load());
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
            path = recorder.open(makeRequest("job", 1)).run->locator.text();
        }
        const auto db = openDatabase(path, OpenMode::Write);
        QVERIFY(execute(db->get(), "UPDATE meta SET value='0' WHERE key='state'"));
        QCOMPARE(describeRun(RunLocator::ofFile(path)).state, RunState::Interrupted);
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
        QCOMPARE(describeRun(opened.run->locator).missingBatches, std::uint64_t { 0 });
        recorder.service().closeStream(opened.stream, {}, 5);
        QTRY_COMPARE(describeRun(opened.run->locator).missingBatches, std::uint64_t { 4 });
        const auto again = recorder.open(makeRequest("job", 1));
        QCOMPARE(describeRun(opened.run->locator).missingBatches, std::uint64_t { 0 }); // they may still come
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
            const auto db = openDatabase(broken.run->locator.text(), OpenMode::Write);
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

    void aBrokenFileStopsItsOwnRunWhileAnotherCloses()
    {
        QTemporaryDir dir;
        StoreOptions options;
        options.lostAfterMs = 0;
        options.closeAfterMs = 1000;
        options.commitMs = 600'000; // what is staged waits for the run that closes
        options.commitBatches = 1'000'000;
        Recorder recorder(dir.path().toStdString(), options);
        const auto broken = recorder.open(makeRequest("broken", 1));
        const auto over = recorder.open(makeRequest("over", 2));
        const auto whole = recorder.open(makeRequest("whole", 3));
        const auto layout = makeLayout(1, Kind::Actv, { Stat::Norm }, 2);
        QVERIFY(execute(openDatabase(broken.run->locator.text(), OpenMode::Write)->get(),
            "INSERT INTO layout VALUES(1, 1, x'00', 0)"));
        recorder.service().closeStream(over.stream, {}, 0);
        recorder.send(broken.stream, 1, { makeBlock(layout, 0, one) });
        std::uint64_t seq = 0;
        const auto sendOne = [&] {
            ++seq;
            recorder.send(whole.stream, seq, { makeBlock(layout, static_cast<std::int64_t>(seq), one) });
        };
        QTRY_VERIFY((sendOne(), over.run->live->closed.load()));
        QVERIFY(broken.run->live->closed.load());
        QVERIFY(!whole.run->live->closed.load());
        sendOne();
        recorder.service().closeStream(whole.stream, "finished", seq);
        QTRY_COMPARE(describeRun(whole.run->locator).state, RunState::Finished);
        QCOMPARE(readContent(whole.run->locator.text()).begin()->second.steps.size(), static_cast<std::size_t>(seq));
    }

    void aBatchThatIsRefusedLeavesWhatItToldOfEarlierLosses()
    {
        QTemporaryDir dir;
        Recorder recorder(dir.path().toStdString());
        const auto opened = recorder.open(makeRequest("job", 1));
        auto batch = std::make_shared<SampleBatch>();
        batch->stream = opened.stream;
        batch->seq = 1;
        batch->samples = 3;
        batch->blocks.push_back({}); // of no layout
        batch->drops.push_back({ dropclass::kTensors, Step { 4 }, Step { 5 }, 7, 0, "the ring was full" });
        recorder.send(batch);
        QVERIFY(recorder.waitDurable(opened.stream, 1));
        const auto items = [&](const char* reason) {
            return numberOf(opened.run->locator.text(),
                std::string("SELECT total(items) FROM dropped WHERE class = 2 AND reason LIKE '") + reason + "%'");
        };
        QCOMPARE(items("the ring was full"), std::int64_t { 7 });
        QCOMPARE(items("the server refused"), std::int64_t { 3 });
        QCOMPARE(opened.run->live->droppedSamples.load(), std::uint64_t { 10 });
    }

private:
    static RunState stateOf(const StreamOpened& opened) { return describeRun(opened.run->locator).state; }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, RunStateTest)

}

#include "runstatetest.moc"
