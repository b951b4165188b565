// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTreeView>

namespace telltale::views {

/// A tree with the row height, chevrons, pins, header and empty sentence of the design.
class PanelTree : public QTreeView {
    Q_OBJECT
public:
    explicit PanelTree(QWidget* parent = nullptr);

    /// Shown in the middle while there are no rows below the headings.
    void setEmptyText(const QString& text);
    void setEmpty(bool empty);
    /// Shown there, below the headings, where a search leaves no row.
    void setUnmatchedText(const QString& text) { m_unmatchedText = text; }
    /// Neither the first nor the last row that is seen is cut: what is too little for one stays empty below the tree,
    /// which is the last one in the layout of its parent.
    void keepRowsWhole();
    /// Its row has the fill of what is selected.
    virtual bool isFilled(const QModelIndex& index) const { return selectionModel()->isSelected(index); }
    /// In the branch of a row that has others below it.
    static void paintChevron(QPainter* painter, const QRect& branch, bool isExpanded);

Q_SIGNALS:
    void rowsFitted(); ///< the tree has another size, and its rows their places

protected:
    void drawBranches(QPainter* painter, const QRect& rect, const QModelIndex& index) const override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void fitRows();

    QWidget* m_rest = nullptr; ///< what is too little for a row
    QString m_emptyText;
    QString m_unmatchedText;
    bool m_empty = true;
};

}
