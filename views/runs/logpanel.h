// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPersistentModelIndex>
#include <QWidget>

#include <telltale/items/logmodel.h>

class QLineEdit;
class QTableView;

namespace telltale::views {

class LogFilter;
class PanelHead;
class RoleLabel;

/// The log with a filter; the selected line is as high as its words need, Ctrl+C copies the selected lines, a double
/// click or Return goes to the line's step, F2 and Delete change and remove a note.
class LogPanel : public QWidget {
    Q_OBJECT
public:
    explicit LogPanel(items::LogModel* model, QWidget* parent = nullptr);

    PanelHead* head() const { return m_head; }
    void copy() const;

Q_SIGNALS:
    void stepWanted(qint64 step, int rank);
    void noteWanted(qint64 id); ///< to be changed
    void noteRemovalWanted(qint64 id);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void refresh();
    const items::LogModel::Entry* current() const; ///< null where no line is
    void popUp(const QPoint& position);
    void fitCurrent();

    items::LogModel* m_model;
    LogFilter* m_proxy;
    PanelHead* m_head;
    QLineEdit* m_filter;
    QTableView* m_table;
    RoleLabel* m_empty;
    QPersistentModelIndex m_high; ///< the line that has more than one row of words
    bool m_isAtEnd = true; ///< the newest line is in view
};

}
