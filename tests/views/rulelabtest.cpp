// SPDX-License-Identifier: GPL-3.0-or-later
#include "shots.h"
#include "testmain.h"

#include <QBuffer>
#include <QComboBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFile>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSlider>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QToolButton>
#include <QTreeWidget>

#include <telltale/common/columnfit.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/numbertext.h>
#include <telltale/judge/rulesinforce.h>
#include <telltale/judge/runjudge.h>
#include <telltale/lab/truth.h>
#include <telltale/rulelab/changestree.h>
#include <telltale/rulelab/labruns.h>
#include <telltale/rulelab/rulelabview.h>
#include <telltale/rulelab/scoretree.h>
#include <telltale/shell/mainwindow.h>
#include <telltale/shell/startup.h>
#include <telltale/shell/viewtabs.h>
#include <telltale/store/querypool.h>
#include <telltale/store/storeservice.h>
#include <telltale/translations/translations.h>

#include "../store/madeuptraining.h"
#include "looks.h"
#include "shownwindow.h"

namespace rulelabtest {

using namespace telltale;
using judge::Annotation;
using judge::Rule;
using judge::Rules;
using test::CapsuleBuilder;

namespace {

/// Rank 1's gradients of a block are four times too large at step 200, and hundred times at step 320.
const QString kNone { QChar(0x2013) };

void writeRun(const std::string& path, const std::string& name, bool isSpiky)
{
    CapsuleBuilder builder(path, name);
    test::Training training;
    training.ranks = 2;
    training.steps = 400;
    training.value = [isSpiky](int rank, int step, Kind kind, const std::string& tensor, double usual) {
        const bool isIt = isSpiky && rank == 1 && kind == Kind::GradReduced && tensor.starts_with("layers.1");
        return usual * (isIt && step >= 200 && step < 203 ? 3 : isIt && step == 320 ? 100 : 1);
    };
    training.write(builder);
    std::uint64_t token = 0;
    const auto write = [&](const Event& event) {
        builder.writer().stageRecord({ ++token, builder.locator(), Rank { -1 }, event });
        builder.commit();
    };
    if (isSpiky) {
        std::vector<judge::Incident> found;
        {
            const auto reader = CapsuleBuilder::must(store::openReader(builder.liveHandle()));
            Rules low;
            low.setValue(Rule::Level, 0, 3);
            judge::RunJudge judge(low);
            CapsuleBuilder::must(judge.judgeAll(*reader));
            found = judge.incidents();
        }
        for (const judge::Incident& incident : found)
            write(judge::incidentEvent(incident, 1));
        judge::IncidentBook book;
        {
            const auto reader = CapsuleBuilder::must(store::openReader(builder.liveHandle()));
            CapsuleBuilder::must(book.update(*reader));
        }
        for (const judge::Incident* incident : book.inOrder())
            write(judge::annotationEvent(
                { incident->id,
                    incident->first.step == Step { 320 } ? Annotation::Action::True : Annotation::Action::False, {} },
                incident->opened, "me", 2));
    }
    builder.finish();
}

}

/// The rule lab in the window. Thread: gui.
class RuleLabTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        QDir(m_made.path()).mkdir(QStringLiteral("runs"));
        writeRun(m_made.path().toStdString() + kSpiky, "spiky", true);
        writeRun(m_made.path().toStdString() + kCalm, "calm", false);
    }
    void init() { QTest::failOnWarning(QRegularExpression(QStringLiteral(".?"))); }
    void cleanup()
    {
        m_window.reset();
        m_pool.reset();
        m_store.reset();
        translations::install(*qApp, QStringLiteral("en"));
    }

    void whatChangesHasRoomForItsWords()
    {
        views::ChangesTree changed;
        changed.resize(410, 200);
        views::ChangesTree::Row row { QStringLiteral("id"), QStringLiteral("demo-moe"), false, {} };
        judge::Incident& incident = row.incident;
        incident.phase = judge::Phase::Forward;
        incident.first.rule = "nonfinite";
        incident.first.step = Step { 400 };
        incident.first.rank = Rank { 2 };
        incident.first.name = "blocks.2";
        incident.first.slot = "output";
        incident.first.sentence = "NaN in 1 of 32,768 elements";
        incident.sentence = "First abnormal: step 400, rank 2, blocks.2:output, forward: NaN in 1 of 32,768 elements.";
        changed.set({ row });
        changed.show();
        const QTreeWidgetItem* item = changed.topLevelItem(0);
        QCOMPARE(item->text(views::ChangesTree::RuleColumn), QStringLiteral("not finite"));
        QVERIFY(item->toolTip(0).contains(QStringLiteral("32\u00A0768")));
        for (const int width : { 410, 700 }) {
            changed.resize(width, 200);
            for (const int column :
                { views::ChangesTree::ChangeColumn, views::ChangesTree::PlaceColumn, views::ChangesTree::RuleColumn }) {
                const QFont font = item->font(column).resolve(changed.font());
                const int words = QFontMetrics(font).horizontalAdvance(item->text(column)) + (column == 0 ? 16 : 0);
                QVERIFY2(
                    changed.columnWidth(column) >= words, qPrintable(QString::number(changed.columnWidth(column))));
            }
            QCOMPARE(changed.header()->length(), changed.viewport()->width());
        }
        // Of many words none takes the room of another; names lose their front, and their tip has all.
        row.run = QStringLiteral("demo-moe-of-today");
        incident.first.rule = "level";
        incident.first.name = "blocks.2.mlp.experts.1.fc1.weight";
        changed.set({ row });
        changed.resize(500, 200);
        for (const int column :
            { views::ChangesTree::RunColumn, views::ChangesTree::PlaceColumn, views::ChangesTree::RuleColumn }) {
            QVERIFY2(changed.columnWidth(column) >= 60, qPrintable(QString::number(changed.columnWidth(column))));
            QVERIFY(changed.topLevelItem(0)->toolTip(column).contains(changed.topLevelItem(0)->text(column)));
        }
        QVERIFY(changed.columnWidth(views::ChangesTree::PlaceColumn) >= 120);
        QVERIFY(dynamic_cast<views::EndDelegate*>(changed.itemDelegateForColumn(views::ChangesTree::PlaceColumn)));
    }

    void aThresholdIsMovedAndSaysWhatItDoes()
    {
        open();
        QCOMPARE(runs()->topLevelItemCount(), 2);
        QCOMPARE(rowOf(runs(), QStringLiteral("spiky")).mid(1, 2),
            (QStringList { QStringLiteral("1"), QStringLiteral("1") }));
        // At six deviations the true one is found, and the false alarm is not.
        QCOMPARE(rowOf(scores(), QStringLiteral("spiky")).mid(1, 5),
            (QStringList { QStringLiteral("1"), QStringLiteral("1"), QStringLiteral("1"), QStringLiteral("0"),
                QStringLiteral("0") }));
        QCOMPARE(changes()->topLevelItemCount(), 0);
        QVERIFY(!changes()->header()->isVisible());
        slider("z")->setValue(slider("z")->value() / 4);
        QVERIFY(box("z")->value() < 3.5);
        QVERIFY(text()->toPlainText().contains(QStringLiteral("\"z\": ") + QString::number(box("z")->value())));
        settle();
        QCOMPARE(rowOf(scores(), QStringLiteral("spiky")).mid(1, 5),
            (QStringList { QStringLiteral("1"), QStringLiteral("2"), QStringLiteral("1"), QStringLiteral("1"),
                QStringLiteral("0") }));
        QCOMPARE(changes()->topLevelItemCount(), 1);
        QCOMPARE(changes()->topLevelItem(0)->text(2), QStringLiteral("200"));
        QVERIFY(changes()->header()->isVisible());
        QVERIFY(caption()->text().contains(QStringLiteral("level.z 6")));
        // What is shown goes into a file.
        QBuffer file;
        file.open(QIODevice::ReadWrite);
        QVERIFY(m_window->views()->currentView()->writeCsv(&file));
        QVERIFY(file.data().contains("spiky,,1,2,1,1,0,0"));
        // The window's own keys leave who types a number alone.
        box("factor")->setValue(10000);
        QCOMPARE(box("factor")->text(), items::formatStep(10000)); // and it is read back
        box("factor")->interpretText();
        QCOMPARE(box("factor")->value(), 10000.0);
        box("factor")->setValue(2.5);
        box("z")->setFocus();
        box("z")->selectAll();
        QTest::keyClicks(box("z"), QStringLiteral("4.5"));
        QTest::keyClick(box("z"), Qt::Key_Return);
        QVERIFY(caption()->text().contains(QStringLiteral("level.z 6 → 4.5")));
        slider("z")->setFocus();
        QTest::keyClick(slider("z"), Qt::Key_Right);
        QVERIFY(box("z")->value() > 4.5);
        button("labReset")->click();
        QCOMPARE(box("z")->value(), 6.0);
        QVERIFY(!button("labReset")->isEnabled());
        settle();
        QCOMPARE(changes()->topLevelItemCount(), 0);
    }

    void textAndFormFollowEachOther()
    {
        open();
        QString document = text()->toPlainText();
        text()->setPlainText(document.replace(QStringLiteral("\"z\": 6"), QStringLiteral("\"z\": 60")));
        QVERIFY(box("z")->value() == 60 || box("z")->value() == 6);
        box("z")->setValue(80);
        QVERIFY(text()->toPlainText().contains(QStringLiteral("80")));
        settle();
        // The loss's z is another.
        text()->setPlainText(QStringLiteral("{\"rules\": {\"level\": {\"z\": 1, \"on\": 3}}}"));
        const auto* said = view()->findChild<QLabel*>(QStringLiteral("labSaid"));
        QVERIFY2(said->isVisible() && said->text().contains(QStringLiteral("from 2 to 100")), qPrintable(said->text()));
        QCOMPARE(text()->extraSelections().size(), 2);
        QCOMPARE(text()->extraSelections().front().cursor.selectedText(), QStringLiteral("1"));
        QVERIFY(!button("labSaveDefault")->isEnabled() && !button("labSaveRun")->isEnabled());
        button("labReset")->click();
        QVERIFY(!said->isVisible() && button("labSaveDefault")->isEnabled());
        auto* off = view()->findChild<QAbstractButton*>(QStringLiteral("switch/rules/level/on"));
        off->click();
        QVERIFY(!box("z")->isEnabled());
        QVERIFY(!view()->findChild<QToolButton*>(QStringLiteral("suggest/rules/level/z"))->isVisible());
        settle();
        QCOMPARE(rowOf(scores(), QStringLiteral("spiky"))[2], QStringLiteral("0"));
        QCOMPARE(rowOf(scores(), QStringLiteral("spiky"))[5], QStringLiteral("1"));
    }

    void aSuggestionIsSaidAndNotApplied()
    {
        open();
        box("z")->setValue(2.5);
        settle();
        view()->findChild<QToolButton*>(QStringLiteral("suggest/rules/level/z"))->click();
        settle();
        const auto* said = view()->findChild<QLabel*>(QStringLiteral("labSaid"));
        QVERIFY2(said->text().contains(QStringLiteral("separates what is labeled: 1 of 1 true found, 0 false alarms")),
            qPrintable(said->text()));
        QCOMPARE(box("z")->value(), 2.5);
        button("labUse")->click();
        QVERIFY(box("z")->value() > 3);
        settle();
        QCOMPARE(rowOf(scores(), QStringLiteral("spiky"))[4], QStringLiteral("0"));
    }

    void namesHaveTheRoomOfLabelsThatThereAreNot()
    {
        open();
        QVERIFY(!runs()->isColumnHidden(1) && !runs()->isColumnHidden(2));
        auto* list = static_cast<views::LabRuns*>(runs());
        for (const auto& run : list->all())
            list->setTruth(QString::fromStdString(run->id), {});
        QVERIFY(runs()->isColumnHidden(1) && runs()->isColumnHidden(2));
    }

    void untilThereAreResultsItSaysThatRulesAreTried()
    {
        open();
        QStringList said, saidOfChanges; // before there was a row
        const auto* tried = static_cast<views::ChangesTree*>(changes());
        connect(scores()->model(), &QAbstractItemModel::rowsInserted, this, [&] {
            said.append(scores()->accessibleDescription());
            saidOfChanges.append(tried->emptyText());
        });
        QTreeWidgetItem* shown = nullptr;
        for (int row = 0; row < runs()->topLevelItemCount(); ++row)
            shown = runs()->topLevelItem(row)->checkState(0) == Qt::Checked ? runs()->topLevelItem(row) : shown;
        QVERIFY(shown);
        shown->setCheckState(0, Qt::Unchecked);
        QTRY_COMPARE(scores()->topLevelItemCount(), 0);
        settle();
        QCOMPARE(scores()->accessibleDescription(), QString());
        QCOMPARE(tried->emptyText(), QString()); // of no run it is known
        shown->setCheckState(0, Qt::Checked);
        QTRY_VERIFY_WITH_TIMEOUT(scores()->topLevelItemCount() > 0, 20'000);
        QCOMPARE(said.value(0), QStringLiteral("Trying the rules on the chosen runs\u2026"));
        QCOMPARE(saidOfChanges.value(0, QStringLiteral("none")), QString());
        settle();
        QVERIFY(tried->emptyText().contains(QStringLiteral("find the same")));
    }

    void whatIsCleanMakesFalseAlarms()
    {
        open();
        for (int row = 0; row < runs()->topLevelItemCount(); ++row)
            runs()->topLevelItem(row)->setCheckState(0, Qt::Checked);
        box("z")->setValue(2);
        box("factor")->setValue(1);
        settle();
        QCOMPARE(rowOf(scores(), QStringLiteral("calm"))[4], kNone);
        const int found = rowOf(scores(), QStringLiteral("calm"))[2].toInt();
        QVERIFY(found > 0);
        for (int row = 0; row < runs()->topLevelItemCount(); ++row) {
            if (runs()->topLevelItem(row)->text(0) == QStringLiteral("calm"))
                runs()->topLevelItem(row)->setCheckState(3, Qt::Checked);
        }
        settle();
        QCOMPARE(rowOf(scores(), QStringLiteral("calm"))[4].toInt(), found);
        QVERIFY(CapsuleBuilder::must(lab::truthOf(*reader(kCalm))).isClean);
    }

    void rulesAreSavedForTheRunAndAsDefault()
    {
        open();
        box("z")->setValue(9);
        settle();
        button("labSaveDefault")->click();
        const std::string folder = m_dir->path().toStdString();
        QTRY_VERIFY_WITH_TIMEOUT(judge::DefaultRules(folder).isFile(), 20'000);
        QCOMPARE(judge::DefaultRules(folder).rules().value(Rule::Level, 0), 9.0);
        QTRY_VERIFY_WITH_TIMEOUT(caption()->text().contains(QStringLiteral("default rules of this folder")), 20'000);
        settle();
        QVERIFY(!button("labReset")->isEnabled()); // what was tried is in force
        box("z")->setValue(12);
        settle();
        view()->activateWindow();
        button("labSaveRun")->setFocus();
        button("labSaveRun")->click();
        QTRY_VERIFY_WITH_TIMEOUT(caption()->text().contains(QStringLiteral("this run's own rules")), 20'000);
        settle();
        QVERIFY(!caption()->text().contains(QStringLiteral("tried")));
        QCOMPARE(view()->window()->focusWidget(), button("labSaveDefault"));
        const auto inForce = CapsuleBuilder::must(judge::rulesInForce(folder, reader(kSpiky).get()));
        QVERIFY(inForce.from == judge::RulesInForce::From::Run);
        QCOMPARE(inForce.rules.value(Rule::Level, 0), 12.0);
        QVERIFY(CapsuleBuilder::must(judge::rulesInForce(folder, reader(kCalm).get())).from
            == judge::RulesInForce::From::Default);
    }

    void linksHaveTheColorOfTheThemeInForce()
    {
        open();
        const auto modes = { views::Theme::Mode::Light, views::Theme::Mode::Dark };
        const auto back = qScopeGuard([mode = views::Theme::current().mode] { views::Theme::apply(*qApp, mode); });
        for (const views::Theme::Mode mode : modes) {
            views::Theme::apply(*qApp, mode);
            int links = 0;
            for (const auto* button : view()->findChildren<QPushButton*>()) {
                if (button->objectName().startsWith(QStringLiteral("ask"))) {
                    ++links;
                    QCOMPARE(button->palette().color(QPalette::Active, QPalette::ButtonText),
                        views::Theme::current().accent);
                }
            }
            QVERIFY(links > 10);
        }
    }

    void whatIsCollectedMoreIsNamedWholeInANarrowForm()
    {
        open();
        escalation<QPushButton>("ask")->click();
        auto* what = escalation<QComboBox>("what");
        auto* form = view()->findChild<QScrollArea*>(QStringLiteral("rulesForm"));
        form->setFixedWidth(form->minimumWidth());
        QCoreApplication::processEvents();
        for (int entry = 2; entry < what->count(); ++entry) {
            const int words = what->fontMetrics().horizontalAdvance(what->itemText(entry));
            QVERIFY2(what->width() - 34 >= words, qPrintable(what->itemText(entry)));
            QVERIFY(what->itemData(entry, Qt::ToolTipRole).toString().size() > what->itemText(entry).size());
        }
    }

    void aRuleAsksForMoreWhereSomebodyChoosesIt()
    {
        open();
        auto* what = escalation<QComboBox>("what");
        auto* config = escalation<QLineEdit>("config");
        const auto* row = config->parentWidget()->parentWidget();
        const auto problem = [config] {
            for (const auto* label : config->parentWidget()->findChildren<QLabel*>()) {
                if (label->isVisible() && label->wordWrap())
                    return label->text();
            }
            return QString();
        };
        QVERIFY(!config->isVisible() && !text()->toPlainText().contains(QStringLiteral("escalate")));
        auto* ask = escalation<QPushButton>("ask");
        ask->click();
        QVERIFY(what->hasFocus() && config->isVisible() && !ask->isVisible());
        QVERIFY(config->text().contains(QStringLiteral("backward_only")));
        QTest::keyClick(what, Qt::Key_Home);
        QVERIFY(ask->isVisible() && !what->isVisible());
        ask->click();
        QTest::keyClick(what, Qt::Key_Up);
        QVERIFY(config->text().contains(QStringLiteral("forward_only")));
        QTest::keyClick(what, Qt::Key_Up); // what it has, to be changed
        QVERIFY(config->hasFocus() && config->text().contains(QStringLiteral("forward_only")));
        box("factor")->setValue(3);
        QCOMPARE(what->currentIndex(), 1);
        QVERIFY(text()->toPlainText().contains(QStringLiteral("\"escalate\"")));
        QVERIFY2(caption()->text().contains(QStringLiteral("left its own history escalates")),
            qPrintable(caption()->text()));
        // What is wrong is said below, while it is typed, and breaks nothing else of the document.
        config->selectAll();
        QTest::keyClicks(config, QStringLiteral("{\"xy_distributions\": true}"));
        QVERIFY2(problem().contains(QStringLiteral("xy_distributions")), qPrintable(problem()));
        QVERIFY(!button("labSaveDefault")->isEnabled());
        for (int i = 0; i < 8; ++i)
            QTest::keyClick(config, Qt::Key_Backspace);
        QCOMPARE(config->text(), QStringLiteral("{\"xy_distributions"));
        QVERIFY2(problem().contains(QStringLiteral("must be {\"config\"")), qPrintable(problem()));
        box("z")->setValue(9); // goes on all the same
        QCOMPARE(config->text(), QStringLiteral("{\"xy_distributions"));
        QTest::keyClicks(config, QStringLiteral("\": true}"));
        for (int i = 0; i < 8; ++i)
            QTest::keyClick(config, Qt::Key_Left);
        QTest::keyClick(config, Qt::Key_Backspace);
        QCOMPARE(problem(), QString());
        QCOMPARE(config->text(), QStringLiteral("{\"xy_distribution\": true}"));
        // A template, for so long and so often.
        what->setFocus();
        QTest::keyClick(what, Qt::Key_Down);
        QVERIFY(config->text().contains(QStringLiteral("forward_only")));
        escalation<QSpinBox>("steps")->setValue(80);
        escalation<QSpinBox>("times")->setValue(2);
        QVERIFY(text()->toPlainText().contains(QStringLiteral("\"times\":2")));
        settle();
        button("labSaveDefault")->click();
        const std::string folder = m_dir->path().toStdString();
        QTRY_VERIFY_WITH_TIMEOUT(judge::DefaultRules(folder).isFile(), 20'000);
        const judge::Escalation saved = judge::DefaultRules(folder).rules().escalation(Rule::Level);
        QVERIFY(saved.steps == 80 && saved.times == 2 && saved.config.find("forward_only") != std::string::npos);
        QCOMPARE(judge::DefaultRules(folder).rules().value(Rule::Level, 0), 9.0);
        settle();
        const int chosen = what->currentIndex();
        what->setFocus();
        QTest::keyClick(what, Qt::Key_Home);
        QVERIFY(!config->isVisible() && !text()->toPlainText().contains(QStringLiteral("escalate")));
        row->findChild<QToolButton*>()->click();
        QVERIFY(config->isVisible() && what->currentIndex() == chosen);
        QCOMPARE(escalation<QSpinBox>("steps")->value(), 80);
        view()->findChild<QAbstractButton*>(QStringLiteral("switch/rules/level/on"))->click();
        QVERIFY(!what->isEnabled());
        settle();
    }

    void rulesAreWholeWhereNumbersLeaveRoom()
    {
        QWidget host; // a child has its size at once
        host.setAttribute(Qt::WA_DontShowOnScreen);
        views::ScoreTree table(&host);
        table.resize(530, 200);
        views::ScoreTree::Row row;
        row.run = QStringLiteral("moe-a");
        row.comparison.rules.emplace_back().rule = "level";
        table.set({ row });
        host.show();
        const QTreeWidgetItem* rule = table.topLevelItem(0)->child(0);
        QCOMPARE(rule->text(0), QStringLiteral("left its own history"));
        QVERIFY(rule->toolTip(0).contains(rule->text(0)));
        QVERIFY(table.columnWidth(0) >= static_cast<QAbstractItemView&>(table).sizeHintForColumn(0));
        QVERIFY(table.header()->length() <= table.viewport()->width());
    }

    void whoWritesNothingSaysWhy()
    {
        open(false);
        box("z")->setValue(9);
        settle();
        QVERIFY(!button("labSaveRun")->isEnabled());
        QVERIFY(button("labSaveRun")->toolTip().contains(QStringLiteral("Another Telltale")));
    }

    void everyLookIsCalm_data() { test::addLooks(); }
    void everyLookIsCalm()
    {
        QFETCH(QString, theme);
        QFETCH(QString, language);
        QVERIFY(translations::install(*qApp, language));
        shell::applyTheme(*qApp, theme);
        open();
        for (int row = 0; row < runs()->topLevelItemCount(); ++row)
            runs()->topLevelItem(row)->setCheckState(0, Qt::Checked);
        box("z")->setValue(2.5);
        escalation<QPushButton>("ask")->click();
        auto* config = escalation<QLineEdit>("config");
        if (theme == QLatin1String("light")) {
            config->selectAll();
            QTest::keyClicks(config, QStringLiteral("{\"xy\": true}"));
        }
        settle();
        view()->findChild<QToolButton*>(QStringLiteral("suggest/rules/level/z"))->click();
        settle();
        QVERIFY(m_window->grab().save(test::shot(QStringLiteral("rulelab-%1-%2.png").arg(theme, language))));
    }

private:
    static constexpr const char* kSpiky = "/runs/2026-01-02_spiky_abc123.telltale";
    static constexpr const char* kCalm = "/runs/2026-01-03_calm_def456.telltale";

    /// A window whose lab is shown, on the run with labels.
    void open(bool isWriter = true)
    {
        m_dir = std::make_unique<QTemporaryDir>();
        QDir(m_dir->path()).mkdir(QStringLiteral("runs"));
        for (const char* run : { kSpiky, kCalm })
            QVERIFY(QFile::copy(m_made.path() + QLatin1String(run), m_dir->path() + QLatin1String(run)));
        m_pool = std::make_unique<store::QueryPool>(2);
        if (isWriter)
            m_store = CapsuleBuilder::must(store::StoreService::start({ m_dir->path().toStdString() }));
        m_window = test::showWindow(m_dir->path(), m_pool.get(), m_store.get(), {}, { 1600, 1000 });
        m_window->openPath(m_dir->path() + QLatin1String(kSpiky));
        QTRY_VERIFY_WITH_TIMEOUT(m_window->state()->catalog(), 20'000);
        m_window->views()->setCurrent(QStringLiteral("rulelab"));
        QTRY_COMPARE_WITH_TIMEOUT(runs()->topLevelItemCount(), 2, 20'000);
        settle();
        QTRY_VERIFY_WITH_TIMEOUT(scores()->topLevelItemCount() > 0, 20'000);
    }

    QWidget* view() const { return m_window->views()->currentView(); }
    QTreeWidget* tree(const char* name) const { return view()->findChild<QTreeWidget*>(QLatin1String(name)); }
    QTreeWidget* runs() const { return tree("labRuns"); }
    QTreeWidget* scores() const { return tree("labScores"); }
    QTreeWidget* changes() const { return tree("labChanges"); }
    QPlainTextEdit* text() const { return view()->findChild<QPlainTextEdit*>(QStringLiteral("rulesText")); }
    QLabel* caption() const { return view()->findChild<QLabel*>(QStringLiteral("labCaption")); }
    QPushButton* button(const char* name) const { return view()->findChild<QPushButton*>(QLatin1String(name)); }
    QSlider* slider(const char* name) const
    {
        return view()->findChild<QSlider*>(QStringLiteral("slider/rules/level/") + QLatin1String(name));
    }
    QDoubleSpinBox* box(const char* name) const
    {
        return view()->findChild<QDoubleSpinBox*>(QStringLiteral("box/rules/level/") + QLatin1String(name));
    }
    template <class Control> Control* escalation(const char* part) const
    {
        return view()->findChild<Control*>(QLatin1String(part) + QStringLiteral("/rules/level/escalate"));
    }
    static QStringList rowOf(const QTreeWidget* tree, const QString& name)
    {
        for (int row = 0; row < tree->topLevelItemCount(); ++row) {
            const QTreeWidgetItem* item = tree->topLevelItem(row);
            QStringList cells;
            for (int column = 0; column < tree->columnCount(); ++column)
                cells.append(item->text(column));
            if (cells.front() == name)
                return cells;
        }
        return QStringList(tree->columnCount());
    }
    std::unique_ptr<store::RunReader> reader(const char* run) const
    {
        return CapsuleBuilder::must(
            store::openReader({ store::RunLocator::ofFile(m_dir->path().toStdString() + run), {}, {}, nullptr }));
    }
    void settle()
    {
        const auto* shown = m_window->views()->currentView();
        QTRY_VERIFY_WITH_TIMEOUT(shown->isSettled(), 30'000);
        QCoreApplication::processEvents();
        QTRY_VERIFY_WITH_TIMEOUT(shown->isSettled(), 30'000);
    }

    QTemporaryDir m_made;
    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<store::StoreService> m_store;
    std::unique_ptr<store::QueryPool> m_pool;
    std::unique_ptr<shell::MainWindow> m_window;
};

TELLTALE_TEST(QTEST_MAIN, RuleLabTest)

}

#include "rulelabtest.moc"
