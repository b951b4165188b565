// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <set>

#include <QBuffer>
#include <QPainter>
#include <QSlider>
#include <QTranslator>

#include <telltale/common/axispainter.h>
#include <telltale/heatmap/heatcanvas.h>
#include <telltale/heatmap/rankmark.h>
#include <telltale/ranks/facehead.h>
#include <telltale/ranks/rankmap.h>
#include <telltale/ranks/replicacanvas.h>
#include <telltale/ranks/replicaranks.h>

#include "rankedruns.h"

namespace replicatest {

using namespace telltale;
using namespace telltale::views;
using series::CellState;

/// What the Ranks view says of the replicas of a tensor. Thread: the test's.
class ReplicaTest : public QObject, test::RankedRuns {
    Q_OBJECT
private Q_SLOTS:
    void init() { open("run"); }
    void cleanup() { close(); }

    void replicasSayWhatDiffersAndSinceWhen()
    {
        m_view->setReplicasShown(true);
        m_state->setRank(Rank { 1 });
        m_state->setSelection({ layer(2) });
        settle();
        const ReplicaPicture& replicas = *m_view->replicas()->picture();
        QCOMPARE(replicas.ranks, (std::vector { Rank { 1 }, Rank { 3 }, Rank { 5 }, Rank { 7 } }));
        QCOMPARE(replicas.drift.first, std::optional(Step { kDrifts }));
        QCOMPARE(replicas.sameness(), analysis::Sameness::Different);
        QCOMPARE(analysis::minorityOf(replicas.checksums), (std::vector<std::size_t> { 1 }));
        QVERIFY(
            m_view->replicas()->sentence().contains(QStringLiteral("first differ at step 111; at the cursor rank 3")));
        QCOMPARE(replicas.tensors.front().key, layer(2));
        QCOMPARE(replicas.tensors.front().odd, (std::vector { Rank { 3 } }));
        QVERIFY(m_view->replicas()->tensorsSentence().contains(QStringLiteral("4 tensors are the same, 1 differ")));
        for (int column = 0; column < replicas.columns(); ++column) {
            if (replicas.stepsOf(column).count() != 1)
                continue;
            std::vector<double> values;
            for (const int rank : { 1, 3, 5, 7 })
                values.push_back(
                    static_cast<double>(valueOf(rank, static_cast<int>(replicas.stepsOf(column).first.value), 2)));
            const auto [low, high] = std::minmax_element(values.begin(), values.end());
            QVERIFY(std::abs(
                        static_cast<double>(replicas.spread[static_cast<std::size_t>(column)]) - (*high - *low) / *high)
                < 1e-5);
        }
        // Of a part of the run, too, it is the run's first step.
        m_state->zoomTo({ Step { kDrifts + 40 }, Step { kDrifts + 60 } });
        settle();
        QCOMPARE(m_view->replicas()->picture()->range.first, Step { kDrifts + 40 });
        QVERIFY(m_view->replicas()->sentence().contains(QStringLiteral("first differ at step 111")));
        m_state->zoomTo(m_state->fullRange());
        // The same on the other part.
        m_state->setRank(Rank { 0 });
        settle();
        QVERIFY(!m_view->replicas()->picture()->drift.first);
        QVERIFY(m_view->replicas()->sentence().contains(QStringLiteral("bit for bit the same")));
        m_state->setSelection({ layer(0) });
        settle();
        const auto& states = m_view->replicas()->picture()->states;
        QVERIFY(std::count(states.begin(), states.end(), CellState::NaN) > 0);
    }

    /// Of two no bits are those of most.
    void ofTwoThatDifferNeitherIsOdd()
    {
        m_view->setReplicasShown(true);
        m_state->setRank(Rank { 1 });
        m_state->setSelection({ layer(2) });
        settle();
        ReplicaRanks list(m_state.get());
        const auto lineOf = [&](int line, bool isHead) {
            const QImage image = list.grab(QRect(0, 8 + 20 * line, 266, 16)).toImage();
            return inkIn(image, Theme::current().warnMark) + (isHead ? 0 : inkIn(image, Theme::current().warnText));
        };
        auto replicas = std::make_shared<ReplicaPicture>(*m_view->replicas()->picture());
        list.resize(266, 140);
        list.setPicture(replicas);
        QVERIFY(lineOf(0, true) > 0 && lineOf(2, false) > 0);
        replicas = std::make_shared<ReplicaPicture>(*replicas);
        replicas->ranks.resize(2);
        replicas->values.resize(2);
        replicas->checksums.resize(2);
        QCOMPARE(replicas->sameness(), analysis::Sameness::Different);
        list.setPicture(replicas);
        QVERIFY(lineOf(0, true) > 0); // they do differ
        QCOMPARE(lineOf(1, false) + lineOf(2, false), 0);
        replicas->tensors.front().odd.clear();
        ReplicaCanvas canvas(m_state.get());
        canvas.setPicture(replicas);
        QVERIFY(!canvas.sentence().contains(QStringLiteral("most")));
        QVERIFY(canvas.tensorsSentence().endsWith(layer(2).name));
    }

    void whatIsSaidOfReplicasNamesItsOwnStep()
    {
        cleanup();
        open("sparse");
        m_view->setReplicasShown(true);
        m_state->setCursor(Step { 103 });
        settle();
        QCOMPARE(m_view->replicas()->picture()->valuesStep, Step { 100 });
        const QString said = m_view->replicas()->tensorsSentence();
        QVERIFY2(said.startsWith(QStringLiteral("At step 100,")), qPrintable(said));
        // So does the face above, whose slider stands between two steps.
        QVERIFY(m_view->head(LayersByRanks)->text().endsWith(QStringLiteral("step 100")));
        QCOMPARE(m_view->head(LayersByRanks)->slider()->value(), 103);
    }

    /// What it has not, nobody knows to be the same.
    void aRankThatEndedEarlierIsNotCalledTheSame()
    {
        cleanup();
        open("ended");
        m_view->setReplicasShown(true);
        m_state->setSelection({ layer(2) });
        m_state->setRank(Rank { 0 }); // the first of its group
        m_state->setCursor(Step { kEnds + 30 });
        settle();
        QCOMPARE(m_view->replicas()->tensorsSentence(),
            QStringLiteral(
                "At step 230, weight, after the step (nothing on rank 0): 5 tensors are the same, 0 differ"));
        m_state->setRank(Rank { 1 });
        settle();
        const ReplicaCanvas& replicas = *m_view->replicas();
        QCOMPARE(replicas.tensorsSentence(),
            QStringLiteral(
                "At step 230, weight, after the step (nothing on rank 3): 5 tensors are the same, 0 differ"));
        const auto textAt = [&replicas](int step) {
            int column = 0;
            while (!replicas.picture()->stepsOf(column).contains(Step { step }))
                ++column;
            return replicas.spreadText(column);
        };
        QCOMPARE(textAt(kDrifts - 1), QStringLiteral("spread, the bits are the same"));
        QCOMPARE(textAt(kEnds - 1), QStringLiteral("spread, the bits differ"));
        QCOMPARE(textAt(kEnds), QStringLiteral("spread on 3 of 4 ranks, the bits are the same, nothing on rank 3"));
        // Neither the line of all nor the color of what agrees goes on.
        const QSize size(900, 300);
        const QRect plot = replicas.plotRect(size);
        const QImage image = m_view->replicas()->renderTo(size);
        const auto lastOf = [&](const auto& isMeant) {
            for (int x = plot.right(); x >= plot.left(); --x) {
                for (int y = plot.top() + 20; y < plot.bottom() + 19; ++y) {
                    if (isMeant(image.pixelColor(x, y)))
                        return (x - plot.left()) * kSteps / plot.width();
                }
            }
            return -1;
        };
        QVERIFY(lastOf([](QColor one) { return one == Theme::current().ok; }) < kEnds);
        QVERIFY(lastOf([](QColor one) { return one.blue() - one.red() > 60; }) < kEnds);
        QVERIFY(lastOf([](QColor one) { return one == Theme::current().text3; }) >= kEnds); // dots and its own line

        m_state->zoomTo({ Step { kEnds - 5 }, Step { kEnds + 20 } });
        m_state->setSelection({ layer(1) });
        settle();
        QVERIFY(replicas.sentence().endsWith(
            QStringLiteral("bit for bit the same where they have checksums; at 21 of 26 steps nothing on rank 3.")));
        QBuffer csv;
        csv.open(QIODevice::WriteOnly);
        QVERIFY(m_view->writeCsv(&csv));
        QVERIFY(csv.data().trimmed().endsWith(",same,3"));
    }

    void aRankWithoutALaterMicroStepIsThere()
    {
        cleanup();
        open("micro");
        m_view->setReplicasShown(true);
        m_state->setSelection({ layer(2) });
        settle();
        const auto& without = m_view->replicas()->picture()->without;
        QVERIFY(std::ranges::all_of(without, [](const auto& ranks) { return ranks.empty(); }));
        QVERIFY(m_view->replicas()->tensorsSentence().contains(QStringLiteral("5 tensors are the same, 0 differ")));
    }

    /// Each has a batch of its own.
    void whatDiffersByRightIsNoWarning()
    {
        m_view->setReplicasShown(true);
        m_state->setRank(Rank { 1 });
        m_state->setSelection({ layer(2) });
        settle();
        const auto warningsOf = [this](Kind kind) {
            auto shown = std::make_shared<ReplicaPicture>(*m_view->replicas()->picture());
            shown->kind = kind;
            ReplicaCanvas canvas(m_state.get());
            canvas.setPicture(shown);
            ReplicaRanks list(m_state.get());
            list.resize(266, 140);
            list.setPicture(shown);
            const QColor warns = Theme::current().warnMark;
            const bool isSaid = canvas.sentence().contains(QStringLiteral("each rank has its own values of this kind"));
            const int inList = inkIn(list.grab().toImage(), warns);
            return std::tuple(inkIn(canvas.renderTo({ 900, 300 }), warns) > 0, inList > 0, isSaid);
        };
        for (const Kind kind : { Kind::ParamUpdated, Kind::GradReduced, Kind::ExpAvgSq, Kind::Update })
            QCOMPARE(warningsOf(kind), std::tuple(true, true, false));
        for (const Kind kind : { Kind::Actv, Kind::ActvGrad, Kind::GradUnreduced })
            QCOMPARE(warningsOf(kind), std::tuple(false, false, true));
    }

    void whyThereAreNoChecksumsIsTrue()
    {
        const auto said = [this](const char* run, Kind kind) {
            cleanup();
            open(run);
            m_state->setKind(kind);
            m_view->setReplicasShown(true);
            [this] { settle(); }();
            return m_view->replicas()->sentence();
        };
        const QString without = said("broken", Kind::ParamUpdated);
        QVERIFY2(
            without.endsWith(QStringLiteral("no checksums (telltale.checksum is not true).")), qPrintable(without));
        const QString calls = said("sparse", Kind::Comm);
        QVERIFY2(calls.endsWith(QStringLiteral("no checksums of this kind.")), qPrintable(calls));
    }

    /// As curves are.
    void whatIsCollectedNowAndThenIsOneLine()
    {
        cleanup();
        open("sparse");
        m_view->setReplicasShown(true);
        m_state->setRank(Rank { 0 });
        m_state->setSelection({ layer(0) });
        settle();
        const QSize size(900, 300);
        const QRect plot = m_view->replicas()->plotRect(size);
        const QImage image = m_view->replicas()->renderTo(size);
        const auto columnsOf = [&](int from, int to, const QColor& color) {
            int columns = 0;
            for (int x = plot.left(); x <= plot.right(); ++x) {
                for (int y = from; y < to; ++y) {
                    const QColor one = image.pixelColor(x, y);
                    if (one == color || (color == Theme::current().series[0] && one.blue() - one.red() > 60)) {
                        ++columns;
                        break;
                    }
                }
            }
            return columns;
        };
        const int spread = columnsOf(plot.top() + 20, plot.bottom() + 1, Theme::current().series[0]);
        const int bits = columnsOf(plot.bottom() + 1, plot.bottom() + 19, Theme::current().ok);
        QVERIFY2(spread > plot.width() * 9 / 10 && bits > plot.width() * 9 / 10,
            qPrintable(QStringLiteral("%1 and %2 of %3").arg(spread).arg(bits).arg(plot.width())));
    }

    /// What is true of them is never cut: it goes on in a second line.
    void whatReplicasSayIsWhole()
    {
        m_view->setReplicasShown(true);
        m_state->setRank(Rank { 1 });
        m_state->setSelection({ layer(2) });
        settle();
        const ReplicaCanvas& replicas = *m_view->replicas();
        QVERIFY(replicas.sentence().contains(layer(2).name));
        const QString said = replicas.sentence(false); // below the name
        QVERIFY(!said.contains(layer(2).name) && said.contains(QStringLiteral("first differ at step 111")));
        const int width = QFontMetrics(wordsFont(12, 500)).horizontalAdvance(said);
        // What is said of the other tensors too, where the plot leaves the room.
        const int tensors = QFontMetrics(wordsFont(11)).horizontalAdvance(replicas.tensorsSentence()) * 3 / 4;
        QCOMPARE(replicas.plotRect({ tensors, 300 }).top(), replicas.plotRect({ tensors, 140 }).top() + 18);
        QVERIFY(replicas.plotRect({ width * 3 / 4, 300 }).top() > replicas.plotRect({ width * 3 / 2, 300 }).top());
        // A low plot has no numbers, which would be over the label below it.
        const auto numbersOf = [&](int height) {
            const QSize size(900, height);
            const QRect plot = replicas.plotRect(size);
            const QImage image = m_view->replicas()->renderTo(size);
            int numbers = 0;
            for (int y = plot.top(); y <= plot.bottom(); ++y)
                numbers += image.pixelColor(plot.left() - 2, y) == Theme::current().text3;
            return numbers;
        };
        const int words = 300 - replicas.plotRect({ 900, 300 }).height();
        QVERIFY(numbersOf(300) > 0);
        QCOMPARE(numbersOf(words + 20), 0);
        // No line of the numbers, and nothing of the spread, goes through the caption.
        for (int height = words + 52; height < words + 160; height += 9) {
            const QRect plot = replicas.plotRect({ 900, height });
            const QImage image = m_view->replicas()->renderTo({ 900, height });
            const QColor base = Theme::current().base;
            int lines = 0;
            for (int y = plot.top() + 3; y < plot.top() + 18; ++y) {
                int drawn = 0;
                for (int x = plot.center().x(); x < plot.right(); ++x)
                    drawn += image.pixelColor(x, y) != base;
                lines += drawn > plot.width() / 4;
            }
            QCOMPARE(lines, 0);
        }
    }

    /// One cursor is one line through both plots, and one edge is that of all words.
    void replicasStandUnderTheMap()
    {
        m_view->setReplicasShown(true);
        m_state->setRank(Rank { 1 });
        m_state->setSelection({ layer(2) });
        const ReplicaRanks& list = *m_view->replicaRanks();
        for (const QSize size : { QSize(700, 600), QSize(1080, 700), QSize(1600, 800) }) {
            m_host->resize(size);
            m_view->resize(size);
            settle();
            const QRect above = m_view->face(LayersBySteps)->plotRect();
            const QRect below = m_view->replicas()->plotRect();
            QCOMPARE(std::pair(below.left(), below.right()), std::pair(above.left(), above.right()));
            // What each of them is stands beside the map of ranks, where that has room.
            QCOMPARE(list.isVisible(), size.width() > 700);
            QCOMPARE(list.isVisible() ? list.x() : list.parentWidget()->width(), m_view->map()->width());
        }
        // One is not as others: it has a sign of its own, not that of an odd rank, and what it means is said.
        const QImage marked = m_view->replicaRanks()->grab().toImage();
        const auto isSignAt
            = [&marked](int y) { return inkIn(marked.copy(0, y, 9, 1), Theme::current().warnMark) > 0; };
        int top = 26; // below the step
        while (top < marked.height() && !isSignAt(top))
            ++top;
        const QImage sign = marked.copy(0, top, 9, 7);
        int signs = 0;
        for (int y = 0; y + 7 <= marked.height(); ++y) {
            for (int x = 0; x + 9 <= marked.width(); ++x)
                signs += marked.copy(x, y, 9, 7) == sign ? 1 : 0;
        }
        QCOMPARE(signs, 2);
        QImage odd(9, 20, marked.format());
        odd.fill(Theme::current().base);
        QPainter painter(&odd);
        paintRankMark(painter, { 4, 8 }, analysis::RankOddness::Grade::Odd, Theme::current());
        painter.end();
        for (int y = 0; y + 7 <= odd.height(); ++y)
            QVERIFY(odd.copy(0, y, 9, 7) != sign);
        const auto firstInk = [](const QImage& image) {
            for (int x = 0; x < image.width(); ++x) {
                for (int y = 2; y < 16; ++y) {
                    if (image.pixelColor(x, y) != image.pixelColor(0, y))
                        return x;
                }
            }
            return -1;
        };
        const auto caption = m_view->head(RanksBySteps)->grab(QRect(0, 6, 100, 18)).toImage();
        const int words = firstInk(m_view->replicas()->renderTo({ 900, 300 }));
        QVERIFY2(std::abs(words - firstInk(caption)) <= 1, qPrintable(QString::number(words)));
        m_view->setReplicasShown(false);
        QVERIFY(!list.isVisible());
        QCOMPARE(m_view->map()->width(), list.parentWidget()->width());
    }

    void aSpreadOfZeroStandsOnZero()
    {
        cleanup();
        open("still");
        m_view->setReplicasShown(true);
        m_state->setSelection({ layer(0) });
        const QSize size(900, 300);
        const auto labelOf = [&](StepRange range) { // at the bottom of the axis: px of its width
            m_state->zoomTo(range);
            settle();
            const QRect plot = m_view->replicas()->plotRect(size);
            const QImage image = m_view->replicas()->renderTo(size);
            int left = plot.left() - 5;
            for (int y = plot.bottom() - 7; y <= plot.bottom(); ++y) {
                for (int x = 2; x < plot.left() - 5; ++x)
                    left = image.pixelColor(x, y) == Theme::current().base ? left : std::min(left, x);
            }
            return plot.left() - 5 - left;
        };
        const int zero = QFontMetrics(numberFont(11)).horizontalAdvance(u'0');
        const int said = labelOf({ Step { 0 }, Step { kMoves - 1 } });
        QVERIFY2(said > 0 && said <= 3 + zero, qPrintable(QString::number(said)));
        QCOMPARE(labelOf({ Step { kMoves - 50 }, Step { kMoves + 50 } }), said); // beside what is more
    }

    void theCursorsLineLeavesTheWordsAboveTheSpreadFree()
    {
        m_view->setReplicasShown(true);
        m_state->setSelection({ layer(2) });
        m_state->setCursor(Step { 20 });
        settle();
        const QSize size(900, 300);
        const QRect plot = m_view->replicas()->plotRect(size);
        const QImage before = m_view->replicas()->renderTo(size);
        m_state->setCursor(Step { 30 });
        const QImage after = m_view->replicas()->renderTo(size);
        const QRect words(plot.left(), plot.top(), plot.width(), 20);
        QCOMPARE(after.copy(words), before.copy(words));
        QVERIFY(after.copy(plot) != before.copy(plot));
    }

    /// A plot that has no room for its numbers is left out, and no step number is cut by its edge.
    void aLowPlotOfReplicasNamesItsLineAndCutsNoStep()
    {
        m_view->setReplicasShown(true);
        m_state->setRank(Rank { 1 });
        m_state->setSelection({ layer(2) });
        settle();
        const ReplicaCanvas& replicas = *m_view->replicas();
        const Theme& theme = Theme::current();
        std::set<std::pair<bool, bool>> seen;
        for (int height = 90; height < 180; ++height) {
            const QRect plot = replicas.plotRect({ 900, height });
            const QImage image = m_view->replicas()->renderTo({ 900, height });
            int line = 0; // columns of its blue
            for (int x = plot.left(); x <= plot.right(); ++x) {
                for (int y = plot.top(); y <= plot.bottom(); ++y) {
                    if (const QColor one = image.pixelColor(x, y); one.blue() - one.red() > 60) {
                        ++line;
                        break;
                    }
                }
            }
            int named = 0;
            for (int y = plot.top(); y <= plot.bottom(); ++y) {
                for (int x = 2; x < plot.left() - 6; ++x)
                    named += image.pixelColor(x, y) != theme.base;
            }
            const bool hasLine = line > plot.width() / 4;
            QVERIFY2(!hasLine || named > 0, qPrintable(QStringLiteral("no number at %1 px").arg(height)));
            QVERIFY2(hasLine || plot.height() <= 4, qPrintable(QStringLiteral("nothing at %1 px").arg(height)));
            const int axis = plot.bottom() + 1 + 18; // below the checksums
            QVERIFY(axis <= height);
            int ink = 0;
            for (int x = plot.left(); x <= plot.right(); ++x)
                ink += axis < height && image.pixelColor(x, axis) == theme.text3;
            const bool hasSteps = ink > plot.width() / 2;
            QVERIFY2(!hasSteps || axis + AxisPainter::kStepBand <= height, qPrintable(QString::number(height)));
            seen.emplace(hasLine, hasSteps);
        }
        QCOMPARE(seen, (std::set<std::pair<bool, bool>> { { false, false }, { false, true }, { true, true } }));
    }

    /// Rose is what is not finite: that bits differ is a warning.
    void whereChecksumsDifferTheirLaneWarns()
    {
        m_view->setReplicasShown(true);
        m_state->setRank(Rank { 1 });
        m_state->setSelection({ layer(2) });
        settle();
        const QRect plot = m_view->replicas()->plotRect({ 900, 300 });
        const QRect lane(plot.left(), plot.bottom() + 1, plot.width(), 18);
        const QImage image = m_view->replicas()->renderTo({ 900, 300 }).copy(lane);
        QVERIFY(inkIn(image, Theme::current().warnMark) > 0);
        QCOMPARE(roseIn(image), 0);
    }

    void whatDiffersIsListedInTheSignsOfTheWindowsLanguage()
    {
        struct Signs : QTranslator {
            QString translate(const char*, const char* source, const char*, int) const override
            {
                return source == QByteArrayLiteral("%1: %2") ? QStringLiteral("%1\uFF1A%2") : QString();
            }
            bool isEmpty() const override { return false; }
        } signs;
        m_view->setReplicasShown(true);
        m_state->setRank(Rank { 1 });
        m_state->setSelection({ layer(2) });
        settle();
        const QString own = m_view->replicas()->tensorsSentence();
        QVERIFY2(own.contains(QStringLiteral("1 differ: ")), qPrintable(own));
        QCoreApplication::installTranslator(&signs);
        const QString other = m_view->replicas()->tensorsSentence();
        QCoreApplication::removeTranslator(&signs);
        QVERIFY2(other.contains(QStringLiteral("1 differ\uFF1A")), qPrintable(other));
    }

    void whatHasNoReplicasSaysSoAlone()
    {
        m_view->setReplicasShown(true);
        m_state->setSelection({ layer(2) });
        settle();
        ReplicaCanvas canvas(m_state.get());
        auto picture = std::make_shared<ReplicaPicture>(*m_view->replicas()->picture());
        canvas.setPicture(picture);
        QVERIFY(canvas.hasEvenSteps());
        picture->ranks.resize(1);
        canvas.setPicture(picture);
        QVERIFY(!canvas.hasEvenSteps());

        // What is selected may have nothing of the kind.
        m_state->setSelection({ { QStringLiteral("all_reduce (train.py[55] main)"), {} } });
        settle();
        QVERIFY(!m_view->replicas()->picture());
        const QImage empty = m_view->replicas()->renderTo({ 500, 300 });
        bool isSaid = false;
        for (int x = 0; x < empty.width(); ++x) {
            for (int y = 120; y < 180; ++y)
                isSaid = isSaid || empty.pixel(x, y) != Theme::current().base.rgb();
        }
        QVERIFY(isSaid);
    }
};

TELLTALE_TEST(QTEST_MAIN, ReplicaTest)

}

#include "replicatest.moc"
