// SPDX-License-Identifier: GPL-3.0-or-later
#include "heatmapview.h"

#include <cmath>

#include <QEvent>
#include <QSignalBlocker>
#include <QToolButton>
#include <QVBoxLayout>

#include <telltale/analysis/nonfinite.h>
#include <telltale/common/absentkind.h>
#include <telltale/common/csv.h>
#include <telltale/common/exportpicture.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/onerunnote.h>
#include <telltale/common/rankbox.h>
#include <telltale/common/viewbar.h>
#include <telltale/items/shownname.h>
#include <telltale/store/rowsof.h>

#include "heatcanvas.h"

namespace telltale::views {

namespace {

void choose(QComboBox* box, int value)
{
    const QSignalBlocker blocker(box);
    box->setCurrentIndex(box->findData(value));
}

}

HeatmapView::HeatmapView(const ViewContext& context, QWidget* parent)
    : DataView(context, parent)
    , m_bar(new ViewBar(this))
    , m_canvas(new HeatCanvas(context.state, this))
    , m_otherRanksId(context.queries ? context.queries->newView() : 0)
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_bar);
    layout->addWidget(m_canvas, 1);
    m_canvas->setAccessibleName(tr("Heatmap"));
    m_canvas->setObjectName(QStringLiteral("heatmapCanvas"));
    setFocusProxy(m_canvas);
    buildBar();
    connectState();
    fillChoices();
    m_canvas->setEmptyText(emptyText());
}

HeatmapView::~HeatmapView()
{
    if (context().queries)
        context().queries->cancel(m_otherRanksId);
}

bool HeatmapView::isSettled() const
{
    return DataView::isSettled() && !(context().queries && context().queries->isBusy(m_otherRanksId));
}

void HeatmapView::buildBar()
{
    m_axesBox = m_bar->addCombo(tr("Axes"), QStringLiteral("heatmapAxes"));
    addChoice(m_axesBox, staticMetaObject, QT_TR_NOOP("module × step"), HeatAxes::ModuleByStep);
    addChoice(m_axesBox, staticMetaObject, QT_TR_NOOP("rank × step"), HeatAxes::RankByStep);
    addChoice(m_axesBox, staticMetaObject, QT_TR_NOOP("module × rank"), HeatAxes::ModuleByRank);
    m_kindBox = m_bar->addCombo(tr("Kind"), QStringLiteral("heatmapKind"));
    m_bar->keepWhole(m_axesBox);
    m_bar->keepWhole(m_kindBox);
    m_statBox = m_bar->addCombo(tr("Statistic"), QStringLiteral("heatmapStatistic"));
    m_scaleBox = m_bar->addCombo(tr("Scale"), QStringLiteral("heatmapScale"));
    addChoice(m_scaleBox, staticMetaObject, QT_TR_NOOP("linear"), HeatScale::Linear);
    addChoice(m_scaleBox, staticMetaObject, QT_TR_NOOP("log"), HeatScale::Log);
    addChoice(m_scaleBox, staticMetaObject, QT_TR_NOOP("symlog"), HeatScale::Symlog);
    addChoice(m_scaleBox, staticMetaObject, QT_TR_NOOP("deviation"), HeatScale::Deviation);
    m_rankBox = m_bar->addCombo(tr("Rank"), QStringLiteral("heatmapRank"));
    m_orderBox = m_bar->addCombo(tr("Rows"), QStringLiteral("heatmapRows"));
    addChoice(m_orderBox, staticMetaObject, QT_TR_NOOP("model order"), RowOrder::Model);
    addChoice(m_orderBox, staticMetaObject, QT_TR_NOOP("by value"), RowOrder::Value);
    addChoice(m_orderBox, staticMetaObject, QT_TR_NOOP("similar rows together"), RowOrder::Clustered);
    keepChoices({ m_axesBox, m_scaleBox, m_orderBox });
    m_bar->addStretch();
    addOneRunNote(m_bar, context().state);
    m_caption = m_bar->addCaption();
    m_follow = m_bar->addButton(
        QStringLiteral("follow"), tr("Follow the newest steps"), tr("Space"), QStringLiteral("heatmapFollow"));
    m_follow->setCheckable(true);
    m_zoomOut = m_bar->addButton(
        QStringLiteral("zoomout"), tr("Show the whole run"), QString(), QStringLiteral("heatmapZoomOut"));
    choose(m_axesBox, static_cast<int>(m_axes));
    choose(m_scaleBox, static_cast<int>(m_scale));

    ViewState* state = context().state;
    const auto picked = [](QComboBox* box) { return box->currentData().toInt(); };
    connect(
        m_axesBox, &QComboBox::activated, this, [this, picked] { setAxes(static_cast<HeatAxes>(picked(m_axesBox))); });
    connect(m_scaleBox, &QComboBox::activated, this,
        [this, picked] { setScale(static_cast<HeatScale>(picked(m_scaleBox))); });
    connect(m_orderBox, &QComboBox::activated, this,
        [this, picked] { setRowOrder(static_cast<RowOrder>(picked(m_orderBox))); });
    connect(m_kindBox, &QComboBox::activated, this,
        [this, state, picked] { state->setKind(static_cast<Kind>(picked(m_kindBox))); });
    connect(m_statBox, &QComboBox::activated, this,
        [this, state, picked] { state->setStat(static_cast<Stat>(picked(m_statBox))); });
    connect(
        m_rankBox, &QComboBox::activated, this, [this, state, picked] { state->setRank(Rank { picked(m_rankBox) }); });
    connect(m_follow, &QToolButton::clicked, state, &ViewState::setFollowing);
    connect(m_zoomOut, &QToolButton::clicked, state, &ViewState::zoomOutFully);
}

void HeatmapView::connectState()
{
    ViewState* state = context().state;
    const auto askAndFill = [this] {
        fillChoices();
        askNow();
    };
    connect(&m_otherRanksPace, &QTimer::timeout, this, &HeatmapView::readOtherRanks);
    connect(state, &ViewState::runChanged, this, [this, askAndFill] {
        m_otherRanksPace.stop();
        if (context().queries)
            context().queries->cancel(m_otherRanksId);
        m_canvas->setOtherRanks({});
        m_canvas->setPicture(nullptr);
        askAndFill();
    });
    connect(state, &ViewState::catalogChanged, this, [this] {
        fillChoices();
        askSoon(Urgency::WhenIdle);
    });
    connect(state, &ViewState::kindChanged, this, askAndFill);
    connect(state, &ViewState::statChanged, this, askAndFill);
    connect(state, &ViewState::rankChanged, this, askAndFill);
    connect(state, &ViewState::moduleFilterChanged, this, [this] { askNow(); });
    connect(state, &ViewState::visibleRangeChanged, this,
        [this, state] { askSoon(state->isFollowing() ? Urgency::WhenIdle : Urgency::Now); });
    connect(state, &ViewState::dataArrived, this, [this] { askSoon(Urgency::WhenIdle); });
    connect(state, &ViewState::selectionChanged, this, [this] {
        if (m_axes == HeatAxes::RankByStep)
            askNow();
    });
    connect(state, &ViewState::cursorChanged, this, [this] {
        if (m_axes == HeatAxes::ModuleByRank)
            askNow();
    });
    connect(state, &ViewState::followingChanged, this, [this, state] { m_follow->setChecked(state->isFollowing()); });
    m_follow->setChecked(state->isFollowing());
    connect(m_canvas, &HeatCanvas::plotResized, this, [this] { askNow(); });
    connect(m_canvas, &HeatCanvas::curvesWanted, this, &HeatmapView::curvesWanted);
    connect(m_canvas, &HeatCanvas::rankPicked, state, &ViewState::setRank);
}

void HeatmapView::fillChoices()
{
    const ViewState& state = *context().state;
    const QSignalBlocker kindBlocker(m_kindBox);
    const QSignalBlocker statBlocker(m_statBox);
    m_kindBox->clear();
    m_statBox->clear();
    if (const auto catalog = state.catalog()) {
        for (const Kind kind : kindsOf(*catalog)) {
            if (kind != Kind::Scalar)
                m_kindBox->addItem(kindText(kind), static_cast<int>(kind));
        }
        for (const Stat stat : statsOf(*catalog, state.kind()))
            m_statBox->addItem(statText(stat), static_cast<int>(stat));
    }
    choose(m_kindBox, static_cast<int>(state.kind()));
    choose(m_statBox, static_cast<int>(state.stat()));
    fillRankBox(m_rankBox, state, state.kind());
    m_rankBox->setEnabled(m_axes == HeatAxes::ModuleByStep);
    for (QComboBox* box : { m_kindBox, m_statBox, m_rankBox })
        box->updateGeometry();
    m_canvas->setEmptyText(emptyText());
}

QString HeatmapView::emptyText() const
{
    const ViewState& state = *context().state;
    if (!trouble().isEmpty())
        return trouble();
    if (!state.run())
        return tr("Open a run, or connect a training job, to see its modules here.");
    if (!state.catalog() || state.catalog()->series.empty())
        return beforeFirstStep();
    if (m_axes == HeatAxes::RankByStep && !state.selection().empty()) {
        const ModuleKey& first = state.selection().front(); // whose ranks they are
        const QString absent = absentKindText(*state.catalog(), state.kind(), std::nullopt, { first });
        return !absent.isEmpty() ? absent
            : state.selection().size() > 1
            ? tr("%1 has no %2.").arg(items::shownName(first.name), kindText(state.kind()))
            : tr("The selected modules have no %1.").arg(kindText(state.kind()));
    }
    if (m_axes != HeatAxes::RankByStep && !state.moduleFilter().isEmpty())
        return tr("No module of this kind matches the filter “%1”.").arg(state.moduleFilter());
    if (m_axes != HeatAxes::ModuleByStep)
        return tr("This run has no %1.").arg(kindText(state.kind()));
    return tr("This run has no %1 on rank %2.").arg(kindText(state.kind())).arg(state.rank().value);
}

void HeatmapView::setAxes(HeatAxes axes)
{
    m_axes = axes;
    choose(m_axesBox, static_cast<int>(axes));
    m_orderBox->setItemText(m_orderBox->findData(static_cast<int>(RowOrder::Model)),
        axes == HeatAxes::RankByStep ? tr("by number") : tr("model order"));
    m_rankBox->setEnabled(axes == HeatAxes::ModuleByStep);
    askNow();
}

void HeatmapView::setScale(HeatScale scale)
{
    m_scale = scale;
    choose(m_scaleBox, static_cast<int>(scale));
    askNow();
}

void HeatmapView::setRowOrder(RowOrder order)
{
    m_order = order;
    choose(m_orderBox, static_cast<int>(order));
    askNow();
}

void HeatmapView::setStepAxisVisible(bool on)
{
    m_canvas->setStepAxisVisible(on);
}

void HeatmapView::ask()
{
    const ViewState& state = *context().state;
    m_canvas->setEmptyText(emptyText());
    if (!state.catalog() || state.visibleRange().isEmpty()) {
        m_canvas->setPicture(nullptr);
        return;
    }
    HeatRequest request;
    request.catalog = state.catalog();
    request.axes = m_axes;
    request.scale = m_scale;
    request.order = m_order;
    request.kind = state.kind();
    request.stat = state.stat();
    request.rank = state.rank();
    request.filter = state.moduleFilter();
    request.selection = state.selection();
    request.range = state.visibleRange();
    request.atStep = state.atStep();
    request.plot = m_canvas->plotRect().size();
    request.pixelRatio = devicePixelRatioF();
    request.theme = &Theme::current();
    request.pixels = static_cast<int>(std::lround(request.plot.width() * request.pixelRatio));
    request.isLive = state.run() && state.run()->isLive();
    submitRead([request](store::RunReader& reader,
                   const series::CancelToken& cancel) { return readHeat(reader, request, cancel); },
        [this, request](std::shared_ptr<const HeatPicture> picture) {
            // One tensor on all ranks: nothing in the picture names it.
            m_caption->setText(picture && picture->axes == HeatAxes::RankByStep && !picture->rows.empty()
                    ? picture->rows.front().fullName()
                    : QString());
            m_canvas->setPicture(std::move(picture));
            if (request.axes == HeatAxes::ModuleByStep)
                askOtherRanks(request);
        });
}

void HeatmapView::troubleChanged()
{
    m_canvas->setEmptyText(emptyText());
}

/// All ranks of a live run are many times what is shown: they are asked at a pace of their own.
void HeatmapView::askOtherRanks(const HeatRequest& request)
{
    const bool isSameQuestion = request.kind == m_otherRanks.kind && request.stat == m_otherRanks.stat
        && request.rank == m_otherRanks.rank && request.filter == m_otherRanks.filter;
    m_otherRanks = request;
    if (!request.isLive)
        readOtherRanks();
    else if (isSameQuestion)
        m_otherRanksPace.soon();
    else
        m_otherRanksPace.now();
}

void HeatmapView::readOtherRanks()
{
    if (m_axes != HeatAxes::ModuleByStep)
        return;
    // A fast run must not starve this slower answer.
    if (m_otherRanks.isLive && context().queries->isBusy(m_otherRanksId)) {
        m_otherRanksPace.soon();
        return;
    }
    m_otherRanksPace.began();
    context().queries->submit(m_otherRanksId, context().state->run(),
        [this, request = m_otherRanks](
            Expected<store::RunReader*> reader, const series::CancelToken& cancel) -> store::QueryPool::Delivery {
            if (!reader)
                return {}; // the picture's own question says what is wrong
            const series::RowIndex& rows = store::rowsOf(*request.catalog);
            auto found = analysis::findOtherRanks(**reader, rows, { request.kind, request.stat },
                rows.matching(NamePattern(request.filter.toStdString())), request.rank, request.range, request.pixels,
                cancel);
            if (!found)
                return {};
            return [this, found = std::move(*found), rank = request.rank] {
                m_otherRanksPace.ended();
                if (rank == context().state->rank())
                    m_canvas->setOtherRanks(found);
            };
        });
}

QStringList HeatmapView::shownWords() const
{
    return { kindText(context().state->kind()), statText(context().state->stat()) };
}

void HeatmapView::paintPicture(QPainter& painter, QSize size)
{
    const ViewState& state = *context().state;
    QStringList what = shownWords();
    if (m_axes == HeatAxes::RankByStep && m_canvas->picture() && !m_canvas->picture()->rows.empty())
        what.prepend(m_canvas->picture()->rows.front().fullName());
    paintWithCaption(
        painter, QRect(QPoint(), size), *m_canvas, PictureCaption::of(state, what, m_axes == HeatAxes::ModuleByStep));
}

Expected<void> HeatmapView::writeCsv(QIODevice* device) const
{
    CsvWriter csv(device);
    const HeatPicture* picture = m_canvas->picture();
    csv.text(QStringLiteral("name")).text(QStringLiteral("slot")).text(QStringLiteral("micro_step"));
    csv.text(QStringLiteral("rank"));
    csv.text(QStringLiteral("kind")).text(QStringLiteral("statistic")).text(QStringLiteral("first_step"));
    csv.text(QStringLiteral("last_step")).text(QStringLiteral("state")).text(QStringLiteral("value"));
    csv.endRow();
    for (int row = 0; picture && row < picture->result.rows; ++row) {
        const Row& r = picture->rows[static_cast<std::size_t>(row)];
        for (int column = 0; column < picture->columns(); ++column) {
            const StepRange steps = picture->stepsOf(row, column);
            const Rank rank = picture->axes == HeatAxes::ModuleByRank
                ? picture->columnRanks[static_cast<std::size_t>(column)]
                : r.rank;
            csv.text(r.key.name).text(r.slotText()).integer(r.microStep).integer(rank.value);
            csv.text(QString::fromUtf8(kindName(picture->kind))).text(QString::fromUtf8(statName(picture->stat)));
            csv.integer(steps.first.value).integer(steps.last.value);
            writeCell(csv, picture->state(row, column), static_cast<double>(picture->value(row, column)), true);
            csv.endRow();
        }
    }
    return csv.finish();
}

void HeatmapView::changeEvent(QEvent* event)
{
    DataView::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        m_canvas->invalidate();
}

}
