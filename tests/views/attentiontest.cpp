// SPDX-License-Identifier: GPL-3.0-or-later
#include "shots.h"
#include "testmain.h"

#include <cmath>

#include <QApplication>
#include <QBuffer>
#include <QComboBox>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QSignalSpy>
#include <QTemporaryDir>

#include <telltale/attention/attentioncanvas.h>
#include <telltale/attention/attentionview.h>
#include <telltale/attention/headmapscanvas.h>
#include <telltale/attention/headsign.h>
#include <telltale/common/colormap.h>
#include <telltale/common/rowlist.h>
#include <telltale/common/sharedaxis.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewbar.h>
#include <telltale/heatmap/heatcanvas.h>
#include <telltale/plot/curvecanvas.h>
#include <telltale/store/querypool.h>
#include <telltale/translations/translations.h>

#include "../store/capsulebuilder.h"
#include "looks.h"

namespace attentiontest {

using namespace telltale;
using namespace telltale::views;
using analysis::HeadSign;
using series::CellState;

namespace {

constexpr int kLayers = 4;
constexpr int kHeads = 6; ///< three share a key
constexpr int kSteps = 700;
constexpr int kKeys = 64;
constexpr int kRanks = 2;
constexpr std::array kCollapses { 2, 3 };
constexpr std::array kFalls { 0, 1 };
constexpr std::array kBreaks { 1, 0 }; ///< on rank 1
constexpr std::array kLooksAtAll { 3, 5 };
constexpr int kBroken = 650;
constexpr int kMapEach = 50; ///< steps between attention maps
constexpr int kMapSize = 16; ///< rows and columns
constexpr std::array kMappedHeads { 1, 3 };
constexpr int kMapBroken = 550; ///< step from which a query of layers.2 head 3 is not finite

ModuleKey head(int layer, int number)
{
    return { QStringLiteral("layers.%1.attn").arg(layer), Slot::ofHead(number) };
}

/// What a head of the made-up run shows.
std::array<float, 3> numbersOf(int rank, int step, int layer, int number)
{
    double entropy = 1.5 + 0.2 * layer + 0.1 * number + 0.05 * std::sin(step / 7.0 + number + rank);
    double highest = 0.3 + 0.01 * number;
    if (std::array { layer, number } == kCollapses && step > 200)
        entropy = std::max(0.02, entropy * std::exp(-(step - 200) / 80.0)), highest = 0.99;
    if (std::array { layer, number } == kFalls && step > 200)
        entropy *= 0.6;
    if (std::array { layer, number } == kLooksAtAll)
        entropy = std::log(kKeys), highest = 1.0 / kKeys;
    if (rank == 1 && std::array { layer, number } == kBreaks && step >= kBroken)
        entropy = highest = std::nan("");
    return { static_cast<float>(entropy), static_cast<float>(highest), static_cast<float>(4 + layer - number) };
}

/// A cell of an attention map of the made-up run, none above the diagonal; of float16's own numbers.
float shareOf(int rank, int step, int layer, int number, int row, int column)
{
    if (column > row)
        return analysis::HeadMaps::kUnseen;
    if (step >= kMapBroken && layer == 2 && number == 3 && row == 5)
        return std::nanf("");
    return static_cast<float>(1 + (rank + step / kMapEach + layer + number + 3 * row + column) % 32) / 64.0F;
}

std::uint16_t halfOf(float value)
{
    if (std::isnan(value))
        return 0x7E00;
    if (value == 0)
        return 0;
    int exponent = 0;
    const float mantissa = std::frexp(std::abs(value), &exponent); // in [0.5, 1)
    return static_cast<std::uint16_t>(
        (value < 0 ? 0x8000 : 0) | ((exponent + 14) << 10) | static_cast<int>((mantissa * 2 - 1) * 1024));
}

Blob mapsOf(int rank, int step, int layer)
{
    Blob blob;
    blob.id = "attention_map-" + std::to_string(step * 10 + layer);
    blob.kind = "attention_map";
    blob.name = (layer == 2 ? "module.layers." : "layers.") + std::to_string(layer) + ".attn"; // as DDP names it
    blob.step = Step { step };
    blob.bytes = R"({"format":1,"dtype":"float16","heads":[1,3],"shape":[6,2,64,64],"rows":16,"columns":16,)"
                 R"("queries_per_row":4,"keys_per_column":4,"looked":64,"scale":0.25,"call":0,"chunk":0,)"
                 R"("definition":"made up"})"
                 "\n";
    for (const int number : kMappedHeads) {
        for (int row = 0; row < kMapSize; ++row) {
            for (int column = 0; column < kMapSize; ++column) {
                const auto bits = halfOf(shareOf(rank, step, layer, number, row, column));
                blob.bytes += static_cast<char>(bits & 0xFF);
                blob.bytes += static_cast<char>(bits >> 8);
            }
        }
    }
    return blob;
}

StepBlock blockOf(const std::shared_ptr<const SeriesLayout>& layout, int step)
{
    StepBlock block;
    block.layout = layout;
    block.step = Step { step };
    return block;
}

void write(const std::string& path, bool hasAttention = true, int steps = kSteps, int each = 1, int micros = 1)
{
    test::CapsuleBuilder builder(path, "gpt-4l");
    auto layout = std::make_shared<SeriesLayout>(
        *builder.addLayout(Kind::Attention, { Stat::Entropy, Stat::SoftmaxMax, Stat::MaxLogit }, {}));
    for (int i = 0; i < micros * kLayers * kHeads; ++i) {
        SeriesDesc series;
        series.microStep = i < kLayers * kHeads ? -1 : i / (kLayers * kHeads);
        series.name = "layers." + std::to_string(i / kHeads % kLayers) + ".attn";
        series.slot = Slot::ofHead(i % kHeads);
        series.shape = { kHeads, 2, kKeys, kKeys };
        series.numel = 32;
        series.definition = "mean over 32 of 64 queries";
        layout->series.push_back(std::move(series));
    }
    auto headZero = std::make_shared<SeriesLayout>(
        *builder.addLayout(Kind::Attention, { Stat::Entropy, Stat::SoftmaxMax }, { "layers.0.attn" }));
    headZero->series.front().slot = Slot::named("attention");
    const auto scalars = builder.addLayout(Kind::Scalar, { Stat::Value }, { "loss" });
    for (int rank = 0; rank < kRanks; ++rank) {
        const std::int64_t stream = builder.addAttempt(Rank { rank }, 0);
        std::vector<StepBlock> blocks;
        std::vector<Blob> maps;
        for (int step = 0; step < steps; ++step) {
            for (int layer = 1; hasAttention && step >= kMapEach && step % kMapEach == 0 && layer < 3; ++layer)
                maps.push_back(mapsOf(rank, step, layer));
            StepBlock loss = blockOf(scalars, step);
            loss.columns = { { Stat::Value, std::vector<double> { 3.0 } } };
            blocks.push_back(loss);
            if (!hasAttention || step % each != 0)
                continue;
            StepBlock block = blockOf(layout, step);
            std::array<std::vector<float>, 3> columns;
            for (int i = 0; i < micros * kLayers * kHeads; ++i) {
                const auto numbers = numbersOf(rank, step, i / kHeads % kLayers, i % kHeads);
                for (std::size_t stat = 0; stat < 3; ++stat)
                    columns[stat].push_back(numbers[stat]);
            }
            block.columns
                = { { Stat::Entropy, columns[0] }, { Stat::SoftmaxMax, columns[1] }, { Stat::MaxLogit, columns[2] } };
            blocks.push_back(block);
            StepBlock zero = blockOf(headZero, step);
            zero.columns = { { Stat::Entropy, std::vector<float> { 0.5F } },
                { Stat::SoftmaxMax, std::vector<float> { 0.75F } } };
            blocks.push_back(zero);
        }
        builder.stage(stream, std::move(blocks), {}, {}, std::move(maps));
        builder.commit();
    }
    builder.releaseAll();
    builder.finish();
}

}

/// The heads of a run whose numbers are known. Thread: the test's.
class AttentionTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(m_dir.isValid());
        write(path("run"));
        write(path("plain"), false);
        write(path("short"), true, 260);
        write(path("sampled"), true, 260, 5);
        write(path("accumulated"), true, 60, 1, 2);
    }

    void init() { open("run"); }
    void cleanup()
    {
        m_host.reset();
        m_pool.reset();
        m_state.reset();
        translations::install(*qApp, QStringLiteral("en"));
    }

    void everyNumberIsTheRunsOwn()
    {
        for (const int rank : { 0, 1 }) {
            m_state->setRank(Rank { rank });
            for (const int step : { 0, 199, 420, kBroken, kSteps - 1 }) {
                m_state->setCursor(Step { step });
                settle();
                const AttentionPicture& picture = shown();
                QCOMPARE(picture.atStep.value, step);
                QCOMPARE(picture.layers.size(), std::size_t { kLayers });
                for (int layer = 0; layer < kLayers; ++layer) {
                    for (int number = 0; number < kHeads; ++number) {
                        const auto expected = numbersOf(rank, step, layer, number);
                        compare(picture.valueOf(layer, number, HeadValue::Entropy), expected[0]);
                        compare(picture.valueOf(layer, number, HeadValue::SoftmaxMax), expected[1]);
                        compare(picture.valueOf(layer, number, HeadValue::MaxLogit), expected[2]);
                        compare(picture.valueOf(layer, number, HeadValue::EntropyShare),
                            expected[0] / static_cast<float>(std::log(kKeys)));
                    }
                }
                QCOMPARE(picture.layers[0].headZero.value, 0.5);
            }
        }
    }

    void theStepOfTheMapsIsThatOfTheirValues()
    {
        cleanup();
        open("sampled");
        for (const std::optional<Step> cursor : { std::optional<Step>(), { Step { 258 } }, { Step { 203 } } }) {
            m_state->setCursor(cursor);
            settle();
            const std::int64_t step = cursor.value_or(Step { 259 }).value / 5 * 5;
            QCOMPARE(shown().atStep.value, step);
            QCOMPARE(shown().stepsBefore(), step);
            compare(shown().valueOf(1, 2, HeadValue::Entropy), numbersOf(0, static_cast<int>(step), 1, 2)[0]);
        }
        m_state->setCursor(Step { 9 }); // the newest before it are too few steps later than the first
        settle();
        QCOMPARE(shown().atStep.value, 5);
        QVERIFY(!shown().beforeStep);
    }

    /// They are named as such, and take no other head's place nor the band's.
    void laterMicroStepsOfHeadsComeLast()
    {
        cleanup();
        open("accumulated");
        m_state->setSelection({ head(1, 2), head(1, 0) });
        settle();
        const CurvePicture& curves = *m_view->findChild<CurveCanvas*>()->picture();
        QStringList names;
        for (const CurveSeries& one : curves.series)
            names.append(one.row.label + (one.isGroup ? QStringLiteral(", band") : QString()));
        QCOMPARE(names,
            (QStringList { QStringLiteral("L1 h2"), QStringLiteral("L1 h0"), QStringLiteral("L1 h0, band"),
                QStringLiteral("L1 h2 µ1"), QStringLiteral("L1 h0 µ1") }));
        choose("attentionBelow", static_cast<int>(BelowMaps::Strips));
        const HeatPicture& strips = *m_view->findChild<HeatCanvas*>()->picture();
        QCOMPARE(strips.rows.size(), std::size_t { 2 * kHeads });
        QCOMPARE(strips.rows.front().label, QStringLiteral("h0"));
        QCOMPARE(strips.rows.back().label, QStringLiteral("h5 µ1"));
    }

    void whatAHeadDoesIsMarked()
    {
        m_state->setCursor(Step { 600 });
        settle();
        for (int layer = 0; layer < kLayers; ++layer) {
            for (int number = 0; number < kHeads; ++number) {
                const std::array at { layer, number };
                const HeadSign expected = at == kCollapses ? HeadSign::Collapsing
                    : at == kFalls                         ? HeadSign::Falling
                    : at == kLooksAtAll                    ? HeadSign::Uniform
                                                           : HeadSign::None;
                QCOMPARE(shown().cell(layer, number)->sign, expected);
            }
        }
        QCOMPARE(shown().group, 3); // six heads on two keys
    }

    /// Wherever a cell stands, its sign is the same one.
    void signsLookAlike()
    {
        const Theme& theme = Theme::current();
        AttentionPicture picture;
        for (int layer = 0; layer < 5; ++layer) {
            AttentionLayer& one = picture.layers.emplace_back();
            one.name = QStringLiteral("layers.%1.attn").arg(layer);
            for (int head = 0; head < 7; ++head) {
                HeadCell& cell = one.heads.emplace_back();
                cell.entropy.state = CellState::Value;
                cell.entropy.value = 1;
                cell.sign = layer % 2 == 0 ? HeadSign::OneHot : HeadSign::Falling;
            }
        }
        picture.finish(HeadValue::Entropy);
        for (const double ratio : { 1.0, 1.25, 1.5, 2.0 }) {
            const QSize size(400, 300);
            QImage frame(size * ratio, QImage::Format_RGB32);
            frame.setDevicePixelRatio(ratio);
            frame.fill(theme.base);
            const AttentionMap map(picture, HeadValue::Entropy, QRectF(QPointF(), QSizeF(size)));
            {
                QPainter painter(&frame);
                map.paint(painter, { -1, -1 }, theme);
            }
            const auto signAt = [&](int layer, int head) {
                const QPointF corner = map.cellRect(layer, head).topRight() * ratio;
                const auto inside = static_cast<int>(10 * ratio);
                return frame.copy(static_cast<int>(std::lround(corner.x())) - inside - 1,
                    static_cast<int>(std::lround(corner.y())) + 1, inside, inside);
            };
            for (int layer = 0; layer < 5; ++layer) {
                for (int head = 0; head < 7; ++head)
                    QVERIFY2(signAt(layer, head) == signAt(layer % 2, 0),
                        qPrintable(QStringLiteral("%1: %2 %3").arg(ratio).arg(layer).arg(head)));
            }
            // The one in the line that explains them is drawn by itself.
            QImage alone(frame.size(), QImage::Format_RGB32);
            alone.setDevicePixelRatio(ratio);
            const QRectF cell = map.cellRect(0, 0);
            const int signSize = headSignSize({ map.cells().width() / 7 - 2, map.cells().height() / 5 - 2 });
            alone.fill(frame.pixelColor((cell.center() * ratio).toPoint()));
            {
                QPainter painter(&alone);
                paintHeadSign(painter, cell.topRight(), signSize, HeadSign::OneHot, theme);
            }
            const QPoint corner = (cell.topRight() * ratio).toPoint();
            for (int x = 2; x < 10 * ratio; ++x) {
                for (int y = 2; y < 10 * ratio; ++y) {
                    const QPoint at = corner + QPoint(-x, y);
                    QVERIFY2(std::abs(alone.pixelColor(at).green() - frame.pixelColor(at).green()) <= 4,
                        qPrintable(QStringLiteral("%1: %2 %3").arg(ratio).arg(x).arg(y)));
                }
            }
        }
    }

    /// Where one has no room below the cell it stands over what is above, never over the cell.
    void aReadoutLeavesItsCellInView()
    {
        settle();
        AttentionCanvas maps(m_state.get());
        maps.setPicture(std::make_shared<AttentionPicture>(shown()), { HeadValue::Entropy, HeadValue::SoftmaxMax });
        for (int height = maps.leastHeight(); height < 400; height += 10) {
            maps.resize(700, height);
            const AttentionMap map = maps.map(0, maps.size());
            for (int layer = 0; layer < kLayers; ++layer) {
                const QRect cell = map.cellRect(layer, 0).toAlignedRect();
                if (std::max(cell.top(), height - cell.bottom()) < 80)
                    continue; // there is no room at all
                QMouseEvent move(QEvent::MouseMove, cell.center(), maps.mapToGlobal(cell.center()), Qt::NoButton,
                    Qt::NoButton, Qt::NoModifier);
                QApplication::sendEvent(&maps, &move);
                const QImage image = maps.grab().toImage();
                for (int y = cell.top(); y <= cell.bottom(); ++y) {
                    QVERIFY2(image.pixelColor(cell.center().x(), y) != Theme::current().raised,
                        qPrintable(QStringLiteral("layer %1 of %2 px").arg(layer).arg(height)));
                }
            }
        }
    }

    /// The maps come before what is below them, which goes where there is no room for both.
    void aShortViewKeepsItsMaps()
    {
        settle();
        const AttentionCanvas* canvas = m_view->canvas();
        for (const auto& [height, hasCurves] : { std::pair { 700, true }, std::pair { 420, true }, { 240, false } }) {
            m_view->resize(1080, height);
            settle();
            QVERIFY2(
                canvas->height() >= std::min(canvas->leastHeight(), height - 40), qPrintable(QString::number(height)));
            QCOMPARE(!m_view->curves(0)->visibleRegion().isEmpty(), hasCurves);
        }
    }

    /// Of two that belong together none goes alone.
    void theSidesAreLabeledAlike()
    {
        for (int width = 400; width <= 1080; width += 20) {
            m_view->resize(width, 700);
            settle();
            int labels = 0;
            for (const QLabel* label : m_view->findChildren<QLabel*>()) {
                const QString of = label->buddy() ? label->buddy()->objectName() : QString();
                if (of == QLatin1String("attentionLeft") || of == QLatin1String("attentionRight"))
                    labels += label->isHidden() ? 0 : 1;
            }
            QVERIFY2(labels != 1, qPrintable(QString::number(width)));
        }
    }

    /// However wide the view is: few heads do not fill a wide one.
    void curvesEndWhereTheirMapsDo()
    {
        for (const int width : { 523, 760, 1080, 1081, 2600 }) {
            m_host->resize(width, 700);
            m_view->resize(width, 700);
            settle();
            for (const int side : { 0, 1 }) {
                const QRectF cells = canvas().map(side, canvas().size()).cells();
                const QRect plot = m_view->curves(side)->plotRect();
                const QPoint at = m_view->curves(side)->mapTo(m_view, plot.topLeft());
                QVERIFY(std::abs(at.x() - cells.left()) <= 1);
                QVERIFY2(std::abs(at.x() + plot.width() - cells.right()) <= 1, qPrintable(QString::number(width)));
                QVERIFY(plot.width() >= 120);
            }
        }
    }

    /// A run of 260 steps has nothing 512 steps earlier.
    void aShortRunsHeadsAreComparedWithItsFirstStep()
    {
        cleanup();
        open("short");
        m_state->setCursor(Step { 259 });
        settle();
        QCOMPARE(shown().beforeStep, std::optional<Step>(Step { 0 }));
        for (int layer = 0; layer < kLayers; ++layer) {
            for (int number = 0; number < kHeads; ++number) {
                const auto now = numbersOf(0, 259, layer, number)[0], before = numbersOf(0, 0, layer, number)[0];
                const HeadSign expected = now < 0.5F * before     ? HeadSign::Collapsing
                    : now < 0.7F * before                         ? HeadSign::Falling
                    : std::array { layer, number } == kLooksAtAll ? HeadSign::Uniform
                                                                  : HeadSign::None;
                QCOMPARE(shown().cell(layer, number)->sign, expected);
            }
        }
        QCOMPARE(shown().cell(kCollapses[0], kCollapses[1])->sign, HeadSign::Collapsing);
        QCOMPARE(shown().cell(kFalls[0], kFalls[1])->sign, HeadSign::Falling);
        m_state->setCursor(Step { AttentionPicture::kLeastBefore - 1 }); // too early to say
        settle();
        QVERIFY(!shown().beforeStep);
        QCOMPARE(shown().cell(0, 0)->sign, HeadSign::None);
    }

    void ranksStandBesideEachOther()
    {
        m_state->setCursor(Step { kBroken });
        choose("attentionAxes", static_cast<int>(HeadAxes::RankByHead));
        choose("attentionLayer", QStringLiteral("layers.1.attn"));
        QCOMPARE(shown().layers.size(), std::size_t { kRanks });
        for (int rank = 0; rank < kRanks; ++rank) {
            QCOMPARE(shown().layers[static_cast<std::size_t>(rank)].label, QString::number(rank));
            for (int number = 0; number < kHeads; ++number)
                compare(shown().valueOf(rank, number, HeadValue::Entropy), numbersOf(rank, kBroken, 1, number)[0]);
        }
        // A click selects the head and its rank; the rows stay.
        click(0, 1, 4, Qt::NoModifier);
        QCOMPARE(m_state->rank(), Rank { 1 });
        QCOMPARE(m_state->selection(), (std::vector { head(1, 4) }));
        settle();
        QCOMPARE(shown().layers.size(), std::size_t { kRanks });
        QCOMPARE(shown().placeOf(head(1, 4)), (std::array { 1, 4 }));
    }

    void theBoxOfRanksIsAsWideForBothAxes()
    {
        settle();
        const auto* box = m_view->findChild<QComboBox*>(QStringLiteral("attentionRank"));
        const int width = box->sizeHint().width();
        choose("attentionAxes", static_cast<int>(HeadAxes::RankByHead));
        QCOMPARE(box->sizeHint().width(), width);
        QVERIFY(!box->model()->index(box->count() - 1, 0).flags().testFlag(Qt::ItemIsEnabled)); // ranks are the rows
    }

    void whatLiesBetweenRanksIsTheirSpread()
    {
        m_state->setCursor(Step { kBroken });
        choose("attentionRank", -1);
        QVERIFY(shown().isSpread);
        QCOMPARE(shown().ranks, kRanks);
        for (int layer = 0; layer < kLayers; ++layer) {
            for (int number = 0; number < kHeads; ++number) {
                const auto first = numbersOf(0, kBroken, layer, number), second = numbersOf(1, kBroken, layer, number);
                compare(shown().valueOf(layer, number, HeadValue::Entropy), std::abs(first[0] - second[0]));
                compare(shown().valueOf(layer, number, HeadValue::SoftmaxMax), std::abs(first[1] - second[1]));
            }
        }
        QCOMPARE(m_view->curves(0)->picture()->series.front().row.key, head(kBreaks[0], kBreaks[1]));
        choose("attentionRank", 1);
        QVERIFY(!shown().isSpread);
        QCOMPARE(m_state->rank(), Rank { 1 });
    }

    /// From the smallest to the largest of all heads of the selected head's layer, and short names that fit.
    void aLayersBandStandsBehindItsHeads()
    {
        settle();
        m_state->setSelection({ head(2, 3), head(0, 1) });
        settle();
        const auto drawn = m_view->curves(0)->picture();
        QCOMPARE(drawn->series.size(), std::size_t { 3 });
        QCOMPARE(drawn->series[0].row.label, QStringLiteral("L2 h3"));
        QCOMPARE(drawn->series[1].row.label, QStringLiteral("L0 h1"));
        const CurveSeries& band = drawn->series[2];
        QVERIFY(band.isGroup);
        QCOMPARE(band.where, QStringLiteral("L2, %1 heads").arg(kHeads));
        for (int bucket = 0; bucket < static_cast<int>(band.result.buckets.size()); ++bucket) {
            const StepRange steps = stepsOf(band.result, bucket);
            float low = 100, high = -100;
            for (std::int64_t step = steps.first.value; step <= steps.last.value; ++step) {
                for (int number = 0; number < kHeads; ++number) {
                    low = std::min(low, numbersOf(0, static_cast<int>(step), 2, number)[0]);
                    high = std::max(high, numbersOf(0, static_cast<int>(step), 2, number)[0]);
                }
            }
            QCOMPARE(static_cast<float>(band.result.buckets[static_cast<std::size_t>(bucket)].min), low);
            QCOMPARE(static_cast<float>(band.result.buckets[static_cast<std::size_t>(bucket)].max), high);
        }
    }

    /// A cursor that moves over the same curves reads the maps alone; another selection, or more of the run, does not.
    void curvesAreReadAgainOnlyWhereTheyChange()
    {
        m_state->setSelection({ head(2, 3) });
        settle();
        const auto drawn = m_view->curves(0)->picture();
        m_state->setCursor(Step { 300 });
        settle();
        QCOMPARE(shown().atStep.value, 300);
        QCOMPARE(m_view->curves(0)->picture(), drawn);
        Q_EMIT m_state->dataArrived();
        settle();
        QVERIFY(m_view->curves(0)->picture() != drawn);
        const auto again = m_view->curves(0)->picture();
        m_state->setSelection({ head(2, 4) });
        settle();
        QVERIFY(m_view->curves(0)->picture() != again);
        QCOMPARE(m_view->curves(0)->picture()->series.front().row.key, head(2, 4));
    }

    void attentionMapsAreTheNearestRecordedOnes_data()
    {
        QTest::addColumn<int>("cursor");
        QTest::addColumn<int>("recorded");
        QTest::newRow("before the first") << 10 << kMapEach;
        QTest::newRow("at one") << 300 << 300;
        QTest::newRow("behind one") << 349 << 300;
        QTest::newRow("the last") << kSteps - 1 << 650;
    }
    void attentionMapsAreTheNearestRecordedOnes()
    {
        QFETCH(int, cursor);
        QFETCH(int, recorded);
        m_state->setRank(Rank { 1 });
        m_state->setCursor(Step { cursor });
        choose("attentionBelow", static_cast<int>(BelowMaps::HeadMaps));
        const HeadMapPicture& maps = *m_view->headMaps()->picture();
        QCOMPARE(maps.tiles.size(), std::size_t { 4 }); // two heads of two layers
        for (const HeadMapTile& tile : maps.tiles) {
            QCOMPARE(tile.step.value, recorded);
            const int layer = tile.key.name == QLatin1String("layers.1.attn") ? 1 : 2;
            for (int row = 0; row < kMapSize; ++row) {
                for (int column = 0; column < kMapSize; ++column) {
                    const float expected = shareOf(1, recorded, layer, tile.key.slot.head, row, column);
                    const float found = tile.cell(row, column);
                    QVERIFY(std::isnan(expected) ? std::isnan(found) : found == expected);
                }
            }
        }
        // Of the selected heads where they have some.
        m_state->setSelection({ head(2, 3), head(0, 0) });
        settle();
        for (const HeadMapTile& tile : m_view->headMaps()->picture()->tiles) {
            QCOMPARE(tile.key, head(2, 3));
            QCOMPARE(tile.title, QStringLiteral("L2 h3"));
            QCOMPARE(tile.isAtCursor, tile.step.value == recorded);
        }
        const auto* caption = m_view->findChild<QLabel*>(QStringLiteral("headMapsCaption"));
        QVERIFY2(caption->text().contains(QStringLiteral("1 selected head has no map")), qPrintable(caption->text()));
        const QString which
            = cursor < recorded ? QStringLiteral("the first after step") : QStringLiteral("the last before step");
        QCOMPARE(caption->text().contains(which), cursor != recorded);
        m_state->setSelection({});
        settle();
        QCOMPARE(caption->text().contains(which), cursor != recorded);
        // A head of whatever layer has one name, where the rows are ranks as well.
        m_state->setSelection({ head(2, 3), head(0, 0) });
        choose("attentionAxes", static_cast<int>(HeadAxes::RankByHead));
        choose("attentionLayer", QStringLiteral("layers.1.attn"));
        for (const HeadMapTile& tile : m_view->headMaps()->picture()->tiles)
            QCOMPARE(tile.title, QStringLiteral("L2 h3"));
        QVERIFY(std::ranges::any_of(m_view->headMaps()->picture()->tiles, &HeadMapTile::isAtCursor));
    }

    /// Spread over what is in sight, and that of the cursor; a line for each head.
    void chosenHeadsShowTheirMapsOverTheSteps()
    {
        m_state->setRank(Rank { 1 });
        m_state->setCursor(Step { 500 });
        m_state->setSelection({ head(1, 1), head(2, 3) });
        choose("attentionBelow", static_cast<int>(BelowMaps::HeadMaps));
        const auto stepsOf = [this](const ModuleKey& key) {
            std::vector<std::int64_t> steps;
            for (const HeadMapTile& tile : m_view->headMaps()->picture()->tiles) {
                if (tile.key == key)
                    steps.push_back(tile.step.value);
                const int layer = tile.key == head(1, 1) ? 1 : 2;
                const float expected = shareOf(1, static_cast<int>(tile.step.value), layer, tile.key.slot.head, 4, 2);
                if (tile.cell(4, 2) != expected)
                    return std::vector<std::int64_t> { -1 };
            }
            return steps;
        };
        const std::vector<std::int64_t> spread { 50, 100, 200, 300, 350, 500, 550, 650 };
        QCOMPARE(stepsOf(head(1, 1)), spread);
        QCOMPARE(stepsOf(head(2, 3)), spread);
        const HeadMapsCanvas& maps = *m_view->headMaps();
        QCOMPARE(maps.cellsRect(8, maps.size()).left(), maps.cellsRect(0, maps.size()).left());
        QVERIFY(maps.cellsRect(8, maps.size()).top() > maps.cellsRect(7, maps.size()).bottom());
        QVERIFY(maps.cellsRect(7, maps.size()).top() == maps.cellsRect(0, maps.size()).top());
        const auto* caption = m_view->findChild<QLabel*>(QStringLiteral("headMapsCaption"));
        QVERIFY2(caption->text().contains(QStringLiteral("13 recorded steps")), qPrintable(caption->text()));
        QVERIFY(m_view->renderImage({ 1200, 800 }).save(test::shot(QStringLiteral("attention-map-steps.png"))));
        m_state->zoomTo({ Step { 300 }, Step { 600 } });
        settle();
        QCOMPARE(stepsOf(head(2, 3)), (std::vector<std::int64_t> { 300, 350, 400, 450, 500, 550, 600 }));
        QVERIFY2(!caption->text().contains(QStringLiteral("recorded steps")), qPrintable(caption->text()));
        m_state->setSelection({});
        settle();
        QCOMPARE(m_view->headMaps()->picture()->tiles.size(), std::size_t { 4 });
    }

    void anAttentionMapIsReadByMouseAndKeys()
    {
        m_state->setCursor(Step { 600 });
        choose("attentionBelow", static_cast<int>(BelowMaps::HeadMaps));
        HeadMapsCanvas& maps = *m_view->headMaps();
        const QRect above = m_view->canvas()->geometry();
        QTest::mouseClick(&maps, Qt::LeftButton, Qt::NoModifier, maps.cellsRect(3, maps.size()).center().toPoint());
        QCOMPARE(m_state->selection(), (std::vector { head(2, 3) }));
        settle();
        QCOMPARE(m_view->canvas()->geometry(), above); // the next head is where it was
        m_state->setSelection({});
        settle();
        maps.setFocus();
        for (const auto key : { Qt::Key_Down, Qt::Key_PageDown, Qt::Key_Right, Qt::Key_Return })
            QTest::keyClick(&maps, key);
        QCOMPARE(m_state->selection(), (std::vector { head(1, 3) }));
    }

    void aCellOfAnAttentionMapSaysWhichItIs()
    {
        analysis::HeadMaps maps;
        maps.shape.queries = maps.shape.keys = 62;
        QCOMPARE(HeadMapsCanvas::cellText(maps, 33, 1), QStringLiteral("query 33, key 1"));
        maps.queriesPerRow = 4;
        QCOMPARE(HeadMapsCanvas::cellText(maps, 8, 1), QStringLiteral("queries 32 to 35, key 1"));
        maps.keysPerColumn = 4; // the last has fewer
        QCOMPARE(HeadMapsCanvas::cellText(maps, 8, 15), QStringLiteral("queries 32 to 35, keys 60 to 61"));
    }

    /// Few of them leave their room to the maps of heads.
    void whatRecordedMapsDoNotFillIsTheMapsAbove()
    {
        m_state->setCursor(Step { 600 });
        choose("attentionBelow", static_cast<int>(BelowMaps::HeadMaps));
        const HeadMapsCanvas* maps = m_view->headMaps();
        for (const QSize size : { QSize(1080, 1000), QSize(700, 700) }) {
            m_host->resize(size);
            m_view->resize(size);
            settle();
            const int rest = maps->height() - maps->usedHeight(maps->size());
            QVERIFY2(rest <= 4 || m_view->canvas()->height() >= m_view->canvas()->mostHeight() - 4,
                qPrintable(QString::number(rest)));
        }
    }

    /// However small a map is.
    void aNonFiniteCellOfAMapIsSeen_data()
    {
        QTest::addColumn<int>("width");
        for (const int width : { 1200, 300, 200 })
            QTest::newRow(QByteArray::number(width)) << width;
    }
    void aNonFiniteCellOfAMapIsSeen()
    {
        QFETCH(int, width);
        m_state->setCursor(Step { 600 });
        choose("attentionBelow", static_cast<int>(BelowMaps::HeadMaps));
        HeadMapsCanvas& maps = *m_view->headMaps();
        const QSize size(width, width / 2);
        const QImage image = maps.renderTo(size);
        const QRect broken = maps.cellsRect(3, size).toAlignedRect();
        int seen = 0;
        for (int y = broken.top(); y <= broken.bottom(); ++y) {
            for (int x = broken.left(); x <= broken.right(); ++x)
                seen += image.pixelColor(x, y) == Theme::current().criticalMark ? 1 : 0;
        }
        QVERIFY(seen >= 6);
        const QRect whole = maps.cellsRect(2, size).toAlignedRect();
        for (int y = whole.top(); y <= whole.bottom(); ++y) {
            for (int x = whole.left(); x <= whole.right(); ++x)
                QVERIFY(image.pixelColor(x, y) != Theme::current().criticalMark);
        }
    }

    void whatANonFiniteCellIsStandsBelowTheNumbersOfTheScale()
    {
        m_state->setCursor(Step { 600 });
        choose("attentionBelow", static_cast<int>(BelowMaps::HeadMaps));
        HeadMapsCanvas& maps = *m_view->headMaps();
        const QSize size(1200, 600);
        const QImage image = maps.renderTo(size);
        double right = 0;
        for (std::size_t i = 0; i < maps.picture()->tiles.size(); ++i)
            right = std::max(right, maps.cellsRect(static_cast<int>(i), size).right());
        const int left = static_cast<int>(right) + 2;
        int sign = 0;
        while (sign < size.height() && image.pixelColor(left + 16, sign) != Theme::current().criticalMark)
            ++sign;
        QVERIFY(sign < size.height());
        const auto hasNumber = [&](int y) {
            for (int x = left + 32; x < left + 50; ++x) {
                if (image.pixelColor(x, y) != Theme::current().base)
                    return true;
            }
            return false;
        };
        int number = sign - 1;
        while (number > 0 && !hasNumber(number))
            --number;
        QVERIFY2(number > 0 && sign - number >= 8, qPrintable(QStringLiteral("%1 %2").arg(number).arg(sign)));
    }

    void whatTheWordsBelowTheMapsEndWithIsNotTheEdge()
    {
        settle();
        const QImage image = m_view->canvas()->renderTo({ 1080, 300 });
        for (int y = image.height() - 6; y < image.height(); ++y) {
            for (int x = 0; x < image.width(); ++x)
                QCOMPARE(image.pixelColor(x, y), Theme::current().base);
        }
    }

    void theTableOfMapsHoldsEveryCell()
    {
        m_state->setCursor(Step { 610 });
        choose("attentionBelow", static_cast<int>(BelowMaps::HeadMaps));
        QBuffer buffer;
        QVERIFY(buffer.open(QIODevice::WriteOnly));
        QVERIFY(m_view->writeCsv(&buffer));
        const QList<QByteArray> lines = buffer.data().split('\n');
        QCOMPARE(lines.size(), 1 + 4 * kMapSize * (kMapSize + 1) / 2 + 1);
        QVERIFY(lines.contains("layers.2.attn,3,0,600,20,23,0,3,nan,NaN\r"));
        const float share = shareOf(0, 600, 1, 3, 7, 2);
        QVERIFY(lines.contains("layers.1.attn,3,0,600,28,31,8,11,value," + QByteArray::number(share) + "\r"));
        QVERIFY(m_view->renderImage({ 1200, 800 }).save(test::shot(QStringLiteral("attention-maps.png"))));
    }

    void theLowestHeadsAreDrawnUntilSomeAreChosen()
    {
        m_state->setCursor(Step { 600 });
        settle();
        const auto drawn = m_view->curves(0)->picture();
        const auto own = std::count_if(
            drawn->series.begin(), drawn->series.end(), [](const CurveSeries& one) { return !one.isGroup; });
        QCOMPARE(own, 4);
        QCOMPARE(drawn->series.front().row.key, head(kCollapses[0], kCollapses[1]));
        QCOMPARE(drawn->series.front().stat, Stat::Entropy);
        QCOMPARE(m_view->curves(1)->picture()->series.front().stat, Stat::SoftmaxMax);
    }

    void aClickSelectsEverywhere()
    {
        m_state->setKind(Kind::Scalar);
        settle();
        click(0, 1, 2, Qt::NoModifier);
        QCOMPARE(m_state->selection(), (std::vector { head(1, 2) }));
        QCOMPARE(m_state->kind(), Kind::Attention);
        QCOMPARE(m_state->stat(), Stat::Entropy);
        settle();
        QCOMPARE(m_view->curves(0)->picture()->series.size(), std::size_t { 2 }); // and its layer's band
        click(1, 3, 4, Qt::ControlModifier);
        QCOMPARE(m_state->selection(), (std::vector { head(1, 2), head(3, 4) }));
        // A click beside the heads changes nothing.
        const QPointF outside = canvas().map(0, canvas().size()).area().topLeft() + QPointF(3, 3);
        QTest::mouseClick(&canvas(), Qt::LeftButton, Qt::NoModifier, outside.toPoint());
        QCOMPARE(m_state->selection().size(), std::size_t { 2 });
    }

    void theKeyboardReachesEveryHead()
    {
        settle();
        canvas().setFocus();
        for (const auto key : { Qt::Key_Down, Qt::Key_Down, Qt::Key_Right, Qt::Key_Right, Qt::Key_Left })
            QTest::keyClick(&canvas(), key);
        QTest::keyClick(&canvas(), Qt::Key_Return);
        QCOMPARE(m_state->selection(), (std::vector { head(1, 1) }));
        for (int i = 0; i < 20; ++i)
            QTest::keyClick(&canvas(), Qt::Key_Right);
        QTest::keyClick(&canvas(), Qt::Key_Return, Qt::ControlModifier);
        QCOMPARE(m_state->selection().back(), head(1, kHeads - 1));
    }

    void headsAreOrderedByValueWithTheBrokenFirst()
    {
        m_state->setRank(Rank { 1 });
        m_view->setOrder(HeadOrder::Value);
        settle();
        QCOMPARE(shown().layers[1].heads.front().key, head(kBreaks[0], kBreaks[1]));
        QCOMPARE(shown().group, 1);
        for (const AttentionLayer& layer : shown().layers) {
            for (std::size_t i = 2; i < layer.heads.size(); ++i)
                QVERIFY(layer.heads[i - 1].entropy.value <= layer.heads[i].entropy.value);
        }
    }

    void aLayersHeadsCanBeSeenOverTheSteps()
    {
        m_view->setBelow(BelowMaps::Strips);
        click(0, 2, 0, Qt::NoModifier);
        settle();
        const QImage image = m_view->renderImage({ 1200, 800 });
        QVERIFY(image.save(test::shot(QStringLiteral("attention-strips.png"))));
        // Named as above their curves, below the cells of their map.
        for (const int side : { 0, 1 }) {
            QCOMPARE(m_view->strips(side)->picture()->rows[1].label, QStringLiteral("h1"));
            const QRectF cells = canvas().map(side, canvas().size()).cells();
            const QPoint left = m_view->strips(side)->mapTo(m_view, m_view->strips(side)->plotRect().topLeft());
            QCOMPARE(left.x(), canvas().mapTo(m_view, cells.topLeft().toPoint()).x());
            QCOMPARE(m_view->strips(side)->plotRect().width(), static_cast<int>(cells.width()));
        }
    }

    void aShareStaysAShareBelow()
    {
        const double uniform = std::log(static_cast<double>(kKeys));
        m_view->setValue(1, HeadValue::EntropyShare);
        settle();
        const auto entropies = m_view->curves(0)->picture();
        const auto shares = m_view->curves(1)->picture();
        QCOMPARE(shares->series.size(), entropies->series.size());
        for (std::size_t i = 0; i < entropies->series.size(); ++i) {
            const auto& of = entropies->series[i].result.buckets;
            for (std::size_t b = 0; b < of.size(); ++b) {
                if (of[b].finite > 0)
                    QCOMPARE(shares->series[i].result.buckets[b].max, of[b].max / uniform);
            }
        }
        m_view->setBelow(views::BelowMaps::Strips);
        settle();
        const auto strips = m_view->strips(1)->picture();
        QCOMPARE(strips->scale.high(), 1.0); // as in the map
        QCOMPARE(m_view->strips(0)->picture()->scale.high(), shown().scaleOf(HeadValue::Entropy).high());
        QCOMPARE(strips->value(0, 0), static_cast<float>(m_view->strips(0)->picture()->value(0, 0) / uniform));
    }

    void noNonFiniteHeadIsHidden_data()
    {
        QTest::addColumn<int>("count");
        for (const int count : { 4, 40, 200, 900 })
            QTest::newRow(QByteArray::number(count)) << count;
    }
    /// However many heads share a pixel.
    void noNonFiniteHeadIsHidden()
    {
        QFETCH(int, count);
        AttentionPicture picture;
        for (int layer = 0; layer < count; ++layer) {
            AttentionLayer& one = picture.layers.emplace_back();
            one.name = QStringLiteral("layers.%1.attn").arg(layer);
            for (int number = 0; number < count; ++number) {
                HeadCell& cell = one.heads.emplace_back();
                cell.key = head(layer, number);
                cell.entropy = { 1.0, CellState::Value };
            }
        }
        const std::array at { count / 3, count / 2 };
        picture.layers[static_cast<std::size_t>(at[0])].heads[static_cast<std::size_t>(at[1])].entropy
            = { std::nan(""), CellState::NaN };
        picture.finish(HeadValue::Entropy);
        QImage image(500, 400, QImage::Format_RGB32);
        image.fill(Theme::current().base);
        QPainter painter(&image);
        const AttentionMap map(picture, HeadValue::Entropy, QRectF(0, 0, 500, 400));
        map.paint(painter, { -1, -1 }, Theme::current());
        painter.end();
        const QRect cell = map.cellRect(at[0], at[1]).toAlignedRect();
        bool isSeen = false;
        for (int y = cell.top(); y <= cell.bottom(); ++y) {
            for (int x = cell.left(); x <= cell.right(); ++x)
                isSeen = isSeen || image.pixelColor(x, y) == Theme::current().criticalMark;
        }
        QVERIFY(isSeen);
        // Every place of the map is one head's, and the head's own place.
        for (const int layer : { 0, count / 2, count - 1 }) {
            const QPointF middle = map.cellRect(layer, count - 1).center();
            if (map.cellRect(layer, 0).height() > 2)
                QCOMPARE(map.cellAt(middle), (std::array { layer, count - 1 }));
        }
    }

    void theTableHoldsWhatIsShown()
    {
        m_state->setRank(Rank { 1 });
        settle();
        QBuffer buffer;
        QVERIFY(buffer.open(QIODevice::WriteOnly));
        QVERIFY(m_view->writeCsv(&buffer));
        const QList<QByteArray> lines = buffer.data().split('\n');
        QCOMPARE(lines.front().trimmed(), QByteArray("name,head,rank,step,statistic,state,value"));
        QCOMPARE(std::ranges::count_if(lines, [](const QByteArray& line) { return line.contains(",1,699,"); }),
            kLayers * kHeads * 4);
        QVERIFY(lines.contains("layers.1.attn,0,1,699,entropy,nan,NaN\r"));
        const float logit = numbersOf(1, kSteps - 1, 3, 2)[2];
        QVERIFY(lines.contains("layers.3.attn,2,1,699,max_logit,value," + QByteArray::number(logit) + "\r"));
    }

    void theTableHoldsTheStepsOfWhatIsBelow()
    {
        m_state->zoomTo({ Step { 300 }, Step { 309 } });
        m_state->setSelection({ head(2, 3) });
        settle();
        const auto found = [this](int number, int step, Stat stat) { // the values of that head there
            QBuffer buffer;
            buffer.open(QIODevice::WriteOnly);
            std::vector<float> values;
            if (!m_view->writeCsv(&buffer))
                return values;
            const QByteArray place = "layers.2.attn," + QByteArray::number(number) + ",0," + QByteArray::number(step)
                + ',' + QByteArray(statName(stat).data()) + ",value,";
            for (const QByteArray& line : buffer.data().split('\n')) {
                if (line.startsWith(place))
                    values.push_back(line.mid(place.size()).trimmed().toFloat());
            }
            return values;
        };
        QCOMPARE(found(3, 304, Stat::Entropy), std::vector { numbersOf(0, 304, 2, 3)[0] });
        QCOMPARE(found(3, 304, Stat::SoftmaxMax), std::vector { numbersOf(0, 304, 2, 3)[1] });
        QVERIFY(found(1, 304, Stat::Entropy).empty());
        choose("attentionBelow", static_cast<int>(BelowMaps::Strips));
        for (const int number : { 1, 3 })
            QCOMPARE(found(number, 304, Stat::Entropy), std::vector { numbersOf(0, 304, 2, number)[0] });
    }

    void aRunWithoutAttentionSaysHowToGetIt()
    {
        cleanup();
        open("plain");
        settle();
        QVERIFY(!canvas().picture() || canvas().picture()->isEmpty());
        QVERIFY(m_view->findChild<ViewBar*>()->isHidden()); // it has nothing to choose from
        QVERIFY(m_view->renderImage({ 800, 600 }).save(test::shot(QStringLiteral("attention-none.png"))));
    }

    void looks_data() { test::addLooks(); }
    void looks()
    {
        cleanup();
        const auto [theme, language] = test::putOnLook();
        open("run");
        m_state->setCursor(Step { 660 });
        m_state->setRank(Rank { 1 });
        settle();
        click(0, 2, 3, Qt::NoModifier);
        click(0, 0, 1, Qt::ControlModifier);
        click(0, 1, 0, Qt::ControlModifier);
        QTest::mouseMove(&canvas(), canvas().map(0, canvas().size()).cellRect(2, 3).center().toPoint());
        settle();
        QVERIFY(m_view->grab().save(test::shot(QStringLiteral("attention-%1-%2.png").arg(theme, language))));
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
        m_view = new AttentionView({ m_state.get(), m_axis.get(), m_pool.get() }, m_host.get());
        m_view->resize(1080, 700);
        const auto run = std::make_shared<store::RunHandle>(
            store::RunHandle { store::RunLocator::ofFile(path(name)), "abc123", "gpt-4l", nullptr });
        const auto reader = test::CapsuleBuilder::must(store::openReader(*run));
        const auto catalog = test::CapsuleBuilder::must(reader->catalog());
        m_state->setRun(run);
        m_state->setCatalog(catalog);
        m_state->setFullRange(catalog->steps);
        m_state->setRanks(std::vector<Rank> {});
        m_host->show();
    }
    /// As a user does.
    void choose(const char* box, const QVariant& value)
    {
        settle();
        auto* combo = m_view->findChild<QComboBox*>(QString::fromLatin1(box));
        QVERIFY(combo);
        const int index = combo->findData(value);
        QVERIFY2(index >= 0, box);
        combo->setCurrentIndex(index);
        Q_EMIT combo->activated(index);
        settle();
    }
    void settle() { QTRY_VERIFY(m_view->isSettled()); }
    AttentionCanvas& canvas() { return *m_view->canvas(); }
    const AttentionPicture& shown() { return *m_view->canvas()->picture(); }
    void click(int side, int layer, int column, Qt::KeyboardModifiers modifiers)
    {
        settle();
        const QPointF middle = canvas().map(side, canvas().size()).cellRect(layer, column).center();
        QTest::mouseClick(&canvas(), Qt::LeftButton, modifiers, middle.toPoint());
    }
    static void compare(const series::CellValue& cell, float expected)
    {
        if (std::isnan(expected))
            QCOMPARE(cell.state, CellState::NaN);
        else
            QVERIFY2(cell.state == CellState::Value && std::abs(cell.value - static_cast<double>(expected)) < 1e-6,
                qPrintable(QStringLiteral("%1 is not %2").arg(cell.value).arg(static_cast<double>(expected))));
    }

    QTemporaryDir m_dir;
    std::unique_ptr<store::QueryPool> m_pool;
    std::unique_ptr<ViewState> m_state;
    std::unique_ptr<SharedAxis> m_axis;
    std::unique_ptr<QWidget> m_host;
    AttentionView* m_view = nullptr;
};

TELLTALE_TEST(QTEST_MAIN, AttentionTest)

}

#include "attentiontest.moc"
