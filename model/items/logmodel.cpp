// SPDX-License-Identifier: GPL-3.0-or-later
#include "logmodel.h"

#include <algorithm>
#include <unordered_map>

#include <QDateTime>

#include <telltale/items/tooltiptext.h>

namespace telltale::items {

namespace {

constexpr std::size_t kMostOwn = 1000;

QString text(const std::string& s)
{
    return QString::fromStdString(s);
}

int severityOf(const store::EventInfo& event)
{
    if (event.kind == "anomaly" || event.kind == "damage")
        return 2;
    return event.kind == "drop" || event.kind == "gap" || event.kind == "config_problem" ? 1 : 0;
}

}

LogModel::LogModel(QObject* parent)
    : QAbstractTableModel(parent)
{
}

void LogModel::setRun(const store::Catalog* catalog)
{
    std::vector<Entry> entries;
    if (catalog) {
        for (const store::EventInfo& event : catalog->events)
            entries.push_back({ event.wallNs, event.step.value, event.rank.value, text(event.kind), text(event.text),
                severityOf(event) });
        std::unordered_map<SourceId, int> ranks;
        for (const store::SourceInfo& source : catalog->sources)
            ranks.emplace(source.id, source.rank.value);
        for (const store::DroppedInfo& drop : catalog->dropped) {
            const auto rank = ranks.find(drop.source);
            const QString what = drop.steps.isEmpty()
                ? tr("%1 items were not stored: %2").arg(drop.items).arg(text(drop.reason))
                : tr("%1 items of steps %2 to %3 were not stored: %4")
                      .arg(drop.items)
                      .arg(drop.steps.first.value)
                      .arg(drop.steps.last.value)
                      .arg(text(drop.reason));
            entries.push_back({ 0, drop.steps.isEmpty() ? -1 : drop.steps.first.value,
                rank == ranks.end() ? -1 : rank->second, QStringLiteral("drop"), what, 1 });
        }
        for (const std::string& damage : catalog->damage)
            entries.push_back({ 0, -1, -1, QStringLiteral("damage"), text(damage), 2 });
    }
    const auto same = [](const Entry& a, const Entry& b) {
        return a.wallNs == b.wallNs && a.step == b.step && a.rank == b.rank && a.kind == b.kind && a.text == b.text;
    };
    if (std::equal(entries.begin(), entries.end(), m_run.begin(), m_run.end(), same))
        return;
    m_run = std::move(entries);
    rebuild();
}

bool LogModel::isOfRun(const QString& sentence) const
{
    return std::any_of(m_run.begin(), m_run.end(), [&](const Entry& entry) { return entry.text == sentence; });
}

void LogModel::add(Entry entry)
{
    if (entry.wallNs == 0)
        entry.wallNs = QDateTime::currentMSecsSinceEpoch() * 1'000'000;
    m_own.push_back(std::move(entry));
    if (m_own.size() > kMostOwn)
        m_own.pop_front();
    rebuild();
}

void LogModel::rebuild()
{
    beginResetModel();
    m_rows.assign(m_run.begin(), m_run.end());
    m_rows.insert(m_rows.end(), m_own.begin(), m_own.end());
    std::stable_sort(m_rows.begin(), m_rows.end(), [](const Entry& a, const Entry& b) { return a.wallNs < b.wallNs; });
    endResetModel();
}

QString LogModel::cell(const Entry& entry, int column) const
{
    switch (column) {
    case TimeColumn:
        return entry.wallNs == 0
            ? QString()
            : QDateTime::fromMSecsSinceEpoch(entry.wallNs / 1'000'000).toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"));
    case StepColumn:
        return entry.step < 0 ? QString() : QString::number(entry.step);
    case RankColumn:
        return entry.rank < 0 ? QString() : QString::number(entry.rank);
    case KindColumn:
        return entry.kind;
    default:
        return entry.text;
    }
}

QString LogModel::line(int row) const
{
    QStringList cells;
    for (int column = 0; column < ColumnCount; ++column)
        cells.append(cell(entry(row), column));
    return cells.join(u'\t');
}

int LogModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int LogModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant LogModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const Entry& one = entry(index.row());
    switch (role) {
    case Qt::DisplayRole:
        return cell(one, index.column());
    case Qt::ToolTipRole:
        return toolTipText(one.text);
    case Qt::TextAlignmentRole: {
        const bool isNumber = index.column() == StepColumn || index.column() == RankColumn;
        return static_cast<int>(Qt::AlignVCenter | (isNumber ? Qt::AlignRight : Qt::AlignLeft));
    }
    case SeverityRole:
        return one.severity;
    case KeyRole:
        return line(index.row());
    default:
        return {};
    }
}

QVariant LogModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>(
            Qt::AlignVCenter | (section == StepColumn || section == RankColumn ? Qt::AlignRight : Qt::AlignLeft));
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case TimeColumn:
        return tr("Time");
    case StepColumn:
        return tr("Step");
    case RankColumn:
        return tr("Rank");
    case KindColumn:
        return tr("What");
    default:
        return tr("Message");
    }
}

}
