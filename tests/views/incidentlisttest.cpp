// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <ctime>

#include <QAbstractItemModelTester>
#include <QBuffer>
#include <QComboBox>
#include <QFontMetrics>
#include <QPainter>
#include <QSignalSpy>
#include <QSvgGenerator>
#include <QTableView>

#include <telltale/anomalies/anomaliesview.h>
#include <telltale/anomalies/timelinecanvas.h>
#include <telltale/anomalies/timelinepainter.h>
#include <telltale/common/sharedaxis.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/incidentsmodel.h>
#include <telltale/shell/mainwindow.h>
#include <telltale/shell/viewtabs.h>
#include <telltale/store/querypool.h>

#include "anomalieswindow.h"
#include "incidentfixture.h"

namespace incidentlisttest {

using namespace telltale;
using namespace telltale::items;
using judge::Annotation;
using store::Severity;

namespace {

constexpr qint64 kSlowest = 50; ///< ms in which the window answers nobody: of the processor, not of its other work

qint64 threadMs()
{
    timespec now {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<qint64>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

store::LogRecord opened(const judge::Incident& incident, std::int64_t id)
{
    return test::recordOf(judge::incidentEvent(incident, 1), id);
}

store::LogRecord said(std::int64_t incident, Annotation::Action action, std::int64_t id)
{
    return test::recordOf(judge::annotationEvent({ incident, action, "a note" }, Step { 1 }, "me", 2), id);
}

std::vector<qint64> ids(const QAbstractItemModel& model)
{
    std::vector<qint64> all;
    for (int row = 0; row < model.rowCount(); ++row)
        all.push_back(model.index(row, 0).data(KeyRole).toLongLong());
    return all;
}

}

/// The rows of a run's incidents, and their table. Thread: the test's.
class IncidentListTest : public QObject, protected test::AnomaliesWindow {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { writeRun(); }
    void cleanup() { closeWindow(); }

    void rowsAreInsertedAndMovedInTheOrderOfCauses()
    {
        IncidentsModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
        QSignalSpy moved(&model, &QAbstractItemModel::rowsMoved);
        QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
        QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
        model.append(
            { opened(test::incidentAt(50), 1), opened(test::incidentAt(20), 2), opened(test::incidentAt(90), 3) });
        QCOMPARE(ids(model), (std::vector<qint64> { 2, 1, 3 }));
        QCOMPARE(inserted.size(), 3);
        // An earlier cause is found for the last.
        judge::Incident earlier = test::incidentAt(10);
        earlier.id = 3;
        model.append({ opened(earlier, 4) });
        QCOMPARE(ids(model), (std::vector<qint64> { 3, 2, 1 }));
        QCOMPARE(moved.size(), 1);
        model.append({ said(2, Annotation::Action::Acknowledge, 5), said(2, Annotation::Action::False, 6) });
        QCOMPARE(changed.size(), 3);
        QCOMPARE(model.unacknowledged(), 2);
        QCOMPARE(model.index(1, IncidentsModel::StateColumn).data().toString(),
            QStringLiteral("false alarm, acknowledged, open"));
        earlier.first.step = Step { 30 };
        earlier.folded = 7;
        model.append({ opened(earlier, 7) });
        QCOMPARE(ids(model), (std::vector<qint64> { 2, 3, 1 }));
        QCOMPARE(model.index(1, IncidentsModel::FoldedColumn).data().toString(), QStringLiteral("7"));
        store::LogRecord ofAnAgent = opened(test::incidentAt(1), 8);
        ofAnAgent.rank = Rank { 0 };
        model.append({ ofAnAgent });
        QCOMPARE(model.rowCount(), 3);
        QCOMPARE(inserted.size(), 3);
        QCOMPARE(reset.size(), 0);
    }

    void whatBecomesPartOfAnotherLeavesItsRow()
    {
        IncidentsModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QSignalSpy removed(&model, &QAbstractItemModel::rowsRemoved);
        model.append(
            { opened(test::incidentAt(20), 1), opened(test::incidentAt(50), 2), opened(test::incidentAt(90), 3) });
        judge::Incident part = test::incidentAt(50);
        part.id = 2;
        part.into = 1;
        model.append({ opened(part, 4) });
        QCOMPARE(ids(model), (std::vector<qint64> { 1, 3 }));
        QCOMPARE(removed.size(), 1);
        QCOMPARE(model.find(2)->id, std::int64_t { 1 }); // who looks at it sees the one that has it
        model.append({ said(2, Annotation::Action::Acknowledge, 5) });
        QCOMPARE(ids(model), (std::vector<qint64> { 1, 3 }));
        model.clear(); // and from the beginning, as another window reads it
        model.append({ opened(test::incidentAt(20), 1), opened(test::incidentAt(50), 2), opened(part, 4) });
        QCOMPARE(ids(model), (std::vector<qint64> { 1 }));
    }

    void neighborsAreFoundFromAnIncidentOrAStep()
    {
        IncidentsModel model;
        model.append(
            { opened(test::incidentAt(20), 1), opened(test::incidentAt(20), 2), opened(test::incidentAt(60), 3) });
        QCOMPARE(model.rowBeside(1, Step { 20 }, true), 1);
        QCOMPARE(model.rowBeside(1, Step { 20 }, false), -1);
        QCOMPARE(model.rowBeside(3, Step { 60 }, true), -1);
        QCOMPARE(model.rowBeside(0, Step { 30 }, true), 2);
        QCOMPARE(model.rowBeside(0, Step { 30 }, false), 1);
        QCOMPARE(model.rowBeside(0, Step { -1 }, true), 0);
    }

    /// Signs that no incident of its has leave their room to what its rules are called.
    void whatFoundSomethingIsWholeUpToItsSigns()
    {
        views::ViewState state;
        state.setFullRange({ Step { 0 }, Step { 99 } });
        const QString rule = QStringLiteral("does not change any more");
        const std::vector<views::Lane> lanes { { QStringLiteral("layers.1"), rule, { 0, 1, 0 } } };
        const auto saidIn = [&](int gutter) {
            QBuffer buffer;
            QSvgGenerator svg;
            svg.setOutputDevice(&buffer);
            QPainter painter(&svg);
            views::TimelinePainter(painter, state, lanes, { gutter, 0, 400, 40 }, 20).paint({}, 40);
            painter.end();
            return QString::fromUtf8(buffer.data()).contains(rule);
        };
        const int words = QFontMetrics(views::wordsFont(11)).horizontalAdvance(rule);
        const int signs = 10 + 2 * 34; // those of warnings and of notices
        QVERIFY(saidIn(12 + 110 + words + 7 + signs));
        QVERIFY(!saidIn(12 + 110 + words - 7 + signs));
    }

    void thousandsOfIncidentsAndFoldedFindingsHoldNothingUp()
    {
        qint64 slowest = 0;
        const auto timed = [&](auto call) {
            const qint64 before = threadMs();
            call();
            slowest = std::max(slowest, threadMs() - before);
        };
        views::ViewState state;
        state.setFullRange({ Step { 0 }, Step { 99'999 } });
        views::SharedAxis axis(&state);
        store::QueryPool pool(1);
        QWidget host;
        host.resize(1200, 900);
        host.setAttribute(Qt::WA_DontShowOnScreen);
        views::AnomaliesView view({ &state, &axis, &pool }, &host);
        views::TimelineCanvas timeline(&state, &host);
        std::vector<QString> blocks;
        for (int i = 0; i < 96; ++i)
            blocks.push_back(QStringLiteral("layers.%1").arg(i));
        timeline.setBlocks(blocks);
        view.resize(1200, 700);
        timeline.resize(1200, 160);
        timeline.move(0, 720);
        host.show();
        // 5 000 incidents, each told of twenty times as it folds more: 100 000 records, in the pages of the log.
        std::int64_t record = 0;
        for (int round = 0; round < 20; ++round) {
            for (int page = 0; page < 10; ++page) {
                store::LogPage log;
                for (int i = 0; i < 500; ++i) {
                    const int number = page * 500 + i;
                    const auto severity = static_cast<Severity>(number % 3);
                    judge::Incident incident = test::incidentAt(number * 20, severity);
                    incident.folded = static_cast<std::uint64_t>(round + 1);
                    incident.reach = { { "layers." + std::to_string(number % 96), Rank { 1 },
                        { Step { number * 20 }, Step { number * 20 + round } }, 1 } };
                    incident.id = round == 0 ? 0 : number + 1;
                    log.records.push_back(opened(incident, ++record));
                }
                timed([&] { state.appendLog(log); });
            }
            while (!state.incidents()->isSettled())
                timed([] { QCoreApplication::processEvents(QEventLoop::AllEvents, 1); });
        }
        QCOMPARE(state.incidents()->rowCount(), 5000);
        QCOMPARE(state.incidents()->incident(4999).folded, std::uint64_t { 20 });
        timed([&] { timeline.setChoice(views::LaneChoice::Rank); });
        timed([&] { timeline.setChoice(views::LaneChoice::Block); });
        timed([&] { timeline.repaint(); });
        timed([&] { view.repaint(); });
        timed([&] { state.goToIncidentBeside(true); });
        const auto* table = view.findChild<QTableView*>(QStringLiteral("incidentTable"));
        const QSignalSpy pieces(table->model(), &QAbstractItemModel::rowsRemoved);
        timed([&] { view.findChild<QComboBox*>(QStringLiteral("incidentSeverity"))->setCurrentIndex(2); });
        QVERIFY2(pieces.size() <= 1, qPrintable(QString::number(pieces.size())));
        QCOMPARE(table->model()->rowCount(), 1666);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // which take most of the time for themselves
        QVERIFY2(slowest <= kSlowest, qPrintable(QString::number(slowest)));
#endif
    }

    void theListIsFilteredAndExported()
    {
        open({ test::richIncident(360), test::incidentAt(100, Severity::Warning),
            test::incidentAt(200, Severity::Notice) });
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        auto* view = m_window->views()->currentView();
        const auto* table = view->findChild<QTableView*>(QStringLiteral("incidentTable"));
        view->findChild<QComboBox*>(QStringLiteral("incidentSeverity"))->setCurrentIndex(1);
        QCOMPARE(table->model()->rowCount(), 2);
        QBuffer file;
        file.open(QIODevice::ReadWrite);
        QVERIFY(view->writeCsv(&file));
        const QList<QByteArray> lines = file.data().trimmed().split('\n');
        QCOMPARE(lines.size(), 3);
        QVERIFY(lines[1].contains(",warning,100,1,layers.7.attn.qkv,output,-1,actv,norm,forward,history,"));
        view->findChild<QComboBox*>(QStringLiteral("incidentWhich"))->setCurrentIndex(1);
        QCOMPARE(table->model()->rowCount(), 2);
    }

    void aNarrowListKeepsRoomForWhatWasSeen()
    {
        open({ test::richIncident(360), test::incidentAt(100, Severity::Warning) });
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        auto* table = m_window->views()->currentView()->findChild<QTableView*>(QStringLiteral("incidentTable"));
        for (const int width : { 640, 720, 800, 900 }) {
            table->setFixedWidth(width);
            QCoreApplication::processEvents();
            const auto spare
                = [table](int column, int least) { return std::max(table->columnWidth(column) - least, 0); };
            // What can be cut well gives all that it can before this column is less than its words.
            const int lacking
                = static_cast<QAbstractItemView*>(table)->sizeHintForColumn(items::IncidentsModel::SentenceColumn)
                - table->columnWidth(items::IncidentsModel::SentenceColumn);
            QVERIFY2(table->columnWidth(items::IncidentsModel::SentenceColumn) >= 360 || lacking <= 0
                    || spare(items::IncidentsModel::PlaceColumn, 150) == 0,
                qPrintable(QString::number(width)));
        }
    }
};

TELLTALE_TEST(QTEST_MAIN, IncidentListTest)

}

#include "incidentlisttest.moc"
