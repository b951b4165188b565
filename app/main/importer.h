// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <telltale/core/expected.h>
#include <telltale/ingest/importtarget.h>
#include <telltale/ingest/spoolimport.h>
#include <telltale/store/archive.h>
#include <telltale/store/storeservice.h>

#include "args.h"

namespace telltale::app {

/// Who takes in what is imported.
class Importer {
public:
    virtual ~Importer() = default;
    virtual Expected<store::ImportedRun> takeRun(const std::string& path) = 0;
    /// A run that was made in a draft of its own, which nobody needs any more.
    virtual Expected<store::ImportedRun> takeDraft(const std::string& path) = 0;
    /// For a run that grows; nothing else is taken meanwhile.
    virtual std::unique_ptr<ingest::ImportTarget> target() = 0;
    /// The run that has the stream; nothing where there is none.
    virtual Expected<store::ImportedRun> find(const store::StreamRequest& stream) = 0;
    virtual Expected<ingest::SpoolReport> takeSpool(
        const std::filesystem::path& folder, ingest::SpoolImport::Found found)
        = 0;
    /// Where the runs are, for people.
    virtual std::string place() const = 0;
};

/// This process where nobody has the data directory, else the server that has it; $TELLTALE_CONTROL may name another.
Expected<std::unique_ptr<Importer>> importerFor(const Args& args, const std::string& dataDir);

}
