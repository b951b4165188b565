// SPDX-License-Identifier: GPL-3.0-or-later
#include <QDir>
#include <QFile>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <QtTest>

#include <atomic>
#include <condition_variable>
#include <mutex>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "torchtraining.h"

using namespace telltale;

namespace {

constexpr const char* kStart
    = "{\n  // what we watch\n  \"dynamic_on\": true,\n  \"wg_distribution\": true, // why\n}\n";

/// A disk that hangs. Thread: any.
struct Disk {
    std::mutex mutex;
    std::condition_variable changed;
    bool isHung = false;
    int waiting = 0;
    std::function<void()> beforeSync {};

    /// called: before each sync from now on.
    void hang(bool hangs, std::function<void()> called = {})
    {
        const std::lock_guard lock(mutex);
        isHung = hangs;
        beforeSync = std::move(called);
        changed.notify_all();
    }
    void sync()
    {
        std::unique_lock lock(mutex);
        ++waiting;
        changed.notify_all();
        changed.wait(lock, [this] { return !isHung; });
        --waiting;
        if (beforeSync)
            beforeSync();
    }
    bool awaitSync()
    {
        std::unique_lock lock(mutex);
        return changed.wait_for(lock, std::chrono::seconds(20), [this] { return waiting > 0; });
    }
} disk;

std::size_t told(const Training& training, std::uint64_t rev, const std::string& why = {})
{
    const auto said = training.sink.inForce();
    return static_cast<std::size_t>(
        std::count_if(said.begin(), said.end(), [&](const auto& one) { return one.rev == rev && one.why == why; }));
}

std::string withDigits(int digits)
{
    return R"({"dynamic_on": true, "wg_distribution": true, "ndigits": )" + std::to_string(digits) + "}";
}

}

extern "C" int fsync(int file)
{
    disk.sync();
    return static_cast<int>(::syscall(SYS_fsync, file));
}

/// TrainerMon of LibTorch and the job's config file.
class TorchConfigFileTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_path = m_folder->filePath(QStringLiteral("config.json"));
        put(kStart);
    }
    void cleanup()
    {
        for (const char* name : { "DYNAMIC_MONITOR", "LOCAL_RANK", "LOCAL_WORLD_SIZE" })
            qunsetenv(name);
    }

    void dynamicModeStartsChangesStopsAndRestarts()
    {
        qputenv("DYNAMIC_MONITOR", "True");
        put(R"({"dynamic_on": false, "wg_distribution": true})");
        Training t(path());
        t.run(2); // not started
        put("// later\n{\"dynamic_on\": true, \"wg_distribution\": true, \"collect_times\": 100}");
        QVERIFY(t.monitor->lookAtConfigNow());
        t.run(3); // from the step after the one in which it was seen: 3, 4
        put("{\"dynamic_on\": true, \"param_distribution\": true, \"collect_times\": 2, // why\n}");
        QVERIFY(t.monitor->lookAtConfigNow());
        t.run(4); // 5 is under the old one; 6 and 7; then it has ended
        QCOMPARE(t.steps(Kind::GradReduced, 9), range(3, 6));
        QCOMPARE(t.steps(Kind::ParamOrigin, 9), range(6, 8));
        QVERIFY(t.monitor->lookAtConfigNow() && t.monitor->lookAtConfigNow());
        const QByteArray written = text();
        QVERIFY2(written.contains("\"dynamic_on\": false") && written.contains("// why"), written.constData());
        put("{\"dynamic_on\": tr"); // half of it
        QVERIFY(t.monitor->lookAtConfigNow());
        t.run(1);
        QVERIFY(t.sink.events.back().find("stays so") != std::string::npos);
        put(R"({"dynamic_on": true, "wg_distribution": true})"); // again
        QVERIFY(t.monitor->lookAtConfigNow());
        t.run(3); // 10 under nothing, 11, 12
        put(R"({"dynamic_on": false, "wg_distribution": true})");
        QVERIFY(t.monitor->lookAtConfigNow());
        t.run(3); // 13 is the last
        QCOMPARE(t.steps(Kind::GradReduced, 16), (std::vector<std::int64_t> { 3, 4, 5, 11, 12, 13 }));
        QCOMPARE(t.hooks().first, std::size_t { 0 });
        QCOMPARE(t.sink.inForce().back().why, std::string("config.json was edited"));
        QVERIFY(!config::parseMonitorConfig(t.sink.inForce().back().json)->config.dynamicOn);
    }

    void whatIsAppliedIsWrittenToTheJobsFile()
    {
        put("{\n  // what we watch\n  \"wg_distribution\": true\n}\n");
        {
            Training t(path());
            t.push(1, 1, R"({"dynamic_on": true, "wg_distribution": true, "step_interval": 5})");
            t.push(2, 2, R"({"dynamic_on": true, "wg_distribution": true, "step_interval": 6})");
            t.run(2);
            QTRY_COMPARE(told(t, 1), std::size_t { 1 });
            t.run(1);
        }
        const QByteArray written = text();
        QVERIFY2(written.contains("// what we watch") && written.contains("\"step_interval\": 6"), written.constData());
    }

    void anEditIsSeenWhileADashboardIsThere_data()
    {
        QTest::addColumn<QByteArray>("start");
        QTest::newRow("switched on") << QByteArray(kStart);
        QTest::newRow("without the switch") << QByteArray(kStart).replace("\"dynamic_on\": true,", "");
    }
    void anEditIsSeenWhileADashboardIsThere()
    {
        QFETCH(const QByteArray, start);
        put(start);
        auto t = std::make_unique<Training>(path());
        t->sink.isServerThere = true;
        t->run(2);
        put(QByteArray(start).replace("}", "\"param_distribution\": true, \"collect_times\": 4\n}"));
        QVERIFY(t->monitor->lookAtConfigNow());
        t->run(2); // 2 is under the old one
        QCOMPARE(told(*t, 0, "config.json was edited"), std::size_t { 1 });
        const auto said = t->sink.inForce().back();
        QCOMPARE(said.step, std::int64_t { 3 });
        const auto edited = config::parseMonitorConfig(said.json)->config;
        QVERIFY(edited.dynamicOn && edited.paramDistribution);
        // The dashboard makes a revision of it for all ranks: what runs here goes on, and collects no more for it.
        t->push(5, 1, said.json);
        t->run(1);
        QTRY_COMPARE(told(*t, 1), std::size_t { 1 });
        t->run(4);
        QCOMPARE(told(*t, 1, "collect_times is reached"), std::size_t { 1 });
        QCOMPARE(t->steps(Kind::ParamOrigin, 9), range(3, 7));
        QCOMPARE(t->steps(Kind::GradReduced, 9), range(0, 7));
        t.reset();
        QVERIFY2(text().contains("\"dynamic_on\": false") && text().contains("// why"), text().constData());
    }

    void aFileThatSaysNothingOfTheSwitchGoesOnAsBefore_data()
    {
        QTest::addColumn<bool>("isDynamic");
        QTest::newRow("dynamic") << true;
        QTest::newRow("steered") << false;
    }
    void aFileThatSaysNothingOfTheSwitchGoesOnAsBefore()
    {
        QFETCH(const bool, isDynamic);
        if (isDynamic)
            qputenv("DYNAMIC_MONITOR", "True");
        put(isDynamic ? kStart : R"({"wg_distribution": true})");
        Training t(path());
        t.sink.isServerThere = !isDynamic;
        const int first = isDynamic ? 1 : 0; // hooks of one step collect from the next
        const auto edit = [&](const QByteArray& fields) {
            put("{\"wg_distribution\": true, // \"dynamic_on\": false\n" + fields + "}");
            QVERIFY(t.monitor->lookAtConfigNow());
            t.run(2);
        };
        for (const char* digits : { "3", "4", "5" })
            edit(QByteArray("\"ndigits\": ") + digits);
        QCOMPARE(t.steps(Kind::GradReduced, 6), range(first, 6));
        edit("\"dynamic_on\": false");
        edit("\"ndigits\": 6"); // what is off stays so, too
        QCOMPARE(t.steps(Kind::GradReduced, 10), range(first, 7));
        edit("\"dynamic_on\": true");
        edit("\"collect_times\": 0");
        auto all = range(first, 7);
        all.insert(all.end(), { 11, 12 });
        QCOMPARE(t.steps(Kind::GradReduced, 14), all);
    }

    void anEditCountsItsStepsAsRanksThatGetItByTheDashboardDo_data()
    {
        aFileThatSaysNothingOfTheSwitchGoesOnAsBefore_data();
    }
    void anEditCountsItsStepsAsRanksThatGetItByTheDashboardDo()
    {
        QFETCH(const bool, isDynamic);
        qputenv("DYNAMIC_MONITOR", "True");
        const std::string wanted = R"({"dynamic_on": true, "param_distribution": true, "step_interval": 5})";
        Training t(path());
        t.sink.isServerThere = !isDynamic;
        t.run(3);
        put(wanted.c_str());
        QVERIFY(t.monitor->lookAtConfigNow());
        t.run(13);
        // Where nobody else gets it, from the edit on, as documented for DYNAMIC_MONITOR.
        const std::int64_t first = isDynamic ? 4 : 5;
        QCOMPARE(t.steps(Kind::ParamOrigin, 16), (std::vector<std::int64_t> { first, first + 5, first + 10 }));
        put(kStart);
        Training other(path());
        other.push(6, 1, wanted);
        other.run(16);
        QCOMPARE(other.steps(Kind::ParamOrigin, 16), (std::vector<std::int64_t> { 10, 15 }));
    }

    void withoutADashboardAndDynamicModeNobodyLooks()
    {
        Training t(path());
        put(R"({"dynamic_on": false})");
        QVERIFY(t.monitor->lookAtConfigNow());
        t.run(3);
        QCOMPARE(t.steps(Kind::GradReduced, 3), range(0, 3));
        t.sink.isServerThere = true; // who comes is told of what was missed
        QVERIFY(t.monitor->lookAtConfigNow());
        t.run(2);
        QCOMPARE(t.steps(Kind::GradReduced, 5), range(0, 4));
        QCOMPARE(told(t, 0, "config.json was edited"), std::size_t { 1 });
    }

    void theAnswerComesOnceTheFileIsWritten()
    {
        Training t(path());
        const auto release = qScopeGuard([] { disk.hang(false); });
        disk.hang(true);
        t.push(1, 1, withDigits(3));
        t.run(1);
        QVERIFY(disk.awaitSync());
        t.run(20); // a disk that hangs holds up no step
        QCOMPARE(told(t, 1), std::size_t { 0 });
        disk.hang(false);
        QTRY_COMPARE(told(t, 1), std::size_t { 1 });
        QVERIFY(text().contains("\"ndigits\": 3"));
        QCOMPARE(t.sink.inForce().back().step, std::int64_t { 1 });
    }

    void whatWasWrittenLateIsNoEdit_data()
    {
        QTest::addColumn<bool>("isDynamic");
        QTest::newRow("looked at") << true;
        QTest::newRow("steered") << false;
    }
    void whatWasWrittenLateIsNoEdit()
    {
        QFETCH(const bool, isDynamic);
        if (isDynamic)
            qputenv("DYNAMIC_MONITOR", "True");
        Training t(path());
        t.sink.isServerThere = !isDynamic;
        std::vector<std::size_t> answers; // before each sync: of the first file and its folder, of the second
        const auto release = qScopeGuard([] { disk.hang(false); });
        disk.hang(true);
        t.push(1, 1, withDigits(3));
        t.run(1);
        QVERIFY(disk.awaitSync());
        // The dashboard hears of it all the same, and of the next one not before its own file is there.
        QTRY_VERIFY((t.run(), told(t, 1) == 1));
        t.push(t.monitor->stepNumber() + 1, 2, withDigits(4));
        t.run(1);
        disk.hang(false, [&] { answers.push_back(told(t, 2)); });
        QTRY_COMPARE(told(t, 2), std::size_t { 1 });
        QVERIFY(text().contains("\"ndigits\": 4"));
        QVERIFY(answers.size() > 2 && answers[2] == 0);
        for (int i = 0; i < 2; ++i) {
            QVERIFY(t.monitor->lookAtConfigNow());
            t.run();
        }
        QCOMPARE(t.sink.inForce().size(), std::size_t { 3 }); // of the start, and the two
        // What was written is an edit once somebody else puts it there again.
        const QByteArray ours = text();
        put(kStart);
        QVERIFY(t.monitor->lookAtConfigNow());
        t.run();
        put(ours);
        QVERIFY(t.monitor->lookAtConfigNow());
        t.run();
        QCOMPARE(told(t, 0, "config.json was edited"), std::size_t { 2 });
    }

    void oneRankOfANodeWritesTheFile_data()
    {
        QTest::addColumn<int>("rank");
        QTest::addColumn<QByteArray>("ranks");
        QTest::addColumn<bool>("isWriter");
        QTest::newRow("the first") << 4 << QByteArray("[]") << true;
        QTest::newRow("another") << 5 << QByteArray("[]") << false;
        QTest::newRow("the lowest that collects") << 5 << QByteArray("[0, 5]") << true;
        QTest::newRow("one that does not collect") << 4 << QByteArray("[0, 5]") << false;
        QTest::newRow("the first where none does") << 4 << QByteArray("[0]") << true;
        QTest::newRow("another where none does") << 5 << QByteArray("[0]") << false;
    }
    void oneRankOfANodeWritesTheFile()
    {
        QFETCH(const int, rank);
        QFETCH(const QByteArray, ranks);
        QFETCH(const bool, isWriter);
        qputenv("LOCAL_RANK", QByteArray::number(rank - 4));
        qputenv("LOCAL_WORLD_SIZE", "2");
        {
            Training t(path(), rank);
            t.push(1, 1, R"({"dynamic_on": true, "ndigits": 3, "module_ranks": )" + ranks.toStdString() + "}");
            t.run(2);
            QTRY_COMPARE(told(t, 1), std::size_t { 1 });
        }
        QCOMPARE(text() != kStart, isWriter);
    }

    void whatAnotherRankWroteIsNoEdit()
    {
        qputenv("LOCAL_RANK", "1");
        qputenv("LOCAL_WORLD_SIZE", "2");
        Training t(path(), 1);
        t.sink.isServerThere = true;
        put(withDigits(3).c_str()); // of a config that this rank has not been asked for
        QVERIFY(t.monitor->lookAtConfigNow());
        t.run(2);
        QCOMPARE(t.sink.inForce().size(), std::size_t { 1 });
        // What no dashboard may change, each takes from the file.
        put(R"({"dynamic_on": true, "wg_distribution": true, "ndigits": 3, "telltale": {"stop_after_struct": true}})");
        QVERIFY(t.monitor->lookAtConfigNow());
        t.run(2);
        QCOMPARE(told(t, 0, "config.json was edited"), std::size_t { 1 });
    }

    void leftoversOfDeadWritersGoAndNothingElse()
    {
        const pid_t dead = ::fork();
        if (dead == 0)
            ::_exit(0);
        QCOMPARE(::waitpid(dead, nullptr, 0), dead);
        QFile boot(QStringLiteral("/proc/sys/kernel/random/boot_id"));
        QVERIFY(boot.open(QFile::ReadOnly));
        struct stat space { };
        QCOMPARE(::stat("/proc/self/ns/pid", &space), 0);
        const auto here = boot.readLine().left(8) + '-' + QByteArray::number(qulonglong(space.st_ino));
        const QByteArray elsewhere = "00000000-4026531836";
        const auto name = [](const QByteArray& place, qint64 writer, const QByteArray& end) {
            return ".config.json.telltale-" + place + '-' + QByteArray::number(writer) + '-' + end;
        };
        const auto make = [this](const QByteArray& leftover, int age = 0) {
            QFile file(m_folder->filePath(QString::fromLatin1(leftover)));
            return file.open(QFile::WriteOnly) && file.write("{") == 1 && file.flush()
                && file.setFileTime(QDateTime::currentDateTime().addSecs(-age), QFile::FileModificationTime);
        };
        // Of this agent and of the one for Python; of who cannot be asked, old ones.
        for (const auto& gone : { name(here, dead, "aBc123"), name(here, dead, "a_c12345") })
            QVERIFY(make(gone));
        QVERIFY(make(name(elsewhere, dead, "oldone"), 3700) && make(name(here, 1, "oldone"), 3700));
        QStringList stay { QStringLiteral("config.json") };
        for (const auto& one :
            { name(here, ::getpid(), "living"), name(here, 1, "living"), name(elsewhere, dead, "aBc123") }) {
            QVERIFY(make(one));
            stay << QString::fromLatin1(one);
        }
        // What others have there, however old it is.
        for (const QByteArray& others : { QByteArray(".config.json.swp"), QByteArray(".config.json.aBc123"),
                 QByteArray(".config.json.telltale-notes"), name(here, dead, "aBc123.bak"), name(here, dead, "aBc12-3"),
                 name(here, dead, "ol.txt"), name("0000000g-1", dead, "aBc123"), "x" + name(here, dead, "aBc123"),
                 name(here, dead, "aBc123").replace("config", "other") }) {
            QVERIFY(make(others, 100'000));
            stay << QString::fromLatin1(others);
        }
        const auto there = [this] { return QDir(m_folder->path()).entryList(QDir::Files | QDir::Hidden); };
        stay.sort();
        const auto sorted = [](QStringList names) {
            names.sort();
            return names;
        };
        Training t(path()); // at the start
        QVERIFY(t.monitor->lookAtConfigNow());
        QCOMPARE(sorted(there()), stay);
        QVERIFY(make(name(here, dead, "again1"))); // and before another is made
        t.push(1, 1, withDigits(3));
        t.run(1);
        QTRY_COMPARE(told(t, 1), std::size_t { 1 });
        QCOMPARE(sorted(there()), stay);
    }

    void weightsAreBitwiseTheSameWithEditsAndWrites()
    {
        Training steered(path());
        steered.sink.isServerThere = true;
        for (int step = 0; step < 60; step += 6) {
            put("{\"dynamic_on\": true, \"xy_distribution\": true, \"ndigits\": " + QByteArray::number(step / 6 + 1)
                + "}");
            QVERIFY(steered.monitor->lookAtConfigNow());
            steered.push(step + 3, static_cast<std::uint64_t>(step / 6 + 1), withDigits(step / 6 + 1));
            steered.run(6);
            // Whether the file is written before the next edit or after it, it may not replace the edit.
            QTRY_COMPARE(told(steered, static_cast<std::uint64_t>(step / 6 + 1)), std::size_t { 1 });
        }
        Training bare("");
        bare.run(60);
        QVERIFY(bitwiseEqual(*bare.model, *steered.model));
        QCOMPARE(told(steered, 0, "config.json was edited"), std::size_t { 10 });
        QCOMPARE(steered.monitor->internalErrors(), std::uint64_t { 0 });
    }

private:
    std::string path() const { return m_path.toStdString(); }
    QByteArray text() const
    {
        QFile file(m_path);
        return file.open(QFile::ReadOnly) ? file.readAll() : QByteArray();
    }
    /// As editors save: who looks in between must not find half of it.
    void put(const QByteArray& text) const
    {
        QFile file(m_path + QStringLiteral(".new"));
        QVERIFY(file.open(QFile::WriteOnly));
        file.write(text);
        file.close();
        QCOMPARE(::rename(qPrintable(file.fileName()), qPrintable(m_path)), 0);
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    QString m_path;
};

QTEST_GUILESS_MAIN(TorchConfigFileTest)
#include "torchconfigfiletest.moc"
