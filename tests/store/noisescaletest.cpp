// SPDX-License-Identifier: GPL-3.0-or-later
// The gradient noise scale: what is estimated of a known one, when nothing is, and when the rule speaks.
#include "testmain.h"

#include <cmath>

#include <telltale/judge/noisescale.h>
#include <telltale/judge/peerwords.h>

#include "judged.h"

namespace noisescaletest {

using namespace telltale;
using namespace telltale::judge;
using telltale::test::CapsuleBuilder;
using telltale::test::incidentsOf;
using telltale::test::summary;
using telltale::test::Training;

namespace {

/// Squared norms of ranks whose gradients are a true one and noise of its own for each: |G|^2 = 1, S/b = `noise`.
struct Drawn {
    double small = 0;
    double big = 0;
};
Drawn drawn(int ranks, double noise, int step)
{
    constexpr int kElements = 256;
    Drawn out;
    std::vector<double> mean(kElements, 0);
    for (int rank = 0; rank < ranks; ++rank) {
        for (std::size_t i = 0; i < mean.size(); ++i) {
            const double normal = Training::noise(step, (rank * kElements + static_cast<int>(i)) * 7919 + 11) / 0.2;
            const double element = (1 + std::sqrt(noise) * normal) / std::sqrt(kElements);
            out.small += element * element / ranks;
            mean[i] += element / ranks;
        }
    }
    for (const double element : mean)
        out.big += element * element;
    return out;
}

struct Ranks {
    store::Catalog catalog {};
    std::vector<Watchlist> lists {};

    explicit Ranks(int ranks)
    {
        for (int rank = 0; rank < ranks; ++rank) {
            store::SourceInfo info;
            info.id = SourceId { rank };
            info.rank = Rank { rank };
            info.dp = rank;
            catalog.sources.push_back(info);
            Watchlist list;
            list.source = info.id;
            list.rank = info.rank;
            list.rollups
                = { { Kind::GradUnreduced, "a", 2 }, { Kind::GradUnreduced, "b", 1 }, { Kind::GradReduced, "a", 2 },
                      { Kind::GradReduced, "b", 1 }, { Kind::Scalar, "grad-norm", 1, ScalarRole::GradNorm } };
            for (const Kind kind : { Kind::GradUnreduced, Kind::GradReduced })
                list.rows.push_back({ .kind = kind, .numel = 100 });
            lists.push_back(std::move(list));
        }
    }

    NoiseScale scale(const char* rules = R"({"rules": {"noise_scale": {"on": true}}})") const
    {
        NoiseScale scale(CapsuleBuilder::must(Rules::fromJson(rules)));
        std::vector<const Watchlist*> all;
        for (const Watchlist& list : lists)
            all.push_back(&list);
        scale.take(catalog, all);
        return scale;
    }

    /// Each rank's squared norms, half in either block; `clip`: what the norm is cut down to, told only by the scalar.
    void add(NoiseScale& scale, int step, double small, double big, double clip = 1e9, bool isTold = true) const
    {
        const auto norm = [](double squared) { return static_cast<float>(std::sqrt(squared)); };
        for (std::size_t rank = 0; rank < lists.size(); ++rank) {
            // Unlike each other, and as large together.
            const double own = small * (rank == 0 ? 1.5 : 1 - 0.5 / (static_cast<double>(lists.size()) - 1));
            const double cut = std::min(big, clip * clip);
            scale.add(lists[rank].source, Step { step },
                { norm(own / 2), norm(own / 2), norm(cut / 2), norm(cut / 2), isTold ? norm(big) : NAN });
        }
    }
};

double valueAfter(const Ranks& ranks, const std::function<void(NoiseScale&, int)>& add, int steps = 200)
{
    NoiseScale scale = ranks.scale();
    for (int step = 0; step < steps; ++step)
        add(scale, step);
    scale.judge(0, Step { steps });
    return scale.valueOf(SourceId { 0 }).value_or(-1);
}

}

class NoiseScaleTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aKnownNoiseScaleIsFound_data()
    {
        QTest::addColumn<int>("ranks");
        QTest::addColumn<double>("noise");
        QTest::newRow("2 ranks, little noise") << 2 << 0.1;
        QTest::newRow("2 ranks") << 2 << 4.0;
        QTest::newRow("4 ranks") << 4 << 4.0;
        QTest::newRow("8 ranks, much noise") << 8 << 30.0;
    }
    void aKnownNoiseScaleIsFound()
    {
        QFETCH(int, ranks);
        QFETCH(double, noise);
        NoiseEstimate estimate;
        for (int step = 0; step < NoiseEstimate::kAveraged - 1; ++step) {
            const Drawn one = drawn(ranks, noise, step);
            estimate.take(static_cast<std::size_t>(ranks), one.small, one.big);
            QVERIFY(!estimate.value());
        }
        for (int step = 0; step < 200; ++step) {
            const Drawn one = drawn(ranks, noise, 1000 + step);
            estimate.take(static_cast<std::size_t>(ranks), one.small, one.big);
        }
        QVERIFY2(estimate.value() && std::abs(*estimate.value() / noise - 1) < 0.15,
            qPrintable(QString::number(estimate.value().value_or(-1))));
        // By hand: |G|^2 = (2 * 3 - 4) / 1, S/b = (4 - 3) / (1 - 1/2).
        NoiseEstimate exact;
        for (int step = 0; step < 100; ++step)
            exact.take(2, 4, 3);
        QVERIFY(std::abs(*exact.value() - 1) < 1e-12);
    }

    void aGroupIsAllItsRanksAndAllItsParameters()
    {
        const Ranks two(2);
        const auto add
            = [&two](NoiseScale& scale, int step) { two.add(scale, step, 4, 3 + 0.05 * Training::noise(step, 3)); };
        const double usual = valueAfter(two, add);
        QVERIFY2(std::abs(usual - 1) < 0.03, qPrintable(QString::number(usual)));
        Ranks silent(2); // a third rank sends nothing
        silent.catalog.sources.push_back(silent.catalog.sources.front());
        silent.catalog.sources.back().id = SourceId { 7 };
        QCOMPARE(valueAfter(silent, add), -1.0);
        Ranks sharded(2);
        for (Watchlist& list : sharded.lists)
            list.rows.back().numel = 50;
        QCOMPARE(valueAfter(sharded, add), -1.0);
        Ranks partial(2);
        for (Watchlist& list : partial.lists)
            list.rollups[2].members = 1;
        QCOMPARE(valueAfter(partial, add), -1.0);
        Ranks scaled(2);
        store::SeriesInfo series;
        series.source = SourceId { 0 };
        series.kind = Kind::GradUnreduced;
        SeriesDesc desc;
        desc.form = form::kScaled;
        series.desc = std::make_shared<const SeriesDesc>(std::move(desc));
        scaled.catalog.series.push_back(series);
        QCOMPARE(valueAfter(scaled, add), -1.0);
        const NoiseScale off = two.scale(R"({"rules": {}})");
        QVERIFY(!off.valueOf(SourceId { 0 }));
    }

    void whatIsNoMeanIsLeftOut()
    {
        const Ranks two(2);
        const auto wave = [](int step) { return 1 + 0.05 * Training::noise(step, 3); };
        const auto value = [&](double clip, bool isTold) {
            return valueAfter(two, [&](NoiseScale& scale, int step) {
                two.add(scale, step, 4 * wave(step), 3 * wave(step), clip, isTold);
            });
        };
        QVERIFY2(std::abs(value(1e9, false) - 1) < 0.03, qPrintable(QString::number(value(1e9, false))));
        QVERIFY(std::abs(value(1.0, true) - 1) < 0.03); // the scalar says what it was before it was clipped
        QCOMPARE(value(1.0, false), -1.0); // always clipped, and nobody says from what
        // A sum of the ranks' gradients, and steps that one rank did not send.
        QCOMPARE(valueAfter(two, [&](NoiseScale& scale, int step) { two.add(scale, step, 4, 12 * wave(step)); }), -1.0);
        QVERIFY(valueAfter(two, [&](NoiseScale& scale, int step) {
            two.add(scale, step, step % 3 == 0 ? NAN : 4 * wave(step), 3 * wave(step));
        }) > 0.9);
    }

    void theRuleSpeaksOfALastingChangeAndOfABatchFarTooSmall()
    {
        const Ranks four(4);
        const auto saidAt = [&four](const std::function<double(int)>& noise, const char* rules) {
            NoiseScale scale = four.scale(rules);
            for (int step = 0; step < 800; ++step) {
                const double wave = 1 + 0.05 * Training::noise(step, 3);
                four.add(scale, step, (1 + noise(step)) * wave, (1 + noise(step) / 4) * wave);
            }
            return scale.judge(0, Step { 800 });
        };
        const char* const on = R"({"rules": {"noise_scale": {"on": true}}})";
        QVERIFY(saidAt([](int) { return 10.0; }, on).empty());
        QVERIFY(saidAt([](int step) { return step < 400 ? 10.0 : 40.0; }, on).empty());
        const auto jump = saidAt([](int step) { return step < 400 ? 1.0 : 300.0; }, on);
        QCOMPARE(jump.size(), std::size_t { 1 });
        QVERIFY2(jump.front().since >= Step { 400 } && jump.front().since < Step { 420 }
                && jump.front().seen.value - jump.front().since.value == 49 && jump.front().usual > 0.9
                && jump.front().usual < 10,
            witnessOf(jump.front()).finding.sentence.c_str());
        QVERIFY2(
            witnessOf(jump.front()).finding.sentence.starts_with("the gradient noise scale of ranks 0, 1, 2, 3 is "),
            witnessOf(jump.front()).finding.sentence.c_str());
        const auto small
            = saidAt([](int) { return 100.0; }, R"({"rules": {"noise_scale": {"on": true, "batches": 20}}})");
        QCOMPARE(small.size(), std::size_t { 1 });
        QVERIFY(small.front().usual == 0 && std::abs(small.front().noise / 100 - 1) < 0.05);
        QVERIFY(small.front().seen == Step { NoiseEstimate::kAveraged + 48 });
    }

    void itIsOffUnlessAskedForAndOpensACard()
    {
        QVERIFY(!Rules().isOn(Rule::NoiseScale) && Rules().isOn(Rule::MaxLogit));
        Training training;
        training.ranks = 2;
        training.steps = 300;
        training.kinds = { Kind::GradUnreduced, Kind::GradReduced, Kind::Scalar };
        training.value = [](int, int step, Kind kind, const std::string&, double usual) {
            return kind == Kind::GradUnreduced ? usual * (1.01 + 0.001 * (step % 5)) : usual;
        };
        QCOMPARE(summary(incidentsOf(training)), std::string());
        const Rules rules = CapsuleBuilder::must(
            Rules::fromJson(R"({"rules": {"noise_scale": {"on": true, "batches": 1, "steps": 10}}})"));
        QCOMPARE(summary(incidentsOf(training, rules)), std::string()); // little noise
        training.value = [](int, int step, Kind kind, const std::string&, double usual) {
            return kind == Kind::GradUnreduced ? usual * (1.35 + 0.001 * (step % 5)) : usual;
        };
        QCOMPARE(summary(incidentsOf(training)), std::string());
        QCOMPARE(summary(incidentsOf(training, rules)), std::string("noise_scale noise-scale@63/-1"));
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, NoiseScaleTest)

}

#include "noisescaletest.moc"
