// SPDX-License-Identifier: GPL-3.0-or-later
#include "shots.h"
#include "testmain.h"

#include <future>

#include <QApplication>
#include <QBuffer>
#include <QClipboard>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTabWidget>
#include <QToolButton>
#include <QTreeView>
#include <QWheelEvent>

#include <telltale/items/numbertext.h>
#include <telltale/plot/overviewcanvas.h>
#include <telltale/plot/overviewview.h>
#include <telltale/run/consolepane.h>
#include <telltale/run/facttree.h>
#include <telltale/run/loggedpane.h>
#include <telltale/run/runview.h>

#include "looks.h"
#include "tellingrun.h"

namespace runviewtest {

using namespace telltale;
using namespace telltale::views;

/// What a run says of itself. Thread: the test's.
class RunViewTest : public QObject, test::TellingRun {
    Q_OBJECT
private Q_SLOTS:
    void init() { beginRun(); }
    void cleanup() { endRun(); }

    void factsAreShownByGroupAndFound()
    {
        auto* view = open<RunView>();
        const auto& groups = view->facts()->groups();
        QCOMPARE(groups.back().title, QStringLiteral("Fields set in the config"));
        QCOMPARE(groups.size(), std::size_t { 4 });
        QCOMPARE(groups[0].facts,
            (std::vector<analysis::Fact> {
                { "optimizer.lr", "0.001" }, { "optimizer.name", "Adam" }, { "seed", "7" } }));
        QVERIFY(groups[2].title.contains(QStringLiteral("rank 1")));
        QCOMPARE(groups[2].facts, (std::vector<analysis::Fact> { { "host", "node-b" } }));
        auto* tree = view->findChild<QTreeView*>(QStringLiteral("factTree"));
        QTest::keyClicks(view->facts()->filter(), QStringLiteral("ADAM")); // in a value, whatever its case
        QCOMPARE(tree->model()->rowCount(), 1);
        const QModelIndex group = tree->model()->index(0, 0);
        QCOMPARE(tree->model()->rowCount(group), 1);
        QCOMPARE(tree->model()->index(0, 0, group).data().toString(), QStringLiteral("optimizer.name"));
        tree->setFocus();
        QTest::keyClick(tree, Qt::Key_C, Qt::ControlModifier);
        QCOMPARE(QGuiApplication::clipboard()->text(), QStringLiteral("optimizer.name\tAdam"));

        QBuffer csv;
        csv.open(QIODevice::ReadWrite);
        QVERIFY(view->writeCsv(&csv));
        const QString text = QString::fromUtf8(csv.data());
        for (const char* line : { "hyperparameters,optimizer.lr,0.001", "environment of rank 1,host,node-b",
                 "tags,base,", "notes,,written by the program" })
            QVERIFY2(text.contains(QLatin1String(line)), qPrintable(text));
    }

    void aRunIsNamedAsWhereItIsChosen()
    {
        store::RunSummary mine;
        mine.id = m_builder->liveHandle().id;
        mine.name = "gpt";
        store::RunSummary other = mine;
        other.id = "another";
        other.locator = store::RunLocator::ofFile("another");
        m_runs.setArchived({ mine });
        auto* view = open<RunView>();
        const auto isNamed = [view](const QString& name) {
            const auto labels = view->findChildren<QLabel*>();
            return std::any_of(
                labels.begin(), labels.end(), [&](const QLabel* label) { return label->text() == name; });
        };
        QVERIFY(isNamed(QStringLiteral("gpt")));
        m_runs.setArchived({ mine, other });
        QVERIFY(isNamed(QStringLiteral("gpt ") + QString::fromStdString(store::shortRunId(mine.id))));
        m_runs.setArchived({});
    }

    void factsComeThoughAnotherQuestionOvertakesTheirs()
    {
        auto* view = open<RunView>();
        std::promise<void> rest;
        m_pool->submit(m_pool->newView(), m_state->run(),
            [over = rest.get_future().share()](auto&&, const auto&) -> store::QueryPool::Delivery {
                over.wait();
                return {};
            });
        Q_EMIT m_state->runChanged(); // as when another run is chosen
        QCOMPARE(view->facts()->groups().size(), std::size_t { 0 });
        QTest::qWait(20); // its question waits for the pool's only thread when the next one comes
        Q_EMIT view->system()->plotResized();
        QTest::qWait(20);
        rest.set_value();
        settle(view);
        QCOMPARE(view->facts()->groups().size(), std::size_t { 4 });
    }

    void longNamesHaveTheRoomThatValuesLeave()
    {
        QWidget window; // has no size hints to tell the platform of
        auto& tree = *new FactTree(&window);
        auto* shown = tree.findChild<QTreeView*>(QStringLiteral("factTree"));
        tree.resize(700, 300);
        window.show();
        const QString name = QStringLiteral("training_arguments.optimizer_of_the_first_parameter_group.");
        tree.set({ { QStringLiteral("Config"),
            { { name.toStdString() + "beta1", "0.9" }, { name.toStdString() + "beta2", "0.95" } } } });
        const auto width = [&] { return shown->columnWidth(FactTreeModel::NameColumn); };
        const QModelIndex first = shown->model()->index(0, 0, shown->model()->index(0, 0));
        QTRY_VERIFY(shown->visualRect(first).width() > shown->sizeHintForIndex(first).width());
        QVERIFY(width() < 600);
        // Beside long values they have half of it.
        tree.set({ { QStringLiteral("Config"), { { name.toStdString() + "beta1", std::string(200, 'v') } } } });
        QCOMPARE(width(), shown->viewport()->width() / 2);
        // Short ones have no more than they need.
        tree.set({ { QStringLiteral("Config"), { { "os", std::string(200, 'v') } } } });
        QVERIFY2(width() < 150, qPrintable(QString::number(width())));
        // A width by hand stays.
        shown->setColumnWidth(FactTreeModel::NameColumn, 240);
        tree.resize(800, 300);
        QTest::qWait(1);
        QCOMPARE(width(), 240);
    }

    void longNumbersAreGroupedAndCopiedAsTheyAre()
    {
        FactTree tree;
        tree.set({ { QStringLiteral("Config"),
            { { "collect_times", "100000000" }, { "memory_bytes", "27165679616" }, { "port", "47800" } } } });
        auto* shown = tree.findChild<QTreeView*>(QStringLiteral("factTree"))->model();
        const QModelIndex group = shown->index(0, 0);
        const auto value = [&](int row) { return shown->index(row, 1, group).data().toString(); };
        QCOMPARE(value(0), items::formatStep(100'000'000));
        QCOMPARE(value(1), QStringLiteral("25.30 GiB"));
        QCOMPARE(value(2), QStringLiteral("47800"));
        tree.filter()->setText(QStringLiteral("27165679616"));
        QCOMPARE(shown->rowCount(shown->index(0, 0)), 1);
        tree.copy();
        QCOMPARE(QGuiApplication::clipboard()->text(), QStringLiteral("memory_bytes\t27165679616"));
    }

    void tagsAndNotesAreKeptInTheRun()
    {
        auto* view = open<RunView>();
        auto* field = view->findChild<QLineEdit*>(QStringLiteral("tagField"));
        QTest::keyClicks(field, QStringLiteral(" best  of all "));
        QTest::keyClick(field, Qt::Key_Return);
        QTRY_COMPARE(tags(view), (QStringList { QStringLiteral("base"), QStringLiteral("best of all") }));
        auto* chip = view->findChildren<QPushButton*>(QStringLiteral("tagChip")).front();
        QVERIFY2(chip->accessibleName().contains(QStringLiteral("base")), qPrintable(chip->accessibleName()));
        QTest::mouseClick(chip, Qt::LeftButton);
        QTRY_COMPARE(tags(view), QStringList { QStringLiteral("best of all") });

        auto* notes = view->findChild<QPlainTextEdit*>(QStringLiteral("runNotes"));
        auto* save = view->findChild<QPushButton*>(QStringLiteral("runNotesSave"));
        QCOMPARE(notes->toPlainText(), QStringLiteral("written by the program"));
        QVERIFY(!save->isEnabled());
        notes->selectAll();
        QTest::keyClicks(notes, QStringLiteral("diverges"));
        QVERIFY(save->isEnabled());
        QTest::keyClick(notes, Qt::Key_Escape);
        QCOMPARE(notes->toPlainText(), QStringLiteral("written by the program"));
        notes->selectAll();
        QTest::keyClicks(notes, QStringLiteral("diverges"));
        QTest::keyClick(notes, Qt::Key_Return, Qt::ControlModifier);
        QTRY_VERIFY(!save->isEnabled());
        QCOMPARE(QString::fromStdString(view->document().notes), QStringLiteral("diverges"));
        // What is being written stays when the run's own words change.
        QTest::keyClicks(notes, QStringLiteral(" more"));
        const QString draft = notes->toPlainText();
        append(analysis::notesEvent("by another", Step { 0 }));
        QTRY_COMPARE(QString::fromStdString(view->document().notes), QStringLiteral("by another"));
        QCOMPARE(notes->toPlainText(), draft);
    }

    void whereNothingIsWrittenItSaysWhy()
    {
        m_annotator = std::make_unique<Annotator>();
        auto* view = open<RunView>(false);
        QVERIFY(!view->findChild<QLineEdit*>(QStringLiteral("tagField"))->isEnabled());
        QVERIFY(view->findChild<QPlainTextEdit*>(QStringLiteral("runNotes"))->isReadOnly());
        QVERIFY(!view->findChild<QLabel*>(QStringLiteral("runNotesHint"))->text().isEmpty());
    }

    void aPictureHasNothingToPressOrToWriteInto()
    {
        auto* view = open<RunView>();
        auto* save = view->findChild<QPushButton*>(QStringLiteral("runNotesSave"));
        auto* field = view->findChild<QLineEdit*>(QStringLiteral("tagField"));
        QTRY_COMPARE(tags(view), QStringList { QStringLiteral("base") });
        const auto* chip = view->findChild<QPushButton*>(QStringLiteral("tagChip"));
        const QRect place(save->mapTo(view, QPoint()), save->size());
        const QImage picture = view->renderImage(view->size());
        const auto isEmpty = [&](const QWidget* one) {
            const QImage part = picture.copy(QRect(one->mapTo(view, QPoint()), one->size()));
            QImage ground = part;
            ground.fill(part.pixel(0, 0));
            return part == ground;
        };
        QVERIFY(isEmpty(save) && isEmpty(field) && !isEmpty(chip));
        QVERIFY(save->isVisible() && field->isVisible());
        QVERIFY(!save->sizePolicy().retainSizeWhenHidden());
        QCOMPARE(QRect(save->mapTo(view, QPoint()), save->size()), place);
    }

    /// As where a picture is made without a window: nobody is there to be told.
    void withoutAnybodyWhoCouldWriteNothingIsSaidOfIt()
    {
        auto* view = open<RunView>(false);
        QVERIFY(view->findChild<QPlainTextEdit*>(QStringLiteral("runNotes"))->isReadOnly());
        QCOMPARE(view->findChild<QLabel*>(QStringLiteral("runNotesHint"))->text(),
            QCoreApplication::translate("telltale::views::NotesEditor", "Written by the training"));
    }

    void anEventIsOfTheTimeItSays()
    {
        Annotator annotator;
        annotator.folder = m_dir->path();
        std::vector<Event> written;
        annotator.write = [&written](const store::RunLocator&, Event event) {
            written.push_back(std::move(event));
            return true;
        };
        open<RunView>();
        Event said;
        said.wallNs = 5; // a note that is undone is found again by it
        QVERIFY(annotator.append(m_state->run(), said));
        said.wallNs = 0;
        QVERIFY(annotator.append(m_state->run(), said));
        QCOMPARE(written.front().wallNs, std::int64_t { 5 });
        QVERIFY(written.back().wallNs > 5);
        QVERIFY(!written.back().author.empty());
    }

    void textsAndImagesFollowTheCursor()
    {
        auto* view = open<RunView>();
        view->findChild<QTabWidget*>(QStringLiteral("runTabs"))->setCurrentIndex(1);
        QTRY_COMPARE(texts(view), QStringList { QStringLiteral("text of 30") });
        QCOMPARE(gray(view), 200);
        m_state->setCursor(Step { 25 });
        QTRY_COMPARE(texts(view), QStringList { QStringLiteral("text of 20") });
        QCOMPARE(gray(view), 100);
        m_state->setCursor(Step { 4 }); // before any
        QTRY_VERIFY(texts(view).isEmpty());
        QTest::mouseClick(view->findChild<QToolButton*>(QStringLiteral("loggedForward")), Qt::LeftButton);
        QTRY_COMPARE(texts(view), QStringList { QStringLiteral("text of 10") });
        QCOMPARE(m_state->cursor(), std::optional(Step { 10 }));
        QTest::mouseClick(view->findChild<QToolButton*>(QStringLiteral("loggedForward")), Qt::LeftButton);
        QCOMPARE(m_state->cursor(), std::optional(Step { 15 })); // the image's
        m_state->setRank(Rank { 1 });
        m_state->setCursor({});
        QTRY_COMPARE(texts(view), QStringList { QStringLiteral("of rank 1") });
    }

    void theOverviewShowsWhatWasLoggedAtTheCursor()
    {
        auto* view = open<OverviewView>();
        const auto* side = view->findChild<QWidget*>(QStringLiteral("loggedSide"));
        QTRY_COMPARE(texts(view), QStringList { QStringLiteral("text of 30") });
        QTRY_COMPARE(gray(view), 200);
        QVERIFY(side->isVisible());
        m_state->setCursor(Step { 25 });
        QTRY_COMPARE(texts(view), QStringList { QStringLiteral("text of 20") });
        QTRY_COMPARE(gray(view), 100);
        stage(0, { blob("text", 25, std::string("first\n") + std::string(2000, 'x'), "sample") });
        Q_EMIT m_state->blobsArrived();
        QTRY_VERIFY(texts(view).join(u' ').contains(QStringLiteral("first\nxxx")));
        QVERIFY(texts(view).join(u' ').size() < 400); // the whole of it stands in the Run view
        m_state->setRank(Rank { 1 });
        QTRY_COMPARE(texts(view), QStringList { QStringLiteral("of rank 1") });
        m_state->setRank(Rank { 7 }); // that logged nothing
        settle(view);
        QVERIFY(!side->isVisible());
    }

    void theConsoleIsSearchedAndFollowed()
    {
        auto* view = open<RunView>();
        view->findChild<QTabWidget*>(QStringLiteral("runTabs"))->setCurrentIndex(2);
        const ConsoleModel* model = view->console()->model();
        QCOMPARE(model->rowCount(), 5002);
        QVERIFY(model->line(5001).isError);
        QCOMPARE(model->line(5001).text, QStringLiteral("a warning"));
        QCOMPARE(model->line(0).wallMs, qint64 { 1'700'000'000'000 });
        QCOMPARE(model->line(5000).text, QStringLiteral("no such line")); // what is none is shown as it is
        auto* list = view->findChild<QListView*>(QStringLiteral("consoleList"));
        QVERIFY(list->visualRect(model->index(5001)).intersects(list->viewport()->rect())); // the newest is in view
        QTest::keyClicks(view->findChild<QLineEdit*>(QStringLiteral("consoleFilter")), QStringLiteral("LINE 499"));
        QCOMPARE(model->rowCount(), 11); // 499 and 4990 to 4999
        stage(0, { blob("console", 39, "1700000009000 o line 4991 again\n1700000009001 o other\n") });
        Q_EMIT m_state->blobsArrived();
        QTRY_COMPARE(model->rowCount(), 12);
        list->setFocus();
        QTest::keyClick(list, Qt::Key_C, Qt::ControlModifier);
        QCOMPARE(QGuiApplication::clipboard()->text().count(u'\n'), 11);
        QVERIFY(QGuiApplication::clipboard()->text().endsWith(QStringLiteral("line 4991 again")));
    }

    void theSystemHasPlotsOfItsOwn()
    {
        auto* view = open<RunView>();
        QTRY_VERIFY(view->system()->picture() && view->system()->picture()->series.size() == 3);
        const auto& series = view->system()->picture()->series;
        // Steps have ended: that none has is no reason.
        QVERIFY2(view->system()->emptyText().endsWith(QStringLiteral("or its agent sends none.")),
            qPrintable(view->system()->emptyText()));
        QCOMPARE(series[0].row.label, QStringLiteral("resident memory, GiB"));
        QCOMPARE(series[0].result.buckets.back().last, 1.5);
        QCOMPARE(series[2].row.label, QStringLiteral("process CPU, %"));
        QVERIFY(std::isnan(series[2].result.buckets.back().last) || series[2].result.buckets.back().nans == 1);
        for (const CurveSeries& one : series) { // a color a rank, in every plot
            QVERIFY(one.hasRankColor);
            QCOMPARE(one.slot, one.row.rank.value);
        }
    }

    void theWheelOverATitleScrolls()
    {
        auto* view = open<RunView>();
        QTRY_COMPARE(view->system()->plots(), 2);
        OverviewCanvas* canvas = view->system();
        canvas->setFixedHeight(canvas->minimumSizeHint().height());
        QTRY_COMPARE(canvas->shownPlots(canvas->size()), 1);
        const StepRange before = m_state->visibleRange();
        const QPointF title(200, canvas->plotRect().top() - 20);
        const auto turn = [&](const QPointF& at) {
            QWheelEvent event(
                at, canvas->mapToGlobal(at), {}, { 0, -120 }, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
            QCoreApplication::sendEvent(canvas, &event);
        };
        turn(title);
        QCOMPARE(canvas->firstPlot(canvas->size()), 1);
        QCOMPARE(m_state->visibleRange(), before);
        m_state->zoomTo({ Step { 10 }, Step { 20 } });
        turn(canvas->plotRect().center()); // over a plot it zooms out
        QVERIFY(m_state->visibleRange().count() > 11);
    }

    void looks_data() { test::addLooks(); }
    void looks()
    {
        const auto [theme, language] = test::putOnLook();
        for (const bool isNarrow : { false, true }) {
            auto* run = open<RunView>();
            const QSize size = isNarrow ? QSize(560, 700) : QSize(1060, 720);
            run->resize(size);
            settle(run);
            auto* tabs = run->findChild<QTabWidget*>(QStringLiteral("runTabs"));
            for (int tab = 0; tab < tabs->count(); ++tab) {
                tabs->setCurrentIndex(tab);
                settle(run);
                QVERIFY(run->renderImage(size).save(
                    test::shot(QStringLiteral("run-%1-%2-%3-%4.png").arg(theme, language).arg(size.width()).arg(tab))));
            }
        }
    }

private:
    static QStringList tags(RunView* view)
    {
        QStringList found;
        for (const std::string& tag : view->document().tags)
            found.append(QString::fromStdString(tag));
        return found;
    }

    static QList<QLabel*> contents(DataView* view)
    {
        QList<QLabel*> found;
        for (auto* label : view->findChildren<QLabel*>(QStringLiteral("loggedContent"))) {
            if (label->isVisibleTo(view))
                found.append(label);
        }
        return found;
    }
    static QStringList texts(DataView* view)
    {
        QStringList found;
        for (const QLabel* label : contents(view)) {
            if (label->pixmap(Qt::ReturnByValue).isNull())
                found.append(label->text());
        }
        return found;
    }
    /// Of the image that is shown.
    static int gray(DataView* view)
    {
        for (const QLabel* label : contents(view)) {
            if (const QPixmap shown = label->pixmap(Qt::ReturnByValue); !shown.isNull())
                return qGray(shown.toImage().pixel(3, 3));
        }
        return -1;
    }
};

TELLTALE_TEST(QTEST_MAIN, RunViewTest)

}

#include "runviewtest.moc"
