// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include <QTemporaryDir>

#include <telltale/analysis/attentionheads.h>
#include <telltale/analysis/deviation.h>
#include <telltale/analysis/headmaps.h>
#include <telltale/analysis/nonfinite.h>
#include <telltale/analysis/worst.h>
#include <telltale/core/protocolone.h>
#include <telltale/store/capsulereader.h>
#include <telltale/store/rowsof.h>

#include "capsulebuilder.h"

namespace analysistest {

using namespace telltale;
using namespace telltale::analysis;
using namespace telltale::test;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Names of chosen tensors, in the index's order.
std::vector<std::string> chosen(const series::RowIndex& index, const char* pattern)
{
    const std::vector<bool> hits = index.matching(NamePattern { std::string_view(pattern) });
    std::vector<std::string> names;
    std::vector<bool> seen(hits.size());
    for (const series::RowIndex::Row& row : index.rows()) {
        if (hits[row.tensor] && !seen[row.tensor])
            names.push_back(index.key(row).text());
        seen[row.tensor] = true;
    }
    return names;
}

using Texts = std::vector<std::string>;

series::SeriesKey keyOf(const char* name, const char* slot)
{
    series::SeriesKey key;
    key.name = name;
    key.slot = protocolone::slotOf(slot);
    return key;
}

series::RowIndex::Measured measured(std::int64_t id, series::SeriesKey key, Kind kind = Kind::Actv, int rank = 0,
    int attempt = 0, Stat stat = Stat::Norm)
{
    return { std::move(key), SeriesId { id }, kind, Rank { rank }, attempt, series::statBits(std::array { stat }) };
}

series::RowIndex indexOf(const std::vector<series::RowIndex::Measured>& all, const series::RowIndex& before = {})
{
    return { before, all.size(), [&all](std::size_t i) { return all[i]; } };
}

/// A training as healthy ones are: it falls evenly, and every step is noise around that.
std::vector<double> healthy(std::mt19937& random, int steps, double noise)
{
    std::normal_distribution<double> normal;
    std::vector<double> values;
    for (int step = 0; step < steps; ++step)
        values.push_back((0.3 + 3 * std::exp(-6.0 * step / steps)) * std::exp(noise * normal(random)));
    return values;
}

using Value = std::function<double(int rank, int module, int step)>;

/// Writes a run of some modules on two ranks and reads it back.
class Run {
public:
    static constexpr int kSteps = 800;
    static constexpr int kModules = 12;

    Run(const QTemporaryDir& dir, Kind kind, const Value& value, Stat stat = Stat::Norm)
    {
        const std::string path = dir.filePath(QStringLiteral("run.telltale")).toStdString();
        CapsuleBuilder builder(path);
        std::vector<std::string> names;
        for (int module = 0; module < kModules; ++module)
            names.push_back("layers." + std::to_string(module));
        for (int rank = 0; rank < 2; ++rank) {
            const std::int64_t stream = builder.addAttempt(Rank { rank }, 0);
            const auto layout = builder.addLayout(kind, { stat }, names);
            std::vector<StepBlock> blocks;
            for (int step = 0; step < kSteps; ++step) {
                StepBlock block;
                block.step = Step { step };
                block.layout = layout;
                std::vector<float> norms;
                for (int module = 0; module < kModules; ++module)
                    norms.push_back(static_cast<float>(value(rank, module, step)));
                if (isWhole(stat))
                    block.columns.push_back({ stat, std::vector<std::uint64_t>(norms.begin(), norms.end()) });
                else
                    block.columns.push_back({ stat, std::move(norms) });
                blocks.push_back(std::move(block));
            }
            builder.stage(stream, std::move(blocks));
            builder.commit();
        }
        builder.finish();
        reader = CapsuleBuilder::must(store::openReader(builder.handle(), shared));
        catalog = CapsuleBuilder::must(reader->catalog());
    }

    const series::RowIndex& rows() const { return store::rowsOf(*catalog); }
    std::map<std::string, WorstValue> worst(Kind kind, Stat stat = Stat::Norm) const
    {
        const auto found = CapsuleBuilder::must(findWorst(*reader, rows(), kind, stat, catalog->steps));
        std::map<std::string, WorstValue> byName;
        for (std::uint32_t tensor = 0; tensor < found.size(); ++tensor)
            byName.emplace(rows().key(tensor).name, found[tensor]);
        return byName;
    }

    store::SharedReads shared;
    std::unique_ptr<store::RunReader> reader;
    std::shared_ptr<const store::Catalog> catalog;
};

}

class AnalysisTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// Modules stand as they are called; what is no module's stands where the kinds that have it put it.
    void whatOtherKindsAddStandsBesideItsNeighbors()
    {
        std::vector<series::RowIndex::Measured> all;
        for (const char* name :
            { "pos", "emb.weight", "layers.0.ln.weight", "layers.0.scale", "layers.0.fc.weight", "layers.1.fc.weight" })
            all.push_back(measured(std::ssize(all), keyOf(name, ""), Kind::GradReduced));
        for (const char* name :
            { "emb", "layers.0.ln", "layers.0.act", "layers.0.fc", "layers.0", "layers.1.fc", "layers.1", "(model)" })
            all.push_back(measured(std::ssize(all), keyOf(name, "output")));
        all.push_back(measured(std::ssize(all), keyOf("router", ""), Kind::Router));
        const series::RowIndex index = indexOf(all);
        Texts names;
        for (const std::uint32_t place : index.namesInModelOrder())
            names.emplace_back(index.names().at(place));
        QCOMPARE(names,
            (Texts { "pos", "emb", "layers.0.ln", "layers.0.act", "layers.0.scale", "layers.0.fc", "layers.0",
                "layers.1.fc", "layers.1", "(model)", "emb.weight", "layers.0.ln.weight", "layers.0.fc.weight",
                "layers.1.fc.weight", "router" }));
    }

    /// A stored attention map that says anything else than it holds is refused, whatever was cut or changed.
    void aDamagedAttentionMapIsRefused()
    {
        const std::string head
            = R"({"format":1,"dtype":"float16","heads":[0,5],"shape":[8,8,3,3],"rows":3,"columns":3,)"
              R"("queries_per_row":1,"keys_per_column":1,"looked":3,"scale":0.5})";
        const std::string whole = head + '\n' + std::string(36, '\0');
        const auto maps = CapsuleBuilder::must(analysis::parseHeadMaps(whole));
        QCOMPARE(maps.heads, (std::vector<int> { 0, 5 }));
        QCOMPARE(maps.cells.size(), std::size_t { 18 });
        for (std::size_t length = 0; length < whole.size(); ++length)
            QVERIFY(!analysis::parseHeadMaps(whole.substr(0, length)));
        QVERIFY(!analysis::parseHeadMaps(whole + "x"));
        for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>> {
                 { "\"rows\":3", "\"rows\":-3" }, { "\"rows\":3", "\"rows\":4096000000" }, { "[0,5]", "[]" },
                 { "[0,5]", "[0,-5]" }, { "[0,5]", "7" }, { "\"keys_per_column\":1", "\"keys_per_column\":0" },
                 { "\"format\":1", "\"format\":2" }, { "float16", "float99" }, { "\"rows\":3", "\"rows\":\"3\"" } }) {
            std::string changed = whole;
            changed.replace(changed.find(from), from.size(), to);
            QVERIFY2(!analysis::parseHeadMaps(changed), changed.c_str());
        }
    }

    void theNearestMapIsTheNewestBeforeOrTheFirstAfter()
    {
        std::vector<store::DocumentInfo> all;
        for (const auto& [rank, name, step] : std::vector<std::tuple<int, std::string, int>> {
                 { 0, "a", 10 }, { 1, "a", 15 }, { 0, "b", 10 }, { 0, "a", 20 }, { 0, "a", 30 }, { 0, "a", 20 } })
            all.push_back({ static_cast<std::int64_t>(all.size()), Rank { rank }, 0, name, Step { step } });
        const auto ids = [&all](int rank, int step) {
            std::string text;
            for (const auto& one : analysis::headMapsAt(all, Rank { rank }, Step { step }))
                text += std::to_string(one.id);
            return text;
        };
        QCOMPARE(ids(0, 5), std::string("02"));
        QCOMPARE(ids(0, 10), std::string("02"));
        QCOMPARE(ids(0, 29), std::string("52")); // the later one of step 20
        QCOMPARE(ids(0, 99), std::string("42"));
        QCOMPARE(ids(1, 0), std::string("1"));
        QCOMPARE(ids(2, 99), std::string());
    }

    void whateverTellsSeriesApartMakesARow()
    {
        const series::SeriesKey key = keyOf("layers.0.attn", "output");
        auto other = [&key](auto change) {
            series::SeriesKey copy = key;
            change(copy);
            return copy;
        };
        const std::vector<series::SeriesKey> keys { key, other([](auto& k) { k.name = "layers.1.attn"; }),
            other([](auto& k) { k.slot = Slot::input(); }), other([](auto& k) { k.microStep = 2; }),
            other([](auto& k) { k.chunk = 1; }), other([](auto& k) { k.definition = "mean of heads"; }),
            other([](auto& k) { k.form = 8; }) };
        std::vector<series::RowIndex::Measured> all;
        for (const int rank : { 1, 0 }) {
            for (const series::SeriesKey& one : keys)
                all.push_back(measured(static_cast<std::int64_t>(all.size()) + 1, one, Kind::Actv, rank));
        }
        all.push_back(measured(99, key, Kind::ActvGrad));
        const series::RowIndex index = indexOf(all);
        QCOMPARE(index.tensorCount(), keys.size());
        QCOMPARE(index.select(Kind::Actv).size(), keys.size() * 2);
        const auto rows = index.select(Kind::Actv, Rank { 1 });
        QCOMPARE(rows.size(), keys.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            QVERIFY(index.key(*rows[i]) == keys[i]);
            QCOMPARE(rows[i]->attempts, (series::RowAttempts { SeriesId { static_cast<std::int64_t>(i) + 1 } }));
            QCOMPARE(rows[i]->newest, static_cast<std::uint32_t>(i));
        }
        QCOMPARE(index.named("layers.0.attn").size(), (keys.size() - 1) * 2 + 1);
        QVERIFY(index.named("layers.0").empty());
        QVERIFY(index.select(Kind::Scalar).empty());
    }

    void attemptsAreOneRowAndTheNewestDecidesTheOrder()
    {
        const series::RowIndex index = indexOf({ measured(1, keyOf("a", "")), measured(2, keyOf("b", "")),
            measured(3, keyOf("old", "")), measured(4, keyOf("b", ""), Kind::Actv, 0, 1),
            measured(5, keyOf("a", ""), Kind::Actv, 0, 1, Stat::Mean), measured(6, keyOf("a", ""), Kind::Actv, 0, 1) });
        Texts names;
        for (const auto* row : index.select(Kind::Actv))
            names.push_back(index.key(*row).name);
        QCOMPARE(names, (Texts { "b", "a", "old" }));
        const series::RowIndex::Row& a = *index.named("a").front();
        // Two of the newest attempt: its config changed while it ran.
        QCOMPARE(a.attempts, (series::RowAttempts { SeriesId { 1 }, SeriesId { 5 }, SeriesId { 6 } }));
        QCOMPARE(a.newest, 4u);
        QVERIFY(a.answers(Stat::Norm) && a.answers(Stat::Mean) && !a.answers(Stat::AbsMax));
        QCOMPARE(index.select(Kind::Actv, {}, Stat::Mean).size(), std::size_t { 1 });
    }

    /// Ranks, attempts, kinds and layouts come in any order: the index is the one that is made of all of them at once.
    void anIndexThatGrowsIsTheIndexOfTheWhole()
    {
        std::mt19937 random(3);
        const auto below = [&random](int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); };
        for (int round = 0; round < 50; ++round) {
            std::vector<series::RowIndex::Measured> all, more;
            series::RowIndex growing;
            std::vector<series::SeriesKey> known;
            for (int step = 0; step < 8; ++step) {
                const int attempt = below(3);
                const int rank = below(3);
                more.clear();
                for (int i = below(6); i > 0; --i) {
                    const std::string name = "m" + std::to_string(below(3)) + ".n" + std::to_string(below(3));
                    const Kind kind = std::array { Kind::Actv, Kind::GradReduced, Kind::Scalar }[random() % 3];
                    more.push_back(measured(static_cast<std::int64_t>(all.size()) + 1,
                        keyOf(name.c_str(), below(2) == 0 ? "" : "output"), kind, rank, attempt));
                    all.push_back(more.back());
                }
                growing = indexOf(more, growing);
                for (std::uint32_t i = 0; i < known.size(); ++i)
                    QVERIFY(growing.key(i) == known[i]); // what has a number keeps it
                known.clear();
                for (std::uint32_t i = 0; i < growing.tensorCount(); ++i)
                    known.push_back(growing.key(i));
                const series::RowIndex whole = indexOf(all);
                QCOMPARE(growing.tensorCount(), whole.tensorCount());
                QCOMPARE(growing.rows().size(), whole.rows().size());
                for (std::size_t i = 0; i < whole.rows().size(); ++i) {
                    const auto& a = growing.rows()[i];
                    const auto& b = whole.rows()[i];
                    QVERIFY(a.kind == b.kind && a.rank == b.rank && a.tensor == b.tensor && a.stats == b.stats
                        && a.newest == b.newest && a.attempts == b.attempts);
                    QCOMPARE(growing.isScalar(a.tensor), a.kind == Kind::Scalar);
                }
                for (const char* pattern : { "", "m1", "*:output", "/n[01]$/" }) {
                    QCOMPARE(chosen(growing, pattern), chosen(whole, pattern));
                    const std::vector<bool> each = whole.matching(NamePattern(pattern));
                    for (std::uint32_t i = 0; i < each.size(); ++i)
                        QCOMPARE(growing.chooses(NamePattern(pattern), i), bool { each[i] });
                }
                QCOMPARE(growing.named("m1.n1").size(), whole.named("m1.n1").size());
            }
        }
    }

    void aPatternChoosesTensorsByNameSlotAndModule()
    {
        const series::RowIndex index = indexOf({ measured(1, keyOf("tok", "")),
            measured(2, keyOf("layers.0.attn", "input")), measured(3, keyOf("layers.0.attn", "output")),
            measured(4, keyOf("layers.7.attn.qkv", "output")), measured(5, keyOf("loss", ""), Kind::Scalar) });
        QCOMPARE(chosen(index, "layers.[0-3].*"), (Texts { "layers.0.attn:input", "layers.0.attn:output" }));
        QCOMPARE(chosen(index, "layers.[0-3]"), chosen(index, "layers.[0-3].*"));
        QCOMPARE(chosen(index, "*:output"), (Texts { "layers.0.attn:output", "layers.7.attn.qkv:output" }));
        QCOMPARE(chosen(index, "layers.*.attn").size(), std::size_t { 3 });
        QCOMPARE(chosen(index, "/^l[oa]/").size(), std::size_t { 4 });
        QCOMPARE(chosen(index, "attn").size(), std::size_t { 3 });
        QCOMPARE(chosen(index, "").size(), std::size_t { 5 });
        QVERIFY(chosen(index, "/(/").empty());
    }

    void noiseAndTrendsAreNoDeviation_data()
    {
        QTest::addColumn<double>("noise");
        for (const double noise : { 0.0, 0.02, 0.1, 0.3 })
            QTest::addRow("%g", noise) << noise;
    }
    void noiseAndTrendsAreNoDeviation()
    {
        QFETCH(double, noise);
        std::mt19937 random(5);
        for (int i = 0; i < 300; ++i) {
            std::vector<double> values = healthy(random, 64, noise);
            const double calm = largestDeviation(values);
            QVERIFY2(calm < kQuiet, qPrintable(QString::number(calm)));
            for (double& value : values)
                value *= 1e-12; // a scale is no deviation either
            QVERIFY(std::abs(largestDeviation(values) - calm) < 1e-6 * std::max(1.0, calm));
        }
    }

    void shortConstantAndZeroSeriesAreQuiet()
    {
        QCOMPARE(largestDeviation({}), 0.0);
        QCOMPARE(largestDeviation(std::array { 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 100.0 }), 0.0);
        QCOMPARE(largestDeviation(std::vector<double>(64, 7.0)), 0.0);
        std::vector<double> zeros(64, 0.0);
        zeros[40] = 1;
        QCOMPARE(largestDeviation(zeros), 0.0);
        std::vector<double> rounding(64, 1.0);
        rounding[40] += 1e-7;
        QVERIFY(largestDeviation(rounding) < 0.01);
    }

    void valuesOfBothSignsAreJudgedAsTheyAre()
    {
        std::mt19937 random(3);
        std::normal_distribution<double> normal;
        std::vector<double> means(64);
        for (double& value : means)
            value = 1e-5 * normal(random);
        QVERIFY(largestDeviation(means) < kQuiet);
        means[50] = -2e-4;
        QVERIFY(largestDeviation(means) > kQuiet);
    }

    void aHealthyRunIsQuietAndOneBadModuleStandsOut()
    {
        QTemporaryDir dir;
        std::mt19937 random(11);
        std::vector<std::vector<double>> values;
        for (int row = 0; row < 2 * Run::kModules; ++row)
            values.push_back(healthy(random, Run::kSteps, 0.1));
        for (int step = 500; step < Run::kSteps; ++step)
            values[Run::kModules + 7][static_cast<std::size_t>(step)] *= 8; // module 7 of rank 1
        const Run run(dir, Kind::GradReduced, [&values](int rank, int module, int step) {
            return values[static_cast<std::size_t>(rank * Run::kModules + module)][static_cast<std::size_t>(step)];
        });
        double loudest = 0;
        double bad = 0;
        for (const auto& [name, worst] : run.worst(Kind::GradReduced)) {
            QVERIFY(worst.known && !worst.isNonFinite());
            if (name == "layers.7") {
                QCOMPARE(worst.rank, Rank { 1 });
                bad = worst.deviation;
            } else {
                loudest = std::max(loudest, worst.deviation);
            }
        }
        QVERIFY2(bad > kQuiet && loudest < bad / 2, qPrintable(QStringLiteral("%1 and %2").arg(bad).arg(loudest)));
    }

    void nothingIsWorseThanNaNAndItsSourceIsNamed()
    {
        QTemporaryDir dir;
        const Run run(dir, Kind::Actv, [](int rank, int module, int step) {
            if (rank == 1 && ((module >= 5 && step >= 603) || (module == 2 && step >= 604)))
                return module == 6 ? std::numeric_limits<double>::infinity() : kNaN;
            return module == 3 && step == 700 ? 1e6 : 1.0 + module;
        });
        const auto worst = run.worst(Kind::Actv);
        const WorstValue& source = worst.at("layers.5");
        QVERIFY(source.isSource);
        QCOMPARE(source.step, Step { 603 });
        QCOMPARE(source.rank, Rank { 1 });
        QVERIFY(worst.at("layers.6").nonFinite == series::CellState::PosInf && !worst.at("layers.6").isSource);
        QVERIFY(worst.at("layers.2").isNonFinite() && !worst.at("layers.2").isSource);
        QVERIFY(worst.at("layers.3").deviation > 10 * kQuiet);
        QVERIFY(&WorstValue::worse(worst.at("layers.3"), worst.at("layers.2")) == &worst.at("layers.2"));
        QVERIFY(&WorstValue::worse(worst.at("layers.2"), source) == &source);

        const std::array quantities { Quantity { Kind::Actv, Stat::Norm }, Quantity { Kind::Scalar, Stat::Value } };
        const StepRange whole { Step { -1 }, run.catalog->steps.last };
        const auto next = findOnset(*run.reader, run.rows(), quantities, whole, true);
        QVERIFY(next);
        QCOMPARE(next->step, Step { 603 });
        QCOMPARE(run.rows().key(*next->row).name, std::string("layers.5"));
        QCOMPARE(next->row->rank, Rank { 1 });
        const auto last = findOnset(*run.reader, run.rows(), quantities, whole, false);
        QVERIFY(last);
        QCOMPARE(last->step, Step { 604 });
        QCOMPARE(run.rows().key(*last->row).name, std::string("layers.2"));
        QVERIFY(!findOnset(*run.reader, run.rows(), quantities, { Step { 604 }, whole.last }, true));
        QCOMPARE(
            lowestNonFiniteRank(*run.reader, run.rows(), quantities, run.catalog->steps).value_or(Rank {}), Rank { 1 });
        QVERIFY(!lowestNonFiniteRank(*run.reader, run.rows(), quantities, { Step { 0 }, Step { 500 } }));
    }

    /// A count that was 0 in nearly all steps has no spread that it could leave.
    void whatIsCountedIsNoLessNonFinite()
    {
        QTemporaryDir dir;
        const Run run(
            dir, Kind::Actv,
            [](int rank, int module, int step) {
                return rank == 1 && step >= 603 && (module == 5 || (module > 5 && step > 603)) ? 64.0 : 0.0;
            },
            Stat::PosInfs);
        const auto worst = run.worst(Kind::Actv, Stat::PosInfs);
        QVERIFY(worst.at("layers.4").known && !worst.at("layers.4").isNonFinite());
        QVERIFY(worst.at("layers.5").isSource && worst.at("layers.5").nonFinite == series::CellState::PosInf);
        QCOMPARE(worst.at("layers.5").step, Step { 603 });
        QCOMPARE(worst.at("layers.5").rank, Rank { 1 });
        QVERIFY(worst.at("layers.7").isNonFinite() && !worst.at("layers.7").isSource);
    }

    void otherRanksAreToldOfWhatIsChosen()
    {
        QTemporaryDir dir;
        const Run run(dir, Kind::GradReduced,
            [](int rank, int module, int step) { return rank == 1 && module == 4 && step >= 400 ? kNaN : 1.0; });
        const auto ask = [&run](const char* pattern, int rank) {
            return CapsuleBuilder::must(findOtherRanks(*run.reader, run.rows(), { Kind::GradReduced, Stat::Norm },
                run.rows().matching(NamePattern { std::string_view(pattern) }), Rank { rank }, run.catalog->steps,
                100));
        };
        const NonFiniteRanks all = ask("", 0);
        QCOMPARE(all.at(Step { 200 }), std::vector<Rank> {});
        QCOMPARE(all.at(Step { 401 }), std::vector<Rank> { Rank { 1 } });
        QCOMPARE(all.at(Step { 9999 }), std::vector<Rank> {});
        QCOMPARE(ask("layers.[0-3]", 0).at(Step { 401 }), std::vector<Rank> {});
        QCOMPARE(ask("layers.4", 0).at(Step { 401 }), std::vector<Rank> { Rank { 1 } });
        QCOMPARE(ask("", 1).at(Step { 401 }), std::vector<Rank> {});
    }

    /// A picture's blocks are there for the next one; of a search through all ranks nothing stays.
    void aSearchLeavesTheCacheAsItWas()
    {
        QTemporaryDir dir;
        Run run(dir, Kind::GradReduced, [](int, int, int step) { return 1.0 + step; });
        const auto search = [&run] {
            const Quantity quantity { Kind::GradReduced, Stat::Norm };
            QVERIFY(!findOnset(*run.reader, run.rows(), { &quantity, 1 }, run.catalog->steps, true));
        };
        search();
        QCOMPARE(run.shared.blocks->blocks(), std::size_t { 0 });
        series::HeatQuery picture;
        picture.rows = { run.rows().select(Kind::GradReduced).front()->attempts };
        picture.range = run.catalog->steps;
        picture.pixels = 10;
        QVERIFY(run.reader->heatmap(picture));
        const std::size_t looked = run.shared.blocks->blocks();
        QVERIFY(looked > 0);
        search();
        QCOMPARE(run.shared.blocks->blocks(), looked);
    }

    /// Against softmaxes of equal scores, row by row, as an agent would look at them.
    void headsThatLookAtEverythingAlike()
    {
        for (const std::int64_t keys : { 2, 7, 64, 300 }) {
            for (const std::int64_t looked : { 0, 1, 5, 300 }) {
                const std::int64_t queries = keys / 2 + 1;
                const auto heads = analysis::uniformHeads({ 8, 2, queries, keys }, looked);
                QCOMPARE(heads.size(), std::size_t { 2 });
                QVERIFY(std::abs(heads[0].entropy - std::log(static_cast<double>(keys))) < 1e-12);
                const std::int64_t rows = looked == 0 ? queries : std::min(looked, queries);
                double entropy = 0;
                double highest = 0;
                for (std::int64_t row = 0; row < rows; ++row) {
                    const std::int64_t query = (row + 1) * queries / rows - 1;
                    const auto seen = static_cast<double>(query + 1 + keys - queries);
                    for (std::int64_t key = 0; key <= query + keys - queries; ++key)
                        entropy += -(1 / seen) * std::log(1 / seen);
                    highest += 1 / seen;
                }
                QVERIFY(std::abs(heads[1].entropy - entropy / static_cast<double>(rows)) < 1e-9);
                QVERIFY(std::abs(heads[1].softmaxMax - highest / static_cast<double>(rows)) < 1e-9);
                for (const analysis::HeadNumbers& one : heads) {
                    if (one.softmaxMax < 0.9)
                        QCOMPARE(analysis::signOf(one, one.entropy, heads), analysis::HeadSign::Uniform);
                }
            }
        }
        QVERIFY(analysis::uniformHeads({}, 0).empty());
        QCOMPARE(analysis::AttentionShape::of(std::vector<std::int64_t> { 12, 4, 32, 2048 }).group(), 3);
        QCOMPARE(analysis::AttentionShape::of(std::vector<std::int64_t> { 32, 2048 }).keys, 2048);
        QCOMPARE(analysis::AttentionShape::of(std::vector<std::int64_t> { 1, 2, 3 }), analysis::AttentionShape {});
    }

    void aHeadsEntropyIsHeldAgainstWhatItWas()
    {
        using analysis::HeadSign;
        const double nan = std::numeric_limits<double>::quiet_NaN();
        QCOMPARE(analysis::signOf({ 1.0, 0.2 }, 2.1, {}), HeadSign::Collapsing);
        QCOMPARE(analysis::signOf({ 1.0, 0.2 }, 1.9, {}), HeadSign::Falling);
        QCOMPARE(analysis::signOf({ 1.0, 0.2 }, 1.4, {}), HeadSign::None);
        QCOMPARE(analysis::signOf({ 1.0, 0.2 }, nan, {}), HeadSign::None);
        QCOMPARE(analysis::signOf({ 0.01, 0.99 }, 0.01, {}), HeadSign::OneHot); // it was so all along
        QCOMPARE(analysis::signOf({ 0.01, 0.99 }, 2.0, {}), HeadSign::Collapsing);
        QCOMPARE(analysis::signOf({ nan, nan }, 2.0, {}), HeadSign::None);
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, AnalysisTest)

}

#include "analysistest.moc"
