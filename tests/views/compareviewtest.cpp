// SPDX-License-Identifier: GPL-3.0-or-later
#include "shots.h"
#include "testmain.h"

#include <QPushButton>

#include <telltale/compare/differencetrees.h>

#include "comparedruns.h"
#include "looks.h"

namespace compareviewtest {

using namespace telltale;
using namespace telltale::views;
using series::CellState;

/// The tables of a comparison, its picture, and its look. Thread: the test's.
class CompareViewTest : public QObject, test::ComparedRuns {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { writeRuns(); }
    void init() { openWindow(); }
    void cleanup() { closeWindow(); }

    void commandsThatDifferAtTheirEndReadUnlikeEachOther()
    {
        FactsTree facts;
        facts.setAttribute(Qt::WA_DontShowOnScreen);
        const std::string run = "/usr/bin/python -u -m telltale train-demo --model moe --ranks 4 --heads 4 --steps ";
        facts.set({ QStringLiteral("a"), QStringLiteral("b"), QStringLiteral("c") },
            { { "environment", "command", { run + "10 --seed 1", run + "20 --seed 2", run + "30 --seed 3" } },
                { "run", "steps", { "0 to 9", "0 to 19", "0 to 29" } } });
        facts.show();
        const auto* command = facts.topLevelItem(0);
        for (const int width : { 1100, 600, 480 }) {
            facts.resize(width, 300);
            QCoreApplication::processEvents();
            const QRect row = facts.visualItemRect(command);
            QVERIFY(row.height() > 30 && row.height() < 100);
            QVERIFY(facts.visualItemRect(facts.topLevelItem(1)).height() <= 26);
            const auto cell = [&](int column) {
                const QRect place(
                    facts.columnViewportPosition(column), row.top(), facts.columnWidth(column), row.height());
                return facts.viewport()->grab(place).toImage();
            };
            QVERIFY2(cell(3) != cell(4), qPrintable(QString::number(width)));
            const auto isColored = [&](int column) { // which differs from the first
                const QImage image = cell(column);
                for (int x = 0; x < image.width(); ++x) {
                    for (int y = 0; y < image.height(); ++y) {
                        if (image.pixelColor(x, y).blue() > image.pixelColor(x, y).red() + 60)
                            return true;
                    }
                }
                return false;
            };
            QVERIFY(isColored(3) && !isColored(2));
            const int padding = 16;
            QVERIFY(
                facts.columnWidth(1) >= padding + QFontMetrics(command->font(1)).horizontalAdvance(command->text(1)));
        }
        QVERIFY(command->toolTip(3).contains(QStringLiteral("-\u2060-\u2060steps 20"))); // breaks at no hyphen
    }

    void checksumsThatDifferAtTheirEndReadUnlikeEachOther()
    {
        FactsTree facts;
        facts.setAttribute(Qt::WA_DontShowOnScreen);
        const std::string sum(60, 'c');
        facts.set({ QStringLiteral("a"), QStringLiteral("b"), QStringLiteral("c") },
            { { "environment", "diff", { sum + "1234", sum + "5678", sum + "1234" + sum } } });
        facts.resize(500, 300);
        facts.show();
        QCoreApplication::processEvents();
        const auto cell = [&](int column) {
            const QRect row = facts.visualItemRect(facts.topLevelItem(0));
            return facts.viewport()
                ->grab(QRect(facts.columnViewportPosition(column), row.top(), facts.columnWidth(column), row.height()))
                .toImage();
        };
        facts.topLevelItem(0)->setData(3, kThemeColorRole, {}); // alike but for what they say
        QVERIFY(cell(2) != cell(3));
        facts.topLevelItem(0)->setData(4, kThemeColorRole, {});
        QVERIFY(cell(2) != cell(4)); // which keeps its end
        QVERIFY(facts.topLevelItem(0)->toolTip(3).contains(QString::fromStdString(sum + "5678")));
    }

    void theWordsOfAFactAreTheWindows()
    {
        FactsTree facts;
        facts.set({ QStringLiteral("a"), QStringLiteral("b") },
            { { "run", "steps", { "0 to 9", "0 to 1239" } }, { "revisions", "rev 2", { {}, "step 1240, /lr 0.1" } },
                { "config", "note", { "step 1240", "0 to 1239" } } });
        const auto shown = [&facts](int row) { return facts.topLevelItem(row)->text(3); };
        QCOMPARE(shown(0), QStringLiteral("from 0 to 1\u202F239"));
        QCOMPARE(shown(1), QStringLiteral("step 1\u202F240, /lr 0.1"));
        QCOMPARE(shown(2), QStringLiteral("0 to 1239")); // which is a person's
    }

    void whatDiffersIsListed()
    {
        compareWith({ "b" });
        const auto* waiting = m_view->findChild<FactsTree*>();
        QTRY_VERIFY(m_view->conformance().isBusy() || m_view->conformance().found());
        QVERIFY(m_view->conformance().found() || waiting->emptyText().contains(QStringLiteral("being compared")));
        choose("compareBelow", static_cast<int>(BelowMap::Facts));
        settle();
        const auto* facts = m_view->findChild<FactsTree*>();
        QVERIFY(facts->isVisible());
        QCOMPARE(facts->topLevelItemCount(), 1);
        QCOMPARE(facts->topLevelItem(0)->text(1), QStringLiteral("start_step"));
        QCOMPARE(facts->topLevelItem(0)->text(2), QStringLiteral("0"));
        QCOMPARE(facts->topLevelItem(0)->text(3), QStringLiteral("10"));
        m_view->resize(690, 500);
        QVERIFY(facts->header()->length() <= facts->viewport()->width()); // all runs are seen
        QCOMPARE(csv(), QByteArray("section,field,a,b\r\nconfig,start_step,0,10\r\n"));
        choose("compareBelow", static_cast<int>(BelowMap::Findings));
        settle();
        auto* findings = m_view->findChild<FindingsTree*>();
        QCOMPARE(findings->topLevelItem(0)->text(FindingsTree::NameColumn), QStringLiteral("layers.3.fc.weight"));
        QTRY_VERIFY(findings->isVisible());
        QVERIFY(findings->header()->length() <= findings->viewport()->width());
        QVERIFY(findings->columnWidth(FindingsTree::BColumn)
            >= findings->fontMetrics().horizontalAdvance(findings->topLevelItem(0)->text(FindingsTree::BColumn)));
        QTest::mouseClick(
            findings->viewport(), Qt::LeftButton, {}, findings->visualItemRect(findings->topLevelItem(0)).center());
        QCOMPARE(m_state->cursor(), std::optional(Step { kParts }));
        QVERIFY(csv().startsWith(
            "what,step,rank,name,slot,kind,statistic,a,b,relative\r\nfirst,120,0,layers.3.fc.weight,"));
    }

    void checksumsLeaveRoomForTheShare()
    {
        QWidget host; // a child has its size at once
        host.setAttribute(Qt::WA_DontShowOnScreen);
        FindingsTree tree(&host);
        tree.resize(360, 120);
        judge::Deviation one;
        one.kind = Kind::GradReduced;
        one.stat = Stat::Norm;
        one.key.name = "tok_emb.weight";
        one.a.state = one.b.state = series::CellState::Value;
        one.a.value = 1.401;
        one.b.value = 1.409;
        one.relative = 0.00542;
        judge::Deviation sum = one;
        sum.stat = Stat::Checksum;
        sum.a.identity = 0xffffffa7388c485d;
        sum.b.identity = 0xffffffbaf9c29c6c;
        judge::Comparison found;
        found.first = { one, sum };
        host.show();
        tree.set(&found);
        const int sums = QFontMetrics(numberFont(12)).horizontalAdvance(QStringLiteral("ffffffa7388c485d"));
        QVERIFY(tree.columnWidth(FindingsTree::AColumn) < sums && tree.columnWidth(FindingsTree::BColumn) < sums);
        QCOMPARE(
            tree.topLevelItem(1)->toolTip(FindingsTree::AColumn).contains(QStringLiteral("ffffffa7388c485d")), true);
        // The half that differs stands there, and all of it where it has room.
        const QTreeWidgetItem* row = tree.topLevelItem(1);
        const auto widthOf = [](const QString& text) { return QFontMetrics(numberFont(12)).horizontalAdvance(text); };
        QCOMPARE(row->text(FindingsTree::AColumn), QStringLiteral("ffffffa7\u2026"));
        QCOMPARE(row->text(FindingsTree::BColumn), QStringLiteral("ffffffba\u2026"));
        for (const int column : { FindingsTree::AColumn, FindingsTree::BColumn })
            QVERIFY(tree.columnWidth(column) > widthOf(row->text(column)));
        tree.resize(1200, 120);
        QCOMPARE(row->text(FindingsTree::AColumn), QStringLiteral("ffffffa7388c485d"));
        found.first[1].b.identity = 0xffffffa7f9c29c6c;
        tree.resize(360, 120);
        tree.set(&found);
        QCOMPARE(tree.topLevelItem(1)->text(FindingsTree::AColumn), QStringLiteral("\u2026388c485d"));
        QCOMPARE(tree.topLevelItem(1)->text(FindingsTree::BColumn), QStringLiteral("\u2026f9c29c6c"));
    }

    void aPictureHasTheTableThatIsShown()
    {
        compareWith({ "b" });
        const auto painted = [this](BelowMap below) {
            choose("compareBelow", static_cast<int>(below));
            settle();
            QImage image(m_view->size(), QImage::Format_ARGB32_Premultiplied);
            image.fill(Theme::current().window);
            QPainter painter(&image);
            m_view->paintPicture(painter, image.size());
            return image.copy(0, image.height() * 7 / 10, image.width(), image.height() * 3 / 10);
        };
        const QImage curves = painted(BelowMap::Lines);
        const QImage facts = painted(BelowMap::Facts);
        QVERIFY(facts != curves);
        QVERIFY(painted(BelowMap::Findings) != facts);
    }

    void aRunThatIsStillRecordedIsComparedOn()
    {
        test::CapsuleBuilder builder(path("live"), "live");
        const std::int64_t stream = builder.addAttempt(Rank { 0 }, 0);
        stage(builder, stream, run("b"), 0, 100);
        m_state->setComparedRuns(
            { { std::make_shared<store::RunHandle>(builder.liveHandle()), reader("a")->catalog().value() } });
        settle();
        QVERIFY(m_view->conformance().found()->isEqual());
        QCOMPARE(m_view->conformance().found()->steps.last, Step { 97 });
        stage(builder, stream, run("b"), 100, 180);
        QTRY_VERIFY_WITH_TIMEOUT(!m_view->conformance().found()->isEqual(), 20'000);
        QCOMPARE(m_view->conformance().found()->first.front().step, Step { kParts });
        m_state->setComparedRuns({});
        settle();
    }

    void itLooksAsItShould_data() { test::addLooks(); }

    void itLooksAsItShould()
    {
        m_host.reset();
        const auto [theme, language] = test::putOnLook();
        openWindow();
        compareWith({ "b", "seed", "other" });
        settle();
        QTest::mouseClick(m_view->findChild<QPushButton*>(QStringLiteral("compareGo")), Qt::LeftButton);
        settle();
        for (const BelowMap below : { BelowMap::Lines, BelowMap::Band, BelowMap::Findings, BelowMap::Facts }) {
            choose("compareBelow", static_cast<int>(below));
            settle();
            QVERIFY(m_view->grab().save(
                test::shot(QStringLiteral("compare-%1-%2-%3.png").arg(theme, language).arg(static_cast<int>(below)))));
        }
        QVERIFY(m_view->renderImage({ 1200, 800 })
                    .save(test::shot(QStringLiteral("compare-picture-%1-%2.png").arg(theme, language))));
    }
};

TELLTALE_TEST(QTEST_MAIN, CompareViewTest)

}

#include "compareviewtest.moc"
