// SPDX-License-Identifier: GPL-3.0-or-later
#include "configview.h"

#include <algorithm>

#include <QAbstractItemView>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QEvent>
#include <QFileDialog>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QPointer>
#include <QPushButton>
#include <QSaveFile>
#include <QScrollArea>
#include <QShortcut>
#include <QSplitter>
#include <QThreadPool>
#include <QToolButton>
#include <QVBoxLayout>

#include <telltale/common/csv.h>
#include <telltale/common/scrolled.h>
#include <telltale/common/steeringstate.h>
#include <telltale/common/taborder.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewbar.h>
#include <telltale/common/viewstate.h>
#include <telltale/config/field.h>
#include <telltale/items/comma.h>
#include <telltale/runs/panelhead.h>
#include <telltale/runs/paneswitch.h>
#include <telltale/runs/rolelabel.h>

#include "answersmodel.h"
#include "answerstable.h"
#include "applybox.h"
#include "changelines.h"
#include "configdraft.h"
#include "configform.h"
#include "configtemplates.h"
#include "costtable.h"
#include "fieldtext.h"
#include "jsoneditor.h"
#include "problemlabel.h"
#include "revisionlist.h"

namespace telltale::views {
namespace {

using State = RankSteering::State;

constexpr QKeyCombination kApplyKey = Qt::CTRL | Qt::Key_Return;
constexpr QKeyCombination kErrorKey = Qt::Key_F8;
constexpr int kBothPanes = 940; ///< as wide as the fields need beside the JSON
constexpr int kTemplateWidth = 116; ///< of the word alone: names that are sentences are in the list

/// As the form has it.
QString nameOf(const QString& pointer)
{
    const QString own = QStringLiteral("/telltale/");
    return pointer.mid(pointer.startsWith(own) ? own.size() : 1).replace(u'/', u'.');
}

QString sentenceOf(const QString& pointer)
{
    const auto fields = config::fields();
    const auto found = std::find_if(fields.begin(), fields.end(),
        [&](const config::Field& field) { return field.pointer() == pointer.toStdString(); });
    return found == fields.end() ? QString() : fieldSentence(found->description);
}

/// The list, or a sentence in its place while it has no rows.
QWidget* orSentence(QAbstractItemView* list, QLabel*& label)
{
    auto* box = new QWidget;
    label = new RoleLabel({}, &Theme::text3, wordsFont(12), box);
    label->setAlignment(Qt::AlignCenter);
    label->setWordWrap(true);
    label->setContentsMargins(12, 4, 12, 4);
    auto* layout = new QVBoxLayout(box);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(list);
    layout->addWidget(label);
    const auto arrange = [list, label = label] {
        list->setVisible(list->model()->rowCount() > 0);
        label->setVisible(list->model()->rowCount() == 0);
    };
    QObject::connect(list->model(), &QAbstractItemModel::modelReset, label, arrange);
    arrange();
    return box;
}

}

ConfigView::ConfigView(const ViewContext& context, QWidget* parent)
    : DataView(context, parent)
    , m_draft(new ConfigDraft(this))
    , m_answers(new AnswersModel(this))
    , m_bar(new ViewBar(this))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_bar);
    layout->addWidget(makeBody(), 1);
    setBackgroundRole(QPalette::Base);
    setAutoFillBackground(true);
    fillBar();

    const auto shortcut = [this](const QKeySequence& keys, auto act) {
        connect(new QShortcut(keys, this, nullptr, nullptr, Qt::WidgetWithChildrenShortcut), &QShortcut::activated,
            this, act);
    };
    shortcut(kApplyKey, [this] { apply(); });
    shortcut(kErrorKey, [this] { m_editor->goToNextProblem(); });
    connect(m_draft, &ConfigDraft::changed, this, &ConfigView::takeDraft);
    if (context.state != nullptr) {
        connect(context.state, &ViewState::runChanged, this, [this] {
            m_startText.clear();
            m_runs.clear();
            m_draft->revert();
            take({});
            askSoon(Urgency::Now);
        });
        connect(context.state, &ViewState::blobsArrived, this, [this] { askSoon(Urgency::WhenIdle); });
        connect(context.state, &ViewState::catalogChanged, this, [this] { askSoon(Urgency::WhenIdle); });
    }
    if (context.steering != nullptr) {
        connect(context.steering, &SteeringState::changed, this, [this] {
            takeSteering();
            askSoon(Urgency::WhenIdle); // the history may tell more now
        });
        connect(context.steering, &SteeringState::ratesChanged, this, &ConfigView::showRates);
        connect(context.steering, &SteeringState::draftWanted, this, &ConfigView::addToDraft);
    }
    takeSteering();
}

void ConfigView::fillBar()
{
    m_caption = m_bar->addTitle(tr("Config"));
    m_bar->addStretch();
    m_templates = m_bar->addCombo(tr("Template"), QStringLiteral("configTemplate"), false);
    m_templates->addItem(tr("Template..."));
    for (const ConfigTemplate& one : configTemplates())
        m_templates->addItem(one.name());
    m_templates->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_templates->setMinimumContentsLength(1);
    m_templates->setFixedWidth(kTemplateWidth);
    m_templates->view()->setMinimumWidth(m_templates->view()->sizeHintForColumn(0));
    connect(m_templates, &QComboBox::activated, this, &ConfigView::chooseTemplate);
    const auto addButton = [this](const QString& name, const QString& objectName, auto act) {
        auto* button = new QPushButton(name, m_bar);
        button->setObjectName(objectName);
        button->setFont(wordsFont(12));
        button->setFixedHeight(m_templates->sizeHint().height());
        button->setAutoDefault(false);
        m_bar->addPart(button);
        connect(button, &QPushButton::clicked, this, act);
        return button;
    };
    addButton(tr("Open..."), QStringLiteral("configOpen"), [this] {
        askForFile();
    })->setToolTip(tr("Open a config.json"));
    addButton(tr("Save as..."), QStringLiteral("configSave"), [this] { askWhereToSave(); });
    m_revert = addButton(tr("Revert draft"), QStringLiteral("configRevert"), [this] { m_draft->revert(); });
    m_revert->setToolTip(tr("Drop all changes of the draft"));
}

std::vector<std::pair<QKeySequence, QString>> ConfigView::keys(bool mayApply)
{
    std::vector<std::pair<QKeySequence, QString>> keys { { kErrorKey, tr("next error") },
        { QKeySequence(Qt::CTRL | Qt::Key_Z), tr("undo edit") } };
    if (mayApply)
        keys.insert(keys.begin(), { kApplyKey, tr("apply") });
    return keys;
}

QWidget* ConfigView::makeBody()
{
    m_form = new ConfigForm(m_draft);
    m_editor = new JsonEditor(m_draft);
    m_changes = new ChangeLines;

    auto* text = new QWidget;
    auto* textLayout = new QVBoxLayout(text);
    textLayout->setContentsMargins(0, 0, 0, 0);
    textLayout->setSpacing(0);
    textLayout->addWidget(m_editor, 1);
    m_problem = new ProblemLabel(12, text);
    m_problem->asData();
    m_problem->setContentsMargins(12, 4, 12, 6);
    m_problem->hide();
    textLayout->addWidget(m_problem);
    connect(m_editor, &JsonEditor::problemAtCursor, this, &ConfigView::showProblem);

    // As high as its lines, in what scrolls above the button.
    m_changesArea = scrolled(m_changes);
    m_changesArea->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_changesArea->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* right = new QWidget;
    right->setBackgroundRole(QPalette::Base);
    right->setAutoFillBackground(true);
    auto* rightLayout = new QVBoxLayout(right);
    rightLayout->setContentsMargins(0, 0, 0, 0);
    rightLayout->setSpacing(0);
    // What is applied scrolls above the button, which never goes.
    auto* above = new QWidget;
    auto* aboveLayout = new QVBoxLayout(above);
    aboveLayout->setContentsMargins(0, 0, 0, 0);
    aboveLayout->setSpacing(0);
    aboveLayout->addWidget(titled({}, m_changesArea, above, &m_changesHead), 1);
    m_cost = new CostTable;
    aboveLayout->addWidget(m_costBox = titled(tr("Estimated cost"), m_cost, above));
    rightLayout->addWidget(scrolled(above), 1);
    m_applyBox = new ApplyBox;
    connect(m_applyBox, &ApplyBox::edited, this, &ConfigView::takeDraft);
    connect(m_applyBox, &ApplyBox::applied, this, &ConfigView::apply);
    rightLayout->addWidget(titled(tr("Apply"), m_applyBox, right));

    auto* across = new QSplitter(Qt::Horizontal);
    PaneSwitch::Pane form;
    PaneSwitch::Pane json;
    QWidget* fields = form.box = titled(tr("Fields"), m_form, across, &form.head);
    m_fieldsHead = form.head;
    auto* used = m_fieldsHead->addButton(QStringLiteral("filter"), tr("Only fields that are set"));
    used->setObjectName(QStringLiteral("configUsedOnly"));
    used->setCheckable(true);
    connect(used, &QToolButton::toggled, this, [this](bool on) {
        m_form->setUsedOnly(on);
        m_fieldsHead->setDetail(m_form->countText());
    });
    m_stale = new ProblemLabel(11, fields);
    m_stale->setObjectName(QStringLiteral("configStale"));
    m_stale->setProblem(tr("The text cannot be read: the fields show what it held when it could be."), false);
    m_stale->setBackgroundRole(QPalette::Base);
    m_stale->setAutoFillBackground(true);
    m_stale->setContentsMargins(12, 6, 12, 2);
    m_stale->hide();
    static_cast<QVBoxLayout*>(fields->layout())->insertWidget(1, m_stale);
    m_helpBox = new QWidget(fields);
    m_helpBox->setBackgroundRole(QPalette::Mid);
    m_helpBox->setAutoFillBackground(true);
    m_help = (new RoleLabel(&Theme::text2, wordsFont(11), m_helpBox))->asData();
    m_help->setObjectName(QStringLiteral("configHelp"));
    m_help->setBackgroundRole(QPalette::Base);
    m_help->setAutoFillBackground(true);
    m_help->setWordWrap(true);
    m_help->setContentsMargins(12, 4, 12, 6);
    auto* helpLayout = new QVBoxLayout(m_helpBox);
    helpLayout->setContentsMargins(0, 1, 0, 0);
    helpLayout->addWidget(m_help);
    m_helpBox->hide();
    fields->layout()->addWidget(m_helpBox);
    connect(m_form, &ConfigForm::entered, this, [this](const QString& pointer) {
        m_editor->goTo(pointer);
        const QString sentence = sentenceOf(pointer);
        m_help->setText(tr("%1: %2").arg(nameOf(pointer), sentence));
        m_helpBox->setVisible(!sentence.isEmpty());
    });
    across->addWidget(fields);
    across->addWidget(json.box = titled(tr("JSON"), text, across, &json.head));
    json.head->setDetail(tr("the file keeps its comments"));
    connect(json.head->addButton(QStringLiteral("copy"), tr("Copy the text")), &QToolButton::clicked, this,
        [this] { QGuiApplication::clipboard()->setText(m_draft->text()); });
    across->addWidget(right);
    across->setSizes({ 560, 350, 280 });
    auto* panes = new PaneSwitch(across, form, json, kBothPanes);
    const auto chooseFocus = [this, jsonBox = json.box] {
        QWidget* first = jsonBox->isHidden() ? m_form->focusProxy() : m_editor;
        setFocusProxy(first == m_editor ? first : m_form);
        if (first == nullptr)
            return;
        tabFrom(first, this);
        if (first != m_editor)
            tabFrom(first, m_form); // one field after the other, and then the rest
    };
    connect(panes, &PaneSwitch::arranged, this, [this, chooseFocus](bool hadFocus) {
        chooseFocus();
        if (hadFocus)
            setFocus();
    });
    chooseFocus();
    across->setChildrenCollapsible(false);
    auto* down = new QSplitter(Qt::Vertical);
    down->addWidget(across);
    auto* below = new QSplitter(Qt::Horizontal);
    below->addWidget(titled({}, orSentence(new AnswersTable(m_answers), m_noAnswers), below, &m_answersHead));
    below->addWidget(makeHistory());
    below->setChildrenCollapsible(false);
    below->setStretchFactor(0, 1);
    below->setStretchFactor(1, 0);
    m_lastColumn = right;
    m_below = below;
    m_lastColumn->installEventFilter(this);
    m_below->installEventFilter(this);
    connect(below, &QSplitter::splitterMoved, this, [across, below] {
        QList<int> sizes = across->sizes();
        const int more = below->sizes().last() - sizes.last();
        const auto beside = std::find_if(sizes.rbegin() + 1, sizes.rend(), [](int size) { return size > 0; });
        *beside -= more;
        sizes.last() += more;
        across->setSizes(sizes);
    });
    down->addWidget(below);
    down->setStretchFactor(0, 3);
    down->setStretchFactor(1, 1);
    down->setSizes({ 720, 240 });
    down->setChildrenCollapsible(false);
    return down;
}

/// The last column is one, above and below: its edges meet.
bool ConfigView::eventFilter(QObject* watched, QEvent* event)
{
    const int column = m_lastColumn->width();
    if (const int rest = m_below->width() - m_below->handleWidth() - column;
        event->type() == QEvent::Resize && (watched == m_lastColumn || watched == m_below) && rest > 0)
        m_below->setSizes({ rest, column });
    return DataView::eventFilter(watched, event);
}

QWidget* ConfigView::makeHistory()
{
    m_history = new RevisionList;
    connect(m_history, &RevisionList::chosen, this, [this](const QString& config) {
        if (const auto parsed = config::parseMonitorConfig(config.isEmpty() ? "{}" : config.toStdString()))
            m_draft->setConfig(parsed->config);
    });
    return titled(tr("History"), orSentence(m_history, m_noHistory), nullptr, &m_historyHead);
}

void ConfigView::addToDraft(const QString& pointer, const QString& value)
{
    QString json = value;
    if (pointer == QLatin1String("/targets")) {
        QJsonObject targets; // of the config, not of its text, which may have comments
        for (const auto& [name, selection] : m_draft->config().targets)
            targets.insert(
                QString::fromStdString(name), QJsonDocument::fromJson(QByteArray::fromStdString(selection)).object());
        const QJsonObject more = QJsonDocument::fromJson(value.toUtf8()).object();
        for (auto one = more.begin(); one != more.end(); ++one)
            targets.insert(one.key(), one.value());
        json = QString::fromUtf8(QJsonDocument(targets).toJson(QJsonDocument::Compact));
    }
    m_draft->setValue(pointer, json);
}

void ConfigView::goToFirstChange()
{
    const auto& changes = m_draft->changes();
    if (changes.empty())
        return;
    const QString pointer = QString::fromStdString(changes.front().pointer);
    m_editor->goTo(pointer);
    if (!m_form->goTo(pointer))
        m_editor->setFocus();
}

void ConfigView::ask()
{
    submitRead([](store::RunReader& reader, const series::CancelToken&) { return analysis::configFactsOf(reader); },
        [this](const std::shared_ptr<const analysis::ConfigFacts>& found) { take(*found); });
}

void ConfigView::take(const analysis::ConfigFacts& found)
{
    m_draft->setRun(found.run);
    m_startText = found.text;
    std::vector<analysis::RevisionFacts> revisions = found.revisions;
    for (analysis::RevisionFacts& one : revisions)
        m_form->showTexts(one.changes);
    m_history->set(revisions);
    m_historyHead->setDetail(
        found.revisions.empty() ? QString() : tr("%n revision(s)", nullptr, static_cast<int>(found.revisions.size())));
    m_runs.clear();
    takeSteering();
}

const RunSteering* ConfigView::steering() const
{
    const auto run = context().state != nullptr ? context().state->run() : nullptr;
    return run != nullptr && context().steering != nullptr ? context().steering->of(run->id) : nullptr;
}

void ConfigView::takeSteering()
{
    static const RunSteering none;
    const RunSteering* now = steering();
    m_answers->set(now != nullptr ? *now : none);
    // What most ranks run: the newest revision once one of them runs it, else what the first says.
    std::string runs;
    if (now != nullptr) {
        for (const RankSteering& rank : now->ranks) {
            if (runs.empty() || rank.runsRev == now->rev)
                runs = rank.runs.empty() ? runs : rank.runs;
        }
    }
    const std::string key = runs + '\n' + m_startText;
    if (key != m_runs) {
        m_runs = key;
        const auto start = config::parseMonitorConfig(m_startText);
        const auto running = config::parseMonitorConfig(runs.empty() ? std::string("{}") : runs);
        config::MonitorConfig config = running ? running->config : config::MonitorConfig {};
        if (runs.empty() && start)
            config = start->config;
        m_isRunningKnown = !runs.empty() || !m_startText.empty();
        m_isIdle = !runs.empty() && !config.dynamicOn; // of the start's config the switch alone does not tell
        m_draft->setRunning(config,
            m_isRunningKnown ? QString::fromStdString(
                config::editedConfigText(ConfigDraft::isLaidOut(m_startText) ? m_startText : std::string(), config))
                             : QStringLiteral("{\n}\n"));
    }
    takeDraft();
}

bool ConfigView::isLive() const
{
    const auto run = context().state != nullptr ? context().state->run() : nullptr;
    return run != nullptr && run->isLive();
}

bool ConfigView::isOver() const
{
    const auto run = context().state != nullptr ? context().state->run() : nullptr;
    if (run == nullptr || isLive())
        return false;
    const auto catalog = context().state->catalog();
    // One that another program records is not live here either.
    return run->live || !catalog
        || std::none_of(catalog->sources.begin(), catalog->sources.end(),
            [](const store::SourceInfo& source) { return source.state == store::SourceState::Running; });
}

bool ConfigView::isDeserted() const
{
    const RunSteering* now = isLive() ? steering() : nullptr;
    return now != nullptr && !now->ranks.empty()
        && std::all_of(now->ranks.begin(), now->ranks.end(), [](const RankSteering& rank) { return rank.isAway; });
}

QString ConfigView::whyNot() const
{
    if (isOver())
        return m_draft->isUnchanged()
            ? tr("This run has ended: the draft is the config that it had last, and nothing can be applied.")
            : tr("This run has ended: nothing can be applied, but the draft can be saved as a file.");
    if (context().state == nullptr || context().state->run() == nullptr)
        return tr("Without a run the draft can be saved as a file.");
    if (!isLive() || steering() == nullptr || (!context().steering->offer && !context().steering->isMirror()))
        return tr("This run is not being recorded here: nobody would answer.");
    if (!m_draft->isConfig() || m_draft->errors() > 0)
        return tr("Fix %n error(s) first.", nullptr, std::max(1, m_draft->errors()));
    const auto ranks = m_applyBox->ranks();
    const auto& known = m_draft->run().ranks;
    if (!ranks)
        return tr("Ranks are numbers, such as 0, 1.");
    for (const Rank rank : *ranks) {
        if (!known.empty() && !std::binary_search(known.begin(), known.end(), rank.value))
            return tr("Rank %1 does not exist.").arg(rank.value);
    }
    if (!m_applyBox->step())
        return tr("A step is a whole number.");
    if (m_draft->changes().empty())
        return isDeserted() ? tr("No rank is connected: the draft is what they ran last.")
                            : tr("The draft is what runs.");
    return {};
}

void ConfigView::changeEvent(QEvent* event)
{
    DataView::changeEvent(event);
    if ((event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange) && m_caption != nullptr)
        showCaption();
}

/// Of the caption, the errors alone are in the color of what is wrong.
void ConfigView::showCaption()
{
    const RunSteering* now = steering();
    const int errors = m_draft->errors();
    const int changes = static_cast<int>(m_draft->changes().size());
    QStringList words;
    if (now != nullptr && now->rev > 0) {
        const int applied = m_answers->count(State::Applied);
        words.append(tr("rev %1 on %2 of %3 ranks").arg(now->rev).arg(applied).arg(m_answers->rowCount()));
    }
    if (isDeserted())
        words.append(tr("no rank connected"));
    words.append(!m_draft->isConfig() ? tr("not valid yet")
            : changes > 0             ? tr("draft: %n change(s)", nullptr, changes)
            : m_draft->isUnchanged()  ? tr("no changes")
                                      : tr("not valid yet"));
    if (errors > 0)
        words.append(QStringLiteral("<span style=\"color:%1\">%2</span>")
                         .arg(Theme::current().criticalText.name(), tr("%n error(s)", nullptr, errors)));
    m_caption->setTextFormat(errors > 0 ? Qt::RichText : Qt::PlainText);
    QStringList texts; // what is wrong stays longest
    for (; !words.empty(); words.removeFirst())
        texts.append(words.join(QStringLiteral(" \u00b7 ")));
    m_bar->setTitleCaption(texts);
    m_caption->setForegroundRole(changes > 0 ? QPalette::Link : QPalette::PlaceholderText);
}

void ConfigView::showChanges()
{
    const RunSteering* now = steering();
    const bool hasRun = context().state != nullptr && context().state->run() != nullptr;
    std::vector<config::FieldChange> changes = m_draft->changes();
    m_form->showTexts(changes);
    for (config::FieldChange& change : changes) {
        if (m_draft->isInvalid(change.pointer)) // it is read as the default, which nobody wrote
            change.after = tr("not valid yet").toStdString();
    }
    m_changes->set(changes,
        !m_draft->isUnchanged() ? tr("Nothing yet: what was written is not valid.")
            : isDeserted()      ? tr("Nothing: the draft is what the ranks ran last. None is connected.")
            : isLive()          ? tr("Nothing: the draft is what runs.")
            : hasRun            ? tr("Nothing: the draft is the run's last config.")
                                : tr("Nothing: every field has its default."));
    m_changesArea->setMinimumHeight(m_changes->sizeHint().height());
    const bool isRevision = now != nullptr && now->rev > 0 && m_answers->count(State::Applied) > 0;
    m_changesHead->setTitle(isRevision ? tr("Changes against rev %1").arg(now->rev)
            : isDeserted()             ? tr("Changes against what ran last")
            : isLive()                 ? tr("Changes against what runs")
            : hasRun                   ? tr("Changes against the last config")
                                       : tr("Changes against the defaults"));
    m_noAnswers->setText(isOver() ? tr("No rank answered a config.") : tr("No rank has answered a config yet."));
    m_noHistory->setText(isOver() ? tr("No config was applied.") : tr("No config has been applied yet."));
    m_changesHead->setDetail(!isRevision ? QString()
            : isLive() && !isDeserted()  ? tr("what runs now")
                                         : tr("what ran last"));
}

void ConfigView::takeDraft()
{
    const RunSteering* now = steering();
    showCaption();
    m_fieldsHead->setDetail(m_form->countText());
    m_stale->setVisible(!m_draft->isConfig());
    m_revert->setEnabled(!m_draft->isUnchanged());
    showChanges();
    showRates();
    const auto& problems = m_draft->problems();
    m_problem->setVisible(!problems.empty());
    if (!problems.empty()) {
        const auto worst = std::find_if(
            problems.begin(), problems.end(), [](const config::Problem& problem) { return problem.isError; });
        const config::Problem& shown = worst == problems.end() ? problems.front() : *worst;
        showProblem(problemSentence(shown), shown.isError);
    }
    const QString why = whyNot();
    const bool canAnswer = isLive() && now != nullptr;
    m_applyBox->setRevision(canAnswer ? std::optional(now->rev + 1) : std::nullopt);
    m_applyBox->setEnabledApply(why.isEmpty());
    if (context().steering != nullptr)
        context().steering->setWhyNoApply(why);
    if (canAnswer && m_draft->errors() > 0)
        m_applyBox->why()->setProblem(why, true);
    else
        m_applyBox->why()->setNote(
            why.isEmpty() && isDeserted() ? tr("No rank is connected: who comes back is offered it.") : why);
    showAnswers();
}

/// Of several, one, and how many more there are.
void ConfigView::showProblem(const QString& sentence, bool isError)
{
    const auto& problems = m_draft->problems();
    const auto alike = static_cast<int>(std::count_if(problems.begin(), problems.end(),
        [isError](const config::Problem& problem) { return problem.isError == isError; }));
    m_problem->setProblem(
        alike < 2 ? sentence : tr("%1 (%n more, F8 shows the next)", nullptr, alike - 1).arg(sentence), isError);
}

void ConfigView::showAnswers()
{
    const RunSteering* now = steering();
    QStringList answers;
    for (const State state : { State::Applied, State::Refused, State::Accepted, State::Offered, State::Lost }) {
        if (const int count = m_answers->count(state); count > 0)
            answers.append(QStringLiteral("%1 %2").arg(count).arg(AnswersModel::word(state)));
    }
    m_answersHead->setTitle(
        now != nullptr && now->rev > 0 ? tr("Answers to rev %1").arg(now->rev) : tr("Answers of the ranks"));
    m_answersHead->setDetail(answers.join(items::comma()),
        m_answers->count(State::Refused) > 0                            ? &Theme::criticalText
            : m_answers->count(State::Applied) == m_answers->rowCount() ? &Theme::ok
                                                                        : &Theme::text3);
}

void ConfigView::showRates()
{
    const bool isMeasured = isLive() && steering() != nullptr;
    m_costBox->setVisible(m_cost->set(*m_draft, isMeasured ? context().steering->rates() : RunRates {},
        m_isRunningKnown, isLive(), isLive() && m_isIdle));
    const StepRange own = context().state != nullptr ? context().state->ownRange() : StepRange {};
    m_applyBox->setNewest(isMeasured && !own.isEmpty() ? std::optional<qint64>(own.last.value) : std::nullopt);
}

void ConfigView::apply()
{
    if (!whyNot().isEmpty() || !context().steering->offer)
        return;
    ConfigRequest request;
    request.runId = context().state->run()->id;
    request.config = config::canonicalConfigText(m_draft->config());
    request.ranks = *m_applyBox->ranks();
    request.atStep = *m_applyBox->step();
    request.author = qEnvironmentVariable("USER", QStringLiteral("window")).toStdString();
    context().steering->offer(request);
}

void ConfigView::chooseTemplate(int number)
{
    if (number > 0)
        m_draft->setConfig(configTemplates()[static_cast<std::size_t>(number - 1)].on(m_draft->config()));
    m_templates->setCurrentIndex(0);
}

void ConfigView::openFile(const QString& path)
{
    inBackground([path, text = QString()](QString& trouble) mutable -> std::function<void(ConfigView&)> {
        constexpr qint64 kMostBytes = 1 << 20;
        QFile file(path);
        if (!file.open(QIODevice::ReadOnly))
            trouble = tr("Cannot read %1: %2").arg(path, file.errorString());
        else if (file.size() > kMostBytes)
            trouble = tr("%1 is too large for a config.").arg(path);
        else
            text = QString::fromUtf8(file.readAll());
        return [text](ConfigView& view) { view.m_draft->setText(text); };
    });
}

void ConfigView::saveFile(const QString& path)
{
    inBackground([path, text = m_draft->text().toUtf8()](QString& trouble) -> std::function<void(ConfigView&)> {
        QSaveFile file(path);
        if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size() || !file.commit())
            trouble = tr("Cannot write %1: %2").arg(path, file.errorString());
        return [](ConfigView&) {};
    });
}

void ConfigView::inBackground(std::function<std::function<void(ConfigView&)>(QString&)> work)
{
    QThreadPool::globalInstance()->start([self = QPointer<ConfigView>(this), work = std::move(work)] {
        QString trouble;
        auto done = work(trouble);
        QMetaObject::invokeMethod(qApp, [self, trouble, done = std::move(done)] {
            if (self && trouble.isEmpty())
                done(*self);
            else if (self)
                self->m_applyBox->why()->setProblem(trouble, true);
        });
    });
}

void ConfigView::askForFile()
{
    const QString path = QFileDialog::getOpenFileName(this, tr("Open a config.json"), {}, tr("Config (*.json)"));
    if (!path.isEmpty())
        openFile(path);
}

void ConfigView::askWhereToSave()
{
    const QString path
        = QFileDialog::getSaveFileName(this, tr("Save as"), QStringLiteral("config.json"), tr("Config (*.json)"));
    if (!path.isEmpty())
        saveFile(path);
}

Expected<void> ConfigView::writeCsv(QIODevice* device) const
{
    CsvWriter csv(device);
    for (int column = 0; column < AnswersModel::ColumnCount; ++column)
        csv.text(m_answers->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString());
    csv.endRow();
    for (int row = 0; row < m_answers->rowCount(); ++row) {
        for (int column = 0; column < AnswersModel::ColumnCount; ++column)
            csv.text(m_answers->index(row, column).data(Qt::EditRole).toString());
        csv.endRow();
    }
    return csv.finish();
}

}
