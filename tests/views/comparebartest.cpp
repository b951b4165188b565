// SPDX-License-Identifier: GPL-3.0-or-later
#include "shots.h"
#include "testmain.h"

#include <QComboBox>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>

#include <telltale/compare/comparebar.h>
#include <telltale/heatmap/heatcanvas.h>

#include "comparedruns.h"

namespace comparebartest {

using namespace telltale;
using namespace telltale::views;
using series::CellState;

/// What is compared, and how it is chosen. Thread: the test's.
class CompareBarTest : public QObject, test::ComparedRuns {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { writeRuns(); }
    void init() { openWindow(); }
    void cleanup() { closeWindow(); }

    void itOpensOnWhatAllRunsHave()
    {
        const auto catalog = test::CapsuleBuilder::must(reader("more")->catalog());
        m_state->setRun(handle("more"));
        m_state->setCatalog(catalog);
        m_state->setFullRange(catalog->steps);
        m_state->setKind(Kind::ExpAvg);
        compareWith({ "moments" });
        settle();
        QCOMPARE(m_state->kind(), Kind::ExpAvg); // which is shown, and which both have
        compareWith({ "moments", "a" });
        settle();
        QCOMPARE(m_state->kind(), Kind::ExpAvg); // nothing is in all of them
        compareWith({ "a" });
        settle();
        QCOMPARE(m_state->kind(), Kind::GradReduced);
        QVERIFY(m_view->map()->picture());
        m_state->setKind(Kind::ExpAvg); // by a person, who may look at what only one has
        settle();
        QCOMPARE(m_state->kind(), Kind::ExpAvg);
        m_view->hide();
        m_view->setVisible(true);
        settle();
        QCOMPARE(m_state->kind(), Kind::GradReduced);
    }

    void theLetterOfTheOtherRunStaysInItsBox()
    {
        compareWith({ "b" });
        settle();
        for (const int width : { 1080, 560 }) {
            m_view->resize(width, 700);
            QTRY_COMPARE(m_view->width(), width);
            QCOMPARE(
                m_view->findChild<QComboBox*>(QStringLiteral("compareAgainst"))->currentText(), QStringLiteral("B: b"));
        }
    }

    void theRankStaysThatAnotherRunHas()
    {
        show("ranks");
        m_state->setRank(Rank { 1 });
        compareWith({ "more ranks", "a" }); // which has one rank
        settle();
        QCOMPARE(m_state->rank(), Rank { 1 });
        compareWith({ "a" }); // nothing could be seen of both
        settle();
        QCOMPARE(m_state->rank(), Rank { 0 });
    }

    void runsAreChosenFromAListWithASearch()
    {
        m_state->setComparedRuns({});
        settle();
        QVERIFY(m_view->emptyText().contains(u'“' + m_view->bar()->runsButton()->text() + u'”'));
        QTest::mouseClick(m_view->bar()->runsButton(), Qt::LeftButton);
        auto* chooser = m_view->findChild<QWidget*>(QStringLiteral("compareChooser"));
        QVERIFY(chooser && chooser->isVisible());
        auto* list = chooser->findChild<QListWidget*>();
        QCOMPARE(list->count(), static_cast<int>(m_runs.size()) - 1); // without the one that is shown
        chooser->findChild<QLineEdit*>()->setText(QStringLiteral("SE"));
        QStringList seen;
        for (int row = 0; row < list->count(); ++row) {
            if (!list->item(row)->isHidden())
                seen.append(list->item(row)->text());
        }
        QCOMPARE(seen, (QStringList { QStringLiteral("seed") }));
        QTest::keyClick(chooser->findChild<QLineEdit*>(), Qt::Key_Down);
        list->setCurrentItem(list->findItems(QStringLiteral("seed"), Qt::MatchExactly).front());
        QTest::keyClick(list, Qt::Key_Space);
        QTRY_COMPARE(m_state->comparedRuns().size(), std::size_t { 1 });
        list->findItems(QStringLiteral("b"), Qt::MatchExactly).front()->setCheckState(Qt::Checked);
        QTRY_COMPARE(m_state->comparedRuns().size(), std::size_t { 2 });
        QCOMPARE(m_state->runName(1), QStringLiteral("seed"));
        list->findItems(QStringLiteral("seed"), Qt::MatchExactly).front()->setCheckState(Qt::Unchecked);
        QTRY_COMPARE(m_state->comparedRuns().size(), std::size_t { 1 });
        QCOMPARE(m_state->runName(1), QStringLiteral("b"));
        QTest::keyClick(list, Qt::Key_Escape);
        QVERIFY(!chooser->isVisible());
        settle();
        QVERIFY(m_view->map()->picture());
    }

    void theEmptyViewSaysHowManyRunsCanBeChosen()
    {
        m_state->setComparedRuns({});
        settle();
        QVERIFY(m_runs.size() > 8);
        QVERIFY2(m_view->emptyText().contains(QStringLiteral(" 7 others")), qPrintable(m_view->emptyText()));
        std::vector<store::RunSummary> archived = m_model->runs(items::RunsModel::ArchivedGroup);
        archived.resize(3);
        m_model->setArchived(archived);
        QVERIFY2(m_view->emptyText().contains(QStringLiteral(" 2 others")), qPrintable(m_view->emptyText()));
        archived.resize(1);
        m_model->setArchived(archived);
        QVERIFY2(m_view->emptyText().contains(QStringLiteral("no other run")), qPrintable(m_view->emptyText()));
    }

    void aClickOnARowChangesItsBoxWhereverItIs()
    {
        m_state->setComparedRuns({});
        settle();
        QTest::mouseClick(m_view->bar()->runsButton(), Qt::LeftButton);
        auto* chooser = m_view->findChild<QWidget*>(QStringLiteral("compareChooser"));
        auto* list = chooser->findChild<QListWidget*>();
        QListWidgetItem* item = list->findItems(QStringLiteral("b"), Qt::MatchExactly).front();
        const QRect row = list->visualItemRect(item);
        const QPoint box(row.left() + 10, row.center().y());
        Qt::CheckState state = item->checkState();
        for (const QPoint& at : { box, box, row.center(), box, row.center(), row.center(), box, box }) {
            QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, at);
            QVERIFY(item->checkState() != state);
            state = item->checkState();
        }
        QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, box);
        QTest::mouseDClick(list->viewport(), Qt::LeftButton, {}, box);
        QCOMPARE(item->checkState(), state);
        QTest::mouseClick(list->viewport(), Qt::RightButton, {}, box);
        QCOMPARE(item->checkState(), state);
        QTest::keyClick(list, Qt::Key_Escape);
    }

    void aRunIsCalledHereAsEverywhere()
    {
        m_state->setComparedRuns({});
        m_state->setIsSharedName([this](const QString& name) { return m_model->isSharedName(name); });
        settle();
        const auto called = [this] {
            for (const auto* label : m_view->bar()->findChildren<QLabel*>()) {
                if (label->text().startsWith(QStringLiteral("A: ")))
                    return label->text().mid(3);
            }
            return QString();
        };
        QCOMPARE(called(), QStringLiteral("a"));
        store::RunSummary live;
        live.id = "77777777";
        live.name = "a";
        m_model->setLive({ live });
        QCOMPARE(m_state->runName(0), QStringLiteral("a #a"));
        QCOMPARE(called(), m_state->runName(0));
        m_model->setLive({});
        QCOMPARE(called(), QStringLiteral("a"));
    }

    void theButtonOfTheListStaysWhereItIs()
    {
        QPushButton* button = m_view->bar()->runsButton();
        m_state->setComparedRuns({});
        settle();
        const QRect alone(button->mapTo(m_view, QPoint()), button->size());
        compareWith({ "b", "seed" });
        settle();
        QTRY_VERIFY(m_view->findChild<QComboBox*>(QStringLiteral("compareAgainst"))->isVisible());
        QCOMPARE(QRect(button->mapTo(m_view, QPoint()), button->size()), alone);
        QVERIFY(m_view->findChild<QComboBox*>(QStringLiteral("compareRows"))->isVisible());
        QVERIFY(!m_view->findChild<QComboBox*>(QStringLiteral("compareRank"))->isVisible()); // there is one alone
    }

    void aRunIsFoundByWhenItBegan()
    {
        store::RunSummary summary;
        summary.locator = store::RunLocator::ofFile(path("b"));
        summary.id = summary.name = "b";
        summary.createdNs = 1'700'000'000'000'000'000;
        m_model->setArchived({ summary });
        QTest::mouseClick(m_view->bar()->runsButton(), Qt::LeftButton);
        auto* chooser = m_view->findChild<QWidget*>(QStringLiteral("compareChooser"));
        const QListWidgetItem* item = chooser->findChild<QListWidget*>()->item(0);
        QCOMPARE(item->text(), QStringLiteral("b")); // its date has a column of its own
        chooser->findChild<QLineEdit*>()->setText(QStringLiteral("11-1")); // the 14th or, far in the east, the 15th
        QVERIFY(!item->isHidden());
        chooser->findChild<QLineEdit*>()->setText(QStringLiteral("11-2"));
        QVERIFY(item->isHidden());
    }

    void nothingToCompareWithSaysSo()
    {
        m_state->setComparedRuns({});
        settle();
        QVERIFY(!m_view->map()->picture());
        QVERIFY(m_view->renderImage({ 800, 500 }).save(test::shot(QStringLiteral("compare-none.png"))));
    }
};

TELLTALE_TEST(QTEST_MAIN, CompareBarTest)

}

#include "comparebartest.moc"
