// SPDX-License-Identifier: GPL-3.0-or-later
#include "inspectorpanel.h"

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <set>
#include <utility>

#include <QClipboard>
#include <QGuiApplication>
#include <QScrollArea>
#include <QScrollBar>
#include <QStackedLayout>
#include <QToolButton>
#include <QVBoxLayout>

#include <telltale/analysis/ranktopology.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/rowlist.h>
#include <telltale/common/theme.h>
#include <telltale/core/numberformats.h>
#include <telltale/items/comma.h>
#include <telltale/items/moduletreemodel.h>
#include <telltale/items/shownname.h>

#include "allkinds.h"
#include "facttable.h"
#include "inspectortext.h"
#include "panelhead.h"
#include "rankbars.h"
#include "recordssection.h"
#include "rolelabel.h"

namespace telltale::views {

namespace {

using series::CellState;
using series::CellValue;

constexpr std::size_t kColumns = 2;
constexpr int kAskAfterMs = 40;
constexpr int kLiveEveryMs = 250; ///< the newest step moves on faster than a person reads

/// The statistics of a group in the order of the design, with the largest magnitude.
std::vector<Stat> shownStats(const store::Catalog& catalog, GroupId group)
{
    std::vector<Stat> stats;
    for (const store::GroupInfo& info : catalog.groups) {
        if (info.id == group)
            stats = info.stats;
    }
    const auto has = [&](Stat stat) { return std::find(stats.begin(), stats.end(), stat) != stats.end(); };
    std::erase_if(stats, [](Stat stat) { return factsOf(stat).shown == Shown::Bin; });
    if (has(Stat::Min) && has(Stat::Max))
        stats.insert(std::find(stats.begin(), stats.end(), Stat::Max) + 1, Stat::AbsMax);
    return stats;
}

}

InspectorPanel::InspectorPanel(const ViewContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_queryId(context.queries ? context.queries->newView() : 0)
    , m_head(new PanelHead(tr("Inspector"), this))
    , m_body(new QWidget)
    , m_title((new RoleLabel(&Theme::text, codeFont(14, 500), m_body))->asData())
    , m_subtitle((new RoleLabel(&Theme::text2, wordsFont(12), m_body))->asData())
    , m_shapesTitle(new RoleLabel(tr("Shapes"), &Theme::text2, wordsFont(11, 600), m_body))
    , m_shapes(new FactTable(FactTable::Style::Code, m_body))
    , m_kindLabel((new RoleLabel(&Theme::text2, wordsFont(11, 600), m_body))->asData())
    , m_values(new FactTable(FactTable::Style::Numbers, m_body))
    , m_nothing(new RoleLabel(&Theme::text3, wordsFont(12), m_body))
    , m_footnote(
          new RoleLabel(tr("norm and mean over finite elements, zeros over all"), &Theme::text3, wordsFont(11), m_body))
    , m_ranksTitle((new RoleLabel(&Theme::text2, wordsFont(11, 600), m_body))->asData())
    , m_kinds(new AllKinds(context.state, m_body))
    , m_rankBars(new RankBars(m_body))
    , m_records(new RecordsSection(context, m_body))
{
    setObjectName(QStringLiteral("inspectorPanel"));
    // Beside the name: in a head below a tab it would stand alone.
    QToolButton* copyButton = makeToolButton(QStringLiteral("copy"), tr("Copy these values"), m_body);
    copyButton->setFixedSize(24, 24);
    connect(copyButton, &QToolButton::clicked, this, &InspectorPanel::copy);

    m_title->setWordWrap(true);
    m_title->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_subtitle->setWordWrap(true);
    m_subtitle->setObjectName(QStringLiteral("inspectorSubtitle"));
    m_values->setAccessibleName(tr("Values at the cursor"));
    m_shapes->setAccessibleName(tr("Shapes"));

    for (RoleLabel* words : { m_nothing, m_footnote })
        words->setWordWrap(true);
    m_nothing->setObjectName(QStringLiteral("inspectorNothing"));
    m_kindLabel->setWordWrap(true);
    m_kindLabel->setObjectName(QStringLiteral("inspectorKind"));

    auto* body = new QVBoxLayout(m_body);
    body->setContentsMargins(0, 12, 0, 12);
    body->setSpacing(0);
    const auto addInset = [body] {
        auto* part = new QVBoxLayout;
        part->setContentsMargins(12, 0, 12, 0);
        part->setSpacing(4);
        body->addLayout(part);
        return part;
    };
    QVBoxLayout* layout = addInset();
    auto* top = new QHBoxLayout;
    top->addWidget(m_title, 1);
    top->addWidget(copyButton, 0, Qt::AlignTop);
    layout->addLayout(top);
    layout->addWidget(m_subtitle);
    layout->addSpacing(10);
    layout->addWidget(m_shapesTitle);
    layout->addWidget(m_shapes);
    layout->addSpacing(10);
    layout->addWidget(m_kindLabel);
    layout->addWidget(m_values);
    layout->addWidget(m_nothing);
    layout->addWidget(m_footnote);
    layout->addSpacing(14);
    body->addWidget(m_kinds); // from edge to edge
    layout = addInset();
    layout->addSpacing(10);
    layout->addWidget(m_ranksTitle);
    layout->addWidget(m_rankBars);
    layout->addSpacing(10);
    layout->addWidget(m_records);
    body->addStretch();

    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(m_body);
    m_body->setMinimumWidth(1); // a long word is broken or cut: the panel has no second half to scroll to
    m_body->setBackgroundRole(QPalette::Base);
    m_body->setAutoFillBackground(true);

    auto* empty = new RoleLabel(tr("Select a module to see its values."), &Theme::text3, wordsFont(12), this);
    empty->setAlignment(Qt::AlignCenter);
    empty->setWordWrap(true);
    empty->setMargin(24);
    empty->setBackgroundRole(QPalette::Base);
    empty->setAutoFillBackground(true);
    auto* pages = new QStackedLayout(this);
    pages->addWidget(empty);
    pages->addWidget(scroll);

    m_timer.setSingleShot(true);
    connect(&m_timer, &QTimer::timeout, this, &InspectorPanel::ask);
    connect(m_rankBars, &RankBars::rankClicked, context.state, &ViewState::setRank);
    const ViewState* state = context.state;
    for (const auto signal : { &ViewState::selectionChanged, &ViewState::catalogChanged, &ViewState::kindChanged,
             &ViewState::rankChanged, &ViewState::runChanged })
        connect(state, signal, this, &InspectorPanel::moduleChanged);
    connect(state, &ViewState::selectionChanged, this, [this, scroll] {
        const QWidget* focus = window()->focusWidget();
        if (!focus || !m_body->isAncestorOf(focus)) // who chooses in it stays where that is
            scroll->verticalScrollBar()->setValue(0);
    });
    connect(state, &ViewState::statChanged, this, &InspectorPanel::askSoon);
    connect(state, &ViewState::cursorChanged, this, &InspectorPanel::askSoon);
    for (const auto signal : { &ViewState::dataArrived, &ViewState::visibleRangeChanged }) {
        connect(state, signal, this, [this] {
            if (!m_context.state->cursor() && !m_timer.isActive())
                m_timer.start(kLiveEveryMs);
        });
    }
    moduleChanged();
}

InspectorPanel::~InspectorPanel()
{
    if (m_context.queries)
        m_context.queries->cancel(m_queryId);
}

void InspectorPanel::moduleChanged()
{
    const ViewState* state = m_context.state;
    const auto catalog = state->catalog();
    auto* pages = static_cast<QStackedLayout*>(layout());
    if (!catalog || state->selection().empty()) {
        m_keys.clear();
        pages->setCurrentIndex(0);
        return;
    }
    pages->setCurrentIndex(1);
    const QString name = state->selection().front().name;
    ModuleKeys found = keysOf(*catalog, state->kind(), name);
    m_kind = found.kind;
    m_keys = std::move(found.keys);
    // The chosen slots are among those that are shown, and the first is that of the bars.
    auto rest = m_keys.begin();
    for (const ModuleKey& key : state->selection()) {
        if (const auto chosen = std::find(rest, m_keys.end(), key); chosen != m_keys.end())
            rest = std::rotate(rest, chosen, chosen + 1);
    }
    // What goes in belongs to what comes out, and one head to no other.
    if (rest != m_keys.begin() && m_kind == Kind::Attention)
        m_keys.erase(rest, m_keys.end());
    if (m_keys.size() > kColumns)
        m_keys.resize(kColumns);
    m_title->setText(name == items::kWholeModel ? items::ModuleTreeModel::tr("(model)") : items::shownName(name));
    std::set<QString> names;
    for (const std::vector<ModuleKey>* keys : { &state->selection(), &state->omitted() }) {
        for (const ModuleKey& key : *keys)
            names.insert(key.name);
    }
    QStringList subtitle { subtitleText(*catalog, m_kind, state->rank(), m_keys) };
    if (names.size() > 1)
        subtitle.append(tr("first of %1 selected").arg(names.size()));
    subtitle.removeAll(QString());
    m_subtitle->setText(subtitle.join(items::comma()));

    std::vector<FactTable::Row> shapes;
    for (const store::SeriesInfo& series : catalog->series) {
        const QString own = QString::fromStdString(series.desc->name);
        const bool isPart = own.startsWith(name + u'.') && !own.mid(name.size() + 1).contains(u'.');
        if ((own != name && !isPart) || series.kind == Kind::Attention || series.desc->shape.empty())
            continue;
        const QString slot = items::shownSlot(series.desc->slot);
        const QString label = isPart ? own.mid(name.size() + 1) : slot.isEmpty() ? tr("value") : slot;
        const bool known
            = std::any_of(shapes.begin(), shapes.end(), [&](const auto& row) { return row.name == label; });
        if (!known)
            shapes.push_back({ label, { { shapeText(series), false, {} } } });
    }
    m_shapesTitle->setVisible(!shapes.empty()); // a collective has none
    m_shapes->set({}, std::move(shapes));
    m_records->ask();
    // Another kind's numbers under this kind's name would be believed.
    if (m_kind != state->kind() && m_kind != Kind::Scalar) {
        showNothing();
        askSoon(); // what it has of other kinds
        return;
    }
    m_kindLabel->setText(kindText(m_kind));
    m_values->show();
    m_nothing->hide();
    askSoon();
}

void InspectorPanel::showNothing()
{
    m_keys.clear();
    // A module has no gradient, and its parameters have.
    const auto catalog = m_context.state->catalog();
    const std::string parts = m_context.state->selection().front().name.toStdString() + '.';
    const bool isOfParts
        = catalog && std::any_of(catalog->series.begin(), catalog->series.end(), [&](const store::SeriesInfo& series) {
              return series.kind == m_context.state->kind() && series.desc->name.starts_with(parts)
                  && series.desc->name.find('.', parts.size()) == std::string::npos;
          });
    m_kindLabel->setText((isOfParts ? tr("%1: of its parameters, below") : tr("%1: not collected"))
                             .arg(kindText(m_context.state->kind())));
    m_values->setTitle({});
    m_values->set({}, {});
    for (QWidget* part : std::initializer_list<QWidget*> { m_values, m_nothing, m_footnote, m_ranksTitle, m_rankBars })
        part->hide();
}

void InspectorPanel::askSoon()
{
    if (m_context.queries)
        m_context.queries->cancel(m_queryId); // what it would say is of something else
    m_timer.start(kAskAfterMs);
}

void InspectorPanel::ask()
{
    const ViewState* state = m_context.state;
    const auto catalog = state->catalog();
    if (!catalog || !state->run() || !m_context.queries)
        return;
    InspectorQuery query = valuesQuery(*catalog);
    for (const AllKinds::Line& line : m_kinds->lines())
        query.kinds.push_back({ line.attempts, line.stat });
    if (query.columns.empty() && query.kinds.empty())
        return;
    m_context.queries->submit(m_queryId, state->run(),
        [this, query = std::move(query)](
            Expected<store::RunReader*> reader, const series::CancelToken& cancel) -> store::QueryPool::Delivery {
            if (!reader)
                return {}; // the views say why a run cannot be read
            auto answer = answerInspector(**reader, query, cancel);
            if (!answer)
                return {};
            return [this, stats = query.stats, step = query.step, found = std::move(*answer)] {
                show(found, stats, step);
            };
        });
}

InspectorQuery InspectorPanel::valuesQuery(const store::Catalog& catalog)
{
    const ViewState* state = m_context.state;
    InspectorQuery query;
    query.all = state->ownRange(); // that of another run may end later
    query.step = state->atStep();
    query.rankStat = state->stat();
    if (m_keys.empty())
        return query;
    GroupId group;
    std::vector<std::uint64_t> numels;
    bool hasHistograms = false;
    for (const ModuleKey& key : m_keys) {
        const auto* row = firstRow(catalog, m_kind, state->rank(), key);
        const auto* histogram = firstRow(catalog, m_kind, state->rank(), key, Stat::Fp16Underflow);
        query.columns.push_back(row ? row->attempts : series::RowAttempts());
        query.histograms.push_back(histogram ? histogram->attempts : series::RowAttempts());
        hasHistograms = hasHistograms || histogram;
        numels.push_back(row ? catalog.series[row->newest].desc->numel : 0);
        if (row)
            group = catalog.series[row->newest].group;
    }
    query.stats = shownStats(catalog, group);
    for (const StatFacts& facts : kStatTable) {
        if (hasHistograms && isFormatShare(facts.stat))
            query.stats.push_back(facts.stat);
    }
    m_ranks.clear();
    m_numels = std::move(numels);
    const auto ofHistogram = isFormatShare(query.rankStat) ? std::optional(query.rankStat) : std::nullopt;
    for (const auto* row : rankRows(catalog, m_kind, m_keys.front(), ofHistogram)) {
        m_ranks.push_back(row->rank);
        query.ranks.push_back(row->attempts);
    }
    return query;
}

/// Marks the bars of ranks that are unlike those that hold the same part of the model.
static void markOdd(std::vector<RankBars::Bar>& bars, const analysis::RankTopology& topology)
{
    for (const std::vector<Rank>& peers : topology.replicas()) {
        std::vector<RankBars::Bar*> compared;
        std::vector<float> values;
        std::vector<series::CellState> states;
        for (RankBars::Bar& bar : bars) {
            if (!std::binary_search(peers.begin(), peers.end(), bar.rank))
                continue;
            compared.push_back(&bar);
            values.push_back(static_cast<float>(bar.value.value));
            states.push_back(bar.value.state);
        }
        const auto odd = analysis::oddRanks(values, states, compared.size(), 1);
        for (std::size_t i = 0; i < compared.size(); ++i)
            compared[i]->grade = odd[i].grade;
    }
}

void InspectorPanel::show(const InspectorAnswer& answer, const std::vector<Stat>& stats, Step step)
{
    // What was not collected at the step itself is of one before it.
    std::optional<Step> newest;
    for (const auto& row : answer.values) {
        for (const CellValue& cell : row)
            newest = cell.state >= CellState::Absent ? std::max(newest, std::optional(cell.step)) : newest;
    }
    if (!m_context.state->ownRange().isEmpty())
        m_kinds->setValues(answer.kinds, step, newest);
    if (m_keys.empty())
        return;
    // What goes in stands before what comes out, as in tables of many, whichever of them is chosen.
    std::vector<std::size_t> order(m_keys.size());
    std::iota(order.begin(), order.end(), std::size_t { 0 });
    std::ranges::stable_sort(order, {}, [this](std::size_t c) { return m_keys[c].slot.role; });
    QStringList columns;
    for (const std::size_t c : order)
        columns.append(items::shownSlot(m_keys[c].slot));
    std::vector<FactTable::Row> rows;
    step = newest.value_or(step);
    bool isOverFinite = false;
    for (std::size_t i = 0; i < stats.size() && i < answer.values.size(); ++i) {
        FactTable::Row row { statLabel(stats[i]), {} };
        for (std::size_t c = 0; c < answer.values[i].size(); ++c) {
            const std::uint64_t numel = c < m_numels.size() ? m_numels[c] : 0;
            row.values.push_back(valueOf(stats[i], answer.values[i][c], numel, step));
            isOverFinite = isOverFinite || series::isPartOf(stats[i], answer.values[i][c], numel);
        }
        addLastFinite(row, stats[i], answer.lastFinite[i]);
        if (row.values.size() == order.size()) {
            std::vector<FactTable::Value> inOrder;
            inOrder.reserve(order.size());
            for (const std::size_t c : order)
                inOrder.push_back(std::move(row.values[c]));
            row.values = std::move(inOrder);
        }
        rows.push_back(std::move(row));
    }
    if (!newest) // a column of dashes would say no more
        rows.clear();
    m_nothing->setText(newest ? QString() : nothingText(answer, step, m_context.state->ownRange()));
    m_nothing->setVisible(!newest);
    m_values->setVisible(newest.has_value());
    m_values->setTitle(tr("At step %1").arg(formatStep(step.value)));
    m_values->set(columns, std::move(rows));
    m_footnote->setVisible(isOverFinite);

    std::vector<RankBars::Bar> bars;
    for (std::size_t i = 0; i < answer.ranks.size() && i < m_ranks.size(); ++i)
        bars.push_back({ m_ranks[i], answer.ranks[i] });
    if (const auto catalog = m_context.state->catalog())
        markOdd(bars, analysis::RankTopology(*catalog));
    // A scalar has no norm, say: an axis without a bar would tell nothing.
    const bool several = bars.size() > 1 && std::ranges::any_of(answer.ranks, [](const CellValue& cell) {
        return cell.state >= series::CellState::Value;
    });
    const QString slot
        = m_keys.size() > 1 || m_kind == Kind::Attention ? items::shownSlot(m_keys.front().slot) : QString();
    m_ranksTitle->setText(slot.isEmpty() ? tr("%1 by rank").arg(statText(m_context.state->stat()))
                                         : tr("%1 by rank, %2").arg(statText(m_context.state->stat()), slot));
    m_ranksTitle->setVisible(several);
    m_rankBars->setVisible(several);
    m_rankBars->set(std::move(bars), m_context.state->rank());
}

void InspectorPanel::copy() const
{
    const auto& chosen = m_context.state->selection();
    const QString name = chosen.empty() ? QString() : chosen.front().name; // the run's own, for filters
    QGuiApplication::clipboard()->setText(name + u'\n' + m_subtitle->text() + u'\n' + m_kindLabel->text() + u'\n'
        + (m_nothing->isHidden() ? m_values->text() : m_nothing->text()));
}

}
