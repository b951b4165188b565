// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telltale::exchange {

/// Goes through the rows of a csv file (RFC 4180, any line ends, a byte order mark in front). Thread: one.
class CsvRows {
public:
    explicit CsvRows(std::string_view text);

    /// The next row that is not empty; false behind the last. Cells stay valid until the next call.
    bool next();
    const std::vector<std::string_view>& cells() const { return m_cells; }
    /// Where in the text the row began, for progress and for sentences.
    std::size_t line() const { return m_line; }
    std::size_t offset() const { return m_at; }
    /// The last row ended inside a quoted cell.
    bool isTorn() const { return m_isTorn; }

private:
    void readQuoted();

    std::string_view m_text;
    std::size_t m_at = 0;
    std::size_t m_line = 0;
    std::size_t m_nextLine = 1;
    std::vector<std::string_view> m_cells;
    std::deque<std::string> m_unquoted; ///< stay where they are: cells point to them
    std::size_t m_usedUnquoted = 0;
    bool m_isTorn = false;
};

/// A number as csv files have it: digits, nan, inf, Infinity in any case; nothing where it is none.
std::optional<double> csvNumber(std::string_view cell);
std::optional<std::int64_t> csvInteger(std::string_view cell);
/// "[4096, 4, 1024]" or "(2, 3)"; empty where it is none.
std::vector<std::int64_t> csvShape(std::string_view cell);

}
