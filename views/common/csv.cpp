// SPDX-License-Identifier: GPL-3.0-or-later
#include "csv.h"

#include <cmath>

#include <QIODevice>
#include <QLocale>
#include <QStringList>

#include <telltale/core/celltext.h>
#include <telltale/core/plaintext.h>

namespace telltale::views {

namespace {

/// What a terminal that shows the file would act on is escaped; a quoted cell may have lines.
QByteArray shownText(const QString& cell)
{
    QByteArray out;
    const QStringList lines = cell.split(QLatin1Char('\n'));
    for (qsizetype i = 0; i < lines.size(); ++i) {
        const bool isLast = i + 1 == lines.size();
        const bool hasReturn = !isLast && lines[i].endsWith(QLatin1Char('\r'));
        out += QByteArray::fromStdString(terminalText(lines[i].chopped(hasReturn ? 1 : 0).toStdString()));
        out += isLast ? "" : hasReturn ? "\r\n" : "\n";
    }
    return out;
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
    QByteArray safe = shownText(cell);
    if (isFormula(cell.toStdString()))
        safe.prepend('\'');
    if (safe.contains('"') || safe.contains(',') || safe.contains('\n') || safe.startsWith(' ') || safe.endsWith(' '))
        m_buffer += '"' + safe.replace("\"", "\"\"") + '"';
    else
        m_buffer += safe;
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
    m_buffer += QByteArray::fromStdString(shortestDigits(value));
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
