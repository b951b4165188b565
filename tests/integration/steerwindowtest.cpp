// SPDX-License-Identifier: GPL-3.0-or-later
// A job of two ranks steered from the window: the program's own desktop and server on one side, the C++ demo training
// on the other.
#include <QAbstractButton>
#include <QAbstractItemModel>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QProcess>
#include <QRegularExpression>
#include <QTableView>
#include <QTemporaryDir>
#include <QTreeView>
#include <QtTest>

#include <unistd.h>

#include <telltale/common/viewstate.h>
#include <telltale/items/runsmodel.h>
#include <telltale/runs/runspanel.h>
#include <telltale/shell/commandregistry.h>
#include <telltale/shell/mainwindow.h>
#include <telltale/shell/rundriver.h>
#include <telltale/shell/viewtabs.h>
#include <telltale/steering/configdraft.h>
#include <telltale/steering/configview.h>
#include <telltale/store/runreader.h>

#include "backend.h"
#include "desktop.h"

using namespace telltale;

namespace {

constexpr int kWaitMs = 120'000;
using State = RankSteering::State;

/// One rank of a training that goes on until it is told to stop. Thread: the test's.
struct Trainer {
    QProcess process;

    /// config: a path; where nothing is yet, a config comes there.
    Trainer(const QString& join, const QString& config, int rank, bool takesConfigs,
        const QString& runId = QStringLiteral("job"))
    {
        QFile file(config);
        if (!file.exists()
            && (!file.open(QIODevice::WriteOnly) || file.write(R"({"dynamic_on": true, "wg_distribution": true})") < 0))
            qFatal("the config cannot be written");
        file.close();
        auto environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("TELLTALE_JOIN"), join);
        environment.insert(QStringLiteral("TELLTALE_RUN_ID"), runId);
        environment.insert(QStringLiteral("RANK"), QString::number(rank));
        environment.insert(QStringLiteral("WORLD_SIZE"), QStringLiteral("2"));
        environment.insert(QStringLiteral("OMP_NUM_THREADS"), QStringLiteral("1"));
        if (!takesConfigs)
            environment.insert(QStringLiteral("TELLTALE_REMOTE_CONFIG"), QStringLiteral("off"));
        process.setProcessEnvironment(environment);
        // They train as fast as they can, and must not take the window's and the server's share of two cores.
        process.setChildProcessModifier([] { (void)!::nice(5); });
        process.start(QDir(QCoreApplication::applicationDirPath())
                          .absoluteFilePath(QStringLiteral("../bin/telltale-demo-trainer")),
            QStringLiteral("--steps 1000000 --layers 1 --heads 2 --width 16").split(QLatin1Char(' '))
                << QStringLiteral("--config") << config);
    }
    ~Trainer()
    {
        process.terminate();
        if (!process.waitForFinished(kWaitMs))
            process.kill();
    }
};

/// The steps at which the rank measured any tensor of the kind.
std::set<std::int64_t> stepsOf(const store::RunLocator& run, Kind kind, Rank rank)
{
    std::set<std::int64_t> steps;
    const auto reader = store::openReader({ run, {}, {}, nullptr });
    const auto catalog = reader ? (*reader)->catalog() : tl::unexpected(reader.error());
    if (!catalog)
        qFatal("%s", catalog.error().sentence().c_str());
    for (const store::SeriesInfo& info : (*catalog)->series) {
        const auto source = std::find_if((*catalog)->sources.begin(), (*catalog)->sources.end(),
            [&](const store::SourceInfo& one) { return one.id == info.source; });
        if (info.kind != kind || source->rank != rank)
            continue;
        (void)(*reader)->raw({ info.id }, Stat::Norm, (*catalog)->steps, [&](const series::RawValue& value) {
            if (value.state != series::CellState::NotCollected)
                steps.insert(value.step.value);
            return true;
        });
    }
    return steps;
}

}

class SteerWindowTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        QTest::failOnWarning(QRegularExpression(QStringLiteral(".?")));
        m_dir = std::make_unique<QTemporaryDir>();
        qputenv("TELLTALE_DIR", m_dir->filePath(QStringLiteral("spool")).toUtf8());
        auto backend
            = app::Backend::start({ m_dir->filePath(QStringLiteral("data")).toStdString(), "127.0.0.1:0", false });
        QVERIFY(backend && (*backend)->server() != nullptr);
        m_backend = std::move(*backend);
        m_desktop = std::make_unique<app::Desktop>(*m_backend);
        window().show();
    }
    void cleanup()
    {
        m_trainers.clear();
        m_desktop.reset();
        m_backend.reset();
        m_dir.reset();
        qunsetenv("TELLTALE_DIR");
    }

    void theSwitchStopsAndStartsEveryRank()
    {
        start(true);
        QTRY_VERIFY_WITH_TIMEOUT(toggle()->isVisible() && toggle()->isChecked(), kWaitMs);
        waitForSteps(Kind::GradReduced, 10);
        toggle()->click();
        QTRY_VERIFY_WITH_TIMEOUT(applied(1) && !toggle()->isChecked(), kWaitMs);
        const std::int64_t stopped = steering().applyAtStep;
        // It stands still from there on, while the training goes on.
        waitForSteps(Kind::Scalar, stopped + 20);
        toggle()->click();
        QTRY_VERIFY_WITH_TIMEOUT(applied(2) && toggle()->isChecked(), kWaitMs);
        const std::int64_t started = steering().applyAtStep;
        waitForSteps(Kind::GradReduced, started + 5);
        for (const Rank rank : { Rank { 0 }, Rank { 1 } }) {
            const auto steps = stepsOf(run()->locator, Kind::GradReduced, rank);
            QVERIFY(steps.contains(stopped - 1) && steps.contains(started));
            const auto after = steps.lower_bound(stopped);
            QCOMPARE(*after, started);
        }
        QVERIFY(window().state()->eventMarks().size() >= 2);
    }

    void whatIsAppliedInTheConfigViewIsSaidOfEachRank()
    {
        start(false);
        QTRY_VERIFY_WITH_TIMEOUT(toggle()->isVisible(), kWaitMs);
        auto* view = openConfig();
        QTRY_VERIFY_WITH_TIMEOUT(!view->draft()->run().ranks.empty(), kWaitMs);
        view->draft()->setText(QStringLiteral("{ \"dynamic_on\": true, \"param_distribution\": true }"));
        auto* apply = view->findChild<QAbstractButton*>(QStringLiteral("configApply"));
        QTRY_VERIFY_WITH_TIMEOUT(apply->isEnabled(), kWaitMs);
        apply->click();
        auto* answers = view->findChild<QTableView*>(QStringLiteral("configAnswers"))->model();
        QTRY_COMPARE_WITH_TIMEOUT(answers->index(0, 2).data().toString(), QStringLiteral("applied"), kWaitMs);
        QCOMPARE(answers->index(1, 2).data().toString(), QStringLiteral("refused"));
        QVERIFY(answers->index(1, 6).data().toString().contains(QStringLiteral("TELLTALE_REMOTE_CONFIG")));
        QTRY_VERIFY_WITH_TIMEOUT(isShown(view, QStringLiteral("rev 1 on 1 of 2 ranks")), kWaitMs);
        const std::int64_t step = steering().applyAtStep;
        waitForSteps(Kind::Scalar, step + 10);
        const auto weights = stepsOf(run()->locator, Kind::ParamUpdated, Rank { 0 });
        const auto gradients = stepsOf(run()->locator, Kind::GradReduced, Rank { 0 });
        QVERIFY(weights.contains(step) && *gradients.rbegin() == step - 1);
        QVERIFY(*stepsOf(run()->locator, Kind::GradReduced, Rank { 1 }).rbegin() >= step);
        QTRY_COMPARE_WITH_TIMEOUT(
            view->findChild<QAbstractItemView*>(QStringLiteral("configHistory"))->model()->rowCount(), 1, kWaitMs);
    }

    void theSwitchShowsThatCollectTimesRanOut()
    {
        start(true);
        QTRY_VERIFY_WITH_TIMEOUT(toggle()->isVisible() && toggle()->isChecked(), kWaitMs);
        ConfigRequest request;
        request.runId = run()->id;
        request.config = R"({"dynamic_on": true, "wg_distribution": true, "collect_times": 5})";
        m_backend->server()->offerConfig(request);
        QTRY_VERIFY_WITH_TIMEOUT(steering().rev == 1 && !toggle()->isChecked(), kWaitMs);
        const std::int64_t step = steering().applyAtStep;
        waitForSteps(Kind::Scalar, step + 20);
        for (const Rank rank : { Rank { 0 }, Rank { 1 } })
            QCOMPARE(*stepsOf(run()->locator, Kind::GradReduced, rank).rbegin(), step + 4);
    }

    void theSwitchIsForAllSelectedRuns()
    {
        start(true);
        m_trainers.push_back(std::make_unique<Trainer>(m_backend->server()->joinString(),
            m_dir->filePath(QStringLiteral("other.json")), 0, true, QStringLiteral("other")));
        const auto& live = window().driver()->runs()->runs(items::RunsModel::LiveGroup);
        QTRY_COMPARE_WITH_TIMEOUT(live.size(), std::size_t { 2 }, kWaitMs);
        window().findChild<views::RunsPanel*>()->findChild<QTreeView*>()->selectAll();
        (void)QTest::qWaitFor([&] { return isShown(&window(), QStringLiteral("dynamic_on of 2 run")); }, kWaitMs);
        QStringList known;
        for (const RunSteering& one : m_backend->server()->steering())
            known << QString::fromStdString(one.runId) + QString::number(one.ranks.size());
        auto* tree = window().findChild<views::RunsPanel*>()->findChild<QTreeView*>();
        QVERIFY2(isShown(&window(), QStringLiteral("dynamic_on of 2 run")),
            qPrintable(QStringLiteral("%1 live, %2 rows selected, steering %3, process %4")
                           .arg(live.size())
                           .arg(tree->selectionModel()->selectedRows().size())
                           .arg(known.join(QLatin1Char(' ')))
                           .arg(m_trainers.back()->process.state())));
        QTRY_VERIFY_WITH_TIMEOUT(toggle()->isChecked(), kWaitMs);
        toggle()->click();
        QTRY_VERIFY_WITH_TIMEOUT(!toggle()->isChecked(), kWaitMs);
        for (const RunSteering& one : m_backend->server()->steering()) {
            QCOMPARE(one.rev, std::uint64_t { 1 });
            for (const RankSteering& rank : one.ranks)
                QVERIFY(rank.state == State::Applied && rank.runsRev == 1);
        }
    }

    void anEditOfTheJobsFileIsARevisionForAllRanks()
    {
        const QString path = m_dir->filePath(QStringLiteral("job.json"));
        const auto put = [&path](const QByteArray& text) {
            QFile file(path + QStringLiteral(".new"));
            QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text) == text.size());
            file.close();
            QCOMPARE(::rename(qPrintable(file.fileName()), qPrintable(path)), 0);
        };
        const auto text = [&path] {
            QFile file(path);
            return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
        };
        put("{\n  // why\n  \"dynamic_on\": true,\n  \"wg_distribution\": true\n}\n");
        qputenv("LOCAL_WORLD_SIZE", "2");
        for (const int rank : { 0, 1 }) {
            qputenv("LOCAL_RANK", QByteArray::number(rank));
            m_trainers.push_back(std::make_unique<Trainer>(m_backend->server()->joinString(), path, rank, true));
        }
        qunsetenv("LOCAL_RANK");
        qunsetenv("LOCAL_WORLD_SIZE");
        openJob();
        waitForSteps(Kind::GradReduced, 10);
        put(text().replace("true\n}", "true,\n  \"param_distribution\": true\n}"));
        // The rank that told of it runs it from its file.
        QTRY_VERIFY_WITH_TIMEOUT(steering().rev == 1 && steering().ranks[0].state == State::Applied
                && steering().ranks[1].state == State::Applied && steering().ranks[1].runsRev == 1,
            kWaitMs);
        waitForSteps(Kind::ParamUpdated, 1);
        // What is pushed, one rank writes into the file of both; it is no edit for either.
        ConfigRequest request;
        request.runId = run()->id;
        request.config = R"({"dynamic_on": true, "wg_distribution": true, "mv_distribution": true})";
        m_backend->server()->offerConfig(request);
        QTRY_VERIFY_WITH_TIMEOUT(steering().rev == 2 && applied(2), kWaitMs);
        QVERIFY2(text().contains("\"mv_distribution\": true") && text().contains("// why"), text().constData());
        waitForSteps(Kind::Scalar, steering().applyAtStep + 100);
        QVERIFY(steering().rev == 2 && applied(2));
    }

private:
    shell::MainWindow& window() { return m_desktop->window(); }
    QAbstractButton* toggle() { return window().findChild<QAbstractButton*>(QStringLiteral("dynamicOn")); }
    store::RunRef run() { return window().state()->run(); }

    void start(bool bothTakeConfigs)
    {
        for (const int rank : { 0, 1 }) {
            m_trainers.push_back(std::make_unique<Trainer>(m_backend->server()->joinString(),
                m_dir->filePath(QStringLiteral("config%1.json").arg(rank)), rank, rank == 0 || bothTakeConfigs));
        }
        openJob();
    }
    /// Opens the run once both ranks are there.
    void openJob()
    {
        window().resize(1600, 1000); // a bar says less where there is no room
        const auto& live = window().driver()->runs()->runs(items::RunsModel::LiveGroup);
        QTRY_VERIFY_WITH_TIMEOUT(!live.empty(), kWaitMs);
        window().driver()->openById(QString::fromStdString(live.front().id));
        QTRY_VERIFY_WITH_TIMEOUT(window().state()->catalog() != nullptr, kWaitMs);
        QTRY_VERIFY_WITH_TIMEOUT(steering().ranks.size() == 2, kWaitMs);
    }

    RunSteering steering()
    {
        const auto runs = m_backend->server()->steering();
        return runs.empty() ? RunSteering {} : runs.front();
    }
    /// Whether both ranks run the revision.
    bool applied(std::uint64_t rev)
    {
        const RunSteering now = steering();
        return std::all_of(now.ranks.begin(), now.ranks.end(),
            [rev](const RankSteering& rank) { return rank.state == State::Applied && rank.runsRev == rev; });
    }

    void waitForSteps(Kind kind, std::int64_t step)
    {
        for (const Rank rank : { Rank { 0 }, Rank { 1 } }) {
            QTRY_VERIFY_WITH_TIMEOUT(
                [&] {
                    const auto steps = kind == Kind::Scalar ? scalarSteps(rank) : stepsOf(run()->locator, kind, rank);
                    return !steps.empty() && *steps.rbegin() >= step;
                }(),
                kWaitMs);
        }
    }
    /// The training's loss goes on whatever is collected.
    std::set<std::int64_t> scalarSteps(Rank rank)
    {
        const auto reader = store::openReader({ run()->locator, {}, {}, nullptr });
        const auto catalog = (*reader)->catalog();
        for (const store::SourceInfo& source : (*catalog)->sources) {
            if (source.rank == rank)
                return { source.lastStep.value };
        }
        return {};
    }

    views::ConfigView* openConfig()
    {
        window().commands()->action("view.config")->trigger();
        return window().findChild<views::ConfigView*>();
    }

    static bool isShown(QWidget* view, const QString& words)
    {
        const auto labels = view->findChildren<QLabel*>();
        return std::any_of(
            labels.begin(), labels.end(), [&](const QLabel* label) { return label->text().contains(words); });
    }

    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<app::Backend> m_backend;
    std::unique_ptr<app::Desktop> m_desktop;
    std::vector<std::unique_ptr<Trainer>> m_trainers;
};

QTEST_MAIN(SteerWindowTest)
#include "steerwindowtest.moc"
