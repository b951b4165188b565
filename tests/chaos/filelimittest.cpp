// SPDX-License-Identifier: GPL-3.0-or-later
// A limit on the size of files (ulimit -f) meets the dashboard, or the training, in the middle of a run.
#include <QDir>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <sys/resource.h>

#include <telltale/store/archive.h>

using namespace telltale;

namespace {

constexpr rlim_t kServerBytes = 400 * 1024;
constexpr rlim_t kTrainerBytes = 64 * 1024;

QString binary(const char* name)
{
    return QDir(QCoreApplication::applicationDirPath())
        .absoluteFilePath(QStringLiteral("../bin/") + QLatin1String(name));
}

void limitFiles(QProcess& process, rlim_t bytes)
{
    process.setChildProcessModifier([bytes] {
        const rlimit limit { bytes, bytes };
        ::setrlimit(RLIMIT_FSIZE, &limit);
    });
}

}

class FileLimitTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void atItsLimitTheServerLivesAndTheSpoolKeepsEverything()
    {
        const QTemporaryDir dir;
        QProcess server;
        limitFiles(server, kServerBytes);
        server.start(binary("telltale"),
            { QStringLiteral("serve"), QStringLiteral("--data-dir"), dir.path(), QStringLiteral("--listen"),
                QStringLiteral("127.0.0.1:0") });
        while (!server.canReadLine())
            QVERIFY(server.waitForReadyRead(20'000));
        const QString join = QString::fromUtf8(server.readLine()).trimmed();

        const QString spool = dir.filePath(QStringLiteral("spool"));
        const QJsonObject summary = train(join, spool);
        const double produced = summary.value(QLatin1String("produced")).toDouble();
        QCOMPARE(summary.value(QLatin1String("dropped")).toDouble(-1), 0.0);
        QVERIFY(produced > 0);
        QVERIFY2(summary.value(QLatin1String("acked")).toDouble() < produced, "the limit must be met: lower it");
        QCOMPARE(server.state(), QProcess::Running);
        server.terminate();
        QVERIFY(server.waitForFinished(60'000));
        QCOMPARE(server.exitStatus(), QProcess::NormalExit);
        QCOMPARE(server.exitCode(), 0);
        const QByteArray said = server.readAllStandardError();
        QCOMPARE(said.count("ulimit -f"), 1);

        QProcess import;
        import.start(binary("telltale"),
            { QStringLiteral("import"), spool, QStringLiteral("--data-dir"), dir.path(), QStringLiteral("--json") });
        QVERIFY(import.waitForFinished(60'000));
        QCOMPARE(import.exitCode(), 0);
        const auto stream
            = QJsonDocument::fromJson(import.readAllStandardOutput()).object()[QLatin1String("streams")][0].toObject();
        QVERIFY(
            stream[QLatin1String("samples")].toDouble() >= produced - summary.value(QLatin1String("acked")).toDouble());
        const auto runs = store::listRuns(dir.path().toStdString());
        QCOMPARE(runs.size(), std::size_t { 1 });
        QCOMPARE(runs.front().missingBatches, std::uint64_t { 0 });
        const auto report = store::verifyRun(runs.front().locator);
        QVERIFY(report && report->problems.empty());
    }

    void atItsLimitTheTrainingGoesOnAndSaysWhy()
    {
        const QTemporaryDir dir;
        QByteArray said;
        train({}, dir.filePath(QStringLiteral("spool")), kTrainerBytes, &said);
        QVERIFY2(said.contains("File too large"), said.constData());
    }

private:
    /// A whole training; its summary.
    static QJsonObject train(const QString& join, const QString& spool, rlim_t limit = 0, QByteArray* said = nullptr)
    {
        QProcess trainer;
        auto environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("TELLTALE_JOIN"), join);
        if (join.isEmpty())
            environment.insert(QStringLiteral("TELLTALE_MODE"), QStringLiteral("offline"));
        environment.insert(QStringLiteral("TELLTALE_DIR"), spool);
        environment.insert(QStringLiteral("TELLTALE_RUN_ID"), QStringLiteral("limit"));
        trainer.setProcessEnvironment(environment);
        if (limit > 0)
            limitFiles(trainer, limit);
        trainer.start(binary("telltale-demo-trainer"),
            { QStringLiteral("--steps"), QStringLiteral("80"), QStringLiteral("--layers"), QStringLiteral("2"),
                QStringLiteral("--width"), QStringLiteral("32"), QStringLiteral("--heads"), QStringLiteral("2") });
        if (!trainer.waitForFinished(240'000))
            qFatal("the training does not end");
        if (trainer.exitStatus() != QProcess::NormalExit || trainer.exitCode() != 0)
            qFatal("the training died: %s", trainer.readAllStandardError().constData());
        if (said != nullptr)
            *said = trainer.readAllStandardError();
        return QJsonDocument::fromJson(trainer.readAllStandardOutput().trimmed().split('\n').last()).object();
    }
};

QTEST_GUILESS_MAIN(FileLimitTest)
#include "filelimittest.moc"
