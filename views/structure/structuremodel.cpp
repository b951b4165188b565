// SPDX-License-Identifier: GPL-3.0-or-later
#include "structuremodel.h"

#include <set>

#include <telltale/common/kindtext.h>
#include <telltale/common/theme.h>
#include <telltale/items/guithread.h>
#include <telltale/items/moduletree.h>

namespace telltale::views {
namespace {

constexpr std::uint64_t kMostDigits = 99'999;

}

QString elementsText(std::uint64_t elements)
{
    return elements <= kMostDigits ? formatStep(static_cast<qint64>(elements))
                                   : formatShort(static_cast<double>(elements));
}

QString shapeText(const std::vector<std::int64_t>& shape)
{
    QStringList sizes;
    for (const std::int64_t size : shape)
        sizes.append(QString::number(size));
    return u'[' + sizes.join(QStringLiteral(", ")) + u']';
}

QString kindsText(const std::vector<Kind>& kinds)
{
    QStringList words;
    for (const Kind kind : kinds)
        words.append(kindText(kind));
    return words.join(QStringLiteral("; "));
}

void StructureModel::set(std::shared_ptr<const analysis::StructureFacts> facts)
{
    items::assertGuiThread();
    beginResetModel();
    m_facts = std::move(facts);
    m_rows.assign(m_facts ? m_facts->model.items().size() : 0, 0);
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        const auto& children = m_facts->model.items()[i].children;
        for (std::size_t row = 0; row < children.size(); ++row)
            m_rows[static_cast<std::size_t>(children[row])] = static_cast<int>(row);
    }
    endResetModel();
}

const analysis::StructureItem* StructureModel::item(const QModelIndex& index) const
{
    return index.isValid() && m_facts ? &m_facts->model.item(static_cast<int>(index.internalId())) : nullptr;
}

QModelIndex StructureModel::indexOf(const QString& name) const
{
    const std::string own = name == items::kWholeModel ? std::string() : name.toStdString();
    for (std::size_t i = 0; m_facts && i < m_rows.size(); ++i) {
        if (m_facts->model.items()[i].name == own)
            return createIndex(m_rows[i], 0, static_cast<quintptr>(i));
    }
    return {};
}

std::vector<Kind> StructureModel::kindsOf(const analysis::StructureItem& item) const
{
    std::set<Kind> kinds;
    const auto take = [&](const std::string& name) {
        const auto found = m_facts->collected.find(name);
        if (found != m_facts->collected.end())
            kinds.insert(found->second.begin(), found->second.end());
    };
    take(item.name.empty() ? std::string(items::kWholeModel.data()) : item.name);
    for (const int child : item.children) {
        if (m_facts->model.item(child).isParameter)
            take(m_facts->model.item(child).name);
    }
    return { kinds.begin(), kinds.end() };
}

std::vector<QString> StructureModel::namesBelow(const QModelIndex& index) const
{
    if (item(index)->parent < 0)
        return { items::kWholeModel };
    const auto& all = m_facts->model.items();
    const int own = static_cast<int>(index.internalId());
    std::vector<QString> names { QString::fromStdString(item(index)->name) };
    for (auto below = all.begin() + own + 1; below != all.end() && below->parent >= own; ++below)
        names.push_back(QString::fromStdString(below->name)); // each is behind the one that it is in
    return names;
}

QModelIndex StructureModel::index(int row, int column, const QModelIndex& parent) const
{
    if (!hasIndex(row, column, parent))
        return {};
    const int own = parent.isValid() ? item(parent)->children[static_cast<std::size_t>(row)] : 0;
    return createIndex(row, column, static_cast<quintptr>(own));
}

QModelIndex StructureModel::parent(const QModelIndex& child) const
{
    const auto* own = item(child);
    if (own == nullptr || own->parent < 0)
        return {};
    return createIndex(m_rows[static_cast<std::size_t>(own->parent)], 0, static_cast<quintptr>(own->parent));
}

int StructureModel::rowCount(const QModelIndex& parent) const
{
    if (!m_facts || m_facts->model.isEmpty() || parent.column() > 0)
        return 0;
    return parent.isValid() ? static_cast<int>(item(parent)->children.size()) : 1;
}

int StructureModel::columnCount(const QModelIndex&) const
{
    return ColumnCount;
}

QString StructureModel::text(const analysis::StructureItem& item, int column) const
{
    switch (column) {
    case NameColumn:
        return item.parent < 0 ? tr("(model)") : QString::fromStdString(item.segment(m_facts->model.item(item.parent)));
    case TypeColumn:
        return !item.isParameter   ? QString::fromStdString(item.type)
            : !item.shared.empty() ? tr("same as %1").arg(QString::fromStdString(item.shared))
            : item.isTrainable     ? tr("parameter")
                                   : tr("parameter, frozen");
    case ShapeColumn:
        return item.isParameter ? shapeText(item.shape) : QString();
    case ElementsColumn:
        return item.elements > 0 ? elementsText(item.elements) : QString();
    case DtypeColumn:
        return QString::fromStdString(item.dtype);
    case DeviceColumn:
        return QString::fromStdString(item.device);
    default:
        break;
    }
    const auto kinds = static_cast<int>(kindsOf(item).size());
    return kinds == 0 ? QString() : tr("%n kinds", nullptr, kinds);
}

QVariant StructureModel::data(const QModelIndex& index, int role) const
{
    const auto* own = item(index);
    if (own == nullptr)
        return {};
    const Theme& theme = Theme::current();
    switch (role) {
    case Qt::DisplayRole:
        return text(*own, index.column());
    case Qt::FontRole:
        return index.column() == ElementsColumn ? numberFont(12)
            : index.column() == CollectedColumn ? wordsFont(12)
                                                : codeFont(12);
    case Qt::ForegroundRole:
        return own->isParameter || index.column() != NameColumn ? theme.text2 : theme.text;
    case Qt::TextAlignmentRole:
        return static_cast<int>(Qt::AlignVCenter | (index.column() == ElementsColumn ? Qt::AlignRight : Qt::AlignLeft));
    case Qt::ToolTipRole:
        return index.column() == ElementsColumn
            ? tr("%1 parameters, %2 of them are trained")
                  .arg(formatStep(static_cast<qint64>(own->elements)), formatStep(static_cast<qint64>(own->trainable)))
            : index.column() == NameColumn      ? QString::fromStdString(own->name)
            : index.column() == CollectedColumn ? kindsText(kindsOf(*own))
                                                : text(*own, index.column());
    default:
        return {};
    }
}

QVariant StructureModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>(Qt::AlignVCenter | (section == ElementsColumn ? Qt::AlignRight : Qt::AlignLeft));
    if (role != Qt::DisplayRole)
        return {};
    const QStringList titles { tr("Module"), tr("Type"), tr("Shape"), tr("Parameters"), tr("Dtype"), tr("Device"),
        tr("Collected") };
    return titles.value(section);
}

StructureFilter::StructureFilter(QObject* parent)
    : QSortFilterProxyModel(parent)
{
    setRecursiveFilteringEnabled(true);
    setAutoAcceptChildRows(true);
}

void StructureFilter::setPattern(const QString& pattern)
{
    m_pattern = NamePattern(pattern.toStdString());
    invalidateFilter();
}

bool StructureFilter::filterAcceptsRow(int row, const QModelIndex& parent) const
{
    if (m_pattern.matchesAll())
        return true;
    const auto* model = static_cast<const StructureModel*>(sourceModel());
    const auto* item = model->item(model->index(row, 0, parent));
    return item != nullptr && m_pattern.matches(item->name);
}

}
