// SPDX-License-Identifier: GPL-3.0-or-later
#include "commtable.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <QHeaderView>
#include <QPainter>
#include <QScopedValueRollback>
#include <QSortFilterProxyModel>
#include <QStyledItemDelegate>

#include <telltale/common/glyphs.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/tableshape.h>
#include <telltale/common/theme.h>
#include <telltale/items/guithread.h>
#include <telltale/items/tooltiptext.h>

namespace telltale::views {

using series::CellState;
using series::CellValue;

namespace {

constexpr int kRowHeight = 26;

/// A row of the design's height; what is not finite keeps its color where it is selected.
class CommDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const Theme& theme = Theme::current();
        const bool isSelected = option.state.testFlag(QStyle::State_Selected);
        if (isSelected)
            painter->fillRect(option.rect, theme.selection);
        const QVariant given = index.data(Qt::ForegroundRole);
        const QColor color = given.isValid() ? given.value<QColor>() : theme.text;
        const QRect cell = wordsOf(option.rect, index);
        painter->setFont(index.data(Qt::FontRole).value<QFont>());
        painter->setPen(isSelected ? theme.onSelection(color) : color);
        const auto mode = index.column() == CommModel::SiteColumn ? Qt::ElideLeft : Qt::ElideRight;
        painter->drawText(cell, index.data(Qt::TextAlignmentRole).toInt(),
            painter->fontMetrics().elidedText(index.data().toString(), mode, cell.width()));
    }
    QSize sizeHint(const QStyleOptionViewItem& /*option*/, const QModelIndex& index) const override
    {
        const QFontMetrics metrics(index.data(Qt::FontRole).value<QFont>());
        const QRect cell(0, 0, metrics.horizontalAdvance(index.data().toString()), kRowHeight);
        return { 2 * cell.width() - wordsOf(cell, index).width() + 1, kRowHeight };
    }
};

QString nothing()
{
    return QStringLiteral("–");
}

}

void CommModel::set(std::shared_ptr<const CommPicture> picture)
{
    items::assertGuiThread();
    beginResetModel();
    m_picture = std::move(picture);
    endResetModel();
}

int CommModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() || !m_picture ? 0 : static_cast<int>(m_picture->rows.size());
}

int CommModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QString CommModel::text(const CommRow& row, Column column) const
{
    const auto number = [](const CellValue& cell, const auto& words) {
        return cell.state == CellState::Value ? words(cell.value)
            : series::isNonFinite(cell.state) ? glyphs::word(cell.state)
                                              : nothing();
    };
    switch (column) {
    case OpColumn:
        return row.site.op;
    case SiteColumn:
        return row.site.place.isEmpty() ? nothing() : m_isBrief ? row.site.shortCall() : row.site.call();
    case GroupColumn:
        return row.site.groups.isEmpty() ? nothing() : row.site.groups.join(QStringLiteral(", "));
    case TypeColumn:
        return row.site.dtypes.isEmpty() ? nothing()
                                         : row.site.dtypes.join(QStringLiteral(", ")).remove(QStringLiteral("torch."));
    case CallsColumn:
        return number(
            row.metric(CommMetric::Calls), [](double value) { return formatStep(static_cast<qint64>(value)); });
    case BytesColumn:
        return number(
            row.metric(CommMetric::Bytes), [](double value) { return formatBytes(static_cast<quint64>(value)); });
    case TimeColumn:
        return number(
            row.metric(CommMetric::Seconds), [](double value) { return tr("%1 ms").arg(formatValue(value * 1000)); });
    case BeforeColumn:
        return number(row.before, [](double value) { return formatValue(value); });
    case AfterColumn:
        return number(row.after, [](double value) { return formatValue(value); });
    case ColumnCount:
        break;
    }
    return {};
}

QVariant CommModel::sortKey(const CommRow& row, Column column) const
{
    // What is not finite is above every number, and what is not there below.
    const auto keyOf = [](const CellValue& cell) {
        return series::isNonFinite(cell.state) ? HUGE_VAL : cell.state == CellState::Value ? cell.value : -HUGE_VAL;
    };
    switch (column) {
    case CallsColumn:
        return keyOf(row.metric(CommMetric::Calls));
    case BytesColumn:
        return keyOf(row.metric(CommMetric::Bytes));
    case TimeColumn:
        return keyOf(row.metric(CommMetric::Seconds));
    case BeforeColumn:
        return keyOf(row.before);
    case AfterColumn:
        return keyOf(row.after);
    default:
        return text(row, column);
    }
}

QVariant CommModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || !m_picture)
        return {};
    const CommRow& row = m_picture->rows[static_cast<std::size_t>(index.row())];
    const auto column = static_cast<Column>(index.column());
    const CellState state = column == BeforeColumn ? row.before.state
        : column == AfterColumn                    ? row.after.state
                                                   : CellState::Value;
    switch (role) {
    case Qt::DisplayRole:
        return text(row, column);
    case Qt::ToolTipRole:
        if (column == SiteColumn)
            return items::toolTipText(row.site.stack.isEmpty() ? row.site.call() : row.site.stack.front());
        if (column == OpColumn)
            return items::toolTipText(text(row, OpColumn) + QLatin1Char('\n') + text(row, GroupColumn)
                + QLatin1Char('\n') + text(row, TypeColumn));
        return items::toolTipText(text(row, column));
    case Qt::FontRole:
        return column == SiteColumn || column == OpColumn ? codeFont(12)
            : column >= CallsColumn                       ? numberFont(12)
                                                          : wordsFont(12);
    case Qt::TextAlignmentRole:
        return static_cast<int>((column >= CallsColumn ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::ForegroundRole:
        if (series::isNonFinite(state))
            return Theme::current().criticalText;
        return text(row, column) == nothing() ? Theme::current().text3 : QVariant();
    case kSortRole:
        return sortKey(row, column);
    case kStateRole:
        return static_cast<int>(state);
    default:
        return {};
    }
}

QString CommModel::hintOf(Column column)
{
    switch (column) {
    case GroupColumn:
        return tr("the process group, and how many ranks are in it");
    case BytesColumn:
        return tr("of all tensors that the calls of this step handed over, sent and received ones");
    case TimeColumn:
        return tr("on the host's clock, from the call until the caller had waited for the result, whatever it did in "
                  "between; on a device the wait is over when it is queued, not when the data have come");
    case BeforeColumn:
    case AfterColumn:
        return tr(
            "over all calls of the step: the sum of norms, the mean of means, the smallest and the largest value");
    default:
        return {};
    }
}

QVariant CommModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>((section >= CallsColumn ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role == Qt::ToolTipRole)
        return items::toolTipText(hintOf(static_cast<Column>(section)));
    if (role != Qt::DisplayRole)
        return {};
    const QString stat = m_picture ? statText(m_picture->stat) : QString();
    switch (static_cast<Column>(section)) {
    case OpColumn:
        return tr("Operation");
    case SiteColumn:
        return tr("Call site");
    case GroupColumn:
        return tr("Group");
    case TypeColumn:
        return tr("Type");
    case CallsColumn:
        return tr("Calls");
    case BytesColumn:
        return tr("Bytes");
    case TimeColumn:
        return tr("Time");
    case BeforeColumn:
        return tr("Before: %1").arg(stat);
    case AfterColumn:
        return tr("After: %1").arg(stat);
    case ColumnCount:
        break;
    }
    return {};
}

CommTable::CommTable(QWidget* parent)
    : QTreeView(parent)
    , m_model(new CommModel(this))
    , m_sorted(new QSortFilterProxyModel(this))
{
    m_sorted->setSourceModel(m_model);
    m_sorted->setSortRole(CommModel::kSortRole);
    setModel(m_sorted);
    setItemDelegate(new CommDelegate(this));
    setRootIsDecorated(false);
    setUniformRowHeights(true);
    setAllColumnsShowFocus(true);
    setFrameShape(QFrame::NoFrame);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    header()->setStretchLastSection(false);
    header()->setSectionsMovable(false);
    // In the order of the calls until somebody sorts.
    header()->setSortIndicator(-1, Qt::AscendingOrder);
    setSortingEnabled(true);
}

void CommTable::setPicture(std::shared_ptr<const CommPicture> picture)
{
    const QString chosen = current();
    // The heads name the statistic.
    const bool isOther = !m_model->picture() || m_model->picture()->rows.empty() || !picture
        || m_model->picture()->stat != picture->stat;
    {
        const QScopedValueRollback<bool> guard(m_isSetting, true);
        m_model->set(std::move(picture));
    }
    choose(chosen);
    bool isCut = false; // what a person made of the columns stays until then
    for (int column = CommModel::CallsColumn; column < CommModel::ColumnCount; ++column)
        isCut = isCut || sizeHintForColumn(column) > columnWidth(column);
    if (isOther || isCut)
        fitColumns(isOther);
}

QString CommTable::current() const
{
    const QModelIndex index = m_sorted->mapToSource(currentIndex());
    return index.isValid() ? m_model->picture()->rows[static_cast<std::size_t>(index.row())].site.name : QString();
}

void CommTable::choose(const QString& site)
{
    const QScopedValueRollback<bool> guard(m_isSetting, true);
    for (int row = 0; row < m_model->rowCount(); ++row) {
        if (m_model->picture()->rows[static_cast<std::size_t>(row)].site.name == site) {
            setCurrentIndex(m_sorted->mapFromSource(m_model->index(row, 0)));
            return;
        }
    }
    setCurrentIndex({});
}

int CommTable::wantedHeight() const
{
    return header()->sizeHint().height() + m_model->rowCount() * kRowHeight + 2 * frameWidth() + 2;
}

std::vector<int> CommTable::order() const
{
    std::vector<int> rows;
    for (int row = 0; row < m_sorted->rowCount(); ++row)
        rows.push_back(m_sorted->mapToSource(m_sorted->index(row, 0)).row());
    return rows;
}

void CommTable::currentChanged(const QModelIndex& current, const QModelIndex& previous)
{
    QTreeView::currentChanged(current, previous);
    if (!m_isSetting && current.isValid())
        Q_EMIT siteChosen(this->current());
}

void CommTable::resizeEvent(QResizeEvent* event)
{
    QTreeView::resizeEvent(event);
    fitColumns(true);
}

/// Every column as wide as what is in it, and what is left for where the call is; where that is too little, columns go
/// that the tool tip of the operation has, too. `mayShrink`: else columns stand still from step to step, but for one
/// whose number got wider.
void CommTable::fitColumns(bool mayShrink)
{
    constexpr int kEnoughForASite = 160;
    constexpr std::array kMayGo { CommModel::TypeColumn, CommModel::GroupColumn };
    for (const int column : kMayGo)
        setColumnHidden(column, false);
    int left = viewport()->width();
    for (int column = 0; column < CommModel::ColumnCount; ++column) {
        if (column == CommModel::SiteColumn)
            continue;
        const int had = mayShrink ? 0 : columnWidth(column);
        resizeColumnToContents(column);
        if (columnWidth(column) < had)
            setColumnWidth(column, had);
        left -= columnWidth(column);
    }
    m_model->setBrief(false);
    const int whole = sizeHintForColumn(CommModel::SiteColumn);
    const int least = std::min(kEnoughForASite, whole);
    for (const int column : kMayGo) {
        if (left >= least)
            break;
        left += columnWidth(column);
        setColumnHidden(column, true);
    }
    setColumnWidth(CommModel::SiteColumn, std::max(least, left));
    m_model->setBrief(whole > std::max(least, left)); // all in one form
}

}
