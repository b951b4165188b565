// SPDX-License-Identifier: GPL-3.0-or-later
#include "runview.h"

#include <algorithm>
#include <cmath>

#include <QScrollArea>
#include <QSplitter>
#include <QTabWidget>
#include <QVBoxLayout>

#include <telltale/common/annotator.h>
#include <telltale/common/csv.h>
#include <telltale/common/hiddencontrols.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewbar.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/runsmodel.h>
#include <telltale/plot/loggedcards.h>
#include <telltale/plot/overviewcanvas.h>
#include <telltale/plot/scrolledplots.h>
#include <telltale/runs/panelhead.h>
#include <telltale/store/confighistory.h>

#include "consolepane.h"
#include "facttree.h"
#include "loggedpane.h"
#include "noteseditor.h"
#include "tagsline.h"

namespace telltale::views {
namespace {

constexpr int kNarrow = 720;
constexpr int kLow = 480;

}

RunView::RunView(const ViewContext& context, QWidget* parent)
    : DataView(context, parent)
    , m_bar(new ViewBar(this))
    , m_split(new QSplitter(Qt::Horizontal, this))
    , m_facts(new FactTree)
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_bar);
    layout->addWidget(m_split, 1);
    m_caption = m_bar->addTitle(tr("Run"));
    m_caption->setProperty("telltaleData", true); // the run's own name
    m_bar->addStretch();
    m_right = new QSplitter(Qt::Vertical);
    m_right->addWidget(m_words = makeWords());
    m_right->addWidget(makeTabs());
    m_right->setStretchFactor(0, 0);
    m_right->setStretchFactor(1, 1);
    m_right->setSizes({ 212, 500 });
    m_right->setChildrenCollapsible(false);
    m_split->addWidget(m_facts);
    m_split->addWidget(m_right);
    m_split->setStretchFactor(0, 42);
    m_split->setStretchFactor(1, 58);
    m_split->setSizes({ 420, 580 });
    m_split->setChildrenCollapsible(false);
    setBackgroundRole(QPalette::Base);
    setAutoFillBackground(true);
    setFocusProxy(m_facts);
    connectState();
    if (const items::RunsModel* runs = context.runs) {
        for (const auto signal : { &QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved })
            connect(runs, signal, this, &RunView::showName);
        connect(runs, &QAbstractItemModel::modelReset, this, &RunView::showName);
        connect(runs, &QAbstractItemModel::dataChanged, this, &RunView::showName);
    }
    connectWriting();
    showDocument();
}

QWidget* RunView::makeWords()
{
    auto* box = new QWidget;
    auto* layout = new QVBoxLayout(box);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    const auto inset = [](QWidget* part) {
        auto* frame = new QWidget;
        auto* around = new QVBoxLayout(frame);
        around->setContentsMargins(12, 8, 12, 8);
        around->addWidget(part);
        return frame;
    };
    layout->addWidget(titled(tr("Tags"), inset(m_tags = new TagsLine), box));
    layout->addWidget(titled(tr("Notes"), inset(m_notes = new NotesEditor), box), 1);
    return box;
}

QWidget* RunView::makeTabs()
{
    m_tabs = new QTabWidget;
    m_tabs->setObjectName(QStringLiteral("runTabs"));
    m_tabs->setDocumentMode(true);
    m_tabs->setAccessibleName(tr("What the run logged"));
    m_system = new OverviewCanvas(context().state);
    m_system->setObjectName(QStringLiteral("systemCanvas"));
    m_system->setAccessibleName(tr("What the system uses"));
    m_system->setSmoothing(0);
    m_logged = new LoggedPane;
    m_console = new ConsolePane;
    m_tabs->addTab(scrolledPlots(m_system), tr("System"));
    m_tabs->addTab(m_logged, tr("Texts and images"));
    m_tabs->addTab(m_console, tr("Console"));
    return m_tabs;
}

void RunView::connectState()
{
    ViewState* state = context().state;
    connect(state, &ViewState::runChanged, this, [this] {
        ++m_documentChanges;
        m_document = {};
        m_notes->clear();
        begin();
    });
    connect(state, &ViewState::rankChanged, this, &RunView::begin);
    const auto look = [this] {
        ++m_documentChanges;
        askSoon(Urgency::WhenIdle);
    };
    connect(state, &ViewState::blobsArrived, this, look);
    connect(state, &ViewState::logAppended, this, [look](const store::LogPage& page) {
        const auto isOurs = [](const store::LogRecord& record) {
            return record.kind == analysis::kTagsRecord || record.kind == analysis::kNotesRecord
                || (record.kind == "config" && record.phase == store::configphase::kApplied);
        };
        if (std::any_of(page.records.begin(), page.records.end(), isOurs))
            look();
    });
    connect(state, &ViewState::catalogChanged, this, [this] {
        showDocument();
        askSoon(Urgency::WhenIdle);
    });
    connect(state, &ViewState::ranksChanged, this, [this] { askSoon(Urgency::Now); });
    connect(state, &ViewState::visibleRangeChanged, this,
        [this, state] { askSoon(state->isFollowing() ? Urgency::WhenIdle : Urgency::Now); });
    connect(state, &ViewState::dataArrived, this, [this] { askSoon(Urgency::WhenIdle); });
    connect(state, &ViewState::cursorChanged, this, [this, state] {
        m_logged->cards()->setStep(state->cursor());
        if (m_logged->cards()->isMissing())
            askSoon(Urgency::WhenIdle);
    });
    connect(m_system, &PlotCanvas::plotResized, this, [this] { askSoon(Urgency::Now); });
    connect(m_logged, &LoggedPane::stepWanted, state, &ViewState::goTo);
}

void RunView::connectWriting()
{
    connect(m_tags, &TagsLine::addWanted, this,
        [this](const QString& tag) { edit(analysis::tagsEvent({ tag.toStdString() }, {}, newestStep())); });
    connect(m_tags, &TagsLine::removeWanted, this,
        [this](const QString& tag) { edit(analysis::tagsEvent({}, { tag.toStdString() }, newestStep())); });
    connect(m_notes, &NotesEditor::saveWanted, this,
        [this](const QString& notes) { edit(analysis::notesEvent(notes.toStdString(), newestStep())); });
    if (context().annotator != nullptr)
        connect(context().annotator, &Annotator::refused, m_notes, &NotesEditor::setHint);
}

void RunView::edit(Event event)
{
    if (context().annotator != nullptr && context().annotator->append(context().state->run(), std::move(event)))
        m_notes->setHint({});
}

Step RunView::newestStep() const
{
    const StepRange own = context().state->ownRange();
    return own.isEmpty() ? Step { 0 } : own.last;
}

void RunView::begin()
{
    m_known = {};
    m_logged->cards()->clear();
    m_console->clear();
    m_system->setPicture(nullptr);
    m_system->setEmptyText(systemText());
    showDocument();
    askSoon(Urgency::Now);
}

void RunView::ask()
{
    ViewState* state = context().state;
    if (!state->run())
        return;
    m_logged->cards()->setStep(state->cursor());
    RunRequest request = m_known;
    request.curves
        = CurveRequest::of(*state, static_cast<int>(std::lround(m_system->plotRect().width() * devicePixelRatioF())));
    request.curves.isSystem = true;
    request.rank = state->rank();
    request.isDocumentWanted = m_knownChanges != m_documentChanges;
    request.logged = m_logged->cards()->request(state->rank());
    submitRead([request](store::RunReader& reader,
                   const series::CancelToken& cancel) { return readRun(reader, request, cancel); },
        [this, asked = m_documentChanges](const std::shared_ptr<const RunPicture>& picture) {
            m_knownChanges = asked; // not before: a later question, as of another width, may drop this one
            take(*picture);
        });
}

void RunView::take(const RunPicture& picture)
{
    if (picture.document) {
        m_document = *picture.document;
        showDocument();
    }
    m_system->setEmptyText(systemText());
    m_system->setPicture(std::make_shared<const CurvePicture>(picture.system));
    m_known.afterConsole = picture.lastConsole;
    m_known.consoleRank = picture.consoleRank;
    m_logged->cards()->take(picture.logged);
    m_console->append(picture.console, picture.consoleRank.value);
    if (m_logged->cards()->isMissing())
        askSoon(Urgency::WhenIdle);
}

/// Why there is nothing of the system.
QString RunView::systemText() const
{
    return context().state->ownRange().isEmpty()
        ? tr("This run has no system metrics: its config or its environment has them off, its agent sends none, or no "
             "step has ended yet.")
        : tr("This run has no system metrics: its config or its environment has them off, or its agent sends none.");
}

void RunView::troubleChanged()
{
    showDocument();
}

void RunView::showDocument()
{
    const ViewState* state = context().state;
    m_facts->setEmptyText(!trouble().isEmpty() ? trouble()
            : !state->run() ? tr("Open a run, or connect a training job, to see what it says of itself.")
                            : tr("This run says nothing of itself: telltale.hyperparameters() in the "
                                 "training's program does."));
    m_facts->set(groups());
    m_tags->set(m_document.tags);
    m_notes->set(QString::fromStdString(m_document.notes), Annotator::writerText(m_document.notesAuthor));
    showName();
    showWritable();
}

/// As it is called wherever a run is chosen.
void RunView::showName()
{
    const ViewState* state = context().state;
    const items::RunsModel* runs = context().runs;
    const store::RunSummary* run
        = runs && state->run() ? runs->runAt(runs->indexOf(QString::fromStdString(state->run()->id))) : nullptr;
    const auto catalog = state->catalog();
    m_caption->setText(run ? runs->shownName(*run) : catalog ? QString::fromStdString(catalog->name) : QString());
}

void RunView::showWritable()
{
    const Annotator* annotator = context().annotator; // none: nobody is there who could write, or need be told why not
    const QString why = annotator != nullptr ? annotator->whyNot(context().state->run()) : QString();
    m_tags->setWritable(annotator != nullptr && why.isEmpty());
    m_notes->setWritable(annotator != nullptr && why.isEmpty());
    m_notes->setHint(context().state->run() ? why : QString());
}

std::vector<FactTreeModel::Group> RunView::groups() const
{
    std::vector<FactTreeModel::Group> groups;
    const auto add = [&groups](const QString& title, const analysis::Json& object) {
        auto facts = analysis::factsOf(object);
        if (!facts.empty())
            groups.push_back({ title, std::move(facts) });
    };
    add(tr("Hyperparameters"), m_document.hyperparameters);
    add(tr("Environment"), m_document.environment);
    for (const auto& [rank, environment] : m_document.otherEnvironments)
        add(tr("Environment of rank %1, what differs").arg(rank.value), environment);
    add(tr("Fields set in the config"), m_document.config);
    return groups;
}

void RunView::resizeEvent(QResizeEvent* event)
{
    DataView::resizeEvent(event);
    const bool isNarrow = width() < kNarrow;
    const bool isLow = height() < kLow;
    fit(m_words, m_right, isNarrow || isLow, tr("Notes"), { 212, 500 });
    fit(m_facts, m_split, isNarrow, tr("Facts"), { 420, 580 });
}

/// Beside or above the tabs, and where both would be too narrow or too low, the first of them.
void RunView::fit(QWidget* part, QSplitter* split, bool isTab, const QString& title, const QList<int>& sizes)
{
    if (isTab == (m_tabs->indexOf(part) >= 0))
        return;
    if (isTab) {
        m_tabs->insertTab(0, part, title);
        return;
    }
    split->insertWidget(0, part);
    split->setSizes(sizes);
    part->show(); // a page that is not the current one is hidden
}

void RunView::paintPicture(QPainter& painter, QSize size)
{
    const HiddenControls hidden(this);
    DataView::paintPicture(painter, size);
}

Expected<void> RunView::writeCsv(QIODevice* device) const
{
    CsvWriter csv(device);
    csv.text(QStringLiteral("group")).text(QStringLiteral("name")).text(QStringLiteral("value")).endRow();
    const auto row = [&csv](const QString& group, const std::string& name, const std::string& value) {
        csv.text(group).text(QString::fromStdString(name)).text(QString::fromStdString(value)).endRow();
    };
    for (const auto& [group, object] : { std::pair(QStringLiteral("hyperparameters"), &m_document.hyperparameters),
             std::pair(QStringLiteral("environment"), &m_document.environment),
             std::pair(QStringLiteral("config"), &m_document.config) }) {
        for (const analysis::Fact& fact : analysis::factsOf(*object))
            row(group, fact.name, fact.value);
    }
    for (const auto& [rank, environment] : m_document.otherEnvironments) {
        for (const analysis::Fact& fact : analysis::factsOf(environment))
            row(QStringLiteral("environment of rank %1").arg(rank.value), fact.name, fact.value);
    }
    for (const std::string& tag : m_document.tags)
        row(QStringLiteral("tags"), tag, {});
    if (!m_document.notes.empty())
        row(QStringLiteral("notes"), {}, m_document.notes);
    return csv.finish();
}

}
