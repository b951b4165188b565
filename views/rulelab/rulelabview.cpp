// SPDX-License-Identifier: GPL-3.0-or-later
#include "rulelabview.h"

#include <algorithm>

#include <QCoreApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPointer>
#include <QPushButton>
#include <QSplitter>
#include <QThreadPool>
#include <QTimer>
#include <QVBoxLayout>

#include <telltale/common/annotator.h>
#include <telltale/common/csv.h>
#include <telltale/common/hiddencontrols.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewbar.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/comma.h>
#include <telltale/items/ruletitles.h>
#include <telltale/items/saidwords.h>
#include <telltale/lab/truth.h>
#include <telltale/runs/panelhead.h>
#include <telltale/runs/paneswitch.h>
#include <telltale/runs/rolelabel.h>

#include "changestree.h"
#include "labruns.h"
#include "labscan.h"
#include "rulesdraft.h"
#include "rulesform.h"
#include "rulestext.h"
#include "scoretree.h"

namespace telltale::views {
namespace {

using From = judge::RulesInForce::From;

constexpr int kLookAgainMs = 200; ///< for what was written into another run's log
constexpr int kMostLooks = 50;
constexpr int kBothPanes = 940; ///< as wide as the rules need beside their document

bool isLabeled(const lab::LabRun::Result& result)
{
    return result.truth.isClean || !result.truth.labeled.empty();
}

}

RuleLabView::RuleLabView(const ViewContext& context, QWidget* parent)
    : DataView(context, parent)
    , m_draft(new RulesDraft(this))
    , m_replays(new ReplayQueue(context.queries, context.dataDir, this))
    , m_scan(new LabScan(context.queries, context.dataDir, this))
    , m_bar(new ViewBar(this))
{
    fillBar();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_bar);
    layout->addWidget(makeLine());
    layout->addWidget(makeBody(), 1);
    setBackgroundRole(QPalette::Base);
    setAutoFillBackground(true);
    connectParts();
    setMinimumSize(480, 240); // what has no room scrolls, and the docks keep theirs
    showState();
    askSoon(Urgency::Now);
}

RuleLabView::~RuleLabView() = default;

void RuleLabView::fillBar()
{
    m_caption = m_bar->addCaption();
    m_caption->setObjectName(QStringLiteral("labCaption"));
    m_caption->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    static_cast<QHBoxLayout*>(m_bar->layout())->setStretchFactor(m_caption, 1);
    const auto add = [this](const QString& text, const char* name, const QString& tip) {
        auto* button = new QPushButton(text, m_bar);
        button->setObjectName(QLatin1String(name));
        button->setToolTip(tip);
        m_bar->layout()->addWidget(button);
        return button;
    };
    m_reset = add(tr("Reset"), "labReset", tr("Back to the rules in force"));
    m_saveDefault = add(tr("Save as default"), "labSaveDefault",
        tr("For every run that has no rules of its own: rules.json in the data directory"));
    m_saveRun = add(tr("Save for this run"), "labSaveRun", {});
    connect(m_reset, &QPushButton::clicked, m_draft, &RulesDraft::revert);
    connect(m_saveDefault, &QPushButton::clicked, this, &RuleLabView::saveAsDefault);
    connect(m_saveRun, &QPushButton::clicked, this, &RuleLabView::saveForRun);
}

QWidget* RuleLabView::makeLine()
{
    m_line = new QWidget(this);
    auto* row = new QHBoxLayout(m_line);
    row->setContentsMargins(12, 4, 12, 4);
    m_said = (new RoleLabel(&Theme::text, wordsFont(12), m_line))->asData();
    m_said->setObjectName(QStringLiteral("labSaid"));
    m_said->setWordWrap(true);
    m_use = new QPushButton(m_line);
    m_use->setObjectName(QStringLiteral("labUse"));
    row->addWidget(m_said, 1);
    row->addWidget(m_use);
    connect(m_use, &QPushButton::clicked, this, [this] {
        if (const auto wanted = m_suggestion)
            m_draft->setValue(wanted->first.first, wanted->first.second, wanted->second);
    });
    return m_line;
}

QWidget* RuleLabView::makeBody()
{
    m_runs = new LabRuns(context().runs, context().state);
    m_form = new RulesForm(m_draft);
    m_text = new RulesText(m_draft);
    m_scores = new ScoreTree;
    m_changes = new ChangesTree;
    auto* across = new QSplitter(Qt::Horizontal);
    across->addWidget(titled(tr("Runs"), m_runs, across));
    PaneSwitch::Pane form;
    PaneSwitch::Pane text;
    across->addWidget(form.box = titled(tr("Rules"), m_form, across, &form.head));
    across->addWidget(text.box = titled(tr("As a document"), m_text, across, &text.head));
    across->setSizes({ 350, 380, 280 });
    new PaneSwitch(across, form, text, kBothPanes);
    for (const int pane : { 0, 1 }) // names of runs are as long as somebody likes
        across->setStretchFactor(pane, 1);
    auto* below = new QSplitter(Qt::Horizontal);
    PaneSwitch::Pane scores;
    PaneSwitch::Pane changes;
    below->addWidget(scores.box = titled(tr("Results"), m_scores, below, &m_scoresHead));
    below->addWidget(changes.box = titled(tr("What changes"), m_changes, below, &m_changesHead));
    scores.head = m_scoresHead;
    changes.head = m_changesHead;
    below->setSizes({ 530, 470 });
    new PaneSwitch(below, scores, changes, m_scores->minimumWidth() + m_changes->minimumWidth() + below->handleWidth());
    auto* down = new QSplitter(Qt::Vertical);
    down->addWidget(across);
    down->addWidget(below);
    down->setSizes({ 360, 240 });
    for (QSplitter* split : { across, below, down })
        split->setChildrenCollapsible(false);
    return down;
}

void RuleLabView::connectParts()
{
    const ViewState* state = context().state;
    connect(m_draft, &RulesDraft::changed, this, &RuleLabView::takeDraft);
    connect(m_form, &RulesForm::entered, m_text, &RulesText::goTo);
    connect(m_form, &RulesForm::suggestionWanted, this, &RuleLabView::suggest);
    connect(m_runs, &LabRuns::chosenChanged, this, [this] { askSoon(Urgency::Now); });
    connect(m_runs, &LabRuns::listChanged, this, &RuleLabView::readRuns);
    connect(m_runs, &LabRuns::cleanWanted, this, &RuleLabView::setClean);
    connect(state, &ViewState::runChanged, this, [this] {
        readRuns();
        showState();
    });
    connect(state, &ViewState::logAppended, this, &RuleLabView::takeLog);
    connect(m_replays, &ReplayQueue::replayed, this, &RuleLabView::show);
    connect(m_replays, &ReplayQueue::failed, this, [this](const QString& run, const QString& why) {
        m_results.erase(run);
        m_troubles[run] = why;
        showResults();
    });
    connect(m_replays, &ReplayQueue::tried, this,
        [this](int done, int all) { tell(tr("Trying values: %1 of %2 replays").arg(done).arg(all)); });
    connect(m_replays, &ReplayQueue::suggested, this, &RuleLabView::showSuggestion);
    connect(
        m_scan, &LabScan::found, this, [this](const QString& run, const std::shared_ptr<const LabScan::Found>& found) {
            const auto asked = m_cleanAsked.find(run);
            if (asked != m_cleanAsked.end() && asked->second.first != found->truth.isClean
                && asked->second.second > 0) {
                --asked->second.second;
                QTimer::singleShot(kLookAgainMs, this, [this, run] {
                    if (const auto known = m_runs->find(run))
                        m_scan->read({ known });
                });
                return;
            }
            if (asked != m_cleanAsked.end()) {
                m_cleanAsked.erase(asked);
                askSoon(Urgency::Now);
            }
            m_runs->setTruth(run, found->truth);
            if (!isShownRun(run))
                return;
            m_from = found->rules.from;
            m_ruleProblem = QString::fromStdString(found->rules.problem);
            m_draft->setInForce(found->rules.rules);
            showState();
        });
    connect(m_scan, &LabScan::finished, this, [this] {
        if (isSettled())
            Q_EMIT settled();
    });
    connect(m_replays, &ReplayQueue::finished, this, [this] {
        showResults(); // all that there are
        if (isSettled())
            Q_EMIT settled();
    });
    if (context().annotator != nullptr)
        connect(context().annotator, &Annotator::refused, this, [this](const QString& why) { tell(why, true); });
}

bool RuleLabView::isShownRun(const QString& id) const
{
    const store::RunRef run = context().state->run();
    return run && QString::fromStdString(run->id) == id;
}

bool RuleLabView::isSettled() const
{
    return DataView::isSettled() && !m_replays->isBusy() && !m_scan->isBusy() && m_cleanAsked.empty();
}

void RuleLabView::readRuns()
{
    if (isVisible())
        m_scan->read(m_runs->all());
    askSoon(Urgency::Now);
}

void RuleLabView::ask()
{
    const std::vector<store::RunRef> chosen = m_runs->chosen();
    std::erase_if(m_results, [&](const auto& entry) {
        return std::none_of(chosen.begin(), chosen.end(),
            [&](const store::RunRef& run) { return run->id == entry.first.toStdString(); });
    });
    m_troubles.clear();
    if (!m_isScanned) {
        m_isScanned = true;
        m_scan->read(m_runs->all());
    }
    // Runs with rules of their own are held against those, whatever is tried.
    m_replays->start(chosen, m_draft->isChanged() ? std::optional(m_draft->rules()) : std::nullopt);
    showResults();
}

void RuleLabView::takeDraft()
{
    m_suggestion.reset();
    tell({});
    if (m_draft->problems().empty() && m_draft->rules() != m_asked) {
        m_asked = m_draft->rules();
        askSoon(Urgency::Now);
    }
}

void RuleLabView::takeLog(const store::LogPage& page)
{
    const bool isOurs = std::any_of(page.records.begin(), page.records.end(), [](const store::LogRecord& record) {
        return record.kind == judge::kRulesRecord || record.kind == judge::kAnnotationRecord
            || record.kind == judge::kIncidentRecord;
    });
    const store::RunRef run = context().state->run();
    if (!isOurs || !run || !isVisible())
        return;
    m_scan->read(
        { m_runs->find(QString::fromStdString(run->id)) ? m_runs->find(QString::fromStdString(run->id)) : run });
    askSoon(Urgency::WhenIdle);
}

void RuleLabView::show(const QString& run, const ReplayQueue::Result& result)
{
    m_results[run] = result;
    m_runs->setTruth(run, result->truth);
    showResults();
}

void RuleLabView::showResults()
{
    std::vector<ScoreTree::Row> scores;
    std::vector<ChangesTree::Row> changes;
    std::uint64_t judged = 0;
    double ms = 0;
    int appear = 0;
    int vanish = 0;
    for (const store::RunRef& ref : m_runs->chosen()) {
        const QString id = QString::fromStdString(ref->id);
        const QString name = m_runs->nameOf(id);
        const auto found = m_results.find(id);
        if (found == m_results.end()) {
            if (const auto trouble = m_troubles.find(id); trouble != m_troubles.end())
                scores.push_back({ name, {}, trouble->second });
            continue;
        }
        const lab::LabRun::Result& result = *found->second;
        judged += result.judged;
        ms += result.ms;
        scores.push_back({ name, result.comparison, {}, isLabeled(result) });
        for (const judge::Incident& one : result.comparison.appeared)
            changes.push_back({ id, m_runs->wordOf(id), true, one });
        for (const judge::Incident& one : result.comparison.vanished)
            changes.push_back({ id, m_runs->wordOf(id), false, one });
        appear += static_cast<int>(result.comparison.appeared.size());
        vanish += static_cast<int>(result.comparison.vanished.size());
    }
    m_scores->set(scores);
    m_scores->setEmptyText(m_replays->isBusy() ? tr("Trying the rules on the chosen runs\u2026") : QString());
    m_changes->set(changes);
    m_changes->setTried(!m_replays->isBusy() && !scores.empty());
    m_scoresHead->setDetail(ms < 1
            ? QString()
            : tr("%1 values judged again in %2 ms").arg(formatShort(static_cast<double>(judged))).arg(qRound(ms)));
    m_changesHead->setDetail(changes.empty()
            ? QString()
            : tr("%n appear", nullptr, appear) + items::comma() + tr("%n vanish", nullptr, vanish));
    showState();
}

QString RuleLabView::changesText(const judge::Rules& from, const judge::Rules& to)
{
    QStringList all;
    for (const judge::RuleInfo& info : judge::ruleTable()) {
        const QString title = items::ruleText(info.title);
        const QString rule = QString::fromStdString(std::string(info.id)); // with a parameter: as the document has it
        if (from.isOn(info.rule) != to.isOn(info.rule))
            all.append((to.isOn(info.rule) ? tr("%1 on") : tr("%1 off")).arg(title));
        const judge::Escalation& before = from.escalation(info.rule);
        const judge::Escalation& after = to.escalation(info.rule);
        if (before != after)
            all.append((after.config.empty() ? tr("%1 escalates no more")
                    : before.config.empty()  ? tr("%1 escalates")
                                             : tr("%1 escalates otherwise"))
                           .arg(title));
        for (std::size_t i = 0; i < info.parameters.size(); ++i) {
            if (from.value(info.rule, i) != to.value(info.rule, i))
                all.append(QStringLiteral("%1.%2 %3 \u2192 %4")
                               .arg(rule, QString::fromStdString(std::string(info.parameters[i].name)),
                                   RulesDraft::numberText(from.value(info.rule, i)),
                                   RulesDraft::numberText(to.value(info.rule, i))));
        }
    }
    return all.join(items::comma());
}

void RuleLabView::showState()
{
    const store::RunRef run = context().state->run();
    const QString from = m_from == From::Run ? tr("In force: this run's own rules")
        : m_from == From::Default            ? tr("In force: the default rules of this folder")
                                             : tr("In force: the standard rules");
    const QString changes = changesText(m_draft->inForce(), m_draft->rules());
    m_caption->setText(changes.isEmpty() ? from : from + QStringLiteral(" \u00b7 ") + tr("tried: %1").arg(changes));
    m_caption->setToolTip(m_caption->text());
    const bool isWhole = m_draft->problems().empty();
    QString said = m_news;
    bool isTrouble = m_isTrouble;
    if (!isWhole) {
        said = QString::fromStdString(m_draft->problems().front().sentence);
        isTrouble = true;
    } else if (said.isEmpty() && !m_ruleProblem.isEmpty()) {
        said = m_ruleProblem;
        isTrouble = true;
    }
    m_said->setText(said);
    m_said->setColor(isTrouble ? &Theme::criticalText : &Theme::text);
    m_line->setVisible(!said.isEmpty());
    m_use->setVisible(m_suggestion.has_value());
    if (m_suggestion)
        m_use->setText(tr("Try %1").arg(RulesDraft::numberText(m_suggestion->second)));
    const QString whyNot = context().annotator == nullptr ? tr("This program writes nothing.")
        : !isWhole                                        ? tr("Mend the document first.")
                                                          : context().annotator->whyNot(run);
    const bool maySave = whyNot.isEmpty() && (m_draft->isChanged() || m_from != From::Run);
    if (!maySave && m_saveRun->hasFocus())
        m_saveDefault->setFocus(); // what cannot have the focus gives it to the next in the chain, far away
    m_saveRun->setEnabled(maySave);
    m_saveRun->setToolTip(
        whyNot.isEmpty() ? tr("Into the log of the run that is shown; it is judged by them from now on") : whyNot);
    m_saveDefault->setEnabled(isWhole && !context().dataDir.empty());
    m_reset->setEnabled(m_draft->isChanged() || !isWhole);
}

void RuleLabView::tell(const QString& sentence, bool isTrouble)
{
    m_news = sentence;
    m_isTrouble = isTrouble;
    showState();
}

void RuleLabView::suggest(judge::Rule rule, std::size_t parameter)
{
    m_suggestion.reset();
    std::vector<store::RunRef> labeled;
    for (const store::RunRef& run : m_runs->chosen()) {
        const auto found = m_results.find(QString::fromStdString(run->id));
        if (found != m_results.end() && isLabeled(*found->second))
            labeled.push_back(run);
    }
    if (labeled.empty())
        tell(
            tr("A value is suggested by what was labeled: label incidents in Anomalies as true or false, or say that a "
               "run is clean, and choose the runs."));
    else
        m_replays->suggest(labeled, m_draft->rules(), rule, parameter);
}

void RuleLabView::showSuggestion(judge::Rule rule, std::size_t parameter, const std::optional<lab::Suggestion>& found)
{
    const judge::RuleInfo& info = judge::infoOf(rule);
    const QString name = QStringLiteral("%1.%2").arg(QString::fromStdString(std::string(info.id)),
        QString::fromStdString(std::string(info.parameters[parameter].name)));
    if (!found) {
        tell(tr(
            "%1: nothing to separate: among the chosen runs there must be incidents that are true, and some that are "
            "false alarms at some value.")
                 .arg(name));
        return;
    }
    const auto number = [](double value) { return RulesDraft::numberText(value); };
    const lab::Trial& best = found->best;
    const QString counts
        = tr("%1 of %2 true found, %3 false alarms").arg(best.hits).arg(best.hits + best.missed).arg(best.falseAlarms);
    const QString now = tr("now %1 of %2, %3")
                            .arg(found->now.hits)
                            .arg(found->now.hits + found->now.missed)
                            .arg(found->now.falseAlarms);
    if (best.value != found->now.value)
        m_suggestion = { { rule, parameter }, best.value };
    tell(found->separates ? tr("%1 from %2 to %3 separates what is labeled: %4 (%5).")
                                .arg(name, number(found->from), number(found->to), counts, now)
                          : tr("No value of %1 separates what is labeled. From %2 to %3 it is best: %4 (%5).")
                                .arg(name, number(found->from), number(found->to), counts, now));
}

void RuleLabView::setClean(const store::RunRef& run, bool isClean)
{
    const QString id = QString::fromStdString(run->id);
    const bool isTaken
        = context().annotator != nullptr && context().annotator->append(run, lab::cleanEvent(isClean, {}, {}, 0));
    if (isTaken)
        m_cleanAsked[id] = { isClean, kMostLooks };
    else
        m_runs->setCleanWaiting(id, !isClean);
    if (isTaken)
        m_scan->read({ run });
}

void RuleLabView::saveForRun()
{
    const store::RunRef run = context().state->run();
    // From the run's last step on: what was before stays as it was judged.
    if (context().annotator->append(
            run, judge::rulesEvent(m_draft->rules(), std::max(Step { 0 }, context().state->fullRange().last), {}, 0)))
        tell(tr("Saved as the rules of %1.").arg(m_runs->nameOf(QString::fromStdString(run->id))));
}

void RuleLabView::saveAsDefault()
{
    QThreadPool::globalInstance()->start(
        [self = QPointer<RuleLabView>(this), dataDir = context().dataDir, rules = m_draft->rules()] {
            const auto saved = judge::DefaultRules::save(dataDir, rules);
            QMetaObject::invokeMethod(qApp, [self, why = saved ? QString() : items::saidwords::of(saved.error())] {
                if (!self)
                    return;
                self->tell(why.isEmpty() ? tr("Saved as the default rules.") : why, !why.isEmpty());
                self->readRuns();
            });
        });
}

void RuleLabView::paintPicture(QPainter& painter, QSize size)
{
    const HiddenControls hidden(this);
    DataView::paintPicture(painter, size);
}

Expected<void> RuleLabView::writeCsv(QIODevice* device) const
{
    CsvWriter csv(device);
    for (const char* title : { "run", "rule", "in_force", "tried", "hits", "false_alarms", "missed", "lead" })
        csv.text(QString::fromLatin1(title));
    csv.endRow();
    for (const auto& [id, result] : m_results) {
        std::vector<lab::Score> scores { result->comparison.all };
        scores.insert(scores.end(), result->comparison.rules.begin(), result->comparison.rules.end());
        for (const lab::Score& score : scores) {
            csv.text(m_runs->nameOf(id));
            csv.text(QString::fromStdString(score.rule));
            csv.integer(score.before).integer(score.after).integer(score.hits).integer(score.falseAlarms);
            csv.integer(score.missed);
            score.lead ? static_cast<void>(csv.integer(*score.lead)) : static_cast<void>(csv.text(QString()));
            csv.endRow();
        }
    }
    return csv.finish();
}

}
