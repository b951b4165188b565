// SPDX-License-Identifier: GPL-3.0-or-later
#include "consolelines.h"

#include <charconv>

#include <QDateTime>

#include <telltale/items/guithread.h>

namespace telltale::views {
namespace {

ConsoleLine lineOf(std::string_view line)
{
    ConsoleLine found;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), found.wallMs);
    const auto head = static_cast<std::size_t>(end - line.data());
    const bool isWhole = error == std::errc() && line.size() >= head + 3 && line[head] == ' ' && line[head + 2] == ' '
        && (line[head + 1] == 'o' || line[head + 1] == 'e');
    if (isWhole) {
        found.isError = line[head + 1] == 'e';
        line.remove_prefix(head + 3);
    } else {
        found.wallMs = 0;
    }
    found.text = QString::fromUtf8(line.data(), static_cast<qsizetype>(line.size()));
    return found;
}

}

void ConsoleLines::append(std::string_view chunk)
{
    while (!chunk.empty()) {
        const std::size_t end = chunk.find('\n');
        m_lines.push_back(lineOf(chunk.substr(0, end)));
        chunk.remove_prefix(end == std::string_view::npos ? chunk.size() : end + 1);
    }
}

void ConsoleModel::clear()
{
    beginResetModel();
    m_lines.clear();
    m_shown.clear();
    endResetModel();
}

void ConsoleModel::append(const ConsoleLines& more)
{
    items::assertGuiThread();
    if (more.isEmpty())
        return;
    if (m_lines.size() + more.lines().size() > kMostLines) {
        beginResetModel();
        m_lines.insert(m_lines.end(), more.lines().begin(), more.lines().end());
        // An eighth of them at once, or every later line would cost a search of all.
        const std::size_t most = kMostLines - kMostLines / 8;
        if (m_lines.size() > most)
            m_lines.erase(m_lines.begin(), m_lines.end() - static_cast<std::ptrdiff_t>(most));
        find();
        endResetModel();
        return;
    }
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < more.lines().size(); ++i) {
        if (isShown(more.lines()[i]))
            shown.push_back(m_lines.size() + i);
    }
    m_lines.insert(m_lines.end(), more.lines().begin(), more.lines().end());
    if (shown.empty())
        return;
    beginInsertRows({}, rowCount(), rowCount() + static_cast<int>(shown.size()) - 1);
    m_shown.insert(m_shown.end(), shown.begin(), shown.end());
    endInsertRows();
}

void ConsoleModel::setFilter(const QString& text)
{
    beginResetModel();
    m_filter = text;
    find();
    endResetModel();
}

bool ConsoleModel::isShown(const ConsoleLine& line) const
{
    return m_filter.isEmpty() || line.text.contains(m_filter, Qt::CaseInsensitive);
}

void ConsoleModel::find()
{
    m_shown.clear();
    for (std::size_t i = 0; i < m_lines.size(); ++i) {
        if (isShown(m_lines[i]))
            m_shown.push_back(i);
    }
}

int ConsoleModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_shown.size());
}

QString ConsoleModel::text(int row) const
{
    const ConsoleLine& one = line(row);
    const QString time = one.wallMs > 0
        ? QDateTime::fromMSecsSinceEpoch(one.wallMs).toString(QStringLiteral("HH:mm:ss.zzz  "))
        : QString();
    return time + (one.isError ? QStringLiteral("err  ") : QString()) + one.text;
}

QVariant ConsoleModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    if (role == Qt::DisplayRole || role == Qt::AccessibleTextRole)
        return text(index.row());
    return role == Qt::ToolTipRole && line(index.row()).text.size() > 120 ? line(index.row()).text : QVariant();
}

}
