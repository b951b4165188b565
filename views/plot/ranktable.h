// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <QAbstractTableModel>
#include <QTableView>

#include <telltale/core/connectioninfo.h>

#include "ranktimes.h"

namespace telltale::views {

class ViewState;

/// The ranks of the shown run: their last step times and what was lost of each; while it is recorded, also how far each
/// agent is behind the store, what waits on its disk and what it sends, and afterwards its last step. Thread: gui.
class RankTableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column {
        RankColumn,
        TimesColumn,
        LastStepColumn,
        LagColumn,
        DroppedColumn,
        SpoolColumn,
        RateColumn,
        ColumnCount
    };

    struct Row {
        Rank rank;
        Step lastStep { -1 };
        std::uint64_t dropped = 0;
        std::optional<ConnectionInfo> agent;
        std::vector<double> times; ///< empty: not known
        bool isSlow = false;
    };

    using QAbstractTableModel::QAbstractTableModel;

    void set(const ViewState& state, const RankTimes* times);
    const std::vector<Row>& rows() const { return m_rows; }
    bool isLive() const { return m_isLive; }
    double low() const { return m_low; } ///< of all times
    double high() const { return m_high; }
    QString sentence() const; ///< what is unusual; empty: nothing is

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QString text(const Row& row, int column) const;
    bool isLoud(const Row& row, int column) const;

    std::vector<Row> m_rows;
    Step m_lastStep { -1 }; ///< of all
    double m_low = 0;
    double m_high = 0;
    bool m_isLive = false;
};

/// That model as a table whose current row is the rank that views show. Thread: gui.
class RankTable : public QTableView {
    Q_OBJECT
public:
    explicit RankTable(ViewState* state, QWidget* parent = nullptr);

    void setTimes(std::shared_ptr<const RankTimes> times);
    const RankTableModel& rankModel() const { return *m_model; }

Q_SIGNALS:
    void changed(); ///< other ranks, another sentence

protected:
    void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void refill();
    void fitColumns();
    int widthOf(int column) const;
    void showRank();

    ViewState* m_state;
    RankTableModel* m_model;
    std::shared_ptr<const RankTimes> m_times;
    bool m_isShowing = false; ///< the state's rank, which nobody chose here
};

}
