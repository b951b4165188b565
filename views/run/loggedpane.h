// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <telltale/core/ids.h>

class QScrollArea;
class QToolButton;

namespace telltale::views {

class LoggedCards;
class RoleLabel;

/// The texts and images that the user's program logged, and the way from one step with any to the next.
class LoggedPane : public QWidget {
    Q_OBJECT
public:
    explicit LoggedPane(QWidget* parent = nullptr);

    LoggedCards* cards() const { return m_cards; }

Q_SIGNALS:
    void stepWanted(Step step);

private:
    void refresh();
    void goBeside(bool forward);

    LoggedCards* m_cards;
    QToolButton* m_back;
    QToolButton* m_forward;
    RoleLabel* m_where;
    QScrollArea* m_scroll;
    RoleLabel* m_empty;
};

}
