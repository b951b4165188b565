// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include <telltale/core/histogram.h>
#include <telltale/stats/stats.h>

namespace statstest {

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
/// Around a block (8192), a vector group (64) and nothing.
const std::vector<std::size_t> kLengths { 0, 1, 2, 7, 8, 15, 16, 31, 33, 63, 64, 65, 127, 1000, 8191, 8192, 8193,
    20000 };

tt_stats compute(const void* data, std::size_t n, tt_dtype dtype, int threads = 1)
{
    tt_tensor tensor { n == 0 ? nullptr : data, n, static_cast<std::uint32_t>(dtype), 0 };
    tt_stats result;
    if (tt_stats_compute(&tensor, 1, TT_DEFAULT_EPS, &result, threads) != 0)
        qFatal("tt_stats_compute refused a good tensor");
    return result;
}

tt_stats oracle(const void* data, std::size_t n, tt_dtype dtype)
{
    tt_tensor tensor { n == 0 ? nullptr : data, n, static_cast<std::uint32_t>(dtype), 0 };
    tt_stats result;
    tt_stats_reference(&tensor, TT_DEFAULT_EPS, &result);
    return result;
}

/// An element as the definition of the statistics has it.
double valueAt(const std::uint8_t* bytes, std::size_t place, tt_dtype dtype)
{
    const std::size_t width = std::array { 0, 4, 8, 2, 2, 1, 1, 2, 4, 8, 1 }[dtype];
    const tt_stats one = oracle(bytes + place * width, 1, dtype);
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    return one.finite == 1 ? one.sum : one.pos_infs == 1 ? kInfinite : one.neg_infs == 1 ? -kInfinite : std::nan("");
}

bool isClose(double a, double b, double scale, double tolerance)
{
    return a == b || std::fabs(a - b) <= tolerance * scale;
}

void compareWithOracle(const void* data, std::size_t n, tt_dtype dtype)
{
    const tt_stats a = compute(data, n, dtype);
    const tt_stats b = oracle(data, n, dtype);
    QCOMPARE(a.flags, b.flags);
    QCOMPARE(a.numel, b.numel);
    QCOMPARE(a.finite, b.finite);
    QCOMPARE(a.nans, b.nans);
    QCOMPARE(a.pos_infs, b.pos_infs);
    QCOMPARE(a.neg_infs, b.neg_infs);
    QCOMPARE(a.zero_count, b.zero_count);
    QCOMPARE(a.zeros, b.zeros);
    QCOMPARE(a.min, b.min);
    QCOMPARE(a.max, b.max);
    QVERIFY2(isClose(a.norm, b.norm, static_cast<double>(b.norm), 1e-6),
        qPrintable(QStringLiteral("norm %1, oracle %2, n %3").arg(a.norm).arg(b.norm).arg(n)));
    const double scale = b.finite == 0 ? 0 : std::sqrt(b.sumsq / static_cast<double>(b.finite));
    QVERIFY(isClose(a.mean, b.mean, scale, 1e-6));
}

std::vector<float> randomFloats(std::size_t n, unsigned seed, float scale)
{
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal(0, 1);
    std::vector<float> values(n);
    for (float& x : values)
        x = normal(generator) * scale;
    return values;
}

std::uint16_t bfloatOf(float x)
{
    std::uint32_t bits;
    std::memcpy(&bits, &x, 4);
    return static_cast<std::uint16_t>(bits >> 16);
}

}

using telltale::binOf, telltale::checkEdges, telltale::octaveEdges;

class StatsTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void everyLengthAgreesWithFloat64_data()
    {
        QTest::addColumn<float>("scale");
        for (const float scale : { 1.0f, 1e-3f, 1e-12f, 1e-20f, 1e-30f, 1e-42f, 1e10f, 1e20f, 1e37f })
            QTest::addRow("scale %g", static_cast<double>(scale)) << scale;
    }
    void everyLengthAgreesWithFloat64()
    {
        QFETCH(float, scale);
        for (const std::size_t n : kLengths)
            compareWithOracle(randomFloats(n, static_cast<unsigned>(n) + 1, scale).data(), n, TT_F32);
    }

    void equalValuesDoNotDrift()
    {
        // Every addition rounds the same way: the worst case for running sums in float.
        for (const float value : { 0.1f, 1.0f / 3, 1e-5f, 7777.7f }) {
            const std::vector<float> values(1u << 20, value);
            compareWithOracle(values.data(), values.size(), TT_F32);
        }
    }

    void oneNonFiniteIsCountedAtEveryPosition()
    {
        const auto base = randomFloats(8192 + 77, 3, 1);
        for (const float bad : { kNaN, kInf, -kInf }) {
            for (std::size_t i = 0; i < base.size(); i += (i < 200 || i > 8100 ? 1 : 61)) {
                auto values = base;
                values[i] = bad;
                const tt_stats s = compute(values.data(), values.size(), TT_F32);
                QCOMPARE(s.nans, std::isnan(bad) ? 1u : 0u);
                QCOMPARE(s.pos_infs, bad > 0 ? 1u : 0u);
                QCOMPARE(s.neg_infs, bad < 0 ? 1u : 0u);
                QCOMPARE(s.finite, values.size() - 1);
                QVERIFY(std::isfinite(s.norm) && std::isfinite(s.mean));
            }
        }
    }

    void mixedNonFiniteAgreesWithFloat64()
    {
        std::mt19937 generator(5);
        for (const std::size_t n : kLengths) {
            auto values = randomFloats(n, 9, 1);
            for (float& x : values) {
                const auto dice = generator() % 10;
                x = dice == 0 ? kNaN : dice == 1 ? kInf : dice == 2 ? -kInf : dice == 3 ? 0.0f : x;
            }
            compareWithOracle(values.data(), n, TT_F32);
        }
    }

    void withoutFiniteElementsThereIsNoValue()
    {
        const std::vector<float> values(100, kNaN);
        const tt_stats s = compute(values.data(), values.size(), TT_F32);
        QCOMPARE(s.finite, 0u);
        QCOMPARE(s.nans, 100u);
        QCOMPARE(s.flags, TT_STATS_PRESENT);
        QCOMPARE(compute(nullptr, 0, TT_F32).flags, 0u);
    }

    void sumsThatOverflowFloatStayExact()
    {
        std::vector<float> values(9000, 3e38f);
        values[17] = -3e38f;
        compareWithOracle(values.data(), values.size(), TT_F32);
        // The norm of finite elements never reads as infinite, even beyond float.
        QVERIFY(std::isfinite(compute(values.data(), values.size(), TT_F32).norm));
    }

    void aFewTinyAmongZerosKeepTheirNorm()
    {
        std::vector<float> values(8192, 0.0f);
        values[4000] = 1e-30f;
        compareWithOracle(values.data(), values.size(), TT_F32);
        values[4000] = std::numeric_limits<float>::denorm_min();
        compareWithOracle(values.data(), values.size(), TT_F32);
    }

    void zerosAreBelowEpsInDouble()
    {
        const auto eps = static_cast<float>(TT_DEFAULT_EPS);
        std::vector<float> values { 0.0f, -0.0f, eps, -eps, std::nextafter(eps, 0.0f), std::nextafter(eps, 1.0f),
            1e-9f };
        values.resize(200, 1.0f);
        compareWithOracle(values.data(), values.size(), TT_F32);
    }

    void everyDtypeAgreesWithFloat64()
    {
        std::mt19937 generator(11);
        for (const std::size_t n : kLengths) {
            std::vector<std::uint16_t> halves(n);
            for (auto& h : halves)
                h = static_cast<std::uint16_t>(generator()); // every bit pattern: denormals, NaN, Inf
            compareWithOracle(halves.data(), n, TT_F16);
            compareWithOracle(halves.data(), n, TT_BF16);
            const auto floats = randomFloats(n, 12, 1);
            std::vector<std::uint16_t> brains(n);
            std::vector<double> doubles(n);
            std::vector<std::int8_t> chars(n);
            std::vector<std::int64_t> longs(n);
            std::vector<std::uint8_t> bools(n);
            for (std::size_t i = 0; i < n; ++i) {
                brains[i] = bfloatOf(floats[i]);
                doubles[i] = static_cast<double>(floats[i]) * 1e100;
                chars[i] = static_cast<std::int8_t>(generator());
                longs[i] = static_cast<std::int64_t>(generator()) - 2'000'000'000;
                bools[i] = generator() % 2;
            }
            compareWithOracle(brains.data(), n, TT_BF16);
            compareWithOracle(doubles.data(), n, TT_F64);
            compareWithOracle(chars.data(), n, TT_I8);
            compareWithOracle(chars.data(), n, TT_U8);
            compareWithOracle(halves.data(), n, TT_I16);
            compareWithOracle(floats.data(), n, TT_I32);
            compareWithOracle(longs.data(), n, TT_I64);
            compareWithOracle(bools.data(), n, TT_BOOL);
        }
    }

    void theChecksumIsTheSumOfTheBitsInAnyOrder_data()
    {
        QTest::addColumn<std::uint32_t>("dtype");
        QTest::addColumn<std::size_t>("width");
        constexpr std::size_t kWidths[] { 4, 8, 2, 2, 1, 1, 2, 4, 8, 1 };
        for (std::uint32_t dtype = TT_F32; dtype <= TT_BOOL; ++dtype)
            QTest::addRow("dtype %u", dtype) << dtype << kWidths[dtype - 1];
    }
    void theChecksumIsTheSumOfTheBitsInAnyOrder()
    {
        QFETCH(std::uint32_t, dtype);
        QFETCH(std::size_t, width);
        const std::uint32_t asked = dtype | TT_WITH_CHECKSUM;
        std::mt19937 generator(dtype);
        auto lengths = kLengths;
        lengths.push_back(600'000); // by several threads
        for (const std::size_t n : lengths) {
            std::vector<std::uint64_t> storage(n + 1);
            auto* bytes = reinterpret_cast<unsigned char*>(storage.data());
            for (std::size_t i = 0; i < n * width; ++i)
                bytes[i] = static_cast<unsigned char>(dtype == TT_BOOL ? generator() % 2 : generator());
            const auto measured = [&](int threads) {
                tt_stats result;
                if (tt_stats_tensor(bytes, n, asked, TT_DEFAULT_EPS, &result, threads) != 0)
                    qFatal("tt_stats_tensor refused a good tensor");
                return result;
            };
            // By hand: every element's bits, the sign spread to 64 of them where there is one.
            const bool isSigned = dtype != TT_U8 && dtype != TT_BOOL;
            const auto sumOfEvery = [&](std::size_t stride) {
                std::uint64_t sum = 0;
                for (std::size_t i = 0; i < n; i += stride) {
                    std::uint64_t bits = 0;
                    for (std::size_t b = width; b-- > 0;)
                        bits = bits << 8 | bytes[i * width + b];
                    if (isSigned && width < 8 && (bits >> (8 * width - 1) & 1) != 0)
                        bits |= ~std::uint64_t { 0 } << (8 * width);
                    sum += bits;
                }
                return sum;
            };
            const std::uint64_t sum = sumOfEvery(1);
            const tt_stats one = measured(1);
            QCOMPARE(one.flags, n == 0 ? 0u : TT_STATS_PRESENT | TT_STATS_CHECKSUM);
            QCOMPARE(one.checksum, sum);
            QCOMPARE(measured(4).checksum, sum);
            const tt_tensor tensor { bytes, n, asked, 0 };
            tt_stats other;
            QCOMPARE(tt_stats_reference(&tensor, TT_DEFAULT_EPS, &other), 0);
            QCOMPARE(other.checksum, sum);
            const auto half = static_cast<std::int64_t>((n + 1) / 2);
            const std::int64_t stride = 2;
            QCOMPARE(tt_stats_strided(bytes, &half, &stride, 1, asked, TT_DEFAULT_EPS, &other), 0);
            QCOMPARE(other.checksum, sumOfEvery(2));

            // Unasked it is not made, and everything else is the same to the bit.
            QCOMPARE(tt_stats_tensor(bytes, n, dtype, TT_DEFAULT_EPS, &other, 1), 0);
            QCOMPARE(other.checksum, 0u);
            tt_stats rest = one;
            rest.checksum = 0;
            rest.flags &= ~TT_STATS_CHECKSUM;
            QCOMPARE(std::memcmp(&rest, &other, sizeof rest), 0);
            if (n < 2)
                continue;
            std::swap_ranges(bytes, bytes + width, bytes + (n - 1) * width);
            QCOMPARE(measured(1).checksum, sum);
            for (int flip = 0; flip < 20; ++flip) {
                unsigned char& byte = bytes[generator() % (n * width)];
                const auto bit = static_cast<unsigned char>(1u << (generator() % 8));
                byte ^= bit;
                QVERIFY(measured(1).checksum != sum);
                byte ^= bit;
            }
        }
    }

    void anyThreadCountGivesTheSameBits()
    {
        std::vector<std::vector<float>> tensors;
        std::vector<tt_tensor> table;
        std::mt19937 generator(21);
        for (int i = 0; i < 40; ++i)
            tensors.push_back(randomFloats(generator() % 60000, static_cast<unsigned>(i), 1));
        tensors.push_back(randomFloats(900'000, 99, 1));
        tensors[5][3 % tensors[5].size()] = kNaN;
        for (const auto& t : tensors)
            table.push_back({ t.data(), t.size(), TT_F32, 0 });
        std::vector<tt_stats> one(table.size());
        QCOMPARE(tt_stats_compute(table.data(), table.size(), TT_DEFAULT_EPS, one.data(), 1), 0);
        for (const int threads : { 2, 3, 7, 16 }) {
            std::vector<tt_stats> many(table.size());
            std::memset(many.data(), 0xA5, many.size() * sizeof(tt_stats));
            QCOMPARE(tt_stats_compute(table.data(), table.size(), TT_DEFAULT_EPS, many.data(), threads), 0);
            for (std::size_t i = 0; i < table.size(); ++i) {
                QCOMPARE(std::memcmp(&one[i].sum, &many[i].sum, 8), 0);
                QCOMPARE(std::memcmp(&one[i].sumsq, &many[i].sumsq, 8), 0);
                QCOMPARE(one[i].zero_count, many[i].zero_count);
                QCOMPARE(one[i].min, many[i].min);
                QCOMPARE(one[i].max, many[i].max);
                QCOMPARE(one[i].nans, many[i].nans);
            }
        }
    }

    void everyElementLiesInItsBin_data()
    {
        QTest::addColumn<int>("dtype");
        for (int dtype = TT_F32; dtype <= TT_BOOL; ++dtype)
            QTest::addRow("dtype %d", dtype) << dtype;
    }
    /// Any bits at all, subnormal, infinite and NaN among them; the oracle is core's own binOf().
    void everyElementLiesInItsBin()
    {
        QFETCH(int, dtype);
        const auto edges = octaveEdges();
        QCOMPARE(edges.size(), std::size_t { TT_BINS + 1 });
        QVERIFY(checkEdges(edges));
        QCOMPARE(std::memcmp(tt_stats_bin_edges(), edges.data(), edges.size_bytes()), 0);
        std::mt19937_64 generator(static_cast<unsigned>(dtype));
        std::vector<std::uint64_t> words(40'000);
        for (std::size_t i = 0; i < words.size(); ++i) {
            words[i] = generator();
            if (i % 3 == 0)
                words[i] &= 0x8000800080008000u | (i % 2 != 0 ? 0x000F000F000F000Fu : 0u); // zeros, the smallest ones
        }
        const std::size_t width = std::array { 0, 4, 8, 2, 2, 1, 1, 2, 4, 8, 1 }[static_cast<std::size_t>(dtype)];
        auto* bytes = reinterpret_cast<std::uint8_t*>(words.data());
        if (dtype == TT_BOOL)
            std::for_each(bytes, bytes + words.size() * 8, [](std::uint8_t& byte) { byte &= 1; });
        for (const std::size_t n : { std::size_t { 0 }, std::size_t { 1 }, std::size_t { 7 }, std::size_t { 8193 },
                 words.size() * 8 / width }) {
            std::vector<std::uint64_t> expected(TT_BINS), bins(TT_BINS, 7);
            for (std::size_t i = 0; i < n; ++i) {
                const double value = valueAt(bytes, i, static_cast<tt_dtype>(dtype));
                if (!std::isnan(value))
                    ++expected[binOf(edges, value)];
            }
            tt_stats with, without;
            QCOMPARE(tt_stats_tensor_bins(n == 0 ? nullptr : bytes, n, static_cast<std::uint32_t>(dtype),
                         TT_DEFAULT_EPS, &with, bins.data(), 1),
                0);
            QCOMPARE(bins, expected);
            QCOMPARE(tt_stats_tensor(
                         n == 0 ? nullptr : bytes, n, static_cast<std::uint32_t>(dtype), TT_DEFAULT_EPS, &without, 1),
                0);
            QCOMPARE(std::memcmp(&with, &without, sizeof with), 0);
        }
    }

    void powersOfTwoLieWithTheLargerMagnitudes()
    {
        const auto edges = octaveEdges();
        for (int exponent = -149; exponent <= 127; ++exponent) {
            const float power = std::ldexp(1.0F, exponent);
            const float below = std::nextafter(power, 0.0F);
            for (const float value : { power, below, -power, -below, 1.5F * power, -1.5F * power }) {
                std::vector<std::uint64_t> bins(TT_BINS);
                tt_stats result;
                QCOMPARE(tt_stats_tensor_bins(&value, 1, TT_F32, TT_DEFAULT_EPS, &result, bins.data(), 1), 0);
                QCOMPARE(bins[binOf(edges, static_cast<double>(value))], std::uint64_t { 1 });
            }
            QCOMPARE(binOf(edges, static_cast<double>(power)) + binOf(edges, -static_cast<double>(power)),
                std::size_t { TT_BINS - 1 });
        }
    }

    void binsAreTheSameForAnyNumberOfThreads()
    {
        std::vector<std::vector<float>> tensors;
        std::vector<tt_tensor> table;
        for (unsigned i = 0; i < 20; ++i)
            tensors.push_back(randomFloats(1 + i * 7919, i, 1));
        tensors.push_back(randomFloats(900'000, 99, 1));
        for (const auto& t : tensors)
            table.push_back({ t.data(), t.size(), TT_F32, 0 });
        table.push_back({ nullptr, 5, TT_F32, 0 }); // refused: no counts
        std::vector<tt_stats> results(table.size());
        std::vector<std::uint64_t> one(table.size() * TT_BINS, 3);
        QCOMPARE(tt_stats_bins(table.data(), table.size(), TT_DEFAULT_EPS, results.data(), one.data(), 1), -1);
        QCOMPARE(std::accumulate(one.end() - TT_BINS, one.end(), std::uint64_t { 0 }), std::uint64_t { 0 });
        for (const int threads : { 2, 3, 16 }) {
            std::vector<std::uint64_t> many(table.size() * TT_BINS, 9);
            QCOMPARE(
                tt_stats_bins(table.data(), table.size(), TT_DEFAULT_EPS, results.data(), many.data(), threads), -1);
            QCOMPARE(many, one);
        }
    }

    void oneTensorAloneGivesTheSameBits()
    {
        const auto values = randomFloats(700'000, 31, 1);
        const tt_stats one = compute(values.data(), values.size(), TT_F32);
        for (const int threads : { 0, 1, 4 }) {
            tt_stats other;
            QCOMPARE(tt_stats_tensor(values.data(), values.size(), TT_F32, TT_DEFAULT_EPS, &other, threads), 0);
            QCOMPARE(std::memcmp(&one, &other, sizeof one), 0);
        }
        tt_stats empty;
        QCOMPARE(tt_stats_tensor(nullptr, 0, TT_F32, TT_DEFAULT_EPS, &empty, 1), 0);
        QCOMPARE(empty.flags, 0u);
        QCOMPARE(tt_stats_tensor(nullptr, 3, TT_F32, TT_DEFAULT_EPS, &empty, 1), -1);
        QCOMPARE(tt_stats_tensor(values.data(), 3, 0, TT_DEFAULT_EPS, &empty, 1), -1);
    }

    void aPermutedDenseTensorGivesTheBitsOfItsStorage()
    {
        const auto values = randomFloats(30 * 40 * 50, 32, 1);
        const tt_stats one = compute(values.data(), values.size(), TT_F32);
        const std::int64_t shape[] { 50, 1, 30, 40 };
        const std::int64_t stride[] { 1, 77, 2000, 50 };
        tt_stats other;
        QCOMPARE(tt_stats_strided(values.data(), shape, stride, 4, TT_F32, TT_DEFAULT_EPS, &other), 0);
        QCOMPARE(std::memcmp(&one, &other, sizeof one), 0);
    }

    void aStridedTensorIsWhatItsElementsAre_data()
    {
        QTest::addColumn<QList<qint64>>("shape");
        QTest::addColumn<QList<qint64>>("stride");
        QTest::addColumn<qint64>("start");
        QTest::newRow("every third") << QList<qint64> { 20000 } << QList<qint64> { 3 } << qint64 { 1 };
        QTest::newRow("a column block") << QList<qint64> { 100, 37 } << QList<qint64> { 200, 1 } << qint64 { 11 };
        QTest::newRow("transposed block") << QList<qint64> { 37, 100 } << QList<qint64> { 1, 200 } << qint64 { 11 };
        QTest::newRow("rows longer than a block")
            << QList<qint64> { 3, 9000 } << QList<qint64> { 19000, 2 } << qint64 { 0 };
        QTest::newRow("expanded") << QList<qint64> { 7, 300 } << QList<qint64> { 0, 1 } << qint64 { 5 };
        QTest::newRow("mirrored") << QList<qint64> { 5, 60 } << QList<qint64> { 100, -1 } << qint64 { 59 };
        QTest::newRow("one element") << QList<qint64> {} << QList<qint64> {} << qint64 { 9 };
        QTest::newRow("three dimensions") << QList<qint64> { 4, 5, 6 } << QList<qint64> { 1000, 7, 90 } << qint64 { 2 };
    }
    void aStridedTensorIsWhatItsElementsAre()
    {
        QFETCH(QList<qint64>, shape);
        QFETCH(QList<qint64>, stride);
        QFETCH(qint64, start);
        auto floats = randomFloats(60'000, 33, 1);
        floats[104] = kNaN;
        std::vector<double> doubles(floats.begin(), floats.end());
        std::vector<std::int8_t> bytes(floats.size());
        for (std::size_t i = 0; i < floats.size(); ++i)
            bytes[i] = static_cast<std::int8_t>(i * 37);
        std::vector<qint64> index(static_cast<std::size_t>(shape.size()), 0);
        std::vector<std::size_t> places;
        for (bool more = true; more;) {
            qint64 at = start;
            for (qsizetype d = 0; d < shape.size(); ++d)
                at += index[static_cast<std::size_t>(d)] * stride[d];
            places.push_back(static_cast<std::size_t>(at));
            more = false;
            for (qsizetype d = shape.size(); d-- > 0 && !more;) {
                auto& i = index[static_cast<std::size_t>(d)];
                more = ++i < shape[d];
                i = more ? i : 0;
            }
        }
        const auto check = [&](const auto& storage, tt_dtype dtype) {
            std::decay_t<decltype(storage)> picked;
            for (const auto at : places)
                picked.push_back(storage[at]);
            const tt_stats b = oracle(picked.data(), picked.size(), dtype);
            const std::vector<std::int64_t> sizes(shape.begin(), shape.end()), steps(stride.begin(), stride.end());
            tt_stats a;
            QCOMPARE(tt_stats_strided(storage.data() + start, sizes.data(), steps.data(),
                         static_cast<std::uint32_t>(sizes.size()), dtype, TT_DEFAULT_EPS, &a),
                0);
            QCOMPARE(a.numel, b.numel);
            QCOMPARE(a.finite, b.finite);
            QCOMPARE(a.nans, b.nans);
            QCOMPARE(a.min, b.min);
            QCOMPARE(a.max, b.max);
            QCOMPARE(a.zero_count, b.zero_count);
            QVERIFY(isClose(a.norm, b.norm, static_cast<double>(b.norm), 1e-6));
            QVERIFY(isClose(a.sum, b.sum, std::sqrt(b.sumsq * static_cast<double>(b.finite)), 1e-6));
        };
        check(floats, TT_F32);
        check(doubles, TT_F64);
        check(bytes, TT_I8);
    }

    void aShapeThatIsNoneIsRefused()
    {
        const float value = 1;
        tt_stats result;
        const std::int64_t negative[] { 2, -1 }, huge[] { 1ll << 40, 1ll << 40 }, none[] { 3, 0 }, ones[] { 1, 1 };
        QCOMPARE(tt_stats_strided(&value, negative, ones, 2, TT_F32, TT_DEFAULT_EPS, &result), -1);
        QCOMPARE(tt_stats_strided(&value, huge, ones, 2, TT_F32, TT_DEFAULT_EPS, &result), -1);
        QCOMPARE(tt_stats_strided(&value, ones, ones, 65, TT_F32, TT_DEFAULT_EPS, &result), -1);
        QCOMPARE(tt_stats_strided(&value, ones, ones, 2, 11, TT_DEFAULT_EPS, &result), -1);
        QCOMPARE(tt_stats_strided(nullptr, none, ones, 2, TT_F32, TT_DEFAULT_EPS, &result), 0);
        QCOMPARE(result.flags, 0u);
    }

    void signsAgreeAsTheirDefinitionSays()
    {
        std::mt19937 generator(41);
        for (const std::size_t n : kLengths) {
            std::vector<float> wide(n);
            std::vector<double> doubles(n);
            std::vector<std::uint16_t> halves(n), brains(n);
            for (std::size_t i = 0; i < n; ++i) {
                const float choices[] { 0.0f, -0.0f, kNaN, kInf, -kInf, 1.5f, -1e-40f, 3.0f, -2.0f, -7.0f };
                wide[i] = choices[generator() % 10];
                doubles[i] = static_cast<double>(choices[generator() % 10]);
                halves[i] = static_cast<std::uint16_t>(generator());
                brains[i] = static_cast<std::uint16_t>(generator());
            }
            const auto signs = [n](const auto& valueAt) {
                std::vector<int> out(n);
                for (std::size_t i = 0; i < n; ++i)
                    out[i] = valueAt(i) > 0 ? 1 : valueAt(i) < 0 ? -1 : 0;
                return out;
            };
            const auto ofBits = [](std::uint16_t bits, int infinity) {
                const int magnitude = bits & 0x7FFF;
                return magnitude > infinity ? 0 : bits & 0x8000 ? -magnitude : magnitude;
            };
            const tt_tensor tensors[] { { wide.data(), n, TT_F32, 0 }, { doubles.data(), n, TT_F64, 0 },
                { halves.data(), n, TT_F16, 0 }, { brains.data(), n, TT_BF16, 0 } };
            const std::vector<int> expected[] { signs([&](std::size_t i) { return wide[i]; }),
                signs([&](std::size_t i) { return doubles[i]; }),
                signs([&](std::size_t i) { return ofBits(halves[i], 0x7C00); }),
                signs([&](std::size_t i) { return ofBits(brains[i], 0x7F80); }) };
            for (std::size_t a = 0; a < 4; ++a) {
                for (std::size_t b = 0; b < 4; ++b) {
                    std::int64_t sum = 0;
                    for (std::size_t i = 0; i < n; ++i)
                        sum += expected[a][i] * expected[b][i];
                    double out = 7;
                    QCOMPARE(tt_sign_agreement(&tensors[a], &tensors[b], 1, &out, 1), 0);
                    if (n == 0)
                        QVERIFY(std::isnan(out));
                    else
                        QCOMPARE(out, (static_cast<double>(sum) / static_cast<double>(n) + 1) / 2);
                }
            }
        }
    }

    void signAgreementIsTheSameForAnyThreadCount()
    {
        const auto a = randomFloats(900'001, 51, 1), b = randomFloats(900'001, 52, 1);
        const tt_tensor left { a.data(), a.size(), TT_F32, 0 }, right { b.data(), b.size(), TT_F32, 0 };
        double one = 0, many = 0;
        QCOMPARE(tt_sign_agreement(&left, &right, 1, &one, 1), 0);
        QCOMPARE(tt_sign_agreement(&left, &right, 1, &many, 5), 0);
        QCOMPARE(one, many);
        QVERIFY(one > 0.49 && one < 0.51);
        QCOMPARE(tt_sign_agreement(&left, &left, 1, &one, 2), 0);
        QCOMPARE(one, 1.0);
    }

    void pairsThatDoNotFitAreRefusedAndTheOthersFilled()
    {
        const std::vector<float> values(10, 2.0f);
        const tt_tensor a[] { { values.data(), 10, TT_F32, 0 }, { values.data(), 10, TT_I32, 0 },
            { values.data(), 10, TT_F32, 0 } };
        const tt_tensor b[] { { values.data(), 9, TT_F32, 0 }, { values.data(), 10, TT_F32, 0 },
            { values.data(), 10, TT_F32, 0 } };
        double out[3];
        QCOMPARE(tt_sign_agreement(a, b, 3, out, 1), -1);
        QVERIFY(std::isnan(out[0]) && std::isnan(out[1]));
        QCOMPARE(out[2], 1.0);
    }

    void badEntriesAreRefusedAndTheOthersFilled()
    {
        const std::vector<float> values(10, 2.0f);
        const tt_tensor table[] { { values.data(), 10, 77, 0 }, { nullptr, 10, TT_F32, 0 },
            { values.data(), 10, TT_F32, 0 } };
        tt_stats results[3];
        QCOMPARE(tt_stats_compute(table, 3, TT_DEFAULT_EPS, results, 1), -1);
        QCOMPARE(results[0].flags, 0u);
        QCOMPARE(results[1].flags, 0u);
        QCOMPARE(results[2].max, 2.0f);
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, StatsTest)

}

#include "statstest.moc"
