// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/lab/runmemory.h>

#include <algorithm>
#include <utility>

namespace telltale::lab {
namespace {

bool isCanceled(const series::CancelToken& cancel)
{
    return cancel && cancel->load(std::memory_order_relaxed);
}

/// Of readers that each have an object of their own for the same directory.
bool isSameRun(const store::Catalog& a, const store::Catalog& b)
{
    return a.series.size() == b.series.size()
        && std::equal(a.sources.begin(), a.sources.end(), b.sources.begin(), b.sources.end(),
            [](const store::SourceInfo& one, const store::SourceInfo& other) {
                return one.id == other.id && one.state == other.state && one.lastStep == other.lastStep;
            });
}

}

std::size_t RunMemory::bytes() const
{
    const std::lock_guard lock(m_mutex);
    return m_bytes;
}

bool RunMemory::isWhole() const
{
    const std::lock_guard lock(m_mutex);
    return m_isWhole;
}

std::shared_ptr<const store::Catalog> RunMemory::takeCatalog(std::shared_ptr<const store::Catalog> catalog)
{
    const std::lock_guard lock(m_mutex);
    if (!m_columns.catalog || !isSameRun(*m_columns.catalog, *catalog)) {
        m_columns = {};
        m_columns.catalog = std::move(catalog);
        m_bytes = 0;
        m_isWhole = true;
    }
    return m_columns.catalog;
}

std::size_t RunMemory::placeOf(std::span<const series::RowAttempts> rows)
{
    const auto known = std::find_if(m_columns.rows.begin(), m_columns.rows.end(),
        [rows](const Rows& one) { return std::equal(one.begin(), one.end(), rows.begin(), rows.end()); });
    if (known == m_columns.rows.end())
        m_columns.rows.emplace_back(rows.begin(), rows.end());
    return static_cast<std::size_t>(
        std::distance(m_columns.rows.begin(), known == m_columns.rows.end() ? m_columns.rows.end() - 1 : known));
}

bool RunMemory::reserve(std::size_t bytes)
{
    if (m_bytes + bytes > kMostBytes) {
        m_isWhole = false;
        return false;
    }
    m_bytes += bytes;
    return true;
}

RememberingReader::RememberingReader(store::RunReader& reader, RunMemory& memory)
    : m_reader(reader)
    , m_memory(memory)
{
}

Expected<std::shared_ptr<const store::Catalog>> RememberingReader::catalog()
{
    if (!m_catalog) {
        auto read = m_reader.catalog();
        if (!read)
            return read;
        m_catalog = m_memory.takeCatalog(std::move(*read));
    }
    return m_catalog;
}

Expected<series::HeatResult> RememberingReader::heatmap(
    const series::HeatQuery& query, const series::CancelToken& cancel)
{
    if (isCanceled(cancel))
        return failure(ErrorCode::Canceled, "nobody wants it any more");
    // What is reduced to fewer columns than steps is nobody's replay.
    if (query.pixels != query.range.count())
        return m_reader.heatmap(query, cancel);
    std::unique_lock lock(m_memory.m_mutex);
    const std::tuple key { m_memory.placeOf(query.rows), query.stat, query.range.first.value, query.range.last.value };
    if (const auto known = m_memory.m_columns.heats.find(key); known != m_memory.m_columns.heats.end()) {
        const auto heat = known->second;
        lock.unlock();
        return *heat;
    }
    lock.unlock();
    auto heat = m_reader.heatmap(query, cancel);
    if (!heat)
        return heat;
    lock.lock();
    const std::size_t bytes = heat->values.size() * (sizeof(float) + sizeof(series::CellState)) + sizeof(*heat);
    if (m_memory.m_columns.catalog == m_catalog && m_memory.reserve(bytes))
        m_memory.m_columns.heats.emplace(key, std::make_shared<const series::HeatResult>(*heat));
    return heat;
}

Expected<std::vector<series::CellValue>> RememberingReader::column(
    Step step, Stat stat, std::span<const series::RowAttempts> rows, bool nearest)
{
    std::unique_lock lock(m_memory.m_mutex);
    const std::tuple key { m_memory.placeOf(rows), stat, step.value, nearest };
    if (const auto known = m_memory.m_columns.cells.find(key); known != m_memory.m_columns.cells.end())
        return known->second;
    lock.unlock();
    auto cells = m_reader.column(step, stat, rows, nearest);
    if (!cells)
        return cells;
    lock.lock();
    if (m_memory.m_columns.catalog == m_catalog && m_memory.reserve(cells->size() * sizeof(series::CellValue)))
        m_memory.m_columns.cells.emplace(key, *cells);
    return cells;
}

Expected<store::LogPage> RememberingReader::log(
    store::LogCursor after, const store::LogFilter& filter, std::size_t limit)
{
    return m_reader.log(after, filter, limit);
}

Expected<series::CurveResult> RememberingReader::curve(
    const series::CurveQuery& query, const series::CancelToken& cancel)
{
    return m_reader.curve(query, cancel);
}

Expected<void> RememberingReader::raw(const series::RowAttempts& row, Stat stat, StepRange range,
    const std::function<bool(const series::RawValue&)>& sink)
{
    return m_reader.raw(row, stat, range, sink);
}

Expected<std::string> RememberingReader::blob(const std::string& kind, const std::string& name, Step step)
{
    return m_reader.blob(kind, name, step);
}

Expected<std::vector<store::DocumentInfo>> RememberingReader::documents(const std::string& kind, std::int64_t after)
{
    return m_reader.documents(kind, after);
}

Expected<std::string> RememberingReader::document(std::int64_t id)
{
    return m_reader.document(id);
}

}
