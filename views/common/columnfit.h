// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <initializer_list>
#include <utility>

#include <QStyledItemDelegate>

class QTreeView;

namespace telltale::views {

/// What names lose is their front, and a quantity keeps its statistic.
class EndDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;
};

/// Makes a column as wide as its words; gives its width. Thread: gui.
int fitToWords(QTreeView& tree, int column);
/// All columns as wide as their words and in sight where that is possible: of what lacks, each of `giving` gives down
/// to its least width, the first one first; what is left goes to `filled`. Thread: gui.
void fitColumns(QTreeView& tree, int filled, std::initializer_list<std::pair<int, int>> giving);

}
