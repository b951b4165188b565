// SPDX-License-Identifier: GPL-3.0-or-later
#include "attentionview.h"

#include <cmath>

#include <QLabel>
#include <QPainter>
#include <QSplitter>
#include <QStackedWidget>
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

#include "attentioncanvas.h"

namespace telltale::views {

namespace {

constexpr double kMapShare = 0.6; ///< of the height
constexpr int kCaptionHeight = 24;
constexpr int kLeastWidth = 120; ///< two stand beside each other, and the panels beside them need room
constexpr int kLeastHeight = 60;

constexpr std::array kValues { HeadValue::Entropy, HeadValue::EntropyShare, HeadValue::SoftmaxMax,
    HeadValue::MaxLogit };

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
    m_split->setSizes({ static_cast<int>(1000 * kMapShare), static_cast<int>(1000 * (1 - kMapShare)) });
    buildBar();
    connectState();
    fillRanks();
    m_canvas->setEmptyText(emptyText());
}

void AttentionView::buildBelow()
{
    auto* below = new QWidget(m_split);
    auto* sides = new QHBoxLayout(below);
    sides->setContentsMargins(0, 0, 0, 0);
    sides->setSpacing(0);
    for (std::size_t side = 0; side < m_stacks.size(); ++side) {
        const QString where = side == 0 ? tr("left") : tr("right");
        auto* column = new QVBoxLayout;
        column->setSpacing(0);
        m_captions[side] = new QLabel(below);
        m_captions[side]->setFixedHeight(kCaptionHeight);
        m_captions[side]->setIndent(12);
        m_captions[side]->setFont(wordsFont(11));
        m_captions[side]->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
        m_stacks[side] = new QStackedWidget(below);
        m_curves[side] = new CurveCanvas(context().state, m_stacks[side]);
        m_curves[side]->setYMode(YMode::Linear);
        m_curves[side]->setAccessibleName(tr("Curves of heads, %1").arg(where));
        m_strips[side] = new HeatCanvas(context().state, m_stacks[side]);
        m_strips[side]->setAccessibleName(tr("Heads of a layer, %1").arg(where));
        for (PlotCanvas* canvas :
            { static_cast<PlotCanvas*>(m_curves[side]), static_cast<PlotCanvas*>(m_strips[side]) })
            canvas->setMinimumSize(kLeastWidth, kLeastHeight);
        m_stacks[side]->addWidget(m_curves[side]);
        m_stacks[side]->addWidget(m_strips[side]);
        column->addWidget(m_captions[side]);
        column->addWidget(m_stacks[side], 1);
        sides->addLayout(column, 1);
        connect(m_curves[side], &PlotCanvas::plotResized, this, [this] { askSoon(Urgency::Now); });
        connect(m_strips[side], &PlotCanvas::plotResized, this, [this] { askSoon(Urgency::Now); });
    }
    m_split->addWidget(below);
}

void AttentionView::buildBar()
{
    const std::array labels { tr("Left"), tr("Right") };
    const std::array names { QStringLiteral("attentionLeft"), QStringLiteral("attentionRight") };
    for (std::size_t side = 0; side < m_valueBoxes.size(); ++side) {
        m_valueBoxes[side] = m_bar->addCombo(labels[side], names[side]);
        for (const HeadValue value : kValues)
            m_valueBoxes[side]->addItem(headValueText(value), static_cast<int>(value));
        m_valueBoxes[side]->setCurrentIndex(m_valueBoxes[side]->findData(static_cast<int>(m_values[side])));
        connect(m_valueBoxes[side], &QComboBox::activated, this, [this, side] {
            setValue(static_cast<int>(side), static_cast<HeadValue>(m_valueBoxes[side]->currentData().toInt()));
        });
    }
    m_rankBox = m_bar->addCombo(tr("Rank"), QStringLiteral("attentionRank"));
    m_orderBox = m_bar->addCombo(tr("Heads"), QStringLiteral("attentionHeads"));
    m_orderBox->addItem(tr("by number"), static_cast<int>(HeadOrder::Number));
    m_orderBox->addItem(tr("by value"), static_cast<int>(HeadOrder::Value));
    m_belowBox = m_bar->addCombo(tr("Below"), QStringLiteral("attentionBelow"));
    m_belowBox->addItem(tr("selected heads"), static_cast<int>(BelowMaps::Curves));
    m_belowBox->addItem(tr("heads of the layer"), static_cast<int>(BelowMaps::Strips));
    m_bar->addStretch();
    m_caption = m_bar->addCaption();
    m_follow = m_bar->addButton(
        QStringLiteral("follow"), tr("Follow the newest steps"), tr("Space"), QStringLiteral("attentionFollow"));
    m_follow->setCheckable(true);

    ViewState* state = context().state;
    connect(m_orderBox, &QComboBox::activated, this,
        [this] { setOrder(static_cast<HeadOrder>(m_orderBox->currentData().toInt())); });
    connect(m_belowBox, &QComboBox::activated, this,
        [this] { setBelow(static_cast<BelowMaps>(m_belowBox->currentData().toInt())); });
    connect(m_rankBox, &QComboBox::activated, this,
        [this, state] { state->setRank(Rank { m_rankBox->currentData().toInt() }); });
    connect(m_follow, &QToolButton::clicked, state, &ViewState::setFollowing);
    connect(m_canvas, &AttentionCanvas::headPicked, this, &AttentionView::pickHead);
}

void AttentionView::connectState()
{
    ViewState* state = context().state;
    const auto askNow = [this] {
        fillRanks();
        askSoon(Urgency::Now);
    };
    connect(state, &ViewState::runChanged, this, [this, askNow] {
        show({});
        askNow();
    });
    connect(state, &ViewState::catalogChanged, this, [this] {
        fillRanks();
        askSoon(Urgency::WhenIdle);
    });
    connect(state, &ViewState::rankChanged, this, askNow);
    connect(state, &ViewState::ranksChanged, this, askNow);
    connect(state, &ViewState::moduleFilterChanged, this, askNow);
    connect(state, &ViewState::selectionChanged, this, askNow);
    connect(state, &ViewState::cursorChanged, this, askNow);
    connect(state, &ViewState::visibleRangeChanged, this,
        [this, state] { askSoon(state->isFollowing() ? Urgency::WhenIdle : Urgency::Now); });
    connect(state, &ViewState::dataArrived, this, [this] { askSoon(Urgency::WhenIdle); });
    connect(state, &ViewState::followingChanged, this, [this, state] { m_follow->setChecked(state->isFollowing()); });
    m_follow->setChecked(state->isFollowing());
}

void AttentionView::fillRanks()
{
    fillRankBox(m_rankBox, *context().state, Kind::Attention);
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
        return state.run()->live ? tr("Waiting for the first step of this run.")
                                 : tr("No step of this run was recorded.");
    const std::vector<Rank> ranks = ranksOf(*state.catalog(), Kind::Attention);
    if (ranks.empty())
        return tr("This run has no attention statistics. Set telltale.attention_hook to true in its config to collect "
                  "them.");
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
        stack->setCurrentIndex(below == BelowMaps::Curves ? 0 : 1);
    askSoon(Urgency::Now);
}

void AttentionView::pickHead(const ModuleKey& head, bool isAdded)
{
    ViewState* state = context().state;
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
    request.order = m_order;
    request.below = m_below;
    request.rank = state.rank();
    request.filter = state.moduleFilter();
    request.selection = state.selection();
    request.atStep = state.cursor().value_or(state.visibleRange().last);
    request.curves
        = CurveRequest::of(state, static_cast<int>(std::lround(m_curves[0]->plotRect().width() * devicePixelRatioF())));
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
        show({});
        return;
    }
    submitRead([request = request()](store::RunReader& reader,
                   const series::CancelToken& cancel) { return readAttention(reader, request, cancel); },
        [this](const std::shared_ptr<const AttentionAnswer>& answer) { show(*answer); });
}

void AttentionView::show(const AttentionAnswer& answer)
{
    m_canvas->setPicture(answer.maps, m_values);
    const bool isEmpty = !answer.maps || answer.maps->isEmpty();
    m_caption->setText(isEmpty ? QString() : tr("at step %1").arg(formatStep(answer.maps->atStep.value)));
    m_caption->setToolTip(isEmpty ? QString() : answer.maps->layers.front().definition);
    m_split->widget(1)->setVisible(!isEmpty);
    for (std::size_t side = 0; side < m_stacks.size(); ++side) {
        QString text = headValueText(m_values[side] == HeadValue::EntropyShare ? HeadValue::Entropy : m_values[side]);
        const auto count = static_cast<int>(answer.shown.size());
        if (m_below == BelowMaps::Strips)
            text += tr(", %1").arg(answer.layer);
        else if (answer.areChosen)
            text += tr(", %n selected heads", nullptr, count);
        else
            text += tr(", the %n lowest heads", nullptr, count);
        m_captions[side]->setText(text);
        m_curves[side]->setPicture(answer.below[side].curves);
        m_strips[side]->setPicture(answer.below[side].strips);
    }
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
    const int maps = static_cast<int>(std::lround(size.height() * kMapShare));
    paintWithCaption(painter, QRect(0, 0, size.width(), maps), *m_canvas, caption);
    const QSize half(size.width() / 2, std::max(1, size.height() - maps - kCaptionHeight));
    painter.setFont(wordsFont(11));
    painter.setPen(Theme::current().text2);
    for (std::size_t side = 0; side < m_curves.size(); ++side) {
        const int left = static_cast<int>(side) * half.width();
        painter.drawText(QRect(left + 12, maps, half.width() - 12, kCaptionHeight), Qt::AlignLeft | Qt::AlignVCenter,
            m_captions[side]->text());
        PlotCanvas* below = m_below == BelowMaps::Curves ? static_cast<PlotCanvas*>(m_curves[side]) : m_strips[side];
        below->paintTo(painter, QRect(QPoint(left, maps + kCaptionHeight), half));
    }
}

Expected<void> AttentionView::writeCsv(QIODevice* device) const
{
    CsvWriter csv(device);
    for (const char* title : { "name", "head", "rank", "step", "statistic", "state", "value" })
        csv.text(QString::fromLatin1(title));
    csv.endRow();
    const AttentionPicture* picture = m_canvas->picture();
    for (int layer = 0; picture && layer < static_cast<int>(picture->layers.size()); ++layer) {
        for (int column = 0; column < picture->columns; ++column) {
            const HeadCell* head = picture->cell(layer, column);
            for (const HeadValue value : kValues) {
                const series::CellValue cell = picture->valueOf(layer, column, value);
                if (!head || cell.state == series::CellState::NotCollected)
                    continue;
                csv.text(picture->layers[static_cast<std::size_t>(layer)].name).integer(head->key.slot.head);
                csv.integer(picture->rank.value).integer(picture->atStep.value);
                csv.text(value == HeadValue::EntropyShare ? QStringLiteral("entropy_share")
                                                          : QString::fromUtf8(statName(statOf(value))));
                writeCell(csv, cell.state, cell.value, value != HeadValue::EntropyShare);
                csv.endRow();
            }
        }
    }
    return csv.finish();
}

}
