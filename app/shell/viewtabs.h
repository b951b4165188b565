// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QWidget>

#include <telltale/common/dataview.h>

class QHBoxLayout;
class QSplitter;
class QStackedWidget;
class QMenu;
class QTabBar;
class QToolButton;

namespace telltale::shell {

class TabBadge;
struct ViewFactory;

/// The center: one tab a row of viewFactories(), tool buttons at the right end of the tabs.
class ViewTabs : public QWidget {
    Q_OBJECT
public:
    explicit ViewTabs(const views::ViewContext& context, QWidget* parent = nullptr);

    void addAction(QAction* action); ///< a tool button at the right end
    using QWidget::addAction;
    void setCurrent(const QString& viewId);
    void goBeside(bool forward); ///< the next tab, round the end
    QString currentId() const;
    views::DataView* currentView() const; ///< what an export writes
    QWidget* currentPage() const; ///< the same with what stands below it
    QStringList choices() const; ///< of all views, in one list
    void setChoices(const QStringList& choices);
    QByteArray splitState() const;
    void restoreSplit(const QByteArray& state);

Q_SIGNALS:
    void currentChanged();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    QSplitter* splitter() const;
    void countIncidents();
    bool canHide(int tab) const;
    void fitTabs();
    void fillMore(QMenu* menu);

    struct Page {
        const ViewFactory* row;
        views::DataView* view;
    };

    views::ViewContext m_context;
    QHBoxLayout* m_bar;
    QTabBar* m_tabs;
    TabBadge* m_badge = nullptr; ///< of the incidents
    QStackedWidget* m_stack;
    QToolButton* m_more; ///< the tabs that have no room
    std::vector<Page> m_pages;
};

}
