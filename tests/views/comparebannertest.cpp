// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <QFile>
#include <QLabel>
#include <QRegularExpression>
#include <QSignalSpy>

#include <telltale/compare/comparewords.h>
#include <telltale/heatmap/heatcanvas.h>
#include <telltale/items/numbertext.h>
#include <telltale/plot/curvecanvas.h>

#include "comparedruns.h"

namespace comparebannertest {

using namespace telltale;
using namespace telltale::views;
using series::CellState;

/// The sentence of a comparison and the facts below it. Thread: the test's.
class CompareBannerTest : public QObject, test::ComparedRuns {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { writeRuns(); }
    void init() { openWindow(); }
    void cleanup() { closeWindow(); }

    void theSentenceIsTheVerbs_data()
    {
        QTest::addColumn<QString>("other");
        QTest::addColumn<double>("tolerance");
        for (const QString& other : { QStringLiteral("same"), QStringLiteral("b"), QStringLiteral("seed") }) {
            for (const double tolerance : { 0.0, 1e-4, 0.1 })
                QTest::addRow("%s %g", qPrintable(other), tolerance) << other << tolerance;
        }
    }
    void theSentenceIsTheVerbs()
    {
        QFETCH(QString, other);
        QFETCH(double, tolerance);
        compareWith({ other.toStdString() });
        choose("compareTolerance", tolerance);
        settle();
        const auto a = reader("a");
        const auto b = reader(other.toStdString());
        judge::ComparisonWish wish;
        wish.tolerance = tolerance;
        const auto found
            = test::CapsuleBuilder::must(judge::compareRuns({ *a, **a->catalog() }, { *b, **b->catalog() }, wish));
        QVERIFY(m_view->conformance().found());
        QCOMPARE(judge::reportJson(*m_view->conformance().found(), {}), judge::reportJson(found, {}));
        auto* sentence = m_view->findChild<QWidget*>(QStringLiteral("compareSentence"))->parentWidget();
        QString expected = QString::fromStdString(found.sentence());
        if (!found.isEqual()) {
            // The verb says the words that its options take, the window what people read.
            const judge::Deviation& first = found.first.front();
            const auto words
                = QStringLiteral(", %1 %2: ")
                      .arg(QString::fromUtf8(kindName(first.kind)), QString::fromUtf8(statName(first.stat)));
            QVERIFY(expected.contains(words));
            expected.replace(words, QStringLiteral(" (%1; %2): ").arg(kindText(first.kind), statText(first.stat)));
        }
        static const QRegularExpression kNumber(QStringLiteral(R"((?<![\w.])-?\d+(\.\d+)?(e[+-]\d+)?(?![\w.]*\w))"));
        for (qsizetype at = 0; at >= 0;) {
            const auto match = kNumber.match(expected, at);
            const QString number = items::reformatNumber(match.captured());
            expected.replace(match.capturedStart(), match.capturedLength(), number);
            at = match.hasMatch() ? match.capturedStart() + number.size() : -1;
        }
        expected.replace(QLatin1String(": 3 against 3.5"), QLatin1String(": 3.0 against 3.5")); // with as many figures
        QCOMPARE(sentence->accessibleName(), expected);
    }

    /// In the verb's words.
    void aShareOfSignsSaysWhatItIsOf()
    {
        for (const bool isAtMost : { false, true }) {
            for (const std::optional<double> before : { std::optional<double>(), std::optional(1.0) }) {
                judge::Comparison found;
                judge::Comparison::OfSigns& one = found.signs.emplace_back();
                one.key.name = "out.weight";
                one.verdict.suspicious = Step { 1 };
                one.verdict.before = before;
                one.verdict.then = 0.9375;
                one.verdict.isAtMost = isAtMost;
                const QString said = comparisonNotes(found).last();
                const QString words = QString::fromStdString(one.verdict.reason()).section(QStringLiteral(" ("), 0, 0);
                QVERIFY2(said.endsWith(QStringLiteral(": ") + words), qPrintable(said));
            }
        }
    }

    void aSmallDifferenceIsSeenInTheSentence()
    {
        compareWith({ "near" });
        settle();
        const judge::Deviation& one = m_view->conformance().found()->first.front();
        const auto [a, b] = deviationTexts(one);
        QCOMPARE(items::formatValue(one.a.value), items::formatValue(one.b.value));
        QVERIFY2(a != b && a.size() == b.size(), qPrintable(a + QStringLiteral(" against ") + b));
        QCOMPARE(a.chopped(1), b.chopped(1)); // no more digits than tell them apart
        QVERIFY(std::abs(a.toDouble() - one.a.value) < std::abs(one.a.value - one.b.value));
        QVERIFY(std::abs(b.toDouble() - one.b.value) < std::abs(one.a.value - one.b.value));
        const QString text
            = m_view->findChild<QWidget*>(QStringLiteral("compareSentence"))->parentWidget()->accessibleName();
        QVERIFY2(text.contains(QStringLiteral("%1 against %2").arg(a, b)), qPrintable(text));
    }

    void aLongSentenceIsWhole()
    {
        compareWith({ "near" });
        settle();
        auto* label = m_view->findChild<QLabel*>(QStringLiteral("compareSentence"));
        auto* line = label->parentWidget();
        const int wide = line->height();
        for (const int height : { 700, 400 }) { // without the facts below it, too
            m_view->resize(560, height);
            QTRY_VERIFY(line->width() == 560 && line->height() > wide - 16);
            QString whole = line->accessibleName(); // its last brackets in one piece
            const qsizetype last = whole.lastIndexOf(u'(');
            QVERIFY(whole.mid(last).contains(QStringLiteral(" of the larger)")));
            QCOMPARE(label->text(), whole.left(last) + whole.mid(last).replace(u' ', QChar(0x00A0)));
            const QRect words
                = label->fontMetrics().boundingRect(QRect(0, 0, label->width(), 1), Qt::TextWordWrap, label->text());
            QVERIFY2(words.height() <= label->height(), qPrintable(QString::number(words.height())));
        }
    }

    void factsWrapAndAreCutWhole()
    {
        const auto* note = m_view->findChild<QLabel*>(QStringLiteral("compareNote"));
        const QString between = QStringLiteral("  ·  ");
        const auto text = [note] { return note->text().replace(QChar(0x00A0), u' '); };
        m_state->setSelection({ { QStringLiteral("layers.4.fc.weight"), {} } });
        compareWith({ "more" });
        settle();
        const QString all = text();
        QVERIFY(note->toolTip().isEmpty());
        const QStringList facts = all.split(between);
        QVERIFY2(facts.size() > 1, qPrintable(all));
        const int line = note->height();
        const int words = note->fontMetrics().horizontalAdvance(note->text());
        m_view->resize(m_view->width() - (note->width() - words) - 20, 700);
        QTRY_COMPARE(note->height(), 2 * line);
        QVERIFY2(note->text().contains(u'\n'), qPrintable(note->text())); // in place of what is between two facts
        const auto said = [&] { return text().replace(u'\n', between); };
        QCOMPARE(said(), all);
        QVERIFY(note->heightForWidth(note->width()) <= note->height());
        m_view->resize(m_view->width() - (note->width() - words * 2 / 7), 700);
        QTRY_VERIFY(said() != all);
        QVERIFY(note->height() <= 3 * line);
        QStringList shown = said().split(between);
        QCOMPARE(shown.takeLast(), QStringLiteral("…"));
        QCOMPARE(shown, facts.first(shown.size()));
        QVERIFY(note->toolTip().contains(facts.last()));
    }

    void aLowViewKeepsWhatLeadsToTheFirstOfItsMap()
    {
        compareWith({ "b" });
        settle();
        m_state->setStat(Stat::Nans);
        settle();
        const auto* note = m_view->findChild<QLabel*>(QStringLiteral("compareNote"));
        const auto says = [&] { return note->isVisible() ? noteText() : QString(); };
        QVERIFY2(says().contains(QStringLiteral("differ")), qPrintable(says()));
        m_view->resize(1080, 400);
        QTRY_VERIFY2(!says().contains(QStringLiteral("differ")), qPrintable(says()));
        QVERIFY2(says().startsWith(QStringLiteral("in this map: step ")), qPrintable(says()));
    }

    void aLowViewSaysWhatItDoesNotShow()
    {
        m_state->setSelection({ { QStringLiteral("layers.4.fc.weight"), {} } });
        compareWith({ "seed", "moments" });
        settle();
        const auto* note = m_view->findChild<QLabel*>(QStringLiteral("compareNote"));
        m_view->resize(1080, 400);
        QTRY_VERIFY(!noteText().contains(QStringLiteral("differ")));
        QVERIFY2(note->isVisible() && noteText().contains(QStringLiteral("moments has none of these curves")),
            qPrintable(noteText()));
    }

    void theFirstDifferenceOfTheMapIsNamedBesideThatOfAll()
    {
        compareWith({ "b" });
        settle();
        const auto note = [this] { return noteText(); };
        m_view->resize(1600, 900);
        QVERIFY(!note().contains(QStringLiteral("in this map"))); // the norms have what the sentence names
        m_state->setStat(Stat::Nans);
        settle();
        int first = -1;
        for (int step = 0; step < kSteps && first < 0; ++step) {
            if (std::isnan(valueIn(run("a"), 1, step)) != std::isnan(valueIn(run("b"), 1, step)))
                first = step;
        }
        QCOMPARE(first, kBreaks);
        QVERIFY2(note().startsWith(QStringLiteral("in this map: step %1, layers.1.fc.weight").arg(kBreaks)),
            qPrintable(note()));
        QVERIFY(m_view->conformance().found()->first.front().step < Step { kBreaks });
        m_state->setStat(Stat::Norm);
        settle();
        QVERIFY(!note().contains(QStringLiteral("in this map")));
    }

    void whatIsNotAlignedSaysSoFirstAndHasOneAxis()
    {
        m_view->resize(1600, 900);
        compareWith({ "more" }); // of which more could be said
        settle();
        const QRect plot = m_view->map()->plotRect();
        choose("compareAlign", static_cast<int>(XAxis::Tokens)); // which none of them records
        settle();
        QCOMPARE(m_view->map()->plotRect(), plot);
        QVERIFY2(noteText().startsWith(QStringLiteral("not recorded by a")), qPrintable(noteText()));
        choose("compareAlign", static_cast<int>(XAxis::Samples));
        settle();
        QVERIFY(m_view->map()->plotRect().height() < plot.height());
    }

    void whatCannotBeLaidBesideTheRunSaysSoInPlaceOfTheMap()
    {
        compareWith({ "bare", "b" });
        choose("compareAlign", static_cast<int>(XAxis::Samples));
        settle();
        QVERIFY(!m_view->map()->picture());
        const QImage why = m_view->map()->renderTo({ 600, 300 });
        QImage plain = why;
        plain.fill(why.pixelColor(0, 0));
        QVERIFY(why != plain);
        QVERIFY(m_view->curves()->picture() && !m_view->curves()->picture()->isEmpty()); // of the others
        choose("compareAlign", static_cast<int>(XAxis::Step));
        settle();
        QVERIFY(m_view->map()->picture());
    }

    void noFactBelowTheSentenceIsBroken()
    {
        compareWith({ "bare" });
        const auto* note = m_view->findChild<QLabel*>(QStringLiteral("compareNote"));
        int whole = 0;
        for (int width = 560; width <= 1600; width += 40) {
            m_view->resize(width, 900);
            settle();
            QVERIFY2(!note->text().contains(QStringLiteral("only in")), qPrintable(note->text()));
            whole += note->text().contains(QStringLiteral("series\u00A0only\u00A0in\u00A0B"));
        }
        QVERIFY(whole > 0);
    }

    void aFilterThatHidesTheFirstDifferenceNamesThatOfWhatIsShown()
    {
        m_view->resize(1600, 900);
        compareWith({ "b" });
        settle();
        const auto filter = [this](const char* text) {
            m_state->setModuleFilter(QLatin1String(text));
            settle();
            return noteText();
        };
        QVERIFY(!filter("layers.3").contains(QStringLiteral("of the modules shown")));
        QCOMPARE(m_view->map()->namedCell().row, 0);
        const QString note = filter("layers.1");
        QVERIFY2(note.startsWith(QStringLiteral("of the modules shown: step %1, layers.1.fc.weight").arg(kBreaks)),
            qPrintable(note));
        QCOMPARE(m_view->map()->namedCell(), (NamedCell { 0, kBreaks, glyphs::Severity::Critical }));
        QVERIFY(filter("layers.0").startsWith(QStringLiteral("of the modules shown: nothing differs")));
        QCOMPARE(m_view->map()->namedCell(), NamedCell());
        QVERIFY(!filter("").contains(QStringLiteral("of the modules shown")));
        QCOMPARE(m_view->map()->namedCell().column, kParts);
    }

    void rowsThatAreShownAreAskedOfOnlyWhereTheirFirstIsHidden()
    {
        compareWith({ "b" });
        settle();
        const auto holders = [this] { return m_state->comparedRuns().front().run.use_count(); };
        const auto filter = [&](const char* text) {
            m_state->setModuleFilter(QLatin1String(text));
            settle();
            return holders();
        };
        QTRY_COMPARE(holders(), 2); // the comparison of all, and the window
        QTRY_COMPARE(filter("layers.1"), 3);
        QTRY_COMPARE(filter("layers.3"), 2);
        QTRY_COMPARE(filter("layers.1"), 3);
        const std::weak_ptr run = m_state->comparedRuns().front().run;
        m_state->setComparedRuns({});
        settle();
        QTRY_VERIFY(run.expired());
    }

    void whatWasAskedIsNotAskedAgain()
    {
        Conformance asked(m_pool.get());
        QSignalSpy changed(&asked, &Conformance::changed);
        const std::vector runs { handle("a"), handle("b") };
        judge::ComparisonWish wish;
        wish.kind = Kind::GradReduced;
        wish.pattern = "layers.1";
        const auto isAsked = [&] {
            const auto before = changed.size();
            asked.askOnce(runs, 1, wish);
            return changed.size() > before && asked.isBusy() && !asked.found();
        };
        QVERIFY(isAsked());
        QVERIFY(!isAsked());
        QTRY_VERIFY(asked.found());
        QVERIFY(!isAsked());
        QVERIFY(asked.found());
        wish.tolerance = 0.1;
        QVERIFY(isAsked());
        wish.pattern = "layers.2";
        QVERIFY(isAsked());
        asked.clear();
        QVERIFY(!asked.isBusy());
        QVERIFY(isAsked());
    }

    void aQuestionThatFailedSaysNothingOfWhatIsShown()
    {
        const QString gone = QString::fromStdString(path("gone"));
        write(gone.toStdString(), run("b"));
        compareWith({ "gone" });
        settle();
        QVERIFY(QFile::remove(gone)); // which the map's readers hold open
        m_state->setModuleFilter(QStringLiteral("layers.1"));
        settle();
        QCOMPARE(m_view->map()->picture()->rows.size(), std::size_t { 1 });
        QVERIFY2(!noteText().contains(QStringLiteral("of the modules shown")), qPrintable(noteText()));
        QCOMPARE(m_view->map()->namedCell(), NamedCell());
    }

    void whatIsSaidOfTheRowsThatAreShownStandsWhileARunIsRecorded()
    {
        m_view->resize(1600, 900);
        test::CapsuleBuilder builder(path("lives"), "lives");
        const std::int64_t stream = builder.addAttempt(Rank { 0 }, 0);
        stage(builder, stream, run("b"), 0, 180);
        m_state->setComparedRuns(
            { { std::make_shared<store::RunHandle>(builder.liveHandle()), reader("a")->catalog().value() } });
        settle();
        m_state->setModuleFilter(QStringLiteral("layers.1"));
        settle();
        const QString said = QStringLiteral("of the modules shown: step %1, layers.1.fc.weight").arg(kBreaks);
        QVERIFY2(noteText().startsWith(said), qPrintable(noteText()));
        m_pool->setWake([] {}); // the next questions have no answer
        QTRY_VERIFY_WITH_TIMEOUT(m_view->conformance().isBusy(), 20'000);
        QVERIFY2(noteText().startsWith(said), qPrintable(noteText()));
        QCOMPARE(m_view->map()->namedCell().column, kBreaks);
        m_state->setComparedRuns({});
        settle();
    }
};

TELLTALE_TEST(QTEST_MAIN, CompareBannerTest)

}

#include "comparebannertest.moc"
