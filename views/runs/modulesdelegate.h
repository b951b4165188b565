// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <utility>

#include <QHash>
#include <QStyledItemDelegate>

class QTreeView;

namespace telltale::views {

/// Rows of the module tree: the name in the code font, and the worst value of the subtree as a bar. A solid rose bar is
/// the source of a non-finite value, a hatched one is downstream of it; gray bars are deviations, and that of the
/// largest in the model is full.
class ModulesDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    /// Of a tree that has its model.
    explicit ModulesDelegate(QTreeView* tree);

    /// The name in `width` px. That of a call site loses its front, "…ranks.py:58 agree", any other one its end.
    QString fittedName(const QModelIndex& named, const QFontMetrics& metrics, int width) const;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    /// Where the incident that is shown began: the row of that name has a flag, or the closed one that holds it.
    void setSource(const QString& name) { m_source = name; }
    bool isSource(const QModelIndex& named, const QTreeView* tree) const;
    QString flagText(const QModelIndex& named, const QTreeView* tree) const; ///< what a flag says; without one, nothing
    bool helpEvent(QHelpEvent* event, QAbstractItemView* view, const QStyleOptionViewItem& option,
        const QModelIndex& index) override;
    /// The part of a bar's room that a deviation fills where `loudest` is the largest one.
    static double shareOf(double deviation, double loudest);

private:
    QString m_source;
    /// The call sites below a row in so many px, until rows or the tree's width change.
    mutable QHash<std::pair<QModelIndex, int>, QHash<QString, QString>> m_sites;
};

}
