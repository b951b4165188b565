// SPDX-License-Identifier: GPL-3.0-or-later
#include "attentionview.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <tuple>
#include <utility>

#include <QLabel>
#include <QPainter>
#include <QSignalBlocker>
#include <QSplitter>
#include <QStackedWidget>
#include <QStandardItemModel>
#include <QToolButton>
#include <QVBoxLayout>

#include <telltale/common/csv.h>
#include <telltale/common/exportpicture.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/rankbox.h>
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
constexpr int kBelowInset = 12;
constexpr int kLeastWidth = 120; ///< two stand beside each other, and the panels beside them need room
constexpr int kLeastHeight = 60;

constexpr std::array kValues { HeadValue::Entropy, HeadValue::EntropyShare, HeadValue::SoftmaxMax,
    HeadValue::MaxLogit };
constexpr std::array kValueNames { QLatin1String("entropy"), QLatin1String("entropy share"),
    QLatin1String("softmax max"), QLatin1String("max logit") };
constexpr int kSpread = -1; ///< in place of a rank
constexpr std::array kBelowNames { QLatin1String("curves"), QLatin1String("strips"), QLatin1String("maps") };

/// Of each head that is drawn below a map and each bucket: its row, last step, state and last value there. Bands are of
/// several heads or ranks, and have no value of their own.
void forEachBelow(
    const BelowPicture& below, const std::function<void(const Row&, Step, series::CellState, double)>& visit)
{
    for (std::size_t i = 0; below.curves && i < below.curves->series.size(); ++i) {
        const CurveSeries& one = below.curves->series[i];
        for (int b = 0; b < static_cast<int>(one.result.buckets.size()) && !one.isGroup && !one.isOtherRun; ++b) {
            const series::Bucket& bucket = one.result.buckets[static_cast<std::size_t>(b)];
            visit(one.row, stepsOf(one.result, b).last, bucket.state, bucket.last);
        }
    }
    for (int row = 0; below.strips && row < below.strips->result.rows; ++row) {
        for (int column = 0; column < below.strips->columns(); ++column)
            visit(below.strips->rows[static_cast<std::size_t>(row)], below.strips->stepsOf(row, column).last,
                below.strips->state(row, column), static_cast<double>(below.strips->value(row, column)));
    }
}

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
    connect(m_split, &QSplitter::splitterMoved, this, [this] { m_isSplitChosen = true; });
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
        heading->setContentsMargins(AttentionCanvas::cellsLeft(side), 0, kBelowInset, 0);
        heading->setSpacing(kBelowInset);
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

void AttentionView::buildBar()
{
    m_axesBox = m_bar->addCombo(tr("Axes"), QStringLiteral("attentionAxes"));
    addChoice(m_axesBox, staticMetaObject, QT_TR_NOOP("layer × head"), HeadAxes::LayerByHead);
    addChoice(m_axesBox, staticMetaObject, QT_TR_NOOP("rank × head"), HeadAxes::RankByHead);
    m_layerBox = m_bar->addCombo(tr("Layer"), QStringLiteral("attentionLayer"));
    const std::array labels { tr("Left"), tr("Right") };
    const std::array names { QStringLiteral("attentionLeft"), QStringLiteral("attentionRight") };
    for (std::size_t side = 0; side < m_valueBoxes.size(); ++side) {
        m_valueBoxes[side] = m_bar->addCombo(labels[side], names[side], false); // they stand as their maps do
        for (std::size_t i = 0; i < kValues.size(); ++i)
            addChoice(m_valueBoxes[side], headValueText(kValues[i]), kValueNames[i], static_cast<int>(kValues[i]));
        m_valueBoxes[side]->setCurrentIndex(m_valueBoxes[side]->findData(static_cast<int>(m_values[side])));
        connect(m_valueBoxes[side], &QComboBox::activated, this, [this, side] {
            setValue(static_cast<int>(side), static_cast<HeadValue>(m_valueBoxes[side]->currentData().toInt()));
        });
    }
    m_rankBox = m_bar->addCombo(tr("Rank"), QStringLiteral("attentionRank"));
    m_orderBox = m_bar->addCombo(tr("Heads"), QStringLiteral("attentionHeads"));
    addChoice(m_orderBox, staticMetaObject, QT_TR_NOOP("by number"), HeadOrder::Number);
    addChoice(m_orderBox, staticMetaObject, QT_TR_NOOP("by value"), HeadOrder::Value);
    m_belowBox = m_bar->addCombo(tr("Below"), QStringLiteral("attentionBelow"));
    addChoice(m_belowBox, staticMetaObject, QT_TR_NOOP("curves"), BelowMaps::Curves);
    addChoice(m_belowBox, staticMetaObject, QT_TR_NOOP("strips"), BelowMaps::Strips);
    addChoice(m_belowBox, staticMetaObject, QT_TR_NOOP("maps"), BelowMaps::HeadMaps);
    m_bar->addStretch();
    m_follow = m_bar->addButton(
        QStringLiteral("follow"), tr("Follow the newest steps"), tr("Space"), QStringLiteral("attentionFollow"));
    m_follow->setCheckable(true);

    ViewState* state = context().state;
    connect(m_orderBox, &QComboBox::activated, this,
        [this] { setOrder(static_cast<HeadOrder>(m_orderBox->currentData().toInt())); });
    connect(m_belowBox, &QComboBox::activated, this,
        [this] { setBelow(static_cast<BelowMaps>(m_belowBox->currentData().toInt())); });
    connect(m_axesBox, &QComboBox::activated, this,
        [this] { setAxes(static_cast<HeadAxes>(m_axesBox->currentData().toInt())); });
    connect(m_layerBox, &QComboBox::activated, this, [this] { setLayer(m_layerBox->currentData().toString()); });
    connect(m_rankBox, &QComboBox::activated, this, [this, state] {
        const int chosen = m_rankBox->currentData().toInt();
        setSpread(chosen == kSpread);
        if (chosen != kSpread)
            state->setRank(Rank { chosen });
    });
    connect(m_follow, &QToolButton::clicked, state, &ViewState::setFollowing);
    connect(m_canvas, &AttentionCanvas::headPicked, this, &AttentionView::pickHead);
    connect(m_headMaps->canvas(), &HeadMapsCanvas::headPicked, this, &AttentionView::pickHead);
    setAxes(m_axes);
    keepChoices({ m_axesBox, m_layerBox, m_valueBoxes[0], m_valueBoxes[1], m_orderBox, m_belowBox, m_rankBox });
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

void AttentionView::fillRanks()
{
    const ViewState& state = *context().state;
    const QSignalBlocker blocker(m_rankBox);
    fillRankBox(m_rankBox, state, Kind::Attention);
    if (m_rankBox->count() > 1) {
        m_rankBox->addItem(tr("spread of all"), kSpread);
        // Where the rows are ranks there is none. The box stays as wide as it is.
        qobject_cast<QStandardItemModel*>(m_rankBox->model())
            ->item(m_rankBox->count() - 1)
            ->setEnabled(m_axes == HeadAxes::LayerByHead);
    }
    if (m_isSpread)
        m_rankBox->setCurrentIndex(m_rankBox->findData(kSpread));
    m_rankBox->updateGeometry();
    m_bar->setVisible(m_rankBox->count() > 0); // nothing to choose from
    m_canvas->setEmptyText(emptyText());
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

void AttentionView::setValue(int side, HeadValue value)
{
    const auto at = static_cast<std::size_t>(side);
    m_values[at] = value;
    m_valueBoxes[at]->setCurrentIndex(m_valueBoxes[at]->findData(static_cast<int>(value)));
    askSoon(Urgency::Now);
}

void AttentionView::setAxes(HeadAxes axes)
{
    m_axes = axes;
    m_axesBox->setCurrentIndex(m_axesBox->findData(static_cast<int>(axes)));
    if (axes == HeadAxes::RankByHead)
        m_isSpread = false;
    m_bar->setComboVisible(m_layerBox, axes == HeadAxes::RankByHead);
    fillRanks();
    askSoon(Urgency::Now);
}

void AttentionView::setSpread(bool isSpread)
{
    m_isSpread = isSpread && m_axes == HeadAxes::LayerByHead;
    fillRanks();
    askSoon(Urgency::Now);
}

void AttentionView::setLayer(const QString& name)
{
    m_layer = name;
    askSoon(Urgency::Now);
}

void AttentionView::fillLayers(const QStringList& names, const AttentionPicture& shown)
{
    const QSignalBlocker blocker(m_layerBox);
    m_layerBox->clear();
    for (const QString& name : names)
        m_layerBox->addItem(shortNameOf(name), name);
    const QString now = shown.isEmpty() ? QString() : shown.layers.front().name;
    m_layerBox->setCurrentIndex(m_layerBox->findData(now));
    m_layerBox->updateGeometry();
}

void AttentionView::setOrder(HeadOrder order)
{
    m_order = order;
    m_orderBox->setCurrentIndex(m_orderBox->findData(static_cast<int>(order)));
    askSoon(Urgency::Now);
}

void AttentionView::setBelow(BelowMaps below)
{
    m_below = below;
    m_belowBox->setCurrentIndex(m_belowBox->findData(static_cast<int>(below)));
    for (QStackedWidget* stack : m_stacks)
        stack->setCurrentIndex(below == BelowMaps::Strips ? 1 : 0);
    m_belowStack->setCurrentIndex(below == BelowMaps::HeadMaps ? 1 : 0);
    askSoon(Urgency::Now);
}

QString AttentionView::belowName() const
{
    return kBelowNames.at(static_cast<std::size_t>(m_below));
}

void AttentionView::setBelowName(const QString& name)
{
    const auto found = std::find(kBelowNames.begin(), kBelowNames.end(), name);
    if (found != kBelowNames.end())
        setBelow(static_cast<BelowMaps>(found - kBelowNames.begin()));
}

void AttentionView::setChoices(const QStringList& choices)
{
    // Which layers there are is known with the first answer.
    for (const QString& one : choices) {
        const QString layer = one.section(u'=', 1);
        if (one.section(u'=', 0, 0) == m_layerBox->objectName() && m_layerBox->findData(layer) < 0)
            m_layerBox->addItem(shortNameOf(layer), layer);
    }
    DataView::setChoices(choices);
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
    if (m_isSplitChosen || height <= 0)
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
        m_names[side]->setText(
            headValueText(m_values[side] == HeadValue::EntropyShare ? HeadValue::Entropy : m_values[side]));
        const auto count = static_cast<int>(answer.shown.size());
        QString text;
        if (m_below == BelowMaps::Strips)
            text = answer.layer;
        else if (answer.areChosen)
            text = tr("%n selected heads", nullptr, count);
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

void AttentionView::paintPicture(QPainter& painter, QSize size)
{
    const ViewState& state = *context().state;
    PictureCaption caption
        = PictureCaption::of(state, { headValueText(m_values[0]), headValueText(m_values[1]) }, true);
    if (!m_canvas->picture() || m_canvas->picture()->isEmpty())
        return paintWithCaption(painter, QRect(QPoint(), size), *m_canvas, caption);
    const int maps = mapsHeight(size);
    paintWithCaption(painter, QRect(0, 0, size.width(), maps), *m_canvas, caption);
    if (maps == size.height())
        return;
    if (m_below == BelowMaps::HeadMaps)
        return m_headMaps->paintTo(painter, QRect(0, maps, size.width(), std::max(1, size.height() - maps)));
    fitCurves(size.width());
    const QSize half(size.width() / 2, std::max(1, size.height() - maps - kCaptionHeight));
    for (std::size_t side = 0; side < m_curves.size(); ++side) {
        const int left = static_cast<int>(side) * half.width();
        QRect line(left + AttentionCanvas::cellsLeft(side), maps, half.width(), kCaptionHeight);
        line.setRight(left + half.width() - kBelowInset);
        for (const QLabel* part : { m_names[side], m_captions[side] }) {
            painter.setFont(part->font());
            painter.setPen(part == m_names[side] ? Theme::current().text : Theme::current().text3);
            painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
                painter.fontMetrics().elidedText(part->text(), Qt::ElideRight, line.width()));
            line.setLeft(line.left() + painter.fontMetrics().horizontalAdvance(part->text()) + kBelowInset);
        }
        PlotCanvas* below = m_below == BelowMaps::Curves ? static_cast<PlotCanvas*>(m_curves[side]) : m_strips[side];
        below->paintTo(painter, QRect(QPoint(left, maps + kCaptionHeight), half));
    }
    fitCurves(width());
}

Expected<void> AttentionView::writeCsv(QIODevice* device) const
{
    if (m_below == BelowMaps::HeadMaps && !m_headMaps->isEmpty())
        return m_headMaps->writeCsv(device);
    CsvWriter csv(device);
    for (const char* title : { "name", "head", "rank", "step", "statistic", "state", "value" })
        csv.text(QString::fromLatin1(title));
    csv.endRow();
    const AttentionPicture* picture = m_canvas->picture();
    std::set<std::tuple<QString, int, Rank, Stat>> inMaps; // at their step
    const auto write = [&csv](const ModuleKey& key, Rank rank, Step step, const QString& statistic,
                           series::CellState state, double value, bool isFloat) {
        csv.text(key.name).integer(key.slot.head).integer(rank.value).integer(step.value).text(statistic);
        writeCell(csv, state, value, isFloat);
        csv.endRow();
    };
    for (int layer = 0; picture && layer < static_cast<int>(picture->layers.size()); ++layer) {
        const AttentionLayer& of = picture->layers[static_cast<std::size_t>(layer)];
        for (int column = 0; column < picture->columns; ++column) {
            const HeadCell* head = picture->cell(layer, column);
            for (const HeadValue value : kValues) {
                const series::CellValue cell = picture->valueOf(layer, column, value);
                if (!head || cell.state == series::CellState::NotCollected)
                    continue;
                const bool isShare = value == HeadValue::EntropyShare;
                const QString word
                    = isShare ? QStringLiteral("entropy_share") : QString::fromUtf8(statName(statOf(value)));
                write({ of.name, head->key.slot }, of.rank, picture->atStep,
                    picture->isSpread ? word + QStringLiteral("_spread") : word, cell.state, cell.value, !isShare);
                if (!isShare && !picture->isSpread)
                    inMaps.emplace(of.name, head->key.slot.head, of.rank, statOf(value));
            }
        }
    }
    for (std::size_t side = 0; picture && m_answer && side < m_values.size(); ++side) {
        const Stat stat = statOf(m_values[side]);
        if (side > 0 && stat == statOf(m_values[0]))
            continue; // the same below both maps
        const auto writeBelow = [&](const Row& row, Step step, series::CellState state, double value) {
            const bool isInMaps
                = step == picture->atStep && inMaps.contains({ row.key.name, row.key.slot.head, row.rank, stat });
            if (!isInMaps && state != series::CellState::NotCollected)
                write(row.key, row.rank, step, QString::fromUtf8(statName(stat)), state, value, true);
        };
        forEachBelow(m_answer->below[side], writeBelow);
    }
    return csv.finish();
}

}
