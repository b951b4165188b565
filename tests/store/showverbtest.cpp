// SPDX-License-Identifier: GPL-3.0-or-later
// What `telltale show` prints of a run.
#include "testmain.h"

#include <cstring>
#include <fstream>

#include <QTemporaryDir>

#include <nlohmann/json.hpp>

#include <telltale/core/histogram.h>
#include <telltale/series/query.h>

#include "capsulebuilder.h"
#include "demorun.h"
#include "verbcall.h"

namespace showverbtest {

using namespace telltale;
using namespace telltale::test;

class ShowVerbTest : public QObject, DemoRun {
    Q_OBJECT
private Q_SLOTS:
    void showSaysWhatFormatsWouldLoseBesideStatistics();
    void theLargestLogitIsSaidToBeNoMean();
    void showListsAttentionMapsAndTheirCells();
    void showPrintsEveryValueWithTheNonFiniteByName();
    void showPacksWhatProgramsRead();
    void showAcceptsAnIdAndARange();
    void optionsAreTakenInAnyOrderAndTheLastCounts();
    void showTakesAPatternOfNames();
    void microStepsAreToldApart();
};

void ShowVerbTest::showSaysWhatFormatsWouldLoseBesideStatistics()
{
    const std::string path = m_dir.path().toStdString() + "/formats.telltale";
    {
        CapsuleBuilder builder(path);
        const auto norms = builder.addLayout(Kind::ParamOrigin, { Stat::Norm }, { "fc.weight" });
        auto bins
            = std::make_shared<SeriesLayout>(*builder.addLayout(Kind::ParamOrigin, { Stat::Hist }, { "fc.weight" }));
        bins->edges.assign(octaveEdges().begin(), octaveEdges().end());
        bins->series.front().definition = "elements a bin";
        StepBlock norm, counts;
        norm.layout = norms;
        norm.columns = { { Stat::Norm, std::vector<float> { 1 } } };
        counts.layout = bins;
        counts.columns = { { Stat::Hist, std::vector<std::uint64_t>(octaveEdges().size() - 1, 2) } };
        builder.stage(builder.addAttempt(Rank { 0 }, 0), { norm, counts });
        builder.commit();
        builder.finish();
    }
    const Outcome said = call(app::showVerb, { path, "--series", "fc.weight", "--kind", "param_origin", "--formats" });
    QVERIFY2(said.code == 0 && said.out.find("fp16") != std::string::npos, (said.out + said.err).c_str());
    const Outcome none = call(app::showVerb, { path, "--series", "none", "--formats" });
    QCOMPARE(none.code, 2);
    // Each share is a statistic, too, which no export has.
    const auto formats = call(app::showVerb, { path, "--series", "fc.weight", "--formats", "--json" })
                             .json()["series"][0]["values"][0]["formats"];
    const auto shareOf = [&](const std::string& stat) {
        const auto rows
            = call(app::showVerb, { path, "--series", "fc.weight", "--stat", stat, "--json" }).json()["series"];
        return rows.size() == 1 && !rows[0].contains("edges") ? rows[0]["values"][0]["value"].get<double>() : -1.0;
    };
    QVERIFY(shareOf("fp16_underflow") > 0);
    QCOMPARE(shareOf("fp16_underflow"), formats["fp16"]["flushed"].get<double>());
    QCOMPARE(shareOf("fp16_overflow"), formats["fp16"]["overflowed"][0].get<double>());
    QCOMPARE(shareOf("e4m3_underflow"), formats["fp8 e4m3"]["flushed"].get<double>());
    QCOMPARE(shareOf("bf16_overflow"), formats["bf16"]["overflowed"][0].get<double>());
    const Outcome same = call(app::compareVerb, { path, path, "--stat", "fp16_underflow" });
    QVERIFY2(same.code == 0 && same.out.find("Equal") != std::string::npos, (same.out + same.err).c_str());
    for (const char* stat : { "fp16_underflow", "absmax" }) {
        const Outcome refused = call(app::exportVerb, { path, "--to", "csv", "--stat", stat, "-o", path + ".csv" });
        QCOMPARE(refused.code, 2);
        QVERIFY(refused.err.find("no export has it") != std::string::npos);
    }
}

void ShowVerbTest::theLargestLogitIsSaidToBeNoMean()
{
    const std::string path = m_dir.path().toStdString() + "/logits.telltale";
    {
        CapsuleBuilder builder(path);
        auto heads = std::make_shared<SeriesLayout>(
            *builder.addLayout(Kind::Attention, { Stat::Entropy, Stat::MaxLogit }, { "attn" }));
        heads->series.front().definition = "mean over 32 of 48 queries";
        StepBlock block;
        block.layout = heads;
        block.columns = { { Stat::Entropy, std::vector<float> { 2 } }, { Stat::MaxLogit, std::vector<float> { 5 } } };
        builder.stage(builder.addAttempt(Rank { 0 }, 0), { block });
        builder.commit();
        builder.finish();
    }
    const auto said = [&](const char* stat) {
        return call(app::showVerb, { path, "--series", "attn", "--stat", stat }).out;
    };
    QVERIFY(said("entropy").find("= mean over 32 of 48 queries") != std::string::npos);
    QVERIFY(said("max_logit").find("= largest over 32 of 48 queries") != std::string::npos);
}

void ShowVerbTest::showListsAttentionMapsAndTheirCells()
{
    const std::string path = m_dir.path().toStdString() + "/maps.telltale";
    {
        CapsuleBuilder builder(path);
        for (int rank = 0; rank < 2; ++rank) {
            const auto stream = builder.addAttempt(Rank { rank }, 0);
            std::vector<Blob> blobs;
            for (const int step : { 10, 20 }) {
                Blob blob;
                blob.id = "attention_map-" + std::to_string(step);
                blob.kind = "attention_map";
                blob.name = "layers.0.attn";
                blob.step = Step { step };
                blob.bytes = R"({"format":1,"dtype":"float16","heads":[3],"shape":[4,2,2,3],"rows":2,"columns":2,)"
                             R"("queries_per_row":1,"keys_per_column":2,"looked":2,"scale":0.5})"
                             "\n";
                // 1, nothing to attend to, 0.25 + 2^-12 (whatever the step), and no number
                for (const int bits : { 0x3C00, 0xBC00, 0x3401, 0x7E00 })
                    blob.bytes.append({ static_cast<char>(bits & 0xFF), static_cast<char>(bits >> 8) });
                blobs.push_back(std::move(blob));
            }
            Blob broken = blobs.front();
            broken.id = "attention_map-broken";
            broken.name = "layers.1.attn";
            broken.bytes.pop_back();
            blobs.push_back(std::move(broken));
            const auto scalars = builder.addLayout(Kind::Scalar, { Stat::Value }, { "loss" });
            std::vector<StepBlock> blocks;
            for (const int step : { 10, 20 }) {
                StepBlock& block = blocks.emplace_back();
                block.layout = scalars;
                block.step = Step { step };
                block.columns = { { Stat::Value, std::vector<double> { 1 } } };
            }
            builder.stage(stream, std::move(blocks), {}, {}, std::move(blobs));
        }
        builder.commit();
        builder.finish();
    }
    const Outcome whole = call(app::showVerb, { path, "--maps", "layers.0.attn", "--json" });
    QCOMPARE(whole.code, 0);
    const auto maps = whole.json()["attention_maps"];
    QCOMPARE(maps.size(), std::size_t { 4 });
    QCOMPARE(maps[2]["step"].get<int>(), 20);
    QCOMPARE(maps[0]["maps"][0]["head"].get<int>(), 3);
    QCOMPARE(maps[0]["key_heads"].get<int>(), 2);
    QCOMPARE(maps[0]["maps"][0]["cells"].dump(), std::string(R"([[1,null],[0.25024414,"NaN"]])"));
    const Outcome some
        = call(app::showVerb, { path, "--maps", "layers.*", "--rank", "1", "--steps", "20:20", "--json" });
    QCOMPARE(some.json()["attention_maps"].size(), std::size_t { 1 });
    const Outcome text = call(app::showVerb, { path, "--maps", "*", "--rank", "0" });
    QCOMPARE(text.code, 1); // one of them is damaged, and the others are listed all the same
    QVERIFY(text.err.find("layers.1.attn") != std::string::npos && text.err.find("damaged") != std::string::npos);
    QVERIFY(text.out.find("layers.0.attn") != std::string::npos && text.out.find("2x3") != std::string::npos);
    QCOMPARE(call(app::showVerb, { path, "--maps", "layers.7.attn" }).code, 2);
    QVERIFY(call(app::showVerb, { m_path, "--maps", "*" }).err.find("has no attention maps") != std::string::npos);
    QCOMPARE(call(app::showVerb, { path }).code, 2);
}

void ShowVerbTest::showPrintsEveryValueWithTheNonFiniteByName()
{
    const Outcome weights = call(app::showVerb, { m_path, "--series", "fc.weight", "--rank", "1", "--json" });
    QCOMPARE(weights.code, 0);
    const auto rows = weights.json()["series"];
    QCOMPARE(rows.size(), std::size_t { 1 });
    QCOMPARE(rows[0]["stat"].get<std::string>(), std::string("norm"));
    QCOMPARE(rows[0]["rank"].get<int>(), 1);
    QVERIFY(rows[0]["form"].is_array());
    const auto& values = rows[0]["values"];
    QCOMPARE(values.size(), std::size_t { 300 });
    QCOMPARE(values[7]["value"].get<std::string>(), std::string("NaN"));
    QCOMPARE(values[7]["finite"].get<float>(), 7.1f);
    QCOMPARE(values[20]["value"].get<float>(), 20.1f);
    QCOMPARE(values[20]["step"].get<int>(), 20);

    const auto losses = call(app::showVerb, { m_path, "--series", "loss", "--kind", "scalar", "--json" }).json();
    QCOMPARE(losses["series"].size(), std::size_t { 2 });
    QCOMPARE(losses["series"][0]["values"][8]["value"].get<std::string>(), std::string("Infinity"));
    QCOMPARE(losses["series"][0]["values"][2]["value"].get<double>(), 1.0 / 3.0);

    const auto absmax = call(app::showVerb, { m_path, "--series=fc.weight", "--rank=0", "--stat=absmax", "--json" });
    QCOMPARE(absmax.json()["series"][0]["values"][50]["value"].get<float>(), 50.1f);
}

void ShowVerbTest::showPacksWhatProgramsRead()
{
    const std::string path = m_dir.filePath(QStringLiteral("packed")).toStdString();
    const Outcome packed
        = call(app::showVerb, { m_path, "--series", "fc.weight", "--rank", "1", "--steps", "5:20", "--packed", path });
    QVERIFY2(packed.code == 0 && packed.out.empty(), packed.err.c_str());
    std::ifstream file(path, std::ios::binary);
    const auto line = [&file] {
        std::string text;
        std::getline(file, text);
        return nlohmann::json::parse(text, nullptr, false);
    };
    const auto header = line();
    QCOMPARE(header["packed"].get<int>(), 1);
    QCOMPARE(header["sources"][0]["rank"].get<int>(), 1);
    const auto table = header["tables"][0];
    QCOMPARE(table["series"][0]["name"].get<std::string>(), std::string("fc.weight"));
    const auto block = line();
    QCOMPARE(block["first"].get<int>(), 5);
    QCOMPARE(block["steps"].get<int>(), 16);
    std::vector<float> values(16);
    std::vector<std::uint8_t> states(16);
    for (const auto& stat : table["stats"]) {
        const bool isCount = isWhole(statFromName(stat.get<std::string>()).value());
        std::vector<char> bytes(16 * (isCount ? sizeof(double) : sizeof(float)));
        file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        if (stat == "norm")
            std::memcpy(values.data(), bytes.data(), bytes.size());
        file.read(reinterpret_cast<char*>(stat == "norm" ? states.data() : std::vector<std::uint8_t>(16).data()), 16);
    }
    QCOMPARE(values[2], 7.1f); // of the finite elements
    QVERIFY(states[2] == static_cast<std::uint8_t>(series::CellState::NaN));
    QCOMPARE(values[15], 20.1f);
    QVERIFY(states[15] == static_cast<std::uint8_t>(series::CellState::Value));
    QCOMPARE(line(), nlohmann::json({ { "end", true } }));

    const Outcome nowhere
        = call(app::showVerb, { m_path, "--series", "*", "--packed", m_dir.path().toStdString() + "/none/x" });
    QCOMPARE(nowhere.code, 1);
    QVERIFY2(nowhere.err.find("none/x: No such file or directory") != std::string::npos, nowhere.err.c_str());
}

void ShowVerbTest::showAcceptsAnIdAndARange()
{
    const Outcome shown = call(app::showVerb,
        { "abc", "--data-dir", m_dir.path().toStdString(), "--series", "fc.bias", "--rank", "0", "--steps", "10:12" });
    QCOMPARE(shown.code, 0);
    QCOMPARE(std::count(shown.out.begin(), shown.out.end(), '\n'), std::ptrdiff_t { 2 + 3 });
}

void ShowVerbTest::optionsAreTakenInAnyOrderAndTheLastCounts()
{
    const Outcome plain = call(app::showVerb, { m_path, "--series", "fc.weight", "--rank", "0" });
    QCOMPARE(plain.code, 0);
    for (const std::vector<std::string>& words :
        { std::vector<std::string> { "--series=fc.weight", m_path, "--rank=0" },
            { "--rank", "1", "--rank", "0", "--series=nope", "--series", "fc.weight", "--", m_path } })
        QCOMPARE(call(app::showVerb, words).out, plain.out);
    // An empty value is one, and no reason to take the next word for it.
    const Outcome empty = call(app::showVerb, { m_path, "--series=", "--json" });
    QCOMPARE(empty.code, 2);
    QVERIFY2(empty.json().contains("error"), empty.out.c_str());
}

void ShowVerbTest::showTakesAPatternOfNames()
{
    const auto names = [this](const char* pattern) {
        std::vector<std::string> found;
        const auto document = call(app::showVerb, { m_path, "--series", pattern, "--rank", "1", "--json" }).json();
        for (const auto& row : document["series"])
            found.push_back(row["name"].get<std::string>());
        return found;
    };
    using Names = std::vector<std::string>;
    QCOMPARE(names("fc.*"), (Names { "fc.bias", "fc.weight" }));
    QCOMPARE(names("f[a-d]"), names("fc.*")); // a module is what is below it
    QCOMPARE(names("/S$|^loss/"), (Names { "loss" }));
    QCOMPARE(names("fc.bias"), (Names { "fc.bias" }));
    QCOMPARE(call(app::showVerb, { m_path, "--series", "fc" }).code, 2); // plain text is the whole name
    QCOMPARE(call(app::showVerb, { m_path, "--series", "x*" }).code, 2);
    const Outcome broken = call(app::showVerb, { m_path, "--series", "/(/" });
    QCOMPARE(broken.code, 2);
    QVERIFY2(broken.err.find("parenthesis") != std::string::npos, broken.err.c_str());
}

void ShowVerbTest::microStepsAreToldApart()
{
    QTemporaryDir dir;
    const std::string path = dir.filePath(QStringLiteral("micro.telltale")).toStdString();
    CapsuleBuilder builder(path);
    const auto stream = builder.addAttempt(Rank { 0 }, 0);
    SeriesLayout layout = *builder.addLayout(Kind::GradUnreduced, { Stat::Norm }, { "0.weight", "0.weight" });
    layout.series[0].microStep = 0;
    layout.series[1].microStep = 1;
    StepBlock block;
    block.layout = std::make_shared<SeriesLayout>(layout);
    block.step = Step { 0 };
    block.columns = { { Stat::Norm, std::vector<float> { 1, 2 } } };
    builder.stage(stream, { block });
    builder.commit();
    builder.finish();
    const Outcome shown = call(app::showVerb, { path, "--series", "0.weight" });
    QVERIFY2(shown.out.find("# 0.weight  norm  micro step 0\n") != std::string::npos, shown.out.c_str());
    QVERIFY(shown.out.find("# 0.weight  norm  micro step 1\n") != std::string::npos);
}

TELLTALE_TEST(QTEST_GUILESS_MAIN, ShowVerbTest)

}

#include "showverbtest.moc"
