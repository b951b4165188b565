// SPDX-License-Identifier: GPL-3.0-or-later
// Delivery between agents that keep the protocol and the server, over a store that commits when it is told to.
#include "testmain.h"

#include <atomic>
#include <thread>

#include <QElapsedTimer>

#include <telltale/core/bytes.h>

#include "serverfixture.h"

namespace servertest {

using namespace telltale;
using namespace telltale::test;

namespace {

/// What a library keeps for a thread and frees after the thread's own code: here it takes its time.
struct Remains {
    ~Remains()
    {
        if (areGone == nullptr)
            return;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        *areGone = true;
    }
    std::atomic<bool>* areGone = nullptr;
};

/// Leaves remains of the thread that the server lives on.
class LeavingSink final : public FakeSink {
public:
    LeavingSink(std::shared_ptr<FakeDisk> disk, std::atomic<bool>& areGone)
        : FakeSink(std::move(disk))
        , m_areGone(areGone)
    {
    }
    void setWake(std::function<void()> wake) override
    {
        thread_local Remains remains;
        remains.areGone = &m_areGone;
        FakeSink::setWake(std::move(wake));
    }

private:
    std::atomic<bool>& m_areGone;
};

}

class ServerTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void acksOnlyWhatTheStoreCommitted()
    {
        ServerFixture f;
        f.disk->setCommitsAtOnce(false);
        QVERIFY(f.start());
        AgentPeer agent(f.join, "host/0/trainer");
        QVERIFY(agent.open());
        const auto* welcome = agent.peer.last<protocol::Welcome>();
        QCOMPARE(welcome->storeId, std::string("fake"));
        QCOMPARE(welcome->durableSeq, std::uint64_t(0));
        QCOMPARE(welcome->creditBytes, protocol::limits::kCreditMaxBytes);
        QCOMPARE(welcome->maxMessage, 1u << 20);
        QCOMPARE(welcome->heartbeatMs, 5000u);
        agent.produce(10);
        QTRY_COMPARE(f.disk->stream().taken.size(), std::size_t(10));
        // Everything is with the store, nothing is durable: a Nack's answer comes back, an ack does not.
        agent.sendBatch(12);
        QTRY_COMPARE(agent.peer.count<protocol::Nack>(), 1);
        QCOMPARE(agent.peer.last<protocol::Nack>()->nextSeq, std::uint64_t(11));
        QCOMPARE(agent.acked(), std::uint64_t(0));
        f.disk->commit();
        QTRY_COMPARE(agent.acked(), std::uint64_t(10));
        QVERIFY(agent.peer.last<protocol::Ack>()->creditBytes > welcome->creditBytes);
    }

    void decodedBatchesArriveOnceAndInOrder()
    {
        ServerFixture f;
        QVERIFY(f.start());
        AgentPeer agent(f.join, "host/0/trainer");
        QVERIFY(agent.open());
        agent.produce(50);
        agent.sendBatch(7); // again
        agent.sendBatch(50);
        agent.produce(50);
        QTRY_COMPARE(agent.acked(), std::uint64_t(100));
        const auto stream = f.disk->stream();
        QCOMPARE(stream.taken.size(), std::size_t(100));
        for (std::size_t i = 0; i < stream.taken.size(); ++i) {
            const SampleBatch& batch = *stream.taken[i];
            QCOMPARE(batch.seq, i + 1);
            QCOMPARE(batch.stream, stream.id);
            QCOMPARE(batch.payload, AgentPeer::payload(i + 1));
            QCOMPARE(batch.payloadCrc, crc32c(batch.payload));
            QCOMPARE(batch.blocks.size(), std::size_t(1));
            QCOMPARE(batch.blocks[0].step.value, static_cast<std::int64_t>(i + 1));
            QCOMPARE(batch.samples, std::uint64_t(6));
        }
        QTRY_COMPARE(f.server->connections().at(0).duplicates, std::uint64_t(2));
        QCOMPARE(f.log->count(), 0);
    }

    void ranksOfTwoRunsOnOneHostAreTwoAgents()
    {
        ServerFixture f;
        QVERIFY(f.start());
        AgentPeer first(f.join, "host/0/trainer");
        QVERIFY(first.open());
        AgentPeer second(f.join, "host/0/trainer", 2);
        QVERIFY(second.peer.upgrade() && second.knock());
        protocol::Hello hello = second.hello();
        hello.runKey += " of another";
        second.peer.send(hello);
        QTRY_VERIFY(second.peer.last<protocol::Welcome>());
        QTRY_COMPARE(f.server->connections().size(), std::size_t(2));
        QVERIFY(f.server->connections().at(0).connected && f.server->connections().at(1).connected);
    }

    void aRestartedServerContinuesTheStream()
    {
        ServerFixture f;
        f.disk->setCommitsAtOnce(false);
        QVERIFY(f.start());
        const protocol::JoinString before = f.join;
        auto agent = std::make_unique<AgentPeer>(f.join, "host/0/trainer");
        QVERIFY(agent->open());
        agent->produce(5);
        QTRY_COMPARE(f.disk->stream().taken.size(), std::size_t(5));
        f.disk->commit();
        agent->produce(3);
        QTRY_COMPARE(f.disk->stream().taken.size(), std::size_t(8));
        f.server.reset(); // with three batches that no commit has covered
        QTRY_VERIFY(agent->peer.isClosed());
        QCOMPARE(agent->acked(), std::uint64_t(5));
        QCOMPARE(agent->peer.last<protocol::Bye>()->reason, std::string("restarting"));
        QVERIFY(agent->peer.last<protocol::Bye>()->retryAfterMs > 0);

        f.disk->setCommitsAtOnce(true);
        QVERIFY(f.start({})); // the port of last time
        QCOMPARE(f.join, before);
        agent = std::make_unique<AgentPeer>(f.join, "host/0/trainer");
        QVERIFY(agent->open());
        QCOMPARE(agent->peer.last<protocol::Welcome>()->durableSeq, std::uint64_t(5));
        QCOMPARE(agent->peer.last<protocol::Welcome>()->epoch, 2u);
        agent->produce(5);
        QTRY_COMPARE(agent->acked(), std::uint64_t(10));
        QCOMPARE(f.disk->stream().taken.size(), std::size_t(10));
    }

    void stoppingWaitsForAcksOfWhatTheStoreTook()
    {
        ServerFixture f;
        f.disk->setCommitsAtOnce(false);
        f.limits.drain = std::chrono::seconds(20);
        QVERIFY(f.start());
        AgentPeer agent(f.join, "host/0/trainer");
        QVERIFY(agent.open());
        agent.produce(4);
        QTRY_COMPARE(f.disk->stream().taken.size(), std::size_t(4));
        std::thread commits([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(200)); // the store's own pace
            f.disk->commit();
        });
        f.server->stop();
        commits.join();
        QTRY_VERIFY(agent.peer.isClosed());
        QCOMPARE(agent.acked(), std::uint64_t(4));
        QCOMPARE(f.disk->stream().closed, std::vector<std::string> { "" });
    }

    void stoppingWaitsForAllThatTheThreadLeavesBehind()
    {
        ServerFixture f;
        std::atomic<bool> areGone = false;
        server::ServerOptions options;
        options.listen = "127.0.0.1:0";
        options.dataDir = f.dir.path().toStdString();
        auto started = server::CaptureServer::start(options, std::make_unique<LeavingSink>(f.disk, areGone));
        QVERIFY(started);
        (*started)->stop();
        // Or the end of the program frees the same at the same time.
        QVERIFY(areGone);
    }

    void aFullStoreHoldsBackAndLosesNothing()
    {
        ServerFixture f;
        QVERIFY(f.start());
        AgentPeer agent(f.join, "host/0/trainer");
        QVERIFY(agent.open());
        agent.produce(3);
        QTRY_COMPARE(agent.acked(), std::uint64_t(3));
        f.disk->setFull(true);
        agent.produce(20);
        agent.sendBatch(40); // its Nack says that the 20 were read
        QTRY_COMPARE(agent.peer.count<protocol::Nack>(), 1);
        QCOMPARE(agent.peer.last<protocol::Nack>()->nextSeq, std::uint64_t(24));
        QCOMPARE(agent.acked(), std::uint64_t(3));
        f.disk->setFull(false);
        QTRY_COMPARE(agent.acked(), std::uint64_t(23));
        const auto taken = f.disk->stream().taken;
        QCOMPARE(taken.size(), std::size_t(23));
        for (std::size_t i = 0; i < taken.size(); ++i)
            QCOMPARE(taken[i]->seq, i + 1);
    }

    void aStoreInTroubleGetsNoMoreCreditUntilItRecovers()
    {
        ServerFixture f;
        QVERIFY(f.start());
        AgentPeer agent(f.join, "host/0/trainer");
        QVERIFY(agent.open());
        f.disk->report(store::StoreTrouble { false, { ErrorCode::NoSpace, "disk full", "make room" } });
        QTRY_VERIFY(agent.peer.last<protocol::Ack>() != nullptr);
        QCOMPARE(agent.peer.last<protocol::Ack>()->creditBytes, std::uint64_t(0));
        AgentPeer late(f.join, "host/1/trainer");
        QVERIFY(late.open());
        QCOMPARE(late.peer.last<protocol::Welcome>()->creditBatches, std::uint64_t(0));
        f.disk->report(store::StoreTrouble { true, {} });
        QTRY_VERIFY(agent.peer.last<protocol::Ack>()->creditBytes > 0);
        QTRY_VERIFY(late.peer.last<protocol::Ack>() != nullptr);
        QVERIFY(agent.isAlive());
        QVERIFY(late.isAlive());
        QCOMPARE(f.log->count("disk full"), 1);
    }

    void aRunThatCannotBeWrittenSendsItsAgentAwayUnacked()
    {
        ServerFixture f;
        QVERIFY(f.start());
        AgentPeer agent(f.join, "host/0/trainer");
        AgentPeer other(f.join, "host/1/trainer");
        QVERIFY(agent.open());
        QVERIFY(other.open());
        f.disk->setFull(true);
        agent.produce(3);
        f.disk->report(store::RunStopped { "a run", store::RunLocator::ofFile("/runs/a.telltale"),
            { f.disk->stream("host/0/trainer").id }, { ErrorCode::Denied, "the file may only be read", {} } });
        QTRY_VERIFY(agent.peer.isClosed());
        QCOMPARE(agent.acked(), std::uint64_t(0));
        QVERIFY(agent.peer.last<protocol::Bye>() != nullptr);
        QVERIFY(agent.peer.last<protocol::Bye>()->reason.find("may only be read") != std::string::npos);
        QVERIFY(agent.peer.last<protocol::Bye>()->retryAfterMs > 0);
        QCOMPARE(f.log->count("recording of a run has stopped"), 1);
        f.disk->setFull(false);
        QVERIFY(other.isAlive());
    }

    void aKilledAgentFallsBehindByTheSecond()
    {
        ServerFixture f;
        QVERIFY(f.start());
        const auto lag = [&f] { return f.server->connections().at(0).lagSeconds; };
        {
            AgentPeer agent(f.join, "host/0/trainer");
            QVERIFY(agent.open());
            agent.produce(2);
            QTRY_COMPARE(agent.acked(), std::uint64_t(2));
        }
        QTRY_VERIFY(!f.server->connections().at(0).connected);
        const double first = lag();
        QTRY_VERIFY(lag() > first + 0.05);
    }

    void whatDoesNotDecodeIsQuarantinedAndAckedAsRejected()
    {
        ServerFixture f;
        QVERIFY(f.start());
        AgentPeer agent(f.join, "host/0/trainer");
        QVERIFY(agent.open());
        agent.produce(1);
        protocol::Batch broken = agent.batch(2);
        broken.payload = "\x0a\xff this is no payload";
        broken.crc = crc32c(broken.payload);
        agent.peer.send(broken);
        agent.sendBatch(3);
        QTRY_COMPARE(agent.acked(), std::uint64_t(3));
        QCOMPARE(f.disk->stream().quarantined, std::vector<std::uint64_t> { 2 });
        std::vector<protocol::Rejected> rejected;
        for (const auto& message : agent.peer.inbox()) {
            if (const auto* ack = std::get_if<protocol::Ack>(&message))
                rejected.insert(rejected.end(), ack->rejected.begin(), ack->rejected.end());
        }
        QCOMPARE(rejected.size(), std::size_t(1));
        QCOMPARE(rejected[0].seq, std::uint64_t(2));
        QTRY_COMPARE(f.server->connections().at(0).rejected, std::uint64_t(1));
    }

    void theNewestHelloOfAStreamWins()
    {
        ServerFixture f;
        QVERIFY(f.start());
        AgentPeer older(f.join, "host/0/trainer", 42);
        QVERIFY(older.open());
        QVERIFY(older.isAlive());
        AgentPeer newer(f.join, "host/0/trainer", 42);
        QVERIFY(newer.open());
        QCOMPARE(newer.peer.last<protocol::Welcome>()->durableSeq, std::uint64_t(1));
        QTRY_VERIFY(older.peer.isClosed());
        QCOMPARE(older.peer.last<protocol::Bye>()->reason, std::string("fenced"));
        QVERIFY(newer.isAlive());
        QVERIFY(f.disk->stream().closed.empty()); // the stream lives on
        QTRY_COMPARE(f.server->connections().at(0).reconnects, 1u);
    }

    void byeFinishedClosesTheStreamAfterItsLastBatch()
    {
        ServerFixture f;
        f.disk->setCommitsAtOnce(false);
        QVERIFY(f.start());
        AgentPeer agent(f.join, "host/0/trainer");
        QVERIFY(agent.open());
        agent.produce(3);
        agent.peer.send(protocol::Bye { "finished", 0, 3 });
        QTRY_COMPARE(f.disk->stream().closed, std::vector<std::string> { "finished" });
        QCOMPARE(f.disk->stream().taken.size(), std::size_t(3));
        QVERIFY(!agent.peer.isClosed());
        f.disk->commit();
        QTRY_VERIFY(agent.peer.isClosed());
        QCOMPARE(agent.acked(), std::uint64_t(3));
        QCOMPARE(agent.peer.closeCode(), 1000);
        QCOMPARE(f.disk->stream().closed.size(), std::size_t(1));
        QCOMPARE(f.log->count(), 0);
    }

    void anAgentThatJustGoesLeavesItsStreamOpenForItsReturn()
    {
        ServerFixture f;
        QVERIFY(f.start());
        {
            AgentPeer agent(f.join, "host/0/trainer");
            QVERIFY(agent.open());
            QVERIFY(agent.isAlive());
        }
        QTRY_COMPARE(f.disk->stream().closed, std::vector<std::string> { "" });
        QTRY_VERIFY(!f.server->connections().at(0).connected);
        AgentPeer again(f.join, "host/0/trainer");
        QVERIFY(again.open());
        QCOMPARE(again.peer.last<protocol::Welcome>()->durableSeq, std::uint64_t(1));
        QVERIFY(again.isAlive());
    }

    void heartbeatsGoBothWaysAndFillTheConnectionsPanel()
    {
        ServerFixture f;
        f.limits.heartbeat = std::chrono::milliseconds(100);
        QVERIFY(f.start());
        AgentPeer agent(f.join, "host/3/trainer");
        QVERIFY(agent.open());
        QVERIFY(agent.isAlive());
        QTRY_VERIFY(agent.peer.count<protocol::Heartbeat>() >= 2);
        QCOMPARE(agent.peer.last<protocol::Heartbeat>()->seq, std::uint64_t(1));
        protocol::Heartbeat heartbeat;
        heartbeat.clocks.wallNs = std::numeric_limits<std::int64_t>::min(); // whatever a peer claims
        heartbeat.seq = 77;
        heartbeat.ringBytes = 11;
        heartbeat.spoolBytes = 12;
        heartbeat.dropsByClass = { 0, 0, 13, 0, 0 };
        agent.peer.send(heartbeat);
        QTRY_COMPARE(f.server->connections().at(0).nextSeq, std::uint64_t(77));
        const ConnectionInfo info = f.server->connections().at(0);
        QCOMPARE(info.agentId, std::string("host/3/trainer"));
        QCOMPARE(info.runName, std::string("a run"));
        QCOMPARE(info.runId, std::string("fake1"));
        QCOMPARE(info.framework, std::string("test 1"));
        QCOMPARE(info.ringBytes, std::uint64_t(11));
        QCOMPARE(info.spoolBytes, std::uint64_t(12));
        QCOMPARE(info.droppedSamples, std::uint64_t(13));
        QCOMPARE(info.durableSeq, std::uint64_t(1));
        QCOMPARE(info.receivedBatches, std::uint64_t(1));
        QVERIFY(info.receivedBytes > 0 && info.connected && !info.encrypted && info.connectedSinceNs > 0);
    }

    void whatMonitoringTakesIsKnownOverTheLastSecondsOrNotAtAll()
    {
        ServerFixture f;
        QVERIFY(f.start());
        AgentPeer agent(f.join, "host/3/trainer");
        QVERIFY(agent.open());
        std::uint64_t seq = 10;
        protocol::Thinning thinning {};
        std::int64_t nextStep = 0;
        const auto say = [&](protocol::CostSums sums) {
            protocol::Heartbeat heartbeat;
            heartbeat.seq = ++seq;
            heartbeat.cost = sums;
            heartbeat.thinning = thinning;
            heartbeat.nextStep = nextStep;
            agent.peer.send(heartbeat);
            return QTest::qWaitFor([&] { return f.server->connections().at(0).nextSeq == seq; });
        };
        const auto info = [&] { return f.server->connections().at(0); };
        constexpr std::uint64_t kSecond = 1'000'000'000;
        QVERIFY(say({}) && say({})); // an older agent
        QCOMPARE(info().stepMs, 0.0);
        QVERIFY(say({ 9 * kSecond, 10 * kSecond, 100 })); // before anybody looked
        QVERIFY(say({ 9 * kSecond + kSecond / 100, 14 * kSecond, 140 })); // 10 ms in 40 steps of 4 s
        QVERIFY(say({ 9 * kSecond + kSecond / 50, 18 * kSecond, 180 }));
        QCOMPARE(info().stepMs, 100.0);
        QCOMPARE(info().monitorMs, 0.25);
        QVERIFY(say({ 9 * kSecond + kSecond / 50, 18 * kSecond, 180 })); // no step since: what was stays
        QCOMPARE(info().monitorMs, 0.25);
        nextStep = 181;
        QVERIFY(say({ 9 * kSecond + kSecond / 50, 18 * kSecond, 180 })); // it counts steps and measures none
        QCOMPARE(info().monitorMs, 0.0);
        QCOMPARE(info().nextStep, nextStep);
        QVERIFY(say({ 0, 0, 0 })); // sums never go back
        QCOMPARE(info().stepMs, 0.0);
        QVERIFY(say({ 50 * kSecond, 4 * kSecond, 4 })); // no part is larger than the whole
        QCOMPARE(info().stepMs, 1000.0);
        QCOMPARE(info().monitorMs, 1000.0);
        QVERIFY(say({ UINT64_MAX, UINT64_MAX, 5 })); // nor is a step longer than anybody waits
        QCOMPARE(info().stepMs, 0.0);
        QCOMPARE(info().monitorMs, 0.0);
        QCOMPARE(info().collectedEvery, std::int64_t { 0 });
        thinning = { 40, 25'000 };
        QVERIFY(say({}));
        QCOMPARE(info().collectedEvery, std::int64_t { 40 });
        QCOMPARE(info().overheadBudget, 2.5);
        thinning = { UINT64_MAX, UINT64_MAX };
        QVERIFY(say({}));
        QVERIFY(info().collectedEvery > 0);
        QVERIFY(agent.isAlive());
    }

    void creditIsSharedByAllButNeverBelowTheLargestBatch()
    {
        ServerFixture f;
        f.limits.creditTotalBytes = 6u << 20;
        QVERIFY(f.start());
        AgentPeer a(f.join, "host/0/trainer");
        AgentPeer b(f.join, "host/1/trainer");
        AgentPeer c(f.join, "host/2/trainer");
        std::vector<std::uint64_t> credit;
        for (AgentPeer* agent : { &a, &b, &c }) {
            QVERIFY(agent->open());
            credit.push_back(agent->peer.last<protocol::Welcome>()->creditBytes);
        }
        QCOMPARE(credit, (std::vector<std::uint64_t> { 4u << 20, 3u << 20, 2u << 20 }));
        f.server.reset();
        f.limits.creditTotalBytes = 1;
        QVERIFY(f.start());
        AgentPeer d(f.join, "host/0/trainer");
        QVERIFY(d.open());
        QVERIFY(d.peer.last<protocol::Welcome>()->creditBytes >= protocol::limits::kMaxMessageBytes);
    }

    void aStormOf512AgentsIsServedWithinSeconds()
    {
        ServerFixture f;
        QVERIFY(f.start());
        std::vector<std::unique_ptr<AgentPeer>> agents;
        QElapsedTimer timer;
        timer.start();
        for (int i = 0; i < 512; ++i) {
            agents.push_back(std::make_unique<AgentPeer>(f.join, "host/" + std::to_string(i) + "/trainer"));
            agents.back()->peer.startUpgrade(ServerPeer::agentHandshake(f.join));
        }
        std::vector<bool> isSaid(agents.size());
        const auto isServed = [&] {
            bool all = true;
            for (std::size_t i = 0; i < agents.size(); ++i) {
                if (agents[i]->peer.isUpgraded() && !isSaid[i]) {
                    isSaid[i] = true;
                    agents[i]->startHello();
                }
                all = all && agents[i]->peer.last<protocol::Welcome>() != nullptr;
            }
            return all;
        };
        QVERIFY(QTest::qWaitFor(isServed, 20'000));
        const qint64 served = timer.elapsed();
        qInfo("512 agents welcomed in %lld ms", static_cast<long long>(served));
        QVERIFY2(served < 5000, "the storm took too long");
        QCOMPARE(f.disk->streams(), std::size_t(512));
        QCOMPARE(f.log->count(), 0);
        QVERIFY(agents.front()->isAlive());
        QVERIFY(agents.back()->isAlive());
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, ServerTest)

}

#include "servertest.moc"
