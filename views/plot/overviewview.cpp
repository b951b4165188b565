// SPDX-License-Identifier: GPL-3.0-or-later
#include "overviewview.h"

#include <algorithm>
#include <cmath>

#include <QHBoxLayout>
#include <QVBoxLayout>

#include <telltale/common/exportpicture.h>
#include <telltale/common/rangebox.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewbar.h>
#include <telltale/common/viewstate.h>

#include "curvecsv.h"
#include "curvequery.h"
#include "exactvalues.h"
#include "firstbad.h"
#include "overviewcanvas.h"
#include "ranksside.h"
#include "scrolledplots.h"

namespace telltale::views {

OverviewView::OverviewView(const ViewContext& context, QWidget* parent)
    : DataView(context, parent)
    , m_compared(context)
    , m_bar(new ViewBar(this))
    , m_canvas(new OverviewCanvas(context.state))
    , m_side(new RanksSide(context.state))
    , m_firstBad(new FirstBad(context))
    , m_values(new ExactValues(context, m_canvas))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_bar);
    auto* beside = new QHBoxLayout;
    beside->setSpacing(0);
    beside->addWidget(scrolledPlots(m_canvas), 1);
    beside->addWidget(m_side);
    m_side->hide();
    layout->addLayout(beside, 1);
    m_canvas->setAccessibleName(tr("Overview"));
    m_canvas->setObjectName(QStringLiteral("overviewCanvas"));
    setFocusProxy(m_canvas);
    buildBar();
    connectState();
    updateCaption();
}

void OverviewView::buildBar()
{
    addRangeBox(m_bar, tr("Show"), QStringLiteral("overviewRange"), context().state);
    m_smoothBox = m_bar->addCombo(tr("Smooth"), QStringLiteral("overviewSmooth"));
    m_smoothBox->addItem(tr("off"), 0.0);
    for (const double weight : { 0.6, 0.9, 0.97, 0.99 })
        m_smoothBox->addItem(formatValue(weight, weight > 0.9 ? 2 : 1), weight);
    m_smoothBox->setCurrentIndex(m_smoothBox->findData(m_canvas->smoothing()));
    m_bar->addStretch();
    m_bar->addPart(m_firstBad);
    m_caption = m_bar->addCaption();

    connect(m_smoothBox, &QComboBox::activated, this, [this] {
        m_canvas->setSmoothing(m_smoothBox->currentData().toDouble());
        askSoon(Urgency::Now); // it remembers steps before the first one that is seen
    });
}

void OverviewView::connectState()
{
    ViewState* state = context().state;
    connect(state, &ViewState::runChanged, this, [this] {
        m_own.reset();
        m_canvas->setPicture(nullptr);
        m_side->setTimes(nullptr);
        updateCaption();
        askSoon(Urgency::Now);
    });
    connect(state, &ViewState::catalogChanged, this, [this] {
        updateCaption();
        askSoon(Urgency::WhenIdle);
    });
    connect(state, &ViewState::rankChanged, this, [this] { askSoon(Urgency::Now); });
    connect(state, &ViewState::ranksChanged, this, [this] { askSoon(Urgency::Now); });
    connect(state, &ViewState::comparedChanged, this, [this] {
        updateCaption();
        askSoon(Urgency::Now);
    });
    connect(state, &ViewState::visibleRangeChanged, this,
        [this, state] { askSoon(state->isFollowing() ? Urgency::WhenIdle : Urgency::Now); });
    connect(state, &ViewState::dataArrived, this, [this] { askSoon(Urgency::WhenIdle); });
    connect(m_side, &RanksSide::changed, this, &OverviewView::fitSide);
    connect(m_canvas, &OverviewCanvas::plotResized, this, [this] { askSoon(Urgency::Now); });
}

void OverviewView::showEvent(QShowEvent* event)
{
    DataView::showEvent(event);
    m_firstBad->setAsking(true);
}

void OverviewView::resizeEvent(QResizeEvent* event)
{
    DataView::resizeEvent(event);
    constexpr int kOthers
        = 280; // the choices: a cut sentence is read, a choice of dots is not, and the caption goes first
    m_firstBad->setMaximumWidth(std::max(m_firstBad->minimumSizeHint().width(), width() - kOthers));
    fitSide();
}

void OverviewView::fitSide()
{
    const int side = sideWidth(width());
    if (side > 0)
        m_side->setFixedWidth(side);
    m_side->setVisible(side > 0);
    constexpr int kWide = 800; // where it is narrower nothing else ends there
    m_canvas->endAsOthers(side == 0 && width() >= kWide);
}

int OverviewView::sideWidth(int width) const
{
    constexpr int kLeast = 2 * RanksSide::kLeastWidth + 120; // the scalars keep more than half of it
    if (m_side->isEmpty() || width < kLeast)
        return 0;
    return std::clamp(width * 36 / 100, RanksSide::kLeastWidth, RanksSide::kMostWidth);
}

void OverviewView::hideEvent(QHideEvent* event)
{
    DataView::hideEvent(event);
    m_firstBad->setAsking(false);
}

void OverviewView::updateCaption()
{
    const auto catalog = context().state->catalog();
    m_canvas->setEmptyText(emptyText());
    if (!catalog) {
        m_caption->clear();
        return;
    }
    std::vector<Rank> ranks;
    int attempt = 0;
    for (const store::SourceInfo& source : catalog->sources) {
        if (std::find(ranks.begin(), ranks.end(), source.rank) == ranks.end())
            ranks.push_back(source.rank);
        attempt = std::max(attempt, source.attempt);
    }
    QString caption = tr("%1, %n ranks, attempt %2", nullptr, static_cast<int>(ranks.size()))
                          .arg(QString::fromStdString(catalog->name))
                          .arg(attempt + 1);
    caption += besideText(*context().state, m_canvas->picture().get());
    m_caption->setText(caption);
}

QString OverviewView::emptyText() const
{
    const ViewState& state = *context().state;
    if (!trouble().isEmpty())
        return trouble();
    if (!state.run())
        return tr("Open a run, or connect a training job, to see how it does.");
    return tr("No scalar yet: this view shows loss, gradient norm, learning rate and whatever else the run logs.");
}

void OverviewView::ask()
{
    const ViewState& state = *context().state;
    if (!state.catalog() || state.visibleRange().isEmpty()) {
        m_own.reset();
        m_canvas->setPicture(nullptr);
        return;
    }
    CurveRequest request
        = CurveRequest::of(state, static_cast<int>(std::lround(m_canvas->plotRect().width() * devicePixelRatioF())));
    request.smoothing = m_canvas->smoothing();
    m_compared.ask(request, readScalars, [this] { showMerged(); });
    struct Answer {
        std::shared_ptr<const CurvePicture> scalars;
        std::shared_ptr<const RankTimes> times;
    };
    submitRead(
        [request](store::RunReader& reader, const series::CancelToken& cancel) -> Expected<Answer> {
            auto scalars = readScalars(reader, request, cancel);
            if (!scalars)
                return tl::unexpected(std::move(scalars).error());
            auto times = readRankTimes(reader, request, cancel);
            if (!times)
                return tl::unexpected(std::move(times).error());
            return Answer { std::make_shared<const CurvePicture>(std::move(*scalars)),
                std::make_shared<const RankTimes>(std::move(*times)) };
        },
        [this](const std::shared_ptr<const Answer>& answer) {
            m_own = answer->scalars;
            m_side->setTimes(answer->times);
            showMerged();
        });
}

void OverviewView::troubleChanged()
{
    m_canvas->setEmptyText(emptyText());
}

void OverviewView::showMerged()
{
    m_canvas->setPicture(m_compared.mergedWith(m_own, true));
    updateCaption();
    m_values->ask();
}

void OverviewView::paintPicture(QPainter& painter, QSize size)
{
    QRect place(QPoint(), size);
    if (const int side = sideWidth(size.width()); side > 0) {
        place.setRight(size.width() - side - 1);
        m_side->paintTo(painter, QRect(place.right() + 1, 0, side, size.height()));
    }
    paintWithCaption(painter, place, *m_canvas, PictureCaption::of(*context().state, { tr("overview") }, false));
}

Expected<void> OverviewView::writeCsv(QIODevice* device) const
{
    return writeCurveCsv(device, m_canvas->picture().get());
}

}
