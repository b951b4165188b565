// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <utility>

#include <telltale/core/expected.h>
#include <telltale/store/sqlite.h>

namespace telltale::store {

/// One read transaction: everything read while it lives is of one moment. Short, since a long one lets the WAL grow.
/// Thread: its connection's.
class ReadSnapshot {
public:
    static Expected<ReadSnapshot> begin(sqlite3* db)
    {
        if (auto ok = execute(db, "BEGIN"); !ok)
            return tl::unexpected<Error>(std::move(ok.error()));
        return ReadSnapshot(db);
    }
    ReadSnapshot(ReadSnapshot&& other) noexcept
        : m_db(std::exchange(other.m_db, nullptr))
    {
    }
    ReadSnapshot& operator=(ReadSnapshot&&) = delete;
    ReadSnapshot(const ReadSnapshot&) = delete;
    ReadSnapshot& operator=(const ReadSnapshot&) = delete;
    ~ReadSnapshot()
    {
        // Nothing was written, so there is nothing that ending could fail to keep.
        if (m_db)
            (void)execute(m_db, "ROLLBACK");
    }

private:
    explicit ReadSnapshot(sqlite3* db)
        : m_db(db)
    {
    }
    sqlite3* m_db;
};

}
