// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSortFilterProxyModel>

#include <telltale/archive/runquery.h>

namespace telltale::items {
class RunsModel;
}

namespace telltale::views {

/// The runs that a line of archive::RunQuery asks for, under their headings. What it needs that the model does not know
/// it asks the model for, and shows those runs when they are known. Thread: gui.
class RunsFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    RunsFilter(items::RunsModel* model, QObject* parent);

    /// Empty, or why the line cannot be used; the last one that could stays.
    QString setLine(const QString& line);
    /// A heading counts what is shown of it, too: "3 of 7".
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    /// Ids of the runs that stand beside each other in the views, that which is shown first; none without a comparison.
    void setCompared(const QStringList& ids);
    static constexpr int kComparedRole = Qt::UserRole + 100; ///< place of a run among them, -1 of another

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    items::RunsModel* m_model;
    archive::RunQuery m_query;
    QStringList m_compared;
};

}
