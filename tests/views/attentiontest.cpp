// SPDX-License-Identifier: GPL-3.0-or-later
#include "shots.h"
#include "testmain.h"

#include <cmath>

#include <QApplication>
#include <QBuffer>
#include <QComboBox>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QSignalSpy>

#include <telltale/attention/attentioncanvas.h>
#include <telltale/attention/attentionview.h>
#include <telltale/attention/headmapscanvas.h>
#include <telltale/attention/headsign.h>
#include <telltale/common/colormap.h>
#include <telltale/common/rowlist.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewbar.h>
#include <telltale/heatmap/heatcanvas.h>
#include <telltale/heatmap/heatgutter.h>
#include <telltale/plot/curvecanvas.h>

#include "attendedruns.h"
#include "looks.h"

namespace attentiontest {

using namespace telltale;
using namespace telltale::views;
using analysis::HeadSign;
using series::CellState;

/// The heads of a run whose numbers are known. Thread: the test's.
class AttentionTest : public QObject, test::AttendedRuns {
    Q_OBJECT
private Q_SLOTS:
    void init() { open("run"); }
    void cleanup() { close(); }

    void everyNumberIsTheRunsOwn()
    {
        for (const int rank : { 0, 1 }) {
            m_state->setRank(Rank { rank });
            for (const int step : { 0, 199, 420, kBroken, kSteps - 1 }) {
                m_state->setCursor(Step { step });
                settle();
                const AttentionPicture& picture = shown();
                QCOMPARE(picture.atStep.value, step);
                QCOMPARE(picture.layers.size(), std::size_t { kLayers });
                for (int layer = 0; layer < kLayers; ++layer) {
                    for (int number = 0; number < kHeads; ++number) {
                        const auto expected = numbersOf(rank, step, layer, number);
                        compare(picture.valueOf(layer, number, HeadValue::Entropy), expected[0]);
                        compare(picture.valueOf(layer, number, HeadValue::SoftmaxMax), expected[1]);
                        compare(picture.valueOf(layer, number, HeadValue::MaxLogit), expected[2]);
                        compare(picture.valueOf(layer, number, HeadValue::EntropyShare),
                            expected[0] / static_cast<float>(std::log(kKeys)));
                    }
                }
                QCOMPARE(picture.layers[0].headZero.value, 0.5);
            }
        }
    }

    void theStepOfTheMapsIsThatOfTheirValues()
    {
        cleanup();
        open("sampled");
        for (const std::optional<Step> cursor : { std::optional<Step>(), { Step { 258 } }, { Step { 203 } } }) {
            m_state->setCursor(cursor);
            settle();
            const std::int64_t step = cursor.value_or(Step { 259 }).value / 5 * 5;
            QCOMPARE(shown().atStep.value, step);
            QCOMPARE(shown().stepsBefore(), step);
            compare(shown().valueOf(1, 2, HeadValue::Entropy), numbersOf(0, static_cast<int>(step), 1, 2)[0]);
        }
        m_state->setCursor(Step { 9 }); // the newest before it are too few steps later than the first
        settle();
        QCOMPARE(shown().atStep.value, 5);
        QVERIFY(!shown().beforeStep);
    }

    /// They are named as such, and take no other head's place nor the band's.
    void laterMicroStepsOfHeadsComeLast()
    {
        cleanup();
        open("accumulated");
        m_state->setSelection({ head(1, 2), head(1, 0) });
        settle();
        const CurvePicture& curves = *m_view->findChild<CurveCanvas*>()->picture();
        QStringList names;
        for (const CurveSeries& one : curves.series)
            names.append(one.row.label + (one.isGroup ? QStringLiteral(", band") : QString()));
        QCOMPARE(names,
            (QStringList { QStringLiteral("L1 h2"), QStringLiteral("L1 h0"), QStringLiteral("L1 h0, band"),
                QStringLiteral("L1 h2 µ1"), QStringLiteral("L1 h0 µ1") }));
        choose("attentionBelow", static_cast<int>(BelowMaps::Strips));
        const HeatPicture& strips = *m_view->findChild<HeatCanvas*>()->picture();
        QCOMPARE(strips.rows.size(), std::size_t { 2 * kHeads });
        QCOMPARE(strips.rows.front().label, QStringLiteral("h0"));
        QCOMPARE(strips.rows.back().label, QStringLiteral("h5 µ1"));
        HeatPicture wider = strips;
        wider.rows.back().label = QStringLiteral("h12 µ1");
        const auto namesLeftOf = [&wider](int left) {
            QImage image(120, 300, QImage::Format_RGB32);
            image.fill(Theme::current().base);
            QPainter painter(&image);
            const RowLayout rows({ { 0, 2 * kHeads - 1 } }, image.height(), 1);
            HeatGutter(wider, rows, { left, 0, 1, image.height() }).paint(painter, Theme::current());
            return image.copy(left - 54, 0, 54, image.height()); // all of the longest one
        };
        for (const HeatCanvas* canvas : m_view->findChildren<HeatCanvas*>())
            QCOMPARE(namesLeftOf(canvas->plotRect().left()), namesLeftOf(110));
    }

    void whatAHeadDoesIsMarked()
    {
        m_state->setCursor(Step { 600 });
        settle();
        for (int layer = 0; layer < kLayers; ++layer) {
            for (int number = 0; number < kHeads; ++number) {
                const std::array at { layer, number };
                const HeadSign expected = at == kCollapses ? HeadSign::Collapsing
                    : at == kFalls                         ? HeadSign::Falling
                    : at == kLooksAtAll                    ? HeadSign::Uniform
                                                           : HeadSign::None;
                QCOMPARE(shown().cell(layer, number)->sign, expected);
            }
        }
        QCOMPARE(shown().group, 3); // six heads on two keys
    }

    /// Wherever a cell stands, its sign is the same one.
    void signsLookAlike()
    {
        const Theme& theme = Theme::current();
        AttentionPicture picture;
        for (int layer = 0; layer < 5; ++layer) {
            AttentionLayer& one = picture.layers.emplace_back();
            one.name = QStringLiteral("layers.%1.attn").arg(layer);
            for (int head = 0; head < 7; ++head) {
                HeadCell& cell = one.heads.emplace_back();
                cell.entropy.state = CellState::Value;
                cell.entropy.value = 1;
                cell.sign = layer % 2 == 0 ? HeadSign::OneHot : HeadSign::Falling;
            }
        }
        picture.finish(HeadValue::Entropy);
        for (const double ratio : { 1.0, 1.25, 1.5, 2.0 }) {
            const QSize size(400, 300);
            QImage frame(size * ratio, QImage::Format_RGB32);
            frame.setDevicePixelRatio(ratio);
            frame.fill(theme.base);
            const AttentionMap map(picture, HeadValue::Entropy, QRectF(QPointF(), QSizeF(size)));
            {
                QPainter painter(&frame);
                map.paint(painter, { -1, -1 }, theme);
            }
            const auto signAt = [&](int layer, int head) {
                const QPointF corner = map.cellRect(layer, head).topRight() * ratio;
                const auto inside = static_cast<int>(10 * ratio);
                return frame.copy(static_cast<int>(std::lround(corner.x())) - inside - 1,
                    static_cast<int>(std::lround(corner.y())) + 1, inside, inside);
            };
            for (int layer = 0; layer < 5; ++layer) {
                for (int head = 0; head < 7; ++head)
                    QVERIFY2(signAt(layer, head) == signAt(layer % 2, 0),
                        qPrintable(QStringLiteral("%1: %2 %3").arg(ratio).arg(layer).arg(head)));
            }
            // The one in the line that explains them is drawn by itself.
            QImage alone(frame.size(), QImage::Format_RGB32);
            alone.setDevicePixelRatio(ratio);
            const QRectF cell = map.cellRect(0, 0);
            const int signSize = headSignSize({ map.cells().width() / 7 - 2, map.cells().height() / 5 - 2 });
            alone.fill(frame.pixelColor((cell.center() * ratio).toPoint()));
            {
                QPainter painter(&alone);
                paintHeadSign(painter, cell.topRight(), signSize, HeadSign::OneHot, theme);
            }
            const QPoint corner = (cell.topRight() * ratio).toPoint();
            for (int x = 2; x < 10 * ratio; ++x) {
                for (int y = 2; y < 10 * ratio; ++y) {
                    const QPoint at = corner + QPoint(-x, y);
                    QVERIFY2(std::abs(alone.pixelColor(at).green() - frame.pixelColor(at).green()) <= 4,
                        qPrintable(QStringLiteral("%1: %2 %3").arg(ratio).arg(x).arg(y)));
                }
            }
        }
    }

    /// Where one has no room below the cell it stands over what is above, never over the cell.
    void aReadoutLeavesItsCellInView()
    {
        settle();
        AttentionCanvas maps(m_state.get());
        maps.setPicture(std::make_shared<AttentionPicture>(shown()), { HeadValue::Entropy, HeadValue::SoftmaxMax });
        for (int height = maps.leastHeight(); height < 400; height += 10) {
            maps.resize(700, height);
            const AttentionMap map = maps.map(0, maps.size());
            for (int layer = 0; layer < kLayers; ++layer) {
                const QRect cell = map.cellRect(layer, 0).toAlignedRect();
                if (std::max(cell.top(), height - cell.bottom()) < 80)
                    continue; // there is no room at all
                QMouseEvent move(QEvent::MouseMove, cell.center(), maps.mapToGlobal(cell.center()), Qt::NoButton,
                    Qt::NoButton, Qt::NoModifier);
                QApplication::sendEvent(&maps, &move);
                const QImage image = maps.grab().toImage();
                for (int y = cell.top(); y <= cell.bottom(); ++y) {
                    QVERIFY2(image.pixelColor(cell.center().x(), y) != Theme::current().raised,
                        qPrintable(QStringLiteral("layer %1 of %2 px").arg(layer).arg(height)));
                }
            }
        }
    }

    /// The maps come before what is below them, which goes where there is no room for both.
    void aShortViewKeepsItsMaps()
    {
        settle();
        const AttentionCanvas* canvas = m_view->canvas();
        for (const auto& [height, hasCurves] : { std::pair { 700, true }, std::pair { 420, true }, { 240, false } }) {
            m_view->resize(1080, height);
            settle();
            QVERIFY2(
                canvas->height() >= std::min(canvas->leastHeight(), height - 40), qPrintable(QString::number(height)));
            QCOMPARE(!m_view->curves(0)->visibleRegion().isEmpty(), hasCurves);
        }
    }

    /// Of two that belong together none goes alone.
    void theSidesAreLabeledAlike()
    {
        for (int width = 400; width <= 1080; width += 20) {
            m_view->resize(width, 700);
            settle();
            int labels = 0;
            for (const QLabel* label : m_view->findChildren<QLabel*>()) {
                const QString of = label->buddy() ? label->buddy()->objectName() : QString();
                if (of == QLatin1String("attentionLeft") || of == QLatin1String("attentionRight"))
                    labels += label->isHidden() ? 0 : 1;
            }
            QVERIFY2(labels != 1, qPrintable(QString::number(width)));
        }
    }

    /// However wide the view is: few heads do not fill a wide one.
    void curvesEndWhereTheirMapsDo()
    {
        for (const int width : { 523, 760, 1080, 1081, 2600 }) {
            m_host->resize(width, 700);
            m_view->resize(width, 700);
            settle();
            for (const int side : { 0, 1 }) {
                const QRectF cells = canvas().map(side, canvas().size()).cells();
                const QRect plot = m_view->curves(side)->plotRect();
                const QPoint at = m_view->curves(side)->mapTo(m_view, plot.topLeft());
                QVERIFY(std::abs(at.x() - cells.left()) <= 1);
                QVERIFY2(std::abs(at.x() + plot.width() - cells.right()) <= 1, qPrintable(QString::number(width)));
                QVERIFY(plot.width() >= 120);
            }
        }
    }

    /// A run of 260 steps has nothing 512 steps earlier.
    void aShortRunsHeadsAreComparedWithItsFirstStep()
    {
        cleanup();
        open("short");
        m_state->setCursor(Step { 259 });
        settle();
        QCOMPARE(shown().beforeStep, std::optional<Step>(Step { 0 }));
        for (int layer = 0; layer < kLayers; ++layer) {
            for (int number = 0; number < kHeads; ++number) {
                const auto now = numbersOf(0, 259, layer, number)[0], before = numbersOf(0, 0, layer, number)[0];
                const HeadSign expected = now < 0.5F * before     ? HeadSign::Collapsing
                    : now < 0.7F * before                         ? HeadSign::Falling
                    : std::array { layer, number } == kLooksAtAll ? HeadSign::Uniform
                                                                  : HeadSign::None;
                QCOMPARE(shown().cell(layer, number)->sign, expected);
            }
        }
        QCOMPARE(shown().cell(kCollapses[0], kCollapses[1])->sign, HeadSign::Collapsing);
        QCOMPARE(shown().cell(kFalls[0], kFalls[1])->sign, HeadSign::Falling);
        m_state->setCursor(Step { AttentionPicture::kLeastBefore - 1 }); // too early to say
        settle();
        QVERIFY(!shown().beforeStep);
        QCOMPARE(shown().cell(0, 0)->sign, HeadSign::None);
    }

    void ranksStandBesideEachOther()
    {
        m_state->setCursor(Step { kBroken });
        choose("attentionAxes", static_cast<int>(HeadAxes::RankByHead));
        choose("attentionLayer", QStringLiteral("layers.1.attn"));
        QCOMPARE(shown().layers.size(), std::size_t { kRanks });
        for (int rank = 0; rank < kRanks; ++rank) {
            QCOMPARE(shown().layers[static_cast<std::size_t>(rank)].label, QString::number(rank));
            for (int number = 0; number < kHeads; ++number)
                compare(shown().valueOf(rank, number, HeadValue::Entropy), numbersOf(rank, kBroken, 1, number)[0]);
        }
        // A click selects the head and its rank; the rows stay.
        click(0, 1, 4, Qt::NoModifier);
        QCOMPARE(m_state->rank(), Rank { 1 });
        QCOMPARE(m_state->selection(), (std::vector { head(1, 4) }));
        settle();
        QCOMPARE(shown().layers.size(), std::size_t { kRanks });
        QCOMPARE(shown().placeOf(head(1, 4)), (std::array { 1, 4 }));
    }

    void theBoxOfRanksIsAsWideForBothAxes()
    {
        settle();
        const auto* box = m_view->findChild<QComboBox*>(QStringLiteral("attentionRank"));
        const int width = box->sizeHint().width();
        choose("attentionAxes", static_cast<int>(HeadAxes::RankByHead));
        QCOMPARE(box->sizeHint().width(), width);
        QVERIFY(!box->model()->index(box->count() - 1, 0).flags().testFlag(Qt::ItemIsEnabled)); // ranks are the rows
    }

    void whatLiesBetweenRanksIsTheirSpread()
    {
        m_state->setCursor(Step { kBroken });
        choose("attentionRank", -1);
        QVERIFY(shown().isSpread);
        QCOMPARE(shown().ranks, kRanks);
        for (int layer = 0; layer < kLayers; ++layer) {
            for (int number = 0; number < kHeads; ++number) {
                const auto first = numbersOf(0, kBroken, layer, number), second = numbersOf(1, kBroken, layer, number);
                compare(shown().valueOf(layer, number, HeadValue::Entropy), std::abs(first[0] - second[0]));
                compare(shown().valueOf(layer, number, HeadValue::SoftmaxMax), std::abs(first[1] - second[1]));
            }
        }
        QCOMPARE(m_view->curves(0)->picture()->series.front().row.key, head(kBreaks[0], kBreaks[1]));
        choose("attentionRank", 1);
        QVERIFY(!shown().isSpread);
        QCOMPARE(m_state->rank(), Rank { 1 });
    }

    void aRankThatEndedIsNoPartOfASpread()
    {
        cleanup();
        open("ended");
        choose("attentionRank", -1);
        for (const auto& [step, ranks] : { std::pair(49, kRanks), std::pair(55, kRanks - 1) }) {
            m_state->setCursor(Step { step });
            settle();
            QCOMPARE(shown().ranks, ranks);
        }
    }

    /// From the smallest to the largest of all heads of the selected head's layer, and short names that fit.
    void aLayersBandStandsBehindItsHeads()
    {
        settle();
        m_state->setSelection({ head(2, 3), head(0, 1) });
        settle();
        const auto drawn = m_view->curves(0)->picture();
        QCOMPARE(drawn->series.size(), std::size_t { 3 });
        QCOMPARE(drawn->series[0].row.label, QStringLiteral("L2 h3"));
        QCOMPARE(drawn->series[1].row.label, QStringLiteral("L0 h1"));
        const CurveSeries& band = drawn->series[2];
        QVERIFY(band.isGroup);
        QCOMPARE(band.where, QStringLiteral("L2, %1 heads").arg(kHeads));
        for (int bucket = 0; bucket < static_cast<int>(band.result.buckets.size()); ++bucket) {
            const StepRange steps = stepsOf(band.result, bucket);
            float low = 100, high = -100;
            for (std::int64_t step = steps.first.value; step <= steps.last.value; ++step) {
                for (int number = 0; number < kHeads; ++number) {
                    low = std::min(low, numbersOf(0, static_cast<int>(step), 2, number)[0]);
                    high = std::max(high, numbersOf(0, static_cast<int>(step), 2, number)[0]);
                }
            }
            QCOMPARE(static_cast<float>(band.result.buckets[static_cast<std::size_t>(bucket)].min), low);
            QCOMPARE(static_cast<float>(band.result.buckets[static_cast<std::size_t>(bucket)].max), high);
        }
    }

    /// A cursor that moves over the same curves reads the maps alone; another selection, or more of the run, does not.
    void curvesAreReadAgainOnlyWhereTheyChange()
    {
        m_state->setSelection({ head(2, 3) });
        settle();
        const auto drawn = m_view->curves(0)->picture();
        m_state->setCursor(Step { 300 });
        settle();
        QCOMPARE(shown().atStep.value, 300);
        QCOMPARE(m_view->curves(0)->picture(), drawn);
        Q_EMIT m_state->dataArrived();
        settle();
        QVERIFY(m_view->curves(0)->picture() != drawn);
        const auto again = m_view->curves(0)->picture();
        m_state->setSelection({ head(2, 4) });
        settle();
        QVERIFY(m_view->curves(0)->picture() != again);
        QCOMPARE(m_view->curves(0)->picture()->series.front().row.key, head(2, 4));
    }

    void whatTheWordsBelowTheMapsEndWithIsNotTheEdge()
    {
        settle();
        const QImage image = m_view->canvas()->renderTo({ 1080, 300 });
        for (int y = image.height() - 6; y < image.height(); ++y) {
            for (int x = 0; x < image.width(); ++x)
                QCOMPARE(image.pixelColor(x, y), Theme::current().base);
        }
    }

    void theLowestHeadsAreDrawnUntilSomeAreChosen()
    {
        m_state->setCursor(Step { 600 });
        settle();
        const auto drawn = m_view->curves(0)->picture();
        const auto own = std::count_if(
            drawn->series.begin(), drawn->series.end(), [](const CurveSeries& one) { return !one.isGroup; });
        QCOMPARE(own, 4);
        QCOMPARE(drawn->series.front().row.key, head(kCollapses[0], kCollapses[1]));
        QCOMPARE(drawn->series.front().stat, Stat::Entropy);
        QCOMPARE(m_view->curves(1)->picture()->series.front().stat, Stat::SoftmaxMax);
    }

    void aClickSelectsEverywhere()
    {
        m_state->setKind(Kind::Scalar);
        settle();
        click(0, 1, 2, Qt::NoModifier);
        QCOMPARE(m_state->selection(), (std::vector { head(1, 2) }));
        QCOMPARE(m_state->kind(), Kind::Attention);
        QCOMPARE(m_state->stat(), Stat::Entropy);
        settle();
        QCOMPARE(m_view->curves(0)->picture()->series.size(), std::size_t { 2 }); // and its layer's band
        click(1, 3, 4, Qt::ControlModifier);
        QCOMPARE(m_state->selection(), (std::vector { head(1, 2), head(3, 4) }));
        // A click beside the heads changes nothing.
        const QPointF outside = canvas().map(0, canvas().size()).area().topLeft() + QPointF(3, 3);
        QTest::mouseClick(&canvas(), Qt::LeftButton, Qt::NoModifier, outside.toPoint());
        QCOMPARE(m_state->selection().size(), std::size_t { 2 });
    }

    void theKeyboardReachesEveryHead()
    {
        settle();
        canvas().setFocus();
        for (const auto key : { Qt::Key_Down, Qt::Key_Down, Qt::Key_Right, Qt::Key_Right, Qt::Key_Left })
            QTest::keyClick(&canvas(), key);
        QTest::keyClick(&canvas(), Qt::Key_Return);
        QCOMPARE(m_state->selection(), (std::vector { head(1, 1) }));
        for (int i = 0; i < 20; ++i)
            QTest::keyClick(&canvas(), Qt::Key_Right);
        QTest::keyClick(&canvas(), Qt::Key_Return, Qt::ControlModifier);
        QCOMPARE(m_state->selection().back(), head(1, kHeads - 1));
    }

    void headsAreOrderedByValueWithTheBrokenFirst()
    {
        m_state->setRank(Rank { 1 });
        m_view->setOrder(HeadOrder::Value);
        settle();
        QCOMPARE(shown().layers[1].heads.front().key, head(kBreaks[0], kBreaks[1]));
        QCOMPARE(shown().group, 1);
        QCOMPARE(shown().orderedBy, HeadValue::Entropy); // of both maps, which say so
        for (const AttentionLayer& layer : shown().layers) {
            for (std::size_t i = 2; i < layer.heads.size(); ++i)
                QVERIFY(layer.heads[i - 1].entropy.value <= layer.heads[i].entropy.value);
        }
        // A large logit is what is looked for, as a low entropy is.
        m_view->setValue(0, HeadValue::MaxLogit);
        settle();
        const auto logit = [&](std::size_t layer, int column) {
            return shown().valueOf(static_cast<int>(layer), column, HeadValue::MaxLogit);
        };
        for (std::size_t layer = 0; layer < shown().layers.size(); ++layer) {
            for (int column = 1; column < kHeads; ++column) {
                if (logit(layer, column - 1).state == CellState::Value
                    && logit(layer, column).state == CellState::Value)
                    QVERIFY(logit(layer, column - 1).value >= logit(layer, column).value);
            }
        }
    }

    void aLayersHeadsCanBeSeenOverTheSteps()
    {
        m_view->setBelow(BelowMaps::Strips);
        click(0, 2, 0, Qt::NoModifier);
        settle();
        const QImage image = m_view->renderImage({ 1200, 800 });
        QVERIFY(image.save(test::shot(QStringLiteral("attention-strips.png"))));
        // Named as above their curves, below the cells of their map.
        for (const int side : { 0, 1 }) {
            QCOMPARE(m_view->strips(side)->picture()->rows[1].label, QStringLiteral("h1"));
            const QRectF cells = canvas().map(side, canvas().size()).cells();
            const QPoint left = m_view->strips(side)->mapTo(m_view, m_view->strips(side)->plotRect().topLeft());
            QCOMPARE(left.x(), canvas().mapTo(m_view, cells.topLeft().toPoint()).x());
            QCOMPARE(m_view->strips(side)->plotRect().width(), static_cast<int>(cells.width()));
        }
    }

    void aShareStaysAShareBelow()
    {
        const double uniform = std::log(static_cast<double>(kKeys));
        m_view->setValue(1, HeadValue::EntropyShare);
        settle();
        const auto entropies = m_view->curves(0)->picture();
        const auto shares = m_view->curves(1)->picture();
        QCOMPARE(shares->series.size(), entropies->series.size());
        for (std::size_t i = 0; i < entropies->series.size(); ++i) {
            const auto& of = entropies->series[i].result.buckets;
            for (std::size_t b = 0; b < of.size(); ++b) {
                if (of[b].finite > 0)
                    QCOMPARE(shares->series[i].result.buckets[b].max, of[b].max / uniform);
            }
        }
        m_view->setBelow(views::BelowMaps::Strips);
        settle();
        const auto strips = m_view->strips(1)->picture();
        QCOMPARE(strips->scale.high(), 1.0); // as in the map
        QCOMPARE(m_view->strips(0)->picture()->scale.high(), shown().scaleOf(HeadValue::Entropy).high());
        QCOMPARE(strips->value(0, 0), static_cast<float>(m_view->strips(0)->picture()->value(0, 0) / uniform));
    }

    void noNonFiniteHeadIsHidden_data()
    {
        QTest::addColumn<int>("count");
        for (const int count : { 4, 40, 200, 900 })
            QTest::newRow(QByteArray::number(count)) << count;
    }
    /// However many heads share a pixel.
    void noNonFiniteHeadIsHidden()
    {
        QFETCH(int, count);
        AttentionPicture picture;
        for (int layer = 0; layer < count; ++layer) {
            AttentionLayer& one = picture.layers.emplace_back();
            one.name = QStringLiteral("layers.%1.attn").arg(layer);
            for (int number = 0; number < count; ++number) {
                HeadCell& cell = one.heads.emplace_back();
                cell.key = head(layer, number);
                cell.entropy = { 1.0, CellState::Value };
            }
        }
        const std::array at { count / 3, count / 2 };
        picture.layers[static_cast<std::size_t>(at[0])].heads[static_cast<std::size_t>(at[1])].entropy
            = { std::nan(""), CellState::NaN };
        picture.finish(HeadValue::Entropy);
        QImage image(500, 400, QImage::Format_RGB32);
        image.fill(Theme::current().base);
        QPainter painter(&image);
        const AttentionMap map(picture, HeadValue::Entropy, QRectF(0, 0, 500, 400));
        map.paint(painter, { -1, -1 }, Theme::current());
        painter.end();
        const QRect cell = map.cellRect(at[0], at[1]).toAlignedRect();
        bool isSeen = false;
        for (int y = cell.top(); y <= cell.bottom(); ++y) {
            for (int x = cell.left(); x <= cell.right(); ++x)
                isSeen = isSeen || image.pixelColor(x, y) == Theme::current().criticalMark;
        }
        QVERIFY(isSeen);
        // Every place of the map is one head's, and the head's own place.
        for (const int layer : { 0, count / 2, count - 1 }) {
            const QPointF middle = map.cellRect(layer, count - 1).center();
            if (map.cellRect(layer, 0).height() > 2)
                QCOMPARE(map.cellAt(middle), (std::array { layer, count - 1 }));
        }
    }

    void theTableHoldsWhatIsShown()
    {
        m_state->setRank(Rank { 1 });
        settle();
        QBuffer buffer;
        QVERIFY(buffer.open(QIODevice::WriteOnly));
        QVERIFY(m_view->writeCsv(&buffer));
        const QList<QByteArray> lines = buffer.data().split('\n');
        QCOMPARE(lines.front().trimmed(), QByteArray("name,head,rank,step,statistic,state,value,micro_step"));
        QCOMPARE(std::ranges::count_if(lines, [](const QByteArray& line) { return line.contains(",1,699,"); }),
            kLayers * kHeads * 4);
        QVERIFY(lines.contains("layers.1.attn,0,1,699,entropy,nan,NaN,\r"));
        const float logit = numbersOf(1, kSteps - 1, 3, 2)[2];
        QVERIFY(lines.contains("layers.3.attn,2,1,699,max_logit,value," + QByteArray::number(logit) + ",\r"));
    }

    /// Beside their mean each micro step keeps its own value.
    void theTableTellsAMeanFromItsMicroSteps()
    {
        cleanup();
        open("accumulated");
        m_state->setSelection({ head(1, 2) });
        settle();
        QCOMPARE(shown().cell(1, 2)->microSteps, 2);
        QBuffer buffer;
        QVERIFY(buffer.open(QIODevice::WriteOnly));
        QVERIFY(m_view->writeCsv(&buffer));
        QList<QByteArray> micros;
        for (const QByteArray& line : buffer.data().split('\n')) {
            if (line.startsWith("layers.1.attn,2,0,59,entropy,"))
                micros.append(line.trimmed().split(',').back());
        }
        QCOMPARE(micros, (QList<QByteArray> { "mean of 2", "0", "1" }));
    }

    void whatACellWithoutAValueIsStandsBelowTheMaps()
    {
        AttentionPicture picture;
        picture.layers.resize(1);
        for (int number = 0; number < 2; ++number) {
            HeadCell& cell = picture.layers.front().heads.emplace_back();
            cell.key = head(0, number);
            for (series::CellValue* value : { &cell.entropy, &cell.softmaxMax })
                *value = { 0.5, CellState::Value };
        }
        picture.finish(HeadValue::Entropy);
        AttentionPicture lacking = picture;
        lacking.layers.front().heads.back().entropy = {};
        const QSize size(900, 400);
        const auto below = [&](const AttentionPicture& of) {
            canvas().setPicture(std::make_shared<AttentionPicture>(of), { HeadValue::Entropy, HeadValue::SoftmaxMax });
            const QImage image = canvas().renderTo(size);
            const int top = static_cast<int>(canvas().map(0, size).cells().bottom()) + 12;
            return image.copy(0, top, size.width(), 18);
        };
        settle();
        QVERIFY(below(lacking) != below(picture));
    }

    void theTableHoldsTheStepsOfWhatIsBelow()
    {
        m_state->zoomTo({ Step { 300 }, Step { 309 } });
        m_state->setSelection({ head(2, 3) });
        settle();
        const auto found = [this](int number, int step, Stat stat) { // the values of that head there
            QBuffer buffer;
            buffer.open(QIODevice::WriteOnly);
            std::vector<float> values;
            if (!m_view->writeCsv(&buffer))
                return values;
            const QByteArray place = "layers.2.attn," + QByteArray::number(number) + ",0," + QByteArray::number(step)
                + ',' + QByteArray(statName(stat).data()) + ",value,";
            for (const QByteArray& line : buffer.data().split('\n')) {
                if (line.startsWith(place))
                    values.push_back(line.mid(place.size()).split(',').front().toFloat());
            }
            return values;
        };
        QCOMPARE(found(3, 304, Stat::Entropy), std::vector { numbersOf(0, 304, 2, 3)[0] });
        QCOMPARE(found(3, 304, Stat::SoftmaxMax), std::vector { numbersOf(0, 304, 2, 3)[1] });
        QVERIFY(found(1, 304, Stat::Entropy).empty());
        choose("attentionBelow", static_cast<int>(BelowMaps::Strips));
        for (const int number : { 1, 3 })
            QCOMPARE(found(number, 304, Stat::Entropy), std::vector { numbersOf(0, 304, 2, number)[0] });
    }

    void aRunWithoutAttentionSaysHowToGetIt()
    {
        cleanup();
        open("plain");
        settle();
        QVERIFY(!canvas().picture() || canvas().picture()->isEmpty());
        QVERIFY(m_view->findChild<ViewBar*>()->isHidden()); // it has nothing to choose from
        QVERIFY(m_view->renderImage({ 800, 600 }).save(test::shot(QStringLiteral("attention-none.png"))));
    }

    void looks_data() { test::addLooks(); }
    void looks()
    {
        cleanup();
        const auto [theme, language] = test::putOnLook();
        open("run");
        m_state->setCursor(Step { 660 });
        m_state->setRank(Rank { 1 });
        settle();
        click(0, 2, 3, Qt::NoModifier);
        click(0, 0, 1, Qt::ControlModifier);
        click(0, 1, 0, Qt::ControlModifier);
        QTest::mouseMove(&canvas(), canvas().map(0, canvas().size()).cellRect(2, 3).center().toPoint());
        settle();
        QVERIFY(m_view->grab().save(test::shot(QStringLiteral("attention-%1-%2.png").arg(theme, language))));
    }

private:
    AttentionCanvas& canvas() { return *m_view->canvas(); }
    const AttentionPicture& shown() { return *m_view->canvas()->picture(); }
    void click(int side, int layer, int column, Qt::KeyboardModifiers modifiers)
    {
        settle();
        const QPointF middle = canvas().map(side, canvas().size()).cellRect(layer, column).center();
        QTest::mouseClick(&canvas(), Qt::LeftButton, modifiers, middle.toPoint());
    }
    static void compare(const series::CellValue& cell, float expected)
    {
        if (std::isnan(expected))
            QCOMPARE(cell.state, CellState::NaN);
        else
            QVERIFY2(cell.state == CellState::Value && std::abs(cell.value - static_cast<double>(expected)) < 1e-6,
                qPrintable(QStringLiteral("%1 is not %2").arg(cell.value).arg(static_cast<double>(expected))));
    }
};

TELLTALE_TEST(QTEST_MAIN, AttentionTest)

}

#include "attentiontest.moc"
