// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <deque>
#include <vector>

#include <QAbstractTableModel>

#include <telltale/items/roles.h>
#include <telltale/store/catalog.h>

namespace telltale::items {

/// What happened: the shown run's events, drops and damage, and this program's own messages, in order of time. The
/// run's part is replaced with the run; the program's stays, the last thousand of it. Thread: gui.
class LogModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { TimeColumn, StepColumn, RankColumn, KindColumn, TextColumn, ColumnCount };
    struct Entry {
        qint64 wallNs = 0; ///< 0 = not known
        qint64 step = -1; ///< -1 = none
        int rank = -1; ///< -1 = none
        QString kind;
        QString text;
        int severity = 0; ///< as SeverityRole
    };

    explicit LogModel(QObject* parent = nullptr);

    void setRun(const store::Catalog* catalog); ///< null when no run is shown
    /// The run itself already says this.
    bool isOfRun(const QString& sentence) const;
    void add(Entry entry);
    const Entry& entry(int row) const { return m_rows[static_cast<std::size_t>(row)]; }
    /// One line of tab-separated cells.
    QString line(int row) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    void rebuild();
    QString cell(const Entry& entry, int column) const;

    std::vector<Entry> m_run;
    std::deque<Entry> m_own;
    std::vector<Entry> m_rows;
};

}
