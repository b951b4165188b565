// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <QTemporaryDir>

#include <telltale/core/histogram.h>
#include <telltale/core/numberformats.h>
#include <telltale/series/rowindex.h>
#include <telltale/store/rowsof.h>
#include <telltale/store/runindex.h>
#include <telltale/store/runreader.h>
#include <telltale/store/sqlite.h>

#include "capsulebuilder.h"

namespace formatsharestest {

using namespace telltale;
using series::CellState;
using telltale::test::CapsuleBuilder;

namespace {

constexpr std::uint64_t kElements = 1000;
/// Of one nothing else is known: what is missing in its bins is NaN.
enum Tensor : std::uint8_t { WithStatistics, Alone, EverySecondStep, SometimesAllNaN, kTensors };

const std::vector<Stat>& shares()
{
    static const auto kShares = [] {
        std::vector<Stat> found;
        for (const StatFacts& facts : kStatTable) {
            if (isFormatShare(facts.stat))
                found.push_back(facts.stat);
        }
        return found;
    }();
    return kShares;
}

/// The limits of all formats and nothing between them: several histograms lie in a group.
std::vector<double> fewEdges()
{
    std::vector<double> limits { 65536, 0x1p17 };
    for (const NumberFormatFacts& facts : kNumberFormats)
        limits.insert(limits.end(), { facts.flushed, facts.normal });
    std::sort(limits.begin(), limits.end());
    limits.erase(std::unique(limits.begin(), limits.end()), limits.end());
    std::vector<double> edges { 0, std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity() };
    for (const double limit : limits)
        edges.insert(edges.end(), { limit, std::nextafter(-limit, 0.0) });
    std::sort(edges.begin(), edges.end());
    return edges;
}

std::uint64_t nansAt(Tensor tensor, std::int64_t step)
{
    switch (tensor) {
    case WithStatistics:
        return step % 97 == 0 ? 10 : 0;
    case Alone:
        return step % 89 == 0 ? 1 : 0;
    case SometimesAllNaN:
        return step % 50 == 7 ? kElements : 0;
    default:
        return 0;
    }
}

bool isMeasured(Tensor tensor, std::int64_t step)
{
    return tensor != EverySecondStep || step % 2 == 0;
}

std::vector<double> countsAt(std::size_t bins, Tensor tensor, std::int64_t step)
{
    std::mt19937 random(static_cast<unsigned>(step * kTensors + tensor));
    std::vector<double> counts(bins);
    const std::size_t first = random() % bins;
    const std::size_t reach = 1 + random() % bins;
    for (std::uint64_t i = nansAt(tensor, step); i < kElements; ++i)
        ++counts[(first + random() % reach) % bins];
    return counts;
}

double shareOf(const std::vector<double>& edges, const std::vector<double>& counts, Stat stat)
{
    const int place = static_cast<int>(stat) - static_cast<int>(Stat::Fp16Underflow);
    const FormatLoss loss = lossOf(edges, counts, static_cast<NumberFormat>(place / 2));
    return place % 2 == 0 ? loss.flushed.least : loss.overflowed.least;
}

}

/// Shares that number formats would lose, as a statistic like any other. Thread: the test's.
class FormatSharesTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() { m_dir = std::make_unique<QTemporaryDir>(); }
    void cleanup() { m_dir.reset(); }

    void onlyHistogramsWithOctavesAnswer()
    {
        const std::vector octaves(octaveEdges().begin(), octaveEdges().end());
        const std::array kHist { Stat::Hist };
        for (const Stat stat : shares()) {
            QVERIFY(series::answers(series::statBits(kHist, octaves), stat));
            QVERIFY(series::answers(series::statBits(kHist, fewEdges()), stat));
            QVERIFY(!series::answers(series::statBits(kHist, std::vector<double> { -1, 0, 1 }), stat));
            QVERIFY(!series::answers(series::statBits(kHist), stat));
            QVERIFY(!series::answers(series::statBits(std::array { Stat::Norm, Stat::Max, Stat::Min }), stat));
        }
        QCOMPARE(shares().size(), 2 * kNumberFormats.size());
    }

    void everyQuestionHasTheAnswerOfBruteForce_data()
    {
        QTest::addColumn<bool>("areFew");
        QTest::addColumn<std::int64_t>("steps");
        QTest::newRow("octaves") << false << std::int64_t { 1300 };
        QTest::newRow("a few bins") << true << std::int64_t { 1300 };
        QTest::newRow("a whole tile of level 2") << true << std::int64_t { 4200 };
    }
    void everyQuestionHasTheAnswerOfBruteForce()
    {
        QFETCH(bool, areFew);
        QFETCH(std::int64_t, steps);
        m_edges = areFew ? fewEdges() : std::vector(octaveEdges().begin(), octaveEdges().end());
        m_steps = steps;
        CapsuleBuilder builder(path());
        record(builder);
        {
            const auto live = *store::openReader(builder.liveHandle());
            check(*live);
        }
        builder.finish();
        const auto reader = *store::openReader(builder.handle());
        check(*reader);
    }

    /// Beside a tile that cannot be read nobody knows whether a share is one of all elements.
    void noShareIsAValueWhereTheCountsOfNaNAreDamaged()
    {
        m_edges = fewEdges();
        m_steps = 700;
        CapsuleBuilder builder(path());
        record(builder);
        builder.finish();
        damage(Stat::Nans, 256);
        const auto reader = *store::openReader(builder.handle());
        const std::vector<series::RowAttempts> rows = rowsOf(*reader);
        const auto stateOf = [](Tensor tensor, std::int64_t step) {
            return tensor == WithStatistics && step >= 256 && step < 512 ? CellState::Damaged
                : nansAt(tensor, step) > 0                               ? CellState::NaN
                                                                         : CellState::Value;
        };
        const StepRange range { Step { 0 }, Step { m_steps - 1 } };
        const auto pixels = static_cast<int>(m_steps);
        for (const Stat stat : { Stat::Fp16Underflow, Stat::Bf16Overflow }) {
            const auto heat = reader->heatmap({ rows, stat, range, pixels });
            QVERIFY(heat);
            for (const Tensor tensor : { WithStatistics, Alone }) {
                const auto curve = reader->curve({ rows[tensor], stat, range, pixels });
                QVERIFY(curve);
                std::int64_t next = 0;
                QVERIFY(reader->raw(rows[tensor], stat, range, [&](const series::RawValue& value) {
                    const CellState state = stateOf(tensor, next);
                    const bool isRight = value.step == Step { next } && value.state == state
                        && std::isnan(value.value) == (state == CellState::Damaged);
                    next += isRight ? 1 : 0;
                    return isRight;
                }));
                QCOMPARE(next, m_steps);
                for (std::int64_t step = 0; step < m_steps; ++step) {
                    const auto pixel = static_cast<std::size_t>(step);
                    const CellState state = stateOf(tensor, step);
                    const bool isDamaged = state == CellState::Damaged;
                    QCOMPARE(curve->buckets[pixel].state, state);
                    QCOMPARE(curve->buckets[pixel].samples, isDamaged ? 0U : 1U);
                    const std::size_t cell = tensor * static_cast<std::size_t>(heat->columns) + pixel;
                    QCOMPARE(heat->states[cell], state);
                    QCOMPARE(std::isnan(heat->values[cell]), isDamaged);
                }
            }
            for (const std::int64_t step : { 255, 256, 291, 511, 512, 582 }) {
                for (const bool nearest : { false, true }) {
                    const auto cells = reader->column(Step { step }, stat, rows, nearest);
                    QVERIFY(cells);
                    for (const Tensor tensor : { WithStatistics, Alone }) {
                        QCOMPARE((*cells)[tensor].state, stateOf(tensor, step));
                        QCOMPARE((*cells)[tensor].step, Step { step });
                    }
                    QCOMPARE((*cells)[WithStatistics].nans, step == 582 ? 10U : 0U);
                }
            }
        }
    }

    /// Looking for a row makes none: with few bins a group has many rows, and all of them have the same.
    void aGroupsRowsShareWhatTheirSharesAreReadBy()
    {
        m_edges = fewEdges();
        m_steps = 50;
        CapsuleBuilder builder(path());
        record(builder);
        builder.finish();
        const auto reader = *store::openReader(builder.handle());
        const auto catalog = *reader->catalog();
        store::RunIndex index;
        index.setCatalog(catalog);
        index.setSources(catalog->sources);
        for (const series::RowAttempts& row : rowsOf(*reader)) {
            const auto segments = index.segments(row, Stat::Fp16Underflow);
            QCOMPARE(segments.size(), std::size_t { 1 });
            QVERIFY(!segments.front().tiles.shares);
            QCOMPARE(segments.front().series, row.series.back());
            const auto shares = index.sharesOf(segments.front().series, Stat::Fp16Underflow);
            QCOMPARE(shares->isLost, lostBins(m_edges, Stat::Fp16Underflow));
            QCOMPARE(shares->numels, (std::vector<std::uint64_t> { 0, kElements, kElements, kElements }));
            QVERIFY(!index.sharesOf(row.series.back(), Stat::Hist));
        }
    }

private:
    std::string path() const { return m_dir->filePath(QStringLiteral("run.telltale")).toStdString(); }

    /// One byte of the tile of single steps that begins at a column.
    void damage(Stat stat, int firstColumn) const
    {
        const auto db = CapsuleBuilder::must(store::openDatabase(path(), store::OpenMode::Write));
        auto select = CapsuleBuilder::must(
            store::Statement::prepare(db.get(), "SELECT id, data FROM tile WHERE lvl=0 AND stat=?1 AND c0=?2"));
        QVERIFY(CapsuleBuilder::must(select.bind(1, static_cast<int>(stat)).bind(2, firstColumn).step()));
        const std::int64_t id = select.integer(0);
        std::string data(select.blob(1));
        select.reset();
        data[data.size() / 2] = static_cast<char>(data[data.size() / 2] ^ 4);
        auto update = CapsuleBuilder::must(store::Statement::prepare(db.get(), "UPDATE tile SET data=?1 WHERE id=?2"));
        QVERIFY(update.bindBlob(1, data).bind(2, id).run());
    }

    /// By tensor.
    static std::vector<series::RowAttempts> rowsOf(store::RunReader& reader)
    {
        const auto catalog = *reader.catalog();
        const series::RowIndex& index = store::rowsOf(*catalog);
        std::vector<series::RowAttempts> rows(kTensors);
        for (const series::RowIndex::Row* row : index.select(Kind::GradReduced, {}, Stat::Fp16Underflow))
            rows.at(std::stoul(index.key(*row).name.substr(1))) = row->attempts;
        return rows;
    }

    void record(CapsuleBuilder& builder)
    {
        std::vector<std::string> names;
        for (int i = 0; i < kTensors; ++i)
            names.push_back("t" + std::to_string(i));
        auto layout
            = std::const_pointer_cast<SeriesLayout>(builder.addLayout(Kind::GradReduced, { Stat::Hist }, names));
        layout->edges = m_edges;
        for (SeriesDesc& one : layout->series) {
            one.definition = "elements a bin";
            one.numel = kElements;
        }
        const auto statistics = builder.addLayout(Kind::GradReduced, { Stat::Norm, Stat::Nans }, { "t0" });
        const auto stream = builder.addAttempt(Rank { 0 }, 0);
        for (std::int64_t from = 0; from < m_steps; from += 50) {
            std::vector<StepBlock> blocks;
            for (std::int64_t step = from; step < std::min(m_steps, from + 50); ++step) {
                std::vector<std::uint64_t> counts;
                StepBlock block;
                for (int i = 0; i < kTensors; ++i) {
                    const auto tensor = static_cast<Tensor>(i);
                    const std::vector<double> own = countsAt(m_edges.size() - 1, tensor, step);
                    const bool isThere = isMeasured(tensor, step);
                    for (const double count : own)
                        counts.push_back(isThere ? static_cast<std::uint64_t>(count) : 0);
                }
                block.layout = layout;
                block.step = Step { step };
                block.present = { isMeasured(EverySecondStep, step) ? 0b1111U : 0b1011U };
                block.columns = { { Stat::Hist, std::move(counts) } };
                blocks.push_back(std::move(block));
                StepBlock beside;
                beside.layout = statistics;
                beside.step = Step { step };
                beside.columns = { { Stat::Norm, std::vector { 1.0F } },
                    { Stat::Nans, std::vector { nansAt(WithStatistics, step) } } };
                blocks.push_back(std::move(beside));
            }
            builder.stage(stream, std::move(blocks));
            builder.commit();
        }
    }

    void check(store::RunReader& reader)
    {
        const std::vector<series::RowAttempts> rows = rowsOf(reader);
        for (const Stat stat : shares()) {
            for (int i = 0; i < kTensors; ++i) {
                const auto tensor = static_cast<Tensor>(i);
                checkSteps(reader, rows[tensor], tensor, stat);
                checkBuckets(reader, rows[tensor], tensor, stat);
            }
            checkColumn(reader, rows, stat);
        }
    }

    /// What is asked step by step is exact.
    void checkSteps(store::RunReader& reader, const series::RowAttempts& row, Tensor tensor, Stat stat)
    {
        const StepRange range { Step { 0 }, Step { std::min<std::int64_t>(m_steps, 700) - 1 } };
        std::vector<series::RawValue> raw;
        QVERIFY(reader.raw(row, stat, range, [&raw](const series::RawValue& value) {
            raw.push_back(value);
            return true;
        }));
        const auto pixels = static_cast<int>(range.count());
        const auto heat = reader.heatmap({ { row }, stat, range, pixels });
        const auto curve = reader.curve({ row, stat, range, pixels });
        QVERIFY(heat && curve);
        std::size_t at = 0;
        for (std::int64_t step = 0; step < pixels; ++step) {
            const auto pixel = static_cast<std::size_t>(step);
            if (!isMeasured(tensor, step)) {
                QCOMPARE(heat->states[pixel], CellState::NotCollected);
                QCOMPARE(curve->buckets[pixel].samples, 0U);
                continue;
            }
            QVERIFY(at < raw.size());
            const series::RawValue& value = raw[at++];
            const CellState state = nansAt(tensor, step) > 0 ? CellState::NaN : CellState::Value;
            QCOMPARE(value.step, Step { step });
            QCOMPARE(value.state, state);
            QCOMPARE(heat->states[pixel], state);
            QCOMPARE(curve->buckets[pixel].state, state);
            QCOMPARE(curve->buckets[pixel].nans, state == CellState::NaN ? 1U : 0U);
            if (nansAt(tensor, step) == kElements) {
                QVERIFY(std::isnan(value.value) && std::isnan(heat->values[pixel]));
                QCOMPARE(curve->buckets[pixel].finite, 0U);
                continue;
            }
            const double wanted = shareOf(m_edges, countsAt(m_edges.size() - 1, tensor, step), stat);
            QVERIFY(value.value == wanted); // to the last bit
            QVERIFY(heat->values[pixel] == static_cast<float>(wanted));
            QVERIFY(curve->buckets[pixel].last == wanted);
        }
        QCOMPARE(at, raw.size());
    }

    /// Of many steps it is the share of all their elements, and NaN wherever one of them was.
    void checkBuckets(store::RunReader& reader, const series::RowAttempts& row, Tensor tensor, Stat stat)
    {
        const StepRange range { Step { 0 }, Step { m_steps - 1 } };
        const auto heat = reader.heatmap({ { row }, stat, range, 1 });
        const auto curve = reader.curve({ row, stat, range, 1 });
        QVERIFY(heat && curve && (m_steps < 4096 || heat->level >= 1));
        std::vector<double> all(m_edges.size() - 1);
        std::uint64_t nans = 0;
        for (std::int64_t step = 0; step < m_steps; ++step) {
            nans += nansAt(tensor, step);
            const auto counts = isMeasured(tensor, step) ? countsAt(all.size(), tensor, step) : std::vector<double>();
            for (std::size_t bin = 0; bin < counts.size(); ++bin)
                all[bin] += counts[bin];
        }
        const double wanted = shareOf(m_edges, all, stat);
        // Where some elements are NaN, buckets weigh alike that have not the same number of others.
        const double exact = nans == 0 ? 1e-9 : 1e-2;
        QCOMPARE(heat->states[0], nans > 0 ? CellState::NaN : CellState::Value);
        QCOMPARE(curve->buckets[0].state, heat->states[0]);
        QVERIFY(std::abs(curve->buckets[0].mean - wanted) <= exact * std::max(wanted, 1e-3));
        QVERIFY(std::abs(static_cast<double>(heat->values[0]) - wanted) <= (exact + 1e-6) * std::max(wanted, 1e-3));
        QCOMPARE(heat->min, nans > 0 ? 0.0F : heat->values[0]);
    }

    void checkColumn(store::RunReader& reader, const std::vector<series::RowAttempts>& rows, Stat stat)
    {
        for (const std::int64_t step : { 0, 57, 89, 97, 301 }) {
            for (const bool nearest : { false, true }) {
                const auto cells = reader.column(Step { step }, stat, rows, nearest);
                QVERIFY(cells);
                for (int i = 0; i < kTensors; ++i) {
                    const auto tensor = static_cast<Tensor>(i);
                    const series::CellValue& cell = (*cells)[tensor];
                    const std::int64_t of = isMeasured(tensor, step) ? step : step - 1;
                    if (of != step && !nearest) {
                        QCOMPARE(cell.state, CellState::NotCollected);
                        continue;
                    }
                    QCOMPARE(cell.step, Step { of });
                    QCOMPARE(cell.state, nansAt(tensor, of) > 0 ? CellState::NaN : CellState::Value);
                    QCOMPARE(cell.nans, tensor == WithStatistics ? nansAt(tensor, of) : 0);
                    if (nansAt(tensor, of) < kElements)
                        QVERIFY(cell.value == shareOf(m_edges, countsAt(m_edges.size() - 1, tensor, of), stat));
                }
            }
        }
    }

    std::unique_ptr<QTemporaryDir> m_dir;
    std::vector<double> m_edges;
    std::int64_t m_steps = 0;
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, FormatSharesTest)

}

#include "formatsharestest.moc"
