// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include <QApplication>
#include <QDockWidget>
#include <QElapsedTimer>
#include <QLabel>
#include <QLineEdit>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolButton>
#include <QTreeView>

#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/runsmodel.h>
#include <telltale/shell/archiveactions.h>
#include <telltale/shell/mainwindow.h>
#include <telltale/shell/rundriver.h>
#include <telltale/shell/startup.h>
#include <telltale/shell/toaster.h>
#include <telltale/shell/toolbar.h>
#include <telltale/store/querypool.h>
#include <telltale/store/storeservice.h>

#include "incidentfixture.h"

namespace livewindowtest {

using namespace telltale;
using namespace telltale::shell;

namespace {

/// A training job of one rank, straight into the store: a batch of five steps every few milliseconds until stopped.
class Stream {
public:
    explicit Stream(store::StoreService& service, int eventsATime = 0, std::uint64_t incarnation = 1)
        : m_service(service)
        , m_eventsATime(eventsATime)
        , m_incarnation(incarnation)
        , m_thread([this] { run(); })
    {
    }
    ~Stream()
    {
        m_stop = true;
        m_thread.join();
    }

private:
    StreamId open()
    {
        store::StreamRequest request;
        request.token = 1;
        request.runKey = "key";
        request.runName = "live run";
        request.agentId = "host/0";
        request.incarnation = m_incarnation;
        m_service.openStream(request);
        while (!m_stop) {
            for (const store::StoreEvent& event : m_service.takeEvents()) {
                if (const auto* opened = std::get_if<store::StreamOpened>(&event))
                    return opened->stream;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return {};
    }

    void run()
    {
        const StreamId stream = open();
        auto layout = std::make_shared<SeriesLayout>();
        layout->id = LayoutId { 1 };
        layout->kind = Kind::GradReduced;
        layout->stats = { Stat::Norm };
        for (int i = 0; i < 40; ++i) {
            SeriesDesc series;
            series.name = "layers." + std::to_string(i / 4) + ".part" + std::to_string(i % 4);
            series.shape = { 4, 4 };
            layout->series.push_back(series);
        }
        std::int64_t step = 0;
        for (std::uint64_t seq = 1; !m_stop; ++seq) {
            auto batch = std::make_shared<SampleBatch>();
            batch->stream = stream;
            batch->seq = seq;
            batch->payload = "payload";
            batch->layouts = { layout };
            for (int i = 0; i < 5; ++i, ++step) {
                StepBlock block;
                block.layout = layout;
                block.step = Step { step };
                block.columns = { { Stat::Norm, std::vector<float>(40, static_cast<float>(step % 7) + 1) } };
                batch->samples += sampleCount(block);
                batch->blocks.push_back(std::move(block));
            }
            for (int i = 0; seq % 20 == 0 && i < m_eventsATime; ++i)
                batch->events.push_back({ "anomaly", Step { step - 1 }, step, "layers.0.part1 is out of bounds", "" });
            const std::shared_ptr<const SampleBatch> shared = std::move(batch);
            while (!m_stop && !m_service.submit(shared))
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            std::this_thread::sleep_for(std::chrono::milliseconds(3)); // the pace of the made-up job
        }
    }

    store::StoreService& m_service;
    const int m_eventsATime;
    const std::uint64_t m_incarnation;
    std::atomic<bool> m_stop { false };
    std::thread m_thread;
};

}

class LiveWindowTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(QStringLiteral(".?"))); }

    void theFirstLiveRunOpensMovesAndMayBeClosedOver()
    {
        QTemporaryDir dir;
        store::QueryPool pool(2);
        auto service = store::StoreService::start({ .dataDir = dir.path().toStdString() });
        QVERIFY(service);
        AppContext context { service->get(), &pool, dir.path().toStdString(), {}, {}, {}, {} };
        auto window = std::make_unique<MainWindow>(context);
        window->resize(1400, 900);
        window->show();
        QVERIFY(!window->state()->run());
        // Of what there is not yet nothing is searched, compared or sorted.
        const auto shownTools = [&] {
            QStringList names;
            for (const char* panel : { "runsPanel", "modulesPanel" }) {
                for (const auto* dock : window->findChildren<QDockWidget*>()) {
                    if (!dock->widget() || dock->widget()->objectName() != QLatin1String(panel))
                        continue;
                    for (const auto* button : dock->titleBarWidget()->findChildren<QToolButton*>()) {
                        if (button->isVisible())
                            names.append(button->accessibleName());
                    }
                }
            }
            return names;
        };
        const auto* filter = window->findChild<QLineEdit*>(QStringLiteral("moduleFilter"));
        QTRY_COMPARE(shownTools(), QStringList { QStringLiteral("Import a run: keep a copy here") });
        QVERIFY(!filter->isVisible());

        auto stream = std::make_unique<Stream>(**service);
        QTRY_VERIFY_WITH_TIMEOUT(window->state()->run(), 20'000);
        QTRY_VERIFY_WITH_TIMEOUT(window->state()->catalog(), 20'000);
        QTRY_VERIFY_WITH_TIMEOUT(window->state()->catalog()->series.size() == 40, 20'000);
        const Step before = window->state()->fullRange().last;
        QTRY_VERIFY_WITH_TIMEOUT(window->state()->fullRange().last > before, 20'000);
        QVERIFY(window->state()->isFollowing());
        QTRY_VERIFY_WITH_TIMEOUT(
            window->driver()->pulse().live && window->driver()->pulse().stepsPerSecond > 0, 20'000);
        QCOMPARE(window->driver()->runs()->runs(items::RunsModel::LiveGroup).size(), std::size_t { 1 });
        // The bar knows of each step that the views know of, however seldom the rest of it is measured.
        int behind = 0, seen = 0;
        const auto* bar = window->findChild<ToolBar*>();
        const auto watching = QObject::connect(window->state(), &views::ViewState::dataArrived, bar, [&] {
            const QString last = views::formatStep(window->state()->ownRange().last.value);
            const auto labels = bar->findChildren<QLabel*>();
            behind += std::ranges::none_of(labels, [&](const QLabel* label) { return label->text() == last; });
            ++seen;
        });
        QTRY_VERIFY_WITH_TIMEOUT(seen >= 20, 20'000);
        QObject::disconnect(watching);
        QCOMPARE(behind, 0);

        QTRY_COMPARE(shownTools().size(), 6);
        QVERIFY(filter->isVisible());

        // What goes wrong in it stands in the list of runs, and when it began.
        const auto inList = [&](int column) {
            const auto* runs = window->driver()->runs();
            return runs->index(0, column, runs->index(items::RunsModel::LiveGroup, 0));
        };
        QCOMPARE(inList(items::RunsModel::NameColumn).data(items::SeverityRole).toInt(), 0);
        QVERIFY((*service)->append(
            { 1, window->state()->run()->locator, Rank { -1 }, judge::incidentEvent(test::incidentAt(3), 0) }));
        QTRY_COMPARE_WITH_TIMEOUT(inList(items::RunsModel::NameColumn).data(items::SeverityRole).toInt(), 2, 20'000);
        QTRY_VERIFY_WITH_TIMEOUT(!inList(items::RunsModel::StartedColumn).data().toString().isEmpty(), 20'000);

        const auto cardHint = [&] { return window->findChild<QLabel*>(QStringLiteral("incidentHint"))->text(); };
        QTRY_VERIFY2(cardHint().endsWith(QStringLiteral("last seen at step 3")), qPrintable(cardHint()));

        // A live run can be pinned, and not moved.
        const store::RunSummary& live = window->driver()->runs()->runs(items::RunsModel::LiveGroup).front();
        const QString id = QString::fromStdString(live.id);
        window->archive()->moveTo({ id }, QStringLiteral("kept"));
        QVERIFY2(window->toaster()->shown().join(u'\n').contains(QStringLiteral("is being recorded")),
            qPrintable(window->toaster()->shown().join(u'\n')));
        window->archive()->setPinned({ id }, true);
        const auto isPinned = [&] { return window->driver()->runs()->indexOf(id).data(items::PinnedRole).toBool(); };
        QTRY_VERIFY_WITH_TIMEOUT(isPinned(), 20'000);
        window->driver()->tick();
        QVERIFY(isPinned() && window->driver()->runs()->folders().isEmpty());

        QElapsedTimer timer;
        timer.start();
        window->close();
        window.reset(); // while data streams
        QVERIFY2(timer.elapsed() < 10'000, "closing hung");

        // The archive keeps what was recorded, and the next start opens it by itself.
        stream.reset();
        service->reset();
        window = std::make_unique<MainWindow>(AppContext { nullptr, &pool, dir.path().toStdString(), {}, {}, {}, {} });
        window->show();
        QTRY_VERIFY_WITH_TIMEOUT(window->state()->catalog(), 20'000);
        QVERIFY(window->state()->fullRange().last >= before);
        QVERIFY(!window->driver()->pulse().live);
        QTRY_VERIFY2(cardHint().endsWith(QStringLiteral("nothing new since step 3")), qPrintable(cardHint()));

        // With a server the same run is shown, ended as it is; its training comes back, and it lives again.
        window.reset();
        service = store::StoreService::start({ .dataDir = dir.path().toStdString() });
        QVERIFY(service);
        context.store = service->get();
        window = std::make_unique<MainWindow>(context);
        window->show();
        QTRY_VERIFY_WITH_TIMEOUT(window->state()->catalog(), 20'000);
        QVERIFY(!window->driver()->pulse().live);
        const std::string path = window->state()->run()->locator.text();
        const Stream back(**service, 0, 2);
        QTRY_VERIFY_WITH_TIMEOUT(
            window->driver()->pulse().live && window->driver()->pulse().stepsPerSecond > 0, 20'000);
        QCOMPARE(window->state()->run()->locator.text(), path);
        QVERIFY(window->state()->isFollowing());
    }

    void theToolBarSaysWhatMonitoringTakesOnceAnAgentReportsIt()
    {
        QTemporaryDir dir;
        store::QueryPool pool(2);
        auto service = store::StoreService::start({ .dataDir = dir.path().toStdString() });
        QVERIFY(service);
        ConnectionInfo agent;
        agent.runKey = "key";
        agent.connected = true;
        AppContext context { service->get(), &pool, dir.path().toStdString(), [&] { return std::vector { agent }; }, {},
            {}, {} };
        MainWindow window(context);
        window.resize(1400, 900);
        window.show();
        const Stream stream(**service);
        QTRY_VERIFY_WITH_TIMEOUT(window.driver()->pulse().live && window.driver()->pulse().stepsPerSecond > 0, 20'000);
        const auto* box = window.findChild<QWidget*>(QStringLiteral("monitoringCost"));
        QVERIFY(!box->isVisible());
        agent.monitorMs = 1;
        agent.stepMs = 20;
        QTRY_VERIFY_WITH_TIMEOUT(box->isVisible(), 20'000);
        QVERIFY(box->toolTip().contains(QStringLiteral("1.0 ms of 20 ms (5.0 %)")));
        agent.lagSeconds = 3;
        QTRY_COMPARE_WITH_TIMEOUT(window.driver()->pulse().lagSeconds, 3.0, 20'000);
        // Another run of that name is another run: neither its cost nor how late it is belongs to this one.
        agent.runName = window.state()->run()->name;
        agent.runKey = "of another run";
        QTRY_VERIFY_WITH_TIMEOUT(!box->isVisible(), 20'000);
        QCOMPARE(window.driver()->pulse().lagSeconds, 0.0);
    }

    void eventsAddLinesToTheLogAndTouchNothingElse()
    {
        QTemporaryDir dir;
        store::QueryPool pool(2);
        auto service = store::StoreService::start({ .dataDir = dir.path().toStdString() });
        QVERIFY(service);
        AppContext context { service->get(), &pool, dir.path().toStdString(), {}, {}, {}, {} };
        MainWindow window(context);
        window.show();
        Stream stream(**service, 65);
        const auto* table = window.findChild<QTableView*>(QStringLiteral("logTable"));
        const auto lines = [&] { return table->model()->rowCount(); };
        const auto* tree = window.findChild<QTreeView*>(QStringLiteral("modulesTree"));
        QTRY_VERIFY_WITH_TIMEOUT(tree->model()->rowCount() > 0 && lines() > 0, 20'000);
        const int first = lines(); // a catalog that was asked for at the start is there with the next events
        QTRY_VERIFY_WITH_TIMEOUT(lines() >= first + 65, 20'000);

        tree->selectionModel()->select(tree->model()->index(0, 0, tree->model()->index(1, 0)),
            QItemSelectionModel::Select | QItemSelectionModel::Rows);
        const QModelIndexList selected = tree->selectionModel()->selectedRows();
        QCOMPARE(selected.size(), 1);
        const QSignalSpy treeResets(tree->model(), &QAbstractItemModel::modelReset);
        const QSignalSpy treeLayouts(tree->model(), &QAbstractItemModel::layoutChanged);
        const QSignalSpy logResets(table->model(), &QAbstractItemModel::modelReset);
        const QSignalSpy catalogs(window.state(), &views::ViewState::catalogChanged);
        const int before = lines();
        QTRY_VERIFY_WITH_TIMEOUT(lines() >= before + 10 * 65, 30'000);
        QCOMPARE(treeResets.count() + treeLayouts.count(), 0);
        QCOMPARE(logResets.count(), 0);
        QCOMPARE(catalogs.count(), 0);
        QCOMPARE(tree->selectionModel()->selectedRows(), selected);
    }
};

TELLTALE_TEST(QTEST_MAIN, LiveWindowTest)

}

#include "livewindowtest.moc"
