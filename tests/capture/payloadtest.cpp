// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <telltale/protocol/codec.h>
#include <telltale/protocol/datarules.h>
#include <telltale/protocol/layouttable.h>
#include <telltale/protocol/limits.h>
#include <telltale/protocol/payloadbuilder.h>
#include <telltale/protocol/refusals.h>

#include "payloadsource.h"

namespace payloadtest {

using namespace telltale;
using namespace telltale::protocol;
using telltale::tests::PayloadSource;

namespace {

const std::vector<Stat> kSixOps { Stat::Norm, Stat::Mean, Stat::Min, Stat::Max, Stat::Zeros, Stat::Nans, Stat::PosInfs,
    Stat::NegInfs };

template <typename T> bool sameBits(const std::vector<T>& a, const std::vector<T>& b)
{
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

bool sameBits(const Column& a, const Column& b)
{
    return a.stat == b.stat && a.values.index() == b.values.index()
        && std::visit(
            [&b](const auto& values) { return sameBits(values, std::get<std::decay_t<decltype(values)>>(b.values)); },
            a.values);
}

bool sameBits(const StepBlock& a, const StepBlock& b)
{
    return *a.layout == *b.layout && a.step == b.step && a.wallNs == b.wallNs && a.present == b.present
        && a.callIds == b.callIds
        && std::equal(a.columns.begin(), a.columns.end(), b.columns.begin(), b.columns.end(),
            [](const Column& x, const Column& y) { return sameBits(x, y); });
}

SeriesDesc named(const char* name)
{
    SeriesDesc series;
    series.name = name;
    return series;
}

std::string build(const std::vector<StepBlock>& blocks)
{
    PayloadBuilder builder;
    for (const StepBlock& block : blocks)
        builder.addBlock(block);
    return builder.finish();
}

LayoutTable tableOf(const std::vector<StepBlock>& blocks)
{
    LayoutTable table;
    for (const StepBlock& block : blocks)
        table.add(block.layout);
    return table;
}

void compare(const std::vector<StepBlock>& blocks, const std::string& payload)
{
    const auto decoded = decodePayload(payload, tableOf(blocks));
    QVERIFY2(decoded, decoded ? "" : decoded.error().what.c_str());
    QCOMPARE(decoded->blocks.size(), blocks.size());
    std::uint64_t samples = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        QVERIFY2(sameBits(decoded->blocks[i], blocks[i]), qPrintable(QString::number(i)));
        samples += sampleCount(blocks[i]);
    }
    QCOMPARE(decoded->samples, samples);
}

}

class PayloadTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void histogramsComeBackWhetherOfBinsOrOfOneBinASeries()
    {
        std::mt19937 random(3);
        for (const bool isOld : { false, true }) {
            auto layout = std::make_shared<SeriesLayout>();
            layout->id = LayoutId { 1 };
            layout->kind = Kind::Update;
            layout->stats = { Stat::Hist };
            layout->series.resize(isOld ? 15 : 3, named("a.weight"));
            if (!isOld)
                layout->edges = { -std::numeric_limits<double>::infinity(), -1, 0, 0.5, 1, 2 };
            std::vector<StepBlock> blocks(8);
            for (std::size_t s = 0; s < blocks.size(); ++s) {
                StepBlock& block = blocks[s];
                block.layout = layout;
                block.step = Step { static_cast<std::int64_t>(s) };
                std::vector<std::uint64_t> counts(layout->cells());
                for (std::uint64_t& count : counts)
                    count = random() % 7 == 0 ? (std::uint64_t { 1 } << 40) + random() : random() % 100;
                if (isOld)
                    block.columns = { { Stat::Hist, std::vector<float>(counts.begin(), counts.end()) } };
                else
                    block.columns = { { Stat::Hist, std::move(counts) } };
            }
            if (!isOld) {
                blocks[2].present = { 0b101 };
                auto& counts = std::get<std::vector<std::uint64_t>>(blocks[2].columns[0].values);
                std::fill(counts.begin() + 5, counts.begin() + 10, 0);
            }
            compare(blocks, build(blocks));
            QCOMPARE(sampleCount(blocks[0]), std::uint64_t { 15 });
            QCOMPARE(sampleCount(blocks[2]), std::uint64_t { isOld ? 15u : 10u });
        }
    }

    void edgesThatAreNoneCostTheirLayout_data()
    {
        QTest::addColumn<std::vector<double>>("edges");
        QTest::addColumn<bool>("hasOther");
        QTest::newRow("one edge") << std::vector<double> { 1 } << false;
        QTest::newRow("falling") << std::vector<double> { 1, 0 } << false;
        QTest::newRow("no number") << std::vector<double> { 0, std::nan(""), 2 } << false;
        QTest::newRow("too many") << std::vector<double>(200, 1) << false;
        QTest::newRow("beside a mean") << std::vector<double> { 0, 1 } << true;
    }
    void edgesThatAreNoneCostTheirLayout()
    {
        QFETCH(std::vector<double>, edges);
        QFETCH(bool, hasOther);
        auto layout = std::make_shared<SeriesLayout>();
        layout->id = LayoutId { 1 };
        layout->kind = Kind::Update;
        layout->stats = { Stat::Hist };
        if (hasOther)
            layout->stats.push_back(Stat::Mean);
        layout->series = { named("a.weight") };
        layout->edges = edges;
        StepBlock block;
        block.layout = layout;
        for (const Stat stat : layout->stats)
            block.columns.push_back({ stat, std::vector<std::uint64_t>(layout->cells(), 1) });
        PayloadBuilder builder;
        builder.addLayout(*layout);
        builder.addBlock(block);
        const std::uint64_t samples = builder.samples();
        const std::string payload = builder.finish();
        LayoutTable known;
        QVERIFY(!decodePayload(payload, known));
        Refusals refusals;
        const auto decoded = decodePayload(payload, known, &refusals);
        QVERIFY2(decoded, decoded ? "" : decoded.error().what.c_str());
        QVERIFY(decoded->blocks.empty() && !refusals.left.reason.empty());
        QCOMPARE(refusals.left.samples, samples);
    }

    void refusedLayoutsAreCountedAndOnlySoManyAreKept()
    {
        LayoutTable known;
        Refusals refusals;
        auto bad = std::make_shared<SeriesLayout>();
        bad->id = LayoutId { 1 };
        bad->kind = Kind::Actv;
        bad->stats = { Stat::Norm, Stat::Mean };
        bad->series.resize(3);
        bad->series[1].name = std::string(limits::kMaxNameBytes + 1, 'x');
        StepBlock block;
        block.layout = bad;
        block.columns = { { Stat::Norm, std::vector<float>(3) }, { Stat::Mean, std::vector<float>(3) } };
        for (std::uint32_t round = 0; round < 6; ++round) {
            PayloadBuilder builder;
            if (round == 0)
                builder.addLayout(*bad);
            builder.addBlock(block);
            SeriesLayout other = *bad;
            other.series.resize(1);
            other.series[0].name = std::string("b\0d", 3);
            for (std::uint32_t i = 0; i < 1000; ++i) {
                other.id = LayoutId { 2 + round * 1000 + i };
                builder.addLayout(other);
            }
            const auto decoded = decodePayload(builder.finish(), known, &refusals);
            QVERIFY2(decoded, decoded ? "" : decoded.error().what.c_str());
            QVERIFY(decoded->blocks.empty() && decoded->layouts.empty());
            QCOMPARE(refusals.left.samples, std::uint64_t { 6 });
        }
        QCOMPARE(refusals.layouts.size(), Refusals::kMostLayouts);
    }

    void whatNoFileCanHoldIsNotTaken()
    {
        LayoutTable known;
        Refusals refusals;
        PayloadBuilder builder;
        const Step far { std::numeric_limits<std::int64_t>::max() };
        builder.addEvent({ "log", far, 1, "text", "{}" });
        builder.addEvent({ "log", Step { 1 }, 1, "text", "{}" });
        Event bad { "log", Step { 1 }, 1, "text", "{}" };
        const Event good = bad;
        const auto add = [&](auto spoil) {
            bad = good;
            spoil();
            builder.addEvent(bad);
        };
        add([&] { bad.lastStep = Step { 0 }; });
        add([&] { bad.lastStep = far; });
        add([&] { bad.ref = limits::kMaxSeq + 1; });
        add([&] { bad.rev = limits::kMaxSeq + 1; });
        for (std::string Event::*name : { &Event::rule, &Event::phase, &Event::cause, &Event::author }) {
            add([&] { bad.*name = std::string(limits::kMaxNameBytes + 1, 'x'); });
            // A good agent makes it so that it passes.
            mendNames(bad);
            QVERIFY(checkEvent(bad));
        }
        builder.addBlob({ "id", 0, 1, "structure", "name", far, "bytes" });
        builder.addDrop({ 2, Step { 1 }, Step { 2 }, std::numeric_limits<std::uint64_t>::max(), 1, "why" });
        const auto decoded = decodePayload(builder.finish(), known, &refusals);
        QVERIFY2(decoded, decoded ? "" : decoded.error().what.c_str());
        QCOMPARE(decoded->events.size(), std::size_t { 1 });
        QCOMPARE(decoded->blobs.size(), std::size_t { 0 });
        QCOMPARE(refusals.left.events + refusals.left.blobs, std::uint64_t { 10 });
        QVERIFY(static_cast<std::int64_t>(decoded->drops.at(0).items) > 0);
    }

    void hardFloatsComeBackBitForBit_data()
    {
        QTest::addColumn<int>("steps");
        for (const int steps : { 1, 2, 3, 8, 64 })
            QTest::addRow("%d steps", steps) << steps;
    }
    void hardFloatsComeBackBitForBit()
    {
        QFETCH(int, steps);
        std::vector<float> hard { std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN(),
            std::bit_cast<float>(0x7FC12345u), std::bit_cast<float>(0xFFFFFFFFu),
            std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), -0.0f, 0.0f,
            std::numeric_limits<float>::denorm_min(), -std::numeric_limits<float>::denorm_min(),
            std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest(), 1.0f, -1.0f };
        for (const std::size_t series : { 0u, 1u, 3u, 14u, 63u, 64u, 65u, 257u }) {
            PayloadSource source(1, kSixOps, series, 7);
            std::vector<StepBlock> blocks;
            for (int s = 0; s < steps; ++s) {
                blocks.push_back(source.next());
                for (Column& column : blocks.back().columns) {
                    if (auto* values = std::get_if<std::vector<float>>(&column.values)) {
                        for (std::size_t i = 0; i < series; ++i) {
                            if (source.random() % 3 == 0)
                                (*values)[i] = hard[source.random() % hard.size()];
                        }
                    }
                }
            }
            compare(blocks, build(blocks));
        }
    }

    void randomBatchesOfSeveralLayoutsComeBackEqual()
    {
        for (unsigned seed = 0; seed < 300; ++seed) {
            std::mt19937 random(seed);
            PayloadSource six(1, kSixOps, 1 + random() % 100, seed);
            PayloadSource scalars(2, { Stat::Value }, 1 + random() % 6, seed, Kind::Scalar);
            PayloadSource others(
                9, { Stat::Checksum, Stat::Entropy, Stat::SoftmaxMax }, 1 + random() % 70, seed, Kind::Attention);
            std::vector<StepBlock> blocks;
            const auto steps = 1 + random() % 10;
            for (auto s = steps; s > 0; --s) {
                for (PayloadSource* source : { &six, &scalars, &others }) {
                    StepBlock block = source->next();
                    if (random() % 4 == 0)
                        source->dropSome(block);
                    if (random() % 4 == 0)
                        source->shuffleCalls(block);
                    if (random() % 8 != 0)
                        blocks.push_back(std::move(block));
                }
            }
            if (random() % 3 == 0)
                std::shuffle(blocks.begin(), blocks.end(), random);
            compare(blocks, build(blocks));
        }
    }

    void everythingElseComesBackEqual()
    {
        PayloadSource source(3, kSixOps, 20, 1);
        const StepBlock block = source.next();
        PayloadBuilder builder;
        QVERIFY(builder.isEmpty());
        builder.addLayout(*block.layout);
        builder.addBlock(block);
        const Blob blob { "id", 1, 3, "stack", "step 7", Step { 7 }, std::string("\0\xFF", 2) };
        const Event event { "anomaly", Step { -1 }, 12, "loss is NaN", "{}", 77, "rule", "phase", "cause", Step { 0 },
            13, "author" };
        const Drop drop { 3, Step { 1 }, Step { 9 }, 77, 88, "ring full" };
        builder.addBlob(blob);
        builder.addEvent(event);
        builder.addDrop(drop);
        builder.setStepComplete(false);
        QCOMPARE(builder.samples(), sampleCount(block));
        const std::string payload = builder.finish();
        QVERIFY(builder.isEmpty());
        QCOMPARE(builder.decodedBytes(), 0u);

        const auto decoded = decodePayload(payload, {});
        QVERIFY2(decoded, decoded ? "" : decoded.error().what.c_str());
        QCOMPARE(decoded->layouts.size(), 1u);
        QVERIFY(*decoded->layouts[0] == *block.layout);
        QVERIFY(decoded->blocks.at(0).layout == decoded->layouts[0]);
        QVERIFY(sameBits(decoded->blocks[0], block));
        QVERIFY(!decoded->stepComplete);
        QCOMPARE(decoded->blobs.at(0).bytes, blob.bytes);
        QCOMPARE(decoded->blobs[0].parts, 3u);
        QVERIFY(decoded->events.at(0) == event);
        QCOMPARE(decoded->drops.at(0).items, drop.items);
        QCOMPARE(decoded->drops[0].lastStep, drop.lastStep);
        // A builder that was used before says the same as a fresh one.
        builder.addBlock(block);
        QCOMPARE(builder.finish(), build({ block }));
    }

    void knownLayoutIsSharedAndAnotherUnderItsIdIsRefused()
    {
        PayloadSource source(3, kSixOps, 4, 1);
        const StepBlock block = source.next();
        const LayoutTable known = tableOf({ block });
        PayloadBuilder builder;
        builder.addLayout(*block.layout);
        builder.addBlock(block);
        const std::string payload = builder.finish();
        const auto decoded = decodePayload(payload, known);
        QVERIFY(decoded);
        QVERIFY(decoded->blocks[0].layout == block.layout);

        auto other = std::make_shared<SeriesLayout>(*block.layout);
        other->series[0].name = "another";
        LayoutTable conflicting;
        conflicting.add(other);
        QCOMPARE(decodePayload(payload, conflicting).error().code, ErrorCode::BadInput);
        QCOMPARE(decodePayload(build({ block }), {}).error().code, ErrorCode::NotFound);
    }

    void stepsThatNoAxisCouldHoldAreRefused()
    {
        PayloadSource source(5, kSixOps, 4, 1);
        StepBlock block = source.next();
        const LayoutTable known = tableOf({ block });
        for (const std::int64_t step : { kFarthestStep, -kFarthestStep, std::int64_t { 0 } }) {
            block.step = Step { step };
            const auto decoded = decodePayload(build({ block }), known);
            QVERIFY(decoded);
            QCOMPARE(decoded->blocks[0].step, Step { step });
        }
        for (const std::int64_t step : { kFarthestStep + 1, -kFarthestStep - 1, INT64_MAX, INT64_MIN }) {
            block.step = Step { step };
            QCOMPARE(decodePayload(build({ block }), known).error().code, ErrorCode::BadInput);
        }
    }

    void layoutsThatBreakARuleAreRefused()
    {
        const auto refused = [](auto&& change) {
            SeriesLayout layout = *PayloadSource(3, kSixOps, 4, 1).next().layout;
            change(layout);
            PayloadBuilder builder;
            builder.addLayout(layout);
            const auto decoded = decodePayload(builder.finish(), {});
            return !decoded && decoded.error().code == ErrorCode::BadInput;
        };
        QVERIFY(!refused([](SeriesLayout&) {}));
        QVERIFY(refused([](SeriesLayout& l) { l.id = LayoutId { 0 }; }));
        QVERIFY(refused([](SeriesLayout& l) { l.kind = static_cast<Kind>(99); }));
        QVERIFY(refused([](SeriesLayout& l) { l.kind = Kind::Scalar; }));
        QVERIFY(refused([](SeriesLayout& l) { l.stats.push_back(Stat::Norm); }));
        QVERIFY(refused([](SeriesLayout& l) { l.stats.push_back(Stat::AbsMax); }));
        QVERIFY(refused([](SeriesLayout& l) { l.stats.push_back(Stat::Fp16Overflow); }));
        QVERIFY(refused([](SeriesLayout& l) { l.stats.clear(); }));
        QVERIFY(refused([](SeriesLayout& l) { l.series[0].name.assign(limits::kMaxNameBytes + 1, 'x'); }));
        QVERIFY(refused([](SeriesLayout& l) { l.series[0].name = std::string("a\0b", 3); }));
        for (const Slot& slot : { Slot::input(-5), Slot { .number = 2 }, Slot { .head = INT32_MIN },
                 Slot { .role = Role::Output, .word = "output" }, Slot { .role = Role::Output, .position = "[-1]" },
                 Slot { .role = Role::Output, .position = "[" + std::string(2000, '[') },
                 Slot::named(std::string(limits::kMaxNameBytes, 'x') + 'x') }) {
            QVERIFY(refused([&](SeriesLayout& l) { l.series[1].slot = slot; }));
            SeriesDesc mended;
            mended.slot = slot;
            QVERIFY(mendNames(mended)); // an agent makes it so that it passes
            QVERIFY(!refused([&](SeriesLayout& l) { l.series[1] = mended; }));
        }
    }

    void slotsComeBackAsWhatTheyAreWhateverTheirTextsLookLike()
    {
        SeriesLayout layout = *PayloadSource(3, kSixOps, 6, 1).next().layout;
        layout.kind = Kind::Attention;
        layout.series[0].slot = Slot::ofHead(3);
        layout.series[1].slot = Slot::named("head_3");
        layout.series[2].slot = { .role = Role::Output, .number = 1, .call = 1, .position = R"([1,"head_3@2"])" };
        layout.series[3].slot = Slot::named("[-1.000, -0.933)");
        layout.series[4].slot = { .expert = 7 };
        layout.series[5].slot = {};
        SeriesLayout bins = layout;
        bins.id = LayoutId { 4 };
        bins.stats = { Stat::Hist };
        bins.series[5].slot = Slot::named("[-1.000, -0.933)");
        bins.series[5].slot.bin = 1;
        PayloadBuilder builder;
        builder.addLayout(layout);
        builder.addLayout(bins);
        const auto decoded = decodePayload(builder.finish(), {});
        QVERIFY(decoded && decoded->layouts.size() == 2);
        QCOMPARE(*decoded->layouts[0], layout);
        QCOMPARE(*decoded->layouts[1], bins);
        // What a later agent is to a module that this version has no word for is named by its text.
        layout.series[0].slot = { .role = static_cast<Role>(kRoleCount + 3), .word = "residual" };
        builder.addLayout(layout);
        const auto later = decodePayload(builder.finish(), {});
        QVERIFY(later);
        QCOMPARE(later->layouts[0]->series[0].slot, Slot::named("residual"));
    }

    void damagedBytesAtEveryPositionGiveAnErrorOrAValue()
    {
        PayloadSource source(3, kSixOps, 40, 5);
        std::vector<StepBlock> blocks { source.next(), source.next(), source.next() };
        source.dropSome(blocks[1]);
        source.shuffleCalls(blocks[2]);
        PayloadBuilder builder;
        builder.addLayout(*blocks[0].layout);
        for (const StepBlock& block : blocks)
            builder.addBlock(block);
        builder.addEvent({ "log", Step { 1 }, 2, "text", "{}" });
        const std::string good = builder.finish();
        std::size_t refused = 0;
        for (std::size_t at = 0; at < good.size(); ++at) {
            for (const unsigned flip : { 1u, 0x10u, 0x80u, 0xFFu }) {
                std::string bad = good;
                bad[at] = static_cast<char>(static_cast<unsigned char>(bad[at]) ^ flip);
                const auto decoded = decodePayload(bad, {});
                refused += decoded ? 0 : 1;
                if (decoded) {
                    for (const StepBlock& block : decoded->blocks)
                        QCOMPARE(block.columns.size(), block.layout->stats.size());
                }
            }
            const auto cut = decodePayload(std::string_view(good).substr(0, at), {});
            refused += cut ? 0 : 1;
        }
        QVERIFY(refused > good.size());
    }

    void constantDataStaysWithinTheRatioAndComesBack()
    {
        PayloadSource source(1, kSixOps, 2000, 1);
        std::vector<StepBlock> blocks;
        for (int s = 0; s < 8; ++s) {
            blocks.push_back(source.next());
            for (Column& column : blocks.back().columns) {
                if (auto* values = std::get_if<std::vector<float>>(&column.values))
                    std::fill(values->begin(), values->end(), 0.0f);
            }
        }
        const std::string payload = build(blocks);
        QVERIFY(payload.size() * limits::kMaxRatio >= 8u * 2000u * 44u);
        QVERIFY(payload.size() < 8u * 2000u);
        compare(blocks, payload);
    }

    void sizesThatAreStatedTooLargeAreRefusedBeforeDecoding()
    {
        // Field 1 of the payload is the stated decoded size; protobuf lets the last one win.
        PayloadSource source(1, kSixOps, 100, 1);
        const StepBlock block = source.next();
        const LayoutTable known = tableOf({ block });
        const std::string good = build({ block });
        QVERIFY(decodePayload(good, known));
        const auto stated = [&good](std::string_view size) { return good + '\x08' + std::string(size); };
        QCOMPARE(decodePayload(stated("\xFF\xFF\xFF\x7F"), known).error().code, ErrorCode::TooLarge);
        QCOMPARE(decodePayload(stated("\x80\x80\x80\x01"), known).error().code, ErrorCode::TooLarge);
        QCOMPARE(decodePayload(stated("\x05"), known).error().code, ErrorCode::Damaged);

        // Many steps of a wide known layout in a few bytes: refused for its ratio whatever it states.
        std::vector<StepBlock> wide(4000, PayloadSource(1, kSixOps, 1000, 1).next());
        for (StepBlock& step : wide) {
            for (Column& column : step.columns) {
                std::visit([](auto& values) { std::fill(values.begin(), values.end(), 0); }, column.values);
            }
        }
        QElapsedTimer timer;
        timer.start();
        const std::string bomb = build({ wide.begin(), wide.end() });
        timer.restart();
        QCOMPARE(decodePayload(bomb, tableOf({ wide[0] })).error().code, ErrorCode::TooLarge);
        QVERIFY(timer.elapsed() < 200);
    }

    void estimateCoversWhatComesOut()
    {
        for (const std::size_t series : { 1u, 10u, 1000u }) {
            PayloadSource source(1, { Stat::Checksum, Stat::Norm }, series, 3);
            PayloadBuilder builder;
            builder.addLayout(*source.next().layout);
            for (int s = 0; s < 5; ++s)
                builder.addBlock(source.next());
            const std::size_t estimate = builder.decodedBytes() + 64;
            const std::size_t encoded = builder.finish().size();
            QVERIFY2(encoded <= estimate, qPrintable(QStringLiteral("%1 > %2").arg(encoded).arg(estimate)));
        }
    }

    void bytesPerSampleAreWithinTheGoal()
    {
        for (const int steps : { 1, 8, 32 }) {
            PayloadSource source(1, kSixOps, 250, 11);
            std::vector<StepBlock> blocks;
            for (int s = 0; s < steps; ++s)
                blocks.push_back(source.next());
            const std::string payload = build(blocks);
            const double samples = 250.0 * 6 * steps;
            const double perSample = static_cast<double>(payload.size()) / samples;
            qInfo("%d steps a batch: %.3f bytes a sample, %.3f a dense float", steps, perSample,
                static_cast<double>(payload.size()) / (samples * 4 / 6));
            if (steps == 8)
                QVERIFY2(perSample <= 2.1, qPrintable(QString::number(perSample)));
        }
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, PayloadTest)

}

#include "payloadtest.moc"
