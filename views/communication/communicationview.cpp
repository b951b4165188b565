// SPDX-License-Identifier: GPL-3.0-or-later
#include "communicationview.h"

#include <algorithm>
#include <cmath>

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSplitter>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include <telltale/analysis/rundocument.h>
#include <telltale/common/csv.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/onerunnote.h>
#include <telltale/common/rowlist.h>
#include <telltale/common/steeringstate.h>
#include <telltale/common/viewbar.h>
#include <telltale/config/monitorconfig.h>
#include <telltale/config/textedit.h>
#include <telltale/heatmap/heatcanvas.h>
#include <telltale/runs/panelhead.h>

#include "commlane.h"
#include "commtable.h"
#include "framelist.h"

namespace telltale::views {

namespace {

constexpr int kTimesInStep = -1;
constexpr int kEnoughBelow = 280; ///< px of the part below the table

}

CommunicationView::CommunicationView(const ViewContext& context, QWidget* parent)
    : DataView(context, parent)
    , m_bar(new ViewBar(this))
    , m_pages(new QStackedWidget(this))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_bar);
    layout->addWidget(m_pages, 1);
    buildBody();
    buildBar();
    setFocusProxy(m_table);
    connectState();
    fillChoices();
    show({});
}

void CommunicationView::buildBody()
{
    auto* empty = new QWidget(m_pages);
    auto* lines = new QVBoxLayout(empty);
    lines->setContentsMargins(40, 20, 40, 20);
    lines->setSpacing(12);
    empty->setBackgroundRole(QPalette::Base);
    empty->setAutoFillBackground(true);
    m_empty = new QLabel(empty);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_empty->setForegroundRole(QPalette::PlaceholderText);
    m_offer = new QPushButton(tr("Collect collectives from now on"), empty);
    m_offer->setObjectName(QStringLiteral("communicationOffer"));
    lines->addStretch(1);
    lines->addWidget(m_empty);
    lines->addWidget(m_offer, 0, Qt::AlignHCenter);
    lines->addStretch(1);
    connect(m_offer, &QPushButton::clicked, this, &CommunicationView::offerCollectives);

    m_split = new QSplitter(Qt::Vertical, m_pages);
    m_table = new CommTable(m_split);
    m_table->setAccessibleName(tr("Collectives by call site"));
    m_table->setObjectName(QStringLiteral("communicationTable"));
    auto* below = new QSplitter(Qt::Horizontal, m_split);
    m_below = new QStackedWidget;
    below->addWidget(titled(tr("In the step"), m_below, below, &m_belowHead));
    m_lane = new CommLane(context().state, m_below);
    m_lane->setAccessibleName(tr("Collectives in the step"));
    m_strip = new HeatCanvas(context().state, m_below);
    m_strip->setAccessibleName(tr("Collectives over the steps"));
    for (PlotCanvas* canvas : { static_cast<PlotCanvas*>(m_lane), static_cast<PlotCanvas*>(m_strip) }) {
        canvas->setMinimumSize(240, 100);
        m_below->addWidget(canvas);
    }
    m_stack = new FrameList;
    m_stack->setAccessibleName(tr("Call stack"));
    m_stack->setObjectName(QStringLiteral("communicationFrames"));
    below->addWidget(titled(tr("Stack"), m_stack, below, &m_stackHead));
    below->setSizes({ 640, 360 });
    below->setCollapsible(0, false);
    connect(m_split, &QSplitter::splitterMoved, this, [this] { m_split->setProperty(kIsDividerChosen, true); });
    m_split->setCollapsible(0, false);
    m_pages->addWidget(empty);
    m_pages->addWidget(m_split);

    connect(m_table, &CommTable::siteChosen, this, &CommunicationView::choose);
    connect(m_lane, &CommLane::siteChosen, this, &CommunicationView::choose);
    connect(m_strip, &PlotCanvas::plotResized, this, [this] {
        if (m_metric)
            askSoon(Urgency::Now);
    });
    connect(m_stack, &FrameList::frameChosen, this, &CommunicationView::copyFrame);
}

void CommunicationView::buildBar()
{
    m_rankBox = m_bar->addCombo(tr("Rank"), QStringLiteral("communicationRank"));
    m_statBox = m_bar->addCombo(tr("Statistic"), QStringLiteral("communicationStatistic"));
    m_belowBox = m_bar->addCombo(tr("Below"), QStringLiteral("communicationBelow"));
    addChoice(m_belowBox, staticMetaObject, QT_TR_NOOP("times in the step"), kTimesInStep);
    addChoice(m_belowBox, staticMetaObject, QT_TR_NOOP("time over steps"), CommMetric::Seconds);
    addChoice(m_belowBox, staticMetaObject, QT_TR_NOOP("bytes over steps"), CommMetric::Bytes);
    addChoice(m_belowBox, staticMetaObject, QT_TR_NOOP("calls over steps"), CommMetric::Calls);
    keepChoices({ m_belowBox });
    m_bar->addStretch();
    m_caption = m_bar->addCaption();
    addOneRunNote(m_bar, context().state);
    m_follow = m_bar->addButton(
        QStringLiteral("follow"), tr("Follow the newest steps"), tr("Space"), QStringLiteral("communicationFollow"));
    m_follow->setCheckable(true);
    ViewState* state = context().state;
    connect(m_rankBox, &QComboBox::activated, this,
        [this, state] { state->setRank(Rank { m_rankBox->currentData().toInt() }); });
    connect(m_statBox, &QComboBox::activated, this,
        [this, state] { state->setStat(static_cast<Stat>(m_statBox->currentData().toInt())); });
    connect(m_belowBox, &QComboBox::activated, this, [this] {
        const int metric = m_belowBox->currentData().toInt();
        setBelow(metric < 0 ? std::nullopt : std::optional(static_cast<CommMetric>(metric)));
    });
    connect(m_follow, &QToolButton::clicked, state, &ViewState::setFollowing);
}

void CommunicationView::connectState()
{
    ViewState* state = context().state;
    const auto askNow = [this] { askSoon(Urgency::Now); };
    const auto fillAndAsk = [this] {
        fillChoices();
        askSoon(Urgency::Now);
    };
    connect(state, &ViewState::runChanged, this, [this, fillAndAsk] {
        m_storedConfig.reset();
        show({});
        fillAndAsk();
    });
    connect(state, &ViewState::catalogChanged, this, [this] {
        fillChoices();
        askSoon(Urgency::WhenIdle);
    });
    connect(state, &ViewState::rankChanged, this, fillAndAsk);
    connect(state, &ViewState::statChanged, this, fillAndAsk);
    connect(state, &ViewState::cursorChanged, this, askNow);
    connect(state, &ViewState::moduleFilterChanged, this, askNow);
    connect(state, &ViewState::blobsArrived, this, [this] { askSoon(Urgency::WhenIdle); });
    connect(state, &ViewState::dataArrived, this, [this] { askSoon(Urgency::WhenIdle); });
    connect(state, &ViewState::visibleRangeChanged, this,
        [this, state] { askSoon(state->isFollowing() ? Urgency::WhenIdle : Urgency::Now); });
    connect(state, &ViewState::selectionChanged, this, &CommunicationView::takeSelection);
    connect(state, &ViewState::followingChanged, this, [this, state] { m_follow->setChecked(state->isFollowing()); });
    m_follow->setChecked(state->isFollowing());
    if (context().steering)
        connect(context().steering, &SteeringState::changed, this, &CommunicationView::troubleChanged);
}

void CommunicationView::fillChoices()
{
    const ViewState& state = *context().state;
    const QSignalBlocker rankBlocker(m_rankBox);
    const QSignalBlocker statBlocker(m_statBox);
    m_rankBox->clear();
    m_statBox->clear();
    if (const auto catalog = state.catalog()) {
        for (const Rank rank : ranksOf(*catalog, Kind::Comm))
            m_rankBox->addItem(QString::number(rank.value), rank.value);
        for (const Stat stat : statsOf(*catalog, Kind::Comm))
            m_statBox->addItem(statText(stat), static_cast<int>(stat));
    }
    m_rankBox->setCurrentIndex(m_rankBox->findData(state.rank().value));
    m_statBox->setCurrentIndex(m_statBox->findData(static_cast<int>(request().stat)));
    for (QComboBox* box : { m_rankBox, m_statBox })
        box->updateGeometry();
    troubleChanged();
}

bool CommunicationView::canOffer() const
{
    const ViewState& state = *context().state;
    return context().steering && context().steering->offer && state.run() && context().steering->of(state.run()->id)
        && (!state.catalog() || ranksOf(*state.catalog(), Kind::Comm).empty()) && !areCollected();
}

const RunSteering* CommunicationView::steering() const
{
    const auto run = context().state->run();
    return run && context().steering ? context().steering->of(run->id) : nullptr;
}

bool CommunicationView::areCollected() const
{
    const auto config = config::parseMonitorConfig(steering() ? runningConfig() : m_storedConfig.value_or(""));
    return config && config->config.ccEnable;
}

/// What the first rank that says it runs; empty where none does.
std::string CommunicationView::runningConfig() const
{
    const RunSteering* now = steering();
    for (const RankSteering& rank : now ? now->ranks : std::vector<RankSteering>()) {
        if (!rank.runs.empty())
            return rank.runs;
    }
    return {};
}

QString CommunicationView::emptyText() const
{
    const ViewState& state = *context().state;
    if (!trouble().isEmpty())
        return trouble();
    if (!state.run())
        return tr("Open a run, or connect a training job, to see its collectives here.");
    if (!state.catalog() || state.catalog()->series.empty())
        return beforeFirstStep();
    if (ranksOf(*state.catalog(), Kind::Comm).empty()) {
        if (m_askedRun == QString::fromStdString(state.run()->id))
            return tr("The ranks have been asked to collect their collectives; they appear with the next steps.");
        return noneText();
    }
    if (!state.moduleFilter().isEmpty())
        return tr("No call site matches the filter “%1”.").arg(state.moduleFilter());
    return tr("Rank %1 records no collectives.").arg(state.rank().value);
}

/// Where the config is not known, nobody can say which of the two it is.
QString CommunicationView::noneText() const
{
    const std::vector<store::SourceInfo>& sources = context().state->catalog()->sources;
    const auto isOfFirst = [&](const store::SourceInfo& source) { return source.rank == sources.front().rank; };
    if (areCollected() && std::ranges::all_of(sources, isOfFirst))
        return tr("Collectives were collected, and none was called: this run has one rank.");
    if (areCollected())
        return steering()
            ? tr("Collectives are collected, and none was called so far. Those inside DDP cannot be seen.")
            : tr("Collectives were collected, and none was called. Those inside DDP cannot be seen.");
    if (steering())
        return tr("This run records no collectives; cc_distribution.enable in its config turns them on.");
    return m_storedConfig.value_or("").empty()
        ? tr("No collectives recorded: cc_distribution.enable was off, or only DDP's own ran.")
        : tr("No collectives recorded: cc_distribution.enable was off in the config of this run.");
}

void CommunicationView::offerCollectives()
{
    const auto run = context().state->run();
    if (!steering() || !context().steering->offer)
        return;
    ConfigRequest wanted;
    wanted.runId = run->id;
    wanted.config = config::withMember(
        config::withMember(runningConfig(), "/cc_distribution/enable", "true"), "/cc_distribution/cc_pre_hook", "true");
    wanted.author = qEnvironmentVariable("USER", QStringLiteral("window")).toStdString();
    context().steering->offer(wanted);
    m_askedRun = QString::fromStdString(run->id);
    troubleChanged();
}

void CommunicationView::setBelow(std::optional<CommMetric> metric)
{
    m_metric = metric;
    const QSignalBlocker blocker(m_belowBox);
    m_belowBox->setCurrentIndex(m_belowBox->findData(metric ? static_cast<int>(*metric) : kTimesInStep));
    m_below->setCurrentIndex(metric ? 1 : 0);
    m_belowHead->setTitle(metric ? tr("Over the steps") : tr("In the step"));
    sayWhereAxisEnds();
    askSoon(Urgency::Now);
}

void CommunicationView::sayWhereAxisEnds()
{
    m_belowHead->setHint(!m_metric && m_lane->endsWithStep() ? tr("until its end", "of a step") : QString());
}

const CommRow* CommunicationView::current() const
{
    const QString name = m_table->current();
    if (!m_picture || name.isEmpty())
        return nullptr;
    const auto row = std::find_if(
        m_picture->rows.begin(), m_picture->rows.end(), [&name](const CommRow& one) { return one.site.name == name; });
    return row == m_picture->rows.end() ? nullptr : &*row;
}

void CommunicationView::choose(const QString& site)
{
    m_table->choose(site);
    fillStack();
    const CommRow* row = current();
    if (!row || row->key.name.isEmpty())
        return;
    // The other views show what was clicked.
    ViewState* state = context().state;
    const Stat stat = request().stat;
    state->setKind(Kind::Comm);
    state->setStat(stat);
    state->setSelection({ row->key });
}

void CommunicationView::takeSelection()
{
    const auto& selection = context().state->selection();
    if (selection.empty() || !m_picture || selection.front().name == m_table->current())
        return;
    const bool isHere = std::any_of(m_picture->rows.begin(), m_picture->rows.end(),
        [&selection](const CommRow& row) { return row.site.name == selection.front().name; });
    if (!isHere)
        return;
    m_table->choose(selection.front().name);
    fillStack();
}

void CommunicationView::fillStack()
{
    const CommRow* row = current();
    m_lane->setCurrent(row ? row->site.name : QString()); // of another run none is chosen
    const QStringList frames = row ? row->site.stack : QStringList();
    m_stackHead->setTitle(row ? tr("Stack of %1").arg(row->site.shortCall()) : tr("Stack"));
    m_stackHead->setToolTip(frames.isEmpty() ? QString() : tr("The innermost first; a click copies file:line"));
    m_stackHead->setDetail({});
    m_stack->setFrames(frames,
        row ? tr("The agent of this run told no stack.")
            : tr("Choose a call site to see the stack it is called from."));
}

void CommunicationView::copyFrame(const QString& line)
{
    QApplication::clipboard()->setText(line);
    m_stackHead->setDetail(tr("Copied %1").arg(line.section(QLatin1Char('/'), -1)));
}

CommRequest CommunicationView::request() const
{
    const ViewState& state = *context().state;
    CommRequest request;
    request.catalog = state.catalog();
    request.rank = state.rank();
    // The statistic of other kinds may be none of these.
    const auto stats = state.catalog() ? statsOf(*state.catalog(), Kind::Comm) : std::vector<Stat>();
    request.stat = std::find(stats.begin(), stats.end(), state.stat()) != stats.end() ? state.stat() : Stat::Norm;
    request.filter = state.moduleFilter();
    request.atStep = state.atStep();
    request.metric = m_metric;
    request.strip.scale = m_metric == CommMetric::Calls ? HeatScale::Linear : HeatScale::Log;
    request.strip.range = state.visibleRange();
    request.strip.plot = m_strip->plotRect().size();
    request.strip.pixelRatio = devicePixelRatioF();
    request.strip.pixels = static_cast<int>(std::lround(request.strip.plot.width() * devicePixelRatioF()));
    request.strip.theme = &Theme::current();
    request.strip.isLive = state.run() && state.run()->isLive();
    return request;
}

void CommunicationView::ask()
{
    const ViewState& state = *context().state;
    if (!state.catalog() || state.visibleRange().isEmpty() || ranksOf(*state.catalog(), Kind::Comm).empty()) {
        show({});
        if (state.catalog() && !steering() && !m_storedConfig)
            submitRead(
                [](store::RunReader& reader, const series::CancelToken&) -> Expected<std::string> {
                    const analysis::Json config = analysis::configOf(reader);
                    return config.empty() ? std::string() : config.dump();
                },
                [this](const std::shared_ptr<const std::string>& config) {
                    m_storedConfig = config::parseMonitorConfig(*config) ? *config : std::string();
                    troubleChanged();
                });
        return;
    }
    submitRead([request = request()](store::RunReader& reader,
                   const series::CancelToken& cancel) { return readComm(reader, request, cancel); },
        [this](const std::shared_ptr<const CommAnswer>& answer) { show(*answer); });
}

void CommunicationView::show(const CommAnswer& answer)
{
    m_picture = answer.table;
    m_table->setPicture(answer.table);
    m_lane->setPicture(answer.table, m_table->order());
    sayWhereAxisEnds();
    m_strip->setPicture(answer.strip);
    m_strip->setLeastGutter(m_lane->plotRect(m_strip->size()).left()); // their lines have the same names
    m_strip->setEmptyText(tr("The agent of this run records no such figures of its collectives."));
    const bool isEmpty = !answer.table || answer.table->rows.empty();
    m_caption->setText(isEmpty
            ? QString()
            : tr("at step %1").arg(formatStep(answer.table->step.value_or(answer.table->atStep).value)));
    m_caption->setToolTip(isEmpty ? QString() : answer.table->times);
    takeSelection();
    fillStack();
    troubleChanged();
    fitSplit();
}

/// A table of few rows gives what it does not need where there is little room.
void CommunicationView::fitSplit()
{
    if (m_split->property(kIsDividerChosen).toBool())
        return;
    const int all = m_split->height() - m_split->handleWidth();
    const int table = std::min(all * 56 / 100, std::max(m_table->wantedHeight(), all - kEnoughBelow));
    m_split->setSizes({ table, all - table });
}

void CommunicationView::resizeEvent(QResizeEvent* event)
{
    DataView::resizeEvent(event);
    fitSplit();
}

void CommunicationView::troubleChanged()
{
    const bool isEmpty = !m_picture || m_picture->rows.empty();
    m_pages->setCurrentIndex(isEmpty ? 0 : 1);
    m_empty->setText(emptyText());
    m_bar->setVisible(!isEmpty); // nothing to choose from
    m_offer->setVisible(isEmpty && canOffer() && m_askedRun != QString::fromStdString(context().state->run()->id));
}

}
