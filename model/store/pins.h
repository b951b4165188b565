// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <set>
#include <string>

#include <telltale/core/expected.h>
#include <telltale/store/runlocator.h>

namespace telltale::store {

// Runs of a data directory that no rule removes and no slip of the hand deletes. That is the archive's word, in a file
// of it (`pins`), and no part of a run: one that is recorded, damaged or only readable can be pinned, too. Thread: any,
// one at a time; they block.

class Pins {
public:
    /// An unreadable file is an error: nothing may be taken for unpinned by mistake.
    static Expected<Pins> read(const std::string& dataDir);

    bool has(const RunLocator& run) const;
    /// BadInput for a run that is none of the data directory's. Durable on return.
    Expected<void> set(const RunLocator& run, bool isPinned);

private:
    explicit Pins(std::string dataDir)
        : m_dataDir(std::move(dataDir))
    {
    }
    std::string nameOf(const RunLocator& run) const; ///< empty: not of this data directory

    std::string m_dataDir;
    std::set<std::string> m_files; ///< names in the folder of runs
};

}
