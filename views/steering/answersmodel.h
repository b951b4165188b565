// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>

#include <telltale/core/steering.h>

namespace telltale::views {

/// What each rank answered to the newest revision of a run's config: a row a rank. Thread: gui.
class AnswersModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { RankColumn, HostColumn, AnswerColumn, StepColumn, TookColumn, RunsColumn, ReasonColumn, ColumnCount };
    static constexpr int StateRole = Qt::UserRole; ///< a RankSteering::State

    using QAbstractTableModel::QAbstractTableModel;

    void set(const RunSteering& steering);
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    int count(RankSteering::State state) const;
    /// "applied", for people.
    static QString word(RankSteering::State state);

private:
    QString textOf(const RankSteering& rank, int column) const;

    std::vector<RankSteering> m_ranks;
};

}
