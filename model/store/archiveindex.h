// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <telltale/store/archive.h>

namespace telltale::store {

/// Tells a file from what it was before, without opening it. Thread: any (a value).
struct FileMark {
    std::uint64_t inode = 0;
    std::int64_t bytes = 0;
    std::int64_t modifiedNs = 0;
    std::int64_t logBytes = 0; ///< of SQLite's log beside it
    std::int64_t logModifiedNs = 0; ///< 0 where the log is empty

    bool operator==(const FileMark&) const = default;
    /// All zero where there is no file.
    static FileMark of(const std::string& path);
};

/// What is known of the runs of a data directory, in a file of it: thousands are listed without opening each, and what
/// reading all of a run has found is not forgotten. It is written once there are enough to be worth it, or a run is
/// damaged, and whoever cannot write it goes without; of processes that share it the last one wins. Thread: any, one at
/// a time.
class ArchiveIndex {
public:
    static constexpr std::size_t kWorthwhile = 100; ///< runs

    explicit ArchiveIndex(std::string dataDir);

    /// Null where the run is not known, or its file is another than it was. Valid until the next change.
    const RunSummary* find(const std::string& path, const FileMark& mark) const;
    /// Takes what was read; nothing of a run that is being recorded, or was when its recorder died: whether it goes on
    /// no file says.
    void put(const std::string& path, const FileMark& mark, const RunSummary& run);
    /// Writes what is known of `count` runs that are there; forgets the others.
    void save(std::size_t count);
    /// Keeps that all of a run cannot be read, or, where the sentence is empty, no longer, and writes it if that is
    /// new.
    void keepDamage(const std::string& path, const FileMark& mark, const std::string& sentence);

private:
    struct Entry {
        FileMark mark;
        RunSummary run;
        bool isThere = false; ///< was asked for since the index was read
    };
    void write();

    const std::string m_path;
    mutable std::map<std::string, Entry> m_entries; ///< by the capsule's path
    bool m_isChanged = false;
};

}
