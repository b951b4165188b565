// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <QPainter>

#include <telltale/common/kindtext.h>
#include <telltale/common/seriesstyle.h>
#include <telltale/plot/overviewheader.h>

#include "plotbuckets.h"

namespace tst_overviewheader {

using namespace telltale;
using namespace telltale::views;
using series::Bucket;
using series::CellState;
using test::nonFinite;
using test::single;

namespace {

/// A plot of each rank's memory, without a sample.
ScalarPanel memoryOf(int ranks, StepRange steps)
{
    ScalarPanel panel;
    for (int rank = 0; rank < ranks; ++rank) {
        CurveSeries& one = panel.picture.series.emplace_back();
        one.row.key.name = QStringLiteral("system/rss_bytes");
        one.row.rank = Rank { rank };
        one.slot = rank;
        one.hasRankColor = true;
        one.isOtherRank = rank > 0;
        one.result.range = steps;
        one.result.buckets.assign(static_cast<std::size_t>(steps.count()), series::Bucket {});
    }
    return panel;
}

/// What stands above a plot of the Overview that is so many px wide.
QImage headerImage(const ScalarPanel& panel, int width, const HeaderLook& look)
{
    QImage image(width + 110, 40, QImage::Format_ARGB32_Premultiplied);
    image.fill(Qt::black);
    QPainter painter(&image);
    paintPanelHeader(painter, QRect(100, 32, width, 8), panel, look, 100);
    return image;
}

}

/// What stands above the plots of the Overview. Thread: the test's.
class OverviewHeader : public QObject {
    Q_OBJECT
private Q_SLOTS:
    /// Beside the values of other runs what was last finite goes before its run's name does; short names leave their
    /// room to a long one.
    void aHeaderNamesEveryRun()
    {
        ScalarPanel panel;
        const auto setNames = [&panel](const QStringList& names) {
            panel.picture.series.clear();
            for (const QString& name : names) {
                CurveSeries& one = panel.picture.series.emplace_back();
                one.runName = name;
                one.hasRunColor = true;
                one.isOtherRun = panel.picture.series.size() > 1;
                one.result.range = { Step { 0 }, Step { 9 } };
                one.result.buckets.assign(10, single(0.25));
            }
        };
        const auto headerOf = [&panel](int width) { return headerImage(panel, width, { &lastValueOf, {}, 0 }); };
        setNames({ QStringLiteral("moe-nan"), QStringLiteral("moe-b"), QStringLiteral("cnn") });
        const QImage plain = headerOf(400), wide = headerOf(900);
        panel.picture.series.front().lastFinite = { Step { 8 }, 0.5 };
        QCOMPARE(headerOf(400), plain);
        QVERIFY(headerOf(900) != wide);
        // The rank that all of them are of goes before anything of a name does.
        panel.picture.series.front().lastFinite.reset();
        CurveSeries other = panel.picture.series.front();
        other.row.rank = Rank { 1 };
        other.isOtherRank = true;
        panel.picture.series.push_back(other);
        int names = 100;
        while (plain.copy(names, 2, 1, 18) == plain.copy(99, 2, 1, 18))
            ++names;
        const QImage ranks = headerOf(400);
        QCOMPARE(ranks.copy(names, 0, 510 - names, 40), plain.copy(names, 0, 510 - names, 40));
        QVERIFY(headerOf(900) != wide);

        setNames({ QStringLiteral("a-name-of-many-small-parts-of-a-word"), QStringLiteral("b"), QStringLiteral("c") });
        const QImage cut = headerOf(400);
        const auto isInk = [&cut](int x) {
            for (int y = 2; y < 20; ++y) {
                if (cut.pixel(x, y) != cut.pixel(99, y))
                    return true;
            }
            return false;
        };
        int left = 100;
        while (left < cut.width() && !isInk(left))
            ++left;
        QVERIFY2(left < 150, qPrintable(QString::number(left)));
    }

    /// Of a scalar that is collected less often than another; while ranks of a live run come to a step, none is older.
    void aValueThatIsOlderThanOthersSaysItsStep()
    {
        ScalarPanel panel;
        CurveSeries& one = panel.picture.series.emplace_back();
        one.row.key.name = QStringLiteral("grad-norm");
        one.result.range = { Step { 0 }, Step { 9 } };
        one.result.buckets.assign(10, Bucket {});
        for (const std::size_t step : { 0, 4, 8 })
            one.result.buckets[step] = single(0.25);
        bool isLive = true;
        const auto headerAt = [&](StepRange newest) {
            HeaderLook look { &lastValueOf, {}, 0 };
            look.newest = newest;
            look.isLive = isLive;
            return headerImage(panel, 600, look);
        };
        const StepRange own = newestSteps(panel.picture), later { Step { 9 }, Step { 9 } };
        QCOMPARE(own, (StepRange { Step { 8 }, Step { 8 } }));
        QVERIFY(headerAt(later) != headerAt(own));
        one.row.key.name = QStringLiteral("system/rss_bytes"); // sampled now and then
        QCOMPARE(headerAt(later), headerAt(own));
        one.row.key.name = QStringLiteral("loss");
        for (std::size_t step = 0; step < 9; ++step)
            one.result.buckets[step] = single(0.25);
        QCOMPARE(headerAt(later), headerAt(own));
        isLive = false; // it ended before the others
        QVERIFY(headerAt(later) != headerAt(own));
    }

    /// Each has its own where there is room, else they are said together.
    void lastValuesOfRunsThatEndedElsewhereSayTheirSteps()
    {
        const auto panelOf = [](const QStringList& names) {
            ScalarPanel panel;
            for (const QString& name : names) {
                CurveSeries& one = panel.picture.series.emplace_back();
                one.runName = name;
                one.hasRunColor = true;
                one.isOtherRun = panel.picture.series.size() > 1;
                one.slot = one.isOtherRun ? 1 : 0;
                one.result.range = { Step { 0 }, Step { 9 } };
                one.result.buckets.assign(10, single(0.25));
            }
            return panel;
        };
        const auto headerOf = [](const ScalarPanel& panel, int width, const ValueOf& valueOf, std::optional<Step> at) {
            return headerImage(panel, width, { valueOf, at, 0 });
        };
        const ScalarPanel alike = panelOf({ QStringLiteral("a"), QStringLiteral("b") });
        ScalarPanel panel = alike;
        for (std::size_t i = 7; i < 10; ++i)
            panel.picture.series.back().result.buckets[i] = {};
        const ScalarPanel said = panelOf({ QStringLiteral("a, at 9"), QStringLiteral("b, at 6") });
        QCOMPARE(headerOf(panel, 600, lastValueOf, {}), headerOf(said, 600, lastValueOf, {}));
        const auto atOwn = [&panel](const CurveSeries& one) {
            LastValue value = lastValueOf(one);
            if (&one == &panel.picture.series.back())
                value.at = { Step { 6 }, Step { 6 } };
            return value;
        };
        int width = 600;
        while (width > 100 && headerOf(panel, width, lastValueOf, {}) == headerOf(said, width, lastValueOf, {}))
            --width;
        QVERIFY(headerOf(panel, width, lastValueOf, {}) != headerOf(alike, width, lastValueOf, {}));
        QCOMPARE(headerOf(panel, width, lastValueOf, {}), headerOf(panel, width, atOwn, Step { 9 }));
    }

    /// One value at two steps is not that of all ranks.
    void aRankThatEndedEarlierSaysWhere()
    {
        const auto panelOf = [](double second) {
            ScalarPanel panel;
            for (int rank = 0; rank < 2; ++rank) {
                CurveSeries& one = panel.picture.series.emplace_back();
                one.row.rank = Rank { rank };
                one.isOtherRank = rank > 0;
                one.result.range = { Step { 0 }, Step { 9 } };
                one.result.buckets.assign(10, single(rank == 0 ? 0.25 : second));
            }
            return panel;
        };
        const auto headerOf = [](const ScalarPanel& panel, int width = 600) {
            return headerImage(panel, width, { &lastValueOf, {}, 0 });
        };
        ScalarPanel ended = panelOf(0.5);
        ended.picture.series[0].newest = Step { 9 };
        ended.picture.series[1].newest = Step { 6 };
        ScalarPanel said = panelOf(0.5);
        said.picture.series[1].where = QStringLiteral("rank 1, at 6");
        QCOMPARE(headerOf(ended), headerOf(said));
        // Where they have little room, too, and where all have one value.
        for (const double second : { 0.5, 0.25 }) {
            const ScalarPanel together = panelOf(second);
            ScalarPanel apart = together;
            apart.picture.series[0].newest = Step { 9 };
            apart.picture.series[1].newest = Step { 6 };
            for (int width = 200; width < 600; width += 10)
                QVERIFY2(headerOf(apart, width) != headerOf(together, width), qPrintable(QString::number(width)));
        }
    }

    void aTitleThatHasRoomIsWholeWhateverStandsBehindIt()
    {
        ScalarPanel panel;
        panel.title = QStringLiteral("resident memory of all, GiB");
        for (int rank = 0; rank < 4; ++rank) {
            CurveSeries& one = panel.picture.series.emplace_back();
            one.row.rank = Rank { rank };
            one.hasRankColor = true;
            one.isOtherRank = rank > 0;
            one.slot = rank;
            one.result.range = { Step { 0 }, Step { 9 } };
            one.result.buckets.assign(10, single(0.25 + rank));
        }
        const auto titleOf = [&panel](int width) {
            const QRect plot(112, 32, width, 8);
            const double captionLeft = panelCaptionLeft({ panel }, plot);
            QImage image(width + 122, 40, QImage::Format_ARGB32_Premultiplied);
            image.fill(Qt::black);
            QPainter painter(&image);
            paintPanelHeader(painter, plot, panel,
                { &lastValueOf, Step { 9 }, 0, panelTitles({ panel }, plot).front() }, captionLeft);
            return image.copy(0, 0, static_cast<int>(captionLeft) - 14, 40);
        };
        for (int width = 250; width < 900; ++width)
            QVERIFY2(titleOf(width) == titleOf(900), qPrintable(QString::number(width)));
    }

    void titlesThatAreCutReadUnlikeEachOther()
    {
        std::vector<ScalarPanel> panels;
        for (int block = 0; block < 4; ++block)
            panels.emplace_back().title
                = QStringLiteral("gradient_norm/transformer.blocks.%1.attention.proj.weight").arg(block);
        const QRect plot(112, 40, 300, 100);
        const std::vector<QString> titles = panelTitles(panels, plot);
        for (std::size_t i = 0; i < titles.size(); ++i) {
            QVERIFY2(titles[i] != panels[i].title && titles[i].endsWith(QStringLiteral("proj.weight")),
                qPrintable(titles[i]));
            QCOMPARE(std::ranges::count(titles, titles[i]), 1);
        }
        // What has room is whole.
        QCOMPARE(panelTitles(panels, QRect(112, 40, 3000, 100)).front(), panels.front().title);
    }

    void lastValueNamesTheLastFiniteOneBesideANaN()
    {
        CurveSeries one;
        one.result.range = { Step { 31000 }, Step { 31009 } };
        one.result.buckets.assign(10, single(2.613));
        QCOMPARE(lastValueOf(one).value, QStringLiteral("2.613"));
        QVERIFY(lastValueOf(one).before.isEmpty());
        one.result.buckets[9] = nonFinite(CellState::NaN);
        one.lastFinite = { Step { 31008 }, 2.613 };
        const LastValue last = lastValueOf(one);
        QCOMPARE(last.value, QStringLiteral("NaN"));
        QVERIFY(last.critical);
        QCOMPARE(last.before, QStringLiteral("last finite 2.613 at 31\u202F008"));
        one.result.buckets[4] = Bucket {};
        QCOMPARE(valueAt(one, Step { 31003 }).value, QStringLiteral("2.613"));
        QVERIFY(valueAt(one, Step { 31003 }).before.isEmpty());
        QCOMPARE(valueAt(one, Step { 31004 }).value, QStringLiteral("2.613")); // of the step before, which it says
        QCOMPARE(valueAt(one, Step { 31004 }).at, (StepRange { Step { 31003 }, Step { 31003 } }));
        QCOMPARE(valueAt(one, Step { 31009 }).before, last.before);
        LegendValue exact;
        exact.state = CellState::Value;
        exact.value = 7;
        exact.isExact = true;
        QCOMPARE(valueAt(one, Step { 31003 }, &exact).value, QStringLiteral("7.000"));
        exact.at = { Step { 31001 }, Step { 31001 } };
        QCOMPARE(valueAt(one, Step { 31004 }, &exact).value, QStringLiteral("7.000"));
        QCOMPARE(valueAt(one, Step { 31004 }, &exact).at, exact.at);
    }

    void betweenTwoSamplesAHeaderSaysTheLastAndItsStep()
    {
        ScalarPanel panel;
        for (const int rank : { 0, 1 }) {
            CurveSeries& one = panel.picture.series.emplace_back();
            one.stat = Stat::Value;
            one.row.rank = Rank { rank };
            one.isOtherRank = rank > 0;
            one.slot = rank;
            one.hasRankColor = true;
            one.result.range = { Step { 0 }, Step { 99 } };
            one.result.buckets.resize(100);
            for (std::size_t step = rank == 0 ? 10 : 50; step < 100; step += 5)
                one.result.buckets[step] = single(0.25);
        }
        const CurveSeries& first = panel.picture.series.front();
        QVERIFY(valueAt(first, Step { 9 }).isNone); // none yet
        QCOMPARE(valueAt(first, Step { 9 }).value, QStringLiteral("\u2013"));
        QCOMPARE(valueAt(first, Step { 33 }).value, statValueText(Stat::Value, 0.25));
        QCOMPARE(valueAt(first, Step { 33 }).at, (StepRange { Step { 30 }, Step { 30 } }));
        const auto headerAt = [&](int step) {
            return headerImage(panel, 690,
                { [step](const CurveSeries& one) { return valueAt(one, Step { step }); }, Step { step }, 0 });
        };
        QCOMPARE(headerAt(33), headerAt(30)); // also where another rank has none yet
        QVERIFY(headerAt(35) != headerAt(30));
    }

    void whatTheSystemUsesHoldsUntilItsNextSample()
    {
        CurveSeries one;
        one.row.key.name = QStringLiteral("system/rss_bytes");
        one.result.range = { Step { 10 }, Step { 19 } };
        one.result.buckets.assign(10, Bucket {});
        one.result.buckets[4] = single(0.36);
        QCOMPARE(valueAt(one, Step { 14 }).value, QStringLiteral("0.3600"));
        QVERIFY(valueAt(one, Step { 14 }).at.isEmpty());
        QCOMPARE(valueAt(one, Step { 17 }).value, QStringLiteral("0.3600"));
        QCOMPARE(valueAt(one, Step { 17 }).at, (StepRange { Step { 14 }, Step { 14 } }));
        QCOMPARE(valueAt(one, Step { 13 }).value, QStringLiteral("\u2013")); // nothing until then
        one.row.key.name = QStringLiteral("val/loss");
        QCOMPARE(valueAt(one, Step { 17 }).value, QStringLiteral("\u2013"));
    }

    void aHeaderSaysOneStepAndAnotherOnlyWhereItDiffers()
    {
        ScalarPanel panel = memoryOf(2, { Step { 10 }, Step { 19 } });
        for (CurveSeries& one : panel.picture.series)
            one.result.buckets[4] = single(0.36);
        const auto headerAt = [&](std::int64_t step) {
            return headerImage(panel, 690,
                { [step](const CurveSeries& one) { return valueAt(one, Step { step }); }, Step { step }, 0 });
        };
        QCOMPARE(headerAt(17), headerAt(14)); // of step 14, both
        panel.picture.series[1].result.buckets[6] = single(0.36);
        QVERIFY(headerAt(17) != headerAt(14));
    }

    void aHeaderSaysThatItsAxisIsLog()
    {
        const ScalarPanel panel = memoryOf(1, { Step { 10 }, Step { 19 } });
        for (const int width : { 200, 690 }) {
            for (const double smoothing : { 0.0, 0.9 }) {
                const auto header = [&](bool isLog) {
                    QImage image(800, 40, QImage::Format_ARGB32_Premultiplied);
                    image.fill(Qt::black);
                    QPainter painter(&image);
                    paintPanelHeader(
                        painter, QRect(100, 32, width, 8), panel, { &lastValueOf, {}, smoothing, {}, isLog }, 100);
                    return image;
                };
                QVERIFY2(header(true) != header(false), qPrintable(QString::number(width)));
            }
        }
    }

    void aHeaderSaysThatItsValuesAreNotSmoothed()
    {
        ScalarPanel panel = memoryOf(1, { Step { 10 }, Step { 19 } });
        CurveSeries& one = panel.picture.series.front();
        one.result.buckets[4] = single(0.36);
        const auto values = [&](double smoothing, std::optional<Step> step) {
            QImage image(800, 40, QImage::Format_ARGB32_Premultiplied);
            image.fill(Qt::black);
            QPainter painter(&image);
            paintPanelHeader(painter, QRect(100, 32, 690, 8), panel, { &lastValueOf, step, smoothing }, 100);
            return image.copy(450, 0, 350, 40); // right of how the line is drawn
        };
        for (const std::optional<Step> step : { std::optional<Step>(), std::optional(Step { 14 }) }) {
            one.row.key.name = QStringLiteral("loss");
            QVERIFY(values(0.9, step) != values(0, step));
            one.row.key.name = QStringLiteral("lr"); // which is not smoothed
            QCOMPARE(values(0.9, step), values(0, step));
        }
    }

    void aHeaderHasEveryRankWhereItsStepsDiffer()
    {
        ScalarPanel panel = memoryOf(4, { Step { 300 }, Step { 319 } });
        for (CurveSeries& one : panel.picture.series)
            one.result.buckets[static_cast<std::size_t>(8 + one.slot)] = single(0.43 + 0.001 * one.slot);
        const HeaderLook look { [](const CurveSeries& one) { return valueAt(one, Step { 316 }); }, Step { 316 }, 0 };
        for (const int width : { 300, 380, 435, 600, 900 }) {
            QImage image(width + 110, 40, QImage::Format_ARGB32_Premultiplied);
            image.fill(Qt::black);
            QPainter painter(&image);
            paintPanelHeader(painter, QRect(100, 32, width, 8), panel, look, 100);
            for (const CurveSeries& one : panel.picture.series) {
                const QRgb color = SeriesStyle::forSlot(one.slot, Theme::current()).color.rgb();
                int pixels = 0;
                for (int x = 100; x < image.width(); ++x)
                    pixels += image.pixel(x, 12) == color ? 1 : 0;
                QVERIFY2(pixels >= 8, qPrintable(QStringLiteral("%1 at %2").arg(one.row.rank.value).arg(width)));
            }
        }
    }
};

TELLTALE_TEST(QTEST_MAIN, OverviewHeader)

}

#include "tst_overviewheader.moc"
