// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QAbstractScrollArea;
class QModelIndex;
class QRect;
class QTableView;

namespace telltale::views {

/// A table of whole rows without a grid, left by Tab; columns keep their widths, and the last may stretch. Rows are
/// `rowHeight` px high. Thread: gui.
void shapeTable(QTableView* table, int rowHeight = 26);

/// Goes on with the row of headings, 22 px high, above the vertical scroll bar.
void capScrollBar(QAbstractScrollArea* view);

/// The part of a cell that its words stand in: below its heading, and in the first column below the table's title, too.
QRect wordsOf(const QRect& cell, const QModelIndex& index);

}
