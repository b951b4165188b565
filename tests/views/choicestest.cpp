// SPDX-License-Identifier: GPL-3.0-or-later
// What a view has chosen for itself, beside what all share: its presentation has it, and so has the next start. What is
// written to a file is what its name says.
#include "testmain.h"

#include <cmath>

#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QRegularExpression>
#include <QSplitter>
#include <QTemporaryDir>
#include <QTreeView>

#include <telltale/common/viewbar.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/runsmodel.h>
#include <telltale/shell/commandregistry.h>
#include <telltale/shell/mainwindow.h>
#include <telltale/shell/presentation.h>
#include <telltale/shell/rundriver.h>
#include <telltale/shell/session.h>
#include <telltale/shell/toaster.h>
#include <telltale/shell/viewexport.h>
#include <telltale/shell/viewtabs.h>
#include <telltale/store/querypool.h>
#include <telltale/translations/translations.h>

#include "manykindscapsule.h"
#include "shownwindow.h"

namespace choicestest {

using namespace telltale;
using namespace telltale::shell;

namespace {

constexpr int kWaitMs = 20'000;

}

using Choice = std::pair<QString, int>; ///< a box's name, and an item
using Choices = QList<Choice>;

class ChoicesTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init()
    {
        QTest::failOnWarning(QRegularExpression(QStringLiteral(".?")));
        m_dir = std::make_unique<QTemporaryDir>();
        QVERIFY(QDir(m_dir->path()).mkdir(QStringLiteral("runs")));
        float change = 0;
        for (const char* id : { "a", "b", "c" })
            test::ManyKindsCapsule::write(
                m_dir->filePath(QStringLiteral("runs/2026-01-02_%1.telltale").arg(QLatin1String(id))).toStdString(), id,
                change += 0.5F);
        m_pool = std::make_unique<store::QueryPool>(2);
        open({});
        state()->setSelection({ { QStringLiteral("layers.1.mlp.weight") } });
    }
    void cleanup()
    {
        m_window.reset();
        m_pool.reset();
        m_dir.reset();
    }

    void aPresentationShowsWhatIsChosenInTheView_data()
    {
        QTest::addColumn<QString>("id");
        QTest::addColumn<Choices>("choices");
        const auto row = [](const char* name, const char* id, const Choices& choices) {
            QTest::newRow(name) << QString::fromLatin1(id) << choices;
        };
        const auto box = [](const char* name, int item) { return Choice { QLatin1String(name), item }; };
        row("heatmap", "heatmap", { box("heatmapAxes", 1), box("heatmapScale", 0) });
        row("curves", "curves", { box("curvesX", 3), box("curvesY", 0), box("curvesSmooth", 4) });
        row("attention of ranks", "attention",
            { box("attentionAxes", 1), box("attentionLayer", 1), box("attentionBelow", 1) });
        row("attention's maps", "attention",
            { box("attentionLeft", 1), box("attentionHeads", 1), box("attentionBelow", 2), box("attentionRank", 2) });
        row("distributions", "distribution", { box("distributionShape", 1), box("distributionBelow", 1) });
        row("distributions' counts", "distribution", { box("distributionColor", 2), box("distributionBelow", 3) });
        row("ranks", "ranks", { box("ranksScale", 0), box("ranksBelow", 1) });
        row("communication", "communication", { box("communicationBelow", 1) });
        row("compare", "compare",
            { box("compareAgainst", 1), box("compareTolerance", 6), box("compareValue", 1), box("compareRows", 1),
                box("compareBelow", 1) });
    }
    void aPresentationShowsWhatIsChosenInTheView()
    {
        QFETCH(QString, id);
        QFETCH(Choices, choices);
        compareAll();
        m_window->views()->setCurrent(id);
        views::DataView* view = m_window->views()->currentView();
        for (views::ViewBar* bar : view->findChildren<views::ViewBar*>())
            bar->keepHidden(); // the plots are as large in both windows
        QTRY_VERIFY_WITH_TIMEOUT(view->isSettled(), kWaitMs);
        const QImage before = view->renderImage(view->size());
        choose(choices);
        m_window->commands()->action("view.present")->trigger();
        auto* shown = m_window->findChild<Presentation*>();
        QVERIFY(shown);
        shown->resize(shown->size() + view->size() - shown->view()->size());
        QTRY_COMPARE(shown->view()->size(), view->size());
        QTRY_VERIFY_WITH_TIMEOUT(shown->view()->isSettled() && view->isSettled(), kWaitMs);
        for (const views::ViewBar* bar : shown->findChildren<views::ViewBar*>())
            QVERIFY(!bar->isVisible());
        QVERIFY(!view->shownWords().isEmpty());
        QVERIFY(shown->windowTitle().endsWith(view->shownWords().join(QStringLiteral("  \u00b7  "))));
        QCOMPARE(shown->view()->choices(), view->choices());
        QCOMPARE(shown->state()->comparedRuns(), state()->comparedRuns());
        QVERIFY(view->renderImage(view->size()) != before);
        QTRY_COMPARE_WITH_TIMEOUT(shown->view()->renderImage(view->size()), view->renderImage(view->size()), kWaitMs);
    }

    void aPresentationHasTheDividersTheCardAndTheCallSite()
    {
        state()->setIncident(5);
        for (const char* id : { "distribution", "communication", "attention" }) {
            m_window->views()->setCurrent(QLatin1String(id));
            views::DataView* view = m_window->views()->currentView();
            QTRY_VERIFY_WITH_TIMEOUT(view->isSettled(), kWaitMs);
            auto* split = view->findChild<QSplitter*>();
            split->setSizes({ 100, 300 });
            Q_EMIT split->splitterMoved(100, 1);
            if (auto* table = view->findChild<QTreeView*>(QStringLiteral("communicationTable")))
                table->setCurrentIndex(table->model()->index(0, 0));
            m_window->commands()->action("view.present")->trigger();
            auto* shown = m_window->findChild<Presentation*>();
            QCOMPARE(shown->state()->incident(), std::int64_t { 5 });
            QVERIFY(shown->state()->isIncidentChosen());
            QTRY_VERIFY_WITH_TIMEOUT(shown->view()->isSettled(), kWaitMs);
            if (const auto* table = shown->findChild<QTreeView*>(QStringLiteral("communicationTable")))
                QVERIFY(table->currentIndex().isValid());
            const auto share = [](const QSplitter* one) {
                return static_cast<double>(one->sizes().front()) / (one->sizes().front() + one->sizes().back());
            };
            const double own = share(shown->findChild<QSplitter*>());
            QVERIFY2(std::abs(own - share(split)) < 0.01,
                qPrintable(QStringLiteral("%1 %2").arg(QLatin1String(id)).arg(own)));
            shown->close();
            QTRY_VERIFY(!m_window->findChild<Presentation*>());
        }
    }

    /// Of views for which this run has nothing.
    void anEmptyPresentationHasThemToo()
    {
        for (const auto& [id, choices] :
            { std::pair { "overview", Choices { { QStringLiteral("overviewSmooth"), 4 } } },
                std::pair { "anomalies",
                    Choices { { QStringLiteral("incidentSeverity"), 2 }, { QStringLiteral("incidentWhich"), 1 } } } }) {
            m_window->views()->setCurrent(QLatin1String(id));
            const QStringList before = m_window->views()->currentView()->choices();
            choose(choices);
            m_window->commands()->action("view.present")->trigger();
            auto* shown = m_window->findChild<Presentation*>();
            QCOMPARE(shown->view()->choices(), m_window->views()->currentView()->choices());
            QVERIFY(shown->view()->choices() != before);
            QVERIFY(!shown->state()->isIncidentChosen()); // it goes on to one that is worse, as the window does
            shown->close();
            QTRY_VERIFY(!m_window->findChild<Presentation*>());
        }
    }

    void aViewOfOneRunSaysSoWhereOthersAreCompared()
    {
        const std::array views { "attention", "distribution", "ranks", "communication", "structure", "anomalies" };
        const auto noteOf = [this](const char* id) {
            m_window->views()->setCurrent(QLatin1String(id));
            return m_window->views()->currentView()->findChild<QLabel*>(QStringLiteral("oneRunNote"));
        };
        for (const char* id : views)
            QVERIFY2(noteOf(id)->text().isEmpty(), id);
        compareAll();
        for (const char* id : views) {
            const QLabel* note = noteOf(id);
            QTRY_VERIFY_WITH_TIMEOUT(note->isVisible(), kWaitMs);
            QCOMPARE(note->text(), QStringLiteral("one of 3 runs"));
            QVERIFY(note->toolTip().contains(state()->runName(0)));
        }
        m_window->commands()->action("run.endComparison")->trigger();
        for (const char* id : views)
            QVERIFY2(!noteOf(id)->isVisible(), id);
    }

    void theNextStartHasThem()
    {
        compareAll();
        state()->setCursor(Step { 7 });
        for (const Choice& one : Choices { { QStringLiteral("attentionBelow"), 2 },
                 { QStringLiteral("distributionShape"), 1 }, { QStringLiteral("ranksBelow"), 1 },
                 { QStringLiteral("compareAgainst"), 1 }, { QStringLiteral("compareBelow"), 3 } })
            choose({ one });
        const QStringList choices = m_window->views()->choices();
        const settings::Settings kept = settings::fromJson(settings::toJson(m_window->session()->current())).settings;
        QCOMPARE(kept, m_window->session()->current());
        const QStringList compared = paths();
        QCOMPARE(compared.size(), 2);
        m_window.reset();
        open({ kept, {} });
        QCOMPARE(state()->cursor(), std::optional(Step { 7 }));
        QTRY_COMPARE_WITH_TIMEOUT(paths(), compared, kWaitMs);
        QCOMPARE(m_window->views()->choices(), choices);
    }

    /// Not by a number that means another one where something comes before it.
    void aChoiceIsKeptByItsName()
    {
        compareAll();
        const QRegularExpression named(
            QStringLiteral("^(attentionRank|attentionLayer|\\w+Smooth|compareTolerance)=|=\\D"));
        for (const QString& choice : m_window->views()->choices())
            QVERIFY2(named.match(choice).hasMatch(), qPrintable(choice));
        choose({ { QStringLiteral("heatmapScale"), 2 } });
        settings::Settings kept = m_window->session()->current();
        const QString symlog = QStringLiteral("heatmapScale=symlog");
        QVERIFY(kept.viewChoices.contains(symlog));
        // Whatever language it is shown in.
        m_window.reset();
        translations::install(*qApp, QStringLiteral("zh_CN"));
        open({ kept, {} });
        translations::install(*qApp, QStringLiteral("en"));
        QVERIFY(
            m_window->findChild<QComboBox*>(QStringLiteral("heatmapScale"))->itemText(0) != QLatin1String("linear"));
        QVERIFY(m_window->views()->choices().contains(symlog));
        // The numbers of an older session say nothing.
        m_window.reset();
        kept.viewChoices = QStringList { QStringLiteral("heatmapScale=2"), QStringLiteral("ranksBelow=true") };
        open({ kept, {} });
        QVERIFY(!m_window->views()->choices().contains(symlog));
        QVERIFY(m_window->views()->choices().contains(QStringLiteral("ranksBelow=true")));
    }

    void ofSeveralRunsTheChosenOneIsKept()
    {
        test::ManyKindsCapsule::write(
            m_dir->filePath(QStringLiteral("runs/2026-01-02_d.telltale")).toStdString(), "d", 2);
        m_window->driver()->refreshArchive();
        QTRY_COMPARE_WITH_TIMEOUT(
            m_window->driver()->runs()->runs(items::RunsModel::ArchivedGroup).size(), std::size_t { 4 }, kWaitMs);
        compareAll(3);
        choose({ { QStringLiteral("compareAgainst"), 2 } });
        settings::Settings kept = m_window->session()->current();
        kept.comparedRuns.removeAt(1);
        m_window.reset();
        open({ kept, {} });
        QTRY_COMPARE_WITH_TIMEOUT(paths(), kept.comparedRuns, kWaitMs);
        QTRY_COMPARE(m_window->findChild<QComboBox*>(QStringLiteral("compareAgainst"))->currentIndex(), 1);
    }

    void aRunThatIsGoneIsNotComparedWith()
    {
        compareAll();
        settings::Settings kept = m_window->session()->current();
        kept.comparedRuns.front() = m_dir->filePath(QStringLiteral("runs/gone.telltale"));
        kept.cursor = QStringLiteral("4000");
        const QString other = kept.comparedRuns.back();
        m_window.reset();
        open({ kept, {} });
        QTRY_COMPARE_WITH_TIMEOUT(paths(), QStringList { other }, kWaitMs);
        QVERIFY(!state()->cursor());
        QVERIFY(m_window->toaster()->shown().isEmpty());
    }

    void aRunThatIsShownAgainIsComparedAsItWas()
    {
        compareAll();
        const QString own = QString::fromStdString(state()->run()->id);
        const QString other = QString::fromStdString(state()->comparedRuns().front().run->id);
        const QStringList compared = paths();
        m_window->driver()->openById(other);
        QTRY_VERIFY_WITH_TIMEOUT(state()->catalog(), kWaitMs);
        QVERIFY(paths().isEmpty());
        m_window->driver()->openById(own);
        QTRY_COMPARE_WITH_TIMEOUT(paths(), compared, kWaitMs);
        // What was ended is over.
        m_window->commands()->action("run.endComparison")->trigger();
        m_window->driver()->openById(other);
        QTRY_VERIFY_WITH_TIMEOUT(state()->catalog(), kWaitMs);
        m_window->driver()->openById(own);
        QTRY_VERIFY_WITH_TIMEOUT(state()->catalog(), kWaitMs);
        QVERIFY(paths().isEmpty());
    }

    void aFileIsWhatItsNameSays_data()
    {
        QTest::addColumn<QString>("ending");
        QTest::addColumn<QByteArray>("start");
        QTest::newRow("png") << QStringLiteral(".png") << QByteArray("\x89PNG");
        QTest::newRow("svg") << QStringLiteral(".SVG") << QByteArray("<?xml");
        QTest::newRow("csv") << QStringLiteral(".csv") << QByteArray("name,slot");
    }
    void aFileIsWhatItsNameSays()
    {
        QFETCH(QString, ending);
        QFETCH(QByteArray, start);
        m_window->views()->setCurrent(QStringLiteral("heatmap"));
        views::DataView* view = m_window->views()->currentView();
        QTRY_VERIFY_WITH_TIMEOUT(view->isSettled(), kWaitMs);
        const QString path = m_dir->filePath(QStringLiteral("shown") + ending);
        m_window->findChild<ViewExport*>()->write(view, path);
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(path), kWaitMs);
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray written = file.readAll();
        QVERIFY2(written.startsWith(start), written.left(80));
    }

    void runsOfOneNameAreWrittenToFilesOfTheirOwn()
    {
        items::RunsModel* runs = m_window->driver()->runs();
        const QString own = QString::fromStdString(state()->run()->id);
        const QModelIndex shown = runs->indexOf(own);
        runs->setData(shown.siblingAtRow(shown.row() == 0 ? 1 : 0), shown.data(), Qt::EditRole);
        const QString name
            = shown.data().toString() + u' ' + QString::fromStdString(store::shortRunId(own.toStdString()));
        QTRY_COMPARE_WITH_TIMEOUT(m_window->driver()->pulse().shownName, name, kWaitMs);
        const views::DataView* view = m_window->views()->currentView();
        QCOMPARE(ViewExport::proposedName(view, m_window->driver()->pulse().shownName, QStringLiteral("csv")),
            name + u'-' + m_window->views()->currentId() + QStringLiteral(".csv"));
    }

    void anEndingThatIsNoneGetsOne()
    {
        const QString png = QStringLiteral("png");
        QCOMPARE(ViewExport::withEnding(QStringLiteral("/a/loss at 0.5"), png), QStringLiteral("/a/loss at 0.5.png"));
        QCOMPARE(ViewExport::withEnding(QStringLiteral("/a/b.jpg"), png), QStringLiteral("/a/b.jpg.png"));
        QCOMPARE(ViewExport::withEnding(QStringLiteral("/a/b"), png), QStringLiteral("/a/b.png"));
        QCOMPARE(ViewExport::withEnding(QStringLiteral("/a/b.CSV"), png), QStringLiteral("/a/b.CSV"));
        // Of a run's name goes what no file can have in its own, and nothing else.
        const QString whole = QStringLiteral("moe with NaN, lr=0.4 (b) 50% \u635f\u5931");
        QCOMPARE(ViewExport::fileNameOf(whole), whole);
        QCOMPARE(ViewExport::fileNameOf(QStringLiteral("../a\\b:\"c\"\n\u202e ")), QStringLiteral("_._a_b__c___"));
        QCOMPARE(ViewExport::fileNameOf(QString(500, u'\u635f')), QString(40, u'\u635f'));
    }

private:
    void open(const settings::LoadedSettings& loaded)
    {
        m_window = test::showWindow(m_dir->path(), m_pool.get(), nullptr, loaded);
        QTRY_VERIFY_WITH_TIMEOUT(state()->catalog(), kWaitMs);
    }

    /// The shown run with the others.
    void compareAll(std::size_t count = 2)
    {
        QStringList others;
        for (const store::RunSummary& run : m_window->driver()->runs()->runs(items::RunsModel::ArchivedGroup)) {
            if (run.locator != state()->run()->locator)
                others.append(QString::fromStdString(run.id));
        }
        m_window->driver()->compare(QString::fromStdString(state()->run()->id), others);
        QTRY_COMPARE_WITH_TIMEOUT(state()->comparedRuns().size(), count, kWaitMs);
    }

    QStringList paths() const
    {
        QStringList paths;
        for (const views::ComparedRun& one : state()->comparedRuns())
            paths.append(QString::fromStdString(one.run->locator.text()));
        return paths;
    }

    /// As the mouse would.
    void choose(const Choices& choices)
    {
        for (const auto& [name, item] : choices) {
            auto* box = m_window->views()->currentView()->findChild<QComboBox*>(name);
            if (!box)
                box = m_window->findChild<QComboBox*>(name);
            QVERIFY2(box, qPrintable(name));
            QTRY_VERIFY2_WITH_TIMEOUT(box->count() > item, qPrintable(name), kWaitMs);
            box->setCurrentIndex(item);
            Q_EMIT box->activated(item);
            QTRY_VERIFY_WITH_TIMEOUT(m_window->views()->currentView()->isSettled(), kWaitMs);
        }
    }

    views::ViewState* state() const { return m_window->state(); }

    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<store::QueryPool> m_pool;
    std::unique_ptr<MainWindow> m_window;
};

TELLTALE_TEST(QTEST_MAIN, ChoicesTest)

}

#include "choicestest.moc"
