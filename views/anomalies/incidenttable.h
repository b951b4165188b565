// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSortFilterProxyModel>
#include <QTableView>
#include <QTimer>

#include <telltale/store/logrecord.h>

namespace telltale::items {
class IncidentsModel;
}

namespace telltale::views {

class ViewState;

/// The incidents that are wanted, in the order of causes. Thread: gui.
class IncidentFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit IncidentFilter(items::IncidentsModel* incidents, QObject* parent = nullptr);

    void set(store::Severity atLeast, bool isUnacknowledgedOnly);
    bool lets(int row) const { return filterAcceptsRow(row, {}); }

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    items::IncidentsModel* m_incidents;
    store::Severity m_atLeast = store::Severity::Notice;
    bool m_isUnacknowledgedOnly = false;
};

/// One row an incident; choosing one shows it everywhere.
class IncidentTable : public QTableView {
    Q_OBJECT
public:
    IncidentTable(ViewState* state, IncidentFilter* filter, QWidget* parent = nullptr);

protected:
    void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;
    void resizeEvent(QResizeEvent* event) override;
    QItemSelectionModel::SelectionFlags selectionCommand(const QModelIndex& index, const QEvent* event) const override;

private:
    void fitColumns();
    void takeIncident();

    ViewState* m_state;
    QTimer m_fit;
    IncidentFilter* m_filter;
    bool m_isTaking = false;
};

}
