// SPDX-License-Identifier: GPL-3.0-or-later
// Notes on a step or on a range of steps, as a person writes, changes, removes and sees them.
#include "testmain.h"

#include <QDialog>
#include <QPlainTextEdit>
#include <QTableView>

#include <telltale/plot/curvecanvas.h>
#include <telltale/shell/commandregistry.h>
#include <telltale/shell/toaster.h>
#include <telltale/store/stepnote.h>

#include "deskwindow.h"

namespace stepnotestest {

using namespace telltale;
using namespace telltale::shell;

class StepNotesTest : public QObject, test::DeskWindow {
    Q_OBJECT
private Q_SLOTS:
    void init() { openWindow(); }
    void cleanup() { closeWindow(); }

    void aNoteIsWrittenChangedRemovedAndBroughtBack()
    {
        auto* canvas = m_window->findChild<views::HeatmapView*>()->canvas();
        canvas->setFocus();
        state()->setCursor(Step { 40 });
        const QImage before = canvas->renderTo({ 800, 400 });
        writeNote(QStringLiteral("batch size doubled"));
        QTRY_COMPARE_WITH_TIMEOUT(state()->notes().size(), std::size_t { 1 }, kWaitMs);
        const store::StepNote note = state()->notes().front();
        QCOMPARE(note.text, std::string("batch size doubled"));
        QCOMPARE(note.steps.first, Step { 40 });
        QVERIFY(canvas->renderTo({ 800, 400 }) != before); // its mark

        // In the log it is a line that can be changed and removed.
        m_window->commands()->action("window.log")->trigger();
        auto* log = m_window->findChild<QTableView*>(QStringLiteral("logTable"));
        const auto rowOf = [&](const QString& text) {
            for (int row = 0; row < log->model()->rowCount(); ++row) {
                for (int column = 0; column < log->model()->columnCount(); ++column) {
                    if (log->model()->index(row, column).data().toString() == text)
                        return row;
                }
            }
            return -1;
        };
        QTRY_VERIFY_WITH_TIMEOUT(rowOf(QStringLiteral("batch size doubled")) >= 0, kWaitMs);
        log->setCurrentIndex(log->model()->index(rowOf(QStringLiteral("batch size doubled")), 0));
        QTest::keyClick(log, Qt::Key_F2);
        auto* dialog = noteDialog();
        QVERIFY(dialog && QTest::qWaitForWindowActive(dialog));
        auto* text = dialog->findChild<QPlainTextEdit*>(QStringLiteral("noteText"));
        QCOMPARE(text->toPlainText(), QStringLiteral("batch size doubled"));
        text->setPlainText(QStringLiteral("batch size halved"));
        QTest::keyClick(text, Qt::Key_Return, Qt::ControlModifier);
        QTRY_COMPARE_WITH_TIMEOUT(state()->notes().front().text, std::string("batch size halved"), kWaitMs);
        QCOMPARE(state()->notes().size(), std::size_t { 1 });

        QTRY_VERIFY_WITH_TIMEOUT(rowOf(QStringLiteral("batch size halved")) >= 0, kWaitMs);
        log->setCurrentIndex(log->model()->index(rowOf(QStringLiteral("batch size halved")), 0));
        QTest::keyClick(log, Qt::Key_Delete);
        QTRY_VERIFY_WITH_TIMEOUT(state()->notes().front().isRemoved, kWaitMs);
        QTRY_VERIFY(rowOf(QStringLiteral("batch size halved (removed)")) >= 0);
        QCOMPARE(canvas->renderTo({ 800, 400 }), before);
        m_window->commands()->action("edit.undo")->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(!state()->notes().front().isRemoved, kWaitMs);
        m_window->commands()->action("edit.undo")->trigger();
        QTRY_COMPARE_WITH_TIMEOUT(state()->notes().front().text, std::string("batch size doubled"), kWaitMs);
        m_window->commands()->action("edit.undo")->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(state()->notes().front().isRemoved, kWaitMs); // as if it was never written
        m_window->commands()->action("edit.redo")->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(!state()->notes().front().isRemoved, kWaitMs);
    }

    void aNoteBetweenTheMarksIsOfARange()
    {
        m_window->findChild<views::HeatmapView*>()->canvas()->setFocus();
        state()->setMarks(Step { 60 }, Step { 20 });
        writeNote(QStringLiteral("warm-up"));
        QTRY_COMPARE_WITH_TIMEOUT(state()->notes().size(), std::size_t { 1 }, kWaitMs);
        QCOMPARE(state()->notes().front().steps.first, Step { 20 });
        QCOMPARE(state()->notes().front().steps.last, Step { 60 });
    }

    void withoutAStepANoteSaysWhatItNeeds()
    {
        m_window->findChild<views::HeatmapView*>()->canvas()->setFocus();
        state()->setCursor({});
        state()->setHover({});
        m_window->commands()->action("edit.note")->trigger();
        QVERIFY(!noteDialog());
        QVERIFY(m_window->toaster()->shown().constLast().contains(QStringLiteral("click into a plot")));
    }

    void aNoteOfManyStepsTintsNoCell()
    {
        auto* view = m_window->findChild<views::HeatmapView*>();
        auto* canvas = view->canvas();
        QTRY_VERIFY_WITH_TIMEOUT(view->isSettled() && canvas->picture(), kWaitMs);
        const QRect plot = canvas->plotRect();
        const auto rightHalf
            = [&] { return canvas->grab(QRect(plot.center(), plot.bottomRight() - QPoint(4, 4))).toImage(); };
        const QImage before = rightHalf();
        store::StepNote note;
        note.steps = { state()->fullRange().first, state()->fullRange().last };
        note.text = "all of it";
        QVERIFY(m_store->append({ 0, state()->run()->locator, Rank { -1 }, note.event() }));
        QTRY_COMPARE_WITH_TIMEOUT(state()->notes().size(), std::size_t { 1 }, kWaitMs);
        QCOMPARE(rightHalf(), before);
    }

private:
    QDialog* noteDialog() const { return m_window->findChild<QDialog*>(QStringLiteral("noteDialog")); }

    void writeNote(const QString& words)
    {
        QTest::keyClick(m_window->focusWidget(), Qt::Key_N);
        QDialog* dialog = noteDialog();
        QVERIFY(dialog && QTest::qWaitForWindowActive(dialog));
        auto* text = dialog->findChild<QPlainTextEdit*>(QStringLiteral("noteText"));
        QTest::keyClicks(text, words);
        QTest::keyClick(text, Qt::Key_Return, Qt::ControlModifier);
        QTRY_VERIFY(!noteDialog());
    }
};

TELLTALE_TEST(QTEST_MAIN, StepNotesTest)

}

#include "stepnotestest.moc"
