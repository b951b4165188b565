// SPDX-License-Identifier: GPL-3.0-or-later
#include "shots.h"
#include "testmain.h"

#include <cmath>
#include <set>

#include <QApplication>
#include <QBuffer>
#include <QComboBox>
#include <QPainter>
#include <QSlider>
#include <QTemporaryDir>
#include <QTranslator>

#include <telltale/common/axispainter.h>
#include <telltale/common/sharedaxis.h>
#include <telltale/common/theme.h>
#include <telltale/heatmap/heatcanvas.h>
#include <telltale/heatmap/rankmark.h>
#include <telltale/ranks/facehead.h>
#include <telltale/ranks/rankmap.h>
#include <telltale/ranks/ranksview.h>
#include <telltale/ranks/replicacanvas.h>
#include <telltale/ranks/replicaranks.h>
#include <telltale/store/querypool.h>
#include <telltale/translations/translations.h>

#include "../store/capsulebuilder.h"
#include "looks.h"

namespace rankstest {

using namespace telltale;
using namespace telltale::views;
using Grade = analysis::RankOddness::Grade;
using series::CellState;

namespace {

constexpr int kLayers = 5;
constexpr int kRanks = 8; ///< four copies of two parts
constexpr int kSteps = 240;
constexpr int kOdd = 5;
constexpr int kBroken = 2;
constexpr int kBreaks = 200; ///< the step from which kBroken's first layer is NaN
constexpr int kMoves = 100; ///< the step from which the first layer of "still" is not zero
constexpr int kDrifted = 3;
constexpr int kDrifts = 111; ///< the step from which kDrifted's third layer has other bits
constexpr int kEnds = 200; ///< where kDrifted and rank 0 of "ended" have no more steps

ModuleKey layer(int number)
{
    return { QStringLiteral("layers.%1.weight").arg(number) };
}

float valueOf(int rank, int step, int number)
{
    if (rank == kBroken && number == 0 && step >= kBreaks)
        return std::nanf("");
    const double level = std::pow(4.0, number) * (1 + 0.3 * (rank % 2));
    return static_cast<float>(level * (1 + 0.01 * std::sin(step * 0.7 + rank)) * (rank == kOdd ? 3 : 1));
}

std::uint64_t bitsOf(int rank, int step, int number)
{
    const auto own = (static_cast<std::uint64_t>(step) * 64 + static_cast<std::uint64_t>(number * 2 + rank % 2) + 1)
        * 0x9E3779B97F4A7C15u;
    return rank == kDrifted && number == 2 && step >= kDrifts ? own ^ 1u : own;
}

/// `isBroken`: from kBreaks on nothing is finite, and there are no checksums. `isStill`: all ranks have kMoves.
/// `every`: steps from one that is collected to the next; of more than one, collectives have no checksums.
/// `ends`: where kDrifted and rank 0 end. Step 0 of `hasMicroSteps` has a second one.
void write(const std::string& path, bool hasPlaces, bool isBroken = false, bool isStill = false, int every = 1,
    int ends = kSteps, bool hasMicroSteps = false)
{
    test::CapsuleBuilder builder(path, "gpt");
    std::vector<std::string> names;
    for (int i = 0; i < kLayers; ++i)
        names.push_back(layer(i).name.toStdString());
    std::vector<Stat> stats { Stat::Norm, Stat::Nans };
    if (!isBroken)
        stats.push_back(Stat::Checksum);
    const auto layout = builder.addLayout(Kind::ParamUpdated, stats, names);
    auto later = std::make_shared<SeriesLayout>(*builder.addLayout(Kind::ParamUpdated, stats, names));
    for (SeriesDesc& desc : later->series)
        desc.microStep = 1;
    const auto calls = builder.addLayout(Kind::Comm, { Stat::Norm }, { "all_reduce" });
    for (int rank = 0; rank < kRanks; ++rank) {
        const std::array<int, 4> place
            = hasPlaces ? std::array { rank / 2, rank % 2, -1, -1 } : std::array { -1, -1, -1, -1 };
        const std::int64_t stream = builder.addAttempt(Rank { rank }, 0, "host", place);
        std::vector<StepBlock> blocks;
        for (int step = 0; step < (rank == 0 || rank == kDrifted ? ends : kSteps); step += every) {
            StepBlock block;
            block.layout = layout;
            block.step = Step { step };
            std::vector<float> norms;
            std::vector<std::uint64_t> nans;
            std::vector<std::uint64_t> bits;
            for (int i = 0; i < kLayers; ++i) {
                const float value = isBroken && step >= kBreaks ? std::nanf("") : valueOf(rank, step, i);
                const bool isZero = isStill && i == 0 && step < kMoves;
                norms.push_back(isZero ? 0 : (std::isnan(value) ? 1 : value));
                nans.push_back(std::isnan(value) ? 1 : 0);
                bits.push_back(bitsOf(rank, step, i));
            }
            block.columns = { { Stat::Norm, norms }, { Stat::Nans, nans } };
            if (!isBroken)
                block.columns.push_back({ Stat::Checksum, bits });
            blocks.push_back(block);
            if (hasMicroSteps && step == 0) {
                block.layout = later;
                blocks.push_back(block);
            }
            if (every > 1) {
                block.layout = calls;
                block.columns = { { Stat::Norm, std::vector<float> { 1 } } };
                blocks.push_back(block);
            }
        }
        builder.stage(stream, std::move(blocks));
        builder.commit();
    }
    builder.releaseAll();
    builder.finish();
}

}

/// The ranks of a run whose numbers are known. Thread: the test's.
class RanksTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(m_dir.isValid());
        write(path("run"), true);
        write(path("plain"), false);
        write(path("broken"), true, true);
        write(path("still"), true, false, true);
        write(path("sparse"), true, false, false, 5);
        write(path("ended"), true, false, false, 1, kEnds);
        write(path("micro"), true, false, false, 1, kSteps, true);
    }
    void init() { open("run"); }
    void cleanup()
    {
        m_host.reset();
        m_pool.reset();
        m_state.reset();
        translations::install(*qApp, QStringLiteral("en"));
    }

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
    }

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
        QCOMPARE(slider(LayersByRanks)->value(), 103);
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
        for (const Kind kind : { Kind::ParamUpdated, Kind::GradReduced, Kind::ExpAvgSq })
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

    /// A plot that has no room for its numbers is left out, and no step number is cut by its edge.
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
    std::string path(const char* name) const { return m_dir.path().toStdString() + '/' + name + ".telltale"; }

    void open(const char* name)
    {
        m_pool = std::make_unique<store::QueryPool>(1);
        m_state = std::make_unique<ViewState>();
        m_axis = std::make_unique<SharedAxis>(m_state.get());
        m_host = std::make_unique<QWidget>();
        m_host->resize(1080, 700);
        m_host->setAttribute(Qt::WA_DontShowOnScreen);
        m_pool->setWake([this] {
            QMetaObject::invokeMethod(
                this,
                [this] {
                    if (m_pool)
                        m_pool->deliver();
                },
                Qt::QueuedConnection);
        });
        m_view = new RanksView({ m_state.get(), m_axis.get(), m_pool.get() }, m_host.get());
        m_view->resize(1080, 700);
        const auto run = std::make_shared<store::RunHandle>(
            store::RunHandle { store::RunLocator::ofFile(path(name)), "abc123", "gpt", nullptr });
        const auto reader = test::CapsuleBuilder::must(store::openReader(*run));
        const auto catalog = test::CapsuleBuilder::must(reader->catalog());
        m_state->setRun(run);
        m_state->setCatalog(catalog);
        m_state->setFullRange(catalog->steps);
        m_state->setKind(Kind::ParamUpdated);
        m_host->show();
    }
    void settle() { QTRY_VERIFY(m_view->isSettled()); }
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
    static int roseIn(const QImage& image) { return inkIn(image, Theme::current().criticalMark); }
    static int inkIn(const QImage& image, const QColor& color)
    {
        const QRgb rose = color.rgb();
        int count = 0;
        for (int y = 0; y < image.height(); ++y) {
            for (int x = 0; x < image.width(); ++x)
                count += image.pixel(x, y) == rose ? 1 : 0;
        }
        return count;
    }
    static void compare(const HeatPicture& picture, int row, int column, float expected)
    {
        if (std::isnan(expected))
            QCOMPARE(picture.state(row, column), CellState::NaN);
        else
            QCOMPARE(picture.value(row, column), expected);
    }

    QTemporaryDir m_dir;
    std::unique_ptr<store::QueryPool> m_pool;
    std::unique_ptr<ViewState> m_state;
    std::unique_ptr<SharedAxis> m_axis;
    std::unique_ptr<QWidget> m_host;
    RanksView* m_view = nullptr;
};

TELLTALE_TEST(QTEST_MAIN, RanksTest)

}

#include "rankstest.moc"
