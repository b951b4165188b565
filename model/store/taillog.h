// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <telltale/core/ids.h>
#include <telltale/core/threadhome.h>
#include <telltale/store/livelayout.h>
#include <telltale/store/sqlite.h>

namespace telltale::store {

/// The rows of `tail`: blocks that are committed and stand in no tile yet. A row goes when all that it carries is
/// sealed. What a transaction does to the rows holds once committed() was called. Thread: store.
class TailLog {
public:
    using Columns = std::vector<std::pair<LiveLayout*, std::int64_t>>; ///< newest column of each layout
    using IsSealed = std::function<bool(const LiveLayout& layout, std::int64_t column)>;

    Expected<void> prepare(sqlite3* db);

    /// A row that write() will write, or that the file has already under `id`.
    std::int64_t add(Columns columns);
    void addWritten(std::int64_t id, Columns columns) { m_rows.push_back({ id, std::move(columns), false }); }
    /// `seq`: of the batch; negative for what is no batch.
    Expected<void> write(
        std::int64_t id, std::int64_t stream, std::int64_t seq, const StepRange& steps, const std::string& data);
    Expected<void> dropSealed(const IsSealed& isSealed);
    void committed();
    void rolledBack();

    std::size_t size() const { return m_rows.size(); }
    void shrinkTo(std::size_t size) { m_rows.resize(size); }

private:
    struct Row {
        std::int64_t id = 0;
        Columns columns;
        bool isTrimmed = false;
    };
    Expected<void> trim(Row& row, const IsSealed& isSealed);

    Statement m_insert, m_delete, m_read, m_trim;
    std::deque<Row> m_rows;
    std::vector<std::int64_t> m_dropped; ///< by the transaction under way
    bool m_hasTrimmed = false;
    std::int64_t m_next = 1;
    ThreadHome m_home;
};

}
