// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <QDateTime>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QTreeWidget>

#include <telltale/anomalies/glyphline.h>
#include <telltale/anomalies/incidentcard.h>
#include <telltale/anomalies/incidentreach.h>
#include <telltale/anomalies/incidentsentence.h>
#include <telltale/anomalies/incidenttimes.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/incidentsmodel.h>
#include <telltale/items/incidentwords.h>
#include <telltale/shell/mainwindow.h>
#include <telltale/shell/tabbadge.h>
#include <telltale/shell/viewtabs.h>
#include <telltale/translations/translations.h>

#include "anomalieswindow.h"
#include "incidentfixture.h"

namespace incidentcardtest {

using namespace telltale;
using namespace telltale::items;
using judge::Annotation;

/// What the card of an incident says, and what a person says there. Thread: the test's.
class IncidentCardTest : public QObject, protected test::AnomaliesWindow {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { writeRun(); }
    void cleanup() { closeWindow(); }

    void whatAPersonSaysIsWrittenAndShown()
    {
        open({ test::richIncident(360) });
        views::ViewState* state = m_window->state();
        const auto* badge = m_window->findChild<shell::TabBadge*>();
        QCOMPARE(badge->count(), 1);
        QVERIFY(badge->isVisible());
        auto* card = m_window->findChild<QDockWidget*>(QStringLiteral("anomalies"))->findChild<views::IncidentCard*>();
        auto* acknowledge = card->findChild<QPushButton*>(QStringLiteral("incidentAcknowledge"));
        auto* note = card->findChild<QLineEdit*>(QStringLiteral("incidentNote"));
        QTest::mouseClick(acknowledge, Qt::LeftButton);
        const auto incident = [&] { return state->incidents()->incident(0); };
        QTRY_VERIFY_WITH_TIMEOUT(incident().isAcknowledged, 20'000);
        QCOMPARE(badge->count(), 0);
        QVERIFY(!badge->isVisible() && !acknowledge->isEnabled());
        QTest::keyClicks(note, QStringLiteral("the loss scale"));
        QTest::keyClick(note, Qt::Key_Return);
        QTRY_COMPARE_WITH_TIMEOUT(incident().notes, std::vector<std::string> { "the loss scale" }, 20'000);
        // In a view Return pins the cursor, but not in a field there.
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        auto* inView = m_window->views()->currentView()->findChild<QLineEdit*>(QStringLiteral("incidentNote"));
        inView->setFocus();
        const auto cursor = state->cursor();
        QTest::keyClicks(inView, QStringLiteral("seen"));
        QTest::keyClick(inView, Qt::Key_Return);
        QTRY_COMPARE_WITH_TIMEOUT(incident().notes.size(), std::size_t { 2 }, 20'000);
        QCOMPARE(state->cursor(), cursor);
        m_window->views()->setCurrent(QStringLiteral("heatmap"));
        QTest::mouseClick(card->findChild<QPushButton*>(QStringLiteral("incidentFalse")), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(incident().label, judge::Incident::Label::False, 20'000);
        QVERIFY(card->findChild<QPushButton*>(QStringLiteral("incidentFalse"))->isChecked());
        // The table has room for what was said, which comes while it is shown.
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        const auto* table = m_window->views()->currentView()->findChild<QTableView*>(QStringLiteral("incidentTable"));
        const int column = items::IncidentsModel::StateColumn;
        const QString said = table->model()->index(0, column).data().toString();
        QVERIFY2(said.startsWith(QStringLiteral("false alarm")), qPrintable(said));
        QTRY_VERIFY(
            table->columnWidth(column) > QFontMetrics(views::wordsFont(12)).horizontalAdvance(said.left(26)) + 16);
        QVERIFY(QString::fromUtf8(m_window->views()->currentView()->renderSvg({ 819, 600 }))
                    .contains(QStringLiteral("false alarm, acknowledged"))); // in a picture, too, whose table cuts it
        m_window->views()->setCurrent(QStringLiteral("heatmap"));
        // What it reached, and one of it.
        QTest::mouseClick(card->findChild<QPushButton*>(QStringLiteral("incidentFolded")), Qt::LeftButton);
        auto* reach = card->findChild<QTreeWidget*>(QStringLiteral("incidentReach"));
        QVERIFY(reach->isVisible());
        // The name in the title loses its front, and none of it is cut without a word.
        const int whole = card->width();
        card->setFixedWidth(400);
        QCoreApplication::processEvents();
        const QLabel* title = nullptr;
        for (const auto* label : card->findChildren<QLabel*>())
            title = label->text().startsWith(QStringLiteral("Folded into")) ? label : title;
        QVERIFY2(title && title->text().contains(QChar(0x2026)), title ? qPrintable(title->text()) : "no title");
        QTRY_VERIFY(title->width() >= title->fontMetrics().horizontalAdvance(title->text()));
        card->setFixedWidth(whole);
        QCoreApplication::processEvents();
        QCOMPARE(reach->topLevelItemCount(), 6);
        QVERIFY(reach->header()->length() <= reach->viewport()->width());
        QVERIFY(!reach->horizontalScrollBar()->isVisible());
        for (int row = 0; row < 6; ++row) // none is cut, nor touches its rank
            QVERIFY(reach->columnWidth(0)
                > 16 + QFontMetrics(views::codeFont(12)).horizontalAdvance(reach->topLevelItem(row)->text(0)));
        QTest::mouseClick(
            reach->viewport(), Qt::LeftButton, {}, reach->visualItemRect(reach->topLevelItem(1)).center());
        QCOMPARE(state->cursor(), std::optional(Step { 361 }));
        QTest::mouseClick(
            reach->viewport(), Qt::LeftButton, {}, reach->visualItemRect(reach->topLevelItem(0)).center());
        QVERIFY(!state->selection().empty());
        QVERIFY(state->selection().front().name.startsWith(reach->topLevelItem(0)->text(0)));
    }

    void theListCountsWhatCameLaterAsTheCardDoes()
    {
        judge::Incident incident = test::incidentAt(150);
        incident.reach = { { "layers.6", Rank { 1 }, { Step { 150 }, Step { 150 } }, 3 },
            { "layers.7", Rank { 1 }, { Step { 150 }, Step { 150 } }, 4 } };
        incident.folded = 6; // and the first
        QCOMPARE(views::IncidentReach::laterFindings(incident), std::vector<std::uint64_t>({ 3, 3 }));
        incident.folded = 7;
        QCOMPARE(views::IncidentReach::laterFindings(incident), std::vector<std::uint64_t>({ 3, 4 }));
    }

    void whoDoesNotRecordSaysWhyNothingCanBeWritten()
    {
        open({ test::richIncident(360) }, false);
        const auto* card
            = m_window->findChild<QDockWidget*>(QStringLiteral("anomalies"))->findChild<views::IncidentCard*>();
        for (const char* name : { "incidentAcknowledge", "incidentTrue", "incidentFalse" })
            QVERIFY2(!card->findChild<QPushButton*>(QLatin1String(name))->isEnabled(), name);
        QVERIFY(!card->findChild<QLineEdit*>(QStringLiteral("incidentNote"))->isEnabled());
        const auto* why = card->findChild<QLabel*>(QStringLiteral("incidentWhyNot"));
        QVERIFY(why->isVisible() && why->text().contains(QStringLiteral("Another Telltale")));
        QVERIFY(card->findChild<QPushButton*>(QStringLiteral("incidentSource"))->isEnabled());
    }

    void aCardWithoutAnIncidentHasNothingLeftOfOne()
    {
        open({ test::richIncident(360) });
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        auto* card = m_window->views()->currentView()->findChild<views::IncidentCard*>();
        card->setFixedSize(560, 134); // in one row of buttons
        auto* folded = card->findChild<QPushButton*>(QStringLiteral("incidentFolded"));
        QTRY_VERIFY(folded->isVisible());
        m_window->state()->setRun({});
        QTRY_VERIFY(!folded->isVisible());
    }

    void whatIsSaidOfAnIncidentHasRoomInALowCard()
    {
        open({ test::richIncident(360) });
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        auto* card = m_window->views()->currentView()->findChild<views::IncidentCard*>();
        card->setFixedWidth(560);
        for (const int height : { 170, 134 }) { // in two rows, and in one
            card->setFixedHeight(height);
            QCoreApplication::processEvents();
            for (const char* name : { "incidentAcknowledge", "incidentTrue", "incidentFalse", "incidentFolded" })
                QTRY_VERIFY2(card->findChild<QPushButton*>(QLatin1String(name))->isVisible(), name);
            QCOMPARE(card->findChild<QLineEdit*>(QStringLiteral("incidentNote"))->isVisible(), height == 170);
            const auto* sentence = card->findChild<QLabel*>(QStringLiteral("incidentSentence"));
            QTRY_VERIFY(sentence->visibleRegion().boundingRect().height() >= 2 * sentence->fontMetrics().height());
        }
        QTest::mouseClick(card->findChild<QPushButton*>(QStringLiteral("incidentFalse")), Qt::LeftButton);
        card->setMinimumWidth(0);
        QTRY_VERIFY2(
            card->minimumSizeHint().width() < 400, qPrintable(QString::number(card->minimumSizeHint().width())));
        QTRY_COMPARE_WITH_TIMEOUT(
            m_window->state()->incidents()->incident(0).label, judge::Incident::Label::False, 20'000);
    }

    void evidenceThatHasNoRoomIsCountedAndNoneSaysWhatTheSentenceDoes()
    {
        judge::Incident incident = test::richIncident(360);
        judge::Finding again = incident.first;
        again.name = "head.weight";
        again.sentence = "an element is +Inf";
        incident.evidence.insert(incident.evidence.begin(), again);
        open({ incident });
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        auto* card = m_window->views()->currentView()->findChild<views::IncidentCard*>();
        const auto shown = [card] {
            QStringList texts;
            for (const auto* line : card->findChildren<views::GlyphLine*>()) {
                const auto* label = line->findChild<QLabel*>();
                if (line->isVisible() && label->font().pixelSize() == views::wordsFont(12).pixelSize())
                    texts.append(label->text());
            }
            return texts;
        };
        card->setFixedSize(560, 400);
        QTRY_COMPARE(shown().size(), 3);
        QVERIFY2(shown().front().startsWith(QStringLiteral("norm left its own history")), qPrintable(shown().front()));
        for (int height = 300; height > 134; height -= 6) {
            card->setFixedHeight(height);
            QCoreApplication::processEvents();
            const QStringList texts = shown();
            if (!texts.isEmpty() && texts.size() < 3)
                QVERIFY2(texts.back().endsWith(QStringLiteral(" and %1 more").arg(3 - texts.size())),
                    qPrintable(texts.join(u'|')));
        }
    }

    /// What the rows of the list leave is the card's, until somebody says otherwise.
    void theCardHasTheRoomThatTheListLeaves()
    {
        judge::Incident incident = test::richIncident(360);
        incident.evidence.insert(incident.evidence.end(), 3, incident.evidence.front());
        open({ incident });
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        auto* view = m_window->views()->currentView();
        auto* card = view->findChild<views::IncidentCard*>();
        auto* split = view->findChild<QSplitter*>();
        m_window->resize(1000, 700);
        QTRY_VERIFY(card->wholeHeight() > 190);
        QTRY_VERIFY2(card->height() >= card->wholeHeight() || split->sizes()[0] <= 100,
            qPrintable(QStringLiteral("%1 of %2").arg(card->height()).arg(card->wholeHeight())));
        m_window->resize(1000, 1100);
        QTRY_VERIFY(card->height() >= card->wholeHeight());
        split->setSizes({ 1000, 1 });
        Q_EMIT split->splitterMoved(split->sizes()[0], 1);
        m_window->resize(1000, 1050);
        QCoreApplication::processEvents();
        QCOMPARE(card->height(), 190);
    }

    void theEdgeOfALowCardGoesThroughNoLine()
    {
        judge::Incident incident = test::richIncident(360);
        incident.first.name = "model.decoder.layers.7.self_attention.linear_qkv.of.a.model.with.long.names";
        open({ incident });
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        auto* card = m_window->views()->currentView()->findChild<views::IncidentCard*>();
        const auto* sentence = card->findChild<QLabel*>(QStringLiteral("incidentSentence"));
        const QWidget* page = sentence->parentWidget();
        const auto* scroll = qobject_cast<QScrollArea*>(page->parentWidget()->parentWidget());
        card->setFixedSize(300, 400);
        QTRY_COMPARE(scroll->verticalScrollBar()->maximum(), 0);
        int scrolled = 0;
        for (int height = 300; height >= 134; height -= 3) {
            card->setFixedHeight(height);
            QTest::qWait(1);
            bool isEvidenceHidden = true;
            for (const auto* line : page->findChildren<views::GlyphLine*>())
                isEvidenceHidden = isEvidenceHidden && line->isHidden();
            QVERIFY(!isEvidenceHidden);
            const int edge = scroll->viewport()->height();
            if (scroll->verticalScrollBar()->maximum() == 0)
                continue;
            ++scrolled;
            for (const auto* label : page->findChildren<QLabel*>()) {
                if (label->isHidden() || label->parentWidget()->isHidden())
                    continue;
                const int top = label->mapTo(page, QPoint()).y();
                const int lines = std::max(1, label->height() / label->fontMetrics().height());
                for (int line = 0; line < lines; ++line) {
                    const int from = top + label->height() * line / lines;
                    const int to = top + label->height() * (line + 1) / lines;
                    QVERIFY2(edge <= from + 1 || edge >= to - 1, qPrintable(label->text()));
                }
            }
        }
        QVERIFY(scrolled > 0);
    }

    void noWordStandsUnderTheScrollBarOfALowCard()
    {
        judge::Incident incident = test::richIncident(360);
        incident.evidence.front().sentence += ", which is said in so many words that no line has room for all of them";
        incident.notes = { "a note" };
        open({ incident });
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        auto* card = m_window->views()->currentView()->findChild<views::IncidentCard*>();
        const QWidget* page = card->findChild<QLabel*>(QStringLiteral("incidentSentence"))->parentWidget();
        const auto* scroll = qobject_cast<QScrollArea*>(page->parentWidget()->parentWidget());
        int scrolled = 0;
        for (const int height : { 134, 190 }) {
            for (int width = 380; width < 460; width += 4) {
                card->setFixedSize(width, height);
                QTest::qWait(1);
                scrolled += scroll->verticalScrollBar()->isVisible() ? 1 : 0;
                QVERIFY2(page->width() <= scroll->viewport()->width(), qPrintable(QString::number(width)));
            }
        }
        QVERIFY(scrolled > 0);
    }

    /// Also where the card comes from an incident of which more stood in that row.
    void theHeadIsCutWithDotsBesideTheButtonOfAnotherIncident()
    {
        judge::Incident few = test::incidentAt(100);
        open({ few, test::richIncident(360) });
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        auto* card = m_window->views()->currentView()->findChild<views::IncidentCard*>();
        const auto* hint = card->findChild<QLabel*>(QStringLiteral("incidentHint"));
        const auto* incidents = m_window->state()->incidents();
        card->setFixedSize(428, 134);
        for (const int row : { 1, 0, 1, 0, 1 }) {
            m_window->state()->goToIncident(incidents->incident(row).id);
            Q_EMIT m_window->state()->incidents()->changed(); // before a button that came to another row is shown
            card->setFixedHeight(133 + row);
            QTest::qWait(20);
            QVERIFY2(hint->fontMetrics().horizontalAdvance(hint->text()) <= hint->width(), qPrintable(hint->text()));
        }
    }

    void evidenceIsCutOnlyWhereItHasNoRoomForAnotherLine()
    {
        judge::Incident incident = test::richIncident(360);
        incident.ties.clear();
        open({ incident });
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        auto* card = m_window->views()->currentView()->findChild<views::IncidentCard*>();
        card->setFixedSize(300, 400);
        const auto* page = card->findChild<QLabel*>(QStringLiteral("incidentSentence"))->parentWidget();
        QTRY_VERIFY(!page->findChild<views::GlyphLine*>()->isHidden());
        int mixed = 0;
        for (int height = 400; height >= 200; height -= 3) {
            card->setFixedHeight(height);
            int wrapped = 0, cut = 0;
            for (const auto* line : page->findChildren<views::GlyphLine*>()) {
                const auto* label = line->findChild<QLabel*>();
                cut += !line->isHidden() && label->text().endsWith(QChar(0x2026)) ? 1 : 0;
                wrapped += !line->isHidden() && label->wordWrap()
                        && label->fontMetrics().horizontalAdvance(label->text()) > 276 - views::GlyphLine::kIndent
                    ? 1
                    : 0;
            }
            mixed += wrapped > 0 && cut > 0 ? 1 : 0;
        }
        QVERIFY(mixed > 0);
    }

    void theCardIsAsWideAsItsButtons()
    {
        open({ test::richIncident(360) });
        const auto* dock = m_window->findChild<QWidget*>(QStringLiteral("anomaliesPanel"));
        const auto* card = dock->findChild<views::IncidentCard*>();
        const auto* folded = card->findChild<QPushButton*>(QStringLiteral("incidentFolded"));
        QTRY_VERIFY(folded->isVisible());
        card->findChild<QPushButton*>(QStringLiteral("incidentSource"))->setIconSize({ 400, 16 });
        Q_EMIT m_window->state()->incidents()->changed();
        QTRY_VERIFY2(folded->mapTo(card, folded->rect().topRight()).x() < card->width() - 12,
            qPrintable(QString::number(folded->mapTo(card, folded->rect().topRight()).x())));
        QTRY_VERIFY(card->geometry().right() <= dock->width());
    }

    void theCardGrowsWithTheButtonsOfAnotherIncident()
    {
        judge::Incident few = test::richIncident(360);
        few.folded = 1;
        judge::Incident many = test::richIncident(100);
        many.folded = 123'456;
        open({ few, many });
        const auto* dock = m_window->findChild<QWidget*>(QStringLiteral("anomaliesPanel"));
        const auto* card = dock->findChild<views::IncidentCard*>();
        const auto* folded = card->findChild<QPushButton*>(QStringLiteral("incidentFolded"));
        card->findChild<QPushButton*>(QStringLiteral("incidentSource"))->setIconSize({ 200, 16 });
        const auto* incidents = m_window->state()->incidents();
        QTRY_COMPARE(incidents->rowCount(), 2);
        for (int row = 0; row < 2; ++row) {
            m_window->state()->goToIncident(incidents->incident(row).id);
            QTRY_COMPARE(m_window->state()->incident(), incidents->incident(row).id);
            QTRY_VERIFY2(folded->mapTo(card, folded->rect().topRight()).x() < card->width() - 12,
                qPrintable(QString::number(folded->mapTo(card, folded->rect().topRight()).x())));
        }
    }

    void theHeadOfANarrowCardIsCutWithDots()
    {
        open({ test::richIncident(360) });
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        auto* card = m_window->views()->currentView()->findChild<views::IncidentCard*>();
        const auto* hint = card->findChild<QLabel*>(QStringLiteral("incidentHint"));
        card->setFixedSize(800, 200);
        QCoreApplication::processEvents();
        const QString whole = hint->text();
        QVERIFY(whole.startsWith(QStringLiteral("critical, ")));
        for (const int width : { 420, 230, 190 }) {
            card->setFixedWidth(width);
            QCoreApplication::processEvents();
            QVERIFY2(hint->fontMetrics().horizontalAdvance(hint->text()) <= hint->width(), qPrintable(hint->text()));
            QVERIFY(hint->geometry().right() <= card->width());
        }
        QVERIFY2(hint->text().endsWith(QChar(0x2026)), qPrintable(hint->text()));
        QVERIFY(hint->toolTip().startsWith(whole));
    }

    void whereNothingIsWrongTheCardSaysHowFarItWasLooked()
    {
        const auto words = [this] {
            QString all;
            const auto* dock = m_window->findChild<QWidget*>(QStringLiteral("anomaliesPanel"));
            for (const auto* label : dock->findChild<QWidget*>(QStringLiteral("incidentCard"))->findChildren<QLabel*>())
                all += label->isVisible() ? label->text() + u'|' : QString();
            return all;
        };
        open({});
        QTRY_VERIFY2(words().startsWith(QStringLiteral("Nobody has judged this run|")), qPrintable(words()));
        open({}, true, { { { Step { 0 }, Step { 399 } }, 412, 2, 17 } });
        QTRY_COMPARE(words(),
            QStringLiteral("Nothing is wrong up to step 399|17 rules looked at 412 tensors and scalars of 2 ranks.|"));
        open({}, true, { { { Step { 10 }, Step { 99 } }, 7, 1, 3 }, { { Step { 200 }, Step { 300 } }, 7, 1, 3 } });
        QTRY_COMPARE(words(),
            QStringLiteral("Nothing is wrong up to step 300|3 rules looked at 7 tensors and scalars of 1 rank. "
                           "Steps 0-9, 100-199, 301-399 were not judged.|")
                .replace(u'-', QChar(0x2013)));
    }

    void theCardSaysWhenItBeganAndHowLongItHasLasted()
    {
        constexpr std::int64_t kSecond = 1'000'000'000;
        constexpr std::int64_t kBegan = 1'700'000'000 * kSecond;
        judge::Incident incident = test::incidentAt(10);
        incident.lastStep = Step { 49 };
        const views::IncidentTimes times { kBegan, kBegan + 12 * kSecond };
        QCOMPARE(
            times.words(incident, kBegan + 200 * kSecond), QStringLiteral("3 min ago, for 40 steps so far (12 s)"));
        incident.isOver = true;
        incident.lastStep = Step { 10 };
        QCOMPARE(
            times.words(incident, kBegan + 3 * 86400 * kSecond), QStringLiteral("3 days ago, seen over 1 step (12 s)"));
        QCOMPARE(views::IncidentTimes().words(incident, kBegan), QStringLiteral("seen over 1 step"));
        judge::Incident apart = incident;
        apart.first.rule = "replica";
        QCOMPARE(times.words(apart, kBegan + 200 * kSecond), QStringLiteral("3 min ago"));
        QVERIFY(views::IncidentTimes().date().isEmpty());
        const QString date
            = QDateTime::fromSecsSinceEpoch(1'700'000'000).toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"));
        QVERIFY2(times.date().startsWith(date + QStringLiteral(" UTC")), qPrintable(times.date()));
        // The window says it of the run that it shows.
        open({ test::richIncident(360) });
        const auto* dock = m_window->findChild<QWidget*>(QStringLiteral("anomaliesPanel"));
        QVERIFY(dock->findChild<QLabel*>(QStringLiteral("incidentWhen"))->text().contains(QStringLiteral("40 steps")));
    }

    void theNormOfABlockIsItsTotalOneBesideAPartOfIt()
    {
        judge::Finding finding = test::incidentAt(150).first;
        const auto seen = [&finding](const char* sentence) {
            finding.sentence = sentence;
            return items::incidentwords::seen(finding);
        };
        const QString total = QStringLiteral("the total norm of layers.7 is 3 times its usual 2 (z 9)");
        QCOMPARE(seen("the total norm of layers.7 is 3 times its usual 2 (z 9)"), total);
        QCOMPARE(seen("the norm of layers.7 is 3 times its usual 2 (z 9)"), total); // as older records have it
        QCOMPARE(seen("the norm of its block layers.7 is 3 times its usual 2 (z 9)"), total);
        const QString own = QStringLiteral("the norm of layers.7.attn.qkv is 3 times its usual 2 (z 9)");
        QCOMPARE(seen("the norm of layers.7.attn.qkv is 3 times its usual 2 (z 9)"), own);
    }

    void aNumberStaysOnTheLineOfItsUnit()
    {
        judge::Incident incident = test::incidentAt(150);
        incident.first.sentence = "the norm of layers.7 grew by 12.5 % a step, 8 times within 9 steps, to 3e+04";
        incident.sentence = "First abnormal: step 150, rank 1, layers.7, forward: " + incident.first.sentence + ".";
        for (const QString& shown :
            { views::incidentsentence::marked(incident), views::incidentsentence::evidence(incident.first) })
            QVERIFY2(shown.contains(QStringLiteral("12.5\u00A0% ")), qPrintable(shown));
        QVERIFY(incidentwords::card(incident).contains(QStringLiteral("12.5 % ")));
    }

    void evidenceOfTheNormThatTheSentenceNamesIsShort()
    {
        judge::Finding seen = test::incidentAt(150).first;
        const auto evidence = [&](const char* sentence, const char* said) {
            seen.kind = Kind::GradReduced;
            seen.sentence = sentence;
            return views::incidentsentence::evidence(seen, said).replace(QChar(0x00A0), u' ');
        };
        constexpr const char* kSeen = "the total norm of layers.2 is 7.122 times its usual 0.5 (z 9)";
        QCOMPARE(evidence(kSeen, "the total norm of layers.2 is 413.9 times its usual 647.6 (z 81)"),
            QStringLiteral("gradient, reduced: 7.122 times its usual 0.5 (z 9)"));
        QCOMPARE(evidence(kSeen, "the total norm of layers.3 is 413.9 times its usual 647.6 (z 81)"),
            QStringLiteral("gradient, reduced: ") + QLatin1String(kSeen));
        constexpr const char* kGrown = "the norm of layers.7 grew by 12.5 % a step, 8 times within 9 steps, to 3e+04";
        QVERIFY(evidence(kGrown, kGrown).contains(QStringLiteral("layers.7 grew")));
        constexpr const char* kDiffers = "differs on rank 2 from the other 3 ranks that held the same bits until then";
        QCOMPARE(evidence(kDiffers, kDiffers), QStringLiteral("gradient, reduced: ") + QLatin1String(kDiffers));
    }

    void noNumberIsCutIntoAnother()
    {
        const QFontMetrics metrics(views::wordsFont(12));
        const QString text
            = QStringLiteral("the total norm of blocks.2 is 5.24 times its usual 1\u202F243.5 (z\u00A010)");
        const int whole = metrics.horizontalAdvance(text);
        QCOMPARE(views::incidentsentence::elided(text, metrics, whole), text);
        for (int width = metrics.horizontalAdvance(text.left(12)); width < whole; ++width) {
            const QString cut = views::incidentsentence::elided(text, metrics, width);
            QVERIFY2(metrics.horizontalAdvance(cut) <= width && cut.endsWith(QChar(0x2026)), qPrintable(cut));
            const QString kept = cut.chopped(1);
            QVERIFY2(text.startsWith(kept), qPrintable(cut));
            const QChar next = text[kept.size()];
            QVERIFY2(
                !kept.back().isDigit() || !(next.isDigit() || next == u'.' || next == QChar(0x202F)), qPrintable(cut));
        }
    }

    void whatWasSeenIsSaidInTheLanguageOfTheWindow()
    {
        judge::Incident incident = test::incidentAt(150);
        incident.first.sentence = "NaN in 3, +Inf in 1 of 1,024 elements";
        incident.sentence
            = "First abnormal: step 150, rank 1, layers.7.attn.qkv:output, forward: NaN in 3, +Inf in 1 of "
              "1,024 elements. Its inputs and weights were finite.";
        QCOMPARE(items::incidentwords::card(incident),
            QString::fromStdString(incident.sentence).replace(QLatin1String("1,024"), QStringLiteral("1\u202F024")));
        judge::Incident ofWeights = incident; // recorded with the phase's own word
        ofWeights.phase = judge::Phase::Updated;
        ofWeights.sentence.replace(ofWeights.sentence.find("forward"), 7, "updated");
        QVERIFY(items::incidentwords::card(ofWeights).contains(QStringLiteral("qkv:output, after the step: NaN in 3")));
        QVERIFY(translations::install(*qApp, QStringLiteral("zh_CN")));
        QCOMPARE(items::incidentwords::card(incident),
            QStringLiteral(
                "首个异常：第 150 步，rank 1，layers.7.attn.qkv:output，前向：1\u202F024 个元素中有 3 个 NaN，1 个 "
                "+Inf。其输入和权重均为有限值。"));
        QVERIFY(views::incidentsentence::marked(incident).contains(QStringLiteral("<b>第 150 步，rank 1</b>")));
        const auto seen = [&incident](const char* sentence) {
            incident.first.sentence = sentence;
            return items::incidentwords::seen(incident.first);
        };
        QCOMPARE(seen("the norm of layers.1 is 3 times that of the median of 4 ranks that do the same (z 9)"),
            QStringLiteral("layers.1 的范数是做同样工作的 4 个 rank 的中位数的 3 倍（z 9）"));
        QCOMPARE(
            seen("the norm of layers.1 grew by 2.0 % a step, 5 times within 24 steps, to 7; at this rate its largest "
                 "magnitude, 8, overflows f16 at about step 900"),
            QStringLiteral(
                "layers.1 的范数每步增长 2.0 %，24 步内增至 5 倍，达到 7；照此速度，其最大绝对值 8 约在第 900 步超出 "
                "f16 的范围"));
        QCOMPARE(
            seen("unlike the attempt before it, the learning rate is 0.1, and was 0.01; the optimizer has no first "
                 "moments, which 7 tensors had"),
            QStringLiteral("与上一次尝试不同，学习率为 0.1，此前为 0.01；优化器没有一阶矩，而此前有 7 个张量有"));
        // A block has a norm of each kind.
        incident.first.kind = Kind::GradReduced;
        incident.first.sentence = "the norm of layers.1 is 3 times its usual 2 (z 9)";
        QCOMPARE(views::incidentsentence::evidence(incident.first),
            views::kindText(Kind::GradReduced) + QStringLiteral("：layers.1 的范数是平常值 2 的 3 倍（z\u00a09）"));
        QCOMPARE(views::incidentsentence::evidence(test::incidentAt(150).first),
            seen(test::incidentAt(150).first.sentence.c_str()));
        // All of its ranks, the last of which in its third step.
        incident.first.step = Step { 400 };
        incident.reach = { { "layers.1", Rank { 0 }, { Step { 402 }, Step { 500 } }, 1 },
            { "layers.2", Rank { 0 }, { Step { 407 }, Step { 500 } }, 1 },
            { "layers.1", Rank { 1 }, { Step { 400 }, Step { 500 } }, 1 } };
        QCOMPARE(views::IncidentReach::reachedBy(incident), Step { 402 });
        // What this program does not know stays as it was recorded; so does a card around it.
        QCOMPARE(seen("hums in B flat"), QStringLiteral("hums in B flat"));
        incident.sentence = "Somewhere, something";
        QCOMPARE(items::incidentwords::card(incident), QStringLiteral("Somewhere, something"));
    }
};

TELLTALE_TEST(QTEST_MAIN, IncidentCardTest)

}

#include "incidentcardtest.moc"
