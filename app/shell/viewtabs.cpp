// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewtabs.h"

#include <algorithm>

#include <QAction>
#include <QDragEnterEvent>
#include <QHBoxLayout>
#include <QMenu>
#include <QMimeData>
#include <QPainter>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabBar>
#include <QToolButton>
#include <QVBoxLayout>

#include <telltale/common/dataview.h>
#include <telltale/common/rowlist.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/incidentsmodel.h>
#include <telltale/items/moduletreemodel.h>

#include "damagestrip.h"
#include "iconbutton.h"
#include "tabbadge.h"
#include "viewfactory.h"

namespace telltale::shell {

using views::DataView;
using views::Theme;

namespace {

constexpr int kTabs = 34;
constexpr const char* kFirstView = "heatmap";
constexpr const char* kIncidents = "anomalies";
constexpr std::size_t kMostSelected = 100;

}

ViewTabs::ViewTabs(const views::ViewContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_bar(new QHBoxLayout)
    , m_tabs(new QTabBar(this))
    , m_stack(new QStackedWidget(this))
    , m_more(new QToolButton(this))
{
    setObjectName(QStringLiteral("viewTabs"));
    setAcceptDrops(true);
    m_tabs->setDrawBase(false);
    m_tabs->setExpanding(false);
    m_tabs->setUsesScrollButtons(false); // what has no room is in the menu
    m_tabs->setElideMode(Qt::ElideRight);
    m_tabs->setMinimumWidth(1);
    m_tabs->setFixedHeight(kTabs);
    m_tabs->setFont(views::wordsFont(13));
    m_tabs->setAccessibleName(tr("Views"));
    m_bar->setContentsMargins(4, 0, 8, 0);
    m_bar->setSpacing(4);
    m_more->setObjectName(QStringLiteral("moreViews"));
    m_more->setIcon(views::icon(QStringLiteral("dots")));
    m_more->setAccessibleName(tr("More views"));
    m_more->setToolTip(tr("More views"));
    m_more->setAutoRaise(true);
    m_more->setFocusPolicy(Qt::TabFocus);
    auto* menu = new QMenu(m_more);
    m_more->hide();
    connect(menu, &QMenu::aboutToShow, this, [this, menu] { fillMore(menu); });
    connect(m_more, &QToolButton::clicked, menu,
        [this, menu] { menu->popup(m_more->mapToGlobal(QPoint(0, m_more->height()))); });
    m_bar->addWidget(m_tabs);
    m_bar->addWidget(m_more);
    m_bar->addStretch();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(1);
    layout->addLayout(m_bar);
    layout->addWidget(new DamageStrip(context, this));
    layout->addWidget(m_stack, 1);

    for (const ViewFactory& row : viewFactories()) {
        DataView* view = row.create(context, m_stack);
        QWidget* page = row.makePage ? row.makePage(view, context) : view;
        m_pages.push_back({ &row, view });
        m_stack->addWidget(page);
        m_tabs->addTab(row.title());
    }
    m_badge = new TabBadge(m_tabs);
    connect(context.state->incidents(), &items::IncidentsModel::changed, this, &ViewTabs::countIncidents);
    connect(m_tabs, &QTabBar::currentChanged, this, [this](int index) {
        m_stack->setCurrentIndex(index);
        fitTabs();
        if (window()->isVisible() && !m_pages.empty())
            m_pages[static_cast<std::size_t>(index)].view->setFocus();
        Q_EMIT currentChanged();
    });
    setCurrent(QLatin1String(kFirstView));
}

void ViewTabs::addAction(QAction* action)
{
    m_bar->addWidget(iconButton(action, this));
}

void ViewTabs::setCurrent(const QString& viewId)
{
    for (std::size_t i = 0; i < m_pages.size(); ++i) {
        if (viewId == QLatin1String(m_pages[i].row->id))
            m_tabs->setCurrentIndex(static_cast<int>(i));
    }
}

void ViewTabs::goBeside(bool forward)
{
    const int count = m_tabs->count();
    m_tabs->setCurrentIndex((m_tabs->currentIndex() + (forward ? 1 : count - 1)) % count);
}

/// The current tab stays, and so does that of the incidents while nobody has acknowledged them.
bool ViewTabs::canHide(int tab) const
{
    return tab != m_tabs->currentIndex() && m_tabs->isTabVisible(tab) && !m_tabs->tabButton(tab, QTabBar::RightSide);
}

/// Hides the last tabs that have no room.
void ViewTabs::fitTabs()
{
    const int more = m_more->sizeHint().width() + 2 * m_bar->spacing();
    m_tabs->setMaximumWidth(QWIDGETSIZE_MAX);
    for (int i = 0; i < m_tabs->count(); ++i)
        m_tabs->setTabVisible(i, true);
    int room = width() - m_bar->contentsMargins().left() - m_bar->contentsMargins().right();
    for (int i = 0; i < m_bar->count(); ++i) {
        const QWidget* part = m_bar->itemAt(i)->widget();
        if (part && part != m_tabs && part != m_more)
            room -= part->width() + m_bar->spacing();
    }
    // By the hint: where there is little room the tabs themselves are narrower than what they say.
    const bool isTooMuch = isVisible() && m_tabs->sizeHint().width() > room;
    for (int i = m_tabs->count() - 1; i >= 0 && isTooMuch && m_tabs->sizeHint().width() > room - more; --i) {
        if (canHide(i))
            m_tabs->setTabVisible(i, false);
    }
    m_more->setVisible(isTooMuch);
    layout()->activate(); // the bar is as wide as what is left in it at once
    // What was reckoned can be some pixels too much: no tab is cut for them.
    for (int i = m_tabs->count() - 1; i >= 0 && isVisible() && m_tabs->width() < m_tabs->sizeHint().width(); --i) {
        if (!canHide(i))
            continue;
        m_tabs->setTabVisible(i, false);
        m_more->setVisible(true);
        layout()->activate();
    }
    if (isTooMuch) // the menu stands right behind the last tab
        m_tabs->setMaximumWidth(m_tabs->sizeHint().width());
}

void ViewTabs::fillMore(QMenu* menu)
{
    menu->clear();
    for (int i = 0; i < m_tabs->count(); ++i) {
        if (!m_tabs->isTabVisible(i))
            menu->addAction(m_tabs->tabText(i), this, [this, i] { m_tabs->setCurrentIndex(i); });
    }
}

void ViewTabs::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    fitTabs();
}

void ViewTabs::countIncidents()
{
    const items::IncidentsModel& incidents = *m_context.state->incidents();
    const int all = incidents.unacknowledged();
    m_badge->set(all,
        incidents.unacknowledged(store::Severity::Critical) > 0      ? store::Severity::Critical
            : incidents.unacknowledged(store::Severity::Warning) > 0 ? store::Severity::Warning
                                                                     : store::Severity::Notice);
    for (std::size_t i = 0; i < m_pages.size(); ++i) {
        if (QLatin1String(kIncidents) != QLatin1String(m_pages[i].row->id))
            continue;
        const int tab = static_cast<int>(i);
        m_tabs->setTabButton(tab, QTabBar::RightSide, all > 0 ? m_badge : nullptr);
        m_tabs->setTabToolTip(tab, all > 0 ? tr("%n incidents that nobody has acknowledged", nullptr, all) : QString());
    }
    m_badge->setVisible(all > 0);
    fitTabs();
}

QString ViewTabs::currentId() const
{
    return QLatin1String(m_pages[static_cast<std::size_t>(m_tabs->currentIndex())].row->id);
}

QWidget* ViewTabs::currentPage() const
{
    return m_stack->currentWidget();
}

DataView* ViewTabs::currentView() const
{
    return m_pages[static_cast<std::size_t>(m_tabs->currentIndex())].view;
}

/// Of the view that is split in two, if there is one.
QSplitter* ViewTabs::splitter() const
{
    return m_stack->findChild<QSplitter*>(QString(), Qt::FindDirectChildrenOnly);
}

QByteArray ViewTabs::splitState() const
{
    const QSplitter* split = splitter();
    return split ? split->saveState() : QByteArray();
}

void ViewTabs::restoreSplit(const QByteArray& state)
{
    if (QSplitter* split = splitter(); split && !state.isEmpty())
        split->restoreState(state);
}

QStringList ViewTabs::choices() const
{
    QStringList choices;
    for (const Page& page : m_pages)
        choices += page.view->choices();
    return choices;
}

void ViewTabs::setChoices(const QStringList& choices)
{
    for (const Page& page : m_pages)
        page.view->setChoices(choices);
}

void ViewTabs::paintEvent(QPaintEvent*)
{
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.fillRect(rect(), theme.window);
    painter.fillRect(0, kTabs, width(), 1, theme.border);
}

void ViewTabs::dragEnterEvent(QDragEnterEvent* event)
{
    if (event->mimeData()->hasFormat(QString::fromLatin1(items::ModuleTreeModel::kMimeType)))
        event->acceptProposedAction();
}

void ViewTabs::dropEvent(QDropEvent* event)
{
    const auto catalog = m_context.state->catalog();
    if (!catalog)
        return;
    std::vector<views::ModuleKey> keys = m_context.state->selection();
    const QByteArray names = event->mimeData()->data(QString::fromLatin1(items::ModuleTreeModel::kMimeType));
    for (const QByteArray& name : names.split('\n')) {
        for (views::ModuleKey& key : views::keysOf(*catalog, m_context.state->kind(), QString::fromUtf8(name)).keys) {
            if (std::find(keys.begin(), keys.end(), key) == keys.end())
                keys.push_back(std::move(key));
        }
    }
    const auto most = keys.begin() + static_cast<std::ptrdiff_t>(std::min(keys.size(), kMostSelected));
    m_context.state->setSelection({ keys.begin(), most }, { most, keys.end() });
    event->acceptProposedAction();
}

}
