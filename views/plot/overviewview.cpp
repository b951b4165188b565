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
#include "loggedcards.h"
#include "loggedside.h"
#include "overviewcanvas.h"
#include "ranksside.h"
#include "scrolledplots.h"

namespace telltale::views {

OverviewView::OverviewView(const ViewContext& context, QWidget* parent)
    : DataView(context, parent)
    , m_compared(context)
    , m_bar(new ViewBar(this))
    , m_canvas(new OverviewCanvas(context.state))
    , m_beside(new QWidget)
    , m_side(new RanksSide(context.state))
    , m_logged(new LoggedSide)
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
    beside->addWidget(m_beside);
    m_beside->hide();
    auto* sides = new QVBoxLayout(m_beside);
    sides->setContentsMargins(0, 0, 0, 0);
    sides->setSpacing(0);
    sides->addWidget(m_side, 3);
    sides->addWidget(m_logged, 2);
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
    keepChoices({ m_smoothBox });
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
        m_logged->cards()->clear();
        updateCaption();
        askSoon(Urgency::Now);
    });
    connect(state, &ViewState::catalogChanged, this, [this] {
        updateCaption();
        askSoon(Urgency::WhenIdle);
    });
    connect(state, &ViewState::rankChanged, this, [this] {
        m_logged->cards()->clear();
        askSoon(Urgency::Now);
    });
    connect(state, &ViewState::blobsArrived, this, [this] { askSoon(Urgency::WhenIdle); });
    connect(state, &ViewState::cursorChanged, this, [this, state] {
        m_logged->cards()->setStep(state->cursor());
        if (m_logged->cards()->isMissing())
            askSoon(Urgency::WhenIdle);
    });
    connect(state, &ViewState::ranksChanged, this, [this] { askSoon(Urgency::Now); });
    connect(state, &ViewState::comparedChanged, this, [this] {
        updateCaption();
        askSoon(Urgency::Now);
    });
    connect(state, &ViewState::visibleRangeChanged, this,
        [this, state] { askSoon(state->isFollowing() ? Urgency::WhenIdle : Urgency::Now); });
    connect(state, &ViewState::dataArrived, this, [this] { askSoon(Urgency::WhenIdle); });
    connect(m_side, &RanksSide::changed, this, &OverviewView::fitSide);
    connect(m_logged->cards(), &LoggedCards::changed, this, &OverviewView::fitSide);
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
        m_beside->setFixedWidth(side);
    m_side->setVisible(!m_side->isEmpty());
    m_logged->setVisible(!m_logged->cards()->isEmpty());
    m_beside->setVisible(side > 0);
    constexpr int kWide = 800; // where it is narrower nothing else ends there
    m_canvas->endAsOthers(side == 0 && width() >= kWide);
}

int OverviewView::sideWidth(int width) const
{
    constexpr int kLeast = 2 * RanksSide::kLeastWidth + 120; // the scalars keep more than half of it
    if ((m_side->isEmpty() && m_logged->cards()->isEmpty()) || width < kLeast)
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
    if (!state.damage().isEmpty())
        return tr("No scalar of this run can be read: its file is damaged.");
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
        LoggedNews logged;
    };
    m_logged->cards()->setStep(state.cursor());
    submitRead(
        [request, wanted = m_logged->cards()->request(state.rank())](
            store::RunReader& reader, const series::CancelToken& cancel) -> Expected<Answer> {
            auto scalars = readScalars(reader, request, cancel);
            if (!scalars)
                return tl::unexpected(std::move(scalars).error());
            auto times = readRankTimes(reader, request, cancel);
            if (!times)
                return tl::unexpected(std::move(times).error());
            // What cannot be read of these hides no scalar: the Run view says why.
            auto logged = readLogged(reader, wanted).value_or(LoggedNews {});
            return Answer { std::make_shared<const CurvePicture>(std::move(*scalars)),
                std::make_shared<const RankTimes>(std::move(*times)), std::move(logged) };
        },
        [this](const std::shared_ptr<const Answer>& answer) {
            m_own = answer->scalars;
            m_side->setTimes(answer->times);
            m_logged->cards()->take(answer->logged);
            if (m_logged->cards()->isMissing())
                askSoon(Urgency::WhenIdle);
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
        const QRect was = m_beside->geometry();
        m_beside->setFixedWidth(side);
        m_beside->resize(side, size.height());
        m_beside->layout()->activate();
        m_beside->render(&painter, QPoint(place.right() + 1, 0));
        m_beside->setGeometry(was);
        fitSide();
    }
    paintWithCaption(painter, place, *m_canvas, PictureCaption::of(*context().state, { tr("overview") }, false, true));
}

Expected<void> OverviewView::writeCsv(QIODevice* device) const
{
    return writeCurveCsv(device, m_canvas->picture().get());
}

}
