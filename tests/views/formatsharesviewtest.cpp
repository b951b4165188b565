// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <QClipboard>
#include <QGuiApplication>
#include <QTemporaryDir>
#include <QToolButton>

#include <telltale/common/kindtext.h>
#include <telltale/common/rowlist.h>
#include <telltale/common/sharedaxis.h>
#include <telltale/common/viewstate.h>
#include <telltale/core/histogram.h>
#include <telltale/core/numberformats.h>
#include <telltale/heatmap/heatquery.h>
#include <telltale/plot/curvequery.h>
#include <telltale/runs/inspectorpanel.h>
#include <telltale/runs/inspectorquery.h>
#include <telltale/store/querypool.h>

#include "../store/capsulebuilder.h"

namespace formatsharesviewtest {

using namespace telltale;
using namespace telltale::views;
using series::CellState;

namespace {

constexpr int kSteps = 60;
constexpr int kRanks = 2;
constexpr int kTensors = 3;
constexpr int kElements = 400;
constexpr int kBroken = 30; ///< of tensor 1 on rank 1: a NaN

ModuleKey keyOf(int tensor)
{
    return { QStringLiteral("layers.%1.weight").arg(tensor), {} };
}

bool hasNaN(int rank, int step, int tensor)
{
    return rank == 1 && tensor == 1 && step == kBroken;
}

/// Of the elements so many are below what fp16 keeps, and one is above it.
int tinyOf(int rank, int step, int tensor)
{
    return (step * 5 + tensor * 30 + rank * 7) % (kElements / 2);
}

std::vector<std::uint64_t> countsOf(int rank, int step, int tensor, std::span<const double> edges)
{
    std::vector<std::uint64_t> counts(edges.size() - 1);
    const int tiny = tinyOf(rank, step, tensor);
    counts[binOf(edges, 1e-12)] += static_cast<std::uint64_t>(tiny);
    counts[binOf(edges, 1e30)] += 1;
    counts[binOf(edges, 0.5)] += static_cast<std::uint64_t>(kElements - tiny - 1 - hasNaN(rank, step, tensor));
    return counts;
}

double underflowOf(int rank, int step, int tensor)
{
    return static_cast<double>(tinyOf(rank, step, tensor)) / (kElements - hasNaN(rank, step, tensor));
}

std::shared_ptr<const SeriesLayout> histograms(
    test::CapsuleBuilder& builder, Kind kind, const std::vector<std::string>& names, std::vector<double> edges)
{
    auto layout = std::make_shared<SeriesLayout>(*builder.addLayout(kind, { Stat::Hist }, names));
    layout->edges = std::move(edges);
    for (SeriesDesc& one : layout->series) {
        one.definition = "elements a bin";
        one.numel = kElements;
    }
    return layout;
}

void write(const std::string& path)
{
    test::CapsuleBuilder builder(path);
    std::vector<std::string> names;
    for (int tensor = 0; tensor < kTensors; ++tensor)
        names.push_back(keyOf(tensor).name.toStdString());
    const std::vector octaves(octaveEdges().begin(), octaveEdges().end());
    const auto gradients = histograms(builder, Kind::GradReduced, names, octaves);
    const auto updates = histograms(builder, Kind::Update, names, { -1, 0, 1 });
    const auto statistics = builder.addLayout(Kind::GradReduced, { Stat::Norm, Stat::Nans }, names);
    for (int rank = 0; rank < kRanks; ++rank) {
        const std::int64_t stream = builder.addAttempt(Rank { rank }, 0);
        std::vector<StepBlock> blocks;
        for (int step = 0; step < kSteps; ++step) {
            StepBlock own, other, beside;
            std::vector<std::uint64_t> counts, nans;
            for (int tensor = 0; tensor < kTensors; ++tensor) {
                const auto more = countsOf(rank, step, tensor, octaves);
                counts.insert(counts.end(), more.begin(), more.end());
                nans.push_back(hasNaN(rank, step, tensor));
            }
            own.layout = gradients;
            own.columns = { { Stat::Hist, std::move(counts) } };
            other.layout = updates;
            other.columns = { { Stat::Hist, std::vector<std::uint64_t>(2 * kTensors, kElements / 2) } };
            beside.layout = statistics;
            beside.columns = { { Stat::Norm, std::vector<float>(kTensors, 1.0F) }, { Stat::Nans, std::move(nans) } };
            own.step = other.step = beside.step = Step { step };
            blocks.insert(blocks.end(), { own, other, beside });
        }
        builder.stage(stream, std::move(blocks));
        builder.commit();
    }
    builder.releaseAll();
    builder.finish();
}

}

/// What number formats would lose, chosen as any statistic. Thread: the test's.
class FormatSharesViewTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        const std::string path = m_dir.filePath(QStringLiteral("run.telltale")).toStdString();
        write(path);
        m_run = std::make_shared<store::RunHandle>(
            store::RunHandle { store::RunLocator::ofFile(path), "abc123", "run", nullptr });
        m_reader = test::CapsuleBuilder::must(store::openReader(*m_run));
        m_catalog = test::CapsuleBuilder::must(m_reader->catalog());
    }

    void theyAreOfferedLastAndWhereHistogramsHaveOctaves()
    {
        const std::vector<Stat> offered = statsOf(*m_catalog, Kind::GradReduced);
        const std::vector wanted { Stat::Norm, Stat::Nans, Stat::Fp16Underflow, Stat::Fp16Overflow, Stat::Bf16Underflow,
            Stat::Bf16Overflow, Stat::E4M3Underflow, Stat::E4M3Overflow, Stat::E5M2Underflow, Stat::E5M2Overflow };
        QCOMPARE(offered, wanted);
        QCOMPARE(statsOf(*m_catalog, Kind::Update), std::vector { Stat::Hist });
        QCOMPARE(statText(Stat::Fp16Underflow), QStringLiteral("fp16 underflow"));
        QCOMPARE(statValueText(Stat::Fp16Underflow, 0.125), formatFraction(0.125));
    }

    void aMapOfStepsSaysWhatTheHistogramsSay()
    {
        HeatRequest request = requestOf(Stat::Fp16Underflow);
        const auto picture = readHeat(*m_reader, request);
        QVERIFY(picture);
        QCOMPARE(picture->rows.size(), std::size_t { kTensors });
        QVERIFY(picture->scale.isOfShares());
        QVERIFY(picture->scale.ticks(300).front().label.endsWith(u'%'));
        for (int tensor = 0; tensor < kTensors; ++tensor) {
            QCOMPARE(picture->rows[static_cast<std::size_t>(tensor)].key, keyOf(tensor));
            for (int step = 0; step < kSteps; ++step) {
                QCOMPARE(picture->state(tensor, step), hasNaN(1, step, tensor) ? CellState::NaN : CellState::Value);
                QCOMPARE(picture->value(tensor, step), static_cast<float>(underflowOf(1, step, tensor)));
            }
        }
        request.stat = Stat::Bf16Overflow; // which has numbers that large
        QCOMPARE(readHeat(*m_reader, request)->value(0, 0), 0.0F);
        request.stat = Stat::E5M2Overflow;
        QCOMPARE(readHeat(*m_reader, request)->value(0, 0), 1.0F / kElements);
    }

    void mapsOfRanksSayTheSame()
    {
        HeatRequest request = requestOf(Stat::Fp16Underflow);
        request.axes = HeatAxes::RankByStep;
        request.selection = { keyOf(1) };
        const auto steps = readHeat(*m_reader, request);
        QVERIFY(steps && steps->rows.size() == kRanks);
        request.axes = HeatAxes::ModuleByRank;
        request.atStep = Step { kBroken };
        const auto modules = readHeat(*m_reader, request);
        QVERIFY(modules && modules->rows.size() == kTensors && modules->columns() == kRanks);
        for (int rank = 0; rank < kRanks; ++rank) {
            for (int step = 0; step < kSteps; ++step) {
                QCOMPARE(steps->state(rank, step), hasNaN(rank, step, 1) ? CellState::NaN : CellState::Value);
                QCOMPARE(steps->value(rank, step), static_cast<float>(underflowOf(rank, step, 1)));
            }
            for (int tensor = 0; tensor < kTensors; ++tensor) {
                const CellState state = hasNaN(rank, kBroken, tensor) ? CellState::NaN : CellState::Value;
                QCOMPARE(modules->state(tensor, rank), state);
                QCOMPARE(modules->value(tensor, rank), static_cast<float>(underflowOf(rank, kBroken, tensor)));
            }
        }
    }

    void aCurveIsOfAllRanksAndInPercent()
    {
        CurveRequest request;
        request.catalog = m_catalog;
        request.kind = Kind::GradReduced;
        request.stat = Stat::Fp16Underflow;
        request.rank = Rank { 1 };
        request.ranks = std::vector<Rank> { Rank { 0 }, Rank { 1 } };
        request.selection = { keyOf(1) };
        request.range = m_catalog->steps;
        request.pixels = kSteps;
        const auto picture = readCurves(*m_reader, request);
        QVERIFY(picture);
        QCOMPARE(picture->series.size(), std::size_t { kRanks });
        QVERIFY(picture->fit(YMode::Linear, false).isOfShares());
        for (const CurveSeries& one : picture->series) {
            for (int step = 0; step < kSteps; ++step) {
                const series::Bucket& bucket = one.result.buckets[static_cast<std::size_t>(step)];
                QVERIFY(bucket.last == underflowOf(one.row.rank.value, step, 1));
                QCOMPARE(bucket.state == CellState::NaN, hasNaN(one.row.rank.value, step, 1));
            }
        }
    }

    void anAxisOfThemEndsWhereAShareDoes()
    {
        CurvePicture picture;
        picture.series.resize(1);
        picture.series.front().stat = Stat::Fp16Underflow;
        const auto scaleOf = [&](double low, double high, YMode mode) {
            series::Bucket bucket;
            bucket.state = CellState::Value;
            bucket.finite = 2;
            bucket.min = low;
            bucket.max = bucket.last = high;
            picture.series.front().result.buckets = { bucket };
            return picture.fit(mode, false);
        };
        for (const YMode mode : { YMode::Linear, YMode::Log, YMode::Symlog }) {
            QCOMPARE(scaleOf(0.96, 1, mode).high(), 1.0);
            QVERIFY(scaleOf(0.1, 0.5, mode).high() > 0.5);
            const ValueScale none = scaleOf(0, 0, mode);
            QVERIFY(none.mode() == ValueScale::Mode::Linear && none.low() == 0 && none.isOfShares());
        }
        picture.series.front().stat = Stat::Norm;
        QVERIFY(scaleOf(0.96, 1, YMode::Log).high() > 1);
        QCOMPARE(scaleOf(0, 0, YMode::Log).low(), 0.0);
    }

    void theInspectorListsThem()
    {
        store::QueryPool pool(1);
        pool.setWake([&] {
            QMetaObject::invokeMethod(
                this, [&] { pool.deliver(); }, Qt::QueuedConnection);
        });
        ViewState state;
        SharedAxis axis(&state);
        state.setRun(m_run);
        state.setCatalog(m_catalog);
        state.setFullRange(m_catalog->steps);
        state.setKind(Kind::GradReduced);
        state.setRank(Rank { 1 });
        state.setSelection({ keyOf(1) });
        InspectorPanel panel({ &state, &axis, &pool });
        const auto textAt = [&](int step) {
            state.setCursor(Step { step });
            const QString share = formatFraction(underflowOf(1, step, 1));
            const auto isThere = [&] {
                panel.findChild<QToolButton*>()->click();
                const QString text = QGuiApplication::clipboard()->text();
                return text.contains(QStringLiteral("fp16 underflow")) && text.contains(share);
            };
            return QTest::qWaitFor(isThere) ? QGuiApplication::clipboard()->text() : QString();
        };
        const QString text = textAt(12);
        QVERIFY(!text.isEmpty() && text.contains(QStringLiteral("e5m2 overflow")));
        QVERIFY(!textAt(kBroken).isEmpty());
    }

    void besideNaNTheInspectorKnowsOfIt()
    {
        const ModuleKey key = keyOf(1);
        InspectorQuery query;
        query.columns = { firstRow(*m_catalog, Kind::GradReduced, Rank { 1 }, key)->attempts };
        query.histograms = { firstRow(*m_catalog, Kind::GradReduced, Rank { 1 }, key, Stat::Fp16Underflow)->attempts };
        query.stats = { Stat::Norm, Stat::Fp16Underflow };
        query.all = m_catalog->steps;
        query.step = Step { kBroken };
        const auto answer = answerInspector(*m_reader, query, nullptr);
        QVERIFY(answer);
        const series::CellValue& share = answer->values[1][0];
        QCOMPARE(share.state, CellState::NaN);
        QCOMPARE(share.state, answer->values[0][0].state);
        QCOMPARE(share.nans, std::uint64_t { 1 });
        QVERIFY(share.value == underflowOf(1, kBroken, 1));
        QCOMPARE(answer->lastFinite[1][0]->step, Step { kBroken - 1 });
        QVERIFY(answer->lastFinite[1][0]->value == underflowOf(1, kBroken - 1, 1));
    }

private:
    HeatRequest requestOf(Stat stat) const
    {
        HeatRequest request;
        request.catalog = m_catalog;
        request.kind = Kind::GradReduced;
        request.stat = stat;
        request.rank = Rank { 1 };
        request.range = m_catalog->steps;
        request.pixels = kSteps;
        return request;
    }

    QTemporaryDir m_dir;
    std::shared_ptr<store::RunHandle> m_run;
    std::unique_ptr<store::RunReader> m_reader;
    std::shared_ptr<const store::Catalog> m_catalog;
};

TELLTALE_TEST(QTEST_MAIN, FormatSharesViewTest)

}

#include "formatsharesviewtest.moc"
