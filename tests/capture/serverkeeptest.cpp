// SPDX-License-Identifier: GPL-3.0-or-later
// What a server keeps between starts, the door to other machines (TLS), and the way into the real store.
#include "testmain.h"

#include <QFileInfo>

#include <telltale/server/certificate.h>
#include <telltale/server/secretfile.h>

#include "serverfixture.h"

namespace serverkeeptest {

using namespace telltale;
using namespace telltale::test;

namespace {

constexpr auto kOwnerOnly = QFile::ReadOwner | QFile::WriteOwner | QFile::ReadUser | QFile::WriteUser;

}

class ServerKeepTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void tokenAndKeyFilesAreForTheirOwnerOnly()
    {
        ServerFixture f;
        QVERIFY(f.start("0.0.0.0:0"));
        const QString folder = f.dir.filePath(QStringLiteral("server"));
        for (const char* name : { "token", "port", "key.pem", "certificate.pem" })
            QCOMPARE(QFileInfo(folder + QLatin1Char('/') + QLatin1String(name)).permissions(), kOwnerOnly);
        QVERIFY((QFileInfo(folder).permissions() & (QFile::ReadGroup | QFile::ReadOther | QFile::ExeOther)) == 0);
        QCOMPARE(f.join.token.size(), std::size_t(64));
        QCOMPARE(f.join.fingerprint.size(), std::size_t(64));
    }

    void aTokenThatOthersCouldReadIsNarrowed()
    {
        ServerFixture f;
        QVERIFY(f.start());
        f.server.reset();
        const QString path = f.dir.filePath(QStringLiteral("server/token"));
        QVERIFY(QFile::setPermissions(path, kOwnerOnly | QFile::ReadGroup | QFile::ReadOther));
        const auto before = f.join;
        QVERIFY(f.start({}));
        QCOMPARE(f.join, before);
        QCOMPARE(QFileInfo(path).permissions(), kOwnerOnly);
    }

    void aTakenPortNamesItsHolder()
    {
        ServerFixture f;
        QVERIFY(f.start());
        ServerFixture second;
        const auto refused = second.start("127.0.0.1:" + std::to_string(f.join.port));
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, ErrorCode::Busy);
        const std::string pid = "(pid " + std::to_string(QCoreApplication::applicationPid()) + ")";
        QVERIFY2(refused.error().what.find(pid) != std::string::npos, refused.error().what.c_str());
    }

    void badAddressesAreRefusedWithASentence_data()
    {
        QTest::addColumn<QString>("listen");
        for (const char* text :
            { "", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:70000", "::1:80", "example.org:80", ":80" }) {
            if (*text != '\0')
                QTest::newRow(text) << QString::fromLatin1(text);
        }
    }
    void badAddressesAreRefusedWithASentence()
    {
        QFETCH(QString, listen);
        ServerFixture f;
        const auto started = f.start(listen.toStdString());
        QVERIFY(!started);
        QCOMPARE(started.error().code, ErrorCode::BadInput);
    }

    void ipv6LoopbackServesAgents()
    {
        ServerFixture f;
        QVERIFY(f.start("[::1]:0"));
        QVERIFY(f.join.fingerprint.empty());
        AgentPeer agent(f.join, "six/0/trainer");
        QVERIFY(agent.open());
        QVERIFY(agent.isAlive());
    }

    void anAgentThatPinsTheFingerprintIsServedOverTls()
    {
        ServerFixture f;
        QVERIFY(f.start("0.0.0.0:0"));
        auto socket = pinnedSocket(f.join);
        QVERIFY(socket);
        AgentPeer agent(f.join, "far/0/trainer", 1, std::move(socket));
        QVERIFY(agent.open());
        QVERIFY(agent.isAlive());
        QVERIFY(f.server->connections().at(0).encrypted);
        const auto before = f.join;
        f.server.reset();
        QVERIFY(f.start("0.0.0.0:" + std::to_string(before.port)));
        QCOMPARE(f.join, before); // the same certificate
    }

    void plainWebSocketToATlsListenerFailsCleanly()
    {
        ServerFixture f;
        f.limits.handshake = std::chrono::milliseconds(500);
        QVERIFY(f.start("0.0.0.0:0"));
        auto join = f.join;
        join.host = "127.0.0.1";
        ServerPeer peer(join);
        QVERIFY(!peer.upgrade());
        QTRY_VERIFY(peer.isClosed());
        QVERIFY(pinnedSocket(f.join));
    }

    void anotherCertificateHasAnotherFingerprint()
    {
        const auto a = server::Certificate::make();
        const auto b = server::Certificate::make();
        QVERIFY(a && b && a->fingerprint != b->fingerprint);
        QVERIFY(server::Certificate::fromPem(a->keyPem, a->certificatePem));
        QVERIFY(!server::Certificate::fromPem(a->keyPem, b->certificatePem));
    }

    void theRealStoreKeepsWhatWasAckedOverARestart()
    {
        QTemporaryDir dir;
        for (std::uint64_t round = 0; round < 2; ++round) {
            store::StoreOptions options;
            options.dataDir = dir.path().toStdString();
            auto service = store::StoreService::start(options);
            QVERIFY2(service.has_value(), service ? "" : service.error().what.c_str());
            server::ServerOptions listen;
            listen.dataDir = options.dataDir;
            listen.listen = round == 0 ? "127.0.0.1:0" : "";
            auto server = server::CaptureServer::start(listen, **service);
            QVERIFY(server);
            const auto join = protocol::JoinString::parse((*server)->joinString().toStdString());
            AgentPeer agent(*join, "host/0/trainer", 99);
            QVERIFY(agent.open());
            QCOMPARE(agent.peer.last<protocol::Welcome>()->durableSeq, round * 20);
            agent.produce(20);
            QTRY_COMPARE(agent.acked(), round * 20 + 20);
            QCOMPARE((*service)->counters().samples, std::uint64_t(120));
            (*server)->stop();
            (*service)->stop();
        }
    }

    void theNewestHelloOfAStreamWinsInTheRealStore()
    {
        QTemporaryDir dir;
        store::StoreOptions options;
        options.dataDir = dir.path().toStdString();
        auto service = store::StoreService::start(options);
        QVERIFY(service);
        server::ServerOptions listen;
        listen.dataDir = options.dataDir;
        listen.listen = "127.0.0.1:0";
        auto server = server::CaptureServer::start(listen, **service);
        QVERIFY(server);
        const auto join = protocol::JoinString::parse((*server)->joinString().toStdString());
        AgentPeer older(*join, "host/0/trainer", 99);
        QVERIFY(older.open());
        QVERIFY(older.isAlive());
        AgentPeer newer(*join, "host/0/trainer", 99);
        QVERIFY(newer.open());
        QCOMPARE(newer.peer.last<protocol::Welcome>()->durableSeq, std::uint64_t(1));
        QTRY_VERIFY(older.peer.isClosed());
        QCOMPARE(older.peer.last<protocol::Bye>()->reason, std::string("fenced"));
        QVERIFY(older.peer.last<protocol::Bye>()->retryAfterMs > 0);
        // The end of the older one does not end the stream.
        QVERIFY(newer.isAlive());
        QCOMPARE((*service)->liveRuns().at(0)->live->connectedRanks.load(), 1);
        // Another incarnation is another stream, and nobody's enemy.
        AgentPeer other(*join, "host/0/trainer", 100);
        QVERIFY(other.open());
        QVERIFY(newer.isAlive());
        QVERIFY(other.isAlive());
        (*server)->stop();
        (*service)->stop();
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, ServerKeepTest)

}

#include "serverkeeptest.moc"
