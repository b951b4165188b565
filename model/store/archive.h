// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/core/ids.h>
#include <telltale/core/kinds.h>
#include <telltale/store/progress.h>
#include <telltale/store/runlocator.h>

namespace telltale::store {

enum class RunState : std::uint8_t {
    Live = 0,
    Finished = 1,
    Failed = 2,
    Interrupted = 3, ///< recording ended before the training did
    Damaged = 4,
    Newer = 5,
    Lost = 6, ///< the training went away without a word while it was recorded
};
/// "live", "finished", ...
std::string_view runStateName(RunState state);

struct RunSummary {
    RunLocator locator;
    std::string id; ///< short id, unique in the data directory
    std::string name;
    std::string key; ///< what its processes share, or where it was imported from
    RunState state = RunState::Finished;
    int ranks = 0;
    Step lastStep { -1 };
    std::uint64_t fileBytes = 0;
    std::int64_t createdNs = 0;
    std::int64_t modifiedNs = 0;
    std::uint64_t missingBatches = 0; ///< made by agents that are gone, and never received
    std::string note; ///< why it cannot be opened, for Damaged and Newer
    std::string folder; ///< that it was put into, "llama/ablation"; of a run elsewhere its folder's whole path
    bool isElsewhere = false; ///< in a folder that is only read (folders.h)
    bool isPinned = false; ///< pins.h; false where their list cannot be read
};

/// What is in an archive. Thread: any (a value).
struct RunListing {
    std::vector<RunSummary> runs; ///< the newest first
    std::vector<std::string> problems; ///< one sentence for each folder or list that could not be read, or not in full
};

/// $TELLTALE_DATA_DIR, else $XDG_DATA_HOME/telltale, else ~/.local/share/telltale.
std::string defaultDataDir();

/// Every capsule under <dataDir>/runs and in the folders elsewhere that it lists. Never opens a run for writing; what
/// it found of many it keeps in the data directory (ArchiveIndex). Thread: query.
RunListing listArchive(const std::string& dataDir);
/// Its runs.
std::vector<RunSummary> listRuns(const std::string& dataDir);
/// One run as listRuns says it, with the id that it carries.
RunSummary describeRun(const RunLocator& run);
/// What reading a run has found, in one sentence; empty: all of it can be read. Every list of the data directory says
/// it from then on, until the file is another. Thread: any, one at a time; blocks.
void rememberDamage(const std::string& dataDir, const RunLocator& run, const std::string& sentence);
/// What is remembered of it, else an empty sentence.
std::string rememberedDamage(const std::string& dataDir, const RunLocator& run);
/// "#5405490a": tells runs of one name apart where people read them. An id that is a path gives its file's own.
std::string shortRunId(const std::string& id);
/// On disk, with what is still in SQLite's log beside it.
std::uint64_t runBytes(const RunLocator& run);
/// A locator, or an id (or unique prefix of one) from listRuns.
Expected<RunLocator> findRun(const std::string& dataDir, const std::string& word);
// A run is its file and what is still in SQLite's log beside it: each of these treats both as one. Thread: any; they
// block.

/// A whole file of its own, as one moment has it: also of a run that is being recorded, or whose recorder was killed.
/// Replaces a file of that name. What cannot be read is copied as it is.
Expected<void> copyRun(const RunLocator& run, const std::string& to, const Progress& progress = {});
/// A run that came into a data directory.
struct ImportedRun {
    RunLocator locator;
    std::string id;
    std::vector<std::string> damage; ///< what it has lost, one sentence each, as showing it says
    bool wasHere = false; ///< nothing was taken: an earlier import of the same has it
};
/// A run of the data directory that a run's file was copied to, as far as their names, times and sizes say.
std::optional<RunSummary> findCopy(const std::string& dataDir, const std::string& path);
/// A copy in the data directory, under the file's name.
Expected<ImportedRun> importRun(const std::string& dataDir, const std::string& path);
/// The same by moving the file, which nobody has open: at once where it lies on the data directory's own disk.
Expected<ImportedRun> adoptRun(const std::string& dataDir, const std::string& path);
/// The same of a file that comes in pieces, which nobody sees before it is whole. Thread: any, one at a time; blocks.
class RunUpload {
public:
    /// `fileName` is the other side's: no more than a name.
    static Expected<std::unique_ptr<RunUpload>> begin(const std::string& dataDir, const std::string& fileName);
    ~RunUpload(); ///< leaves nothing behind of what was not finished
    RunUpload(const RunUpload&) = delete;
    RunUpload& operator=(const RunUpload&) = delete;

    Expected<void> append(std::string_view bytes);
    Expected<ImportedRun> finish();

private:
    RunUpload(std::string path, int fd);
    const std::string m_path; ///< once it is whole
    const std::string m_draft;
    int m_fd;
};
/// The name shown; the file keeps its own. Busy while the run is recorded.
Expected<void> renameRun(const RunLocator& run, const std::string& name);
/// Busy while the run is recorded.
Expected<void> deleteRun(const RunLocator& run);

struct VerifyReport {
    std::uint64_t blobs = 0;
    std::uint64_t bytes = 0;
    std::vector<std::string> problems; ///< one sentence each, empty = whole
};
/// Reads every blob and checks every crc.
Expected<VerifyReport> verifyRun(const RunLocator& run, const Progress& progress = {});

/// A part of a run: what a picture shows.
struct RunPart {
    std::vector<Kind> kinds;
    std::vector<Stat> stats; ///< empty = all
    std::optional<Rank> rank;
    StepRange steps;
};
/// What of the part's stored values cannot be read, one sentence for each kind, statistic and rank.
Expected<std::vector<std::string>> lostIn(const RunLocator& run, const RunPart& part);

}
