// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLineEdit;
class QListView;

namespace telltale::views {

class ConsoleLines;
class ConsoleModel;
class RoleLabel;

/// What the training printed, with a search; follows the newest line as long as it is in view. Thread: gui.
class ConsolePane : public QWidget {
    Q_OBJECT
public:
    explicit ConsolePane(QWidget* parent = nullptr);

    void clear();
    void append(const ConsoleLines& more, int rank);
    void copy() const; ///< the selected lines, or all that are shown
    ConsoleModel* model() const { return m_model; }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void showCount();

    ConsoleModel* m_model;
    QLineEdit* m_filter;
    RoleLabel* m_count;
    QListView* m_list;
    RoleLabel* m_empty;
    int m_rank = -1;
    bool m_isAtEnd = true;
};

}
