// SPDX-License-Identifier: GPL-3.0-or-later
#include "csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <QIODevice>
#include <QLocale>

namespace telltale::views {

namespace {

/// Whether a spreadsheet could run the cell: programs pass over white space in front, and take the wide signs of East
/// Asian keyboards for the plain ones.
bool isFormula(const QString& cell)
{
    const auto isPassedOver = [](QChar c) {
        return c.isSpace() || c.category() == QChar::Other_Control || c.category() == QChar::Other_Format;
    };
    if (cell.startsWith(u'\t') || cell.startsWith(u'\r'))
        return true;
    const auto sign = std::find_if_not(cell.begin(), cell.end(), isPassedOver);
    return sign != cell.end() && QStringView(u"=+-@\uFF1D\uFF0B\uFF0D\uFF20").contains(*sign);
}

}

CsvWriter::CsvWriter(QIODevice* device)
    : m_device(device)
{
}

void CsvWriter::separate()
{
    if (m_rowBegun)
        m_buffer += ',';
    m_rowBegun = true;
}

CsvWriter& CsvWriter::text(const QString& cell)
{
    separate();
    QString safe = cell;
    if (isFormula(safe))
        safe.prepend(QLatin1Char('\''));
    const bool quote = safe.contains(QLatin1Char('"')) || safe.contains(QLatin1Char(','))
        || safe.contains(QLatin1Char('\n')) || safe.contains(QLatin1Char('\r')) || safe.startsWith(QLatin1Char(' '))
        || safe.endsWith(QLatin1Char(' '));
    if (quote) {
        safe.replace(QLatin1Char('"'), QStringLiteral("\"\""));
        m_buffer += '"' + safe.toUtf8() + '"';
    } else {
        m_buffer += safe.toUtf8();
    }
    return *this;
}

CsvWriter& CsvWriter::number(double value)
{
    separate();
    if (std::isnan(value))
        m_buffer += "NaN";
    else if (std::isinf(value))
        m_buffer += value > 0 ? "Inf" : "-Inf";
    else
        m_buffer += QByteArray::number(value, 'g', QLocale::FloatingPointShortest);
    return *this;
}

CsvWriter& CsvWriter::number32(double value)
{
    const auto narrow = static_cast<float>(value);
    if (!std::isfinite(value) || static_cast<double>(narrow) != value)
        return number(value);
    separate();
    std::array<char, 32> digits {};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), narrow).ptr;
    m_buffer += QByteArray(digits.data(), end - digits.data());
    return *this;
}

CsvWriter& CsvWriter::integer(qint64 value)
{
    separate();
    m_buffer += QByteArray::number(value);
    return *this;
}

CsvWriter& CsvWriter::empty()
{
    separate();
    return *this;
}

void CsvWriter::endRow()
{
    m_buffer += "\r\n";
    m_rowBegun = false;
    if (m_buffer.size() > 65536)
        flush();
}

void CsvWriter::flush()
{
    if (!m_failed && m_device->write(m_buffer) != m_buffer.size())
        m_failed = true;
    m_buffer.clear();
}

Expected<void> CsvWriter::finish()
{
    flush();
    if (m_failed)
        return failure(ErrorCode::Io, "the table cannot be written: " + m_device->errorString().toStdString(),
            "choose another folder or free some space");
    return {};
}

}
