// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "facttreemodel.h"

class QLineEdit;
class QSortFilterProxyModel;

namespace telltale::views {

class PanelTree;

/// The facts of a run as a table with a search over names and values; Ctrl+C copies. Thread: gui.
class FactTree : public QWidget {
    Q_OBJECT
public:
    explicit FactTree(QWidget* parent = nullptr);

    void set(std::vector<FactTreeModel::Group> groups);
    const std::vector<FactTreeModel::Group>& groups() const { return m_model->groups(); }
    void setEmptyText(const QString& text);
    void copy() const; ///< the selected rows, or all that are shown: name, tab, value
    QLineEdit* filter() const { return m_filter; }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void refresh();
    void fitNames();

    FactTreeModel* m_model;
    QSortFilterProxyModel* m_proxy;
    QLineEdit* m_filter;
    PanelTree* m_tree;
    bool m_isFitting = false; ///< the columns, by itself
    bool m_isWidthChosen = false; ///< the names', by hand
};

}
