// SPDX-License-Identifier: GPL-3.0-or-later
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <QtTest>

#include <telltale/stats/stats.h>

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

QTEST_GUILESS_MAIN(StatsTest)
#include "statstest.moc"
