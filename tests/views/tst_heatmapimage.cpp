// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <cmath>
#include <cstring>
#include <random>
#include <set>

#include <QApplication>
#include <QBuffer>
#include <QComboBox>
#include <QMouseEvent>
#include <QRegularExpression>
#include <QSvgGenerator>

#include <telltale/common/colormap.h>
#include <telltale/common/glyphs.h>
#include <telltale/common/plotcanvas.h>
#include <telltale/heatmap/colorindex.h>
#include <telltale/heatmap/heatcanvas.h>
#include <telltale/heatmap/heatgutter.h>
#include <telltale/heatmap/heatimage.h>
#include <telltale/heatmap/heatlegend.h>
#include <telltale/heatmap/heatmapview.h>
#include <telltale/heatmap/rowcluster.h>
#include <telltale/heatmap/runends.h>

namespace tst_heatmapimage {

using namespace telltale;
using namespace telltale::views;
using series::CellState;

namespace {

HeatPicture picture(int rows, int columns, HeatScale scale = HeatScale::Log)
{
    HeatPicture p;
    p.scaleMode = scale;
    p.rows.resize(static_cast<std::size_t>(rows));
    p.result.range = { Step { 0 }, Step { columns - 1 } };
    p.result.rows = rows;
    p.result.columns = columns;
    p.result.reduction = series::Reduction::LargestMagnitude;
    const auto count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    std::mt19937 random(4);
    std::lognormal_distribution<float> values(1, 1);
    p.result.values.resize(count);
    for (float& value : p.result.values)
        value = values(random);
    p.result.states.assign(count, CellState::Value);
    return p;
}

int pixelsOf(const QImage& image, QRgb color)
{
    int count = 0;
    for (int y = 0; y < image.height(); ++y) {
        const auto* line = reinterpret_cast<const QRgb*>(image.constScanLine(y));
        count += static_cast<int>(std::count(line, line + image.width(), color));
    }
    return count;
}

}

class HeatmapImage : public QObject {
    Q_OBJECT

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

    void alikeRowsStandTogether()
    {
        // Three courses, their rows interleaved: each course ends up in one piece.
        constexpr int kRows = 30;
        HeatPicture picture;
        picture.order = RowOrder::Clustered;
        picture.scaleMode = HeatScale::Linear;
        picture.result.range = { Step { 0 }, Step { 59 } };
        picture.result.rows = kRows;
        picture.result.columns = 60;
        for (int row = 0; row < kRows; ++row) {
            Row one;
            one.rank = Rank { row % 3 };
            picture.rows.push_back(one);
            for (int column = 0; column < 60; ++column) {
                const double course = row % 3 == 0 ? column : row % 3 == 1 ? 60 - column : 30 + 20 * std::sin(column);
                picture.result.values.push_back(static_cast<float>(course + 0.01 * row));
                picture.result.states.push_back(series::CellState::Value);
            }
        }
        picture.finish();
        int changes = 0;
        for (std::size_t row = 1; row < kRows; ++row)
            changes += picture.rows[row].rank != picture.rows[row - 1].rank;
        QCOMPARE(changes, 2);
        QVERIFY(picture.bands.front().label.isEmpty());
    }

    void manyRowsAreOrderedToo()
    {
        constexpr std::size_t kMany = kMostClustered + 200;
        std::vector<float> features;
        for (std::size_t row = 0; row < kMany; ++row) {
            features.push_back(row % 2 == 0 ? 1.0F : -1.0F);
            features.push_back(0);
        }
        const std::vector<std::size_t> order = clusteredOrder(features, 2);
        QCOMPARE(std::set<std::size_t>(order.begin(), order.end()).size(), kMany);
        for (std::size_t i = 1; i < kMany / 2; ++i)
            QCOMPARE(order[i] % 2, order[0] % 2);
    }

    void colorIndexCountsTheThresholdsBelow()
    {
        std::mt19937 random(2);
        std::uniform_real_distribution<double> exponent(-30, 30);
        for (int round = 0; round < 60; ++round) {
            const auto mode = static_cast<ValueScale::Mode>(round % 3);
            const double low = std::pow(10, exponent(random)) * (round % 4 == 1 ? -1 : 1);
            const double high = round % 5 == 0 ? low + std::abs(low) * 1e-4 : low + std::pow(10, exponent(random));
            const ColorIndex index(ValueScale(mode, low, high));
            const auto& thresholds = index.thresholds();
            QVERIFY(std::is_sorted(thresholds.begin(), thresholds.end()));
            std::vector<float> probes { 0, -0.0F, 1, -1, 3e38F, -3e38F, 1e-45F, static_cast<float>(low),
                static_cast<float>(high) };
            for (const float t : thresholds) {
                probes.push_back(t);
                probes.push_back(std::nextafter(t, -INFINITY));
                probes.push_back(std::nextafter(t, INFINITY));
            }
            for (const float probe : probes) {
                const auto expected
                    = std::count_if(thresholds.begin(), thresholds.end(), [&](float t) { return t <= probe; });
                QCOMPARE(static_cast<int>(index.indexOf(probe)), static_cast<int>(expected));
            }
        }
    }

    void everyCellHasExactlyTheColorOfItsValue()
    {
        for (const HeatScale scale : { HeatScale::Linear, HeatScale::Log, HeatScale::Symlog, HeatScale::Deviation }) {
            HeatPicture p = picture(40, 300, scale);
            p.finish();
            const RowLayout layout({ { 0, 39 } }, 40, 2);
            const QImage image = HeatImage::render(p, layout, { 300, 40 }, 1, Theme::dark());
            const ColorTable& table
                = scale == HeatScale::Deviation ? divergingTable(Theme::Mode::Dark) : kSequentialTable;
            for (int row = 0; row < 40; ++row) {
                for (int column = 0; column < 300; ++column) {
                    const double unit
                        = p.scale.unitOf(static_cast<double>(p.shown[static_cast<std::size_t>(row * 300 + column)]));
                    const auto exact = std::clamp(unit * 256, 0.0, 255.999);
                    const QRgb got = image.pixel(column, row);
                    // A value on a threshold may fall on either side: its float neighbors do.
                    const auto below = static_cast<std::size_t>(std::max(0.0, exact - 1e-3));
                    const auto above = static_cast<std::size_t>(std::min(255.0, exact + 1e-3));
                    QVERIFY(got == table[below] || got == table[above]);
                }
            }
        }
    }

    /// A mean is above and below zero: its colors go to both sides of it, on a logarithm, too.
    void signedValuesHaveZeroInTheMiddle()
    {
        for (const HeatScale scale : { HeatScale::Linear, HeatScale::Log, HeatScale::Symlog }) {
            const auto made = [scale](const auto& valueOf) {
                HeatPicture p = picture(4, 50, scale);
                for (std::size_t i = 0; i < p.result.values.size(); ++i)
                    p.result.values[i] = valueOf(i);
                p.finish();
                return p;
            };
            const auto mixed
                = [](std::size_t i) { return (i % 2 == 0 ? 3e-4F : -2e-5F) * static_cast<float>(i % 7 + 1); };
            const HeatPicture both = made(mixed);
            QVERIFY(both.isDiverging());
            QCOMPARE(both.scale.unitOf(0), 0.5);
            QVERIFY(!both.clippedLow && !both.clippedHigh);
            // Those below zero alone have colors on a logarithm, too.
            const HeatPicture negative = made([&](std::size_t i) { return -std::abs(mixed(i)); });
            QVERIFY(!negative.clippedLow && !negative.clippedHigh);
            // An exception is no side.
            QVERIFY(
                !made([](std::size_t i) { return i == 9 ? -1e-6F : 1e-3F * static_cast<float>(i + 1); }).isDiverging());
        }
    }

    void aRatioIsSeenHoweverSmallBesideEqualCellsAndBesideAFewThatAreFarApart()
    {
        const auto made = [](float usual, float odd) {
            HeatPicture p = picture(10, 50, HeatScale::Ratio);
            for (std::size_t i = 0; i < p.result.values.size(); ++i)
                p.result.values[i] = i == 77 ? odd : usual;
            p.finish();
            return p;
        };
        const HeatPicture one = made(1, 1.000125F);
        QVERIFY(one.scale.unitOf(static_cast<double>(one.shown[77])) > 0.74);
        QCOMPARE(one.scale.unitOf(static_cast<double>(one.shown[0])), 0.5);
        QVERIFY2(one.ticks.front().label.startsWith(QStringLiteral("+0.0")), qPrintable(one.ticks.front().label));
        for (const float change : { 0.001F, 0.02F, 0.08F, 0.12F, 0.17F, 0.3F, 0.8F, 3.0F }) {
            const std::vector<ValueScale::Tick> ticks = made(1, 1 + change).ticks; // in one notation
            const auto percents
                = std::ranges::count_if(ticks, [](const ValueScale::Tick& tick) { return tick.label.contains(u'%'); });
            QVERIFY2(percents == 0 || percents == 4, qPrintable(QString::number(change)));
        }
        const HeatPicture few = made(1.5F, 60000);
        QVERIFY(few.scale.unitOf(static_cast<double>(few.shown[0])) > 0.75);
        QVERIFY(few.clippedHigh && !few.clippedLow);
        QCOMPARE(views::ratioText(65536), QStringLiteral("\u00D765\u202F536"));
        QCOMPARE(views::ratioText(0.25), QStringLiteral("\u00F74"));
        QCOMPARE(views::ratioText(1), QStringLiteral("\u00D71"));
    }

    void oneNaNAmongAMillionIsSeenAtEveryZoom()
    {
        const QRgb rose = glyphs::fill(CellState::NaN, Theme::dark()).rgb();
        HeatPicture p = picture(500, 2000);
        std::mt19937 random(11);
        for (int round = 0; round < 4; ++round) {
            const std::size_t at = random() % p.result.states.size();
            p.result.states[at] = CellState::NaN;
            HeatPicture finished = p;
            finished.finish();
            for (const QSize size : { QSize(2000, 500), QSize(700, 90), QSize(333, 41), QSize(31, 7), QSize(3, 3),
                     QSize(1, 1), QSize(4000, 1500), QSize(9001, 600) }) {
                const RowLayout layout({ { 0, 499 } }, size.height(), 2);
                const QImage image = HeatImage::render(finished, layout, size, 1, Theme::dark());
                QVERIFY2(pixelsOf(image, rose) >= 1,
                    qPrintable(QStringLiteral("%1 x %2").arg(size.width()).arg(size.height())));
            }
            p.result.states[at] = CellState::Value;
        }
    }

    void aDashAccompaniesEveryNonFiniteCellWiderThanOnePixel()
    {
        for (const CellState state : { CellState::NaN, CellState::PosInf, CellState::NegInf }) {
            for (const int width : { 2, 3, 5, 8, 9, 20 }) {
                HeatPicture p = picture(3, 5);
                p.result.states[7] = state;
                p.finish();
                const RowLayout layout({ { 0, 2 } }, 12, 0);
                const QImage image = HeatImage::render(p, layout, { 5 * width, 12 }, 1, Theme::light());
                const QImage cell = image.copy(2 * width, 4, width, 4);
                QVERIFY(pixelsOf(cell, glyphs::fill(state, Theme::light()).rgb()) > 0);
                QVERIFY(pixelsOf(cell, glyphs::ink(state).rgb()) > 0);
            }
        }
    }

    void lowRowsShareTheirDashesAndOneAloneHasItsOwn()
    {
        const QRgb ink = glyphs::ink(CellState::NaN).rgb();
        const auto inkOf = [&](int firstBad, int lastBad) {
            HeatPicture p = picture(40, 30);
            for (int row = firstBad; row <= lastBad; ++row)
                std::fill_n(p.result.states.begin() + row * 30 + 10, 20, CellState::NaN);
            p.finish();
            const RowLayout layout({ { 0, 39 } }, 80, 0); // rows of 2 px
            return pixelsOf(HeatImage::render(p, layout, { 240, 80 }, 1, Theme::dark()), ink);
        };
        QVERIFY(inkOf(0, 0) >= 2);
        QCOMPARE(inkOf(7, 7), inkOf(0, 0)); // wherever it stands
        QCOMPARE(inkOf(0, 39), inkOf(0, 0) * 14); // in lines 0, 6, 12 to 78
    }

    void dashesAreEvenWhateverTheHeightOfTheRows()
    {
        const QRgb ink = glyphs::ink(CellState::NaN).rgb();
        HeatPicture p = picture(40, 300);
        p.result.states.assign(p.result.states.size(), CellState::NaN);
        p.finish();
        QVERIFY(!p.hasScale); // no cell has a color of it
        for (const int height : { 20, 40, 60, 80, 120, 160, 200, 320, 350 }) {
            const RowLayout layout({ { 0, 39 } }, height, 0);
            const QImage image = HeatImage::render(p, layout, { 320, height }, 1, Theme::dark());
            std::vector<int> lines;
            for (int y = 0; y < height; ++y) {
                const int here = pixelsOf(image.copy(0, y, 320, 1), ink);
                QVERIFY2(here == 0 || here == 160, qPrintable(QString::number(here)));
                if (here > 0)
                    lines.push_back(y);
            }
            for (std::size_t i = 1; i < lines.size(); ++i)
                QVERIFY2(
                    lines[i] - lines[i - 1] >= 4 && lines[i] - lines[i - 1] <= 9, qPrintable(QString::number(height)));
            QVERIFY(lines.front() < 9 && height - lines.back() < 9);
        }
    }

    void dashesOfLowRowsStandBelowEachOtherWhereverTheirCellsBegin()
    {
        const QRgb ink = glyphs::ink(CellState::NaN).rgb();
        HeatPicture p = picture(40, 67);
        for (int row = 0; row < 40; ++row)
            std::fill_n(p.result.states.begin() + row * 67 + 20 + row % 3, 47 - row % 3, CellState::NaN);
        p.finish();
        const RowLayout layout({ { 0, 39 } }, 120, 0); // rows of 3 px
        const QImage image = HeatImage::render(p, layout, { 650, 120 }, 1, Theme::dark());
        const int from = HeatImage::columnLeft(23, 67, 650); // where all rows have them
        std::vector<int> first;
        int lines = 0;
        for (int y = 0; y < 120; ++y) {
            std::vector<int> here;
            for (int x = from; x < 650; ++x) {
                if (image.pixel(x, y) == ink)
                    here.push_back(x);
            }
            if (here.empty())
                continue;
            if (std::exchange(lines, lines + 1) == 0)
                first = here;
            QVERIFY2(here == first, qPrintable(QString::number(y)));
        }
        QCOMPARE(lines, 20); // two rows share one
        for (int column = 24; column < 67; ++column) {
            const int left = HeatImage::columnLeft(column, 67, 650), right = HeatImage::columnLeft(column + 1, 67, 650);
            QCOMPARE(std::ranges::count_if(first, [&](int x) { return x >= left && x < right; }), 4);
        }
    }

    void rowsOfRanksAreInTheOrderOfTheirNumbers()
    {
        ViewState state;
        HeatmapView view({ &state, nullptr, nullptr });
        const auto* rows = view.findChild<QComboBox*>(QStringLiteral("heatmapRows"));
        QCOMPARE(rows->currentText(), QStringLiteral("model order"));
        view.setAxes(HeatAxes::RankByStep);
        QCOMPARE(rows->currentText(), QStringLiteral("by number"));
        view.setAxes(HeatAxes::ModuleByRank);
        QCOMPARE(rows->currentText(), QStringLiteral("model order"));
    }

    void aRatioIsWrittenInOneWay()
    {
        QCOMPARE(ratioText(0.8231, 4), QStringLiteral("\u00F71.215"));
        QCOMPARE(ratioText(1 / 0.8231, 4), QStringLiteral("\u00D71.215"));
        QCOMPARE(ratioText(0.8231), QStringLiteral("\u00F71.21"));
        QCOMPARE(ratioText(0, 4), QStringLiteral("\u00D70"));
        QCOMPARE(ratioText(0.99, 4), ratioText(0.99));
    }

    void theLiveEdgeIsMarkedWhileItFollows()
    {
        ViewState state;
        HeatCanvas canvas(&state);
        auto live = std::make_shared<HeatPicture>(picture(3, 100));
        live->isLive = true;
        live->finish();
        state.setFullRange({ Step { 0 }, Step { 104 } }); // went on while the picture was made
        canvas.setPicture(live);
        const QSize size(800, 300);
        const auto edge = [&] {
            const QRect plot = canvas.plotRect(size);
            return pixelsOf(canvas.renderTo(size).copy(plot.right() + 1, 0, 16, plot.top()), Theme::current().ok.rgb());
        };
        QVERIFY(edge() > 0);
        state.setFollowing(false);
        QCOMPARE(edge(), 0);
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

    void whatIsMissingShowsItsPatternOnBase()
    {
        const Theme& theme = Theme::dark();
        for (const CellState state : { CellState::NotCollected, CellState::Gap, CellState::Damaged }) {
            HeatPicture p = picture(1, 1);
            p.result.states[0] = state;
            p.finish();
            const QImage image = HeatImage::render(p, RowLayout({ { 0, 0 } }, 24, 0), { 24, 24 }, 1, theme);
            const int ink = pixelsOf(image, glyphs::patternColor(state, theme).rgb());
            QVERIFY(ink >= 24);
            QCOMPARE(ink + pixelsOf(image, theme.base.rgb()), 24 * 24);
        }
    }

    /// Of a run that samples every fifth step, a column in five has something to show.
    void aStepThatNobodyCollectedLooksLikeTheLastOneThatSomebodyDid()
    {
        constexpr int kSampled = 5;
        HeatPicture p = picture(3, 130);
        const auto isCollected = [](int column) { return column < 50 || (column % kSampled == 0 && column < 126); };
        const auto stateAt = [&p](int row, int column) -> CellState& {
            return p.result.states[static_cast<std::size_t>(row * 130 + column)];
        };
        for (int column = 0; column < 130; ++column) {
            for (int row = 0; row < 3; ++row) {
                if (!isCollected(column) || (column > 70 && column < 110) || (row == 2 && column >= 50))
                    stateAt(row, column) = CellState::NotCollected;
            }
        }
        stateAt(0, 55) = CellState::NaN;
        stateAt(1, 60) = CellState::Gap;
        p.finish();
        const std::vector<CellState> states = p.result.states;
        const Theme& theme = Theme::dark();
        const auto painted = [&](int width) {
            return HeatImage::render(p, RowLayout({ { 0, 2 } }, 36, 0), { 130 * width, 36 }, 1, theme);
        };
        const QImage image = painted(2);
        const auto cell = [&image](int row, int column) { return image.copy(column * 2, row * 12, 2, 12); };
        const auto dots = [&theme](const QImage& part) { return pixelsOf(part, theme.text3.rgb()); };
        const QRgb rose = glyphs::fill(CellState::NaN, theme).rgb();
        for (int column = 110; column < 125; ++column) // in rows that were collected, the color of the last one
            QCOMPARE(cell(0, column).pixel(0, 0), cell(0, column - column % kSampled).pixel(0, 0));
        for (int column = 50; column < 55; ++column)
            QCOMPARE(cell(1, column).pixel(0, 0), cell(1, 50).pixel(0, 0));
        QVERIFY(pixelsOf(image.copy(55 * 2, 0, 5 * 2, 12), rose) > 5 * 2 * 12 / 2);
        QVERIFY(dots(image.copy(60 * 2, 12, 5 * 2, 12)) > 5 * 2 * 12 / 8); // hatched
        QVERIFY(dots(image.copy(71 * 2, 0, 39 * 2, 12)) > 0); // longer than it ever took
        QVERIFY(dots(image.copy(126 * 2, 0, 4 * 2, 12)) > 0); // what comes there is not known
        QVERIFY(dots(image.copy(50 * 2, 24, 80 * 2, 12)) > 0); // a row of which nothing was
        QVERIFY(dots(painted(10).copy(111 * 10, 0, 4 * 10, 12)) > 0); // with room for them
        QCOMPARE(p.result.states, states);
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

    void ofARowThatIsNearlyAlwaysZeroNothingIsAMultiple()
    {
        HeatPicture p = picture(2, 9, HeatScale::Deviation);
        std::fill_n(p.result.values.begin(), 9, 0.0F);
        p.result.values[4] = 0.004F;
        p.finish();
        QCOMPARE(p.spreadOf(0), std::pair(0.0F, 0.0F));
        QVERIFY(p.spreadOf(1).second > 0);
        QCOMPARE(p.shown[4], 0.0F);
        QVERIFY(!p.clippedHigh || std::any_of(p.shown.begin() + 9, p.shown.end(), [](float one) { return one > 10; }));
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

    void strongerStatesWinWhereRowsShareAPixel()
    {
        HeatPicture p = picture(6, 1);
        p.result.states = { CellState::Gap, CellState::NegInf, CellState::Value, CellState::PosInf, CellState::NaN,
            CellState::Damaged };
        p.finish();
        const auto only = [&](int rows, const QColor& expected) {
            HeatPicture few = p;
            few.rows.resize(static_cast<std::size_t>(rows));
            few.result.rows = rows;
            const QImage image
                = HeatImage::render(few, RowLayout({ { 0, rows - 1 } }, 1, 0), { 1, 1 }, 1, Theme::dark());
            QCOMPARE(QColor::fromRgb(image.pixel(0, 0)).name(), expected.name());
        };
        only(2, glyphs::fill(CellState::NegInf, Theme::dark()));
        only(4, glyphs::fill(CellState::PosInf, Theme::dark()));
        only(6, glyphs::fill(CellState::NaN, Theme::dark()));
    }

    void rowsFillTheHeightWithBaseBetweenGroups()
    {
        HeatPicture picture;
        picture.result.columns = 1;
        picture.result.states.resize(30);
        picture.result.values.resize(30);
        for (int i = 0; i < 30; ++i)
            picture.rows.emplace_back().group = QString::number(i / 6);
        picture.finish();
        const RowLayout layout(picture.bands, 200, 2);
        QCOMPARE(layout.bands().size(), std::size_t { 5 });
        QCOMPARE(layout.top(0), 0);
        QCOMPARE(layout.bottom(29), 200);
        for (int row = 1; row < 30; ++row)
            QCOMPARE(layout.top(row) - layout.bottom(row - 1), row % 6 == 0 ? 2 : 0);
        for (int y = 0; y < 200; ++y) {
            const int row = layout.rowAt(y);
            QVERIFY(row < 0 || (y >= layout.top(row) && y < layout.bottom(row)));
        }
    }

    void aCrowdedLayoutLosesNoRow()
    {
        for (const int rows : { 101, 500, 2000, 12345 }) {
            const RowLayout layout({ { 0, rows - 1 } }, 100, 2);
            int next = 0;
            for (int y = 0; y < 100; ++y) {
                const auto [first, last] = layout.rowsAt(y);
                QCOMPARE(first, next);
                next = last + 1;
            }
            QCOMPARE(next, rows);
        }
    }

    void deviationsAreCenterdOnEachRowsOwnMedian()
    {
        HeatPicture p = picture(2, 101, HeatScale::Deviation);
        for (std::size_t i = 0; i < 101; ++i) {
            p.result.values[i] = static_cast<float>(i); // median 50, MAD 25
            p.result.values[101 + i] = 1000;
        }
        p.finish();
        QCOMPARE(p.shown[50], 0.0F);
        QCOMPARE(p.shown[100], 2.0F);
        QCOMPARE(p.shown[0], -2.0F);
        QCOMPARE(p.shown[101], 0.0F);
    }

    /// Values near zero, a fifth of all, take no colors from the others, and are marked as cut off; the largest is not.
    void valuesNearZeroTakeNoColorsOnALogScale()
    {
        HeatPicture p = picture(10, 200);
        for (std::size_t i = 0; i < p.result.values.size(); ++i)
            p.result.values[i] = i / 200 < 2 ? 1e-12F : 0.5F + static_cast<float>(i % 200) / 200;
        p.result.values[1999] = 1e4F;
        p.finish();
        QVERIFY(p.scale.low() > 1e-3);
        QVERIFY(p.clippedLow);
        QVERIFY(p.clippedHigh || p.scale.high() >= 1e4);
        for (float& value : p.result.values) // where half of them are that small, they are what there is to see
            value = value == 1e-12F ? 1e-3F : value;
        p.finish();
        QVERIFY(p.scale.low() <= 1e-2);
    }

    void zeroIsBeyondTheColorsOfALogScale()
    {
        HeatPicture p = picture(2, 10);
        for (std::size_t i = 0; i < p.result.values.size(); ++i)
            p.result.values[i] = static_cast<float>(i + 1);
        p.finish();
        QVERIFY(!p.clippedLow && !p.clippedHigh);
        p.result.values[3] = 0;
        p.finish();
        QVERIFY(p.clippedLow && !p.clippedHigh);
    }

    void noiseOfTwoUnlikeRunsDoesNotShine()
    {
        HeatPicture p = picture(2, 100, HeatScale::Difference);
        for (std::size_t i = 0; i < p.result.values.size(); ++i) {
            const float sign = i % 2 == 0 ? 1.0F : -1.0F;
            p.result.values[i] = sign * (i < 100 ? 1.0F : i < 195 ? 0.01F : 1e-9F);
        }
        p.finish();
        QCOMPARE(std::abs(p.shown[0]), 1.0F);
        QVERIFY(std::abs(p.shown[150]) < std::abs(p.shown[0]) / 2);
        QCOMPARE(p.shown[199], 0.0F);
        for (std::size_t i = 0; i < 190; ++i)
            p.result.values[i] = 0;
        p.finish();
        QVERIFY(std::abs(p.shown[199]) >= 0.2F); // where most is equal the smallest difference is the news
        QCOMPARE(p.shown[0], 0.0F);
    }

    void theSignOfANamedCellStaysBelowTheTopOfALowPlot()
    {
        const QRectF plot(30, 20, 60, 10);
        QImage image(120, 60, QImage::Format_RGB32);
        image.fill(Qt::magenta);
        QPainter painter(&image);
        paintNamedCell(painter, plot, { 60, 29, 4, 1 }, glyphs::Severity::Warning, Theme::current());
        painter.end();
        const int x = 60 - 3 - 8; // in the middle of its disk
        int top = 0;
        while (top < image.height() && image.pixel(x, top) == image.pixel(0, 0))
            ++top;
        QVERIFY2(std::abs(top - 20) <= 1, qPrintable(QString::number(top)));
    }

    void orderingByValueKeepsEveryRowWithItsCells()
    {
        HeatPicture p = picture(20, 3);
        for (int row = 0; row < 20; ++row)
            p.rows[static_cast<std::size_t>(row)].label = QString::number(p.value(row, 0), 'g', 9);
        p.result.states[30] = CellState::NaN;
        p.order = RowOrder::Value;
        p.finish();
        QCOMPARE(p.state(0, 0), CellState::NaN);
        for (int row = 0; row < 20; ++row)
            QCOMPARE(p.rows[static_cast<std::size_t>(row)].label, QString::number(p.value(row, 0), 'g', 9));
    }

    void columnsAndStepsAgree()
    {
        for (const int columns : { 1, 7, 100, 191 }) {
            HeatPicture p = picture(1, columns);
            p.result.range = { Step { 31 }, Step { 221 } };
            for (std::int64_t step = 31; step <= 221; ++step)
                QVERIFY(p.stepsOf(p.columnOf(Step { step })).contains(Step { step }));
        }
    }
};

TELLTALE_TEST(QTEST_MAIN, HeatmapImage)

}

#include "tst_heatmapimage.moc"
