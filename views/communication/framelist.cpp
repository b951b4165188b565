// SPDX-License-Identifier: GPL-3.0-or-later
#include "framelist.h"

#include <algorithm>

#include <QPainter>
#include <QStyledItemDelegate>

#include <telltale/common/readout.h>
#include <telltale/items/guithread.h>
#include <telltale/items/shownname.h>
#include <telltale/items/tooltiptext.h>

namespace telltale::views {

namespace {

constexpr int kFrameHeight = 22;
constexpr int kFrameInset = 12; ///< as the heading above
constexpr int kFrameGap = 20; ///< between the columns
constexpr int kRounded = 2; ///< px by which a screen may draw a text wider than it is said to be
constexpr int kPlaceRole = Qt::UserRole;
constexpr int kShortPlaceRole = Qt::UserRole + 1;
constexpr int kFunctionRole = Qt::UserRole + 2;
constexpr int kColumnsRole = Qt::UserRole + 3; ///< their widths, as a QSize

class FrameDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        QStyleOptionViewItem row = option;
        initStyleOption(&row, index);
        row.text.clear();
        row.widget->style()->drawControl(QStyle::CE_ItemViewItem, &row, painter, row.widget);
        const QRect cell = option.rect.adjusted(kFrameInset, 0, -kFrameInset, 0);
        painter->setFont(codeFont(12));
        // Where there is little room both give: of a place its start, of a function its end.
        const QSize columns = index.data(kColumnsRole).toSize();
        const int room = cell.width() - kFrameGap;
        const int place = std::min(columns.width(), std::max(room * 2 / 3, room - columns.height()));
        const auto draw = [&](int left, int width, int role, Qt::TextElideMode mode) {
            painter->drawText(QRect(cell.left() + left, cell.top(), width, cell.height()),
                Qt::AlignLeft | Qt::AlignVCenter,
                painter->fontMetrics().elidedText(index.data(role).toString(), mode, width));
        };
        painter->setPen(Theme::current().text);
        draw(0, place, kShortPlaceRole, Qt::ElideLeft);
        if (!option.state.testFlag(QStyle::State_Selected))
            painter->setPen(Theme::current().text2);
        draw(place + kFrameGap, room - place, kFunctionRole, Qt::ElideRight);
    }
    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override { return { 0, kFrameHeight }; }
};

}

FrameList::FrameList(QWidget* parent)
    : QListWidget(parent)
{
    setFrameShape(QFrame::NoFrame);
    setItemDelegate(new FrameDelegate(this));
    const auto choose = [this](QListWidgetItem* item) { Q_EMIT frameChosen(item->data(kPlaceRole).toString()); };
    connect(this, &QListWidget::itemClicked, this, choose);
    connect(this, &QListWidget::itemActivated, this, choose);
}

void FrameList::setFrames(const QStringList& frames, const QString& emptyText)
{
    items::assertGuiThread();
    m_emptyText = emptyText;
    clear();
    const QFontMetrics metrics(codeFont(12));
    QSize widest(0, 0);
    for (const QString& frame : frames) {
        const auto [place, function] = items::codePlace(frame);
        const QString shortPlace = place.section(QLatin1Char('/'), -2);
        auto* item = new QListWidgetItem(shortPlace + QStringLiteral("  ") + function, this);
        item->setData(kPlaceRole, place);
        item->setData(kShortPlaceRole, shortPlace);
        item->setData(kFunctionRole, function);
        item->setToolTip(items::toolTipText(frame + QLatin1Char('\n') + tr("A click copies file:line")));
        widest = widest.expandedTo(
            { metrics.horizontalAdvance(shortPlace) + kRounded, metrics.horizontalAdvance(function) + kRounded });
    }
    for (int row = 0; row < count(); ++row)
        item(row)->setData(kColumnsRole, widest);
    viewport()->update();
}

void FrameList::paintEvent(QPaintEvent* event)
{
    QListWidget::paintEvent(event);
    if (count() > 0)
        return;
    QPainter painter(viewport());
    paintEmptyState(painter, viewport()->rect(), m_emptyText, Theme::current());
}

/// Whole rows: the last one that is seen is not cut.
void FrameList::resizeEvent(QResizeEvent* event)
{
    setViewportMargins(0, 0, 0, contentsRect().height() % kFrameHeight);
    QListWidget::resizeEvent(event);
}

}
