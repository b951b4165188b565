// SPDX-License-Identifier: GPL-3.0-or-later
#include "ranksview.h"

#include <algorithm>
#include <cmath>

#include <QLabel>
#include <QPainter>
#include <QSignalBlocker>
#include <QSlider>
#include <QSplitter>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include <telltale/common/absentkind.h>
#include <telltale/common/exportpicture.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/onerunnote.h>
#include <telltale/common/viewbar.h>
#include <telltale/heatmap/heatcanvas.h>
#include <telltale/heatmap/heatlegend.h>

#include "facehead.h"
#include "rankmap.h"
#include "replicacanvas.h"
#include "replicaranks.h"

namespace telltale::views {

using series::CellState;

namespace {

constexpr int kCaption = 24;
constexpr double kLeftShare = 0.58; ///< of the width
constexpr double kTopShare = 0.58; ///< of the height
constexpr int kLegendFrom = 420; ///< px of a face that has room for it
constexpr int kNoGroup = -1;
constexpr int kLeastMap = 150; ///< px of the map of ranks beside a list

void choose(QComboBox* box, int value)
{
    const QSignalBlocker blocker(box);
    box->setCurrentIndex(box->findData(value));
}

QString wordOf(analysis::Parallel way)
{
    const auto name = analysis::parallelName(way);
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

/// With the colors of all faces, where none of them has room for a legend.
class MapCaption : public QLabel {
public:
    using QLabel::QLabel;
    void setColors(std::shared_ptr<const HeatPicture> picture)
    {
        m_picture = std::move(picture);
        update();
    }
    /// `brief`: what stands there beside the colors where the text has no room.
    void setTexts(const QString& text, const QString& brief)
    {
        setText(text);
        m_brief = brief;
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        const int room = width() - indent() - 12;
        const int words = m_picture ? room - static_cast<int>(std::ceil(heatStripWidth(*m_picture))) - 12 : room;
        const QString shown = fontMetrics().horizontalAdvance(text()) <= words ? text() : m_brief;
        painter.setPen(palette().color(foregroundRole()));
        painter.drawText(QRect(indent(), 0, std::max(words, 0), height()), Qt::AlignLeft | Qt::AlignVCenter,
            fontMetrics().elidedText(shown, Qt::ElideRight, std::max(words, 0)));
        if (m_picture)
            paintHeatStrip(painter, QRectF(rect().adjusted(indent(), 0, -12, 0)), *m_picture, Theme::current());
    }

private:
    std::shared_ptr<const HeatPicture> m_picture;
    QString m_brief;
};

}

RanksView::RanksView(const ViewContext& context, QWidget* parent)
    : DataView(context, parent)
    , m_bar(new ViewBar(this))
    , m_split(new QSplitter(Qt::Horizontal, this))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_bar);
    layout->addWidget(m_split, 1);
    buildFaces();
    buildBar();
    setFocusProxy(m_faces[LayersBySteps]);
    connectState();
    connectFaces();
    fillChoices();
    troubleChanged();
}

void RanksView::buildFaces()
{
    const std::array titles { tr("Modules over steps"), tr("Modules by ranks"), tr("Ranks over steps") };
    const std::array axes { tr("rank"), tr("step"), QString() };
    const std::array names { QStringLiteral("ranksRank"), QStringLiteral("ranksStep"), QStringLiteral("ranksLayer") };
    for (std::size_t i = 0; i < kFaces; ++i) {
        m_faces[i] = new HeatCanvas(context().state, this);
        m_faces[i]->setAccessibleName(titles[i]);
        m_faces[i]->setMinimumSize(200, 90);
        m_faces[i]->setLegendVisible(false);
        m_heads[i] = new FaceHead(titles[i], axes[i], names[i], this);
    }
    m_replicas = new ReplicaCanvas(context().state, this);
    m_replicas->setAccessibleName(tr("Replicas"));
    m_replicas->setMinimumSize(200, 90);
    m_map = new RankMap(context().state, this);
    m_map->setAccessibleName(tr("Map of ranks"));
    m_mapPane = new QWidget(this);
    m_mapPane->setMinimumSize(160, 90);
    m_mapPane->installEventFilter(this);
    m_map->setParent(m_mapPane);
    m_replicaRanks = new ReplicaRanks(context().state, m_mapPane);
    m_replicaRanks->setAccessibleName(tr("Replicas at the cursor"));
    m_below = new QStackedWidget(this);
    m_below->addWidget(m_faces[RanksBySteps]);
    m_below->addWidget(m_replicas);
    m_mapCaption = new MapCaption(this);
    m_mapCaption->setFixedHeight(28);
    m_mapCaption->setIndent(12);
    m_mapCaption->setFont(wordsFont(11, 500));
    m_mapCaption->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    const std::array<std::array<std::pair<QWidget*, QWidget*>, 2>, 2> places { {
        { { { m_heads[LayersBySteps], m_faces[LayersBySteps] }, { m_heads[RanksBySteps], m_below } } },
        { { { m_heads[LayersByRanks], m_faces[LayersByRanks] }, { m_mapCaption, m_mapPane } } },
    } };
    for (std::size_t column = 0; column < places.size(); ++column) {
        m_columns[column] = new QSplitter(Qt::Vertical, m_split);
        for (const auto& [head, body] : places[column]) {
            auto* pane = new QWidget(m_columns[column]);
            auto* lines = new QVBoxLayout(pane);
            lines->setContentsMargins(0, 0, 0, 0);
            lines->setSpacing(0);
            lines->addWidget(head);
            lines->addWidget(body, 1);
            m_columns[column]->addWidget(pane);
        }
        m_columns[column]->setSizes({ static_cast<int>(1000 * kTopShare), static_cast<int>(1000 * (1 - kTopShare)) });
        m_columns[column]->setCollapsible(0, false);
        m_split->addWidget(m_columns[column]);
    }
    m_split->setSizes({ static_cast<int>(1000 * kLeftShare), static_cast<int>(1000 * (1 - kLeftShare)) });
    m_split->setCollapsible(0, false);
}

void RanksView::buildBar()
{
    m_kindBox = m_bar->addCombo(tr("Kind"), QStringLiteral("ranksKind"));
    m_statBox = m_bar->addCombo(tr("Statistic"), QStringLiteral("ranksStatistic"));
    m_scaleBox = m_bar->addCombo(tr("Scale"), QStringLiteral("ranksScale"));
    addChoice(m_scaleBox, staticMetaObject, QT_TR_NOOP("linear"), HeatScale::Linear);
    addChoice(m_scaleBox, staticMetaObject, QT_TR_NOOP("log"), HeatScale::Log);
    addChoice(m_scaleBox, staticMetaObject, QT_TR_NOOP("symlog"), HeatScale::Symlog);
    m_groupBox = m_bar->addCombo(tr("Ranks"), QStringLiteral("ranksGroup"));
    m_belowBox = m_bar->addCombo(tr("Below"), QStringLiteral("ranksBelow"));
    m_belowBox->addItem(tr("ranks over steps"), false);
    m_belowBox->addItem(tr("replicas"), true);
    keepChoices({ m_scaleBox, m_groupBox, m_belowBox });
    m_bar->addStretch();
    addOneRunNote(m_bar, context().state);
    m_follow = m_bar->addButton(
        QStringLiteral("follow"), tr("Follow the newest steps"), tr("Space"), QStringLiteral("ranksFollow"));
    m_follow->setCheckable(true);
    QToolButton* zoomOut = m_bar->addButton(
        QStringLiteral("zoomout"), tr("Show the whole run"), QString(), QStringLiteral("ranksZoomOut"));
    choose(m_scaleBox, static_cast<int>(m_scale));

    ViewState* state = context().state;
    connect(m_kindBox, &QComboBox::activated, this,
        [this, state] { state->setKind(static_cast<Kind>(m_kindBox->currentData().toInt())); });
    connect(m_statBox, &QComboBox::activated, this,
        [this, state] { state->setStat(static_cast<Stat>(m_statBox->currentData().toInt())); });
    connect(m_scaleBox, &QComboBox::activated, this,
        [this] { setScale(static_cast<HeatScale>(m_scaleBox->currentData().toInt())); });
    connect(m_groupBox, &QComboBox::activated, this, [this] {
        const int way = m_groupBox->currentData().toInt();
        setGrouping(way < 0 ? std::nullopt : std::optional(static_cast<analysis::Parallel>(way)));
    });
    connect(m_belowBox, &QComboBox::activated, this, [this] { setReplicasShown(m_belowBox->currentData().toBool()); });
    connect(m_follow, &QToolButton::clicked, state, &ViewState::setFollowing);
    connect(zoomOut, &QToolButton::clicked, state, &ViewState::zoomOutFully);
}

void RanksView::connectState()
{
    ViewState* state = context().state;
    const auto askNow = [this] { askSoon(Urgency::Now); };
    const auto fillAndAsk = [this] {
        fillChoices();
        askSoon(Urgency::Now);
    };
    connect(state, &ViewState::runChanged, this, [this, fillAndAsk] {
        m_grouping.reset();
        show({});
        fillAndAsk();
    });
    connect(state, &ViewState::catalogChanged, this, [this] {
        fillChoices();
        askSoon(Urgency::WhenIdle);
    });
    connect(state, &ViewState::kindChanged, this, fillAndAsk);
    connect(state, &ViewState::statChanged, this, fillAndAsk);
    connect(state, &ViewState::rankChanged, this, askNow);
    connect(state, &ViewState::selectionChanged, this, askNow);
    connect(state, &ViewState::moduleFilterChanged, this, askNow);
    connect(state, &ViewState::cursorChanged, this, askNow);
    connect(state, &ViewState::visibleRangeChanged, this,
        [this, state] { askSoon(state->isFollowing() ? Urgency::WhenIdle : Urgency::Now); });
    connect(state, &ViewState::dataArrived, this, [this] { askSoon(Urgency::WhenIdle); });
    connect(state, &ViewState::followingChanged, this, [this, state] { m_follow->setChecked(state->isFollowing()); });
    m_follow->setChecked(state->isFollowing());
}

void RanksView::connectFaces()
{
    for (std::size_t i = 0; i < kFaces; ++i) {
        connect(m_faces[i], &PlotCanvas::plotResized, this, [this] { askSoon(Urgency::Now); });
        connect(m_faces[i], &HeatCanvas::rankPicked, context().state, &ViewState::setRank);
        connect(m_faces[i], &HeatCanvas::gutterChanged, this, &RanksView::shareGutter);
        connect(m_heads[i], &FaceHead::moved, this, [this, i](int place) { moveTo(static_cast<Face>(i), place); });
    }
    connect(m_replicas, &PlotCanvas::plotResized, this, [this] {
        if (m_areReplicasShown)
            askSoon(Urgency::Now);
    });
    connect(m_map, &RankMap::rankPicked, context().state, &ViewState::setRank);
}

/// The plots that stand above each other share their edge: one cursor is one line.
void RanksView::shareGutter()
{
    const int gutter = m_faces[LayersBySteps]->plotRect().left();
    m_faces[RanksBySteps]->setLeastGutter(gutter);
    m_replicas->setLeastGutter(gutter);
}

bool RanksView::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::Resize)
        placeReplicaRanks();
    return DataView::eventFilter(watched, event);
}

/// Not beside the plot of the replicas, which has the edges of the map of steps above it.
void RanksView::placeReplicaRanks()
{
    const QRect whole = m_mapPane->rect();
    const int width = m_areReplicasShown ? m_replicaRanks->widthIn(whole.width(), kLeastMap) : 0;
    m_map->setGeometry(whole.adjusted(0, 0, -width, 0));
    m_replicaRanks->setGeometry(whole.adjusted(whole.width() - width, 0, 0, 0));
    m_replicaRanks->setVisible(width > 0);
}

void RanksView::moveTo(Face face, int place)
{
    ViewState* state = context().state;
    const auto at = static_cast<std::size_t>(place);
    if (face == LayersBySteps) {
        const auto ranks = state->catalog() ? ranksOf(*state->catalog(), state->kind()) : std::vector<Rank>();
        if (at < ranks.size())
            state->setRank(ranks[at]);
    } else if (face == LayersByRanks) {
        state->setCursor(Step { state->visibleRange().first.value + place });
    } else if (const HeatPicture* layers = m_faces[LayersBySteps]->picture(); layers && at < layers->rows.size()) {
        state->setSelection({ layers->rows[at].key });
    }
}

void RanksView::fillChoices()
{
    const ViewState& state = *context().state;
    const QSignalBlocker kindBlocker(m_kindBox);
    const QSignalBlocker statBlocker(m_statBox);
    const QSignalBlocker groupBlocker(m_groupBox);
    m_kindBox->clear();
    m_statBox->clear();
    m_groupBox->clear();
    addChoice(m_groupBox, staticMetaObject, QT_TR_NOOP("by number"), kNoGroup);
    if (const auto catalog = state.catalog()) {
        for (const Kind kind : kindsOf(*catalog)) {
            if (kind != Kind::Scalar)
                m_kindBox->addItem(kindText(kind), static_cast<int>(kind));
        }
        for (const Stat stat : statsOf(*catalog, state.kind()))
            m_statBox->addItem(statText(stat), static_cast<int>(stat));
        for (const analysis::Parallel way : analysis::RankTopology(*catalog).ways())
            addChoice(m_groupBox, tr("by %1").arg(wordOf(way)), wordOf(way), static_cast<int>(way));
    }
    choose(m_kindBox, static_cast<int>(state.kind()));
    choose(m_statBox, static_cast<int>(state.stat()));
    choose(m_groupBox, m_grouping ? static_cast<int>(*m_grouping) : kNoGroup);
    m_groupBox->setEnabled(m_groupBox->count() > 1);
    for (QComboBox* box : { m_kindBox, m_statBox, m_groupBox })
        box->updateGeometry();
    fillHeads();
}

void RanksView::fillHeads()
{
    const ViewState& state = *context().state;
    const auto ranks = state.catalog() ? ranksOf(*state.catalog(), state.kind()) : std::vector<Rank>();
    const auto rank = std::find(ranks.begin(), ranks.end(), state.rank());
    m_heads[LayersBySteps]->set(
        static_cast<int>(ranks.size()), static_cast<int>(rank - ranks.begin()), tr("rank %1").arg(state.rank().value));
    const StepRange range = state.visibleRange();
    const Step step = state.atStep();
    // Between two samples the values are of the last one.
    const HeatPicture* byRanks = m_faces[LayersByRanks]->picture();
    const Step shown = byRanks ? byRanks->atStep : step;
    constexpr std::int64_t kMost = std::numeric_limits<int>::max();
    m_heads[LayersByRanks]->set(static_cast<int>(std::min(kMost, range.count())),
        static_cast<int>(std::clamp<std::int64_t>(step.value - range.first.value, 0, kMost)),
        tr("step %1").arg(formatStep(shown.value)));
    const HeatPicture* layers = m_faces[LayersBySteps]->picture();
    const HeatPicture* cut = m_faces[RanksBySteps]->picture();
    int place = 0;
    if (layers && cut && !cut->rows.empty()) {
        const auto row = std::find_if(layers->rows.begin(), layers->rows.end(),
            [cut](const Row& one) { return one.key == cut->rows.front().key; });
        place = row == layers->rows.end() ? 0 : static_cast<int>(row - layers->rows.begin());
    }
    m_heads[RanksBySteps]->set(layers ? static_cast<int>(layers->rows.size()) : 0, place,
        cut && !cut->rows.empty() ? cut->rows.front().fullName() : QString());
}

QString RanksView::emptyText() const
{
    const ViewState& state = *context().state;
    if (!trouble().isEmpty())
        return trouble();
    if (!state.run())
        return tr("Open a run, or connect a training job, to see its ranks here.");
    if (!state.catalog() || state.catalog()->series.empty())
        return beforeFirstStep();
    if (!state.moduleFilter().isEmpty())
        return tr("No module of this kind matches the filter “%1”.").arg(state.moduleFilter());
    return tr("This run has no %1 on rank %2.").arg(kindText(state.kind())).arg(state.rank().value);
}

void RanksView::setScale(HeatScale scale)
{
    m_scale = scale;
    choose(m_scaleBox, static_cast<int>(scale));
    askSoon(Urgency::Now);
}

void RanksView::setGrouping(std::optional<analysis::Parallel> way)
{
    m_grouping = way;
    choose(m_groupBox, way ? static_cast<int>(*way) : kNoGroup);
    askSoon(Urgency::Now);
}

void RanksView::setReplicasShown(bool on)
{
    m_areReplicasShown = on;
    const QSignalBlocker blocker(m_belowBox);
    m_belowBox->setCurrentIndex(on ? 1 : 0);
    m_below->setCurrentIndex(on ? 1 : 0);
    placeReplicaRanks();
    m_heads[RanksBySteps]->setTitle(on ? tr("Replicas over steps") : tr("Ranks over steps"));
    askSoon(Urgency::Now);
}

RanksRequest RanksView::request() const
{
    const ViewState& state = *context().state;
    RanksRequest request;
    HeatRequest& face = request.face;
    face.catalog = state.catalog();
    face.scale = m_scale;
    face.kind = state.kind();
    face.stat = state.stat();
    face.rank = state.rank();
    face.filter = state.moduleFilter();
    face.selection = state.selection();
    face.range = state.visibleRange();
    face.atStep = state.atStep();
    face.pixelRatio = devicePixelRatioF();
    face.theme = &Theme::current();
    face.pixels = static_cast<int>(
        std::lround(m_faces[LayersBySteps]->plotRect().width() * static_cast<double>(face.pixelRatio)));
    face.isLive = state.run() && state.run()->isLive();
    for (std::size_t i = 0; i < kFaces; ++i)
        request.plots[i] = m_faces[i]->plotRect().size();
    request.grouping = m_grouping;
    request.replicaPixels = m_areReplicasShown ? face.pixels : 0;
    return request;
}

void RanksView::ask()
{
    const ViewState& state = *context().state;
    troubleChanged();
    fillHeads();
    if (!state.catalog() || state.visibleRange().isEmpty()) {
        show({});
        return;
    }
    submitRead([request = request()](store::RunReader& reader,
                   const series::CancelToken& cancel) { return readRanks(reader, request, cancel); },
        [this](const std::shared_ptr<const RanksAnswer>& answer) { show(*answer); });
}

void RanksView::show(const RanksAnswer& answer)
{
    for (std::size_t i = 0; i < kFaces; ++i)
        m_faces[i]->setPicture(answer.faces[i]);
    m_colors = answer.faces[LayersBySteps];
    m_map->setPicture(answer.map);
    m_replicas->setPicture(answer.replicas);
    m_replicaRanks->setPicture(answer.replicas);
    placeReplicaRanks();
    const bool isEmpty = !answer.faces[LayersBySteps] || answer.faces[LayersBySteps]->rows.empty();
    const ViewState& state = *context().state;
    QString none = isEmpty || !state.catalog()
        ? QString()
        : absentKindText(*state.catalog(), state.kind(), std::nullopt, state.selection());
    if (none.isEmpty() && !isEmpty)
        none = tr("The selected modules have no %1.").arg(kindText(state.kind()));
    m_faces[RanksBySteps]->setEmptyText(none);
    const bool hasCut = answer.faces[RanksBySteps] && !answer.faces[RanksBySteps]->rows.empty();
    m_replicas->setEmptyText(hasCut ? QString() : none);
    const QString all
        = isEmpty || !answer.map ? QString() : tr("All %n ranks", nullptr, static_cast<int>(answer.map->ranks.size()));
    static_cast<MapCaption*>(m_mapCaption)
        ->setTexts(all.isEmpty()
                ? all
                : QStringList { all, kindText(context().state->kind()), statText(answer.map->stat) }.join(
                    QStringLiteral("  ·  ")),
            all);
    // Nothing to show is said once.
    m_columns[1]->setVisible(!isEmpty);
    m_columns[0]->widget(1)->setVisible(!isEmpty);
    m_heads[LayersBySteps]->setVisible(!isEmpty);
    fillHeads();
    shareGutter();
    placeLegend();
}

void RanksView::placeLegend()
{
    const bool hasRoom = width() * (1 - kLeftShare) >= kLegendFrom;
    m_faces[LayersByRanks]->setLegendVisible(hasRoom);
    const bool isEmpty = !m_colors || m_colors->rows.empty() || m_colors->columns() == 0;
    static_cast<MapCaption*>(m_mapCaption)->setColors(hasRoom || isEmpty || !m_colors->hasScale ? nullptr : m_colors);
    std::vector<CellState> explained;
    const auto isSeen = [this](CellState state) {
        return std::any_of(m_faces.begin(), m_faces.end(), [state](const HeatCanvas* face) {
            return face->picture()
                && std::ranges::find(face->picture()->result.states, state) != face->picture()->result.states.end();
        });
    };
    for (const CellState state : { CellState::NaN, CellState::PosInf, CellState::NegInf, CellState::NotCollected,
             CellState::Gap, CellState::Damaged }) {
        if (!hasRoom && !isEmpty && isSeen(state))
            explained.push_back(state);
    }
    m_map->setExplained(std::move(explained));
}

void RanksView::troubleChanged()
{
    m_faces[LayersBySteps]->setEmptyText(emptyText());
}

void RanksView::resizeEvent(QResizeEvent* event)
{
    DataView::resizeEvent(event);
    placeLegend();
}

QStringList RanksView::shownWords() const
{
    return { kindText(context().state->kind()), statText(context().state->stat()) };
}

void RanksView::paintPicture(QPainter& painter, QSize size)
{
    const ViewState& state = *context().state;
    PictureCaption caption = PictureCaption::of(state, shownWords(), true);
    const HeatPicture* layers = m_faces[LayersBySteps]->picture();
    if (!layers || layers->rows.empty())
        return paintWithCaption(painter, QRect(QPoint(), size), *m_faces[LayersBySteps], caption);
    const QSize part(static_cast<int>(size.width() * kLeftShare), static_cast<int>(size.height() * kTopShare));
    paintWithCaption(painter, QRect(QPoint(), part), *m_faces[LayersBySteps], caption);
    const auto place = [&](PlotCanvas& canvas, QRect area, const QString& words, int beside = 0) {
        painter.setFont(wordsFont(11, 500));
        painter.setPen(Theme::current().text2);
        painter.drawText(area.adjusted(12, 0, -8, 0), static_cast<int>(Qt::AlignLeft) | static_cast<int>(Qt::AlignTop),
            painter.fontMetrics().elidedText(words, Qt::ElideRight, area.width() - 20));
        canvas.paintTo(painter, area.adjusted(0, kCaption, -beside, 0));
    };
    const int below = size.height() - part.height();
    place(*m_faces[LayersByRanks], { part.width(), 4, size.width() - part.width(), part.height() - 4 },
        m_heads[LayersByRanks]->text());
    PlotCanvas* left = m_areReplicasShown ? static_cast<PlotCanvas*>(m_replicas) : m_faces[RanksBySteps];
    place(*left, { 0, part.height(), part.width(), below }, m_heads[RanksBySteps]->text());
    const QRect map(part.width(), part.height(), size.width() - part.width(), below);
    const int list = m_areReplicasShown ? m_replicaRanks->widthIn(map.width(), kLeastMap) : 0;
    place(*m_map, map, m_mapCaption->text(), list);
    if (list > 0)
        m_replicaRanks->paintTo(painter, map.adjusted(map.width() - list, kCaption, 0, 0));
}

}
