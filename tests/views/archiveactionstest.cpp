// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <QAbstractButton>
#include <QDialog>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QTemporaryDir>
#include <QTreeView>

#include <telltale/runs/runspanel.h>
#include <telltale/shell/archiveactions.h>
#include <telltale/shell/commandregistry.h>
#include <telltale/shell/runactions.h>
#include <telltale/shell/toast.h>
#include <telltale/store/folders.h>
#include <telltale/store/pins.h>
#include <telltale/store/runfiles.h>
#include <telltale/store/trash.h>

#include "tworunswindow.h"

namespace archiveactionstest {

using namespace telltale;
using namespace telltale::shell;

/// Runs of the archive: imported, copied, moved, pinned, deleted and given back. Thread: the test's.
class ArchiveActionsTest : public QObject, test::TwoRunsWindow {
    Q_OBJECT
private Q_SLOTS:
    void init() { openWindow(); }
    void cleanup() { closeWindow(); }

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
};

TELLTALE_TEST(QTEST_MAIN, ArchiveActionsTest)

}

#include "archiveactionstest.moc"
