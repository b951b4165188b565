// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <set>
#include <thread>

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QTemporaryDir>

#include <telltale/judge/incident.h>
#include <telltale/store/archive.h>
#include <telltale/store/folders.h>
#include <telltale/store/pins.h>
#include <telltale/store/retention.h>
#include <telltale/store/runfiles.h>
#include <telltale/store/runreader.h>
#include <telltale/store/runrepair.h>
#include <telltale/store/runthin.h>
#include <telltale/store/sqlite.h>
#include <telltale/store/trash.h>

#include "archivedrun.h"
#include "verbcall.h"

namespace archivecaretest {

/// Entries until reading a folder fails, below zero: never. Thread: each its own.
thread_local int entriesLeft = -1;

}

/// The C library's, as a disk has it that breaks while a folder is read.
extern "C" dirent* readdir(DIR* folder)
{
    using Read = dirent* (*)(DIR*);
    static const auto own = reinterpret_cast<Read>(::dlsym(RTLD_NEXT, "readdir"));
    if (archivecaretest::entriesLeft == 0) {
        errno = EIO;
        return nullptr;
    }
    if (archivecaretest::entriesLeft > 0)
        --archivecaretest::entriesLeft;
    return own(folder);
}

namespace archivecaretest {

using namespace telltale;
using namespace telltale::store;
using namespace telltale::test;

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kSteps = 700; ///< three tiles, the last one not full
constexpr std::int64_t kDay = 86'400'000'000'000;

std::string bytesOf(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    return { std::istreambuf_iterator<char>(file), {} };
}

/// By step, of every series that is meant.
std::map<std::string, std::string> valuesOf(const std::string& path, const std::string& series, const std::string& stat)
{
    std::map<std::string, std::string> values;
    const auto shown = call(app::showVerb, { path, "--series", series, "--stat", stat, "--json" }).json();
    if (!shown.is_object() || !shown.contains("series"))
        return values;
    for (const auto& row : shown["series"]) {
        for (const auto& sample : row["values"])
            values[sample["step"].dump()] += ' ' + sample["value"].dump();
    }
    return values;
}

void execute(const std::string& path, const std::string& sql)
{
    const auto db = CapsuleBuilder::must(openDatabase(path, OpenMode::Write));
    CapsuleBuilder::must(store::execute(db.get(), sql.c_str()));
}

Event incidentAt(std::int64_t step)
{
    judge::Incident incident;
    incident.key = "nonfinite";
    incident.opened = incident.first.step = incident.lastStep = Step { step };
    incident.first.rule = "nonfinite";
    incident.first.severity = Severity::Critical;
    incident.sentence = "something is not finite";
    return judge::incidentEvent(incident, 1);
}

bool isWhole(const std::string& path)
{
    const auto report = verifyRun(RunLocator::ofFile(path));
    if (!report)
        qWarning("%s", report.error().what.c_str());
    for (const std::string& problem : report ? report->problems : std::vector<std::string>())
        qWarning("%s", problem.c_str());
    return report && report->problems.empty() && describeRun(RunLocator::ofFile(path)).state == RunState::Finished;
}

}

/// What people do to an archive that grows: repair, thin, delete and bring back, pin, remove by a rule.
class ArchiveCareTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        m_dir = std::make_unique<QTemporaryDir>();
        m_data = m_dir->path().toStdString();
        ArchivedRun run;
        run.id = "aaaa0001";
        run.name = "first";
        run.steps = kSteps;
        run.log = { incidentAt(300) };
        m_path = archiveRun(m_data, run);
        m_to = m_data + "/new.telltale";
    }

    void aWholeRunIsRepairedToItself()
    {
        const auto report = repairRun(RunLocator::ofFile(m_path), m_to);
        QVERIFY2(report.has_value(), report ? "" : report.error().what.c_str());
        QVERIFY(report->lost.empty());
        QVERIFY(isWhole(m_to));
        for (const char* stat : { "norm", "max", "nans" })
            QCOMPARE(valuesOf(m_to, "layers.*", stat), valuesOf(m_path, "layers.*", stat));
        QCOMPARE(valuesOf(m_to, "loss", "value").size(), std::size_t { kSteps });
        QCOMPARE(describeRun(RunLocator::ofFile(m_to)).modifiedNs, describeRun(RunLocator::ofFile(m_path)).modifiedNs);
    }

    void whatIsLostIsSaidAndTheRestKept()
    {
        // One bit of a value's tile, and of a document.
        execute(m_path,
            "UPDATE tile SET data = zeroblob(length(data)) WHERE lvl = 0 AND c0 = 256 AND stat = "
                + std::to_string(static_cast<int>(Stat::Max)));
        execute(m_path, "UPDATE blob SET crc = crc + 1");
        const std::string before = bytesOf(m_path);
        const Outcome said = call(app::repairVerb, { m_path, "-o", m_to, "--json" });
        QCOMPARE(said.code, 0);
        const auto lost = said.json()["lost"];
        QCOMPARE(lost.size(), std::size_t { 2 });
        QVERIFY(lost[0].get<std::string>().starts_with("a part of a document is lost"));
        QCOMPARE(lost[1].get<std::string>(), std::string("param_origin max of rank 0, steps 256 to 511 is lost"));
        QVERIFY(isWhole(m_to));
        QCOMPARE(bytesOf(m_path), before);
        QCOMPARE(valuesOf(m_to, "layers.*", "norm"), valuesOf(m_path, "layers.*", "norm"));
        auto kept = valuesOf(m_to, "layers.0.fc.weight", "max");
        QCOMPARE(kept.size(), std::size_t { kSteps - 256 });
        QVERIFY(kept.contains("255") && !kept.contains("256") && !kept.contains("511") && kept.contains("512"));
        const Outcome log = call(app::logVerb, { m_to, "--json" });
        QVERIFY(log.out.find("2 things could not be read") != std::string::npos);
        QVERIFY(log.out.find("steps 256 to 511 is lost") != std::string::npos);
    }

    void noValueLooksFiniteWithoutItsCounts()
    {
        execute(m_path,
            "UPDATE tile SET crc = crc + 1 WHERE lvl = 0 AND c0 = 0 AND stat = "
                + std::to_string(static_cast<int>(Stat::Nans)));
        const auto report = repairRun(RunLocator::ofFile(m_path), m_to);
        QVERIFY(report && report->lost.size() == 3);
        QVERIFY(isWhole(m_to));
        QVERIFY(!valuesOf(m_to, "layers.0.fc.weight", "norm").contains("7"));
        QVERIFY(valuesOf(m_to, "layers.0.fc.weight", "norm").contains("256"));
        QCOMPARE(valuesOf(m_to, "loss", "value").size(), std::size_t { kSteps });
    }

    void aFileThatWasCutOffOrHasNoBeginningIsRepaired()
    {
        const std::string whole = bytesOf(m_path);
        const std::string damaged = m_data + "/damaged.telltale";
        const auto repair = [&](const std::string& bytes) {
            std::ofstream(damaged, std::ios::binary | std::ios::trunc) << bytes;
            fs::remove(m_to);
            return repairRun(RunLocator::ofFile(damaged), m_to);
        };
        const auto headless = repair(std::string(8192, '\0') + whole.substr(8192));
        QVERIFY2(headless.has_value(), headless ? "" : headless.error().what.c_str());
        QCOMPARE(headless->lost.size(), std::size_t { 1 });
        QVERIFY(isWhole(m_to));
        QCOMPARE(valuesOf(m_to, "*", "norm"), valuesOf(m_path, "*", "norm"));
        ArchivedRun larger;
        larger.id = "bbbb0002";
        larger.steps = 6000;
        const std::string many = bytesOf(archiveRun(m_data, larger));
        std::size_t most = 0;
        for (std::size_t sixteenths = 8; sixteenths < 16; ++sixteenths) {
            const auto cut = repair(many.substr(0, many.size() * sixteenths / 16));
            if (!cut) { // what every part of it is found by was behind the cut
                QVERIFY(QByteArray::fromStdString(cut.error().what).endsWith("nothing of what it holds can be read"));
                continue;
            }
            QVERIFY(cut->lost.size() > 1 && cut->lost.front().starts_with("the file was cut off"));
            const auto report = verifyRun(RunLocator::ofFile(m_to));
            QVERIFY(report && report->problems.empty());
            most = std::max(most, valuesOf(m_to, "layers.*", "norm").size());
        }
        QVERIFY(most >= 256);
        for (const std::string& none : { std::string(), std::string(50'000, 'x'), std::string(50'000, '\0') }) {
            QVERIFY(!repair(none));
            QVERIFY(!fs::exists(m_to));
        }
        // Nothing is left of what was tried.
        const auto files = std::distance(fs::directory_iterator(m_data), fs::directory_iterator());
        QCOMPARE(files, 2);
    }

    /// Whatever of a file is destroyed: the new run is whole or it is said why there is none.
    void anyDamageGivesAWholeRunOrASentence()
    {
        const std::string whole = bytesOf(m_path);
        std::mt19937 random(7);
        int repaired = 0;
        for (int round = 0; round < 60; ++round) {
            std::string bytes = whole;
            for (int i = 0; i < 1 + round / 10; ++i) {
                const std::size_t page = random() % (bytes.size() / 8192);
                const std::size_t at = page * 8192 + random() % 8000;
                for (std::size_t k = 0; k < (round % 3 == 0 ? 1u : 150u); ++k)
                    bytes[at + k] = static_cast<char>(random());
            }
            const std::string damaged = m_data + "/damaged.telltale";
            std::ofstream(damaged, std::ios::binary | std::ios::trunc) << bytes;
            fs::remove(m_to);
            const auto report = repairRun(RunLocator::ofFile(damaged), m_to);
            QCOMPARE(fs::exists(m_to), report.has_value());
            if (!report) {
                QVERIFY(!report.error().what.empty());
                continue;
            }
            ++repaired;
            const auto verified = verifyRun(RunLocator::ofFile(m_to));
            QVERIFY2(verified.has_value(), verified ? "" : verified.error().what.c_str());
            for (const std::string& problem : verified->problems)
                qWarning("round %d: %s", round, problem.c_str());
            QVERIFY(verified->problems.empty());
            QCOMPARE(bytesOf(damaged), bytes);
        }
        QVERIFY2(repaired > 40, std::to_string(repaired).c_str());
    }

    void thinningKeepsEveryNthStepAndAllAroundIncidents()
    {
        const Outcome said = call(app::thinVerb, { m_path, "--every", "10", "--around", "5", "-o", m_to, "--json" });
        QCOMPARE(said.code, 0);
        QCOMPARE(said.json()["whole"], (nlohmann::json { { 295, 305 } }));
        QVERIFY(isWhole(m_to));
        for (const char* stat : { "norm", "max", "nans" }) {
            auto wanted = valuesOf(m_path, "layers.1.fc.weight", stat);
            std::erase_if(wanted, [](const auto& entry) {
                const int step = std::stoi(entry.first);
                return step % 10 != 0 && (step < 295 || step > 305) && step != kSteps - 1;
            });
            QCOMPARE(wanted.size(), std::size_t { 70 + 10 + 1 });
            QCOMPARE(valuesOf(m_to, "layers.1.fc.weight", stat), wanted);
        }
        QVERIFY(said.json()["bytes_after"] < said.json()["bytes_before"]);
        const Outcome log = call(app::logVerb, { m_to, "--json" });
        QVERIFY(log.out.find("one step of 10 kept") != std::string::npos);
        QVERIFY(log.out.find("something is not finite") != std::string::npos);
        const Outcome inspected = call(app::inspectVerb, { m_to });
        QVERIFY2(
            inspected.out.find("since    thinned: one step of 10 kept") != std::string::npos, inspected.out.c_str());
        // What was thinned can be thinned on.
        const std::string again = m_data + "/again.telltale";
        QVERIFY(thinRun(RunLocator::ofFile(m_to), again, { 100, {} }).has_value());
        QVERIFY(isWhole(again));
        QCOMPARE(valuesOf(again, "loss", "value").size(), std::size_t { 8 });
    }

    void thinningInPlaceKeepsTheOriginalInTheTrash()
    {
        const auto before = valuesOf(m_path, "loss", "value");
        QCOMPARE(call(app::thinVerb, { "aaaa0001", "--every", "7", "--data-dir", m_data }).code, 0);
        QVERIFY(isWhole(m_path));
        QVERIFY(valuesOf(m_path, "loss", "value").size() < before.size());
        const auto trash = listTrash(m_data);
        QCOMPARE(trash.size(), std::size_t { 1 });
        QCOMPARE(valuesOf(trash[0].run.locator.text(), "loss", "value"), before);
        fs::remove(m_path);
        QCOMPARE(call(app::restoreVerb, { "aaaa0001", "--data-dir", m_data }).code, 0);
        QCOMPARE(valuesOf(m_path, "loss", "value"), before);
    }

    void whatCannotBeThinnedStaysAsItIs()
    {
        execute(m_path, "UPDATE tile SET crc = crc + 1 WHERE lvl = 0 AND c0 = 256");
        const std::string before = bytesOf(m_path);
        const Outcome said = call(app::thinVerb, { m_path, "--every", "3", "--data-dir", m_data });
        QCOMPARE(said.code, 1);
        QVERIFY2(said.err.find("telltale repair") != std::string::npos, said.err.c_str());
        QCOMPARE(bytesOf(m_path), before);
        QVERIFY(listTrash(m_data).empty());
        QCOMPARE(std::distance(fs::directory_iterator(m_data + "/runs"), fs::directory_iterator()), 1);
        for (const auto& words : std::vector<std::vector<std::string>> { { m_path }, { m_path, "--every", "1" },
                 { m_path, "--every", "x" }, { m_path, "--every", "2", "--around", "-1" },
                 { m_path, "--every", "2", "-o", m_path }, { m_path, "--every", "2", "-o", "/no/such/x.telltale" } })
            QCOMPARE(call(app::thinVerb, words).code, 2);
    }

    void aDeletedRunComesBack()
    {
        const std::string before = bytesOf(m_path);
        QCOMPARE(call(app::deleteVerb, { "aaaa0001", "--data-dir", m_data }).code, 0);
        QVERIFY(!fs::exists(m_path) && listRuns(m_data).empty());
        QVERIFY(
            call(app::deleteVerb, { "--list", "--data-dir", m_data }).out.find("first (aaaa0001") != std::string::npos);
        QCOMPARE(fs::status(m_data + "/trash").permissions(), fs::perms::owner_all);
        QCOMPARE(call(app::restoreVerb, { "bbbb", "--data-dir", m_data }).code, 2);
        QCOMPARE(call(app::restoreVerb, { "aaaa", "--data-dir", m_data }).code, 0);
        QCOMPARE(bytesOf(m_path), before);
        QVERIFY(listTrash(m_data).empty());
        // Twice the same name: the newest comes back first, and never over another one.
        QCOMPARE(call(app::deleteVerb, { "first", "--data-dir", m_data }).code, 0);
        ArchivedRun second;
        second.id = "aaaa0001";
        second.name = "second";
        archiveRun(m_data, second);
        QCOMPARE(call(app::restoreVerb, { "first", "--data-dir", m_data }).code, 2);
        QCOMPARE(call(app::deleteVerb, { "second", "--data-dir", m_data }).code, 0);
        QCOMPARE(call(app::restoreVerb, { "aaaa0001", "--data-dir", m_data }).code, 0);
        QCOMPARE(listRuns(m_data).front().name, std::string("second"));
        QCOMPARE(call(app::deleteVerb, { "--empty-trash", "--json", "--data-dir", m_data }).json()["runs"],
            nlohmann::json(1));
        QVERIFY(listTrash(m_data).empty());
        for (const auto& words : std::vector<std::vector<std::string>> {
                 {}, { "--list", "--empty-trash" }, { "second", "--empty-trash" }, { "no-such-run" } }) {
            auto all = words;
            all.insert(all.end(), { "--data-dir", m_data });
            QCOMPARE(call(app::deleteVerb, all).code, 2);
        }
        QVERIFY(fs::exists(m_path));
    }

    void aRunThatIsOverIsRenamedBesideARecorder()
    {
        const RunLocator run = RunLocator::fromText(m_path);
        const auto lock = DataDirLock::take(m_data);
        // As a recorder leaves it that was killed with its last run.
        QVERIFY(telltale::store::execute(openDatabase(m_path, OpenMode::Write)->get(), "PRAGMA journal_mode=WAL"));
        auto reader = openReader({ run, {}, {}, {} });
        QVERIFY(lock && reader && (*reader)->catalog() && fs::exists(m_path + "-wal"));
        QVERIFY(!renameRun(run, "renamed")); // somebody reads it
        reader->reset();
        QVERIFY(renameRun(run, "renamed"));
        QCOMPARE(listRuns(m_data).front().name, std::string("renamed"));
    }

    void aRunMovesBetweenFolders()
    {
        const std::string before = bytesOf(m_path);
        QCOMPARE(call(app::pinVerb, { "first", "--data-dir", m_data }).code, 0);
        QCOMPARE(call(app::moveVerb, { "aaaa0001", "llama/ablation", "--data-dir", m_data }).code, 0);
        const std::string there = m_data + "/runs/llama/ablation/" + fs::path(m_path).filename().native();
        QCOMPARE(bytesOf(there), before);
        QVERIFY(!fs::exists(m_path) && !isBeingRecorded(there));
        const auto runs
            = call(app::runsVerb, { "--folder", "llama/*", "--pinned", "--json", "--data-dir", m_data }).json();
        QCOMPARE(runs.size(), std::size_t { 1 });
        QCOMPARE(runs[0]["folder"].get<std::string>(), std::string("llama/ablation"));
        QCOMPARE(runs[0]["id"].get<std::string>(), std::string("aaaa0001"));
        {
            const auto lock = DataDirLock::take(m_data);
            QVERIFY(lock && isBeingRecorded(there));
        }
        // From the trash it comes back to its folder.
        QCOMPARE(call(app::unpinVerb, { "first", "--data-dir", m_data }).code, 0);
        QCOMPARE(call(app::deleteVerb, { "first", "--data-dir", m_data }).code, 0);
        QCOMPARE(call(app::restoreVerb, { "first", "--data-dir", m_data }).code, 0);
        QCOMPARE(bytesOf(there), before);
        for (const char* folder : { "../out", "a/../../b", ".hidden", "x.telltale", "a\nb" })
            QCOMPARE(call(app::moveVerb, { "first", folder, "--data-dir", m_data }).code, 2);
        QCOMPARE(call(app::moveVerb, { "first", "nothere", "x", "--data-dir", m_data }).code, 2);
        QCOMPARE(bytesOf(there), before);
        QCOMPARE(call(app::moveVerb, { "first", "/", "--data-dir", m_data }).code, 0);
        QCOMPARE(bytesOf(m_path), before);
        QVERIFY(!fs::exists(m_data + "/runs/llama")); // the folders went with their last run
    }

    void whatLiesElsewhereIsListedAndNeverWritten()
    {
        const QTemporaryDir other;
        ArchivedRun run;
        run.id = "eeee0005";
        run.name = "theirs";
        fs::create_directories(other.path().toStdString() + "/team/runs");
        const std::string theirs = archiveRun(other.path().toStdString() + "/team", run);
        const std::string before = bytesOf(theirs);
        const std::string folder = other.path().toStdString();
        QCOMPARE(call(app::foldersVerb, { "--add", folder, "--data-dir", m_data }).code, 0);
        QCOMPARE(call(app::foldersVerb, { "--add", m_data, "--data-dir", m_data }).code, 2);
        QCOMPARE(call(app::foldersVerb, { "--add", folder + "/team", "--data-dir", m_data }).code, 2);
        QCOMPARE(listRuns(m_data).size(), std::size_t { 2 });
        QCOMPARE(call(app::inspectVerb, { "eeee0005", "--data-dir", m_data }).code, 0);
        for (const auto& [verb, words] : std::vector<std::pair<decltype(&app::deleteVerb), std::vector<std::string>>> {
                 { app::deleteVerb, { "theirs" } }, { app::moveVerb, { "theirs", "x" } },
                 { app::thinVerb, { "theirs", "--every", "2" } },
                 { app::noteVerb, { "theirs", "text", "--step", "1" } } }) {
            std::vector<std::string> all = words;
            all.insert(all.end(), { "--data-dir", m_data });
            const Outcome said = call(verb, all);
            QVERIFY(said.code != 0);
            QVERIFY2(said.err.find("only read") != std::string::npos, said.err.c_str());
        }
        const auto rule = call(app::retainVerb, { "--keep", "0", "--dry-run", "--json", "--data-dir", m_data }).json();
        QCOMPARE(rule.size(), std::size_t { 1 }); // ours
        QCOMPARE(bytesOf(theirs), before);
        fs::rename(folder + "/team", folder + "-away");
        fs::remove(folder);
        const Outcome away = call(app::runsVerb, { "--data-dir", m_data });
        fs::create_directory(folder);
        fs::rename(folder + "-away", folder + "/team");
        QVERIFY2(away.err.find("are not listed") != std::string::npos, away.err.c_str());
        QCOMPARE(call(app::foldersVerb, { "--remove", folder, "--data-dir", m_data }).code, 0);
        QCOMPARE(listRuns(m_data).size(), std::size_t { 1 });
    }

    void aListThatBreaksOffSaysSo()
    {
        for (const char* id : { "bbbb0002", "cccc0003", "dddd0004" }) {
            ArchivedRun run;
            run.id = id;
            archiveRun(m_data, run);
        }
        QVERIFY(listArchive(m_data).problems.empty());
        entriesLeft = 4; // two of them are the folder itself and the one above
        const RunListing listing = listArchive(m_data);
        entriesLeft = -1;
        QCOMPARE(listing.runs.size(), std::size_t { 2 });
        QCOMPARE(listing.problems.size(), std::size_t { 1 });
        QVERIFY2(listing.problems.front().starts_with("only some of the runs in " + m_data + "/runs are listed: "),
            listing.problems.front().c_str());
        entriesLeft = 4;
        const Outcome said = call(app::runsVerb, { "--data-dir", m_data });
        entriesLeft = 0; // and where an id is looked up
        const Outcome lookedUp = call(app::inspectVerb, { "dddd0004", "--data-dir", m_data });
        entriesLeft = -1;
        QVERIFY2(said.err.find("only some of the runs") != std::string::npos, said.err.c_str());
        QVERIFY2(lookedUp.err.find("are not listed") != std::string::npos, lookedUp.err.c_str());
    }

    /// One whose path is longer than a path may be, whoever asks.
    void aFolderThatCannotBeReadHidesNoOther()
    {
        QCOMPARE(call(app::moveVerb, { "first", "z/deep", "--data-dir", m_data }).code, 0);
        const std::string name(200, 'n');
        const std::string top = m_data + "/runs/a";
        fs::create_directory(top);
        int at = ::open(top.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        for (int depth = 0; depth < 25; ++depth) {
            QCOMPARE(::mkdirat(at, name.c_str(), 0700), 0);
            const int below = ::openat(at, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            ::close(at);
            at = below;
        }
        ::close(at);
        const RunListing listing = listArchive(m_data);
        QCOMPARE(listing.runs.size(), std::size_t { 1 });
        QCOMPARE(listing.problems.size(), std::size_t { 1 });
        QVERIFY(listing.problems.front().find("are not listed") != std::string::npos);
        // Gone as it came: by names alone.
        QCOMPARE(std::system(("rm -rf '" + top + "'").c_str()), 0);
        QVERIFY(listArchive(m_data).problems.empty());
    }

    void brokenOffThinningAndRepairLeaveNothing()
    {
        const auto filesHere = [this] {
            std::set<std::string> files;
            for (const auto& entry : fs::recursive_directory_iterator(m_data))
                files.insert(entry.path().native());
            return files;
        };
        const auto run = RunLocator::ofFile(m_path);
        execute(m_path, "UPDATE blob SET crc = crc + 1");
        const auto files = filesHere();
        const std::string before = bytesOf(m_path);
        using Work = std::function<Expected<void>(const Progress&)>;
        const auto plain
            = [](const auto& done) { return done ? Expected<void>() : Expected<void>(tl::unexpected(done.error())); };
        const Work works[] { [&](const Progress& goesOn) {
                                return plain(thinRun(run, m_to, { 2, {} }, goesOn));
                            },
            [&](const Progress& goesOn) { return plain(repairRun(run, m_to, goesOn)); },
            [&](const Progress& goesOn) { return plain(verifyRun(run, goesOn)); },
            [&](const Progress& goesOn) { return copyRun(run, m_to, goesOn); } };
        for (const Work& work : works) {
            std::vector<double> shares;
            const auto whole = work([&shares](double share) {
                shares.push_back(share);
                return true;
            });
            QVERIFY2(whole.has_value(), whole ? "" : whole.error().what.c_str());
            QVERIFY(!shares.empty() && std::is_sorted(shares.begin(), shares.end()));
            QVERIFY(shares.front() >= 0 && shares.back() <= 1);
            fs::remove(m_to);
            // Wherever it is broken off.
            for (std::size_t at = 0; at < shares.size(); ++at) {
                std::size_t asked = 0;
                const auto broken = work([&](double) { return asked++ < at; });
                QVERIFY2(!broken && broken.error().code == ErrorCode::Canceled, std::to_string(at).c_str());
                QVERIFY2(filesHere() == files, std::to_string(at).c_str());
            }
        }
        QCOMPARE(bytesOf(m_path), before);
    }

    void anInterruptEndsTheVerb()
    {
        // It comes while the verb is at work: until then the process has its own way with it.
        const std::string& path = m_path;
        const std::string before = bytesOf(path);
        for (const auto& words : std::vector<std::vector<std::string>> { { path, "--every", "3", "--data-dir", m_data },
                 { path, "--every", "3", "-o", m_to }, { path, "-o", m_to } }) {
            const bool isThinning = words[1] == "--every";
            std::atomic<bool> isOver { false };
            struct sigaction ignore { };
            ignore.sa_handler = SIG_IGN;
            struct sigaction kept { };
            sigaction(SIGINT, &ignore, &kept);
            std::thread impatient([&] {
                while (!isOver) {
                    ::kill(::getpid(), SIGINT);
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                }
            });
            const Outcome said = call(isThinning ? app::thinVerb : app::repairVerb, words);
            isOver = true;
            impatient.join();
            sigaction(SIGINT, &kept, nullptr);
            QCOMPARE(said.code, 1);
            QVERIFY2(said.err.find("canceled") != std::string::npos, said.err.c_str());
            QVERIFY(!fs::exists(m_to) && listTrash(m_data).empty());
            QCOMPARE(bytesOf(path), before);
            for (const auto& entry : fs::recursive_directory_iterator(m_data))
                QVERIFY2(entry.path().native().find(".new") == std::string::npos, entry.path().c_str());
        }
    }

    void aRunThatIsRecordedStays()
    {
        const std::string path = runPath(m_data, "cccc0003");
        CapsuleBuilder builder(path, "live", "cccc0003");
        const auto lock = DataDirLock::take(m_data);
        QVERIFY(lock.has_value());
        QCOMPARE(describeRun(RunLocator::ofFile(path)).state, RunState::Live);
        const Outcome said = call(app::deleteVerb, { "cccc0003", "--data-dir", m_data });
        QCOMPARE(said.code, 1);
        QVERIFY(said.err.find("is being recorded") != std::string::npos);
        QVERIFY(fs::exists(path));
        const Outcome move = call(app::moveVerb, { "cccc0003", "x", "--data-dir", m_data });
        QCOMPARE(move.code, 1);
        QVERIFY2(move.err.find("is being recorded") != std::string::npos, move.err.c_str());
        QCOMPARE(call(app::pinVerb, { "cccc0003", "--data-dir", m_data }).code, 0); // no part of the run
        QVERIFY(listRuns(m_data).front().isPinned || listRuns(m_data).back().isPinned);
        QCOMPARE(call(app::unpinVerb, { "cccc0003", "--data-dir", m_data }).code, 0);
        QCOMPARE(call(app::repairVerb, { path, "-o", m_to }).code, 1);
        QCOMPARE(call(app::thinVerb, { path, "--every", "2", "-o", m_to }).code, 1);
        QVERIFY(!fs::exists(m_to));
        const Outcome rule = call(app::retainVerb, { "--keep", "0", "--json", "--data-dir", m_data });
        QCOMPARE(rule.json().size(), std::size_t { 1 });
        QVERIFY(fs::exists(path) && !fs::exists(m_path));
    }

    void aRuleTakesWhatIsOldAndNeverWhatIsPinned()
    {
        for (const char* id : { "bbbb0002", "cccc0003", "dddd0004" }) {
            ArchivedRun run;
            run.id = id;
            archiveRun(m_data, run);
        }
        const std::int64_t now = 1'764'000'000'000'000'000;
        const auto age = [&](const std::string& id, std::int64_t days) {
            execute(runPath(m_data, id),
                "UPDATE meta SET value = '" + std::to_string(now - days * kDay) + "' WHERE key = 'modified_ns'");
        };
        age("aaaa0001", 100);
        age("bbbb0002", 200);
        age("cccc0003", 50);
        age("dddd0004", 300);
        QCOMPARE(call(app::pinVerb, { "dddd0004", "--data-dir", m_data }).code, 0);
        const auto going = [&](const RetentionRule& rule) {
            std::string ids;
            for (const RunSummary& run : runsToGo(listRuns(m_data), *Pins::read(m_data), rule, now))
                ids += run.id.substr(0, 1);
            return ids;
        };
        RetentionRule rule;
        QCOMPARE(going(rule), std::string());
        rule.olderThanNs = 90 * kDay;
        QCOMPARE(going(rule), std::string("ba"));
        rule.keep = 2;
        QCOMPARE(going(rule), std::string("b"));
        rule.olderThanNs.reset();
        QCOMPARE(going(rule), std::string("b"));
        rule.keep = 0;
        QCOMPARE(going(rule), std::string("bac"));
        const std::vector<std::string> words { "--keep", "1", "--data-dir", m_data };
        auto trial = words;
        trial.push_back("--dry-run");
        QVERIFY(call(app::retainVerb, trial).out.find("2 runs would go") != std::string::npos);
        QCOMPARE(listRuns(m_data).size(), std::size_t { 4 });
        QCOMPARE(call(app::retainVerb, words).code, 0);
        QCOMPARE(listRuns(m_data).size(), std::size_t { 2 });
        QCOMPARE(listTrash(m_data).size(), std::size_t { 2 });
        QCOMPARE(call(app::runsVerb, { "--pinned", "--json", "--data-dir", m_data }).json().size(), std::size_t { 1 });
        QCOMPARE(call(app::deleteVerb, { "dddd0004", "--data-dir", m_data }).code, 2);
        QCOMPARE(call(app::unpinVerb, { "dddd0004", "--data-dir", m_data }).code, 0);
        QCOMPARE(call(app::deleteVerb, { "dddd0004", "--data-dir", m_data }).code, 0);
        for (const auto& wrong : std::vector<std::vector<std::string>> {
                 {}, { "--keep", "-1" }, { "--keep", "x" }, { "--older-than", "90" }, { "--older-than", "-3d" } })
            QCOMPARE(call(app::retainVerb, wrong).code, 2);
    }

    void aSpoiledListOfPinsFreesNothing()
    {
        QCOMPARE(call(app::pinVerb, { "aaaa0001", "--data-dir", m_data }).code, 0);
        std::ofstream(m_data + "/pins", std::ios::trunc) << "[";
        for (const auto verb : { app::deleteVerb, app::unpinVerb })
            QCOMPARE(call(verb, { "aaaa0001", "--data-dir", m_data }).code, 1);
        QCOMPARE(call(app::retainVerb, { "--keep", "0", "--data-dir", m_data }).code, 1);
        QVERIFY(fs::exists(m_path));
    }

private:
    std::unique_ptr<QTemporaryDir> m_dir;
    std::string m_data;
    std::string m_path;
    std::string m_to; ///< where a new run is to be
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, ArchiveCareTest)

}

#include "archivecaretest.moc"
