// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <atomic>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

#include <telltale/series/blockcache.h>
#include <telltale/series/envelope.h>
#include <telltale/series/pixelmap.h>

namespace envelopetest {

using namespace telltale;
using namespace telltale::series;

namespace {

Sample randomSample(std::mt19937& random)
{
    Sample sample;
    const unsigned dice = random() % 16;
    sample.finite = dice != 0;
    sample.nan = dice < 2;
    sample.posInf = dice == 3;
    sample.negInf = dice == 4 || dice == 3;
    const double scale = dice == 5 ? 1e300 : 1.0;
    sample.value = scale * std::uniform_real_distribution<double>(-1, 1)(random);
    return sample;
}

/// The definition, written without the algebra.
Bucket oracle(const std::vector<Sample>& samples)
{
    Bucket bucket;
    long double sum = 0;
    for (const Sample& sample : samples) {
        ++bucket.samples;
        bucket.nans += sample.nan ? 1 : 0;
        bucket.posInfs += sample.posInf ? 1 : 0;
        bucket.negInfs += sample.negInf ? 1 : 0;
        bucket.state = std::max(bucket.state, stateOf(sample));
        if (!sample.finite)
            continue;
        if (bucket.finite++ == 0)
            bucket.first = sample.value;
        bucket.last = sample.value;
        bucket.min = std::min(bucket.min, sample.value);
        bucket.max = std::max(bucket.max, sample.value);
        sum += sample.value;
    }
    if (bucket.finite > 0)
        bucket.mean = static_cast<double>(sum / bucket.finite);
    return bucket;
}

bool same(const Bucket& a, const Bucket& b)
{
    const double tolerance
        = 1e-12 * std::max({ std::abs(a.min), std::abs(a.max), std::abs(b.min), std::abs(b.max), 1e-300 });
    return a.min == b.min && a.max == b.max && a.first == b.first && a.last == b.last && a.samples == b.samples
        && a.finite == b.finite && a.nans == b.nans && a.posInfs == b.posInfs && a.negInfs == b.negInfs
        && a.state == b.state && (a.finite == 0 || std::abs(a.mean - b.mean) <= tolerance);
}

struct Payload : CachedBlock {
    explicit Payload(std::size_t bytes)
        : size(bytes)
    {
    }
    std::size_t byteSize() const override { return size; }
    std::size_t size;
};

BlockKey keyOf(std::int64_t group)
{
    BlockKey key;
    key.group = group;
    return key;
}

}

class EnvelopeTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void anyWayOfMergingGivesWhatTheSamplesSay();
    void meanStaysBetweenMinAndMaxAtTheEndsOfTheRange();
    void strongestStateWins();
    void reductionNamesWhatTheCellShows();
    void everyStepBelongsToExactlyOnePixel();
    void pixelsOfHugeRangesDoNotOverflow();
    void cacheKeepsItsBudgetAndTheRecentlyUsed();
    void cacheIsSharedBetweenThreads();
};

void EnvelopeTest::anyWayOfMergingGivesWhatTheSamplesSay()
{
    std::mt19937 random(7);
    for (int round = 0; round < 500; ++round) {
        std::vector<Sample> samples(random() % 40);
        for (Sample& sample : samples)
            sample = randomSample(random);
        // Cut into runs of random lengths, merge the runs' buckets from the left or pairwise from the right.
        std::vector<Bucket> runs(1);
        for (const Sample& sample : samples) {
            if (random() % 3 == 0)
                runs.emplace_back();
            append(runs.back(), sample);
        }
        Bucket left;
        for (const Bucket& run : runs)
            append(left, run);
        while (runs.size() > 1) {
            const Bucket tail = runs.back();
            runs.pop_back();
            append(runs.back(), tail);
        }
        const Bucket expected = oracle(samples);
        QVERIFY(same(left, expected));
        QVERIFY(same(runs.front(), expected));
        QVERIFY(left.finite == 0 || (left.min <= left.mean && left.mean <= left.max));
    }
}

void EnvelopeTest::meanStaysBetweenMinAndMaxAtTheEndsOfTheRange()
{
    const double huge = std::numeric_limits<double>::max();
    Bucket bucket;
    for (const double value : { huge, -huge, huge, huge, -huge })
        append(bucket, Sample { value, true });
    QVERIFY(std::isfinite(bucket.mean));
    QVERIFY(bucket.min <= bucket.mean && bucket.mean <= bucket.max);
    Bucket constant;
    for (int i = 0; i < 1000; ++i)
        append(constant, Sample { 0.1, true });
    QCOMPARE(constant.mean, 0.1);
}

void EnvelopeTest::strongestStateWins()
{
    Bucket bucket;
    bucket.state = CellState::Gap;
    QCOMPARE(stateOf(bucket), CellState::Gap);
    append(bucket, Sample {});
    QCOMPARE(bucket.state, CellState::Absent);
    append(bucket, Sample { 1, true });
    QCOMPARE(bucket.state, CellState::Value);
    append(bucket, Sample { 1, true, false, false, true });
    QCOMPARE(bucket.state, CellState::NegInf);
    append(bucket, Sample { 1, true, false, true, false });
    QCOMPARE(bucket.state, CellState::PosInf);
    append(bucket, Sample { 1, true, true, false, false });
    append(bucket, Sample { 1, true });
    QCOMPARE(bucket.state, CellState::NaN);
    QCOMPARE(bucket.samples, 6u);
}

void EnvelopeTest::reductionNamesWhatTheCellShows()
{
    Bucket bucket;
    for (const double value : { -5.0, 1.0, 4.0 })
        append(bucket, Sample { value, true });
    QCOMPARE(reduce(bucket, reductionFor(Stat::Norm)), -5.0);
    QCOMPARE(reduce(bucket, reductionFor(Stat::Max)), -5.0);
    QCOMPARE(reduce(bucket, reductionFor(Stat::Min)), -5.0);
    QCOMPARE(reduce(bucket, reductionFor(Stat::Mean)), 0.0);
    QCOMPARE(reductionFor(Stat::AbsMax), Reduction::LargestMagnitude);
    QCOMPARE(reductionFor(Stat::Value), Reduction::Mean);
}

void EnvelopeTest::everyStepBelongsToExactlyOnePixel()
{
    std::mt19937 random(11);
    for (int round = 0; round < 300; ++round) {
        const std::int64_t first = static_cast<std::int64_t>(random() % 1000) - 500;
        const std::int64_t count = 1 + random() % 300;
        const int pixels = 1 + static_cast<int>(random() % 400);
        const PixelMap map({ Step { first }, Step { first + count - 1 } }, pixels);
        for (std::int64_t step = first; step < first + count; ++step) {
            const int pixel = map.pixelOf(Step { step });
            QCOMPARE(static_cast<std::int64_t>(pixel), (step - first) * pixels / count);
            QVERIFY(map.firstStepOf(pixel) <= step && step < map.firstStepOf(pixel + 1));
        }
        QCOMPARE(map.firstStepOf(0), first);
        QCOMPARE(map.firstStepOf(pixels), first + count);
    }
}

void EnvelopeTest::pixelsOfHugeRangesDoNotOverflow()
{
    const std::int64_t last = std::int64_t { 1 } << 61;
    const PixelMap map({ Step { 0 }, Step { last } }, 4000);
    QCOMPARE(map.pixelOf(Step { last }), 3999);
    QCOMPARE(map.firstStepOf(4000), last + 1);
}

void EnvelopeTest::cacheKeepsItsBudgetAndTheRecentlyUsed()
{
    BlockCache cache(100'000);
    for (int i = 0; i < 50; ++i) {
        cache.put(keyOf(i), std::make_shared<Payload>(9'000));
        QVERIFY(cache.bytes() <= 100'000);
        QVERIFY(cache.find(keyOf(0))); // used all the time, so it stays
    }
    QVERIFY(cache.find(keyOf(49)));
    QVERIFY(!cache.find(keyOf(20)));
    QVERIFY(cache.blocks() >= 9);
    cache.put(keyOf(99), std::make_shared<Payload>(200'000));
    QVERIFY(!cache.find(keyOf(99)));
    const std::size_t blocks = cache.blocks();
    const std::size_t bytes = cache.bytes();
    cache.drop(std::vector { keyOf(49), keyOf(20), keyOf(0) });
    QCOMPARE(cache.blocks(), blocks - 2);
    QVERIFY(!cache.find(keyOf(49)) && !cache.find(keyOf(0)));
    QVERIFY(cache.bytes() <= bytes - 2 * std::size_t { 9'000 });
}

void EnvelopeTest::cacheIsSharedBetweenThreads()
{
    BlockCache cache(50'000);
    std::atomic<int> wrong { 0 };
    const auto work = [&cache, &wrong](unsigned seed) {
        std::mt19937 random(seed);
        for (int i = 0; i < 5000; ++i) {
            const std::int64_t id = random() % 40;
            if (const auto block = cache.find(keyOf(id))) {
                if (block->byteSize() != static_cast<std::size_t>(1000 + id))
                    ++wrong;
            } else {
                cache.put(keyOf(id), std::make_shared<Payload>(static_cast<std::size_t>(1000 + id)));
            }
        }
    };
    std::thread other(work, 1);
    work(2);
    other.join();
    QCOMPARE(wrong.load(), 0);
    QVERIFY(cache.bytes() <= 50'000);
}

TELLTALE_TEST(QTEST_GUILESS_MAIN, EnvelopeTest)

}

#include "envelopetest.moc"
