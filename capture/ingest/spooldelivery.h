// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <string>

#include <telltale/core/expected.h>
#include <telltale/ingest/spoolimport.h>
#include <telltale/protocol/joinstring.h>

namespace telltale::ingest {

/// How a process of this machine joins the server that runs on a data directory. NotFound where none ever did.
/// Thread: any.
Expected<protocol::JoinString> joinOfServer(const std::string& dataDir);

/// Delivers a spool through a running server, as the process that left it would: what is acknowledged leaves the spool.
/// The report has no samples and no capsule: the server does not say them. On an error the rest stays in the spool.
/// Thread: any; blocks.
Expected<SpoolReport> deliverSpool(
    const protocol::JoinString& join, const std::filesystem::path& folder, SpoolImport::Found found);

}
