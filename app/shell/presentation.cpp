// SPDX-License-Identifier: GPL-3.0-or-later
#include "presentation.h"

#include <algorithm>

#include <QKeyEvent>
#include <QLabel>
#include <QScreen>
#include <QSplitter>
#include <QVBoxLayout>

#include <telltale/common/sharedaxis.h>
#include <telltale/common/steeringstate.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewbar.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/guithread.h>
#include <telltale/items/runsmodel.h>
#include <telltale/items/tooltiptext.h>
#include <telltale/plot/curvecanvas.h>

#include "viewfactory.h"

namespace telltale::shell {

using views::ViewState;

namespace {

constexpr QSize kSize { 1120, 700 };

/// Each part of one view and the same part of another that was made alike.
template <class Part, class Take> void forBoth(const QWidget& from, const QWidget& to, Take take)
{
    const QList<Part*> theirs = from.findChildren<Part*>();
    const QList<Part*> own = to.findChildren<Part*>();
    for (qsizetype i = 0; i < std::min(theirs.size(), own.size()); ++i)
        take(*theirs[i], *own[i]);
}

}

Presentation::Presentation(
    const ViewFactory& row, const views::DataView& from, const views::ViewContext& context, QWidget* window)
    : QWidget(window, Qt::Window)
    , m_context(context)
    , m_from(context.state)
    , m_state(new ViewState(this))
    , m_title(new QLabel(this))
    , m_viewTitle(row.title())
    , m_logId(context.queries->newView())
{
    setObjectName(QStringLiteral("presentation"));
    setAttribute(Qt::WA_DeleteOnClose);
    m_context.state = m_state;
    if (const items::RunsModel* runs = context.runs) {
        m_state->setIsSharedName([runs](const QString& name) { return runs->isSharedName(name); });
        for (const auto signal : { &QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved })
            connect(runs, signal, this, &Presentation::updateTitle);
        connect(runs, &QAbstractItemModel::dataChanged, this, &Presentation::updateTitle);
    }
    m_context.axis = new views::SharedAxis(m_state, this);
    m_context.annotator = nullptr;
    if (context.steering) {
        m_context.steering = new views::SteeringState(this);
        m_context.steering->mirror(context.steering);
    }
    m_view = row.create(m_context, this);
    // What chooses is not shown where nothing can be chosen.
    for (views::ViewBar* bar : m_view->findChildren<views::ViewBar*>())
        bar->keepHidden();
    m_title->setFont(views::wordsFont(13, 600));
    m_title->setTextFormat(Qt::PlainText);
    m_title->setContentsMargins(16, 10, 16, 8);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->setSizeConstraint(QLayout::SetNoConstraint); // the offscreen platform warns about size hints of a window
    layout->addWidget(m_title);
    layout->addWidget(m_view, 1);
    resize(kSize.boundedTo(window->screen()->availableSize()));
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(m_viewTitle);
    m_view->installEventFilter(this);
    for (QWidget* part : m_view->findChildren<QWidget*>()) {
        part->installEventFilter(this);
        part->setFocusPolicy(Qt::NoFocus);
    }
    mirror();
    m_view->setChoices(from.choices());
    forBoth<QSplitter>(from, *m_view, [](const QSplitter& theirs, QSplitter& own) {
        own.setProperty(views::kIsDividerChosen, theirs.property(views::kIsDividerChosen));
        own.restoreState(theirs.saveState());
    });
    forBoth<views::CurveCanvas>(
        from, *m_view, [](const views::CurveCanvas& theirs, views::CurveCanvas& own) { own.hideAs(theirs); });
    updateTitle();
    connect(m_view, &views::DataView::settled, this, &Presentation::updateTitle); // curves have read their statistics
    setFocus();
}

Presentation::~Presentation()
{
    m_context.queries->cancel(m_logId);
    delete m_view; // before the state that it listens to
}

/// What the view shows now, and from here on what the run becomes.
void Presentation::mirror()
{
    items::assertGuiThread();
    m_state->setRun(m_from->run());
    m_state->setCatalog(m_from->catalog());
    m_state->setFullRange(m_from->ownRange());
    m_state->setKind(m_from->kind());
    m_state->setStat(m_from->stat());
    m_state->setRank(m_from->rank());
    m_state->setRanks(m_from->ranks());
    m_state->setModuleFilter(m_from->moduleFilter());
    m_state->setSelection(m_from->selection(), m_from->omitted());
    m_state->setComparedRuns(m_from->comparedRuns());
    m_state->setFollowSpan(m_from->followSpan());
    if (!m_from->isFollowing() && !m_from->visibleRange().isEmpty())
        m_state->zoomTo(m_from->visibleRange());
    m_state->setFollowing(m_from->isFollowing());
    m_state->setCursor(m_from->cursor());
    m_state->setMarks(m_from->markA(), m_from->markB());
    if (m_from->isIncidentChosen())
        m_state->setIncident(m_from->incident());

    const auto isSame = [this] { return m_from->run() == m_state->run(); };
    connect(m_from, &ViewState::catalogChanged, this, [this, isSame] {
        if (isSame() && m_from->catalog())
            m_state->setCatalog(m_from->catalog());
        updateTitle();
    });
    connect(m_from, &ViewState::fullRangeChanged, this, [this, isSame] {
        if (isSame())
            m_state->setFullRange(m_from->ownRange());
    });
    connect(m_from, &ViewState::dataArrived, this, [this, isSame] {
        if (isSame())
            Q_EMIT m_state->dataArrived();
    });
    connect(m_from, &ViewState::logAppended, this, [this, isSame] {
        if (isSame())
            readLog();
    });
    readLog();
    updateTitle();
}

void Presentation::readLog()
{
    if (!m_state->run() || m_context.queries->isBusy(m_logId))
        return;
    m_context.queries->submit(m_logId, m_state->run(),
        [this, cursor = m_cursor](
            Expected<store::RunReader*> reader, const series::CancelToken&) -> store::QueryPool::Delivery {
            auto page = reader ? (*reader)->log(cursor) : Expected<store::LogPage>(tl::unexpected(reader.error()));
            if (!page) // the view says why a run cannot be read
                return {};
            return [this, page = std::move(*page)] {
                const bool isMore = !page.isLast || !(page.next == m_cursor);
                m_cursor = page.next;
                m_state->appendLog(page);
                if (isMore)
                    readLog();
            };
        });
}

void Presentation::updateTitle()
{
    QStringList words { items::lineText(m_state->runName(0)), m_viewTitle };
    if (words.front().isEmpty())
        words.removeFirst();
    else
        words += m_view->shownWords();
    m_title->setText(words.join(QStringLiteral("  \u00b7  ")));
    setWindowTitle(m_title->text());
}

void Presentation::toggleFullScreen()
{
    setWindowState(windowState() ^ Qt::WindowFullScreen);
}

bool Presentation::eventFilter(QObject*, QEvent* event)
{
    switch (event->type()) {
    case QEvent::MouseButtonPress:
    case QEvent::MouseButtonRelease:
    case QEvent::MouseButtonDblClick:
    case QEvent::Wheel:
    case QEvent::KeyPress:
    case QEvent::ContextMenu:
    case QEvent::DragEnter:
        if (event->type() == QEvent::MouseButtonDblClick)
            toggleFullScreen();
        return true; // the mouse may point; it changes nothing
    default:
        return false;
    }
}

void Presentation::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_F11 || (event->key() == Qt::Key_Escape && isFullScreen()))
        toggleFullScreen();
    else if (event->key() == Qt::Key_Escape || event->matches(QKeySequence::Close))
        close();
    else
        QWidget::keyPressEvent(event);
}

}
