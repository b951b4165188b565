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
#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/moduletreemodel.h>
#include <telltale/runs/seriesrows.h>

#include "dataviews.h"
#include "iconbutton.h"

namespace telltale::shell {

using views::DataView;
using views::Theme;

namespace {

constexpr int kTabs = 34;
constexpr std::size_t kMostSelected = 100;

}

ViewTabs::ViewTabs(const views::ViewContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_bar(new QHBoxLayout)
    , m_tabs(new QTabBar(this))
    , m_stack(new QStackedWidget(this))
    , m_split(new QSplitter(Qt::Vertical))
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

    DataView* overview = makeOverview(context, m_stack);
    addPage(overview, overview);
    DataView* heatmap = makeHeatmapOverCurves(context, m_split);
    addPage(heatmap, m_split);
    DataView* curves = makeCurves(context, m_stack);
    addPage(curves, curves);
    connect(m_tabs, &QTabBar::currentChanged, this, [this](int index) {
        m_stack->setCurrentIndex(index);
        if (window()->isVisible() && !m_pages.empty())
            m_pages[static_cast<std::size_t>(index)].view->setFocus();
        Q_EMIT currentChanged();
    });
    m_tabs->setCurrentIndex(1);
}

void ViewTabs::addPage(DataView* view, QWidget* page)
{
    m_pages.push_back({ view->viewId(), page, view });
    m_stack->addWidget(page);
    m_tabs->addTab(view->title());
}

void ViewTabs::addAction(QAction* action)
{
    m_bar->addWidget(iconButton(action, this));
}

QStringList ViewTabs::ids() const
{
    QStringList ids;
    for (const Page& page : m_pages)
        ids.append(page.id);
    return ids;
}

void ViewTabs::setCurrent(const QString& viewId)
{
    const qsizetype at = ids().indexOf(viewId);
    if (at >= 0)
        m_tabs->setCurrentIndex(static_cast<int>(at));
}

QString ViewTabs::currentId() const
{
    return m_pages[static_cast<std::size_t>(m_tabs->currentIndex())].id;
}

DataView* ViewTabs::currentView() const
{
    return m_pages[static_cast<std::size_t>(m_tabs->currentIndex())].view;
}

QString ViewTabs::titleOf(const QString& viewId) const
{
    const qsizetype at = ids().indexOf(viewId);
    return at < 0 ? QString() : m_tabs->tabText(static_cast<int>(at));
}

QByteArray ViewTabs::splitState() const
{
    return m_split->saveState();
}

void ViewTabs::restoreSplit(const QByteArray& state)
{
    if (!state.isEmpty())
        m_split->restoreState(state);
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
