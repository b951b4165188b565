// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/capsuletransaction.h>

#include <sqlite3.h>

namespace telltale::store {

Expected<void> CapsuleTransaction::prepare()
{
    return prepareAll(m_db, { { &m_begin, "BEGIN IMMEDIATE" }, { &m_commit, "COMMIT" }, { &m_rollback, "ROLLBACK" } });
}

Expected<void> CapsuleTransaction::run(const std::function<Expected<void>()>& work)
{
    m_home.check();
    auto done = m_begin.run();
    if (!done)
        return done;
    m_writing = {};
    done = work();
    if (done)
        done = m_commit.run();
    if (done)
        m_news.add(m_writing);
    // A full disk may have rolled the transaction back already.
    if (!done && sqlite3_get_autocommit(m_db) == 0)
        static_cast<void>(m_rollback.run());
    return done;
}

}
