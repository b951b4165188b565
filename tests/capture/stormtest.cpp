// SPDX-License-Identifier: GPL-3.0-or-later
// Peers that send too much of what is rare: events, batches that cannot be read, requests for streams. It is bounded
// and counted, and takes nothing from anybody else.
#include "testmain.h"

#include <QDir>
#include <QTemporaryDir>

#include <telltale/core/bytes.h>
#include <telltale/ingest/eventthrottle.h>
#include <telltale/ingest/ingestsession.h>
#include <telltale/protocol/payloadbuilder.h>
#include <telltale/store/archive.h>
#include <telltale/store/sqlite.h>
#include <telltale/store/storequeue.h>

#include "serverfakestore.h"

namespace stormtest {

using namespace telltale;
using namespace telltale::test;
using ingest::EventThrottle;

namespace {

constexpr std::int64_t kStart = 1'700'000'000'000'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;

Event eventOf(const char* kind, std::int64_t step, std::int64_t wallNs)
{
    return { kind, Step { step }, wallNs, "text", "{}" };
}

/// What came through a throttle and what it counted, by kind.
struct Outcome {
    std::map<std::string, std::uint64_t> passed;
    std::uint64_t dropped = 0;
    std::uint64_t told = 0;

    void add(const SampleBatch& batch)
    {
        for (const Event& one : batch.events) {
            ++passed[one.kind];
            if (one.kind == "drop")
                told += std::stoull(one.text);
        }
        for (const Drop& drop : batch.drops) {
            QCOMPARE(drop.dropClass, 0u);
            dropped += drop.items;
        }
    }
};

store::StreamRequest request(std::uint64_t incarnation)
{
    store::StreamRequest out;
    out.token = 1;
    out.runKey = "run";
    out.runName = "a run";
    out.keySource = "run_id";
    out.agentId = "host/0/trainer";
    out.incarnation = incarnation;
    out.rank = Rank { 0 };
    return out;
}

/// A store of one stream.
struct RealStore {
    bool open()
    {
        store::StoreOptions options;
        options.dataDir = dir.path().toStdString();
        auto started = store::StoreService::start(options);
        if (!started)
            return false;
        service = std::move(*started);
        std::vector<store::StoreEvent> events;
        const auto isOpen = [&] {
            events = service->takeEvents();
            return !events.empty();
        };
        if (!service->openStream(request(7)) || !QTest::qWaitFor(isOpen))
            return false;
        const auto* found = std::get_if<store::StreamOpened>(&events.front());
        opened = found ? *found : store::StreamOpened {};
        return found != nullptr;
    }

    QTemporaryDir dir;
    std::unique_ptr<store::StoreService> service;
    store::StreamOpened opened;
};

}

class StormTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void ordinaryEventsAllPassHoweverLateTheyCome()
    {
        // A day of them out of a spool, in one minute.
        EventThrottle throttle;
        Outcome outcome;
        SampleBatch batch;
        for (int i = 0; i < 86'400; i += 2)
            batch.events.push_back(eventOf("anomaly", i, kStart + i * kSecond));
        throttle.cut(batch);
        outcome.add(batch);
        QCOMPARE(outcome.passed["anomaly"], std::uint64_t(43'200));
        QCOMPARE(outcome.dropped, std::uint64_t(0));
    }

    void aStormIsCutCountedAndToldAndTakesNothingOfOtherKinds()
    {
        EventThrottle throttle;
        Outcome outcome;
        constexpr std::uint64_t kSteps = 2000; // ten a second
        for (std::uint64_t step = 0; step < kSteps; ++step) {
            SampleBatch batch;
            const auto number = static_cast<std::int64_t>(step);
            const std::int64_t now = kStart + number * kSecond / 10;
            for (int i = 0; i < 65; ++i)
                batch.events.push_back(eventOf("anomaly", number, now));
            if (step % 50 == 0)
                batch.events.push_back(eventOf("restart", number, now));
            throttle.cut(batch);
            outcome.add(batch);
        }
        QCOMPARE(outcome.passed["anomaly"] + outcome.dropped, 65 * kSteps);
        QVERIFY(outcome.passed["anomaly"] >= 512);
        QVERIFY(outcome.passed["anomaly"] <= 512 + 4 * kSteps / 10 + 1);
        QCOMPARE(outcome.passed["restart"], kSteps / 50);
        // Told about every ten seconds, and by then complete.
        QVERIFY(outcome.passed["drop"] >= 18 && outcome.passed["drop"] <= 22);
        QVERIFY(outcome.told <= outcome.dropped && outcome.told > outcome.dropped * 9 / 10);
    }

    void anEventThatStandsForManyIsCountedAsMany()
    {
        EventThrottle throttle;
        SampleBatch batch;
        for (int i = 0; i < static_cast<int>(EventThrottle::kBurst); ++i)
            batch.events.push_back(eventOf("anomaly", 1, kStart));
        for (const char* json :
            { R"({"more": 98})", R"({"more": -3})", R"({"more": "98"})", R"({"more": 1e300})", "[" }) {
            batch.events.push_back(eventOf("anomaly", 1, kStart));
            batch.events.back().json = json;
        }
        throttle.cut(batch);
        QCOMPARE(batch.drops.size(), std::size_t(1));
        QCOMPARE(batch.drops.front().items, std::uint64_t(98 + 4));
        QVERIFY(batch.events.back().text.starts_with("98 more events "));
    }

    void noClockAndNoNameGetsAroundTheLimit()
    {
        EventThrottle throttle;
        Outcome outcome;
        for (std::int64_t i = 0; i < 300'000; i += 1000) {
            SampleBatch batch;
            for (std::int64_t j = i; j < i + 1000; ++j) {
                // Years forth and back, no time at all, and a new kind each time.
                batch.events.push_back(eventOf("forth", j, kStart + (j % 2) * 100'000'000 * kSecond));
                batch.events.push_back(eventOf("timeless", j, 0));
                batch.events.push_back(eventOf(("kind" + std::to_string(j)).c_str(), j, kStart));
            }
            throttle.cut(batch);
            outcome.add(batch);
        }
        QVERIFY(outcome.passed["forth"] <= EventThrottle::kMost);
        QCOMPARE(outcome.passed["timeless"], std::uint64_t(512));
        std::uint64_t kinds = 0;
        for (const auto& [kind, passed] : outcome.passed)
            kinds += kind.rfind("kind", 0) == 0 ? passed : 0;
        QVERIFY(kinds < 1000);
        QVERIFY(outcome.passed["drop"] <= EventThrottle::kMost);
        QCOMPARE(
            outcome.passed["forth"] + outcome.passed["timeless"] + kinds + outcome.dropped, std::uint64_t(900'000));
    }

    void aStormOfManyKindsIsAFewLossesInEachBatch()
    {
        EventThrottle throttle;
        SampleBatch batch;
        for (int i = 0; i < 100'000; ++i)
            batch.events.push_back(eventOf(("kind" + std::to_string(i)).c_str(), i, kStart));
        throttle.cut(batch);
        Outcome outcome;
        outcome.add(batch);
        QCOMPARE(batch.drops.size(), std::size_t(1));
        QCOMPARE(batch.drops[0].reason, std::string("too many events of other kinds"));
        QCOMPARE(outcome.dropped, std::uint64_t(100'000 - EventThrottle::kMaxKinds - 512));
        // The clocks that a peer claims may be as far apart as numbers are.
        const auto last = std::numeric_limits<std::int64_t>::max();
        for (const std::int64_t wallNs : { -last, last }) {
            SampleBatch next;
            for (int i = 0; i < 1000; ++i)
                next.events.push_back(eventOf("anomaly", 1, wallNs));
            throttle.cut(next);
            QCOMPARE(std::count_if(next.events.begin(), next.events.end(),
                         [](const Event& event) { return event.kind == "drop"; }),
                1);
        }
    }

    void aStormThatLastsIsOneLossThatGrows()
    {
        RealStore real;
        QVERIFY(real.open());
        for (std::uint64_t seq = 1; seq <= 500; ++seq) {
            auto batch = std::make_shared<SampleBatch>();
            batch->stream = real.opened.stream;
            batch->seq = seq;
            const Step step { static_cast<std::int64_t>(seq) };
            batch->drops = { { dropclass::kEvents, step, step, 10, 100, "too many" },
                { dropclass::kTensors, step, step, 1, 0, "too many" },
                { dropclass::kEvents, Step { 0 }, Step { -1 }, 1, 1, "too many" } };
            const std::shared_ptr<const SampleBatch> shared = std::move(batch);
            QVERIFY(QTest::qWaitFor([&] { return real.service->submit(shared); }));
        }
        real.service->stop(20'000);
        const auto db = store::openDatabase(real.opened.run->locator.text(), store::OpenMode::Read);
        QVERIFY(db);
        const auto number = [&](const char* sql) { return store::queryInteger(db->get(), sql).value_or(-1); };
        // Of some it is known of which steps they were.
        QCOMPARE(number("SELECT count(*) FROM dropped WHERE class = 0"), std::int64_t(2));
        QCOMPARE(number("SELECT items * 1000 + last_step - first_step FROM dropped WHERE class = 0 AND first_step = 1"),
            std::int64_t(5'000'499));
        QCOMPARE(number("SELECT items FROM dropped WHERE class = 0 AND last_step < first_step"), std::int64_t(500));
        // Of samples it is known of which steps they were.
        QCOMPARE(number("SELECT count(*) FROM dropped WHERE class = 2"), std::int64_t(500));
    }

    void theDropStandsInTheBatchThatTheStoreGets()
    {
        auto disk = std::make_shared<FakeDisk>();
        FakeSink sink(disk);
        QVERIFY(sink.openStream(request(1)));
        const auto events = sink.takeEvents();
        ingest::IngestSession session(sink, std::get<store::StreamOpened>(events.at(0)), { 64u << 20, 1000 });
        protocol::PayloadBuilder builder;
        for (int i = 0; i < 2000; ++i)
            builder.addEvent(eventOf("anomaly", i / 65, kStart));
        protocol::Batch batch;
        batch.seq = 1;
        batch.epoch = std::get<store::StreamOpened>(events.at(0)).epoch;
        batch.payload = builder.finish();
        batch.crc = crc32c(batch.payload);
        QVERIFY(session.onBatch(batch) == ingest::IngestSession::Verdict::Accept);
        const auto taken = disk->stream().taken;
        QCOMPARE(taken.size(), std::size_t(1));
        QCOMPARE(taken[0]->events.size(), std::size_t(513)); // and the one that tells of the rest
        QCOMPARE(taken[0]->drops.size(), std::size_t(1));
        QCOMPARE(taken[0]->drops[0].items, std::uint64_t(2000 - 512));
    }

    void theQueueIsBoundedForWhateverWaitsInIt()
    {
        store::StoreQueue queue(1u << 20);
        const auto fill = [&queue](auto make) {
            int taken = 0;
            while (taken < 1'000'000 && queue.offer(make()))
                ++taken;
            return taken;
        };
        const int requests = fill([] { return request(1); });
        QVERIFY(requests > 1000 && requests < 100'000);
        // Full of requests, it takes what there is to store.
        const int bad = fill([] {
            return store::QuarantineMessage { StreamId { 1 }, 1, std::string(1000, 'x'), "why", {} };
        });
        QVERIFY(bad > 100 && bad < 1100);
        queue.push(store::CloseMessage { StreamId { 1 }, "finished", 1, {} }); // always
        const auto deadline = std::chrono::steady_clock::now();
        for (int i = 0; i < requests + bad + 1; ++i)
            QVERIFY(queue.pop(deadline).has_value());
        QVERIFY(!queue.pop(deadline).has_value());
        QCOMPARE(queue.bytes(), std::size_t(0));
        QVERIFY(queue.offer(request(1)));
    }

    void rejectedBatchesAreCountedAndOnlySoManyAreKept()
    {
        RealStore real;
        QVERIFY(real.open());
        constexpr std::uint64_t kSent = 3000;
        for (std::uint64_t seq = 1; seq <= kSent; ++seq)
            QVERIFY(QTest::qWaitFor([&] {
                return real.service->quarantine(real.opened.stream, seq, std::string(20'000, 'x'), "unreadable");
            }));
        std::uint64_t durable = 0;
        const auto isDurable = [&] {
            for (const store::StoreEvent& event : real.service->takeEvents()) {
                if (const auto* done = std::get_if<store::StreamDurable>(&event))
                    durable = std::max(durable, done->seq);
            }
            return durable == kSent;
        };
        QTRY_VERIFY_WITH_TIMEOUT(isDurable(), 20'000);
        real.service->stop();
        const QDir runs(real.dir.filePath(QStringLiteral("runs")));
        QCOMPARE(runs.entryList({ QStringLiteral("*.telltale") }).size(), 1);
        const auto db = store::openDatabase(real.opened.run->locator.text(), store::OpenMode::Read);
        QVERIFY(db);
        const auto kept = store::queryInteger(db->get(), "SELECT sum(length(data)) FROM quarantine");
        QVERIFY(kept && *kept > (7 << 20) && *kept <= (8 << 20) + 20'000);
        QCOMPARE(store::queryInteger(db->get(), "SELECT sum(rejected) FROM stream").value_or(0), std::int64_t(kSent));
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, StormTest)

}

#include "stormtest.moc"
