// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <telltale/archive/runprofile.h>
#include <telltale/store/archive.h>

namespace telltale::archive {

/// The profiles of a data directory's runs. What was read of each is kept in a file of the directory (runs.profiles),
/// so that only runs whose file has changed are opened; whoever cannot write it reads them all. Thread: any, one at a
/// time; blocks.
class ProfileIndex {
public:
    using Profiles = std::map<store::RunLocator, std::shared_ptr<const RunProfile>>;
    /// How many of how many have been opened; false ends the work.
    using Progress = std::function<bool(std::size_t done, std::size_t count)>;

    explicit ProfileIndex(std::string dataDir)
        : m_dataDir(std::move(dataDir))
    {
    }

    /// Those of the runs, as they are now. Runs that cannot be opened have none. Canceled where `progress` said so;
    /// what was read up to then is kept.
    Expected<Profiles> read(const std::vector<store::RunSummary>& runs, const Progress& progress = {});

private:
    std::string m_dataDir;
};

}
