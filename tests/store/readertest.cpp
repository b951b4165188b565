// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include <QTemporaryDir>

#include <telltale/series/envelope.h>
#include <telltale/series/pixelmap.h>
#include <telltale/store/runreader.h>
#include <telltale/store/sqlite.h>

#include "capsulebuilder.h"
#include "randomrun.h"

namespace readertest {

using namespace telltale;
using namespace telltale::series;
using namespace telltale::store;
using namespace telltale::test;

namespace {

/// What brute force says of a question.
std::vector<Bucket> oracle(const RandomRun& run, int row, Stat stat, StepRange range, int pixels)
{
    const PixelMap map(range, pixels);
    std::vector<Bucket> buckets(static_cast<std::size_t>(pixels));
    for (const auto& [step, sample] : run.samplesOf(row, stat)) {
        if (range.contains(Step { step }))
            append(buckets[static_cast<std::size_t>(map.pixelOf(Step { step }))], sample);
    }
    return buckets;
}

bool isNear(double a, double b, double scale)
{
    return std::abs(a - b) <= 1e-9 * std::max({ std::abs(a), std::abs(b), scale });
}

QString differs(const Bucket& got, const Bucket& want)
{
    if (got.samples != want.samples || got.finite != want.finite)
        return QStringLiteral("samples %1/%2 finite %3/%4")
            .arg(got.samples)
            .arg(want.samples)
            .arg(got.finite)
            .arg(want.finite);
    if (got.nans != want.nans || got.posInfs != want.posInfs || got.negInfs != want.negInfs || got.state != want.state)
        return QStringLiteral("non-finite counts or state differ");
    if (want.finite == 0)
        return {};
    if (got.min != want.min || got.max != want.max || got.first != want.first || got.last != want.last)
        return QStringLiteral("min, max, first or last differ");
    const double scale = std::max(std::abs(want.min), std::abs(want.max));
    return isNear(got.mean, want.mean, scale) ? QString() : QStringLiteral("mean differs");
}

/// What a coarser answer promises: nothing lost, nothing invented, and everything within one pixel of its place.
QString breaksPromise(const std::vector<Bucket>& got, const std::vector<Bucket>& want)
{
    Bucket all;
    Bucket allWanted;
    std::vector<std::uint64_t> sums { 0 };
    std::vector<std::uint64_t> wantedSums { 0 };
    for (std::size_t i = 0; i < got.size(); ++i) {
        append(all, got[i]);
        append(allWanted, want[i]);
        sums.push_back(sums.back() + got[i].samples);
        wantedSums.push_back(wantedSums.back() + want[i].samples);
        if (got[i].finite > 0 && !(got[i].min <= got[i].mean && got[i].mean <= got[i].max))
            return QStringLiteral("pixel %1: the mean is outside").arg(i);
        Bucket around;
        for (std::size_t n = i == 0 ? 0 : i - 1; n <= i + 1 && n < want.size(); ++n)
            append(around, want[n]);
        if (got[i].samples > around.samples || got[i].nans > around.nans || got[i].posInfs > around.posInfs
            || got[i].negInfs > around.negInfs || got[i].state > around.state)
            return QStringLiteral("pixel %1 says more than its neighborhood").arg(i);
        if (got[i].finite > 0 && (got[i].min < around.min || got[i].max > around.max))
            return QStringLiteral("pixel %1 reaches further than its neighborhood").arg(i);
    }
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const std::uint64_t low = i == 0 ? 0 : wantedSums[i - 1];
        const std::uint64_t high = wantedSums[std::min(i + 1, wantedSums.size() - 1)];
        if (sums[i] < low || sums[i] > high)
            return QStringLiteral("samples moved by more than a pixel at %1").arg(i);
    }
    if (all.samples != allWanted.samples || all.finite != allWanted.finite || all.nans != allWanted.nans
        || all.posInfs != allWanted.posInfs || all.negInfs != allWanted.negInfs || all.state != allWanted.state)
        return QStringLiteral("the whole lost or invented samples");
    if (all.finite > 0 && (all.min != allWanted.min || all.max != allWanted.max))
        return QStringLiteral("the whole has other extremes");
    // The pyramid keeps 16 bits of a mean.
    const double scale = all.finite > 0 ? std::max(std::abs(all.min), std::abs(all.max)) : 0;
    if (all.finite > 0 && std::abs(all.mean - allWanted.mean) > scale * 0x1p-14)
        return QStringLiteral("the mean of the whole is off");
    return {};
}

}

class ReaderTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void answersEqualBruteForce_data();
    void answersEqualBruteForce();
    void aFollowerReadsTheNewestStepsOfTheRowsThatItRemembers_data();
    void aFollowerReadsTheNewestStepsOfTheRowsThatItRemembers();
    void rowsThatAreRememberedGoOnWithTheNextAttempt();
    void noPixelIsEmptyThatHasASample();
    void questionsOutsideTheRunAreEmpty();
    void canceledQuestionsFail();

private:
    void checkCurves(RunReader& reader, const RandomRun& run, std::mt19937& random, int questions);
    void checkHeatmap(RunReader& reader, const RandomRun& run, std::mt19937& random);
    void checkRaw(RunReader& reader, const RandomRun& run, std::mt19937& random);
    void checkColumn(RunReader& reader, const RandomRun& run, std::mt19937& random);
    void checkAll(RunReader& reader, const RandomRun& run, std::mt19937& random, int questions);
    std::string path() const { return m_dir->filePath(QStringLiteral("run.telltale")).toStdString(); }

    std::unique_ptr<QTemporaryDir> m_dir;
};

void ReaderTest::init()
{
    m_dir = std::make_unique<QTemporaryDir>();
    QVERIFY(m_dir->isValid());
}

void ReaderTest::checkCurves(RunReader& reader, const RandomRun& run, std::mt19937& random, int questions)
{
    for (int i = 0; i < questions; ++i) {
        const int row = static_cast<int>(random() % static_cast<unsigned>(run.rows()));
        const Stat stat = run.anyStat(random);
        const StepRange range = run.anyRange(random);
        const int pixels = 1 + static_cast<int>(random() % 300);
        const auto answer = reader.curve({ run.attemptsOf(row), stat, range, pixels });
        QVERIFY2(answer, answer ? "" : answer.error().sentence().c_str());
        const auto want = oracle(run, row, stat, range, pixels);
        QCOMPARE(answer->buckets.size(), want.size());
        const QString where = QStringLiteral("%1 row %2 %3 [%4, %5] %6 px level %7: ")
                                  .arg(QString::fromStdString(run.describe()))
                                  .arg(row)
                                  .arg(QString::fromUtf8(statName(stat).data()))
                                  .arg(range.first.value)
                                  .arg(range.last.value)
                                  .arg(pixels)
                                  .arg(answer->level);
        if (answer->exact) {
            for (std::size_t p = 0; p < want.size(); ++p) {
                const QString difference = differs(answer->buckets[p], want[p]);
                QVERIFY2(difference.isEmpty(), qPrintable(where + QString::number(p) + difference));
            }
        } else if (stat != Stat::AbsMax) {
            const QString broken = breaksPromise(answer->buckets, want);
            QVERIFY2(broken.isEmpty(), qPrintable(where + broken));
        } else {
            Bucket all;
            Bucket allWanted;
            for (std::size_t p = 0; p < want.size(); ++p) {
                append(all, answer->buckets[p]);
                append(allWanted, want[p]);
            }
            QCOMPARE(all.samples, allWanted.samples);
            QCOMPARE(all.state, allWanted.state);
            QVERIFY(all.finite == 0 || (all.max == allWanted.max && all.min <= allWanted.min));
        }
    }
}

void ReaderTest::checkHeatmap(RunReader& reader, const RandomRun& run, std::mt19937& random)
{
    const Stat stat = run.anyStat(random);
    const StepRange range = run.anyRange(random);
    const int pixels = 1 + static_cast<int>(random() % 200);
    HeatQuery query { {}, stat, range, pixels };
    for (int row = 0; row < run.rows(); ++row)
        query.rows.push_back(run.attemptsOf(row));
    const auto heat = reader.heatmap(query);
    QVERIFY2(heat, heat ? "" : heat.error().sentence().c_str());
    QCOMPARE(heat->rows, run.rows());
    QCOMPARE(heat->columns, pixels);
    QCOMPARE(heat->reduction, reductionFor(stat));
    const int step = std::max(1, run.rows() / 12);
    for (int row = static_cast<int>(random() % static_cast<unsigned>(step)); row < run.rows(); row += step) {
        const auto curve = reader.curve({ run.attemptsOf(row), stat, range, pixels });
        QVERIFY(curve);
        for (int pixel = 0; pixel < pixels; ++pixel) {
            const Bucket& bucket = curve->buckets[static_cast<std::size_t>(pixel)];
            const auto at = static_cast<std::size_t>(row * pixels + pixel);
            QCOMPARE(heat->states[at], bucket.state);
            if (bucket.finite == 0)
                continue;
            const auto want = static_cast<float>(reduce(bucket, heat->reduction));
            const double scale = std::max(std::abs(bucket.min), std::abs(bucket.max));
            QVERIFY(std::abs(static_cast<double>(heat->values[at] - want)) <= 1e-6 * scale);
            if (heat->states[at] == CellState::Value)
                QVERIFY(heat->min <= heat->values[at] && heat->values[at] <= heat->max);
        }
    }
}

void ReaderTest::checkRaw(RunReader& reader, const RandomRun& run, std::mt19937& random)
{
    const int row = static_cast<int>(random() % static_cast<unsigned>(run.rows()));
    const Stat stat = run.anyStat(random);
    const StepRange range = run.anyRange(random);
    std::vector<std::pair<std::int64_t, Sample>> want;
    for (const auto& entry : run.samplesOf(row, stat)) {
        if (range.contains(Step { entry.first }))
            want.push_back(entry);
    }
    std::size_t next = 0;
    bool same = true;
    const auto done = reader.raw(run.attemptsOf(row), stat, range, [&](const RawValue& value) {
        same = same && next < want.size() && want[next].first == value.step.value
            && stateOf(want[next].second) == value.state
            && (want[next].second.finite ? want[next].second.value == value.value : std::isnan(value.value));
        ++next;
        return same;
    });
    QVERIFY(done);
    QVERIFY2(same && next == want.size(),
        qPrintable(QStringLiteral("%1: raw value %2 of %3")
                       .arg(QString::fromStdString(run.describe()))
                       .arg(next)
                       .arg(want.size())));
}

void ReaderTest::checkColumn(RunReader& reader, const RandomRun& run, std::mt19937& random)
{
    const Stat stat = run.anyStat(random);
    const StepRange all = run.steps();
    std::int64_t step
        = all.first.value - 3 + static_cast<std::int64_t>(random() % static_cast<unsigned>(all.count() + 6));
    const bool nearest = random() % 2 == 0;
    if (nearest) // ahead of a live run's newest step there is another rule
        step = std::min(step, run.newest().value);
    std::vector<RowAttempts> rows;
    for (int row = 0; row < run.rows(); ++row)
        rows.push_back(run.attemptsOf(row));
    const auto cells = reader.column(Step { step }, stat, rows, nearest);
    QVERIFY2(cells, cells ? "" : cells.error().sentence().c_str());
    QCOMPARE(static_cast<int>(cells->size()), run.rows());
    for (int row = 0; row < run.rows(); ++row) {
        const auto samples = run.samplesOf(row, stat);
        auto it = samples.upper_bound(step);
        bool has = it != samples.begin() && (--it, nearest || it->first == step);
        if (has && it->first != step) {
            if (it == samples.begin())
                continue; // the only one: what lies beside it decides
            std::int64_t stride = std::numeric_limits<std::int64_t>::max();
            auto older = it;
            for (int i = 0; i < 8 && older != samples.begin(); ++i) {
                const std::int64_t later = older->first;
                stride = std::min(stride, later - (--older)->first);
            }
            has = step - it->first < stride;
        }
        const CellValue& cell = (*cells)[static_cast<std::size_t>(row)];
        QVERIFY2(cell.state == (has ? stateOf(it->second) : CellState::NotCollected),
            qPrintable(QStringLiteral("%1 row %2 step %3 nearest %4: state %5")
                           .arg(QString::fromStdString(run.describe()))
                           .arg(row)
                           .arg(step)
                           .arg(nearest)
                           .arg(static_cast<int>(cell.state))));
        if (has && it->second.finite)
            QCOMPARE(cell.value, it->second.value);
        if (has)
            QCOMPARE(cell.step.value, it->first);
        if (has && run.hasCounts() && !isNonFiniteCount(stat))
            QCOMPARE(cell.nans, run.nansAt(row, it->first));
    }
}

void ReaderTest::checkAll(RunReader& reader, const RandomRun& run, std::mt19937& random, int questions)
{
    if (run.rows() == 0)
        return;
    checkCurves(reader, run, random, questions);
    for (int i = 0; i < 3 && !QTest::currentTestFailed(); ++i)
        checkHeatmap(reader, run, random);
    for (int i = 0; i < 5 && !QTest::currentTestFailed(); ++i)
        checkRaw(reader, run, random);
    for (int i = 0; i < 6 && !QTest::currentTestFailed(); ++i)
        checkColumn(reader, run, random);
}

void ReaderTest::answersEqualBruteForce_data()
{
    QTest::addColumn<unsigned>("seed");
    QTest::addColumn<int>("columns");
    for (unsigned seed = 1; seed <= 12; ++seed)
        QTest::addRow("short %u", seed) << seed << 700;
    for (unsigned seed = 1; seed <= 6; ++seed)
        QTest::addRow("long %u", seed) << 100 + seed << 9000;
    QTest::addRow("very long") << 200u << 40000;
}

void ReaderTest::answersEqualBruteForce()
{
    QFETCH(unsigned, seed);
    QFETCH(int, columns);
    std::mt19937 random(seed);
    CapsuleBuilder builder(path());
    RandomRun run(random, columns);
    // Every second pair of runs may keep next to nothing open, so that tiles are sealed before they are full.
    if (seed % 4 >= 2)
        builder.writer().keepOpen(seed % 4 == 2 ? 1 : 20'000);
    // Written in three parts, asked after each: the live run in between, the crashed or finished file at the end.
    // Every third run's streams end in between, so that their tiles are released and taken apart again.
    for (int part = 0; part < 3; ++part) {
        run.write(builder, random, part, 3);
        if (seed % 3 == 0)
            builder.releaseAll();
        auto live = openReader(builder.liveHandle());
        QVERIFY2(live, live ? "" : live.error().sentence().c_str());
        checkAll(**live, run, random, 8);
        if (QTest::currentTestFailed())
            return;
        auto foreign = openReader(builder.handle());
        QVERIFY2(foreign, foreign ? "" : foreign.error().sentence().c_str());
        checkAll(**foreign, run, random, 8);
        if (QTest::currentTestFailed())
            return;
    }
    seed % 2 == 0 ? builder.crash() : builder.finish();
    auto archived = openReader(builder.handle());
    QVERIFY2(archived, archived ? "" : archived.error().sentence().c_str());
    checkAll(**archived, run, random, 60);
    if (seed % 4 == 2 && seed % 3 != 0) {
        const auto db = CapsuleBuilder::must(openDatabase(path(), OpenMode::Read));
        const auto tiles = queryInteger(db.get(),
            "SELECT count(*) FROM (SELECT DISTINCT tile.grp, c0 FROM tile JOIN grp ON grp.id = tile.grp WHERE lvl = 0 "
            "AND first_position = 0)");
        QVERIFY(*tiles > columns / 200);
    }
}

void ReaderTest::aFollowerReadsTheNewestStepsOfTheRowsThatItRemembers_data()
{
    QTest::addColumn<unsigned>("seed");
    for (unsigned seed = 1; seed <= 16; ++seed)
        QTest::addRow("%u", seed) << seed;
}

/// Steps come, attempts begin and tiles are sealed between its questions, which are of few steps at the end.
void ReaderTest::aFollowerReadsTheNewestStepsOfTheRowsThatItRemembers()
{
    QFETCH(unsigned, seed);
    constexpr int kParts = 12;
    std::mt19937 random(seed);
    CapsuleBuilder builder(path());
    RandomRun run(random, 1500);
    std::unique_ptr<RunReader> follower;
    std::map<Stat, HeatQuery> asked;
    for (int part = 0; part < kParts && !QTest::currentTestFailed(); ++part) {
        run.write(builder, random, part, kParts);
        if (run.rows() == 0)
            continue;
        if (!follower)
            follower = CapsuleBuilder::must(openReader(builder.liveHandle()));
        const auto fresh = CapsuleBuilder::must(openReader(builder.liveHandle()));
        for (const int steps : { 1, 7, 100, 400 }) {
            const Step last = run.steps().last;
            const StepRange range { Step { last.value - steps + 1 }, last };
            const Stat stat = run.anyStat(random);
            HeatQuery& query = asked[stat];
            if (query.rows.empty()) { // as they are now: later attempts have more
                query.memo = std::make_shared<RowsMemo>();
                query.stat = stat;
                for (int row = 0; row < run.rows(); ++row)
                    query.rows.push_back(run.attemptsOf(row));
            }
            query.range = range;
            query.pixels = steps;
            const auto heat = CapsuleBuilder::must(follower->heatmap(query));
            const auto again
                = CapsuleBuilder::must(fresh->heatmap({ query.rows, query.stat, query.range, query.pixels }));
            QCOMPARE(heat.states, again.states);
            for (std::size_t i = 0; i < heat.values.size(); ++i)
                QCOMPARE(std::bit_cast<std::uint32_t>(heat.values[i]), std::bit_cast<std::uint32_t>(again.values[i]));
        }
        // Wherever a tile begins, one of these begins a step before it.
        for (int steps = 1; steps <= 300; steps += 2) {
            const StepRange range { Step { run.steps().last.value - steps + 1 }, run.steps().last };
            const Stat stat = run.anyStat(random);
            const int row = static_cast<int>(random() % static_cast<unsigned>(run.rows()));
            const auto curve = CapsuleBuilder::must(follower->curve({ run.attemptsOf(row), stat, range, steps }));
            const auto want = oracle(run, row, stat, range, steps);
            for (std::size_t p = 0; p < want.size(); ++p)
                QVERIFY2(differs(curve.buckets[p], want[p]).isEmpty(), qPrintable(differs(curve.buckets[p], want[p])));
        }
    }
    QVERIFY(follower != nullptr);
}

void ReaderTest::rowsThatAreRememberedGoOnWithTheNextAttempt()
{
    CapsuleBuilder builder(path());
    const auto write = [&](int attempt, std::int64_t first, float value) {
        const auto layout = builder.addLayout(Kind::GradReduced, { Stat::Norm }, { "w" });
        std::vector<StepBlock> blocks;
        for (std::int64_t step = first; step < first + 10; ++step) {
            StepBlock& block = blocks.emplace_back();
            block.layout = layout;
            block.step = Step { step };
            block.columns = { { Stat::Norm, std::vector<float> { value } } };
        }
        builder.stage(builder.addAttempt(Rank { 0 }, attempt), std::move(blocks));
        builder.commit();
    };
    write(0, 0, 1);
    const auto reader = CapsuleBuilder::must(openReader(builder.liveHandle()));
    const SeriesId first = CapsuleBuilder::must(reader->catalog())->series.front().id;
    HeatQuery query { { { first, SeriesId { first.value + 1 } } }, Stat::Norm, { Step { 0 }, Step { 9 } }, 10 };
    query.memo = std::make_shared<RowsMemo>();
    QCOMPARE(CapsuleBuilder::must(reader->heatmap(query)).values, std::vector<float>(10, 1));
    write(1, 5, 2);
    QCOMPARE(
        CapsuleBuilder::must(reader->heatmap(query)).values, (std::vector<float> { 1, 1, 1, 1, 1, 2, 2, 2, 2, 2 }));
}

/// Every step was collected: whatever the width and whichever tiles answer, full ones or those sealed early, no pixel
/// is without.
void ReaderTest::noPixelIsEmptyThatHasASample()
{
    for (const bool isEarly : { false, true }) {
        const int steps = isEarly ? 700 : 5000;
        CapsuleBuilder builder(path() + (isEarly ? "early" : "full"));
        if (isEarly)
            builder.writer().keepOpen(1);
        const auto layout = builder.addLayout(Kind::Actv, { Stat::Norm }, { "a" });
        const std::int64_t stream = builder.addAttempt(Rank { 0 }, 0);
        for (int step = 0; step < steps;) {
            std::vector<StepBlock> blocks; // one more than fill a bucket of the pyramid
            for (const int end = std::min(step + 18, steps); step < end; ++step)
                blocks.push_back({ layout, Step { step }, 0, {}, { { Stat::Norm, std::vector<float> { 1 } } }, {} });
            builder.stage(stream, std::move(blocks));
            builder.commit();
        }
        builder.finish();
        const auto reader = CapsuleBuilder::must(openReader(builder.handle()));
        const auto catalog = CapsuleBuilder::must(reader->catalog());
        const RowAttempts row { catalog->series.front().id };
        int coarsest = 0;
        for (int pixels = 1; pixels <= 900; ++pixels) {
            const StepRange range { Step { pixels % 7 }, Step { steps - 1 - pixels % 5 } };
            const auto curve = reader->curve({ row, Stat::Norm, range, pixels });
            QVERIFY(curve);
            coarsest = std::max(coarsest, curve->level);
            for (int pixel = 0; pixel < pixels && pixels <= range.count(); ++pixel)
                QVERIFY2(curve->buckets[static_cast<std::size_t>(pixel)].samples > 0,
                    qPrintable(QStringLiteral("%1 of %2 pixels, level %3").arg(pixel).arg(pixels).arg(curve->level)));
        }
        QVERIFY(coarsest > 0);
    }
}

void ReaderTest::questionsOutsideTheRunAreEmpty()
{
    std::mt19937 random(1);
    CapsuleBuilder builder(path());
    RandomRun run(random, 300);
    run.write(builder, random, 0, 1);
    builder.finish();
    auto reader = CapsuleBuilder::must(openReader(builder.handle()));
    const auto past
        = reader->curve({ run.attemptsOf(0), Stat::Norm, { Step { 1 << 30 }, Step { (1 << 30) + 9 } }, 10 });
    QVERIFY(past);
    for (const Bucket& bucket : past->buckets)
        QCOMPARE(bucket.state, CellState::NotCollected);
    const auto unknown = reader->curve({ { SeriesId { 999'999 } }, Stat::Norm, run.steps(), 10 });
    QVERIFY(unknown);
    QCOMPARE(unknown->buckets.front().samples, 0u);
    QVERIFY(!reader->curve({ run.attemptsOf(0), Stat::Norm, run.steps(), 0 }));
    QVERIFY(!reader->heatmap({ {}, Stat::Norm, {}, 5 }));
    const auto none = reader->heatmap({ {}, Stat::Norm, run.steps(), 5 });
    QVERIFY(none && none->rows == 0 && none->values.empty());
}

void ReaderTest::canceledQuestionsFail()
{
    std::mt19937 random(2);
    CapsuleBuilder builder(path());
    RandomRun run(random, 300);
    run.write(builder, random, 0, 1);
    auto reader = CapsuleBuilder::must(openReader(builder.liveHandle()));
    const auto cancel = std::make_shared<std::atomic<bool>>(true);
    const auto curve = reader->curve({ run.attemptsOf(0), run.anyStat(random), run.steps(), 10 }, cancel);
    QVERIFY(!curve && curve.error().code == ErrorCode::Canceled);
    const auto heat = reader->heatmap({ { run.attemptsOf(0) }, run.anyStat(random), run.steps(), 10 }, cancel);
    QVERIFY(!heat && heat.error().code == ErrorCode::Canceled);
}

TELLTALE_TEST(QTEST_GUILESS_MAIN, ReaderTest)

}

#include "readertest.moc"
