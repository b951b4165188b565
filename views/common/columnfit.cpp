// SPDX-License-Identifier: GPL-3.0-or-later
#include "columnfit.h"

#include <algorithm>

#include <QHeaderView>
#include <QTreeView>

namespace telltale::views {
namespace {

constexpr int kFirstInset = 12; ///< before the first column's words, which their width is without

}

void EndDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const
{
    QStyledItemDelegate::initStyleOption(option, index);
    option->textElideMode = Qt::ElideLeft;
}

int fitToWords(QTreeView& tree, int column)
{
    tree.resizeColumnToContents(column);
    if (column == 0)
        tree.setColumnWidth(column, tree.columnWidth(column) + kFirstInset);
    return tree.columnWidth(column);
}

void fitColumns(QTreeView& tree, int filled, std::initializer_list<std::pair<int, int>> giving)
{
    int room = tree.viewport()->width();
    for (int column = 0; column < tree.header()->count(); ++column)
        room -= fitToWords(tree, column);
    tree.setColumnWidth(filled, tree.columnWidth(filled) + std::max(room, 0));
    for (const auto& [column, least] : giving) {
        const int given = std::clamp(-room, 0, std::max(tree.columnWidth(column) - least, 0));
        tree.setColumnWidth(column, tree.columnWidth(column) - given);
        room += given;
    }
}

}
