// SPDX-License-Identifier: GPL-3.0-or-later
#include "anomaliesview.h"

#include <utility>

#include <QComboBox>
#include <QHeaderView>
#include <QScrollArea>
#include <QSplitter>
#include <QVBoxLayout>

#include <telltale/common/csv.h>
#include <telltale/common/hiddencontrols.h>
#include <telltale/common/onerunnote.h>
#include <telltale/common/scrolled.h>
#include <telltale/common/taborder.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewbar.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/incidentsmodel.h>
#include <telltale/runs/rolelabel.h>

#include "calmwords.h"
#include "incidentcard.h"
#include "incidenttable.h"

namespace telltale::views {

using judge::Incident;

namespace {

constexpr int kLeastTable = 100; ///< its head and three incidents
constexpr int kLeastCard = 190;
constexpr int kCard = 240; ///< of few words

}

AnomaliesView::AnomaliesView(const ViewContext& context, QWidget* parent)
    : DataView(context, parent)
    , m_bar(new ViewBar(this))
    , m_filter(new IncidentFilter(context.state->incidents(), this))
    , m_table(new IncidentTable(context.state, m_filter, this))
    , m_card(new IncidentCard(context, this))
    , m_incidents(nullptr)
    , m_split(new QSplitter(Qt::Vertical))
    , m_empty(new RoleLabel(&Theme::text3, wordsFont(13), this))
{
    fillBar();
    m_empty->setObjectName(QStringLiteral("anomaliesEmpty"));
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_incidents = scrolled(m_split);
    m_split->setChildrenCollapsible(false);
    m_split->addWidget(m_table);
    m_split->addWidget(m_card);
    m_split->setStretchFactor(0, 1);
    m_split->setSizes({ 640, kCard });
    m_split->installEventFilter(this);
    m_fit.setSingleShot(true);
    connect(&m_fit, &QTimer::timeout, this, &AnomaliesView::fitCard);
    connect(m_split, &QSplitter::splitterMoved, this, [this] { m_isMoved = true; });
    connect(m_card, &IncidentCard::wholeHeightChanged, &m_fit, qOverload<>(&QTimer::start));
    // The list of where it reached takes the room that the table leaves, and gives it back.
    connect(m_card, &IncidentCard::reachToggled, this, [this] {
        const int wanted = m_card->reachHeight();
        if (m_beforeReach.isEmpty() == (wanted == 0))
            return;
        if (wanted == 0) {
            m_split->setSizes(std::exchange(m_beforeReach, {}));
            fitCard();
            return;
        }
        m_beforeReach = m_split->sizes();
        const int all = m_beforeReach[0] + m_beforeReach[1];
        const int table = std::min(m_beforeReach[0], tableHeight());
        const int card = std::max(m_beforeReach[1], std::min(wanted, all - table));
        m_split->setSizes({ all - card, card });
    });
    m_card->setMinimumHeight(kLeastCard);
    m_table->setMinimumHeight(kLeastTable);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_bar);
    layout->addWidget(m_incidents, 1);
    layout->addWidget(m_empty, 1);
    setBackgroundRole(QPalette::Base);
    setAutoFillBackground(true);
    setFocusProxy(m_table);
    tabFrom(m_table, this);

    const ViewState* state = context.state;
    connect(state->incidents(), &items::IncidentsModel::changed, this, &AnomaliesView::refresh);
    for (const auto signal : { &ViewState::runChanged, &ViewState::catalogChanged, &ViewState::fullRangeChanged })
        connect(state, signal, this, &AnomaliesView::refresh);
    refresh();
}

int AnomaliesView::tableHeight() const
{
    return m_table->horizontalHeader()->height() + (m_table->model()->rowCount() + 1) * m_table->rowHeight(0);
}

bool AnomaliesView::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_split && event->type() == QEvent::Resize)
        m_fit.start();
    return DataView::eventFilter(watched, event);
}

void AnomaliesView::fitCard()
{
    const QList<int> sizes = m_split->sizes();
    if (m_isMoved || !m_beforeReach.isEmpty() || m_card->isHidden())
        return;
    const int all = sizes[0] + sizes[1];
    const int most = std::max(kLeastCard, all - std::max(kLeastTable, std::min(tableHeight(), all - kCard)));
    const int card = std::min(most, std::max(kCard, m_card->wholeHeight()));
    if (card != sizes[1])
        m_split->setSizes({ all - card, card });
}

void AnomaliesView::fillBar()
{
    m_severity = m_bar->addCombo(tr("Severity"), QStringLiteral("incidentSeverity"));
    addChoice(m_severity, staticMetaObject, QT_TR_NOOP("all"), store::Severity::Notice);
    addChoice(m_severity, staticMetaObject, QT_TR_NOOP("warning and critical"), store::Severity::Warning);
    addChoice(m_severity, staticMetaObject, QT_TR_NOOP("critical"), store::Severity::Critical);
    m_which = m_bar->addCombo(tr("Show"), QStringLiteral("incidentWhich"));
    m_which->addItem(tr("all"), false);
    m_which->addItem(tr("not acknowledged"), true);
    keepChoices({ m_severity, m_which });
    m_bar->addStretch();
    m_caption = m_bar->addCaption();
    addOneRunNote(m_bar, context().state);
    for (QComboBox* box : { m_severity, m_which }) {
        connect(box, &QComboBox::currentIndexChanged, this, [this] {
            m_filter->set(
                static_cast<store::Severity>(m_severity->currentData().toInt()), m_which->currentData().toBool());
            refresh();
        });
    }
}

void AnomaliesView::refresh()
{
    const int all = context().state->incidents()->rowCount();
    const int shown = m_filter->rowCount();
    m_caption->setText(all == 0 ? QString()
            : shown == all      ? tr("%n incidents", nullptr, all)
                                : tr("%1 of %n incidents", nullptr, all).arg(shown));
    const bool isAny = all > 0;
    m_incidents->setVisible(isAny);
    m_fit.start(); // the table may have other rows
    m_empty->setVisible(!isAny);
    const CalmWords calm = CalmWords::of(*context().state);
    m_empty->setText(calm.text.isEmpty() ? calm.title : tr("%1.", "a sentence").arg(calm.title) + u'\n' + calm.text);
    if (isSettled())
        Q_EMIT settled();
}

bool AnomaliesView::isSettled() const
{
    return DataView::isSettled() && context().state->incidents()->isSettled();
}

void AnomaliesView::paintPicture(QPainter& painter, QSize size)
{
    const HiddenControls hidden(this);
    DataView::paintPicture(painter, size);
}

Expected<void> AnomaliesView::writeCsv(QIODevice* device) const
{
    CsvWriter csv(device);
    for (const char* title : { "id", "severity", "step", "rank", "name", "slot", "kind", "stat", "phase", "rule",
             "sentence", "began", "last_step", "over", "folded", "acknowledged", "label", "notes" })
        csv.text(QString::fromLatin1(title));
    csv.endRow();
    const auto text = [&csv](const std::string& cell) { csv.text(QString::fromStdString(cell)); };
    const auto word = [&csv](std::string_view cell) {
        csv.text(QString::fromUtf8(cell.data(), static_cast<qsizetype>(cell.size())));
    };
    const items::IncidentsModel* incidents = context().state->incidents();
    for (int row = 0; row < incidents->rowCount(); ++row) {
        if (!m_filter->lets(row))
            continue;
        const Incident& one = incidents->incident(row);
        constexpr std::string_view kSeverities[] { "notice", "warning", "critical" };
        constexpr std::string_view kLabels[] { "", "true", "false" };
        csv.integer(one.id);
        word(kSeverities[static_cast<std::size_t>(one.first.severity)]);
        csv.integer(one.first.step.value).integer(one.first.rank.value);
        text(one.first.name);
        text(one.first.slot);
        word(kindName(one.first.kind));
        word(statName(one.first.stat));
        word(judge::phaseWord(one.phase));
        text(one.first.rule);
        text(one.sentence);
        text(one.first.sentence);
        csv.integer(one.lastStep.value).integer(one.isOver ? 1 : 0).integer(static_cast<qint64>(one.folded));
        csv.integer(one.isAcknowledged ? 1 : 0);
        word(kLabels[static_cast<std::size_t>(one.label)]);
        QStringList notes;
        for (const std::string& note : one.notes)
            notes.append(QString::fromStdString(note));
        csv.text(notes.join(u'\n'));
        csv.endRow();
    }
    return csv.finish();
}

}
