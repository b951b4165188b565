// SPDX-License-Identifier: GPL-3.0-or-later
// Damaged files of every format, through every importer: a sentence each where nothing comes of them, no crash, and no
// more memory than the file is worth. TELLTALE_DAMAGED_FILES says how many; the sanitizers' builds look at the rest.
#include "testmain.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include <QTemporaryDir>

#include <sys/resource.h>

#include <telltale/exchange/exporter.h>
#include <telltale/exchange/foreignreader.h>
#include <telltale/exchange/formats.h>
#include <telltale/ingest/followimport.h>
#include <telltale/ingest/foreignimport.h>
#include <telltale/ingest/foreignparts.h>
#include <telltale/ingest/storetarget.h>

#include "capsulebuilder.h"
#include "sourcepath.h"

namespace damagedimportstest {

using namespace telltale;
using namespace telltale::test;
namespace fs = std::filesystem;

namespace {

/// A whole file, as some tool writes it.
struct Seed {
    std::string format; ///< the importer's that takes it
    std::string name; ///< of the file, with the folder that says its rank
    std::string bytes;
    std::string whole = {}; ///< a file that it belongs to, which makes the folder of both a thing to import
    std::string wholeBytes = {};

    /// Puts it into a folder with other bytes; what is imported.
    fs::path write(const fs::path& folder, const std::string& own) const;
};

std::string bytesOf(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    return { std::istreambuf_iterator<char>(file), {} };
}

void writeTo(const fs::path& path, const std::string& bytes)
{
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

fs::path Seed::write(const fs::path& folder, const std::string& own) const
{
    writeTo(folder / name, own);
    if (!whole.empty())
        writeTo(folder / whole, wholeBytes);
    return whole.empty() ? folder / name : (folder / whole).parent_path();
}

std::string smallRun(const std::string& path)
{
    CapsuleBuilder builder(path, "small");
    const auto stream = builder.addAttempt(Rank { 0 }, 0);
    auto metrics = builder.addLayout(Kind::Scalar, { Stat::Value }, { "loss", "rate" });
    auto tensors = builder.addLayout(Kind::GradReduced, { Stat::Norm, Stat::Mean }, { "a.weight", "b.weight" });
    auto bins = std::make_shared<SeriesLayout>(*builder.addLayout(Kind::Update, { Stat::Hist }, { "a.weight" }));
    bins->edges = { -1, 0, 1 };
    for (int step = 0; step < 40; ++step) {
        StepBlock block { metrics, Step { step }, 1'700'000'000'000'000'000, {}, {}, {} };
        block.columns.push_back({ Stat::Value, std::vector<double> { step * 0.5, step == 7 ? NAN : 3.0 } });
        StepBlock tensor { tensors, Step { step }, 0, {}, {}, {} };
        tensor.columns.push_back({ Stat::Norm, std::vector<float> { 1.5f, 2.5f } });
        tensor.columns.push_back({ Stat::Mean, std::vector<float> { 0.5f, -2.5f } });
        StepBlock histogram { bins, Step { step }, 0, {}, {}, {} };
        histogram.columns.push_back({ Stat::Hist, std::vector<std::uint64_t> { 3, static_cast<unsigned>(step) } });
        builder.stage(stream, { block, tensor, histogram });
    }
    builder.commit();
    builder.releaseAll();
    builder.finish();
    return path;
}

void exportTo(const std::string& run, const char* format, const std::string& to)
{
    const auto reader = CapsuleBuilder::must(store::openReader({ store::RunLocator::ofFile(run), {}, {}, nullptr }));
    const auto writer = CapsuleBuilder::must(exchange::findFormat(format)->make({ to, "seed", {} }));
    exchange::Exporter exporter(*reader, {}, *writer);
    CapsuleBuilder::must(exporter.advance());
    CapsuleBuilder::must(writer->finish());
}

/// One of what happens to files: cut off, bits and bytes changed, a part gone, repeated or of another file, a number
/// that is as large as it can be.
std::string damaged(const Seed& seed, const std::vector<Seed>& all, std::mt19937& random)
{
    std::string bytes = seed.bytes;
    const auto at = [&](std::size_t size) { return size == 0 ? 0 : random() % size; };
    switch (random() % 7) {
    case 0:
        bytes.resize(at(bytes.size()));
        break;
    case 1:
        for (auto i = random() % 6; i + 1 > 0 && !bytes.empty(); --i) {
            bytes[at(bytes.size())] = static_cast<char>(random());
            if (i == 0)
                break;
        }
        break;
    case 2:
        bytes[at(bytes.size())] ^= static_cast<char>(1U << random() % 8);
        break;
    case 3: {
        const std::size_t from = at(bytes.size());
        bytes.erase(from, random() % 200 + 1);
        break;
    }
    case 4: {
        const std::size_t from = at(bytes.size());
        const std::string part = bytes.substr(from, random() % 400 + 1);
        bytes.insert(at(bytes.size()), part);
        break;
    }
    case 5: {
        const std::string& other = all[at(all.size())].bytes;
        const std::size_t cut = at(bytes.size());
        bytes = bytes.substr(0, cut) + other.substr(at(other.size()));
        break;
    }
    default: {
        const char* const large[] { "999999999999999999999999", "-1", "1e308", "nan",
            "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", "\"", ",,,,,,,,", "\n\n\r\n" };
        const std::string what = large[random() % std::size(large)];
        const std::size_t to = at(bytes.size());
        bytes.replace(to, std::min(what.size(), bytes.size() - to), what);
        break;
    }
    }
    return bytes;
}

long peakMegabytes()
{
    rusage usage {};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

}

class DamagedImportsTest : public QObject {
    Q_OBJECT
private:
    QTemporaryDir m_folder;
    fs::path m_dir { m_folder.path().toStdString() };
    std::vector<Seed> m_seeds;

    static void checkSentence(const std::string& sentence)
    {
        QVERIFY(!sentence.empty());
        QVERIFY2(sentence.find('\n') == std::string::npos, sentence.c_str());
    }

    /// What came through is a run like any other.
    void checkWhole(exchange::ForeignRun& run)
    {
        ingest::ForeignImport import((m_dir / "drafts").string());
        const auto written = import.write(run, ingest::newImportKey());
        if (!written)
            checkSentence(written.error().sentence()); // more series than a run has, say
        else
            QVERIFY(fs::exists(written->capsule));
    }

    /// The same file while it grows.
    void checkFollowed(const fs::path& bad, const std::string& bytes)
    {
        const fs::path data = m_dir / "followed";
        store::StoreOptions options;
        options.dataDir = data.string();
        {
            const auto service = store::StoreService::start(options);
            QVERIFY(service.has_value());
            ingest::StoreTarget target(**service);
            ingest::FollowImport follow({ bad.parent_path() }, target);
            for (int part = 1; part <= 3; ++part) {
                writeTo(bad, bytes.substr(0, bytes.size() * static_cast<std::size_t>(part) / 3));
                const auto came = follow.advance();
                if (!came)
                    return checkSentence(came.error().sentence());
            }
            const auto ended = follow.finish("finished");
            if (!ended)
                checkSentence(ended.error().sentence());
            for (const std::string& sentence : follow.run().damages())
                checkSentence(sentence);
        }
        fs::remove_all(data);
    }

private Q_SLOTS:
    void initTestCase()
    {
        const std::string run = smallRun((m_dir / "seed.telltale").string());
        const std::string rank = "Nov21_14-33-49-rank0-504d0f78/";
        m_seeds.push_back({ "telltale", "run.telltale", bytesOf(run) });
        for (const auto& [format, id] : { std::pair { "csv", "csv" }, { "tensorboard", "tensorboard" },
                 { "csv2db-8", "csv2db" }, { "csv2db-26", "csv2db" } }) {
            fs::path out = m_dir / (std::string("seed-") + format);
            exportTo(run, format, out.string());
            if (fs::is_directory(out)) {
                for (const auto& entry : fs::recursive_directory_iterator(m_dir / (std::string("seed-") + format))) {
                    if (entry.is_regular_file())
                        out = entry.path();
                }
            }
            m_seeds.push_back({ id, rank + out.filename().string(), bytesOf(out) });
        }
        for (const char* folder : { "l2", "single" }) {
            for (const auto& entry : fs::recursive_directory_iterator(
                     fs::path(telltale::test::sourcePath("tests/data/msprobe")) / folder / "out")) {
                if (entry.path().filename() == "grad_reduced_0-0.csv" || entry.path().filename() == "actv_0-0.csv")
                    m_seeds.push_back(
                        { "msprobe-csv", rank + entry.path().filename().string(), bytesOf(entry.path()) });
            }
        }
        std::string history = "_step,_runtime,_timestamp,train/loss,note\n",
                    panel = "\"Step\",\"r - a\",\"r - a__MIN\"\n";
        std::string log = "id,timestamp,run_name,step,loss\n";
        for (int step = 0; step < 40; ++step) {
            const std::string n = std::to_string(step);
            history
                += n + ",1." + n + ",17000000" + n + ".5," + (step % 7 == 0 ? "NaN" : "0." + n) + ",\"a, \"\"b\"\"\"\n";
            panel += "\"" + n + "\",\"0.5\",\"0.25\"\n";
            log += n + ",2026-02-05T12:46:01.5+00:00," + (step % 2 == 0 ? "one" : "two") + ',' + n + ",0.5\n";
        }
        for (const std::string& table : { history, panel, log })
            m_seeds.push_back({ "wide-csv", "table.csv", table });
        std::string probe = "\xEF\xBB\xBFparam_name,\"(-inf, 0]\",\"(0, inf)\",=0,max,min,norm,shape\r\n";
        for (const char* name : { "a.weight", "b/weight", "\"c, d\"" })
            probe += std::string(name) + ",0.25,0.75,0.125,2.0,-2.5,2.8513154983520508,\"[2, 4]\"\r\n";
        std::string signs = "\x93NUMPY\x01";
        signs += std::string("\0\x76\0", 3) + "{'descr': '|b1', 'fortran_order': True, 'shape': (2, 4), }";
        signs.resize(127, ' ');
        signs += '\n' + std::string("\1\0\1\1\0\0\1\0", 8);
        m_seeds.push_back({ "grad-probe", "rank3/grad_summary_7.csv", probe });
        m_seeds.push_back({ "grad-probe", "rank3/step7/a.weight.npy", signs, "rank3/grad_summary_7.csv", probe });
        for (const Seed& seed : m_seeds) {
            const fs::path whole = seed.write(m_dir / "whole" / seed.name, seed.bytes);
            const exchange::ForeignReader* reader = exchange::findForeignReader(whole);
            QVERIFY2(reader && seed.format == reader->id(), seed.name.c_str());
            const auto all = exchange::readForeign(std::vector { whole });
            QVERIFY2(all, all ? "" : all.error().what.c_str());
            QVERIFY2(all->damages().empty(), all->damages().empty() ? "" : all->damages()[0].c_str());
        }
    }

    void aSentenceEach()
    {
        const char* wish = std::getenv("TELLTALE_DAMAGED_FILES");
        const int rounds = wish ? std::atoi(wish) : 300;
        const char* begin = std::getenv("TELLTALE_DAMAGE_SEED");
        std::mt19937 random(begin ? static_cast<unsigned>(std::atoi(begin)) : 4711);
        const long before = peakMegabytes();
        int told = 0;
        for (int round = 0; round < rounds; ++round) {
            const Seed& seed = m_seeds[static_cast<std::size_t>(round) % m_seeds.size()];
            const std::string bytes = damaged(seed, m_seeds, random);
            const fs::path folder = m_dir / "damaged";
            const fs::path bad = seed.write(folder, bytes);
            const std::vector<fs::path> paths { bad };
            auto run = exchange::readForeign(paths);
            if (!run)
                checkSentence(run.error().sentence());
            else
                std::for_each(run->damages().begin(), run->damages().end(), checkSentence);
            told += !run || !run->damages().empty() || !run->leftOut().empty() ? 1 : 0;
            // A value takes a byte of a table, less in a database and in a run: its columns are packed.
            if (run)
                QVERIFY(run->values() <= (bytes.size() + seed.wholeBytes.size()) * 64);
            // Importers that would not have claimed it.
            for (const exchange::ForeignReader* reader : exchange::foreignReaders()) {
                exchange::ForeignRun other;
                if (const auto read = reader->read(bad, other, {}); !read)
                    checkSentence(read.error().sentence());
            }
            const bool isDeep = round % std::max(rounds / 40, 7) == 0;
            if (run && isDeep)
                checkWhole(*run);
            if (isDeep && seed.format == "tensorboard")
                checkFollowed(bad, bytes);
            fs::remove_all(folder);
            if (QTest::currentTestFailed()) {
                writeTo(
                    fs::temp_directory_path() / ("telltale-damaged-" + fs::path(seed.name).filename().string()), bytes);
                return;
            }
        }
        qInfo("%d of %d files told what is wrong; %ld MiB more than before", told, rounds, peakMegabytes() - before);
        QVERIFY2(told > rounds / 4, std::to_string(told).c_str());
        QVERIFY2(peakMegabytes() - before < 1024, std::to_string(peakMegabytes() - before).c_str());
    }
};

TELLTALE_TEST(QTEST_APPLESS_MAIN, DamagedImportsTest)

}

#include "damagedimportstest.moc"
