// SPDX-License-Identifier: GPL-3.0-or-later
#include "shots.h"
#include "testmain.h"

#include <functional>
#include <future>

#include <QApplication>
#include <QBuffer>
#include <QClipboard>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QPainter>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTextBlock>
#include <QTextDocument>
#include <QToolButton>
#include <QTreeView>
#include <QWheelEvent>

#include <telltale/common/annotator.h>
#include <telltale/common/seriesstyle.h>
#include <telltale/common/sharedaxis.h>
#include <telltale/common/steeringstate.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/numbertext.h>
#include <telltale/items/runsmodel.h>
#include <telltale/plot/curvepainter.h>
#include <telltale/plot/overviewcanvas.h>
#include <telltale/plot/overviewheader.h>
#include <telltale/plot/overviewview.h>
#include <telltale/run/consolepane.h>
#include <telltale/run/facttree.h>
#include <telltale/run/loggedpane.h>
#include <telltale/run/runview.h>
#include <telltale/runs/paneltree.h>
#include <telltale/runs/stacktext.h>
#include <telltale/store/querypool.h>
#include <telltale/structure/modulecard.h>
#include <telltale/structure/structureview.h>
#include <telltale/translations/translations.h>

#include "../store/capsulebuilder.h"
#include "headerimage.h"
#include "looks.h"

namespace runviewtest {

using namespace telltale;
using namespace telltale::views;

namespace {

constexpr int kSteps = 40;

series::Bucket sample(double value)
{
    series::Bucket bucket;
    bucket.min = bucket.max = bucket.mean = bucket.first = bucket.last = value;
    bucket.samples = bucket.finite = 1;
    bucket.state = series::CellState::Value;
    return bucket;
}

/// A plot of each rank's memory, without a sample.
ScalarPanel memoryOf(int ranks, StepRange steps)
{
    ScalarPanel panel;
    for (int rank = 0; rank < ranks; ++rank) {
        CurveSeries& one = panel.picture.series.emplace_back();
        one.row.key.name = QStringLiteral("system/rss_bytes");
        one.row.rank = Rank { rank };
        one.slot = rank;
        one.hasRankColor = true;
        one.isOtherRank = rank > 0;
        one.result.range = steps;
        one.result.buckets.assign(static_cast<std::size_t>(steps.count()), series::Bucket {});
    }
    return panel;
}

std::string pngOf(int gray)
{
    QImage image(8, 6, QImage::Format_Grayscale8);
    image.fill(gray);
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    image.save(&buffer, "PNG");
    return bytes.toStdString();
}

constexpr const char* kStructure = R"({"name":"","type":"GPT","parameters":[],"children":[
  {"name":"emb","type":"Embedding","parameters":[{"name":"emb.weight","shape":[100,2,2,2],"dtype":"bfloat16",
    "trainable":true,"device":"cuda:0"}],"children":[]},
  {"name":"layers","type":"ModuleList","parameters":[],"children":[
    {"name":"layers.0","type":"Block","parameters":[],"children":[
      {"name":"layers.0.fc","type":"Linear","parameters":[
        {"name":"layers.0.fc.weight","shape":[8,4],"dtype":"float32","trainable":false,"device":"cpu"},
        {"name":"layers.0.fc.bias","shape":[4],"dtype":"float32","trainable":true,"device":"cpu"}],"children":[]}]}]},
  {"name":"head","type":"Linear","parameters":[{"name":"head.weight","shape":[100,2,2,2],"dtype":"bfloat16",
    "trainable":true,"device":"cuda:0","shared":"emb.weight"}],"children":[]}]})";

}

/// What a run says of itself, and its model. Thread: the test's.
class RunViewTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init()
    {
        m_dir = std::make_unique<QTemporaryDir>();
        m_builder
            = std::make_unique<test::CapsuleBuilder>(m_dir->filePath(QStringLiteral("run.telltale")).toStdString());
        for (const int rank : { 0, 1 })
            m_streams[rank] = m_builder->addAttempt(Rank { rank }, 0);
        write();
    }
    void cleanup()
    {
        m_host.reset();
        m_pool.reset();
        m_state.reset();
        m_annotator.reset();
        m_builder.reset();
        translations::install(*qApp, QStringLiteral("en"));
    }

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

    void aHeaderSaysOneStepAndAnotherOnlyWhereItDiffers()
    {
        ScalarPanel panel = memoryOf(2, { Step { 10 }, Step { 19 } });
        for (CurveSeries& one : panel.picture.series)
            one.result.buckets[4] = sample(0.36);
        const auto headerAt = [&](std::int64_t step) {
            return test::headerImage(panel, 690,
                { [step](const CurveSeries& one) { return valueAt(one, Step { step }); }, Step { step }, 0 });
        };
        QCOMPARE(headerAt(17), headerAt(14)); // of step 14, both
        panel.picture.series[1].result.buckets[6] = sample(0.36);
        QVERIFY(headerAt(17) != headerAt(14));
    }

    void aHeaderSaysThatItsAxisIsLog()
    {
        const ScalarPanel panel = memoryOf(1, { Step { 10 }, Step { 19 } });
        for (const int width : { 200, 690 }) {
            for (const double smoothing : { 0.0, 0.9 }) {
                const auto header = [&](bool isLog) {
                    QImage image(800, 40, QImage::Format_ARGB32_Premultiplied);
                    image.fill(Qt::black);
                    QPainter painter(&image);
                    paintPanelHeader(
                        painter, QRect(100, 32, width, 8), panel, { &lastValueOf, {}, smoothing, {}, isLog }, 100);
                    return image;
                };
                QVERIFY2(header(true) != header(false), qPrintable(QString::number(width)));
            }
        }
    }

    void aHeaderSaysThatItsValuesAreNotSmoothed()
    {
        ScalarPanel panel = memoryOf(1, { Step { 10 }, Step { 19 } });
        CurveSeries& one = panel.picture.series.front();
        one.result.buckets[4] = sample(0.36);
        const auto values = [&](double smoothing, std::optional<Step> step) {
            QImage image(800, 40, QImage::Format_ARGB32_Premultiplied);
            image.fill(Qt::black);
            QPainter painter(&image);
            paintPanelHeader(painter, QRect(100, 32, 690, 8), panel, { &lastValueOf, step, smoothing }, 100);
            return image.copy(450, 0, 350, 40); // right of how the line is drawn
        };
        for (const std::optional<Step> step : { std::optional<Step>(), std::optional(Step { 14 }) }) {
            one.row.key.name = QStringLiteral("loss");
            QVERIFY(values(0.9, step) != values(0, step));
            one.row.key.name = QStringLiteral("lr"); // which is not smoothed
            QCOMPARE(values(0.9, step), values(0, step));
        }
    }

    void aHeaderHasEveryRankWhereItsStepsDiffer()
    {
        ScalarPanel panel = memoryOf(4, { Step { 300 }, Step { 319 } });
        for (CurveSeries& one : panel.picture.series)
            one.result.buckets[static_cast<std::size_t>(8 + one.slot)] = sample(0.43 + 0.001 * one.slot);
        const HeaderLook look { [](const CurveSeries& one) { return valueAt(one, Step { 316 }); }, Step { 316 }, 0 };
        for (const int width : { 300, 380, 435, 600, 900 }) {
            QImage image(width + 110, 40, QImage::Format_ARGB32_Premultiplied);
            image.fill(Qt::black);
            QPainter painter(&image);
            paintPanelHeader(painter, QRect(100, 32, width, 8), panel, look, 100);
            for (const CurveSeries& one : panel.picture.series) {
                const QRgb color = SeriesStyle::forSlot(one.slot, Theme::current()).color.rgb();
                int pixels = 0;
                for (int x = 100; x < image.width(); ++x)
                    pixels += image.pixel(x, 12) == color ? 1 : 0;
                QVERIFY2(pixels >= 8, qPrintable(QStringLiteral("%1 at %2").arg(one.row.rank.value).arg(width)));
            }
        }
    }

    void whatTheSystemUsesIsOneLineHoweverFarItsSamplesAre()
    {
        CurvePicture picture;
        picture.range = { Step { 0 }, Step { 99 } };
        CurveSeries& one = picture.series.emplace_back();
        one.result.range = picture.range;
        one.result.buckets.assign(100, series::Bucket {});
        for (const std::size_t at : { 0U, 4U, 8U, 12U, 16U, 20U, 24U, 90U })
            one.result.buckets[at] = sample(0.5);
        const auto hasLine = [&](const char* name) {
            one.row.key.name = QString::fromLatin1(name);
            QImage frame(100, 40, QImage::Format_ARGB32_Premultiplied);
            frame.fill(Qt::black);
            paintCurves(frame, frame.rect(), picture, ValueScale(ValueScale::Mode::Linear, 0, 1), 0, Theme::dark());
            bool isAny = false;
            for (int y = 0; y < 40; ++y)
                isAny = isAny || frame.pixel(60, y) != qRgb(0, 0, 0);
            return isAny;
        };
        QVERIFY(hasLine("system/rss_bytes"));
        QVERIFY(!hasLine("val/loss"));
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

    void theModelIsAnOutline()
    {
        auto* view = open<StructureView>();
        auto* tree = view->findChild<QTreeView*>(QStringLiteral("structureTree"));
        QCOMPARE(tree->model()->rowCount(), 1);
        const auto row = [&](const QString& name) {
            const QModelIndexList found = tree->model()->match(
                tree->model()->index(0, 0), Qt::DisplayRole, name, 1, Qt::MatchExactly | Qt::MatchRecursive);
            return found.isEmpty() ? QModelIndex() : found.front();
        };
        const auto text
            = [&](const QString& name, int column) { return row(name).siblingAtColumn(column).data().toString(); };
        // emb.weight once, though the head has it, too: 800 + 32 + 4.
        QCOMPARE(text(QStringLiteral("(model)"), StructureModel::ElementsColumn), QStringLiteral("836"));
        QCOMPARE(text(QStringLiteral("(model)"), StructureModel::DtypeColumn), QStringLiteral("bfloat16, float32"));
        QCOMPARE(text(QStringLiteral("fc"), StructureModel::TypeColumn), QStringLiteral("Linear"));
        QCOMPARE(text(QStringLiteral("fc"), StructureModel::DeviceColumn), QStringLiteral("cpu"));
        QCOMPARE(text(QStringLiteral("bias"), StructureModel::ShapeColumn), QStringLiteral("[4]"));
        const QModelIndex collected = row(QStringLiteral("fc")).siblingAtColumn(StructureModel::CollectedColumn);
        QVERIFY(collected.data().toString().contains(QStringLiteral(" kind")));
        QVERIFY(collected.data(Qt::ToolTipRole).toString().contains(QStringLiteral("gradient")));
        QVERIFY(text(QStringLiteral("emb"), StructureModel::CollectedColumn).isEmpty());

        // A shape is whole: the modules' column gives the room, and keeps enough for its names.
        const QModelIndex shape
            = tree->model()->index(0, 0, row(QStringLiteral("emb"))).siblingAtColumn(StructureModel::ShapeColumn);
        QCOMPARE(shape.data().toString(), QStringLiteral("[100, 2, 2, 2]"));
        QVERIFY(tree->columnWidth(StructureModel::ShapeColumn) >= tree->sizeHintForIndex(shape).width());
        QVERIFY(tree->columnWidth(StructureModel::NameColumn) >= 150);

        // A row that is chosen is selected everywhere, and the other way round.
        tree->setCurrentIndex(row(QStringLiteral("fc")));
        QCOMPARE(m_state->selection().size(), std::size_t { 1 });
        QCOMPARE(m_state->selection().front().name, QStringLiteral("layers.0.fc.weight"));
        const QString none = views::stackHtml(QStringLiteral("Without call stack\n"));
        QVERIFY(!none.contains(QLatin1String("Without")));
        QVERIFY(none.contains(views::wordsFont(12).family())); // a sentence, in labels of code
        QTextDocument code;
        code.setHtml(views::stackHtml(QStringLiteral("File /a/b.py, line 7, in f, \n return whole(first, second)\n"
                                                     "File /a/c.py, line 9, in g, \n f()\n")));
        QCOMPARE(code.toPlainText(), QStringLiteral("b.py:7 f\nreturn whole(first, second)\nc.py:9 g\nf()"));
        const QTextBlockFormat line = code.findBlockByNumber(1).blockFormat();
        QVERIFY(line.leftMargin() + line.textIndent() > 0); // further in than the place
        QVERIFY(line.textIndent() < 0); // and what wraps further than that
        const auto* stack = view->findChild<QLabel*>(QStringLiteral("structureStack"));
        QTRY_VERIFY2(stack->text().contains(QStringLiteral("model.py:41")), qPrintable(stack->text()));
        QMetaObject::invokeMethod(
            const_cast<QLabel*>(stack), "linkActivated", Q_ARG(QString, stack->text().section(u'"', 1, 1)));
        QCOMPARE(QGuiApplication::clipboard()->text(), QStringLiteral("/home/me/my model.py:41"));
        m_state->setSelection({ { QStringLiteral("layers.0.fc.bias"), {} } });
        QCOMPARE(tree->currentIndex(), row(QStringLiteral("bias")));
        m_state->setSelection({ { QStringLiteral("all_reduce train.py:58"), {} } }); // no module
        QVERIFY(!tree->currentIndex().isValid());
        m_state->setSelection({ { QStringLiteral("layers.0.fc.bias"), {} } });
        QCOMPARE(tree->currentIndex(), row(QStringLiteral("bias")));

        m_state->setModuleFilter(QStringLiteral("fc"));
        QVERIFY(!row(QStringLiteral("emb")).isValid() && row(QStringLiteral("bias")).isValid());
        QBuffer csv;
        csv.open(QIODevice::ReadWrite);
        QVERIFY(view->writeCsv(&csv));
        const QString all = QString::fromUtf8(csv.data());
        QVERIFY2(all.contains(QStringLiteral("layers.0.fc,Linear,,36,4,float32,cpu,,grad_reduced")), qPrintable(all));
        QVERIFY(!all.contains(QStringLiteral("emb")));
    }

    void aRowSelectsAllThatIsAtOrBelowIt()
    {
        const auto outputs = m_builder->addLayout(Kind::Actv, { Stat::Norm }, { "layers.0.fc" });
        const auto gradients
            = m_builder->addLayout(Kind::GradReduced, { Stat::Norm }, { "emb.weight", "layers.0.fc.bias" });
        StepBlock one;
        one.layout = outputs;
        one.columns = { { Stat::Norm, std::vector<float> { 1 } } };
        StepBlock two;
        two.layout = gradients;
        two.columns = { { Stat::Norm, std::vector<float> { 1, 1 } } };
        stage(0, {}, { one, two });
        auto* view = open<StructureView>();
        auto* tree = view->findChild<QTreeView*>(QStringLiteral("structureTree"));
        const QModelIndex model = tree->model()->index(0, 0);
        const auto selected = [&](const QModelIndex& index) {
            tree->setCurrentIndex(index);
            QStringList names;
            for (const ModuleKey& key : m_state->selection())
                names.append(key.name);
            names.sort();
            return names;
        };
        m_state->setKind(Kind::GradReduced);
        const QModelIndex layers = tree->model()->index(1, 0, model);
        const QModelIndex fc = tree->model()->index(0, 0, tree->model()->index(0, 0, layers));
        const QStringList both { QStringLiteral("layers.0.fc.bias"), QStringLiteral("layers.0.fc.weight") };
        QCOMPARE(selected(fc), both); // what it has of another kind is not selected
        QCOMPARE(selected(tree->model()->index(0, 0, model)), QStringList { QStringLiteral("emb.weight") });
        QCOMPARE(selected(layers), both);
        m_state->setKind(Kind::Actv);
        QCOMPARE(selected(fc), QStringList { QStringLiteral("layers.0.fc") });
    }

    void noRowIsChosenWhileNothingIsSelected()
    {
        auto* view = open<StructureView>();
        auto* tree = view->findChild<QTreeView*>(QStringLiteral("structureTree"));
        const auto* name = view->findChild<QLabel*>(QStringLiteral("structureName"));
        QCOMPARE(tree->model()->rowCount(), 1);
        QVERIFY(!tree->currentIndex().isValid());
        QVERIFY(!name->isVisible());
        const auto* card = view->findChild<ModuleCard*>();
        QVERIFY2(card->accessibleDescription().startsWith(QLatin1String("Choose a module")),
            qPrintable(card->accessibleDescription()));
        // It is said in the middle, in the color of what is not there.
        const QImage said = const_cast<ModuleCard*>(card)->grab().toImage();
        QRect ink;
        for (int y = 0; y < said.height(); ++y) {
            for (int x = 0; x < said.width(); ++x) {
                if (said.pixelColor(x, y) == Theme::current().text3)
                    ink |= QRect(x, y, 1, 1);
            }
        }
        QVERIFY(std::abs(ink.center().y() - said.height() / 2) < 20);
        m_state->setSelection({ { QStringLiteral("layers.0.fc.bias"), {} } });
        QVERIFY(tree->currentIndex().isValid() && name->isVisible());
        m_state->setSelection({});
        QVERIFY(!tree->currentIndex().isValid() && !name->isVisible());
        // A module that nothing is collected of can be chosen still, and stays so while the run goes on.
        const QModelIndex emb = tree->model()->index(0, 0, tree->model()->index(0, 0));
        tree->setCurrentIndex(emb);
        QVERIFY(m_state->selection().empty());
        Q_EMIT m_state->blobsArrived();
        QTest::qWait(1);
        settle(view);
        QCOMPARE(tree->currentIndex().data().toString(), QStringLiteral("emb"));
    }

    void whatIsCollectedOfAModuleIsAListOfRows()
    {
        ModuleCard card;
        card.resize(300, 600);
        const auto* collected = card.findChild<QLabel*>(QStringLiteral("structureCollected"));
        const auto heightOf = [&](const std::vector<Kind>& kinds) {
            card.show({}, kinds, {});
            return collected->heightForWidth(280);
        };
        const int one = heightOf({ Kind::GradReduced });
        QCOMPARE(heightOf({ Kind::GradReduced, Kind::Actv, Kind::ParamOrigin }) - one, 44);
    }

    void aRowUnderTheMouseIsFilledAsAWholeOrNotAtAll()
    {
        Theme::apply(*qApp, Theme::Mode::Dark);
        auto* view = open<StructureView>();
        PanelTree* tree = view->tree();
        QWidget* body = tree->viewport();
        const QRect row = tree->visualRect(tree->model()->index(2, 0, tree->model()->index(0, 0)));
        const auto colors = [&] {
            const QImage image = body->grab().toImage();
            return std::pair(
                image.pixelColor(1, row.center().y()), image.pixelColor(row.right() - 1, row.center().y()));
        };
        const QPointF at = row.center();
        const QPointF above(at.x(), at.y() - 1);
        const auto hover = [&](QEvent::Type type, const QPointF& place) {
            QHoverEvent event(type, place, body->mapToGlobal(place), above);
            QCoreApplication::sendEvent(body, &event);
        };
        QCursor::setPos(body->mapToGlobal(row.center()));
        hover(QEvent::HoverMove, at);
        QCOMPARE(colors(), std::pair(Theme::current().hover, Theme::current().hover));
        hover(QEvent::HoverLeave, QPointF(-1, -1)); // as of a menu that covers it
        QCOMPARE(colors(), std::pair(Theme::current().base, Theme::current().base));
    }

    void aPictureOpensWhatItHasRoomFor()
    {
        constexpr int kBlocks = 12;
        constexpr int kParts = 6;
        QByteArray model = R"({"name":"","type":"GPT","parameters":[],"children":[{"name":"layers","type":"List",)"
                           R"("parameters":[],"children":[)";
        for (int block = 0; block < kBlocks; ++block) {
            model += QByteArrayLiteral(R"({"name":"layers.%1","type":"Block","parameters":[],"children":[)");
            for (int part = 0; part < kParts; ++part)
                model += QStringLiteral(R"(%1{"name":"layers.%2.p%3","type":"Part","parameters":[],"children":[]})")
                             .arg(part > 0 ? QStringLiteral(",") : QString())
                             .arg(block)
                             .arg(part)
                             .toUtf8();
            model.replace("%1", QByteArray::number(block));
            model += block + 1 < kBlocks ? "]}," : "]}";
        }
        model += "]}]}";
        m_builder->stage(m_streams[0], {}, {}, {}, { blob("structure", 0, model.toStdString(), "model") });
        m_builder->commit();
        auto* view = open<StructureView>();
        PanelTree* tree = view->tree();
        const QModelIndex layers = tree->model()->index(0, 0, tree->model()->index(0, 0));
        const auto openBlocks = [&] {
            int count = 0;
            for (int block = 0; block < kBlocks; ++block)
                count += tree->isExpanded(tree->model()->index(block, 0, layers)) ? 1 : 0;
            return count;
        };
        QCOMPARE(tree->model()->rowCount(layers), kBlocks);
        QCOMPARE(openBlocks(), 0);
        int drawn = -1;
        // What is open while it is drawn: after it the window is as it was.
        struct Watcher : QObject {
            std::function<void()> see;
            bool eventFilter(QObject*, QEvent* event) override
            {
                if (event->type() == QEvent::Paint)
                    see();
                return false;
            }
        } watcher;
        watcher.see = [&] { drawn = openBlocks(); };
        tree->viewport()->installEventFilter(&watcher);
        const int height = tree->visualRect(layers).height();
        const auto openIn = [&](int rows) {
            m_host->resize(m_host->width(), m_host->height() - tree->viewport()->height() + rows * height + 4);
            view->resize(m_host->size());
            QCoreApplication::processEvents();
            drawn = -1;
            view->renderImage(view->size());
            return drawn;
        };
        QCOMPARE(openIn(2 + kBlocks + 3 * kParts), 3);
        QCOMPARE(openIn(2 + kBlocks + kBlocks * kParts), kBlocks);
        QCOMPARE(openBlocks(), 0);
        tree->expand(tree->model()->index(4, 0, layers)); // by hand
        QCOMPARE(openIn(2 + kBlocks + kBlocks * kParts), 1);
    }

    void aClickAddsToTheDraft()
    {
        auto* view = open<StructureView>();
        auto* tree = view->findChild<QTreeView*>(QStringLiteral("structureTree"));
        const QModelIndex model = tree->model()->index(0, 0);
        tree->setCurrentIndex(tree->model()->index(0, 0, model)); // emb, which is no target
        const auto buttons = view->findChildren<QPushButton*>(QStringLiteral("structureAddition"));
        QStringList words;
        for (const QPushButton* button : buttons)
            words.append(button->text());
        QCOMPARE(words,
            (QStringList { QStringLiteral("targets + emb"), QStringLiteral("param_distribution: true"),
                QStringLiteral("mv_distribution: true"), QStringLiteral("xy_distribution: true"),
                QStringLiteral("telltale.attention_hook: true"), QStringLiteral("stack_info: true") }));
        const auto isHeadingHidden = [](const ModuleCard& card) {
            for (const QLabel* label : card.findChildren<QLabel*>()) {
                if (label->text().startsWith(QLatin1String("A click adds")))
                    return label->isHidden();
            }
            return true;
        };
        QVERIFY(!isHeadingHidden(*view->findChild<ModuleCard*>()));
        ModuleCard full; // of what nothing can be added to
        full.show({}, {}, {});
        QVERIFY(isHeadingHidden(full));
        full.setPictured(false);
        QVERIFY(isHeadingHidden(full));
        const QSignalSpy wanted(&m_steering, &SteeringState::draftWanted);
        QTest::mouseClick(buttons.front(), Qt::LeftButton);
        QCOMPARE(wanted.size(), 1);
        QCOMPARE(wanted.front(), (QVariantList { QStringLiteral("/targets"), QStringLiteral("{\"emb\":{}}") }));
    }

    void hostileStructuresAreBounded()
    {
        std::string deep;
        for (int i = 0; i < 5000; ++i)
            deep += R"({"name":"a","type":"T","children":[)";
        for (int i = 0; i < 5000; ++i)
            deep += "]}";
        const auto model = analysis::ModelStructure::of(deep);
        QVERIFY(!model.isEmpty() && model.items().size() <= 202);
        QVERIFY(analysis::ModelStructure::of("[]").isEmpty());
        const auto huge = analysis::ModelStructure::of(
            R"({"type":"T","parameters":[{"name":"p","shape":[4294967296,4294967296,4294967296]},{"shape":[-1,"x"]}, 3]})");
        QCOMPARE(huge.items().size(), std::size_t { 3 });
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
            auto* structure = open<StructureView>();
            structure->resize(size);
            m_state->setSelection({ { QStringLiteral("layers.0.fc.weight"), {} } });
            settle(structure);
            QVERIFY(structure->renderImage(size).save(
                test::shot(QStringLiteral("structure-%1-%2-%3.png").arg(theme, language).arg(size.width()))));
        }
    }

private:
    Blob blob(const std::string& kind, std::int64_t step, std::string bytes, const std::string& name = "one")
    {
        Blob one;
        one.id = kind + std::to_string(++m_blobs);
        one.kind = kind;
        one.name = name;
        one.step = Step { step };
        one.bytes = std::move(bytes);
        return one;
    }

    void stage(int rank, std::vector<Blob> blobs, std::vector<StepBlock> blocks = {}, std::vector<Event> events = {})
    {
        m_builder->stage(m_streams[rank], std::move(blocks), {}, std::move(events), std::move(blobs));
        m_builder->commit();
    }

    void write()
    {
        std::string console;
        for (int i = 0; i < 5000; ++i)
            console += std::to_string(1'700'000'000'000 + i) + " o line " + std::to_string(i) + "\n";
        Event tags;
        tags.kind = "tags";
        tags.json = R"({"tags": ["base"]})";
        Event notes;
        notes.kind = "notes";
        notes.json = R"({"notes": "written by the program"})";
        const auto scalars = m_builder->addLayout(Kind::Scalar, { Stat::Value }, { "loss" });
        const auto rss = m_builder->addLayout(Kind::Scalar, { Stat::Value }, { "system/rss_bytes" });
        const auto cpu = m_builder->addLayout(Kind::Scalar, { Stat::Value }, { "system/cpu_percent" });
        const auto gradients = m_builder->addLayout(Kind::GradReduced, { Stat::Norm }, { "layers.0.fc.weight" });
        std::vector<StepBlock> blocks;
        const auto add = [&](const std::shared_ptr<const SeriesLayout>& layout, int step, double value) {
            StepBlock block;
            block.layout = layout;
            block.step = Step { step };
            if (layout->kind == Kind::Scalar)
                block.columns = { { Stat::Value, std::vector<double> { value } } };
            else
                block.columns = { { Stat::Norm, std::vector<float> { static_cast<float>(value) } } };
            blocks.push_back(std::move(block));
        };
        for (int step = 0; step < kSteps; ++step) {
            add(scalars, step, 3.0 - step / 40.0);
            add(gradients, step, 1.0);
            add(rss, step, 1.5 * 1024 * 1024 * 1024);
            add(cpu, step, step == kSteps - 1 ? std::nan("") : 90.0 + step % 7);
        }
        stage(0,
            { blob("hyperparameters", 0, R"({"optimizer": {"lr": 0.001, "name": "Adam"}, "seed": 7})"),
                blob("environment", 0, R"({"host": "node-a", "torch": "2.13.0", "command": "python train.py"})"),
                blob("config", 0, R"({"wg_distribution": true, "targets": {"layers.0": {}}})", "config.json"),
                blob("structure", 0, kStructure, "model"),
                blob("stack", 1,
                    R"({"0:layers.0.fc": "File /home/me/my model.py, line 41, in forward, \n y = f(x) \n"})",
                    "stack_info"),
                blob("text", 10, "text of 10", "sample"), blob("text", 20, "text of 20", "sample"),
                blob("text", 30, "text of 30", "sample"), blob("image", 15, pngOf(100), "map"),
                blob("image", 30, pngOf(200), "map"), blob("console", 1, console),
                blob("console", 2, "no such line\n1700000008000 e a warning\n") },
            std::move(blocks), { tags, notes });
        blocks.clear();
        add(rss, 0, 1024.0 * 1024 * 1024);
        stage(1,
            { blob("environment", 0, R"({"host": "node-b", "torch": "2.13.0", "command": "python train.py"})"),
                blob("text", 3, "of rank 1", "sample") },
            std::move(blocks));
    }

    void append(Event event)
    {
        event.author = "somebody";
        store::OwnRecord record;
        record.token = 1;
        record.event = std::move(event);
        m_builder->writer().stageRecord(std::move(record));
        m_builder->commit();
        auto reader = test::CapsuleBuilder::must(store::openReader(m_builder->liveHandle()));
        m_state->appendLog(test::CapsuleBuilder::must(reader->log({})));
    }

    template <typename View> View* open(bool mayWrite = true)
    {
        m_host.reset();
        m_pool = std::make_unique<store::QueryPool>(1);
        m_pool->setWake([this] {
            QMetaObject::invokeMethod(
                this,
                [this] {
                    if (m_pool)
                        m_pool->deliver();
                },
                Qt::QueuedConnection);
        });
        m_state = std::make_unique<ViewState>();
        if (mayWrite) {
            m_annotator = std::make_unique<Annotator>();
            m_annotator->folder = m_dir->path();
            m_annotator->write = [this](const store::RunLocator&, Event event) {
                append(std::move(event));
                return true;
            };
        }
        m_axis = std::make_unique<SharedAxis>(m_state.get());
        m_host = std::make_unique<QWidget>();
        m_host->resize(1060, 720);
        m_host->setAttribute(Qt::WA_DontShowOnScreen);
        auto* view = new View(
            { m_state.get(), m_axis.get(), m_pool.get(), &m_steering, m_annotator.get(), &m_runs }, m_host.get());
        auto handle = std::make_shared<store::RunHandle>(m_builder->liveHandle());
        auto reader = test::CapsuleBuilder::must(store::openReader(*handle));
        view->resize(1060, 720);
        m_state->setRun(handle);
        m_state->setCatalog(test::CapsuleBuilder::must(reader->catalog()));
        m_state->setFullRange({ Step { 0 }, Step { kSteps - 1 } });
        m_host->show();
        settle(view);
        return view;
    }

    static void settle(DataView* view)
    {
        QVERIFY(QTest::qWaitFor([view] { return view->isSettled(); }, 20'000));
        QVERIFY2(view->trouble().isEmpty(), qPrintable(view->trouble()));
    }

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

    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<test::CapsuleBuilder> m_builder;
    std::map<int, std::int64_t> m_streams;
    int m_blobs = 0;
    std::unique_ptr<store::QueryPool> m_pool;
    std::unique_ptr<ViewState> m_state;
    std::unique_ptr<SharedAxis> m_axis;
    std::unique_ptr<Annotator> m_annotator;
    SteeringState m_steering;
    items::RunsModel m_runs;
    std::unique_ptr<QWidget> m_host;
};

TELLTALE_TEST(QTEST_MAIN, RunViewTest)

}

#include "runviewtest.moc"
