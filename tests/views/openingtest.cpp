// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <QAbstractButton>
#include <QApplication>
#include <QDir>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFile>
#include <QLabel>
#include <QMimeData>
#include <QTableView>
#include <QUrl>

#include <telltale/runs/runspanel.h>
#include <telltale/shell/commandregistry.h>
#include <telltale/shell/runactions.h>

#include "sourcepath.h"
#include "tworunswindow.h"

namespace openingtest {

using namespace telltale;
using namespace telltale::shell;

/// Files that are opened, dropped and imported, and what is said of those that cannot be. Thread: the test's.
class OpeningTest : public QObject, test::TwoRunsWindow {
    Q_OBJECT
private Q_SLOTS:
    void init() { openWindow(); }
    void cleanup() { closeWindow(); }

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

private:
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
};

TELLTALE_TEST(QTEST_MAIN, OpeningTest)

}

#include "openingtest.moc"
