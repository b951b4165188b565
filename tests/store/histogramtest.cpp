// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <cmath>
#include <limits>

#include <QTemporaryDir>

#include <telltale/core/histogram.h>
#include <telltale/core/protocolone.h>
#include <telltale/series/envelope.h>
#include <telltale/store/rowsof.h>
#include <telltale/store/runreader.h>
#include <telltale/store/sqlite.h>

#include "capsulebuilder.h"

namespace histogramtest {

using namespace telltale;
using telltale::test::CapsuleBuilder;

namespace {

constexpr int kTensors = 11;

std::vector<double> edgesOf(int bins)
{
    std::vector<double> edges { -std::numeric_limits<double>::infinity() };
    for (int i = 1; i < bins; ++i)
        edges.push_back(i);
    edges.push_back(std::numeric_limits<double>::infinity());
    return edges;
}

/// Any of them, from a whole number that no float holds to none at all.
std::uint64_t countAt(std::int64_t step, std::size_t cell)
{
    const auto mixed = static_cast<std::uint64_t>(step) * 0x9E3779B97F4A7C15u + cell * 0xBF58476D1CE4E5B9u;
    return cell == 3 ? (std::uint64_t { 1 } << 30) + 1 : (mixed >> 40) % (cell % 5 == 0 ? 3 : 100'000);
}

}

class HistogramTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() { m_dir = std::make_unique<QTemporaryDir>(); }
    void cleanup() { m_dir.reset(); }

    void everyCountIsReadBackAndSeveralStepsAddUp_data()
    {
        QTest::addColumn<int>("bins");
        QTest::addColumn<std::int64_t>("steps");
        QTest::newRow("one bin") << 1 << std::int64_t { 1300 };
        QTest::newRow("five") << 5 << std::int64_t { 1300 };
        QTest::newRow("32, and a whole tile of level 2") << 32 << std::int64_t { 4200 };
        QTest::newRow("128") << 128 << std::int64_t { 600 };
    }
    void everyCountIsReadBackAndSeveralStepsAddUp()
    {
        QFETCH(int, bins);
        QFETCH(std::int64_t, steps);
        CapsuleBuilder builder(path());
        const auto layout = layoutOf(builder, bins);
        const auto stream = builder.addAttempt(Rank { 0 }, 0);
        record(builder, stream, layout, 0, steps);
        {
            const auto live = *store::openReader(builder.liveHandle());
            check(*live, bins, steps);
        }
        builder.finish();
        const auto reader = *store::openReader(builder.handle());
        QCOMPARE((*reader->catalog())->series.size(), std::size_t { kTensors });
        check(*reader, bins, steps);
        // A short run has no coarser levels: they would take half as much again as the histograms.
        const auto db = store::openDatabase(path(), store::OpenMode::Read);
        const auto levels = store::queryInteger(db->get(), "SELECT count(DISTINCT lvl) FROM tile WHERE lvl > 0");
        QCOMPARE(levels.value_or(-1), std::int64_t { steps < 1024 ? 0 : steps < 4096 ? 1 : 2 });
    }

    void whatACrashLeavesGoesOn()
    {
        {
            CapsuleBuilder builder(path());
            const auto stream = builder.addAttempt(Rank { 0 }, 0);
            record(builder, stream, layoutOf(builder, 5), 0, 300);
            builder.crash();
        }
        {
            store::LiveRun live;
            auto writer = store::CapsuleWriter::open(path(), live);
            QVERIFY2(writer, writer ? "" : writer.error().sentence().c_str());
            QVERIFY((*writer)->finish(store::RunState::Finished));
            (*writer)->tidyUp();
        }
        const auto reader = *store::openReader({ store::RunLocator::ofFile(path()), {}, {}, nullptr });
        check(*reader, 5, 300);
    }

    void whatIsNotMeasuredIsNoZero()
    {
        CapsuleBuilder builder(path());
        const auto layout = layoutOf(builder, 5);
        const auto stream = builder.addAttempt(Rank { 0 }, 0);
        StepBlock block = blockOf(layout, 7);
        block.present = { 0b10 };
        builder.stage(stream, { block });
        builder.commit();
        builder.finish();
        const auto reader = *store::openReader(builder.handle());
        const auto& series = (*reader->catalog())->series;
        QVERIFY(store::readHistograms(*reader, { series[0].id }, 5, { Step { 0 }, Step { 9 } })->empty());
        QCOMPARE(
            store::readHistograms(*reader, { series[1].id }, 5, { Step { 0 }, Step { 9 } })->size(), std::size_t { 1 });
    }

    void aProgramOfTheFormatBeforeIsToldThatTheFileIsNewer()
    {
        CapsuleBuilder builder(path());
        builder.finish();
        const auto db = store::openDatabase(path(), store::OpenMode::Read);
        QVERIFY(store::queryInteger(db->get(), "PRAGMA user_version").value_or(0) >= 3);
    }

    void binsHaveNamesForPeople()
    {
        const std::vector<double>& edges = *protocolone::edges();
        QCOMPARE(binText(edges, 0), std::string("[-inf, -1)"));
        QCOMPARE(binText(edges, 1), std::string("[-1, -0.9333)"));
        QCOMPARE(binText(edges, 30), std::string("[0.9333, 1]"));
        QCOMPARE(binText(edges, 31), std::string("(1, inf]"));
        const double closed[] { 0, 0.5, 1 };
        QCOMPARE(binText(closed, 0), std::string("[0, 0.5)"));
        QCOMPARE(binText(closed, 1), std::string("[0.5, 1]"));
    }

    void edgesRiseAndAreNotTooMany()
    {
        QVERIFY(checkEdges(std::vector<double> { 0, 1 }));
        QVERIFY(checkEdges(edgesOf(128)));
        const double nan = std::nan("");
        for (const std::vector<double>& bad :
            { std::vector<double> { 1 }, { 1, 1 }, { 0, 2, 1 }, { 0, nan }, { nan, 0 }, edgesOf(129) })
            QVERIFY(!checkEdges(bad));
    }

    void whatIsInNoOpenBinIsMissing()
    {
        QVERIFY(hasOpenEnds(edgesOf(5)) && hasOpenEnds(octaveEdges()));
        const double inf = std::numeric_limits<double>::infinity();
        for (const std::vector<double>& closed : { std::vector<double> { -1, 0, 1 }, { -inf, 0, 1 }, { -1, 0, inf } })
            QVERIFY(!hasOpenEnds(closed));
        QVERIFY(isMissing(999, 1000, 1) && !isMissing(1000, 1000, 1));
        QVERIFY(isMissing(1999, 1000, 2) && !isMissing(2000, 1000, 2));
        QVERIFY(!isMissing(1e9 - 100, 1'000'000, 1000) && isMissing(1e9 - 2000, 1'000'000, 1000)); // as floats round
        QVERIFY(!isMissing(0, 0, 7)); // of how many nobody knows
    }

    /// Those of another group are not a row's own, where its own is not known.
    void aRowHasTheEdgesOfItsOwnGroup()
    {
        store::Catalog catalog;
        catalog.series.resize(1);
        catalog.series[0].group = GroupId { 2 };
        const auto edges = std::make_shared<const std::vector<double>>(edgesOf(5));
        for (const std::int64_t id : { 2, 3 }) {
            store::GroupInfo& group = catalog.groups.emplace_back();
            group.id = GroupId { id };
            group.edges = edges;
        }
        QCOMPARE(store::edgesOf(catalog, {}), edges);
        catalog.groups.erase(catalog.groups.begin());
        QVERIFY(!store::edgesOf(catalog, {}));
        catalog.groups.clear();
        QVERIFY(!store::edgesOf(catalog, {}));
    }

private:
    std::string path() const { return m_dir->filePath(QStringLiteral("run.telltale")).toStdString(); }

    static std::shared_ptr<SeriesLayout> layoutOf(CapsuleBuilder& builder, int bins)
    {
        std::vector<std::string> names;
        for (int i = 0; i < kTensors; ++i)
            names.push_back(std::string("t").append(std::to_string(i)));
        auto layout = std::const_pointer_cast<SeriesLayout>(builder.addLayout(Kind::Update, { Stat::Hist }, names));
        layout->edges = edgesOf(bins);
        return layout;
    }

    static StepBlock blockOf(const std::shared_ptr<const SeriesLayout>& layout, std::int64_t step)
    {
        StepBlock block;
        block.layout = layout;
        block.step = Step { step };
        std::vector<std::uint64_t> counts(layout->cells());
        for (std::size_t i = 0; i < counts.size(); ++i)
            counts[i] = countAt(step, i);
        block.columns = { { Stat::Hist, std::move(counts) } };
        return block;
    }

    static void record(CapsuleBuilder& builder, std::int64_t stream, const std::shared_ptr<const SeriesLayout>& layout,
        std::int64_t from, std::int64_t to)
    {
        for (std::int64_t step = from; step < to; step += 50) {
            std::vector<StepBlock> blocks;
            for (std::int64_t i = step; i < std::min(to, step + 50); ++i)
                blocks.push_back(blockOf(layout, i));
            builder.stage(stream, std::move(blocks));
            builder.commit();
        }
    }

    /// Against brute force: each count of some tensors, and sums over all sorts of stretches.
    static void check(store::RunReader& reader, int bins, std::int64_t steps)
    {
        const auto catalog = *reader.catalog();
        QCOMPARE(catalog->series.size(), std::size_t { kTensors });
        QVERIFY(catalog->groups[0].edges && *catalog->groups[0].edges == edgesOf(bins));
        for (const std::size_t tensor : { std::size_t { 0 }, std::size_t { 4 }, std::size_t { kTensors - 1 } }) {
            const auto read
                = store::readHistograms(reader, { catalog->series[tensor].id }, bins, { Step { 100 }, Step { 140 } });
            QVERIFY(read && read->size() == 41);
            for (const store::HistogramValue& value : *read) {
                for (std::size_t bin = 0; bin < value.counts.size(); ++bin) {
                    const std::size_t cell = tensor * static_cast<std::size_t>(bins) + bin;
                    QCOMPARE(static_cast<std::uint64_t>(value.counts[bin]), countAt(value.step.value, cell));
                }
            }
        }
        for (const int pixels : { 1, 7, 300 }) {
            const std::size_t tensor = 3;
            for (int bin = 0; bin < bins; bin += std::max(1, bins / 3)) {
                series::CurveQuery query;
                query.row = { catalog->series[tensor].id };
                query.row.bin = bin;
                query.stat = Stat::Hist;
                query.range = { Step { 0 }, Step { steps - 1 } };
                query.pixels = pixels;
                const auto curve = reader.curve(query);
                QVERIFY(curve);
                std::uint64_t found = 0, wanted = 0;
                for (const series::Bucket& bucket : curve->buckets)
                    found += static_cast<std::uint64_t>(series::reduce(bucket, Reduction::Sum));
                const std::size_t cell = tensor * static_cast<std::size_t>(bins) + static_cast<std::size_t>(bin);
                for (std::int64_t step = 0; step < steps; ++step)
                    wanted += countAt(step, cell);
                QCOMPARE(found, wanted);

                series::HeatQuery heat;
                heat.rows = { query.row };
                heat.stat = Stat::Hist;
                heat.range = query.range;
                heat.pixels = 1;
                const auto map = reader.heatmap(heat);
                QVERIFY(map && map->reduction == Reduction::Sum);
                QCOMPARE(map->values[0], static_cast<float>(wanted));
            }
        }
    }

    std::unique_ptr<QTemporaryDir> m_dir;
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, HistogramTest)

}

#include "histogramtest.moc"
