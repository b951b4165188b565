// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QTableView;
class QTreeView;

namespace telltale::views {

/// A table of whole rows without a grid, left by Tab; columns keep their widths, and the last may stretch. Rows are
/// `rowHeight` px high. Thread: gui.
void shapeTable(QTableView* table, int rowHeight = 26);

/// The words of the cells begin where those of the headings do, which stand 8 px in. Before the tree is shown. Thread:
/// gui.
void insetCells(QTreeView* tree);

}
