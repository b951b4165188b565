// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <QTreeWidget>

#include <telltale/judge/comparisonreport.h>

namespace telltale::views {

/// A table, or one sentence where it has no rows. Thread: gui.
class DifferenceTree : public QTreeWidget {
    Q_OBJECT
public:
    explicit DifferenceTree(QWidget* parent = nullptr);
    void setEmptyText(const QString& text);
    const QString& emptyText() const { return m_emptyText; }

protected:
    virtual void fitColumns() = 0; ///< to the viewport
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QString m_emptyText;
};

/// What differs first, in the order of a step, and what differs most of each kind. A click or Return goes there.
/// Thread: gui.
class FindingsTree : public DifferenceTree {
    Q_OBJECT
public:
    enum Column {
        WhereColumn,
        StepColumn,
        RankColumn,
        NameColumn,
        KindColumn,
        AColumn,
        BColumn,
        ShareColumn,
        ColumnCount
    };

    explicit FindingsTree(QWidget* parent = nullptr);
    void set(const judge::Comparison* found); ///< null: nothing

Q_SIGNALS:
    void goWanted(const telltale::judge::Deviation& deviation);

private:
    void fitColumns() override;
    void addRow(const QString& where, const judge::Deviation& deviation);

    std::vector<judge::Deviation> m_rows;
    int m_ofValues = 0; ///< px that the longest number takes, or half a checksum
};

/// Facts that are not the same in all compared runs, a column a run. Thread: gui.
class FactsTree : public DifferenceTree {
    Q_OBJECT
public:
    explicit FactsTree(QWidget* parent = nullptr);
    void set(const QStringList& runs, const std::vector<judge::DifferingFact>& facts);

private:
    void fitColumns() override;

    QAbstractItemDelegate* m_values; ///< of the columns of runs
};

}
