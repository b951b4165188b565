// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <set>

#include <QList>
#include <QWidget>

class QAction;
class QLineEdit;
class QToolButton;

namespace telltale::items {
class RunsModel;
}

namespace telltale::views {

class PanelHead;
class PanelTree;
class RoleLabel;
class RunsFilter;

/// The runs of this data directory, live and archived, with search by what archive::RunQuery knows. Says what the user
/// asks for; who can do it listens.
class RunsPanel : public QWidget {
    Q_OBJECT
public:
    explicit RunsPanel(items::RunsModel* model, QWidget* parent = nullptr);

    PanelHead* head() const { return m_head; }
    /// Marks the run that the views show.
    void setCurrentRun(const QString& id);
    /// Ids of the runs that are compared with the one that is shown; while there are some, the button ends that.
    void setCompared(const QStringList& ids);
    void showSearch();
    bool editName(const QString& id); ///< in its row; false where that cannot be seen
    /// The highlighted run; empty without one, or where the list cannot be seen.
    QString highlightedId() const;
    QStringList highlightedIds() const; ///< all that are selected; none where the list cannot be seen
    /// What the context menu offers beside opening and comparing: the window's own commands for the highlighted runs,
    /// and for the whole list.
    void setRunActions(QList<QAction*> ofRuns, QList<QAction*> ofList)
    {
        m_runActions = std::move(ofRuns);
        m_listActions = std::move(ofList);
    }
    /// Headings that the user closed, by items::HeadingRole.
    QStringList closedHeadings() const { return { m_closed.begin(), m_closed.end() }; }
    void setClosedHeadings(const QStringList& keys);

Q_SIGNALS:
    void runActivated(const QString& id);
    void highlightChanged();
    void runsSelected(const QStringList& ids);
    void firstNonFiniteWanted(const QString& id); ///< opened where it first stops being finite
    void openWanted();
    void importWanted();
    /// Several runs on one axis; the first is or becomes the one that is shown.
    void compareWanted(const QString& shownId, const QStringList& otherIds);
    void endComparisonWanted();

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void showCurrent();
    void activate(const QModelIndex& index);
    void showMenu(const QPoint& position);
    void showHeaderMenu(const QPoint& position);
    void refresh();
    QStringList selectedIds() const; ///< runs, not headings
    void compareSelected();
    void selectionChanged();
    void updateCompare();
    void markCompared();

    items::RunsModel* m_model;
    RunsFilter* m_proxy;
    PanelHead* m_head;
    QWidget* m_searchBox;
    QLineEdit* m_search;
    RoleLabel* m_error; ///< of what was typed there
    PanelTree* m_tree;
    QToolButton* m_searchButton;
    QToolButton* m_compare;
    QToolButton* m_open;
    QString m_currentId;
    std::set<QString> m_closed; ///< headings that the user closed
    QStringList m_compared;
    bool m_columnsChosen = false; ///< by the user
    bool m_isCurrentSeen = true; ///< or scrolled away by the user
    QList<QAction*> m_runActions;
    QList<QAction*> m_listActions;
};

}
