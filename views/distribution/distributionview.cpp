// SPDX-License-Identifier: GPL-3.0-or-later
#include "distributionview.h"

#include <algorithm>
#include <cmath>

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QSignalBlocker>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>

#include <telltale/common/csv.h>
#include <telltale/common/exportpicture.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/onerunnote.h>
#include <telltale/common/viewbar.h>
#include <telltale/core/numberformats.h>
#include <telltale/items/guithread.h>
#include <telltale/plot/curvecanvas.h>
#include <telltale/store/rowsof.h>

#include "distributioncanvas.h"
#include "distributioncurves.h"

namespace telltale::views {

namespace {

constexpr double kStripShare = 0.64; ///< of the height
constexpr int kCaptionLine = 24;

template <typename Value> void choose(QComboBox* box, Value value)
{
    box->setCurrentIndex(box->findData(static_cast<int>(value)));
}

}

DistributionView::DistributionView(const ViewContext& context, QWidget* parent)
    : DataView(context, parent)
    , m_bar(new ViewBar(this))
    , m_canvas(new DistributionCanvas(context.state, this))
    , m_split(new QSplitter(Qt::Vertical, this))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_bar);
    layout->addWidget(m_split, 1);
    m_canvas->setAccessibleName(tr("Distributions"));
    m_canvas->setObjectName(QStringLiteral("distributionCanvas"));
    setFocusProxy(m_canvas);
    m_split->addWidget(m_canvas);
    buildBelow();
    m_split->setCollapsible(0, false);
    m_split->setStretchFactor(0, 64);
    m_split->setStretchFactor(1, 36);
    m_split->setSizes({ static_cast<int>(1000 * kStripShare), static_cast<int>(1000 * (1 - kStripShare)) });
    buildBar();
    connectState();
    fillChoices();
}

void DistributionView::buildBelow()
{
    auto* below = new QWidget(m_split);
    auto* column = new QVBoxLayout(below);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_belowName = new QLabel(below);
    m_belowName->setObjectName(QStringLiteral("distributionBelowName"));
    m_belowName->setFixedHeight(kCaptionLine);
    m_belowName->setTextFormat(Qt::PlainText);
    m_belowName->setFont(codeFont(11, 500)); // as above the strips
    m_belowName->setMinimumWidth(1);
    m_belowCaption = new QLabel(below);
    m_belowCaption->setFont(wordsFont(11));
    m_belowCaption->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    m_curves = new CurveCanvas(context().state, below);
    m_curves->setObjectName(QStringLiteral("distributionCurves"));
    m_curves->setMinimumSize(120, 60);
    m_curves->setAccessibleName(tr("Quantiles and losses"));
    auto* heading = new QHBoxLayout;
    heading->setContentsMargins(12, 0, 0, 0);
    heading->setSpacing(8);
    heading->addWidget(m_belowName);
    heading->addWidget(m_belowCaption, 1);
    column->addLayout(heading);
    column->addWidget(m_curves, 1);
    m_split->addWidget(below);
    connect(m_canvas, &PlotCanvas::plotResized, this, [this] { askSoon(Urgency::Now); });
    connect(m_split, &QSplitter::splitterMoved, this, [this] {
        m_split->setProperty(kIsDividerChosen, true);
        m_isBelowHidden = m_split->sizes().value(1) == 0;
        m_canvas->setStepAxisVisible(m_isBelowHidden);
    });
}

void DistributionView::buildBar()
{
    m_kindBox = m_bar->addCombo(tr("Kind"), QStringLiteral("distributionKind"), false);
    m_bar->keepWhole(m_kindBox);
    m_rankBox = m_bar->addCombo(tr("Rank"), QStringLiteral("distributionRank"));
    m_shapeBox = m_bar->addCombo(tr("As"), QStringLiteral("distributionShape"));
    addChoice(m_shapeBox, staticMetaObject, QT_TR_NOOP("heat strip"), DistributionShape::Strip);
    addChoice(m_shapeBox, staticMetaObject, QT_TR_NOOP("ridges"), DistributionShape::Ridges);
    m_colorBox = m_bar->addCombo(tr("Color"), QStringLiteral("distributionColor"));
    addChoice(m_colorBox, staticMetaObject, QT_TR_NOOP("share, log"), BinColor::LogShare);
    addChoice(m_colorBox, staticMetaObject, QT_TR_NOOP("share"), BinColor::Share);
    addChoice(m_colorBox, staticMetaObject, QT_TR_NOOP("count, log"), BinColor::LogCount);
    m_belowBox = m_bar->addCombo(tr("Below"), QStringLiteral("distributionBelow"));
    addChoice(m_belowBox, staticMetaObject, QT_TR_NOOP("quantiles"), BelowStrips::Quantiles);
    addChoice(m_belowBox, staticMetaObject, QT_TR_NOOP("flushed to zero"), BelowStrips::Flushed);
    addChoice(m_belowBox, staticMetaObject, QT_TR_NOOP("subnormal"), BelowStrips::Subnormal);
    addChoice(m_belowBox, staticMetaObject, QT_TR_NOOP("overflowed"), BelowStrips::Overflowed);
    m_belowBox->setToolTip(tr("What fp16, bf16 and fp8 would lose of the tensor is read from its log2 histogram."));
    keepChoices({ m_shapeBox, m_colorBox, m_belowBox });
    m_bar->addStretch();
    m_caption = m_bar->addCaption();
    addOneRunNote(m_bar, context().state);
    m_follow = m_bar->addButton(
        QStringLiteral("follow"), tr("Follow the newest steps"), tr("Space"), QStringLiteral("distributionFollow"));
    m_follow->setCheckable(true);

    ViewState* state = context().state;
    connect(m_kindBox, &QComboBox::activated, this,
        [this, state] { state->setKind(static_cast<Kind>(m_kindBox->currentData().toInt())); });
    connect(m_rankBox, &QComboBox::activated, this,
        [this, state] { state->setRank(Rank { m_rankBox->currentData().toInt() }); });
    connect(m_shapeBox, &QComboBox::activated, this,
        [this] { setShape(static_cast<DistributionShape>(m_shapeBox->currentData().toInt())); });
    connect(m_colorBox, &QComboBox::activated, this,
        [this] { setColor(static_cast<BinColor>(m_colorBox->currentData().toInt())); });
    connect(m_belowBox, &QComboBox::activated, this,
        [this] { setBelow(static_cast<BelowStrips>(m_belowBox->currentData().toInt())); });
    connect(m_follow, &QToolButton::clicked, state, &ViewState::setFollowing);
    connect(m_canvas, &DistributionCanvas::tensorStepped, this, &DistributionView::stepTensor);
}

void DistributionView::connectState()
{
    ViewState* state = context().state;
    const auto askNow = [this] {
        fillChoices();
        askSoon(Urgency::Now);
    };
    connect(state, &ViewState::runChanged, this, [this, askNow] {
        show({});
        askNow();
    });
    connect(state, &ViewState::catalogChanged, this, [this] {
        fillChoices();
        askSoon(Urgency::WhenIdle);
    });
    connect(state, &ViewState::kindChanged, this, askNow);
    connect(state, &ViewState::rankChanged, this, askNow);
    connect(state, &ViewState::moduleFilterChanged, this, askNow);
    connect(state, &ViewState::selectionChanged, this, askNow);
    connect(state, &ViewState::cursorChanged, this, [this] {
        m_canvas->update();
        m_curves->update();
    });
    connect(state, &ViewState::visibleRangeChanged, this,
        [this, state] { askSoon(state->isFollowing() ? Urgency::WhenIdle : Urgency::Now); });
    connect(state, &ViewState::dataArrived, this, [this] { askSoon(Urgency::WhenIdle); });
    connect(state, &ViewState::followingChanged, this, [this, state] { m_follow->setChecked(state->isFollowing()); });
    m_follow->setChecked(state->isFollowing());
}

Kind DistributionView::kind() const
{
    const ViewState& state = *context().state;
    if (!state.catalog())
        return state.kind();
    const std::vector<Kind> kinds = histogramKinds(*state.catalog());
    return kinds.empty() || std::find(kinds.begin(), kinds.end(), state.kind()) != kinds.end() ? state.kind()
                                                                                               : kinds.front();
}

void DistributionView::fillChoices()
{
    items::assertGuiThread();
    const ViewState& state = *context().state;
    const QSignalBlocker blockKind(m_kindBox);
    const QSignalBlocker blockRank(m_rankBox);
    m_kindBox->clear();
    m_rankBox->clear();
    if (const auto catalog = state.catalog()) {
        for (const Kind one : histogramKinds(*catalog))
            m_kindBox->addItem(kindText(one), static_cast<int>(one));
        for (const Rank rank : histogramRanks(*catalog, kind()))
            m_rankBox->addItem(QString::number(rank.value), rank.value);
    }
    choose(m_kindBox, kind());
    choose(m_rankBox, state.rank().value);
    m_kindBox->updateGeometry();
    m_rankBox->updateGeometry();
    m_bar->setVisible(m_kindBox->count() > 0); // nothing to choose from
    m_canvas->setEmptyText(emptyText());
}

QString DistributionView::emptyText() const
{
    const ViewState& state = *context().state;
    if (!trouble().isEmpty())
        return trouble();
    if (!state.run())
        return tr("Open a run, or connect a training job, to see its distributions here.");
    if (!state.catalog() || state.catalog()->series.empty())
        return beforeFirstStep();
    if (histogramKinds(*state.catalog()).empty())
        return tr(
            "This run has no histograms. Name the kinds that are to have them in telltale.histogram of its config, "
            "or set ur_distribution to true.");
    if (!state.moduleFilter().isEmpty())
        return tr("No tensor with a histogram matches the filter “%1”.").arg(state.moduleFilter());
    return tr("There are no histograms of %1 on rank %2.").arg(kindText(kind())).arg(state.rank().value);
}

QString DistributionView::belowText() const
{
    switch (m_below) {
    case BelowStrips::Quantiles:
        return tr("quantiles, to a bin");
    case BelowStrips::Flushed:
        return tr("share of elements that the format would round to zero");
    case BelowStrips::Subnormal:
        return tr("share of elements that the format would keep with fewer digits, as subnormal numbers");
    case BelowStrips::Overflowed:
        return tr("share of elements that are certainly beyond the format's largest number");
    }
    return {};
}

void DistributionView::setShape(DistributionShape shape)
{
    m_shape = shape;
    choose(m_shapeBox, shape);
    m_canvas->setShape(shape);
    m_bar->setComboVisible(m_colorBox, shape == DistributionShape::Strip);
}

void DistributionView::setColor(BinColor color)
{
    m_color = color;
    choose(m_colorBox, color);
    askSoon(Urgency::Now);
}

void DistributionView::setBelow(BelowStrips below)
{
    m_below = below;
    choose(m_belowBox, below);
    askSoon(Urgency::Now);
}

void DistributionView::stepTensor(int tensors)
{
    if (!m_canvas->picture() || m_canvas->picture()->isEmpty())
        return;
    const ModuleKey shown = m_canvas->picture()->strips.front().row.key;
    const auto catalog = context().state->catalog();
    const series::RowIndex& index = store::rowsOf(*catalog);
    std::vector<ModuleKey> keys;
    for (const series::RowIndex::Row* row : index.select(kind(), context().state->rank(), Stat::Hist)) {
        const ModuleKey key { QString::fromStdString(index.key(*row).name), index.key(*row).slot };
        if (keys.empty() || keys.back() != key)
            keys.push_back(key);
    }
    const auto at = std::find(keys.begin(), keys.end(), shown);
    if (at == keys.end())
        return;
    const auto wanted = static_cast<std::ptrdiff_t>(at - keys.begin()) + tensors;
    const auto last = static_cast<std::ptrdiff_t>(keys.size()) - 1;
    context().state->setSelection({ keys[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(wanted, 0, last))] });
}

DistributionRequest DistributionView::request() const
{
    const ViewState& state = *context().state;
    DistributionRequest request;
    request.catalog = state.catalog();
    request.kind = kind();
    request.rank = state.rank();
    request.filter = state.moduleFilter();
    request.selection = state.selection();
    // Too many for curves: strips are as many as there is room for, and the rest is counted.
    request.selection.insert(request.selection.end(), state.omitted().begin(), state.omitted().end());
    request.range = state.visibleRange();
    request.pixels = static_cast<int>(std::lround(m_canvas->plotRect().width() * devicePixelRatioF()));
    request.most = m_canvas->room();
    request.color = m_color;
    request.below = m_below;
    request.isLive = state.run() && state.run()->isLive();
    return request;
}

void DistributionView::ask()
{
    const ViewState& state = *context().state;
    m_canvas->setEmptyText(emptyText());
    if (!state.catalog() || state.visibleRange().isEmpty()) {
        show({});
        return;
    }
    submitRead([request = request()](store::RunReader& reader,
                   const series::CancelToken& cancel) { return readDistribution(reader, request, cancel); },
        [this](const std::shared_ptr<const DistributionPicture>& picture) { show(picture); });
}

void DistributionView::show(std::shared_ptr<const DistributionPicture> picture)
{
    const bool isEmpty = !picture || picture->isEmpty();
    m_split->widget(1)->setVisible(!isEmpty);
    m_caption->setText(isEmpty || picture->omitted == 0 ? QString()
            : picture->isFiltered ? tr("%n more match the filter", "tensors that have no room", picture->omitted)
                                  : tr("%n more selected", "tensors that have no room", picture->omitted));
    const bool octaves = !isEmpty && hasOctaves(*picture->strips.front().edges);
    m_curves->setEmptyText(octaves || m_below == BelowStrips::Quantiles
            ? QString()
            : tr("What formats lose can only be read from log2 histograms (telltale.histogram)."));
    m_curves->setYMode(m_below != BelowStrips::Quantiles || !octaves ? YMode::Linear : YMode::Symlog);
    m_curves->setPicture(isEmpty ? nullptr : picture->below);
    m_belowName->setText(isEmpty ? QString() : picture->strips.front().row.fullName());
    QString below = isEmpty ? QString() : QStringLiteral("·  ") + belowText();
    // Of fewer elements than bins a quantile leaps: one element more or less is another bin.
    if (!isEmpty && picture->strips.front().numel > 0
        && picture->strips.front().numel < static_cast<std::uint64_t>(picture->strips.front().bins()))
        below += QStringLiteral("  ·  ") + tr("%n elements", nullptr, static_cast<int>(picture->strips.front().numel));
    if (!isEmpty && picture->isExample)
        below += QStringLiteral("  ·  ") + tr("what is selected has no histogram");
    m_belowCaption->setText(below);
    m_canvas->setPicture(std::move(picture));
}

void DistributionView::troubleChanged()
{
    m_canvas->setEmptyText(emptyText());
}

/// Where it is low, the curves get what their legend needs to say values.
void DistributionView::resizeEvent(QResizeEvent* event)
{
    DataView::resizeEvent(event);
    if (m_split->property(kIsDividerChosen).toBool())
        return;
    const int whole = m_split->height();
    const int least = kCaptionLine + CurveCanvas::heightFor(static_cast<int>(kQuantiles.size()));
    const int below = std::max(static_cast<int>(whole * (1 - kStripShare)), std::min(least, whole / 2));
    m_split->setSizes({ whole - m_split->handleWidth() - below, below });
}

QStringList DistributionView::shownWords() const
{
    return { kindText(kind()), tr("histograms") };
}

void DistributionView::paintPicture(QPainter& painter, QSize size)
{
    const PictureCaption caption = PictureCaption::of(*context().state, shownWords(), true);
    if (!m_canvas->picture() || m_canvas->picture()->isEmpty() || m_isBelowHidden)
        return paintWithCaption(painter, QRect(QPoint(), size), *m_canvas, caption);
    const int top = static_cast<int>(std::lround(size.height() * kStripShare));
    paintWithCaption(painter, QRect(0, 0, size.width(), top), *m_canvas, caption);
    int left = 12;
    painter.setPen(Theme::current().text2);
    for (const QLabel* part : { m_belowName, m_belowCaption }) {
        painter.setFont(part->font());
        const QString text
            = painter.fontMetrics().elidedText(part->text(), Qt::ElideRight, std::max(0, size.width() - 12 - left));
        painter.drawText(QRect(left, top, size.width() - left, kCaptionLine), Qt::AlignLeft | Qt::AlignVCenter, text);
        left += painter.fontMetrics().horizontalAdvance(text) + 8;
    }
    m_curves->paintTo(
        painter, QRect(0, top + kCaptionLine, size.width(), std::max(1, size.height() - top - kCaptionLine)));
}

Expected<void> DistributionView::writeCsv(QIODevice* device) const
{
    CsvWriter csv(device);
    for (const char* title :
        { "name", "micro_step", "rank", "first_step", "last_step", "quantity", "low", "high", "state", "value" })
        csv.text(QString::fromLatin1(title));
    csv.endRow();
    const DistributionPicture* picture = m_canvas->picture();
    const BelowStrips below = picture ? picture->belowIs : BelowStrips::Quantiles;
    const QString share = below == BelowStrips::Flushed ? QStringLiteral(" flushed to zero")
        : below == BelowStrips::Subnormal               ? QStringLiteral(" subnormal")
        : below == BelowStrips::Overflowed              ? QStringLiteral(" overflowed")
                                                        : QString();
    const auto place = [&](const DistributionStrip& strip, int column, const QString& quantity) {
        const StepRange steps = strip.heat.stepsOf(column);
        const QString slot = strip.row.slotText();
        csv.text(strip.row.key.name + (slot.isEmpty() ? slot : u' ' + slot)).integer(strip.row.microStep);
        csv.integer(picture->rank.value);
        csv.integer(steps.first.value).integer(steps.last.value).text(quantity);
    };
    for (std::size_t i = 0; picture && i < picture->strips.size(); ++i) {
        const DistributionStrip& strip = picture->strips[i];
        for (int column = 0; column < strip.columns; ++column) {
            const auto at = static_cast<std::size_t>(column);
            if (series::isNonFinite(strip.states[at])) {
                place(strip, column, QStringLiteral("non-finite"));
                csv.empty().empty();
                writeCell(csv, strip.states[at], std::nan(""), false);
                csv.endRow();
            }
            for (int bin = strip.firstBin; strip.samples[at] > 0 && bin <= strip.lastBin; ++bin) {
                place(strip, column, QStringLiteral("count"));
                csv.number((*strip.edges)[static_cast<std::size_t>(bin)]);
                csv.number((*strip.edges)[static_cast<std::size_t>(bin) + 1]);
                writeCell(csv, series::CellState::Value, strip.countsOf(column)[static_cast<std::size_t>(bin)], false);
                csv.endRow();
            }
        }
        for (const CurveSeries& one : i == 0 && picture->below ? picture->below->series : std::vector<CurveSeries>()) {
            for (int column = 0; column < strip.columns; ++column) {
                const series::Bucket& bucket = one.result.buckets[static_cast<std::size_t>(column)];
                if (bucket.finite == 0)
                    continue;
                place(strip, column, one.row.bin + share);
                csv.empty().empty();
                writeCell(csv, series::CellState::Value, bucket.last, false);
                csv.endRow();
            }
        }
    }
    return csv.finish();
}

}
