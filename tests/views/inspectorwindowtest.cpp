// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <QClipboard>
#include <QLabel>
#include <QTextDocumentFragment>

#include <telltale/common/kindtext.h>
#include <telltale/runs/facttable.h>
#include <telltale/runs/inspectortext.h>

#include "tworunswindow.h"

namespace inspectorwindowtest {

using namespace telltale;
using namespace telltale::shell;

/// What the inspector says in a window of what is chosen there. Thread: the test's.
class InspectorWindowTest : public QObject, test::TwoRunsWindow {
    Q_OBJECT
private Q_SLOTS:
    void init() { openWindow(); }
    void cleanup() { closeWindow(); }

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
};

TELLTALE_TEST(QTEST_MAIN, InspectorWindowTest)

}

#include "inspectorwindowtest.moc"
