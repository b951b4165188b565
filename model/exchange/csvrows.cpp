// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/csvrows.h>

#include <charconv>
#include <cmath>
#include <cstring>

#include <telltale/core/ids.h>

namespace telltale::exchange {

CsvRows::CsvRows(std::string_view text)
    : m_text(text)
{
    if (m_text.starts_with("\xEF\xBB\xBF"))
        m_text.remove_prefix(3);
}

bool CsvRows::next()
{
    while (m_at < m_text.size() && (m_text[m_at] == '\n' || m_text[m_at] == '\r'))
        m_nextLine += m_text[m_at++] == '\n' ? 1 : 0;
    if (m_at >= m_text.size())
        return false;
    m_cells.clear();
    m_usedUnquoted = 0;
    m_line = m_nextLine;
    for (;;) {
        if (m_at < m_text.size() && m_text[m_at] == '"') {
            readQuoted();
        } else {
            const char* begin = m_text.data() + m_at;
            const char* end = m_text.data() + m_text.size();
            const char* at = begin;
            while (at < end && *at != ',' && *at != '\n' && *at != '\r')
                ++at;
            m_cells.emplace_back(begin, static_cast<std::size_t>(at - begin));
            m_at += static_cast<std::size_t>(at - begin);
        }
        if (m_at >= m_text.size() || m_text[m_at] != ',')
            return true;
        ++m_at;
    }
}

void CsvRows::readQuoted()
{
    const std::size_t begin = ++m_at;
    std::string* joined = nullptr;
    std::size_t from = begin;
    for (;;) {
        const std::size_t quote = m_text.find('"', m_at);
        const std::size_t end = quote == std::string_view::npos ? m_text.size() : quote;
        for (std::size_t i = m_at; i < end; ++i)
            m_nextLine += m_text[i] == '\n' ? 1 : 0;
        m_at = end;
        if (quote == std::string_view::npos) {
            m_isTorn = true;
            break;
        }
        if (quote + 1 >= m_text.size() || m_text[quote + 1] != '"')
            break;
        if (!joined) {
            if (m_usedUnquoted == m_unquoted.size())
                m_unquoted.emplace_back();
            joined = &m_unquoted[m_usedUnquoted++];
            joined->clear();
        }
        joined->append(m_text, from, quote + 1 - from);
        m_at = from = quote + 2;
    }
    if (joined) {
        joined->append(m_text, from, m_at - from);
        m_cells.emplace_back(*joined);
    } else {
        m_cells.push_back(m_text.substr(begin, m_at - begin));
    }
    m_at += m_isTorn ? 0 : 1;
    // What stands behind the closing quote belongs to nothing.
    while (m_at < m_text.size() && m_text[m_at] != ',' && m_text[m_at] != '\n' && m_text[m_at] != '\r')
        ++m_at;
}

std::optional<double> csvNumber(std::string_view cell)
{
    while (!cell.empty() && cell.front() == ' ')
        cell.remove_prefix(1);
    while (!cell.empty() && cell.back() == ' ')
        cell.remove_suffix(1);
    if (cell.starts_with('+'))
        cell.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (end != cell.data() + cell.size() || cell.empty())
        return {};
    if (error == std::errc::result_out_of_range) // strtod says which way
        return std::strtod(std::string(cell).c_str(), nullptr);
    return error == std::errc() ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> csvInteger(std::string_view cell)
{
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error == std::errc() && end == cell.data() + cell.size())
        return value;
    const auto number = csvNumber(cell); // pandas writes whole numbers as 3.0 where one is missing
    if (!number || !(std::fabs(*number) <= static_cast<double>(kFarthestStep)) || std::trunc(*number) != *number)
        return {};
    return static_cast<std::int64_t>(*number);
}

std::vector<std::int64_t> csvShape(std::string_view cell)
{
    std::vector<std::int64_t> shape;
    if (cell.size() < 2 || (cell.front() != '[' && cell.front() != '('))
        return shape;
    const char* at = cell.data() + 1;
    const char* end = cell.data() + cell.size() - 1;
    while (at < end && shape.size() < 64) {
        std::int64_t size = 0;
        const auto read = std::from_chars(at, end, size);
        if (read.ec != std::errc() || size < 0)
            break;
        shape.push_back(size);
        at = read.ptr;
        while (at < end && (*at == ',' || *at == ' '))
            ++at;
    }
    return shape;
}

}
