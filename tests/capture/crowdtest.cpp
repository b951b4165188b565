// SPDX-License-Identifier: GPL-3.0-or-later
// Many peers that connect and say nothing, against the waits that the product has: an agent that comes after them is
// served as if they were not there.
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QtTest>

#include <telltale/server/newcomers.h>

#include "serverfixture.h"

using namespace telltale;
using namespace telltale::test;
using namespace std::chrono_literals;
using server::Newcomers;

namespace {

/// How long this process's threads, server and peers, have waited for a processor: the machine's doing, not ours.
qint64 waitedForProcessorMs()
{
    qint64 sum = 0;
    for (const QString& task : QDir(QStringLiteral("/proc/self/task")).entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
        QFile file(QStringLiteral("/proc/self/task/%1/schedstat").arg(task));
        if (file.open(QIODevice::ReadOnly))
            sum += file.readAll().split(' ').value(1).toLongLong() / 1'000'000;
    }
    return sum;
}

}

class CrowdTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void silentPeersDelayNoAgent_data()
    {
        QTest::addColumn<QString>("silence");
        QTest::addColumn<int>("count");
        QTest::newRow("300 that only connect") << "tcp" << 300;
        QTest::newRow("300 that stop in the middle of their request") << "half" << 300;
        QTest::newRow("300 that only connect, where TLS is spoken") << "tls" << 300;
        QTest::newRow("300 that stop in the middle of the TLS handshake") << "half tls" << 300;
        QTest::newRow("300 that are upgraded and say no Hello") << "upgraded" << 300;
        QTest::newRow("300 that knock and say no Hello") << "knocked" << 300;
        QTest::newRow("more than may wait") << "tcp" << 700;
    }
    void silentPeersDelayNoAgent()
    {
        QFETCH(QString, silence);
        QFETCH(int, count);
        const bool isEncrypted = silence.contains(QLatin1String("tls"));
        ServerFixture f;
        QVERIFY(f.start(isEncrypted ? "0.0.0.0:0" : "127.0.0.1:0"));
        f.join.host = "127.0.0.1";
        AgentPeer before(f.join, "before/0/trainer", 1, isEncrypted ? pinnedSocket(f.join) : nullptr);
        QVERIFY(before.open());
        std::vector<std::unique_ptr<ServerPeer>> silent;
        for (int i = 0; i < count; ++i) {
            silent.push_back(std::make_unique<ServerPeer>(f.join));
            ServerPeer& peer = *silent.back();
            if (silence == QLatin1String("upgraded") || silence == QLatin1String("knocked"))
                peer.startUpgrade(ServerPeer::agentHandshake(f.join));
            else
                peer.connectOnly();
        }
        const auto all = [&](auto holds) {
            return QTest::qWaitFor([&] { return std::all_of(silent.begin(), silent.end(), holds); }, 20'000);
        };
        if (silence == QLatin1String("upgraded") || silence == QLatin1String("knocked"))
            QVERIFY(all([](const auto& peer) { return peer->isUpgraded(); }));
        else
            QVERIFY(all([](const auto& peer) { return peer->socket().state() == QAbstractSocket::ConnectedState; }));
        for (const auto& peer : silent) {
            if (silence == QLatin1String("half"))
                peer->sendRaw("GET /capture HTTP/1.1\r\nHost: ");
            else if (silence == QLatin1String("half tls"))
                peer->sendRaw(QByteArray("\x16\x03\x01\x02\x00\x01\x00", 7));
            else if (silence == QLatin1String("knocked"))
                peer->send(protocol::Knock { *protocol::makeNonce() });
        }
        const qint64 waitedBefore = waitedForProcessorMs();
        QElapsedTimer timer;
        timer.start();
        AgentPeer agent(f.join, "late/0/trainer", 1, isEncrypted ? pinnedSocket(f.join) : nullptr);
        QVERIFY(agent.open());
        const qint64 delay = timer.elapsed();
        const qint64 waited = waitedForProcessorMs() - waitedBefore;
        qInfo("welcomed after %lld ms, of which %lld without a processor", static_cast<long long>(delay),
            static_cast<long long>(waited));
        QVERIFY2(delay - waited < 1000, "an agent waited for silent peers");
        QVERIFY(agent.isAlive());
        QVERIFY(before.isAlive());
    }

    void aCrowdWithoutHelloLeavesRoomForAgents()
    {
        ServerFixture f;
        f.limits.hello = 60s;
        f.limits.wholeMessage = 60s;
        f.limits.newcomers = 8;
        f.limits.newcomersPerAddress = 8;
        f.limits.newcomerGrace = 100ms;
        f.limits.sweep = 20ms;
        QVERIFY(f.start());
        std::vector<std::unique_ptr<ServerPeer>> crowd;
        for (int i = 0; i < 20; ++i) {
            crowd.push_back(std::make_unique<ServerPeer>(f.join));
            QVERIFY(crowd.back()->upgrade());
        }
        QTRY_VERIFY(std::count_if(crowd.begin(), crowd.end(), [](const auto& peer) { return !peer->isClosed(); }) <= 8);
        QVERIFY(!crowd.back()->isClosed()); // the oldest went
        AgentPeer agent(f.join, "late/0/trainer");
        QVERIFY(agent.open());
        QVERIFY(agent.isAlive());
        QCOMPARE(f.log->count("have not said Hello"), 1);
    }

    void anAgentThatMovesOnIsNotThrownOut()
    {
        ServerFixture f;
        f.limits.newcomers = 8;
        f.limits.newcomersPerAddress = 8;
        f.limits.newcomerGrace = 10s;
        QVERIFY(f.start());
        std::vector<std::unique_ptr<AgentPeer>> agents;
        for (int i = 0; i < 40; ++i) {
            agents.push_back(std::make_unique<AgentPeer>(f.join, "host/" + std::to_string(i) + "/trainer"));
            agents.back()->peer.startUpgrade(ServerPeer::agentHandshake(f.join));
        }
        std::vector<bool> isSaid(agents.size());
        QVERIFY(QTest::qWaitFor(
            [&] {
                bool all = true;
                for (std::size_t i = 0; i < agents.size(); ++i) {
                    if (agents[i]->peer.isUpgraded() && !isSaid[i]) {
                        isSaid[i] = true;
                        agents[i]->startHello();
                    }
                    all = all && agents[i]->peer.last<protocol::Welcome>() != nullptr;
                }
                return all;
            },
            8000));
        QCOMPARE(f.log->count(), 0);
    }

    void whoHasStoodStillLongestMakesRoomFirstAtItsOwnAddress()
    {
        server::ServerLimits limits;
        limits.newcomers = 4;
        limits.newcomersPerAddress = 3;
        limits.newcomerGrace = 100ms;
        Newcomers newcomers(limits);
        using What = Newcomers::Verdict::What;
        const auto start = Newcomers::Clock::time_point {} + 1h;
        newcomers.add("a:1", "a", start);
        newcomers.add("a:2", "a", start + 1ms);
        newcomers.add("b:1", "b", start - 50ms);
        QVERIFY(newcomers.roomFor("a", start + 2ms).what == What::Enter);
        newcomers.add("a:3", "a", start + 2ms);
        // a is full: who comes from there waits, and then takes the place of its own neighbor, not of b's older one.
        QVERIFY(newcomers.roomFor("a", start + 99ms).what == What::Wait);
        newcomers.moved("a:1", start + 90ms);
        const auto verdict = newcomers.roomFor("a", start + 101ms);
        QVERIFY(verdict.what == What::Evict);
        QCOMPARE(verdict.peer, std::string("a:2"));
        // All places are taken: the address with the most of them gives one up for another address.
        QCOMPARE(newcomers.roomFor("c", start + 150ms).peer, std::string("a:2"));
        QCOMPARE(newcomers.whoMayLeave(start + 150ms), std::string("b:1"));
        newcomers.extendDeadlines(200ms);
        QVERIFY(newcomers.roomFor("c", start + 150ms).what == What::Wait);
        QVERIFY(newcomers.remove("a:2"));
        QVERIFY(!newcomers.remove("a:2"));
        QVERIFY(newcomers.roomFor("c", start + 150ms).what == What::Enter);
        QCOMPARE(newcomers.size(), std::size_t(3));
    }
};

QTEST_GUILESS_MAIN(CrowdTest)
#include "crowdtest.moc"
