// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <telltale/core/expected.h>
#include <telltale/core/threadhome.h>
#include <telltale/exchange/foreignreader.h>
#include <telltale/store/archive.h>
#include <telltale/store/storeservice.h>

namespace telltale::ingest {

/// What of a foreign run came into a capsule.
struct ForeignReport {
    std::string capsule; ///< path
    std::string name;
    std::uint64_t samples = 0;
    std::uint64_t scalars = 0;
    std::uint64_t series = 0;
    int processes = 0;
};

/// Makes a capsule of a run that another tool recorded, through the store that agents' batches go through, in a folder
/// of its own in the data directory: nobody sees it before it is whole, and what is canceled or fails leaves nothing.
/// It becomes a run by store::adoptRun, or by a server that takes it in. Thread: owned by one; blocks.
class ForeignImport {
public:
    explicit ForeignImport(std::string dataDir);
    ~ForeignImport(); ///< removes the folder with what is still in it
    ForeignImport(const ForeignImport&) = delete;
    ForeignImport& operator=(const ForeignImport&) = delete;

    /// The capsule lies in the folder as long as this lives.
    Expected<ForeignReport> write(
        exchange::ForeignRun& run, const std::string& runKey, const exchange::ForeignReader::Progress& progress = {});

private:
    struct Feed;
    Expected<void> writeProcess(exchange::ForeignRun& run, exchange::ForeignProcess& process, Feed& feed);

    const std::string m_dataDir;
    std::string m_draft;
    ThreadHome m_home;
};

/// What a window does with a file or folder that somebody hands it: a run of Telltale, or what another tool recorded,
/// into the data directory. What another tool recorded and is here already is not taken again. What could not be read
/// or has no place in a run stands in ImportedRun::damage. Thread: any; blocks.
Expected<store::ImportedRun> importAnything(
    const std::string& dataDir, const std::string& path, const exchange::ForeignReader::Progress& progress = {});

}
