// SPDX-License-Identifier: GPL-3.0-or-later
// The dashboard is killed with SIGKILL again and again while a real training run streams into it.
#include <algorithm>
#include <csignal>
#include <set>
#include <vector>

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTcpSocket>
#include <QTemporaryDir>
#include <QtTest>

#include <telltale/store/archive.h>
#include <telltale/store/runreader.h>

using namespace telltale;

namespace {

constexpr int kKills = 10;
/// The training is told to end after the last kill and has not come this far by then.
constexpr int kMoreSteps = 1'000'000;

QString binary(const char* name)
{
    return QDir(QCoreApplication::applicationDirPath())
        .absoluteFilePath(QStringLiteral("../bin/") + QLatin1String(name));
}

QByteArray contents(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// Median of a --step-times file, microseconds.
double medianStep(const QString& path)
{
    std::vector<double> times;
    for (const QByteArray& line : contents(path).trimmed().split('\n'))
        times.push_back(line.toDouble());
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    return times[times.size() / 2];
}

/// A program that does not outlive the test, however that ends.
struct Program : QProcess {
    Program() { setProcessChannelMode(ForwardedErrorChannel); }
    ~Program() override
    {
        kill();
        waitForFinished();
    }
};

/// One life of the dashboard: `telltale serve`, which prints its join string, or the window.
std::unique_ptr<Program> startServer(const QString& dataDir, const QString& listen, bool asWindow = false)
{
    auto server = std::make_unique<Program>();
    auto environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("XDG_CONFIG_HOME"), dataDir + QStringLiteral("/settings"));
    server->setProcessEnvironment(environment);
    QStringList arguments { QStringLiteral("--data-dir"), dataDir, QStringLiteral("--listen"), listen };
    if (!asWindow)
        arguments.prepend(QStringLiteral("serve"));
    server->start(binary("telltale"), arguments);
    return server;
}

/// Waits until somebody answers at HOST:PORT.
bool answers(const QString& listen)
{
    const auto colon = listen.lastIndexOf(QLatin1Char(':'));
    QElapsedTimer clock;
    clock.start();
    while (clock.elapsed() < 30'000) {
        QTcpSocket socket;
        socket.connectToHost(listen.left(colon), static_cast<quint16>(listen.mid(colon + 1).toUInt()));
        if (socket.waitForConnected(1000))
            return true;
        QTest::qWait(20);
    }
    return false;
}

QString joinOf(QProcess& server)
{
    while (!server.canReadLine()) {
        if (!server.waitForReadyRead(20'000))
            return {};
    }
    return QString::fromUtf8(server.readLine()).trimmed();
}

}

class KillTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void tenKillsLoseNothingAndChangeNothing_data()
    {
        QTest::addColumn<bool>("asWindow");
        QTest::newRow("serve") << false;
        QTest::newRow("the window") << true;
    }

    void tenKillsLoseNothingAndChangeNothing()
    {
        QFETCH(bool, asWindow);
        const QTemporaryDir dir;
        const QString dataDir = dir.filePath(QStringLiteral("data"));
        const QString stepTimes = dir.filePath(QStringLiteral("steps.txt"));
        const QStringList common { QStringLiteral("--seed"), QStringLiteral("3"), QStringLiteral("--layers"),
            QStringLiteral("2"), QStringLiteral("--width"), QStringLiteral("64"), QStringLiteral("--schedule"),
            QStringLiteral("constant"), QStringLiteral("--step-times"), stepTimes, QStringLiteral("--steps") };

        auto server = startServer(dataDir, QStringLiteral("127.0.0.1:0"));
        const QString join = joinOf(*server);
        QVERIFY2(join.startsWith(QLatin1String("telltale://")), "the first line is the join string");
        const QString listen = join.mid(11, join.indexOf(QLatin1Char('#')) - 11);

        Program trainer;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("TELLTALE_JOIN"), join);
        environment.insert(QStringLiteral("TELLTALE_RUN_ID"), QStringLiteral("kill-test"));
        environment.insert(QStringLiteral("TELLTALE_DIR"), dir.filePath(QStringLiteral("spool")));
        trainer.setProcessEnvironment(environment);
        const QString monitored = dir.filePath(QStringLiteral("monitored.bin"));
        trainer.start(binary("telltale-demo-trainer"),
            common + QStringList { QString::number(kMoreSteps), QStringLiteral("--weights-out"), monitored });
        QVERIFY(trainer.waitForStarted());

        for (int kills = 0; kills < kKills; ++kills) {
            // Different moments of a server's life: just started, replaying, in the middle of a commit.
            trainer.waitForFinished(150 + 120 * (kills % 5));
            ::kill(static_cast<pid_t>(server->processId()), SIGKILL);
            server->waitForFinished();
            server = startServer(dataDir, listen, asWindow);
            if (asWindow)
                QVERIFY2(answers(listen), "the window takes agents again");
            else
                QCOMPARE(joinOf(*server), join);
        }
        trainer.terminate();
        QVERIFY(trainer.state() == QProcess::NotRunning || trainer.waitForFinished(240'000));
        QCOMPARE(trainer.exitStatus(), QProcess::NormalExit);
        QCOMPARE(trainer.exitCode(), 0);
        const QJsonObject summary
            = QJsonDocument::fromJson(trainer.readAllStandardOutput().trimmed().split('\n').last()).object();
        const double produced = summary.value(QLatin1String("produced")).toDouble();
        QVERIFY(produced > 0);
        QCOMPARE(summary.value(QLatin1String("dropped")).toDouble(), 0.0);
        const int steps = summary.value(QLatin1String("steps")).toInt();
        QVERIFY2(steps > kKills && steps < kMoreSteps, qPrintable(QString::number(steps)));

        server->terminate();
        QVERIFY(server->waitForFinished(20'000));
        QCOMPARE(server->exitCode(), 0);

        verifyCapsule(dataDir, produced, steps);

        // The same training without any agent ends in the same bits.
        const QString bare = dir.filePath(QStringLiteral("bare.bin"));
        const double monitoredStep = medianStep(stepTimes);
        train(common
            + QStringList {
                QString::number(steps), QStringLiteral("--no-agent"), QStringLiteral("--weights-out"), bare });
        qInfo("%d steps; median step %.2f ms with everything monitored and %d kills, %.2f ms bare", steps,
            monitoredStep / 1000, kKills, medianStep(stepTimes) / 1000);
        QVERIFY(!contents(bare).isEmpty());
        QVERIFY(contents(bare) == contents(monitored));
    }

private:
    static void train(const QStringList& arguments)
    {
        Program trainer;
        trainer.start(binary("telltale-demo-trainer"), arguments);
        QVERIFY(trainer.waitForFinished(240'000));
        QCOMPARE(trainer.exitCode(), 0);
    }

    /// Every series has every step once, and all together are what the agent produced.
    static void verifyCapsule(const QString& dataDir, double produced, int trained)
    {
        const auto runs = store::listRuns(dataDir.toStdString());
        QCOMPARE(runs.size(), std::size_t(1));
        const auto report = store::verifyRun(runs.front().locator);
        QVERIFY(report && report->problems.empty());
        store::RunHandle handle;
        handle.locator = runs.front().locator;
        const auto reader = store::openReader(handle);
        QVERIFY(reader);
        const auto catalog = (*reader)->catalog();
        QVERIFY(catalog);
        QCOMPARE((*catalog)->steps.count(), trained);
        const auto drops = store::readWholeLog(**reader, { "drop", {}, {} });
        QVERIFY(drops && drops->empty());
        double samples = 0;
        for (const auto& info : (*catalog)->series) {
            for (const auto& group : (*catalog)->groups) {
                if (group.id != info.group || info.kind == Kind::Scalar)
                    continue;
                for (const Stat stat : group.stats) {
                    if (stat == Stat::PosInfs || stat == Stat::NegInfs)
                        continue;
                    std::set<std::int64_t> steps;
                    bool once = true;
                    const auto done
                        = (*reader)->raw({ info.id }, stat, (*catalog)->steps, [&](const series::RawValue& value) {
                              if (value.state != series::CellState::NotCollected)
                                  once = steps.insert(value.step.value).second && once;
                              return true;
                          });
                    QVERIFY(done);
                    QVERIFY2(once, "a step is stored twice");
                    samples += static_cast<double>(steps.size()) * group.bins(); // each of a histogram is a sample
                }
            }
        }
        QCOMPARE(samples, produced);
    }
};

QTEST_GUILESS_MAIN(KillTest)
#include "killtest.moc"
