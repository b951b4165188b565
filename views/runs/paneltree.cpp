// SPDX-License-Identifier: GPL-3.0-or-later
#include "paneltree.h"

#include <QHeaderView>
#include <QLayout>
#include <QPainter>
#include <QScrollBar>

#include <telltale/common/tableshape.h>
#include <telltale/common/theme.h>
#include <telltale/items/roles.h>

namespace telltale::views {

namespace {

constexpr int kTreeRow = 22; ///< px, as of the headings of the columns
constexpr int kPin = 14; ///< in a row

}

PanelTree::PanelTree(QWidget* parent)
    : QTreeView(parent)
{
    setFrameShape(QFrame::NoFrame);
    setUniformRowHeights(true);
    setMouseTracking(true);
    setIndentation(16);
    setAllColumnsShowFocus(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollMode(ScrollPerPixel);
    header()->setFont(wordsFont(11));
    header()->setSectionsMovable(false);
    header()->setMinimumSectionSize(24);
    header()->setFixedHeight(22);
    header()->setHighlightSections(false);
    capScrollBar(this);
}

void PanelTree::setEmptyText(const QString& text)
{
    m_emptyText = text;
    viewport()->update();
}

void PanelTree::setEmpty(bool empty)
{
    m_empty = empty;
    header()->setVisible(!empty);
    viewport()->update();
}

void PanelTree::keepRowsWhole()
{
    verticalScrollBar()->setSingleStep(kTreeRow);
    m_rest = new QWidget(parentWidget());
    m_rest->setBackgroundRole(QPalette::Base);
    m_rest->setAutoFillBackground(true);
    m_rest->setFixedHeight(0);
    parentWidget()->layout()->addWidget(m_rest);
}

void PanelTree::fitRows()
{
    m_rest->setFixedHeight((height() + m_rest->height()) % kTreeRow);
    QScrollBar* bar = verticalScrollBar();
    bar->setValue((bar->value() + kTreeRow - 1) / kTreeRow * kTreeRow);
    Q_EMIT rowsFitted();
}

void PanelTree::resizeEvent(QResizeEvent* event)
{
    QTreeView::resizeEvent(event);
    if (m_rest) // later, because a layout is at work
        QMetaObject::invokeMethod(this, &PanelTree::fitRows, Qt::QueuedConnection);
}

void PanelTree::drawBranches(QPainter* painter, const QRect& rect, const QModelIndex& index) const
{
    const Theme& theme = Theme::current();
    if (isFilled(index) || selectionModel()->isSelected(index)) // which the style has filled
        painter->fillRect(rect, isFilled(index) ? theme.selection : theme.base);
    if (index.data(items::PinnedRole).toBool()) // where it takes nothing of the name's room
        icon(QStringLiteral("pin"))
            .paint(painter, rect.right() - kPin - 1, rect.top() + (rect.height() - kPin) / 2, kPin, kPin);
    if (!model()->hasChildren(index))
        return;
    paintChevron(painter, rect, isExpanded(index));
}

void PanelTree::paintChevron(QPainter* painter, const QRect& branch, bool isExpanded)
{
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(QPen(Theme::current().text2, 1.5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    const QPointF c(branch.right() - 4.5, QRectF(branch).center().y());
    const QPointF down[] = { c + QPointF(-3.5, -1.75), c + QPointF(0, 1.75), c + QPointF(3.5, -1.75) };
    const QPointF right[] = { c + QPointF(-1.75, -3.5), c + QPointF(1.75, 0), c + QPointF(-1.75, 3.5) };
    painter->drawPolyline(isExpanded ? down : right, 3);
    painter->restore();
}

void PanelTree::paintEvent(QPaintEvent* event)
{
    if (!m_empty && model()->rowCount() > 0) {
        QTreeView::paintEvent(event);
        return;
    }
    QPainter painter(viewport());
    painter.setPen(Theme::current().text3);
    painter.setFont(wordsFont(12));
    painter.drawText(viewport()->rect().adjusted(24, 0, -24, 0), static_cast<int>(Qt::AlignCenter) | Qt::TextWordWrap,
        m_empty ? m_emptyText : m_unmatchedText);
}

}
