// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/ingest/spoolimport.h>
#include <telltale/protocol/joinstring.h>

namespace telltale::ingest {

/// How a process of this machine may join the server that runs on a data directory: plain, and with TLS where it has a
/// certificate; which of the two depends on what it listens on. NotFound where none ever did. Thread: any.
Expected<std::vector<protocol::JoinString>> joinsOfServer(const std::string& dataDir);

/// Delivers a spool through a running server that answers to one of `joins`, as the process that left it would: what is
/// acknowledged leaves the spool. The report has no samples and no capsule: the server does not say them. On an error
/// the rest stays in the spool. Thread: any; blocks.
Expected<SpoolReport> deliverSpool(
    const std::vector<protocol::JoinString>& joins, const std::filesystem::path& folder, SpoolImport::Found found);

}
