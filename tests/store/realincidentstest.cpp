// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <random>
#include <sstream>

#include "sourcepath.h"
#include <telltale/judge/rankjudge.h>

namespace realincidentstest {

using namespace telltale;
using namespace telltale::judge;

namespace {

enum Scalar { Loss, GradNorm, LossScale, kScalars };

/// The rules over three scalars.
struct Replay {
    RankJudge judge { Rules() };
    std::vector<Sighting> seen;

    Replay()
    {
        Watchlist list;
        const ScalarRole roles[] = { ScalarRole::Loss, ScalarRole::GradNorm, ScalarRole::LossScale };
        for (int i = 0; i < kScalars; ++i) {
            Watched row { .kind = Kind::Scalar, .tensor = static_cast<std::uint32_t>(i), .phase = Phase::Loss };
            row.stat = Stat::Value;
            row.role = roles[i];
            if (i != LossScale) {
                row.rollup = i;
                list.rollups.push_back({ Kind::Scalar, i == Loss ? "loss" : "grad-norm", 1, roles[i] });
            }
            list.rows.push_back(row);
        }
        judge.take(std::move(list));
    }

    /// Whether the step opens an incident. NaN: not measured.
    bool opens(std::int64_t step, std::array<double, kScalars> values)
    {
        std::array<float, kScalars> floats {};
        std::array<series::CellState, kScalars> states {};
        for (std::size_t i = 0; i < kScalars; ++i) {
            floats[i] = static_cast<float>(values[i]);
            states[i] = std::isnan(values[i]) ? series::CellState::NotCollected : series::CellState::Value;
        }
        judge.judge({ Step { step }, floats, states, {} }, seen);
        return std::any_of(seen.begin(), seen.end(), [](const Sighting& one) { return one.opens; });
    }
};

}

/// Five incidents of large trainings, as their chronicles print them. What came before each is made up: 400 steps of
/// lognormal noise around what the rows before it say. Nothing is tuned on that noise. Thread: test.
class RealIncidentsTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    /// As of the gradients of a block: one batch may make them large, and what it moved the next ones.
    void theNormOfAllGradientsMayJumpAsThoseOfABlockDo()
    {
        const auto saidAt = [](std::int64_t at, double factor, std::int64_t steps) {
            Replay replay;
            std::mt19937_64 random(7);
            std::normal_distribution<double> noise(0, 0.1);
            for (std::int64_t step = 0; step < 300; ++step) {
                const double jump = step >= at && step < at + steps ? factor : 1;
                if (replay.opens(step, { 3 * std::exp(noise(random)), jump * std::exp(noise(random)), 1 }))
                    return step;
            }
            return std::int64_t { -1 };
        };
        QCOMPARE(saidAt(51, 9, 3), std::int64_t { -1 });
        QCOMPARE(saidAt(51, 40, 3), std::int64_t { -1 });
        QCOMPARE(saidAt(51, 40, 20), std::int64_t { 60 }); // ten steps of it
        QCOMPARE(saidAt(51, 4000, 1), std::int64_t { 51 });
        QCOMPARE(saidAt(220, 9, 1), std::int64_t { -1 }); // the positions of a batch may pull one way for once
        QCOMPARE(saidAt(220, 9, 3), std::int64_t { 222 });
        QCOMPARE(saidAt(220, 40, 1), std::int64_t { 220 }); // it is known what batches do
    }

    void everyOneIsSeenNoLaterThanInTheLoss_data()
    {
        QTest::addColumn<QString>("run");
        QTest::addColumn<int>("first"); // row that is judged
        QTest::addColumn<int>("latest"); // iteration at which the loss shows it
        QTest::addColumn<double>("loss");
        QTest::addColumn<double>("gradNorm"); // before it; 0: not logged
        QTest::addColumn<double>("deviation"); // of its logarithm
        QTest::addColumn<double>("scale"); // of the loss; 0: none
        QTest::newRow("176B") << QStringLiteral("tr11-176B") << 31215 << 31219 << 2.2 << 0.2 << 0.15 << 0.0;
        QTest::newRow("104B-wide 11446") << QStringLiteral("tr8-104B-wide") << 11447 << 11448 << 3.06 << 12952.0 << 0.3
                                         << 65536.0;
        QTest::newRow("104B-wide 8738") << QStringLiteral("tr8-104B-wide") << 8739 << 8741 << 3.35 << 150000.0 << 0.35
                                        << 65536.0;
        QTest::newRow("8b-104B") << QStringLiteral("tr8b-104B") << 17061 << 17062 << 2.66 << 400000.0 << 0.3
                                 << 1048576.0;
        QTest::newRow("13B") << QStringLiteral("tr1-13B") << 29050 << 29050 << 2.77 << 0.0 << 0.0 << 65536.0;
    }
    void everyOneIsSeenNoLaterThanInTheLoss()
    {
        QFETCH(QString, run);
        QFETCH(int, first);
        QFETCH(int, latest);
        QFETCH(double, loss);
        QFETCH(double, gradNorm);
        QFETCH(double, deviation);
        QFETCH(double, scale);
        constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
        Replay replay;
        std::mt19937 random(1);
        std::normal_distribution<double> noise;
        for (int i = 400; i > 0; --i) {
            const double norm = gradNorm > 0 ? gradNorm * std::exp(deviation * noise(random)) : kNone;
            QVERIFY(
                !replay.opens(first - i, { loss * std::exp(0.02 * noise(random)), norm, scale > 0 ? scale : kNone }));
        }
        int opened = -1;
        for (const auto& [iteration, values] : rows(run.toStdString())) {
            if (iteration >= first && opened < 0 && replay.opens(iteration, values))
                opened = iteration;
        }
        QVERIFY2(opened >= first && opened <= latest, qPrintable(QString::number(opened)));
    }

    void noiseIsNoIncident_data()
    {
        QTest::addColumn<double>("deviation");
        for (const double deviation : { 0.05, 0.15, 0.35, 0.6 })
            QTest::addRow("%g", deviation) << deviation;
    }
    /// 10,000 steps of which nothing was tuned.
    void noiseIsNoIncident()
    {
        QFETCH(double, deviation);
        Replay replay;
        std::mt19937 random(4711);
        std::normal_distribution<double> noise;
        int opened = 0;
        for (int step = 0; step < 10'000; ++step) {
            const double loss = 3 * std::exp(std::min(deviation, 0.1) * noise(random));
            opened += replay.opens(step, { loss, std::exp(deviation * noise(random)), 65536.0 }) ? 1 : 0;
        }
        QCOMPARE(opened, 0);
    }

private:
    static std::map<int, std::array<double, kScalars>> rows(const std::string& run)
    {
        std::ifstream file(telltale::test::sourcePath("tests/data/incidents/bigscience_spike_traces.csv"));
        std::map<int, std::array<double, kScalars>> all;
        for (std::string line; std::getline(file, line);) {
            std::istringstream cells(line);
            std::array<std::string, 5> words;
            for (std::string& word : words)
                std::getline(cells, word, ',');
            if (words[0] != run)
                continue;
            std::array<double, kScalars> values {};
            for (std::size_t i = 0; i < kScalars; ++i)
                values[i] = words[i + 2].empty() ? std::numeric_limits<double>::quiet_NaN() : std::stod(words[i + 2]);
            if (values[GradNorm] == 0)
                values[GradNorm] = std::numeric_limits<double>::quiet_NaN();
            all[std::stoi(words[1])] = values;
        }
        return all;
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, RealIncidentsTest)

}

#include "realincidentstest.moc"
