// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QWidget>

#include <telltale/common/dataview.h>

class QHBoxLayout;
class QSplitter;
class QStackedWidget;
class QTabBar;

namespace telltale::shell {

/// The centre: one tab a view, tool buttons at the right end of the tabs. The heat map stands above the curves of what
/// is selected in it, on one axis. Thread: gui.
class ViewTabs : public QWidget {
    Q_OBJECT
public:
    explicit ViewTabs(const views::ViewContext& context, QWidget* parent = nullptr);

    void addAction(QAction* action); ///< a tool button at the right end
    using QWidget::addAction;
    QStringList ids() const;
    void setCurrent(const QString& viewId);
    QString currentId() const;
    views::DataView* currentView() const; ///< what an export writes
    QString titleOf(const QString& viewId) const;
    QByteArray splitState() const;
    void restoreSplit(const QByteArray& state);

Q_SIGNALS:
    void currentChanged();

protected:
    void paintEvent(QPaintEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    struct Page {
        QString id;
        QWidget* widget;
        views::DataView* view;
    };
    void addPage(views::DataView* view, QWidget* page);

    views::ViewContext m_context;
    QHBoxLayout* m_bar;
    QTabBar* m_tabs;
    QStackedWidget* m_stack;
    QSplitter* m_split;
    std::vector<Page> m_pages;
};

}
