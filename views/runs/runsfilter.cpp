// SPDX-License-Identifier: GPL-3.0-or-later
#include "runsfilter.h"

#include <QDateTime>

#include <telltale/items/guithread.h>
#include <telltale/items/runsmodel.h>
#include <telltale/items/saidwords.h>

namespace telltale::views {

RunsFilter::RunsFilter(items::RunsModel* model, QObject* parent)
    : QSortFilterProxyModel(parent)
    , m_model(model)
{
    setRecursiveFilteringEnabled(true);
    setAutoAcceptChildRows(false);
    setSourceModel(model);
    connect(model, &items::RunsModel::profilesChanged, this, [this] {
        if (m_query.needsProfile())
            invalidateFilter();
    });
}

QString RunsFilter::setLine(const QString& line)
{
    items::assertGuiThread();
    auto query = archive::RunQuery::parse(line.toStdString(), QDateTime::currentMSecsSinceEpoch() * 1'000'000);
    if (!query)
        return items::saidwords::of(query.error());
    m_query = std::move(*query);
    if (m_query.needsProfile())
        Q_EMIT m_model->profilesWanted();
    invalidateFilter();
    return {};
}

void RunsFilter::setCompared(const QStringList& ids)
{
    m_compared = ids;
    for (int row = 0; row < rowCount(); ++row) {
        const QModelIndex heading = index(row, 0);
        if (const int count = rowCount(heading); count > 0)
            Q_EMIT dataChanged(index(0, 0, heading), index(count - 1, 0, heading));
    }
}

QVariant RunsFilter::data(const QModelIndex& index, int role) const
{
    if (role == kComparedRole) {
        const QString id = index.siblingAtColumn(0).data(items::KeyRole).toString();
        return id.isEmpty() ? -1 : static_cast<int>(m_compared.indexOf(id));
    }
    QVariant value = QSortFilterProxyModel::data(index, role);
    if (role == Qt::AccessibleTextRole && index.column() == items::RunsModel::NameColumn) {
        const int place = index.data(kComparedRole).toInt();
        const QString name = value.isValid() ? value.toString() : index.data().toString();
        return place < 0 ? value : tr("%1, compared, %2 of %3").arg(name).arg(place + 1).arg(m_compared.size());
    }
    if (role != items::CountRole || !value.isValid())
        return value;
    const int shown = rowCount(index.siblingAtColumn(0));
    return shown == value.toInt() ? value : tr("%1 of %2").arg(shown).arg(value.toInt());
}

bool RunsFilter::filterAcceptsRow(int row, const QModelIndex& parent) const
{
    if (m_query.matchesAll())
        return true;
    const store::RunSummary* run = m_model->runAt(m_model->index(row, 0, parent));
    return run && m_query.matches(*run, m_model->profileOf(*run));
}

}
