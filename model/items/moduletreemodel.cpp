// SPDX-License-Identifier: GPL-3.0-or-later
#include "moduletreemodel.h"

#include <utility>

#include <QElapsedTimer>
#include <QMimeData>
#include <QSet>

#include <telltale/items/tooltiptext.h>

#include <telltale/items/guithread.h>
#include <telltale/items/numbertext.h>
#include <telltale/items/shownname.h>

namespace telltale::items {
namespace {

constexpr qint64 kTurnMs = 16; ///< a frame

}

ModuleTreeModel::ModuleTreeModel(QObject* parent)
    : QAbstractItemModel(parent)
{
    m_nextSlice.setSingleShot(true);
    connect(&m_nextSlice, &QTimer::timeout, this, &ModuleTreeModel::takeSlices);
}

void ModuleTreeModel::setCatalog(const std::shared_ptr<const store::Catalog>& catalog)
{
    assertGuiThread();
    const std::string key = catalog ? catalog->storeId + '\n' + catalog->runKey : std::string();
    m_rows = catalog ? catalog->rows : nullptr;
    if (!m_rows || key != m_runKey || m_tree.size() == 1 || !m_tree.isPartOf(*m_rows)) {
        beginResetModel();
        m_runKey = key;
        m_tree = ModuleTree();
        endResetModel();
    }
    takeSlice();
}

template <typename Change> void ModuleTreeModel::layOut(Change change)
{
    Q_EMIT layoutAboutToBeChanged();
    const QModelIndexList before = persistentIndexList();
    change();
    QModelIndexList after;
    for (const QModelIndex& index : before) {
        const int node = nodeOf(index);
        after.append(m_tree.node(node).shown ? indexOfNode(node, index.column()) : QModelIndex());
    }
    changePersistentIndexList(before, after);
    Q_EMIT layoutChanged();
}

/// More than one where they are quick: between turns the views paint, which takes longer than a slice.
void ModuleTreeModel::takeSlices()
{
    QElapsedTimer clock;
    clock.start();
    do {
        takeSlice();
    } while (!m_tree.isWhole() && clock.elapsed() < kTurnMs);
}

void ModuleTreeModel::takeSlice()
{
    const bool isSorted = m_isByWorst && m_rows && !m_tree.has(*m_rows);
    if (isSorted)
        layOut([&] { m_tree.sortByWorst(false); }); // it grows in model order
    const auto insertions = m_rows ? m_tree.append(m_rows, kSlice, m_pattern) : std::vector<ModuleTree::Insertion>();
    for (const ModuleTree::Insertion& insertion : insertions) {
        const QModelIndex parent = indexOfNode(insertion.parent, ModuleColumn);
        const bool wasLeaf = rowCount(parent) == 0;
        beginInsertRows(parent, insertion.row, insertion.row + static_cast<int>(insertion.nodes.size()) - 1);
        m_tree.insert(insertion);
        endInsertRows();
        if (wasLeaf && parent.isValid())
            Q_EMIT dataChanged(parent, parent, { IsGroupRole });
    }
    if (m_tree.isWhole() && m_tree.wantsOrder())
        layOut([&] { m_tree.arrange(); });
    if (isSorted && m_tree.isWhole())
        sortByWorst(true);
    if (m_tree.isWhole())
        m_nextSlice.stop();
    else
        m_nextSlice.start(0);
    Q_EMIT grown();
}

void ModuleTreeModel::setFilter(const QString& text)
{
    if (text == m_filter)
        return;
    layOut([&] {
        m_filter = text;
        m_pattern = NamePattern(text.toStdString());
        m_tree.filter(m_pattern);
    });
}

void ModuleTreeModel::sortByWorst(bool on)
{
    m_isByWorst = on;
    layOut([&] { m_tree.sortByWorst(on && m_tree.isWhole()); });
}

void ModuleTreeModel::setWorst(std::vector<WorstValue> worst)
{
    m_loudest = 0;
    for (const WorstValue& one : worst)
        m_loudest = one.known ? std::max(m_loudest, one.deviation) : m_loudest;
    m_tree.setWorst(std::move(worst));
    if (m_isByWorst && m_tree.isWhole())
        sortByWorst(true);
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
    return m_tree.path(nodeOf(index));
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
    const int node = nodeOf(index);
    switch (role) {
    case Qt::DisplayRole:
        if (index.column() != ModuleColumn)
            return {};
        return m_tree.isWholeModel(node) ? tr("(model)") : shownName(m_tree.segment(node));
    case Qt::ToolTipRole:
        if (const WorstValue worst = m_tree.worst(node); worst.isNonFinite() && worst.rank.value >= 0)
            return toolTipText(tr("%1, not finite on rank %2").arg(m_tree.path(node)).arg(worst.rank.value));
        return toolTipText(m_tree.path(node));
    case Qt::AccessibleTextRole:
        if (index.column() == ModuleColumn)
            return shownName(m_tree.path(node));
        if (const WorstValue worst = m_tree.worst(node); !worst.known)
            return tr("nothing measured");
        else if (worst.isNonFinite())
            return worst.isSource ? tr("first non-finite value") : tr("non-finite, downstream");
        else
            return tr("at most %1 deviations from what came before").arg(formatValue(worst.deviation, 2));
    case KeyRole:
        return m_tree.path(node);
    case IsGroupRole:
        return m_tree.node(node).isGroup();
    case WorstRole:
        return QVariant::fromValue(m_tree.worst(node));
    default:
        return {};
    }
}

QVariant ModuleTreeModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::ToolTipRole && section == WorstColumn)
        return toolTipText(
            tr("The largest deviation in the run of the kind and statistic that are shown: how far a value left the "
               "median of the eight before it, in their spread or, where it is larger, in the usual one of the run so "
               "far: a live run that gets noisier makes what was seen before smaller. The bar of the largest in the "
               "model is full, and equal factors are equal lengths."));
    if (role != Qt::DisplayRole)
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
