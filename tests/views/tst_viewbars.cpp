// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <QApplication>
#include <QDir>
#include <QFileDialog>
#include <QStackedWidget>
#include <QTreeView>

#include <telltale/common/theme.h>
#include <telltale/common/viewbar.h>
#include <telltale/items/numbertext.h>
#include <telltale/plot/ranksside.h>
#include <telltale/plot/ranktable.h>

#include "commonsynthetic.h"

namespace tst_viewbars {

using namespace telltale;
using namespace telltale::views;

/// What the bars above views and the heads of tables leave out where there is no room. Thread: gui.
class ViewBars : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void theChoiceThatSaysMostIsCutLast()
    {
        ViewBar bar;
        QComboBox* axes = bar.addCombo(QStringLiteral("Axes"), QStringLiteral("a"), false);
        QComboBox* kind = bar.addCombo(QStringLiteral("Kind"), QStringLiteral("k"), false);
        axes->addItem(QStringLiteral("modules by their steps"));
        kind->addItem(QStringLiteral("gradient, reduced"));
        bar.keepWhole(kind);
        bar.resize(240, bar.height());
        bar.show();
        QTRY_COMPARE(kind->width(), kind->sizeHint().width());
        QVERIFY(axes->width() < axes->sizeHint().width());
        // Of several the first is.
        QComboBox* rows = bar.addCombo(QStringLiteral("Rows"), QStringLiteral("r"), false);
        rows->addItem(QStringLiteral("similar rows together"));
        bar.keepWhole(rows);
        bar.resize(400, bar.height());
        QTRY_COMPARE(rows->width(), rows->sizeHint().width());
        QCOMPARE(kind->width(), kind->sizeHint().width());
        QVERIFY(axes->width() < axes->sizeHint().width());
    }

    void aBareNumberKeepsItsLabel()
    {
        ViewBar bar;
        std::vector<QComboBox*> combos;
        for (const auto& [label, chosen] :
            { std::pair { "Axes", "module by step" }, { "Rank", "2" }, { "Rows", "all" } }) {
            combos.push_back(bar.addCombo(QString::fromLatin1(label), QString::fromLatin1(label)));
            combos.back()->addItem(QString::fromLatin1(chosen));
        }
        const auto labeled = [&](int width) {
            bar.resize(width, bar.height());
            bar.show();
            QCoreApplication::processEvents();
            QString shown;
            for (const QLabel* label : bar.findChildren<QLabel*>())
                shown += label->isVisible() ? label->text() + QLatin1Char(' ') : QString();
            return shown;
        };
        const int whole = bar.sizeHint().width();
        QCOMPARE(labeled(whole), QStringLiteral("Axes Rank Rows "));
        QCOMPARE(labeled(whole - 10), QStringLiteral("Rank Rows "));
        QCOMPARE(labeled(120), QStringLiteral("Rank "));
        // What is kept goes after the labels, and not before there is no room for it alone.
        QLabel* kept = bar.addCaption(true);
        kept->setText(QStringLiteral("kept"));
        const int withIt = whole + kept->sizeHint().width() + bar.layout()->spacing();
        QCOMPARE(labeled(withIt), QStringLiteral("Axes Rank Rows kept "));
        QCOMPARE(labeled(withIt - 10), QStringLiteral("Rank Rows kept "));
        QCOMPARE(labeled(80), QStringLiteral("Rank "));
    }

    void whatATitleSaysIsKeptBeforeLabels()
    {
        ViewBar bar;
        QLabel* caption = bar.addTitle(QStringLiteral("Curves"));
        for (const char* label : { "Smooth", "Show" })
            bar.addCombo(QString::fromLatin1(label), QString::fromLatin1(label))
                ->addItems({ QStringLiteral("run"), QStringLiteral("a longer choice") });
        const QString least = QStringLiteral("fp16 underflow");
        bar.setTitleCaption({ least + QStringLiteral(" of 1 selected series"), least }, true);
        bar.show();
        bool isShort = false;
        const int whole = bar.sizeHint().width();
        for (int width = whole + 400; width >= whole; --width) {
            bar.resize(width, bar.height());
            QCoreApplication::processEvents();
            QVERIFY2(caption->isVisible(), qPrintable(QString::number(width)));
            QVERIFY(caption->width() >= caption->fontMetrics().horizontalAdvance(caption->text()));
            isShort = isShort || caption->text() == least;
        }
        QVERIFY(isShort);
    }

    void theHeaderOfAFileDialogGoesToItsEnd()
    {
        Theme::apply(*qApp, Theme::Mode::Dark);
        QFileDialog dialog(nullptr, QString(), QDir::tempPath());
        dialog.setOption(QFileDialog::DontUseNativeDialog);
        QWidget host; // a window with a least size is warned of where there is no screen
        dialog.setParent(&host, Qt::Widget);
        dialog.resize(860, 500);
        host.show();
        dialog.show();
        const auto* header = dialog.findChild<QTreeView*>(QStringLiteral("treeView"))->header();
        QTRY_VERIFY(header->isVisible());
        QTRY_COMPARE(header->length(), header->viewport()->width());
        dialog.setParent(nullptr);
    }

    void noChoiceIsCutWhereALabelCouldGo()
    {
        ViewBar bar;
        std::vector<QComboBox*> combos;
        for (const char* label : { "Axes", "Scale", "Rank" }) {
            combos.push_back(bar.addCombo(QString::fromLatin1(label), QString::fromLatin1(label)));
            combos.back()->addItems({ QStringLiteral("a"), QStringLiteral("a long choice that nobody made") });
        }
        QComboBox* rows = bar.addCombo(QStringLiteral("Rows"), QStringLiteral("r"));
        rows->addItem(QStringLiteral("model order"));
        bar.addCaption(); // which says nothing
        bar.show();
        for (int width = bar.sizeHint().width(); width > 150; --width) {
            bar.resize(width, bar.height());
            QCoreApplication::processEvents();
            const auto labels = bar.findChildren<QLabel*>();
            const bool isLabeled = std::ranges::any_of(
                labels, [](const QLabel* label) { return label->isVisible() && !label->text().isEmpty(); });
            QVERIFY2(!isLabeled || rows->width() >= rows->sizeHint().width(), qPrintable(QString::number(width)));
        }
    }

    void whatABarGetsWhileHiddenIsFittedAsItIsShown()
    {
        QWidget host; // a window with a least size is warned of where there is no screen
        auto& pages = *new QStackedWidget(&host);
        auto* bar = new ViewBar;
        for (const char* label : { "Axes", "Scale", "Rows" })
            bar->addCombo(QString::fromLatin1(label), QString::fromLatin1(label))->addItem(QStringLiteral("a choice"));
        QLabel* note = bar->addCaption(true);
        const auto setNote = [&](const QString& text) {
            note->setText(text);
            note->setVisible(!text.isEmpty());
        };
        setNote({});
        pages.addWidget(bar);
        pages.addWidget(new QWidget);
        pages.resize(bar->sizeHint().width() + 4, 100); // all has room, but for the note
        host.show();
        QCoreApplication::processEvents();
        pages.setCurrentIndex(1);
        // Of what changes while the bar is hidden, its layout announces only the first.
        for (const char* text : { "one", "", "one of 2 runs" }) {
            setNote(QString::fromLatin1(text));
            QCoreApplication::processEvents();
        }
        pages.setCurrentIndex(0);
        QCoreApplication::processEvents();
        QVERIFY(note->isVisible());
        for (const QComboBox* combo : bar->findChildren<QComboBox*>())
            QVERIFY(combo->width() >= combo->sizeHint().width());
    }

    void theAirBehindAChoiceGoesBeforeAnyIsCut()
    {
        Theme::apply(*qApp, Theme::Mode::Dark);
        ViewBar bar;
        int width = 24; // the insets; 8 px stand between two
        for (const char* words : { "entropy", "0.attn", "softmax maximum", "by number" }) {
            QComboBox* combo = bar.addCombo(QString::fromLatin1(words), QString::fromLatin1(words), false);
            combo->addItem(QString::fromLatin1(words));
            width += combo->fontMetrics().horizontalAdvance(combo->currentText()) + 35 + 8;
        }
        bar.show();
        bar.resize(width - 8, bar.height());
        QCoreApplication::processEvents();
        for (const QComboBox* combo : bar.findChildren<QComboBox*>())
            QVERIFY2(combo->width() >= combo->fontMetrics().horizontalAdvance(combo->currentText()) + 34,
                qPrintable(combo->currentText()));
    }

    void theTableOfRanksSaysWhatIsUnusual()
    {
        Theme::apply(*qobject_cast<QApplication*>(QCoreApplication::instance()), Theme::Mode::Dark);
        ViewState state;
        state.setCatalog(synthetic::catalog());
        state.setRank(Rank { 2 });
        RanksSide side(&state);
        side.resize(RanksSide::kMostWidth, 600);
        auto* table = side.findChild<RankTable*>();
        const RankTableModel& model = table->rankModel();
        const auto text = [&](int rank, int column) { return model.index(rank, column).data().toString(); };
        // Archived, nothing lost: what no agent says has no column.
        QCOMPARE(model.rowCount(), 8);
        QVERIFY(!side.isEmpty() && !model.isLive() && model.sentence().isEmpty());
        QVERIFY(table->isColumnHidden(RankTableModel::LagColumn) && table->isColumnHidden(RankTableModel::TimesColumn));
        QCOMPARE(table->currentIndex().row(), 2);
        QVERIFY(!table->isColumnHidden(RankTableModel::LastStepColumn));
        const auto ended = synthetic::catalog();
        for (store::SourceInfo& source : ended->sources)
            source.lastStep = Step { source.rank == Rank { 3 } ? 17 : 20 };
        state.setCatalog(ended);
        QCOMPARE(text(3, RankTableModel::LastStepColumn), QStringLiteral("17"));
        QCOMPARE(model.sentence(), QStringLiteral("Earlier than the others ended rank 3."));
        state.setCatalog(synthetic::catalog());
        // An older agent of rank 5 that left says nothing of it beside the one that is connected.
        std::vector<ConnectionInfo> agents(3);
        agents[0].rank = agents[1].rank = Rank { 5 };
        agents[0].connected = true;
        agents[0].lagSeconds = 0.3;
        agents[0].spoolBytes = 4096;
        agents[1].saidBye = true;
        agents[1].lastHeardNs = 9;
        agents[2].rank = Rank { 6 };
        agents[2].connected = true;
        agents[2].lagSeconds = 12;
        state.setAgents(agents);
        store::LogPage page;
        page.records.emplace_back();
        page.records.back().isDrop = true;
        page.records.back().rank = Rank { 5 };
        page.records.back().dropClass = dropclass::kTensors;
        page.records.back().items = 3;
        state.appendLog(page);
        auto times = std::make_shared<RankTimes>();
        times->scalar = "forward_ms";
        times->steps = { Step { 0 }, Step { 1 } };
        for (int rank = 0; rank < 8; ++rank) {
            RankTimes::Box box;
            box.rank = Rank { rank };
            box.low = box.median = box.high = rank == 1 ? 20 : 10;
            box.steps = { box.low, std::numeric_limits<double>::quiet_NaN() };
            box.isSlow = rank == 1;
            times->boxes.push_back(box);
        }
        side.setTimes(times);
        QVERIFY(model.isLive() && table->isColumnHidden(RankTableModel::LastStepColumn));
        QVERIFY(
            !table->isColumnHidden(RankTableModel::LagColumn) && !table->isColumnHidden(RankTableModel::TimesColumn));
        QCOMPARE(text(5, RankTableModel::LagColumn), QStringLiteral("0.3 s"));
        QCOMPARE(text(5, RankTableModel::DroppedColumn), QStringLiteral("3"));
        QCOMPARE(text(5, RankTableModel::SpoolColumn), items::formatBytes(4096));
        QVERIFY(text(7, RankTableModel::LagColumn).isEmpty()); // no agent of it was heard
        const QString said = model.sentence();
        for (const char* words : { "takes rank 1.", "store is rank 6.", "lost of rank 5:" })
            QVERIFY2(said.contains(QLatin1String(words)), qPrintable(said));
        table->setCurrentIndex(model.index(4, 0));
        QCOMPARE(state.rank(), Rank { 4 });
    }
};

TELLTALE_TEST(QTEST_MAIN, ViewBars)

}

#include "tst_viewbars.moc"
