// SPDX-License-Identifier: GPL-3.0-or-later
#include "connectionsmodel.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>

#include <telltale/items/guithread.h>
#include <telltale/items/numbertext.h>
#include <telltale/items/rowsync.h>
#include <telltale/items/tooltiptext.h>

namespace telltale::items {

namespace {

std::string keyOf(const ConnectionInfo& connection)
{
    return connection.runName + '\n' + connection.runKey + '\n' + std::to_string(connection.rank.value) + '\n'
        + connection.agentId + '\n' + (connection.agentId.empty() ? connection.peer : std::string());
}

bool hasEnded(const ConnectionInfo& connection)
{
    return connection.saidBye && !connection.connected;
}

}

ConnectionsModel::ConnectionsModel(QObject* parent)
    : QAbstractTableModel(parent)
{
}

void ConnectionsModel::set(std::vector<ConnectionInfo> wanted)
{
    assertGuiThread();
    std::sort(wanted.begin(), wanted.end(), [](const ConnectionInfo& a, const ConnectionInfo& b) {
        return std::tie(a.runName, a.runKey, a.rank, a.agentId, a.peer)
            < std::tie(b.runName, b.runKey, b.rank, b.agentId, b.peer);
    });
    wanted.erase(std::unique(wanted.begin(), wanted.end(),
                     [](const ConnectionInfo& a, const ConnectionInfo& b) { return keyOf(a) == keyOf(b); }),
        wanted.end());
    const auto keys = [](const std::vector<ConnectionInfo>& list) {
        std::vector<std::string> result;
        std::transform(list.begin(), list.end(), std::back_inserter(result), keyOf);
        return result;
    };
    RowOperations operations;
    operations.remove = [this](int first, int last) {
        beginRemoveRows({}, first, last);
        m_rows.erase(m_rows.begin() + first, m_rows.begin() + last + 1);
        endRemoveRows();
    };
    operations.move = [this](int from, int to) {
        beginMoveRows({}, from, from, {}, to > from ? to + 1 : to);
        ConnectionInfo row = std::move(m_rows[static_cast<std::size_t>(from)]);
        m_rows.erase(m_rows.begin() + from);
        m_rows.insert(m_rows.begin() + to, std::move(row));
        endMoveRows();
    };
    operations.insert = [&](int row, int firstWanted, int count) {
        beginInsertRows({}, row, row + count - 1);
        m_rows.insert(m_rows.begin() + row, wanted.begin() + firstWanted, wanted.begin() + firstWanted + count);
        endInsertRows();
    };
    syncRows(keys(m_rows), keys(wanted), operations);
    m_rows = std::move(wanted);
    if (!m_rows.empty())
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

int ConnectionsModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int ConnectionsModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QString ConnectionsModel::text(const ConnectionInfo& connection, int column)
{
    switch (column) {
    case RankColumn:
        return QString::number(connection.rank.value);
    case RunColumn:
        return QString::fromStdString(connection.runName);
    case LagColumn:
        return hasEnded(connection) ? QString(QChar(0x2013)) : tr("%1 s").arg(connection.lagSeconds, 0, 'f', 1);
    case DroppedColumn:
        return formatStep(static_cast<qint64>(connection.droppedSamples));
    case SpoolColumn:
        return formatBytes(connection.spoolBytes);
    case ReceivedColumn:
        return formatBytes(connection.receivedBytes);
    case RateColumn: // what it was last is not what it is
        return connection.connected ? tr("%1/s").arg(formatShort(static_cast<double>(connection.samplesPerSecond)))
                                    : QString(QChar(0x2013));
    case VersionColumn:
        return QString::fromStdString(connection.agentVersion);
    case PeerColumn:
        return QString::fromStdString(connection.peer);
    default:
        if (!connection.lastRefusal.empty())
            return QString::fromStdString(connection.lastRefusal);
        return hasEnded(connection) ? tr("ended")
            : !connection.connected ? tr("not connected")
            : connection.encrypted  ? tr("connected, TLS")
                                    : tr("connected");
    }
}

QVariant ConnectionsModel::sortValue(const ConnectionInfo& connection, int column) const
{
    switch (column) {
    case RankColumn:
        return connection.rank.value;
    case LagColumn:
        return connection.lagSeconds;
    case DroppedColumn:
        return static_cast<qulonglong>(connection.droppedSamples);
    case SpoolColumn:
        return static_cast<qulonglong>(connection.spoolBytes);
    case ReceivedColumn:
        return static_cast<qulonglong>(connection.receivedBytes);
    case RateColumn:
        return static_cast<qulonglong>(connection.connected ? connection.samplesPerSecond : 0);
    default:
        return text(connection, column);
    }
}

QVariant ConnectionsModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const ConnectionInfo& connection = m_rows[static_cast<std::size_t>(index.row())];
    switch (role) {
    case Qt::DisplayRole:
        return text(connection, index.column());
    case Qt::TextAlignmentRole:
        return headerData(index.column(), Qt::Horizontal, role);
    case Qt::ToolTipRole:
        return toolTipText(
            tr("%1, %2\n%n reconnect(s), ", nullptr, static_cast<int>(connection.reconnects))
                .arg(QString::fromStdString(connection.agentId), QString::fromStdString(connection.framework))
            + tr("%1 batches, %2 duplicates, %3 refused")
                  .arg(connection.receivedBatches)
                  .arg(connection.duplicates)
                  .arg(connection.rejected));
    case SeverityRole:
        if (index.column() == StateColumn)
            return connection.lastRefusal.empty() && (connection.connected || connection.saidBye) ? 0 : 1;
        if (index.column() == LagColumn)
            return connection.lagSeconds > kLateSeconds && !hasEnded(connection) ? 1 : 0;
        return index.column() == DroppedColumn && connection.droppedSamples > 0 ? 1 : 0;
    case KeyRole:
        return QString::fromStdString(connection.agentId);
    case SortRole:
        return sortValue(connection, index.column());
    default:
        return {};
    }
}

QVariant ConnectionsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole) {
        const bool isText = section == RunColumn || section >= VersionColumn;
        return static_cast<int>(Qt::AlignVCenter | (isText ? Qt::AlignLeft : Qt::AlignRight));
    }
    if (role != Qt::DisplayRole)
        return {};
    const QString names[] = { tr("Rank"), tr("Run"), tr("Lag"), tr("Dropped"), tr("Spool"), tr("Received"), tr("Rate"),
        tr("Agent"), tr("Address"), tr("State") };
    static_assert(std::size(names) == ColumnCount);
    return names[section];
}

}
