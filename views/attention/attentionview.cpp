// SPDX-License-Identifier: GPL-3.0-or-later
#include "attentionview.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include <QLabel>
#include <QSplitter>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include <telltale/common/kindtext.h>
#include <telltale/common/rowlist.h>
#include <telltale/common/viewbar.h>
#include <telltale/heatmap/heatcanvas.h>
#include <telltale/plot/curvecanvas.h>
#include <telltale/plot/exactvalues.h>

#include "attentioncanvas.h"
#include "caption.h"
#include "headmapscanvas.h"
#include "headmapspanel.h"

namespace telltale::views {

namespace {

constexpr double kMapShare = 0.6; ///< of the height
constexpr int kEnoughBelow = 170; ///< px for curves that can be read
constexpr int kLeastBelow = 120;
constexpr double kMapShareAboveMaps = 0.48; ///< of a picture, above maps of queries and keys
constexpr int kLeastWidth = 120; ///< two stand beside each other, and the panels beside them need room
constexpr int kLeastHeight = 60;

}

AttentionView::AttentionView(const ViewContext& context, QWidget* parent)
    : DataView(context, parent)
    , m_bar(new ViewBar(this))
    , m_canvas(new AttentionCanvas(context.state, this))
    , m_split(new QSplitter(Qt::Vertical, this))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_bar);
    layout->addWidget(m_split, 1);
    m_canvas->setAccessibleName(tr("Attention"));
    m_canvas->setObjectName(QStringLiteral("attentionCanvas"));
    setFocusProxy(m_canvas);
    m_split->addWidget(m_canvas);
    buildBelow();
    m_split->setCollapsible(0, false);
    connect(m_split, &QSplitter::splitterMoved, this, [this] { m_split->setProperty(kIsDividerChosen, true); });
    buildBar();
    connectState();
    fillRanks();
    m_canvas->setEmptyText(emptyText());
}

void AttentionView::buildBelow()
{
    m_belowStack = new QStackedWidget(m_split);
    m_belowStack->setBackgroundRole(QPalette::Base); // as the plots, whose headings are part of them
    m_belowStack->setAutoFillBackground(true);
    auto* below = new QWidget(m_belowStack);
    auto* sides = new QHBoxLayout(below);
    sides->setContentsMargins(0, 0, 0, 0);
    sides->setSpacing(0);
    for (std::size_t side = 0; side < m_stacks.size(); ++side) {
        const QString where = side == 0 ? tr("left") : tr("right");
        auto* column = new QVBoxLayout;
        column->setSpacing(0);
        auto* heading = new QHBoxLayout;
        heading->setContentsMargins(AttentionCanvas::cellsLeft(side), 0, kCaptionInset, 0);
        heading->setSpacing(kCaptionInset);
        m_names[side] = new QLabel(below);
        m_names[side]->setFont(wordsFont(12, 600)); // as above the maps
        m_names[side]->setMinimumWidth(1);
        m_captions[side] = makeCaption(below);
        heading->addWidget(m_names[side]);
        heading->addWidget(m_captions[side], 1);
        m_stacks[side] = new QStackedWidget(below);
        m_curves[side] = new CurveCanvas(context().state, m_stacks[side]);
        m_curves[side]->setYMode(YMode::Linear);
        m_curves[side]->setAccessibleName(tr("Curves of heads, %1").arg(where));
        m_exact[side] = new ExactValues(context(), m_curves[side]);
        m_strips[side] = new HeatCanvas(context().state, m_stacks[side]);
        m_strips[side]->setMargins(
            AttentionCanvas::cellsLeft(side), AttentionCanvas::cellsLeft(1 - side) - AttentionCanvas::cellsLeft(1));
        m_strips[side]->setAccessibleName(tr("Heads of a layer, %1").arg(where));
        for (PlotCanvas* canvas :
            { static_cast<PlotCanvas*>(m_curves[side]), static_cast<PlotCanvas*>(m_strips[side]) })
            canvas->setMinimumSize(kLeastWidth, kLeastHeight);
        m_stacks[side]->addWidget(m_curves[side]);
        m_stacks[side]->addWidget(m_strips[side]);
        column->addLayout(heading);
        column->addWidget(m_stacks[side], 1);
        sides->addLayout(column, 1);
        connect(m_curves[side], &PlotCanvas::plotResized, this, [this] { askSoon(Urgency::Now); });
        connect(m_strips[side], &PlotCanvas::plotResized, this, [this] { askSoon(Urgency::Now); });
    }
    fitCurves(width());
    m_belowStack->addWidget(below);
    m_headMaps = new HeadMapsPanel(context().state, m_belowStack);
    m_belowStack->addWidget(m_headMaps);
    m_split->addWidget(m_belowStack);
}

void AttentionView::connectState()
{
    ViewState* state = context().state;
    const auto askNow = [this] {
        fillRanks();
        askSoon(Urgency::Now);
    };
    connect(state, &ViewState::runChanged, this, [this, askNow] {
        ++m_news;
        show(nullptr);
        askNow();
    });
    connect(state, &ViewState::catalogChanged, this, [this] {
        ++m_news;
        fillRanks();
        askSoon(Urgency::WhenIdle);
    });
    connect(state, &ViewState::rankChanged, this, [this, askNow] {
        m_isSpread = false;
        askNow();
    });
    connect(state, &ViewState::ranksChanged, this, askNow);
    connect(state, &ViewState::moduleFilterChanged, this, askNow);
    connect(state, &ViewState::selectionChanged, this, askNow);
    connect(state, &ViewState::cursorChanged, this, askNow);
    connect(state, &ViewState::visibleRangeChanged, this,
        [this, state] { askSoon(state->isFollowing() ? Urgency::WhenIdle : Urgency::Now); });
    connect(state, &ViewState::dataArrived, this, [this] {
        ++m_news;
        askSoon(Urgency::WhenIdle);
    });
    connect(state, &ViewState::blobsArrived, this, [this] {
        if (m_below == BelowMaps::HeadMaps)
            askSoon(Urgency::WhenIdle);
    });
    connect(state, &ViewState::followingChanged, this, [this, state] { m_follow->setChecked(state->isFollowing()); });
    m_follow->setChecked(state->isFollowing());
}

QString AttentionView::emptyText() const
{
    const ViewState& state = *context().state;
    if (!trouble().isEmpty())
        return trouble();
    if (!state.run())
        return tr("Open a run, or connect a training job, to see its attention heads here.");
    if (!state.catalog() || state.catalog()->series.empty())
        return beforeFirstStep();
    const std::vector<Rank> ranks = ranksOf(*state.catalog(), Kind::Attention);
    if (ranks.empty())
        return tr("This run has no attention statistics: its model has no attention module that is known, or "
                  "telltale.attention_hook is not true in its config.");
    if (!state.moduleFilter().isEmpty())
        return tr("No attention module matches the filter “%1”.").arg(state.moduleFilter());
    return tr("There is no attention on rank %1.").arg(state.rank().value);
}

void AttentionView::pickHead(const ModuleKey& head, Rank rank, bool isAdded)
{
    ViewState* state = context().state;
    if (m_axes == HeadAxes::RankByHead) {
        m_layer = head.name; // the rows stay what they are
        state->setRank(rank);
    }
    // The other views show what was clicked.
    state->setKind(Kind::Attention);
    state->setStat(statOf(m_values[0]));
    if (isAdded)
        state->toggleSelected(head);
    else
        state->setSelection({ head });
}

AttentionRequest AttentionView::request() const
{
    const ViewState& state = *context().state;
    AttentionRequest request;
    request.catalog = state.catalog();
    request.values = m_values;
    request.axes = m_axes;
    request.isSpread = m_isSpread;
    request.layer = m_layer;
    request.news = m_news;
    request.last = m_answer;
    request.order = m_order;
    request.below = m_below;
    request.rank = state.rank();
    request.filter = state.moduleFilter();
    request.selection = state.selection();
    request.atStep = state.atStep();
    request.curves
        = CurveRequest::of(state, static_cast<int>(std::lround(m_curves[0]->plotRect().width() * devicePixelRatioF())));
    // The maps are of one rank, and so are the curves below them unless somebody chose others.
    if (m_axes == HeadAxes::LayerByHead && !m_isSpread && !request.curves.ranks)
        request.curves.ranks.emplace();
    request.strips.catalog = state.catalog();
    request.strips.rank = state.rank();
    request.strips.range = state.visibleRange();
    request.strips.plot = m_strips[0]->plotRect().size();
    request.strips.pixelRatio = devicePixelRatioF();
    request.strips.pixels = static_cast<int>(std::lround(request.strips.plot.width() * devicePixelRatioF()));
    request.strips.theme = &Theme::current();
    request.strips.isLive = request.curves.isLive;
    return request;
}

void AttentionView::ask()
{
    const ViewState& state = *context().state;
    m_canvas->setEmptyText(emptyText());
    if (!state.catalog() || state.visibleRange().isEmpty()) {
        show(nullptr);
        return;
    }
    submitRead([request = request()](store::RunReader& reader,
                   const series::CancelToken& cancel) { return readAttention(reader, request, cancel); },
        [this](const std::shared_ptr<const AttentionAnswer>& answer) { show(answer); });
}

/// The maps take what they can fill, and leave what is below them enough; where that is not there, all. What recorded
/// maps do not fill is theirs again.
int AttentionView::mapsHeight(QSize size) const
{
    const int height = size.height();
    const double share = m_below == BelowMaps::HeadMaps ? kMapShareAboveMaps : kMapShare;
    const int own = std::min(static_cast<int>(std::lround(height * share)), m_canvas->mostHeight());
    const int maps = std::max(std::min(own, height - kEnoughBelow), std::min(m_canvas->leastHeight(), height));
    if (height - maps < kLeastBelow)
        return height;
    if (m_below != BelowMaps::HeadMaps)
        return maps;
    const int used = m_headMaps->usedHeight({ size.width(), height - maps });
    return std::clamp(height - std::max(used, kLeastBelow), maps, std::max(maps, m_canvas->mostHeight()));
}

void AttentionView::fitSplit()
{
    const int height = m_split->height();
    if (m_split->property(kIsDividerChosen).toBool() || height <= 0)
        return;
    const int maps = mapsHeight(m_split->size());
    m_split->setSizes({ maps, height - maps });
}

/// Under the cells of their maps, and as wide; where those are narrow, their samples of the colors are the legend.
void AttentionView::fitCurves(int width)
{
    const bool isNarrow = AttentionCanvas::hasNarrowMaps(width);
    for (std::size_t side = 0; side < m_curves.size(); ++side) {
        const int right = AttentionCanvas::cellsLeft(1 - side) - AttentionCanvas::cellsLeft(1);
        m_curves[side]->setHasLegend(!isNarrow);
        m_curves[side]->setMargins(
            AttentionCanvas::cellsLeft(side), right + (isNarrow ? static_cast<int>(AttentionMap::kNarrowScale) : 0));
    }
}

void AttentionView::resizeEvent(QResizeEvent* event)
{
    DataView::resizeEvent(event);
    fitSplit();
    fitCurves(width());
}

void AttentionView::show(std::shared_ptr<const AttentionAnswer> shown)
{
    m_answer = std::move(shown);
    static const AttentionAnswer nothing;
    const AttentionAnswer& answer = m_answer ? *m_answer : nothing;
    m_canvas->setPicture(answer.maps, m_values);
    std::vector<std::pair<ModuleKey, int>> drawn;
    if (const auto& curves = answer.below[0].curves) {
        for (const CurveSeries& one : curves->series) {
            if (!one.isGroup && !one.isOtherRank && !one.isOtherRun)
                drawn.emplace_back(one.row.key, one.slot);
        }
    }
    m_canvas->setDrawn(std::move(drawn));
    const bool isEmpty = !answer.maps || answer.maps->isEmpty();
    for (QComboBox* box : { m_axesBox, m_valueBoxes[0], m_valueBoxes[1], m_orderBox, m_belowBox })
        m_bar->setComboVisible(box, !isEmpty);
    m_bar->setComboVisible(m_layerBox, !isEmpty && m_axes == HeadAxes::RankByHead);
    m_split->widget(1)->setVisible(!isEmpty);
    m_headMaps->setPicture(answer.headMaps, isEmpty ? QString() : answer.maps->layers.front().name);
    // Whoever selects one head after another must find the next where it stood.
    const FittedTo fitted { context().state->run().get(), m_below, isEmpty, answer.headMaps != nullptr,
        answer.maps ? answer.maps->layers.size() : 0, answer.maps ? answer.maps->columns : 0 };
    if (std::exchange(m_fittedTo, fitted) != fitted)
        fitSplit();
    if (!isEmpty && m_axes == HeadAxes::RankByHead)
        fillLayers(answer.layers, *answer.maps);
    for (std::size_t side = 0; side < m_stacks.size(); ++side) {
        m_names[side]->setText(headValueText(m_values[side]));
        const auto count = static_cast<int>(answer.shown.size());
        QString text;
        if (m_below == BelowMaps::Strips)
            text = answer.layer;
        else if (answer.areChosen)
            text = tr("%n selected heads", nullptr, count);
        else if (!isEmpty && answer.areAll)
            text = tr("all %n heads", nullptr, count);
        else if (!isEmpty && answer.maps->isSpread)
            text = tr("the %n heads that differ most between ranks", nullptr, count);
        else if (!isEmpty && std::any_of(answer.shown.begin(), answer.shown.end(), [&](const ModuleKey& key) {
                     const auto at = answer.maps->placeOf(key);
                     return answer.maps->valueOf(at[0], at[1], HeadValue::Entropy).state != series::CellState::Value;
                 }))
            text = tr("%n heads", nullptr, count); // none is lowest where one is not finite
        else
            text = tr("the %n heads of lowest entropy", nullptr, count);
        m_captions[side]->setText(text);
        if (!isEmpty) {
            m_curves[side]->setMostWidth(AttentionMap::mostWidth(*answer.maps));
            m_strips[side]->setMostWidth(AttentionMap::mostWidth(*answer.maps));
        }
        if (m_curves[side]->picture() != answer.below[side].curves) {
            m_curves[side]->setPicture(answer.below[side].curves);
            m_exact[side]->ask();
        }
        m_strips[side]->setPicture(answer.below[side].strips);
    }
}

HeadMapsCanvas* AttentionView::headMaps() const
{
    return m_headMaps->canvas();
}

void AttentionView::troubleChanged()
{
    m_canvas->setEmptyText(emptyText());
}

}
