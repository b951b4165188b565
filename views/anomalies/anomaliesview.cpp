// SPDX-License-Identifier: GPL-3.0-or-later
#include "anomaliesview.h"

#include <optional>
#include <utility>

#include <QComboBox>
#include <QHeaderView>
#include <QPainter>
#include <QScrollArea>
#include <QScrollBar>
#include <QSplitter>
#include <QVBoxLayout>

#include <telltale/common/csv.h>
#include <telltale/common/exportpicture.h>
#include <telltale/common/onerunnote.h>
#include <telltale/common/readout.h>
#include <telltale/common/scrolled.h>
#include <telltale/common/taborder.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewbar.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/incidentsmodel.h>
#include <telltale/runs/rolelabel.h>

#include "calmwords.h"
#include "incidentcard.h"
#include "incidentreach.h"
#include "incidenttable.h"
#include "timelinecanvas.h"

namespace telltale::views {

using judge::Incident;

namespace {

constexpr int kLeastTable = 100; ///< its head and three incidents
constexpr int kLeastCard = 190;
constexpr int kCard = 240; ///< of few words
constexpr int kLeastLanesHeight = 160; ///< of a picture's height, with their caption
constexpr int kPicturedLanes = 260; ///< where a picture is as high as it likes
constexpr int kLowLanesHeight = 112; ///< where the list of a card has no room otherwise
constexpr int kBelowTable = 8;
constexpr int kMoreInset = 12;
constexpr int kReachTitle = 26;
constexpr int kMostPictured = 100; ///< incidents that a picture grows for

int reachHeight(int rows)
{
    return kReachTitle + IncidentReach::heightOf(rows) + kBelowTable;
}

}

AnomaliesView::AnomaliesView(const ViewContext& context, QWidget* parent)
    : DataView(context, parent)
    , m_bar(new ViewBar(this))
    , m_filter(new IncidentFilter(context.state->incidents(), this))
    , m_table(new IncidentTable(context.state, m_filter, this))
    , m_card(new IncidentCard(context, this))
    , m_timeline(std::make_unique<TimelineCanvas>(context.state))
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
    connect(state, &ViewState::runChanged, this, [this] { m_blocksOf = 0; });
    connect(state, &ViewState::catalogChanged, this, [this] { askSoon(Urgency::WhenIdle); });
    m_timeline->beOfPicture();
    for (const auto signal : { &ViewState::runChanged, &ViewState::catalogChanged, &ViewState::fullRangeChanged })
        connect(state, signal, this, &AnomaliesView::refresh);
    refresh();
}

AnomaliesView::~AnomaliesView() = default;

void AnomaliesView::ask()
{
    const auto catalog = context().state->catalog();
    if (!catalog || std::exchange(m_blocksOf, catalog->series.size()) == catalog->series.size())
        return;
    submit(
        [this, catalog](const Expected<store::RunReader*>&, const series::CancelToken&) -> store::QueryPool::Delivery {
            return [this, blocks = blocksOf(*catalog)] { m_timeline->setBlocks(blocks); };
        });
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

const Incident* AnomaliesView::pictured() const
{
    const ViewState& state = *context().state;
    return m_filter->rowCount() > 0 ? state.incidents()->find(state.incident()) : nullptr;
}

int AnomaliesView::reachWish() const
{
    return pictured() && m_card->isReachShown() ? reachHeight(m_card->reach().topLevelItemCount()) : 0;
}

int AnomaliesView::pictureHeight(int width)
{
    constexpr int kMostWords = 2000;
    const int rows = std::clamp(m_filter->rowCount(), 2, kMostPictured);
    const int table
        = m_table->horizontalHeader()->height() + rows * m_table->verticalHeader()->defaultSectionSize() + kBelowTable;
    const int words = pictured() ? m_card->picture(width, kMostWords).height() : 0;
    return std::max(height(), kPicturedLanes + table + words + reachWish());
}

struct AnomaliesView::PictureParts {
    int lanes;
    int rows; ///< of the table
    int table;
    std::optional<IncidentPicture> words;
    int list; ///< of where it reached
};

AnomaliesView::PictureParts AnomaliesView::partsOf(QSize size) const
{
    const bool isAny = context().state->incidents()->rowCount() > 0;
    const int head = m_table->horizontalHeader()->height(), row = m_table->verticalHeader()->defaultSectionSize();
    const int all = m_filter->rowCount();
    const int reach = reachWish();
    int lanes = kLeastLanesHeight, wish = reach;
    PictureParts parts {};
    if (pictured()) {
        for (const auto& [least, list] : { std::pair(kLeastLanesHeight, reach), std::pair(kLowLanesHeight, reach),
                 std::pair(kLeastLanesHeight, 0) }) {
            lanes = least;
            wish = list;
            parts.words = m_card->picture(size.width(),
                size.height() - least - head - std::min(all, 2) * row - kBelowTable - std::min(list, reachHeight(2)));
            if (parts.words->height() > 0 || reach == 0)
                break;
        }
    }
    const int rest = size.height() - lanes - (parts.words ? parts.words->height() : 0);
    const int forTable = rest - std::min(wish, std::max(reachHeight(2), rest / 2));
    parts.rows = head + all * row <= forTable ? all : std::max(0, (forTable - head - row) / row);
    parts.table = !isAny ? kLeastTable : head + parts.rows * row + (parts.rows < all ? row : kBelowTable);
    parts.list = std::min(wish, rest - parts.table);
    parts.lanes = lanes + rest - parts.table - parts.list;
    return parts;
}

/// What a reader of a report wants: the lanes, the table, and the words of the current incident; nothing to press.
/// Where the card shows where it reached, that list is below its words.
void AnomaliesView::paintPicture(QPainter& painter, QSize size)
{
    const PictureParts parts = partsOf(size);
    const QRect lanes(0, 0, size.width(), parts.lanes);
    m_timeline->resize(lanes.size() - QSize(0, kCaptionBand));
    m_timeline->fitLanes();
    QStringList what { tr("anomalies") };
    if (!m_caption->text().isEmpty())
        what.append(m_caption->text());
    paintWithCaption(painter, lanes, *m_timeline, PictureCaption::of(*context().state, what, false));
    const QRect below(0, parts.lanes, size.width(), parts.table);
    if (context().state->incidents()->rowCount() > 0)
        paintTable(painter, below, parts.rows);
    else
        paintEmptyState(painter, below, m_empty->text(), Theme::current());
    if (parts.words) {
        painter.fillRect(0, below.bottom() + 1, size.width(), parts.words->height(), Theme::current().window);
        parts.words->paint(painter, QPoint(0, below.bottom() + 1));
    }
    if (parts.list > 0) {
        const QRect place(
            kMoreInset, size.height() - parts.list, size.width() - 2 * kMoreInset, parts.list - kBelowTable);
        painter.setFont(wordsFont(13, 600));
        painter.setPen(Theme::current().text);
        painter.drawText(QRect(place.topLeft(), QSize(place.width(), kReachTitle)), Qt::AlignVCenter,
            IncidentCard::foldedWords(*pictured()));
        m_card->reach().paintRows(painter, place.adjusted(0, kReachTitle, 0, 0));
    }
}

/// The first rows, and how many there are besides.
void AnomaliesView::paintTable(QPainter& painter, const QRect& place, int rows)
{
    const QRect was = m_table->geometry();
    const int at = m_table->verticalScrollBar()->value();
    m_table->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff); // its columns fit, but not at once
    const int row = m_table->verticalHeader()->defaultSectionSize();
    m_table->setMinimumHeight(0);
    m_table->resize(place.width(), m_table->horizontalHeader()->height() + rows * row);
    m_table->scrollToTop();
    m_table->render(&painter, place.topLeft());
    m_table->setVerticalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    m_table->setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    m_table->setMinimumHeight(kLeastTable);
    m_table->setGeometry(was);
    m_table->verticalScrollBar()->setValue(at);
    const int more = m_filter->rowCount() - rows;
    painter.setFont(wordsFont(12));
    painter.setPen(Theme::current().text3);
    if (more > 0)
        painter.drawText(place.adjusted(kMoreInset, place.height() - row, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
            tr("and %n more", nullptr, more));
}

Expected<void> AnomaliesView::writeCsv(QIODevice* device) const
{
    CsvWriter csv(device);
    for (const char* title : { "id", "severity", "step", "rank", "name", "slot", "micro_step", "kind", "stat", "phase",
             "rule", "sentence", "began", "last_step", "over", "folded", "acknowledged", "label", "notes" })
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
        csv.integer(one.first.microStep);
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
