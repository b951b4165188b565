// SPDX-License-Identifier: GPL-3.0-or-later
#include "incidentcard.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include <QDateTime>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <telltale/analysis/rundocument.h>
#include <telltale/common/annotator.h>
#include <telltale/common/labels.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/comma.h>
#include <telltale/items/incidentsmodel.h>
#include <telltale/items/incidentwords.h>
#include <telltale/items/tooltiptext.h>
#include <telltale/runs/rolelabel.h>
#include <telltale/store/querypool.h>

#include "calmwords.h"
#include "glyphline.h"
#include "incidentlines.h"
#include "incidentreach.h"

namespace telltale::views {

using judge::Annotation;
using judge::Incident;
namespace incidentwords = items::incidentwords;

namespace {

constexpr int kClockMs = 5000;
constexpr int kLeastHeight = 132; ///< head, two lines of the sentence and the buttons
constexpr int kWholeHeight = 188; ///< with when it was, and what else was seen
constexpr int kButtonGap = 4;
constexpr int kVerdictRow = 28 + kButtonGap; ///< what people say of it, below its buttons
constexpr int kVerdictHeight = kLeastHeight + kVerdictRow;

}

int IncidentCard::reachHeight() const
{
    return isReachShown() ? height() - m_pages->height() + m_reach->wish() : 0;
}

IncidentCard::IncidentCard(const ViewContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_title(new GlyphLine(wordsFont(13, 600), this))
    , m_hint(new RoleLabel(&Theme::text3, wordsFont(12), this))
    , m_when(new RoleLabel(&Theme::text2, wordsFont(12), this))
    , m_queryId(context.queries->newView())
    , m_pages(new QStackedWidget(this))
    , m_lines(new IncidentLines(this))
    , m_reach(new IncidentReach(context.state, this))
    , m_calm(new GlyphLine(wordsFont(13, 600), this))
    , m_calmText(new RoleLabel(&Theme::text3, wordsFont(12), this))
{
    setObjectName(QStringLiteral("incidentCard"));
    setAccessibleName(tr("Root cause"));
    m_when->setObjectName(QStringLiteral("incidentWhen"));
    m_hint->setObjectName(QStringLiteral("incidentHint"));
    m_hint->setMinimumWidth(1); // it is cut to the room that there is
    m_when->setContentsMargins(18, 0, 0, 0);
    m_clock.setInterval(kClockMs);
    connect(&m_clock, &QTimer::timeout, this, &IncidentCard::showTimes);
    m_buttons = makeButtons();
    m_pages->addWidget(m_lines);
    m_pages->addWidget(m_reach);
    m_calm->setObjectName(QStringLiteral("incidentCalm"));
    m_calm->label()->setWordWrap(true);
    m_calmText->setWordWrap(true);
    m_calmText->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    m_calmText->setContentsMargins(18, 0, 0, 0);
    m_head = new QHBoxLayout;
    m_head->setSpacing(8);
    m_head->addWidget(m_title);
    m_head->addWidget(m_hint);
    m_head->addStretch();
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(m_head);
    layout->addWidget(m_when);
    layout->addWidget(m_pages, 1);
    layout->addWidget(m_buttons);
    layout->addWidget(m_calm);
    layout->addWidget(m_calmText, 1);
    setBackgroundRole(QPalette::Window);
    setAutoFillBackground(true);
    setMinimumHeight(kLeastHeight);

    connect(context.state, &ViewState::incidentChanged, this, [this] {
        m_note->clear();
        showPage(0);
    });
    connect(context.state->incidents(), &items::IncidentsModel::changed, this, &IncidentCard::takeIncident);
    for (const auto signal : { &ViewState::runChanged, &ViewState::catalogChanged, &ViewState::fullRangeChanged })
        connect(context.state, signal, this, &IncidentCard::takeIncident);
    connect(context.state, &ViewState::logAppended, this, [this] { takeIncident(); });
    if (context.annotator) {
        connect(context.annotator, &Annotator::refused, this, [this](const QString& sentence) {
            m_why->setText(sentence);
            m_why->show();
        });
    }
    takeIncident();
}

IncidentCard::~IncidentCard()
{
    m_context.queries->cancel(m_queryId);
}

IncidentPicture IncidentCard::picture(int width, int most) const
{
    const QString date = m_times.date();
    const QStringList hint = QStringList { severityHint() } + items::IncidentsModel::saidWords(m_shown);
    return { m_lines->text(), glyphs::severityOf(m_shown.first.severity), hint.join(items::comma()),
        date.isEmpty() ? m_when->text() : date, width, most };
}

bool IncidentCard::isReachShown() const
{
    return m_isShown && m_pages->currentIndex() == 1;
}

QString IncidentCard::foldedWords(const Incident& incident)
{
    const auto folded = static_cast<int>(incident.folded);
    return tr("%n later findings folded", nullptr, folded).replace(QString::number(folded), formatStep(folded));
}

QWidget* IncidentCard::makeButtons()
{
    auto* box = new QWidget(this);
    auto* rows = new QVBoxLayout(box);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(kButtonGap);
    const auto add = [&](QHBoxLayout* row, const QString& text, const char* name) {
        auto* button = new QPushButton(text, box);
        button->setObjectName(QLatin1String(name));
        row->addWidget(button);
        return button;
    };
    QHBoxLayout* first = m_firstRow = new QHBoxLayout;
    first->setSpacing(kButtonGap);
    rows->addLayout(first);
    m_source = add(first, tr("Go to source"), "incidentSource");
    m_source->setIcon(icon(QStringLiteral("flag")));
    m_source->setToolTip(tr("Shows its module, rank, kind, statistic and step everywhere"));
    connect(
        m_source, &QPushButton::clicked, this, [this] { m_context.state->goToIncident(m_context.state->incident()); });
    m_acknowledge = add(first, tr("Acknowledge"), "incidentAcknowledge");
    connect(m_acknowledge, &QPushButton::clicked, this, [this] { say(Annotation::Action::Acknowledge); });
    first->addStretch();
    m_folded = add(first, {}, "incidentFolded");
    connect(m_folded, &QPushButton::clicked, this, [this] { showPage(1 - m_pages->currentIndex()); });
    m_verdict = new QWidget(box);
    rows->addWidget(m_verdict);
    auto* second = m_secondRow = new QHBoxLayout(m_verdict);
    second->setContentsMargins(0, 0, 0, 0);
    second->setSpacing(kButtonGap);
    m_note = new QLineEdit(box);
    m_note->setObjectName(QStringLiteral("incidentNote"));
    m_note->setPlaceholderText(tr("Note, then Enter"));
    m_note->setAccessibleName(tr("Note on the incident"));
    m_note->setMaxLength(2000);
    second->addWidget(m_note, 1);
    connect(m_note, &QLineEdit::returnPressed, this, [this] {
        if (const QString note = m_note->text().trimmed(); !note.isEmpty()) {
            say(Annotation::Action::Note, note);
            m_note->clear();
        }
    });
    m_true = add(second, tr("True alarm"), "incidentTrue");
    m_false = add(second, tr("False alarm"), "incidentFalse");
    for (QPushButton* button : { m_true, m_false }) {
        button->setCheckable(true);
        button->setAutoExclusive(false);
    }
    connect(m_true, &QPushButton::clicked, this, [this] { say(Annotation::Action::True); });
    connect(m_false, &QPushButton::clicked, this, [this] { say(Annotation::Action::False); });
    m_why = new RoleLabel(&Theme::text3, wordsFont(11), box);
    m_why->setObjectName(QStringLiteral("incidentWhyNot"));
    m_why->setWordWrap(true);
    rows->addWidget(m_why);
    return box;
}

/// 0 = what it says, 1 = where it reached, the way back from which stands in the head.
void IncidentCard::showPage(int page)
{
    if (m_pages->currentIndex() != page) {
        const bool hasFocus = m_folded->hasFocus();
        m_pages->setCurrentIndex(page);
        (page == 1 || m_isOneRow ? m_head : m_firstRow)->addWidget(m_folded);
        if (hasFocus)
            m_folded->setFocus();
        m_isShown = false; // with another head
    }
    takeIncident();
    Q_EMIT reachToggled();
}

const Incident* IncidentCard::current() const
{
    return m_context.state->incidents()->find(m_context.state->incident());
}

void IncidentCard::say(Annotation::Action action, const QString& note)
{
    if (const Incident* incident = current(); incident && m_context.annotator)
        m_context.annotator->say(m_context.state->run(), *incident, action, note);
    takeIncident(); // a button shows what the log says, not that it was pressed
}

void IncidentCard::takeIncident()
{
    const Incident* incident = current();
    for (QWidget* part : std::initializer_list<QWidget*> { m_title, m_hint, m_pages, m_buttons })
        part->setVisible(incident != nullptr);
    fitHeight();
    m_calm->setVisible(!incident);
    m_calmText->setVisible(!incident);
    if (!incident) {
        m_isShown = false;
        m_folded->hide(); // which may stand in the head
        m_clock.stop();
        const CalmWords calm = CalmWords::of(*m_context.state);
        m_calm->set(calm.isJudged ? glyphs::Severity::Good : glyphs::Severity::Notice, calm.title);
        m_calmText->setText(calm.text);
        return;
    }
    const QString why = m_context.annotator ? m_context.annotator->whyNot(m_context.state->run()) : QString();
    const bool mayWrite = m_context.annotator != nullptr && why.isEmpty();
    m_why->setText(why);
    m_why->setVisible(!why.isEmpty());
    m_acknowledge->setEnabled(mayWrite && !incident->isAcknowledged);
    m_acknowledge->setText(incident->isAcknowledged ? tr("Acknowledged") : tr("Acknowledge"));
    m_true->setChecked(incident->label == Incident::Label::True);
    m_false->setChecked(incident->label == Incident::Label::False);
    for (QWidget* part : std::initializer_list<QWidget*> { m_true, m_false, m_note })
        part->setEnabled(mayWrite);
    const bool isReach = m_pages->currentIndex() == 1;
    m_folded->setText(isReach ? tr("Back") : foldedWords(*incident) + QStringLiteral(" \u203a"));
    m_folded->setIcon(isReach ? icon(QStringLiteral("left")) : QIcon());
    m_folded->setVisible(isReach || incident->folded > 0);
    if (!m_isShown || *incident != m_shown)
        show(*incident);
    else
        showTimes(); // the run may be over now
}

/// Where there is no room for two rows of buttons, the alarm is told true or false in the first, without a note.
void IncidentCard::fitRows()
{
    const auto widthOf = [this](std::initializer_list<const QWidget*> row, int spacing) {
        int width = -spacing;
        for (const QWidget* part : row)
            width += part == m_folded && !hasFolded() ? 0 : part->sizeHint().width() + spacing;
        return width;
    };
    const int spacing = m_firstRow->spacing();
    const QMargins margins = layout()->contentsMargins();
    const int room = width() - margins.left() - margins.right();
    const bool isOneRow = height() < kVerdictHeight
        && widthOf({ m_source, m_acknowledge, m_true, m_false }, spacing) <= room
        && widthOf({ m_title, m_folded }, m_head->spacing()) + m_head->spacing() + hintWidth() <= room;
    // Not what one row needs: a card that has come to it may become narrower again.
    m_buttons->setMinimumWidth(widthOf({ m_source, m_acknowledge, m_folded }, spacing));
    if (std::exchange(m_isOneRow, isOneRow) == isOneRow)
        return;
    (isOneRow || m_pages->currentIndex() == 1 ? m_head : m_firstRow)->addWidget(m_folded);
    for (QPushButton* button : { m_true, m_false }) {
        if (isOneRow)
            m_firstRow->insertWidget(m_firstRow->count() - 1, button); // before the stretch
        else
            m_secondRow->addWidget(button);
    }
}

/// What is read first stays where there is little room.
void IncidentCard::fitHeight()
{
    fitRows();
    const bool isWhole = height() >= kWholeHeight;
    const bool isReach = m_pages->currentIndex() == 1;
    const bool isLowList = isReach && !isWhole; // three rows, and nothing else
    layout()->setContentsMargins(12, isWhole ? 8 : 4, 12, isWhole ? 10 : 4);
    layout()->setSpacing(isWhole ? 8 : 4);
    m_when->setVisible(height() >= kWholeHeight + kVerdictRow && !isReach && current());
    m_buttons->setVisible(!isLowList && current());
    m_verdict->setVisible(height() >= kVerdictHeight);
    if (m_isShown) {
        fitTitle();
        fitLines();
    }
}

bool IncidentCard::hasFolded() const
{
    return m_isShown && (m_pages->currentIndex() == 1 || m_shown.folded > 0);
}

int IncidentCard::hintWidth() const
{
    return m_hint->fontMetrics().horizontalAdvance(m_hintText) + 1;
}

/// The name in it loses its front where what stands beside it leaves too little, and what stands beside it its end.
void IncidentCard::fitTitle()
{
    const bool isReach = m_pages->currentIndex() == 1;
    const QString place = incidentwords::place(m_shown.first);
    const QFontMetrics metrics = m_title->label()->fontMetrics();
    const QMargins margins = layout()->contentsMargins();
    const int room = width() - margins.left() - margins.right() - GlyphLine::kIndent - hintWidth()
        - m_folded->sizeHint().width() - 2 * m_head->spacing()
        - metrics.horizontalAdvance(tr("Folded into %1").arg(QString()));
    m_title->label()->setMinimumWidth(isReach ? 1 : 0); // the card need not be as wide as it now is
    m_title->set(glyphs::severityOf(m_shown.first.severity),
        isReach ? tr("Folded into %1").arg(fitLabels({ place }, metrics, room).front()) : tr("Root cause"));
    m_title->setToolTip(isReach ? items::toolTipText(place) : QString());
    const bool hasButton = hasFolded() && (isReach || m_isOneRow);
    const int left = width() - margins.left() - margins.right() - m_title->sizeHint().width() - m_head->spacing()
        - (hasButton ? m_folded->sizeHint().width() + m_head->spacing() : 0);
    m_hint->setText(m_hint->fontMetrics().elidedText(m_hintText, Qt::ElideRight, std::max(left, 0)));
    m_hint->setToolTip(m_hint->text() == m_hintText ? m_when->text() : m_hintText + u'\n' + m_when->text());
}

void IncidentCard::fitLines()
{
    const QMargins margins = layout()->contentsMargins();
    const int spacing = layout()->spacing();
    int outside = margins.top() + margins.bottom() + m_title->sizeHint().height() + spacing;
    for (const QWidget* part : std::initializer_list<const QWidget*> { m_buttons, m_when })
        outside += part->isHidden() ? 0 : part->sizeHint().height() + spacing;
    const int lines = m_lines->fit(width() - margins.left() - margins.right(), height() - outside);
    const int whole = outside + lines + (m_when->isHidden() ? m_when->sizeHint().height() + spacing : 0);
    if (m_pages->currentIndex() == 0 && std::exchange(m_wholeHeight, whole) != whole)
        Q_EMIT wholeHeightChanged();
}

void IncidentCard::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    fitHeight();
}

/// By the training's clock, which the run has where its agent records it.
void IncidentCard::askTimes(const Incident& incident)
{
    if (!m_context.state->run())
        return;
    m_context.queries->submit(m_queryId, m_context.state->run(),
        [this, catalog = m_context.state->catalog(), incident](
            const Expected<store::RunReader*>& reader, const series::CancelToken&) -> store::QueryPool::Delivery {
            if (!reader || !catalog)
                return {};
            return [this, times = IncidentTimes::read(**reader, *catalog, incident)] {
                m_times = times;
                showTimes();
            };
        });
}

QString IncidentCard::severityHint() const
{
    using Until = IncidentTimes::Until;
    const Until until = m_times.until(m_shown);
    const QString last = formatStep(m_shown.lastStep.value);
    return items::IncidentsModel::severityWord(m_shown.first.severity) + items::comma()
        + (until == Until::Quiet         ? tr("nothing new since step %1").arg(last)
                : until == Until::RunEnd ? tr("not over at the run's end")
                                         : tr("last seen at step %1").arg(last));
}

void IncidentCard::showTimes()
{
    const ViewState& view = *m_context.state;
    const store::RunRef run = view.run();
    const bool isRecorded = run && run->isLive() && view.catalog() && !analysis::isRunOver(*view.catalog());
    m_times.runEnd = isRecorded ? std::nullopt : std::optional(view.ownRange().last);
    const auto folded = static_cast<int>(m_shown.folded);
    m_hintText = m_pages->currentIndex() == 1
        ? tr("%n findings", nullptr, folded).replace(QString::number(folded), formatStep(folded))
        : severityHint();
    const QString date = m_times.date();
    m_when->setText(m_times.words(m_shown, QDateTime::currentMSecsSinceEpoch() * 1'000'000));
    m_when->setToolTip(date);
    m_when->setAccessibleDescription(date);
    fitHeight(); // other words beside the title may need another row
    m_clock.start();
}

void IncidentCard::show(const Incident& incident)
{
    if (!m_isShown || incident.id != m_shown.id)
        m_times = {};
    m_isShown = true;
    m_shown = incident;
    askTimes(incident);
    m_lines->set(IncidentText::of(incident), incidentwords::card(incident));
    m_reach->showIncident(incident);
    showTimes();
}

}
