// SPDX-License-Identifier: GPL-3.0-or-later
#include "logfilter.h"

#include <QRegularExpression>

#include <telltale/items/guithread.h>
#include <telltale/items/logmodel.h>

namespace telltale::views {

using items::LogModel;

LogFilter::LogFilter(LogModel* model, QObject* parent)
    : QSortFilterProxyModel(parent)
    , m_model(model)
{
    setSourceModel(model);
}

void LogFilter::setText(const QString& text)
{
    items::assertGuiThread();
    static const QRegularExpression kNumber(
        QStringLiteral("^(rank ?)?([0-9]{1,18})$"), QRegularExpression::CaseInsensitiveOption);
    m_text = text.trimmed();
    m_number = m_rank = std::nullopt;
    QString digits = m_text;
    digits.remove(QChar(0x202F)); // as steps are written
    if (const auto found = kNumber.match(digits); found.hasMatch())
        (found.captured(1).isEmpty() ? m_number : m_rank) = found.captured(2).toLongLong();
    invalidate();
}

bool LogFilter::filterAcceptsRow(int row, const QModelIndex&) const
{
    const LogModel::Entry& entry = m_model->entry(row);
    const auto has = [&](int column) {
        return m_model->index(row, column).data().toString().contains(m_text, Qt::CaseInsensitive);
    };
    return m_text.isEmpty() || has(LogModel::TextColumn) || has(LogModel::KindColumn)
        || (m_number && (entry.step == *m_number || entry.rank == *m_number)) || (m_rank && entry.rank == *m_rank)
        || (m_text.contains(u':') && has(LogModel::TimeColumn));
}

}
