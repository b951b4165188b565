// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QAbstractItemModel>
#include <QString>

#include <telltale/analysis/rundocument.h>

namespace telltale::views {

/// Facts of a run by group: a row a group, and below it a row a fact. Thread: gui.
class FactTreeModel : public QAbstractItemModel {
    Q_OBJECT
public:
    struct Group {
        QString title;
        std::vector<analysis::Fact> facts;
        bool operator==(const Group&) const = default;
    };
    enum Column { NameColumn, ValueColumn, ColumnCount };
    static constexpr int kExactRole = Qt::UserRole; ///< the text as the run has it: what is found and copied
    using QAbstractItemModel::QAbstractItemModel;

    void set(std::vector<Group> groups); ///< nothing happens where it has them already
    const std::vector<Group>& groups() const { return m_groups; }

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& child) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<Group> m_groups;
};

}
