// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/taillog.h>

#include <algorithm>

#include <telltale/core/bytes.h>
#include <telltale/store/tailcodec.h>

namespace telltale::store {
namespace {

constexpr std::size_t kTrimAbove = 1024; ///< rows, before those of rarely written layouts are made small

}

Expected<void> TailLog::prepare(sqlite3* db)
{
    auto ok = prepareAll(db,
        {
            { &m_insert,
                "INSERT INTO tail(id, stream, seq, first_step, last_step, crc, data) VALUES(?, ?, ?, ?, ?, ?, ?)" },
            { &m_delete, "DELETE FROM tail WHERE id = ?" },
            { &m_read, "SELECT data FROM tail WHERE id = ?" },
            { &m_trim, "UPDATE tail SET crc = ?, data = ? WHERE id = ?" },
        });
    if (!ok)
        return ok;
    auto next = queryInteger(db, "SELECT ifnull(max(id), 0) + 1 FROM tail");
    if (!next)
        return tl::unexpected<Error>(std::move(next.error()));
    m_next = *next;
    return {};
}

std::int64_t TailLog::add(Columns columns)
{
    m_home.check();
    m_rows.push_back({ m_next, std::move(columns), false });
    return m_next++;
}

Expected<void> TailLog::write(
    std::int64_t id, std::int64_t stream, std::int64_t seq, const StepRange& steps, const std::string& data)
{
    m_home.check();
    return m_insert.run(id, stream, seq, steps.first, steps.last, crc32c(data), Bytes { data });
}

Expected<void> TailLog::dropSealed(const IsSealed& isSealed)
{
    for (Row& row : m_rows) {
        const auto sealed = [&](const auto& entry) { return isSealed(*entry.first, entry.second); };
        const auto done = std::count_if(row.columns.begin(), row.columns.end(), sealed);
        if (done == static_cast<std::ptrdiff_t>(row.columns.size())) {
            if (auto ok = m_delete.run(row.id); !ok)
                return ok;
            m_dropped.push_back(row.id);
        } else if (done > 0 && !row.isTrimmed && m_rows.size() > kTrimAbove) {
            if (auto ok = trim(row, isSealed); !ok)
                return ok;
        }
    }
    return {};
}

Expected<void> TailLog::trim(Row& row, const IsSealed& isSealed)
{
    m_read.bind(1, row.id);
    auto found = m_read.step();
    if (!found)
        return tl::unexpected<Error>(std::move(found.error()));
    if (!*found)
        return {};
    TailEncoder kept;
    const auto layoutOf = [&row](const TailBlock& tail) {
        const auto entry = std::find_if(row.columns.begin(), row.columns.end(),
            [&tail](const auto& item) { return item.first->layout()->id == tail.layout; });
        return entry == row.columns.end() ? nullptr : entry->first;
    };
    auto whole = decodeTail(
        m_read.blob(0),
        [&](const TailBlock& head) {
            const LiveLayout* layout = layoutOf(head);
            return layout != nullptr && fits(head, *layout->layout()) && !isSealed(*layout, head.column);
        },
        [&](TailBlock& tail) {
            tail.block.layout = layoutOf(tail)->layout();
            kept.append(tail.block, tail.column);
        });
    m_read.reset();
    if (!whole)
        return whole;
    const std::string data = kept.take();
    row.isTrimmed = m_hasTrimmed = true;
    return m_trim.run(crc32c(data), Bytes { data }, row.id);
}

void TailLog::committed()
{
    std::erase_if(
        m_rows, [this](const Row& row) { return std::binary_search(m_dropped.begin(), m_dropped.end(), row.id); });
    m_dropped.clear();
    m_hasTrimmed = false;
}

void TailLog::rolledBack()
{
    for (std::size_t i = 0; m_hasTrimmed && i < m_rows.size(); ++i)
        m_rows[i].isTrimmed = false;
    m_dropped.clear();
    m_hasTrimmed = false;
}

}
