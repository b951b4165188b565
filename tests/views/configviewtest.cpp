// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <QBuffer>
#include <QCheckBox>
#include <QComboBox>
#include <QCompleter>
#include <QDateTime>
#include <QGridLayout>
#include <QLabel>
#include <QLayout>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QTableView>
#include <QTemporaryDir>
#include <QTextBlock>
#include <QTextLayout>
#include <QToolButton>
#include <QWheelEvent>

#include "sourcepath.h"
#include <telltale/common/steeringstate.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/config/field.h>
#include <telltale/steering/answersmodel.h>
#include <telltale/steering/configdraft.h>
#include <telltale/steering/configform.h>
#include <telltale/steering/configreference.h>
#include <telltale/steering/configtemplates.h>
#include <telltale/steering/configview.h>
#include <telltale/steering/fieldtext.h>
#include <telltale/steering/jsoneditor.h>
#include <telltale/steering/revisionlist.h>
#include <telltale/steering/switchbutton.h>
#include <telltale/translations/translations.h>

namespace configviewtest {

using namespace telltale;
using namespace telltale::views;

namespace {

QString q(const char* text)
{
    return QString::fromUtf8(text);
}

constexpr const char* kRuns
    = R"({"all_xy":true,"dynamic_on":true,"module_ranks":[0,1],"step_interval":10,"wg_distribution":true})";

RankSteering rank(int number, RankSteering::State state, const char* runs = kRuns)
{
    RankSteering out;
    out.rank = Rank { number };
    out.host = "node-a" + std::to_string(number);
    out.state = state;
    out.rev = out.runsRev = 13;
    out.step = 31174;
    out.runs = runs;
    return out;
}

RunSteering steeringOf(std::vector<RankSteering> ranks)
{
    RunSteering out;
    out.runId = "abcdef";
    out.rev = 13;
    out.config = kRuns;
    out.ranks = std::move(ranks);
    return out;
}

}

class ConfigViewTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { Theme::apply(*qApp, Theme::Mode::Dark); }

    void init()
    {
        m_state = std::make_unique<ViewState>();
        m_steering = std::make_unique<SteeringState>();
        m_steering->offer = [this](const ConfigRequest& request) { m_requests.push_back(request); };
        m_requests.clear();
        auto run = std::make_shared<store::RunHandle>();
        run->id = "abcdef";
        run->name = "gpt";
        run->live = m_live = std::make_shared<store::LiveRun>();
        m_state->setRun(run);
        m_steering->set(
            { steeringOf({ rank(0, RankSteering::State::Applied), rank(1, RankSteering::State::Applied) }) });
        open(m_steering.get());
    }

    void cleanup() { m_view.reset(); }

    void whatIsNotValidYetIsNotCalledUnchanged()
    {
        auto* revert = m_view->findChild<QPushButton*>(q("configRevert"));
        QVERIFY(!revert->isEnabled());
        m_view->draft()->setValue(q("/start_step"), q("\"12345678\""));
        QCOMPARE(m_view->draft()->changes().size(), 1); // it is read as what runs, yet somebody wrote it
        QVERIFY(revert->isEnabled());
        QVERIFY(isShown(q("draft: 1 change")));
        QVERIFY(!isShown(q("no changes")));
        QVERIFY(changes()->accessibleDescription().contains(q("/start_step: 0 -> not valid yet")));
        QCOMPARE(problemSentence(m_view->draft()->problems().front()),
            q("/start_step is \"12345678\"; it must be a whole number from 0 to "
              "1\u00a0000\u00a0000\u00a0000\u00a0000\u00a0000"));
        // Nor is it lost when what runs changes.
        m_steering->set({ steeringOf({ rank(0, RankSteering::State::Applied, R"({"step_interval":5})") }) });
        QVERIFY(m_view->draft()->text().contains(q("12345678")));
        m_view->draft()->setValue(q("/step_interval"), q("\"x\"")); // read as the default, which nobody wrote
        QVERIFY(changes()->accessibleDescription().contains(q("/step_interval: 5 -> not valid yet")));
        m_view->draft()->revert();
        QVERIFY(isShown(q("no changes")));
    }

    void whatRunsIsTheDraftUntilSomebodyEditsIt()
    {
        QVERIFY(m_view->draft()->changes().empty());
        QCOMPARE(m_view->draft()->config().stepInterval, 10);
        QVERIFY(!applyButton()->isEnabled());
        auto changed = steeringOf({ rank(0, RankSteering::State::Applied, R"({"all_xy":true,"step_interval":5})") });
        m_steering->set({ changed });
        QCOMPARE(m_view->draft()->config().stepInterval, 5);
        type(q("/step_interval"), q("7"));
        m_steering->set({ steeringOf({ rank(0, RankSteering::State::Applied) }) });
        QCOMPARE(m_view->draft()->config().stepInterval, 7);
    }

    void theTextTakesTheColorsOfAnotherTheme()
    {
        auto* text = m_view->findChild<JsonEditor*>();
        const auto colors = [text] {
            QSet<QRgb> found;
            for (QTextBlock block = text->document()->firstBlock(); block.isValid(); block = block.next()) {
                for (const QTextLayout::FormatRange& one : block.layout()->formats())
                    found.insert(one.format.foreground().color().rgb());
            }
            return found;
        };
        const QSet<QRgb> dark = colors();
        QVERIFY(dark.size() > 1);
        Theme::apply(*qApp, Theme::Mode::Light);
        const QSet<QRgb> light = colors();
        Theme::apply(*qApp, Theme::Mode::Dark);
        QVERIFY(!light.intersects(dark));
        QCOMPARE(colors(), dark);
    }

    void theFormFitsBesideTheTextAndTheWheelOnlyScrollsIt()
    {
        m_view->resize(980, 620); // in a window of 1600 x 1000
        auto* form = m_view->findChild<ConfigForm*>();
        auto* box = m_view->findChild<QComboBox*>(q("/telltale/actv_grad_input"));
        QVERIFY(box);
        const QString before = box->currentText();
        box->setFocus();
        form->ensureWidgetVisible(box, 0, 0);
        const int scrolled = form->verticalScrollBar()->value();
        QWheelEvent wheel(box->rect().center(), box->mapToGlobal(box->rect().center()), {}, { 0, -120 }, Qt::NoButton,
            Qt::NoModifier, Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(box, &wheel);
        QCOMPARE(box->currentText(), before);
        QVERIFY(m_view->draft()->changes().empty());
        QVERIFY(form->verticalScrollBar()->value() > scrolled);

        m_view->draft()->setValue(q("/telltale/actv_grad_input"), q("\"total\""));
        m_view->draft()->setValue(q("/targets"), q("{\"layers.0.attn\":{}}"));
        m_view->draft()->setValue(q("/start_step"), q("1000000"));
        QTest::qWait(0);
        QTRY_COMPARE(form->horizontalScrollBar()->maximum(), 0);
        m_view->draft()->setValue(q("/ops"), q("[\"norm\",\"mean\"]"));
        for (const int width : { 980, 700 }) {
            m_view->resize(width, 620);
            QTest::qWait(0);
            QTRY_COMPARE(form->horizontalScrollBar()->maximum(), 0);
        }
    }

    void whereItIsTooNarrowForBothOneOfFormAndTextIsShown()
    {
        auto* form = m_view->findChild<ConfigForm*>();
        auto* text = m_view->findChild<JsonEditor*>();
        QVERIFY(form->isVisible() && text->isVisible());
        m_view->resize(700, 500);
        QTRY_VERIFY(form->isVisible() && !text->isVisible());
        const auto shownButton = [this] {
            QToolButton* found = nullptr;
            for (auto* button : m_view->findChildren<QToolButton*>()) {
                if (button->isVisible() && (button->toolTip() == q("JSON") || button->toolTip() == q("Fields")))
                    found = button;
            }
            return found;
        };
        QVERIFY(shownButton());
        const auto hasFocus = [this](QWidget* pane) {
            QWidget* focus = m_view->window()->focusWidget();
            return focus && focus->isVisible() && (focus == pane || pane->isAncestorOf(focus));
        };
        m_view->setFocus();
        QVERIFY(hasFocus(form));
        QTest::keyClick(m_view->window()->focusWidget(), Qt::Key_Tab);
        QVERIFY(hasFocus(form));
        const QPoint place = shownButton()->mapTo(m_view.get(), QPoint());
        shownButton()->click();
        QVERIFY(!form->isVisible() && text->isVisible());
        const auto moved = [&] { return (shownButton()->mapTo(m_view.get(), QPoint()) - place).manhattanLength(); };
        QTRY_VERIFY2(moved() <= 1, qPrintable(QString::number(moved())));
        m_view->setFocus();
        QVERIFY(hasFocus(text));
        m_view->resize(1360, 760);
        QTRY_VERIFY(form->isVisible());
        m_view->setFocus();
        QVERIFY(hasFocus(text));
        m_view->resize(700, 500);
        QTRY_VERIFY(!form->isVisible() && text->isVisible()); // it was switched to
        QVERIFY(hasFocus(text));
        shownButton()->click();
        QVERIFY(form->isVisible() && !text->isVisible());
        m_view->resize(1360, 760);
        QTRY_VERIFY(form->isVisible() && text->isVisible() && !shownButton());
        m_view->setFocus();
        QVERIFY(hasFocus(text));
        m_view->resize(700, 500); // and what has the keyboard is hidden
        QTRY_VERIFY(form->isVisible() && !text->isVisible());
        QVERIFY(hasFocus(form));
    }

    void whatWasAppliedIsNoDraftAnyMore()
    {
        m_view->draft()->setText(q("{ // mine\n \"step_interval\": 5,\n \"dynamic_on\": true }"));
        const auto applied = config::canonicalConfigText(m_view->draft()->config());
        m_steering->set({ steeringOf({ rank(0, RankSteering::State::Applied, applied.c_str()) }) });
        QVERIFY(m_view->draft()->changes().empty());
        // Somebody else's revision follows: the draft goes with it, and keeps its comment.
        m_steering->set(
            { steeringOf({ rank(0, RankSteering::State::Applied, R"({"all_xy":true,"step_interval":5})") }) });
        QVERIFY(m_view->draft()->changes().empty());
        QCOMPARE(m_view->draft()->text(), q("{ // mine\n \"step_interval\": 5,\n \"dynamic_on\": false }"));
    }

    void formAndTextAreOneDraft()
    {
        type(q("/step_interval"), q("5"));
        QVERIFY(text()->toPlainText().contains(q("\"step_interval\": 5")));
        control<SwitchButton>(q("/xy_distribution"))->click();
        QVERIFY(m_view->draft()->config().xyDistribution);
        QTextCursor cursor(text()->document()->find(q("\"step_interval\": 5")));
        cursor.insertText(q("\"step_interval\": 20"));
        QCOMPARE(control<QLineEdit>(q("/step_interval"))->text(), q("20"));
        type(q("/targets"), q("layers.*, layers.0.attn"));
        QCOMPARE(m_view->draft()->config().targets.size(), 2u);
        // One step back in the text is one step back in the form.
        const QString before = text()->toPlainText();
        text()->undo();
        QVERIFY(text()->toPlainText() != before);
        QCOMPARE(m_view->draft()->text(), text()->toPlainText());
        m_view->draft()->revert();
        QVERIFY(m_view->draft()->changes().empty());
    }

    void namesOfTheModelAreCompleted()
    {
        auto* names = text()->findChild<QCompleter*>();
        QVERIFY(names != nullptr);
        names->setCompletionPrefix(q("0.at"));
        QCOMPARE(names->currentCompletion(), q("layers.0.attn"));
        names->setCompletionPrefix(q("attention_q"));
        QCOMPARE(names->currentCompletion(), q("attention_queries"));
    }

    void commentsSurviveTheForm()
    {
        m_view->draft()->setText(q("{ // overflow hunt\n  \"step_interval\": 10, // ten\n}"));
        type(q("/step_interval"), q("5"));
        QCOMPARE(text()->toPlainText(), q("{ // overflow hunt\n  \"step_interval\": 5, // ten\n}"));
    }

    void aProblemIsToldInPlaceAndNothingIsApplied_data()
    {
        QTest::addColumn<QString>("pointer");
        QTest::addColumn<QString>("typed");
        QTest::addColumn<QString>("words");
        QTest::newRow("a rank that is not there") << q("/module_ranks") << q("0, 9") << q("Rank 9 does not exist");
        QTest::newRow("no number") << q("/step_interval") << q("often") << q("whole number");
        QTest::newRow("nothing of this model") << q("/targets") << q("layer.0") << q("did you mean");
    }

    void aProblemIsToldInPlaceAndNothingIsApplied()
    {
        QFETCH(QString, pointer);
        QFETCH(QString, typed);
        QFETCH(QString, words);
        type(pointer, typed);
        QCOMPARE(m_view->draft()->errors(), 1);
        QVERIFY2(isShown(words), qPrintable(words));
        QVERIFY(!applyButton()->isEnabled());
        QVERIFY(!text()->extraSelections().isEmpty());
        m_view->apply();
        QVERIFY(m_requests.empty());
    }

    void everyFieldThatDiffersCountsValidOrNot()
    {
        auto facts = m_view->draft()->run();
        facts.ranks = { 0, 1, 2, 3 };
        m_view->draft()->setRun(facts);
        type(q("/telltale/overhead_budget"), q("200"));
        type(q("/module_ranks"), q("0,5,9"));
        type(q("/collect_times"), q("5"));
        QVERIFY(isShown(q("draft: 3 change")));
        QVERIFY(isShown(q("was none")));
        QVERIFY(isShown(q("was ") + formatShort(1e8))); // 100 000 000 has no room
        QVERIFY(isShown(q("Rank 5 does not exist")));
        QVERIFY(isShown(q("Rank 9 does not exist")));
        QCOMPARE(m_view->draft()->errors(), 3);
        m_view->draft()->undo(q("/telltale/overhead_budget"));
        QVERIFY(isShown(q("draft: 2 change")));
        QCOMPARE(m_view->draft()->errors(), 2);
    }

    void whatIsNotValidStandsInTheFormAsItWasWritten()
    {
        text()->setPlainText(
            q(R"({ "step_interval": "often", "all_xy": "maybe", "targets": 7, "module_ranks": ["x", 1,],
            "telltale": { "histogram": 3, "precision": 5 } })"));
        const auto check = [this] {
            QCOMPARE(control<QLineEdit>(q("/step_interval"))->text(), q("often"));
            QVERIFY(control<SwitchButton>(q("/all_xy"))->isWaiting()); // neither on nor off
            QCOMPARE(control<QLineEdit>(q("/targets"))->text(), q("7"));
            QCOMPARE(control<QLineEdit>(q("/module_ranks"))->text(), q("x, 1"));
        };
        check();
        QVERIFY(!isShown(q("(none)"))); // nobody wrote that
        text()->appendPlainText(q("{"));
        QVERIFY(!m_view->draft()->isConfig());
        QVERIFY(changes()->accessibleDescription().contains(q("/targets: all -> not valid yet")));
        QVERIFY(changes()->accessibleDescription().contains(q("/step_interval: 10 -> not valid yet")));
        check();
        m_view->draft()->revert();
        QVERIFY(!control<SwitchButton>(q("/all_xy"))->isWaiting());
        QVERIFY(control<SwitchButton>(q("/all_xy"))->isChecked());
    }

    void ofSeveralErrorsOneIsSaidAndHowManyMore()
    {
        m_view->draft()->setValue(q("/start_step"), q("\"x\""));
        QVERIFY(!isShown(q("more, F8")));
        m_view->draft()->setValue(q("/module_ranks"), q("[5]"));
        QVERIFY(isShown(q("(1 more, F8 shows the next)")));
        m_view->draft()->setValue(q("/module_ranks"), q("[]"));
        QVERIFY(!isShown(q("more, F8")));
        QVERIFY(changes()->accessibleDescription().contains(q("/module_ranks: [0,1] -> all")));
    }

    void theLastColumnIsOneAboveAndBelow()
    {
        const auto* changes = this->changes();
        const auto* history = m_view->findChild<QWidget*>(q("configHistory"));
        QVERIFY(history);
        for (const int width : { 1360, 760, 1100 }) {
            m_view->resize(width, 760);
            QCoreApplication::processEvents();
            QCOMPARE(
                history->parentWidget()->mapTo(m_view.get(), QPoint()).x(), changes->mapTo(m_view.get(), QPoint()).x());
        }
    }

    void aTextThatIsNoConfigLeavesTheFormAlone()
    {
        QVERIFY(!isShown(q("cannot be read")));
        text()->setPlainText(q("{ \"step_interval\": 3 }\n\nxx\n"));
        QVERIFY(isShown(q("line 3")));
        QCOMPARE(text()->extraSelections().front().cursor.blockNumber(), 2);
        QVERIFY(isShown(q("cannot be read")));
        QVERIFY(!control<QLineEdit>(q("/step_interval"))->isEnabled());
        const auto* form = m_view->findChild<ConfigForm*>();
        QVERIFY(!form->focusProxy()); // nothing there takes a key
        text()->setPlainText(q("{ \"step_interval\": "));
        QVERIFY(!m_view->draft()->isConfig());
        type(q("/step_interval"), q("5"));
        QCOMPARE(text()->toPlainText(), q("{ \"step_interval\": "));
        QVERIFY(!applyButton()->isEnabled());
    }

    void applyOffersTheWholeConfigToTheChosenRanks()
    {
        type(q("/step_interval"), q("5"));
        type(q("configRanks"), q("1"));
        type(q("configStep"), q("31231"));
        QVERIFY(applyButton()->isEnabled());
        QCOMPARE(applyButton()->text(), q("Apply rev 14"));
        applyButton()->click();
        QCOMPARE(m_requests.size(), 1u);
        QCOMPARE(m_requests[0].runId, std::string("abcdef"));
        QCOMPARE(m_requests[0].atStep, 31231);
        QCOMPARE(m_requests[0].ranks, std::vector<Rank> { Rank { 1 } });
        QCOMPARE(config::parseMonitorConfig(m_requests[0].config)->config.stepInterval, 5);
        type(q("configRanks"), q("3"));
        QVERIFY(!applyButton()->isEnabled());
        QVERIFY(isShown(q("Rank 3 does not exist.")));
    }

    void whatOnlyTheTrainingsFileMayChangeIsRefusedHere()
    {
        control<QCheckBox>(q("csv"))->click();
        QVERIFY(!applyButton()->isEnabled());
        QVERIFY(isShown(q("its own config file alone changes it")));
    }

    void aNumberThatBeginsAsNoneCanBeTyped()
    {
        type(q("/telltale/overhead_budget"), q("0.02"));
        QCOMPARE(control<QLineEdit>(q("/telltale/overhead_budget"))->text(), q("0.02"));
        QVERIFY(isShown(q("/telltale/overhead_budget is left to the training")));
        QVERIFY(!isShown(q("it must be a number")));
    }

    void answersFillWhileTheyCome()
    {
        auto now = steeringOf({ rank(0, RankSteering::State::Applied), rank(1, RankSteering::State::Offered) });
        m_steering->set({ now });
        auto* table = m_view->findChild<QTableView*>(q("configAnswers"));
        QCOMPARE(table->model()->rowCount(), 2);
        QCOMPARE(table->model()->index(1, 2).data().toString(), q("offered"));
        now.ranks[1].state = RankSteering::State::Refused;
        now.ranks[1].reason = "TELLTALE_REMOTE_CONFIG is off where this rank runs";
        m_steering->set({ now });
        QCOMPARE(table->model()->index(1, 2).data().toString(), q("refused"));
        QVERIFY(table->model()->index(1, 6).data().toString().contains(q("TELLTALE_REMOTE_CONFIG")));
        QBuffer csv;
        csv.open(QIODevice::WriteOnly);
        QVERIFY(m_view->writeCsv(&csv));
        QVERIFY(csv.data().contains("refused"));
        if (qEnvironmentVariableIsSet("TELLTALE_PICTURES")) {
            type(q("/step_interval"), q("5"));
            type(q("/module_ranks"), q("0, 1, 9"));
            QTest::qWait(50);
            m_view->grab().save(qEnvironmentVariable("TELLTALE_PICTURES") + q("/config.png"));
        }
    }

    void aTemplateChangesItsFieldsAlone()
    {
        for (const ConfigTemplate& one : configTemplates()) {
            const auto on = one.on(m_view->draft()->config());
            QVERIFY(on.dynamicOn);
            QCOMPARE(on.moduleRanks, m_view->draft()->config().moduleRanks);
            m_view->draft()->setConfig(on);
            QCOMPARE(m_view->draft()->errors(), 0);
            QCOMPARE(config::canonicalConfigText(m_view->draft()->config()), config::canonicalConfigText(on));
            m_view->draft()->revert();
        }
    }

    void theDraftSaysWhatItWouldCost()
    {
        config::RunFacts facts;
        m_view->draft()->setRun(facts);
        QCOMPARE(costs(), QStringList()); // no model, no figures
        facts.ranks = { 0, 1 };
        for (int i = 0; i < 310; ++i)
            facts.modules.push_back({ "layers." + std::to_string(i) + ".weight", {}, 1000 });
        m_view->draft()->setRun(facts);
        QCOMPARE(costs(), QStringList({ q("now"), q("Series 1 240"), q("Samples a collected step 7.4 k") }));
        m_steering->setRates({ 2, 200, 20 });
        QCOMPARE(costs(),
            QStringList({ q("now"), q("Series 1 240"), q("Samples a collected step 7.4 k"),
                q("Stored, not yet compacted 74.4 kB/s"), q("Step time 1.0 %") }));
        m_view->draft()->setValue(q("/param_distribution"), q("true"));
        QCOMPARE(costs(),
            QStringList({ q("now draft"), q("Series 1 240 2 480"), q("Samples a collected step 7.4 k 15 k"),
                q("Stored, not yet compacted 74.4 kB/s 149 kB/s"), q("Step time 1.0 % 2.0 %") }));
        m_view->draft()->setValue(q("/step_interval"), q("40"));
        QCOMPARE(costs().last(), q("Step time 1.0 % 0.5 %"));
        m_steering->set({});
        QCOMPARE(costs().last(), q("Samples a collected step 15 k")); // nobody says what runs
    }

    void ofADraftWithErrorsNoCostIsSaid()
    {
        config::RunFacts facts;
        facts.modules.push_back({ "layers.0.weight", {}, 1000 });
        m_view->draft()->setRun(facts);
        m_view->draft()->setValue(q("/param_distribution"), q("true"));
        QVERIFY(costs().front().contains(q("draft")));
        const QString valid = m_view->draft()->text();
        m_view->draft()->setValue(q("/step_interval"), q("\"x\"")); // which is read as the default
        QCOMPARE(costs().front(), q("now"));
        QCOMPARE(costs().last(), q("Fix the draft to see what it costs."));
        m_view->draft()->setText(valid + u'x');
        QVERIFY(!m_view->draft()->isConfig());
        QCOMPARE(costs().front(), q("now"));
        QCOMPARE(costs().last(), q("Fix the draft to see what it costs."));
        m_view->draft()->setText(valid);
        QVERIFY(costs().front().contains(q("draft")));
    }

    void whoAppliesIsToldWhyNothingCanBeAndWhereTheDraftDiffers()
    {
        QCOMPARE(m_steering->whyNoApply(), q("The draft is what runs."));
        m_view->draft()->setValue(q("/ops"), q("[\"norm\",\"mean\"]"));
        QCOMPARE(m_steering->whyNoApply(), QString());
        m_view->goToFirstChange();
        const auto* ops = m_view->findChild<QWidget*>(q("/ops"));
        QVERIFY(ops->isAncestorOf(m_view->focusWidget()));
        QVERIFY(!ops->visibleRegion().isEmpty());
        m_view->draft()->setValue(q("/step_interval"), q("\"x\""));
        QVERIFY(m_steering->whyNoApply().startsWith(q("Fix 1 error")));
        m_view->draft()->revert();
        QCOMPARE(m_steering->whyNoApply(), q("The draft is what runs."));
    }

    void whatIsSwitchedOffCostsNothingNow()
    {
        m_steering->set({ steeringOf({ rank(
            0, RankSteering::State::Applied, R"({"dynamic_on":false,"step_interval":10,"wg_distribution":true})") }) });
        config::RunFacts facts;
        facts.modules.push_back({ "layers.0.weight", {}, 1000 });
        m_view->draft()->setRun(facts);
        QCOMPARE(costs(), QStringList({ q("now"), q("Series 0"), q("Samples a collected step 0") }));
        m_view->draft()->setValue(q("/step_interval"), q("5")); // it stays off
        QCOMPARE(m_view->draft()->changes().size(), 1);
        QCOMPARE(costs(), QStringList({ q("now draft"), q("Series 0"), q("Samples a collected step 0") }));
        m_view->draft()->setValue(q("/dynamic_on"), q("true"));
        QCOMPARE(costs(), QStringList({ q("now draft"), q("Series 0 2"), q("Samples a collected step 0 12") }));
    }

    void aDraftOverTheRunningBudgetSaysWhatTheAgentWillDo()
    {
        constexpr const char* kWithin
            = R"({"dynamic_on":true,"step_interval":10,"telltale":{"overhead_budget":1.5},"wg_distribution":true})";
        auto within = steeringOf({ rank(0, RankSteering::State::Applied, kWithin) });
        within.config = kWithin;
        m_steering->set({ within });
        config::RunFacts facts;
        facts.modules.push_back({ "layers.0.weight", {}, 1000 });
        m_view->draft()->setRun(facts);
        m_steering->setRates({ 2, 200, 20 });
        QVERIFY(!costs().join(u' ').contains(q("budget")));
        m_view->draft()->setValue(q("/param_distribution"), q("true"));
        QCOMPARE(costs().last(), q("Over the budget of 1.5 %: the agent will collect every 20th step."));
        m_view->draft()->setValue(q("/step_interval"), q("40"));
        QCOMPARE(costs().last(), q("The draft stays inside the budget of 1.5 % of step time."));
    }

    void wholeNumbersAreGroupedAndStepped()
    {
        m_view->draft()->setValue(q("/collect_times"), q("100000"));
        auto* edit = control<QLineEdit>(q("/collect_times"));
        QCOMPARE(edit->text(), QString::fromUtf8("100\u202f000"));
        edit->setFocus();
        QTest::keyClick(edit, Qt::Key_Up);
        QCOMPARE(m_view->draft()->config().collectTimes, 100'001);
        QCOMPARE(edit->text(), QString::fromUtf8("100\u202f001"));
        QTest::mouseClick(edit, Qt::LeftButton, {}, { edit->width() - 6, edit->height() - 4 });
        QCOMPARE(m_view->draft()->config().collectTimes, 100'000);
        // A digit that comes into the grouped text, and one typed with plain spaces.
        edit->end(false);
        QTest::keyClicks(edit, q("0"));
        QCOMPARE(m_view->draft()->config().collectTimes, 1'000'000);
        type(q("/collect_times"), q("12 500"));
        QCOMPARE(m_view->draft()->config().collectTimes, 12'500);
        QCOMPARE(m_view->draft()->errors(), 0);
        // The arrows end where the field does.
        type(q("/step_interval"), q("1"));
        QTest::keyClick(control<QLineEdit>(q("/step_interval")), Qt::Key_Down);
        QCOMPARE(m_view->draft()->config().stepInterval, 1);
        type(q("/step_interval"), q("often"));
        QTest::keyClick(control<QLineEdit>(q("/step_interval")), Qt::Key_Up);
        QCOMPARE(control<QLineEdit>(q("/step_interval"))->text(), q("often"));
    }

    void aFieldSaysWhatItsValueMeansUntilItIsChanged()
    {
        const auto hint = [this](const char* pointer) {
            const auto labels = control<QLineEdit>(q(pointer))->parentWidget()->findChildren<QLabel*>();
            return labels.at(0)->text().replace(QChar(0x202f), u' ');
        };
        QCOMPARE(hint("/step_interval"), q("1 step in 10"));
        QCOMPARE(hint("/targets"), q("all modules"));
        QCOMPARE(hint("/telltale/overhead_budget"), q("no limit"));
        type(q("/step_interval"), q("5"));
        QCOMPARE(hint("/step_interval"), q("was 10"));
        m_view->draft()->setRun({});
        QCOMPARE(hint("/targets"), QString()); // nobody knows
        // Where it is narrow, the fields come before the hints.
        m_view->resize(580, 500);
        const auto* form = m_view->findChild<ConfigForm*>();
        QTRY_VERIFY(!isShown(q("was 10")));
        QTRY_COMPARE(form->horizontalScrollBar()->maximum(), 0);
        m_view->resize(1360, 760);
        QTRY_VERIFY(isShown(q("was 10")));
    }

    void whatHasNoRowsSaysWhatWillStandThere()
    {
        const auto* answers = m_view->findChild<QTableView*>(q("configAnswers"));
        QVERIFY(answers->isVisible());
        // In a narrow window, too, all columns are in sight; a host's name gives way.
        m_view->resize(700, 500);
        QTRY_COMPARE(answers->horizontalScrollBar()->maximum(), 0);
        m_view->resize(1360, 760);
        QVERIFY(isShown(q("No config has been applied yet")));
        m_steering->set({});
        QVERIFY(!answers->isVisible());
        QVERIFY(isShown(q("No rank has answered a config yet")));
        m_live->closed = true;
        m_steering->set({ steeringOf({ rank(0, RankSteering::State::Applied) }) });
        m_steering->set({});
        QVERIFY(isShown(q("No config was applied.")) && !isShown(q("No config has been applied yet")));
        QVERIFY(isShown(q("No rank answered a config.")));
    }

    void aRunThatHasEndedTakesNoConfig()
    {
        QVERIFY(changes()->accessibleDescription().contains(q("the draft is what runs")));
        type(q("/step_interval"), q("5"));
        QVERIFY(applyButton()->isEnabled());
        m_live->closed = true;
        m_steering->set({ steeringOf({ rank(0, RankSteering::State::Applied) }) });
        QVERIFY(!applyButton()->isEnabled());
        QCOMPARE(applyButton()->text(), q("Apply"));
        QVERIFY(isShown(q("This run has ended: nothing can be applied")));
        QVERIFY(isShown(q("what ran last")));
        QVERIFY(!control<QLineEdit>(q("configRanks"))->isEnabled());
        m_view->draft()->revert();
        QVERIFY(isShown(q("the draft is the config that it had last")));
        QCOMPARE(changes()->accessibleDescription(), q("Nothing: the draft is the run's last config."));
        QVERIFY(!isShown(q("what runs")));
        m_view->apply();
        QVERIFY(m_requests.empty());
        auto archived = std::make_shared<store::RunHandle>();
        archived->id = "fedcba";
        m_state->setRun(archived);
        QVERIFY(isShown(q("This run has ended")));
        QVERIFY(isShown(q("Changes against the last config")));
        m_state->setRun(nullptr);
        QVERIFY(isShown(q("Changes against the defaults")));
        QVERIFY(!isShown(q("what runs")));
    }

    void whereNoRankIsConnectedThatIsSaid()
    {
        auto gone = steeringOf({ rank(0, RankSteering::State::Lost), rank(1, RankSteering::State::Lost) });
        gone.ranks[0].isAway = true;
        m_steering->set({ gone });
        QVERIFY(isShown(q("The draft is what runs.")) && !isShown(q("o rank is connected")));
        gone.ranks[1].isAway = true;
        m_steering->set({ gone });
        QVERIFY(isShown(q("No rank is connected: the draft is what they ran last.")));
        QVERIFY(isShown(q("no rank connected")));
        QVERIFY(!isShown(q("what runs")));
        QCOMPARE(
            changes()->accessibleDescription(), q("Nothing: the draft is what the ranks ran last. None is connected."));
        type(q("/step_interval"), q("5"));
        QVERIFY(applyButton()->isEnabled());
        QVERIFY(isShown(q("No rank is connected: who comes back is offered it.")));
    }

    /// As a presentation has it.
    void aMirrorSaysWhatRunsAndSteersNothing()
    {
        m_view.reset();
        SteeringState mirror;
        mirror.mirror(m_steering.get());
        open(&mirror);
        QVERIFY(isShown(q("The draft is what runs.")));
        QCOMPARE(m_view->findChild<AnswersModel*>()->rowCount(), 2);
        m_steering->set({ steeringOf({ rank(0, RankSteering::State::Applied) }) });
        QCOMPARE(m_view->findChild<AnswersModel*>()->rowCount(), 1);
        type(q("/step_interval"), q("5"));
        m_view->apply();
        QVERIFY(m_requests.empty());
        m_view.reset(); // before what it listens to
    }

    void ofCommentsItIsSaidWhoKeepsThem() { QVERIFY(isShown(q("the file keeps its comments"))); }

    void inputsEndAtOnePlaceWhateverStandsBehindThem()
    {
        auto* ranks = control<QLineEdit>(q("/module_ranks"));
        auto* targets = control<QLineEdit>(q("/targets"));
        auto* number = control<QLineEdit>(q("/telltale/overhead_budget"));
        const auto endOf = [this](QWidget* one) { return one->mapTo(m_view.get(), one->rect().bottomRight()).x(); };
        for (const int width : { 1360, 980, 560 }) {
            m_view->resize(width, 620);
            QTest::qWait(0);
            const int end = endOf(ranks);
            QCOMPARE(endOf(targets), end);
            QCOMPARE(endOf(number), end);
            type(q("/module_ranks"), q("0"));
            QTest::qWait(0);
            QCOMPARE(endOf(ranks), end);
            m_view->draft()->revert();
        }
        QVERIFY(!control<QLineEdit>(q("/telltale/overhead_budget"))->placeholderText().isEmpty());
        // What stands in an empty one is whole in the narrowest form that has hints.
        m_view->resize(697, 570);
        QTest::qWait(0);
        for (const auto* edit : m_view->findChildren<QLineEdit*>()) {
            const int room = edit->width() - edit->textMargins().left() - edit->textMargins().right() - 8;
            QVERIFY2(
                edit->fontMetrics().horizontalAdvance(edit->placeholderText()) <= room, qPrintable(edit->objectName()));
        }
        QVERIFY(isShown(q("9 significant")));
    }

    void whatIsWrongIsAloneInItsColor()
    {
        const auto caption = [this] {
            for (const auto* label : m_view->findChildren<QLabel*>()) {
                if (label->text().contains(q("draft: ")))
                    return label;
            }
            return static_cast<const QLabel*>(nullptr);
        };
        type(q("/module_ranks"), q("0, 9"));
        QVERIFY(caption());
        QCOMPARE(caption()->foregroundRole(), QPalette::Link);
        const auto part = q("<span style=\"color:%1\">1 error");
        QVERIFY(caption()->text().contains(part.arg(Theme::current().criticalText.name())));
        Theme::apply(*qApp, Theme::Mode::Light);
        QTRY_VERIFY(caption()->text().contains(part.arg(Theme::light().criticalText.name())));
        m_view->resize(700, 500); // what runs is left out before what is wrong
        QTRY_VERIFY(caption()->isVisible() && !caption()->text().contains(q("rev ")));
        QVERIFY(caption()->text().contains(q("1 error")));
        Theme::apply(*qApp, Theme::Mode::Dark);
    }

    void theHelpSaysWhichFieldItIsAbout()
    {
        QFocusEvent in(QEvent::FocusIn);
        QCoreApplication::sendEvent(control<QLineEdit>(q("/telltale/overhead_budget")), &in);
        const auto* help = m_view->findChild<QLabel*>(q("configHelp"));
        QVERIFY(help->text().startsWith(q("overhead_budget: Most that")));
    }

    void aRankWithoutAnAnswerSaysSo()
    {
        auto own = rank(0, RankSteering::State::None);
        own.runsRev = 0;
        m_steering->set({ steeringOf({ own }) });
        const auto* model = m_view->findChild<QTableView*>(q("configAnswers"))->model();
        QCOMPARE(model->index(0, 2).data().toString(), q("\u2013"));
        QCOMPARE(model->index(0, 2).data(Qt::EditRole).toString(), QString());
        QCOMPARE(model->index(0, 5).data().toString(), q("its own config"));
        QVERIFY(model->index(0, 5).data(Qt::ToolTipRole).toString().startsWith(q("The config of the training itself")));
    }

    void eachChangeOfARevisionHasALine()
    {
        auto* history = m_view->findChild<RevisionList*>(q("configHistory"));
        analysis::RevisionFacts one;
        one.rev = 1;
        one.wallNs = QDateTime::currentMSecsSinceEpoch() * 1'000'000;
        std::vector<int> heights;
        for (const int changes : { 1, 2, 30 }) {
            one.changes.assign(static_cast<std::size_t>(changes), { "/step_interval", "20", "10" });
            history->set({ one });
            QCoreApplication::processEvents();
            heights.push_back(history->visualRect(history->model()->index(0, 0)).height());
        }
        QVERIFY(heights[1] >= heights[0] + QFontMetrics(codeFont(12)).height());
        QVERIFY(heights[2] > heights[1] && heights[2] < 10 * heights[0]); // its tip has all
        const QString said = history->model()->index(0, 0).data(Qt::AccessibleTextRole).toString();
        QVERIFY2(!said.contains(QDate::currentDate().toString(Qt::ISODate)), qPrintable(said)); // of today
    }

    void aRevisionOfNobodyKnownIsTheWindows()
    {
        auto* history = m_view->findChild<RevisionList*>(q("configHistory"));
        analysis::RevisionFacts one;
        one.author = "window"; // what is written where the system names no user
        history->set({ one });
        const QString said = history->model()->index(0, 0).data(Qt::AccessibleTextRole).toString();
        QVERIFY2(said.contains(q("by the window")), qPrintable(said));
    }

    void whatAProgramWroteIsLaidOut()
    {
        const std::string lists = std::string(200, ' ') + "\"module_ranks\": [0]";
        QVERIFY(!ConfigDraft::isLaidOut("{\"step_interval\": 2}\n"));
        QVERIFY(ConfigDraft::isLaidOut("{\n\"step_interval\": 2\n}\n"));
        QVERIFY(!ConfigDraft::isLaidOut("{\"step_interval\": 2,\n" + lists + "}\n"));
        QVERIFY(ConfigDraft::isLaidOut("{\"step_interval\": 2, // often\n" + lists + "}\n"));
        QVERIFY(ConfigDraft::isLaidOut("{\n\"step_interval\": 2\n}\n" + std::string(200, ' '))); // behind its end
    }

    void theHistorySaysAllAsTheDifferenceDoes()
    {
        std::vector<config::FieldChange> changes { { "/module_ranks", "[]", "[0]" }, { "/step_interval", "1", "5" } };
        m_view->findChild<ConfigForm*>()->showTexts(changes);
        QCOMPARE(changes[0].before, std::string("all"));
        QCOMPARE(changes[0].after, std::string("[0]"));
        QCOMPARE(changes[1].after, std::string("5"));
    }

    void anEarlierRevisionComesBackAsADraft()
    {
        auto* history = m_view->findChild<RevisionList*>(q("configHistory"));
        analysis::RevisionFacts first, second;
        first.rev = 12;
        first.author = "jl";
        first.config = R"({"step_interval":20})";
        second = { 13, Step { 31174 }, 1'700'000'000'000'000'000, "mk", { { "/step_interval", "20", "10" } },
            R"({"step_interval":10})", first.config, 1, 0 };
        history->set({ second, first });
        const auto shown = history->model()->index(0, 0);
        QCOMPARE(shown.data().toString(), QString::fromUtf8("step_interval 20 \u2192 10"));
        QVERIFY(shown.data(Qt::AccessibleTextRole).toString().contains(q("rev 13")));
        // Of the newest, what was before it; of an earlier one, itself.
        history->setCurrentIndex(shown);
        history->setFocus();
        QTest::keyClick(history, Qt::Key_Return);
        QCOMPARE(m_view->draft()->config().stepInterval, 20);
        QVERIFY(applyButton()->isEnabled());
        m_view->draft()->revert();
        const QRect row = history->visualRect(history->model()->index(1, 0));
        const QPoint icon(history->viewport()->width() - 16, row.center().y());
        QTest::mouseClick(history->viewport(), Qt::LeftButton, {}, icon);
        QCOMPARE(m_view->draft()->config().stepInterval, 20);
        m_view->draft()->revert();
        QTest::mouseClick(history->viewport(), Qt::LeftButton, {}, row.center());
        QTest::mouseDClick(history->viewport(), Qt::LeftButton, {}, row.center());
        QCOMPARE(m_view->draft()->config().stepInterval, 20);
        if (qEnvironmentVariableIsSet("TELLTALE_PICTURES"))
            m_view->grab().save(qEnvironmentVariable("TELLTALE_PICTURES") + q("/confighistory.png"));
    }

    void theReferencePagesAreTheTables_data()
    {
        QTest::addColumn<QString>("language");
        QTest::addColumn<QString>("file");
        QTest::newRow("English") << q("en") << q("config.md");
        QTest::newRow("Chinese") << q("zh_CN") << q("config.zh_CN.md");
    }
    void theReferencePagesAreTheTables()
    {
        QFETCH(const QString, language);
        QFETCH(const QString, file);
        QVERIFY(translations::install(*qApp, language));
        const auto back = qScopeGuard([] { translations::install(*qApp, q("en")); });
        QFile page(QString::fromStdString(telltale::test::sourcePath("resources/reference/")) + file);
        QVERIFY(page.open(QIODevice::ReadOnly));
        QVERIFY2(page.readAll() == configReference().toUtf8(),
            "resources/reference is older than the field table: cmake --build build/release --target "
            "telltale_reference");
        for (const config::Field& field : config::fields())
            QVERIFY2(language == q("en") || fieldSentence(field.description) != fieldText(field.description),
                std::string(field.name).c_str());
    }

    void aFileIsOpenedAndSavedWithoutARun()
    {
        m_state->setRun(nullptr);
        QTemporaryDir folder;
        QFile file(folder.filePath(q("config.json")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("{ // mine\n \"eps\": 0.5 }");
        file.close();
        m_view->openFile(file.fileName());
        QTRY_COMPARE(m_view->draft()->config().eps, 0.5);
        type(q("/eps"), q("0.25"));
        m_view->saveFile(folder.filePath(q("other.json")));
        QFile other(folder.filePath(q("other.json")));
        QTRY_VERIFY(other.exists() && other.size() > 0);
        QVERIFY(other.open(QIODevice::ReadOnly));
        QCOMPARE(other.readAll(), QByteArray("{ // mine\n \"eps\": 0.25 }"));
        QVERIFY(!applyButton()->isEnabled());
        m_view->openFile(folder.filePath(q("none.json")));
        QTRY_VERIFY(isShown(q("Cannot read")));
    }

private:
    void open(SteeringState* steering)
    {
        m_view = std::make_unique<ConfigView>(ViewContext { m_state.get(), nullptr, nullptr, steering });
        config::RunFacts facts;
        facts.ranks = { 0, 1 };
        facts.modules = { { "layers", "ModuleList" }, { "layers.0", "Block" }, { "layers.0.attn", "Attention" } };
        m_view->draft()->setRun(facts);
        m_view->resize(1360, 760);
        // The platform of the tests warns of a window whose least size changes; in the real one that is fixed.
        m_view->layout()->setSizeConstraint(QLayout::SetNoConstraint);
        m_view->setAttribute(Qt::WA_DontShowOnScreen);
        m_view->show();
    }

    QPlainTextEdit* text() { return m_view->findChild<QPlainTextEdit*>(q("configText")); }
    QWidget* changes() { return m_view->findChild<QWidget*>(q("configChanges")); }
    QPushButton* applyButton() { return m_view->findChild<QPushButton*>(q("configApply")); }

    template <class Control> Control* control(const QString& name)
    {
        for (Control* one : m_view->findChildren<Control*>()) {
            if (one->objectName() == name || (one->objectName().isEmpty() && one->text() == name))
                return one;
        }
        qFatal("no control %s", qPrintable(name));
    }

    void type(const QString& name, const QString& words)
    {
        auto* edit = control<QLineEdit>(name);
        edit->setFocus();
        edit->selectAll();
        QTest::keyClicks(edit, words);
    }

    /// What the estimate's lines say, with plain spaces.
    QStringList costs()
    {
        const auto* table = m_view->findChild<QWidget*>(q("configCost"));
        const auto* grid = static_cast<QGridLayout*>(table->layout());
        QStringList lines;
        for (int row = 0; row < grid->rowCount(); ++row) {
            QStringList words;
            for (int column = 0; column < grid->columnCount(); ++column) {
                auto* item = grid->itemAtPosition(row, column);
                const auto* label = item != nullptr ? qobject_cast<QLabel*>(item->widget()) : nullptr;
                if (label != nullptr && label->isVisible() && !words.contains(label->text())
                    && !label->text().isEmpty())
                    words.append(label->text());
            }
            if (!words.isEmpty())
                lines.append(words.join(u' ').replace(QChar(0x202f), u' ').replace(QChar(0xa0), u' '));
        }
        return lines;
    }

    bool isShown(const QString& words)
    {
        const auto labels = m_view->findChildren<QLabel*>();
        return std::any_of(labels.begin(), labels.end(),
            [&](const QLabel* label) { return label->isVisibleTo(m_view.get()) && label->text().contains(words); });
    }

    std::shared_ptr<store::LiveRun> m_live;
    std::unique_ptr<ViewState> m_state;
    std::unique_ptr<SteeringState> m_steering;
    std::unique_ptr<ConfigView> m_view;
    std::vector<ConfigRequest> m_requests;
};

TELLTALE_TEST(QTEST_MAIN, ConfigViewTest)

}

#include "configviewtest.moc"
