// SPDX-License-Identifier: GPL-3.0-or-later
#include "shots.h"
#include "testmain.h"

#include <algorithm>

#include <QAction>
#include <QLabel>
#include <QRegularExpression>

#include <telltale/common/steeringstate.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/runsmodel.h>
#include <telltale/shell/collectswitch.h>
#include <telltale/shell/monitoringcost.h>
#include <telltale/shell/pace.h>
#include <telltale/shell/pulse.h>
#include <telltale/shell/pulsemeter.h>
#include <telltale/shell/runbutton.h>
#include <telltale/shell/sparkline.h>
#include <telltale/shell/statusline.h>
#include <telltale/shell/toolbar.h>
#include <telltale/store/clock.h>
#include <telltale/translations/translations.h>

#include "someagents.h"
#include "textchecks.h"

namespace toolbartest {

using namespace telltale;
using namespace telltale::shell;
using test::someAgents;

/// The bar under the menus, and what is measured for it. Thread: the test's.
class ToolBarTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { views::Theme::apply(*qApp, views::Theme::Mode::Dark); }
    void init() { QTest::failOnWarning(QRegularExpression(QStringLiteral(".?"))); }
    void cleanup() { translations::install(*qApp, QStringLiteral("en")); }

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
                test::checkTexts(&bar);
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
        std::vector<ConnectionInfo> agents(3);
        agents[0].samplesPerSecond = 80'000;
        agents[1].samplesPerSecond = 40'000;
        agents[2].samplesPerSecond = 7'000; // gone
        agents[0].connected = agents[1].connected = true;
        auto catalog = std::make_shared<store::Catalog>();
        state.setCatalog(catalog);
        const auto said = [&] {
            meter.measure(state, runs, agents);
            bar.show(meter.pulse());
            QStringList words;
            for (const auto* label : bar.findChildren<QLabel*>()) {
                if (label->isVisible() && !label->text().isEmpty())
                    words.append(label->text());
            }
            return words.join(u' ');
        };
        QVERIFY2(said().contains(QStringLiteral("steps/s")), qPrintable(said()));
        QCOMPARE(meter.pulse().samplesPerSecond, 120'000.0); // as the table of the agents says of each
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

    void inAWindowOfTheFirstSizeALiveRunLeavesTheSearchItsWords()
    {
        views::ViewState state;
        views::SteeringState steering;
        QWidget window;
        window.resize(1600, 44);
        ToolBar bar(&window);
        for (const char* name : { "plug", "layout" })
            bar.addAction(new QAction(QString::fromLatin1(name), &bar));
        QAction apply(QStringLiteral("Apply config\u2026"));
        bar.setApplyAction(&apply);
        bar.collectSwitch()->follow(&state, &steering);
        bar.resize(1600, 44);
        window.show();
        auto run = std::make_shared<store::RunHandle>();
        run->id = "one";
        state.setRun(run);
        RunSteering one;
        one.runId = "one";
        one.ranks.emplace_back().runs = R"({"dynamic_on": true})";
        steering.set({ one });
        auto agents = someAgents();
        agents[2].monitorMs = 23;
        agents[2].stepMs = 175;
        Pulse pulse;
        pulse.hasRun = pulse.live = true;
        pulse.shownName = QStringLiteral("demo-moe #708cf7b0");
        pulse.step = Step { 31'215 };
        pulse.ranks = pulse.connectedRanks = 8;
        pulse.stepsPerSecond = 15.6;
        pulse.samplesPerSecond = 186'000;
        pulse.rates = { 3, 4, 3 };
        pulse.cost = MonitoringCost(agents, {});
        const auto* button = bar.findChild<QWidget*>(QStringLiteral("toolBarApply"));
        const auto* cost = bar.findChild<QWidget*>(QStringLiteral("monitoringCost"));
        const auto show = [&](int width) {
            window.resize(width, 44);
            bar.resize(width, 44);
            bar.show(pulse);
            for (int turn = 0; turn < 5; ++turn)
                QCoreApplication::sendPostedEvents();
            bar.grab().save(test::shot(QStringLiteral("toolbar-live-%1.png").arg(width)));
        };
        show(1600);
        QVERIFY(button->isVisible() && cost->isVisible());
        const auto* line = bar.findChild<SparkLine*>();
        QVERIFY(line->isVisible() && line->width() >= line->minimumSizeHint().width());
        QCOMPARE(bar.paletteButton()->width(), bar.paletteButton()->sizeHint().width());
        show(2400);
        QCOMPARE(line->width(), line->sizeHint().width());
        const auto labels = cost->findChildren<QLabel*>();
        QVERIFY(std::any_of(labels.begin(), labels.end(),
            [](const QLabel* label) { return label->text() == QStringLiteral("23 ms of 175 ms (13 %)"); }));
        show(1000);
        QVERIFY(!button->isVisible());
        pulse.live = false;
        show(1600);
        QVERIFY(!button->isVisible());
        apply.setEnabled(false);
        apply.setToolTip(QStringLiteral("nothing to apply"));
        QVERIFY(!button->isEnabled());
        QCOMPARE(button->toolTip(), QStringLiteral("nothing to apply"));
    }

    void aProblemThatHasNoRoomInTheStatusLineIsCutWithDots()
    {
        QWidget window;
        window.resize(1600, 24);
        StatusLine line(&window);
        line.resize(1600, 24);
        window.show();
        const QString problem = QStringLiteral("not recording: another program listens on 127.0.0.1:40072, so that no "
                                               "agent can connect here");
        line.setListening({}, problem);
        const auto* said = line.findChild<QLabel*>(QStringLiteral("statusState"));
        QCOMPARE(said->text(), problem);
        QVERIFY(said->toolTip().isEmpty());
        line.resize(400, 24);
        for (int turn = 0; turn < 5; ++turn)
            QCoreApplication::sendPostedEvents();
        QVERIFY2(said->text().endsWith(QChar(0x2026)), qPrintable(said->text()));
        QVERIFY(said->fontMetrics().horizontalAdvance(said->text()) <= said->width());
        QVERIFY2(said->toolTip().contains(problem), qPrintable(said->toolTip()));
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

    void aStepOfTenSecondsIsNotZeroStepsASecond()
    {
        Pace pace;
        pace.note(500, 3);
        pace.note(1500, 3);
        QCOMPARE(pace.stepsPerSecond(), 0.0); // nothing is known yet
        pace.note(10'500, 4);
        QCOMPARE(pace.stepsPerSecond(), 0.1);
        for (int ms = 11'500; ms < 20'500; ms += 1000)
            pace.note(ms, 4);
        QCOMPARE(pace.stepsPerSecond(), 0.1);
        pace.note(20'500, 5);
        QCOMPARE(pace.rates(), (std::vector<double> { 0.1, 0.1 }));
        pace.note(70'500, 5); // it hangs
        QCOMPARE(pace.stepsPerSecond(), 0.02);
        pace.note(71'500, 2); // it was begun again at an older checkpoint
        QCOMPARE(pace.stepsPerSecond(), 0.02);
        pace.note(72'500, 10);
        QCOMPARE(pace.stepsPerSecond(), 8.0);
        QCOMPARE(pace.rates().size(), std::size_t { 3 });
    }

    void aSteadyPaceIsSteady()
    {
        Pace pace;
        for (int second = 0; second < 60; ++second) {
            pace.note(second * 1000, second * 5 / 3); // 1 or 2 steps in a second
            if (second > 10)
                QVERIFY2(std::abs(pace.stepsPerSecond() - 5.0 / 3) < 0.2,
                    qPrintable(QString::number(pace.stepsPerSecond())));
        }
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
};

TELLTALE_TEST(QTEST_MAIN, ToolBarTest)

}

#include "toolbartest.moc"
