// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLineEdit;
class QSortFilterProxyModel;
class QTableView;

namespace telltale::items {
class LogModel;
}

namespace telltale::views {

class PanelHead;
class RoleLabel;

/// The log with a filter; Ctrl+C copies the selected lines, a double click goes to the line's step.
class LogPanel : public QWidget {
    Q_OBJECT
public:
    explicit LogPanel(items::LogModel* model, QWidget* parent = nullptr);

    PanelHead* head() const { return m_head; }
    void copy() const;

Q_SIGNALS:
    void stepWanted(qint64 step, int rank);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void refresh();

    items::LogModel* m_model;
    QSortFilterProxyModel* m_proxy;
    PanelHead* m_head;
    QLineEdit* m_filter;
    QTableView* m_table;
    RoleLabel* m_empty;
    bool m_isAtEnd = true; ///< the newest line is in view
};

}
