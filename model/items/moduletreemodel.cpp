// SPDX-License-Identifier: GPL-3.0-or-later
#include "moduletreemodel.h"

#include <QMimeData>
#include <QSet>

#include <telltale/items/tooltiptext.h>

namespace telltale::items {

ModuleTreeModel::ModuleTreeModel(QObject* parent)
    : QAbstractItemModel(parent)
{
}

template <typename Change> void ModuleTreeModel::relayOut(Change change)
{
    Q_EMIT layoutAboutToBeChanged();
    const QModelIndexList before = persistentIndexList();
    QStringList paths;
    for (const QModelIndex& index : before)
        paths.append(pathOf(index));
    change();
    QModelIndexList after;
    for (qsizetype i = 0; i < before.size(); ++i) {
        const int node = m_tree.find(paths[i]);
        const bool there = node > 0 && m_tree.node(node).shown;
        after.append(there ? indexOfNode(node, before[i].column()) : QModelIndex());
    }
    changePersistentIndexList(before, after);
    Q_EMIT layoutChanged();
}

void ModuleTreeModel::setCatalog(const std::shared_ptr<const store::Catalog>& catalog)
{
    const auto rebuild = [&] {
        m_tree = catalog ? ModuleTree(*catalog) : ModuleTree();
        m_tree.filter(m_pattern);
        m_tree.setWorst(m_worst);
    };
    const std::string key = catalog ? catalog->storeId + '\n' + catalog->runKey : std::string();
    if (catalog && key == m_runKey && m_tree.size() > 1) {
        relayOut(rebuild);
        return;
    }
    beginResetModel();
    m_runKey = key;
    m_worst.clear();
    rebuild();
    endResetModel();
}

void ModuleTreeModel::setFilter(const QString& text)
{
    if (text == m_filter)
        return;
    relayOut([&] {
        m_filter = text;
        m_pattern = NamePattern(text.toStdString());
        m_tree.filter(m_pattern);
    });
}

void ModuleTreeModel::setWorst(WorstByName worst)
{
    m_worst = std::move(worst);
    m_tree.setWorst(m_worst);
    // One signal for each level of siblings would be thousands; the views that show the column repaint whole anyway.
    if (const int rows = rowCount(); rows > 0)
        Q_EMIT dataChanged(index(0, WorstColumn), index(rows - 1, WorstColumn), { WorstRole, Qt::ToolTipRole });
}

int ModuleTreeModel::nodeOf(const QModelIndex& index) const
{
    return index.isValid() ? static_cast<int>(index.internalId()) : 0;
}

QModelIndex ModuleTreeModel::indexOfNode(int node, int column) const
{
    return node <= 0 ? QModelIndex() : createIndex(m_tree.node(node).row, column, static_cast<quintptr>(node));
}

QModelIndex ModuleTreeModel::indexOf(const QString& path) const
{
    const int node = m_tree.find(path);
    return node > 0 && m_tree.node(node).shown ? indexOfNode(node, ModuleColumn) : QModelIndex();
}

QString ModuleTreeModel::pathOf(const QModelIndex& index) const
{
    return m_tree.node(nodeOf(index)).path;
}

std::vector<QString> ModuleTreeModel::namesBelow(const QModelIndex& index) const
{
    return m_tree.namesBelow(nodeOf(index));
}

QModelIndex ModuleTreeModel::index(int row, int column, const QModelIndex& parent) const
{
    if (!hasIndex(row, column, parent))
        return {};
    return createIndex(
        row, column, static_cast<quintptr>(m_tree.node(nodeOf(parent)).shownChildren[static_cast<std::size_t>(row)]));
}

QModelIndex ModuleTreeModel::parent(const QModelIndex& child) const
{
    return child.isValid() ? indexOfNode(m_tree.node(nodeOf(child)).parent, 0) : QModelIndex();
}

int ModuleTreeModel::rowCount(const QModelIndex& parent) const
{
    return parent.column() > 0 ? 0 : static_cast<int>(m_tree.node(nodeOf(parent)).shownChildren.size());
}

int ModuleTreeModel::columnCount(const QModelIndex&) const
{
    return ColumnCount;
}

QVariant ModuleTreeModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const ModuleTree::Node& node = m_tree.node(nodeOf(index));
    switch (role) {
    case Qt::DisplayRole:
        return index.column() == ModuleColumn ? node.segment : QVariant();
    case Qt::ToolTipRole:
        if (node.worst.isNonFinite() && node.worst.rank.value >= 0)
            return toolTipText(tr("%1, not finite on rank %2").arg(node.path).arg(node.worst.rank.value));
        return toolTipText(node.path);
    case Qt::AccessibleTextRole:
        if (index.column() == ModuleColumn)
            return node.path;
        if (!node.worst.known)
            return tr("nothing measured");
        if (node.worst.isNonFinite())
            return node.worst.isSource ? tr("first non-finite value") : tr("non-finite, downstream");
        return tr("at most %1 deviations from what came before").arg(node.worst.deviation, 0, 'g', 3);
    case KeyRole:
        return node.path;
    case IsGroupRole:
        return !node.children.empty();
    case WorstRole:
        return QVariant::fromValue(node.worst);
    default:
        return {};
    }
}

QVariant ModuleTreeModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    return section == ModuleColumn ? tr("Module") : tr("Worst deviation");
}

Qt::ItemFlags ModuleTreeModel::flags(const QModelIndex& index) const
{
    const Qt::ItemFlags base = QAbstractItemModel::flags(index);
    return index.isValid() ? base | Qt::ItemIsDragEnabled : base;
}

QStringList ModuleTreeModel::mimeTypes() const
{
    return { QString::fromLatin1(kMimeType), QStringLiteral("text/plain") };
}

QMimeData* ModuleTreeModel::mimeData(const QModelIndexList& indexes) const
{
    QStringList names;
    QSet<QString> seen;
    for (const QModelIndex& index : indexes) {
        for (const QString& name : namesBelow(index)) {
            if (!seen.contains(name))
                names.append(name);
            seen.insert(name);
        }
    }
    auto* data = new QMimeData; // taken over by the caller, as QAbstractItemModel asks
    data->setData(QString::fromLatin1(kMimeType), names.join(u'\n').toUtf8());
    data->setText(names.join(u'\n'));
    return data;
}

}
