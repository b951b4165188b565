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
    static Expected<ReadSnapshot> begin(StatementCache& db)
    {
        if (auto ok = db.execute("BEGIN"); !ok)
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
            (void)m_db->execute("ROLLBACK");
    }

private:
    explicit ReadSnapshot(StatementCache& db)
        : m_db(&db)
    {
    }
    StatementCache* m_db;
};

}
