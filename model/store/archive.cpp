// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/archive.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <tuple>

#include <sys/stat.h>
#include <unistd.h>

#include <telltale/store/archiveindex.h>
#include <telltale/store/capsulefile.h>
#include <telltale/store/folders.h>
#include <telltale/store/pins.h>
#include <telltale/store/runfiles.h>
#include <telltale/store/runstore.h>
#include <telltale/store/schema.h>
#include <telltale/store/sqlite.h>

namespace telltale::store {
namespace {

constexpr std::array<std::string_view, 7> kStateNames { "live", "finished", "failed", "interrupted", "damaged", "newer",
    "lost" };
static_assert(kStateNames.size() == static_cast<std::size_t>(RunState::Lost) + 1);

/// Batches that agents said they made and that are not here, of streams that nobody sends any more.
constexpr const char* kMissingBatches
    = "SELECT ifnull(sum(CAST(meta.value AS INTEGER) - durable_seq), 0) FROM stream JOIN meta ON meta.key = "
      "'told_seq.' "
      "|| stream.id JOIN source ON source.id = stream.source WHERE source.state <> 0 AND CAST(meta.value AS INTEGER) > "
      "durable_seq";

bool fileExists(const std::string& path)
{
    std::error_code error;
    return std::filesystem::exists(path, error);
}

RunSummary summaryOf(const std::string& path)
{
    RunSummary run;
    run.locator = RunLocator::ofFile(path);
    const std::filesystem::path file(path);
    run.id = shortIdOfFile(file.filename().native());
    if (run.id.empty())
        run.id = file.stem().native();
    run.name = file.filename().native();
    run.fileBytes = runBytes(run.locator);
    struct stat info { };
    if (::stat(path.c_str(), &info) == 0) {
        run.modifiedNs = info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec;
        run.createdNs = run.modifiedNs;
    }
    auto db = openForReading(path);
    if (!db) {
        run.state = db.error().code == ErrorCode::Newer ? RunState::Newer : RunState::Damaged;
        run.note = db.error().sentence();
        return run;
    }
    const std::int64_t state = metaNumber(db->get(), "state");
    run.state = state >= 0 && state < static_cast<std::int64_t>(kStateNames.size()) ? static_cast<RunState>(state)
                                                                                    : RunState::Damaged;
    if (run.state == RunState::Damaged)
        run.note = "it does not say how the run ended";
    // A recorder that was killed had no time to say so.
    if (run.state == RunState::Live && !isBeingRecorded(path))
        run.state = RunState::Interrupted;
    if (const std::string id = metaText(db->get(), "run_id").value_or(""); !id.empty())
        run.id = id;
    run.name = metaText(db->get(), "name").value_or("");
    run.key = metaText(db->get(), "run_key").value_or("");
    run.createdNs = metaNumber(db->get(), "created_ns");
    run.modifiedNs = std::max(run.createdNs, metaNumber(db->get(), "modified_ns"));
    const auto number = [&run, &db](const char* sql, std::int64_t otherwise) {
        const auto found = queryInteger(db->get(), sql);
        if (!found && found.error().code == ErrorCode::Damaged) {
            run.state = RunState::Damaged;
            run.note = found.error().sentence();
        }
        return found.value_or(otherwise);
    };
    run.ranks = static_cast<int>(number("SELECT count(DISTINCT rank) FROM source", 0));
    run.lastStep = Step(number("SELECT ifnull(max(last_step), -1) FROM source", -1));
    run.missingBatches = static_cast<std::uint64_t>(number(kMissingBatches, 0));
    // As the recorder says it of a live run: pages that a log holds twice are one.
    const auto pages = [&number](const char* sql) { return static_cast<std::uint64_t>(number(sql, 0)); };
    const std::uint64_t used = pages("PRAGMA page_count") - pages("PRAGMA freelist_count");
    if (used > 0)
        run.fileBytes = used * pages("PRAGMA page_size");
    const std::string changed = "SELECT count(*) FROM source WHERE " + sourceWasChanged();
    if (run.state != RunState::Damaged && number(changed.c_str(), 0) > 0) {
        run.state = RunState::Damaged;
        run.note = "what it says of its ranks was changed";
    }
    // Whether the other lists of the catalog can be reached: one page each, however long they are.
    for (const char* sql : { "SELECT max(id) FROM series", "SELECT max(id) FROM grp", "SELECT max(id) FROM event",
             "SELECT max(id) FROM tile", "SELECT max(id) FROM tail", "SELECT max(rowid) FROM layout",
             "SELECT max(id) FROM dropped" })
        number(sql, 0);
    return run;
}

/// A copy carries its original's id. The one whose file is still named after it keeps it, the others are counted on.
void makeIdsUnique(std::vector<RunSummary>& runs)
{
    std::stable_sort(runs.begin(), runs.end(), [](const RunSummary& a, const RunSummary& b) {
        const auto isNamedSo = [](const RunSummary& run) {
            return shortIdOfFile(std::filesystem::path(run.locator.text()).filename().native()) == run.id;
        };
        return std::tuple(a.id, !isNamedSo(a), a.locator) < std::tuple(b.id, !isNamedSo(b), b.locator);
    });
    std::string previous;
    int count = 0;
    for (RunSummary& run : runs) {
        count = run.id == previous ? count + 1 : 1;
        previous = run.id;
        if (count > 1)
            run.id.append(1, '-').append(std::to_string(count));
    }
}

/// As the data directory lists the file, however it was named; nothing of a file that it does not list.
std::vector<std::string> listedPaths(const std::string& dataDir, const FileMark& mark)
{
    std::vector<std::string> paths = capsulePaths(dataDir);
    for (const std::string& folder : foldersElsewhere(dataDir)) {
        const auto found = capsulesBelow(folder);
        paths.insert(paths.end(), found.begin(), found.end());
    }
    std::erase_if(paths, [&mark](const std::string& path) { return FileMark::of(path) != mark; });
    return paths;
}

}

std::string_view runStateName(RunState state)
{
    const auto i = static_cast<std::size_t>(state);
    return i < kStateNames.size() ? kStateNames[i] : kStateNames[static_cast<std::size_t>(RunState::Damaged)];
}

std::string defaultDataDir()
{
    const auto variable = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value ? value : "");
    };
    if (std::string own = variable("TELLTALE_DATA_DIR"); !own.empty())
        return own;
    // The XDG rules say to ignore a relative path.
    if (std::string data = variable("XDG_DATA_HOME"); data.starts_with('/'))
        return data + "/telltale";
    return variable("HOME") + "/.local/share/telltale";
}

std::string shortRunId(const std::string& id)
{
    if (id.find('/') == std::string::npos)
        return '#' + id;
    const std::filesystem::path file(id);
    const std::string own = shortIdOfFile(file.filename().native());
    return '#' + (own.empty() ? file.stem().native() : own);
}

RunSummary CapsuleStore::describe(const RunLocator& run) const
{
    return summaryOf(run.text());
}

std::uint64_t CapsuleStore::bytes(const RunLocator& run) const
{
    std::uint64_t bytes = 0;
    for (const char* part : { "", "-wal", "-shm" }) {
        struct stat info { };
        if (::stat((run.text() + part).c_str(), &info) == 0)
            bytes += static_cast<std::uint64_t>(info.st_size);
    }
    return bytes;
}

RunListing listArchive(const std::string& dataDir)
{
    RunListing listing;
    std::vector<RunSummary>& runs = listing.runs;
    ArchiveIndex index(dataDir);
    const auto pins = Pins::read(dataDir);
    if (!pins)
        listing.problems.push_back(pins.error().sentence());
    const auto list = [&runs, &index](const std::string& path) -> RunSummary& {
        const FileMark mark = FileMark::of(path);
        if (const RunSummary* known = index.find(path, mark))
            return runs.emplace_back(*known);
        index.put(path, mark, runs.emplace_back(summaryOf(path)));
        return runs.back();
    };
    for (const std::string& path : capsulePaths(dataDir, &listing.problems)) {
        RunSummary& run = list(path);
        run.folder = folderOf(dataDir, path);
        run.isPinned = pins && pins->has(run.locator);
    }
    for (const std::string& folder : foldersElsewhere(dataDir)) {
        for (const std::string& path : capsulesBelow(folder, &listing.problems)) {
            RunSummary& run = list(path);
            run.folder = std::filesystem::path(path).parent_path();
            run.isElsewhere = true;
        }
    }
    index.save(runs.size());
    makeIdsUnique(runs);
    std::sort(
        runs.begin(), runs.end(), [](const RunSummary& a, const RunSummary& b) { return a.createdNs > b.createdNs; });
    return listing;
}

void rememberDamage(const std::string& dataDir, const RunLocator& run, const std::string& sentence)
{
    const FileMark mark = FileMark::of(run.text());
    for (const std::string& path : listedPaths(dataDir, mark))
        ArchiveIndex(dataDir).keepDamage(path, mark, sentence);
}

std::string rememberedDamage(const std::string& dataDir, const RunLocator& run)
{
    const FileMark mark = FileMark::of(run.text());
    const ArchiveIndex index(dataDir);
    for (const std::string& path : listedPaths(dataDir, mark)) {
        if (const RunSummary* known = index.find(path, mark); known && known->state == RunState::Damaged)
            return known->note;
    }
    return {};
}

std::vector<RunSummary> listRuns(const std::string& dataDir)
{
    return listArchive(dataDir).runs;
}

std::optional<RunSummary> findCopy(const std::string& dataDir, const std::string& path)
{
    const RunSummary original = describeRun(RunLocator::ofFile(path));
    for (RunSummary& run : listRuns(dataDir)) {
        const bool isOfIt = run.id == original.id || run.id.starts_with(original.id + '-'); // see makeIdsUnique
        if (isOfIt && !run.isElsewhere && run.key == original.key
            && (run.state == original.state || describeRun(run.locator).state == original.state) // without its damage
            && run.modifiedNs == original.modifiedNs && run.lastStep == original.lastStep
            && run.fileBytes == original.fileBytes)
            return std::move(run);
    }
    return {};
}

Expected<RunLocator> findRun(const std::string& dataDir, const std::string& word)
{
    if (word.empty())
        return failure(ErrorCode::BadInput, "an empty name is no run", "\"telltale runs\" lists their ids");
    std::error_code error;
    if (std::filesystem::is_directory(word, error))
        return failure(ErrorCode::BadInput, word + " is a folder, not a run",
            "name one of the .telltale files, or an id from \"telltale runs\"");
    const bool isPath = word.find('/') != std::string::npos || word.ends_with(kCapsuleSuffix);
    if (isPath) {
        if (fileExists(word))
            return RunLocator::ofFile(word);
        return failure(ErrorCode::NotFound, "there is no file " + word);
    }
    std::vector<RunLocator> found;
    std::vector<RunLocator> named;
    const RunListing listing = listArchive(dataDir);
    for (const RunSummary& run : listing.runs) {
        if (run.id == word)
            return run.locator;
        if (run.name == word)
            named.push_back(run.locator);
        if (run.id.starts_with(word))
            found.push_back(run.locator);
    }
    if (named.size() == 1)
        return named.front();
    if (named.size() > 1)
        return failure(ErrorCode::BadInput, std::to_string(named.size()) + " runs have the name \"" + word + "\"",
            "\"telltale runs\" lists their ids: give one of those");
    if (found.size() == 1)
        return found.front();
    if (found.empty() && fileExists(word))
        return RunLocator::ofFile(word);
    if (found.empty())
        return failure(ErrorCode::NotFound, "there is no run with the id or name \"" + word + "\" in " + dataDir,
            listing.problems.empty() ? "\"telltale runs\" lists them, \"telltale --help\" the verbs"
                                     : "it may be where nothing can be read: " + listing.problems.front());
    return failure(ErrorCode::BadInput, "the id \"" + word + "\" fits " + std::to_string(found.size()) + " runs",
        "give more of its digits");
}

}
