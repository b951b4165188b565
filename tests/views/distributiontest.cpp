// SPDX-License-Identifier: GPL-3.0-or-later
#include "shots.h"
#include "testmain.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include <QApplication>
#include <QBuffer>
#include <QComboBox>
#include <QLabel>
#include <QPainter>
#include <QStyleOptionComboBox>

#include <telltale/common/sharedaxis.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewbar.h>
#include <telltale/core/histogram.h>
#include <telltale/core/numberformats.h>
#include <telltale/distribution/binaxis.h>
#include <telltale/distribution/distributioncanvas.h>
#include <telltale/distribution/distributioncurves.h>
#include <telltale/distribution/distributionview.h>
#include <telltale/distribution/ridgepainter.h>
#include <telltale/plot/curvecanvas.h>
#include <telltale/plot/curvelegend.h>

#include "looks.h"
#include "viewonrun.h"

namespace distributiontest {

using namespace telltale;
using namespace telltale::views;
using series::CellState;

namespace {

constexpr int kSteps = 900;
constexpr int kRanks = 2;
constexpr int kTensors = 3;
constexpr int kElements = 400;
constexpr int kBroken = 777; ///< of tensor 1 on rank 1: a NaN
constexpr int kInfinite = 300; ///< of tensor 0 on rank 0

std::string nameOf(int tensor)
{
    return "layers." + std::to_string(tensor) + ".mlp.weight";
}

/// The elements of a tensor at a step, from which everything that is expected follows.
std::vector<double> elementsOf(Kind kind, int rank, int step, int tensor)
{
    std::mt19937 generator(static_cast<unsigned>(((step * kTensors + tensor) * 2 + rank) * 4 + static_cast<int>(kind)));
    std::normal_distribution<double> normal(0, 1);
    const double scale = kind == Kind::Update ? 0.3 + 0.1 * tensor : std::exp2(-12 - step / 60.0);
    std::vector<double> elements(kElements);
    for (double& one : elements)
        one = normal(generator) * scale;
    elements[0] = 0;
    if (kind == Kind::GradReduced && rank == 1 && tensor == 1 && step == kBroken)
        elements[1] = std::nan("");
    if (kind == Kind::GradReduced && rank == 0 && tensor == 0 && step == kInfinite)
        elements[1] = -std::numeric_limits<double>::infinity();
    return elements;
}

/// As msprobe has them: equal bins over [-1, 1] with open ends.
const std::vector<double>& equalEdges()
{
    static const std::vector<double> kEdges = [] {
        std::vector<double> edges { -std::numeric_limits<double>::infinity() };
        for (int i = 0; i <= 10; ++i)
            edges.push_back(-1 + i * 0.2);
        edges.push_back(std::numeric_limits<double>::infinity());
        return edges;
    }();
    return kEdges;
}

std::span<const double> edgesFor(Kind kind)
{
    return kind == Kind::Update ? std::span<const double>(equalEdges()) : octaveEdges();
}

std::vector<double> countsOf(Kind kind, int rank, int step, int tensor)
{
    const auto edges = edgesFor(kind);
    std::vector<double> counts(edges.size() - 1);
    for (const double one : elementsOf(kind, rank, step, tensor)) {
        if (!std::isnan(one))
            ++counts[binOf(edges, one)];
    }
    return counts;
}

StepBlock blockOf(const std::shared_ptr<const SeriesLayout>& layout, int step)
{
    StepBlock block;
    block.layout = layout;
    block.step = Step { step };
    return block;
}

std::shared_ptr<const SeriesLayout> histograms(test::CapsuleBuilder& builder, Kind kind)
{
    std::vector<std::string> names;
    for (int tensor = 0; tensor < kTensors; ++tensor)
        names.push_back(nameOf(tensor));
    auto layout = std::make_shared<SeriesLayout>(*builder.addLayout(kind, { Stat::Hist }, names));
    layout->edges.assign(edgesFor(kind).begin(), edgesFor(kind).end());
    for (SeriesDesc& one : layout->series) {
        one.definition = "elements a bin";
        one.shape = { kElements };
        one.numel = kElements;
    }
    return layout;
}

/// Of whose elements nothing but the largest is kept.
void writeMaxima(const std::string& path)
{
    test::CapsuleBuilder builder(path, "gpt-3l");
    const auto counted = histograms(builder, Kind::Update);
    const auto maxima = builder.addLayout(Kind::Update, { Stat::Max, Stat::PosInfs }, { nameOf(0) });
    const std::int64_t stream = builder.addAttempt(Rank { 0 }, 0);
    std::vector<StepBlock> blocks;
    for (int step = 0; step < 5; ++step) {
        std::vector<std::uint64_t> counts;
        for (int tensor = 0; tensor < kTensors; ++tensor) {
            for (const double count : countsOf(Kind::Update, 0, step, tensor))
                counts.push_back(static_cast<std::uint64_t>(count));
        }
        StepBlock histogram = blockOf(counted, step);
        histogram.columns = { { Stat::Hist, counts } };
        StepBlock beside = blockOf(maxima, step);
        beside.columns = { { Stat::Max, std::vector { 1.0F } },
            { Stat::PosInfs, std::vector { std::uint64_t { step == 3 ? 1U : 0U } } } };
        blocks.insert(blocks.end(), { histogram, beside });
    }
    builder.stage(stream, std::move(blocks));
    builder.commit();
    builder.releaseAll();
    builder.finish();
}

/// A tensor in two micro steps of one step.
void writeMicroSteps(const std::string& path)
{
    test::CapsuleBuilder builder(path, "gpt-3l");
    auto layout = std::make_shared<SeriesLayout>(*histograms(builder, Kind::Update));
    layout->series = { layout->series.front(), layout->series.front() };
    layout->series[1].microStep = 1;
    std::vector<std::uint64_t> counts;
    for (std::size_t i = 0; i < layout->series.size(); ++i) {
        for (const double count : countsOf(Kind::Update, 0, 0, 0))
            counts.push_back(static_cast<std::uint64_t>(count));
    }
    StepBlock block = blockOf(layout, 0);
    block.columns = { { Stat::Hist, counts } };
    builder.stage(builder.addAttempt(Rank { 0 }, 0), { block });
    builder.commit();
    builder.releaseAll();
    builder.finish();
}

void write(const std::string& path, int steps, bool hasHistograms = true, int every = 1)
{
    test::CapsuleBuilder builder(path, "gpt-3l");
    const auto updates = histograms(builder, Kind::Update);
    const auto gradients = histograms(builder, Kind::GradReduced);
    std::vector<std::string> names;
    for (int tensor = 0; tensor < kTensors; ++tensor)
        names.push_back(nameOf(tensor));
    const auto norms = builder.addLayout(
        Kind::GradReduced, { Stat::Norm, Stat::Min, Stat::Max, Stat::Nans, Stat::PosInfs, Stat::NegInfs }, names);
    for (int rank = 0; rank < kRanks; ++rank) {
        const std::int64_t stream = builder.addAttempt(Rank { rank }, 0);
        std::vector<StepBlock> blocks;
        for (int step = 0; step < steps; step += every) {
            StepBlock norm = blockOf(norms, step);
            std::vector<float> values(kTensors, 1.0F), least, greatest;
            for (int tensor = 0; tensor < kTensors; ++tensor) {
                const std::vector<double> elements = elementsOf(Kind::GradReduced, rank, step, tensor);
                const auto [low, high] = std::minmax_element(elements.begin(), elements.end());
                least.push_back(static_cast<float>(*low));
                greatest.push_back(static_cast<float>(*high));
            }
            std::vector<std::uint64_t> nans(kTensors), none(kTensors), negative(kTensors);
            nans[1] = rank == 1 && step == kBroken ? 1 : 0;
            negative[0] = rank == 0 && step == kInfinite ? 1 : 0;
            norm.columns = { { Stat::Norm, values }, { Stat::Min, least }, { Stat::Max, greatest },
                { Stat::Nans, nans }, { Stat::PosInfs, none }, { Stat::NegInfs, negative } };
            blocks.push_back(norm);
            if (!hasHistograms)
                continue;
            for (const auto& layout : { updates, gradients }) {
                std::vector<std::uint64_t> counts;
                for (int tensor = 0; tensor < kTensors; ++tensor) {
                    for (const double count : countsOf(layout->kind, rank, step, tensor))
                        counts.push_back(static_cast<std::uint64_t>(count));
                }
                StepBlock block = blockOf(layout, step);
                block.columns = { { Stat::Hist, counts } };
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

/// Histograms of a run whose every element is known. Thread: the test's.
class DistributionTest : public QObject, test::ViewOnRun<DistributionView> {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        write(path("run"), kSteps);
        write(path("plain"), 5, false);
        write(path("sparse"), 400, true, 5);
        writeMaxima(path("maxima"));
        writeMicroSteps(path("accumulated"));
    }
    void init() { open("run"); }
    void cleanup() { close(); }

    void theTitleOfALaterMicroStepSaysSo()
    {
        cleanup();
        open("accumulated");
        m_state->setKind(Kind::Update);
        m_state->setSelection({ key(0) });
        settle();
        QCOMPARE(shown().strips.size(), std::size_t { 2 });
        QCOMPARE(shown().strips[0].row.fullName(), QString::fromStdString(nameOf(0)));
        QCOMPARE(shown().strips[1].row.fullName(), QString::fromStdString(nameOf(0)) + QStringLiteral(" µ1"));
        QBuffer buffer;
        QVERIFY(buffer.open(QIODevice::WriteOnly));
        QVERIFY(m_view->writeCsv(&buffer));
        for (const char* place : { "layers.0.mlp.weight,-1,0,0,0,count", "layers.0.mlp.weight,1,0,0,0,count" })
            QVERIFY(buffer.data().contains(place));
    }

    /// A histogram beside a tensor's statistics is no second tensor.
    void rowsWithoutAStatisticAreNoHistograms()
    {
        const auto catalog = m_state->catalog();
        const auto count = [&](std::optional<Stat> stat, std::vector<ModuleKey> only) {
            return buildRows(*catalog, { Kind::GradReduced, Rank { 0 }, {}, std::move(only), stat }).size();
        };
        const std::size_t bins = count(Stat::Hist, { key(0) });
        QVERIFY(bins > 1);
        QCOMPARE(count(std::nullopt, { key(0) }), count(Stat::Norm, { key(0) }));
        QCOMPARE(count(std::nullopt, {}), count(Stat::Norm, {}));
        QCOMPARE(count(Stat::Hist, { key(0) }), bins);
    }

    void everyCountIsTheRunsOwn_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<int>("first");
        QTest::addColumn<int>("last");
        for (const Kind kind : { Kind::Update, Kind::GradReduced }) {
            QTest::addRow("%s, single steps", std::string(kindName(kind)).c_str())
                << static_cast<int>(kind) << 290 << 333;
            QTest::addRow("%s, all", std::string(kindName(kind)).c_str()) << static_cast<int>(kind) << 0 << kSteps - 1;
        }
    }
    /// Also where a column adds up several steps.
    void everyCountIsTheRunsOwn()
    {
        QFETCH(int, kind);
        QFETCH(int, first);
        QFETCH(int, last);
        m_state->setKind(static_cast<Kind>(kind));
        m_state->setSelection({ key(2), key(0) });
        m_state->zoomTo({ Step { first }, Step { last } });
        settle();
        QCOMPARE(shown().strips.size(), std::size_t { 2 });
        for (const int place : { 0, 1 }) {
            const int tensor = place == 0 ? 2 : 0;
            const DistributionStrip& strip = shown().strips[static_cast<std::size_t>(place)];
            QCOMPARE(strip.row.key, key(tensor));
            for (int column = 0; column < strip.columns; ++column) {
                const StepRange steps = strip.heat.stepsOf(column);
                std::vector<double> expected(static_cast<std::size_t>(strip.bins()));
                for (std::int64_t step = steps.first.value; step <= steps.last.value; ++step) {
                    const auto counts = countsOf(static_cast<Kind>(kind), 0, static_cast<int>(step), tensor);
                    for (std::size_t bin = 0; bin < counts.size(); ++bin)
                        expected[bin] += counts[bin];
                }
                const auto counts = strip.countsOf(column);
                QCOMPARE(std::vector<double>(counts.begin(), counts.end()), expected);
                QCOMPARE(static_cast<std::int64_t>(strip.samples[static_cast<std::size_t>(column)]), steps.count());
            }
        }
    }

    void quantilesAreTheElementsOwnToABin()
    {
        m_state->setKind(Kind::GradReduced);
        m_state->setSelection({ key(2) });
        m_state->zoomTo({ Step { 100 }, Step { 110 } });
        settle();
        const CurvePicture& curves = *m_view->curves()->picture();
        QCOMPARE(curves.series.size(), kQuantiles.size());
        for (int column = 0; column < 11; ++column) {
            std::vector<double> elements = elementsOf(Kind::GradReduced, 0, 100 + column, 2);
            std::sort(elements.begin(), elements.end());
            for (std::size_t i = 0; i < kQuantiles.size(); ++i) {
                const double value = curves.series[i].result.buckets[static_cast<std::size_t>(column)].last;
                const auto at = static_cast<std::size_t>(std::max(0.0, std::ceil(kQuantiles[i].share * kElements) - 1));
                QCOMPARE(binOf(octaveEdges(), value), binOf(octaveEdges(), elements[at]));
            }
        }
    }

    void theLegendStandsAtAStepThatTheRunHas()
    {
        m_state->setSelection({ key(0) });
        const auto longer = std::make_shared<store::Catalog>(*m_state->catalog());
        longer->steps.last = Step { 2 * kSteps };
        m_state->setComparedRuns({ { m_state->run(), longer } });
        settle();
        QCOMPARE(m_state->visibleRange().last, Step { 2 * kSteps });
        CurveCanvas* curves = m_view->curves();
        const auto newest = curves->legendValues();
        const auto check = [&](int step) {
            QVERIFY(curves->legendStep());
            QVERIFY(std::abs(curves->legendStep()->value - step) <= 1); // a pixel is of more than one
            for (const LegendValue& value : curves->legendValues())
                QCOMPARE(value.state, CellState::Value);
        };
        check(kSteps - 1);
        m_state->setCursor(Step { kSteps + 500 });
        check(kSteps - 1);
        QCOMPARE(curves->legendValues().front().value, newest.front().value);
        m_state->setCursor(Step { 100 });
        check(100);
        QVERIFY(curves->legendValues().front().value != newest.front().value);
    }

    /// The least of all numbers above zero is an edge, and no one's business.
    void whatIsNextToZeroBeginsThere()
    {
        m_state->setKind(Kind::GradReduced);
        m_state->setSelection({ key(2) });
        settle();
        const auto zero = static_cast<int>(binOf(octaveEdges(), 0.0));
        const auto edgesOf = [this](int bin) {
            return m_view->canvas()->cellText(0, bin, 0).section(u'\n', 0, 0).section(QStringLiteral(", "), -1);
        };
        QCOMPARE(edgesOf(zero), QStringLiteral("0"));
        QCOMPARE(edgesOf(zero + 1), QStringLiteral("0 to 4.592e-41"));
        QCOMPARE(edgesOf(zero - 1), QStringLiteral("\u22124.592e-41 to 0"));
    }

    /// The bin of the largest elements reaches further than they do; also where a column adds up several steps.
    void noQuantileIsBeyondTheElements()
    {
        m_state->setKind(Kind::GradReduced);
        m_state->setSelection({ key(2) });
        for (const StepRange range :
            { StepRange { Step { 100 }, Step { 160 } }, { Step { 0 }, Step { kSteps - 1 } } }) {
            m_state->zoomTo(range);
            settle();
            const CurvePicture& curves = *m_view->curves()->picture();
            const DistributionStrip& strip = shown().strips.front();
            for (int column = 0; column < strip.columns; ++column) {
                double least = 0, greatest = 0;
                const StepRange steps = strip.heat.stepsOf(column);
                for (std::int64_t step = steps.first.value; step <= steps.last.value; ++step) {
                    for (const double one : elementsOf(Kind::GradReduced, 0, static_cast<int>(step), 2)) {
                        least = std::min(least, one);
                        greatest = std::max(greatest, one);
                    }
                }
                for (const CurveSeries& one : curves.series) {
                    const double value = one.result.buckets[static_cast<std::size_t>(column)].last;
                    QVERIFY(value >= static_cast<float>(least) && value <= static_cast<float>(greatest));
                }
            }
        }
    }

    void whatIsNotFiniteIsSeenAtEveryZoom_data()
    {
        QTest::addColumn<int>("reach");
        for (const int reach : { 2, 40, 400, kSteps })
            QTest::newRow(QByteArray::number(reach)) << reach;
    }
    void whatIsNotFiniteIsSeenAtEveryZoom()
    {
        QFETCH(int, reach);
        m_state->setKind(Kind::GradReduced);
        struct Case {
            int rank, tensor, step;
            CellState state;
        };
        for (const Case& one :
            { Case { 1, 1, kBroken, CellState::NaN }, Case { 0, 0, kInfinite, CellState::NegInf } }) {
            m_state->setRank(Rank { one.rank });
            m_state->setSelection({ key(one.tensor) });
            m_state->zoomTo(
                { Step { std::max(0, one.step - reach) }, Step { std::min(kSteps - 1, one.step + reach) } });
            settle();
            const DistributionStrip& strip = shown().strips.front();
            const int column = strip.heat.columnOf(Step { one.step });
            for (int i = 0; i < strip.columns; ++i)
                QCOMPARE(strip.states[static_cast<std::size_t>(i)], i == column ? one.state : CellState::Value);
            QCOMPARE(m_view->curves()->picture()->lane()[static_cast<std::size_t>(column)], one.state);
            // The mark has its color in the lane above the strip.
            const QRect plot = m_view->canvas()->stripRect(0);
            const QImage image = m_view->canvas()->grab().toImage();
            bool isSeen = false;
            const double x = plot.left() + (column + 0.5) * plot.width() / strip.columns;
            for (int y = plot.top() - 18; y < plot.top(); ++y) {
                for (int dx = -5; dx <= 5; ++dx)
                    isSeen = isSeen || image.pixelColor(static_cast<int>(x) + dx, y) == Theme::current().criticalMark;
            }
            QVERIFY(isSeen);
        }
    }

    /// Statistics without a norm know of it, too.
    void whatIsNotFiniteIsSeenBesideAnyStatistic()
    {
        cleanup();
        open("maxima");
        m_state->setKind(Kind::Update);
        m_state->setSelection({ key(0) });
        settle();
        const DistributionStrip& strip = shown().strips.front();
        QCOMPARE(strip.columns, 5);
        for (int step = 0; step < 5; ++step)
            QCOMPARE(strip.states[static_cast<std::size_t>(strip.heat.columnOf(Step { step }))],
                step == 3 ? CellState::PosInf : CellState::Value);
    }

    /// Beside finite elements what is not finite hides nothing; without them it is all that there is to see.
    void aStepWithoutAFiniteElementIsDrawnAsWhatItIs()
    {
        DistributionStrip strip;
        strip.edges = std::make_shared<const std::vector<double>>(std::vector<double> { -1, 0, 1 });
        strip.columns = 3;
        strip.counts = { 2, 0, 0, 3, 0, 0 };
        strip.totals = { 2, 3, 0 };
        strip.samples = { 1, 1, 1 };
        strip.states = { CellState::Value, CellState::NaN, CellState::NaN };
        strip.finish(BinColor::Share, { Step { 0 }, Step { 2 } });
        const std::vector<CellState> upper { CellState::Absent, CellState::Value, CellState::NaN };
        const std::vector<CellState> lower { CellState::Value, CellState::Absent, CellState::NaN };
        for (std::size_t column = 0; column < 3; ++column) {
            QCOMPARE(strip.heat.result.states[column], upper[column]);
            QCOMPARE(strip.heat.result.states[3 + column], lower[column]);
        }
        // Between ridges it is a line over the whole height, with its sign.
        QImage image(90, 60, QImage::Format_RGB32);
        image.fill(Theme::current().base);
        QPainter painter(&image);
        paintRidges(painter, image.rect(), strip, Theme::current());
        painter.end();
        for (const int y : { 0, 10, 50, 59 })
            QCOMPARE(image.pixelColor(75, y), Theme::current().criticalMark);
        QVERIFY(image.pixelColor(75, 30) != Theme::current().criticalMark);
        QVERIFY(image.pixelColor(45, 0) != Theme::current().criticalMark);
    }

    /// Steps too close for a line each are one area, and their signs stay inside it.
    void anAreaOfRidgesEndsWhereItsStepsDo()
    {
        constexpr int kColumns = 60;
        DistributionStrip strip;
        strip.edges = std::make_shared<const std::vector<double>>(std::vector<double> { -1, 0, 1 });
        strip.columns = kColumns;
        for (int column = 0; column < kColumns; ++column) {
            const bool isFinite = column < kColumns / 2;
            strip.counts.insert(strip.counts.end(), { isFinite ? 2.0 : 0.0, 0.0 });
            strip.totals.push_back(isFinite ? 2 : 0);
            strip.samples.push_back(1);
            strip.states.push_back(isFinite ? CellState::Value : CellState::NaN);
        }
        strip.finish(BinColor::Share, { Step { 0 }, Step { kColumns - 1 } });
        QImage image(2 * kColumns + 20, 60, QImage::Format_RGB32);
        image.fill(Theme::current().base);
        QPainter painter(&image);
        paintRidges(painter, QRect(0, 0, 2 * kColumns, 60), strip, Theme::current());
        painter.end();
        for (int x = 0; x < image.width(); ++x) {
            const bool isInside = x >= kColumns && x < 2 * kColumns;
            QCOMPARE(image.pixelColor(x, 10) == Theme::current().criticalMark, isInside);
            for (int y = 0; y < image.height() && !isInside; ++y)
                QVERIFY2(image.pixelColor(x, y) != Theme::current().criticalMark, qPrintable(QString::number(x)));
        }
    }

    /// A median whose sign is chance stays beside zero, while what the tails do is seen.
    void quantilesNearZeroAreNearZero()
    {
        const auto edges = octaveEdges();
        DistributionStrip strip;
        strip.edges = std::make_shared<const std::vector<double>>(edges.begin(), edges.end());
        strip.columns = 50;
        for (int column = 0; column < strip.columns; ++column) {
            std::vector<double> counts(edges.size() - 1);
            counts[binOf(edges, column % 2 ? 1e-6 : -1e-6)] = 20;
            for (const double value : { 1e-3, 3e-3, 0.1 })
                counts[binOf(edges, value)] = counts[binOf(edges, -value)] = 20;
            strip.counts.insert(strip.counts.end(), counts.begin(), counts.end());
            strip.totals.push_back(140);
            strip.samples.push_back(1);
            strip.states.push_back(CellState::Value);
        }
        strip.finish(BinColor::Share, { Step { 0 }, Step { 49 } });
        const CurvePicture curves = curvesBelow(strip, BelowStrips::Quantiles, { Step { 0 }, Step { 49 } }, false);
        const ValueScale scale = curves.fit(YMode::Symlog, false);
        const auto unitOf = [&](std::size_t curve, std::size_t column) {
            return scale.unitOf(curves.series[curve].result.buckets[column].last);
        };
        QCOMPARE(QLatin1String(kQuantiles[3].name), QLatin1String("p50"));
        QVERIFY(unitOf(3, 1) > unitOf(3, 0) && unitOf(3, 1) - unitOf(3, 0) < 0.01);
        QVERIFY(unitOf(0, 0) - unitOf(3, 0) > 0.3);
    }

    void severalStripsKeepTheKeyOfWhatIsInView()
    {
        m_state->setKind(Kind::GradReduced);
        m_state->setRank(Rank { 1 });
        m_state->setSelection({ key(1), key(2) });
        settle();
        QCOMPARE(shown().strips.size(), std::size_t { 2 });
        const auto hasKey = [this](int strip, int right) {
            const QRect plot = m_view->canvas()->stripRect(strip);
            const QImage image = m_view->canvas()->grab().toImage();
            for (int y = plot.top(); y < plot.bottom(); ++y) {
                if (image.pixelColor(plot.right() + right, y) == Theme::current().criticalMark)
                    return true;
            }
            return false;
        };
        for (const auto shape : { DistributionShape::Strip, DistributionShape::Ridges }) {
            m_view->setShape(shape);
            settle();
            const int right = shape == DistributionShape::Strip ? 26 : kRidgeRoom + 10; // behind the last ridge
            QVERIFY(hasKey(0, right));
            QVERIFY(!hasKey(1, right));
        }
    }

    void whatHasNoRoomIsCounted()
    {
        m_state->setKind(Kind::GradReduced);
        m_view->resize(1080, 420);
        const auto caption = [this](const QString& words) {
            const auto labels = m_view->findChildren<QLabel*>();
            return std::ranges::any_of(labels, [&](const QLabel* label) { return label->text() == words; });
        };
        m_state->setSelection({ key(0) }, { key(1), key(2) }); // which would be too many curves
        settle();
        const auto more = kTensors - static_cast<int>(shown().strips.size());
        QVERIFY(more > 0);
        QVERIFY(caption(QStringLiteral("%1 more selected").arg(more)));
        for (const std::vector<ModuleKey>& selection :
            { std::vector<ModuleKey> {}, { { QStringLiteral("lr"), {} } } }) {
            m_state->setSelection(selection);
            m_state->setModuleFilter(QStringLiteral("layers"));
            settle();
            QTRY_VERIFY(caption(QStringLiteral("%1 more match the filter").arg(more)));
        }
    }

    void formatsLoseWhatTheElementsSay()
    {
        m_state->setKind(Kind::GradReduced);
        m_state->setSelection({ key(1) });
        m_state->zoomTo({ Step { 600 }, Step { 640 } });
        for (const BelowStrips below : { BelowStrips::Flushed, BelowStrips::Subnormal, BelowStrips::Overflowed }) {
            m_view->setBelow(below);
            settle();
            const CurvePicture& curves = *m_view->curves()->picture();
            QCOMPARE(curves.series.size(), kNumberFormats.size());
            QCOMPARE(curves.series[2].row.label, QStringLiteral("e4m3")); // whole beside its value
            QCOMPARE(curves.series[2].row.slotText(), QStringLiteral("fp8 e4m3"));
            QVERIFY(curves.fit(YMode::Linear, false).isOfShares()); // in percent, as in the inspector
            QBuffer table;
            table.open(QIODevice::WriteOnly);
            QVERIFY(m_view->writeCsv(&table));
            const QByteArray word = below == BelowStrips::Flushed ? "flushed to zero"
                : below == BelowStrips::Subnormal                 ? "subnormal"
                                                                  : "overflowed";
            QVERIFY(table.data().contains("layers.1.mlp.weight,-1,0,600,600,fp8 e4m3 " + word + ",,,value,"));
            for (std::size_t format = 0; format < kNumberFormats.size(); ++format) {
                const NumberFormatFacts& facts = kNumberFormats[format];
                for (int column = 0; column <= 40; ++column) {
                    int lost = 0;
                    for (const double one : elementsOf(Kind::GradReduced, 0, 600 + column, 1)) {
                        const double size = std::abs(one);
                        const bool isFlushed = size > 0 && size < facts.flushed;
                        lost += below == BelowStrips::Flushed ? isFlushed
                            : below == BelowStrips::Subnormal ? size >= facts.flushed && size < facts.normal
                                                              : size > facts.over;
                    }
                    const double value = curves.series[format].result.buckets[static_cast<std::size_t>(column)].last;
                    QVERIFY(std::abs(value - static_cast<double>(lost) / kElements) < 1e-9);
                }
            }
        }
        // Equal bins cannot tell.
        m_state->setKind(Kind::Update);
        settle();
        QVERIFY(m_view->curves()->picture()->isEmpty());
    }

    void aClickAndABrushAreEveryonesOwn()
    {
        m_state->setKind(Kind::Update);
        settle();
        const QRect plot = m_view->canvas()->stripRect(0);
        QTest::mouseClick(m_view->canvas(), Qt::LeftButton, Qt::NoModifier, plot.center());
        QVERIFY(m_state->cursor());
        QVERIFY(std::abs(m_state->cursor()->value - kSteps / 2) <= 2);
        QTest::mousePress(m_view->canvas(), Qt::LeftButton, Qt::NoModifier, plot.center());
        QTest::mouseMove(m_view->canvas(), plot.center() + QPoint(120, 10));
        QTest::mouseRelease(m_view->canvas(), Qt::LeftButton, Qt::NoModifier, plot.center() + QPoint(120, 10));
        QVERIFY(m_state->visibleRange().count() < kSteps / 4);
        settle();
        QCOMPARE(shown().range, m_state->visibleRange());
    }

    void whatIsPointedAtIsTheStepWhoseColorIsDrawn()
    {
        cleanup();
        open("sparse");
        settle();
        const QRect plot = m_view->canvas()->stripRect(0);
        std::set<std::int64_t> steps;
        for (int x = plot.left() + 2; x < plot.right() - 2; x += 3) {
            QTest::mouseClick(m_view->canvas(), Qt::LeftButton, Qt::NoModifier, QPoint(x, plot.center().y()));
            QVERIFY(m_state->cursor());
            QCOMPARE(m_state->cursor()->value % 5, 0);
            QVERIFY(std::abs(m_state->cursor()->value - 396 * (x - plot.left()) / plot.width()) <= 5);
            steps.insert(m_state->cursor()->value);
        }
        QCOMPARE(steps.size(), std::size_t { 79 }); // of 80: the run ends with the last, a column wide
    }

    void theKeyboardReachesEveryTensor()
    {
        m_state->setKind(Kind::Update);
        settle();
        m_view->canvas()->setFocus();
        QTest::keyClick(m_view->canvas(), Qt::Key_Down);
        QCOMPARE(m_state->selection(), (std::vector { key(1) }));
        settle();
        QTest::keyClick(m_view->canvas(), Qt::Key_Down, Qt::ShiftModifier);
        QCOMPARE(m_state->selection(), (std::vector { key(kTensors - 1) }));
        settle();
        QTest::keyClick(m_view->canvas(), Qt::Key_Up);
        QCOMPARE(m_state->selection(), (std::vector { key(kTensors - 2) }));
    }

    void kindAndRankAreChosenInTheBar()
    {
        m_state->setKind(Kind::Scalar); // has none: the first that has is shown
        settle();
        auto* kinds = m_view->findChild<QComboBox*>(QStringLiteral("distributionKind"));
        QCOMPARE(kinds->count(), 2);
        QCOMPARE(shown().kind, Kind::GradReduced);
        kinds->setCurrentIndex(1);
        Q_EMIT kinds->activated(1);
        settle();
        QCOMPARE(m_state->kind(), Kind::Update);
        auto* ranks = m_view->findChild<QComboBox*>(QStringLiteral("distributionRank"));
        QCOMPARE(ranks->count(), kRanks);
        ranks->setCurrentIndex(1);
        Q_EMIT ranks->activated(1);
        settle();
        QCOMPARE(shown().rank, Rank { 1 });
        QCOMPARE(m_state->rank(), Rank { 1 });
    }

    void aModuleMeansWhatIsBelowIt()
    {
        m_state->setKind(Kind::Update);
        m_state->setSelection({ { QStringLiteral("layers.2"), {} } });
        settle();
        QCOMPARE(shown().strips.front().row.key, key(2));
    }

    /// The first and the last step among them, none of them cut.
    void ridgesCoverAllSteps()
    {
        DistributionStrip strip;
        strip.edges = std::make_shared<const std::vector<double>>(std::vector<double> { -1, 0, 1, 2 });
        strip.columns = 40;
        for (int column = 0; column < strip.columns; ++column) {
            strip.counts.insert(strip.counts.end(), { 0, 2, 0 });
            strip.totals.push_back(2);
            strip.samples.push_back(1);
            strip.states.push_back(CellState::Value);
        }
        strip.finish(BinColor::Share, { Step { 0 }, Step { 39 } });
        const std::vector<int> columns = ridgeColumns(strip, 400);
        QCOMPARE(columns.front(), 0);
        QCOMPARE(columns.back(), 39);
        QImage image(420 + kRidgeRoom, 60, QImage::Format_RGB32);
        image.fill(Theme::current().base);
        QPainter painter(&image);
        paintRidges(painter, QRect(0, 0, 400, 60), strip, Theme::current());
        painter.end();
        const auto isDrawn = [&](int left, int right) {
            for (int x = left; x < right; ++x) {
                for (int y = 0; y < image.height(); ++y) {
                    if (image.pixelColor(x, y) != Theme::current().base)
                        return true;
                }
            }
            return false;
        };
        QVERIFY(isDrawn(0, 10) && isDrawn(420, 430));
        QVERIFY(!isDrawn(400 + kRidgeRoom, image.width()));
    }

    void ridgesStandOnTheirSteps()
    {
        m_state->setKind(Kind::Update);
        m_view->setShape(DistributionShape::Ridges);
        settle();
        const DistributionStrip& strip = shown().strips.front();
        const std::vector<int> columns = ridgeColumns(strip, 800);
        QVERIFY(columns.size() > 10 && columns.size() <= 19);
        QCOMPARE(columns.back(), strip.columns - 1);
        const QImage ridges = m_view->renderImage({ 1200, 800 });
        QVERIFY(ridges.save(test::shot(QStringLiteral("distribution-ridges.png"))));
        m_view->setShape(DistributionShape::Strip);
        QVERIFY(m_view->renderImage({ 1200, 800 }) != ridges);
    }

    /// Of brackets as wide as a character, too.
    void everyChoiceOfTheBarIsReadWhole()
    {
        cleanup();
        translations::install(*qApp, QStringLiteral("zh"));
        open("run");
        settle();
        for (QComboBox* combo : m_view->findChildren<QComboBox*>()) {
            const int room = combo->sizeHint().width() - (combo->width() - fieldOf(*combo).width());
            for (int item = 0; item < combo->count(); ++item)
                QVERIFY2(combo->fontMetrics().horizontalAdvance(combo->itemText(item)) <= room,
                    qPrintable(combo->itemText(item)));
        }
    }

    void theTableHoldsWhatIsShown()
    {
        m_state->setKind(Kind::GradReduced);
        m_state->setRank(Rank { 1 });
        m_state->setSelection({ key(1) });
        m_state->zoomTo({ Step { kBroken - 1 }, Step { kBroken + 1 } });
        settle();
        QBuffer buffer;
        QVERIFY(buffer.open(QIODevice::WriteOnly));
        QVERIFY(m_view->writeCsv(&buffer));
        const QList<QByteArray> lines = buffer.data().split('\n');
        QCOMPARE(lines.front().trimmed(),
            QByteArray("name,micro_step,rank,first_step,last_step,quantity,low,high,state,value"));
        QVERIFY(lines.contains("layers.1.mlp.weight,-1,1,777,777,non-finite,,,nan,NaN\r"));
        const auto counts = countsOf(Kind::GradReduced, 1, kBroken, 1);
        for (std::size_t bin = 0; bin < counts.size(); ++bin) {
            if (counts[bin] == 0)
                continue;
            const QByteArray end = ",value," + QByteArray::number(counts[bin], 'g', 17) + '\r';
            QVERIFY(std::any_of(lines.begin(), lines.end(), [&](const QByteArray& line) {
                return line.startsWith("layers.1.mlp.weight,-1,1,777,777,count,") && line.endsWith(end);
            }));
        }
    }

    void whatIsChosenIsWholeInASmallWindow()
    {
        m_host.reset();
        translations::install(*qApp, QStringLiteral("zh_CN"));
        open("run");
        m_state->setKind(Kind::GradReduced);
        settle();
        const auto* colors = m_view->findChild<QComboBox*>(QStringLiteral("distributionColor"));
        QCOMPARE(colors->currentText(), QStringLiteral("占比（对数）"));
        for (int width = 700; width >= 660; width -= 4) {
            m_host->resize(width, 400);
            m_view->resize(width, 400);
            QTRY_VERIFY2(colors->width() >= colors->sizeHint().width(), qPrintable(QString::number(width)));
        }
    }

    void quantilesHaveTheirValuesInALowWindow()
    {
        m_host->resize(700, 410);
        m_view->resize(700, 410);
        QTRY_VERIFY(m_view->isSettled() && m_view->curves()->picture());
        const CurveCanvas& curves = *m_view->curves();
        QVERIFY(curves.height() >= CurveCanvas::heightFor(static_cast<int>(kQuantiles.size())));
        QVERIFY(m_view->canvas()->height() > curves.height());
        const QRectF legend(0, 0, SharedAxis::kLegend, CurveCanvas::heightFor(7) - CurveCanvas::heightFor(0));
        QVERIFY(CurveLegend(legend, *curves.picture(), 0).hasValues());
        QVERIFY(!CurveLegend(legend.adjusted(0, 0, 0, -1), *curves.picture(), 0).hasValues());
    }

    /// The line that says the step, too.
    void theLinesOfTheLegendAreEquallyFarApart()
    {
        QTRY_VERIFY(m_view->isSettled() && m_view->curves()->picture());
        const QImage image = m_view->curves()->grab().toImage();
        const int left = m_view->curves()->plotRect().right() + 1 + 32; // right of the colors
        std::vector<int> tops;
        bool wasInk = false;
        for (int y = 0; y < 100; ++y) {
            bool isInk = false;
            for (int x = left; x < left + 8; ++x) // of "p99", and of the step's words
                isInk = isInk || image.pixelColor(x, y) != Theme::current().base;
            if (isInk && !wasInk)
                tops.push_back(y);
            wasInk = isInk;
        }
        QVERIFY(tops.size() > 2);
        QVERIFY2(std::abs((tops[1] - tops[0]) - (tops[2] - tops[1])) <= 2,
            qPrintable(QStringLiteral("%1 %2 %3").arg(tops[0]).arg(tops[1]).arg(tops[2])));
    }

    void aRunWithoutHistogramsSaysHowToGetThem()
    {
        cleanup();
        open("plain");
        settle();
        QVERIFY(!m_view->canvas()->picture() || shown().isEmpty());
        QVERIFY(m_view->findChild<ViewBar*>()->isHidden()); // it has nothing to choose from
        QVERIFY(m_view->renderImage({ 800, 600 }).save(test::shot(QStringLiteral("distribution-none.png"))));
    }

    /// Powers of ten on both sides of zero, the same ones, and none over another.
    void theAxisOfSignedValuesIsReadable_data()
    {
        QTest::addColumn<int>("height");
        for (const int height : { 40, 90, 140, 300, 700, 2000 })
            QTest::addRow("%d px", height) << height;
    }
    void theAxisOfSignedValuesIsReadable()
    {
        QFETCH(int, height);
        constexpr double kDistance = 17;
        const auto edges = octaveEdges();
        const auto zero = static_cast<int>(binOf(edges, 0));
        for (const int reach : { 8, 20, 45, 62 }) {
            const BinAxis axis(edges, zero - reach, zero + reach);
            const auto ticks = axis.ticks(height, kDistance);
            std::vector<double> above;
            std::vector<double> below;
            double last = -1;
            for (const BinAxis::Tick& tick : ticks) {
                QVERIFY2((tick.unit - last) * height >= kDistance - 1e-9 || last < 0, qPrintable(tick.label));
                last = tick.unit;
                QVERIFY(tick.unit >= 0 && tick.unit <= 1);
                // It stands in the bin that counts the value.
                const auto bin = static_cast<double>(binOf(edges, tick.value));
                const double place = tick.unit * (2 * reach + 1) + zero - reach;
                QVERIFY2(place >= bin - 1e-9 && place <= bin + 1 + 1e-9, qPrintable(tick.label));
                QString number = tick.label;
                number.replace(QChar(0x2212), u'-');
                QVERIFY2(
                    std::abs(number.toDouble() - tick.value) <= 1e-9 * std::abs(tick.value), qPrintable(tick.label));
                if (tick.value > 0)
                    above.push_back(tick.value);
                else if (tick.value < 0)
                    below.push_back(-tick.value);
            }
            QCOMPARE(ticks.size(), above.size() + below.size() + 1); // and zero
            std::reverse(below.begin(), below.end());
            QCOMPARE(above, below);
            for (const double value : above) // decades, not powers of two
                QVERIFY(std::abs(std::log10(value) - std::round(std::log10(value))) < 1e-9);
            if (height >= 140)
                QVERIFY(above.size() >= 2);
        }
        const BinAxis equal(equalEdges(), 1, 10);
        QVERIFY(!equal.ticks(height, kDistance).empty());
        for (const BinAxis::Tick& tick : equal.ticks(height, kDistance))
            QVERIFY(std::abs(tick.unit - (tick.value + 1) / 2) < 1e-9);
    }

    void looks_data() { test::addLooks(); }
    void looks()
    {
        cleanup();
        const auto [theme, language] = test::putOnLook();
        open("run");
        m_state->setKind(Kind::GradReduced);
        m_state->setRank(Rank { 1 });
        m_state->setSelection({ key(1) });
        m_state->setCursor(Step { 640 });
        settle();
        QTest::mouseMove(m_view->canvas(), m_view->canvas()->stripRect(0).center() + QPoint(40, 20));
        settle();
        QVERIFY(m_view->grab().save(test::shot(QStringLiteral("distribution-%1-%2.png").arg(theme, language))));
    }

private:
    void open(const char* name)
    {
        openFile(path(name));
        m_state->setRanks(std::vector<Rank> {});
    }
    static ModuleKey key(int tensor) { return { QString::fromStdString(nameOf(tensor)), {} }; }

    static QRect fieldOf(const QComboBox& combo)
    {
        QStyleOptionComboBox option;
        option.initFrom(&combo);
        return combo.style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, &combo);
    }
    const DistributionPicture& shown() { return *m_view->canvas()->picture(); }
};

TELLTALE_TEST(QTEST_MAIN, DistributionTest)

}

#include "distributiontest.moc"
