// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QTreeWidget>

#include <telltale/lab/score.h>

namespace telltale::views {

/// What the rules that are tried give on each run, and each rule of them, against what people said.
class ScoreTree : public QTreeWidget {
    Q_OBJECT
public:
    enum Column {
        NameColumn,
        BeforeColumn,
        AfterColumn,
        HitsColumn,
        FalseColumn,
        MissedColumn,
        LeadColumn,
        ColumnCount
    };
    struct Row {
        QString run; ///< its name
        lab::Comparison comparison;
        QString trouble; ///< why there is none
        bool isLabeled = false; ///< somebody said what of it is true or false
    };

    explicit ScoreTree(QWidget* parent = nullptr);

    void set(const std::vector<Row>& rows);
    void setEmptyText(const QString& text); ///< where there is no row
    static QString leadText(const lab::Score& score);

protected:
    void drawBranches(QPainter* painter, const QRect& rect, const QModelIndex& index) const override;
    void paintEvent(QPaintEvent* event) override;

private:
    QTreeWidgetItem* addRow(
        QTreeWidgetItem* parent, const QString& name, const lab::Score& score, bool isLabeled, bool isHead);

    QString m_emptyText;
};

}
