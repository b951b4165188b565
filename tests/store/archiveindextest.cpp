// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <tuple>

#include <QFile>
#include <QTemporaryDir>

#include "sourcepath.h"
#include <telltale/store/archive.h>
#include <telltale/store/archiveindex.h>

namespace archiveindextest {

using namespace telltale;
using namespace telltale::store;

namespace fs = std::filesystem;

namespace {

const fs::path kRun = telltale::test::sourcePath("tests/data/v4/cpp-incident/run.telltale");

using Told = std::tuple<std::string, std::string, std::string, RunState, int, std::int64_t, std::uint64_t, std::int64_t,
    std::string>;

std::vector<Told> told(const std::vector<RunSummary>& runs)
{
    std::vector<Told> found;
    for (const RunSummary& run : runs)
        found.emplace_back(run.locator.text(), run.id, run.name, run.state, run.ranks, run.lastStep.value,
            run.fileBytes, run.createdNs, run.note);
    std::sort(found.begin(), found.end());
    return found;
}

}

/// A list by the index says what one without it says, whatever happened to the files.
class ArchiveIndexTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        m_dir = std::make_unique<QTemporaryDir>();
        m_data = m_dir->path().toStdString();
        fs::create_directories(m_data / "runs");
        for (std::size_t i = 0; i < ArchiveIndex::kWorthwhile + 20; ++i)
            fs::copy_file(kRun, pathOf(i));
        std::ofstream(pathOf(7), std::ios::binary | std::ios::trunc) << "this is no run";
        QVERIFY(!listRuns(m_data.string()).empty());
        QVERIFY(fs::exists(index()));
    }

    void aSecondListIsTheFirst() { compare(); }

    void theIndexIsWhatIsRead()
    {
        // A summary that only the index can have: the file's mark is as it was.
        QFile file(QString::fromStdString(index().string()));
        QVERIFY(file.open(QIODevice::ReadWrite));
        const QByteArray text = file.readAll().replace("\"demo-gpt\"", "\"an index's\"");
        file.resize(0);
        file.write(text);
        file.close();
        const auto runs = listRuns(m_data.string());
        QVERIFY(std::count_if(runs.begin(), runs.end(), [](const RunSummary& run) { return run.name == "an index's"; })
            > 100);
    }

    void whatChangesIsReadAgain()
    {
        const auto runs = listRuns(m_data.string());
        const RunSummary& first = *std::find_if(
            runs.begin(), runs.end(), [](const RunSummary& run) { return run.state == RunState::Finished; });
        QVERIFY(renameRun(first.locator, "another name"));
        fs::remove(pathOf(3));
        fs::copy_file(kRun, pathOf(5000));
        std::ofstream(pathOf(4), std::ios::binary | std::ios::trunc) << "no run any more";
        compare();
        const auto now = listRuns(m_data.string());
        QCOMPARE(now.size(), runs.size());
        const auto named
            = std::find_if(now.begin(), now.end(), [](const RunSummary& run) { return run.name == "another name"; });
        QVERIFY(named != now.end());
        QCOMPARE(named->locator.text(), first.locator.text());
        QCOMPARE(
            std::count_if(now.begin(), now.end(), [](const RunSummary& run) { return run.state == RunState::Damaged; }),
            2);
    }

    void aSpoiledIndexCostsNothingButTime_data()
    {
        QTest::addColumn<QByteArray>("content");
        QTest::newRow("empty") << QByteArray();
        QTest::newRow("text") << QByteArray("not JSON");
        QTest::newRow("another's") << QByteArray(R"({"format": 1, "runs": {"a": [1, 2, 3]}})");
        QTest::newRow("other types") << QByteArray(
            R"({"format": 1, "runs": {"a": ["x", 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]}})");
        QTest::newRow("a newer one") << QByteArray(R"({"format": 99, "runs": []})");
        QTest::newRow("runs that are none") << QByteArray(R"({"format": 1, "runs": 4})");
    }
    void aSpoiledIndexCostsNothingButTime()
    {
        QFETCH(QByteArray, content);
        const auto before = told(listRuns(m_data.string()));
        std::ofstream(index(), std::ios::binary | std::ios::trunc) << content.toStdString();
        QCOMPARE(told(listRuns(m_data.string())), before);
        compare();
    }

    void fewRunsHaveNone()
    {
        const QTemporaryDir few;
        const fs::path data = few.path().toStdString();
        fs::create_directories(data / "runs");
        fs::copy_file(kRun, data / "runs" / "2026-11-24_run_00000001.telltale");
        QCOMPARE(listRuns(data.string()).size(), std::size_t { 1 });
        QVERIFY(!fs::exists(data / "runs.index"));
    }

private:
    fs::path pathOf(std::size_t i) const
    {
        return m_data / "runs"
            / QStringLiteral("2026-11-24_run_%1.telltale").arg(i, 8, 16, QLatin1Char('0')).toStdString();
    }
    fs::path index() const { return m_data / "runs.index"; }

    void compare() const
    {
        const auto withIndex = told(listRuns(m_data.string()));
        fs::remove(index());
        QCOMPARE(withIndex, told(listRuns(m_data.string())));
    }

    std::unique_ptr<QTemporaryDir> m_dir;
    fs::path m_data;
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, ArchiveIndexTest)

}

#include "archiveindextest.moc"
