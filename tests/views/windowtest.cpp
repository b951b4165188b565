// SPDX-License-Identifier: GPL-3.0-or-later
#include "shots.h"
#include "testmain.h"

#include <QAbstractButton>
#include <QAction>
#include <QApplication>
#include <QDockWidget>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QRegularExpression>
#include <QScrollBar>
#include <QStackedWidget>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTreeView>

#include <telltale/common/steeringstate.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/moduletreemodel.h>
#include <telltale/items/runsmodel.h>
#include <telltale/runs/panelhead.h>
#include <telltale/shell/collectswitch.h>
#include <telltale/shell/commandregistry.h>
#include <telltale/shell/dockhost.h>
#include <telltale/shell/keychip.h>
#include <telltale/shell/keyssheet.h>
#include <telltale/shell/mainwindow.h>
#include <telltale/shell/monitoringcost.h>
#include <telltale/shell/pace.h>
#include <telltale/shell/panels.h>
#include <telltale/shell/pulse.h>
#include <telltale/shell/pulsemeter.h>
#include <telltale/shell/runbutton.h>
#include <telltale/shell/rundriver.h>
#include <telltale/shell/startup.h>
#include <telltale/shell/toaster.h>
#include <telltale/shell/toolbar.h>
#include <telltale/shell/viewfactory.h>
#include <telltale/shell/viewtabs.h>
#include <telltale/steering/jsonhighlighter.h>
#include <telltale/store/clock.h>
#include <telltale/store/querypool.h>
#include <telltale/translations/translations.h>

#include "pseudolocale.h"
#include "shellfixture.h"

namespace windowtest {

using namespace telltale;
using namespace telltale::shell;

namespace {

constexpr auto kJoin = "telltale://127.0.0.1:47800#token=0123456789abcdef0123456789abcdef";

std::vector<ConnectionInfo> someAgents()
{
    std::vector<ConnectionInfo> agents;
    for (int rank = 0; rank < 8; ++rank) {
        ConnectionInfo agent;
        agent.agentId = "node/" + std::to_string(rank);
        agent.runName = "gpt-12l";
        agent.rank = Rank { rank };
        agent.connected = rank != 6;
        agent.lagSeconds = 0.28 + rank * 0.02;
        agent.samplesPerSecond = 23'100;
        agent.receivedBytes = 41'000'000;
        agent.droppedSamples = rank == 5 ? 3 : 0;
        agent.spoolBytes = rank == 5 ? 400'000 : 0;
        agent.agentVersion = "0.1.0";
        agent.peer = "127.0.0.1:5" + std::to_string(1000 + rank);
        agent.lastRefusal = rank == 6 ? "wrong token" : "";
        agents.push_back(agent);
    }
    return agents;
}

}

/// One data directory, one pool, one window; made anew by every test.
class WindowTest : public QObject {
    Q_OBJECT
public:
    bool eventFilter(QObject* watched, QEvent* event) override
    {
        m_layouts += event->type() == QEvent::LayoutRequest ? 1 : 0;
        return QObject::eventFilter(watched, event);
    }

private Q_SLOTS:
    void initTestCase()
    {
        QCoreApplication::setApplicationVersion(QStringLiteral("0.1.0"));
        test::DemoCapsule(m_archive.path().toStdString()).write();
    }

    void init()
    {
        QTest::failOnWarning(QRegularExpression(QStringLiteral(".?")));
        m_empty = std::make_unique<QTemporaryDir>();
        m_pool = std::make_unique<store::QueryPool>(2);
    }
    void cleanup()
    {
        m_window.reset();
        m_pool.reset();
        m_empty.reset();
        translations::install(*qApp, QStringLiteral("en"));
    }

    void anEmptyWindowExplainsItself_data()
    {
        QTest::addColumn<QString>("theme");
        QTest::addColumn<QString>("language");
        QTest::newRow("dark") << QStringLiteral("dark") << QStringLiteral("en");
        QTest::newRow("light") << QStringLiteral("light") << QStringLiteral("en");
        QTest::newRow("zh") << QStringLiteral("dark") << QStringLiteral("zh_CN");
    }
    void anEmptyWindowExplainsItself()
    {
        QFETCH(QString, theme);
        QFETCH(QString, language);
        open(m_empty->path(), theme, language);
        QWidget* page = m_window->findChild<QWidget*>(QStringLiteral("welcomePage"));
        QVERIFY(page);
        QTRY_VERIFY(page->isVisible());
        QVERIFY(page->findChild<QAbstractButton*>(QStringLiteral("runDemo"))->isEnabled());
        for (const char* id : { "file.picture", "file.csv", "run.copy", "run.rename", "run.delete" })
            QVERIFY2(!m_window->commands()->action(id)->isEnabled(), id);
        const auto* menus = m_window->findChild<QMenuBar*>();
        for (QAction* menu : menus->actions())
            QVERIFY2(menus->rect().contains(menus->actionGeometry(menu)), qPrintable(menu->text()));
        for (const QLineEdit* field : page->findChildren<QLineEdit*>())
            QVERIFY2(!field->text().contains(QStringLiteral("0123456789")), "the token is on the screen");
        QTest::qWait(100);
        const auto* demo = page->findChild<QWidget*>(QStringLiteral("runDemo"));
        const auto* fault = page->findChild<QWidget*>(QStringLiteral("runFault"));
        QCOMPARE(fault->y(), demo->y());
        QVERIFY(fault->x() > demo->geometry().right());
        const QWidget* side = page->findChild<QWidget*>(QStringLiteral("openRun"))->parentWidget();
        QVERIFY(std::abs(demo->parentWidget()->width() - side->width()) <= 1);
        const auto* code = page->findChild<QStackedWidget*>()->currentWidget()->findChild<QLabel*>();
        QVERIFY(code->text().contains(views::codeWordColor(views::Theme::current()).name()));
        QVERIFY(code->text().contains(views::codeTextColor(views::Theme::current()).name()));
        shoot(QStringLiteral("first-start-") + theme + u'-' + language);
        QTest::mouseClick(page->findChild<QAbstractButton*>(QStringLiteral("runDemo")), Qt::LeftButton);
        QCOMPARE(m_demoStarts, 1);
    }

    void anArchivedRunOpensByItself_data()
    {
        anEmptyWindowExplainsItself_data();
        QTest::newRow("light zh") << QStringLiteral("light") << QStringLiteral("zh_CN");
    }
    void anArchivedRunOpensByItself()
    {
        QFETCH(QString, theme);
        QFETCH(QString, language);
        open(m_archive.path(), theme, language);
        QTRY_VERIFY(m_window->state()->catalog());
        views::ViewState* state = m_window->state();
        QCOMPARE(state->fullRange().last, Step { test::DemoCapsule::kSteps - 1 });
        state->setKind(Kind::Actv);
        state->setStat(Stat::AbsMax);
        state->setRank(Rank { 1 });
        state->setSelection({ { QStringLiteral("layers.7.attn.qkv"), Slot::output() },
            { QStringLiteral("layers.7.attn.proj"), Slot::output() },
            { QStringLiteral("layers.6.attn.qkv"), Slot::output() } });
        state->setCursor(Step { test::DemoCapsule::kFirstBad });
        for (const ViewFactory& row : viewFactories()) {
            const QString tab = QLatin1String(row.id);
            m_window->views()->setCurrent(tab);
            settle();
            shoot(tab + u'-' + theme + u'-' + language);
        }
        // The source of the non-finite values is solid, what is behind it is not.
        auto* tree = m_window->findChild<QTreeView*>(QStringLiteral("modulesTree"));
        const auto* model = qobject_cast<items::ModuleTreeModel*>(tree->model());
        const auto worst = [&](const char* path) {
            return model->indexOf(QString::fromLatin1(path)).data(items::WorstRole).value<items::WorstValue>();
        };
        // The gradients, which were shown first, have the same source, but not what is behind it.
        QTRY_VERIFY(worst("layers.9.ln1").isNonFinite() && !worst("layers.9.ln1").isSource);
        QVERIFY(worst("layers.7.attn.qkv").isSource);
        QCOMPARE(worst("layers.7.attn.qkv").step, Step { test::DemoCapsule::kFirstBad });
        QVERIFY(!worst("layers.3.ln1").isNonFinite() && worst("layers.3.ln1").known);
    }

    void theConnectionsShowEveryAgent()
    {
        open(m_archive.path(), QStringLiteral("dark"), QStringLiteral("en"));
        QTRY_VERIFY(m_window->state()->catalog());
        m_window->commands()->action("window.connections")->trigger();
        settle();
        auto* table = m_window->findChild<QAbstractItemView*>(QStringLiteral("connectionsTable"));
        QVERIFY(table->isVisible());
        QTRY_COMPARE(table->model()->rowCount(), 8);
        m_window->toaster()->setAnimated(false);
        m_window->showProblem(QStringLiteral("rank 6 was refused: wrong token"));
        m_window->toaster()->post(Toaster::Severity::Critical, QStringLiteral("the disk is full; free some space"));
        settle();
        shoot(QStringLiteral("connections"));
    }

    void noStringIsUntranslatedAndNoneIsCut()
    {
        test::PseudoLocale pseudo;
        qApp->installTranslator(&pseudo);
        open(m_archive.path(), QStringLiteral("dark"), QString());
        QTRY_VERIFY(m_window->state()->catalog());
        m_window->state()->setSelection({ { QStringLiteral("layers.7.attn.qkv"), Slot::output() } });
        m_window->commands()->action("window.connections")->trigger();
        for (const ViewFactory& row : viewFactories()) {
            const QString tab = QLatin1String(row.id);
            m_window->views()->setCurrent(tab);
            settle();
            shoot(QStringLiteral("pseudo-") + tab);
            checkTexts(m_window.get());
        }
        m_window.reset();
        open(m_empty->path(), QStringLiteral("light"), QString());
        QTRY_VERIFY(m_window->findChild<QWidget*>(QStringLiteral("welcomePage"))->isVisible());
        QTest::qWait(300);
        shoot(QStringLiteral("pseudo-first-start"));
        checkTexts(m_window.get());
        qApp->removeTranslator(&pseudo);
    }

    void theToolBarHasRoomForWhatMonitoringTakes_data()
    {
        QTest::addColumn<QString>("language");
        QTest::newRow("en") << QStringLiteral("en");
        QTest::newRow("zh_CN") << QStringLiteral("zh_CN");
        QTest::newRow("pseudo") << QString();
    }

    void theToolBarHasRoomForWhatMonitoringTakes()
    {
        QFETCH(QString, language);
        test::PseudoLocale pseudo;
        if (language.isEmpty())
            qApp->installTranslator(&pseudo);
        else
            QVERIFY(translations::install(*qApp, language));
        QWidget window; // a bar alone would be one whose least size changes, of which the platform warns
        window.resize(1600, 44);
        ToolBar bar(&window);
        window.show();
        Pulse pulse;
        pulse.hasRun = pulse.live = true;
        pulse.runName = QStringLiteral("gpt-12l");
        pulse.step = Step { 31'120 };
        pulse.stepsPerSecond = 5.4;
        pulse.ranks = pulse.connectedRanks = 8;
        pulse.samplesPerSecond = 186'000;
        auto agents = someAgents();
        agents[2].monitorMs = 0.93;
        agents[2].stepMs = 186.2;
        const auto* box = bar.findChild<QWidget*>(QStringLiteral("monitoringCost"));
        for (const int width : { 1600, 1120, 700 }) {
            bar.resize(width, 44);
            pulse.cost = {};
            bar.show(pulse);
            QVERIFY(!box->isVisible()); // not known, and not zero
            pulse.cost = MonitoringCost(agents, {});
            bar.show(pulse);
            QTest::qWait(0);
            bar.grab().save(test::shot(QStringLiteral("toolbar-%1-%2.png").arg(language).arg(width)));
            if (!language.isEmpty())
                QVERIFY2(box->isVisible() == (width > 700), qPrintable(QString::number(width)));
            else
                checkTexts(&bar);
        }
        qApp->removeTranslator(&pseudo);
    }

    void theLineBesideTheRunHasTheSameRoomOnBothSides()
    {
        QWidget window;
        window.resize(1600, 44);
        ToolBar bar(&window);
        bar.resize(1600, 44);
        window.show();
        const auto* line = bar.findChild<QWidget*>(QStringLiteral("toolBarLine"));
        Pulse pulse;
        pulse.hasRun = true;
        pulse.step = Step { 500 };
        for (const char* name : { "a-run-of-a-name-that-is-long", "short", "another #b878f8f3" }) {
            pulse.shownName = QString::fromLatin1(name);
            bar.show(pulse);
            for (int turn = 0; turn < 5; ++turn)
                QCoreApplication::sendPostedEvents();
            int next = bar.width(); // what stands behind it first
            for (const auto* part : bar.findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly))
                next = part->isVisible() && part->x() > line->x() ? std::min(next, part->x()) : next;
            QCOMPARE(line->x() - bar.runButton()->geometry().right(), next - line->geometry().right());
            QCOMPARE(bar.grab().toImage().pixelColor(line->geometry().center()), views::Theme::current().border);
        }
    }

    void thePulseKeepsItsPlacesWhileItsNumbersChange()
    {
        QWidget window;
        ToolBar bar(&window);
        for (const char* name : { "plug", "layout" })
            bar.addAction(new QAction(QString::fromLatin1(name), &bar));
        window.show();
        Pulse pulse;
        pulse.hasRun = pulse.live = true;
        pulse.ranks = pulse.connectedRanks = 8;
        pulse.step = Step { 10'000 };
        const auto left = [&](bool isWide) {
            pulse.stepsPerSecond = isWide ? 112.6 : 1.1;
            pulse.lagSeconds = isWide ? 10.2 : 0.1;
            pulse.dropped = isWide ? 1200 : 0;
            pulse.samplesPerSecond = isWide ? 186'000 : 9;
            bar.show(pulse);
            // What layouts ask of each other comes in turns: of a fact, of the bar, and of the fact again.
            for (int turn = 0; turn < 5; ++turn)
                QCoreApplication::sendPostedEvents();
            return bar.paletteButton()->x();
        };
        int moved = 0;
        for (int width = 900; width <= 1400; width += 20) {
            window.resize(width, 44);
            bar.resize(width, 44);
            pulse.shownName = QString::number(width);
            const int wide = left(true);
            QCOMPARE(left(false), wide);
            pulse.shownName += QStringLiteral(" again"); // another run begins anew
            moved += left(false) != wide ? 1 : 0;
        }
        QVERIFY(moved > 0);
    }

    void aNumberStandsBesideItsUnit()
    {
        QWidget window;
        window.resize(1600, 44);
        ToolBar bar(&window);
        bar.resize(1600, 44);
        window.show();
        Pulse pulse;
        pulse.hasRun = pulse.live = true;
        pulse.step = Step { 500 };
        pulse.samplesPerSecond = 186'000;
        bar.show(pulse);
        pulse.samplesPerSecond = 0; // its room stays
        bar.show(pulse);
        for (int turn = 0; turn < 5; ++turn)
            QCoreApplication::sendPostedEvents();
        int units = 0;
        for (const auto* unit : bar.findChildren<QLabel*>()) {
            if (!unit->text().endsWith(QStringLiteral("/s")))
                continue;
            for (const auto* number : unit->parentWidget()->findChildren<QLabel*>()) {
                if (number == unit || !number->isVisible())
                    continue;
                ++units;
                QVERIFY(number->alignment().testFlag(Qt::AlignRight));
                QVERIFY(unit->x() - number->geometry().right() < 10);
            }
        }
        QCOMPARE(units, 2);
    }

    void whereNoRankIsConnectedTheBarSaysSoInPlaceOfThePace()
    {
        QVERIFY(translations::install(*qApp, QStringLiteral("en")));
        views::ViewState state;
        const items::RunsModel runs;
        auto live = std::make_shared<store::LiveRun>();
        live->ranks = 2;
        live->connectedRanks = 2;
        live->lastStep = 30;
        live->lastCommitWallNs = store::wallClockNs() - std::int64_t { 12'500'000'000 };
        auto run = std::make_shared<store::RunHandle>();
        run->id = "one";
        run->live = live;
        state.setRun(run);
        PulseMeter meter;
        QWidget window;
        window.resize(1600, 44);
        ToolBar bar(&window);
        bar.resize(1600, 44);
        window.show();
        const auto said = [&] {
            meter.measure(state, runs, {});
            bar.show(meter.pulse());
            QStringList words;
            for (const auto* label : bar.findChildren<QLabel*>()) {
                if (label->isVisible() && !label->text().isEmpty())
                    words.append(label->text());
            }
            return words.join(u' ');
        };
        QVERIFY2(said().contains(QStringLiteral("steps/s")), qPrintable(said()));
        live->connectedRanks = 0;
        QVERIFY2(said().contains(QStringLiteral("no rank connected for 12 s")), qPrintable(said()));
        QVERIFY2(
            !said().contains(QStringLiteral("/s")) && !said().contains(QStringLiteral("a step")), qPrintable(said()));
        live->lastCommitWallNs = store::wallClockNs() - std::int64_t { 305'000'000'000 };
        QVERIFY2(said().contains(QStringLiteral("for 5 min")), qPrintable(said()));
        live->connectedRanks = 1;
        QVERIFY2(!said().contains(QStringLiteral("no rank")), qPrintable(said()));
    }

    void theSwitchOfRanksThatAreGoneIsOff()
    {
        views::ViewState state;
        views::SteeringState steering;
        QWidget window;
        CollectSwitch collect(&window);
        collect.follow(&state, &steering);
        collect.setLive(true);
        window.show();
        auto run = std::make_shared<store::RunHandle>();
        run->id = "one";
        state.setRun(run);
        RunSteering one;
        one.runId = "one";
        one.ranks.resize(2);
        for (RankSteering& rank : one.ranks)
            rank.runs = R"({"dynamic_on": true})";
        steering.set({ one });
        const auto* button = collect.findChild<QAbstractButton*>(QStringLiteral("dynamicOn"));
        QVERIFY(button->isVisible() && button->isEnabled() && button->isChecked());
        one.ranks[0].isAway = true;
        steering.set({ one });
        QVERIFY(button->isEnabled() && button->isChecked());
        one.ranks[1].isAway = true;
        steering.set({ one });
        QVERIFY(button->isVisible() && !button->isEnabled() && !button->isChecked());
        QVERIFY(collect.isOff());
    }

    void ofATrainingThatCollectsNoLongerNoCostIsSaid()
    {
        views::ViewState state;
        views::SteeringState steering;
        QWidget window;
        window.resize(1600, 44);
        ToolBar bar(&window);
        bar.resize(1600, 44);
        bar.collectSwitch()->follow(&state, &steering);
        window.show();
        auto run = std::make_shared<store::RunHandle>();
        run->id = "one";
        state.setRun(run);
        Pulse pulse;
        pulse.hasRun = pulse.live = true;
        auto agents = someAgents();
        agents[2].monitorMs = 23;
        agents[2].stepMs = 75;
        pulse.cost = MonitoringCost(agents, {});
        const auto isSaid = [&](const char* config) {
            RunSteering one;
            one.runId = "one";
            one.ranks.emplace_back().runs = config;
            steering.set({ one });
            bar.show(pulse);
            return bar.findChild<QWidget*>(QStringLiteral("monitoringCost"))->isVisible();
        };
        QVERIFY(isSaid(R"({"dynamic_on": true})"));
        QVERIFY(!isSaid(R"({"dynamic_on": false})"));
        QVERIFY(isSaid("")); // it has not said
    }

    void theWayToEverythingHasAShortWord()
    {
        PaletteButton cut, whole;
        whole.setText(PaletteButton::tr("Go to..."));
        for (PaletteButton* button : { &cut, &whole })
            button->resize(200, 28);
        QCOMPARE(cut.grab().toImage(), whole.grab().toImage());
        cut.resize(276, 28);
        whole.resize(276, 28);
        QVERIFY(cut.grab().toImage() != whole.grab().toImage());
    }

    void whatAPanelAddsDoesNotTouchTheTabAboveIt()
    {
        QWidget window;
        views::PanelHead head(QStringLiteral("Anomaly timeline"), &window);
        auto* choice = new QWidget(&head);
        choice->setFixedSize(100, 24);
        head.insertAfterTitle(choice);
        window.show();
        head.setTitleVisible(false);
        head.resize(300, head.sizeHint().height());
        QTRY_VERIFY2(choice->y() >= 3, qPrintable(QString::number(choice->y())));
        QVERIFY(std::abs(choice->y() - (head.height() - 2 - choice->geometry().bottom())) <= 1);
    }

    void whatAPanelAddsLosesItsLastWords()
    {
        QWidget window; // a head alone would have the least width of its layout
        views::PanelHead head(QStringLiteral("Modules"), &window);
        head.setHint(QStringLiteral("217"));
        head.addButton(QStringLiteral("sort"), QStringLiteral("sort"));
        head.addButton(QStringLiteral("stack"), QStringLiteral("stack"));
        head.setDetail(QStringLiteral("weight, before the step"));
        const auto detail = [&head] {
            head.grab();
            QString text;
            for (const auto* label : head.findChildren<QLabel*>()) {
                if (!label->isHidden() && label->text().startsWith(QStringLiteral("weight")))
                    text = label->text();
            }
            return text;
        };
        head.resize(400, 28);
        QCOMPARE(detail(), QStringLiteral("weight, before the step"));
        head.resize(270, 28);
        QVERIFY2(detail().startsWith(QStringLiteral("weight, before")) && detail().endsWith(QChar(0x2026)),
            qPrintable(detail()));
        head.resize(400, 28);
        QCOMPARE(detail(), QStringLiteral("weight, before the step"));
        head.resize(170, 28);
        QCOMPARE(detail(), QString());
    }

    void aStepOfTenSecondsIsNotZeroStepsASecond()
    {
        Pace pace;
        pace.note(500, 3, 100);
        pace.note(1500, 3, 100);
        QCOMPARE(pace.stepsPerSecond(), 0.0); // nothing is known yet
        pace.note(10'500, 4, 1100);
        QCOMPARE(pace.stepsPerSecond(), 0.1);
        QCOMPARE(pace.samplesPerSecond(), 100.0);
        for (int ms = 11'500; ms < 20'500; ms += 1000)
            pace.note(ms, 4, 1100);
        QCOMPARE(pace.stepsPerSecond(), 0.1);
        QCOMPARE(pace.samplesPerSecond(), 100.0);
        pace.note(20'500, 5, 2100);
        QCOMPARE(pace.rates(), (std::vector<double> { 0.1, 0.1 }));
        pace.note(70'500, 5, 2100); // it hangs
        QCOMPARE(pace.stepsPerSecond(), 0.02);
        QCOMPARE(pace.samplesPerSecond(), 0.0);
        pace.note(71'500, 2, 2200); // it was begun again at an older checkpoint
        QCOMPARE(pace.stepsPerSecond(), 0.02);
        pace.note(72'500, 10, 3200);
        QCOMPARE(pace.stepsPerSecond(), 8.0);
        QCOMPARE(pace.samplesPerSecond(), 1000.0);
        QCOMPARE(pace.rates().size(), std::size_t { 3 });
    }

    void monitoringIsShownWhereItTakesMost()
    {
        translations::install(*qApp, QStringLiteral("en"));
        auto agents = someAgents();
        agents[0].monitorMs = 2;
        agents[0].stepMs = 1000;
        agents[2].monitorMs = 0.93;
        agents[2].stepMs = 186.2;
        agents[6].monitorMs = agents[6].stepMs = 5; // gone
        agents[7].runKey = "another run";
        const MonitoringCost cost(agents, {});
        QCOMPARE(cost.text(), QStringLiteral("0.9 ms of 186 ms (0.5 %)"));
        QCOMPARE(cost.rank(), Rank { 2 });
        QVERIFY(cost.explanation().startsWith(QStringLiteral("Rank 2: ")));
        QVERIFY2(cost.explanation().contains(QStringLiteral("4 ranks do not report it (1, 3, 4, 5)")),
            qPrintable(cost.explanation()));
        QVERIFY(!MonitoringCost(agents, "another run").isKnown());
        QVERIFY(!cost.explanation().contains(QStringLiteral("to stay within")));
        agents[1].collectedEvery = 2;
        agents[4].collectedEvery = 40;
        agents[4].overheadBudget = 0.5;
        agents[2].collectedEvery = 32;
        const MonitoringCost thinned(agents, {});
        QVERIFY2(
            thinned.explanation().contains(QStringLiteral("Rank 4 collects every 40th step, to stay within 0.5 %.")),
            qPrintable(thinned.explanation()));
        QCOMPARE(thinned.every(), std::int64_t { 32 });
        agents[2].monitorMs = 0.0004;
        agents[0] = agents[1];
        QCOMPARE(MonitoringCost(agents, {}).text(), QStringLiteral("< 0.1 ms of 186 ms (< 0.1 %)"));
    }

    void theSessionComesBack()
    {
        open(m_archive.path(), QStringLiteral("dark"), QStringLiteral("en"));
        QTRY_VERIFY(m_window->state()->catalog());
        views::ViewState* state = m_window->state();
        state->setKind(Kind::Actv);
        state->setStat(Stat::Max);
        state->setRank(Rank { 1 });
        state->setSelection({ { QStringLiteral("head"), Slot::output() } });
        state->setModuleFilter(QStringLiteral("h*"));
        m_window->views()->setCurrent(QStringLiteral("curves"));
        m_window->commands()->action("window.connections")->trigger();
        m_window->driver()->runs()->setGroupBy(items::RunsModel::GroupBy::Name);
        auto* tree = m_window->findChild<QTreeView*>(QStringLiteral("runsTree"));
        const auto heading = [&] { return tree->model()->index(tree->model()->rowCount() - 1, 0); };
        QCOMPARE(heading().data().toString(), QStringLiteral("a test run"));
        QTRY_VERIFY(tree->isExpanded(heading()));
        tree->collapse(heading());
        m_window->close();
        m_window.reset(); // waits for the settings to be written
        const auto loaded = settings::load(settingsPath(m_archive.path().toStdString()));
        QVERIFY(loaded);
        QCOMPARE(loaded->settings.activeTab, QStringLiteral("curves"));
        QCOMPARE(loaded->settings.closedHeadings, QStringList { QStringLiteral("a test run") });

        m_pool = std::make_unique<store::QueryPool>(2);
        m_window = std::make_unique<MainWindow>(context(m_archive.path()));
        m_window->show();
        QTRY_VERIFY(m_window->state()->catalog());
        QCOMPARE(m_window->state()->kind(), Kind::Actv);
        QCOMPARE(m_window->state()->stat(), Stat::Max);
        QCOMPARE(m_window->state()->rank(), Rank { 1 });
        QCOMPARE(m_window->state()->selection().size(), std::size_t { 1 });
        QCOMPARE(m_window->state()->moduleFilter(), QStringLiteral("h*"));
        QCOMPARE(m_window->views()->currentId(), QStringLiteral("curves"));
        QVERIFY(m_window->findChild<QDockWidget*>(QStringLiteral("connections"))->isVisible());
        QCOMPARE(m_window->driver()->runs()->groupBy(), items::RunsModel::GroupBy::Name);
        tree = m_window->findChild<QTreeView*>(QStringLiteral("runsTree"));
        QTRY_COMPARE(heading().data().toString(), QStringLiteral("a test run"));
        // The list opens its headings behind its rows, all at once.
        QTRY_VERIFY(tree->isExpanded(tree->model()->index(0, 0)));
        QVERIFY(!tree->isExpanded(heading()));
        QFile::remove(settingsPath(m_archive.path().toStdString()));
    }

    void whatTheRunDoesNotHaveDoesNotComeBack()
    {
        open(m_archive.path(), QStringLiteral("dark"), QStringLiteral("en"));
        QTRY_VERIFY(m_window->state()->catalog());
        m_window->views()->setCurrent(QStringLiteral("heatmap"));
        m_window->close();
        m_window.reset();
        const auto path = settingsPath(m_archive.path().toStdString());
        QTRY_VERIFY(settings::load(path));
        settings::Settings stored = settings::load(path)->settings;
        stored.kind = QStringLiteral("grad_sign");
        stored.stat = QStringLiteral("kernel_norm");
        stored.rank = 77;
        QVERIFY(settings::save(path, stored));

        m_pool = std::make_unique<store::QueryPool>(2);
        m_window = std::make_unique<MainWindow>(context(m_archive.path()));
        m_window->show();
        QTRY_VERIFY(m_window->state()->catalog());
        for (const char* view : { "heatmap", "ranks" }) {
            m_window->views()->setCurrent(QLatin1String(view));
            for (const char* what : { "Kind", "Statistic", "Rank" }) {
                const auto* box = m_window->findChild<QComboBox*>(QLatin1String(view) + QLatin1String(what));
                QVERIFY2(!box || box->currentIndex() >= 0, view);
            }
        }
        QFile::remove(settingsPath(m_archive.path().toStdString()));
    }

    void everythingIsReachedByKeys()
    {
        open(m_archive.path(), QStringLiteral("dark"), QStringLiteral("en"));
        QTRY_VERIFY(m_window->state()->catalog());
        views::ViewState* state = m_window->state();
        QTest::keyClick(m_window.get(), Qt::Key_2, Qt::ControlModifier);
        QCOMPARE(m_window->views()->currentId(), QStringLiteral("heatmap"));
        QTest::keyClick(m_window.get(), Qt::Key_3, Qt::ControlModifier);
        QCOMPARE(m_window->views()->currentId(), QStringLiteral("curves"));

        QWidget* center = m_window->views();
        center->setFocus();
        state->setCursor(Step { 100 });
        QTest::keyClick(center, Qt::Key_Right);
        QCOMPARE(state->cursor(), std::optional(Step { 101 }));
        QTest::keyClick(center, Qt::Key_Left, Qt::ShiftModifier);
        QCOMPARE(state->cursor(), std::optional(Step { 91 }));
        QTest::keyClick(center, Qt::Key_A);
        QCOMPARE(state->markA(), std::optional(Step { 91 }));
        QTest::keyClick(center, Qt::Key_Escape);
        QVERIFY(!state->cursor() && !state->markA());
        state->zoomTo({ Step { 10 }, Step { 20 } });
        QTest::keyClick(center, Qt::Key_Backspace);
        QVERIFY(!state->canZoomBack());
        for (QWidget* control : m_window->views()->currentView()->findChildren<QWidget*>()) { // wherever the focus is
            const bool isChooser = qobject_cast<QComboBox*>(control) || qobject_cast<QToolButton*>(control);
            if (!isChooser || !control->isVisible() || !control->isEnabled())
                continue;
            state->zoomTo({ Step { 10 }, Step { 20 } });
            control->setFocus();
            QTRY_VERIFY(control->hasFocus());
            QTest::keyClick(control, Qt::Key_Backspace);
            QVERIFY2(!state->canZoomBack(), qPrintable(control->objectName()));
        }
        center->setFocus();
        const bool following = state->isFollowing();
        QTest::keyClick(center, Qt::Key_Space);
        QCOMPARE(state->isFollowing(), !following);

        QTest::keyClick(m_window.get(), Qt::Key_F, Qt::ControlModifier);
        auto* filter = m_window->findChild<QLineEdit*>(QStringLiteral("moduleFilter"));
        QTRY_VERIFY(filter->hasFocus());
        QTest::keyClicks(filter, QStringLiteral("qkv a"));
        QCOMPARE(filter->text(), QStringLiteral("qkv a")); // Space and A are letters here, not commands
        filter->clear();

        QTest::keyClick(m_window.get(), Qt::Key_K, Qt::ControlModifier);
        auto* palette = m_window->findChild<QWidget*>(QStringLiteral("commandPalette"));
        QVERIFY(palette->isVisible());
        auto* field = palette->findChild<QLineEdit*>();
        QTest::keyClicks(field, QStringLiteral("layers.3.attn.q"));
        settle();
        shoot(QStringLiteral("palette"));
        QTest::keyClick(field, Qt::Key_Return);
        QVERIFY(!palette->isVisible());
        QCOMPARE(state->selection().front().name, QStringLiteral("layers.3.attn.qkv.weight")); // of the kind shown
        QTest::keyClick(m_window.get(), Qt::Key_K, Qt::ControlModifier);
        QTest::keyClicks(field, QStringLiteral("123"));
        QTest::keyClick(field, Qt::Key_Return);
        QCOMPARE(state->cursor(), std::optional(Step { 123 }));

        m_window->findChild<QTreeView*>(QStringLiteral("runsTree"))->setFocus();
        QTest::keyClick(m_window.get(), Qt::Key_F6);
        QVERIFY(m_window->findChild<QWidget*>(QStringLiteral("modulesTree"))->hasFocus());
        KeysSheet sheet(*m_window->commands(), m_window.get());
        sheet.show();
        settle();
        // What works in a plot and stands in no menu, too.
        QStringList named;
        for (const auto* label : sheet.findChildren<QLabel*>())
            named.append(label->text());
        for (const char* words : { "Zoom in", "Zoom out", "First visible step", "Last visible step",
                 "Hide or show the nearest curve", "Show the nearest curve alone, or all again" })
            QVERIFY2(named.contains(QLatin1String(words)), words);
        sheet.grab().save(test::shot(QStringLiteral("keys.png")));
    }

    void arrowsAreDrawnAsOnTheirKeys()
    {
        const auto back = qScopeGuard([] { translations::install(*qApp, QStringLiteral("en")); });
        for (const char* language : { "en", "zh_CN" }) {
            translations::install(*qApp, QLatin1String(language));
            QCOMPARE(KeyChip::textOf(Qt::Key_Left), QStringLiteral("\u2190"));
            QCOMPARE(KeyChip::textOf(Qt::SHIFT | Qt::Key_Down), QStringLiteral("Shift+\u2193"));
            const QKeySequence other(Qt::Key_PageUp);
            QCOMPARE(KeyChip::textOf(other), other.toString(QKeySequence::NativeText));
        }
    }

    void everyViewPanelAndCommandIsInTheMenusOnce()
    {
        open(m_archive.path(), QStringLiteral("dark"), QStringLiteral("en"));
        QTRY_VERIFY(m_window->state()->catalog());
        const CommandRegistry* commands = m_window->commands();
        for (const ViewFactory& row : viewFactories()) {
            commands->action(QByteArray("view.") + row.id)->trigger();
            QCOMPARE(m_window->views()->currentId(), QLatin1String(row.id));
            QCOMPARE(m_window->views()->currentView()->objectName(), QLatin1String(row.id));
        }
        for (const PanelFactory& row : panelFactories()) {
            QAction* action = commands->action(QByteArray("window.") + row.id);
            auto* dock = m_window->findChild<QDockWidget*>(QLatin1String(row.id));
            QVERIFY(dock && dock->titleBarWidget());
            QCOMPARE(!dock->isHidden(), row.isOpenAtFirst);
            QCOMPARE(action->isChecked(), row.isOpenAtFirst);
            action->trigger();
            QCOMPARE(dock->isHidden(), row.isOpenAtFirst);
            QCOMPARE(action->isChecked(), !row.isOpenAtFirst);
            dock->setVisible(row.isOpenAtFirst); // as its own close button does
            QCOMPARE(action->isChecked(), row.isOpenAtFirst);
        }
        QList<QAction*> inMenus;
        for (const QAction* menu : m_window->findChild<QMenuBar*>()->actions())
            inMenus += menu->menu()->actions();
        for (const CommandRegistry::Entry& entry : commands->all()) {
            if (entry.action)
                QVERIFY2(inMenus.count(entry.action) == 1, entry.command.id.constData());
        }
        for (const char* id : { "file.picture", "file.csv", "run.copy", "run.rename", "run.delete" })
            QVERIFY2(commands->action(id)->isEnabled(), id);
        QVERIFY(!commands->action("run.endComparison")->isEnabled());
    }

    void aNarrowWindowPutsTheInspectorBehindTheModules()
    {
        open(m_archive.path(), QStringLiteral("light"), QStringLiteral("en"));
        QTRY_VERIFY(m_window->state()->catalog());
        m_window->resize(1000, 700);
        settle();
        auto* inspector = m_window->findChild<QDockWidget*>(QStringLiteral("inspector"));
        auto* modules = m_window->findChild<QDockWidget*>(QStringLiteral("modules"));
        QVERIFY(m_window->tabifiedDockWidgets(modules).contains(inspector));
        QCOMPARE(inspector->titleBarWidget()->sizeHint().height(), 0); // its tab says what it would
        QVERIFY2(modules->width() >= 290, qPrintable(QString::number(modules->width())));
        for (const QTabBar* bar : m_window->findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly))
            QVERIFY2(bar->count() > 0 || bar->visibleRegion().isEmpty(), "an empty band stands over the tabs");
        QVERIFY(comesToRest());
        shoot(QStringLiteral("narrow"));
        m_window->resize(1400, 900);
        settle();
        QVERIFY(!m_window->tabifiedDockWidgets(modules).contains(inspector));
        QCOMPARE(m_window->dockWidgetArea(inspector), Qt::RightDockWidgetArea);
        QVERIFY2(modules->width() >= 290, qPrintable(QString::number(modules->width())));
        QVERIFY(comesToRest());
        // A layout that was kept in a wide window leaves the left column what it needs in a narrow one.
        auto* docks = m_window->findChild<DockHost*>();
        const QByteArray wide = docks->save();
        m_window->resize(1000, 700);
        settle();
        QVERIFY(docks->restore(wide));
        settle();
        QVERIFY(m_window->tabifiedDockWidgets(modules).contains(inspector));
        QVERIFY2(modules->width() >= 290, qPrintable(QString::number(modules->width())));
    }

    void inTheSmallestWindowTheViewsAreAlone()
    {
        open(m_archive.path(), QStringLiteral("light"), QStringLiteral("en"));
        QTRY_VERIFY(m_window->state()->catalog());
        m_window->resize(1400, 900);
        settle();
        auto* docks = m_window->findChild<DockHost*>();
        const auto seen = [this] {
            QStringList names;
            for (const auto* dock : m_window->findChildren<QDockWidget*>())
                names += dock->isHidden() ? QString() : dock->objectName();
            names.removeAll(QString());
            names.sort(); // a dock that comes back is the last child
            return names;
        };
        const QStringList all = seen();
        QVERIFY(all.size() >= 4);
        docks->resized({ 667, 467 }); // as on a small screen
        QCOMPARE(seen(), QStringList());
        const QByteArray kept = docks->save(); // as if nothing had been closed
        docks->resized({ 1400, 467 });
        QVERIFY(seen().contains(QStringLiteral("runs")) && !seen().contains(QStringLiteral("anomalies")));
        docks->resized({ 1400, 900 });
        QCOMPARE(seen(), all);
        docks->arrange({});
        QVERIFY(docks->restore(kept));
        QCOMPARE(seen(), all);
        // What a person opens there stays open, and comes back.
        const auto& rows = panelFactories();
        const auto modules = std::find_if(
            rows.begin(), rows.end(), [](const PanelFactory& row) { return std::string_view(row.id) == "modules"; });
        QVERIFY(modules != rows.end());
        docks->resized({ 667, 467 });
        docks->toggle(*modules);
        QCOMPARE(seen(), QStringList { QStringLiteral("modules") });
        const QByteArray chosen = docks->save();
        docks->resized({ 1400, 900 });
        QCOMPARE(seen(), all);
        QVERIFY(docks->restore(chosen));
        QCOMPARE(seen(), QStringList { QStringLiteral("modules") });
        QVERIFY(docks->restore(kept));
        QCOMPARE(seen(), all);
        settle();
        QVERIFY(comesToRest());
    }

    void aWindowThatOpenedItsFirstRunComesToRest()
    {
        open(m_empty->path(), QStringLiteral("light"), QStringLiteral("en"));
        QVERIFY(comesToRest());
        m_window->findChild<RunDriver*>()->openPath(
            m_archive.path() + QStringLiteral("/runs/2026-01-02_gpt-12l_abc123.telltale"));
        QTRY_VERIFY(m_window->state()->catalog());
        settle();
        QVERIFY(comesToRest());
    }

    void aFileThatIsNoRunGivesASentenceAndNoDialog()
    {
        open(m_empty->path(), QStringLiteral("dark"), QStringLiteral("en"));
        QFile file(m_empty->filePath(QStringLiteral("broken.telltale")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QByteArray(5000, 'x'));
        file.close();
        m_window->openPath(file.fileName());
        QTRY_COMPARE(m_window->toaster()->shown().size(), 1);
        QVERIFY(!QApplication::activeModalWidget());
    }

    void theThemeChangesWhileRunning()
    {
        open(m_archive.path(), QStringLiteral("dark"), QStringLiteral("en"));
        QTRY_VERIFY(m_window->state()->catalog());
        applyTheme(*qApp, QStringLiteral("light"));
        settle();
        QCOMPARE(m_window->palette().color(QPalette::Window), views::Theme::light().window);
        const QImage picture = m_window->grab().toImage();
        QVERIFY(picture.pixelColor(600, 12).lightness() > 200);
    }

private:
    AppContext context(const QString& dataDir)
    {
        AppContext c;
        c.queries = m_pool.get();
        c.dataDir = dataDir.toStdString();
        c.connections
            = [some = dataDir != m_empty->path()] { return some ? someAgents() : std::vector<ConnectionInfo>(); };
        c.joinString = [] { return QString::fromLatin1(kJoin); };
        c.runDemo = [this](const QStringList&) { ++m_demoStarts; };
        return c;
    }

    void open(const QString& dataDir, const QString& theme, const QString& language)
    {
        m_demoStarts = 0;
        if (!language.isEmpty())
            QVERIFY(translations::install(*qApp, language));
        applyTheme(*qApp, theme);
        settings::LoadedSettings loaded;
        loaded.settings.theme = theme;
        m_window = std::make_unique<MainWindow>(context(dataDir), loaded);
        m_window->resize(1600, 1000);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    }

    /// Until nothing is asked any more and everything is painted.
    void settle()
    {
        QTest::qWait(20);
        views::DataView* view = m_window->views()->currentView();
        QTRY_VERIFY2_WITH_TIMEOUT(view->isSettled(), qPrintable(view->objectName() + u' ' + view->trouble()), 20'000);
        QTest::qWait(300);
    }

    /// Turns of the event loop follow one another in which the window is not laid out.
    bool comesToRest()
    {
        m_window->installEventFilter(this);
        int quiet = 0;
        for (int turn = 0; turn < 500 && quiet < 20; ++turn) {
            const int before = m_layouts;
            QCoreApplication::processEvents();
            quiet = m_layouts == before ? quiet + 1 : 0;
        }
        m_window->removeEventFilter(this);
        return quiet == 20;
    }

    void shoot(const QString& name) { QVERIFY(m_window->grab().save(test::shot(name + QStringLiteral(".png")))); }

    static void check(const QWidget* widget, const QString& text)
    {
        static const QRegularExpression kLetters(QStringLiteral("[A-Za-z]{2}"));
        for (const QWidget* w = widget; w; w = w->parentWidget()) {
            if (w->property("telltaleData").toBool())
                return;
        }
        if (text.contains(kLetters))
            QVERIFY2(test::PseudoLocale::isPseudo(text), qPrintable(QStringLiteral("untranslated: ") + text));
    }

    static void checkTexts(QWidget* window)
    {
        for (const QWidget* widget : window->findChildren<QWidget*>()) {
            if (!widget->isVisible())
                continue;
            if (const auto* label = qobject_cast<const QLabel*>(widget); label && !label->text().isEmpty()) {
                check(label, label->text());
                const QSize wanted
                    = label->wordWrap() ? QSize(0, label->heightForWidth(label->width())) : label->sizeHint();
                QVERIFY2(label->width() >= wanted.width() && label->height() >= wanted.height(),
                    qPrintable(QStringLiteral("cut: %1 (%2x%3 of %4x%5)")
                                   .arg(label->text())
                                   .arg(label->width())
                                   .arg(label->height())
                                   .arg(wanted.width())
                                   .arg(wanted.height())));
            } else if (const auto* button = qobject_cast<const QAbstractButton*>(widget)) {
                check(button, button->text());
                check(button, button->toolTip());
                const auto* tool = qobject_cast<const QToolButton*>(button);
                const bool isArrow = tool && tool->arrowType() != Qt::NoArrow; // scrolls tabs that have no room
                QVERIFY2(isArrow || button->width() >= button->minimumSizeHint().width() || !button->icon().isNull(),
                    qPrintable(QStringLiteral("cut: ") + button->text()));
            } else if (const auto* header = qobject_cast<const QHeaderView*>(widget);
                       header && header->orientation() == Qt::Horizontal) {
                for (int i = 0; i < header->count(); ++i) {
                    check(header, header->model()->headerData(i, Qt::Horizontal).toString());
                    QVERIFY2(header->isSectionHidden(i) || header->sectionSize(i) >= header->sectionSizeHint(i),
                        qPrintable(
                            QStringLiteral("cut: ") + header->model()->headerData(i, Qt::Horizontal).toString()));
                }
            } else if (const auto* tabs = qobject_cast<const QTabBar*>(widget)) {
                for (int i = 0; i < tabs->count(); ++i)
                    check(tabs, tabs->tabText(i));
            } else if (const auto* field = qobject_cast<const QLineEdit*>(widget)) {
                check(field, field->placeholderText());
            } else if (const auto* chip = qobject_cast<const KeyChip*>(widget)) {
                check(chip, chip->meaning());
                QVERIFY2(
                    chip->width() >= chip->sizeHint().width(), qPrintable(QStringLiteral("cut: ") + chip->meaning()));
            }
        }
        for (const QAction* action : window->findChildren<QAction*>())
            check(window, action->objectName().contains(u'.') ? action->text() : QString());
    }

    QTemporaryDir m_archive;
    std::unique_ptr<QTemporaryDir> m_empty;
    std::unique_ptr<store::QueryPool> m_pool;
    std::unique_ptr<MainWindow> m_window;
    int m_layouts = 0;
    int m_demoStarts = 0;
};

TELLTALE_TEST(QTEST_MAIN, WindowTest)

}

#include "windowtest.moc"
