// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include <telltale/core/ids.h>
#include <telltale/core/kinds.h>
#include <telltale/core/samplebatch.h>
#include <telltale/store/sqlite.h>

namespace telltale::store {

/// A row of a file that anybody may have written, or damaged. A number that is outside its limits, or none, makes the
/// whole row bad, so that nothing of it becomes an index, a size or an enumerator. Thread: its statement's.
class CheckedRow {
public:
    explicit CheckedRow(const Statement& row)
        : m_row(row)
    {
    }

    bool isGood() const { return m_isGood; }
    void refuse() { m_isGood = false; }

    std::int64_t number(int column, std::int64_t low, std::int64_t high)
    {
        const std::int64_t value = m_row.integer(column);
        if (m_row.isInteger(column) && low <= value && value <= high)
            return value;
        m_isGood = false;
        return low;
    }
    template <typename Number>
    Number number(int column, Number low = 0, Number high = std::numeric_limits<Number>::max())
    {
        constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
        const auto limit = static_cast<std::uint64_t>(high) < kMost ? static_cast<std::uint64_t>(high) : kMost;
        return static_cast<Number>(number(column, static_cast<std::int64_t>(low), static_cast<std::int64_t>(limit)));
    }
    std::int64_t id(int column) { return number(column, std::int64_t { 1 }, std::int64_t { 1 } << 60); }
    Step step(int column) { return Step { number(column, -kFarthestStep, kFarthestStep) }; }
    Kind kind(int column) { return static_cast<Kind>(number(column, 1, kKindCount - 1)); }
    DType dtype(int column) { return static_cast<DType>(number(column, 0, static_cast<int>(DType::Bool))); }
    bool is(int column, std::int64_t value) const { return m_row.isInteger(column) && m_row.integer(column) == value; }
    std::string text(int column) const { return std::string(m_row.text(column)); }
    std::string_view blob(int column) const { return m_row.blob(column); }
    std::int64_t any(int column) const { return m_row.integer(column); }

private:
    const Statement& m_row;
    bool m_isGood = true;
};

}
