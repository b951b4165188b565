// SPDX-License-Identifier: GPL-3.0-or-later
#include "modulesdelegate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <QHeaderView>
#include <QHelpEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>
#include <QTreeView>

#include <telltale/common/glyphs.h>
#include <telltale/common/labels.h>
#include <telltale/common/theme.h>
#include <telltale/items/moduletreemodel.h>
#include <telltale/items/tooltiptext.h>

namespace telltale::views {

namespace {

constexpr int kBarHeight = 8;
constexpr int kFlag = 14;

void paintBar(QPainter* painter, const QRectF& area, const items::WorstValue& worst, double loudest)
{
    const Theme& theme = Theme::current();
    const double share = worst.isNonFinite() ? 1.0 : ModulesDelegate::shareOf(worst.deviation, loudest);
    const QRectF bar(area.left(), area.center().y() - kBarHeight / 2.0, area.width() * share, kBarHeight);
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(Qt::NoPen);
    if (!worst.isNonFinite() || worst.isSource) {
        painter->setBrush(worst.isNonFinite() ? theme.criticalMark : theme.strong);
        painter->drawRoundedRect(bar, 1.5, 1.5);
        return;
    }
    QPainterPath shape;
    shape.addRoundedRect(bar.adjusted(0.5, 0.5, -0.5, -0.5), 1.5, 1.5);
    painter->setPen(QPen(theme.criticalMark, 1));
    painter->setBrush(Qt::NoBrush);
    painter->drawPath(shape);
    painter->setClipPath(shape, Qt::IntersectClip);
    for (double x = bar.left() - kBarHeight; x < bar.right(); x += 4)
        painter->drawLine(QPointF(x, bar.bottom()), QPointF(x + kBarHeight, bar.top()));
}

/// What stands at the bar: which sort of non-finite, else how many times its usual spread it left its median.
QString valueText(const items::WorstValue& worst)
{
    return worst.isNonFinite() ? glyphs::word(worst.nonFinite) : formatValue(worst.deviation, 2);
}

}

/// Deviations differ by factors, so equal factors are equal lengths. One spread away is nothing.
double ModulesDelegate::shareOf(double deviation, double loudest)
{
    constexpr double kStub = 0.04;
    return loudest <= 1 ? kStub : std::clamp(std::log(std::max(deviation, 1.0)) / std::log(loudest), kStub, 1.0);
}

ModulesDelegate::ModulesDelegate(QTreeView* tree)
    : QStyledItemDelegate(tree)
{
    const auto forget = [this] { m_sites.clear(); };
    connect(tree->header(), &QHeaderView::sectionResized, this, forget);
    const QAbstractItemModel* model = tree->model();
    connect(model, &QAbstractItemModel::rowsInserted, this, forget);
    connect(model, &QAbstractItemModel::rowsRemoved, this, forget);
    connect(model, &QAbstractItemModel::layoutChanged, this, forget);
    connect(model, &QAbstractItemModel::modelReset, this, forget);
}

bool ModulesDelegate::isSource(const QModelIndex& named, const QTreeView* tree) const
{
    const QString path = named.data(items::KeyRole).toString();
    const bool isClosed = tree && !tree->isExpanded(named);
    return !m_source.isEmpty() && (path == m_source || (isClosed && m_source.startsWith(path + u'.')));
}

QString ModulesDelegate::flagText(const QModelIndex& named, const QTreeView* tree) const
{
    return isSource(named, tree) ? tr("The shown incident began here: %1").arg(m_source) : QString();
}

bool ModulesDelegate::helpEvent(
    QHelpEvent* event, QAbstractItemView* view, const QStyleOptionViewItem& option, const QModelIndex& index)
{
    const QModelIndex named = index.siblingAtColumn(items::ModuleTreeModel::ModuleColumn);
    // Without a value the name has all of the row, and the flag stands at its end.
    const bool hasWhole = !index.siblingAtColumn(items::ModuleTreeModel::WorstColumn)
                               .data(items::WorstRole)
                               .value<items::WorstValue>()
                               .known;
    const QString flag = index == named || hasWhole ? flagText(named, qobject_cast<const QTreeView*>(view)) : QString();
    if (event->type() != QEvent::ToolTip || flag.isEmpty())
        return QStyledItemDelegate::helpEvent(event, view, option, index);
    QToolTip::showText(
        event->globalPos(), items::toolTipText(named.data(items::KeyRole).toString() + u'\n' + flag), view);
    return true;
}

QString ModulesDelegate::fittedName(const QModelIndex& named, const QFontMetrics& metrics, int width) const
{
    const QString name = named.data().toString();
    if (!name.contains(u':') || metrics.horizontalAdvance(name) <= width)
        return metrics.elidedText(name, Qt::ElideRight, width);
    QHash<QString, QString>& fitted = m_sites[{ named.parent(), width }];
    if (fitted.isEmpty()) {
        std::map<QString, std::vector<QString>> alike; // only what ends alike could read the same
        for (int row = 0; row < named.model()->rowCount(named.parent()); ++row) {
            const QString site = named.siblingAtRow(row).data().toString();
            if (site.contains(u':'))
                alike[site.section(u' ', -1)].push_back(site);
        }
        for (const auto& [end, sites] : alike) {
            const std::vector<QString> texts = fitLabels(sites, metrics, width);
            for (std::size_t i = 0; i < sites.size(); ++i)
                fitted.insert(sites[i], texts[i]);
        }
    }
    return fitted.value(name);
}

void ModulesDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    const Theme& theme = Theme::current();
    if (option.state.testFlag(QStyle::State_Selected))
        painter->fillRect(option.rect, theme.selection);
    else if (option.state.testFlag(QStyle::State_MouseOver))
        painter->fillRect(option.rect, theme.hover);
    painter->save();
    const QModelIndex named = index.siblingAtColumn(items::ModuleTreeModel::ModuleColumn);
    const auto worst
        = index.siblingAtColumn(items::ModuleTreeModel::WorstColumn).data(items::WorstRole).value<items::WorstValue>();
    const auto* tree = qobject_cast<const QTreeView*>(option.widget);
    if (index == named || (tree && !worst.known)) {
        // What has no worst value leaves that column, too, to a long name: each cell draws its part.
        const QRect whole = tree && !worst.known
            ? option.rect.united(tree->visualRect(named))
                  .united(tree->visualRect(index.siblingAtColumn(items::ModuleTreeModel::WorstColumn)))
            : option.rect;
        painter->setClipRect(option.rect, Qt::IntersectClip);
        painter->setFont(codeFont(12));
        painter->setPen(theme.text);
        const bool hasFlag = isSource(named, tree);
        const QRect text = whole.adjusted(4, 0, hasFlag ? -kFlag - 8 : -4, 0);
        if (hasFlag)
            icon(QStringLiteral("flag")).paint(painter, text.right() + 4, whole.center().y() - kFlag / 2, kFlag, kFlag);
        painter->drawText(
            text, static_cast<int>(Qt::AlignVCenter), fittedName(named, painter->fontMetrics(), text.width()));
    } else if (worst.known) {
        constexpr int kValue = 40;
        const QRectF cell = QRectF(option.rect).adjusted(8, 0, -8, 0);
        const auto* model = qobject_cast<const items::ModuleTreeModel*>(index.model());
        paintBar(painter, cell.adjusted(0, 0, -kValue, 0), worst, model ? model->loudest() : worst.deviation);
        painter->setClipping(false);
        painter->setFont(numberFont(11));
        const QColor color = worst.isNonFinite() ? theme.criticalText : theme.text3;
        painter->setPen(option.state.testFlag(QStyle::State_Selected) ? theme.onSelection(color) : color);
        painter->drawText(QRectF(cell.right() - kValue, cell.top(), kValue, cell.height()),
            Qt::AlignRight | Qt::AlignVCenter, valueText(worst));
    }
    painter->restore();
}

QSize ModulesDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    return { QStyledItemDelegate::sizeHint(option, index).width(), 22 };
}

}
