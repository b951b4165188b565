// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <atomic>
#include <thread>

#include <QAbstractButton>
#include <QAbstractProxyModel>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDialog>
#include <QDir>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFile>
#include <QItemSelectionModel>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMimeData>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QStatusBar>
#include <QTableView>
#include <QTemporaryDir>
#include <QTextDocumentFragment>
#include <QToolButton>
#include <QTreeView>
#include <QUrl>
#include <QWheelEvent>

#include <telltale/common/kindtext.h>
#include <telltale/common/plotcanvas.h>
#include <telltale/common/sharedaxis.h>
#include <telltale/common/viewbar.h>
#include <telltale/common/viewstate.h>
#include <telltale/heatmap/heatcanvas.h>
#include <telltale/ingest/foreignimport.h>
#include <telltale/items/roles.h>
#include <telltale/items/runsmodel.h>
#include <telltale/plot/curvecanvas.h>
#include <telltale/runs/facttable.h>
#include <telltale/runs/inspectorpanel.h>
#include <telltale/runs/paneltree.h>
#include <telltale/runs/runspanel.h>
#include <telltale/shell/archiveactions.h>
#include <telltale/shell/commandregistry.h>
#include <telltale/shell/keychip.h>
#include <telltale/shell/mainwindow.h>
#include <telltale/shell/runactions.h>
#include <telltale/shell/rundriver.h>
#include <telltale/shell/startup.h>
#include <telltale/shell/toast.h>
#include <telltale/shell/toaster.h>
#include <telltale/shell/viewtabs.h>
#include <telltale/store/folders.h>
#include <telltale/store/pins.h>
#include <telltale/store/querypool.h>
#include <telltale/store/runfiles.h>
#include <telltale/store/trash.h>

#include "shellfixture.h"
#include "sourcepath.h"

namespace shellactionstest {

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

/// What a person does with runs and keys, on two small runs: one in the data directory, one elsewhere.
/// Thread: the test's.
class ShellActionsTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init()
    {
        QTest::failOnWarning(QRegularExpression(QStringLiteral(".?")));
        m_dir = std::make_unique<QTemporaryDir>();
        m_elsewhere = std::make_unique<QTemporaryDir>();
        m_pool = std::make_unique<store::QueryPool>(2);
        test::DemoCapsule(m_dir->path().toStdString()).write(100);
        test::DemoCapsule other(m_elsewhere->path().toStdString(), "2026-01-03_other_def456.telltale");
        other.write(120);
        m_other = QString::fromStdString(other.path());
        AppContext context;
        context.queries = m_pool.get();
        context.dataDir = m_dir->path().toStdString();
        context.connections = [this] { return m_agents; };
        context.importFile = [this](const std::string& path, const std::function<bool(double)>& goesOn) {
            if (path.ends_with(".slow")) { // as long as it may
                m_isSlowRunning = true;
                while (goesOn(0.5))
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            return ingest::importAnything(m_dir->path().toStdString(), path, goesOn);
        };
        m_window = std::make_unique<MainWindow>(context, settings::LoadedSettings {});
        m_window->toaster()->setAnimated(false);
        m_window->resize(1500, 950);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
        QTRY_VERIFY_WITH_TIMEOUT(state()->catalog(), 20'000);
    }
    void cleanup()
    {
        m_window.reset();
        m_pool.reset();
        m_agents.clear();
        m_elsewhere.reset();
        m_dir.reset();
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

    void theStatusLineNamesTheKeysOfTheView()
    {
        const auto keys = [this] {
            QStringList all;
            for (const auto* chip : m_window->statusBar()->findChildren<KeyChip*>())
                all.append(chip->meaning());
            return all.join(u' ');
        };
        QCOMPARE(keys(), QStringLiteral("follow previous, next incident zoom back go to keys"));
        m_window->views()->setCurrent(QStringLiteral("config"));
        QCOMPARE(keys(), QStringLiteral("next error undo edit keys")); // it has ended: nothing can be applied
        QTest::keyClick(m_window->views()->currentView(), Qt::Key_F8); // that and no other: else it warns
        m_window->views()->setCurrent(QStringLiteral("curves"));
        QVERIFY(keys().startsWith(QStringLiteral("follow")));
    }

    void aFileFromElsewhereIsListedAndShown()
    {
        m_window->openCapsules({ m_other });
        QTRY_COMPARE_WITH_TIMEOUT(archived().size(), std::size_t { 2 }, 20'000);
        QTRY_COMPARE(QString::fromStdString(state()->run()->locator.text()), m_other);
        QVERIFY(m_window->driver()->runs()->indexOf(m_other).isValid());
        // It was shown before it was listed; what Delete acts on is still what is shown.
        QTRY_COMPARE(m_window->findChild<views::RunsPanel*>()->highlightedId(), m_other);
        m_window->openPath(m_other); // a second time: still one line
        // A third one is there when the archive has been read again.
        test::DemoCapsule(m_dir->path().toStdString(), "2026-01-04_third_abc789.telltale").write(10);
        m_window->driver()->refreshArchive();
        QTRY_COMPARE_WITH_TIMEOUT(archived().size(), std::size_t { 3 }, 20'000);
        // They have one name.
        QTRY_VERIFY(m_window->findChild<QAbstractButton*>(QStringLiteral("runButton"))->text().contains(u'#'));
        QCOMPARE(std::count_if(archived().begin(), archived().end(),
                     [&](const auto& run) { return QString::fromStdString(run.locator.text()) == m_other; }),
            1);
    }

    void aDroppedFileOpens()
    {
        drop({ m_other });
        QTRY_COMPARE_WITH_TIMEOUT(QString::fromStdString(state()->run()->locator.text()), m_other, 20'000);
    }

    void whatOtherToolsRecordedIsDropped()
    {
        const auto write = [this](const char* name, const char* text) {
            QFile file(m_elsewhere->filePath(QLatin1String(name)));
            if (!file.open(QIODevice::WriteOnly) || file.write(text) < 0)
                qFatal("cannot write %s", name);
            return file.fileName();
        };
        const QString folder = QString::fromStdString(telltale::test::sourcePath("tests/data/msprobe/l2/out"));
        drop({ write("history.csv", "_step,_runtime,loss\n0,1,2.5\n1,2,2.25\n"), folder,
            write("notes.txt", "nothing that is known") });
        QVERIFY(m_window->commands()->action("file.cancelImport")->isEnabled());
        QTRY_COMPARE_WITH_TIMEOUT(archived().size(), std::size_t { 3 }, 30'000);
        auto* work = m_window->findChild<QLabel*>(QStringLiteral("statusWork"));
        QTRY_VERIFY_WITH_TIMEOUT(!work->isVisibleTo(m_window.get()), 30'000);
        QVERIFY(!m_window->commands()->action("file.cancelImport")->isEnabled());
        QVERIFY(m_window->toaster()
                    ->shown()
                    .join(QLatin1Char(' '))
                    .contains(QStringLiteral("notes.txt cannot be imported")));
        QVERIFY(
            QDir(m_dir->path()).entryList({ QStringLiteral(".import-*") }, QDir::AllEntries | QDir::Hidden).isEmpty());
        // What is not on this machine is said.
        dropUrls({ QUrl(QStringLiteral("https://example.org/run.telltale")) });
        QVERIFY(m_window->toaster()->shown().join(QLatin1Char(' ')).contains(QStringLiteral("not on this machine")));
    }

    /// A Python stands in that hands one row over, or never answers.
    void aParquetFileIsDropped()
    {
        const auto write = [this](const char* name, const QByteArray& text) {
            QFile file(m_elsewhere->filePath(QLatin1String(name)));
            if (!file.open(QIODevice::WriteOnly) || file.write(text) < 0)
                qFatal("cannot write %s", name);
            file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
            return file.fileName();
        };
        qputenv("TELLTALE_PYTHON",
            write("python", R"(#!/bin/sh
[ $# = 2 ] && exit 0
case "$*" in *silent*) exec sleep 600 ;; esac
echo '{"message": "table", "form": "wide", "columns": ["_step", "loss"]}'
echo '{"message": "rows", "bytes": 6}'
echo 7,0.5
echo '{"message": "end"}'
echo '{"message": "done"}'
)")
                .toLocal8Bit());
        drop({ write("silent.parquet", "PAR1") });
        auto* work = m_window->findChild<QLabel*>(QStringLiteral("statusWork"));
        QTRY_VERIFY_WITH_TIMEOUT(work->text().contains(QStringLiteral("silent.parquet")), 20'000);
        m_window->commands()->action("file.cancelImport")->trigger(); // the window goes on meanwhile
        QTRY_VERIFY_WITH_TIMEOUT(!work->isVisibleTo(m_window.get()), 20'000);
        QCOMPARE(archived().size(), std::size_t { 1 });
        drop({ write("table.parquet", "PAR1") });
        QTRY_COMPARE_WITH_TIMEOUT(archived().size(), std::size_t { 2 }, 20'000);
        qunsetenv("TELLTALE_PYTHON");
    }

    void anImportIsCanceled()
    {
        const auto before = archived().size();
        drop({ m_elsewhere->filePath(QStringLiteral("first.slow")),
            m_elsewhere->filePath(QStringLiteral("second.slow")) });
        QTRY_VERIFY_WITH_TIMEOUT(m_isSlowRunning.load(), 20'000);
        auto* work = m_window->findChild<QLabel*>(QStringLiteral("statusWork"));
        QTRY_VERIFY_WITH_TIMEOUT(work->text().contains(QStringLiteral("50 %")), 20'000);
        QVERIFY(work->text().contains(QStringLiteral("1 more wait")));
        m_window->commands()->action("file.cancelImport")->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(!work->isVisibleTo(m_window.get()), 20'000);
        QCOMPARE(archived().size(), before);
        // And with the window, which does not wait for the end of it.
        m_isSlowRunning = false;
        drop({ m_elsewhere->filePath(QStringLiteral("third.slow")) });
        QTRY_VERIFY_WITH_TIMEOUT(m_isSlowRunning.load(), 20'000);
        m_window.reset();
    }

    void twoRunsStandOnOneAxis()
    {
        m_window->openPath(m_other);
        QTRY_COMPARE_WITH_TIMEOUT(archived().size(), std::size_t { 2 }, 20'000);
        auto* tree = m_window->findChild<QTreeView*>(QStringLiteral("runsTree"));
        auto* compare = m_window->findChild<QAbstractButton*>(QStringLiteral("runsCompare"));
        QVERIFY(!compare->isEnabled());
        tree->selectAll();
        QTRY_VERIFY(compare->isEnabled());
        compare->click();
        QTRY_VERIFY_WITH_TIMEOUT(state()->comparedRun(), 20'000);
        QVERIFY(state()->comparedRun()->locator.text() != state()->run()->locator.text());
        QCOMPARE(state()->fullRange().last, Step { 119 });
        m_window->commands()->action("run.endComparison")->trigger();
        QVERIFY(!state()->comparedRun());
    }

    void aRunIsImportedCopiedAndDeletedAfterAQuestion()
    {
        m_window->runActions()->importFile(m_other);
        const QString here = m_dir->filePath(QStringLiteral("runs/2026-01-03_other_def456.telltale"));
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(here), 20'000);
        QTRY_COMPARE(archived().size(), std::size_t { 2 });
        QVERIFY(QFile::exists(m_other));
        QTRY_COMPARE(QString::fromStdString(state()->run()->locator.text()), here);

        const QString copy = m_elsewhere->filePath(QStringLiteral("copy.telltale"));
        m_window->runActions()->copyTo(firstId(), copy);
        QTRY_VERIFY(QFile::exists(copy));

        const std::string gone = archived().front().locator.text();
        QStringList questions;
        bool answer = false;
        m_window->runActions()->setConfirm([&](const QString& question) {
            questions.append(question);
            return answer;
        });
        m_window->runActions()->remove({ firstId() });
        QTRY_COMPARE(questions.size(), 1);
        const QString later = m_elsewhere->filePath(QStringLiteral("later.telltale"));
        m_window->runActions()->copyTo(firstId(), later);
        QTRY_VERIFY(QFile::exists(later)); // what was asked for afterwards is done
        QVERIFY(QFile::exists(QString::fromStdString(gone)));
        answer = true;
        m_window->runActions()->remove({ firstId() });
        QTRY_VERIFY2_WITH_TIMEOUT(
            !QFile::exists(QString::fromStdString(gone)), qPrintable(m_window->toaster()->shown().join(u'\n')), 20'000);
        QTRY_COMPARE_WITH_TIMEOUT(archived().size(), std::size_t { 1 }, 20'000);
        QCOMPARE(questions.size(), 2);
        QVERIFY(questions.front().contains(QStringLiteral("a test run")));
        // It is not gone for good.
        const auto toasts = m_window->findChildren<Toast*>();
        const auto toast = std::find_if(toasts.begin(), toasts.end(),
            [](const Toast* one) { return one->sentence().startsWith(QStringLiteral("Deleted ")); });
        QVERIFY(toast != toasts.end());
        const auto buttons = (*toast)->findChildren<QAbstractButton*>();
        const auto undo = std::find_if(buttons.begin(), buttons.end(),
            [](const QAbstractButton* one) { return one->text() == QStringLiteral("Undo"); });
        QVERIFY(undo != buttons.end());
        (*undo)->click();
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(QString::fromStdString(gone)), 20'000);
        QTRY_COMPARE_WITH_TIMEOUT(archived().size(), std::size_t { 2 }, 20'000);
        auto pins = store::Pins::read(m_dir->path().toStdString());
        QVERIFY(pins && pins->set(store::RunLocator::ofFile(gone), true));
        const auto back = std::find_if(
            archived().begin(), archived().end(), [&gone](const auto& run) { return run.locator.text() == gone; });
        m_window->runActions()->remove({ QString::fromStdString(back->id) });
        QTRY_VERIFY_WITH_TIMEOUT(
            m_window->toaster()->shown().join(u'\n').contains(QStringLiteral("is pinned")), 20'000);
        QVERIFY(QFile::exists(QString::fromStdString(gone)));
    }

    void severalRunsMoveToAFolderAndBack()
    {
        twoOfOurs();
        const std::string first = "2026-01-02_gpt-12l_abc123.telltale";
        const std::string second = "2026-01-03_other_def456.telltale";
        state()->setCursor(Step { 70 });
        state()->setRank(Rank { 1 });
        state()->zoomTo({ Step { 60 }, Step { 90 } });
        m_window->commands()->action("run.move")->trigger();
        auto* dialog = m_window->findChild<QDialog*>(QStringLiteral("folderDialog"));
        auto* name = dialog->findChild<QLineEdit*>(QStringLiteral("folderName"));
        auto* move = dialog->findChild<QAbstractButton*>(QStringLiteral("folderMove"));
        QTRY_VERIFY(name->hasFocus());
        QVERIFY(!move->isEnabled()); // they are in no folder
        for (const char* wrong : { "../out", ".hidden", "x.telltale" }) {
            name->setText(QString::fromLatin1(wrong));
            QVERIFY2(!move->isEnabled(), wrong);
        }
        name->clear();
        QTest::keyClicks(name, QStringLiteral("llama/ablation"));
        QVERIFY(move->isEnabled());
        QTest::keyClick(name, Qt::Key_Return);
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(QString::fromStdString(pathIn("llama/ablation") + first)), 20'000);
        QTRY_VERIFY_WITH_TIMEOUT(m_window->driver()->runs()->folders().contains(QStringLiteral("llama")), 20'000);
        for (const auto& run : archived())
            QCOMPARE(run.folder, std::string("llama/ablation"));
        // The shown run is the same one, seen as it was, and what it says comes from its new place.
        QCOMPARE(state()->run()->locator.text(), pathIn("llama/ablation") + second);
        QTRY_VERIFY_WITH_TIMEOUT(state()->catalog(), 20'000);
        QCOMPARE(state()->cursor(), std::optional(Step { 70 }));
        QCOMPARE(state()->visibleRange().first, Step { 60 });
        QCOMPARE(state()->rank(), Rank { 1 });
        clickUndo(QStringLiteral("Moved to llama/ablation"));
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(QString::fromStdString(pathIn("") + first)), 20'000);
        QTRY_COMPARE_WITH_TIMEOUT(state()->run()->locator.text(), pathIn("") + second, 20'000);
        QTRY_VERIFY_WITH_TIMEOUT(m_window->driver()->runs()->folders().isEmpty(), 20'000);
        QVERIFY(!QFile::exists(m_dir->filePath(QStringLiteral("runs/llama"))));
    }

    void whatCannotMoveIsSaidAndTheRestMoves()
    {
        twoOfOurs();
        // One that another Telltale records, and one that is only read.
        test::CapsuleBuilder builder(pathIn("") + "2026-01-07_live_ccc333.telltale", "theirs", "ccc333");
        const auto lock = store::DataDirLock::take(m_dir->path().toStdString());
        QVERIFY(lock.has_value());
        QTemporaryDir far;
        test::DemoCapsule(far.path().toStdString(), "2026-01-08_far_ddd444.telltale").write(10);
        QVERIFY(store::addFolderElsewhere(m_dir->path().toStdString(), far.path().toStdString()));
        m_window->driver()->refreshArchive();
        QTRY_COMPARE_WITH_TIMEOUT(archived().size(), std::size_t { 4 }, 20'000);
        QStringList ids;
        for (const auto& run : archived())
            ids.append(QString::fromStdString(run.id));
        m_window->archive()->moveTo(ids, QStringLiteral("kept"));
        QTRY_COMPARE_WITH_TIMEOUT(
            m_window->driver()->runs()->folders(), QStringList { QStringLiteral("kept") }, 20'000);
        const QString said = m_window->toaster()->shown().join(u'\n');
        QVERIFY2(said.contains(QStringLiteral("theirs is being recorded")), qPrintable(said));
        QVERIFY2(said.contains(QStringLiteral("only read here")), qPrintable(said));
        QVERIFY2(said.contains(QStringLiteral("Moved to kept: 2 runs")), qPrintable(said));
        QVERIFY(QFile::exists(QString::fromStdString(builder.locator().text())));
        // Where the place is taken, the store's own sentence comes.
        test::DemoCapsule(m_dir->path().toStdString()).write(10);
        m_window->driver()->refreshArchive();
        QTRY_COMPARE_WITH_TIMEOUT(archived().size(), std::size_t { 5 }, 20'000);
        for (const auto& run : archived()) {
            if (run.folder.empty() && run.state != store::RunState::Live)
                m_window->archive()->moveTo({ QString::fromStdString(run.id) }, QStringLiteral("kept"));
        }
        QTRY_VERIFY_WITH_TIMEOUT(
            m_window->toaster()->shown().join(u'\n').contains(QStringLiteral("in this folder already")), 20'000);
        QVERIFY(QFile::exists(QString::fromStdString(pathIn("") + "2026-01-02_gpt-12l_abc123.telltale")));
    }

    void pinnedRunsShowItAndStay()
    {
        twoOfOurs();
        QVERIFY(!m_window->commands()->action("run.unpin")->isEnabled());
        m_window->commands()->action("run.pin")->trigger();
        const auto pinned = [this] {
            return std::count_if(archived().begin(), archived().end(), [](const auto& run) { return run.isPinned; });
        };
        QTRY_COMPARE_WITH_TIMEOUT(pinned(), 2, 20'000);
        QVERIFY(store::Pins::read(m_dir->path().toStdString())->has(archived().front().locator));
        QTRY_VERIFY(!m_window->commands()->action("run.pin")->isEnabled());
        m_window->commands()->action("run.unpin")->trigger();
        QTRY_COMPARE_WITH_TIMEOUT(pinned(), 0, 20'000);
        // A list that cannot be read frees nothing, and says so.
        QFile pins(m_dir->filePath(QStringLiteral("pins")));
        QVERIFY(pins.open(QIODevice::WriteOnly | QIODevice::Truncate));
        pins.write("[");
        pins.close();
        m_window->commands()->action("run.pin")->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(
            m_window->toaster()->shown().join(u'\n').contains(QStringLiteral("the list of pinned runs cannot be read")),
            20'000);
    }

    void theTrashGivesBackAndAsksBeforeItDeletesForGood()
    {
        twoOfOurs();
        QStringList questions;
        bool answer = true;
        m_window->runActions()->setConfirm([&](const QString& question) {
            questions.append(question);
            return answer;
        });
        m_window->commands()->action("run.delete")->trigger();
        QCOMPARE(questions.size(), 1);
        QVERIFY2(questions.front().contains(QStringLiteral("2 runs")), qPrintable(questions.front()));
        QTRY_COMPARE_WITH_TIMEOUT(archived().size(), std::size_t { 0 }, 20'000);
        m_window->commands()->action("run.trash")->trigger();
        auto* dialog = m_window->findChild<QDialog*>(QStringLiteral("trashDialog"));
        auto* tree = dialog->findChild<QTreeView*>(QStringLiteral("trashTree"));
        auto* restore = dialog->findChild<QAbstractButton*>(QStringLiteral("trashRestore"));
        auto* erase = dialog->findChild<QAbstractButton*>(QStringLiteral("trashErase"));
        const auto* said = dialog->findChild<QLabel*>(QStringLiteral("trashSaid"));
        QTRY_COMPARE_WITH_TIMEOUT(tree->model()->rowCount(), 2, 20'000);
        QVERIFY(
            dialog->findChild<QLabel*>(QStringLiteral("trashAll"))->text().contains(QStringLiteral("2 runs take ")));
        // One whose place is taken stays, and says why.
        const std::string first = pathIn("") + "2026-01-02_gpt-12l_abc123.telltale";
        QFile taken(QString::fromStdString(first));
        QVERIFY(taken.open(QIODevice::WriteOnly));
        tree->selectAll();
        restore->click();
        QTRY_COMPARE_WITH_TIMEOUT(tree->model()->rowCount(), 1, 20'000);
        QVERIFY2(said->text().contains(QStringLiteral("another run has its place")), qPrintable(said->text()));
        QVERIFY(QFile::exists(QString::fromStdString(pathIn("") + "2026-01-03_other_def456.telltale")));
        QCOMPARE(store::listTrash(m_dir->path().toStdString()).size(), std::size_t { 1 });
        QVERIFY(taken.remove());
        m_window->driver()->refreshArchive();
        // For good only where the answer is yes.
        answer = false;
        QTRY_VERIFY(erase->isEnabled());
        tree->setFocus();
        QTest::keyClick(tree, Qt::Key_Delete);
        QCOMPARE(questions.size(), 2);
        QVERIFY2(questions.back().contains(QStringLiteral("for good")), qPrintable(questions.back()));
        QCOMPARE(store::listTrash(m_dir->path().toStdString()).size(), std::size_t { 1 });
        answer = true;
        erase->click();
        QTRY_COMPARE_WITH_TIMEOUT(tree->model()->rowCount(), 0, 20'000);
        QVERIFY(store::listTrash(m_dir->path().toStdString()).empty());
        QVERIFY(!erase->isEnabled() && !restore->isEnabled());
        QTRY_COMPARE_WITH_TIMEOUT(archived().size(), std::size_t { 1 }, 20'000);
    }

    void everyControlOfTheArchiveHasAName()
    {
        twoOfOurs();
        for (const char* id : { "run.move", "run.trash" })
            m_window->commands()->action(id)->trigger();
        for (const char* id : { "folderDialog", "trashDialog" }) {
            const auto* dialog = m_window->findChild<QDialog*>(QString::fromLatin1(id));
            QVERIFY(!dialog->windowTitle().isEmpty());
            for (const QWidget* widget : dialog->findChildren<QWidget*>()) {
                const auto* button = qobject_cast<const QAbstractButton*>(widget);
                if (widget->focusPolicy() != Qt::NoFocus)
                    QVERIFY2(!widget->accessibleName().isEmpty() || (button && !button->text().isEmpty()),
                        widget->metaObject()->className());
            }
        }
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

    void f8GoesToWhereSomethingBreaks()
    {
        test::DemoCapsule broken(m_elsewhere->path().toStdString(), "2026-01-04_broken_fed789.telltale");
        broken.write(test::DemoCapsule::kFirstBad + 30);
        m_window->openPath(QString::fromStdString(broken.path()));
        QTRY_COMPARE_WITH_TIMEOUT(state()->run()->locator.text(), broken.path(), 20'000);
        QTRY_VERIFY_WITH_TIMEOUT(state()->catalog(), 20'000);
        state()->setKind(Kind::Actv);
        state()->zoomTo({ Step { 0 }, Step { 99 } });
        m_window->views()->setFocus();
        QTest::keyClick(m_window->views(), Qt::Key_F8);
        QTRY_COMPARE_WITH_TIMEOUT(state()->cursor(), std::optional(Step { test::DemoCapsule::kFirstBad }), 20'000);
        QCOMPARE(state()->rank(), Rank { 1 });
        QVERIFY(state()->visibleRange().contains(Step { test::DemoCapsule::kFirstBad }));
        QCOMPARE(state()->selection().size(), std::size_t { 1 });
        QTest::keyClick(m_window->views(), Qt::Key_F8);
        QTRY_VERIFY_WITH_TIMEOUT(*state()->cursor() > Step { test::DemoCapsule::kFirstBad }, 20'000);
        QTest::keyClick(m_window->views(), Qt::Key_F8, Qt::ShiftModifier);
        QTRY_COMPARE_WITH_TIMEOUT(state()->cursor(), std::optional(Step { test::DemoCapsule::kFirstBad }), 20'000);
        QTest::keyClick(m_window->views(), Qt::Key_F8, Qt::ShiftModifier);
        QTRY_VERIFY_WITH_TIMEOUT(!m_window->toaster()->shown().isEmpty(), 20'000);
    }

    void theNextErrorIsOfAnyKind()
    {
        test::DemoCapsule broken(m_elsewhere->path().toStdString(), "2026-01-04_broken_fed789.telltale");
        broken.write(test::DemoCapsule::kFirstBad + 30);
        m_window->openPath(QString::fromStdString(broken.path()));
        QTRY_COMPARE_WITH_TIMEOUT(state()->run()->locator.text(), broken.path(), 20'000);
        QTRY_VERIFY_WITH_TIMEOUT(state()->catalog(), 20'000);
        state()->setKind(Kind::ParamOrigin); // which is whole, as nobody collected it
        QTest::keyClick(m_window->views(), Qt::Key_F8);
        QTRY_COMPARE_WITH_TIMEOUT(state()->cursor(), std::optional(Step { test::DemoCapsule::kFirstBad }), 20'000);
        QVERIFY(state()->kind() != Kind::ParamOrigin);
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

    void aRunWhoseRecorderDiedIsRenamedWhileItIsShown()
    {
        test::DemoCapsule killed(m_elsewhere->path().toStdString(), "2026-01-05_killed_aaa111.telltale");
        killed.write(100, false); // with its log
        m_window->openPath(QString::fromStdString(killed.path()));
        QTRY_COMPARE_WITH_TIMEOUT(state()->run()->locator.text(), killed.path(), 20'000);
        QTRY_VERIFY_WITH_TIMEOUT(state()->catalog(), 20'000);
        QTRY_COMPARE_WITH_TIMEOUT(archived().size(), std::size_t { 2 }, 20'000);
        m_window->runActions()->renameTo(QString::fromStdString(state()->run()->id), QStringLiteral("a better name"));
        QTRY_COMPARE_WITH_TIMEOUT(m_window->windowTitle(), QStringLiteral("a better name \u2013 Telltale"), 20'000);
        QTRY_COMPARE(m_window->findChild<QAbstractButton*>(QStringLiteral("runButton"))->text(),
            QStringLiteral("a better name"));
        QCOMPARE(state()->run()->locator.text(), killed.path());
    }

    void aDamagedRunIsSaidOnceItIsRead()
    {
        test::DemoCapsule damaged(m_elsewhere->path().toStdString(), "2026-01-06_damaged_bbb222.telltale");
        damaged.write(300);
        {
            const auto db = test::CapsuleBuilder::must(store::openDatabase(damaged.path(), store::OpenMode::Write));
            QVERIFY(store::execute(db.get(), "UPDATE tile SET crc=crc+1"));
        }
        m_window->openPath(QString::fromStdString(damaged.path()));
        const auto says = [this] {
            return m_window->toaster()->shown().join(u'\n').contains(QStringLiteral("is damaged from step"));
        };
        QTRY_VERIFY2_WITH_TIMEOUT(says(), qPrintable(m_window->toaster()->shown().join(u'\n')), 20'000);
    }

    void whatIsSeenIsWhatTheRangeSays()
    {
        const auto* box = m_window->findChild<QComboBox*>(QStringLiteral("overviewRange"));
        QCOMPARE(box->currentIndex(), 0);
        state()->zoomTo({ Step { 20 }, Step { 60 } });
        QCOMPARE(box->currentIndex(), -1);
        state()->zoomOutFully();
        QCOMPARE(box->currentIndex(), 0);
    }

    void whatIsNoneOfTheListHasItsRoom()
    {
        const auto widthOf = [](bool isItem) {
            views::ViewBar bar;
            QComboBox* other = bar.addCombo(QString(), QStringLiteral("y"));
            other->addItem(QStringLiteral("a long choice of some words"));
            QComboBox* box = bar.addCombo(QString(), QStringLiteral("range"));
            box->addItems({ QStringLiteral("the whole of the run"), QStringLiteral("zoomed") });
            box->setPlaceholderText(QStringLiteral("zoomed"));
            box->setCurrentIndex(isItem ? 1 : -1);
            bar.resize(other->sizeHint().width() + box->sizeHint().width() + 30, bar.height());
            bar.show();
            QCoreApplication::processEvents();
            return box->width();
        };
        QCOMPARE(widthOf(false), widthOf(true));
    }

    void theWheelZoomsAboutThePointerAndLetsTheNewestStepsGo()
    {
        auto* canvas = m_window->findChild<views::PlotCanvas*>(QStringLiteral("overviewCanvas"));
        QVERIFY(canvas);
        state()->setFollowing(true);
        const QPointF at(canvas->plotRect().left() + canvas->plotRect().width() / 4.0, canvas->plotRect().center().y());
        QWheelEvent wheel(
            at, canvas->mapToGlobal(at), {}, QPoint(0, 120), Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
        QVERIFY(QCoreApplication::sendEvent(canvas, &wheel));
        QCOMPARE(state()->visibleRange().count(), 80);
        QCOMPARE(state()->visibleRange().first, Step { 5 });
        QVERIFY(!state()->isFollowing());
    }

    void theWheelLeavesTheWholeRunAsItIs()
    {
        auto* canvas = m_window->findChild<views::PlotCanvas*>(QStringLiteral("overviewCanvas"));
        const StepRange full = state()->fullRange();
        const QRect plot = canvas->plotRect();
        const auto turn = [&](int x, int angle) {
            const QPointF at(x, plot.center().y());
            QTest::mouseMove(canvas, at.toPoint());
            QWheelEvent wheel(at, canvas->mapToGlobal(at), {}, QPoint(0, angle), Qt::NoButton, Qt::NoModifier,
                Qt::NoScrollPhase, false);
            QCoreApplication::sendEvent(canvas, &wheel);
        };
        for (int x = plot.left(); x <= plot.right(); x += 3) {
            turn(x, -120);
            QCOMPARE(state()->visibleRange(), full);
        }
        for (const int x : { plot.left() + 20, plot.right() - 20 }) {
            for (int notch = 0; notch < 5; ++notch)
                turn(x, 120);
            for (int notch = 0; notch < 6; ++notch)
                turn(plot.left() + plot.right() - x, -120);
            QCOMPARE(state()->visibleRange(), full);
        }
    }

    void aListThatDropsDownHasItsKeysForItself()
    {
        // The platform of the tests says so of every popup.
        QTest::ignoreMessage(QtWarningMsg, "This plugin does not support raise()");
        QTest::ignoreMessage(QtWarningMsg, "This plugin does not support grabbing the keyboard");
        auto* box = m_window->findChild<QComboBox*>(QStringLiteral("overviewRange"));
        box->showPopup();
        QTRY_VERIFY(QApplication::activePopupWidget());
        // As the window system's keys come: who would have it for a shortcut is asked first.
        QKeyEvent key(QEvent::ShortcutOverride, Qt::Key_Space, Qt::NoModifier);
        key.ignore();
        QCoreApplication::sendEvent(box->view(), &key);
        QVERIFY(key.isAccepted());
        // And Return, which pins the cursor elsewhere, takes what the list stands on.
        const int other = box->currentIndex() == 0 ? 1 : 0;
        box->view()->setCurrentIndex(box->model()->index(other, 0));
        QKeyEvent enter(QEvent::ShortcutOverride, Qt::Key_Return, Qt::NoModifier);
        QCoreApplication::sendEvent(box->view(), &enter);
        QVERIFY(enter.isAccepted());
        QTRY_VERIFY(!QApplication::activePopupWidget());
        QCOMPARE(box->currentIndex(), other);
    }

    void theSettingsAreSavedSoonAfterAChange()
    {
        const QString path = settingsPath(m_dir->path().toStdString());
        m_window->views()->setCurrent(QStringLiteral("curves"));
        const auto saved = [&] {
            const auto loaded = settings::load(path);
            return loaded && loaded->settings.activeTab == QLatin1String("curves");
        };
        QTRY_VERIFY_WITH_TIMEOUT(saved(), 20'000);
    }

    void aPanelBehindAnotherComesUpFirst()
    {
        QAction* log = m_window->commands()->action("window.log");
        log->trigger();
        m_window->commands()->action("window.connections")->trigger();
        const auto* panel = m_window->findChild<QDockWidget*>(QStringLiteral("log"))->widget();
        QTRY_VERIFY(panel->visibleRegion().isEmpty());
        log->trigger();
        QTRY_VERIFY(!panel->visibleRegion().isEmpty());
        log->trigger();
        QTRY_VERIFY(!m_window->findChild<QDockWidget*>(QStringLiteral("log"))->isVisible());
        // Also one that is a tab and fills all of its dock.
        QAction* connections = m_window->commands()->action("window.connections");
        const auto* dock = m_window->findChild<QDockWidget*>(QStringLiteral("connections"));
        QTRY_VERIFY(dock->isVisible() && !dock->widget()->visibleRegion().isEmpty());
        connections->trigger();
        QTRY_VERIFY(!dock->isVisible());
    }

    void aRankThatBreaksIsSeenFromTheStart()
    {
        test::DemoCapsule broken(m_elsewhere->path().toStdString(), "2026-01-04_broken_fed789.telltale");
        broken.write(test::DemoCapsule::kFirstBad + 30);
        m_window->openPath(QString::fromStdString(broken.path()));
        QTRY_COMPARE_WITH_TIMEOUT(state()->run()->locator.text(), broken.path(), 20'000);
        QTRY_COMPARE_WITH_TIMEOUT(state()->rank(), Rank { 1 }, 20'000);

        // On the healthy rank the lane still says where another is not, and so does the tree.
        state()->setRank(Rank { 0 });
        m_window->views()->setCurrent(QStringLiteral("heatmap"));
        auto* canvas = m_window->findChild<views::HeatCanvas*>(QStringLiteral("heatmapCanvas"));
        const auto laneAt = [&](Step step) {
            const QRect plot = canvas->plotRect();
            return QPoint(plot.left()
                    + static_cast<int>(views::SharedAxis::xOfStep(canvas->picture()->result.range, step, plot.width())),
                plot.top() - 12);
        };
        QTRY_VERIFY_WITH_TIMEOUT(canvas->picture() != nullptr, 20'000);
        QTRY_COMPARE_WITH_TIMEOUT(canvas->otherRanksText(laneAt(Step { test::DemoCapsule::kFirstBad + 3 })),
            QStringLiteral("not finite on rank 1"), 20'000);
        QCOMPARE(canvas->otherRanksText(laneAt(Step { 100 })), QString());
        const auto* tree = m_window->findChild<QTreeView*>(QStringLiteral("modulesTree"));
        const auto hint = [&] {
            for (int row = 0; row < tree->model()->rowCount(); ++row) {
                if (tree->model()->index(row, 0).data().toString() == QLatin1String("layers"))
                    return tree->model()->index(row, 0).data(Qt::ToolTipRole).toString();
            }
            return QString();
        };
        QTRY_VERIFY_WITH_TIMEOUT(hint().contains(QStringLiteral("rank 1")), 20'000);
    }

    void everyFileThatCannotBeOpenedIsNamedOnce()
    {
        QStringList bad;
        for (const char* name : { "a.telltale", "b.telltale", "c.telltale" }) {
            QFile file(m_elsewhere->filePath(QString::fromLatin1(name)));
            QVERIFY(file.open(QIODevice::WriteOnly));
            if (name[0] != 'a')
                file.write(QByteArray(5000, 'x'));
            bad.append(file.fileName());
        }
        const store::RunRef before = state()->run();
        m_window->openCapsules(bad);
        QTRY_COMPARE_WITH_TIMEOUT(m_window->toaster()->shown().size(), 3, 20'000);
        QCOMPARE(state()->run(), before);
        const auto* table = m_window->findChild<QTableView*>(QStringLiteral("logTable"));
        for (const QString& path : bad) {
            int lines = 0;
            for (int row = 0; row < table->model()->rowCount(); ++row)
                lines += table->model()->index(row, 4).data().toString().contains(path) ? 1 : 0;
            QVERIFY2(lines == 1, qPrintable(path + QString::number(lines)));
        }
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
        const QString own = firstId();
        const QString other = QString::fromStdString(archived().back().id);
        m_window->driver()->compare(own, { other });
        QTRY_VERIFY_WITH_TIMEOUT(state()->comparedRun() && state()->catalog(), 20'000);
        QVERIFY2(names.contains(state()->comparedName()), qPrintable(state()->comparedName()));
        QVERIFY(state()->comparedName().contains(QStringLiteral(" #")));
        QVERIFY(state()->runName(0).contains(QStringLiteral(" #")));
        QVERIFY(state()->runName(0) != state()->runName(1));
    }

    void theInspectorNamesTheKindOfItsNumbers()
    {
        const auto* kind = m_window->findChild<QLabel*>(QStringLiteral("inspectorKind"));
        state()->setKind(Kind::Actv);
        state()->setSelection({ { QStringLiteral("pos_emb"), Slot::output() } });
        QVERIFY2(kind->text() == views::kindText(Kind::Actv), qPrintable(kind->text()));
        // Another kind goes to what has it; what is chosen then all the same has none.
        state()->setKind(Kind::GradReduced);
        QCOMPARE(kind->text(), views::kindText(Kind::GradReduced));
        state()->setSelection({ { QStringLiteral("pos_emb"), Slot::output() } });
        QVERIFY(kind->text().startsWith(views::kindText(Kind::GradReduced)));
        QVERIFY2(kind->text().contains(QStringLiteral("of its parameters")), qPrintable(kind->text()));
        state()->setKind(Kind::Actv);
        state()->setSelection({ { QStringLiteral("pos_emb.weight"), {} } });
        QVERIFY2(kind->text().contains(QStringLiteral("not collected")), qPrintable(kind->text()));
    }

    void theInspectorSaysInASentenceThatThereIsNothing()
    {
        const std::string path
            = (m_dir->path() + QStringLiteral("/runs/2026-01-04_late_fff777.telltale")).toStdString();
        test::CapsuleBuilder builder(path);
        const auto early = builder.addLayout(Kind::Actv, { Stat::Norm, Stat::Mean }, { "early" });
        const auto late = builder.addLayout(Kind::Actv, { Stat::Norm, Stat::Mean }, { "late" });
        std::vector<StepBlock> blocks;
        for (int step = 0; step < 40; ++step) {
            for (const auto& layout : { early, late }) {
                if (layout == late && step < 20)
                    continue;
                StepBlock& block = blocks.emplace_back();
                block.layout = layout;
                block.step = Step { step };
                block.columns = { { Stat::Norm, std::vector<float> { 2 } }, { Stat::Mean, std::vector<float> { 1 } } };
            }
        }
        builder.stage(builder.addAttempt(Rank { 0 }, 0), std::move(blocks));
        builder.commit();
        builder.releaseAll();
        builder.finish();
        m_window->openPath(QString::fromStdString(path));
        QTRY_VERIFY_WITH_TIMEOUT(state()->catalog() && state()->catalog()->steps.last == Step { 39 }, 20'000);
        const auto* nothing = m_window->findChild<QLabel*>(QStringLiteral("inspectorNothing"));
        const auto* values = nothing->parentWidget()->findChild<QWidget*>(QString(), Qt::FindDirectChildrenOnly);
        for (auto* table : nothing->parentWidget()->findChildren<views::FactTable*>())
            values = table->accessibleName() == QStringLiteral("Values at the cursor") ? table : values;
        state()->setKind(Kind::Actv);
        state()->setSelection({ { QStringLiteral("late"), {} } });
        state()->setCursor(Step { 7 });
        QTRY_COMPARE_WITH_TIMEOUT(nothing->text(), QStringLiteral("Not collected at step 7."), 20'000);
        QVERIFY(!nothing->isHidden() && values->isHidden());
        state()->setCursor(Step { 30 });
        QTRY_VERIFY_WITH_TIMEOUT(nothing->isHidden() && !values->isHidden(), 20'000);
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
        const auto said = [filter] {
            for (const auto* label : filter->parentWidget()->findChildren<QLabel*>()) {
                if (label->isVisible() && label->text().contains(QStringLiteral("slashes")))
                    return label->text();
            }
            return QString();
        };
        QTRY_COMPARE(said(),
            QStringLiteral("The regular expression between the slashes cannot be read: missing closing parenthesis. "
                           "Mend it, or remove the slashes to look for the text itself."));
    }

    void theLastFiniteValueHasTheUnitOfItsRow()
    {
        const auto hintOf = [](Stat stat) {
            views::FactTable::Row row { {}, { { QStringLiteral("NaN"), true, {} } } };
            views::addLastFinite(row, stat, { views::LastFinite { 0.25, Step { 359 } } });
            return row.values.front().hint;
        };
        QCOMPARE(hintOf(Stat::Zeros), QStringLiteral("last finite 25.00\u00A0% at 359"));
        QCOMPARE(hintOf(Stat::Norm), QStringLiteral("last finite 0.2500 at 359"));
    }

    void theInspectorShowsWhereAModuleIsCalledFromAndWhatPassedThroughIt()
    {
        const auto* stack = m_window->findChild<QLabel*>(QStringLiteral("inspectorStack"));
        const auto* passed = m_window->findChild<QLabel*>(QStringLiteral("inspectorPassed"));
        // The stack was taken at step 1; the cursor before it hides nothing, another kind neither.
        state()->setCursor(Step { 0 });
        for (const Kind kind : { Kind::Actv, Kind::GradReduced }) {
            state()->setKind(kind);
            const bool isOfParameter = kind == Kind::GradReduced;
            state()->setSelection(
                { { QStringLiteral("layers.7.attn.qkv") + (isOfParameter ? QStringLiteral(".weight") : QString()),
                    isOfParameter ? Slot {} : Slot::output() } });
            // What comes from the training process is no HTML; the last part of a frame's path is a link that copies
            // all of it.
            QTRY_COMPARE_WITH_TIMEOUT(QTextDocumentFragment::fromHtml(stack->text()).toPlainText().simplified(),
                QStringLiteral("b>:41 forward y = f(x)"), 20'000);
            QMetaObject::invokeMethod(
                const_cast<QLabel*>(stack), "linkActivated", Q_ARG(QString, stack->text().section(u'"', 1, 1)));
            QCOMPARE(QGuiApplication::clipboard()->text(), QStringLiteral("<b>model.py</b>:41"));
            QCOMPARE(passed->text(),
                QStringLiteral("input: list[1]\n  0  size=(8, 64), dtype=torch.float32\n"
                               "output: tensor\n  size=(8, 192), dtype=torch.float32"));
            QVERIFY(!stack->isHidden() && !passed->isHidden());
        }
        state()->setKind(Kind::Actv);
        state()->setSelection({ { QStringLiteral("pos_emb"), Slot::output() } });
        QTRY_VERIFY_WITH_TIMEOUT(stack->isHidden() && passed->isHidden(), 20'000);
    }

    void thePaletteFindsThemesAndRuns()
    {
        m_window->openPath(m_other);
        QTRY_COMPARE_WITH_TIMEOUT(archived().size(), std::size_t { 2 }, 20'000);
        QTRY_COMPARE(QString::fromStdString(state()->run()->locator.text()), m_other);
        const auto choose = [this](const QString& text) {
            QTest::keyClick(m_window.get(), Qt::Key_K, Qt::ControlModifier);
            auto* field = m_window->findChild<QWidget*>(QStringLiteral("commandPalette"))->findChild<QLineEdit*>();
            QTest::keyClicks(field, text);
            QTest::keyClick(field, Qt::Key_Return);
        };
        choose(QStringLiteral("abc123"));
        QTRY_VERIFY(QString::fromStdString(state()->run()->locator.text()) != m_other);
        choose(QStringLiteral("Theme: Light"));
        QTRY_COMPARE_WITH_TIMEOUT(
            settings::load(settingsPath(m_dir->path().toStdString()))->settings.theme, QStringLiteral("light"), 20'000);
    }

    void thePaletteSaysThatItFoundNothing()
    {
        QTest::keyClick(m_window.get(), Qt::Key_K, Qt::ControlModifier);
        auto* palette = m_window->findChild<QWidget*>(QStringLiteral("commandPalette"));
        QTest::keyClicks(palette->findChild<QLineEdit*>(), QStringLiteral("qqqqzz"));
        const auto* list = palette->findChild<QListWidget*>();
        QCOMPARE(list->count(), 1);
        QCOMPARE(list->item(0)->text(), QStringLiteral("nothing found"));
        QTest::keyClick(palette->findChild<QLineEdit*>(), Qt::Key_Return);
        QVERIFY(!palette->isVisible());
    }

    void thePaletteHasWhatIsCalledSoFirstAndSaysWhatItIs()
    {
        QTest::keyClick(m_window.get(), Qt::Key_K, Qt::ControlModifier);
        auto* palette = m_window->findChild<QWidget*>(QStringLiteral("commandPalette"));
        const auto* list = palette->findChild<QListWidget*>();
        const auto detail = [list](const QString& text) {
            for (int row = 0; row < list->count(); ++row) {
                if (list->item(row)->text() == text)
                    return list->item(row)->data(Qt::UserRole + 1).toString();
            }
            return QString();
        };
        QTest::keyClicks(palette->findChild<QLineEdit*>(), QStringLiteral("run"));
        QCOMPARE(list->item(0)->text(), QStringLiteral("Run"));
        QVERIFY2(detail(QStringLiteral("Run")).startsWith(QStringLiteral("view")),
            qPrintable(detail(QStringLiteral("Run"))));
        QCOMPARE(detail(QStringLiteral("Runs")), QStringLiteral("panel"));
        QVERIFY(detail(QStringLiteral("Open a run")).startsWith(QStringLiteral("command \u00b7 ")));
        palette->findChild<QLineEdit*>()->clear();
        QTest::keyClicks(palette->findChild<QLineEdit*>(), QStringLiteral("layers.7.attn.qkv"));
        QCOMPARE(detail(QStringLiteral("layers.7.attn.qkv")), QStringLiteral("module"));
        QCOMPARE(detail(QStringLiteral("layers.7.attn.qkv.weight")), QStringLiteral("parameter"));
        QTest::keyClick(palette->findChild<QLineEdit*>(), Qt::Key_Escape);
    }

    void thePaletteFindsWhatTheTrainingLogged()
    {
        QTest::keyClick(m_window.get(), Qt::Key_K, Qt::ControlModifier);
        auto* palette = m_window->findChild<QWidget*>(QStringLiteral("commandPalette"));
        auto* field = palette->findChild<QLineEdit*>();
        const auto* list = palette->findChild<QListWidget*>();
        QTest::keyClicks(field, QStringLiteral("grad-norm"));
        QCOMPARE(list->item(0)->text(), QStringLiteral("grad-norm"));
        QCOMPARE(list->item(0)->data(Qt::UserRole + 1).toString(), QStringLiteral("scalar"));
        QTest::keyClick(field, Qt::Key_Return);
        QCOMPARE(m_window->views()->currentId(), QStringLiteral("curves"));
        QCOMPARE(state()->selection().size(), std::size_t { 1 });
        QCOMPARE(state()->selection().front().name, QStringLiteral("grad-norm"));
        const auto* curves = m_window->views()->currentView()->findChild<views::CurveCanvas*>();
        QTRY_VERIFY_WITH_TIMEOUT(curves->picture() && !curves->picture()->isEmpty()
                && curves->picture()->series.front().row.kind == Kind::Scalar
                && curves->picture()->series.front().row.key.name == QStringLiteral("grad-norm"),
            20'000);
    }

    void thePaletteGoesToAStep()
    {
        state()->zoomTo({ Step { 60 }, Step { 90 } });
        QTest::keyClick(m_window.get(), Qt::Key_K, Qt::ControlModifier);
        auto* palette = m_window->findChild<QWidget*>(QStringLiteral("commandPalette"));
        auto* field = palette->findChild<QLineEdit*>();
        QTest::keyClicks(field, QStringLiteral("step 30"));
        QTest::keyClick(field, Qt::Key_Return);
        QCOMPARE(state()->cursor(), std::optional(Step { 30 }));
        QVERIFY(state()->visibleRange().contains(Step { 30 }));
        QTest::keyClick(m_window->views(), Qt::Key_Backspace);
        QCOMPARE(state()->visibleRange().first, Step { 60 });
        QTest::keyClick(m_window->views(), Qt::Key_Backspace, Qt::ShiftModifier);
        QVERIFY(state()->visibleRange().contains(Step { 30 }));
    }

    void theLogKeepsWhatTheToastsSaid()
    {
        auto* dock = m_window->findChild<QDockWidget*>(QStringLiteral("log"));
        QVERIFY(!dock->isVisible());
        ConnectionInfo refused;
        refused.agentId = "node/3";
        refused.rank = Rank { 3 };
        refused.peer = "127.0.0.1:5000";
        refused.lastRefusal = "wrong token";
        m_agents = { refused };
        m_window->showProblem(QStringLiteral("the disk is full"));
        auto* table = m_window->findChild<QTableView*>(QStringLiteral("logTable"));
        QTRY_COMPARE_WITH_TIMEOUT(table->model()->rowCount(), 2, 20'000);
        m_window->commands()->action("window.log")->trigger();
        QTRY_VERIFY(dock->isVisible());
        auto* filter = m_window->findChild<QLineEdit*>(QStringLiteral("logFilter"));
        filter->setText(QStringLiteral("token"));
        QCOMPARE(table->model()->rowCount(), 1);
        QCOMPARE(table->model()->index(0, 2).data().toString(), QStringLiteral("3"));
        table->selectRow(0);
        table->setFocus();
        QTest::keyClick(table, Qt::Key_C, Qt::ControlModifier);
        QVERIFY(QGuiApplication::clipboard()->text().endsWith(QStringLiteral("127.0.0.1:5000: wrong token")));
    }

private:
    /// With two runs of the data directory; the other one is shown.
    void twoOfOurs()
    {
        m_window->runActions()->importFile(m_other);
        QTRY_COMPARE_WITH_TIMEOUT(archived().size(), std::size_t { 2 }, 20'000);
        QTRY_COMPARE_WITH_TIMEOUT(
            state()->run()->locator.text(), pathIn("") + "2026-01-03_other_def456.telltale", 20'000);
        QTRY_VERIFY_WITH_TIMEOUT(state()->catalog(), 20'000);
        auto* tree = m_window->findChild<QTreeView*>(QStringLiteral("runsTree"));
        QTRY_VERIFY(m_window->findChild<views::RunsPanel*>()->highlightedIds().size() == 1);
        tree->selectAll();
    }
    std::string pathIn(const std::string& folder) const
    {
        return m_dir->path().toStdString() + "/runs/" + (folder.empty() ? folder : folder + '/');
    }
    /// Of the toast that begins so.
    void clickUndo(const QString& sentence)
    {
        for (const Toast* toast : m_window->findChildren<Toast*>()) {
            for (auto* button : toast->findChildren<QAbstractButton*>()) {
                if (toast->sentence().startsWith(sentence) && button->text() == QStringLiteral("Undo"))
                    return button->click();
            }
        }
        QFAIL(qPrintable(m_window->toaster()->shown().join(u'\n')));
    }
    void drop(const QStringList& paths)
    {
        QList<QUrl> urls;
        for (const QString& path : paths)
            urls << QUrl::fromLocalFile(path);
        dropUrls(urls);
    }
    void dropUrls(const QList<QUrl>& urls)
    {
        QMimeData data;
        data.setUrls(urls);
        QDragEnterEvent enter(QPoint(300, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(m_window.get(), &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent event(QPointF(300, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(m_window.get(), &event);
    }

    std::atomic_bool m_isSlowRunning { false };
    views::ViewState* state() const { return m_window->state(); }
    const std::vector<store::RunSummary>& archived() const
    {
        return m_window->driver()->runs()->runs(items::RunsModel::ArchivedGroup);
    }
    QString firstId() const { return QString::fromStdString(archived().front().id); }

    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<QTemporaryDir> m_elsewhere;
    QString m_other;
    std::vector<ConnectionInfo> m_agents;
    std::unique_ptr<store::QueryPool> m_pool;
    std::unique_ptr<MainWindow> m_window;
};

TELLTALE_TEST(QTEST_MAIN, ShellActionsTest)

}

#include "shellactionstest.moc"
