// SPDX-License-Identifier: GPL-3.0-or-later
#include "shots.h"
#include "testmain.h"

#include <algorithm>

#include <QAbstractButton>
#include <QAction>
#include <QApplication>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
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
#include <telltale/shell/commandregistry.h>
#include <telltale/shell/keychip.h>
#include <telltale/shell/keyssheet.h>
#include <telltale/shell/mainwindow.h>
#include <telltale/shell/panels.h>
#include <telltale/shell/rundriver.h>
#include <telltale/shell/startup.h>
#include <telltale/shell/toaster.h>
#include <telltale/shell/viewfactory.h>
#include <telltale/shell/viewtabs.h>
#include <telltale/steering/jsonhighlighter.h>
#include <telltale/store/querypool.h>
#include <telltale/translations/translations.h>

#include "archivewindow.h"
#include "textchecks.h"

namespace windowtest {

using namespace telltale;
using namespace telltale::shell;

/// The window as a whole: what it opens, keeps and says. Thread: the test's.
class WindowTest : public QObject, test::ArchiveWindow {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { writeArchive(); }
    void init() { openPool(); }
    void cleanup() { closeWindow(); }

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
            test::checkTexts(m_window.get());
        }
        m_window.reset();
        open(m_empty->path(), QStringLiteral("light"), QString());
        QTRY_VERIFY(m_window->findChild<QWidget*>(QStringLiteral("welcomePage"))->isVisible());
        QTest::qWait(300);
        shoot(QStringLiteral("pseudo-first-start"));
        test::checkTexts(m_window.get());
        qApp->removeTranslator(&pseudo);
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
        // Then the count, before the title is cut.
        head.setHint(QStringLiteral("36 of 114"));
        const auto label = [&head](const char* text) {
            const QList<QLabel*> all = head.findChildren<QLabel*>();
            return *std::ranges::find_if(all, [text](const QLabel* one) { return one->text() == QLatin1String(text); });
        };
        for (const int width : { 300, 190, 170, 150, 300 }) {
            head.resize(width, 28);
            head.grab();
            QVERIFY2(label("Modules")->width() >= label("Modules")->sizeHint().width(), qPrintable(detail()));
            QVERIFY(label("36 of 114")->isHidden()
                || label("36 of 114")->width() >= label("36 of 114")->sizeHint().width());
            QVERIFY(width != 300 || !label("36 of 114")->isHidden());
            QVERIFY(width != 150 || label("36 of 114")->isHidden());
        }
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
        for (const char* words :
            { "Zoom in", "Zoom out", "First visible step", "Last visible step", "Hide or show the nearest curve",
                "Show the nearest curve alone, or all again", "Apply", "Next error", "Undo edit" })
            QVERIFY2(named.contains(QLatin1String(words)), words);
        sheet.grab().save(test::shot(QStringLiteral("keys.png")));
    }

    void aConfigIsAppliedFromWhereItDiffersAndWhyNotIsSaid()
    {
        open(m_archive.path(), QStringLiteral("dark"), QStringLiteral("en"));
        QTRY_VERIFY(m_window->state()->catalog());
        const QAction* apply = m_window->commands()->action("run.applyConfig");
        QVERIFY(!apply->isEnabled());
        QVERIFY2(apply->toolTip().contains(QStringLiteral("This run has ended")), qPrintable(apply->toolTip()));
        auto* steering = m_window->findChild<views::SteeringState*>();
        steering->setWhyNoApply(QString());
        QVERIFY(apply->isEnabled());
        QCOMPARE(apply->toolTip(), QStringLiteral("Apply config (Ctrl+Shift+Return)"));
        m_window->views()->setCurrent(QStringLiteral("curves"));
        QTest::keyClick(m_window.get(), Qt::Key_Return, Qt::ControlModifier | Qt::ShiftModifier);
        QCOMPARE(m_window->views()->currentId(), QStringLiteral("config"));
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
};

TELLTALE_TEST(QTEST_MAIN, WindowTest)

}

#include "windowtest.moc"
