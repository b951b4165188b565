// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <cmath>
#include <random>
#include <set>

#include <QComboBox>
#include <QPainter>

#include <telltale/common/colormap.h>
#include <telltale/common/glyphs.h>
#include <telltale/common/plotcanvas.h>
#include <telltale/heatmap/colorindex.h>
#include <telltale/heatmap/heatcanvas.h>
#include <telltale/heatmap/heatimage.h>
#include <telltale/heatmap/heatmapview.h>
#include <telltale/heatmap/rowcluster.h>

#include "heatfixture.h"

namespace tst_heatmapimage {

using namespace telltale;
using namespace telltale::views;
using series::CellState;
using test::picture;
using test::pixelsOf;

class HeatmapImage : public QObject {
    Q_OBJECT

private Q_SLOTS:
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
        for (int column = 126; column < 130; ++column) // the next is not due yet
            QCOMPARE(cell(0, column).pixel(0, 0), cell(0, 125).pixel(0, 0));
        QVERIFY(dots(image.copy(50 * 2, 24, 80 * 2, 12)) > 0); // a row of which nothing was
        QVERIFY(dots(painted(10).copy(111 * 10, 0, 4 * 10, 12)) > 0); // with room for them
        QCOMPARE(p.result.states, states);
        // The last one stays no longer than the others do.
        for (int column = 120; column < 126; ++column)
            stateAt(0, column) = stateAt(1, column) = CellState::NotCollected;
        p.finish();
        const QImage ended = painted(2);
        QCOMPARE(dots(ended.copy(115 * 2, 0, kSampled * 2, 12)), 0);
        QVERIFY(dots(ended.copy(120 * 2, 0, 10 * 2, 12)) > 0);
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
        for (const int columns : { 200, 4, 1 }) { // of steps, and of ranks
            HeatPicture p = picture(10, columns);
            for (std::size_t i = 0; i < p.result.values.size(); ++i)
                p.result.values[i]
                    = i / static_cast<std::size_t>(columns) < 2 ? 1e-12F : 0.5F + static_cast<float>(i % 200) / 200;
            p.result.values.back() = 1e4F;
            p.finish();
            QVERIFY(p.scale.low() > 1e-3);
            QVERIFY(p.clippedLow);
            QVERIFY(p.clippedHigh || p.scale.high() >= 1e4);
            for (float& value : p.result.values) // where half of them are that small, they are what there is to see
                value = value == 1e-12F ? 1e-3F : value;
            p.finish();
            QVERIFY(p.scale.low() <= 1e-2);
        }
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
