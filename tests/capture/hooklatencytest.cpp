// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agentdriver.h"

#include <telltale/core/kinds.h>
#include <telltale/stats/stats.h>

using telltale::test::AgentDriver;

namespace {

constexpr int kCalls = 100'000;
constexpr int kEmptyBetween = 50; ///< calls that carry nothing, to one that carries a value
constexpr std::int64_t kUsual = 50'000; ///< ns, 99 of 100 calls
constexpr std::int64_t kLongest = 1'000'000; ///< ns
constexpr int kWaitMs = 20'000;

/// What the kernel says of this thread.
struct Usage {
    static Usage now()
    {
        rusage usage {};
        ::getrusage(RUSAGE_THREAD, &usage);
        timespec cpu {}; // the times of rusage move with the timer's tick alone
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
        return { cpu.tv_sec * 1'000'000'000 + cpu.tv_nsec, usage.ru_nvcsw, usage.ru_nivcsw };
    }

    std::int64_t cpuNs = 0;
    long voluntary = 0;
    long involuntary = 0;
};

std::int64_t nowNs()
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

struct Cost {
    std::int64_t p99 = 0;
    std::int64_t longest = 0; ///< without what involuntary switches explain
    std::int64_t longestOnTheWall = 0;
    int excused = 0;
    long voluntary = 0;
};

/// The wall time of each call; where the scheduler took the processor away inside one, the time that it ran.
template <typename Call> Cost costOf(Call call)
{
    std::vector<std::int64_t> times(kCalls, 1); // touched: no page fault while the clock runs
    Cost cost;
    Usage before = Usage::now();
    const long atStart = before.voluntary;
    for (int i = 0; i < kCalls; ++i) {
        const std::int64_t start = nowNs();
        call(i);
        std::int64_t took = nowNs() - start;
        const Usage after = Usage::now();
        cost.longestOnTheWall = std::max(cost.longestOnTheWall, took);
        if (took > kUsual && after.involuntary > before.involuntary) {
            took = std::min(took, after.cpuNs - before.cpuNs);
            ++cost.excused;
        }
        times[static_cast<std::size_t>(i)] = took;
        before = after;
    }
    cost.voluntary = before.voluntary - atStart;
    std::sort(times.begin(), times.end());
    cost.p99 = times[kCalls / 100 * 99];
    cost.longest = times.back();
    return cost;
}

/// `telltale serve` in a process of its own.
class Server {
public:
    explicit Server(const QString& folder)
    {
        m_process.start(QStringLiteral(TELLTALE_PROGRAM),
            { QStringLiteral("serve"), QStringLiteral("--data-dir"), folder, QStringLiteral("--listen"),
                QStringLiteral("127.0.0.1:0") });
        if (m_process.waitForReadyRead(kWaitMs))
            m_join = m_process.readLine().trimmed().toStdString();
    }
    ~Server()
    {
        signal(SIGCONT);
        m_process.kill();
        m_process.waitForFinished(kWaitMs);
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    const std::string& join() const { return m_join; }
    void signal(int number) { ::kill(static_cast<pid_t>(m_process.processId()), number); }
    void kill()
    {
        m_process.kill();
        m_process.waitForFinished(kWaitMs);
    }

private:
    QProcess m_process;
    std::string m_join;
};

/// A small file system of its own, gone at the end. Root alone may have one.
class Disk {
public:
    explicit Disk(const QString& folder)
        : m_folder(folder)
    {
        QDir().mkpath(folder);
    }
    ~Disk()
    {
        thaw();
        if (m_isMounted)
            ::umount2(qPrintable(m_folder), MNT_DETACH);
    }
    Disk(const Disk&) = delete;
    Disk& operator=(const Disk&) = delete;

    bool mountMemory(const char* size)
    {
        const std::string options = std::string("size=") + size;
        m_isMounted = ::mount("tmpfs", qPrintable(m_folder), "tmpfs", 0, options.c_str()) == 0;
        return m_isMounted;
    }
    bool mountImage(const QString& image)
    {
        QFile file(image);
        if (!file.open(QIODevice::WriteOnly) || !file.resize(16 << 20))
            return false;
        file.close();
        m_isMounted = run(QStringLiteral("mkfs.ext4"), { QStringLiteral("-q"), QStringLiteral("-F"), image })
            && run(QStringLiteral("mount"), { QStringLiteral("-o"), QStringLiteral("loop"), image, m_folder });
        return m_isMounted;
    }
    bool freeze()
    {
        m_fd = ::open(qPrintable(m_folder), O_RDONLY | O_CLOEXEC);
        return m_fd >= 0 && ::ioctl(m_fd, FIFREEZE, 0) == 0;
    }
    void thaw()
    {
        if (m_fd < 0)
            return;
        ::ioctl(m_fd, FITHAW, 0);
        ::close(std::exchange(m_fd, -1));
    }

private:
    static bool run(const QString& program, const QStringList& arguments)
    {
        QProcess process;
        process.setProcessChannelMode(QProcess::ForwardedChannels);
        auto environment = QProcessEnvironment::systemEnvironment();
        environment.insert(
            QStringLiteral("PATH"), environment.value(QStringLiteral("PATH")) + QStringLiteral(":/sbin:/usr/sbin"));
        process.setProcessEnvironment(environment);
        process.start(QStringLiteral("env"), QStringList { program } + arguments);
        return process.waitForFinished(kWaitMs) && process.exitCode() == 0;
    }

    const QString m_folder;
    bool m_isMounted = false;
    int m_fd = -1;
};

}

/// What the README says of hooks, as a training thread meets it: a step that carries nothing, begun and ended.
class HookLatencyTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        QSKIP("a sanitizer's own work is in every call");
#endif
    }

    void aHookIsShortWithTheServerUp()
    {
        const Place place;
        judge(*place.driver);
        place.driver->close();
    }

    void aHookIsShortWithTheServerDown()
    {
        const Place place;
        place.server->kill();
        judge(*place.driver);
    }

    void aHookIsShortWithTheServerStopped()
    {
        const Place place;
        place.server->signal(SIGSTOP);
        judge(*place.driver);
    }

    void aHookIsShortWithTheDiskFull()
    {
        QTemporaryDir folder;
        Disk disk(folder.filePath(QStringLiteral("disk")));
        if (!disk.mountMemory("256k"))
            QSKIP("only root may mount the small disk that this needs");
        const Place place(folder.filePath(QStringLiteral("disk")));
        place.server->kill();
        spool(*place.driver);
        std::ofstream rest(folder.filePath(QStringLiteral("disk/rest")).toStdString());
        while (rest.write(std::string(4096, 'x').data(), 4096).flush()) { }
        judge(*place.driver);
    }

    void aHookIsShortWithTheDiskFrozen()
    {
        QTemporaryDir folder;
        Disk disk(folder.filePath(QStringLiteral("disk")));
        if (!disk.mountImage(folder.filePath(QStringLiteral("image"))))
            QSKIP("only root with loop devices may mount the disk that this freezes");
        const Place place(folder.filePath(QStringLiteral("disk")));
        place.server->kill();
        spool(*place.driver);
        if (!disk.freeze())
            QSKIP("the disk cannot be frozen here");
        judge(*place.driver);
        disk.thaw();
    }

private:
    /// A server and an agent that has its ear.
    struct Place {
        explicit Place(const QString& spoolFolder = {})
        {
            server = std::make_unique<Server>(folder.filePath(QStringLiteral("data")));
            AgentDriver::Setup setup;
            setup.join = server->join();
            setup.spoolDir
                = (spoolFolder.isEmpty() ? folder.filePath(QStringLiteral("spool")) : spoolFolder).toStdString();
            setup.flushMs = 1;
            driver = std::make_unique<AgentDriver>(setup);
            if (!driver->agent())
                qFatal("%s", driver->error().c_str());
            if (!QTest::qWaitFor([this] { return driver->counters().connected == 1; }, kWaitMs))
                qFatal("the agent finds no server");
            driver->step(0);
        }

        QTemporaryDir folder;
        std::unique_ptr<Server> server;
        std::unique_ptr<AgentDriver> driver;
    };

    /// Until the disk is in use.
    static void spool(AgentDriver& driver)
    {
        std::int64_t step = 1;
        QVERIFY(QTest::qWaitFor(
            [&] {
                driver.step(step++);
                return driver.counters().spool_bytes > 0;
            },
            kWaitMs));
    }

    static void judge(AgentDriver& driver)
    {
        const Cost cost = costOf([&](int i) {
            if (i % kEmptyBetween == 0) {
                driver.step(1000 + i);
                return;
            }
            tt_step* step = tt_step_begin(driver.agent(), 1000 + i);
            if (step)
                tt_step_commit(step);
            else
                tt_step_dropped(driver.agent(), 1000 + i, 0, 0);
        });
        qInfo("p99 %.1f us, longest %.1f us (on the wall %.1f us, %d calls excused), %ld voluntary switches",
            static_cast<double>(cost.p99) / 1000, static_cast<double>(cost.longest) / 1000,
            static_cast<double>(cost.longestOnTheWall) / 1000, cost.excused, cost.voluntary);
        QVERIFY(cost.p99 <= kUsual);
        QVERIFY(cost.longest <= kLongest);
        QCOMPARE(cost.voluntary, 0L);
    }
};

QTEST_GUILESS_MAIN(HookLatencyTest)
#include "hooklatencytest.moc"
