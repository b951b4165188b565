// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <condition_variable>
#include <mutex>

#include <QTemporaryDir>

#include <telltale/analysis/runfacts.h>
#include <telltale/store/archive.h>
#include <telltale/store/confighistory.h>
#include <telltale/store/runreader.h>
#include <telltale/store/sqlite.h>
#include <telltale/store/storequeue.h>

#include "capsulebuilder.h"
#include "capsulecontent.h"

namespace ownrecordtest {

using namespace telltale;
using namespace telltale::store;
using namespace telltale::store::test;

namespace {

template <typename Value> Value must(Expected<Value> value)
{
    if (!value)
        qFatal("%s", value.error().sentence().c_str());
    return std::move(*value);
}

/// Counts the events of which it hears.
class EventCounter : public StoreSubscriber {
public:
    void onDurable(const Durable& durable) override
    {
        const std::lock_guard lock(m_mutex);
        m_last = std::max(m_last, durable.events.isEmpty() ? 0 : durable.events.last);
        m_changed.notify_all();
    }
    void onRuns(const std::vector<RunRef>&) override { }
    bool waitForEvent(std::int64_t id)
    {
        std::unique_lock lock(m_mutex);
        return m_changed.wait_for(lock, std::chrono::seconds(20), [&] { return m_last >= id; });
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::int64_t m_last = 0;
};

OwnRecord recordOf(const RunLocator& run, std::uint64_t rev, std::string_view phase, int rank = -1,
    std::int64_t step = 100, std::uint64_t ref = 0)
{
    static std::uint64_t token = 0;
    OwnRecord record;
    record.token = ++token;
    record.run = run;
    record.rank = Rank { rank };
    record.event = { "config", Step { step }, 7, "revision " + std::to_string(rev), "{}" };
    record.event.rev = rev;
    record.event.phase = phase;
    record.event.ref = ref;
    record.event.author = "somebody";
    if (phase == configphase::kOffered)
        record.event.json = R"({"config": {"ops": ["min"]}, "hash": "abc", "changes": [], "ranks": [0, 2]})";
    return record;
}

RecordWritten written(Recorder& recorder, std::uint64_t token)
{
    std::optional<RecordWritten> found;
    const auto look = [&] {
        recorder.collect();
        for (const StoreEvent& event : recorder.events) {
            if (const auto* one = std::get_if<RecordWritten>(&event); one && one->token == token)
                found = *one;
        }
        return found.has_value();
    };
    if (!QTest::qWaitFor(look, 20'000))
        qFatal("nothing was heard of a record");
    return *found;
}

RecordWritten write(Recorder& recorder, OwnRecord record)
{
    const std::uint64_t token = record.token;
    if (!recorder.service().append(std::move(record)))
        qFatal("the record was not taken");
    return written(recorder, token);
}

std::vector<LogRecord> logOf(const RunLocator& run)
{
    return must(must(openReader({ run, {}, {}, nullptr }))->log({}, { "config", {}, {} })).records;
}

}

/// Records that the server itself writes into a run's log, and what they say of its config. Thread: its own and the
/// store's.
class OwnRecordTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() { m_dir = std::make_unique<QTemporaryDir>(); }

    void aRecordStandsInTheLogOfALiveRun()
    {
        Recorder recorder(dir());
        const StreamOpened opened = recorder.open(makeRequest("job", 1));
        EventCounter counter;
        const auto subscription = recorder.service().subscribe(counter);
        const RunLocator run = opened.run->locator;
        const RecordWritten offer = write(recorder, recordOf(run, 3, configphase::kOffered));
        QVERIFY(offer.id > 0);
        QVERIFY(counter.waitForEvent(offer.id));
        const RecordWritten answer
            = write(recorder, recordOf(run, 3, configphase::kApplied, 0, 100, static_cast<std::uint64_t>(offer.id)));
        QVERIFY(counter.waitForEvent(answer.id));
        const auto records = logOf(run);
        QCOMPARE(records.size(), std::size_t { 2 });
        QCOMPARE(records[0].id, offer.id);
        QCOMPARE(records[0].rank, Rank { -1 });
        QCOMPARE(records[0].rev, 3);
        QCOMPARE(records[0].author, std::string("somebody"));
        QVERIFY(!records[0].isChanged); // an answer is of a rank: it says something of its own
        QCOMPARE(records[1].ref, offer.id);
        QCOMPARE(records[1].rank, Rank { 0 });
        QVERIFY(records[1].source.value > 0);
        QCOMPARE(records[1].phase, std::string(configphase::kApplied));
    }

    void theyAreCommittedWithTheBatchesBesideThem()
    {
        StoreOptions options;
        options.commitMs = 10'000;
        options.commitBatches = 40;
        Recorder recorder(dir(), options);
        const StreamOpened opened = recorder.open(makeRequest("job", 1));
        const auto before = recorder.service().counters().commits;
        std::uint64_t last = 0;
        for (std::uint64_t seq = 1; seq <= 20; ++seq) {
            const auto layout = makeLayout(1, Kind::Actv, { Stat::Norm }, 2);
            recorder.send(opened.stream, seq,
                { makeBlock(layout, static_cast<std::int64_t>(seq),
                    [](std::int64_t, std::size_t, std::size_t) { return 1.0; }) });
            OwnRecord record = recordOf(opened.run->locator, seq, configphase::kOffered);
            last = record.token;
            QVERIFY(recorder.service().append(std::move(record)));
        }
        QVERIFY(written(recorder, last).id > 0);
        QVERIFY(recorder.waitDurable(opened.stream, 20));
        QCOMPARE(recorder.service().counters().commits, before + 1);
    }

    void aRunThatIsClosedStaysAsItWas()
    {
        RunLocator run;
        {
            Recorder recorder(dir());
            const StreamOpened opened = recorder.open(makeRequest("job", 1));
            run = opened.run->locator;
            recorder.service().closeStream(opened.stream, "finished", 0);
            QTRY_VERIFY_WITH_TIMEOUT(recorder.service().liveRuns().empty(), 20'000);
            EventCounter counter;
            const auto subscription = recorder.service().subscribe(counter);
            const RecordWritten offer = write(recorder, recordOf(run, 1, configphase::kOffered));
            QVERIFY(offer.id > 0);
            QVERIFY(counter.waitForEvent(offer.id));
            QVERIFY(recorder.service().liveRuns().empty());
            QCOMPARE(logOf(run).size(), std::size_t { 1 });
        }
        QCOMPARE(describeRun(run).state, RunState::Finished);
        QVERIFY(!QFile::exists(QString::fromStdString(run.text() + "-wal")));
        QVERIFY(must(verifyRun(run)).problems.empty());
    }

    void aRunThatARecordLeftHalfWayIsClosedByTheNext()
    {
        Recorder recorder(dir());
        const StreamOpened opened = recorder.open(makeRequest("job", 1));
        const RunLocator run = opened.run->locator;
        recorder.service().closeStream(opened.stream, "finished", 0);
        QTRY_VERIFY_WITH_TIMEOUT(recorder.service().liveRuns().empty(), 20'000);
        // As a full disk does it: the run was opened to be written, and could not be closed again.
        const auto db = must(openDatabase(run.text(), OpenMode::Write));
        QVERIFY(execute(db.get(), "UPDATE meta SET value=0 WHERE key='state'"));
        write(recorder, recordOf(run, 1, configphase::kOffered));
        QCOMPARE(describeRun(run).state, RunState::Finished);
    }

    void whatIsNoRunIsTold()
    {
        Recorder recorder(dir());
        const RecordWritten told
            = write(recorder, recordOf(RunLocator::ofFile(dir() + "/runs/no.telltale"), 1, configphase::kOffered));
        QCOMPARE(told.id, 0);
        QVERIFY(!told.error.sentence().empty());
    }

    void theQueueIsBoundedAndLeavesRoomForBatches()
    {
        StoreQueue queue(1u << 20);
        OwnRecord record = recordOf(RunLocator::ofFile(dir()), 1, configphase::kOffered);
        record.event.json.assign(64u << 10, ' ');
        int taken = 0;
        while (queue.offer(record) && taken < 1000)
            ++taken;
        QVERIFY(taken >= 32 && taken <= 64);
        QVERIFY(queue.offer(std::make_shared<const SampleBatch>()));
        QVERIFY(queue.offer(StreamRequest {}));
        QVERIFY(queue.pop(std::chrono::steady_clock::now()));
        QVERIFY(queue.offer(record));
    }

    void theHistoryFollowsTheLog()
    {
        Recorder recorder(dir());
        const StreamOpened opened = recorder.open(makeRequest("job", 1));
        const RunLocator run = opened.run->locator;
        const auto reader = must(openReader({ run, {}, {}, nullptr }));
        ConfigHistory history;
        QVERIFY(history.update(*reader));
        QVERIFY(!history.newest());
        const auto offer = static_cast<std::uint64_t>(write(recorder, recordOf(run, 4, configphase::kOffered)).id);
        write(recorder, recordOf(run, 4, configphase::kPassed, 2, 101, offer));
        QVERIFY(history.update(*reader));
        QCOMPARE(history.newest()->rev, std::uint64_t { 4 });
        QCOMPARE(history.newest()->applyAtStep, Step { 100 });
        QCOMPARE(history.newest()->config, std::string(R"({"ops":["min"]})"));
        QCOMPARE(history.newest()->hash, std::string("abc"));
        QVERIFY(history.newest()->asks(Rank { 2 }) && !history.newest()->asks(Rank { 1 }));
        QVERIFY(!history.newestFor(Rank { 1 }));
        OwnRecord moved = recordOf(run, 4, configphase::kOffered, -1, 110, offer);
        moved.event.json = "{}";
        write(recorder, moved);
        OwnRecord applied = recordOf(run, 4, configphase::kApplied, 2, 110, offer);
        applied.event.json = R"({"incarnation": 18446744073709551615})";
        write(recorder, applied);
        write(recorder, recordOf(run, 9, configphase::kOffered, 0, 5)); // a rank does not offer
        write(recorder, recordOf(run, 5, configphase::kApplied, 0, 5)); // nor answers what nobody asked
        QVERIFY(history.update(*reader));
        QCOMPARE(history.revisions().size(), std::size_t { 1 });
        QCOMPARE(history.newest()->applyAtStep, Step { 110 });
        QCOMPARE(history.newest()->config, std::string(R"({"ops":["min"]})"));
        const ConfigRevision::Answer& answer = history.newest()->answers.at(Rank { 2 });
        QCOMPARE(answer.phase, std::string(configphase::kApplied));
        QCOMPARE(answer.incarnation, UINT64_MAX);
        QCOMPARE(history.newest()->answers.size(), std::size_t { 1 });
    }

    void theHistoryKeepsAThousandRevisions()
    {
        ConfigHistory history;
        LogRecord record;
        record.kind = "config";
        record.phase = configphase::kOffered;
        for (record.rev = 1; record.rev <= 1500; ++record.rev)
            history.take(record);
        QCOMPARE(history.revisions().size(), ConfigHistory::kMost);
        QCOMPARE(history.newest()->rev, std::uint64_t { 1500 });
        record.rev = 3;
        history.take(record); // the numbers only grow
        QCOMPARE(history.newest()->rev, std::uint64_t { 1500 });
    }

    void peopleAreToldWhatEachRevisionChanged()
    {
        Recorder recorder(dir());
        const RunLocator run = recorder.open(makeRequest("job", 1)).run->locator;
        const auto offer = [&](std::uint64_t rev, const char* config) {
            OwnRecord record = recordOf(run, rev, configphase::kOffered);
            record.event.json = std::string(R"({"config": )") + config + "}";
            return static_cast<std::uint64_t>(write(recorder, record).id);
        };
        offer(1, R"({"step_interval": 2})");
        const auto second = offer(2, R"({"step_interval": 5, "checksum": 1})");
        write(recorder, recordOf(run, 2, configphase::kApplied, 0, 100, second));
        write(recorder, recordOf(run, 2, configphase::kRefused, 1, 100, second));
        const auto facts = must(analysis::configFactsOf(*must(openReader({ run, {}, {}, nullptr }))));
        QCOMPARE(facts.revisions.size(), std::size_t { 2 });
        const analysis::RevisionFacts& newest = facts.revisions[0];
        QCOMPARE(newest.rev, std::uint64_t { 2 });
        QCOMPARE(newest.applied, 1);
        QCOMPARE(newest.refused, 1);
        QCOMPARE(newest.before, facts.revisions[1].config);
        const config::FieldChange change { "/step_interval", "2", "5" };
        QVERIFY(newest.changes == std::vector<config::FieldChange> { change });
        QCOMPARE(facts.revisions[1].changes[0].before, std::string("1")); // the default
    }

    void whatRanksRefusedIsNothingThatTheNextChanges()
    {
        Recorder recorder(dir());
        const RunLocator run = recorder.open(makeRequest("job", 1)).run->locator;
        const char* const configs[]
            = { R"({"step_interval": 2})", R"({"step_interval": 2, "format": ["csv"]})", R"({"step_interval": 3})" };
        for (std::uint64_t rev = 1; rev <= 3; ++rev) {
            OwnRecord record = recordOf(run, rev, configphase::kOffered);
            record.event.json = std::string(R"({"config": )") + configs[rev - 1] + "}";
            const auto offer = static_cast<std::uint64_t>(write(recorder, record).id);
            for (const int rank : { 0, 1 })
                write(recorder,
                    recordOf(run, rev, rev == 2 ? configphase::kRefused : configphase::kApplied, rank, 100, offer));
        }
        const auto facts = must(analysis::configFactsOf(*must(openReader({ run, {}, {}, nullptr }))));
        const config::FieldChange change { "/step_interval", "2", "3" };
        QVERIFY(facts.revisions.at(0).changes == std::vector<config::FieldChange> { change });
        QCOMPARE(facts.revisions.at(0).before, facts.revisions.at(2).config);
        QCOMPARE(facts.revisions.at(1).changes.size(), std::size_t { 1 }); // what was asked for
    }

    void theFirstRevisionChangesWhatRanNotWhatTheFileSaid()
    {
        Recorder recorder(dir());
        const RunLocator run = recorder.open(makeRequest("job", 1)).run->locator;
        OwnRecord record = recordOf(run, 1, configphase::kOffered);
        record.event.json = R"({"config": {"step_interval": 5, "dynamic_on": true},
            "changes": [{"pointer": "/step_interval", "before": 1, "after": 5}]})";
        write(recorder, record);
        const auto facts = must(analysis::configFactsOf(*must(openReader({ run, {}, {}, nullptr }))));
        const analysis::RevisionFacts& first = facts.revisions.at(0);
        const config::FieldChange change { "/step_interval", "1", "5" };
        QVERIFY(first.changes == std::vector<config::FieldChange> { change });
        QVERIFY(must(config::parseMonitorConfig(first.before)).config.dynamicOn); // taking it back stops nothing
    }

    void theSeriesOfARunShowWhatItsModulesGiveInOneRank()
    {
        telltale::test::CapsuleBuilder builder(dir() + "/seen.telltale");
        auto layout = std::make_shared<SeriesLayout>(
            *builder.addLayout(Kind::Actv, { Stat::Norm, Stat::Nans, Stat::PosInfs }, { "a", "a", "b" }));
        layout->series[0].slot = Slot::input();
        layout->series[1].slot = layout->series[2].slot = Slot::output();
        auto again = std::make_shared<SeriesLayout>(*layout); // as an agent begins anew after a change of its config
        again->id = LayoutId { 99 };
        std::int64_t step = 0;
        const auto block = [&](const std::shared_ptr<const SeriesLayout>& of) {
            StepBlock out;
            out.layout = of;
            out.step = Step { ++step };
            out.columns = { { Stat::Norm, std::vector<float>(3, 1.F) }, { Stat::Nans, std::vector<std::uint64_t>(3) },
                { Stat::PosInfs, std::vector<std::uint64_t>(3) } };
            return out;
        };
        for (const int rank : { 0, 1 }) {
            const auto stream = builder.addAttempt(Rank { rank }, 0);
            builder.stage(stream, { block(layout) });
            builder.commit();
            builder.stage(stream, { block(again) });
            builder.commit();
        }
        builder.finish();
        const auto facts = must(analysis::configFactsOf(*must(openReader(builder.handle()))));
        const auto& seen = facts.run.seen.at(Kind::Actv);
        QCOMPARE(seen.size(), std::size_t { 2 });
        QCOMPARE(seen.at("a").series, 2.0);
        QCOMPARE(seen.at("a").samples, 4.0); // infinities come with a sample and are none
        QCOMPARE(seen.at("a").elements, 64.0);
        QCOMPARE(seen.at("b").series, 1.0);
        QCOMPARE(seen.at("b").elements, 32.0);
    }

private:
    std::string dir() const { return m_dir->path().toStdString(); }

    std::unique_ptr<QTemporaryDir> m_dir;
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, OwnRecordTest)

}

#include "ownrecordtest.moc"
