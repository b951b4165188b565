// SPDX-License-Identifier: GPL-3.0-or-later
// What is recorded is for its owner's eyes only, under a umask that would show everything and in folders that stood
// open before. The real program, a real agent.
#include <QDir>
#include <QDirIterator>
#include <QFileInfo>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <sys/stat.h>

#include "../capture/agentdriver.h"
#include "sourcepath.h"

using telltale::test::AgentDriver;

namespace {

QString program()
{
    return QDir(QCoreApplication::applicationDirPath()).absoluteFilePath(QStringLiteral("../bin/telltale"));
}

/// Of everything in the folder, how it stands open: paths with their modes.
QStringList openTo(const QString& folder, mode_t bits)
{
    QStringList out;
    QDirIterator entries(folder, QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot, QDirIterator::Subdirectories);
    while (entries.hasNext()) {
        struct stat info { };
        const QByteArray path = QFile::encodeName(entries.next());
        if (::lstat(path.constData(), &info) == 0 && (info.st_mode & bits) != 0)
            out.append(QString::fromUtf8(path) + QStringLiteral(" ") + QString::number(info.st_mode & 07777, 8));
    }
    return out;
}

mode_t modeOf(const QString& path)
{
    struct stat info { };
    return ::stat(QFile::encodeName(path).constData(), &info) == 0 ? info.st_mode & 07777 : 0;
}

/// `telltale serve` under a umask of 000, for as long as it lives.
struct Served {
    QProcess process;
    QByteArray join;

    bool start(const QString& dataDir)
    {
        process.start(QStringLiteral("/bin/sh"),
            { QStringLiteral("-c"), QStringLiteral("umask 000; exec \"$0\" serve --data-dir \"$1\" --listen 0.0.0.0:0"),
                program(), dataDir });
        if (!process.waitForReadyRead(20'000))
            return false;
        join = process.readLine().trimmed();
        return join.startsWith("telltale://");
    }
    ~Served()
    {
        process.terminate();
        process.waitForFinished(20'000);
    }
};

}

class PrivacyTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void runsLogsKeysAndSpoolsAreTheirOwnersAlone_data()
    {
        QTest::addColumn<QStringList>("folders"); // that stand open before
        QTest::newRow("no folder yet") << QStringList {};
        QTest::newRow("an open data directory") << QStringList { QStringLiteral("data") };
        QTest::newRow("open folders in it")
            << QStringList { QStringLiteral("data"), QStringLiteral("data/runs"), QStringLiteral("data/server") };
    }
    void runsLogsKeysAndSpoolsAreTheirOwnersAlone()
    {
        QFETCH(QStringList, folders);
        const QTemporaryDir dir;
        for (const QString& folder : folders) {
            QVERIFY(QDir(dir.path()).mkdir(folder));
            QCOMPARE(::chmod(QFile::encodeName(dir.filePath(folder)).constData(), 0755), 0);
        }
        const QString data = dir.filePath(QStringLiteral("data"));
        Served served;
        QVERIFY(served.start(data));
        AgentDriver::Setup setup;
        setup.join = served.join.toStdString();
        setup.join.replace(11, setup.join.rfind(':', setup.join.find('#')) - 11, "127.0.0.1");
        setup.spoolDir = dir.filePath(QStringLiteral("spool")).toStdString();
        AgentDriver driver(setup);
        QVERIFY2(driver.agent(), driver.error().c_str());
        for (std::int64_t step = 0; step < 20; ++step)
            driver.step(step);
        QVERIFY2(tt_agent_flush(driver.agent(), 20'000) == 1, tt_agent_last_error(driver.agent()));
        // While it records: the capsule has its log beside it.
        QVERIFY(!QDir(data + QStringLiteral("/runs")).entryList({ QStringLiteral("*.telltale-wal") }).isEmpty());
        QCOMPARE(openTo(data, 077).join(QLatin1Char('\n')), QString());
        QCOMPARE(modeOf(data), mode_t { 0700 });
        QVERIFY(QFileInfo::exists(data + QStringLiteral("/server/key.pem")));
        QVERIFY(driver.close());
    }

    void aFolderThatHoldsOtherThingsKeepsItsRights()
    {
        const QTemporaryDir dir;
        QCOMPARE(::chmod(QFile::encodeName(dir.path()).constData(), 0755), 0);
        QFile other(dir.filePath(QStringLiteral("thesis.txt")));
        QVERIFY(other.open(QIODevice::WriteOnly));
        other.close();
        QCOMPARE(::chmod(QFile::encodeName(other.fileName()).constData(), 0644), 0);
        Served served;
        QVERIFY(served.start(dir.path()));
        QCOMPARE(modeOf(dir.path()), mode_t { 0755 });
        QCOMPARE(modeOf(other.fileName()), mode_t { 0644 });
        for (const char* ours : { "runs", "server" })
            QCOMPARE(modeOf(dir.filePath(QLatin1String(ours))), mode_t { 0700 });
        QCOMPARE(modeOf(dir.filePath(QStringLiteral("lock"))), mode_t { 0600 });
    }

    void aFolderThatAnImportMakesIsItsOwnersAlone()
    {
        const QTemporaryDir dir;
        const QString run = QString::fromStdString(telltale::test::sourcePath("tests/data/v1/cpp-finished"));
        const QString capsule = QDir(run).entryInfoList({ QStringLiteral("*.telltale") }).value(0).filePath();
        QProcess import;
        import.start(QStringLiteral("/bin/sh"),
            { QStringLiteral("-c"), QStringLiteral("umask 000; exec \"$0\" import \"$1\" --data-dir \"$2\""), program(),
                capsule, dir.path() });
        QVERIFY(import.waitForFinished(20'000));
        QVERIFY2(import.exitCode() == 0, import.readAllStandardError().constData());
        QCOMPARE(modeOf(dir.filePath(QStringLiteral("runs"))), mode_t { 0700 });
    }

    void runsThatOthersCouldReadAreNarrowedAtTheNextStart()
    {
        const QTemporaryDir dir;
        const QString runs = dir.filePath(QStringLiteral("runs"));
        QVERIFY(QDir().mkpath(runs));
        const QString old = runs + QStringLiteral("/2024-01-01_old_01234567.telltale");
        QFile file(old);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.close();
        QCOMPARE(::chmod(QFile::encodeName(old).constData(), 0644), 0);
        QCOMPARE(::chmod(QFile::encodeName(runs).constData(), 0755), 0);
        Served served;
        QVERIFY(served.start(dir.path()));
        QCOMPARE(modeOf(old), mode_t { 0600 });
        QCOMPARE(modeOf(runs), mode_t { 0700 });
    }
};

QTEST_GUILESS_MAIN(PrivacyTest)
#include "privacytest.moc"
