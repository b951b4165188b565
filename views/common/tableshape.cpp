// SPDX-License-Identifier: GPL-3.0-or-later
#include "tableshape.h"

#include <QFrame>
#include <QHeaderView>
#include <QTableView>

#include <telltale/items/guithread.h>

#include "theme.h"

namespace telltale::views {

void shapeTable(QTableView* table, int rowHeight)
{
    items::assertGuiThread();
    table->setFrameShape(QFrame::NoFrame);
    table->setShowGrid(false);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setTabKeyNavigation(false);
    table->verticalHeader()->hide();
    table->verticalHeader()->setDefaultSectionSize(rowHeight);
    QHeaderView* header = table->horizontalHeader();
    header->setFont(wordsFont(11));
    header->setFixedHeight(22);
    header->setHighlightSections(false);
    capScrollBar(table);
}

void capScrollBar(QAbstractScrollArea* view)
{
    auto* cap = new QFrame(view);
    cap->setObjectName(QStringLiteral("scrollBarCap"));
    cap->setFixedHeight(22);
    view->addScrollBarWidget(cap, Qt::AlignTop);
}

QRect wordsOf(const QRect& cell, const QModelIndex& index)
{
    return cell.adjusted(index.column() == 0 ? 12 : 8, 0, -8, 0);
}

}
