// SPDX-License-Identifier: GPL-3.0-or-later
#include "compareview.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <QClipboard>
#include <QGuiApplication>
#include <QPainter>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include <telltale/common/absentkind.h>
#include <telltale/common/exportpicture.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/taborder.h>
#include <telltale/heatmap/heatcanvas.h>
#include <telltale/items/comma.h>
#include <telltale/items/runsmodel.h>
#include <telltale/items/saidwords.h>
#include <telltale/plot/curvecanvas.h>
#include <telltale/plot/curvecsv.h>
#include <telltale/plot/exactvalues.h>
#include <telltale/plot/runnames.h>

#include "comparebar.h"
#include "comparecsv.h"
#include "comparewords.h"
#include "differencetrees.h"
#include "runchooser.h"
#include "verdictline.h"

namespace telltale::views {
namespace {

constexpr double kMapShare = 0.6; ///< of the height
constexpr int kLiveMs = 1000; ///< how often a run that is still recorded is compared on
constexpr int kVerdict = 24; ///< px of its line in a picture; one that is long has more of them
constexpr int kRoomy = 440; ///< px of height below which a second line of words would be missed more by the plots

/// Of the rows of its tensor that which differs there, -1 where the map has none.
int rowOf(const HeatPicture& map, const judge::Deviation& one, int column)
{
    const ModuleKey key { QString::fromStdString(one.key.name), one.key.slot };
    const float same = map.scaleMode == HeatScale::Ratio ? 1 : 0;
    int found = -1;
    for (int row = 0; row < static_cast<int>(map.rows.size()); ++row) {
        if (map.rows[static_cast<std::size_t>(row)].key != key)
            continue;
        if (column >= 0 && (map.state(row, column) != series::CellState::Value || map.value(row, column) != same))
            return row;
        found = found < 0 ? row : found;
    }
    return found;
}

bool isRecording(const store::RunRef& run)
{
    return run && run->isLive();
}

}

CompareView::CompareView(const ViewContext& context, QWidget* parent)
    : DataView(context, parent)
    , m_loader(context.state, context.queries)
    , m_queries(context.queries)
    , m_conformance(context.queries)
    , m_ofShown(context.queries)
    , m_bar(new CompareBar(context.state, this))
    , m_verdict(new VerdictLine(&m_conformance, this))
    , m_split(new QSplitter(Qt::Vertical, this))
    , m_map(new HeatCanvas(context.state, m_split))
    , m_below(new QStackedWidget(m_split))
    , m_curves(new CurveCanvas(context.state, m_below))
    , m_values(new ExactValues(context, m_curves))
    , m_findings(new FindingsTree(m_below))
    , m_facts(new FactsTree(m_below))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_bar);
    layout->addWidget(m_verdict);
    layout->addWidget(m_split, 1);
    m_map->setObjectName(QStringLiteral("compareMap"));
    m_map->setAccessibleName(tr("Differences between two runs"));
    m_curves->setObjectName(QStringLiteral("compareCurves"));
    m_curves->setAccessibleName(tr("Curves of the compared runs"));
    m_below->addWidget(m_curves);
    m_below->addWidget(m_findings);
    m_below->addWidget(m_facts);
    m_split->addWidget(m_map);
    m_split->addWidget(m_below);
    m_split->setCollapsible(0, false);
    m_split->setSizes({ static_cast<int>(1000 * kMapShare), static_cast<int>(1000 * (1 - kMapShare)) });
    setFocusProxy(m_map);
    tabFrom(m_map, m_bar);
    m_liveTimer.setInterval(kLiveMs);
    keepChoices(m_bar->ownBoxes());
    connectState();
    connectNames();
    showBelow();
    tellEmpty();
}

CompareView::~CompareView() = default;

void CompareView::connectState()
{
    ViewState* state = context().state;
    const auto askNow = [this] {
        m_bar->fill();
        askSoon(Urgency::Now);
    };
    const auto askAll = [this, askNow] {
        m_isConformanceOutdated = m_isKindUnchecked = true;
        m_queries.cancel();
        m_conformance.clear();
        show({});
        askNow();
    };
    connect(state, &ViewState::runChanged, this, askAll);
    connect(state, &ViewState::comparedChanged, this, askAll);
    connect(state, &ViewState::selectionChanged, this, [this] { m_showsAll = false; });
    for (const auto signal : { &ViewState::kindChanged, &ViewState::statChanged, &ViewState::rankChanged,
             &ViewState::moduleFilterChanged, &ViewState::selectionChanged })
        connect(state, signal, this, askNow);
    const auto askWhenIdle = [this] {
        m_isOutdated = m_queries.isBusy();
        if (!m_isOutdated)
            askSoon(Urgency::WhenIdle);
    };
    connect(state, &ViewState::catalogChanged, this, [this, askWhenIdle] {
        m_bar->fill();
        askWhenIdle();
    });
    connect(state, &ViewState::dataArrived, this, askWhenIdle);
    connect(state, &ViewState::visibleRangeChanged, this, [this, state, askWhenIdle] {
        if (state->isFollowing())
            askWhenIdle();
        else
            askSoon(Urgency::Now);
    });
    connect(m_map, &HeatCanvas::gutterChanged, m_curves, &CurveCanvas::setGutter);
    for (PlotCanvas* canvas : { static_cast<PlotCanvas*>(m_map), static_cast<PlotCanvas*>(m_curves) })
        connect(canvas, &PlotCanvas::plotResized, this, [this] { askSoon(Urgency::Now); });
    connect(m_curves, &CurveCanvas::showAllWanted, this, [this, state] {
        state->selectOmitted();
        m_showsAll = true;
        askSoon(Urgency::Now);
    });
    connect(m_bar, &CompareBar::questionChanged, this, [this] { askSoon(Urgency::Now); });
    connect(m_split, &QSplitter::splitterMoved, this, &CompareView::fitAxis);
    connect(m_bar, &CompareBar::conformanceChanged, this, [this] {
        m_isConformanceOutdated = true;
        askSoon(Urgency::Now);
    });
    connect(m_bar, &CompareBar::belowChanged, this, [this] {
        showBelow();
        askSoon(Urgency::Now);
    });
    connect(m_bar, &CompareBar::chooseWanted, this, [this] {
        if (!m_chooser) {
            m_chooser = new RunChooser(context().runs, context().state, context().findRun, this);
            connect(m_chooser, &RunChooser::chosen, &m_loader,
                [this](const std::vector<store::RunRef>& chosen) { m_loader.want(chosen); });
        }
        m_chooser->openBelow(m_bar->runsButton());
    });
    connect(&m_loader, &ComparisonLoader::problem, this, [this](const QString& sentence) {
        m_problem = sentence;
        tellEmpty();
    });
    connect(m_verdict, &VerdictLine::goWanted, this, [this] {
        if (m_conformance.found() && !m_conformance.found()->isEqual())
            goTo(m_conformance.found()->first.front());
    });
    connect(m_verdict, &VerdictLine::mapGoWanted, this, [this] {
        if (m_firstOfMap)
            goTo(judge::Deviation(*m_firstOfMap)); // which it tells anew
    });
    connect(m_verdict, &VerdictLine::copyWanted, this, &CompareView::copyReport);
    connect(m_findings, &FindingsTree::goWanted, this, &CompareView::goTo);
    connect(&m_conformance, &Conformance::changed, this, &CompareView::showConformance);
    connect(&m_ofShown, &Conformance::changed, this, [this] {
        tellFirstOfMap();
        if (isSettled())
            Q_EMIT settled();
    });
    connect(&m_liveTimer, &QTimer::timeout, this, [this] {
        if (!isVisible() || !m_conformance.hasLive())
            return;
        m_conformance.askMore();
        m_ofShown.askMore();
        m_isOutdated = m_queries.isBusy();
        if (!m_isOutdated)
            askSoon(Urgency::WhenIdle);
    });
}

/// A run's name has its id while another one has that name.
void CompareView::connectNames()
{
    const auto tell = [this] {
        if (!hasOthers())
            tellEmpty(); // it says how many others there are
        const QStringList names = runNames(*context().state);
        if (std::exchange(m_names, names) == names)
            return;
        m_bar->fill();
        tellEmpty();
        askSoon(Urgency::WhenIdle);
    };
    if (!context().runs)
        return;
    for (const auto signal : { &QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved })
        connect(context().runs, signal, this, tell);
    connect(context().runs, &QAbstractItemModel::dataChanged, this, tell);
    connect(context().runs, &QAbstractItemModel::modelReset, this, tell);
}

bool CompareView::hasOthers() const
{
    return !context().state->comparedRuns().empty();
}

std::vector<store::RunRef> CompareView::runs() const
{
    std::vector<store::RunRef> runs { context().state->run() };
    for (const ComparedRun& one : context().state->comparedRuns())
        runs.push_back(one.run);
    return runs;
}

QString CompareView::emptyText() const
{
    const ViewState& state = *context().state;
    if (!m_problem.isEmpty())
        return m_problem;
    if (!state.run())
        return tr("Open a run, or connect a training job, to compare it with others.");
    if (!hasOthers()) {
        const std::size_t most = std::min(RunChooser::choices(context().runs, state).size(), ViewState::kMostCompared);
        return most == 0
            ? tr("There is no other run to compare “%1” with.").arg(state.runName(0))
            : tr("Press “Choose runs” to compare up to %n others with “%1”.", nullptr, static_cast<int>(most))
                  .arg(state.runName(0));
    }
    if (!m_isAligned)
        return tr("%1 does not record what the runs are aligned by. Align them by step, or choose another run.")
            .arg(state.runName(m_bar->against()));
    if (!state.moduleFilter().isEmpty())
        return tr("No module that both runs have matches the filter “%1”.").arg(state.moduleFilter());
    return tr("The runs have no “%1” of the same modules on rank %2. Choose another kind, or other runs.")
        .arg(kindText(state.kind()))
        .arg(state.rank().value);
}

void CompareView::tellEmpty()
{
    const bool isAsked = m_queries.isBusy() && m_problem.isEmpty();
    m_map->setEmptyText(isAsked ? QString() : emptyText());
    const ViewState& state = *context().state;
    QString below = tr("Select a module to see its curves.");
    if (!state.selection().empty()) {
        below = state.catalog() ? absentKindText(*state.catalog(), state.kind(), state.rank(), state.selection())
                                : QString();
        if (below.isEmpty())
            below = tr("What is selected has no “%1” on rank %2.").arg(kindText(state.kind())).arg(state.rank().value);
    }
    m_curves->setEmptyText(isAsked ? QString() : below);
}

/// The view opens on something that all runs have, where there is such a thing; the rank stays that some other has.
void CompareView::chooseShared()
{
    ViewState& state = *context().state;
    const auto isIn
        = [](const auto& values, auto value) { return std::find(values.begin(), values.end(), value) != values.end(); };
    const auto choose = [&](auto current, const auto& valuesOf, const auto& set) {
        auto values = valuesOf(*state.catalog());
        for (const ComparedRun& one : state.comparedRuns()) {
            const auto others = valuesOf(*one.catalog);
            std::erase_if(values, [&](auto value) { return !isIn(others, value); });
        }
        if (!values.empty() && !isIn(values, current))
            set(values.front());
    };
    choose(
        state.kind(),
        [](const store::Catalog& catalog) {
            std::vector<Kind> kinds = kindsOf(catalog);
            std::erase(kinds, Kind::Scalar);
            return kinds;
        },
        [&](Kind kind) { state.setKind(kind); });
    choose(
        state.stat(), [&](const store::Catalog& catalog) { return statsOf(catalog, state.kind()); },
        [&](Stat stat) { state.setStat(stat); });
    const bool isRankShared = std::ranges::any_of(state.comparedRuns(),
        [&](const ComparedRun& one) { return isIn(ranksOf(*one.catalog, state.kind()), state.rank()); });
    if (!isRankShared)
        choose(
            state.rank(), [&](const store::Catalog& catalog) { return ranksOf(catalog, state.kind()); },
            [&](Rank rank) { state.setRank(rank); });
}

void CompareView::showEvent(QShowEvent* event)
{
    m_isKindUnchecked = true;
    askSoon(Urgency::WhenIdle);
    DataView::showEvent(event);
}

void CompareView::resizeEvent(QResizeEvent* event)
{
    m_verdict->setCompact(height() < kRoomy);
    DataView::resizeEvent(event);
}

/// The curves below have the same steps between the same edges: their axis is the map's, where there are any.
void CompareView::fitAxis()
{
    const auto curves = m_curves->picture();
    m_map->setStepAxisVisible(m_below->currentWidget() != m_curves || m_split->sizes().value(1) == 0 || !curves
        || curves->isEmpty() || curves->warp);
}

CompareRequest CompareView::request() const
{
    const ViewState& state = *context().state;
    CompareRequest request;
    request.names = runNames(state);
    request.steps.push_back(stepsOf(*state.run(), *state.catalog()));
    for (const ComparedRun& one : state.comparedRuns())
        request.steps.push_back(stepsOf(*one.run, *one.catalog));
    request.against = m_bar->against();
    request.alignment = m_bar->alignment();
    request.value = m_bar->value();
    request.order = m_bar->order();
    request.hasBand = m_bar->below() == BelowMap::Band;
    request.kind = state.kind();
    request.stat = state.stat();
    request.rank = state.rank();
    request.filter = state.moduleFilter();
    request.selection = state.selection();
    request.omitted = static_cast<int>(state.omitted().size());
    request.showsAll = m_showsAll;
    request.range = state.visibleRange();
    request.plot = m_map->plotRect().size();
    request.pixelRatio = devicePixelRatioF();
    request.mapPixels = static_cast<int>(std::lround(request.plot.width() * request.pixelRatio));
    request.curvePixels = static_cast<int>(std::lround(m_curves->plotRect().width() * request.pixelRatio));
    request.theme = &Theme::current();
    request.isLive = isRecording(state.run());
    return request;
}

void CompareView::ask()
{
    const ViewState& state = *context().state;
    tellEmpty();
    if (!hasOthers() || !state.catalog() || !context().queries) {
        m_liveTimer.stop();
        show({});
        return;
    }
    if (std::exchange(m_isKindUnchecked, false))
        chooseShared();
    m_liveTimer.start();
    if (state.visibleRange().isEmpty())
        show({});
    else
        askPicture();
    askConformance(); // runs without a series may have signs of gradients
}

void CompareView::askPicture()
{
    m_isOutdated = false;
    m_queries.ask(runs(), request(), [this](const Expected<CompareAnswer>& answer) { take(answer); });
    tellEmpty();
}

void CompareView::askConformance()
{
    if (!std::exchange(m_isConformanceOutdated, false))
        return;
    judge::ComparisonWish wish;
    wish.tolerance = m_bar->tolerance();
    m_conformance.ask(runs(), m_bar->against(), std::move(wish));
}

void CompareView::take(const Expected<CompareAnswer>& answer)
{
    m_problem = answer ? QString() : items::saidwords::of(answer.error());
    if (answer)
        show(*answer);
    tellEmpty();
    if (m_isOutdated)
        askSoon(Urgency::WhenIdle);
    if (isSettled())
        Q_EMIT settled();
}

void CompareView::show(const CompareAnswer& answer)
{
    m_isAligned = answer.isAligned;
    m_map->setPicture(answer.map && !answer.map->rows.empty() ? answer.map : nullptr);
    m_curves->setPicture(answer.curves);
    fitAxis();
    m_values->ask();
    QStringList notes;
    if (!answer.unaligned.isEmpty())
        notes.append(
            (answer.unaligned.front() == context().state->runName(0) ? tr("not recorded by %1: aligned by step")
                                                                     : tr("not recorded by %1: left out"))
                .arg(answer.unaligned.join(items::comma())));
    if (!answer.lacking.isEmpty())
        notes.append(
            (answer.lacking.size() == 1 ? tr("%1 has none of these curves") : tr("%1 have none of these curves"))
                .arg(answer.lacking.join(items::comma())));
    if (answer.onlyInA > 0)
        notes.append(tr("%n rows only in A", nullptr, answer.onlyInA));
    if (answer.onlyInB > 0)
        notes.append(tr("%n rows only in B", nullptr, answer.onlyInB));
    m_verdict->setPictureNotes(notes);
    m_below->setVisible(hasOthers());
    tellFirstOfMap();
}

/// The sentence is of all kinds and rows: the map may have a first difference of its own. Steps that are laid beside
/// others were not compared. Rows that a filter leaves are asked of only as long as it hides what differs first.
void CompareView::tellFirstOfMap()
{
    const auto& found = m_conformance.found();
    const HeatPicture* map = m_map->picture();
    const judge::Deviation* one = nullptr;
    if (found && map && !map->rows.empty() && !(m_curves->picture() && m_curves->picture()->warp)) {
        const auto first = found->firstOfMaps.find({ map->kind, map->stat, map->rows.front().rank });
        one = first == found->firstOfMaps.end() ? nullptr : &first->second;
    }
    QString note;
    if (one && !context().state->moduleFilter().isEmpty() && rowOf(*map, *one, -1) < 0) {
        one = firstOfShown(*map);
        note = m_ofShown.found() ? firstOfShownText(one) : QString();
    } else {
        m_ofShown.clear();
        note = one ? firstOfMapText(*found, *one) : QString();
    }
    m_firstOfMap = one ? std::optional(*one) : std::nullopt;
    m_verdict->setMapNote(note, m_firstOfMap.has_value());
    NamedCell cell;
    if (m_firstOfMap) {
        cell.column = map->columnOf(m_firstOfMap->step);
        cell.row = rowOf(*map, *m_firstOfMap, cell.column);
        cell.severity = severityOf(*m_firstOfMap);
    }
    m_map->setNamedCell(cell);
}

/// Null where nothing differs, or as long as nobody knows.
const judge::Deviation* CompareView::firstOfShown(const HeatPicture& map)
{
    judge::ComparisonWish wish;
    wish.kind = map.kind;
    wish.stat = map.stat;
    wish.ranks = { map.rows.front().rank };
    wish.pattern = context().state->moduleFilter().toStdString();
    wish.tolerance = m_bar->tolerance();
    m_ofShown.askOnce(runs(), m_bar->against(), std::move(wish));
    return m_ofShown.found() && !m_ofShown.found()->isEqual() ? &m_ofShown.found()->first.front() : nullptr;
}

void CompareView::showConformance()
{
    tellFirstOfMap();
    const auto& found = m_conformance.found();
    if (!m_conformance.isBusy() || !found) {
        m_findings->set(found ? &*found : nullptr);
        const QString none = m_conformance.isBusy() ? tr("The runs are still being compared.") : QString();
        m_findings->setEmptyText(found ? m_verdict->text() : none);
        m_facts->setEmptyText(found ? tr("Configs, hyperparameters and environments are the same.") : none);
        m_facts->set(runNames(*context().state), m_conformance.facts());
    }
    if (isSettled())
        Q_EMIT settled();
}

void CompareView::showBelow()
{
    switch (m_bar->below()) {
    case BelowMap::Lines:
    case BelowMap::Band:
        m_below->setCurrentWidget(m_curves);
        break;
    case BelowMap::Findings:
        m_below->setCurrentWidget(m_findings);
        break;
    case BelowMap::Facts:
        m_below->setCurrentWidget(m_facts);
        break;
    }
    fitAxis();
}

void CompareView::goTo(const judge::Deviation& deviation)
{
    ViewState* state = context().state;
    if (deviation.kind != Kind::Scalar) {
        state->setKind(deviation.kind);
        if (!isIdentity(deviation.stat))
            state->setStat(deviation.stat);
    }
    state->setRank(deviation.rank);
    state->setSelection({ { QString::fromStdString(deviation.key.name), deviation.key.slot } });
    state->goTo(deviation.step);
    m_map->setFocus();
}

void CompareView::copyReport() const
{
    if (m_conformance.found())
        QGuiApplication::clipboard()->setText(
            QString::fromStdString(judge::reportText(*m_conformance.found(), m_conformance.facts())));
}

bool CompareView::isSettled() const
{
    return DataView::isSettled() && !m_queries.isBusy() && !m_isOutdated && !m_conformance.isBusy()
        && !m_ofShown.isBusy();
}

QStringList CompareView::shownWords() const
{
    const ViewState& state = *context().state;
    return { kindText(state.kind()), statText(state.stat()),
        tr("%1, A: %2, B: %3")
            .arg(m_bar->value() == HeatScale::Ratio ? QStringLiteral("B ÷ A") : QStringLiteral("B − A"),
                state.runName(0), state.runName(m_bar->against())) };
}

void CompareView::paintPicture(QPainter& painter, QSize size)
{
    const ViewState& state = *context().state;
    PictureCaption caption = PictureCaption::of(state, shownWords(), true, true);
    const Theme& theme = Theme::current();
    painter.setFont(wordsFont(13));
    painter.setPen(theme.text);
    QRect sentence;
    painter.drawText(
        QRect(12, 4, size.width() - 24, size.height()), Qt::AlignLeft | Qt::TextWordWrap, m_verdict->text(), &sentence);
    const int top = std::max(kVerdict, sentence.bottom() + 4);
    const bool hasTable = m_below->currentWidget() != m_curves;
    if (!m_map->picture() && !hasTable && !(m_curves->picture() && !m_curves->picture()->isEmpty()))
        return paintWithCaption(painter, QRect(QPoint(0, top), size - QSize(0, top)), *m_map, caption);
    const int map = static_cast<int>(std::lround((size.height() - top) * kMapShare));
    paintWithCaption(painter, QRect(0, top, size.width(), map), *m_map, caption);
    const QRect below(0, top + map, size.width(), size.height() - top - map);
    if (!hasTable)
        return m_curves->paintTo(painter, below);
    QWidget* table = m_below->currentWidget();
    const QRect was = table->geometry();
    table->resize(below.size());
    table->render(&painter, below.topLeft());
    table->setGeometry(was);
}

Expected<void> CompareView::writeCsv(QIODevice* device) const
{
    switch (m_bar->below()) {
    case BelowMap::Findings:
        return writeFindingsCsv(device, m_conformance.found() ? &*m_conformance.found() : nullptr);
    case BelowMap::Facts:
        return writeFactsCsv(device, runNames(*context().state), m_conformance.facts());
    case BelowMap::Lines:
    case BelowMap::Band:
        break;
    }
    const auto curves = m_curves->picture();
    return writeDifferenceCsv(device, m_map->picture(), curves && !curves->isEmpty() ? curves.get() : nullptr);
}

}
