// SPDX-License-Identifier: GPL-3.0-or-later
#include "curvesview.h"

#include <cmath>

#include <QSignalBlocker>
#include <QToolButton>
#include <QVBoxLayout>

#include <telltale/common/csv.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/viewbar.h>

#include "curvecanvas.h"
#include "curvequery.h"

namespace telltale::views {

namespace {

QString word(std::string_view name)
{
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

}

CurvesView::CurvesView(const ViewContext& context, QWidget* parent)
    : DataView(context, parent)
    , m_bar(new ViewBar(this))
    , m_canvas(new CurveCanvas(context.state, this))
    , m_valueId(context.queries ? context.queries->newView() : 0)
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_bar);
    layout->addWidget(m_canvas, 1);
    m_canvas->setAccessibleName(tr("Curves"));
    m_canvas->setObjectName(QStringLiteral("curvesCanvas"));
    setFocusProxy(m_canvas);
    m_valueTimer.setSingleShot(true);
    m_valueTimer.setInterval(0);
    buildBar();
    connectState();
    updateCaption();
}

CurvesView::~CurvesView()
{
    if (context().queries)
        context().queries->cancel(m_valueId);
}

void CurvesView::buildBar()
{
    m_caption = m_bar->addTitle(tr("Curves"));
    m_yBox = m_bar->addCombo(tr("y"), QStringLiteral("curvesY"));
    m_yBox->addItem(tr("linear"), static_cast<int>(YMode::Linear));
    m_yBox->addItem(tr("log"), static_cast<int>(YMode::Log));
    m_yBox->addItem(tr("symlog"), static_cast<int>(YMode::Symlog));
    m_yBox->setCurrentIndex(1);
    m_smoothBox = m_bar->addCombo(tr("Smooth"), QStringLiteral("curvesSmooth"));
    m_smoothBox->addItem(tr("off"), 0.0);
    for (const double weight : { 0.6, 0.9, 0.97, 0.99 })
        m_smoothBox->addItem(formatValue(weight, weight > 0.9 ? 2 : 1), weight);
    m_lastBox = m_bar->addCombo(tr("Show"), QStringLiteral("curvesShow"));
    m_lastBox->addItem(tr("whole run"), 0);
    for (const int steps : { 100, 1000, 10000 })
        m_lastBox->addItem(tr("last %1").arg(formatStep(steps)), steps);
    m_follow = m_bar->addButton(
        QStringLiteral("follow"), tr("Follow the newest steps"), tr("Space"), QStringLiteral("curvesFollow"));
    m_follow->setCheckable(true);

    ViewState* state = context().state;
    connect(
        m_yBox, &QComboBox::activated, this, [this] { setYMode(static_cast<YMode>(m_yBox->currentData().toInt())); });
    connect(m_smoothBox, &QComboBox::activated, this, [this] { setSmoothing(m_smoothBox->currentData().toDouble()); });
    connect(m_lastBox, &QComboBox::activated, this, [this, state] {
        state->setFollowSpan(m_lastBox->currentData().toInt());
        state->setFollowing(true);
        state->setFollowSpan(m_lastBox->currentData().toInt());
    });
    connect(m_follow, &QToolButton::clicked, state, &ViewState::setFollowing);
}

void CurvesView::connectState()
{
    ViewState* state = context().state;
    const auto ask = [this] {
        updateCaption();
        askSoon(Urgency::Now);
    };
    connect(state, &ViewState::runChanged, this, [this, ask] {
        m_canvas->setPicture(nullptr);
        ask();
    });
    connect(state, &ViewState::catalogChanged, this, [this] { askSoon(Urgency::WhenIdle); });
    connect(state, &ViewState::kindChanged, this, ask);
    connect(state, &ViewState::statChanged, this, ask);
    connect(state, &ViewState::rankChanged, this, ask);
    connect(state, &ViewState::selectionChanged, this, ask);
    connect(state, &ViewState::visibleRangeChanged, this,
        [this, state] { askSoon(state->isFollowing() ? Urgency::WhenIdle : Urgency::Now); });
    connect(state, &ViewState::dataArrived, this, [this] { askSoon(Urgency::WhenIdle); });
    const auto askForValues = [this] {
        m_canvas->setLegendValues({});
        if (isVisible())
            m_valueTimer.start();
    };
    connect(state, &ViewState::cursorChanged, this, askForValues);
    connect(state, &ViewState::hoverChanged, this, askForValues);
    connect(state, &ViewState::marksChanged, this, askForValues);
    connect(&m_valueTimer, &QTimer::timeout, this, &CurvesView::askValues);
    connect(state, &ViewState::followingChanged, this, [this, state] { m_follow->setChecked(state->isFollowing()); });
    m_follow->setChecked(state->isFollowing());
    connect(m_canvas, &CurveCanvas::plotResized, this, [this] { askSoon(Urgency::Now); });
}

void CurvesView::updateCaption()
{
    const ViewState& state = *context().state;
    const auto count = static_cast<int>(state.selection().size());
    m_caption->setText(
        count == 0 ? QString() : tr("%1 of %n selected series", nullptr, count).arg(word(statName(state.stat()))));
    m_canvas->setEmptyText(emptyText());
}

QString CurvesView::emptyText() const
{
    const ViewState& state = *context().state;
    if (!trouble().isEmpty())
        return trouble();
    if (!state.run())
        return tr("Open a run, or connect a training job, to see curves here.");
    if (state.selection().empty())
        return tr("Select modules in the tree, or brush over rows of the heat map, to see their curves.");
    return tr("The selected modules have no %1 on rank %2.").arg(kindText(state.kind())).arg(state.rank().value);
}

void CurvesView::setYMode(YMode mode)
{
    m_yBox->setCurrentIndex(m_yBox->findData(static_cast<int>(mode)));
    m_canvas->setYMode(mode);
}

void CurvesView::setSmoothing(double weight)
{
    m_smoothBox->setCurrentIndex(m_smoothBox->findData(weight));
    m_canvas->setSmoothing(weight);
}

void CurvesView::ask()
{
    const ViewState& state = *context().state;
    if (!state.catalog() || state.selection().empty() || state.visibleRange().isEmpty()) {
        m_canvas->setEmptyText(emptyText());
        m_canvas->setPicture(nullptr);
        return;
    }
    CurveRequest request;
    request.catalog = state.catalog();
    request.kind = state.kind();
    request.stat = state.stat();
    request.rank = state.rank();
    request.selection = state.selection();
    for (const ModuleKey& key : state.selection())
        request.colours.push_back(state.slotOf(key));
    request.range = state.visibleRange();
    request.pixels = static_cast<int>(std::lround(m_canvas->plotRect().width() * devicePixelRatioF()));
    request.withOtherRanks = state.selection().size() <= 4;
    request.isLive = state.run() && state.run()->live && !state.run()->live->closed.load(std::memory_order_acquire);
    submit([this, request](
               Expected<store::RunReader*> reader, const series::CancelToken& cancel) -> store::QueryPool::Delivery {
        auto picture = reader ? readCurves(**reader, request, cancel) : tl::unexpected(reader.error());
        if (!picture) {
            const QString why = QString::fromStdString(picture.error().sentence());
            return [this, why] {
                setTrouble(why);
                m_canvas->setEmptyText(emptyText());
            };
        }
        auto shared = std::make_shared<const CurvePicture>(std::move(*picture));
        return [this, shared] {
            setTrouble({});
            m_canvas->setEmptyText(emptyText());
            m_canvas->setPicture(shared);
            askValues();
        };
    });
}

void CurvesView::askValues()
{
    const ViewState& state = *context().state;
    const std::shared_ptr<const CurvePicture> picture = m_canvas->picture();
    const std::optional<Step> at = state.hover() ? state.hover() : state.cursor();
    if (!context().queries || !state.run() || !picture || picture->isEmpty() || !at)
        return;
    std::vector<Step> steps { *at };
    const bool compares = state.markA() && state.markB();
    if (compares) {
        steps.push_back(*state.markA());
        steps.push_back(*state.markB());
    }
    context().queries->submit(m_valueId, state.run(),
        [this, picture, steps](
            Expected<store::RunReader*> reader, const series::CancelToken&) -> store::QueryPool::Delivery {
            if (!reader)
                return {}; // the curves' own question reports it
            const auto cells = readValues(**reader, *picture, steps);
            if (!cells)
                return {};
            std::vector<LegendValue> values;
            for (std::size_t i = 0; i < picture->series.size(); ++i) {
                LegendValue value;
                value.state = cells->front()[i].state;
                value.value = cells->front()[i].value;
                if (cells->size() == 3 && (*cells)[1][i].state == series::CellState::Value
                    && (*cells)[2][i].state == series::CellState::Value)
                    value.difference = (*cells)[2][i].value - (*cells)[1][i].value;
                values.push_back(value);
            }
            return [this, picture, values] {
                if (m_canvas->picture() == picture)
                    m_canvas->setLegendValues(values);
            };
        });
}

QImage CurvesView::renderImage(QSize size)
{
    return m_canvas->renderTo(size);
}

Expected<void> CurvesView::writeCsv(QIODevice* device) const
{
    return writeCurveCsv(device, m_canvas->picture().get());
}

Expected<void> writeCurveCsv(QIODevice* device, const CurvePicture* picture)
{
    CsvWriter csv(device);
    for (const char* name : { "name", "slot", "rank", "kind", "statistic", "first_step", "last_step", "state", "value",
             "min", "max", "mean", "samples", "nans", "posinfs", "neginfs" })
        csv.text(QLatin1String(name));
    csv.endRow();
    for (std::size_t i = 0; picture && i < picture->series.size(); ++i) {
        const CurveSeries& one = picture->series[i];
        if (one.isGroup)
            continue;
        for (std::size_t b = 0; b < one.result.buckets.size(); ++b) {
            const series::Bucket& bucket = one.result.buckets[b];
            if (bucket.state == series::CellState::NotCollected)
                continue;
            const StepRange steps = stepsOf(one.result, static_cast<int>(b));
            csv.text(one.row.key.name).text(one.row.key.slot).integer(one.row.rank.value);
            csv.text(word(kindName(one.row.kind))).text(word(statName(one.stat)));
            csv.integer(steps.first.value).integer(steps.last.value);
            writeCell(csv, bucket.state, bucket.last);
            if (bucket.finite > 0)
                csv.number(bucket.min).number(bucket.max).number(bucket.mean);
            else
                csv.empty().empty().empty();
            csv.integer(bucket.samples).integer(bucket.nans).integer(bucket.posInfs).integer(bucket.negInfs);
            csv.endRow();
        }
    }
    return csv.finish();
}

}
