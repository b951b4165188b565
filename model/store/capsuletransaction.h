// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>
#include <utility>

#include <telltale/core/expected.h>
#include <telltale/core/threadhome.h>
#include <telltale/store/sqlite.h>
#include <telltale/store/storefeed.h>

namespace telltale::store {

/// The transactions of a capsule's one writing connection, and what they made durable. Thread: store.
class CapsuleTransaction {
public:
    explicit CapsuleTransaction(sqlite3* db)
        : m_db(db)
    {
    }
    Expected<void> prepare();

    sqlite3* db() const { return m_db; }
    /// All of `work` or nothing of it.
    Expected<void> run(const std::function<Expected<void>()>& work);
    /// For `work`: ids of the rows that it writes. They become news with the COMMIT.
    Durable& writing() { return m_writing; }
    /// What is durable, for whoever adds what is known only behind the COMMIT.
    Durable& news() { return m_news; }
    Durable takeNews() { return std::exchange(m_news, {}); }

private:
    sqlite3* m_db = nullptr;
    Statement m_begin, m_commit, m_rollback;
    Durable m_writing;
    Durable m_news;
    ThreadHome m_home;
};

}
