// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QWidget>

#include <telltale/core/connectioninfo.h>

class QTableView;

namespace telltale::items {
class ConnectionsModel;
}

namespace telltale::views {

class JoinField;
class PanelHead;
class RoleLabel;

/// How agents get in, and how each one is doing. Fed at 1 Hz.
class ConnectionsPanel : public QWidget {
    Q_OBJECT
public:
    explicit ConnectionsPanel(QWidget* parent = nullptr);

    PanelHead* head() const { return m_head; }
    JoinField* joinField() const { return m_join; }
    /// `problem` is a sentence when nothing listens, else empty.
    void setListening(const QString& joinString, const QString& problem);
    void setConnections(std::vector<ConnectionInfo> connections);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void fitColumns();

    PanelHead* m_head;
    JoinField* m_join;
    RoleLabel* m_hint;
    bool m_hasProblem = false;
    RoleLabel* m_empty;
    QTableView* m_table;
    items::ConnectionsModel* m_model;
};

}
