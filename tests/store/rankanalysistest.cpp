// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <cmath>
#include <limits>
#include <random>

#include <QTemporaryDir>

#include <telltale/analysis/oddranks.h>
#include <telltale/analysis/ranktopology.h>
#include <telltale/analysis/replicadrift.h>
#include <telltale/series/rowindex.h>

#include "capsulebuilder.h"

namespace rankanalysistest {

using namespace telltale;
using namespace telltale::analysis;
using Grade = RankOddness::Grade;
using series::CellState;

namespace {

/// What ranks measured in some cells: log-normal around a level of each cell.
struct Measured {
    std::size_t ranks;
    std::size_t cells;
    std::vector<float> values;
    std::vector<CellState> states;

    Measured(std::size_t rankCount, std::size_t cellCount, unsigned seed, double spread)
        : ranks(rankCount)
        , cells(cellCount)
        , values(rankCount * cellCount)
        , states(rankCount * cellCount, CellState::Value)
    {
        std::mt19937 random(seed);
        std::normal_distribution<double> noise(0, spread);
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            for (std::size_t cell = 0; cell < cells; ++cell)
                at(rank, cell)
                    = static_cast<float>(std::pow(10.0, static_cast<double>(cell % 7) - 3) * std::exp(noise(random)));
        }
    }
    float& at(std::size_t rank, std::size_t cell) { return values[rank * cells + cell]; }
    std::vector<RankOddness> odd() const { return oddRanks(values, states, ranks, cells); }
};

store::Catalog catalogOf(const std::vector<std::array<int, 6>>& sources) ///< rank, attempt, dp, tp, pp, ep
{
    store::Catalog catalog;
    for (const auto& one : sources) {
        store::SourceInfo info;
        info.rank = Rank { one[0] };
        info.attempt = one[1];
        info.dp = one[2];
        info.tp = one[3];
        info.pp = one[4];
        info.ep = one[5];
        catalog.sources.push_back(info);
    }
    return catalog;
}

std::vector<Rank> ranks(std::initializer_list<int> numbers)
{
    std::vector<Rank> all;
    for (const int number : numbers)
        all.push_back(Rank { number });
    return all;
}

constexpr int kSteps = 30'000; ///< too many to be compared one by one
constexpr int kDrift = 17'231;

std::uint64_t bits(int rank, int step)
{
    const auto own = static_cast<std::uint64_t>(step) * 0x9E3779B97F4A7C15u;
    return rank == 2 && step >= kDrift ? own + 1 : own;
}

std::vector<series::RowAttempts> rowsOf(store::RunReader& reader)
{
    std::vector<series::RowAttempts> rows;
    const auto catalog = test::CapsuleBuilder::must(reader.catalog()); // holds them while they are read
    for (const series::RowIndex::Row& row : catalog->rows->rows())
        rows.push_back(row.attempts);
    return rows;
}

}

/// Which ranks are unlike their peers. Thread: the test's.
class RankAnalysisTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void healthyRanksAreAlike_data()
    {
        QTest::addColumn<int>("count");
        QTest::addColumn<double>("spread");
        for (const int count : { 3, 4, 5, 8, 64 }) {
            for (const double spread : { 0.0, 1e-6, 0.02, 0.3 })
                QTest::addRow("%d ranks, %g", count, spread) << count << spread;
        }
    }
    void healthyRanksAreAlike()
    {
        QFETCH(int, count);
        QFETCH(double, spread);
        for (unsigned seed = 1; seed <= 5; ++seed) {
            for (const RankOddness& one : Measured(static_cast<std::size_t>(count), 200, seed, spread).odd()) {
                QVERIFY(one.grade != Grade::Odd);
                QCOMPARE(one.compared, std::size_t { 200 });
            }
        }
    }

    void oneThatIsFarInManyCellsIsFound()
    {
        for (const std::size_t count : { std::size_t { 3 }, std::size_t { 4 }, std::size_t { 16 } }) {
            Measured measured(count, 60, 3, 0.03);
            for (std::size_t cell = 0; cell < 60; cell += 4)
                measured.at(1, cell) *= 5;
            const auto odd = measured.odd();
            for (std::size_t rank = 0; rank < count; ++rank)
                QCOMPARE(odd[rank].grade, rank == 1 ? Grade::Odd : Grade::Like);
            QCOMPARE(odd[1].far, std::size_t { 15 });
        }
    }

    void oneThatIsVeryFarOnceIsToldApart()
    {
        Measured measured(8, 500, 5, 0.03);
        measured.at(6, 123) *= 1000;
        const auto odd = measured.odd();
        QCOMPARE(odd[6].grade, Grade::AtTimes);
        QCOMPARE(odd[6].strongestAt, std::size_t { 123 });
        QCOMPARE(odd[5].grade, Grade::Like);
    }

    void justUnderHalfMayBeWrong()
    {
        Measured measured(7, 40, 7, 0.02);
        for (const std::size_t rank : { std::size_t { 0 }, std::size_t { 2 }, std::size_t { 4 } }) {
            for (std::size_t cell = 0; cell < 40; ++cell)
                measured.at(rank, cell) *= static_cast<float>(10 + 7 * static_cast<int>(rank));
        }
        const auto odd = measured.odd();
        for (const std::size_t healthy : { std::size_t { 1 }, std::size_t { 3 }, std::size_t { 5 }, std::size_t { 6 } })
            QCOMPARE(odd[healthy].far, std::size_t { 0 });
        QVERIFY(odd[4].strongest > odd[1].strongest * 2);
    }

    void nobodyIsToldToBeOddOfTwo()
    {
        Measured measured(2, 10, 1, 0.01);
        for (std::size_t cell = 0; cell < 10; ++cell)
            measured.at(1, cell) *= 1e6F;
        for (const RankOddness& one : measured.odd()) {
            QCOMPARE(one.grade, Grade::Like);
            QCOMPARE(one.compared, std::size_t { 0 });
        }
    }

    void oneThatIsNotFiniteIsOddUnlessMostAre()
    {
        Measured measured(4, 10, 1, 0.01);
        measured.states[1 * 10 + 3] = CellState::NaN;
        QCOMPARE(measured.odd()[1].grade, Grade::Odd);
        QCOMPARE(measured.odd()[0].grade, Grade::Like);
        for (std::size_t rank = 0; rank < 3; ++rank)
            measured.states[rank * 10 + 3] = CellState::PosInf;
        for (const RankOddness& one : measured.odd())
            QCOMPARE(one.grade, Grade::Like);
    }

    void signedValuesAreComparedToo()
    {
        Measured measured(5, 30, 2, 0.05);
        for (std::size_t rank = 0; rank < 5; ++rank) {
            for (std::size_t cell = 0; cell < 30; ++cell)
                measured.at(rank, cell) *= -1;
        }
        for (std::size_t cell = 0; cell < 30; ++cell)
            measured.at(3, cell) *= -1;
        const auto odd = measured.odd();
        for (std::size_t rank = 0; rank < 5; ++rank)
            QCOMPARE(odd[rank].grade, rank == 3 ? Grade::Odd : Grade::Like);
    }

    void aTopologyIsWhatTheNewestAttemptsTold()
    {
        const RankTopology topology(catalogOf({ { 0, 0, 9, 9, 9, 9 }, { 0, 1, 0, 0, -1, -1 }, { 1, 0, 0, 1, -1, -1 },
            { 2, 0, 1, 0, -1, -1 }, { 3, 0, 1, 1, -1, -1 } }));
        QCOMPARE(topology.ways(), (std::vector { Parallel::Data, Parallel::Tensor }));
        QCOMPARE(topology.coordinate(Rank { 0 }, Parallel::Data), 0);
        QCOMPARE(topology.replicasOf(Rank { 3 }), ranks({ 1, 3 }));
        QCOMPARE(topology.replicas().size(), std::size_t { 2 });
        const auto groups = topology.groups(Parallel::Data);
        QCOMPARE(groups.size(), std::size_t { 2 });
        QCOMPARE(groups[1].ranks, ranks({ 2, 3 }));
        // Nothing told: all are copies of each other.
        const RankTopology none(catalogOf({ { 0, 0, -1, -1, -1, -1 }, { 4, 0, -1, -1, -1, -1 } }));
        QVERIFY(none.ways().empty());
        QCOMPARE(none.replicasOf(Rank { 0 }), ranks({ 0, 4 }));
        QVERIFY(none.replicasOf(Rank { 7 }).empty());
    }

    void theFirstStepThatDiffersIsFoundToTheStep()
    {
        QTemporaryDir dir;
        test::CapsuleBuilder builder((dir.path() + QStringLiteral("/run.telltale")).toStdString());
        const auto layout = builder.addLayout(Kind::ParamUpdated, { Stat::Norm, Stat::Checksum }, { "fc.weight" });
        for (int rank = 0; rank < 3; ++rank) {
            const std::int64_t stream = builder.addAttempt(Rank { rank }, 0);
            for (int from = 0; from < kSteps; from += 3000) {
                std::vector<StepBlock> blocks;
                for (int step = from; step < from + 3000; step += 3) { // every third is collected
                    StepBlock block;
                    block.layout = layout;
                    block.step = Step { step };
                    block.columns = { { Stat::Norm, std::vector<float> { 1 } },
                        { Stat::Checksum, std::vector<std::uint64_t> { bits(rank, step) } } };
                    blocks.push_back(block);
                }
                builder.stage(stream, std::move(blocks));
                builder.commit();
            }
        }
        builder.releaseAll();
        builder.finish();
        const auto reader = test::CapsuleBuilder::must(store::openReader(builder.handle()));
        const std::vector<series::RowAttempts> rows = rowsOf(*reader);
        QCOMPARE(rows.size(), std::size_t { 3 });
        int expected = kDrift;
        while (expected % 3 != 0)
            ++expected;

        const auto coarse = readDrift(*reader, rows, { Step { 0 }, Step { kSteps - 1 } }, 50);
        QVERIFY(coarse);
        QVERIFY(!coarse->isEveryStep);
        QCOMPARE(coarse->first->value, expected);
        QCOMPARE(coarse->steps.size(), std::size_t { 50 });
        for (const SamenessAt& one : coarse->steps)
            QCOMPARE(one.is, one.step.value >= kDrift ? Sameness::Different : Sameness::Same);

        const auto fine = readDrift(*reader, rows, { Step { kDrift - 300 }, Step { kDrift + 299 } }, 50);
        QVERIFY(fine && fine->isEveryStep);
        QCOMPARE(fine->first->value, expected);
        QCOMPARE(fine->steps.size(), std::size_t { 200 });

        const auto before = readDrift(*reader, rows, { Step { 0 }, Step { kDrift - 1 } }, 50);
        QVERIFY(before && !before->first);
        const auto column = reader->column(Step { expected }, Stat::Checksum, rows);
        QVERIFY(column);
        QCOMPARE(minorityOf(*column), (std::vector<std::size_t> { 2 }));
        QCOMPARE(samenessOf(std::span(*column).first(2)), Sameness::Same);
        QCOMPARE(samenessOf(std::span(*column).first(1)), Sameness::Unknown);
    }

    /// Whichever of them it is, also the first.
    void aReplicaThatEndedIsNamedWhereItHasNothing()
    {
        QTemporaryDir dir;
        test::CapsuleBuilder builder((dir.path() + QStringLiteral("/run.telltale")).toStdString());
        const auto layout = builder.addLayout(Kind::ParamUpdated, { Stat::Checksum }, { "fc.weight" });
        for (int rank = 0; rank < 3; ++rank) {
            std::vector<StepBlock> blocks;
            for (int step = 0; step < (rank == 0 ? 10 : 20); ++step)
                blocks.push_back({ layout, Step { step }, 0, {},
                    { { Stat::Checksum, std::vector<std::uint64_t> { bits(0, step) } } }, {} });
            builder.stage(builder.addAttempt(Rank { rank }, 0), std::move(blocks));
        }
        builder.finish();
        const auto reader = test::CapsuleBuilder::must(store::openReader(builder.handle()));
        const std::vector<series::RowAttempts> rows = rowsOf(*reader);
        for (const std::int64_t count : { 20, 30'000 }) { // every step, and some
            const auto drift = readDrift(*reader, rows, { Step { 0 }, Step { count - 1 } }, 30'000);
            QVERIFY(drift);
            QCOMPARE(drift->isEveryStep, count == 20);
            QCOMPARE(drift->steps.size(), std::size_t { 20 });
            for (const SamenessAt& one : drift->steps) {
                QCOMPARE(one.is, Sameness::Same);
                QCOMPARE(one.without, (std::vector<std::size_t>(one.step.value < 10 ? 0 : 1)));
            }
        }
    }
};

TELLTALE_TEST(QTEST_APPLESS_MAIN, RankAnalysisTest)

}

#include "rankanalysistest.moc"
