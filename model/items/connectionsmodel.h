// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QAbstractTableModel>

#include <telltale/core/connectioninfo.h>
#include <telltale/items/roles.h>

namespace telltale::items {

/// The agents that are or were connected, by rank. set() changes only what differs. Thread: gui, fed at 1 Hz.
class ConnectionsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column {
        RankColumn,
        RunColumn,
        LagColumn,
        DroppedColumn,
        SpoolColumn,
        ReceivedColumn,
        RateColumn,
        VersionColumn,
        PeerColumn,
        StateColumn,
        ColumnCount
    };

    /// A lag that a person notices: the tokens color it as a warning.
    static constexpr double kLateSeconds = 5;

    explicit ConnectionsModel(QObject* parent = nullptr);

    void set(std::vector<ConnectionInfo> connections);
    const std::vector<ConnectionInfo>& connections() const { return m_rows; }
    /// What stands in a cell, here as in every other table of agents.
    static QString text(const ConnectionInfo& connection, int column);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QVariant sortValue(const ConnectionInfo& connection, int column) const;

    std::vector<ConnectionInfo> m_rows;
};

}
