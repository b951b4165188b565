// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/store/catalog.h>

namespace telltale::store {

class StatementCache;

/// Keeps a run's directory up to date: layouts, groups and series are append-only, so each is read once; what is of the
/// run and of its ranks is little and read again. A table that cannot be read adds a sentence to Catalog::damage and
/// leaves its part out. Thread: its reader's.
class DirectoryReader {
public:
    /// Takes what was added since the last time, of the same run. `db` should be in a read transaction. withSteps: the
    /// catalog is new when its steps are, too; who follows a live run has them from elsewhere.
    Expected<void> refresh(StatementCache& db, bool withSteps = false);

    /// The same object until something other than steps is new; null before the first refresh.
    const std::shared_ptr<const Catalog>& catalog() const { return m_catalog; }
    /// With their first and last steps as they are now.
    const std::vector<SourceInfo>& sources() const { return m_sources; }
    /// Rows of layouts, groups and series that were read so far.
    std::uint64_t rowsRead() const { return m_rowsRead; }

    static constexpr std::size_t kParts = 7;

private:
    struct Damage {
        std::size_t rows = 0;
        bool isCut = false;
    };
    Expected<void> readOn(StatementCache& db, bool withSteps);
    std::vector<std::string> damageSentences() const;

    std::shared_ptr<const Catalog> m_catalog;
    std::vector<SourceInfo> m_sources;
    std::array<std::int64_t, kParts> m_last {}; ///< newest row of each part that is only appended to
    std::array<Damage, kParts> m_damage {};
    std::string m_mark; ///< changes with everything that is read again, but for steps
    std::uint64_t m_rowsRead = 0;
};

/// A run's directory that several readers have in common: who holds the lock reads on. Thread: any.
struct SharedDirectory {
    std::mutex mutex;
    DirectoryReader reader;
    std::vector<std::string> damage; ///< that any of the readers met
};

/// The directories of the last runs that were read, so that every reader of a pool takes what another has read already.
/// A run that is recorded here has its own (LiveRun::directory). Thread: any.
class Directories {
public:
    /// Of the file that lies at `path` now.
    std::shared_ptr<SharedDirectory> of(const std::string& path);

private:
    static constexpr std::size_t kMost = 2; ///< the run that is shown, and the one beside it
    struct Known {
        std::string path;
        std::uint64_t file = 0; ///< changes when another file takes its place
        std::shared_ptr<SharedDirectory> shared;
    };

    std::mutex m_mutex;
    std::list<Known> m_known; ///< most recently used first
};

}
