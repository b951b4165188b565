// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include <telltale/core/expected.h>
#include <telltale/store/sqlite.h>

namespace telltale::store {

/// NotFound without a file, BadInput for a folder, Damaged for an empty file. Thread: any.
Expected<void> checkCapsuleFile(const std::string& path);

/// Opens and checks a capsule of any format, read-only whatever the folder allows: one in WAL mode cannot be opened
/// plainly where no -shm can be made. Queries of the newest format answer. Thread: any.
Expected<Connection> openForReading(const std::string& path);

/// Opens and checks a capsule, and brings an older one to the newest format. Thread: any.
Expected<Connection> openForWriting(const std::string& path);

}
