// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewtabs.h"

#include <algorithm>

#include <QAction>
#include <QDragEnterEvent>
#include <QHBoxLayout>
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
{
    setObjectName(QStringLiteral("viewTabs"));
    setAcceptDrops(true);
    m_tabs->setDrawBase(false);
    m_tabs->setExpanding(false);
    m_tabs->setUsesScrollButtons(true);
    m_tabs->setFixedHeight(kTabs);
    m_tabs->setFont(views::wordsFont(13));
    m_tabs->setAccessibleName(tr("Views"));
    m_bar->setContentsMargins(4, 0, 8, 0);
    m_bar->setSpacing(4);
    m_bar->addWidget(m_tabs);
    m_bar->addStretch();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(1);
    layout->addLayout(m_bar);
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
}

QString ViewTabs::currentId() const
{
    return QLatin1String(m_pages[static_cast<std::size_t>(m_tabs->currentIndex())].row->id);
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
