// SPDX-License-Identifier: GPL-3.0-or-later
#include "facttreemodel.h"

#include <limits>

#include <telltale/common/theme.h>
#include <telltale/items/guithread.h>
#include <telltale/items/numbertext.h>

namespace telltale::views {
namespace {

constexpr quintptr kGroup = ~quintptr { 0 }; ///< internal id of a group's row; a fact's is the number of its group
constexpr quint64 kGrouped = 100'000; ///< from here on digits stand in groups; what is shorter may be a port or a year
constexpr double kFactGiB = 1024.0 * 1024 * 1024;

/// A whole number as people read it; in GiB, as the plots of the system, what is so many bytes.
QString shownValue(const std::string& name, const QString& text)
{
    bool isWhole = false;
    const quint64 number = text.toULongLong(&isWhole);
    if (!isWhole || number < kGrouped)
        return text;
    if (!QString::fromStdString(name).endsWith(QLatin1String("_bytes")))
        return number <= static_cast<quint64>(std::numeric_limits<qint64>::max())
            ? items::formatStep(static_cast<qint64>(number))
            : text;
    const double size = static_cast<double>(number) / kFactGiB;
    return size < 0.1 ? items::formatBytes(number) : items::formatValue(size) + QStringLiteral(" GiB");
}

}

void FactTreeModel::set(std::vector<Group> groups)
{
    items::assertGuiThread();
    if (groups == m_groups)
        return;
    beginResetModel();
    m_groups = std::move(groups);
    endResetModel();
}

QModelIndex FactTreeModel::index(int row, int column, const QModelIndex& parent) const
{
    if (!hasIndex(row, column, parent))
        return {};
    return createIndex(row, column, parent.isValid() ? static_cast<quintptr>(parent.row()) : kGroup);
}

QModelIndex FactTreeModel::parent(const QModelIndex& child) const
{
    if (!child.isValid() || child.internalId() == kGroup)
        return {};
    return createIndex(static_cast<int>(child.internalId()), 0, kGroup);
}

int FactTreeModel::rowCount(const QModelIndex& parent) const
{
    if (!parent.isValid())
        return static_cast<int>(m_groups.size());
    if (parent.internalId() != kGroup || parent.column() != 0)
        return 0;
    return static_cast<int>(m_groups[static_cast<std::size_t>(parent.row())].facts.size());
}

int FactTreeModel::columnCount(const QModelIndex&) const
{
    return ColumnCount;
}

QVariant FactTreeModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const bool isGroup = index.internalId() == kGroup;
    const Group& group
        = m_groups[static_cast<std::size_t>(isGroup ? index.row() : static_cast<int>(index.internalId()))];
    if (role == Qt::FontRole)
        return isGroup ? wordsFont(12, 600) : index.column() == NameColumn ? wordsFont(12) : codeFont(12);
    if (isGroup) {
        if ((role != Qt::DisplayRole && role != kExactRole) || index.column() != NameColumn)
            return {};
        return QStringLiteral("%1  %2").arg(group.title).arg(group.facts.size());
    }
    const analysis::Fact& fact = group.facts[static_cast<std::size_t>(index.row())];
    const QString text = QString::fromStdString(index.column() == NameColumn ? fact.name : fact.value);
    if (role == Qt::ForegroundRole && index.column() == NameColumn)
        return Theme::current().text2;
    // Rich text in a value is text.
    if (role == Qt::ToolTipRole)
        return QStringLiteral("<p style='white-space:pre-wrap'>%1</p>").arg(text.left(2000).toHtmlEscaped());
    if (role == kExactRole)
        return text;
    if (role != Qt::DisplayRole)
        return {};
    return QString(index.column() == ValueColumn ? shownValue(fact.name, text) : text).replace(u'\n', QChar(0x23CE));
}

QVariant FactTreeModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    return section == NameColumn ? tr("Name") : tr("Value");
}

}
