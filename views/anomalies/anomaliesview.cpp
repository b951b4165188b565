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

}

AnomaliesView::AnomaliesView(const ViewContext& context, QWidget* parent)
    : DataView(context, parent)
    , m_bar(new ViewBar(this))
    , m_filter(new IncidentFilter(context.state->incidents(), this))
    , m_table(new IncidentTable(context.state, m_filter, this))
    , m_card(new IncidentCard(context, this))
    , m_incidents(nullptr)
    , m_empty(new RoleLabel(&Theme::text3, wordsFont(13), this))
{
    fillBar();
    m_empty->setObjectName(QStringLiteral("anomaliesEmpty"));
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    auto* split = new QSplitter(Qt::Vertical);
    m_incidents = scrolled(split);
    split->setChildrenCollapsible(false);
    split->addWidget(m_table);
    split->addWidget(m_card);
    split->setStretchFactor(0, 1);
    split->setSizes({ 640, 240 });
    // The list of where it reached takes the room that the table leaves, and gives it back.
    connect(m_card, &IncidentCard::reachToggled, this, [this, split] {
        const int wanted = m_card->reachHeight();
        if (m_beforeReach.isEmpty() == (wanted == 0))
            return;
        if (wanted == 0) {
            split->setSizes(std::exchange(m_beforeReach, {}));
            return;
        }
        m_beforeReach = split->sizes();
        const int all = m_beforeReach[0] + m_beforeReach[1];
        const int table = std::min(m_beforeReach[0],
            m_table->horizontalHeader()->height() + (m_table->model()->rowCount() + 1) * m_table->rowHeight(0));
        const int card = std::max(m_beforeReach[1], std::min(wanted, all - table));
        split->setSizes({ all - card, card });
    });
    m_card->setMinimumHeight(190);
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
