// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStyledItemDelegate>

namespace telltale::views {

/// Rows of the run list: headings with their count, state shape before the name, numbers right.
class RunsDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    /// `titled`: the name, and its id where others have the name as well, of which the first letters stay.
    static QString fittedName(const QString& titled, const QString& name, const QFontMetrics& metrics, int width);
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}
