// SPDX-License-Identifier: GPL-3.0-or-later
#include "dockhost.h"

#include <QAction>
#include <QDockWidget>
#include <QMainWindow>

#include <telltale/runs/panelhead.h>

namespace telltale::shell {

namespace {

constexpr int kNarrow = 1120;
constexpr int kLeft = 264;
constexpr int kRight = 296;
constexpr int kBottom = 186;
constexpr int kRunsHeight = 230;

}

DockHost::DockHost(QMainWindow* window)
    : QObject(window)
    , m_window(window)
{
    window->setDockNestingEnabled(true);
    window->setCorner(Qt::BottomLeftCorner, Qt::BottomDockWidgetArea);
    window->setCorner(Qt::BottomRightCorner, Qt::BottomDockWidgetArea);
    window->setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
}

void DockHost::add(Place place, const QString& title, QWidget* panel, views::PanelHead* head)
{
    static constexpr const char* kNames[] = { "runs", "modules", "inspector", "connections", "log" };
    static_assert(std::size(kNames) == PlaceCount);
    auto* dock = new QDockWidget(title, m_window);
    dock->setObjectName(QString::fromLatin1(kNames[place]));
    dock->setWidget(panel);
    dock->setTitleBarWidget(head);
    dock->setAllowedAreas(Qt::AllDockWidgetAreas);
    m_docks[place] = dock;
    if (place == PlaceCount - 1)
        resetLayout();
}

QAction* DockHost::toggleAction(Place place) const
{
    return m_docks[place]->toggleViewAction();
}

QWidget* DockHost::panel(Place place) const
{
    return m_docks[place]->widget();
}

void DockHost::show(Place place)
{
    m_docks[place]->show();
    m_docks[place]->raise();
    m_docks[place]->widget()->setFocus(Qt::ShortcutFocusReason);
}

void DockHost::resetLayout()
{
    for (QDockWidget* dock : m_docks) {
        dock->setFloating(false);
        m_window->removeDockWidget(dock);
    }
    m_window->addDockWidget(Qt::LeftDockWidgetArea, m_docks[Runs]);
    m_window->addDockWidget(Qt::LeftDockWidgetArea, m_docks[Modules]);
    m_window->splitDockWidget(m_docks[Runs], m_docks[Modules], Qt::Vertical);
    m_window->addDockWidget(Qt::RightDockWidgetArea, m_docks[Inspector]);
    m_window->addDockWidget(Qt::BottomDockWidgetArea, m_docks[Connections]);
    m_window->addDockWidget(Qt::BottomDockWidgetArea, m_docks[Log]);
    m_window->tabifyDockWidget(m_docks[Connections], m_docks[Log]);
    m_docks[Runs]->show();
    m_docks[Modules]->show();
    m_docks[Inspector]->setVisible(!m_welcoming);
    m_docks[Connections]->hide();
    m_docks[Log]->hide();
    m_window->resizeDocks({ m_docks[Runs], m_docks[Inspector] }, { kLeft, kRight }, Qt::Horizontal);
    m_window->resizeDocks({ m_docks[Runs], m_docks[Modules] }, { kRunsHeight, 480 }, Qt::Vertical);
    m_window->resizeDocks({ m_docks[Connections] }, { kBottom }, Qt::Vertical);
    m_narrow = false;
    widthChanged(m_window->width());
}

void DockHost::setWelcoming(bool on)
{
    if (on == m_welcoming)
        return;
    m_welcoming = on;
    if (on) {
        m_layout = m_window->saveState(kVersion);
        m_docks[Inspector]->hide();
        m_docks[Connections]->hide();
        m_docks[Log]->hide();
    } else {
        m_window->restoreState(m_layout, kVersion);
    }
}

void DockHost::widthChanged(int width)
{
    if (!m_docks[PlaceCount - 1])
        return;
    const bool narrow = width < kNarrow;
    if (narrow == m_narrow || m_docks[Inspector]->isFloating())
        return;
    m_narrow = narrow;
    const bool visible = m_docks[Inspector]->isVisibleTo(m_window);
    if (narrow) {
        m_window->tabifyDockWidget(m_docks[Modules], m_docks[Inspector]);
        m_docks[Modules]->raise();
    } else {
        m_window->addDockWidget(Qt::RightDockWidgetArea, m_docks[Inspector]);
        m_window->resizeDocks({ m_docks[Inspector] }, { kRight }, Qt::Horizontal);
    }
    m_docks[Inspector]->setVisible(visible);
    if (narrow)
        m_docks[Modules]->raise();
}

void DockHost::focusNext(QWidget* centre)
{
    std::vector<QWidget*> stops;
    for (QDockWidget* dock : m_docks) {
        if (dock->isVisible() && !dock->visibleRegion().isEmpty())
            stops.push_back(dock->widget());
    }
    stops.push_back(centre);
    std::size_t at = stops.size() - 1;
    for (std::size_t i = 0; i < stops.size(); ++i) {
        QWidget* focus = m_window->focusWidget();
        if (focus && (stops[i] == focus || stops[i]->isAncestorOf(focus)))
            at = i;
    }
    QWidget* next = stops[(at + 1) % stops.size()];
    while (next->focusProxy())
        next = next->focusProxy();
    next->setFocus(Qt::ShortcutFocusReason);
}

QByteArray DockHost::save() const
{
    return m_welcoming ? m_layout : m_window->saveState(kVersion);
}

bool DockHost::restore(const QByteArray& state)
{
    if (state.isEmpty())
        return false;
    if (m_welcoming)
        m_layout = state;
    return m_welcoming || m_window->restoreState(state, kVersion);
}

}
