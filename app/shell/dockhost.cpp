// SPDX-License-Identifier: GPL-3.0-or-later
#include "dockhost.h"

#include <algorithm>

#include <QAction>
#include <QEvent>
#include <QMainWindow>
#include <QMap>
#include <QTabBar>
#include <QTimer>

#include <telltale/items/guithread.h>
#include <telltale/runs/panelhead.h>

#include "panels.h"

namespace telltale::shell {

namespace {

constexpr int kNarrow = 1240; ///< below it the Overview has less than its least width between both sides
constexpr int kShort = 800;
constexpr int kNarrowest = 760; ///< below it, which is so on small screens, a panel would leave too little of a view
constexpr int kLowest = 540;

}

DockHost::DockHost(QMainWindow* window)
    : QObject(window)
    , m_window(window)
{
    window->setDockNestingEnabled(true);
    window->setCorner(Qt::BottomLeftCorner, Qt::BottomDockWidgetArea);
    window->setCorner(Qt::BottomRightCorner, Qt::BottomDockWidgetArea);
    window->setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
    window->installEventFilter(this);
}

/// The window keeps the tab bars of areas that have no tabs any more, and may leave one over what is there now. Each
/// layout shows them all and hiding one asks for the next layout, without end: they are given no room instead.
void DockHost::fitTabBars()
{
    for (QTabBar* bar : m_window->findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly)) {
        const bool isEmpty = bar->count() == 0;
        bar->setMaximumHeight(isEmpty ? 0 : QWIDGETSIZE_MAX);
        bar->setFocusPolicy(isEmpty ? Qt::NoFocus : Qt::TabFocus);
    }
}

/// What a tab says need not be said again below it.
void DockHost::fitHeads()
{
    for (const auto& [row, dock] : m_docks) {
        const QList<QDockWidget*> beside = m_window->tabifiedDockWidgets(dock);
        const bool isTab = !dock->isFloating() && std::any_of(beside.begin(), beside.end(), [](const QDockWidget* one) {
            return one->toggleViewAction()->isChecked();
        });
        static_cast<views::PanelHead*>(dock->titleBarWidget())->setTitleVisible(!isTab);
    }
}

bool DockHost::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::LayoutRequest || event->type() == QEvent::Resize)
        fitTabBars();
    if (event->type() == QEvent::Show) {
        closeWithoutRoom(m_window->size());
        if (m_closed.empty())
            m_wholeLayout.clear();
    }
    return QObject::eventFilter(watched, event);
}

void DockHost::makePanels(const WindowParts& parts)
{
    for (const PanelFactory& row : panelFactories()) {
        const Panel panel = row.make(parts, m_window);
        auto* dock = new QDockWidget(row.title(), m_window);
        dock->setObjectName(QLatin1String(row.id));
        dock->setWidget(panel.widget);
        dock->setTitleBarWidget(panel.head);
        dock->setAllowedAreas(Qt::AllDockWidgetAreas);
        connect(dock->toggleViewAction(), &QAction::toggled, this, &DockHost::openChanged);
        connect(dock->toggleViewAction(), &QAction::triggered, this, [this, dock = dock] { choose(dock); });
        connect(dock->toggleViewAction(), &QAction::toggled, this,
            [this, dock = dock](bool isOpen) { isOpen ? noteHeight(dock) : giveHeightBack(dock); });
        // Later: the window is still laying out its docks.
        const auto fitSoon = [this] { QTimer::singleShot(0, this, &DockHost::fitHeads); };
        connect(dock, &QDockWidget::visibilityChanged, this, fitSoon);
        connect(dock, &QDockWidget::dockLocationChanged, this, fitSoon);
        connect(dock, &QDockWidget::topLevelChanged, this, fitSoon);
        m_docks.push_back({ &row, dock });
    }
    resetLayout();
}

QDockWidget* DockHost::dockOf(const PanelFactory& row) const
{
    return std::find_if(m_docks.begin(), m_docks.end(), [&row](const Dock& dock) { return dock.row == &row; })->widget;
}

/// Behind another tab it is open and cannot be seen. Its visibleRegion() is empty also where a panel covers all of it.
bool DockHost::isSeen(const QDockWidget* dock) const
{
    const QWidget* top = dock->isFloating() ? dock : m_window->childAt(dock->geometry().center());
    return dock->isVisible() && top && (top == dock || dock->isAncestorOf(top));
}

void DockHost::toggle(const PanelFactory& row)
{
    items::assertGuiThread();
    QDockWidget* dock = dockOf(row);
    if (!isSeen(dock))
        return bringUp(dock->widget());
    choose(dock);
    dock->close();
}

/// What a person opens or closes stays so, also where a small window has closed it or others.
void DockHost::choose(QDockWidget* dock)
{
    m_closed.erase(dock);
    m_wholeLayout.clear();
}

/// One that opens as a tab may need more height than the others have.
void DockHost::noteHeight(QDockWidget* dock)
{
    const QPointer<QWidget> views = m_window->centralWidget();
    m_viewHeights[dock] = { views, views ? views->height() : 0, 0 };
    // Later: the window is still laying out its docks, as below.
    QTimer::singleShot(0, this, [this, dock, views] { m_viewHeights[dock].after = views ? views->height() : 0; });
}

/// The others keep no height that they have only of one that closes, unless somebody has changed it since. The window
/// itself may be closing, and no window any more.
void DockHost::giveHeightBack(QDockWidget* dock)
{
    const auto known = m_viewHeights.extract(dock);
    if (known.empty() || !known.mapped().views || known.mapped().views->height() != known.mapped().after)
        return;
    QTimer::singleShot(0, this, [this, dock, views = known.mapped().views, wanted = known.mapped().before] {
        if (!views || m_window->dockWidgetArea(dock) != Qt::BottomDockWidgetArea)
            return;
        for (const auto& [row, other] : m_docks) {
            const bool isBelow = m_window->dockWidgetArea(other) == Qt::BottomDockWidgetArea && !other->isFloating();
            const int height = other->height() - (wanted - views->height());
            if (isBelow && isSeen(other) && views->height() < wanted && height > 0)
                m_window->resizeDocks({ other }, { height }, Qt::Vertical);
        }
    });
}

bool DockHost::isOpen(const PanelFactory& row) const
{
    return dockOf(row)->toggleViewAction()->isChecked();
}

void DockHost::bringUp(QWidget* panel)
{
    auto* dock = static_cast<QDockWidget*>(panel->parentWidget());
    if (dock->isHidden())
        choose(dock);
    dock->show();
    dock->raise();
    panel->setFocus(Qt::ShortcutFocusReason);
}

void DockHost::resetLayout()
{
    place([](const PanelFactory& row) { return row.isOpenAtFirst; });
}

void DockHost::arrange(const QStringList& open)
{
    items::assertGuiThread();
    place([&open](const PanelFactory& row) { return open.contains(QLatin1String(row.id)); });
}

void DockHost::place(const std::function<bool(const PanelFactory&)>& isOpen)
{
    for (const Dock& dock : m_docks) {
        dock.widget->setFloating(false);
        m_window->removeDockWidget(dock.widget);
    }
    QMap<Qt::DockWidgetArea, QDockWidget*> last;
    for (const auto& [row, dock] : m_docks) {
        m_window->addDockWidget(row->area, dock);
        if (QDockWidget* before = last.value(row->area)) {
            if (row->area == Qt::BottomDockWidgetArea)
                m_window->tabifyDockWidget(before, dock);
            else
                m_window->splitDockWidget(before, dock, Qt::Vertical);
        }
        last[row->area] = dock;
        dock->setVisible(isOpen(*row) && !(m_isSpared && row->needsRun));
    }
    QList<QDockWidget*> docks;
    QList<int> widths;
    QList<int> heights;
    for (const auto& [row, dock] : m_docks) {
        docks.append(dock);
        widths.append(row->size.width());
        heights.append(row->size.height());
    }
    m_window->resizeDocks(docks, widths, Qt::Horizontal);
    m_window->resizeDocks(docks, heights, Qt::Vertical);
    m_narrow = m_short = m_isNarrowest = m_isLowest = false;
    m_closed.clear();
    m_wholeLayout.clear();
    resized(m_window->size());
}

void DockHost::setSpared(bool on)
{
    items::assertGuiThread();
    if (on == m_isSpared)
        return;
    if (on)
        m_layout = save();
    m_isSpared = on;
    if (on) {
        for (const auto& [row, dock] : m_docks) {
            if (row->needsRun)
                dock->hide();
        }
    } else {
        takeLayout(m_layout);
    }
    fitTabBars();
}

void DockHost::resized(QSize size)
{
    closeWithoutRoom(size);
    widthChanged(size.width());
    heightChanged(size.height());
}

/// What stands beside or below the views would cover them, or each other. A person may open it all the same.
void DockHost::closeWithoutRoom(QSize size)
{
    const bool isNarrowest = size.width() < kNarrowest;
    const bool isLowest = size.height() < kLowest;
    if (!m_window->isVisible() || (isNarrowest == m_isNarrowest && isLowest == m_isLowest))
        return;
    if (m_wholeLayout.isEmpty())
        m_wholeLayout = layoutNow();
    for (const auto& [row, dock] : m_docks) {
        const Qt::DockWidgetArea area = m_window->dockWidgetArea(dock);
        const bool isBeside = area == Qt::LeftDockWidgetArea || area == Qt::RightDockWidgetArea;
        const bool isSmall = isBeside ? isNarrowest : isLowest;
        if (dock->isFloating() || isSmall == (isBeside ? m_isNarrowest : m_isLowest))
            continue;
        if (isSmall && !dock->isHidden()) {
            m_closed.insert(dock);
            dock->hide();
        } else if (!isSmall && m_closed.erase(dock) > 0 && !(m_isSpared && row->needsRun)) {
            dock->show();
        }
    }
    m_isNarrowest = isNarrowest;
    m_isLowest = isLowest;
    if (m_closed.empty())
        m_wholeLayout.clear();
    widenLeft();
}

/// In a short window, what is below the views takes a quarter of it at most, or the least that it needs.
void DockHost::heightChanged(int height)
{
    const bool isShort = height < kShort;
    if (isShort == m_short)
        return;
    m_short = isShort;
    for (const auto& [row, dock] : m_docks) {
        if (row->area == Qt::BottomDockWidgetArea && !dock->isFloating())
            m_window->resizeDocks(
                { dock }, { isShort ? std::min(height / 4, row->size.height()) : row->size.height() }, Qt::Vertical);
    }
}

void DockHost::widthChanged(int width)
{
    const bool narrow = width < kNarrow;
    QDockWidget* neighbor = nullptr;
    std::vector<Dock> right;
    for (const Dock& dock : m_docks) {
        if (dock.row->area == Qt::LeftDockWidgetArea)
            neighbor = dock.widget;
        else if (dock.row->area == Qt::RightDockWidgetArea)
            right.push_back(dock);
    }
    const bool anyFloats
        = std::any_of(right.begin(), right.end(), [](const Dock& d) { return d.widget->isFloating(); });
    if (narrow == m_narrow || !neighbor || anyFloats)
        return;
    m_narrow = narrow;
    for (const auto& [row, dock] : right) {
        const bool visible = dock->isVisibleTo(m_window);
        if (narrow) {
            m_window->tabifyDockWidget(neighbor, dock);
        } else {
            m_window->addDockWidget(row->area, dock);
            m_window->resizeDocks({ dock }, { row->size.width() }, Qt::Horizontal);
        }
        dock->setVisible(visible);
    }
    if (narrow)
        neighbor->raise();
    widenLeft();
}

/// While the window was too small for all columns, the left one may have lost what it needs to be of use.
void DockHost::widenLeft()
{
    for (const auto& [row, dock] : m_docks) {
        const bool isLeft = row->area == Qt::LeftDockWidgetArea && !dock->isFloating();
        if (isLeft && m_window->dockWidgetArea(dock) == row->area && dock->width() < row->size.width())
            m_window->resizeDocks({ dock }, { row->size.width() }, Qt::Horizontal);
    }
}

void DockHost::focusNext(QWidget* center, bool forward)
{
    std::vector<QWidget*> stops;
    for (const auto& [row, dock] : m_docks) {
        if (isSeen(dock))
            stops.push_back(dock->widget());
    }
    stops.push_back(center);
    std::size_t at = stops.size() - 1;
    for (std::size_t i = 0; i < stops.size(); ++i) {
        QWidget* focus = m_window->focusWidget();
        if (focus && (stops[i] == focus || stops[i]->isAncestorOf(focus)))
            at = i;
    }
    QWidget* next = stops[(at + (forward ? 1 : stops.size() - 1)) % stops.size()];
    while (next->focusProxy())
        next = next->focusProxy();
    next->setFocus(Qt::ShortcutFocusReason);
}

QByteArray DockHost::layoutNow() const
{
    return m_window->saveState(kVersion + (m_narrow ? kIsNarrow : 0) + (m_short ? kIsShort : 0)
        + (m_isNarrowest ? kIsNarrowest : 0) + (m_isLowest ? kIsLowest : 0));
}

bool DockHost::takeLayout(const QByteArray& layout)
{
    for (int lacks = 0; lacks <= kIsNarrow + kIsShort + kIsNarrowest + kIsLowest; ++lacks) {
        if (!m_window->restoreState(layout, kVersion + lacks))
            continue;
        m_narrow = (lacks & kIsNarrow) != 0;
        m_short = (lacks & kIsShort) != 0;
        m_isNarrowest = (lacks & kIsNarrowest) != 0;
        m_isLowest = (lacks & kIsLowest) != 0;
        m_closed.clear();
        m_wholeLayout = layout; // squeezed into a small window, it would not be the same
        resized(m_window->size());
        if (m_window->isVisible() && m_closed.empty())
            m_wholeLayout.clear();
        return true;
    }
    return false;
}

QByteArray DockHost::save() const
{
    return m_isSpared ? m_layout : m_wholeLayout.isEmpty() ? layoutNow() : m_wholeLayout;
}

bool DockHost::restore(const QByteArray& state)
{
    if (state.isEmpty())
        return false;
    if (m_isSpared)
        m_layout = state;
    return m_isSpared || takeLayout(state);
}

}
