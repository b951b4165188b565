// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include <QSortFilterProxyModel>

namespace telltale::items {
class LogModel;
}

namespace telltale::views {

/// Lines of the log that have a text in their message or kind; of a number also those of that step or rank, of "rank 2"
/// those of that rank, and of a time ("31:27") those of it. Thread: gui.
class LogFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit LogFilter(items::LogModel* model, QObject* parent = nullptr);

    void setText(const QString& text);

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    items::LogModel* m_model;
    QString m_text;
    std::optional<qint64> m_number;
    std::optional<qint64> m_rank;
};

}
