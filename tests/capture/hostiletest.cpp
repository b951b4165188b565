// SPDX-License-Identifier: GPL-3.0-or-later
// Peers that break a rule: each is refused or cut within its limit, for one line in the log, while a healthy agent on
// the same server keeps getting its acks.

#include <QElapsedTimer>
#include <QtTest>

#include <telltale/core/bytes.h>
#include <telltale/protocol/codec.h>
#include <telltale/server/peerlog.h>

#include "heapbytes.h"
#include "serverfixture.h"

using namespace telltale;
using namespace telltale::test;
using namespace std::chrono_literals;

namespace {

constexpr int kPolicy = 1008;
constexpr int kProtocol = 1002;
constexpr int kDataType = 1003;
constexpr int kTooBig = 1009;

}

class HostileTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        f = std::make_unique<ServerFixture>();
        f->limits.handshake = 400ms;
        f->limits.hello = 400ms;
        f->limits.wholeMessage = 800ms;
        f->limits.heartbeat = 200ms;
        f->limits.closing = 200ms;
        f->limits.sweep = 20ms;
        QVERIFY(f->start());
        healthy = std::make_unique<AgentPeer>(f->join, "healthy/0/trainer");
        QVERIFY(healthy->open());
        // Healthy means never silent: a batch every 50 ms, all of them acked.
        connect(&beat, &QTimer::timeout, this, [this] { healthy->produce(1); });
        beat.start(50);
    }

    void cleanup()
    {
        beat.stop();
        beat.disconnect();
        if (!healthy)
            return;
        QVERIFY(!healthy->peer.isClosed());
        QVERIFY(healthy->isAlive());
        QTRY_COMPARE(healthy->acked(), healthy->produced());
        healthy.reset();
        f.reset();
    }

    void theProductionLimitsAreTheDesigned()
    {
        const server::ServerLimits limits;
        QCOMPARE(limits.messageBytes, std::size_t(1) << 20);
        QCOMPARE(limits.fragments, std::size_t(64));
        QCOMPARE(limits.unsentBytes, std::size_t(8) << 20);
        QCOMPARE(limits.newcomers, std::size_t(1024));
        QCOMPARE(limits.newcomersPerAddress, std::size_t(512));
        QVERIFY(limits.newcomerGrace == 500ms);
        QCOMPARE(limits.backlog, 4096);
        QVERIFY(limits.handshake == 3s && limits.hello == 5s && limits.wholeMessage == 15s && limits.heartbeat == 5s);
        QVERIFY(limits.sweep <= 250ms && limits.logInterval == 60s);
        QVERIFY(limits.wrongTokens == 5 && limits.wrongTokenWindow == 60s && limits.wrongTokenWait == 30s);
        QCOMPARE(limits.creditTotalBytes, std::uint64_t(256) << 20);
        QCOMPARE(limits.creditMaxBytes, std::uint64_t(4) << 20);
    }

    void wrongHandshakesAreRefused_data()
    {
        QTest::addColumn<QByteArray>("field");
        QTest::addColumn<QByteArray>("value");
        QTest::addColumn<QString>("line");
        QTest::newRow("wrong token") << QByteArray("authorization") << QByteArray("Bearer 0123") << "wrong token";
        QTest::newRow("no token") << QByteArray("authorization") << QByteArray() << "no token";
        QTest::newRow("other scheme") << QByteArray("authorization") << QByteArray("Basic TOKEN") << "wrong token";
        QTest::newRow("token in the URL") << QByteArray("path") << QByteArray("/capture?token=TOKEN") << "query";
        QTest::newRow("other path") << QByteArray("path") << QByteArray("/") << "/capture";
        QTest::newRow("foreign host") << QByteArray("host") << QByteArray("evil.example:PORT") << "evil.example";
        QTest::newRow("loopback look-alike") << QByteArray("host") << QByteArray("127.0.0.1.evil.example") << "evil";
        QTest::newRow("no subprotocol") << QByteArray("subprotocol") << QByteArray() << "does not speak";
        QTest::newRow("other subprotocol")
            << QByteArray("subprotocol") << QByteArray("telltale.v9") << "does not speak";
    }
    void wrongHandshakesAreRefused()
    {
        QFETCH(QByteArray, field);
        QFETCH(QByteArray, value);
        QFETCH(QString, line);
        value.replace("TOKEN", QByteArray::fromStdString(f->join.token));
        value.replace("PORT", QByteArray::number(f->join.port));
        for (int again = 0; again < 3; ++again) {
            auto handshake = ServerPeer::tokenFirstHandshake(f->join);
            (field == "authorization" ? handshake.authorization
                    : field == "path" ? handshake.path
                    : field == "host" ? handshake.host
                                      : handshake.subprotocol)
                = value;
            ServerPeer peer(f->join);
            peer.upgrade(handshake);
            QTRY_VERIFY(peer.isClosed());
            QCOMPARE(peer.closeCode(), kPolicy);
        }
        expectOneLine(line.toStdString());
        for (const std::string& said : f->log->all())
            QVERIFY(said.find(f->join.token) == std::string::npos);
    }

    void whoDoesNotProveThatItKnowsTheTokenIsRefused_data()
    {
        QTest::addColumn<QString>("which");
        QTest::addColumn<QString>("line");
        QTest::newRow("no proof") << "none"
                                  << "no token";
        QTest::newRow("Hello without Knock") << "unasked"
                                             << "no token";
        QTest::newRow("proof with another token") << "guess"
                                                  << "wrong token";
        QTest::newRow("the server's own proof sent back") << "mirror"
                                                          << "wrong token";
        QTest::newRow("a proof of an earlier connection") << "replay"
                                                          << "wrong token";
        QTest::newRow("the server's proof did not convince it") << "bye"
                                                                << "wrong token";
        QTest::newRow("short nonce") << "nonce"
                                     << "no nonce";
        QTest::newRow("second Knock") << "again"
                                      << "second Knock";
    }
    void whoDoesNotProveThatItKnowsTheTokenIsRefused()
    {
        QFETCH(QString, which);
        QFETCH(QString, line);
        for (int again = 0; again < 2; ++again) {
            AgentPeer peer(f->join, "bad/0/trainer");
            QVERIFY(peer.peer.upgrade());
            protocol::Hello hello = peer.hello();
            if (which == QLatin1String("nonce")) {
                peer.peer.send(protocol::Knock { "short" });
            } else if (which != QLatin1String("unasked")) {
                if (which == QLatin1String("replay")) {
                    AgentPeer earlier(f->join, "bad/0/trainer");
                    QVERIFY(earlier.peer.upgrade());
                    QVERIFY(earlier.knock());
                    hello = earlier.hello();
                }
                QVERIFY(peer.knock());
                if (which == QLatin1String("none"))
                    hello.proof.clear();
                else if (which == QLatin1String("guess"))
                    hello.proof.assign(32, 'x');
                else if (which == QLatin1String("mirror"))
                    hello.proof = peer.peer.last<protocol::Challenge>()->proof;
            } else {
                hello.proof.clear();
            }
            if (which == QLatin1String("again"))
                QVERIFY(!peer.knock() || QTest::qWaitFor([&] { return peer.peer.isClosed(); }));
            else if (which == QLatin1String("bye"))
                peer.peer.send(protocol::Bye { "wrong token", 0, 0 });
            else
                peer.peer.send(hello);
            QTRY_VERIFY(peer.peer.isClosed());
            QCOMPARE(peer.peer.closeCode(), kPolicy);
        }
        expectOneLine(line.toStdString());
        QCOMPARE(f->disk->streams(), std::size_t(1)); // the healthy one's
    }

    void anAgentThatSendsItsTokenFirstIsStillServed()
    {
        ServerPeer peer(f->join);
        QVERIFY(peer.upgrade(ServerPeer::tokenFirstHandshake(f->join)));
        QVERIFY(peer.response().contains("telltale.v1"));
        AgentPeer other(f->join, "older/0/trainer");
        peer.send(other.hello());
        QTRY_VERIFY(peer.last<protocol::Welcome>() != nullptr);
        QCOMPARE(peer.count<protocol::Challenge>(), 0);
        QCOMPARE(f->log->count(), 0);
        peer.send(protocol::Bye { "finished", 0, 0 });
        QTRY_VERIFY(peer.isClosed());
    }

    void wrongProofsCountAsWrongTokensAndDelayNoRightOne()
    {
        for (int i = 0; i < 8; ++i) {
            AgentPeer peer(f->join, "bad/0/trainer");
            QVERIFY(peer.peer.upgrade());
            QVERIFY(peer.knock());
            protocol::Hello hello = peer.hello();
            hello.proof.assign(32, 'x');
            peer.peer.send(hello);
            QTRY_VERIFY(peer.peer.isClosed());
        }
        QCOMPARE(f->log->count("too many wrong tokens"), 1);
        QElapsedTimer timer;
        timer.start();
        AgentPeer agent(f->join, "right/0/trainer");
        QVERIFY(agent.open());
        QVERIFY2(timer.elapsed() < 500, "the right token was delayed");
    }

    void aWebPageIsRefusedBeforeTheUpgrade_data()
    {
        QTest::addColumn<QByteArray>("origin");
        QTest::newRow("foreign") << QByteArray("https://evil.example");
        QTest::newRow("our own host") << QByteArray("http://127.0.0.1");
        QTest::newRow("null") << QByteArray("null");
    }
    void aWebPageIsRefusedBeforeTheUpgrade()
    {
        QFETCH(QByteArray, origin);
        auto handshake = ServerPeer::agentHandshake(f->join);
        handshake.extra = "Origin: " + origin + "\r\n";
        ServerPeer peer(f->join);
        QVERIFY(!peer.upgrade(handshake));
        QVERIFY(peer.response().startsWith("HTTP/1.1 403"));
        expectOneLine("web page");
    }

    void garbageInsteadOfAHandshakeIsCut()
    {
        ServerPeer peer(f->join);
        peer.connectOnly();
        QTRY_COMPARE(peer.socket().state(), QAbstractSocket::ConnectedState);
        peer.sendRaw(QByteArray(3000, '\xee') + "\r\n\r\n");
        QTRY_VERIFY_WITH_TIMEOUT(peer.isClosed(), 2000);
        expectOneLine("before it became");
    }

    void aSilentTcpPeerIsCutAfterTheHandshakeTimeout()
    {
        ServerPeer peer(f->join);
        peer.connectOnly();
        QTRY_VERIFY_WITH_TIMEOUT(peer.isClosed(), 2000);
    }

    void badFramesAndMessagesAreCut_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<int>("code");
        QTest::addColumn<QString>("line");
        QTest::newRow("text frame") << ServerPeer::frame(1, "hello") << kDataType << "text";
        QTest::newRow("first text fragment") << ServerPeer::frame(1, "hello", false) << kDataType << "text";
        QTest::newRow("2 MiB frame") << ServerPeer::frame(2, QByteArray(2 << 20, 'x')) << kTooBig << "";
        QTest::newRow("2 MiB in fragments")
            << ServerPeer::frame(2, QByteArray(700'000, 'x'), false) + ServerPeer::frame(0, QByteArray(700'000, 'x'))
            << kTooBig << "";
        QTest::newRow("announced 2^62 bytes") << QByteArray("\x82\xff\x40\0\0\0\0\0\0\0\0\0\0\0", 14) << kTooBig << "";
        QTest::newRow("reserved bits") << QByteArray("\xf2\x80\0\0\0\0", 6) << kProtocol << "";
        QTest::newRow("reserved opcode") << ServerPeer::frame(5, "x") << kProtocol << "";
        QTest::newRow("continuation of nothing") << ServerPeer::frame(0, "x") << kProtocol << "";
        QTest::newRow("garbage message") << ServerPeer::frame(2, QByteArray(1000, '\xff')) << kProtocol << "cut";
        QTest::newRow("empty message") << ServerPeer::frame(2, {}) << kProtocol << "cut";
    }
    void badFramesAndMessagesAreCut()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(int, code);
        QFETCH(QString, line);
        for (int again = 0; again < 2; ++again) {
            ServerPeer peer(f->join);
            QVERIFY(peer.upgrade());
            peer.sendRaw(bytes);
            QTRY_VERIFY_WITH_TIMEOUT(peer.isClosed(), 3000);
            // With unread bytes behind the offending one the kernel may replace the close frame by a reset.
            QVERIFY2(peer.closeCode() == code || (peer.closeCode() == 0 && bytes.size() > 60'000),
                QByteArray::number(peer.closeCode()).constData());
        }
        expectOneLine(line.toStdString());
    }

    void messagesOutOfPlaceAreCut_data()
    {
        QTest::addColumn<QString>("which");
        QTest::addColumn<int>("code");
        QTest::addColumn<QString>("line");
        QTest::newRow("batch before Hello") << "no hello" << kPolicy << "not Hello";
        QTest::newRow("Hello without a name") << "nameless" << kPolicy << "names no run";
        QTest::newRow("Hello with a NUL in its name") << "nul" << kPolicy << "contains NUL";
        QTest::newRow("Hello at the end of all numbers") << "far" << kPolicy << "nobody has made";
        QTest::newRow("Hello of another protocol") << "version" << kPolicy << "protocol 7";
        QTest::newRow("second Hello") << "second" << kPolicy << "second Hello";
        QTest::newRow("stale epoch") << "epoch" << kPolicy << "older connection";
        QTest::newRow("bad crc") << "crc" << kProtocol << "crc";
        QTest::newRow("over credit") << "credit" << kPolicy << "credit";
    }
    void messagesOutOfPlaceAreCut()
    {
        QFETCH(QString, which);
        QFETCH(int, code);
        QFETCH(QString, line);
        for (int again = 0; again < 2; ++again) {
            AgentPeer peer(f->join, "bad/0/trainer");
            QVERIFY(peer.peer.upgrade());
            misbehave(peer, which);
            QTRY_VERIFY_WITH_TIMEOUT(peer.peer.isClosed(), 3000);
            QVERIFY2(peer.peer.closeCode() == code || (peer.peer.closeCode() == 0 && which == QLatin1String("credit")),
                QByteArray::number(peer.peer.closeCode()).constData());
        }
        expectOneLine(line.toStdString());
        if (which == QLatin1String("crc"))
            QVERIFY(f->disk->stream("bad/0/trainer").taken.empty());
    }

    void floodsOfFragmentsAreCut()
    {
        ServerPeer peer(f->join);
        QVERIFY(peer.upgrade());
        QByteArray flood = ServerPeer::frame(2, {}, false);
        for (int i = 0; i < 200'000; ++i)
            flood += ServerPeer::frame(0, {}, false);
        peer.sendRaw(flood);
        QTRY_VERIFY_WITH_TIMEOUT(peer.isClosed(), 3000);
        expectOneLine("fragments");
    }

    void aSocketWithoutHelloIsCut()
    {
        ServerPeer peer(f->join);
        QElapsedTimer timer;
        timer.start();
        QVERIFY(peer.upgrade());
        QTRY_VERIFY_WITH_TIMEOUT(peer.isClosed(), 2000);
        QVERIFY(timer.elapsed() >= 350);
        QCOMPARE(peer.closeCode(), kPolicy);
        expectOneLine("no Hello");
    }

    void aStallInTheMiddleOfAMessageIsCut_data()
    {
        QTest::addColumn<int>("chunks");
        // Qt's own timer covers the first partial chunk only.
        QTest::newRow("after one chunk") << 1;
        QTest::newRow("after two chunks") << 2;
        QTest::newRow("one byte at a time") << 1000;
    }
    void aStallInTheMiddleOfAMessageIsCut()
    {
        QFETCH(int, chunks);
        AgentPeer agent(f->join, "stall/0/trainer");
        QVERIFY(agent.open());
        const QByteArray whole
            = ServerPeer::frame(2, QByteArray::fromStdString(protocol::encodeMessage(agent.batch(1))));
        QElapsedTimer timer;
        timer.start();
        int sent = 0;
        while (!agent.peer.isClosed() && timer.elapsed() < 5000) {
            if (sent < chunks && sent < whole.size() - 1)
                agent.peer.sendRaw(whole.mid(sent++, 1));
            QTest::qWait(30);
        }
        QVERIFY(agent.peer.isClosed());
        QVERIFY2(timer.elapsed() < 2000, "cut late");
        expectOneLine("whole message");
        QVERIFY(f->disk->stream("stall/0/trainer").taken.empty());
    }

    void aSilentAgentIsCut()
    {
        AgentPeer agent(f->join, "silent/0/trainer");
        QVERIFY(agent.open());
        QTRY_VERIFY_WITH_TIMEOUT(agent.peer.isClosed(), 2000);
        expectOneLine("whole message");
    }

    void aPingFloodOfAPeerThatDoesNotReadIsCut()
    {
        AgentPeer agent(f->join, "flood/0/trainer");
        QVERIFY(agent.open());
        agent.peer.stopReading();
        QByteArray pings;
        for (int i = 0; i < 5000; ++i)
            pings += ServerPeer::frame(9, QByteArray(120, 'p'));
        const std::int64_t before = heapBytes();
        std::int64_t peak = before;
        QElapsedTimer timer;
        timer.start();
        while (!agent.peer.isClosed() && timer.elapsed() < 20'000) {
            if (agent.peer.socket().bytesToWrite() < 2'000'000)
                agent.peer.sendRaw(pings);
            QTest::qWait(1);
            peak = std::max(peak, heapBytes());
            if (f->log->count() != 0)
                break; // a peer that does not read does not see that it was cut
        }
        qInfo("cut after %lld ms, memory grew by %lld KiB", static_cast<long long>(timer.elapsed()),
            static_cast<long long>(peak - before) / 1024);
        QCOMPARE(f->log->count(), 1);
        QVERIFY(peak - before < std::int64_t { 64 } << 20);
    }

    void fiveWrongTokensMakeOnlyWrongOnesWait()
    {
        auto handshake = ServerPeer::tokenFirstHandshake(f->join);
        handshake.authorization = "Bearer guess";
        for (int i = 0; i < 8; ++i) {
            ServerPeer peer(f->join);
            peer.upgrade(handshake);
            QTRY_VERIFY(peer.isClosed());
        }
        QCOMPARE(f->log->count("too many wrong tokens"), 1);
        QElapsedTimer timer;
        timer.start();
        AgentPeer agent(f->join, "right/0/trainer");
        QVERIFY(agent.open());
        QVERIFY2(timer.elapsed() < 500, "the right token was delayed");
        beat.stop();
        healthy.reset();
        f->server->stop();
        QCOMPARE(f->log->count("(guessing) came 2 more times"), 1);
    }

    void tenThousandEqualRefusalsAreAHandfulOfLinesThatCountThem()
    {
        std::vector<std::string> lines;
        server::PeerLog log([&lines](const std::string& line) { lines.push_back(line); }, 60s);
        auto now = server::PeerLog::Clock::now();
        for (int i = 0; i < 10'000; ++i, now += 20ms)
            log.refused("10.0.0.7", "crc", "cut: batch " + std::to_string(i) + " was damaged on the way", now);
        log.finish();
        QCOMPARE(lines.size(), std::size_t(5));
        QCOMPARE(lines.front(), std::string("10.0.0.7: cut: batch 0 was damaged on the way"));
        QCOMPARE(lines.back(), std::string("10.0.0.7: the last reason (crc) came 999 more times"));
        int counted = 0;
        for (const std::string& line : lines) {
            const auto number = QRegularExpression(QStringLiteral("(\\d+) more")).match(QString::fromStdString(line));
            counted += number.captured(1).toInt() + (line.find("batch") != std::string::npos ? 1 : 0);
        }
        QCOMPARE(counted, 10'000);
    }

    void refusedPeersShowInTheConnectionsPanel()
    {
        auto handshake = ServerPeer::tokenFirstHandshake(f->join);
        handshake.authorization = "Bearer guess";
        ServerPeer peer(f->join);
        peer.upgrade(handshake);
        QTRY_VERIFY(peer.isClosed());
        const auto all = f->server->connections();
        const auto stranger
            = std::find_if(all.begin(), all.end(), [](const ConnectionInfo& info) { return info.agentId.empty(); });
        QVERIFY(stranger != all.end());
        QCOMPARE(stranger->peer, std::string("127.0.0.1"));
        QVERIFY(stranger->lastRefusal.find("wrong token") != std::string::npos);
        QVERIFY(!stranger->connected);
    }

private:
    void expectOneLine(const std::string& part)
    {
        QTRY_VERIFY(f->log->count(part) >= 1);
        QVERIFY2(f->log->count() == 1, f->log->all().back().c_str());
    }

    void misbehave(AgentPeer& peer, const QString& which)
    {
        if (which == QLatin1String("no hello")) {
            peer.peer.send(peer.batch(1));
            return;
        }
        if (QStringList {
                QStringLiteral("nameless"), QStringLiteral("nul"), QStringLiteral("far"), QStringLiteral("version") }
                .contains(which)) {
            QVERIFY(peer.knock());
            protocol::Hello hello = peer.hello();
            if (which == QLatin1String("nameless"))
                hello.agentId.clear();
            else if (which == QLatin1String("nul"))
                hello.runKey += '\0';
            else if (which == QLatin1String("far"))
                hello.firstRetainedSeq = ~std::uint64_t { 0 };
            else
                hello.protoMin = hello.protoMax = 7;
            peer.peer.send(hello);
            return;
        }
        peer.startHello();
        QTRY_VERIFY(peer.peer.last<protocol::Welcome>() != nullptr);
        protocol::Batch batch = peer.batch(1);
        if (which == QLatin1String("second")) {
            peer.peer.send(peer.hello());
        } else if (which == QLatin1String("epoch")) {
            --batch.epoch;
            peer.peer.send(batch);
        } else if (which == QLatin1String("crc")) {
            batch.payload.back() = static_cast<char>(batch.payload.back() ^ 1);
            peer.peer.send(batch);
        } else {
            f->disk->setCommitsAtOnce(false); // no credit comes back
            batch.payload.assign(1'000'000, 'x');
            batch.crc = crc32c(batch.payload);
            batch.seq = peer.peer.last<protocol::Welcome>()->durableSeq;
            for (int i = 0; i < 6; ++i) {
                ++batch.seq;
                peer.peer.send(batch);
            }
            QTRY_VERIFY(peer.peer.isClosed());
            f->disk->setCommitsAtOnce(true);
            f->disk->commit();
        }
    }

    std::unique_ptr<ServerFixture> f;
    std::unique_ptr<AgentPeer> healthy;
    QTimer beat;
};

QTEST_GUILESS_MAIN(HostileTest)
#include "hostiletest.moc"
