// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <QLineEdit>
#include <QListWidget>

#include <telltale/plot/curvecanvas.h>
#include <telltale/shell/startup.h>
#include <telltale/shell/viewtabs.h>

#include "tworunswindow.h"

namespace palettetest {

using namespace telltale;
using namespace telltale::shell;

/// The command palette: what it finds, and where that goes. Thread: the test's.
class PaletteTest : public QObject, test::TwoRunsWindow {
    Q_OBJECT
private Q_SLOTS:
    void init() { openWindow(); }
    void cleanup() { closeWindow(); }

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
};

TELLTALE_TEST(QTEST_MAIN, PaletteTest)

}

#include "palettetest.moc"
