// SPDX-License-Identifier: GPL-3.0-or-later
// What the command line imports while a window is open: the real program on one side, the real window, server and store
// on the other.
#include <QDir>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <telltale/client/controlclient.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/runsmodel.h>
#include <telltale/protocol/joinstring.h>
#include <telltale/server/captureserver.h>
#include <telltale/shell/mainwindow.h>
#include <telltale/shell/rundriver.h>
#include <telltale/store/querypool.h>
#include <telltale/store/storeservice.h>

#include "../capture/agentdriver.h"
#include "../views/shellfixture.h"

using namespace telltale;
using namespace telltale::test;

namespace {

/// The desktop as the program puts it together. Thread: gui.
struct OpenDesktop {
    store::QueryPool queries;
    std::unique_ptr<store::StoreService> service;
    std::unique_ptr<server::CaptureServer> server;
    std::unique_ptr<shell::MainWindow> window;

    OpenDesktop(const QString& dataDir, const char* listen)
    {
        store::StoreOptions options;
        options.dataDir = dataDir.toStdString();
        service = CapsuleBuilder::must(store::StoreService::start(options));
        server::ServerOptions serverOptions;
        serverOptions.dataDir = options.dataDir;
        serverOptions.listen = listen;
        server = CapsuleBuilder::must(server::CaptureServer::start(serverOptions, *service));
        window = std::make_unique<shell::MainWindow>(
            shell::AppContext { service.get(), &queries, options.dataDir, {}, {}, {}, {} });
        window->show();
    }
    ~OpenDesktop()
    {
        window.reset();
        server->stop();
        service->stop();
    }
    const std::vector<store::RunSummary>& archived() const
    {
        return window->driver()->runs()->runs(items::RunsModel::ArchivedGroup);
    }
};

/// `telltale import`, beside the event loop of the window.
struct Import {
    int code = -1;
    QJsonObject document;
    QByteArray err;

    Import(QStringList arguments, const QProcessEnvironment& environment = QProcessEnvironment::systemEnvironment())
    {
        QProcess process;
        process.setProcessEnvironment(environment);
        const QDir here(QCoreApplication::applicationDirPath());
        arguments.prepend(QStringLiteral("import"));
        arguments.append(QStringLiteral("--json"));
        process.start(here.absoluteFilePath(QStringLiteral("../bin/telltale")), arguments);
        if (!QTest::qWaitFor([&] { return process.state() == QProcess::NotRunning; }, 30'000))
            return;
        code = process.exitCode();
        err = process.readAllStandardError();
        document = QJsonDocument::fromJson(process.readAllStandardOutput()).object();
    }
};

}

class ImportTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        QTest::failOnWarning(QRegularExpression(QStringLiteral(".?")));
        m_dir = std::make_unique<QTemporaryDir>();
    }
    void cleanup() { m_dir.reset(); }

    void aRunThatIsImportedBesideAWindowShowsUpInIt_data()
    {
        QTest::addColumn<bool>("isRemote");
        QTest::newRow("through its data directory") << false;
        QTest::newRow("through its address, with TLS") << true;
    }
    void aRunThatIsImportedBesideAWindowShowsUpInIt()
    {
        QFETCH(bool, isRemote);
        DemoCapsule capsule(path("elsewhere").toStdString());
        capsule.write(40);
        OpenDesktop desktop(path("data"), isRemote ? "0.0.0.0:0" : "127.0.0.1:0");
        QVERIFY(desktop.archived().empty());
        QStringList arguments { QString::fromStdString(capsule.path()) };
        auto environment = QProcessEnvironment::systemEnvironment();
        if (isRemote) {
            const auto join = client::controlJoin(path("data").toStdString());
            QVERIFY(join && !join->fingerprint.empty());
            environment.insert(QStringLiteral("TELLTALE_CONTROL"), QString::fromStdString(join->toString()));
            environment.insert(QStringLiteral("TELLTALE_DATA_DIR"), path("elsewhere")); // it is there, not here
        } else {
            arguments << QStringLiteral("--data-dir") << path("data");
        }
        const Import imported(arguments, environment);
        QVERIFY2(imported.code == 0, imported.err.constData());
        const QString id = imported.document[QLatin1String("capsules")][0][QLatin1String("run")].toString();
        QCOMPARE(id, QStringLiteral("abc123"));

        // Nobody tells the window but the store.
        QTRY_COMPARE(desktop.archived().size(), std::size_t { 1 });
        QCOMPARE(QString::fromStdString(desktop.archived().front().id), id);
        desktop.window->driver()->openById(id);
        QTRY_VERIFY(desktop.window->state()->catalog());
        QCOMPARE(desktop.window->state()->fullRange().last, Step { 39 });
    }

    void aSpoolThatIsImportedBesideAWindowLivesInIt()
    {
        constexpr std::int64_t kSteps = 120;
        AgentDriver::Setup setup;
        setup.mode = "offline";
        setup.runId = "run";
        setup.spoolDir = path("spool").toStdString();
        {
            AgentDriver driver(setup);
            QVERIFY2(driver.agent(), driver.error().c_str());
            for (std::int64_t i = 0; i < kSteps; ++i) {
                while (!driver.step(i))
                    QTest::qWait(1);
            }
            driver.close();
        }
        OpenDesktop desktop(path("data"), "127.0.0.1:0");
        const Import imported({ path("spool"), QStringLiteral("--data-dir"), path("data") });
        QVERIFY2(imported.code == 0, imported.err.constData());
        const QJsonValue stream = imported.document[QLatin1String("streams")][0];
        QVERIFY(stream[QLatin1String("delivered")].toBool());

        // It opens by itself, as any run that begins.
        QTRY_VERIFY(desktop.window->state()->catalog());
        QCOMPARE(QString::fromStdString(desktop.window->state()->run()->id), stream[QLatin1String("run")].toString());
        QTRY_COMPARE(desktop.window->state()->fullRange().last, Step { kSteps - 1 });
        QTRY_COMPARE(desktop.archived().size(), std::size_t { 1 }); // its process had said that it was finished
        QCOMPARE(desktop.archived().front().state, store::RunState::Finished);
    }

private:
    QString path(const char* name) const { return m_dir->filePath(QLatin1String(name)); }

    std::unique_ptr<QTemporaryDir> m_dir;
};

QTEST_MAIN(ImportTest)
#include "importtest.moc"
