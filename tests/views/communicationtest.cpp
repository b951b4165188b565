// SPDX-License-Identifier: GPL-3.0-or-later
#include "shots.h"
#include "testmain.h"

#include <cmath>

#include <QApplication>
#include <QBuffer>
#include <QClipboard>
#include <QHeaderView>
#include <QPushButton>
#include <QScrollBar>

#include <telltale/common/rowlist.h>
#include <telltale/common/steeringstate.h>
#include <telltale/common/theme.h>
#include <telltale/communication/commlane.h>
#include <telltale/communication/commtable.h>
#include <telltale/communication/communicationview.h>
#include <telltale/communication/framelist.h>
#include <telltale/heatmap/heatcanvas.h>
#include <telltale/items/incidentwords.h>
#include <telltale/items/shownname.h>

#include "looks.h"
#include "viewonrun.h"

namespace communicationtest {

using namespace telltale;
using namespace telltale::views;
using series::CellState;

namespace {

constexpr int kSteps = 60;
constexpr int kBroken = 50; ///< from here on what comes out of the second site is NaN
constexpr int kEvery = 2; ///< of the steps have collectives
constexpr std::int64_t kStepNs = 100'000'000;
constexpr std::int64_t kBegin = 1'700'000'000'000'000'000;

const std::array kSites { QStringLiteral("all_reduce (train.py[55] reduce)"),
    QStringLiteral("all_gather (shard.py[12] gather)"), QStringLiteral("broadcast (init.py[7] main)") };

float normOf(int rank, int step, int site, bool isAfter)
{
    return static_cast<float>((site + 1) * 10 + rank + 0.1 * step + (isAfter ? 100 : 0));
}

double metricOf(CommMetric metric, int step, int site)
{
    const double begin = static_cast<double>(kBegin + (step - 1) * kStepNs) + 1e7 * (site + 1);
    switch (metric) {
    case CommMetric::Calls:
        return site + 2;
    case CommMetric::Bytes:
        return 1024.0 * (site + 1) * (step + 1);
    case CommMetric::Seconds:
        return 0.002 * (3 - site);
    case CommMetric::BeginNs:
        return begin;
    case CommMetric::EndNs:
        return begin + 2e7;
    }
    return 0;
}

std::string described()
{
    std::string sites;
    for (int i = 0; i < 2; ++i)
        sites += (i > 0 ? "," : "") + std::string("{\"name\":\"") + kSites[static_cast<std::size_t>(i)].toStdString()
            + "\",\"op\":\"" + (i == 0 ? "all_reduce" : "all_gather")
            + "\",\"line\":\"/w/train.py[55]   reduce\",\"stack\":[\"/w/train.py[55]   reduce\",\"/w/run.py[9]   "
              "main\"],"
              "\"dtypes\":[\"torch.float32\"],\"groups\":[{\"name\":\"0\",\"ranks\":4}]}";
    return "{\"times\":\"host's clock\",\"sites\":[" + sites + "]}";
}

/// `isOld`: of an agent that sends the statistics alone.
void write(const std::string& path, bool hasComm, bool isOld, const std::string& config = {}, int ranks = 2)
{
    test::CapsuleBuilder builder(path, "gpt");
    auto comm = std::make_shared<SeriesLayout>(*builder.addLayout(Kind::Comm, { Stat::Norm, Stat::Nans }, {}));
    std::vector<std::string> names { "telltale.wall_ns" };
    for (const QString& site : kSites) {
        for (const Role role : { Role::Before, Role::After }) {
            SeriesDesc series;
            series.name = site.toStdString();
            series.slot = { role, 0 };
            series.dtype = DType::F32;
            series.numel = 64;
            comm->series.push_back(std::move(series));
        }
        for (std::size_t metric = 0; metric < kCommMetrics; ++metric)
            names.push_back(commMetricName(static_cast<CommMetric>(metric), site));
    }
    const auto scalars = builder.addLayout(Kind::Scalar, { Stat::Value }, names);
    for (int rank = 0; rank < ranks; ++rank) {
        const std::int64_t stream = builder.addAttempt(Rank { rank }, 0);
        std::vector<StepBlock> blocks;
        for (int step = 0; step < kSteps; ++step) {
            StepBlock block;
            block.layout = scalars;
            block.step = Step { step };
            std::vector<double> values { static_cast<double>(kBegin + step * kStepNs) };
            const bool isCollected = hasComm && step % kEvery == 0;
            block.present = { isCollected && !isOld ? (1u << (1 + 3 * kCommMetrics)) - 1u : 1u };
            for (int site = 0; site < 3; ++site) {
                for (std::size_t metric = 0; metric < kCommMetrics; ++metric)
                    values.push_back(metricOf(static_cast<CommMetric>(metric), step, site));
            }
            block.columns = { { Stat::Value, values } };
            blocks.push_back(block);
            if (!isCollected)
                continue;
            StepBlock stats;
            stats.layout = comm;
            stats.step = Step { step };
            std::vector<float> norms;
            std::vector<std::uint64_t> nans;
            for (int site = 0; site < 3; ++site) {
                for (const bool isAfter : { false, true }) {
                    norms.push_back(normOf(rank, step, site, isAfter));
                    nans.push_back(site == 1 && isAfter && step >= kBroken ? 1 : 0);
                }
            }
            stats.columns = { { Stat::Norm, norms }, { Stat::Nans, nans } };
            blocks.push_back(stats);
        }
        std::vector<Blob> blobs;
        if (hasComm && !isOld) {
            const std::string text = described();
            Blob blob;
            blob.id = "sites" + std::to_string(rank);
            blob.kind = "comm_sites";
            blob.name = "rank" + std::to_string(rank);
            blob.bytes.assign(text.begin(), text.end());
            blobs.push_back(blob);
        }
        if (!config.empty()) {
            Blob blob;
            blob.id = "config";
            blob.kind = "config";
            blob.name = "config.json";
            blob.bytes.assign(config.begin(), config.end());
            blobs.push_back(blob);
        }
        builder.stage(stream, std::move(blocks), {}, {}, std::move(blobs));
        builder.commit();
    }
    builder.releaseAll();
    builder.finish();
}

/// One call, which writes what it gathers to its first argument.
void writeGathered(const std::string& path)
{
    test::CapsuleBuilder builder(path, "gpt");
    auto comm = std::make_shared<SeriesLayout>(*builder.addLayout(Kind::Comm, { Stat::Norm }, {}));
    for (const Role role : { Role::Before, Role::After }) {
        for (const int number : { 0, 1 }) {
            SeriesDesc series;
            series.name = kSites[1].toStdString();
            series.slot = { role, number };
            comm->series.push_back(std::move(series));
        }
    }
    StepBlock block;
    block.layout = comm;
    block.columns = { { Stat::Norm, std::vector<float> { 0, 7.5F, 15, 7.5F } } };
    builder.stage(builder.addAttempt(Rank { 0 }, 0), { block });
    builder.commit();
    builder.releaseAll();
    builder.finish();
}

}

/// The collectives of a run whose numbers are known. Thread: the test's.
class CommunicationTest : public QObject, test::ViewOnRun<CommunicationView> {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        write(path("run"), true, false);
        write(path("old"), true, true);
        write(path("plain"), false, false);
        writeGathered(path("gathered"));
    }
    void init() { open("run"); }
    void cleanup() { close(); }

    void theTableHasTheRunsOwnNumbers()
    {
        for (const int rank : { 0, 1 }) {
            for (const int step : { 0, 30, 31 }) {
                m_state->setRank(Rank { rank });
                m_state->setCursor(Step { step });
                settle();
                const CommPicture& picture = shown();
                const int at = step / kEvery * kEvery; // the newest one that was collected
                QCOMPARE(picture.step, std::optional(Step { at }));
                QCOMPARE(picture.rows.size(), std::size_t { 3 });
                for (int site = 0; site < 3; ++site) {
                    const CommRow& row = picture.rows[static_cast<std::size_t>(site)];
                    QCOMPARE(row.site.name, kSites[static_cast<std::size_t>(site)]);
                    QCOMPARE(static_cast<float>(row.before.value), normOf(rank, at, site, false));
                    QCOMPARE(static_cast<float>(row.after.value), normOf(rank, at, site, true));
                    for (std::size_t metric = 0; metric < kCommMetrics; ++metric)
                        QCOMPARE(row.metrics[metric].value, metricOf(static_cast<CommMetric>(metric), at, site));
                }
            }
        }
        QCOMPARE(cell(0, CommModel::SiteColumn), QStringLiteral("train.py:55 reduce"));
        QCOMPARE(cell(0, CommModel::GroupColumn), QStringLiteral("0 (4 ranks)"));
        QCOMPARE(cell(0, CommModel::TypeColumn), QStringLiteral("float32"));
        QCOMPARE(cell(0, CommModel::CallsColumn), QStringLiteral("2"));
        QCOMPARE(cell(2, CommModel::OpColumn), QStringLiteral("broadcast")); // that nobody described
        QCOMPARE(cell(2, CommModel::GroupColumn), QStringLiteral("–"));
    }

    void whatIsSentStandsBeforeWhatIsGathered()
    {
        close();
        open("gathered");
        settle();
        QCOMPARE(shown().rows.size(), std::size_t { 1 });
        QCOMPARE(shown().rows[0].before.value, 7.5); // not the place that it is gathered in
        QCOMPARE(shown().rows[0].after.value, 15.0);
    }

    void whatIsNotFiniteIsSaidAndSortsFirst()
    {
        settle();
        QCOMPARE(shown().rows[1].after.state, CellState::NaN);
        QCOMPARE(shown().rows[1].before.state, CellState::Value);
        QCOMPARE(cell(1, CommModel::AfterColumn), QStringLiteral("NaN"));
        m_view->table()->sortByColumn(CommModel::AfterColumn, Qt::DescendingOrder);
        QCOMPARE(m_view->table()->order(), (std::vector { 1, 2, 0 }));
        m_view->table()->sortByColumn(CommModel::BytesColumn, Qt::AscendingOrder);
        QCOMPARE(m_view->table()->order(), (std::vector { 0, 1, 2 }));
    }

    void aRowIsSelectedEverywhereAndShowsItsStack()
    {
        settle();
        QTest::mouseClick(m_view->table()->viewport(), Qt::LeftButton, Qt::NoModifier,
            m_view->table()->visualRect(m_view->table()->model()->index(1, 0)).center());
        QCOMPARE(m_state->kind(), Kind::Comm);
        QCOMPARE(m_state->selection().size(), std::size_t { 1 });
        QCOMPARE(m_state->selection().front().name, kSites[1]);
        QCOMPARE(m_state->selection().front().slot.role, Role::After);
        QCOMPARE(m_view->stack()->count(), 2);
        const QRect frame = m_view->stack()->visualItemRect(m_view->stack()->item(0));
        QCOMPARE(m_view->stack()->viewport()->height() % frame.height(), 0); // none is cut
        QTest::mouseClick(m_view->stack()->viewport(), Qt::LeftButton, Qt::NoModifier,
            m_view->stack()->visualItemRect(m_view->stack()->item(1)).center());
        QCOMPARE(QApplication::clipboard()->text(), QStringLiteral("/w/run.py:9"));
        // And back: what others select is chosen here, and stays chosen with the next step.
        m_state->setSelection({ { kSites[0], { Role::After, 0 } } });
        m_state->setCursor(Step { 20 });
        settle();
        QCOMPARE(m_view->table()->current(), kSites[0]);
        m_state->setSelection({ { kSites[2], { Role::Before, 0 } } });
        QCOMPARE(m_view->stack()->count(), 0);
        QVERIFY(!m_view->stack()->emptyText().isEmpty());
    }

    void theColumnsFitANarrowWindow()
    {
        settle();
        const QHeaderView* heads = m_view->table()->header();
        QVERIFY(!heads->isSectionHidden(CommModel::GroupColumn));
        m_view->resize(700, 500);
        QVERIFY(heads->length() <= m_view->table()->viewport()->width());
        QVERIFY(!heads->isSectionHidden(CommModel::AfterColumn));
        m_view->resize(1080, 700);
        QVERIFY(!heads->isSectionHidden(CommModel::TypeColumn));
        // Where one call site has no room for its function, all are named by their places, as in the lane.
        auto picture = std::make_shared<CommPicture>(shown());
        picture->rows[1].site.function = QString(40, u'f');
        CommTable table;
        table.resize(1600, 200);
        table.setPicture(picture);
        table.show();
        const QModelIndex site = table.model()->index(0, CommModel::SiteColumn);
        QCOMPARE(site.data().toString(), QStringLiteral("train.py:55 reduce"));
        table.resize(900, 200);
        QCOMPARE(site.data().toString(), QStringLiteral("train.py:55"));
        table.resize(1600, 200);
        QCOMPARE(site.data().toString(), QStringLiteral("train.py:55 reduce"));
    }

    void aNumberKeepsItsUnitWhateverTheStep()
    {
        settle();
        CommTable table;
        table.resize(1080, 200);
        table.show();
        const auto show = [&](double seconds) {
            auto picture = std::make_shared<CommPicture>(shown());
            for (CommRow& row : picture->rows)
                row.metrics[static_cast<std::size_t>(CommMetric::Seconds)].value = seconds;
            table.setPicture(picture);
            return table.columnWidth(CommModel::TimeColumn);
        };
        const int narrow = show(0.02);
        const int wide = show(0.0006048);
        QVERIFY(wide > narrow);
        const QString text = table.model()->index(0, CommModel::TimeColumn).data().toString();
        QCOMPARE(text, QStringLiteral("0.6048 ms"));
        QVERIFY(wide - 16 >= QFontMetrics(numberFont(12)).horizontalAdvance(text)); // but for its edges
        QVERIFY(table.header()->length() <= table.viewport()->width());
        QCOMPARE(show(0.02), wide); // and columns do not go to and fro
    }

    void peopleReadOneFormOfACallSite()
    {
        const Slot before { .role = Role::Before, .number = 0 };
        QCOMPARE(items::shownName(kSites[0]), QStringLiteral("all_reduce train.py:55 reduce"));
        for (const char* own : { "layers.0.fc1", "(model)", "loss (smoothed)", "odd (a[b)" })
            QCOMPARE(items::shownName(QString::fromUtf8(own)), QString::fromUtf8(own));
        QCOMPARE(items::shownSlot(before), QStringLiteral("before"));
        QCOMPARE(items::shownSlot({ .role = Role::After, .number = 1 }), QStringLiteral("after_1"));
        QCOMPARE(items::shownSlot(Slot::input(1)), QStringLiteral("input_1"));
        QCOMPARE(items::shownSlot(Slot::ofHead(3)), QStringLiteral("head 3"));
        QCOMPARE(items::shownSlot({ .role = Role::Named, .head = 1, .call = 1, .word = "head_1" }),
            QStringLiteral("head_1 head 1@2"));
        const std::vector<Row> rows = buildRows(*m_state->catalog(), { Kind::Comm, Rank { 0 }, {}, {} });
        QCOMPARE(rows.front().label, QStringLiteral("all_reduce train.py:55 reduce before"));
        QCOMPARE(rows.front().fullName(), rows.front().label);
        QCOMPARE(rows.front().key.name, kSites[0]);
        QCOMPARE(rows.front().slotText(), QStringLiteral("pre_0")); // CSV and the filter keep them
        judge::Finding finding;
        finding.name = kSites[0].toStdString();
        finding.slot = "post_0";
        finding.kind = Kind::Comm;
        QCOMPARE(items::incidentwords::place(finding), QStringLiteral("all_reduce train.py:55 reduce:after"));
    }

    void fewSitesLeaveTheRoomToWhatIsBelow()
    {
        m_view->resize(700, 330);
        settle();
        const auto* split = m_view->table()->parentWidget();
        QVERIFY2(m_view->lane()->height() >= 130, qPrintable(QString::number(m_view->lane()->height())));
        QVERIFY(m_view->table()->height() < split->height() / 2);
        QCOMPARE(m_view->table()->verticalScrollBar()->maximum(), 0); // and are all seen
    }

    void ofARunThatIsOpenedAgainNothingIsChosen()
    {
        settle();
        const auto lane = [this] { return m_view->lane()->grab().toImage(); };
        const QImage plain = lane();
        QTest::mouseClick(m_view->table()->viewport(), Qt::LeftButton, Qt::NoModifier,
            m_view->table()->visualRect(m_view->table()->model()->index(1, 0)).center());
        m_view->table()->clearFocus();
        settle();
        QVERIFY(lane() != plain);
        const auto run = m_state->run();
        const auto catalog = m_state->catalog();
        const StepRange range = m_state->ownRange();
        m_state->setRun(nullptr);
        m_state->setSelection({});
        m_state->setRun(run);
        m_state->setCatalog(catalog);
        m_state->setFullRange(range);
        settle();
        QCOMPARE(m_view->table()->current(), QString());
        QCOMPARE(lane(), plain);
    }

    void theKeyboardReachesEverySite()
    {
        settle();
        m_view->table()->setFocus();
        QTest::keyClick(m_view->table(), Qt::Key_Down);
        QTest::keyClick(m_view->table(), Qt::Key_Down);
        QCOMPARE(m_view->table()->current(), kSites[1]);
        QTest::keyClick(m_view->lane(), Qt::Key_Down);
        QCOMPARE(m_view->table()->current(), kSites[2]);
    }

    void theLaneShowsWhenEachSiteWasAtWork()
    {
        m_state->setCursor(Step { 30 });
        settle();
        const QRect plot = m_view->lane()->plotRect();
        for (int site = 0; site < 3; ++site) {
            // A step of 100 ms: from 10, 20, 30 ms on for 20 ms.
            const QRectF bar = m_view->lane()->barOf(kSites[static_cast<std::size_t>(site)]);
            QVERIFY(std::abs(bar.left() - (plot.left() + plot.width() * 0.1 * (site + 1))) < 1);
            QVERIFY(std::abs(bar.width() - plot.width() * 0.2) < 1);
        }
        QTest::mouseClick(
            m_view->lane(), Qt::LeftButton, Qt::NoModifier, m_view->lane()->barOf(kSites[1]).center().toPoint());
        QCOMPARE(m_view->table()->current(), kSites[1]);
    }

    void theAxisOfTheLaneIsAScaleHoweverNarrow()
    {
        for (const double ms : { 1e-6, 178.5, 199.9, 499.0, 86'400'000.0 }) {
            for (const int width : { 1, 205, 1600 })
                QVERIFY2(CommLane::axisValues(ms, width).size() >= 2, qPrintable(QString::number(ms)));
        }
    }

    void whereTheTimesInAStepEndIsSaid()
    {
        m_state->setCursor(Step { 30 });
        settle();
        QVERIFY(shown().endNs > 0);
        const auto isSaid = [this] {
            const auto labels = m_view->findChildren<QLabel*>();
            return std::ranges::any_of(labels,
                [](const QLabel* one) { return one->isVisible() && one->text() == QStringLiteral("until its end"); });
        };
        QVERIFY(isSaid());
        m_view->setBelow(CommMetric::Seconds);
        settle();
        QVERIFY(!isSaid());
    }

    void theTitleOfTheLanesAxisIsWholeHoweverShortTheSites()
    {
        m_state->setCursor(Step { 30 });
        settle();
        CommLane lane(m_state.get());
        lane.resize(300, 200);
        auto picture = std::make_shared<CommPicture>(shown());
        picture->step = picture->atStep = Step { 1'000'000'000'000 };
        lane.setPicture(picture, { 0, 1, 2 });
        const QString title = QStringLiteral("ms in step %1").arg(formatStep(picture->atStep.value));
        const QRect plot = lane.plotRect();
        QVERIFY(plot.left() > QFontMetrics(wordsFont(11)).horizontalAdvance(title) + 10);
        const QImage image = lane.renderTo(lane.size());
        for (int y = plot.bottom() + 6; y < plot.bottom() + 22; ++y) { // nor does it touch the edge of the panel
            for (int x = 0; x < 10; ++x)
                QCOMPARE(image.pixelColor(x, y), Theme::current().base);
        }
    }

    void theTitleOfTheLanesAxisIsNoPartOfItsFirstNumber()
    {
        settle();
        CommLane lane(m_state.get());
        lane.resize(600, 200);
        lane.setPicture(std::make_shared<CommPicture>(shown()), { 0, 1, 2 });
        const QRect plot = lane.plotRect();
        const QImage image = lane.renderTo(lane.size());
        for (int y = plot.bottom() + 6; y < plot.bottom() + 22; ++y) {
            for (int x = plot.left() - 16; x < plot.left() - 5; ++x)
                QCOMPARE(image.pixelColor(x, y), Theme::current().base);
        }
    }

    /// Also where all calls take all of their time: from step to step the bars keep their room.
    void theShareOfEachBarHasRoomRightOfIt()
    {
        m_state->setCursor(Step { 30 });
        settle();
        CommLane lane(m_state.get());
        lane.resize(600, 200);
        auto picture = std::make_shared<CommPicture>(shown());
        const auto roomOf = [&lane, &picture] {
            lane.setPicture(picture, { 0, 1, 2 });
            return lane.width() - lane.plotRect().right();
        };
        for (CommRow& row : picture->rows)
            row.metrics[static_cast<std::size_t>(CommMetric::Seconds)].value = 1; // all of its time
        const int plain = roomOf();
        picture->rows[0].metrics[static_cast<std::size_t>(CommMetric::Seconds)].value = 0.001;
        QVERIFY(plain > QFontMetrics(numberFont(11)).horizontalAdvance(QStringLiteral("100.0 %")));
        QCOMPARE(roomOf(), plain);
    }

    void theAxisIsTheEdgeOfALineBesideIt()
    {
        settle();
        CommLane lane(m_state.get());
        lane.resize(600, 200);
        lane.setPicture(std::make_shared<CommPicture>(shown()), { 0, 1, 2 });
        const auto linesFor = [&](int row) {
            lane.setCurrent(shown().rows[static_cast<std::size_t>(row)].site.name);
            const QImage image = lane.renderTo(lane.size());
            const QRect plot = lane.plotRect();
            int lines = 0;
            for (int y = 0; y < image.height(); ++y) {
                int drawn = 0;
                for (int x = plot.left(); x <= plot.right(); ++x)
                    drawn += image.pixel(x, y) == Theme::current().text3.rgb();
                lines += drawn > plot.width() * 9 / 10;
            }
            return lines;
        };
        QCOMPARE(linesFor(0), 3); // above and below it, and the axis
        QCOMPARE(linesFor(2), 2);
    }

    void theNameOfTheChosenSiteStandsOut()
    {
        settle();
        CommLane lane(m_state.get());
        lane.resize(600, 200);
        lane.setPicture(std::make_shared<CommPicture>(shown()), { 0, 1, 2 });
        lane.setCurrent(shown().rows[1].site.name);
        const QImage image = lane.renderTo(lane.size());
        const QRect plot = lane.plotRect();
        const auto rightmost = [&](int row, const QColor& color, int right) {
            const int height = 22;
            for (int x = right - 1; x >= 0; --x) {
                for (int y = plot.top() + row * height + 1; y < plot.top() + (row + 1) * height - 1; ++y) {
                    if (image.pixelColor(x, y) == color)
                        return x;
                }
            }
            return -1;
        };
        const int mark = rightmost(1, Theme::current().accent, plot.left());
        QVERIFY(mark > 0 && rightmost(0, Theme::current().accent, plot.left()) < 0);
        const int name = rightmost(1, Theme::current().text, mark - 1);
        QVERIFY2(name > 0 && name < mark - 4, qPrintable(QStringLiteral("%1 of %2").arg(name).arg(mark)));
        QVERIFY(rightmost(0, Theme::current().text, plot.left()) < 0);
    }

    void aMetricIsShownOverTheSteps()
    {
        m_view->setBelow(CommMetric::Bytes);
        settle();
        const HeatPicture& picture = *m_view->strip()->picture();
        QCOMPARE(picture.result.rows, 3);
        QCOMPARE(picture.rows[0].label, QStringLiteral("train.py:55"));
        QVERIFY(!picture.ticks.empty());
        for (const ValueScale::Tick& tick : picture.ticks)
            QVERIFY2(tick.label.endsWith(u'B'), qPrintable(tick.label));
        for (int column = 0; column < picture.columns(); ++column) {
            const StepRange steps = picture.stepsOf(column);
            for (int site = 0; site < 3 && steps.count() == 1; ++site) {
                const auto step = static_cast<int>(steps.first.value);
                const bool isCollected = step % kEvery == 0;
                QCOMPARE(picture.state(site, column) == CellState::Value, isCollected);
                if (isCollected)
                    QCOMPARE(picture.value(site, column), static_cast<float>(metricOf(CommMetric::Bytes, step, site)));
            }
        }
        const QPointF middle = m_view->strip()->cellRect(1, 4).center();
        QTest::mouseClick(m_view->strip(), Qt::LeftButton, Qt::NoModifier, middle.toPoint());
        QCOMPARE(m_state->selection().front().name, kSites[1]);
    }

    void timesOverStepsAreInTheUnitOfTheTable()
    {
        m_view->setBelow(CommMetric::Seconds);
        settle();
        const HeatPicture& picture = *m_view->strip()->picture();
        QVERIFY(picture.title.startsWith(QLatin1String("ms ")));
        const auto value = std::find(picture.result.states.begin(), picture.result.states.end(), CellState::Value);
        QVERIFY(value != picture.result.states.end());
        const auto at = static_cast<std::size_t>(value - picture.result.states.begin());
        QCOMPARE(picture.result.values[at], 1000 * static_cast<float>(metricOf(CommMetric::Seconds, 0, 0)));
        QCOMPARE(picture.shown[at], picture.result.values[at]);
    }

    void csvHasEverySite()
    {
        m_state->setCursor(Step { 58 });
        settle();
        QBuffer buffer;
        buffer.open(QIODevice::WriteOnly);
        QVERIFY(m_view->writeCsv(&buffer));
        const QList<QByteArray> lines = buffer.data().trimmed().split('\n');
        QCOMPARE(lines.size(), 4);
        QVERIFY(lines[1].startsWith("0,58,all_reduce,train.py:55 reduce,0 (4 ranks),torch.float32,2,60416,0.006"));
        QVERIFY(lines[2].contains(",nan,"));
    }

    void anOlderAgentsRunHasItsStatistics()
    {
        cleanup();
        open("old");
        settle();
        QCOMPARE(shown().rows.size(), std::size_t { 3 });
        QVERIFY(!shown().step);
        QVERIFY(!shown().hasTimes());
        QCOMPARE(static_cast<float>(shown().rows[0].after.value), normOf(0, 58, 0, true));
        QCOMPARE(cell(0, CommModel::BytesColumn), QStringLiteral("–"));
        QCOMPARE(cell(0, CommModel::TypeColumn), QStringLiteral("float32"));
    }

    /// By the config that is stored; without one, either.
    void anArchivedRunWithoutCollectivesSaysWhy()
    {
        const std::string on = R"({"cc_distribution": {"enable": true}})";
        write(path("off"), false, false, R"({"wg_distribution": true})");
        write(path("on"), false, false, on);
        write(path("alone"), false, false, on, 1);
        const auto says = [this](const char* name) {
            cleanup();
            open(name);
            [this] { settle(); }();
            return m_view->emptyText();
        };
        QVERIFY2(says("plain").contains(QStringLiteral("was off, or only")), qPrintable(m_view->emptyText()));
        QVERIFY2(says("off").contains(QStringLiteral("was off in the config")), qPrintable(m_view->emptyText()));
        QVERIFY2(says("on").contains(QStringLiteral("inside DDP")), qPrintable(m_view->emptyText()));
        QVERIFY2(says("alone").contains(QStringLiteral("this run has one rank")), qPrintable(m_view->emptyText()));
    }

    void aRunWithoutCollectivesSaysWhatTurnsThemOnAndOffersIt()
    {
        cleanup();
        open("plain");
        settle();
        QVERIFY(m_view->emptyText().contains(QStringLiteral("cc_distribution.enable")));
        QVERIFY(QFontMetrics(m_view->font()).horizontalAdvance(m_view->emptyText()) <= 560);
        QVERIFY(!m_view->offer()->isVisibleTo(m_view));
        RunSteering run;
        run.runId = "abc123";
        RankSteering rank;
        rank.runs = R"({"dynamic_on": true, "wg_distribution": true})";
        run.ranks.push_back(rank);
        std::vector<ConfigRequest> asked;
        m_steering->offer = [&asked](const ConfigRequest& request) { asked.push_back(request); };
        m_steering->set({ run });
        QVERIFY(m_view->offer()->isVisibleTo(m_view));
        QTest::mouseClick(m_view->offer(), Qt::LeftButton);
        QCOMPARE(asked.size(), std::size_t { 1 });
        QCOMPARE(asked[0].runId, std::string("abc123"));
        const QByteArray config = QByteArray::fromStdString(asked[0].config).simplified().replace(" ", "");
        QVERIFY2(config.contains("\"enable\":true") && config.contains("\"wg_distribution\":true"), config.constData());
        QVERIFY(!m_view->offer()->isVisibleTo(m_view));
        QVERIFY(m_view->emptyText().contains(QStringLiteral("have been asked")));
        // One rank alone calls none, whatever is asked for.
        cleanup();
        open("plain");
        settle();
        run.ranks[0].runs = R"({"cc_distribution": {"enable": true}})";
        m_steering->offer = [](const ConfigRequest&) {};
        m_steering->set({ run });
        QVERIFY(!m_view->offer()->isVisibleTo(m_view));
        QVERIFY2(m_view->emptyText().contains(QStringLiteral("so far")), qPrintable(m_view->emptyText()));
    }

    void itLooksRight_data() { test::addLooks(); }
    void itLooksRight()
    {
        cleanup();
        const auto [theme, language] = test::putOnLook();
        open("run");
        settle();
        m_view->choose(kSites[1]);
        settle();
        QVERIFY(m_view->grab().save(test::shot(QStringLiteral("communication-%1-%2.png").arg(theme, language))));
        m_view->setBelow(CommMetric::Seconds);
        settle();
        QVERIFY(m_view->grab().save(test::shot(QStringLiteral("communication-%1-%2-strip.png").arg(theme, language))));
        const QImage image = m_view->renderImage({ 1200, 800 });
        QVERIFY(image.save(test::shot(QStringLiteral("communication-%1-%2-picture.png").arg(theme, language))));
        cleanup();
        translations::install(*qApp, language);
        open("plain");
        settle();
        QVERIFY(m_view->grab().save(test::shot(QStringLiteral("communication-%1-%2-empty.png").arg(theme, language))));
    }

private:
    void open(const char* name)
    {
        m_steering = std::make_unique<SteeringState>();
        openFile(path(name), m_steering.get());
    }

    const CommPicture& shown() { return *m_view->table()->findChild<CommModel*>()->picture(); }
    QString cell(int row, int column)
    {
        const CommModel* model = m_view->table()->findChild<CommModel*>();
        return model->index(row, column).data().toString();
    }

    std::unique_ptr<SteeringState> m_steering;
};

TELLTALE_TEST(QTEST_MAIN, CommunicationTest)

}

#include "communicationtest.moc"
