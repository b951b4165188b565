// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QAbstractItemView;
class QTableView;

namespace telltale::views {

/// A table of whole rows without a grid, left by Tab; columns keep their widths, and the last may stretch. Rows are
/// `rowHeight` px high. Thread: gui.
void shapeTable(QTableView* table, int rowHeight = 26);

/// `px` more beside the words of every cell, of which there are 3: as many as the headings of a tree have, 8, unless
/// something else stands above it. Before it is shown. Thread: gui.
void insetCells(QAbstractItemView* view, int px = 5);

}
