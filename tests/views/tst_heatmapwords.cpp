// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <cmath>
#include <map>
#include <set>

#include <QApplication>
#include <QBuffer>
#include <QMouseEvent>
#include <QRegularExpression>
#include <QSvgGenerator>

#include <telltale/common/glyphs.h>
#include <telltale/common/plotcanvas.h>
#include <telltale/common/readout.h>
#include <telltale/heatmap/heatcanvas.h>
#include <telltale/heatmap/heatgutter.h>
#include <telltale/heatmap/heatimage.h>
#include <telltale/heatmap/heatlegend.h>
#include <telltale/heatmap/heatmapview.h>
#include <telltale/heatmap/runends.h>

#include "heatfixture.h"

namespace tst_heatmapwords {

using namespace telltale;
using namespace telltale::views;
using series::CellState;
using test::picture;
using test::pixelsOf;

/// What stands beside the picture of a heatmap: its legend, the names of its rows, readouts. Thread: gui.
class HeatmapWords : public QObject {
    Q_OBJECT

    /// Of so many steps each so-and-so-many-th.
    static HeatPicture sampled(int columns, int steps, int each)
    {
        HeatPicture p = picture(4, columns);
        p.result.range = { Step { 0 }, Step { steps - 1 } };
        std::fill(p.result.states.begin(), p.result.states.end(), CellState::NotCollected);
        for (int step = 0; step < steps; step += each) {
            for (int row = 0; row < 4; ++row)
                p.result.states[static_cast<std::size_t>(row * columns + p.columnOf(Step { step }))] = CellState::Value;
        }
        p.finish();
        return p;
    }

private Q_SLOTS:
    void longNamesWidenTheGutterUpToAQuarter()
    {
        ViewState state;
        HeatCanvas canvas(&state);
        auto named = std::make_shared<HeatPicture>(picture(4, 20));
        for (Row& row : named->rows)
            row.label = QStringLiteral("0.attention.projection.weight");
        named->finish();
        canvas.setPicture(named);
        const QRect wide = canvas.plotRect({ 1200, 400 });
        const double name = QFontMetricsF(codeFont(11)).horizontalAdvance(named->rows.front().label);
        QVERIFY2(wide.left() >= name + 8, qPrintable(QString::number(wide.left())));
        QVERIFY(wide.left() <= 300);
        QCOMPARE(canvas.plotRect({ 600, 400 }).left(), 150);
        // What is cut there is said whole.
        named->rows.back().key.name = QStringLiteral("layers.3.attention");
        canvas.resize(600, 400);
        canvas.setPicture(named);
        const QRect plot = canvas.plotRect({ 600, 400 });
        QCOMPARE(canvas.gutterText({ 5, plot.bottom() - 2 }), QStringLiteral("<qt>layers.3.attention</qt>"));
        QVERIFY(canvas.gutterText({ plot.left() + 5, plot.bottom() - 2 }).isEmpty());
        // So does what is said at the pointer of a micro step that is not the first.
        const auto hovered = [&] {
            canvas.setPicture(named);
            const QPoint at = canvas.cellRect(3, 2).center().toPoint();
            QMouseEvent move(QEvent::MouseMove, at, canvas.mapToGlobal(at), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
            QApplication::sendEvent(&canvas, &move);
            return canvas.grab().toImage();
        };
        const QImage first = hovered();
        named->rows.back().micro = QStringLiteral("µ1");
        QCOMPARE(canvas.gutterText({ 5, plot.bottom() - 2 }), QStringLiteral("<qt>layers.3.attention µ1</qt>"));
        QVERIFY(hovered() != first);
        // Rows too low for a name each: the gutter is as wide as their groups want.
        auto many = std::make_shared<HeatPicture>(picture(200, 20));
        for (std::size_t row = 0; row < many->rows.size(); ++row) {
            many->rows[row].label = named->rows.front().label;
            many->rows[row].group = row < 100 ? QStringLiteral("a") : QStringLiteral("b");
        }
        many->finish();
        canvas.setPicture(many);
        QCOMPARE(canvas.plotRect({ 1200, 400 }).left(), SharedAxis::kGutter);
    }

    void aRatioIsWrittenInOneWay()
    {
        QCOMPARE(ratioText(0.8231, 4), QStringLiteral("\u00F71.215"));
        QCOMPARE(ratioText(1 / 0.8231, 4), QStringLiteral("\u00D71.215"));
        QCOMPARE(ratioText(0.8231), QStringLiteral("\u00F71.21"));
        QCOMPARE(ratioText(0, 4), QStringLiteral("\u00D70"));
        QCOMPARE(ratioText(0.99, 4), ratioText(0.99));
    }

    /// All rows are named, or their groups: one name that is missing looks like a row that is.
    void everyRowIsNamedOrNone()
    {
        ViewState state;
        HeatCanvas canvas(&state);
        auto grouped = std::make_shared<HeatPicture>(picture(40, 20));
        for (std::size_t row = 0; row < grouped->rows.size(); ++row) {
            grouped->rows[row].label = QStringLiteral("attention.weight");
            grouped->rows[row].group = QString::number(row / 8);
        }
        grouped->finish();
        canvas.setPicture(grouped);
        std::set<bool> seen;
        for (int height = 400; height < 700; height += 3) {
            const QSize size(800, height);
            const QRect plot = canvas.plotRect(size);
            const RowLayout layout = HeatImage::layout(*grouped, plot.height(), 1);
            const bool areNamed = HeatGutter::namesRows(*grouped, layout.bands().size(), plot.height());
            seen.insert(areNamed);
            if (!areNamed)
                continue;
            const QImage image = canvas.renderTo(size);
            for (int row = 0; row < layout.rows(); ++row) {
                const int middle = plot.top() + (layout.top(row) + layout.bottom(row)) / 2;
                const QImage name = image.copy(plot.left() - 60, middle - 2, 40, 4);
                QVERIFY2(pixelsOf(name, Theme::current().base.rgb()) < 160,
                    qPrintable(QStringLiteral("%1 at %2").arg(row).arg(height)));
            }
        }
        QCOMPARE(seen.size(), std::size_t { 2 });
    }

    /// Where not all have room it is each second or third, not all but the first.
    void theFirstRowIsNamedInAMapOfAnyHeight()
    {
        ViewState state;
        HeatCanvas canvas(&state);
        for (const std::size_t inGroup : { 19, 1 }) {
            auto p = std::make_shared<HeatPicture>(picture(19, 20));
            for (std::size_t row = 0; row < p->rows.size(); ++row) {
                p->rows[row].label = QStringLiteral("attention.weight");
                p->rows[row].group = QString::number(row / inGroup) + QStringLiteral(".attention");
            }
            p->finish();
            canvas.setPicture(p);
            for (int height = 110; height < 400; ++height) {
                const QRect plot = canvas.plotRect({ 800, height });
                const QImage name = canvas.renderTo({ 800, height }).copy(plot.left() - 60, plot.top() + 3, 40, 4);
                QVERIFY2(pixelsOf(name, Theme::current().base.rgb()) < 160,
                    qPrintable(QStringLiteral("%1 at %2").arg(inGroup).arg(height)));
            }
        }
    }

    /// The name of a selected row stands between those of the groups: the one above it is read on.
    void aSelectedRowLeavesTheNameOfTheGroupAboveIt()
    {
        ViewState state;
        HeatCanvas canvas(&state);
        auto p = std::make_shared<HeatPicture>(picture(60, 20));
        for (std::size_t row = 0; row < p->rows.size(); ++row) {
            p->rows[row].key.name = QString::number(row);
            p->rows[row].label = QStringLiteral("attention.weight");
            p->rows[row].group = QStringLiteral("group.%1").arg(row < 2 ? row : 2 + row / 30);
        }
        p->finish();
        canvas.setPicture(p);
        const QRect plot = canvas.plotRect({ 800, 260 });
        const auto names = [&] {
            const QImage image = canvas.renderTo({ 800, 260 });
            return std::pair(image.copy(0, plot.top() - 3, plot.left() - 14, 15),
                image.copy(0, plot.top() + 13, plot.left() - 14, 10));
        };
        const auto before = names();
        state.setSelection({ p->rows[1].key });
        const auto after = names();
        QCOMPARE(after.first, before.first);
        QVERIFY(after.second != before.second);
    }

    void aReadoutLeavesTheStepOfAMapOfRanksInView()
    {
        ViewState state;
        HeatCanvas canvas(&state);
        auto ranks = std::make_shared<HeatPicture>(picture(40, 4));
        ranks->axes = HeatAxes::ModuleByRank;
        for (int rank = 0; rank < 4; ++rank)
            ranks->columnRanks.push_back(Rank { rank });
        ranks->cellSteps.assign(160, Step { 7 });
        ranks->finish();
        canvas.resize(800, 300);
        canvas.setPicture(ranks);
        const QRect plot = canvas.plotRect();
        for (int row = 0; row < 40; ++row) {
            const QPoint at = canvas.cellRect(row, 1).center().toPoint();
            QMouseEvent move(QEvent::MouseMove, at, canvas.mapToGlobal(at), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
            QApplication::sendEvent(&canvas, &move);
            const QImage image = canvas.grab().toImage();
            QCOMPARE(pixelsOf(image.copy(0, 0, 800, plot.top()), Theme::current().raised.rgb()), 0);
            QVERIFY(pixelsOf(image, Theme::current().raised.rgb()) > 100);
        }
    }

    void aReadoutWrapsWhereItsRoomIsNarrow()
    {
        const Readout readout { QStringLiteral("layers.2.moe.router"), QStringLiteral("rank 1, step 159"),
            CellState::NaN, QStringLiteral("NaN"), QStringLiteral("norm   unlike its peers (29 of 156 cells)"), {},
            {} };
        const auto rightOf = [&readout](int room) {
            QImage image(400, 300, QImage::Format_RGB32);
            image.fill(Qt::black);
            QPainter painter(&image);
            paintReadout(painter, QRectF(4, 4, room, 292), QRectF(20, 20, 40, 40), readout, Theme::dark());
            int right = 399;
            while (right > 0 && pixelsOf(image.copy(right, 0, 1, 300), QColor(Qt::black).rgb()) == 300)
                --right;
            return right;
        };
        QVERIFY(rightOf(392) > 300);
        for (const int room : { 180, 110 }) {
            QVERIFY(rightOf(room) <= 4 + room);
            QBuffer buffer;
            QSvgGenerator svg;
            svg.setOutputDevice(&buffer);
            QPainter painter(&svg);
            paintReadout(painter, QRectF(4, 4, room, 292), QRectF(20, 20, 40, 40), readout, Theme::dark());
            painter.end();
            QString said;
            const QRegularExpression words(QStringLiteral("<text[^>]*>([^<]*)</text>"));
            for (auto each = words.globalMatch(QString::fromUtf8(buffer.data())); each.hasNext();)
                said += each.next().captured(1).remove(u' ');
            for (const QString& all : { readout.name, readout.where, readout.value, readout.detail })
                QVERIFY2(said.contains(QString(all).remove(u' ')), qPrintable(said));
        }
    }

    void aReadoutKeepsAValueBesideItsName()
    {
        const Readout readout { QStringLiteral("layers.1.attn head 1"),
            QStringLiteral("step 159, rank 3, entropy 159 steps ago 2.874"), CellState::Value, QStringLiteral("0.1012"),
            QStringLiteral("spread of entropy"), QStringLiteral("0.03154"), QStringLiteral("spread of softmax max") };
        QBuffer buffer;
        QSvgGenerator svg;
        svg.setOutputDevice(&buffer);
        QPainter painter(&svg);
        paintReadout(painter, QRectF(4, 4, 240, 292), QRectF(20, 20, 40, 40), readout, Theme::dark());
        painter.end();
        std::map<QString, QString> lineOf;
        const QRegularExpression words(QStringLiteral("<text[^>]* y=\"([^\"]*)\"[^>]*>([^<]*)</text>"));
        for (auto each = words.globalMatch(QString::fromUtf8(buffer.data())); each.hasNext();) {
            const auto one = each.next();
            lineOf[one.captured(2).trimmed()] = one.captured(1);
        }
        QVERIFY2(lineOf.contains(readout.secondValue), buffer.data().constData());
        QCOMPARE(lineOf[readout.secondValue], lineOf[readout.secondDetail]);
        QCOMPARE(lineOf[readout.value], lineOf[readout.detail]);
        QVERIFY(lineOf[readout.value] != lineOf[readout.secondValue]);
        QVERIFY(lineOf.contains(QStringLiteral("entropy 159 steps ago 2.874"))); // in one piece
    }

    void aClickedRowIsSaidUntilThePointerMoves()
    {
        ViewState state;
        HeatCanvas canvas(&state);
        auto shown = std::make_shared<HeatPicture>(picture(8, 20));
        for (std::size_t row = 0; row < shown->rows.size(); ++row) {
            shown->rows[row].key.name = QStringLiteral("layers.%1").arg(row == 4 ? 5 : row); // its two micro steps
            shown->rows[row].tensor = static_cast<std::uint32_t>(row);
        }
        shown->finish();
        state.setFullRange(shown->result.range);
        canvas.resize(900, 600);
        canvas.setPicture(shown);
        const auto moveTo = [&canvas](QPoint place) {
            QMouseEvent move(
                QEvent::MouseMove, place, canvas.mapToGlobal(place), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
            QApplication::sendEvent(&canvas, &move);
        };
        const QPoint at = canvas.cellRect(5, 10).center().toPoint();
        moveTo(at);
        QTest::mouseClick(&canvas, Qt::LeftButton, Qt::NoModifier, at);
        QCOMPARE(state.selection().front(), shown->rows[5].key);
        canvas.resize(900, 350); // what a click opens below it
        canvas.setPicture(std::make_shared<HeatPicture>(*shown));
        const QImage rests = canvas.grab().toImage();
        moveTo(at + QPoint(0, 1));
        QVERIFY(canvas.grab().toImage() != rests); // another row lies there now
        moveTo(canvas.cellRect(5, 10).center().toPoint());
        QCOMPARE(canvas.grab().toImage(), rests);
    }

    void theLegendSaysHowManyStepsWereCollected()
    {
        const auto textOf = [](int columns, int every, int extra = -1) {
            HeatPicture p = picture(2, columns);
            for (int column = 0; column < columns; ++column) {
                for (int row = 0; row < 2 && column % every != 1 % every && column != extra; ++row)
                    p.result.states[static_cast<std::size_t>(row * columns + column)] = CellState::NotCollected;
            }
            p.finish();
            return columnStepsText(p);
        };
        QCOMPARE(textOf(100, 1), QStringLiteral("each step"));
        QCOMPARE(textOf(100, 5), QStringLiteral("one step in 5"));
        QCOMPARE(textOf(100, 3), QStringLiteral("one step in 3"));
        QCOMPARE(textOf(100, 5, 50), QString()); // not equally far apart
        QCOMPARE(textOf(4, 5), QString()); // one column says nothing of others
    }

    void theLegendSaysHowManyStepsWereCollectedWhereColumnsHaveSeveral()
    {
        for (int steps = 100; steps < 500; ++steps) {
            HeatPicture p = sampled(100, steps, 5);
            QCOMPARE(columnStepsText(p), QStringLiteral("one step in 5"));
            if (!p.held.empty())
                QCOMPARE(p.held.back(), p.collected.back()); // the next is not due yet
            for (const int column : p.collected) {
                const StepRange collected = p.collectedSteps(column);
                QVERIFY(collected.first.value <= collected.last.value);
                QVERIFY(collected.contains(Step { (collected.last.value + 4) / 5 * 5 })
                    || collected.contains(Step { collected.last.value / 5 * 5 }));
            }
        }
        // Where each column has some, nobody can tell.
        QCOMPARE(columnStepsText(sampled(100, 300, 3)), QStringLiteral("largest of 3 steps"));
        QCOMPARE(columnStepsText(sampled(100, 300, 1)), QStringLiteral("largest of 3 steps"));
        // Of two runs the one that has more has the mean of it.
        HeatPicture p = sampled(100, 240, 5);
        auto sides = std::make_shared<HeatSides>();
        sides->statesA = sides->statesB = p.result.states;
        p.sides = sides;
        p.finish();
        QCOMPARE(columnStepsText(p), QStringLiteral("one step in 5"));
        sides->statesB.assign(sides->statesA.size(), CellState::Value);
        p.finish();
        QCOMPARE(columnStepsText(p), QStringLiteral("largest of 2 steps"));
    }

    void whatIsPointedAtIsTheStepWhoseColorIsDrawn()
    {
        ViewState state;
        HeatCanvas canvas(&state);
        canvas.resize(900, 300);
        const auto moveTo = [&canvas](QPoint place) {
            QMouseEvent move(
                QEvent::MouseMove, place, canvas.mapToGlobal(place), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
            QApplication::sendEvent(&canvas, &move);
            return canvas.grab().toImage();
        };
        for (const int steps : { 200, 450 }) {
            state.setFullRange({ Step { 0 }, Step { steps - 1 } });
            canvas.setPicture(std::make_shared<HeatPicture>(sampled(200, steps, 5)));
            const QRect plot = canvas.plotRect();
            const auto at = [&](int step) {
                return QPoint(plot.left() + static_cast<int>((step + 0.5) * plot.width() / steps), plot.center().y());
            };
            const QImage image = moveTo(at(100));
            for (int step = 101; step < 103; ++step) {
                QCOMPARE(moveTo(at(step)), image); // words, frame and line
                QCOMPARE(state.hover(), std::optional(Step { 100 }));
            }
            QVERIFY(moveTo(at(106)) != image);
            QCOMPARE(state.hover(), std::optional(Step { 105 }));
            const int column = canvas.picture()->columnOf(Step { 100 });
            const QRectF cell = canvas.cellRect(1, column);
            QVERIFY(cell.width() > 4.0 * plot.width() / steps);
            QCOMPARE(canvas.cellRect(1, column + 1), cell);
            QTest::mouseClick(&canvas, Qt::LeftButton, Qt::NoModifier, at(102));
            QCOMPARE(state.cursor(), std::optional(Step { 100 }));
            // What stands in the lane is of that step.
            moveTo(QPoint(at(102).x(), plot.top() - 6));
            QVERIFY(std::abs(state.hover()->value - 102) <= 1);
        }
    }

    void aLowLegendHasColorsThatCanBeReadOrNone()
    {
        HeatPicture p = picture(3, 300);
        p.sides = std::make_shared<HeatSides>();
        p.scaleMode = HeatScale::Difference;
        p.result.states.front() = CellState::NaN;
        p.finish();
        const Theme& theme = Theme::current();
        const auto barOf = [&](int height) {
            QImage image(142, height, QImage::Format_RGB32);
            image.fill(theme.base);
            QPainter painter(&image);
            paintHeatLegend(painter, QRectF(0, 0, 142, height), p, theme, true);
            painter.end();
            std::set<QRgb> colors; // the bar's own: no two of its rows are alike but where it is longer than the table
            for (int y = 0; y < height; ++y)
                colors.insert(image.pixel(24 + 1, y));
            return static_cast<int>(colors.size());
        };
        for (int height = 40; height < 220; ++height) {
            const int bar = barOf(height);
            QVERIFY2(bar < 8 || bar >= 22, qPrintable(QStringLiteral("%1 px: %2").arg(height).arg(bar)));
        }
        QVERIFY(barOf(92) >= 36);
    }

    /// What the picture has keeps its sign longest; that a step between two samples was not collected is not seen.
    void aLowLegendKeepsTheSignsOfWhatIsSeen()
    {
        const auto lastSign = [](int each, int height) {
            HeatPicture p = picture(4, 300);
            for (std::size_t cell = 0; cell < p.result.states.size(); ++cell)
                p.result.states[cell] = cell == 0 ? CellState::Gap
                    : cell % each == 0            ? CellState::Value
                                                  : CellState::NotCollected;
            p.finish();
            QImage image(142, height, QImage::Format_RGB32);
            image.fill(Theme::current().base);
            QPainter painter(&image);
            paintHeatLegend(painter, QRectF(0, 0, 142, height), p, Theme::current(), true, 300);
            painter.end();
            return image.copy(0, height - 29, 142, 29);
        };
        int signs = 0;
        for (int height = 132; height < 300; ++height) {
            const QImage last = lastSign(1, height);
            QVERIFY2(lastSign(5, height) == last, qPrintable(QString::number(height)));
            signs += pixelsOf(last, Theme::current().text2.rgb()) > 0;
        }
        QVERIFY(signs > 100);
    }

    void aLowLegendOfADifferenceKeepsItsMiddleAndDropsPairs()
    {
        HeatPicture p = picture(3, 300);
        p.sides = std::make_shared<HeatSides>();
        p.scaleMode = HeatScale::Difference;
        p.finish();
        const Theme& theme = Theme::current();
        std::set<std::size_t> counts;
        for (int height = 92; height < 300; ++height) {
            QImage image(142, height, QImage::Format_RGB32);
            image.fill(theme.base);
            QPainter painter(&image);
            paintHeatLegend(painter, QRectF(0, 0, 142, height), p, theme, false);
            painter.end();
            std::vector<int> marks; // right of the colors
            for (int y = 0; y < height; ++y) {
                if (image.pixel(39, y) == theme.text3.rgb() && image.pixel(41, y) == theme.text3.rgb()
                    && image.pixel(43, y) == theme.base.rgb())
                    marks.push_back(y);
            }
            counts.insert(marks.size());
            const QString said = QStringLiteral("%1 px: %2 marks").arg(height).arg(marks.size());
            QVERIFY2(marks.size() % 2 == 1, qPrintable(said));
            for (std::size_t i = 0; i < marks.size(); ++i)
                QVERIFY2(std::abs(marks[i] + marks[marks.size() - 1 - i] - marks.front() - marks.back()) <= 2,
                    qPrintable(said));
        }
        QVERIFY(counts.contains(3) && counts.size() > 1);
    }

    void theNameInALegendLosesWholePartsInFront()
    {
        const auto painted = [](const QString& name) {
            HeatPicture p = picture(3, 300);
            p.axes = HeatAxes::RankByStep;
            p.rows.front().key.name = name;
            p.finish();
            QImage image(142, 60, QImage::Format_RGB32);
            image.fill(Theme::current().base);
            QPainter painter(&image);
            paintHeatLegend(painter, QRectF(0, 0, 142, 200), p, Theme::current(), false);
            return image;
        };
        const QString part = QStringLiteral("experts.1.fc1.weight");
        QCOMPARE(painted(QStringLiteral("blocks.2.mlp.") + part), painted(QChar(0x2026) + part));
    }

    void aNameInALegendEndsBeforeTheWindowDoes()
    {
        for (int length = 10; length < 40; ++length) {
            HeatPicture p = picture(3, 300);
            p.axes = HeatAxes::RankByStep;
            p.rows.front().key.name = QString(length, u'a');
            p.finish();
            QImage image(142, 60, QImage::Format_RGB32);
            image.fill(Theme::current().base);
            QPainter painter(&image);
            paintHeatLegend(painter, QRectF(0, 0, 142, 200), p, Theme::current(), false);
            painter.end();
            QCOMPARE(pixelsOf(image.copy(131, 0, 11, 60), Theme::current().base.rgb()), 11 * 60);
        }
    }

    void theLegendOfADifferenceSaysThatItIsSymlog()
    {
        HeatPicture p = picture(3, 300);
        p.sides = std::make_shared<HeatSides>();
        p.scaleMode = HeatScale::Difference;
        p.finish();
        const Theme& theme = Theme::current();
        QImage image(142, 200, QImage::Format_RGB32);
        image.fill(theme.base);
        QPainter painter(&image);
        paintHeatLegend(painter, QRectF(0, 0, 142, 200), p, theme, true);
        painter.end();
        const int behind = 24 + QFontMetrics(wordsFont(11)).horizontalAdvance(QStringLiteral("B \u2212 A,")) + 2;
        int pixels = 0;
        for (int y = 30; y < 44; ++y) {
            for (int x = behind; x < 142; ++x)
                pixels += image.pixel(x, y) != theme.base.rgb() ? 1 : 0;
        }
        QVERIFY(pixels > 20);
    }

    void aLongTitleOfALegendHasASecondLine()
    {
        HeatPicture p = picture(3, 300, HeatScale::Deviation);
        p.stat = Stat::AbsMax;
        p.finish();
        const Theme& theme = Theme::current();
        QImage image(200, 200, QImage::Format_RGB32);
        image.fill(theme.base);
        QPainter painter(&image);
        paintHeatLegend(painter, QRectF(0, 0, 142, 200), p, theme, false);
        painter.end();
        const auto isEmpty = [&](const QRect& part) {
            return pixelsOf(image.copy(part), theme.base.rgb()) == part.width() * part.height();
        };
        QVERIFY(isEmpty({ 142, 0, 58, 30 }));
        QVERIFY(pixelsOf(image.copy(24, 16, 118, 14), theme.text.rgb()) > 10); // in the title's color
    }

    void aLegendEndsAtAWholeNumberWithoutDecimals()
    {
        HeatPicture p = picture(3, 300);
        p.stat = Stat::Nans;
        p.finish();
        const auto widthFor = [&p](double high) {
            p.scale = ValueScale(ValueScale::Mode::Linear, 0, high);
            return heatStripWidth(p);
        };
        QCOMPARE(widthFor(9), widthFor(8));
        QVERIFY(widthFor(9) < widthFor(9.5));
    }

    /// Its ends may be decimals by themselves where the decades between them are not.
    void aLegendOfSignedValuesIsWrittenInOneWay()
    {
        int powers = 0;
        for (const float largest : { 9e-4F, 9e-3F, 0.09F, 0.9F, 9.0F }) {
            HeatPicture p = picture(4, 50, HeatScale::Symlog);
            for (std::size_t i = 0; i < p.result.values.size(); ++i)
                p.result.values[i] = (i % 2 == 0 ? largest : -1e-6F) * static_cast<float>(i % 7 + 1) / 7;
            p.finish();
            for (int height = 150; height < 400; height += 10) {
                QBuffer page;
                QSvgGenerator svg;
                svg.setOutputDevice(&page);
                QPainter painter(&svg);
                paintHeatLegend(painter, QRectF(0, 0, 142, height), p, Theme::current(), false);
                painter.end();
                static const QRegularExpression kPower(QStringLiteral(">[^<>]*[0-9]e-[0-9]+</text>"));
                static const QRegularExpression kDecimal(QStringLiteral(">[^<>]*0\\.[0-9]+</text>"));
                const QString texts = QString::fromUtf8(page.data());
                QVERIFY2(!texts.contains(kPower) || !texts.contains(kDecimal), qPrintable(texts));
                powers += texts.contains(kPower) && p.scale.high() >= 1e-3 ? 1 : 0;
            }
        }
        QVERIFY(powers > 0);
    }

    /// So is one that goes over decades and ends between two of them.
    void anEndBetweenDecadesIsWrittenAsTheDecadesAre()
    {
        HeatPicture p = picture(4, 50, HeatScale::Log);
        p.finish();
        p.scale = ValueScale(ValueScale::Mode::Log, 1.8e-4, 0.018);
        QBuffer page;
        QSvgGenerator svg;
        svg.setOutputDevice(&page);
        QPainter painter(&svg);
        paintHeatLegend(painter, QRectF(0, 0, 142, 400), p, Theme::current(), false);
        painter.end();
        static const QRegularExpression kText(QStringLiteral(">([^<>]+)</text>"));
        QStringList numbers;
        for (auto found = kText.globalMatch(QString::fromUtf8(page.data())); found.hasNext();)
            numbers.append(found.next().captured(1));
        const bool arePowers = std::ranges::none_of(numbers, [](const QString& one) { return one.contains(u"0."); });
        QVERIFY2(arePowers && numbers.contains(QStringLiteral("1e-3")) && numbers.contains(QStringLiteral("1.8e-2")),
            qPrintable(numbers.join(u' ')));
    }

    void aLegendOfZerosInventsNoScale()
    {
        for (const bool isOne : { true, false }) {
            HeatPicture p = picture(3, 300);
            p.stat = Stat::Zeros;
            std::ranges::fill(p.result.values, 0.0F);
            p.result.values.front() = isOne ? 1e-3F : 0.0F;
            p.finish();
            QCOMPARE(p.isZero, !isOne);
            QImage image(142, 200, QImage::Format_RGB32);
            image.fill(Theme::current().base);
            QPainter painter(&image);
            paintHeatLegend(painter, QRectF(0, 0, 142, 200), p, Theme::current(), false);
            painter.end();
            std::set<QRgb> colors;
            for (int y = 50; y < 200; ++y)
                colors.insert(image.pixel(24 + 1, y));
            QCOMPARE(colors.size() > 20, isOne);
        }
    }

    void aNameIsNotBroken()
    {
        const QString name = QStringLiteral("moe-nan");
        const QString whole = withWholeNames(noStepAfter(name, Step { 219 }), { name, QString() });
        QVERIFY(!whole.contains(name));
        QCOMPARE(QString(whole).remove(QChar(0x2060)), QStringLiteral("moe-nan has no step after 219"));
        const QFontMetrics metrics(wordsFont(11));
        const int first = metrics.horizontalAdvance(name);
        QVERIFY(metrics.boundingRect(QRect(0, 0, first - 5, 500), Qt::TextWordWrap, name).height() > metrics.height());
        QCOMPARE(metrics.boundingRect(QRect(0, 0, first - 5, 500), Qt::TextWordWrap, withWholeNames(name, { name }))
                     .height(),
            metrics.boundingRect(QRect(0, 0, 900, 500), Qt::TextWordWrap, withWholeNames(name, { name })).height());
    }

    void aSelectedRowKeepsMoreOfItsNameThanTheLastPart()
    {
        ViewState state;
        HeatCanvas canvas(&state);
        auto low = std::make_shared<HeatPicture>(picture(200, 20));
        for (std::size_t row = 0; row < low->rows.size(); ++row) {
            low->rows[row].key.name = QString::number(row);
            low->rows[row].label = QStringLiteral("a_module_with_a_long_name.weight");
            low->rows[row].group = row < 100 ? QStringLiteral("a") : QStringLiteral("b");
        }
        low->finish();
        canvas.resize(600, 400);
        canvas.setPicture(low);
        state.setSelection({ low->rows[20].key });
        const QImage image = canvas.renderTo(canvas.size());
        const QRect plot = canvas.plotRect();
        const int middle = plot.top() + plot.height() / 10;
        const QImage name = image.copy(0, middle - 7, plot.left() - 16, 14);
        int left = 0;
        while (left < name.width() && pixelsOf(name.copy(left, 0, 1, 14), Theme::current().base.rgb()) == 14)
            ++left;
        const double last = QFontMetricsF(codeFont(11, 600)).horizontalAdvance(QStringLiteral("\u2026weight"));
        QVERIFY2(name.width() - left > last + 10, qPrintable(QString::number(name.width() - left)));
    }

    void theLinesOfASelectedRowEndWithAMapThatHasNoLegend()
    {
        ViewState state;
        HeatCanvas canvas(&state);
        canvas.setLegendVisible(false);
        auto shown = std::make_shared<HeatPicture>(picture(3, 100));
        for (std::size_t row = 0; row < shown->rows.size(); ++row)
            shown->rows[row].key.name = QString::number(row);
        shown->finish();
        canvas.resize(600, 300);
        canvas.setPicture(shown);
        state.setSelection({ shown->rows[1].key });
        const QImage image = canvas.renderTo(canvas.size());
        const QRect plot = canvas.plotRect();
        const auto linesAt = [&](int x) { return pixelsOf(image.copy(x, 0, 1, 300), Theme::current().text.rgb()); };
        QCOMPARE(linesAt(plot.right() + 1), 2);
        QCOMPARE(linesAt(plot.right() + 6), 0);
    }

    void aNameThatHasNoRoomStandsUpright()
    {
        ViewState state;
        HeatCanvas canvas(&state);
        auto ended = std::make_shared<HeatPicture>(picture(3, 100));
        const QString name = QStringLiteral("moe-nan");
        const QString after = noStepAfter(name, Step { 91 });
        ended->sides = std::make_shared<HeatSides>(HeatSides {
            name, QStringLiteral("moe-b"), StepRange { Step { 0 }, Step { 91 } }, QString(), after, {}, {}, {}, {} });
        ended->finish();
        canvas.setPicture(ended);
        const QFontMetrics metrics(wordsFont(11));
        const auto inkOf = [&](int width, int height = 400) {
            const QRect plot = canvas.plotRect({ width, height });
            const QImage image = canvas.renderTo({ width, height });
            QRect ink;
            for (int y = plot.top(); y <= plot.bottom(); ++y) {
                for (int x = plot.left() + plot.width() * 92 / 100 + 2; x <= plot.right(); ++x) {
                    if (image.pixel(x, y) == Theme::current().text3.rgb())
                        ink |= QRect(x, y, 1, 1);
                }
            }
            return ink;
        };
        const QRect upright = inkOf(800); // 42 px
        QVERIFY(upright.height() > metrics.horizontalAdvance(after) * 9 / 10);
        QVERIFY(upright.width() < metrics.height());
        const QRect lying = inkOf(1600); // 106 px
        QVERIFY(lying.width() > metrics.horizontalAdvance(name) && lying.height() < upright.height());
        // A low map has no room for the name, and a word in its place.
        QVERIFY(canvas.plotRect({ 800, 150 }).height() < metrics.horizontalAdvance(after));
        QVERIFY(!inkOf(800, 150).isEmpty());
    }

    void theEndsOfAScaleOfCountsAreWholeNumbers()
    {
        HeatPicture p = picture(3, 40);
        p.stat = Stat::Nans;
        for (std::size_t i = 0; i < p.result.values.size(); ++i)
            p.result.values[i] = i % 2 == 0 ? 4 : 17000;
        p.finish();
        QCOMPARE(p.scale.low(), 3.0);
        QCOMPARE(p.scale.high(), std::ceil(std::pow(10, 4.25)));
        // Written as the decades beside them.
        const auto widthOf = [](const char* text) {
            return QFontMetricsF(numberFont(11)).horizontalAdvance(QString::fromLatin1(text));
        };
        HeatPicture other = p;
        other.scale = ValueScale(ValueScale::Mode::Log, 1, 1e4);
        QCOMPARE(
            heatStripWidth(p) - widthOf("3") - widthOf("1.8e4"), heatStripWidth(other) - widthOf("1") - widthOf("1e4"));
        // An end that is no decade is a decimal wherever axes write one.
        HeatPicture third = p;
        third.scale = ValueScale(ValueScale::Mode::Log, 2e-4, 0.56);
        QCOMPARE(heatStripWidth(third) - widthOf("2e-4") - widthOf("0.56"),
            heatStripWidth(other) - widthOf("1") - widthOf("1e4"));
        third.scale = ValueScale(ValueScale::Mode::Log, 5.6e-3, 0.56);
        QCOMPARE(heatStripWidth(third) - widthOf("0.0056") - widthOf("0.56"),
            heatStripWidth(other) - widthOf("1") - widthOf("1e4"));
        HeatPicture none = picture(3, 40);
        none.stat = Stat::Nans;
        std::ranges::fill(none.result.values, 0.0F);
        none.finish();
        QCOMPARE(none.scale.low(), 1.0);
    }
};

TELLTALE_TEST(QTEST_MAIN, HeatmapWords)

}

#include "tst_heatmapwords.moc"
