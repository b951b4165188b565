// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <cmath>

#include <QTemporaryDir>

#include <nlohmann/json.hpp>

#include <telltale/judge/comparisonreport.h>
#include <telltale/judge/signrule.h>
#include <telltale/store/runreader.h>

#include "madeuptraining.h"
#include "verbcall.h"

namespace comparetest {

using namespace telltale;
using namespace telltale::test;

namespace {

using Value = std::function<double(int, int, Kind, const std::string&, double)>;

}

/// `telltale compare`: where two trainings part. Thread: test.
class CompareTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        write("reference", {});
        write("again", {});
        // From step 120 on: a gradient first, and what follows from it.
        write("parted", [](int rank, int step, Kind kind, const std::string& name, double usual) {
            const bool isFirst = step == 120 && kind == Kind::GradReduced && name == "layers.2.fc.weight" && rank == 1;
            const bool follows = step == 120 && kind == Kind::ParamUpdated;
            return isFirst || follows || step > 120 ? usual * 1.001 : usual;
        });
        write("broken", [](int, int step, Kind kind, const std::string& name, double usual) {
            return step == 90 && kind == Kind::GradReduced && name == "layers.1.fc.weight" ? kNaN : usual;
        });
        write("longer", {}, 260);
        write("fewer", {}, 200, 1);
        write("configured", {}, 200, 2, "{\"targets\": {\"fc\": {}}, \"start_step\": 5, \"ops\": [\"norm\", \"nans\"]}",
            "{\"lr\": 0.001, \"optimizer\": {\"name\": \"adam\"}}");
        write("otherwise", {}, 200, 2, "{\"targets\": {\"fc\": {}}, \"start_step\": 9, \"ops\": [\"norm\"]}",
            "{\"lr\": 0.002, \"optimizer\": {\"name\": \"adam\"}, \"note\": \"twice as fast\"}");
    }

    void theSameTrainingIsEqual()
    {
        const auto json = compare({ path("reference"), path("again"), "--json" });
        QVERIFY(json["equal"].get<bool>());
        QCOMPARE(json["differing"].get<int>(), 0);
        QVERIFY(json["compared"].get<int>() > 10000);
        QCOMPARE(json["unmatched"].get<int>(), 0);
        QCOMPARE(json["only_in_a"].get<int>() + json["only_in_b"].get<int>(), 0);
        QCOMPARE(json["sentence"].get<std::string>(), std::string("Equal at all steps from 0 to 199."));
        QCOMPARE(call(app::compareVerb, { path("reference"), path("again"), "--fail" }).code, 0);
    }

    void whatPartsFirstIsNamedInTheOrderOfAStep()
    {
        const auto json = compare({ path("reference"), path("parted"), "--json" });
        QVERIFY(!json["equal"].get<bool>());
        const auto& first = json["first"][0];
        QCOMPARE(first["step"].get<int>(), 120);
        QCOMPARE(first["name"].get<std::string>(), std::string("layers.2.fc.weight"));
        QCOMPARE(first["kind"].get<std::string>(), std::string("grad_reduced"));
        QCOMPARE(first["rank"].get<int>(), 1);
        QVERIFY(std::abs(first["relative"].get<double>() - 0.001) < 1e-4);
        QCOMPARE(json["first"][1]["kind"].get<std::string>(), std::string("param_updated"));
        // One gradient, and the weights of two ranks.
        QCOMPARE(json["first_count"].get<int>(), 1 + 2 * 4);
        QVERIFY(json["sentence"].get<std::string>().starts_with(
            "Equal until step 119; first: step 120, rank 1, layers.2.fc.weight, grad_reduced norm: "));
        QCOMPARE(call(app::compareVerb, { path("reference"), path("parted"), "--fail" }).code, 1);
        QCOMPARE(call(app::compareVerb, { path("reference"), path("parted") }).code, 0);
        const Outcome text = call(app::compareVerb, { path("reference"), path("parted") });
        QVERIFY2(text.out.find("9 values differ at that step") != std::string::npos, text.out.c_str());
    }

    void aToleranceTakesAsEqualWhatIsNear()
    {
        QVERIFY(compare({ path("reference"), path("parted"), "--tolerance", "0.01", "--json" })["equal"].get<bool>());
        QVERIFY(!compare({ path("reference"), path("parted"), "--tolerance", "1e-4", "--json" })["equal"].get<bool>());
        for (const char* bad : { "", "x", "-1", "nan", "1e-6x", "2" }) {
            const Outcome said = call(app::compareVerb, { path("reference"), path("again"), "--tolerance", bad });
            QCOMPARE(said.code, 2);
            QVERIFY2(said.err.find("--tolerance") != std::string::npos, said.err.c_str());
        }
    }

    void aNaNDiffersFromANumberAndNotFromItself()
    {
        const auto json = compare({ path("reference"), path("broken"), "--json" });
        QCOMPARE(json["first"][0]["step"].get<int>(), 90);
        QCOMPARE(json["first"][0]["b"].get<std::string>(), std::string("NaN"));
        QVERIFY(json["first"][0]["relative"].is_null());
        QVERIFY(compare({ path("broken"), path("broken"), "--json" })["equal"].get<bool>());
        // No tolerance takes it for a number.
        QVERIFY(!compare({ path("reference"), path("broken"), "--tolerance", "0.99", "--json" })["equal"].get<bool>());
    }

    void onlyWhatBothHaveIsCompared()
    {
        const auto longer = compare({ path("reference"), path("longer"), "--json" });
        QVERIFY(longer["equal"].get<bool>());
        QCOMPARE(longer["steps"][1].get<int>(), 199);
        const auto fewer = compare({ path("reference"), path("fewer"), "--json" });
        QVERIFY(fewer["equal"].get<bool>());
        QVERIFY(fewer["only_in_a"].get<int>() > 0);
        QCOMPARE(fewer["only_in_b"].get<int>(), 0);
    }

    void aPartIsComparedAlone()
    {
        const auto kind = compare({ path("reference"), path("parted"), "--kind", "param_updated", "--json" });
        QCOMPARE(kind["kinds"].size(), std::size_t { 1 });
        QCOMPARE(kind["first"][0]["kind"].get<std::string>(), std::string("param_updated"));
        QVERIFY(compare({ path("reference"), path("parted"), "--steps", "0:119", "--json" })["equal"].get<bool>());
        const auto one = compare({ path("reference"), path("parted"), "--modules", "layers.0.*", "--json" });
        QVERIFY(one["first"][0]["name"].get<std::string>().starts_with("layers.0."));
        const Outcome none = call(app::compareVerb, { path("reference"), path("again"), "--kind", "comm" });
        QCOMPARE(none.code, 2);
        QVERIFY(none.err.find("nothing in common") != std::string::npos);
        QCOMPARE(call(app::compareVerb, { path("reference"), path("again"), "--steps", "900:" }).code, 2);
    }

    void ranksAreChosenAndToldApart()
    {
        const auto both = compare({ path("reference"), path("parted"), "--json" });
        QCOMPARE(both["ranks"].size(), std::size_t { 2 });
        QCOMPARE(both["ranks"][1]["first_step"].get<int>(), 120);
        // The gradient is rank 1's alone, the weights are of both.
        QCOMPARE(both["ranks"][1]["differing"].get<int>(), both["ranks"][0]["differing"].get<int>() + 1);
        const auto zero = compare({ path("reference"), path("parted"), "--rank", "0", "--json" });
        QCOMPARE(zero["ranks"].size(), std::size_t { 1 });
        QCOMPARE(zero["first"][0]["kind"].get<std::string>(), std::string("param_updated"));
        const auto all = compare({ path("reference"), path("parted"), "--rank", "0,1", "--json" });
        QCOMPARE(all["compared"], both["compared"]);
        QCOMPARE(call(app::compareVerb, { path("reference"), path("again"), "--rank", "0,x" }).code, 2);
    }

    void whatDiffersInTheirConfigsIsTold()
    {
        const auto json = compare({ path("configured"), path("otherwise"), "--json" });
        QVERIFY(json["equal"].get<bool>());
        const auto wanted = nlohmann::json::parse(
            "["
            "{\"section\": \"config\", \"name\": \"ops\", \"values\": [\"[\\\"norm\\\",\\\"nans\\\"]\", "
            "\"[\\\"norm\\\"]\"]},"
            "{\"section\": \"config\", \"name\": \"start_step\", \"values\": [\"5\", \"9\"]},"
            "{\"section\": \"hyperparameters\", \"name\": \"lr\", \"values\": [\"0.001\", \"0.002\"]},"
            "{\"section\": \"hyperparameters\", \"name\": \"note\", \"values\": [null, \"twice as fast\"]}]");
        QCOMPARE(QString::fromStdString(json["facts"].dump()), QString::fromStdString(wanted.dump()));
        const Outcome text = call(app::compareVerb, { path("configured"), path("otherwise") });
        QVERIFY2(text.out.find("start_step: 5 | 9") != std::string::npos, text.out.c_str());
        const auto longer = compare({ path("reference"), path("longer"), "--json" });
        QCOMPARE(longer["facts"].size(), std::size_t { 1 });
        QCOMPARE(longer["facts"][0]["name"].get<std::string>(), std::string("steps"));
        QVERIFY(compare({ path("reference"), path("again"), "--json" })["facts"].empty());
    }

    void aDocumentIsTakenApart()
    {
        judge::FactSheet sheet;
        QVERIFY(sheet.addDocument("x", "{\"a\": {\"b\": 1, \"c\": [1, {\"d\": \"e\"}]}, \"f\": {}, \"g\": null}"));
        const judge::FactSheet::Facts wanted { { { "x", "a.b" }, "1" }, { { "x", "a.c.0" }, "1" },
            { { "x", "a.c.1.d" }, "e" }, { { "x", "f" }, "{}" }, { { "x", "g" }, "null" } };
        QVERIFY(sheet.facts() == wanted);
        QVERIFY(!sheet.addDocument("x", "{"));
        QVERIFY(sheet.facts() == wanted);
    }

    /// A run that is still recorded is compared piece by piece.
    void piecesSayWhatTheWholeSays()
    {
        for (const char* other : { "again", "parted", "broken" }) {
            const judge::Comparison whole = comparison(other, { Step { 0 }, Step { 199 } });
            judge::Comparison pieces = comparison(other, { Step { 0 }, Step { 70 } });
            pieces.append(comparison(other, { Step { 71 }, Step { 119 } }));
            pieces.append(comparison(other, { Step { 120 }, Step { 199 } }));
            QCOMPARE(QString::fromStdString(judge::reportText(pieces, {})),
                QString::fromStdString(judge::reportText(whole, {})));
            QCOMPARE(pieces.stepsApart.size(), whole.stepsApart.size());
        }
        const judge::Comparison parted = comparison("parted", { Step { 0 }, Step { 199 } });
        QCOMPARE(parted.stepsApart.size(), std::size_t { 80 });
        QCOMPARE(parted.stepsApart.front().step, Step { 120 });
        QCOMPARE(parted.stepsApart.front().differing, std::uint64_t { 9 });
        QCOMPARE(parted.stepsApart.front().nonFinite, std::uint64_t { 0 });
        const judge::Comparison broken = comparison("broken", { Step { 0 }, Step { 199 } });
        QCOMPARE(broken.stepsApart.size(), std::size_t { 1 });
        QVERIFY(broken.stepsApart.front().nonFinite > 0);
    }

    void aComparisonCanBeCanceled()
    {
        judge::ComparisonWish wish;
        wish.cancel = std::make_shared<std::atomic<bool>>(false);
        double told = -1;
        wish.progress = [&](double share) {
            QVERIFY(share >= told && share <= 1);
            told = share;
            *wish.cancel = true;
        };
        const auto reference = open("reference");
        const auto again = open("again");
        const auto found
            = judge::compareRuns({ *reference, **reference->catalog() }, { *again, **again->catalog() }, wish);
        QVERIFY(!found && found.error().code == ErrorCode::Canceled);
        QVERIFY(told >= 0);
    }

    void signsAreJudgedByTheRule()
    {
        using judge::SignSample;
        const auto judged = [](std::vector<double> values) {
            std::vector<SignSample> samples;
            for (std::size_t i = 0; i < values.size(); ++i)
                samples.push_back({ Step { static_cast<std::int64_t>(10 * i) }, values[i] });
            return judge::judgeSignSimilarity(samples);
        };
        QVERIFY(!judged({ 0.97, 0.98, 0.951 }).isSuspicious());
        QCOMPARE(judged({ 0.969, 1, 1 }).suspicious, std::optional(Step { 0 }));
        QCOMPARE(judged({ 1, 0.98, 0.94 }).suspicious, std::optional(Step { 20 }));
        QVERIFY(!judged({ 1, 0.98, 0.96, 0.94, 0.92 }).isSuspicious()); // slowly
        const judge::SignVerdict one = judged({ 1, kNaN, 0.9, 0.95 });
        QCOMPARE(one.suspicious, std::optional(Step { 20 }));
        QCOMPARE(one.least.step, Step { 20 });
        QVERIFY(std::abs(one.largestDrop - 0.1) < 1e-12);
        QCOMPARE(judge::mostSimilar(0.5, 0.75), 0.75);

        // As grad_probe: zero, negative and NaN are alike.
        const std::vector<float> a { 1, -1, 0, static_cast<float>(kNaN), 2, 3, 4, -5, 6 };
        const std::vector<float> b { 1, 0, -1, -2, -2, 3, 4, 5, -6 };
        QCOMPARE(judge::signSimilarity(a, b), 6.0 / 9);
        const std::vector<std::uint8_t> bitsA { 0b01110001, 0b11111111 }; // beyond the ninth bit there is nothing
        const std::vector<std::uint8_t> bitsB { 0b11100001, 0b00000000 };
        QCOMPARE(judge::signSimilarity(bitsA, bitsB, 9), 6.0 / 9);
        QCOMPARE(judge::signSimilarity(std::vector<float>(), std::vector<float>()), 0.0);
    }

    /// Of two checksums nothing tells how far their tensors are apart; and a router's similarity is of no signs.
    void aChecksumIsTheSameOrNotAndARouterHasNoSigns()
    {
        const auto probed = [this](const char* name, double norm, double bits) {
            CapsuleBuilder builder(path(name), name);
            const auto stats = builder.addLayout(Kind::ParamOrigin, { Stat::Norm, Stat::Checksum }, { "fc.weight" });
            const auto router = builder.addLayout(Kind::Router, { Stat::Similarity }, { "mlp.router" });
            const auto stream = builder.addAttempt(Rank { 0 }, 0);
            std::vector<StepBlock> blocks;
            for (int step = 0; step < 9; ++step) {
                blocks.push_back(store::test::makeBlock(
                    stats, step, [&](std::int64_t, std::size_t, std::size_t stat) { return stat == 0 ? norm : bits; }));
                blocks.push_back(store::test::makeBlock(
                    router, step, [&](std::int64_t, std::size_t, std::size_t) { return -0.03; }));
            }
            builder.stage(stream, std::move(blocks));
            builder.commit();
            builder.finish();
        };
        probed("bits", 1, 7);
        probed("otherBits", 1.001, 8);
        QVERIFY(compare({ path("bits"), path("otherBits"), "--tolerance", "0.01", "--json" })["equal"].get<bool>());
        const auto exact = compare({ path("bits"), path("otherBits"), "--json" });
        QCOMPARE(exact["kinds"][0]["differing"].get<int>(), 18);
        QCOMPARE(exact["kinds"][0]["largest"]["stat"].get<std::string>(), std::string("norm"));
        QVERIFY(exact["signs"].empty());
        const Outcome alone = call(app::compareVerb, { path("bits"), path("otherBits"), "--stat", "checksum" });
        QVERIFY2(alone.out.find("other bits at step 0, fc.weight") != std::string::npos, alone.out.c_str());
    }

    /// They are rows of their own beside those of the same tensors' statistics.
    void histogramsAreLeftOutAndNotMissing()
    {
        const auto write = [this](const char* name, bool hasStats) {
            CapsuleBuilder builder(path(name), name);
            const auto stream = builder.addAttempt(Rank { 0 }, 0);
            std::vector<StepBlock> blocks;
            if (hasStats)
                blocks.push_back(store::test::makeBlock(builder.addLayout(Kind::Actv, { Stat::Norm }, { "fc", "out" }),
                    0, [](std::int64_t, std::size_t, std::size_t) { return 1.0; }));
            auto histograms
                = std::make_shared<SeriesLayout>(*builder.addLayout(Kind::Actv, { Stat::Hist }, { "fc", "out" }));
            histograms->edges = { -1, 0, 1 };
            for (SeriesDesc& series : histograms->series)
                series.definition = "elements a bin";
            StepBlock counts;
            counts.layout = histograms;
            counts.columns = { { Stat::Hist, std::vector<std::uint64_t> { 16, 16, 20, 12 } } };
            blocks.push_back(std::move(counts));
            builder.stage(stream, std::move(blocks));
            builder.commit();
            builder.finish();
        };
        write("histograms", true);
        write("onlyHistograms", false);
        const auto json = compare({ path("histograms"), path("histograms"), "--json" });
        QCOMPARE(json["series"].get<int>(), 2);
        QCOMPARE(json["only_in_a"].get<int>() + json["only_in_b"].get<int>(), 0);
        QCOMPARE(json["histograms_in_a"].get<int>(), 2);
        const Outcome text = call(app::compareVerb, { path("histograms"), path("histograms") });
        QVERIFY2(text.out.find("2 series in both, 0 in the first alone, 0 in the second alone\n"
                               "histograms are not compared: 2 series in the first, 2 in the second\n")
                != std::string::npos,
            text.out.c_str());
        const Outcome asked = call(app::compareVerb, { path("histograms"), path("histograms"), "--stat", "hist" });
        QCOMPARE(asked.code, 2);
        QVERIFY2(asked.err.find("histograms are not compared") != std::string::npos, asked.err.c_str());
        const Outcome none = call(app::compareVerb, { path("onlyHistograms"), path("onlyHistograms") });
        QVERIFY2(none.err.find("both have histograms, which are not compared") != std::string::npos, none.err.c_str());
    }

    /// What gradient and momentum agree in bounds how alike the signs of two runs can be.
    void signsOfTwoRunsAreJudgedByTheirAgreement()
    {
        const auto agreement = [this](const char* name, double from100) {
            CapsuleBuilder builder(path(name), name);
            const auto layout
                = builder.addLayout(Kind::MgDirection, { Stat::Agreement }, { "fc.weight", "out.weight" });
            const auto stream = builder.addAttempt(Rank { 0 }, 0);
            std::vector<StepBlock> blocks;
            for (int step = 0; step < 200; ++step)
                blocks.push_back(store::test::makeBlock(layout, step,
                    [&](std::int64_t, std::size_t i, std::size_t) { return step >= 100 && i == 1 ? from100 : 0.75; }));
            builder.stage(stream, std::move(blocks));
            builder.commit();
            builder.finish();
        };
        agreement("signs", 0.75);
        agreement("otherSigns", 0.5);
        const auto json = compare({ path("signs"), path("otherSigns"), "--json" });
        QCOMPARE(json["signs"].size(), std::size_t { 2 });
        QCOMPARE(json["signs"][0]["name"].get<std::string>(), std::string("out.weight"));
        QCOMPARE(json["signs"][0]["suspicious"].get<int>(), 100);
        QCOMPARE(json["signs"][0]["least"].get<double>(), 0.75);
        QVERIFY(json["signs"][1]["suspicious"].is_null());
        const Outcome text = call(app::compareVerb, { path("signs"), path("otherSigns") });
        QVERIFY2(text.out.find("signs: 1 of 2 suspicious") != std::string::npos, text.out.c_str());
        QVERIFY2(text.out.find("the largest possible share") != std::string::npos, text.out.c_str());
    }

    /// What grad_probe streamed of two trainings, and nothing else.
    void storedSignsAreComparedAndJudged()
    {
        const auto probed = [this](const char* name, bool isFlipped, bool isCutOff = false) {
            CapsuleBuilder builder(path(name), name);
            const auto stream = builder.addAttempt(Rank { 0 }, 0);
            std::vector<Blob> blobs;
            const auto add = [&](int step, const std::string& of, int first, int count, char bits) {
                Blob one;
                one.id = std::to_string(blobs.size());
                one.kind = "grad_sign";
                one.name = of;
                one.step = Step { step };
                one.bytes = "{\"shape\": [4, 5], \"first\": " + std::to_string(first) + ", \"count\": "
                    + std::to_string(count) + "}\n" + std::string(static_cast<std::size_t>(count + 7) / 8, bits);
                blobs.push_back(std::move(one));
            };
            for (int step = 0; step < 6; ++step) {
                add(step, "fc.weight", 0, 16, '\x55'); // tried, and computed anew
                add(step, "fc.weight", 0, 16, '\x0f');
                if (!isCutOff || step != 4)
                    add(step, "fc.weight", 16, 4, '\x0f');
                add(step, "out.weight", 0, 20, isFlipped && step >= 3 ? '\x0f' : '\xf0');
            }
            builder.stage(stream, {}, {}, {}, std::move(blobs));
            builder.commit();
            builder.finish();
        };
        probed("probed", false);
        probed("probedAgain", false);
        probed("flipped", true);
        probed("cutOff", false, true);
        const auto same = compare({ path("probed"), path("probedAgain"), "--json" });
        QVERIFY(same["equal"].get<bool>());
        QCOMPARE(same["compared"].get<int>(), 12);
        QCOMPARE(same["sentence"].get<std::string>(), std::string("Equal at all steps from 0 to 5."));
        QVERIFY(same["signs"][0]["suspicious"].is_null() && same["signs"][1]["suspicious"].is_null());

        const auto json = compare({ path("probed"), path("flipped"), "--json" });
        QVERIFY(!json["equal"].get<bool>());
        QCOMPARE(json["differing"].get<int>(), 3);
        QCOMPARE(json["signs"].size(), std::size_t { 2 });
        QCOMPARE(json["signs"][0]["name"].get<std::string>(), std::string("out.weight"));
        QCOMPARE(json["signs"][0]["suspicious"].get<int>(), 3);
        QCOMPARE(json["first"][0]["step"].get<int>(), 3);
        const Outcome text = call(app::compareVerb, { path("probed"), path("flipped"), "--fail" });
        QCOMPARE(text.code, 1);
        const std::string sentence = "rank 0, step 3: out.weight: the share of equal signs falls from 1 to 0 (a drop "
                                     "over 0.03)";
        QVERIFY2(text.out.find(sentence) != std::string::npos, text.out.c_str());
        QCOMPARE(compare({ path("probed"), path("flipped"), "--steps", "0:2", "--json" })["differing"].get<int>(), 0);

        const auto less = compare({ path("probed"), path("cutOff"), "--json" });
        QVERIFY(less["equal"].get<bool>());
        QCOMPARE(less["compared"].get<int>(), 11);
        QCOMPARE(less["unmatched"].get<int>(), 1);
        QCOMPARE(call(app::compareVerb, { path("probed"), path("probed") }).code, 2);
    }

private:
    std::unique_ptr<store::RunReader> open(const char* name) const
    {
        store::RunHandle handle;
        handle.locator = store::RunLocator::ofFile(path(name));
        return CapsuleBuilder::must(store::openReader(handle));
    }
    judge::Comparison comparison(const char* other, StepRange steps) const
    {
        const auto a = open("reference");
        const auto b = open(other);
        judge::ComparisonWish wish;
        wish.steps = steps;
        return CapsuleBuilder::must(judge::compareRuns({ *a, **a->catalog() }, { *b, **b->catalog() }, wish));
    }
    std::string path(const char* name) const { return m_dir.path().toStdString() + '/' + name + ".telltale"; }
    static nlohmann::json compare(std::vector<std::string> words)
    {
        const Outcome said = call(app::compareVerb, std::move(words));
        if (said.code != 0)
            qWarning("%s", said.err.c_str());
        return said.json();
    }
    void write(const char* name, const Value& value, int steps = 200, int ranks = 2, const std::string& config = {},
        const std::string& hyperparameters = {}) const
    {
        CapsuleBuilder builder(path(name), name);
        Training training;
        training.ranks = ranks;
        training.steps = steps;
        if (value)
            training.value = value;
        training.write(builder);
        if (!config.empty()) {
            const auto blob = [](const std::string& kind, const std::string& called, const std::string& text) {
                Blob one;
                one.id = one.kind = kind;
                one.name = called;
                one.bytes = text;
                return one;
            };
            builder.stage(1, {}, {}, {},
                { blob("config", "config.json", config), blob("hyperparameters", "hyperparameters", hyperparameters) });
            builder.commit();
        }
        builder.finish();
    }

    QTemporaryDir m_dir;
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, CompareTest)

}

#include "comparetest.moc"
