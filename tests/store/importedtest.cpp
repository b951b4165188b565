// SPDX-License-Identifier: GPL-3.0-or-later
// What other tools recorded comes in as it is: recorded folders cell by cell, runs that were exported sample by sample,
// what is damaged is damagedimportstest.cpp.
#include "testmain.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <random>
#include <regex>
#include <set>

#include <QTemporaryDir>

#include <telltale/exchange/foreignreader.h>
#include <telltale/exchange/formats.h>
#include <telltale/ingest/foreignimport.h>
#include <telltale/store/importdraft.h>

#include "capsulebuilder.h"
#include "sourcepath.h"
#include "verbcall.h"

namespace importedtest {

using namespace telltale;
using namespace telltale::test;
namespace fs = std::filesystem;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNaN = std::nan("");

std::string textOf(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    return { std::istreambuf_iterator<char>(file), {} };
}

/// The cells of a csv line, by nothing but this test's own reading.
std::vector<std::string> cellsOf(const std::string& line)
{
    std::vector<std::string> cells(1);
    bool isQuoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (c == '"' && isQuoted && line.substr(i + 1, 1) == "\"")
            cells.back() += line[++i];
        else if (c == '"')
            isQuoted = !isQuoted;
        else if (c == ',' && !isQuoted)
            cells.emplace_back();
        else if (c != '\r')
            cells.back() += c;
    }
    return cells;
}

std::vector<std::vector<std::string>> rowsOf(const fs::path& path)
{
    std::vector<std::vector<std::string>> rows;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);)
        rows.push_back(cellsOf(line));
    return rows;
}

/// Every value of a run by what it is of, as `telltale export --to csv` says it.
std::map<std::string, std::string> valuesOf(const std::string& capsule, const fs::path& scratch)
{
    static int number = 0;
    const fs::path csv = scratch / ("values" + std::to_string(++number) + ".csv");
    const Outcome done = call(app::exportVerb, { capsule, "--to", "csv", "-o", csv.string(), "--json" });
    if (done.code != 0)
        throw std::runtime_error(done.err);
    std::map<std::string, std::string> values;
    for (const auto& row : rowsOf(csv)) {
        std::string key;
        for (std::size_t i = 0; i + 1 < row.size(); ++i)
            key += row[i] + '|';
        values[key] = row.back();
    }
    return values;
}

std::string keyOf(std::int64_t step, int rank, const std::string& kind, const std::string& name,
    const std::string& slot, int micro, int stage, const std::string& stat)
{
    return std::to_string(step) + '|' + std::to_string(rank) + "|0|" + kind + '|' + name + '|' + slot + '|'
        + std::to_string(micro) + '|' + std::to_string(stage) + "||" + stat + '|';
}

bool isSame(double a, double b)
{
    return a == b || (std::isnan(a) && std::isnan(b));
}

/// A run with everything that is hard to keep: four ranks, two attempts of one, gaps, what is not finite, small and
/// large numbers, all bits of a checksum, histograms.
std::string hardRun(const std::string& path)
{
    CapsuleBuilder builder(path, "hard");
    auto tensors = builder.addLayout(Kind::GradReduced,
        { Stat::Norm, Stat::Mean, Stat::Min, Stat::Max, Stat::Zeros, Stat::Nans },
        { "a.weight", "b.weight", "c.bias" });
    auto scalars = builder.addLayout(Kind::Scalar, { Stat::Value }, { "loss", "tokens" });
    auto sums = builder.addLayout(Kind::ParamUpdated, { Stat::Checksum }, { "a.weight" });
    auto bins = std::make_shared<SeriesLayout>(*builder.addLayout(Kind::Update, { Stat::Hist }, { "a.weight" }));
    bins->edges = { -kInf, -1, 0, 1, kInf };
    constexpr float kInfF = std::numeric_limits<float>::infinity();
    for (const auto& [rank, attempt] : { std::pair { 0, 0 }, { 1, 0 }, { 2, 0 }, { 3, 0 }, { 2, 1 } }) {
        const auto stream = builder.addAttempt(Rank { rank }, attempt);
        for (int step = attempt * 3; step < 300; step += step == 7 ? 5 : 1) {
            const float x = static_cast<float>(step + 1) * 0.37f + static_cast<float>(rank);
            std::vector<std::vector<float>> values { { x, 1e-9f, 0 }, { -x, step == 4 ? NAN : 1e-38f, 1 },
                { step == 5 ? -kInfF : -1, -2, -3 }, { step == 5 ? kInfF : 3e38f, 2, 3 }, { 0.25f, 0, 1 } };
            StepBlock block;
            block.layout = tensors;
            block.step = Step { step };
            block.wallNs = 1'700'000'000'000'000'000 + step * 1'000'000'000LL;
            for (std::size_t stat = 0; stat < values.size(); ++stat)
                block.columns.push_back({ tensors->stats[stat], values[stat] });
            block.columns.push_back(
                { Stat::Nans, std::vector<std::uint64_t> { std::uint64_t { 1 } << 53, step == 4 ? 2U : 0U, 0 } });
            if (step % 3 == 1)
                block.present = { 0b011 };
            StepBlock metric { scalars, Step { step }, block.wallNs, {}, {}, {} };
            metric.columns.push_back({ Stat::Value,
                std::vector<double> {
                    step == 9 ? kNaN : 1.0 / 1024 * step, step == 10 ? -kInf : 9007199254740992.0 } });
            StepBlock sum { sums, Step { step }, block.wallNs, {}, {}, {} };
            sum.columns.push_back(
                { Stat::Checksum, std::vector<std::uint64_t> { 0xFEDCBA9876543210U + static_cast<unsigned>(step) } });
            StepBlock bin { bins, Step { step }, block.wallNs, {}, {}, {} };
            bin.columns.push_back(
                { Stat::Hist, std::vector<std::uint64_t> { 0, 5, static_cast<std::uint64_t>(step), 1 } });
            builder.stage(stream, { block, metric, sum, bin });
        }
        builder.commit();
    }
    builder.releaseAll();
    builder.finish();
    return path;
}

}

class ImportedTest : public QObject {
    Q_OBJECT
private:
    QTemporaryDir m_folder;
    fs::path m_dir { m_folder.path().toStdString() };
    int m_imports = 0;

    nlohmann::json import(const std::vector<std::string>& paths, int code = 0, bool isMerged = false)
    {
        const fs::path data = m_dir / ("data" + std::to_string(++m_imports));
        fs::create_directories(data);
        std::vector<std::string> words = paths;
        words.insert(words.end(), { "--data-dir", data.string(), "--json" });
        if (isMerged)
            words.emplace_back("--merge");
        const Outcome done = call(app::importVerb, words);
        if (done.code != code)
            throw std::runtime_error(std::to_string(done.code) + ": " + done.err);
        nlohmann::json document = done.json();
        return document.contains("runs") && !document["runs"].empty() ? document["runs"][0] : document;
    }

private Q_SLOTS:
    void recordedFoldersComeInCellByCell_data()
    {
        QTest::addColumn<QString>("folder");
        for (const char* folder : { "single", "ddp", "l2", "dyn" })
            QTest::newRow(folder) << QString::fromLatin1(folder);
    }
    void recordedFoldersComeInCellByCell()
    {
        QFETCH(QString, folder);
        const fs::path out = fs::path(telltale::test::sourcePath("tests/data/msprobe")) / folder.toStdString() / "out";
        const auto taken = import({ out.string() });
        QCOMPARE(taken["format"].get<std::string>(), std::string("msprobe-csv"));
        const auto values = valuesOf(taken["capsule"].get<std::string>(), m_dir);
        const std::map<std::string, std::pair<std::string, std::string>> words {
            { "attention_hook", { "attention", ".attention" } }, { "linear_hook", { "linear", ".linear" } }
        };
        const std::regex name(R"((.*)_(\d+)-(\d+)\.csv)"), slot(R"((.*)\.((?:input|output)(?:_\d+)?))"),
            rank(".*-rank(\\d+)-.*");
        int checked = 0;
        for (const auto& entry : fs::recursive_directory_iterator(out)) {
            std::smatch file, of;
            const std::string fileName = entry.path().filename().string();
            const std::string parent = entry.path().parent_path().filename().string();
            if (!std::regex_match(fileName, file, name) || !std::regex_match(parent, of, rank))
                continue;
            const int ofRank = std::stoi(of[1]);
            auto rows = rowsOf(entry.path());
            const auto head = rows.front();
            for (std::size_t r = 1; r < rows.size(); ++r) {
                const auto& row = rows[r];
                QCOMPARE(row.size(), head.size());
                std::map<std::string, std::string> cell;
                for (std::size_t c = 0; c < head.size(); ++c)
                    cell[head[c]] = row[c];
                std::string kind = file[1] == "other" ? "mg_direction" : file[1].str(), tensor = cell["name"], part;
                if (const auto word = words.find(kind); word != words.end()) {
                    kind = word->second.first;
                    QVERIFY(tensor.ends_with(word->second.second));
                    tensor.resize(tensor.size() - word->second.second.size());
                }
                std::smatch split;
                if (kind.starts_with("actv") && std::regex_match(tensor, split, slot)) {
                    part = split[2];
                    tensor = split[1];
                }
                for (const char* op :
                    { "norm", "mean", "min", "max", "zeros", "nans", "entropy", "softmax_max", "sr", "kernel_norm" }) {
                    if (!cell.contains(op))
                        continue;
                    const auto key = keyOf(std::stoll(cell["step"]), ofRank, kind, tensor, part,
                        cell.contains("micro_step") ? std::stoi(cell["micro_step"]) : -1, std::stoi(cell["vpp_stage"]),
                        op);
                    const auto found = values.find(key);
                    if (found == values.end() || std::string(op) == "zeros") {
                        QVERIFY2(found != values.end(), key.c_str());
                        continue; // a share beside NaN is one of all elements: it is shown as it is
                    }
                    QVERIFY2(
                        isSame(std::strtod(found->second.c_str(), nullptr), std::strtod(cell[op].c_str(), nullptr)),
                        (key + found->second + " for " + cell[op]).c_str());
                    ++checked;
                }
            }
        }
        QVERIFY(checked > 50);
    }

    void everySampleComesBackFromCsv()
    {
        const std::string run = hardRun((m_dir / "hard.telltale").string());
        const fs::path csv = m_dir / "hard.csv";
        QCOMPARE(call(app::exportVerb, { run, "--to", "csv", "-o", csv.string() }).code, 0);
        const auto taken = import({ csv.string() });
        QCOMPARE(taken["processes"].get<int>(), 5);
        const auto before = valuesOf(run, m_dir);
        const auto after = valuesOf(taken["capsule"].get<std::string>(), m_dir);
        QVERIFY(before.size() > 20'000);
        QCOMPARE(after.size(), before.size());
        for (const auto& [key, value] : before) {
            const auto found = after.find(key);
            QVERIFY2(found != after.end() && found->second == value, (key + value).c_str());
        }
    }

    void everyScalarComesBackFromEventFiles()
    {
        const std::string run = hardRun((m_dir / "hard2.telltale").string());
        const fs::path folder = m_dir / "events";
        QCOMPARE(call(app::exportVerb, { run, "--to", "tensorboard", "-o", folder.string() }).code, 0);
        const auto taken = import({ folder.string() });
        QCOMPARE(taken["format"].get<std::string>(), std::string("tensorboard"));
        const auto before = valuesOf(run, m_dir);
        const auto after = valuesOf(taken["capsule"].get<std::string>(), m_dir);
        int checked = 0;
        for (const auto& [key, value] : before) {
            if (key.find("|checksum|") != std::string::npos || key.find("|hist ") != std::string::npos)
                continue; // bins at the ends are closed there
            const auto found = after.find(key);
            QVERIFY2(found != after.end() && found->second == value, (key + value).c_str());
            ++checked;
        }
        QVERIFY(checked > 15'000);
        const auto bins = std::count_if(
            after.begin(), after.end(), [](const auto& one) { return one.first.find("|hist ") != std::string::npos; });
        const auto allBins = std::count_if(before.begin(), before.end(),
            [](const auto& one) { return one.first.find("|hist ") != std::string::npos; });
        QCOMPARE(bins, allBins);
    }

    void msprobesFormatsComeBack_data()
    {
        QTest::addColumn<QString>("format");
        for (const char* format : { "msprobe-csv", "csv2db-8", "csv2db-26" })
            QTest::newRow(format) << QString::fromLatin1(format);
    }
    void msprobesFormatsComeBack()
    {
        QFETCH(QString, format);
        const std::string id = format.toStdString();
        const std::string run = hardRun((m_dir / ("hard-" + id + ".telltale")).string());
        const fs::path out = m_dir / ("out-" + id);
        const Outcome done = call(app::exportVerb, { run, "--to", id, "-o", out.string(), "--json" });
        QVERIFY2(done.code == 0, done.err.c_str());
        QVERIFY(done.json()["left_out"].dump().find("histograms") != std::string::npos);
        QVERIFY(!fs::exists(out.string() + ".part"));
        const auto taken = import({ out.string() });
        const bool isDb = id != "msprobe-csv";
        QCOMPARE(taken["format"].get<std::string>(), std::string(isDb ? "csv2db" : "msprobe-csv"));
        const auto before = valuesOf(run, m_dir);
        const auto after = valuesOf(taken["capsule"].get<std::string>(), m_dir);
        int checked = 0;
        for (const auto& [key, value] : before) {
            const bool isTensor = key.find("|grad_reduced|") != std::string::npos;
            if (key.find("|hist ") != std::string::npos
                || (isDb && (!isTensor || key.find("|2|") != std::string::npos)))
                continue; // a database has one attempt, and neither scalars nor checksums
            const double number = std::strtod(value.c_str(), nullptr);
            if (id == "csv2db-26" && std::isfinite(number) && std::fabs(number) > 1e9)
                continue; // clamped, as msprobe does
            const auto found = after.find(key);
            QVERIFY2(found != after.end() && found->second == value,
                (key + value + " is " + (found == after.end() ? "gone" : found->second)).c_str());
            ++checked;
        }
        QVERIFY2(checked > (isDb ? 8'000 : 20'000), std::to_string(checked).c_str());
        const Outcome again = call(app::exportVerb, { run, "--to", id, "-o", out.string() });
        QVERIFY(again.code != 0 && again.err.find("is there already") != std::string::npos);
    }

    void hostileNamesStayInTheFolderAndSayNothingToSpreadsheetsAndTerminals()
    {
        std::vector<std::string> names { "../../../evil", "/etc/passwd", "=1+1", "+cmd|' /C calc'!A0", "@SUM(1)",
            "-2+3", "\x1b]0;title\x07", "a\r\nb", "a,\"b\"", "'); DROP TABLE monitoring_targets;--", ".", "..",
            "\u202Etxt.exe", " =1", "\t=1", "\uFF1D1", std::string(1000, 'n') };
        const char* wish = std::getenv("TELLTALE_HOSTILE_NAMES");
        std::mt19937 random(7);
        const std::string letters = "=+-@|'\"/\\.,;:%\x1b\x07\r\n\t <>(){}[]$`&ab01";
        while (names.size() < static_cast<std::size_t>(wish ? std::atoi(wish) : 300)) {
            std::string name;
            for (auto i = 1 + random() % 40; i > 0; --i)
                name += letters[random() % letters.size()];
            names.push_back(name);
        }
        const std::string run = (m_dir / "hostile.telltale").string();
        {
            CapsuleBuilder builder(run, "../=hostile");
            const auto stream = builder.addAttempt(Rank { 0 }, 0);
            auto tensors = builder.addLayout(Kind::GradReduced, { Stat::Norm }, names);
            auto scalars = builder.addLayout(Kind::Scalar, { Stat::Value }, names);
            StepBlock block { tensors, Step { 1 }, 0, {}, {}, {} };
            block.columns.push_back({ Stat::Norm, std::vector<float>(names.size(), -1.5f) });
            StepBlock metric { scalars, Step { 1 }, 0, {}, {}, {} };
            metric.columns.push_back({ Stat::Value, std::vector<double>(names.size(), -kInf) });
            builder.stage(stream, { block, metric });
            builder.commit();
            builder.releaseAll();
            builder.finish();
        }
        for (const exchange::Format& format : exchange::formats()) {
            const fs::path around = m_dir / (std::string("hostile-") + format.id) / "deeper" / "still";
            fs::create_directories(around);
            const fs::path out = around / "out";
            const Outcome done = call(app::exportVerb, { run, "--to", format.id, "-o", out.string() });
            QVERIFY2(done.code == 0, done.err.c_str());
            for (const auto& entry : fs::recursive_directory_iterator(m_dir / (std::string("hostile-") + format.id))) {
                const std::string path = entry.path().string();
                QVERIFY2(out.string().starts_with(path) || path.starts_with(out.string()), path.c_str());
                if (!entry.is_regular_file() || (entry.path().extension() != ".csv" && std::string(format.id) != "csv"))
                    continue;
                for (const char c : textOf(entry.path()))
                    QVERIFY((c >= 0 ? c >= ' ' && c != '\x7f' : true) || c == '\n' || c == '\r');
                for (const auto& row : rowsOf(entry.path())) {
                    for (const std::string& cell : row) {
                        char* end = nullptr;
                        std::strtod(cell.c_str(), &end);
                        const bool isNumber = !cell.empty() && *end == 0;
                        const std::string shown = cell.substr(std::min(cell.find_first_not_of(" \t"), cell.size()));
                        QVERIFY2(isNumber || shown.empty() || std::string("=+-@").find(shown[0]) == std::string::npos,
                            cell.c_str());
                    }
                }
            }
        }
        QVERIFY(!fs::exists(m_dir / "evil") && !fs::exists(m_dir.parent_path() / "evil"));
    }

    void ranksThatWereRecordedApartBecomeOneRun()
    {
        std::vector<std::string> paths;
        for (int rank = 0; rank < 2; ++rank) {
            const std::string path = (m_dir / ("apart" + std::to_string(rank) + ".telltale")).string();
            CapsuleBuilder builder(path, "apart");
            const auto stream = builder.addAttempt(Rank { rank }, 0);
            auto layout = builder.addLayout(Kind::Scalar, { Stat::Value }, { "loss" });
            for (int step = 0; step < 5; ++step) {
                StepBlock block { layout, Step { step }, 0, {}, {}, {} };
                block.columns.push_back({ Stat::Value, std::vector<double> { rank * 10.0 + step } });
                builder.stage(stream, { block });
            }
            builder.commit();
            builder.releaseAll();
            builder.finish();
            paths.push_back(path);
        }
        const auto taken = import(paths, 0, true);
        const auto values = valuesOf(taken["capsule"].get<std::string>(), m_dir);
        QCOMPARE(values.at(keyOf(3, 0, "scalar", "loss", "", -1, 0, "value")), std::string("3"));
        QCOMPARE(values.at(keyOf(3, 1, "scalar", "loss", "", -1, 0, "value")), std::string("13"));
    }

    void tablesOfWandbAndTrackioComeIn()
    {
        const auto write = [this](const char* name, const std::string& text) {
            std::ofstream(m_dir / name, std::ios::binary) << text;
            return (m_dir / name).string();
        };
        const auto valueAt = [](const auto& values, int step, const char* name, int attempt = 0) {
            std::string key = keyOf(step, 0, "scalar", name, "", -1, 0, "value");
            key.replace(key.find("|0|0|"), 5, "|0|" + std::to_string(attempt) + '|');
            const auto found = values.find(key);
            return found == values.end() ? std::string("none") : found->second;
        };
        // A run's history, as run.history().to_csv() and the table's download write it.
        const auto history = import({ write("history.csv",
            ",_step,train/loss,_runtime,_timestamp,note,\"eval, top\"\n0,0,2.5,1.5,1700000000.25,hello,\n"
            "1,1,NaN,2.5,1700000001.25,,0.5\n2,5,Infinity,3.5,1700000005.25,,\n") });
        QCOMPARE(history["format"].get<std::string>(), std::string("wide-csv"));
        QVERIFY(history["left_out"].dump().find("no numbers") != std::string::npos);
        auto values = valuesOf(history["capsule"].get<std::string>(), m_dir);
        QCOMPARE(valueAt(values, 0, "train/loss"), std::string("2.5"));
        QCOMPARE(valueAt(values, 1, "train/loss"), std::string("NaN"));
        QCOMPARE(valueAt(values, 5, "train/loss"), std::string("Infinity"));
        QCOMPARE(valueAt(values, 1, "eval, top"), std::string("0.5"));
        QCOMPARE(valueAt(values, 0, "eval, top"), std::string("none"));
        QCOMPARE(valueAt(values, 5, "_runtime"), std::string("3.5"));
        QCOMPARE(std::strtod(valueAt(values, 5, "telltale.wall_ns").c_str(), nullptr), 1700000005250000000.0);
        // Panels of one run: each is a metric, together they are the run.
        const std::string loss = write("panel1.csv",
            "\"Step\",\"blue-moon-1 - loss\",\"blue-moon-1 - loss__MIN\",\"blue-moon-1 - loss__MAX\"\n"
            "\"0\",\"3\",\"3\",\"3\"\n\"10\",\"2\",\"2\",\"2\"\n");
        const std::string rate = write("panel2.csv",
            "\"Step\",\"blue-moon-1 - lr\",\"blue-moon-1 - lr__MIN\",\"blue-moon-1 - lr__MAX\"\n"
            "\"0\",\"1e-3\",\"1e-4\",\"1e-3\"\n");
        const auto panels = import({ loss, rate }, 0, true);
        QCOMPARE(panels["name"].get<std::string>(), std::string("blue-moon-1"));
        QCOMPARE(panels["processes"].get<int>(), 1);
        values = valuesOf(panels["capsule"].get<std::string>(), m_dir);
        QCOMPARE(valueAt(values, 10, "loss"), std::string("2"));
        QCOMPARE(valueAt(values, 10, "loss__MIN"), std::string("none"));
        QCOMPARE(std::strtod(valueAt(values, 0, "lr__MIN").c_str(), nullptr), 1e-4);
        // Short names with quotes in them, several in a row.
        const auto quoted = import({ write(
            "quoted.csv", "_step,_runtime,\"a\"\"1\",\"b\"\"2\",\"c\"\"3\",\"d\"\"4\",\"e\"\"5\"\n0,1,1,2,3,4,5\n") });
        values = valuesOf(quoted["capsule"].get<std::string>(), m_dir);
        QCOMPARE(quoted["series"].get<int>(), 6);
        QCOMPARE(std::count_if(values.begin(), values.end(),
                     [](const auto& one) { return one.first.find("a\"1|") != std::string::npos; }),
            std::ptrdiff_t { 1 });
        // Of two runs.
        const auto two = import({ write("panel3.csv", "Step,a - loss,b - loss\n0,1,2\n1,,3\n") });
        values = valuesOf(two["capsule"].get<std::string>(), m_dir);
        QCOMPARE(valueAt(values, 0, "a/loss"), std::string("1"));
        QCOMPARE(valueAt(values, 1, "b/loss"), std::string("3"));
        // Trackio's log.
        const auto log = import(
            { write("trackio.csv",
                "id,timestamp,run_name,step,loss,acc\n1,2026-02-05T12:46:01.500000+00:00,dainty-meadow,1,0.5,\n"
                "2,2026-02-05T12:46:02+00:00,dainty-meadow,2,0.25,0.75\n3,x,dainty-meadow,,1,1\n") },
            1);
        QCOMPARE(log["name"].get<std::string>(), std::string("dainty-meadow"));
        QVERIFY(log["damages"].dump().find("1 rows have no step, line 4 the first") != std::string::npos);
        values = valuesOf(log["capsule"].get<std::string>(), m_dir);
        QCOMPARE(valueAt(values, 2, "acc"), std::string("0.75"));
        QCOMPARE(std::strtod(valueAt(values, 1, "telltale.wall_ns").c_str(), nullptr), 1770295561500000000.0);
        // What cannot be read says what to do.
        const Outcome time = call(app::importVerb,
            { write("time.csv", "Relative Time (Process),a - loss,a - loss__MIN\n0.5,1,1\n"), "--data-dir",
                m_dir.string() });
        QVERIFY(time.code != 0 && time.err.find("with Step on the x axis") != std::string::npos);
        // test_tables.py has what Python reads.
        qputenv("TELLTALE_PYTHON", "/nowhere/python");
        const Outcome parquet
            = call(app::importVerb, { write("run.parquet", "PAR1 and more"), "--data-dir", m_dir.string() });
        qunsetenv("TELLTALE_PYTHON");
        QVERIFY(parquet.code == 1 && parquet.err.find("cannot start /nowhere/python") != std::string::npos);
        QCOMPARE(import({ write("keys.csv", "_step,loss\n0,0.5\n") })["series"].get<int>(), 1);
    }

    /// What stands in for Python answers as little, or as wrongly, as a program can.
    void aPythonThatFailsOrHangsEndsTheImport_data()
    {
        QTest::addColumn<QByteArray>("answer");
        QTest::addColumn<QString>("said");
        QTest::newRow("crashes") << QByteArray("kill -SEGV $$") << "ended with signal 11";
        QTest::newRow("says nothing") << QByteArray("exit 3") << "ended with exit code 3";
        QTest::newRow("no message") << QByteArray("echo hello") << "is not read to its end";
        QTest::newRow("cut off") << QByteArray(R"(echo '{"message": "table", "form": "wide", "columns": ["_step", "a"]}'
            echo '{"message": "rows", "bytes": 99}'; echo 1,2)")
                                 << "its rows are cut off";
        QTest::newRow("other types") << QByteArray(R"(echo '{"message": "table", "form": "wide", "columns": [1, {}]}')")
                                     << "Python tells something else than its rows";
        QTest::newRow("more files") << QByteArray(R"(echo '{"message": "table"}'; echo '{"message": "table"}')")
                                    << "Python tells of more files";
        QTest::newRow("hangs") << QByteArray("exec sleep 600") << "the import was canceled";
    }
    void aPythonThatFailsOrHangsEndsTheImport()
    {
        QFETCH(QByteArray, answer);
        QFETCH(QString, said);
        const fs::path python = m_dir / "python", table = m_dir / "any.parquet";
        std::ofstream(table) << "PAR1";
        std::ofstream(python) << "#!/bin/sh\n[ $# = 2 ] && exit 0\n" << answer.toStdString() << '\n';
        fs::permissions(python, fs::perms::owner_all);
        qputenv("TELLTALE_PYTHON", python.c_str());
        const bool isHanging = answer.startsWith("exec");
        int asked = 0;
        const auto taken = ingest::importAnything(
            (m_dir / "stand-in").string(), table.string(), [&](double) { return !isHanging || ++asked < 3; });
        qunsetenv("TELLTALE_PYTHON");
        QVERIFY(!taken);
        QVERIFY2(taken.error().what.find(said.toStdString()) != std::string::npos, taken.error().what.c_str());
    }

    void whatIsHereIsNotTakenAgain()
    {
        const std::string run = hardRun((m_dir / "again.telltale").string());
        const fs::path csv = m_dir / "again.csv", folder = m_dir / "again";
        QCOMPARE(call(app::exportVerb, { run, "--to", "csv", "-o", csv.string() }).code, 0);
        QCOMPARE(call(app::exportVerb, { run, "--to", "tensorboard", "-o", folder.string() }).code, 0);
        const fs::path data = m_dir / "again-data";
        fs::create_directories(data);
        const auto take = [&](std::vector<std::string> words) {
            words.insert(words.end(), { "--data-dir", data.string(), "--json" });
            return call(app::importVerb, words);
        };
        const Outcome first = take({ csv.string() }); // and then it was broken off
        QVERIFY(first.json()["runs"][0]["new"].get<bool>());
        Outcome rest = take({ csv.string(), folder.string(), run });
        QCOMPARE(rest.code, 0);
        QVERIFY(!rest.json()["runs"][0]["new"].get<bool>());
        QCOMPARE(rest.json()["runs"][0]["run"], first.json()["runs"][0]["run"]);
        QCOMPARE(rest.json()["runs"][0]["capsule"], first.json()["runs"][0]["capsule"]);
        QVERIFY(rest.json()["runs"][1]["new"].get<bool>());
        QVERIFY(rest.json()["capsules"][0]["new"].get<bool>());
        rest = take({ csv.string(), folder.string(), run });
        QVERIFY(!rest.json()["runs"][0]["new"].get<bool>() && !rest.json()["runs"][1]["new"].get<bool>());
        QVERIFY(!rest.json()["capsules"][0]["new"].get<bool>());
        QCOMPARE(store::listRuns(data.string()).size(), std::size_t { 3 });
        const Outcome said = call(app::importVerb, { csv.string(), run, "--data-dir", data.string() });
        const std::string id = first.json()["runs"][0]["run"].get<std::string>();
        QVERIFY2(said.out.find(csv.string() + ": is here already as run " + id) != std::string::npos, said.out.c_str());
        // A window says so, too.
        const auto dropped = ingest::importAnything(data.string(), csv.string());
        QVERIFY(dropped && dropped->wasHere);
        QCOMPARE(dropped->id, id);
        // What changed, or is wanted again, is another run.
        std::ofstream(csv, std::ios::app) << '\n';
        QVERIFY(take({ csv.string() }).json()["runs"][0]["new"].get<bool>());
        QVERIFY(take({ csv.string(), "--again" }).json()["runs"][0]["new"].get<bool>());
        QCOMPARE(store::listRuns(data.string()).size(), std::size_t { 5 });
    }

    void whatIsCanceledLeavesNothing()
    {
        const std::string run = hardRun((m_dir / "canceled.telltale").string());
        const fs::path csv = m_dir / "canceled.csv";
        QCOMPARE(call(app::exportVerb, { run, "--to", "csv", "-o", csv.string() }).code, 0);
        for (const double until : { 0.0, 0.51, 0.9 }) { // while it is read, and while it is written
            const fs::path data = m_dir / "canceled";
            double last = -1;
            const auto canceled = ingest::importAnything(data.string(), csv.string(), [&](double share) {
                last = std::max(last, share);
                return share <= until;
            });
            QVERIFY(!canceled && canceled.error().code == ErrorCode::Canceled);
            QVERIFY(last > until);
            if (fs::exists(data)) {
                for (const auto& entry : fs::directory_iterator(data))
                    QVERIFY2(entry.path().filename() == "runs", entry.path().c_str());
                QVERIFY(fs::is_empty(data / "runs"));
            }
        }
        // What a process that was killed has left goes with the next start.
        const fs::path data = m_dir / "killed";
        const auto draft = store::makeDraft(data.string());
        QVERIFY(draft.has_value());
        store::clearDrafts(data.string());
        QVERIFY(fs::exists(*draft)); // it may have begun just now
        fs::last_write_time(*draft, fs::file_time_type::clock::now() - std::chrono::hours(1));
        store::clearDrafts(data.string());
        QVERIFY(!fs::exists(*draft));
    }

    void whatIsOfNoFormatIsSaid()
    {
        const fs::path path = m_dir / "notes.txt";
        std::ofstream(path) << "nothing that is known";
        const fs::path empty = m_dir / "empty";
        fs::create_directories(empty);
        const Outcome none = call(app::importVerb, { empty.string(), "--data-dir", m_dir.string() });
        QCOMPARE(none.code, 2);
        QVERIFY(none.err.find("nothing of another format") != std::string::npos);
        QVERIFY(call(app::importVerb, { path.string(), "--data-dir", m_dir.string() }).code != 0);
    }
};

TELLTALE_TEST(QTEST_APPLESS_MAIN, ImportedTest)

}

#include "importedtest.moc"
