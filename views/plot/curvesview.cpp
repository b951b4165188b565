// SPDX-License-Identifier: GPL-3.0-or-later
#include "curvesview.h"

#include <algorithm>
#include <cmath>

#include <QToolButton>
#include <QVBoxLayout>

#include <telltale/common/absentkind.h>
#include <telltale/common/exportpicture.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/rangebox.h>
#include <telltale/common/rankbox.h>
#include <telltale/common/viewbar.h>
#include <telltale/items/comma.h>

#include "curvecanvas.h"
#include "curvecsv.h"
#include "curvequery.h"
#include "exactvalues.h"

namespace telltale::views {

CurvesView::CurvesView(const ViewContext& context, QWidget* parent)
    : DataView(context, parent)
    , m_compared(context)
    , m_bar(new ViewBar(this))
    , m_canvas(new CurveCanvas(context.state, this))
    , m_values(new ExactValues(context, m_canvas))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_bar);
    layout->addWidget(m_canvas, 1);
    m_canvas->setAccessibleName(tr("Curves"));
    m_canvas->setWideLegend(true);
    m_canvas->setObjectName(QStringLiteral("curvesCanvas"));
    setFocusProxy(m_canvas);
    buildBar();
    connectState();
    fillRanks();
    updateCaption();
}

void CurvesView::buildBar()
{
    m_bar->addTitle(tr("Curves"));
    m_rankBox = m_bar->addCombo(tr("Rank"), QStringLiteral("curvesRank"));
    m_xBox = m_bar->addCombo(tr("x"), QStringLiteral("curvesX"));
    m_xBox->setToolTip(tr("What runs along the axis below"));
    addChoice(m_xBox, staticMetaObject, QT_TR_NOOP("step"), XAxis::Step);
    addChoice(m_xBox, staticMetaObject, QT_TR_NOOP("samples"), XAxis::Samples);
    addChoice(m_xBox, staticMetaObject, QT_TR_NOOP("tokens"), XAxis::Tokens);
    addChoice(m_xBox, staticMetaObject, QT_TR_NOOP("time"), XAxis::Time);
    m_yBox = m_bar->addCombo(tr("y"), QStringLiteral("curvesY"));
    m_yBox->setToolTip(tr("Scale of the values"));
    addChoice(m_yBox, staticMetaObject, QT_TR_NOOP("linear"), YMode::Linear);
    addChoice(m_yBox, staticMetaObject, QT_TR_NOOP("log"), YMode::Log);
    addChoice(m_yBox, staticMetaObject, QT_TR_NOOP("symlog"), YMode::Symlog);
    m_yBox->setCurrentIndex(1);
    m_smoothBox = m_bar->addCombo(tr("Smooth"), QStringLiteral("curvesSmooth"));
    m_smoothBox->addItem(tr("off"), 0.0);
    for (const double weight : { 0.6, 0.9, 0.97, 0.99 })
        m_smoothBox->addItem(formatValue(weight, weight > 0.9 ? 2 : 1), weight);
    keepChoices({ m_xBox, m_yBox, m_smoothBox });
    addRangeBox(m_bar, tr("Show"), QStringLiteral("curvesShow"), context().state);
    m_allRanks = m_bar->addButton(
        QStringLiteral("stack"), tr("Draw the other ranks too"), QString(), QStringLiteral("curvesAllRanks"));
    m_allRanks->setCheckable(true);
    m_follow = m_bar->addButton(
        QStringLiteral("follow"), tr("Follow the newest steps"), tr("Space"), QStringLiteral("curvesFollow"));
    m_follow->setCheckable(true);

    ViewState* state = context().state;
    connect(
        m_yBox, &QComboBox::activated, this, [this] { setYMode(static_cast<YMode>(m_yBox->currentData().toInt())); });
    connect(
        m_xBox, &QComboBox::activated, this, [this] { setXAxis(static_cast<XAxis>(m_xBox->currentData().toInt())); });
    connect(m_smoothBox, &QComboBox::activated, this, [this] { setSmoothing(m_smoothBox->currentData().toDouble()); });
    connect(m_follow, &QToolButton::clicked, state, &ViewState::setFollowing);
    connect(m_rankBox, &QComboBox::activated, this,
        [this, state] { state->setRank(Rank { m_rankBox->currentData().toInt() }); });
    connect(m_allRanks, &QToolButton::clicked, this,
        [state](bool on) { state->setRanks(on ? std::nullopt : std::optional(std::vector<Rank> {})); });
}

void CurvesView::fillRanks()
{
    const ViewState& state = *context().state;
    fillRankBox(m_rankBox, state, state.kind());
    m_allRanks->setVisible(m_rankBox->count() > 1);
    m_allRanks->setChecked(!state.ranks() || !state.ranks()->empty());
}

void CurvesView::connectState()
{
    ViewState* state = context().state;
    const auto ask = [this] {
        fillRanks();
        updateCaption();
        askSoon(Urgency::Now);
    };
    connect(state, &ViewState::runChanged, this, [this, ask] {
        m_own.reset();
        m_canvas->setPicture(nullptr);
        ask();
    });
    connect(state, &ViewState::catalogChanged, this, [this] {
        fillRanks();
        askSoon(Urgency::WhenIdle);
    });
    connect(state, &ViewState::kindChanged, this, ask);
    connect(state, &ViewState::statChanged, this, ask);
    connect(state, &ViewState::rankChanged, this, ask);
    connect(state, &ViewState::ranksChanged, this, ask);
    connect(state, &ViewState::comparedChanged, this, ask);
    connect(state, &ViewState::selectionChanged, this, ask);
    connect(state, &ViewState::visibleRangeChanged, this,
        [this, state] { askSoon(state->isFollowing() ? Urgency::WhenIdle : Urgency::Now); });
    connect(state, &ViewState::dataArrived, this, [this] { askSoon(Urgency::WhenIdle); });
    connect(state, &ViewState::followingChanged, this, [this, state] { m_follow->setChecked(state->isFollowing()); });
    m_follow->setChecked(state->isFollowing());
    connect(m_canvas, &CurveCanvas::plotResized, this, [this] { askSoon(Urgency::Now); });
    connect(m_canvas, &CurveCanvas::showAllWanted, state, &ViewState::selectOmitted);
}

/// Of what is drawn, where a scalar has no statistic; before anything is, of what is asked for.
QString CurvesView::statWords() const
{
    QStringList stats;
    for (std::size_t i = 0; m_own && i < m_own->series.size(); ++i)
        stats.append(statText(m_own->series[i].stat));
    stats.removeDuplicates();
    return stats.isEmpty() ? statText(context().state->stat()) : stats.join(items::comma());
}

void CurvesView::updateCaption()
{
    const ViewState& state = *context().state;
    const bool isNone = m_own && m_own->isEmpty(); // the sentence in place of the plot says why
    const auto isDrawn
        = [&](const ModuleKey& key) { return state.catalog() && hasKind(*state.catalog(), state.kind(), key); };
    const auto count = isNone ? 0 : static_cast<int>(std::ranges::count_if(state.selection(), isDrawn));
    const QString stat = statWords();
    QString caption;
    const auto omitted = static_cast<int>(state.omitted().size());
    if (count > 0 && omitted > 0)
        caption = tr("%1 of %2 of %n selected series", nullptr, count + omitted).arg(stat).arg(count);
    else if (count > 0)
        caption = tr("%1 of %n selected series", nullptr, count).arg(stat);
    const QString alone = caption;
    const QString beside = besideText(state, m_canvas->picture().get());
    if (count > 0)
        caption += beside;
    if (count > 0 && m_xAxis != XAxis::Step && m_own && !m_own->warp)
        caption += tr(", no %1 recorded").arg(m_xBox->currentText());
    else if (count > 0 && m_xAxis != XAxis::Step && !beside.isEmpty())
        caption += tr(", whose places are by step"); // the axis is the shown run's own
    m_bar->setTitleCaption({ caption, alone, count > 0 ? stat : QString() }, true);
    m_canvas->setStepUnit(m_xAxis != XAxis::Step && m_own && !m_own->warp
            ? tr("no %1: step", "named left of an axis").arg(m_xBox->currentText())
            : tr("step"));
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
    // A parameter has no activation of its own: the module that owns it has.
    const QString name = state.selection().front().name;
    const QString owner = name.section(u'.', 0, -2);
    const bool isActivation = state.kind() == Kind::Actv || state.kind() == Kind::ActvGrad;
    if (isActivation && state.catalog() && !keysOf(*state.catalog(), Kind::ParamOrigin, name).keys.empty()
        && keysOf(*state.catalog(), Kind::ParamOrigin, name).kind == Kind::ParamOrigin && !owner.isEmpty())
        return tr("%1 is a parameter: it has no %2. Select %3.").arg(name, kindText(state.kind()), owner);
    QString absent
        = state.catalog() ? absentKindText(*state.catalog(), state.kind(), state.rank(), state.selection()) : QString();
    if (!absent.isEmpty())
        return absent;
    return tr("The selected modules have no %1 on rank %2.").arg(kindText(state.kind())).arg(state.rank().value);
}

void CurvesView::setXAxis(XAxis axis)
{
    m_xAxis = axis;
    m_xBox->setCurrentIndex(m_xBox->findData(static_cast<int>(axis)));
    askSoon(Urgency::Now);
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
    askSoon(Urgency::Now); // it remembers steps before the first one that is seen
}

void CurvesView::hideSharedChoices()
{
    m_bar->removeCombo(m_rankBox);
    m_bar->removeCombo(m_xBox); // one axis with the view above
    keepChoices({ m_yBox, m_smoothBox });
    m_canvas->setWideLegend(false);
    m_follow->hide();
}

void CurvesView::setGutter(int wish)
{
    m_canvas->setGutter(wish);
}

void CurvesView::ask()
{
    const ViewState& state = *context().state;
    if (!state.catalog() || state.selection().empty() || state.visibleRange().isEmpty()) {
        m_canvas->setEmptyText(emptyText());
        m_own.reset();
        m_canvas->setPicture(nullptr);
        return;
    }
    CurveRequest request
        = CurveRequest::of(state, static_cast<int>(std::lround(m_canvas->plotRect().width() * devicePixelRatioF())));
    request.xAxis = m_xAxis;
    request.smoothing = m_canvas->smoothing();
    m_compared.ask(request, readCurves, [this] { showMerged(); });
    submitRead([request](store::RunReader& reader,
                   const series::CancelToken& cancel) { return readCurves(reader, request, cancel); },
        [this](std::shared_ptr<const CurvePicture> picture) {
            m_own = std::move(picture);
            m_xBox->setToolTip(m_xAxis == XAxis::Step || m_own->warp
                    ? tr("x")
                    : tr("This run records no %1: the axis shows steps.").arg(m_xBox->currentText()));
            showMerged();
        });
}

void CurvesView::troubleChanged()
{
    m_canvas->setEmptyText(emptyText());
}

void CurvesView::showMerged()
{
    m_canvas->setPicture(m_compared.mergedWith(m_own));
    updateCaption();
    m_values->ask();
}

QStringList CurvesView::shownWords() const
{
    const bool areScalars = m_own && !m_own->isEmpty()
        && std::ranges::all_of(m_own->series, [](const CurveSeries& one) { return one.row.kind == Kind::Scalar; });
    return { kindText(areScalars ? Kind::Scalar : context().state->kind()), statWords() };
}

void CurvesView::paintPicture(QPainter& painter, QSize size)
{
    const ViewState& state = *context().state;
    QStringList what = shownWords();
    if (m_canvas->smoothing() > 0)
        what.append(tr("smoothed %1, raw behind").arg(m_smoothBox->currentText()));
    paintWithCaption(painter, QRect(QPoint(), size), *m_canvas, PictureCaption::of(state, what, false, true));
}

Expected<void> CurvesView::writeCsv(QIODevice* device) const
{
    return writeCurveCsv(device, m_canvas->picture().get());
}

}
