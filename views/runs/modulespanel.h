// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include <QTimer>
#include <QWidget>

#include <telltale/common/dataview.h>
#include <telltale/common/scanpace.h>

class QLineEdit;
class QToolButton;

namespace telltale::items {
class ModuleTreeModel;
}

namespace telltale::views {

class ModulesDelegate;
class PanelHead;
class PanelTree;
class RoleLabel;

/// The module tree with its filter and the worst value of each part; shares filter and selection with all views. Worst
/// values come from the query pool, at most every two seconds.
class ModulesPanel : public QWidget {
    Q_OBJECT
public:
    explicit ModulesPanel(const ViewContext& context, QWidget* parent = nullptr);
    ~ModulesPanel() override;

    PanelHead* head() const { return m_head; }
    void focusFilter();
    /// Opens the tree down to a module, selects it and so shows it everywhere.
    void goTo(const QString& module);
    items::ModuleTreeModel* model() const { return m_model; }

private:
    void catalogChanged();
    void treeGrown();
    void applyFilter();
    void treeSelectionChanged();
    void showSelection();
    void flagSource();
    void scan();
    void updateHint();

    ViewContext m_context;
    store::QueryPool::ViewId m_queryId;
    items::ModuleTreeModel* m_model;
    PanelHead* m_head;
    QToolButton* m_worstFirst;
    QToolButton* m_collapse;
    QWidget* m_filterBox;
    QLineEdit* m_filter;
    RoleLabel* m_error;
    PanelTree* m_tree;
    ModulesDelegate* m_delegate = nullptr; ///< after the tree has its model
    QTimer m_filterTimer;
    ScanPace m_scanPace;
    std::optional<int> m_toOpen; ///< while a run's tree is filled: the first of its top rows that was not opened yet
    bool m_ownChange = false; ///< the selection is being set by us: do not answer it
};

}
