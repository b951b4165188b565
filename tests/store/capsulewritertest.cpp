// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include <sys/resource.h>
#include <sys/stat.h>

#include <QTemporaryDir>

#include <telltale/core/bytes.h>
#include <telltale/store/archive.h>
#include <telltale/store/runfiles.h>
#include <telltale/store/sqlite.h>
#include <telltale/store/tilecodec.h>

#include "capsulebuilder.h"
#include "capsulecontent.h"

namespace capsulewritertest {

using namespace telltale;
using namespace telltale::store;
using namespace telltale::store::test;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

/// Values that formats like to lose, and noise.
double awkwardValue(std::int64_t step, std::size_t series, std::size_t stat)
{
    const std::uint64_t mixed
        = (static_cast<std::uint64_t>(step) + 1) * 0x9E3779B97F4A7C15u + series * 7919 + stat * 31;
    switch (mixed >> 59) {
    case 0:
        return kNan;
    case 1:
        return kInf;
    case 2:
        return -kInf;
    case 3:
        return -0.0;
    default:
        return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(mixed >> 20) & 0xBF7FFFFFu));
    }
}

std::uint64_t bitsOf(double value)
{
    return std::bit_cast<std::uint64_t>(value);
}

}

/// What the store thread writes is what was sent, in every state of the file. Thread: the store's is its own.
class CapsuleWriterTest : public QObject {
    Q_OBJECT

private:
    static std::string onlyRun(const QTemporaryDir& dir);

private Q_SLOTS:
    void sealedOpenAndTailGiveExactlyWhatWasWritten();
    void largeCountsStayExact();
    void pyramidAgreesWithBruteForce();
    void lastValueOfARepeatedScalarWins();
    void continuedStreamGoesOnWhereItEnded();
    void aLayoutThatNobodyWritesGivesItsTilesBack();
    void aLargeTileIsTakenApartInRowsThatFit();
    void attemptsFollowTheRules();
    void conflictingLayoutsGoToQuarantine();
    void duplicatesAreAckedAndNotStored();
    void anyFlippedBitIsFound();
    void fullDiskLosesNothing();
    void closedRunOpensFromAReadOnlyFolder();
    void newerVersionIsRefusedInASentence();
    void foreignTriggerIsRefused();
    void secondWriterIsTurnedAway();
    void runsAreListedRenamedAndDeleted();
};

std::string CapsuleWriterTest::onlyRun(const QTemporaryDir& dir)
{
    const auto paths = capsulePaths(dir.path().toStdString());
    return paths.size() == 1 ? paths.front() : std::string();
}

void CapsuleWriterTest::sealedOpenAndTailGiveExactlyWhatWasWritten()
{
    QTemporaryDir dir;
    const auto tensors = makeLayout(1, Kind::Actv, { Stat::Norm, Stat::Mean, Stat::Nans }, 133);
    const auto scalars = makeLayout(2, Kind::Scalar, { Stat::Value }, 2);
    const auto value = [](std::int64_t step, std::size_t series, std::size_t stat) {
        return stat == 2 ? static_cast<double>((step + static_cast<std::int64_t>(series)) % 3)
                         : awkwardValue(step, series, stat);
    };
    const auto scalar = [](std::int64_t step, std::size_t, std::size_t) { return 1.0 / static_cast<double>(step + 3); };
    constexpr int kSteps = 600;
    const auto check = [&](const std::string& path) {
        const auto groups = readContent(path);
        QCOMPARE(groups.size(), std::size_t { 3 });
        for (const auto& [id, group] : groups) {
            QCOMPARE(group.steps.size(), std::size_t { kSteps });
            const bool isScalar = group.stats.front() == Stat::Value;
            for (std::size_t column = 0; column < group.steps.size(); ++column) {
                // An arithmetic series, then gaps.
                const std::int64_t step = static_cast<std::int64_t>(column) + (column > 300 ? 9 : 0);
                QCOMPARE(group.steps[column], step);
                for (int lane = 0; lane < group.lanes; ++lane) {
                    const auto series = static_cast<std::size_t>(group.firstPosition + lane);
                    const bool present = isScalar || (static_cast<std::size_t>(step) + series) % 5 != 0;
                    const std::size_t cell
                        = static_cast<std::size_t>(lane) + column * static_cast<std::size_t>(group.lanes);
                    QCOMPARE(group.present[cell] != 0, present);
                    for (std::size_t s = 0; present && s < group.stats.size(); ++s) {
                        const double expected = isScalar ? scalar(step, series, s) : value(step, series, s);
                        if (bitsOf(group.at(s, lane, column)) != bitsOf(expected)
                            && !(std::isnan(expected) && std::isnan(group.at(s, lane, column))))
                            QCOMPARE(group.at(s, lane, column), expected);
                    }
                }
            }
        }
    };
    {
        Recorder recorder(dir.path().toStdString());
        const StreamId stream = recorder.open(makeRequest("exact", 1)).stream;
        for (int i = 0; i < kSteps; ++i) {
            const std::int64_t step = i + (i > 300 ? 9 : 0);
            StepBlock block = makeBlock(tensors, step, value);
            block.present.assign(3, 0);
            for (std::size_t series = 0; series < 133; ++series) {
                if ((static_cast<std::size_t>(step) + series) % 5 != 0)
                    block.present[series / 64] |= std::uint64_t { 1 } << (series % 64);
            }
            std::vector<StepBlock> blocks;
            blocks.push_back(std::move(block));
            blocks.push_back(makeBlock(scalars, step, scalar));
            recorder.send(stream, static_cast<std::uint64_t>(i + 1), std::move(blocks));
        }
        QVERIFY(recorder.waitDurable(stream, kSteps));
        // Readers of the live run see two tiles and never more than what is durable.
        const RunRef run = recorder.service().liveRuns().front();
        QCOMPARE(run->live->lastStep.load(), std::int64_t { kSteps + 8 });
        const auto tile = run->live->openTile(GroupId(1));
        QVERIFY(tile);
        QCOMPARE(tile->firstColumn() + tile->publishedColumns(), std::int64_t { kSteps });
        check(run->locator.text());
    }
    check(onlyRun(dir));
}

void CapsuleWriterTest::largeCountsStayExact()
{
    QTemporaryDir dir;
    const auto layout = makeLayout(1, Kind::Actv, { Stat::Norm, Stat::Nans }, 3);
    const auto value = [](std::int64_t step, std::size_t, std::size_t stat) {
        return stat == 1 ? 16777217.0 + static_cast<double>(step) * 2 : 1.5;
    };
    {
        Recorder recorder(dir.path().toStdString());
        const StreamId stream = recorder.open(makeRequest("counts", 1)).stream;
        for (int i = 0; i < 20; ++i)
            recorder.send(stream, static_cast<std::uint64_t>(i + 1), { makeBlock(layout, i, value) });
    }
    const auto groups = readContent(onlyRun(dir));
    QCOMPARE(groups.size(), std::size_t { 1 });
    for (std::size_t column = 0; column < 20; ++column)
        QCOMPARE(groups.begin()->second.at(1, 2, column), 16777217.0 + static_cast<double>(column) * 2);
}

void CapsuleWriterTest::pyramidAgreesWithBruteForce()
{
    QTemporaryDir dir;
    const auto layout = makeLayout(1, Kind::Actv, { Stat::Norm, Stat::Nans, Stat::PosInfs }, 18);
    const auto scalars = makeLayout(2, Kind::Scalar, { Stat::Value }, 2);
    const auto value = [](std::int64_t step, std::size_t series, std::size_t stat) {
        const double awkward = awkwardValue(step, series, stat);
        return stat == 0 ? awkward : (std::isnan(awkward) ? 3.0 : 0.0);
    };
    constexpr int kSteps = 4500;
    {
        Recorder recorder(dir.path().toStdString());
        const StreamId stream = recorder.open(makeRequest("pyramid", 1)).stream;
        std::uint64_t seq = 0;
        for (int i = 0; i < kSteps; i += 50) {
            std::vector<StepBlock> blocks;
            for (int step = i; step < i + 50; ++step) {
                StepBlock block = makeBlock(layout, step, value);
                block.present = { 0x3FFFFu & ~(std::uint64_t { 1 } << (step % 18)) };
                blocks.push_back(std::move(block));
                blocks.push_back(makeBlock(scalars, step, awkwardValue));
            }
            recorder.send(stream, ++seq, std::move(blocks));
        }
        QVERIFY(recorder.waitDurable(stream, seq));
    }
    const std::string path = onlyRun(dir);
    const auto groups = readContent(path);
    auto db = openDatabase(path, OpenMode::Read);
    auto tiles = Statement::prepare(
        db->get(), "SELECT lvl, stat, grp, c0, first_step, last_step, data FROM tile WHERE lvl > 0");
    QVERIFY(tiles.has_value());
    std::map<int, int> buckets;
    while (tiles->step().value_or(false)) {
        const int level = static_cast<int>(tiles->integer(0));
        const auto stat = static_cast<Stat>(tiles->integer(1));
        const GroupContent& group = groups.at(tiles->integer(2));
        const auto s
            = static_cast<std::size_t>(std::find(group.stats.begin(), group.stats.end(), stat) - group.stats.begin());
        const std::string data(tiles->blob(6));
        const auto view = openTile(data);
        QVERIFY(view.has_value());
        std::map<PlaneRole, std::vector<double>> planes;
        for (int role = 1; role <= 8; ++role)
            planes[static_cast<PlaneRole>(role)].resize(16 * 64);
        for (int block = 0; block < view->subBlocks(); ++block) {
            for (auto& [role, cells] : planes)
                QVERIFY(view->decode(role, block, cells.data()).has_value());
            for (int lane = 0; lane < view->lanesOf(block); ++lane) {
                for (int bucket = 0; bucket < view->columns(); ++bucket) {
                    const auto first = static_cast<std::size_t>(tiles->integer(3) + bucket * bucketColumns(level));
                    const std::size_t last
                        = std::min(group.steps.size(), first + static_cast<std::size_t>(bucketColumns(level)));
                    double low = kInf, high = -kInf, sum = 0, scale = 0;
                    double samples = 0, finite = 0, nans = 0, posInfs = 0;
                    for (std::size_t column = first; column < last; ++column) {
                        const int row = block * 16 + lane;
                        if (group
                                .present[static_cast<std::size_t>(row) + column * static_cast<std::size_t>(group.lanes)]
                            == 0)
                            continue;
                        ++samples;
                        const double v = group.at(s, row, column);
                        const bool counted = group.stats.size() == 3;
                        nans += counted ? (s == 0 && group.at(1, row, column) > 0 ? 1 : 0) : (std::isnan(v) ? 1 : 0);
                        posInfs += counted ? (s == 0 && group.at(2, row, column) > 0 ? 1 : 0) : (v == kInf ? 1 : 0);
                        if (!std::isfinite(v))
                            continue;
                        ++finite;
                        low = std::min(low, v);
                        high = std::max(high, v);
                        sum += v;
                        scale = std::max(scale, std::abs(v));
                    }
                    const auto cell = static_cast<std::size_t>(lane * view->columns() + bucket);
                    QCOMPARE(planes[PlaneRole::Samples][cell], samples);
                    QCOMPARE(planes[PlaneRole::Finite][cell], finite);
                    QCOMPARE(planes[PlaneRole::Nans][cell], nans);
                    QCOMPARE(planes[PlaneRole::PosInfs][cell], posInfs);
                    QVERIFY(planes[PlaneRole::Min][cell] == (finite > 0 ? low : 0.0));
                    QVERIFY(planes[PlaneRole::Max][cell] == (finite > 0 ? high : 0.0));
                    const double mean = planes[PlaneRole::Mean][cell];
                    QVERIFY(finite == 0 || (mean >= low && mean <= high));
                    QVERIFY(finite == 0 || std::abs(mean - sum / finite) <= scale * level / 65536.0);
                    QCOMPARE(view->firstSteps()[static_cast<std::size_t>(bucket)].value, group.steps[first]);
                    QCOMPARE(view->lastSteps()[static_cast<std::size_t>(bucket)].value, group.steps[last - 1]);
                    if (s == 0 && lane == 0 && block == 0 && group.stats.size() == 3)
                        ++buckets[level];
                }
            }
        }
    }
    // Every level reaches the end of the closed run.
    QCOMPARE(buckets[1], (kSteps + 15) / 16);
    QCOMPARE(buckets[2], (kSteps + 63) / 64);
    QCOMPARE(buckets[3], (kSteps + 255) / 256);
    QCOMPARE(buckets[4], (kSteps + 1023) / 1024);
}

void CapsuleWriterTest::lastValueOfARepeatedScalarWins()
{
    QTemporaryDir dir;
    const auto layout = makeLayout(1, Kind::Scalar, { Stat::Value }, 2);
    {
        Recorder recorder(dir.path().toStdString());
        const StreamId stream = recorder.open(makeRequest("scalar", 1)).stream;
        const auto fixed = [](double v) { return [v](std::int64_t, std::size_t, std::size_t) { return v; }; };
        for (int i = 0; i < 10; ++i)
            recorder.send(stream, static_cast<std::uint64_t>(i + 1), { makeBlock(layout, i, fixed(i)) });
        StepBlock onlySecond = makeBlock(layout, 4, fixed(44));
        onlySecond.present = { 2 };
        recorder.send(stream, 11, { onlySecond, makeBlock(layout, 9, fixed(99)) });
        QVERIFY(recorder.waitDurable(stream, 11));
    }
    const GroupContent group = readContent(onlyRun(dir)).begin()->second;
    QCOMPARE(group.steps.size(), std::size_t { 10 });
    QCOMPARE(group.at(0, 0, 4), 4.0);
    QCOMPARE(group.at(0, 1, 4), 44.0);
    QCOMPARE(group.at(0, 0, 9), 99.0);
}

void CapsuleWriterTest::continuedStreamGoesOnWhereItEnded()
{
    QTemporaryDir dir;
    const auto layout = makeLayout(1, Kind::Actv, { Stat::Norm }, 20);
    const auto value = [](std::int64_t step, std::size_t series, std::size_t) {
        return static_cast<double>(step) + static_cast<double>(series) / 64;
    };
    std::uint64_t seq = 0;
    for (int session = 0; session < 5; ++session) {
        Recorder recorder(dir.path().toStdString());
        const StreamOpened opened = recorder.open(makeRequest("again", 1));
        QCOMPARE(opened.durableSeq, seq);
        QCOMPARE(opened.layouts.size(), std::size_t { session == 0 ? 0u : 1u });
        for (int i = 0; i < 300; ++i, ++seq)
            recorder.send(opened.stream, seq + 1, { makeBlock(layout, static_cast<std::int64_t>(seq), value) });
        QVERIFY(recorder.waitDurable(opened.stream, seq));
    }
    const std::string path = onlyRun(dir);
    const GroupContent group = readContent(path).begin()->second;
    QCOMPARE(group.steps.size(), std::size_t { 1500 });
    for (std::size_t column = 0; column < 1500; ++column) {
        QCOMPARE(group.steps[column], static_cast<std::int64_t>(column));
        QCOMPARE(group.at(0, 19, column), value(static_cast<std::int64_t>(column), 19, 0));
    }
    QCOMPARE(numberOf(path, "SELECT count(*) FROM tile WHERE lvl = 1"), std::int64_t { 2 });
    QCOMPARE(numberOf(path, "SELECT count(*) FROM tail"), std::int64_t { 0 });
}

void CapsuleWriterTest::aLayoutThatNobodyWritesGivesItsTilesBack()
{
    QTemporaryDir dir;
    const std::string path = dir.filePath(QStringLiteral("run.telltale")).toStdString();
    const auto value = [](std::int64_t step, std::size_t series, std::size_t stat) {
        return static_cast<double>(step * 4) + static_cast<double>(series) / 256 + static_cast<double>(stat);
    };
    const auto first = makeLayout(1, Kind::Actv, { Stat::Norm, Stat::Mean }, 200);
    const auto second = makeLayout(2, Kind::Actv, { Stat::Norm }, 3);
    telltale::test::CapsuleBuilder builder(path);
    CapsuleWriter& writer = builder.writer();
    const auto stream = builder.addAttempt(Rank { 0 }, 0);
    const auto release = [&writer] {
        return writer.releaseIdle(CapsuleWriter::Clock::now(), std::chrono::milliseconds { 0 }).has_value();
    };
    std::int64_t step = 0;
    std::int64_t firstSteps = 300;
    const auto write = [&](const auto& layout, int steps) {
        for (int i = 0; i < steps; ++i, ++step) {
            builder.stage(stream, { makeBlock(layout, step, value) });
            if (step % 16 == 0)
                builder.commit();
        }
        builder.commit();
    };
    const auto check = [&] {
        const auto content = readContent(path);
        QCOMPARE(content.size(), step > firstSteps ? std::size_t { 3 } : std::size_t { 2 });
        for (const auto& [id, group] : content) {
            const bool isFirst = group.stats.size() == 2;
            QCOMPARE(group.steps.size(), static_cast<std::size_t>(isFirst ? firstSteps : step - firstSteps));
            for (std::size_t column = 0; column < group.steps.size(); ++column) {
                const auto last = static_cast<std::size_t>(group.lanes) - 1;
                QCOMPARE(group.at(0, group.lanes - 1, column),
                    value(group.steps[column], last + static_cast<std::size_t>(group.firstPosition), 0));
            }
        }
    };
    write(first, 300);
    for (int round = 0; round < 3; ++round) {
        // As long as nothing else comes on its stream, it may only be slow.
        QVERIFY(release());
        QVERIFY(builder.live()->openTile(GroupId { 1 }) != nullptr);
        write(second, 256);
        QVERIFY(release());
        QVERIFY(builder.live()->openTile(GroupId { 1 }) == nullptr);
        QVERIFY(builder.live()->openTile(GroupId { 2 }) == nullptr);
        QVERIFY(builder.live()->openTile(GroupId { 3 }) != nullptr);
        QCOMPARE(numberOf(path, "SELECT count(*) FROM tile WHERE lvl = 0 AND grp < 3 AND c0 = 256"), 4);
        check();
        write(first, 30);
        firstSteps += 30;
        QVERIFY(builder.live()->openTile(GroupId { 1 }) != nullptr);
        check();
    }
    builder.crash();
    check();
    LiveRun live;
    auto again = CapsuleWriter::open(path, live);
    QVERIFY(again && (*again)->finish(RunState::Finished) && (*again)->tidyUp());
    check();
    QCOMPARE(numberOf(path, "SELECT count(*) FROM tail"), std::int64_t { 0 });
}

void CapsuleWriterTest::aLargeTileIsTakenApartInRowsThatFit()
{
    QTemporaryDir dir;
    const std::string path = dir.filePath(QStringLiteral("run.telltale")).toStdString();
    const auto layout = makeLayout(1, Kind::Actv, { Stat::Norm, Stat::Mean, Stat::Min, Stat::Max }, 3000);
    const auto value = [](std::int64_t step, std::size_t series, std::size_t) {
        return static_cast<double>(step) + static_cast<double>(series);
    };
    telltale::test::CapsuleBuilder builder(path);
    const auto stream = builder.addAttempt(Rank { 0 }, 0);
    std::int64_t step = 0;
    for (; step < 250; ++step) { // 12 MB
        builder.stage(stream, { makeBlock(layout, step, value) });
        builder.commit();
    }
    builder.releaseAll();
    QCOMPARE(numberOf(path, "SELECT count(*) FROM tail"), std::int64_t { 0 });
    builder.stage(stream, { makeBlock(layout, step, value) });
    builder.commit();
    QVERIFY(numberOf(path, "SELECT max(length(data)) FROM tail") < (6 << 20));
    builder.crash();
    for (const auto& [id, group] : readContent(path)) {
        QCOMPARE(group.steps.size(), std::size_t { 251 });
        QCOMPARE(group.at(0, 0, 250), value(250, static_cast<std::size_t>(group.firstPosition), 0));
    }
}

void CapsuleWriterTest::attemptsFollowTheRules()
{
    QTemporaryDir dir;
    Recorder recorder(dir.path().toStdString());
    const auto first = recorder.open(makeRequest("job", 1));
    const auto sameAgain = recorder.open(makeRequest("job", 1));
    QCOMPARE(first.run->locator.text(), sameAgain.run->locator.text());
    const auto second = recorder.open(makeRequest("job", 2));
    auto restarted = makeRequest("job", 3);
    restarted.restartCount = 7;
    recorder.open(restarted);
    QCOMPARE(second.run->locator.text(), first.run->locator.text());
    QCOMPARE(numberOf(first.run->locator.text(), "SELECT count(*) FROM source"), std::int64_t { 3 });
    QCOMPARE(numberOf(first.run->locator.text(), "SELECT sum(attempt) FROM source"), std::int64_t { 0 + 1 + 7 });
    const auto other = recorder.open(makeRequest("other", 1));
    QVERIFY(other.run->locator.text() != first.run->locator.text());
    recorder.service().closeStream(other.stream, "finished", 0);
    const auto anew = recorder.open(makeRequest("other", 2));
    QVERIFY(anew.run->locator.text() != other.run->locator.text());
    QVERIFY(other.run->live->closed.load());
    QCOMPARE(metaOf(other.run->locator.text(), "state"), std::string("1"));
    // However late: a known incarnation continues its stream even in a finished run.
    QCOMPARE(recorder.open(makeRequest("other", 1)).run->locator.text(), other.run->locator.text());
}

void CapsuleWriterTest::conflictingLayoutsGoToQuarantine()
{
    QTemporaryDir dir;
    Recorder recorder(dir.path().toStdString());
    const auto opened = recorder.open(makeRequest("conflict", 1));
    const auto zero = [](std::int64_t, std::size_t, std::size_t) { return 1.0; };
    recorder.send(opened.stream, 1, { makeBlock(makeLayout(1, Kind::Actv, { Stat::Norm }, 4), 0, zero) });
    recorder.send(opened.stream, 2, { makeBlock(makeLayout(1, Kind::Actv, { Stat::Norm }, 5), 1, zero) });
    recorder.send(opened.stream, 3, { makeBlock(makeLayout(1, Kind::Actv, { Stat::Norm }, 4), 2, zero) });
    QVERIFY(recorder.service().quarantine(opened.stream, 4, "raw bytes", "too deep"));
    QVERIFY(recorder.waitDurable(opened.stream, 4));
    std::vector<std::uint64_t> bad;
    for (const StoreEvent& event : recorder.events) {
        if (const auto* quarantined = std::get_if<BatchQuarantined>(&event))
            bad.push_back(quarantined->seq);
    }
    QCOMPARE(bad, (std::vector<std::uint64_t> { 2, 4 }));
    QCOMPARE(numberOf(opened.run->locator.text(), "SELECT count(*) FROM quarantine"), std::int64_t { 2 });
    QCOMPARE(readContent(opened.run->locator.text()).begin()->second.steps, (std::vector<std::int64_t> { 0, 2 }));
}

void CapsuleWriterTest::duplicatesAreAckedAndNotStored()
{
    QTemporaryDir dir;
    Recorder recorder(dir.path().toStdString());
    const auto opened = recorder.open(makeRequest("twice", 1));
    const auto layout = makeLayout(1, Kind::Actv, { Stat::Norm }, 4);
    const auto one = [](std::int64_t, std::size_t, std::size_t) { return 1.0; };
    recorder.send(opened.stream, 1, { makeBlock(layout, 0, one) });
    QVERIFY(recorder.waitDurable(opened.stream, 1));
    recorder.events.clear();
    recorder.send(opened.stream, 1, { makeBlock(layout, 0, one) });
    QVERIFY(recorder.waitDurable(opened.stream, 1));
    QCOMPARE(readContent(opened.run->locator.text()).begin()->second.steps.size(), std::size_t { 1 });
    QCOMPARE(numberOf(opened.run->locator.text(), "SELECT duplicates FROM stream"), std::int64_t { 1 });
}

void CapsuleWriterTest::anyFlippedBitIsFound()
{
    QTemporaryDir dir;
    {
        Recorder recorder(dir.path().toStdString());
        const auto opened = recorder.open(makeRequest("flip", 1));
        const auto layout = makeLayout(1, Kind::Actv, { Stat::Norm }, 40);
        auto batch = std::make_shared<SampleBatch>();
        batch->stream = opened.stream;
        batch->seq = 1;
        for (int i = 0; i < 300; ++i)
            batch->blocks.push_back(makeBlock(layout, i, awkwardValue));
        batch->blobs.push_back({ "b", 0, 1, "stack", "main", Step(0), "a text of a stack" });
        recorder.send(batch);
    }
    const std::string path = onlyRun(dir);
    auto db = openDatabase(path, OpenMode::Write);
    QVERIFY(db.has_value());
    std::mt19937 random(3);
    for (const char* table : { "tile", "blob" }) {
        for (int i = 0; i < 20; ++i) {
            QVERIFY(verifyRun(RunLocator::ofFile(path))->problems.empty());
            const std::string name(table);
            auto rows = Statement::prepare(db->get(), "SELECT id, data FROM " + name + " ORDER BY random() LIMIT 1");
            QVERIFY(rows->step().value_or(false));
            const std::int64_t id = rows->integer(0);
            const std::string data(rows->blob(1));
            rows->reset();
            std::string flipped = data;
            flipped[random() % flipped.size()] ^= static_cast<char>(1 << (random() % 8));
            for (const std::string* bytes : { static_cast<const std::string*>(&flipped), &data }) {
                auto update = Statement::prepare(db->get(), "UPDATE " + name + " SET data = ? WHERE id = ?");
                QVERIFY(update->bindBlob(1, *bytes).bind(2, id).run().has_value());
                QCOMPARE(
                    verifyRun(RunLocator::ofFile(path))->problems.size(), bytes == &flipped ? std::size_t { 1 } : 0);
            }
        }
    }
}

void CapsuleWriterTest::fullDiskLosesNothing()
{
    QTemporaryDir dir;
    Recorder recorder(dir.path().toStdString());
    const auto opened = recorder.open(makeRequest("full", 1));
    const auto layout = makeLayout(1, Kind::Actv, { Stat::Norm, Stat::Mean }, 500);
    const auto has = [&recorder](bool recovered) {
        recorder.collect();
        return std::any_of(recorder.events.begin(), recorder.events.end(), [recovered](const StoreEvent& event) {
            const auto* trouble = std::get_if<StoreTrouble>(&event);
            return trouble && trouble->recovered == recovered;
        });
    };
    // A limit on the size of files fails writes as a full disk does.
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit before {};
    QCOMPARE(::getrlimit(RLIMIT_FSIZE, &before), 0);
    rlimit tight = before;
    tight.rlim_cur = 1u << 20;
    QCOMPARE(::setrlimit(RLIMIT_FSIZE, &tight), 0);
    constexpr int kBatches = 700;
    for (int i = 0; i < kBatches; ++i)
        recorder.send(opened.stream, static_cast<std::uint64_t>(i + 1), { makeBlock(layout, i, awkwardValue) });
    QTRY_VERIFY_WITH_TIMEOUT(has(false), 20000);
    QVERIFY(recorder.service().counters().inTrouble);
    QVERIFY(!has(true));
    QCOMPARE(::setrlimit(RLIMIT_FSIZE, &before), 0);
    QVERIFY(recorder.waitDurable(opened.stream, kBatches));
    QVERIFY(has(true));
    for (const auto& [id, group] : readContent(opened.run->locator.text())) {
        QCOMPARE(group.steps.size(), std::size_t { kBatches });
        for (std::size_t column = 0; column < kBatches; ++column) {
            QCOMPARE(group.steps[column], static_cast<std::int64_t>(column));
            const double expected
                = awkwardValue(static_cast<std::int64_t>(column), static_cast<std::size_t>(group.firstPosition + 1), 1);
            QVERIFY(bitsOf(group.at(1, 1, column)) == bitsOf(expected) || std::isnan(expected));
        }
    }
}

void CapsuleWriterTest::closedRunOpensFromAReadOnlyFolder()
{
    QTemporaryDir dir;
    {
        Recorder recorder(dir.path().toStdString());
        const auto opened = recorder.open(makeRequest("closed", 1));
        recorder.send(opened.stream, 1, { makeBlock(makeLayout(1, Kind::Actv, { Stat::Norm }, 4), 0, awkwardValue) });
    }
    const std::string path = onlyRun(dir);
    const std::string folder = std::filesystem::path(path).parent_path().native();
    QCOMPARE(static_cast<int>(std::distance(std::filesystem::directory_iterator(folder), {})), 1);
    QCOMPARE(::chmod(folder.c_str(), 0500), 0);
    const auto report = verifyRun(RunLocator::ofFile(path));
    const auto runs = listRuns(dir.path().toStdString());
    QCOMPARE(::chmod(folder.c_str(), 0700), 0);
    QVERIFY(report.has_value() && report->problems.empty() && report->blobs > 0);
    QCOMPARE(runs.front().state, RunState::Interrupted);
    // The header's read and write versions say that no log belongs to the file.
    std::ifstream file(path, std::ios::binary);
    std::string head(100, '\0');
    file.read(head.data(), 100);
    QCOMPARE(head[18], '\1');
    QCOMPARE(head.substr(68, 4), std::string("TTLR"));
}

void CapsuleWriterTest::newerVersionIsRefusedInASentence()
{
    QTemporaryDir dir;
    {
        Recorder recorder(dir.path().toStdString());
        recorder.open(makeRequest("newer", 1));
    }
    const std::string path = onlyRun(dir);
    auto db = openDatabase(path, OpenMode::Write);
    QVERIFY(execute(db->get(), "PRAGMA user_version=9").has_value());
    db->reset();
    const auto runs = listRuns(dir.path().toStdString());
    QCOMPARE(runs.front().state, RunState::Newer);
    QVERIFY2(runs.front().note.find("newer Telltale") != std::string::npos, runs.front().note.c_str());
    QCOMPARE(verifyRun(RunLocator::ofFile(path)).error().code, ErrorCode::Newer);
    // The same job is still recorded, in a file of its own.
    Recorder recorder(dir.path().toStdString());
    QVERIFY(recorder.open(makeRequest("newer", 1)).run->locator.text() != path);
}

void CapsuleWriterTest::foreignTriggerIsRefused()
{
    QTemporaryDir dir;
    {
        Recorder recorder(dir.path().toStdString());
        recorder.open(makeRequest("hostile", 1));
    }
    const std::string path = onlyRun(dir);
    auto db = openDatabase(path, OpenMode::Write);
    QVERIFY(execute(db->get(), "CREATE TRIGGER t AFTER INSERT ON tail BEGIN DELETE FROM tile; END").has_value());
    db->reset();
    QCOMPARE(verifyRun(RunLocator::ofFile(path)).error().code, ErrorCode::Damaged);
    QCOMPARE(renameRun(RunLocator::ofFile(path), "x").error().code, ErrorCode::Damaged);
}

void CapsuleWriterTest::secondWriterIsTurnedAway()
{
    QTemporaryDir dir;
    Recorder recorder(dir.path().toStdString());
    StoreOptions options;
    options.dataDir = dir.path().toStdString();
    const auto second = StoreService::start(options);
    QVERIFY(!second.has_value());
    QCOMPARE(second.error().code, ErrorCode::Busy);
    QVERIFY(second.error().what.find(std::to_string(::getpid())) != std::string::npos);
}

void CapsuleWriterTest::runsAreListedRenamedAndDeleted()
{
    QTemporaryDir dir;
    const std::string data = dir.path().toStdString();
    {
        Recorder recorder(data);
        recorder.open(makeRequest("../../etc/passwd %\n\"x", 1));
        recorder.open(makeRequest("plain", 1));
    }
    auto runs = listRuns(data);
    QCOMPARE(runs.size(), std::size_t { 2 });
    for (const RunSummary& run : runs)
        QCOMPARE(std::filesystem::path(run.locator.text()).parent_path().native(), runsFolder(data));
    const auto hostile
        = std::find_if(runs.begin(), runs.end(), [](const RunSummary& run) { return run.name != "plain"; });
    QCOMPARE(hostile->name, std::string("../../etc/passwd %\n\"x"));
    QCOMPARE(findRun(data, hostile->id.substr(0, 6)).value_or(RunLocator()).text(), hostile->locator.text());
    QCOMPARE(findRun(data, "zz").error().code, ErrorCode::NotFound);
    QCOMPARE(findRun(data, hostile->name + ".telltale").error().code, ErrorCode::NotFound);
    const std::string other = runs[hostile == runs.begin() ? 1 : 0].locator.text();
    QCOMPARE(findRun(data, "plain").value_or(RunLocator()).text(), other);
    QVERIFY(renameRun(hostile->locator, "plain").has_value());
    QCOMPARE(findRun(data, "plain").error().code, ErrorCode::BadInput);
    QVERIFY(renameRun(hostile->locator, "good name").has_value());
    QVERIFY(deleteRun(runs[hostile == runs.begin() ? 1 : 0].locator).has_value());
    runs = listRuns(data);
    QCOMPARE(runs.size(), std::size_t { 1 });
    QCOMPARE(runs.front().name, std::string("good name"));
}

TELLTALE_TEST(QTEST_GUILESS_MAIN, CapsuleWriterTest)

}

#include "capsulewritertest.moc"
