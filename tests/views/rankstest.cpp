// SPDX-License-Identifier: GPL-3.0-or-later
#include "shots.h"
#include "testmain.h"

#include <set>

#include <QBuffer>
#include <QComboBox>
#include <QSlider>

#include <telltale/heatmap/heatcanvas.h>
#include <telltale/ranks/facehead.h>
#include <telltale/ranks/rankmap.h>
#include <telltale/ranks/replicacanvas.h>

#include "looks.h"
#include "rankedruns.h"

namespace rankstest {

using namespace telltale;
using namespace telltale::views;
using Grade = analysis::RankOddness::Grade;
using series::CellState;

/// The ranks of a run whose numbers are known. Thread: the test's.
class RanksTest : public QObject, test::RankedRuns {
    Q_OBJECT
private Q_SLOTS:
    void init() { open("run"); }
    void cleanup() { close(); }

    void everyFaceHasTheRunsOwnNumbers()
    {
        m_state->setRank(Rank { 4 });
        m_state->setCursor(Step { 60 });
        m_state->setSelection({ layer(3) });
        m_state->zoomTo({ Step { 10 }, Step { 89 } });
        settle();
        const HeatPicture& bySteps = picture(LayersBySteps);
        QCOMPARE(bySteps.result.rows, kLayers);
        QCOMPARE(bySteps.columns(), 80);
        const HeatPicture& byRanks = picture(LayersByRanks);
        QCOMPARE(byRanks.columns(), kRanks);
        const HeatPicture& ranks = picture(RanksBySteps);
        QCOMPARE(ranks.result.rows, kRanks);
        for (int number = 0; number < kLayers; ++number) {
            for (int column = 0; column < 80; ++column)
                compare(bySteps, number, column, valueOf(4, 10 + column, number));
            for (int rank = 0; rank < kRanks; ++rank)
                compare(byRanks, number, rank, valueOf(rank, 60, number));
        }
        for (int rank = 0; rank < kRanks; ++rank) {
            QCOMPARE(ranks.rows[static_cast<std::size_t>(rank)].key, layer(3));
            for (int column = 0; column < 80; ++column)
                compare(ranks, rank, column, valueOf(rank, 10 + column, 3));
        }
        // A color is one value wherever it stands.
        for (const Face face : { LayersByRanks, RanksBySteps }) {
            QCOMPARE(picture(face).scale.low(), bySteps.scale.low());
            QCOMPARE(picture(face).scale.high(), bySteps.scale.high());
        }
        for (const MapRank& one : m_view->map()->picture()->ranks)
            QCOMPARE(static_cast<float>(one.value.value), valueOf(one.rank.value, 60, 3));
    }

    /// The step above the map is not what its signs speak of.
    void aSignSaysOfWhichCellsItIs()
    {
        m_state->setSelection({ layer(0) }); // broken later
        m_state->setCursor(Step { 5 });
        settle();
        std::set<int> ofSteps;
        for (const MapRank& one : m_view->map()->picture()->ranks) {
            const HeatPicture& face = picture(one.isOverSteps ? RanksBySteps : LayersByRanks);
            QCOMPARE(one.odd.far, face.odd.at(one.rank).far);
            QCOMPARE(RankMap::whyOdd(one).contains(QStringLiteral("over the steps shown")), one.isOverSteps);
            if (one.isOverSteps)
                ofSteps.insert(one.rank.value);
        }
        QCOMPARE(ofSteps, std::set { kBroken });
    }

    void withoutASelectionTheRanksAreThoseOfTheFirstModuleShown()
    {
        m_state->setModuleFilter(layer(3).name);
        settle();
        QCOMPARE(picture(LayersBySteps).result.rows, 1);
        const HeatPicture& ranks = picture(RanksBySteps);
        QCOMPARE(ranks.result.rows, kRanks);
        for (int rank = 0; rank < kRanks; ++rank) {
            QCOMPARE(ranks.rows[static_cast<std::size_t>(rank)].key, layer(3));
            compare(ranks, rank, 0, valueOf(rank, 0, 3));
        }
    }

    void rowsAreNamedAlikeWhereAFewRanksLeaveTheRoom()
    {
        settle();
        const auto leftWith = [this](Face face, const QString& name, int width) {
            HeatCanvas* canvas = m_view->face(face);
            auto named = std::make_shared<HeatPicture>(*canvas->picture());
            for (Row& row : named->rows)
                row.label = name;
            named->finish();
            canvas->setPicture(named);
            return canvas->plotRect({ width, 400 }).left();
        };
        const QString name = QStringLiteral("0.attn.core head_0");
        const int left = leftWith(LayersBySteps, name, 800);
        QVERIFY(left > 105);
        QCOMPARE(leftWith(LayersByRanks, name, 520), left);
        // Not at the cost of the ranks.
        QVERIFY(leftWith(LayersByRanks, name + name + name, 520) <= 520 / 4);
    }

    void everySliderMovesTheStateAndFollowsIt()
    {
        settle();
        slider(LayersBySteps)->setValue(6);
        QCOMPARE(m_state->rank(), Rank { 6 });
        slider(LayersByRanks)->setValue(77);
        QCOMPARE(m_state->cursor(), std::optional(Step { 77 }));
        settle();
        slider(RanksBySteps)->setValue(4);
        QCOMPARE(m_state->selection(), (std::vector { layer(4) }));
        m_state->setRank(Rank { 1 });
        m_state->setCursor(Step { 5 });
        m_state->setSelection({ layer(2) });
        settle();
        QCOMPARE(slider(LayersBySteps)->value(), 1);
        QCOMPARE(slider(LayersByRanks)->value(), 5);
        QCOMPARE(slider(RanksBySteps)->value(), 2);
        QCOMPARE(picture(RanksBySteps).rows.front().key, layer(2));
    }

    void aClickInAnyFaceMovesTheOthers()
    {
        settle();
        click(LayersByRanks, 3, 6);
        QCOMPARE(m_state->rank(), Rank { 6 });
        QCOMPARE(m_state->selection(), (std::vector { layer(3) }));
        settle();
        QCOMPARE(picture(LayersBySteps).rows.front().rank, Rank { 6 });
        QCOMPARE(picture(RanksBySteps).rows.front().key, layer(3));
        click(RanksBySteps, 2, 20);
        QCOMPARE(m_state->rank(), Rank { 2 });
        QVERIFY(m_state->cursor().has_value());
        settle();
        QCOMPARE(picture(LayersByRanks).atStep, *m_state->cursor());
    }

    void oddRanksAreMarked()
    {
        m_state->setSelection({ layer(0) });
        settle();
        for (const Face face : { LayersByRanks, RanksBySteps }) {
            for (int rank = 0; rank < kRanks; ++rank) {
                const bool isOdd = rank == kOdd || rank == kBroken;
                QCOMPARE(picture(face).gradeOf(Rank { rank }), isOdd ? Grade::Odd : Grade::Like);
            }
        }
        // Of the other part of the model's copies, none is.
        m_state->setCursor(Step { 100 });
        settle();
        QCOMPARE(picture(LayersByRanks).gradeOf(Rank { kBroken }), Grade::Like);
        QVERIFY(m_view->map()->picture()->areCompared);
    }

    void ranksStandInTheGroupsOfTheTopology()
    {
        m_view->setGrouping(analysis::Parallel::Tensor);
        settle();
        const std::vector<Rank>& order = picture(LayersByRanks).columnRanks;
        for (int i = 0; i < kRanks; ++i)
            QCOMPARE(order[static_cast<std::size_t>(i)].value, i < 4 ? 2 * i : 2 * (i - 4) + 1);
        const HeatPicture& ranks = picture(RanksBySteps);
        for (int i = 0; i < kRanks; ++i)
            QCOMPARE(ranks.rows[static_cast<std::size_t>(i)].rank, order[static_cast<std::size_t>(i)]);
        QCOMPARE(ranks.bands.size(), std::size_t { 2 });
        QCOMPARE(ranks.bands[1].label, QStringLiteral("tp 1"));
        compare(picture(LayersByRanks), 1, 5, valueOf(order[5].value, kSteps - 1, 1));
    }

    void theMapPlacesRanksAndAClickChoosesOne()
    {
        settle();
        RankMap& map = *m_view->map();
        for (int rank = 0; rank + 2 < kRanks; ++rank) {
            // Copies stand below each other, pieces of a matrix beside each other.
            QVERIFY(map.cellOf(Rank { rank }).center().y() < map.cellOf(Rank { rank + 2 }).center().y());
            QCOMPARE(map.cellOf(Rank { rank }).center().x(), map.cellOf(Rank { rank + 2 }).center().x());
        }
        QVERIFY(map.cellOf(Rank { 0 }).center().x() < map.cellOf(Rank { 1 }).center().x());
        QTest::mouseClick(&map, Qt::LeftButton, Qt::NoModifier, map.cellOf(Rank { 7 }).center().toPoint());
        QCOMPARE(m_state->rank(), Rank { 7 });
        map.setFocus();
        QTest::mouseMove(&map, QPoint(1, 1));
        QTest::keyClick(&map, Qt::Key_Up);
        QTest::keyClick(&map, Qt::Key_Left);
        QTest::keyClick(&map, Qt::Key_Return);
        QCOMPARE(m_state->rank(), Rank { 4 });
    }

    void whereNoFaceHasALegendTheMapExplainsWhatIsNoValue()
    {
        settle();
        QVERIFY(m_view->map()->explained().empty()); // the legend beside a face does
        m_view->resize(700, 500);
        settle();
        const auto& explained = m_view->map()->explained();
        for (const CellState state : { CellState::NaN, CellState::PosInf, CellState::NotCollected }) {
            bool isSeen = false;
            for (const Face face : { LayersBySteps, LayersByRanks, RanksBySteps }) {
                const auto& states = picture(face).result.states;
                isSeen = isSeen || std::find(states.begin(), states.end(), state) != states.end();
            }
            QCOMPARE(std::find(explained.begin(), explained.end(), state) != explained.end(), isSeen);
        }
        QVERIFY(!explained.empty());
    }

    void aMapOfAnySizeShowsEveryRank()
    {
        std::vector<Rank> many;
        store::Catalog catalog;
        for (int rank = 0; rank < 3000; ++rank) {
            many.push_back(Rank { rank });
            store::SourceInfo info;
            info.rank = Rank { rank };
            info.tp = rank % 8;
            info.pp = rank / 8 % 5;
            info.dp = rank / 40;
            catalog.sources.push_back(info);
        }
        const QRectF area(0, 0, 400, 260);
        for (const auto& topology : { analysis::RankTopology(catalog), analysis::RankTopology() }) {
            const RankMapLayout layout(topology, many, area);
            std::set<std::pair<double, double>> places;
            for (const Rank rank : many) {
                const QRectF cell = layout.cellOf(rank);
                QVERIFY(area.adjusted(-1, -1, 1, 1).contains(cell));
                QVERIFY(places.emplace(cell.x(), cell.y()).second);
            }
        }
        const RankMapLayout few(analysis::RankTopology(), { many.begin(), many.begin() + 4 }, area);
        QVERIFY(few.cellOf(Rank { 3 }).right() > 0.75 * area.width());
    }

    /// Of dark and white words those with more contrast.
    void wordsOnAnyCellAreRead()
    {
        settle();
        RankMap map(m_state.get());
        const auto luminanceOf = [](QRgb color) {
            const auto linear = [](int part) { return std::pow((part / 255.0 + 0.055) / 1.055, 2.4); };
            return 0.2126 * linear(qRed(color)) + 0.7152 * linear(qGreen(color)) + 0.0722 * linear(qBlue(color));
        };
        const double dark = luminanceOf(qRgb(0x15, 0x17, 0x1A)) + 0.05;
        const QSize size(700, 300);
        for (int at = 0; at <= 60; ++at) {
            auto shown = std::make_shared<RankMapPicture>(*m_view->map()->picture());
            shown->scale = { ValueScale::Mode::Linear, 0, 1 };
            for (MapRank& one : shown->ranks) {
                one.value.value = at / 60.0;
                one.value.state = CellState::Value;
                one.odd.grade = analysis::RankOddness::Grade::Like;
            }
            std::vector<Rank> ranks;
            for (const MapRank& one : shown->ranks)
                ranks.push_back(one.rank);
            map.setPicture(shown);
            const RankMapLayout layout(shown->topology, ranks, QRectF(map.plotRect(size)));
            const QRect cell = layout.cellOf(ranks[1]).toRect();
            const QImage image = map.renderTo(size);
            const QRgb fill = image.pixel(cell.left() + 1, cell.top() + 1);
            double darkest = 1, brightest = 0;
            for (int y = cell.top() + 2; y < cell.bottom() - 1; ++y) {
                for (int x = cell.left() + 2; x < cell.right() - 1; ++x) {
                    darkest = std::min(darkest, luminanceOf(image.pixel(x, y)));
                    brightest = std::max(brightest, luminanceOf(image.pixel(x, y)));
                }
            }
            const double own = luminanceOf(fill) + 0.05;
            const bool isWhite = brightest - own > own - darkest;
            const bool isWhiteBetter = 1.05 / own > own / dark;
            QVERIFY2(isWhite == isWhiteBetter, qPrintable(QColor(fill).name()));
        }
    }

    void aValueLeavesTheEdgesOfItsCell()
    {
        settle();
        RankMap map(m_state.get());
        auto shown = std::make_shared<RankMapPicture>(*m_view->map()->picture());
        shown->topology = {};
        shown->scale = { ValueScale::Mode::Linear, 0, 1 };
        std::vector<Rank> ranks;
        for (MapRank& one : shown->ranks) {
            one.value.value = 0.00888;
            one.value.state = CellState::Value;
            one.odd.grade = analysis::RankOddness::Grade::Like;
            ranks.push_back(one.rank);
        }
        map.setPicture(shown);
        for (int width = 300; width < 460; width += 8) { // cells of any width that has a value
            const QSize size(width, 300);
            const RankMapLayout layout(shown->topology, ranks, QRectF(map.plotRect(size)));
            const QRect cell = layout.cellOf(ranks[1]).toRect();
            const QImage image = map.renderTo(size);
            for (int y = cell.top(); y < cell.top() + cell.height() * 2 / 3; ++y) {
                for (const int x : { cell.left() + 1, cell.left() + 2, cell.right() - 2, cell.right() - 1 })
                    QCOMPARE(image.pixelColor(x, y), image.pixelColor(cell.left() + 1, cell.top() + 1));
            }
        }
    }

    /// Beside the list of replicas the map is narrow, and what explains its signs goes on in further lines.
    void whatExplainsASignIsWholeInANarrowMap()
    {
        m_state->setSelection({ layer(2) });
        settle();
        const auto signsBelow = [this](int width) {
            const QSize size(width, 320);
            const QRect plot = m_view->map()->plotRect(size);
            const QImage image = m_view->map()->renderTo(size);
            QSet<int> lines; // that words have ink in
            for (int y = plot.bottom() + 1; y < size.height(); ++y) {
                for (int x = 30; x < width; ++x) {
                    if (image.pixelColor(x, y) == Theme::current().text2)
                        lines.insert(y / 15);
                }
            }
            return std::pair(size.height() - plot.bottom(), static_cast<int>(lines.size()));
        };
        const auto wide = signsBelow(700), narrow = signsBelow(170);
        QVERIFY(wide.second > 0);
        QVERIFY2(narrow.first > wide.first && narrow.second > wide.second, qPrintable(QString::number(narrow.first)));
    }

    /// That none can be odd explains nothing that is seen.
    void whatExplainsNoSignIsNotSqueezed()
    {
        settle();
        RankMap map(m_state.get());
        auto shown = std::make_shared<RankMapPicture>(*m_view->map()->picture());
        shown->areCompared = false;
        for (MapRank& one : shown->ranks)
            one.odd.grade = analysis::RankOddness::Grade::Like;
        map.setPicture(shown);
        const auto isSaid = [&map](int width, int height) {
            const QSize size(width, height);
            const int bottom = map.plotRect(size).bottom() + 1;
            return inkIn(map.renderTo(size).copy(0, bottom, width, size.height() - bottom), Theme::current().text2) > 0;
        };
        QVERIFY(isSaid(700, 220) && isSaid(420, 220));
        QVERIFY(isSaid(240, 220) && isSaid(240, 140)); // in fewer words
        QVERIFY(!isSaid(150, 220) && !isSaid(240, 90));
        QVERIFY(!map.whyNoneIsOdd().isEmpty());
        QCOMPARE(m_view->map()->whyNoneIsOdd(), QString());
    }

    void whatASignMeansIsSaidInALowMapToo()
    {
        m_state->setSelection({ layer(2) });
        settle();
        RankMap& map = *m_view->map();
        for (const int height : { 90, 110, 149, 150 }) {
            const QImage image = map.renderTo({ 200, height });
            const int bottom = map.plotRect({ 200, height }).bottom() + 1;
            const QImage below = image.copy(0, bottom, 200, height - bottom);
            QVERIFY2(inkIn(below, Theme::current().text2) > 0, qPrintable(QString::number(height)));
            QVERIFY2(inkIn(below, Theme::current().warnMark) > 0, qPrintable(QString::number(height)));
            QVERIFY(map.plotRect({ 200, height }).height() >= 40);
        }
    }

    void nothingThatIsNotFiniteIsHidden_data()
    {
        QTest::addColumn<QSize>("size");
        for (const QSize size : { QSize(500, 300), QSize(1000, 700), QSize(1600, 1000) })
            QTest::addRow("%d", size.width()) << size;
    }
    void nothingThatIsNotFiniteIsHidden()
    {
        QFETCH(QSize, size);
        m_state->setSelection({ layer(0) });
        m_state->setRank(Rank { kBroken });
        m_host->resize(size);
        m_view->resize(size);
        settle();
        QVERIFY(roseIn(m_view->face(LayersBySteps)->renderTo(m_view->face(LayersBySteps)->size())) > 3);
        QVERIFY(roseIn(m_view->face(LayersByRanks)->renderTo(m_view->face(LayersByRanks)->size())) > 3);
        QVERIFY(roseIn(m_view->face(RanksBySteps)->renderTo(m_view->face(RanksBySteps)->size())) > 3);
        QVERIFY(roseOfMap() > 3);
        m_state->setRank(Rank { 0 });
        m_state->setSelection({ layer(4) });
        settle();
        QCOMPARE(roseOfMap(), 0);
    }

    void csvHasEveryCell()
    {
        m_state->zoomTo({ Step { 195 }, Step { 204 } });
        m_state->setSelection({ layer(0) });
        settle();
        QBuffer buffer;
        buffer.open(QIODevice::WriteOnly);
        QVERIFY(m_view->writeCsv(&buffer));
        const QList<QByteArray> lines = buffer.data().trimmed().split('\n');
        QCOMPARE(lines.size(), 1 + kLayers * 10 + kLayers * kRanks + kRanks * 10);
        int odd = 0;
        int nan = 0;
        for (const QByteArray& line : lines) {
            odd += line.startsWith("ranks_by_steps,layers.0.weight") && line.trimmed().endsWith(",odd") ? 1 : 0;
            nan += line.contains(",2,") && line.contains(",nan,") ? 1 : 0;
        }
        QCOMPARE(odd, 20); // two ranks of ten steps
        QVERIFY(nan >= 5);
        m_view->setReplicasShown(true);
        settle();
        QBuffer replicas;
        replicas.open(QIODevice::WriteOnly);
        QVERIFY(m_view->writeCsv(&replicas));
        QCOMPARE(replicas.data().trimmed().split('\n').size(), 11);
        QVERIFY(replicas.data().contains(",same"));
    }

    void whatIsNotFiniteHasNoSpreadAndNoColors()
    {
        cleanup();
        open("broken");
        m_view->setReplicasShown(true);
        m_state->setCursor(Step { kBreaks + 5 });
        settle();
        QVERIFY(m_view->replicas()->tensorsSentence().endsWith(QStringLiteral(": 5 tensors are not finite")));
        // The colors of the other faces hold for this one, which has none of its own.
        QVERIFY(picture(LayersByRanks).hasScale);
        QVERIFY(picture(LayersByRanks).scale.low() > 0.5);
        m_state->zoomTo({ Step { kBreaks + 1 }, Step { kSteps - 1 } });
        settle();
        for (const Face face : { LayersBySteps, LayersByRanks, RanksBySteps })
            QVERIFY(!picture(face).hasScale);
        m_state->zoomTo({ Step { 0 }, Step { kSteps - 1 } });
        m_state->setCursor(Step { 7 });
        settle();
        QVERIFY(m_view->replicas()->tensorsSentence().contains(QStringLiteral("furthest apart of 5 tensors")));
    }

    /// One legend, beside one face, is that of all three.
    void theLegendMarksWhatIsBeyondTheColorsOfAnyFace()
    {
        cleanup();
        open("still");
        m_state->setSelection({ layer(3) });
        const auto isMarked = [this](int step, StepRange range) {
            m_state->zoomTo(range);
            m_state->setCursor(Step { step });
            settle();
            for (const Face face : { LayersBySteps, LayersByRanks, RanksBySteps }) {
                if (picture(face).clippedLow != picture(LayersByRanks).clippedLow || picture(face).clippedHigh)
                    return -1;
            }
            return picture(LayersByRanks).clippedLow ? 1 : 0;
        };
        const StepRange both { Step { kMoves - 5 }, Step { kMoves + 5 } };
        QCOMPARE(isMarked(kMoves - 2, both), 1); // zero on a log scale, in the face of ranks too
        QCOMPARE(isMarked(kMoves + 2, both), 1); // in that of steps alone
        QCOMPARE(isMarked(kMoves + 2, { Step { kMoves }, Step { kMoves + 5 } }), 0);
    }

    void aRunWithoutATopologyIsShownToo()
    {
        cleanup();
        open("plain");
        m_view->setReplicasShown(true);
        settle();
        QVERIFY(!m_view->findChild<QComboBox*>(QStringLiteral("ranksGroup"))->isEnabled());
        QCOMPARE(m_view->replicas()->picture()->ranks.size(), std::size_t { kRanks });
        QVERIFY(!m_view->map()->cellOf(Rank { 7 }).isNull());
    }

    void itLooksRight_data() { test::addLooks(); }
    void itLooksRight()
    {
        cleanup();
        const auto [theme, language] = test::putOnLook();
        open("run");
        m_state->setSelection({ layer(2) });
        m_state->setRank(Rank { 3 });
        m_view->setGrouping(analysis::Parallel::Tensor);
        for (const bool areReplicas : { false, true }) {
            m_view->setReplicasShown(areReplicas);
            settle();
            const QString name
                = test::shot(QStringLiteral("ranks-%1-%2-%3.png")
                                 .arg(theme, language, areReplicas ? QStringLiteral("replicas") : QString()));
            QVERIFY(m_view->grab().save(name));
            QCOMPARE(m_view->renderImage({ 1200, 800 }).size(), QSize(1200, 800));
        }
    }

private:
    const HeatPicture& picture(Face face) { return *m_view->face(face)->picture(); }
    QSlider* slider(Face face) { return m_view->head(face)->slider(); }
    void click(Face face, int row, int column)
    {
        const QPointF middle = m_view->face(face)->cellRect(row, column).center();
        QTest::mouseClick(m_view->face(face), Qt::LeftButton, Qt::NoModifier, middle.toPoint());
    }
    int roseOfMap() // without the key below it
    {
        return roseIn(m_view->map()->renderTo(m_view->map()->size()).copy(m_view->map()->plotRect()));
    }
    static void compare(const HeatPicture& picture, int row, int column, float expected)
    {
        if (std::isnan(expected))
            QCOMPARE(picture.state(row, column), CellState::NaN);
        else
            QCOMPARE(picture.value(row, column), expected);
    }
};

TELLTALE_TEST(QTEST_MAIN, RanksTest)

}

#include "rankstest.moc"
