// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/store/archive.h>

namespace telltale::store {

// Deleted runs lie in the data directory's folder `trash`, each in a folder of its own, until the trash is emptied:
// they take the place on the disk that they took, and come back as they were. Thread: any; all of it blocks.

/// A run in the trash. Thread: any (a value).
struct TrashedRun {
    RunSummary run; ///< as it is there
    std::string from; ///< the path that it had
    std::int64_t deletedNs = 0;
    std::string folder; ///< its own
};

/// Moves a run there. Busy while it is recorded or somebody writes to it, BadInput where it is pinned; a damaged one
/// goes with its log.
Expected<TrashedRun> trashRun(const std::string& dataDir, const RunLocator& run);
/// A new run takes the place of another one, which goes to the trash: at no moment is there none of that name.
Expected<TrashedRun> replaceRun(const std::string& dataDir, const RunLocator& run, const std::string& with);
/// The newest first.
std::vector<TrashedRun> listTrash(const std::string& dataDir);
/// The run that a person means by its id (or the beginning of one), its name or the path that it had: of several the
/// one that was deleted last.
Expected<TrashedRun> findTrashed(const std::string& dataDir, const std::string& word);
/// Puts it back where it was. BadInput where another run has its place.
Expected<RunLocator> restoreRun(const TrashedRun& trashed);
/// For good.
Expected<void> eraseTrashed(const TrashedRun& trashed);

}
