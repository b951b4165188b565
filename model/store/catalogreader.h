// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/store/catalog.h>

struct sqlite3;

namespace telltale::store {

/// Reads the whole directory of a capsule. A table that cannot be read adds a sentence to Catalog::damage and leaves
/// its part out. `db` should be in a read transaction.
Expected<std::shared_ptr<Catalog>> readCatalog(sqlite3* db);

/// A number that changes whenever readCatalog would give more series, sources, events, drops or structure: cheap enough
/// to ask after every commit of somebody else.
Expected<std::uint64_t> catalogFingerprint(sqlite3* db);

struct SourceSteps {
    SourceId source;
    StepRange steps;
};
/// First and last steps as they are now.
Expected<std::vector<SourceSteps>> readSourceSteps(sqlite3* db);

/// The bytes of a stored blob, all parts in order: the newest of that kind and name at or before `step`. An empty name
/// means any.
Expected<std::string> readBlob(sqlite3* db, const std::string& kind, const std::string& name, Step step);

}
