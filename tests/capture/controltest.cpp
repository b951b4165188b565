// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <filesystem>
#include <fstream>
#include <future>

#include <QTemporaryDir>

#include <telltale/agent/blockinglink.h>
#include <telltale/client/controlclient.h>
#include <telltale/server/captureserver.h>
#include <telltale/store/archive.h>
#include <telltale/store/runfiles.h>
#include <telltale/store/storeservice.h>

#include "../views/shellfixture.h"
#include "serverpeer.h"

namespace controltest {

using namespace telltale;
using namespace telltale::test;

namespace fs = std::filesystem;
namespace limits = protocol::limits;

namespace {

/// A server with its store on a data directory. Thread: test.
struct Serving {
    std::string dataDir;
    std::unique_ptr<store::StoreService> service;
    std::unique_ptr<server::CaptureServer> server;
    protocol::JoinString join;

    Serving(const std::string& folder, const std::string& listen)
        : dataDir(folder)
    {
        store::StoreOptions options;
        options.dataDir = dataDir;
        service = CapsuleBuilder::must(store::StoreService::start(options));
        server::ServerOptions serverOptions;
        serverOptions.dataDir = dataDir;
        serverOptions.listen = listen;
        serverOptions.log = [](const std::string&) {};
        server = CapsuleBuilder::must(server::CaptureServer::start(serverOptions, *service));
        join = CapsuleBuilder::must(client::controlJoin(dataDir));
    }
    protocol::JoinString agentJoin() const
    {
        return CapsuleBuilder::must(protocol::JoinString::parse(server->joinString().toStdString()));
    }
    /// Files in the folder of runs.
    std::vector<std::string> files() const
    {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(store::runsFolder(dataDir)))
            names.push_back(entry.path().filename());
        return names;
    }
};

/// A peer of the control role that keeps no rule it is not told to keep. Thread: test.
struct ControlPeer {
    ServerPeer peer;
    protocol::ProofContext proof;
    protocol::JoinString join;

    explicit ControlPeer(const protocol::JoinString& to)
        : peer(to)
        , join(to)
    {
    }
    bool enter(const char* path = limits::kControlPath)
    {
        auto handshake = ServerPeer::agentHandshake(join);
        handshake.path = path;
        if (!peer.upgrade(handshake))
            return false;
        proof = { CapsuleBuilder::must(protocol::makeNonce()), {}, join.fingerprint };
        peer.send(protocol::Knock { proof.knockNonce });
        if (!QTest::qWaitFor([this] { return peer.last<protocol::Challenge>() || peer.isClosed(); })
            || !peer.last<protocol::Challenge>())
            return false;
        proof.challengeNonce = peer.last<protocol::Challenge>()->nonce;
        protocol::ControlHello hello;
        hello.proof = protocol::agentProof(join.token, proof);
        peer.send(hello);
        return QTest::qWaitFor([this] { return peer.last<protocol::Welcome>() || peer.isClosed(); })
            && peer.last<protocol::Welcome>();
    }
    /// The sentence that the last question was answered with.
    std::string answer()
    {
        const int before = m_answers;
        if (!QTest::qWaitFor([&] { return peer.count<protocol::ControlReply>() > before || peer.isClosed(); })
            || peer.count<protocol::ControlReply>() == before)
            return "no answer";
        m_answers = peer.count<protocol::ControlReply>();
        return peer.last<protocol::ControlReply>()->error;
    }

private:
    int m_answers = 0;
};

std::string bytesOf(const std::string& path)
{
    std::ifstream in(path, std::ios::binary);
    return { std::istreambuf_iterator<char>(in), {} };
}

}

/// The control role: who may have it, and what its peers may make the server do.
class ControlTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init() { m_dir = std::make_unique<QTemporaryDir>(); }
    void cleanup() { m_dir.reset(); }

    void eachRoleHasItsOwnTokenAndPath()
    {
        const Serving serving(folder("data"), "127.0.0.1:0");
        const protocol::JoinString agent = serving.agentJoin();
        QVERIFY(serving.join.isControl && !agent.isControl && serving.join.token != agent.token);
        ControlPeer right(serving.join);
        QVERIFY(right.enter());

        protocol::JoinString mixed = serving.join;
        mixed.token = agent.token;
        ControlPeer withAgentsToken(mixed);
        QVERIFY(!withAgentsToken.enter());
        QVERIFY(!client::ControlClient::connect(mixed));
        QVERIFY(!client::ControlClient::connect(agent));
        QVERIFY(agent::tryJoin(agent, std::chrono::seconds(5)));
        QVERIFY(!agent::tryJoin({ agent.host, agent.port, serving.join.token, {} }, std::chrono::seconds(5)));
        // Whose greeting is not of the role is sent away, whatever it knows.
        ControlPeer atTheAgents(agent);
        QVERIFY(!atTheAgents.enter(limits::kPath));
        AgentPeer honest(agent, "host/0/x");
        QVERIFY(honest.open());
        QVERIFY(honest.isAlive());
    }

    void theFileThatNamesTheServerIsItsOwnersAndGoesWithIt()
    {
        const std::string file = store::controlFile(folder("data"));
        {
            const Serving serving(folder("data"), "127.0.0.1:0");
            QCOMPARE(static_cast<int>(fs::status(file).permissions()), 0600);
        }
        QVERIFY(!fs::exists(file));
        QVERIFY(!client::controlJoin(folder("data")));
    }

    void aRunComesWholeWhateverItsSize_data()
    {
        QTest::addColumn<QString>("listen");
        QTest::newRow("plain") << QStringLiteral("127.0.0.1:0");
        QTest::newRow("with TLS") << QStringLiteral("0.0.0.0:0");
    }
    void aRunComesWholeWhateverItsSize()
    {
        QFETCH(QString, listen);
        const DemoCapsule capsule(m_shared.path().toStdString());
        if (!fs::exists(capsule.path()))
            DemoCapsule(capsule).write(6000);
        QVERIFY(fs::file_size(capsule.path()) > 2 * limits::kImportWindow);
        const Serving serving(folder("data"), listen.toStdString());
        QCOMPARE(serving.join.fingerprint.empty(), listen.startsWith(QLatin1String("127")));
        auto server = client::ControlClient::connect(serving.join);
        QVERIFY2(server, server ? "" : server.error().what.c_str());
        const auto run = (*server)->importRun(capsule.path());
        QVERIFY2(run, run ? "" : run.error().what.c_str());
        QVERIFY(run->damage.empty());
        QCOMPARE(bytesOf(run->locator.text()), bytesOf(capsule.path()));
        QCOMPARE(run->id, store::describeRun(store::RunLocator::ofFile(capsule.path())).id);
        // There already.
        const auto again = (*server)->importRun(capsule.path());
        QVERIFY(!again);
        QVERIFY2(again.error().what.find("already here") != std::string::npos, again.error().what.c_str());
        QCOMPARE(serving.files().size(), std::size_t { 1 });
    }

    void aRunOfAKilledRecorderComesWithItsLog()
    {
        DemoCapsule capsule(folder("elsewhere"));
        {
            CapsuleBuilder builder(capsule.path());
            const auto stream = builder.addAttempt(Rank { 0 }, 0);
            const auto layout = builder.addLayout(Kind::Scalar, { Stat::Value }, { "loss" });
            StepBlock block;
            block.layout = layout;
            block.step = Step { 7 };
            block.columns = { { Stat::Value, std::vector<double> { 0.5 } } };
            builder.stage(stream, { block });
            builder.commit();
            // As it lies there while it is written, which is how a power cut would leave it.
            fs::create_directories(folder("killed"));
            for (const char* side : { "", "-wal" })
                fs::copy(capsule.path() + side, folder("killed") + "/run.telltale" + side);
        }
        QVERIFY(fs::file_size(folder("killed") + "/run.telltale-wal") > 0);
        const Serving serving(folder("data"), "127.0.0.1:0");
        auto server = client::ControlClient::connect(serving.join);
        QVERIFY(server);
        const auto run = (*server)->importRun(folder("killed") + "/run.telltale");
        QVERIFY2(run, run ? "" : run.error().what.c_str());
        const auto summary = store::describeRun(run->locator);
        QCOMPARE(summary.state, store::RunState::Interrupted);
        QCOMPARE(summary.lastStep, Step { 7 });
        QVERIFY(fs::exists(folder("killed") + "/run.telltale-wal"));
        QCOMPARE(serving.files(), (std::vector<std::string> { "run.telltale" }));
    }

    void whatIsNoRunLeavesNothing_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("outside") << QStringLiteral("../x.telltale") << QStringLiteral("no file name");
        QTest::newRow("hidden") << QStringLiteral(".telltale") << QStringLiteral("no file name");
        QTest::newRow("cut off") << QString(QStringLiteral("a") + QChar(0) + QStringLiteral(".telltale"))
                                 << QStringLiteral("no file name");
        QTest::newRow("of another kind") << QStringLiteral("x.txt") << QStringLiteral("does not end in .telltale");
        QTest::newRow("too long") << QString(300, QLatin1Char('a')) + QStringLiteral(".telltale")
                                  << QStringLiteral("cannot write");
        QTest::newRow("not a run") << QStringLiteral("x.telltale") << QStringLiteral("not a Telltale run");
    }
    void whatIsNoRunLeavesNothing()
    {
        QFETCH(QString, name);
        QFETCH(QString, sentence);
        const Serving serving(folder("data"), "127.0.0.1:0");
        ControlPeer control(serving.join);
        QVERIFY(control.enter());
        control.peer.send(protocol::ImportRun { name.toStdString(), 5 });
        control.peer.send(protocol::RunPart { "hello" });
        const std::string answer = control.answer();
        QVERIFY2(QString::fromStdString(answer).contains(sentence), answer.c_str());
        QCOMPARE(serving.files(), std::vector<std::string> {});
        // And it may ask for something else.
        control.peer.send(protocol::ImportRun { "y.telltale", 0 });
        QVERIFY(control.answer().find("empty") != std::string::npos);
        QVERIFY(!control.peer.isClosed());
    }

    void whoSendsMoreThanItMayIsCut_data()
    {
        QTest::addColumn<int>("bytes");
        QTest::addColumn<int>("part");
        QTest::addColumn<int>("parts");
        QTest::newRow("more than it said") << 5 << 6 << 1;
        QTest::newRow("a part too large") << (2 << 20) << static_cast<int>(limits::kMaxRunPartBytes) + 1 << 1;
        QTest::newRow("nothing") << 5 << 0 << 1;
        QTest::newRow("asks again before the answer") << 5 << -1 << 1;
    }
    void whoSendsMoreThanItMayIsCut()
    {
        QFETCH(int, bytes);
        QFETCH(int, part);
        QFETCH(int, parts);
        const Serving serving(folder("data"), "127.0.0.1:0");
        ControlPeer control(serving.join);
        QVERIFY(control.enter());
        control.peer.send(protocol::ImportRun { "x.telltale", static_cast<std::uint64_t>(bytes) });
        for (int i = 0; i < parts && part >= 0; ++i)
            control.peer.send(protocol::RunPart { std::string(static_cast<std::size_t>(part), 'x') });
        if (part < 0)
            control.peer.send(protocol::ImportRun { "y.telltale", 5 });
        QTRY_VERIFY(control.peer.isClosed());
        QCOMPARE(control.peer.count<protocol::ControlReply>(), 0);
        QTRY_COMPARE(serving.files(), std::vector<std::string> {});
    }

    void aPeerThatGoesInTheMiddleLeavesNothing()
    {
        const Serving serving(folder("data"), "127.0.0.1:0");
        {
            ControlPeer control(serving.join);
            QVERIFY(control.enter());
            control.peer.send(protocol::ImportRun { "x.telltale", 1000 });
            control.peer.send(protocol::RunPart { std::string(500, 'x') });
            QTRY_COMPARE(control.peer.count<protocol::RunTaken>(), 2);
            QCOMPARE(serving.files(), (std::vector<std::string> { "x.telltale.new" }));
            QVERIFY(store::listRuns(serving.dataDir).empty());
        }
        QTRY_COMPARE(serving.files(), std::vector<std::string> {});
    }

    void agentsAreServedWhileARunComesIn()
    {
        const Serving serving(folder("data"), "127.0.0.1:0");
        ControlPeer control(serving.join);
        QVERIFY(control.enter());
        control.peer.send(protocol::ImportRun { "x.telltale", std::uint64_t { 1 } << 40 });
        AgentPeer agent(serving.agentJoin(), "host/0/x");
        QVERIFY(agent.open());
        for (int i = 1; i <= 8; ++i) {
            control.peer.send(protocol::RunPart { std::string(limits::kMaxRunPartBytes, 'x') });
            QVERIFY(agent.isAlive());
        }
        QTRY_COMPARE(control.peer.last<protocol::RunTaken>()->bytes, std::uint64_t { 8 } * limits::kMaxRunPartBytes);
    }

    void aStopInTheMiddleOfAnImportIsSaidAndLeavesNothing()
    {
        DemoCapsule capsule(folder("elsewhere"));
        capsule.write(100);
        Serving serving(folder("data"), "127.0.0.1:0");
        ControlPeer control(serving.join);
        QVERIFY(control.enter());
        control.peer.send(protocol::ImportRun { "x.telltale", 1000 });
        QTRY_COMPARE(control.peer.count<protocol::RunTaken>(), 1);
        auto stopped = std::async(std::launch::async, [&] { serving.server->stop(); });
        QTRY_VERIFY(control.peer.last<protocol::Bye>());
        stopped.wait();
        QCOMPARE(serving.files(), std::vector<std::string> {});
    }

private:
    std::string folder(const char* name) const { return m_dir->filePath(QLatin1String(name)).toStdString(); }

    QTemporaryDir m_shared;
    std::unique_ptr<QTemporaryDir> m_dir;
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, ControlTest)

}

#include "controltest.moc"
