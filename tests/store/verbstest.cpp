// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <regex>
#include <sstream>

#include <QDir>
#include <QTemporaryDir>

#include <nlohmann/json.hpp>

#include <telltale/core/histogram.h>
#include <telltale/series/query.h>
#include <telltale/store/archive.h>
#include <telltale/store/runfiles.h>
#include <telltale/store/sqlite.h>
#include <telltale/store/storeservice.h>

#include "capsulebuilder.h"
#include "log.h"
#include "verbcall.h"

namespace verbstest {

using namespace telltale;
using namespace telltale::test;

class VerbsTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void runsListsTheArchive();
    void inspectSaysWhatIsInside();
    void inspectNamesWhatShowTakes();
    void inspectVerifiesAndSaysWhatIsLost();
    void showPrintsEveryValueWithTheNonFiniteByName();
    void showPacksWhatProgramsRead();
    void showAcceptsAnIdAndARange();
    void optionsAreTakenInAnyOrderAndTheLastCounts();
    void showTakesAPatternOfNames();
    void showSaysWhatFormatsWouldLoseBesideStatistics();
    void showListsAttentionMapsAndTheirCells();
    void wrongUsageIsOneSentenceAndExitTwo_data();
    void wrongUsageIsOneSentenceAndExitTwo();
    void errorsAreOneDocumentWithJson();
    void whatIsNoCapsuleIsSaidSo();
    void everyListedIdIsFound();
    void sizeCountsTheLogToo();
    void damagedValuesAreSaidAndExitOne();
    void valuesThatLieElsewhereAreSaidAndExitOne();
    void aListThatCannotBeReadMakesTheRunDamaged();
    void aCopyOfARunIsTheRun_data();
    void aCopyOfARunIsTheRun();
    void aCopyReplacesNeitherARunThatIsOpenNorAFolder();
    void theLogSaysWhatAnIncidentHasBecome();
    void aKilledRunIsRenamedAndDeletedWithItsLog();
    void aRunCopiedWithoutItsLogIsNeverWhole();
    void aLossOfNoKnownStepStandsAtNone();
    void microStepsAreToldApart();
    void configCheckSaysAllThatIsWrongWithItsLine();
    void helpIsNoError();
    void theLogHasWhatItsLevelLetsThrough_data();
    void theLogHasWhatItsLevelLetsThrough();
    void whatRepeatsIsFoldedAndCounted();
    void theLogFileIsPrivateAndBoundedAndAPlainFile();
    void theLogFileHasTheErrorThatEndsAVerb();

private:
    QTemporaryDir m_dir;
    std::string m_path;
};

void VerbsTest::initTestCase()
{
    QVERIFY(m_dir.isValid());
    QVERIFY(QDir(m_dir.path()).mkpath(QStringLiteral("runs")));
    m_path = m_dir.filePath(QStringLiteral("runs/2026-11-21_demo_abc123.telltale")).toStdString();
    CapsuleBuilder builder(m_path);
    for (int rank = 0; rank < 2; ++rank) {
        const auto stream = builder.addAttempt(Rank { rank }, 0);
        const auto weights = builder.addLayout(
            Kind::ParamOrigin, { Stat::Norm, Stat::Min, Stat::Max, Stat::Nans }, { "fc.weight", "fc.bias" });
        const auto scalars = builder.addLayout(Kind::Scalar, { Stat::Value }, { "loss" });
        for (std::int64_t step = 0; step < 300; ++step) {
            StepBlock block;
            block.layout = weights;
            block.step = Step { step };
            const float value = static_cast<float>(step) + 0.1f;
            block.columns = { { Stat::Norm, std::vector<float> { value, 2 } },
                { Stat::Min, std::vector<float> { -value, 0 } }, { Stat::Max, std::vector<float> { 1, 1 } },
                { Stat::Nans, std::vector<std::uint64_t> { step == 7 ? 3u : 0u, 0u } } };
            StepBlock scalar;
            scalar.layout = scalars;
            scalar.step = Step { step };
            const double loss
                = step == 8 ? std::numeric_limits<double>::infinity() : 1.0 / static_cast<double>(step + 1);
            scalar.columns = { { Stat::Value, std::vector<double> { loss } } };
            builder.stage(stream, { block, scalar });
        }
        builder.commit();
    }
    builder.finish();
}

void VerbsTest::runsListsTheArchive()
{
    const Outcome json = call(app::runsVerb, { "--json", "--data-dir", m_dir.path().toStdString() });
    QCOMPARE(json.code, 0);
    const auto document = json.json();
    QVERIFY(document.is_array());
    QCOMPARE(document.size(), std::size_t { 1 });
    const auto& run = document[0];
    QCOMPARE(run["id"].get<std::string>(), std::string("abc123"));
    QCOMPARE(run["name"].get<std::string>(), std::string("a test run"));
    QCOMPARE(run["state"].get<std::string>(), std::string("finished"));
    QCOMPARE(run["ranks"].get<int>(), 2);
    QCOMPARE(run["last_step"].get<int>(), 299);
    QVERIFY(run["size"].get<std::int64_t>() > 0);
    const Outcome text = call(app::runsVerb, { "--data-dir=" + m_dir.path().toStdString() });
    QCOMPARE(text.code, 0);
    QVERIFY(text.out.find("abc123") != std::string::npos && text.out.find("299") != std::string::npos);
}

void VerbsTest::showSaysWhatFormatsWouldLoseBesideStatistics()
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

void VerbsTest::showListsAttentionMapsAndTheirCells()
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

void VerbsTest::inspectSaysWhatIsInside()
{
    const auto document = call(app::inspectVerb, { m_path, "--json" }).json();
    QCOMPARE(document["series"].get<int>(), 6);
    QCOMPARE(document["ranks"].get<int>(), 2);
    QCOMPARE(document["last_step"].get<int>(), 299);
    QCOMPARE(document["sources"].size(), std::size_t { 2 });
    QCOMPARE(document["kinds"][0]["kind"].get<std::string>(), std::string("scalar"));
    QVERIFY(!document.contains("verify"));
    const Outcome text = call(app::inspectVerb, { m_path });
    QCOMPARE(text.code, 0);
    QVERIFY(text.out.find("param_origin") != std::string::npos);
}

void VerbsTest::inspectNamesWhatShowTakes()
{
    QVERIFY(!call(app::inspectVerb, { m_path, "--json" }).json()["kinds"][0].contains("names"));
    const auto document = call(app::inspectVerb, { m_path, "--names", "--json" }).json();
    std::size_t names = 0;
    for (const auto& kind : document["kinds"]) {
        for (const auto& name : kind["names"]) {
            QCOMPARE(call(app::showVerb, { m_path, "--series", name.get<std::string>() }).code, 0);
            ++names;
        }
    }
    QCOMPARE(names, std::size_t { 3 });
    const Outcome text = call(app::inspectVerb, { m_path, "--names" });
    QVERIFY2(text.out.find("\n    fc.weight\n") != std::string::npos, text.out.c_str());
}

void VerbsTest::inspectVerifiesAndSaysWhatIsLost()
{
    const Outcome whole = call(app::inspectVerb, { m_path, "--verify", "--json" });
    QCOMPARE(whole.code, 0);
    QVERIFY(whole.err.empty());
    QVERIFY(whole.json()["verify"]["whole"].get<bool>());
    QVERIFY(whole.json()["verify"]["blobs"].get<int>() > 0);

    const std::string copy = m_dir.filePath(QStringLiteral("damaged.telltale")).toStdString();
    QVERIFY(QFile::copy(QString::fromStdString(m_path), QString::fromStdString(copy)));
    {
        const auto db = CapsuleBuilder::must(store::openDatabase(copy, store::OpenMode::Write));
        QVERIFY(store::execute(db.get(), "UPDATE tile SET crc=crc+1 WHERE id=(SELECT min(id) FROM tile)"));
    }
    const Outcome damaged = call(app::inspectVerb, { copy, "--verify", "--json" });
    QCOMPARE(damaged.code, 1);
    QVERIFY(damaged.err.rfind("telltale: ", 0) == 0);
    QVERIFY(!damaged.json()["verify"]["whole"].get<bool>());
    QCOMPARE(damaged.json()["verify"]["problems"].size(), std::size_t { 1 });

    // What was found is said by every list of its data directory, until the file is another.
    const QTemporaryDir data;
    const std::string dir = data.path().toStdString();
    const std::string torn = dir + "/runs/2026-11-21_demo_abc123.telltale";
    std::filesystem::create_directories(dir + "/runs");
    std::filesystem::copy_file(copy, torn);
    const auto listed = [&dir] {
        const auto run = call(app::runsVerb, { "--data-dir", dir, "--json" }).json()[0];
        return run["state"].get<std::string>() + run["note"].get<std::string>();
    };
    QCOMPARE(listed(), std::string("finished"));
    QCOMPARE(call(app::inspectVerb, { torn, "--data-dir", dir }).code, 0);
    const Outcome found = call(app::inspectVerb, { torn, "--verify", "--data-dir", dir, "--json" });
    const std::string problem = found.json()["verify"]["problems"][0];
    QCOMPARE(listed(), "damaged" + problem);
    const Outcome later = call(app::inspectVerb, { torn, "--data-dir", dir, "--json" });
    QCOMPARE(later.code, 1);
    QVERIFY2(later.err.find(problem) != std::string::npos, later.err.c_str());
    QCOMPARE(later.json()["state"].get<std::string>(), std::string("damaged"));
    QVERIFY(store::findCopy(dir, copy)); // it is still the same run's copy
    std::filesystem::copy_file(m_path, torn, std::filesystem::copy_options::overwrite_existing);
    QCOMPARE(listed(), std::string("finished"));
}

void VerbsTest::showPrintsEveryValueWithTheNonFiniteByName()
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

void VerbsTest::showPacksWhatProgramsRead()
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

void VerbsTest::showAcceptsAnIdAndARange()
{
    const Outcome shown = call(app::showVerb,
        { "abc", "--data-dir", m_dir.path().toStdString(), "--series", "fc.bias", "--rank", "0", "--steps", "10:12" });
    QCOMPARE(shown.code, 0);
    QCOMPARE(std::count(shown.out.begin(), shown.out.end(), '\n'), std::ptrdiff_t { 2 + 3 });
}

void VerbsTest::optionsAreTakenInAnyOrderAndTheLastCounts()
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

void VerbsTest::showTakesAPatternOfNames()
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

void VerbsTest::wrongUsageIsOneSentenceAndExitTwo_data()
{
    QTest::addColumn<QStringList>("words");
    QTest::newRow("unknown flag") << QStringList { QStringLiteral("CAPSULE"), QStringLiteral("--wat") };
    QTest::newRow("no series") << QStringList { QStringLiteral("CAPSULE") };
    QTest::newRow("no capsule") << QStringList { QStringLiteral("--series"), QStringLiteral("loss") };
    QTest::newRow("flag without value") << QStringList { QStringLiteral("CAPSULE"), QStringLiteral("--series") };
    QTest::newRow("unknown series") << QStringList { QStringLiteral("CAPSULE"), QStringLiteral("--series"),
        QStringLiteral("fc") };
    QTest::newRow("unknown stat") << QStringList { QStringLiteral("CAPSULE"), QStringLiteral("--series=loss"),
        QStringLiteral("--stat=wat") };
    QTest::newRow("stat of another kind")
        << QStringList { QStringLiteral("CAPSULE"), QStringLiteral("--series=loss"), QStringLiteral("--stat=norm") };
    QTest::newRow("backward steps") << QStringList { QStringLiteral("CAPSULE"), QStringLiteral("--series=loss"),
        QStringLiteral("--steps=9:3") };
    QTest::newRow("words for numbers") << QStringList { QStringLiteral("CAPSULE"), QStringLiteral("--series=loss"),
        QStringLiteral("--rank=one") };
    QTest::newRow("negative rank") << QStringList { QStringLiteral("CAPSULE"), QStringLiteral("--series=loss"),
        QStringLiteral("--rank"), QStringLiteral("-1") };
    QTest::newRow("switch with a value") << QStringList { QStringLiteral("CAPSULE"), QStringLiteral("--series=loss"),
        QStringLiteral("--json=3") };
    QTest::newRow("a second capsule") << QStringList { QStringLiteral("CAPSULE"), QStringLiteral("CAPSULE"),
        QStringLiteral("--series=loss") };
    QTest::newRow("nothing at all") << QStringList {};
    QTest::newRow("missing data directory") << QStringList { QStringLiteral("abc"), QStringLiteral("--series=loss"),
        QStringLiteral("--data-dir=/nonexistent") };
    QTest::newRow("a folder") << QStringList { QStringLiteral("/"), QStringLiteral("--series=loss") };
    QTest::newRow("missing file") << QStringList { QStringLiteral("/nonexistent/x.telltale"),
        QStringLiteral("--series=loss") };
}

void VerbsTest::wrongUsageIsOneSentenceAndExitTwo()
{
    QFETCH(QStringList, words);
    std::vector<std::string> args;
    for (const QString& word : words)
        args.push_back(word == QLatin1String("CAPSULE") ? m_path : word.toStdString());
    const Outcome outcome = call(app::showVerb, args);
    QCOMPARE(outcome.code, 2);
    QVERIFY(outcome.out.empty());
    QVERIFY(outcome.err.rfind("telltale: ", 0) == 0);
    QCOMPARE(std::count(outcome.err.begin(), outcome.err.end(), '\n'), std::ptrdiff_t { 1 });
}

void VerbsTest::errorsAreOneDocumentWithJson()
{
    const std::vector<std::pair<Verb, std::vector<std::string>>> calls {
        { app::showVerb, { m_path, "--series=nope", "--json" } },
        { app::inspectVerb, { "/nonexistent.telltale", "--json" } },
        { app::runsVerb, { "--json", "--data-dir=/nonexistent" } },
        { app::importVerb, { "/nonexistent", "--json" } },
        { app::inspectVerb, { "--json" } },
    };
    for (const auto& [verb, words] : calls) {
        const Outcome outcome = call(verb, words);
        QCOMPARE(outcome.code, 2);
        QVERIFY2(outcome.json().is_object() && outcome.json().contains("error"), outcome.out.c_str());
        QCOMPARE("telltale: " + outcome.json()["error"].get<std::string>() + "\n", outcome.err);
    }
}

void VerbsTest::whatIsNoCapsuleIsSaidSo()
{
    QTemporaryDir dir;
    QVERIFY(QDir(dir.path()).mkpath(QStringLiteral("runs")));
    const auto make = [&dir](const char* name, const QByteArray& bytes) {
        QFile file(dir.filePath(QStringLiteral("runs/") + QLatin1String(name)));
        if (file.open(QIODevice::WriteOnly))
            file.write(bytes);
        return file.fileName().toStdString();
    };
    const Outcome empty = call(app::inspectVerb, { make("empty.telltale", {}) });
    QCOMPARE(empty.code, 1);
    QVERIFY2(empty.err.find("is empty") != std::string::npos, empty.err.c_str());
    const Outcome junk = call(app::inspectVerb, { make("junk.telltale", QByteArray(5000, 'j')) });
    QCOMPARE(junk.code, 1);
    QVERIFY2(junk.err.find("not a Telltale run") != std::string::npos, junk.err.c_str());
    const Outcome folder = call(app::inspectVerb, { dir.path().toStdString() });
    QCOMPARE(folder.code, 2);
    QVERIFY2(folder.err.find("is a folder") != std::string::npos, folder.err.c_str());
    const Outcome listed = call(app::runsVerb, { "--data-dir", dir.path().toStdString() });
    QCOMPARE(listed.code, 0);
    QVERIFY2(listed.out.find("damaged          0          -") != std::string::npos, listed.out.c_str());
}

void VerbsTest::everyListedIdIsFound()
{
    QTemporaryDir dir;
    QVERIFY(QDir(dir.path()).mkpath(QStringLiteral("runs")));
    for (const char* name : { "renamed.telltale", "2026-11-21_demo_abc123.telltale", "another copy.telltale" })
        QVERIFY(
            QFile::copy(QString::fromStdString(m_path), dir.filePath(QStringLiteral("runs/") + QLatin1String(name))));
    const std::string dataDir = dir.path().toStdString();
    const auto runs = call(app::runsVerb, { "--json", "--data-dir", dataDir }).json();
    QCOMPARE(runs.size(), std::size_t { 3 });
    for (const auto& run : runs) {
        const auto id = run["id"].get<std::string>();
        const auto inspected = call(app::inspectVerb, { id, "--json", "--data-dir", dataDir }).json();
        QCOMPARE(inspected["path"].get<std::string>(), run["path"].get<std::string>());
        if (id == "abc123")
            QVERIFY(run["path"].get<std::string>().ends_with("_abc123.telltale"));
    }
}

void VerbsTest::sizeCountsTheLogToo()
{
    QTemporaryDir dir;
    const std::string path = dir.filePath(QStringLiteral("a_b.telltale")).toStdString();
    QVERIFY(QFile::copy(QString::fromStdString(m_path), QString::fromStdString(path)));
    const auto alone = store::runBytes(store::RunLocator::ofFile(path));
    QFile log(QString::fromStdString(path) + QStringLiteral("-wal"));
    QVERIFY(log.open(QIODevice::WriteOnly));
    log.write(QByteArray(1234, 'x'));
    log.close();
    QCOMPARE(store::runBytes(store::RunLocator::ofFile(path)), alone + 1234);
}

void VerbsTest::damagedValuesAreSaidAndExitOne()
{
    QTemporaryDir dir;
    const std::string copy = dir.filePath(QStringLiteral("damaged.telltale")).toStdString();
    QVERIFY(QFile::copy(QString::fromStdString(m_path), QString::fromStdString(copy)));
    {
        const auto db = CapsuleBuilder::must(store::openDatabase(copy, store::OpenMode::Write));
        QVERIFY(store::execute(db.get(),
            "UPDATE tile SET crc=crc+1 WHERE lvl=0 AND stat=1 AND first_step=0 AND grp=(SELECT min(grp) FROM tile)"));
    }
    const Outcome shown = call(app::showVerb, { copy, "--series=fc.weight", "--rank=0" });
    QCOMPARE(shown.code, 1);
    QVERIFY2(shown.err.find("damaged") != std::string::npos, shown.err.c_str());
    QVERIFY(shown.out.find("299") != std::string::npos); // what is readable is there
    const store::RunPart part { { Kind::ParamOrigin }, { Stat::Norm }, Rank { 0 }, { Step { 0 }, Step { 299 } } };
    QCOMPARE(CapsuleBuilder::must(store::lostIn(store::RunLocator::ofFile(copy), part)).size(), std::size_t { 1 });
    QVERIFY(CapsuleBuilder::must(store::lostIn(store::RunLocator::ofFile(m_path), part)).empty());
    store::RunPart other = part;
    other.rank = Rank { 1 };
    QVERIFY(CapsuleBuilder::must(store::lostIn(store::RunLocator::ofFile(copy), other)).empty());
    other = part;
    other.steps = { Step { 280 }, Step { 299 } };
    QVERIFY(CapsuleBuilder::must(store::lostIn(store::RunLocator::ofFile(copy), other)).empty());
}

void VerbsTest::valuesThatLieElsewhereAreSaidAndExitOne()
{
    QTemporaryDir dir;
    const std::string copy = dir.filePath(QStringLiteral("moved.telltale")).toStdString();
    QVERIFY(QFile::copy(QString::fromStdString(m_path), QString::fromStdString(copy)));
    {
        const auto db = CapsuleBuilder::must(store::openDatabase(copy, store::OpenMode::Write));
        QVERIFY(store::execute(db.get(), "UPDATE tile SET c0 = c0 + 2147483648 WHERE lvl=0"));
    }
    const Outcome shown = call(app::showVerb, { copy, "--series", "*" });
    QCOMPARE(shown.code, 1);
    QVERIFY2(shown.err.find("does not belong") != std::string::npos, shown.err.c_str());
}

void VerbsTest::aListThatCannotBeReadMakesTheRunDamaged()
{
    for (const char* table : { "source", "series", "grp" }) {
        QTemporaryDir dir;
        QVERIFY(QDir(dir.path()).mkpath(QStringLiteral("runs")));
        const QString copy = dir.filePath(QStringLiteral("runs/2026-11-21_demo_abc123.telltale"));
        QVERIFY(QFile::copy(QString::fromStdString(m_path), copy));
        qint64 page = 0;
        {
            const auto db = CapsuleBuilder::must(store::openDatabase(copy.toStdString(), store::OpenMode::Read));
            const std::string sql = std::string("SELECT rootpage FROM sqlite_master WHERE name='") + table + "'";
            page = CapsuleBuilder::must(store::queryInteger(db.get(), sql));
        }
        QFile file(copy);
        QVERIFY(file.open(QIODevice::ReadWrite));
        QVERIFY(file.seek((page - 1) * 8192));
        QCOMPARE(file.write(QByteArray(8192, 'x')), qint64 { 8192 });
        file.close();
        const auto runs = call(app::runsVerb, { "--json", "--data-dir", dir.path().toStdString() }).json();
        QCOMPARE(runs.size(), std::size_t { 1 });
        QCOMPARE(runs[0]["state"].get<std::string>(), std::string("damaged"));
        QVERIFY(!runs[0]["note"].get<std::string>().empty());
        QCOMPARE(runs[0]["name"].get<std::string>(), std::string("a test run")); // what is readable is there
    }
}

void VerbsTest::aCopyOfARunIsTheRun_data()
{
    QTest::addColumn<bool>("isLive");
    QTest::newRow("being recorded") << true;
    QTest::newRow("recorder killed") << false;
}

namespace {

/// 300 steps that are all still in the log.
void writeLogged(CapsuleBuilder& builder)
{
    const auto stream = builder.addAttempt(Rank { 0 }, 0);
    const auto layout = builder.addLayout(Kind::GradReduced, { Stat::Norm }, { "fc.weight" });
    for (std::int64_t step = 0; step < 300; ++step) {
        StepBlock block;
        block.layout = layout;
        block.step = Step { step };
        block.columns = { { Stat::Norm, std::vector<float> { static_cast<float>(step) / 3 } } };
        builder.stage(stream, { block });
        builder.commit();
    }
}

}

void VerbsTest::aCopyOfARunIsTheRun()
{
    QFETCH(bool, isLive);
    QTemporaryDir dir;
    const std::string path = dir.filePath(QStringLiteral("run.telltale")).toStdString();
    CapsuleBuilder builder(path);
    writeLogged(builder);
    if (!isLive)
        builder.crash();
    const auto shown = call(app::showVerb, { path, "--series", "fc.weight", "--json" });
    QCOMPARE(shown.json()["series"][0]["values"].size(), std::size_t { 300 });
    const std::string copy = dir.filePath(QStringLiteral("copy.telltale")).toStdString();
    CapsuleBuilder::must(store::copyRun(store::RunLocator::ofFile(path), copy));
    QCOMPARE(QFile(QString::fromStdString(copy)).permissions() & 0x77, QFile::Permissions {});
    QVERIFY(QDir(dir.path()).mkdir(QStringLiteral("archive")));
    const std::string archive = dir.filePath(QStringLiteral("archive")).toStdString();
    const Outcome imported = call(app::importVerb, { path, "--data-dir", archive, "--json" });
    QVERIFY2(imported.code == 0, imported.err.c_str());
    const std::string kept = imported.json()["capsules"][0]["capsule"];
    for (const std::string& one : { copy, kept }) {
        QVERIFY(!QFile::exists(QString::fromStdString(one) + QStringLiteral("-wal")));
        const auto again = call(app::showVerb, { one, "--series", "fc.weight", "--json" });
        QCOMPARE(again.out, shown.out);
        QCOMPARE(call(app::inspectVerb, { one, "--verify" }).code, 0);
        QCOMPARE(store::describeRun(store::RunLocator::ofFile(one)).state, store::RunState::Interrupted);
    }
    const Outcome here = call(app::importVerb, { copy, "--data-dir", archive });
    QVERIFY2(here.code == 0 && here.out.find("is here already") != std::string::npos, here.out.c_str());
    QCOMPARE(call(app::importVerb, { path, "--again", "--data-dir", archive }).code, 1); // a run of that name is there
    QCOMPARE(call(app::importVerb, { copy, "--again", "--data-dir", archive }).code, 0);
    if (isLive)
        builder.finish();
}

void VerbsTest::aCopyReplacesNeitherARunThatIsOpenNorAFolder()
{
    QTemporaryDir dir;
    const std::string path = dir.filePath(QStringLiteral("run.telltale")).toStdString();
    const QString killed = dir.filePath(QStringLiteral("killed.telltale"));
    CapsuleBuilder builder(path);
    writeLogged(builder);
    const auto busy = store::copyRun(store::RunLocator::ofFile(m_path), path);
    QVERIFY(!busy);
    QCOMPARE(busy.error().code, ErrorCode::Busy);
    for (const char* part : { "", "-wal" })
        QVERIFY(QFile::copy(QString::fromStdString(path) + QLatin1String(part), killed + QLatin1String(part)));
    builder.finish();
    QCOMPARE(
        call(app::showVerb, { path, "--series", "fc.weight", "--json" }).json()["series"][0]["values"].size(), 300u);
    // What a killed recorder left may go, with its log.
    CapsuleBuilder::must(store::copyRun(store::RunLocator::ofFile(m_path), killed.toStdString()));
    QCOMPARE(store::describeRun(store::RunLocator::ofFile(killed.toStdString())).ranks, 2);
    QCOMPARE(QDir(dir.path()).entryList({ QStringLiteral("killed*") }, QDir::Files).size(), 1);
    const QString folder = dir.filePath(QStringLiteral("folder.telltale"));
    QVERIFY(QDir().mkdir(folder));
    QVERIFY(!store::copyRun(store::RunLocator::ofFile(m_path), folder.toStdString()));
    QVERIFY(QFileInfo(folder).isDir());
}

void VerbsTest::aRunCopiedWithoutItsLogIsNeverWhole()
{
    QTemporaryDir dir;
    const QString path = dir.filePath(QStringLiteral("run.telltale"));
    const std::string alone = dir.filePath(QStringLiteral("alone.telltale")).toStdString();
    {
        CapsuleBuilder builder(path.toStdString());
        writeLogged(builder);
        builder.crash();
    }
    // What the recorder closed in a hurry has its log, and with it all that was stored.
    QVERIFY(QFileInfo(path + QStringLiteral("-wal")).size() > 0);
    QCOMPARE(call(app::inspectVerb, { path.toStdString(), "--verify" }).err, std::string());
    QVERIFY(QFile::copy(path, QString::fromStdString(alone)));
    const auto says
        = [](const Outcome& outcome) { return outcome.code != 0 && outcome.err.find("-wal") != std::string::npos; };
    const std::string archive = dir.filePath(QStringLiteral("archive")).toStdString();
    QVERIFY(QDir().mkpath(QString::fromStdString(archive)));
    const Outcome imported = call(app::importVerb, { alone, "--data-dir", archive, "--json" });
    QVERIFY2(says(imported), imported.err.c_str());
    const std::string kept = imported.json()["capsules"][0]["capsule"];
    const std::string copy = dir.filePath(QStringLiteral("copy.telltale")).toStdString();
    CapsuleBuilder::must(store::copyRun(store::RunLocator::ofFile(kept), copy));
    for (const std::string& one : { alone, kept, copy }) {
        const Outcome verified = call(app::inspectVerb, { one, "--verify", "--json" });
        QVERIFY2(says(verified), one.c_str());
        QVERIFY(!verified.json()["verify"]["whole"].get<bool>());
        QVERIFY2(says(call(app::inspectVerb, { one })), one.c_str());
        QVERIFY2(says(call(app::showVerb, { one, "--series", "fc.weight" })), one.c_str());
    }
    // The next recorder of the archive ends the run, and the run does not forget.
    {
        const auto db = CapsuleBuilder::must(store::openDatabase(path.toStdString(), store::OpenMode::Write));
        CapsuleBuilder::must(store::execute(db.get(), "PRAGMA wal_checkpoint(PASSIVE)"));
    }
    const std::string adopted = store::runsFolder(archive) + "/adopted.telltale";
    QVERIFY(QFile::copy(path, QString::fromStdString(adopted)));
    store::StoreOptions options;
    options.dataDir = archive;
    CapsuleBuilder::must(store::StoreService::start(options))->stop(5000);
    QCOMPARE(store::describeRun(store::RunLocator::ofFile(adopted)).state, store::RunState::Interrupted);
    QVERIFY(says(call(app::inspectVerb, { adopted, "--verify" })));
}

void VerbsTest::aLossOfNoKnownStepStandsAtNone()
{
    QTemporaryDir dir;
    const std::string path = dir.filePath(QStringLiteral("run.telltale")).toStdString();
    CapsuleBuilder builder(path);
    const auto stream = builder.addAttempt(Rank { 0 }, 0);
    const StepRange none;
    builder.stage(stream, {},
        { { 2, none.first, none.last, 7, 0, "nobody knows" }, { 2, Step { 3 }, Step { 4 }, 1, 0, "full" } });
    builder.commit();
    builder.finish();
    const Outcome text = call(app::logVerb, { path });
    QVERIFY2(text.out.find("step -         rank 0     drop            7 items were not stored: nobody knows\n")
            != std::string::npos,
        text.out.c_str());
    QVERIFY(text.out.find("1 items of steps 3 to 4 were not stored: full\n") != std::string::npos);
    const auto json = call(app::logVerb, { path, "--json", "--kind", "drop" }).json();
    QCOMPARE(json.size(), std::size_t { 3 }); // and that nobody knows how the process ended
    QVERIFY(json[0]["step"].is_null() && json[2]["step"].is_null());
    QCOMPARE(json[1]["step"].get<int>(), 3);
    QCOMPARE(
        call(app::logVerb, { path, "--json", "--kind", "drop", "--steps", "0:9" }).json().size(), std::size_t { 1 });
}

void VerbsTest::theLogSaysWhatAnIncidentHasBecome()
{
    QTemporaryDir dir;
    const std::string path = dir.filePath(QStringLiteral("run.telltale")).toStdString();
    CapsuleBuilder builder(path);
    const auto stream = builder.addAttempt(Rank { 0 }, 0);
    Event began { "anomaly", Step { 3 }, 7, "it began", R"({"value": 1})" };
    began.rule = "NaN";
    Event ended { "anomaly", Step { 3 }, 9, "", "" };
    ended.ref = 1;
    ended.lastStep = Step { 5 };
    ended.phase = "ended";
    ended.cause = "layers.1";
    Event config { "config", Step { 4 }, 8, "of nobody's incident", "" };
    config.ref = 1; // which is of another kind
    config.rev = 2;
    config.author = "ada";
    builder.stage(stream, {}, {}, { began, config, ended });
    builder.commit();
    builder.finish();
    const auto log = [&](std::vector<std::string> words) {
        words.insert(words.end(), { path, "--json" });
        auto json = call(app::logVerb, words).json();
        for (auto& record : json)
            record.erase("time");
        return json;
    };
    const auto incident = nlohmann::json::parse(R"({"wall_ns": 7, "step": 3, "last_step": 5, "rank": 0, "id": 1,
        "kind": "anomaly", "text": "it began", "data": {"value": 1}, "rule": "NaN", "phase": "ended",
        "cause": "layers.1"})");
    const auto other = nlohmann::json::parse(R"({"wall_ns": 8, "step": 4, "rank": 0, "id": 2, "ref": 1, "rev": 2,
        "kind": "config", "text": "of nobody's incident", "data": null, "author": "ada"})");
    QCOMPARE(log({ "--kind", "anomaly" }), nlohmann::json::array({ incident }));
    QCOMPARE(log({ "--kind", "config" }), nlohmann::json::array({ other }));
    QCOMPARE(log({ "--steps", "5:9" }), nlohmann::json::array({ incident }));
}

void VerbsTest::aKilledRunIsRenamedAndDeletedWithItsLog()
{
    QTemporaryDir dir;
    const QString path = dir.filePath(QStringLiteral("run.telltale"));
    const QString killed = dir.filePath(QStringLiteral("killed.telltale"));
    CapsuleBuilder builder(path.toStdString());
    writeLogged(builder);
    // As kill -9 leaves it.
    for (const char* part : { "", "-wal" })
        QVERIFY(QFile::copy(path + QLatin1String(part), killed + QLatin1String(part)));
    CapsuleBuilder::must(store::renameRun(store::RunLocator::ofFile(killed.toStdString()), "another name"));
    QCOMPARE(store::describeRun(store::RunLocator::ofFile(killed.toStdString())).name, std::string("another name"));
    QCOMPARE(call(app::showVerb, { killed.toStdString(), "--series", "fc.weight", "--json" })
                 .json()["series"][0]["values"]
                 .size(),
        std::size_t { 300 });
    QFile::remove(killed);
    for (const char* part : { "", "-wal" })
        QVERIFY(QFile::copy(path + QLatin1String(part), killed + QLatin1String(part)));
    CapsuleBuilder::must(store::deleteRun(store::RunLocator::ofFile(killed.toStdString())));
    QCOMPARE(QDir(dir.path()).entryList({ QStringLiteral("killed*") }, QDir::Files).size(), 0);
    // What somebody has open stays.
    const auto busy = store::deleteRun(store::RunLocator::ofFile(path.toStdString()));
    QVERIFY(!busy);
    QCOMPARE(busy.error().code, ErrorCode::Busy);
    QVERIFY(QFile::exists(path));
}

void VerbsTest::microStepsAreToldApart()
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

void VerbsTest::configCheckSaysAllThatIsWrongWithItsLine()
{
    QTemporaryDir folder;
    const auto write = [&](const char* name, const char* text) {
        const std::string path = folder.filePath(QString::fromLatin1(name)).toStdString();
        std::ofstream(path) << text;
        return path;
    };
    const auto bad = write("bad.json", "{ // mine\n  \"wg_distributoin\": true,\n  \"eps\": 2,\n}\n");
    const auto said = call(app::configCheckVerb, { bad });
    QCOMPARE(said.code, app::kExitFailed);
    QVERIFY2(said.out.find("bad.json:2: error: the field \"wg_distributoin\"") != std::string::npos, said.out.c_str());
    QVERIFY2(said.out.find("bad.json:3: error: /eps is 2") != std::string::npos, said.out.c_str());
    const auto document = call(app::configCheckVerb, { bad, "--json" }).json();
    QCOMPARE(document["ok"], nlohmann::json(false));
    QCOMPARE(document["problems"].size(), 2u);
    QCOMPARE(document["problems"][1]["line"], nlohmann::json(3));

    const auto good = write("good.json", R"({"module_ranks": [77], "dynamic_on": true})");
    QCOMPARE(call(app::configCheckVerb, { good }).code, app::kExitDone);
    const auto inRun = call(app::configCheckVerb, { good, "--run", m_path });
    QCOMPARE(inRun.code, app::kExitFailed);
    QVERIFY2(inRun.out.find("rank 77 does not exist") != std::string::npos, inRun.out.c_str());

    QCOMPARE(call(app::configCheckVerb, { write("none.json", "[1]") }).code, app::kExitUsage);
    QCOMPARE(call(app::configCheckVerb, { folder.filePath(QStringLiteral("away.json")).toStdString() }).code,
        app::kExitUsage);
}

void VerbsTest::helpIsNoError()
{
    for (const Verb verb : { app::runsVerb, app::importVerb, app::inspectVerb, app::logVerb, app::showVerb }) {
        const Outcome help = call(verb, { "--help" });
        QCOMPARE(help.code, 0);
        QVERIFY(help.out.rfind("usage: telltale ", 0) == 0);
        QVERIFY(help.err.empty());
    }
}

namespace {

namespace fs = std::filesystem;

/// Runs a verb that says something along the way; the lines of the log's file, or the error.
std::vector<std::string> logOf(
    int (*saying)(const app::Args&, app::Report&), const std::string& path, std::vector<std::string> words = {})
{
    app::Verb verb;
    verb.name = "say";
    verb.run = saying;
    words.insert(words.end(), { "--log-file", path });
    std::ostringstream out;
    std::ostringstream err;
    if (app::runVerb(verb, words, out, err) != 0)
        return { err.str() };
    std::vector<std::string> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);)
        lines.push_back(line);
    return lines;
}

bool isPrivate(const std::string& path)
{
    return (fs::status(path).permissions() & fs::perms::all) == (fs::perms::owner_read | fs::perms::owner_write);
}

}

void VerbsTest::theLogHasWhatItsLevelLetsThrough_data()
{
    QTest::addColumn<std::string>("level");
    QTest::addColumn<std::vector<std::string>>("expected");
    using Words = std::vector<std::string>;
    QTest::newRow("debug") << std::string("debug") << Words { "debug", "info", "warning", "error" };
    QTest::newRow("unsaid") << std::string() << Words { "info", "warning", "error" };
    QTest::newRow("warning") << std::string("warning") << Words { "warning", "error" };
    QTest::newRow("error") << std::string("error") << Words { "error" };
    QTest::newRow("off") << std::string("off") << Words {};
}

void VerbsTest::theLogHasWhatItsLevelLetsThrough()
{
    QFETCH(std::string, level);
    QFETCH(std::vector<std::string>, expected);
    const auto saying = [](const app::Args&, app::Report&) {
        for (const auto one :
            { app::LogLevel::Debug, app::LogLevel::Info, app::LogLevel::Warning, app::LogLevel::Error })
            app::writeLog(one, "red\x1b[31m line\n");
        return 0;
    };
    std::vector<std::string> words;
    if (!level.empty())
        words = { "--log-level", level };
    const QTemporaryDir dir;
    const auto lines = logOf(saying, dir.path().toStdString() + "/log", words);
    QCOMPARE(lines.size(), expected.size());
    static const std::regex form(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (\w+) +red\\u001b\[31m line\\u000a)");
    for (std::size_t i = 0; i < lines.size(); ++i) {
        std::smatch match;
        QVERIFY2(std::regex_match(lines[i], match, form), lines[i].c_str());
        QCOMPARE(match[1].str(), expected[i]);
    }
    const std::string wrong = call(app::runsVerb, { "--log-level", "loud" }).err;
    QVERIFY2(wrong.find("debug, info, warning, error or off") != std::string::npos, wrong.c_str());
}

void VerbsTest::whatRepeatsIsFoldedAndCounted()
{
    const auto saying = [](const app::Args&, app::Report&) {
        for (int i = 0; i < 10'000; ++i) {
            app::writeLog(app::LogLevel::Warning, "the same");
            app::writeLog(app::LogLevel::Warning, "and between");
        }
        return 0;
    };
    const QTemporaryDir dir;
    const auto lines = logOf(saying, dir.path().toStdString() + "/log");
    QCOMPARE(lines.size(), std::size_t(4));
    QVERIFY2(lines[0].ends_with("the same") && lines[1].ends_with("and between"), lines[0].c_str());
    QVERIFY2(lines[2].ends_with("and between (9999 more since the last line)"), lines[2].c_str());
    QVERIFY2(lines[3].ends_with("the same (9999 more since the last line)"), lines[3].c_str());
}

void VerbsTest::theLogFileIsPrivateAndBoundedAndAPlainFile()
{
    const auto saying = [](const app::Args&, app::Report&) {
        app::writeLog(app::LogLevel::Warning, "one more");
        return 0;
    };
    const QTemporaryDir dir;
    const std::string path = dir.path().toStdString() + "/log";
    QCOMPARE(logOf(saying, path).size(), std::size_t(1));
    QVERIFY(isPrivate(path));
    fs::permissions(path, fs::perms::others_read | fs::perms::group_read, fs::perm_options::add);
    QCOMPARE(logOf(saying, path).size(), std::size_t(2)); // continued
    QVERIFY(isPrivate(path));

    fs::resize_file(path, app::Log::kMaxFileBytes);
    QCOMPARE(logOf(saying, path).size(), std::size_t(1));
    QCOMPARE(fs::file_size(path + ".1"), app::Log::kMaxFileBytes);
    QVERIFY(isPrivate(path) && isPrivate(path + ".1"));

    // A device would be renamed when it has had its fill.
    for (const std::string& bad : { dir.path().toStdString(), std::string("/dev/null"), path + "/log" })
        QVERIFY2(logOf(saying, bad).at(0).find("the log file") != std::string::npos, bad.c_str());
}

void VerbsTest::theLogFileHasTheErrorThatEndsAVerb()
{
    const std::string path = m_dir.path().toStdString() + "/errors.log";
    const Outcome failed
        = call(app::showVerb, { "no\x1brun", "--series", "x", "--log-file", path, "--log-level", "error" });
    QCOMPARE(failed.code, app::kExitUsage);
    std::ifstream file(path);
    const std::string kept(std::istreambuf_iterator<char>(file), {});
    const std::string sentence = failed.err.substr(std::string("telltale: ").size());
    QVERIFY2(kept.ends_with(" error   " + sentence) && kept.find("no\\u001brun") != std::string::npos, kept.c_str());
}

TELLTALE_TEST(QTEST_GUILESS_MAIN, VerbsTest)

}

#include "verbstest.moc"
