// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <csignal>
#include <filesystem>
#include <random>

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QProcess>
#include <QTemporaryDir>
#include <QThread>

#include <telltale/store/archive.h>

#include "killpattern.h"

namespace capsulekilltest {

using namespace telltale;
using namespace telltale::store;
using namespace telltale::store::test;

/// A process that records is killed at random moments, again and again, in the same data directory.
class CapsuleKillTest : public QObject {
    Q_OBJECT

private:
    static void checkContent(const std::string& path, std::uint64_t acked);

private Q_SLOTS:
    void everythingAckedIsThereOnceAfterKills();
    void aRunKilledAsItBeginsIsOneRun();
};

void CapsuleKillTest::checkContent(const std::string& path, std::uint64_t acked)
{
    const auto groups = readContent(path);
    QVERIFY(acked == 0 || groups.size() == 3);
    for (const auto& [id, group] : groups) {
        QVERIFY2(group.steps.size() >= acked * kKillSteps,
            qPrintable(QStringLiteral("%1 columns, %2 acked").arg(group.steps.size()).arg(acked * kKillSteps)));
        for (std::size_t column = 0; column < group.steps.size(); ++column) {
            // Steps are 0, 1, 2, ...: so none is missing and none is there twice.
            QCOMPARE(group.steps[column], static_cast<std::int64_t>(column));
            for (int lane = 0; lane < group.lanes; ++lane) {
                for (std::size_t s = 0; s < group.stats.size(); ++s) {
                    const double expected
                        = killValue(group.steps[column], static_cast<std::size_t>(group.firstPosition + lane), s);
                    if (group.at(s, lane, column) != expected)
                        QCOMPARE(group.at(s, lane, column), expected);
                }
            }
        }
    }
}

void CapsuleKillTest::everythingAckedIsThereOnceAfterKills()
{
    QTemporaryDir dir;
    const std::string data = dir.path().toStdString();
    std::mt19937 random(7);
    std::uint64_t acked = 0;
    for (int kill = 0; kill < 24; ++kill) {
        QProcess helper;
        helper.start(QCoreApplication::applicationDirPath() + QStringLiteral("/capsulekillhelper"), { dir.path() });
        QVERIFY(helper.waitForStarted());
        QVERIFY2(helper.waitForReadyRead(30000), helper.readAllStandardError().constData());
        QElapsedTimer timer;
        timer.start();
        const int life = static_cast<int>(random() % 180);
        while (timer.elapsed() < life)
            helper.waitForReadyRead(life - static_cast<int>(timer.elapsed()) + 1);
        ::kill(static_cast<pid_t>(helper.processId()), SIGKILL);
        helper.waitForFinished();
        std::uint64_t before = acked;
        for (const QByteArray& line : helper.readAllStandardOutput().split('\n')) {
            if (!line.isEmpty())
                acked = std::max<std::uint64_t>(acked, line.toULongLong());
        }
        QVERIFY(acked >= before);
        const auto runs = listRuns(data);
        QCOMPARE(runs.size(), std::size_t { 1 });
        checkContent(runs.front().locator.text(), acked);
        if (QTest::currentTestFailed())
            return;
    }
    QVERIFY(acked > 0);
    // The next start seals what the last kill left; the file is then one, and whole.
    {
        Recorder recorder(data);
    }
    const auto runs = listRuns(data);
    QCOMPARE(runs.front().state, RunState::Interrupted);
    QVERIFY(!std::filesystem::exists(runs.front().locator.text() + "-wal"));
    checkContent(runs.front().locator.text(), acked);
    const auto report = verifyRun(runs.front().locator);
    QVERIFY(report.has_value());
    QVERIFY2(report->problems.empty(), report->problems.empty() ? "" : report->problems.front().c_str());
}

void CapsuleKillTest::aRunKilledAsItBeginsIsOneRun()
{
    for (int life = 0; life < 40; ++life) {
        QTemporaryDir dir;
        const std::string data = dir.path().toStdString();
        QProcess helper;
        helper.start(QCoreApplication::applicationDirPath() + QStringLiteral("/capsulekillhelper"), { dir.path() });
        QVERIFY(helper.waitForStarted());
        // Until the data directory's lock is taken nothing begins; then a capsule takes some milliseconds to come.
        QElapsedTimer timer;
        timer.start();
        while (!std::filesystem::exists(data + "/lock") && timer.elapsed() < 30'000)
            QThread::usleep(200);
        QThread::usleep(static_cast<unsigned long>(life) * 500);
        ::kill(static_cast<pid_t>(helper.processId()), SIGKILL);
        helper.waitForFinished();
        QVERIFY2(listRuns(data).size() <= 1, qPrintable(QString::number(life)));
        {
            Recorder recorder(data);
            static_cast<void>(recorder.open(makeRequest("kill", 42)));
        }
        const auto runs = listRuns(data);
        QCOMPARE(runs.size(), std::size_t { 1 });
        const auto report = verifyRun(runs.front().locator);
        QVERIFY(report && report->problems.empty());
        for (const auto& entry : std::filesystem::directory_iterator(data + "/runs"))
            QCOMPARE(entry.path().string(), runs.front().locator.text());
    }
}

TELLTALE_TEST(QTEST_GUILESS_MAIN, CapsuleKillTest)

}

#include "capsulekilltest.moc"
