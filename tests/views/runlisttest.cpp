// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <QAbstractProxyModel>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPaintEvent>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolButton>
#include <QTreeView>

#include <telltale/common/theme.h>
#include <telltale/items/connectionsmodel.h>
#include <telltale/items/roles.h>
#include <telltale/items/runsmodel.h>
#include <telltale/runs/paneltree.h>
#include <telltale/runs/runsdelegate.h>
#include <telltale/runs/runspanel.h>
#include <telltale/shell/commandregistry.h>
#include <telltale/shell/presentation.h>
#include <telltale/shell/runactions.h>
#include <telltale/store/folders.h>

#include "tworunswindow.h"

namespace runlisttest {

using namespace telltale;
using namespace telltale::shell;

/// Of one color from edge to edge.
bool isBlank(QWidget* widget)
{
    const QImage image = widget->grab().toImage();
    QImage plain = image;
    plain.fill(image.pixelColor(0, 0));
    return image == plain;
}

/// Adds up what a widget paints. Thread: the test's.
class PaintWatch : public QObject {
public:
    PaintWatch(QWidget* widget, QRegion& painted)
        : m_painted(painted)
    {
        widget->installEventFilter(this);
    }
    bool eventFilter(QObject*, QEvent* event) override
    {
        if (event->type() == QEvent::Paint)
            m_painted += static_cast<QPaintEvent*>(event)->region();
        return false;
    }

private:
    QRegion& m_painted;
};

/// What the lists of runs and modules show, find and have chosen. Thread: the test's.
class RunListTest : public QObject, test::TwoRunsWindow {
    Q_OBJECT
private Q_SLOTS:
    void init() { openWindow(); }
    void cleanup() { closeWindow(); }

    void runsOfOneNameAreToldApartByLettersOfTheirIds()
    {
        const QFontMetrics metrics(views::wordsFont(12));
        const QString name = QStringLiteral("moe 4 ranks");
        const auto fitted = [&](const char* titled, int width) {
            return views::RunsDelegate::fittedName(QLatin1String(titled), name, metrics, width);
        };
        const int room = metrics.horizontalAdvance(QStringLiteral("moe 4 ranks #2bb\u2026"));
        QCOMPARE(fitted("moe 4 ranks #2bbaced1", room), QStringLiteral("moe 4 ranks #2bb\u2026"));
        QCOMPARE(fitted("moe 4 ranks #2bbaced1", metrics.horizontalAdvance(name) + 8), name);
        QCOMPARE(fitted("moe 4 ranks", metrics.horizontalAdvance(name)), name);
    }

    void theListsOfRunsAndModulesEndAtAWholeRow()
    {
        const auto* tree = m_window->findChild<QTreeView*>(QStringLiteral("runsTree"));
        const auto* modules = m_window->findChild<QTreeView*>(QStringLiteral("modulesTree"));
        const int row = tree->visualRect(tree->model()->index(0, 0)).height();
        QVERIFY(row > 0);
        for (const int height : { 1200, 1400, 1533 }) {
            const int before = tree->height();
            m_window->resize(1500, height);
            QTRY_VERIFY(tree->height() != before);
            QTRY_COMPARE(tree->viewport()->height() % row, 0);
            QTRY_COMPARE(modules->viewport()->height() % row, 0);
        }
    }

    void aHeadingDoesNotTakeTheMarkOfTheShownRun()
    {
        const auto* tree = m_window->findChild<QTreeView*>(QStringLiteral("runsTree"));
        const auto* panel = m_window->findChild<views::RunsPanel*>();
        QTRY_COMPARE(panel->highlightedIds().size(), 1);
        const QModelIndex shown = tree->currentIndex();
        QTest::mouseClick(tree->viewport(), Qt::LeftButton, {}, tree->visualRect(shown.parent()).center());
        QCOMPARE(tree->currentIndex(), shown);
        QCOMPARE(panel->highlightedIds().size(), 1);
    }

    void theShownRunKeepsItsMarkWhileTheKeysGoThroughTheList()
    {
        m_window->openPath(m_other);
        QTRY_COMPARE_WITH_TIMEOUT(archived().size(), std::size_t { 2 }, 20'000);
        auto* tree = dynamic_cast<views::PanelTree*>(m_window->findChild<QTreeView*>(QStringLiteral("runsTree")));
        const auto isShown = [&](const QModelIndex& index) {
            return index.data(items::KeyRole).toString().toStdString() == state()->run()->id;
        };
        QTRY_VERIFY(isShown(tree->currentIndex()));
        const QPersistentModelIndex shown = tree->currentIndex();
        QVERIFY(tree->isFilled(shown));
        QTest::keyClick(tree, shown.row() == 0 ? Qt::Key_Down : Qt::Key_Up);
        const QModelIndex other = tree->currentIndex();
        QVERIFY(other.row() != shown.row());
        QVERIFY(isShown(shown) && tree->isFilled(shown) && !tree->isFilled(other));
        const auto pixelOf = [&](const QModelIndex& index) {
            const QRect row = tree->visualRect(index);
            return tree->viewport()->grab().toImage().pixelColor(row.right() - 2, row.top());
        };
        QVERIFY(pixelOf(other) != pixelOf(shown)); // its frame
        tree->selectAll();
        QVERIFY(tree->isFilled(shown) && tree->isFilled(other)); // both are to be compared
    }

    void aRunThatAppearsLeavesTheShownOneInSight()
    {
        items::RunsModel model;
        std::vector<store::RunSummary> runs(30);
        for (std::size_t i = 0; i < runs.size(); ++i) {
            runs[i].id = runs[i].name = "run" + std::to_string(i);
            runs[i].locator = store::RunLocator::ofFile("/" + runs[i].id);
        }
        model.setArchived(runs);
        QWidget window; // whose size its content does not tell
        views::RunsPanel panel(&model, &window);
        window.resize(300, 240);
        panel.resize(300, 240);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        panel.setCurrentRun(QStringLiteral("run20"));
        auto* tree = panel.findChild<QTreeView*>();
        const auto isSeen
            = [tree] { return tree->viewport()->rect().contains(tree->visualRect(tree->currentIndex())); };
        QTRY_VERIFY(isSeen());
        const auto addLive = [&](int count) {
            std::vector<store::RunSummary> live(static_cast<std::size_t>(count));
            for (std::size_t i = 0; i < live.size(); ++i) {
                live[i].id = live[i].name = "live" + std::to_string(i);
                live[i].locator = store::RunLocator::ofFile("/" + live[i].id);
                live[i].state = store::RunState::Live;
            }
            const int height = tree->verticalScrollBar()->maximum();
            model.setLive(live);
            QTRY_VERIFY(tree->verticalScrollBar()->maximum() > height);
            QTest::qWait(1);
        };
        addLive(12);
        QTRY_VERIFY(isSeen());
        // Who has scrolled elsewhere stays there.
        tree->verticalScrollBar()->triggerAction(QAbstractSlider::SliderToMinimum);
        QVERIFY(!isSeen());
        QCoreApplication::processEvents();
        addLive(13);
        QCOMPARE(tree->verticalScrollBar()->value(), 0);
    }

    void aListThatCannotBeReadSaysSoOnce()
    {
        QTemporaryDir far;
        const QString away = far.filePath(QStringLiteral("team"));
        QVERIFY(QDir().mkpath(away));
        QVERIFY(store::addFolderElsewhere(m_dir->path().toStdString(), away.toStdString()));
        QVERIFY(QDir().rmdir(away));
        const auto* table = m_window->findChild<QTableView*>(QStringLiteral("logTable"));
        const auto lines = [table] {
            int found = 0;
            for (int row = 0; row < table->model()->rowCount(); ++row)
                found += table->model()->index(row, 4).data().toString().contains(QStringLiteral("are not listed")) ? 1
                                                                                                                    : 0;
            return found;
        };
        for (int i = 0; i < 3; ++i) {
            QSignalSpy listed(m_window->driver(), &RunDriver::archiveListed);
            m_window->driver()->refreshArchive();
            QTRY_VERIFY_WITH_TIMEOUT(listed.count() > 0, 20'000);
        }
        QTRY_COMPARE_WITH_TIMEOUT(lines(), 1, 20'000);
    }

    void theSearchTakesWhatRunsSayOfThemselves()
    {
        const QString tagged = m_elsewhere->filePath(QStringLiteral("2026-01-06_tagged_bbb222.telltale"));
        {
            test::CapsuleBuilder builder(tagged.toStdString(), "tagged", "bbb222");
            Event tags;
            tags.kind = "tags";
            tags.json = R"({"tags": ["base"]})";
            builder.stage(builder.addAttempt(Rank { 0 }, 0), {}, {}, { tags });
            builder.commit();
            builder.finish();
        }
        m_window->runActions()->importFile(tagged);
        QTRY_COMPARE_WITH_TIMEOUT(archived().size(), std::size_t { 2 }, 20'000);
        m_window->commands()->action("edit.runs")->trigger();
        auto* search = m_window->findChild<QLineEdit*>(QStringLiteral("runsSearch"));
        const auto* error = m_window->findChild<QLabel*>(QStringLiteral("runsSearchError"));
        const auto* tree = m_window->findChild<QTreeView*>(QStringLiteral("runsTree"));
        const auto shown = [tree] {
            int rows = 0;
            for (int group = 0; group < tree->model()->rowCount(); ++group)
                rows += tree->model()->rowCount(tree->model()->index(group, 0));
            return rows;
        };
        const auto type = [search](const char* line) {
            search->clear();
            QTest::keyClicks(search, QString::fromLatin1(line));
        };
        QTRY_COMPARE_WITH_TIMEOUT(shown(), 2, 20'000);
        QVERIFY(tree->columnWidth(items::RunsModel::NameColumn) > tree->width() / 2); // names have the room
        QVERIFY(!tree->isColumnHidden(items::RunsModel::StepColumn));
        const auto count = [tree] { return tree->model()->index(0, 0).data(items::CountRole).toString(); };
        QTRY_COMPARE_WITH_TIMEOUT(
            tree->model()->index(1, 0).data(items::CountRole).toString(), QStringLiteral("2"), 20'000);
        type("tag:base");
        QTRY_COMPARE_WITH_TIMEOUT(shown(), 1, 20'000);
        QVERIFY(search->findChild<QToolButton*>()->geometry().right() < search->contentsRect().right()); // what clears
        QCOMPARE(count(), QStringLiteral("1 of 2")); // the live ones' heading is gone
        type("tag:other");
        QTRY_COMPARE_WITH_TIMEOUT(shown(), 0, 20'000);
        QVERIFY(!isBlank(tree->viewport())); // it says so
        type("TEST run");
        QTRY_COMPARE_WITH_TIMEOUT(shown(), 1, 20'000);
        type("state:failed");
        QTRY_COMPARE_WITH_TIMEOUT(shown(), 0, 20'000);
        type("incident:bad");
        QVERIFY(error->isVisible() && error->text().contains(QStringLiteral("'bad' is no severity")));
        search->clear();
        QVERIFY(!error->isVisible());
        QTRY_COMPARE_WITH_TIMEOUT(shown(), 2, 20'000);
    }

    void commandsAreAboutTheRunThatIsHighlighted()
    {
        m_window->runActions()->importFile(m_other);
        QTRY_COMPARE_WITH_TIMEOUT(archived().size(), std::size_t { 2 }, 20'000);
        const QString here = m_dir->filePath(QStringLiteral("runs/2026-01-03_other_def456.telltale"));
        QTRY_COMPARE(QString::fromStdString(state()->run()->locator.text()), here);
        auto* tree = m_window->findChild<QTreeView*>(QStringLiteral("runsTree"));
        const auto* runs = m_window->driver()->runs();
        const QString other
            = QString::fromStdString(std::find_if(archived().begin(), archived().end(), [&](const auto& run) {
                  return run.locator.text() != here.toStdString();
              })->id);
        const auto rowOf = [&](const QString& id) {
            const auto* proxy = qobject_cast<const QAbstractProxyModel*>(tree->model());
            return proxy->mapFromSource(runs->indexOf(id));
        };
        // With the arrow keys, which highlight and do not open.
        QTRY_VERIFY(rowOf(other).isValid());
        tree->setCurrentIndex(rowOf(other));
        QCOMPARE(QString::fromStdString(state()->run()->locator.text()), here);
        QStringList questions;
        m_window->runActions()->setConfirm([&](const QString& question) {
            questions.append(question);
            return true;
        });
        const std::string gone = runs->runAt(runs->indexOf(other))->locator.text();
        m_window->commands()->action("run.delete")->trigger();
        QCOMPARE(questions.size(), 1);
        QTRY_VERIFY2_WITH_TIMEOUT(
            !QFile::exists(QString::fromStdString(gone)), qPrintable(m_window->toaster()->shown().join(u'\n')), 20'000);
        QVERIFY(QFile::exists(here));
        QCOMPARE(QString::fromStdString(state()->run()->locator.text()), here);
        QTRY_COMPARE_WITH_TIMEOUT(archived().size(), std::size_t { 1 }, 20'000);
        // The last one is shown: it goes too, and the window says hello.
        tree->setCurrentIndex(rowOf(firstId()));
        m_window->commands()->action("run.delete")->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(!QFile::exists(here), 20'000);
        QTRY_VERIFY_WITH_TIMEOUT(!state()->run(), 20'000);
        QTRY_VERIFY(m_window->findChild<QWidget*>(QStringLiteral("welcomePage"))->isVisible());
    }

    void runsOfOneNameAreToldApart()
    {
        m_window->openPath(m_other);
        QTRY_COMPARE_WITH_TIMEOUT(archived().size(), std::size_t { 2 }, 20'000);
        items::RunsModel* runs = m_window->driver()->runs();
        QStringList names;
        for (const store::RunSummary& run : archived())
            names.append(runs->indexOf(QString::fromStdString(run.id)).data().toString());
        QVERIFY(names[0] != names[1]);
        // Also where only one of them is shown, alone or beside runs of other names.
        // Until its catalog is read, a run opened from a path has the name of its file.
        QTRY_VERIFY_WITH_TIMEOUT(state()->catalog(), 20'000);
        QVERIFY2(names.contains(state()->runName(0)), qPrintable(state()->runName(0)));
        QTRY_VERIFY(m_window->windowTitle().startsWith(state()->runName(0)));
        m_window->commands()->action("view.present")->trigger();
        auto* shown = m_window->findChild<Presentation*>();
        QVERIFY2(shown->windowTitle().startsWith(state()->runName(0)), qPrintable(shown->windowTitle()));
        shown->close();
        const QString own = firstId();
        const QString other = QString::fromStdString(archived().back().id);
        m_window->driver()->compare(own, { other });
        QTRY_VERIFY_WITH_TIMEOUT(state()->comparedRun() && state()->catalog(), 20'000);
        QVERIFY2(names.contains(state()->comparedName()), qPrintable(state()->comparedName()));
        QVERIFY(state()->comparedName().contains(QStringLiteral(" #")));
        QVERIFY(state()->runName(0).contains(QStringLiteral(" #")));
        QVERIFY(state()->runName(0) != state()->runName(1));
        // And of their agents, which have but the name in common.
        for (const QString& id : { own, other }) {
            ConnectionInfo agent;
            agent.agentId = "host/" + id.toStdString();
            agent.runName = archived().front().name;
            agent.runId = id.toStdString();
            m_agents.push_back(agent);
        }
        const auto* agents = m_window->findChild<items::ConnectionsModel*>();
        QTRY_COMPARE_WITH_TIMEOUT(agents->rowCount(), 2, 20'000);
        for (int row = 0; row < agents->rowCount(); ++row) {
            const QString name = agents->index(row, items::ConnectionsModel::RunColumn).data().toString();
            QVERIFY2(names.removeOne(name), qPrintable(name));
        }
    }

    void comparedRunsAreMarkedWithTheirLines()
    {
        m_window->openPath(m_other);
        QTRY_COMPARE_WITH_TIMEOUT(archived().size(), std::size_t { 2 }, 20'000);
        const QString own = firstId();
        const QString other = QString::fromStdString(archived().back().id);
        auto* tree = m_window->findChild<QTreeView*>(QStringLiteral("runsTree"));
        const auto rowOf = [&](const QString& id) {
            const auto* proxy = qobject_cast<QAbstractProxyModel*>(tree->model());
            return proxy->mapFromSource(m_window->driver()->runs()->indexOf(id));
        };
        const auto said = [&](const QString& id) { return rowOf(id).data(Qt::AccessibleTextRole).toString(); };
        const auto hasLine = [&](const QString& id, std::size_t slot) {
            QRect row = tree->visualRect(rowOf(id));
            row.setLeft(0);
            const QImage image = tree->viewport()->grab(row).toImage();
            const QColor color = views::Theme::current().series.at(slot);
            for (int x = 0; x < image.width(); ++x) {
                if (image.pixelColor(x, image.height() / 2) == color)
                    return true;
            }
            return false;
        };
        m_window->driver()->compare(own, { other });
        QTRY_VERIFY_WITH_TIMEOUT(state()->comparedRun() && state()->catalog(), 20'000);
        QTRY_VERIFY2(said(own).endsWith(QStringLiteral(", compared, 1 of 2")), qPrintable(said(own)));
        QVERIFY2(said(other).endsWith(QStringLiteral(", compared, 2 of 2")), qPrintable(said(other)));
        QVERIFY(hasLine(own, 0) && hasLine(other, 1));
        // What is selected beside them is not compared, and does not look as if it were.
        tree->selectAll();
        const auto* panelTree = dynamic_cast<views::PanelTree*>(tree);
        QVERIFY(panelTree->isFilled(rowOf(own)) && !panelTree->isFilled(rowOf(other)));
        tree->setCurrentIndex(rowOf(own));
        // All of a row, with what stands left of its name.
        QRegion painted;
        const auto isPainted
            = [&](const QString& id) { return painted.contains(QPoint(2, tree->visualRect(rowOf(id)).center().y())); };
        PaintWatch watch(tree->viewport(), painted);
        QCoreApplication::processEvents();
        painted = {};
        m_window->findChild<views::RunsPanel*>()->setCompared({});
        QTRY_VERIFY(isPainted(own) && isPainted(other));
        state()->setComparedRuns({});
        QVERIFY2(!said(own).contains(QStringLiteral("compared")), qPrintable(said(own)));
        QVERIFY(!hasLine(own, 0) && !hasLine(other, 1));
    }

    void aFilterThatNoModuleMatchesSaysSo()
    {
        const auto* tree = m_window->findChild<QTreeView*>(QStringLiteral("modulesTree"));
        QTRY_VERIFY_WITH_TIMEOUT(tree->model()->rowCount() > 0, 20'000);
        QTest::keyClicks(m_window->findChild<QLineEdit*>(QStringLiteral("moduleFilter")), QStringLiteral("zzz"));
        QTRY_COMPARE(tree->model()->rowCount(), 0);
        QVERIFY(tree->header()->isVisible() && !isBlank(tree->viewport()));
    }

    void whatIsNoRegularExpressionIsSaidInASentence()
    {
        auto* filter = m_window->findChild<QLineEdit*>(QStringLiteral("moduleFilter"));
        QTest::keyClicks(filter, QStringLiteral("/(attn/"));
        const auto said = [this] {
            for (const auto* label : m_window->findChildren<QLabel*>()) {
                if (label->isVisible() && label->text().contains(QStringLiteral("slashes")))
                    return label->text();
            }
            return QString();
        };
        QTRY_COMPARE(said(),
            QStringLiteral("The regular expression between the slashes cannot be read: missing closing parenthesis. "
                           "Mend it, or remove the slashes to look for the text itself."));
    }
};

TELLTALE_TEST(QTEST_MAIN, RunListTest)

}

#include "runlisttest.moc"
