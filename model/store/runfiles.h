// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/core/expected.h>

namespace telltale::store {

inline constexpr std::string_view kCapsuleSuffix = ".telltale";
inline constexpr std::string_view kDraftFolder = ".import-"; ///< of a data directory: see importdraft.h
inline constexpr std::string_view kDraftSuffix = ".new"; ///< behind it while a capsule comes into being

/// 8 hex digits from the system's random source.
std::string newShortId();
/// <date>_<run name>_<short id>.telltale; the name as fileNameText() writes it.
std::string capsuleFileName(std::string_view runName, std::string_view shortId, std::int64_t createdNs);
/// The short id at the end of a capsule's file name, empty when it has another form.
std::string shortIdOfFile(std::string_view fileName);
std::string runsFolder(const std::string& dataDir);
/// Written by a server that has the data directory, while it listens: a join string of the control role for who asks
/// it from here, and where that is another one, on a second line, from elsewhere.
std::string controlFile(const std::string& dataDir);
/// Whether a path is the folder or lies in it, by whatever names they are called.
bool liesIn(const std::string& path, const std::string& folder);
/// Paths of all capsules below a folder, by name; not in hidden folders, and not behind links. For each folder that
/// cannot be read, or not to its end, a sentence goes to `problems`; the others are listed all the same.
std::vector<std::string> capsulesBelow(const std::string& folder, std::vector<std::string>* problems = nullptr);
/// Those of a data directory.
std::vector<std::string> capsulePaths(const std::string& dataDir, std::vector<std::string>* problems = nullptr);

/// Makes the data directory and its folder of runs where they are missing, and keeps what is in there for its owner
/// alone (privatefiles.h): runs and their logs, and the directory itself where it holds nothing but ours. One that the
/// user named and that holds other things keeps its rights.
Expected<void> prepareDataDir(const std::string& dataDir);

/// Whether some process records into the data directory that the capsule lies in.
bool isBeingRecorded(const std::string& capsulePath);

/// The data directory's writer lock: a file with the holder's pid, held by flock until destruction.
/// Thread: its owner's.
class DataDirLock {
public:
    DataDirLock() = default;
    ~DataDirLock();
    DataDirLock(DataDirLock&& other) noexcept;
    DataDirLock& operator=(DataDirLock&& other) noexcept;
    /// Prepares the directory too. Busy names the holder.
    static Expected<DataDirLock> take(const std::string& dataDir);

private:
    int m_fd = -1;
};

}
