// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>

#include <telltale/core/expected.h>
#include <telltale/ingest/spoolimport.h>
#include <telltale/protocol/joinstring.h>

namespace telltale::client {

/// Delivers a spool through a running server, as the process that left it would: what is acknowledged leaves the spool.
/// The report has no samples and no capsule: the server does not say them to agents. On an error the rest stays in the
/// spool. Thread: any; blocks.
Expected<ingest::SpoolReport> deliverSpool(
    const protocol::JoinString& join, const std::filesystem::path& folder, ingest::SpoolImport::Found found);

}
