// SPDX-License-Identifier: GPL-3.0-or-later
// What is chosen and pointed at, and what the views, the tree and the Inspector make of it.
#include "testmain.h"

#include <algorithm>
#include <set>

#include <QBuffer>
#include <QLabel>
#include <QStandardItemModel>
#include <QTreeView>

#include <telltale/common/kindtext.h>
#include <telltale/common/seriesstyle.h>
#include <telltale/common/sharedaxis.h>
#include <telltale/items/moduletreemodel.h>
#include <telltale/items/runsmodel.h>
#include <telltale/plot/curvecanvas.h>
#include <telltale/plot/curvesview.h>
#include <telltale/plot/firstbad.h>
#include <telltale/runs/allkinds.h>
#include <telltale/runs/facttable.h>
#include <telltale/runs/modulesdelegate.h>
#include <telltale/runs/modulespanel.h>
#include <telltale/runs/runspanel.h>
#include <telltale/shell/commandregistry.h>
#include <telltale/shell/dockhost.h>
#include <telltale/shell/presentation.h>
#include <telltale/shell/rundriver.h>
#include <telltale/store/archive.h>

#include "deskwindow.h"
#include "incidentfixture.h"

namespace selectiontest {

using namespace telltale;
using namespace telltale::shell;

class SelectionTest : public QObject, test::DeskWindow {
    Q_OBJECT
private Q_SLOTS:
    void init() { openWindow(); }
    void cleanup() { closeWindow(); }

    void theJumpGoesToWhereItBeganWhateverIsShown()
    {
        openBadRun();
        // An activation overflows on rank 1; its gradient of the same step is what the window shows.
        state()->setRank(Rank { 0 });
        state()->setKind(Kind::GradReduced);
        m_window->commands()->action("view.nextBad")->trigger();
        QTRY_COMPARE_WITH_TIMEOUT(state()->cursor(), std::optional(Step { test::DemoCapsule::kFirstBad }), kWaitMs);
        QCOMPARE(state()->kind(), Kind::Actv);
        QCOMPARE(state()->rank(), Rank { 1 });
        QCOMPARE(state()->selection().front().name, QStringLiteral("layers.7.attn.qkv"));

        // The bars say the same, also of the kind in which everything broke at once.
        state()->setKind(Kind::GradReduced);
        auto* model = m_window->findChild<views::ModulesPanel*>()->model();
        const auto worst = [model](const char* module) {
            return model->indexOf(QLatin1String(module)).data(items::WorstRole).value<items::WorstValue>();
        };
        QTRY_VERIFY_WITH_TIMEOUT(worst("layers.9.ln1.weight").isNonFinite(), kWaitMs);
        QVERIFY(worst("layers.7.attn.qkv").isSource && worst("layers.7").isSource && worst("layers").isSource);
        QVERIFY(!worst("layers.7.attn.qkv.weight").isSource && !worst("layers.9.ln1.weight").isSource);
    }

    /// A call site keeps its line and function, and two that are not the same never read the same.

    void aNameInTheTreeLosesWhatTellsLeast()
    {
        const QFontMetrics metrics(views::codeFont(12));
        const int width = metrics.horizontalAdvance(QStringLiteral("\u2026allel.py:20 _summed")) + 1;
        struct : QStandardItemModel {
            mutable int asked = 0;
            QVariant data(const QModelIndex& index, int role) const override
            {
                ++asked;
                return QStandardItemModel::data(index, role);
            }
        } model;
        for (const char* name : { "all_reduce ranks.py:58 agree", "all_reduce tensorparallel.py:20 _summed",
                 "all_gather ranks.py:58 agree", "a_module_with_a_long_name", "head" })
            model.appendRow(new QStandardItem(QString::fromLatin1(name)));
        QTreeView tree;
        tree.setModel(&model);
        const views::ModulesDelegate delegate(&tree);
        const auto shown = [&](int row) { return delegate.fittedName(model.index(row, 0), metrics, width); };
        QCOMPARE(shown(1), QStringLiteral("\u2026allel.py:20 _summed"));
        QVERIFY2(shown(0).contains(QStringLiteral("ranks.py:58")), qPrintable(shown(0)));
        QVERIFY(shown(0) != shown(2));
        model.asked = 0;
        shown(0);
        QCOMPARE(model.asked, 1); // a scroll bar that moves does not fit all of them anew
        QCOMPARE(shown(3), QStringLiteral("a_module_with_a_lon\u2026"));
        QCOMPARE(shown(4), QStringLiteral("head"));
        model.removeRow(2);
        QCOMPARE(shown(0), QStringLiteral("\u2026ranks.py:58 agree"));
    }

    /// The Inspector and the first color are of it; nothing that was selected is lost.
    void whatHasTheChosenKindComesFirst()
    {
        state()->setKind(Kind::Actv);
        const views::ModuleKey module { QStringLiteral("layers.7.attn.qkv"), Slot::output() };
        const views::ModuleKey weight { QStringLiteral("layers.7.attn.qkv.weight"), {} };
        state()->setSelection({ module, weight });
        m_window->views()->setCurrent(QStringLiteral("curves"));
        state()->setKind(Kind::GradReduced);
        QCOMPARE(state()->selection(), (std::vector { weight, module }));
        const auto hasCount = [this](const QString& count) {
            return std::ranges::any_of(m_window->views()->currentView()->findChildren<QLabel*>(),
                [&](const QLabel* label) { return label->text().contains(count); });
        };
        QTRY_VERIFY_WITH_TIMEOUT(hasCount(QStringLiteral("1 selected series")), kWaitMs);
        state()->setKind(Kind::Actv);
        QCOMPARE(state()->selection(), (std::vector { module, weight }));
    }

    /// A kind that none of it has shows its modules; what was chosen comes back, and the tree shows all of it.
    void aChoiceComesBackWithItsKind()
    {
        state()->setKind(Kind::GradReduced);
        const std::vector<views::ModuleKey> chosen = keys({ "layers.7.attn.qkv.weight", "layers.1.attn.qkv.weight" });
        state()->setSelection(chosen);
        state()->setKind(Kind::Actv);
        QVERIFY(!state()->selection().empty() && state()->selection() != chosen);
        state()->setKind(Kind::GradReduced);
        QCOMPARE(state()->selection(), chosen);
        const auto* tree = m_window->findChild<QTreeView*>(QStringLiteral("modulesTree"));
        const auto* model = m_window->findChild<views::ModulesPanel*>()->model();
        for (const views::ModuleKey& key : chosen) {
            const QModelIndex row = model->indexOf(key.name);
            QVERIFY(row.isValid() && tree->selectionModel()->isSelected(row));
            for (QModelIndex above = row.parent(); above.isValid(); above = above.parent())
                QVERIFY(tree->isExpanded(above));
        }
    }

    void whereTheShownIncidentBeganHasAFlag()
    {
        auto* tree = m_window->findChild<QTreeView*>(QStringLiteral("modulesTree"));
        const auto* model = m_window->findChild<views::ModulesPanel*>()->model();
        const auto* delegate = qobject_cast<views::ModulesDelegate*>(tree->itemDelegate());
        const auto row = [model](const char* path) { return model->indexOf(QLatin1String(path)); };
        QTRY_VERIFY_WITH_TIMEOUT(row("layers.7.attn.qkv").isValid(), kWaitMs);
        const auto flagged = [&] {
            QStringList paths;
            for (const char* path : { "layers", "layers.1", "layers.7", "layers.7.attn", "layers.7.attn.qkv" }) {
                if (delegate->isSource(row(path), tree) && !tree->visualRect(row(path)).isEmpty())
                    paths.append(QLatin1String(path));
            }
            return paths;
        };
        tree->expand(row("layers"));
        QCOMPARE(flagged(), QStringList());
        state()->incidents()->append({ test::recordOf(judge::incidentEvent(test::incidentAt(360), 0), 7) });
        QTRY_COMPARE(state()->incident(), 7);
        QCOMPARE(flagged(), QStringList { QStringLiteral("layers.7") }); // closed
        const QRect closed = tree->visualRect(row("layers.7"));
        const QRect right(closed.center(), closed.bottomRight()); // its arrow changes, too
        const QImage with = tree->viewport()->grab(right).toImage();
        tree->expand(row("layers.7"));
        tree->expand(row("layers.7.attn"));
        QCOMPARE(flagged(), QStringList { QStringLiteral("layers.7.attn.qkv") });
        QVERIFY(tree->viewport()->grab(right).toImage() != with);
        QVERIFY(delegate->flagText(row("layers.7.attn.qkv"), tree).contains(QStringLiteral("incident")));
        QVERIFY(delegate->flagText(row("layers.7"), tree).isEmpty());
        state()->incidents()->clear();
    }

    void theLargestDeviationFillsItsBar()
    {
        const auto share = &views::ModulesDelegate::shareOf;
        QCOMPARE(share(4, 4), 1.0); // of a run without any that is loud, too
        QCOMPARE(share(2, 4), 0.5);
        QCOMPARE(share(4, 256), 0.25);
        QVERIFY(share(0.5, 4) > 0 && share(0.5, 4) < 0.1);
        QVERIFY(share(0.5, 0.5) < 0.1);
    }

    void severalModulesShareTheCurvesThatCanBeToldApart()
    {
        state()->setKind(Kind::GradReduced);
        auto* tree = m_window->findChild<QTreeView*>(QStringLiteral("modulesTree"));
        const auto* model = m_window->findChild<views::ModulesPanel*>()->model();
        QTRY_VERIFY_WITH_TIMEOUT(model->indexOf(QStringLiteral("layers.11.attn")).isValid(), kWaitMs);
        QItemSelection twelve;
        for (int i = 0; i < 12; ++i) {
            const QModelIndex index = model->indexOf(QStringLiteral("layers.%1").arg(i));
            twelve.select(index, index);
        }
        tree->selectionModel()->select(twelve, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
        std::set<QString> layers;
        for (const views::ModuleKey& key : state()->selection())
            layers.insert(key.name.section(u'.', 0, 1));
        QCOMPARE(state()->selection().size(), std::size_t { 18 });
        QCOMPARE(layers.size(), std::size_t { 12 });
        // What is left out is known, each once.
        QVERIFY(!state()->omitted().empty());
        for (const views::ModuleKey& key : state()->omitted()) {
            QVERIFY(std::ranges::count(state()->selection(), key) == 0);
            QVERIFY(std::ranges::count(state()->omitted(), key) == 1);
        }
    }

    void aCurveIsHiddenAndShownAloneByItsName()
    {
        state()->setSelection(keys({ "tok_emb.weight", "pos_emb.weight", "head.weight" }));
        state()->setRanks(std::vector<Rank> {});
        m_window->views()->setCurrent(QStringLiteral("curves"));
        auto* view = static_cast<views::CurvesView*>(m_window->views()->currentView());
        auto* canvas = view->findChild<views::CurveCanvas*>();
        QTRY_VERIFY_WITH_TIMEOUT(
            view->isSettled() && canvas->picture() && canvas->picture()->series.size() == 3, kWaitMs);
        const auto hidden = [&canvas] {
            std::vector<bool> flags;
            for (const views::CurveSeries& one : canvas->picture()->series)
                flags.push_back(one.isHidden);
            return flags;
        };
        const auto lines = [view] {
            QBuffer table;
            return table.open(QIODevice::WriteOnly) && view->writeCsv(&table) ? table.data().count('\n') : -1;
        };
        const qsizetype all = lines();
        const QImage before = canvas->renderTo({ 800, 400 });
        const QPoint first(canvas->width() - 60, 24); // the first name of the legend
        QTest::mouseClick(canvas, Qt::LeftButton, {}, first);
        QCOMPARE(hidden(), (std::vector<bool> { true, false, false }));
        QVERIFY(canvas->renderTo({ 800, 400 }) != before);
        QVERIFY(lines() < all);
        QTest::mouseClick(canvas, Qt::LeftButton, Qt::ControlModifier, first);
        QCOMPARE(hidden(), (std::vector<bool> { false, true, true }));
        QTest::mouseClick(canvas, Qt::LeftButton, Qt::ControlModifier, first);
        QCOMPARE(hidden(), (std::vector<bool> { false, false, false }));
        QCOMPARE(lines(), all);
        // And by keys; a new answer does not bring a hidden one back.
        QTest::mouseMove(canvas, QPoint(5, 5));
        QTest::keyClick(canvas, Qt::Key_Up);
        QTest::keyClick(canvas, Qt::Key_Down);
        QTest::keyClick(canvas, Qt::Key_H);
        QCOMPARE(hidden(), (std::vector<bool> { false, true, false }));
        state()->zoomTo({ Step { 10 }, Step { 60 } });
        QTRY_VERIFY_WITH_TIMEOUT(view->isSettled() && canvas->picture()->range.first == Step { 10 }, kWaitMs);
        QCOMPARE(hidden(), (std::vector<bool> { false, true, false }));
        QTest::keyClick(canvas, Qt::Key_Up);
        QTest::keyClick(canvas, Qt::Key_Down);
        QTest::keyClick(canvas, Qt::Key_I);
        QCOMPARE(hidden(), (std::vector<bool> { true, false, true }));
        // A presentation hides them too.
        m_window->commands()->action("view.present")->trigger();
        canvas = m_window->findChild<Presentation*>()->findChild<views::CurveCanvas*>();
        QTRY_VERIFY_WITH_TIMEOUT(canvas->picture(), kWaitMs);
        QCOMPARE(hidden(), (std::vector<bool> { true, false, true }));
    }

    void nothingSelectedLeavesNoEmptyPane()
    {
        auto* heat = m_window->findChild<views::HeatmapView*>();
        QVERIFY(state()->selection().empty());
        auto* below = heat->parentWidget()->findChild<views::CurvesView*>();
        QVERIFY(below && !below->isVisible());
        const int alone = heat->height();
        state()->setSelection(keys({ "head.weight" }));
        QVERIFY(below->isVisible());
        QTRY_VERIFY(heat->height() < alone);
        // Its picture has the axis that the curves have in the window.
        const QImage picture = heat->renderImage({ 900, 500 });
        const QColor base = heat->palette().color(QPalette::Base);
        int ink = 0;
        for (int y = 500 - 20; y < 496; ++y) {
            for (int x = 100; x < 700; ++x)
                ink += picture.pixelColor(x, y) != base;
        }
        QVERIFY2(ink > 50, qPrintable(QString::number(ink)));
    }

    void aScalarHasAValueAndNoRanksOfAKind()
    {
        auto* heat = m_window->findChild<views::HeatmapView*>();
        auto* below = heat->parentWidget()->findChild<views::CurvesView*>();
        const auto caption = [below](const QString& words) {
            const auto labels = below->findChildren<QLabel*>();
            return std::ranges::any_of(labels, [&](const QLabel* label) { return label->text() == words; });
        };
        state()->setSelection(keys({ "lr" }));
        QTRY_VERIFY_WITH_TIMEOUT(caption(QStringLiteral("value of 1 selected series")), kWaitMs);
        heat->setAxes(views::HeatAxes::RankByStep);
        QTRY_VERIFY_WITH_TIMEOUT(heat->isSettled(), kWaitMs);
        const QString kind = views::kindText(state()->kind());
        QCOMPARE(heat->emptyText(), QStringLiteral("The selected modules have no %1.").arg(kind));
        state()->setSelection(keys({ "lr", "head.weight" }));
        QTRY_VERIFY_WITH_TIMEOUT(caption(QStringLiteral("value, norm of 2 selected series")), kWaitMs);
        QCOMPARE(heat->emptyText(), QStringLiteral("lr has no %1.").arg(kind));
        state()->setSelection(keys({ "head.weight" }));
        QTRY_VERIFY_WITH_TIMEOUT(caption(QStringLiteral("norm of 1 selected series")), kWaitMs);
        state()->setSelection({});
        QCOMPARE(heat->emptyText(), QStringLiteral("This run has no %1.").arg(kind));
    }

    void aClickPinsTheStepThatTheCellUnderItShows()
    {
        auto* canvas = m_window->findChild<views::HeatmapView*>()->canvas();
        const QRect plot = canvas->plotRect();
        const int y = plot.center().y();
        for (int column = 0; column < canvas->picture()->columns(); ++column) {
            const QRect cell = canvas->cellRect(2, column).toAlignedRect();
            for (const int x : { cell.left(), cell.right() }) {
                QTest::mouseMove(canvas, { x, y });
                QTest::mouseClick(canvas, Qt::LeftButton, {}, { x, y });
                QCOMPARE(state()->cursor(), std::optional(canvas->picture()->stepsOf(column).first));
                QCOMPARE(state()->hover(), state()->cursor());
            }
        }
    }

    void theFirstNonFiniteValueIsOneClickAway()
    {
        auto* first = m_window->findChild<views::FirstBad*>();
        m_window->views()->setCurrent(QStringLiteral("overview"));
        openBadRun();
        QTRY_VERIFY_WITH_TIMEOUT(first->isVisible(), kWaitMs);
        QVERIFY2(
            first->text().contains(QStringLiteral("step 360, rank 1, layers.7.attn.qkv")), qPrintable(first->text()));
        // Of several at one step, it names the one that the incident does.
        items::IncidentsModel* incidents = state()->incidents();
        const QString found = first->text();
        incidents->append({ test::recordOf(
            judge::incidentEvent(test::incidentAt(360, store::Severity::Critical, "layers.2.mlp.fc", 0), 1), 900) });
        QTRY_VERIFY(first->text().contains(QStringLiteral("step 360, rank 0, layers.2.mlp.fc")));
        incidents->clear();
        QTRY_COMPARE(first->text(), found);
        state()->setRank(Rank { 0 });
        state()->setKind(Kind::GradReduced);
        QTest::mouseClick(first, Qt::LeftButton);
        QCOMPARE(state()->cursor(), std::optional(Step { test::DemoCapsule::kFirstBad }));
        QCOMPARE(state()->rank(), Rank { 1 });
        QCOMPARE(state()->kind(), Kind::Actv);
        QCOMPARE(state()->selection().front().name, QStringLiteral("layers.7.attn.qkv"));

        // And from the list of runs, with another run shown.
        const QString bad = QString::fromStdString(state()->run()->id);
        const auto& archived = m_window->driver()->runs()->runs(items::RunsModel::ArchivedGroup);
        const auto other = std::find_if(archived.begin(), archived.end(),
            [this](const store::RunSummary& run) { return run.locator != state()->run()->locator; });
        QVERIFY(other != archived.end());
        m_window->driver()->openById(QString::fromStdString(other->id));
        QTRY_VERIFY_WITH_TIMEOUT(state()->catalog() && state()->fullRange().last == Step { 99 }, kWaitMs);
        QTRY_VERIFY_WITH_TIMEOUT(!first->isVisible(), kWaitMs); // a run that is finite has none
        Q_EMIT m_window->docks()->panel<views::RunsPanel>()->firstNonFiniteWanted(bad);
        QTRY_COMPARE_WITH_TIMEOUT(state()->cursor(), std::optional(Step { test::DemoCapsule::kFirstBad }), kWaitMs);
        QCOMPARE(state()->selection().front().name, QStringLiteral("layers.7.attn.qkv"));
    }

    void theLaneJumpsToWhereItBegan()
    {
        openBadRun();
        state()->setRank(Rank { 1 });
        state()->setKind(Kind::GradReduced);
        m_window->views()->setCurrent(QStringLiteral("heatmap"));
        auto* heat = m_window->findChild<views::HeatmapView*>();
        QTRY_VERIFY_WITH_TIMEOUT(
            heat->isSettled() && heat->canvas()->picture() && heat->canvas()->picture()->kind == Kind::GradReduced,
            kWaitMs);
        const QRect plot = heat->canvas()->plotRect();
        const int x = plot.left()
            + static_cast<int>(views::SharedAxis::xOfStep(
                state()->visibleRange(), Step { test::DemoCapsule::kFirstBad }, plot.width()));
        QTest::mouseClick(heat->canvas(), Qt::LeftButton, {}, QPoint(x + 3, plot.top() - 4));
        QTRY_COMPARE_WITH_TIMEOUT(state()->kind(), Kind::Actv, kWaitMs);
        QCOMPARE(state()->selection().front().name, QStringLiteral("layers.7.attn.qkv"));
        QCOMPARE(state()->cursor(), std::optional(Step { test::DemoCapsule::kFirstBad }));
    }

    void allKindsOfAModuleStandInTheInspector()
    {
        state()->setKind(Kind::Actv);
        state()->setSelection({ { QStringLiteral("layers.7.attn.qkv"), protocolone::slotOf("output") } });
        state()->setCursor(Step { 40 });
        auto* list = m_window->findChild<QTreeView*>(QStringLiteral("inspectorKinds"));
        QTRY_VERIFY(list->isVisible());
        QCOMPARE(list->model()->rowCount(), 2);
        const auto shown = [list](int row) { return list->model()->index(row, 1).data().toString(); };
        QTRY_VERIFY_WITH_TIMEOUT(!shown(0).isEmpty() && !shown(1).isEmpty(), kWaitMs);
        // The numbers are the run's.
        auto reader = store::openReader(*state()->run());
        QVERIFY(reader);
        const auto lines = views::AllKinds::linesOf(
            *state()->catalog(), QStringLiteral("layers.7.attn.qkv"), state()->rank(), Stat::Norm);
        QCOMPARE(lines.size(), std::size_t { 2 });
        for (std::size_t i = 0; i < lines.size(); ++i) {
            const auto cells = (*reader)->column(Step { 40 }, Stat::Norm, std::vector { lines[i].attempts });
            QVERIFY(cells && cells->front().state == series::CellState::Value);
            QCOMPARE(shown(static_cast<int>(i)), views::formatValue(cells->front().value));
        }
        QVERIFY(shown(0) != shown(1));
        // Where a name has no room, what of the module it is stays.
        const auto nameOf = [list](int row) { return list->model()->index(row, 0).data().toString(); };
        const int ofWeight = nameOf(0).endsWith(QLatin1String("weight")) ? 0 : 1;
        const QString whole = nameOf(ofWeight);
        QWidget* kinds = list->parentWidget();
        const QSize size = kinds->size();
        kinds->resize(170, size.height());
        QTRY_VERIFY(nameOf(ofWeight) != whole);
        QVERIFY2(nameOf(ofWeight).endsWith(QStringLiteral("\u2026 \u00b7 weight")), qPrintable(nameOf(ofWeight)));
        kinds->resize(size);
        QTRY_COMPARE(nameOf(ofWeight), whole);
        // A long value takes room from its own name alone.
        list->model()->setData(list->model()->index(1 - ofWeight, 1), QStringLiteral("0.1234, NaN left out"));
        kinds->resize(size.width() - 1, size.height());
        QTRY_VERIFY(nameOf(1 - ofWeight).contains(QChar(0x2026)));
        QCOMPARE(nameOf(ofWeight), whole);
        // The kind of that row stays, and of what it is of the first letter.
        QVERIFY2(nameOf(1 - ofWeight).startsWith(QStringLiteral("activation, f"))
                && nameOf(1 - ofWeight).contains(QStringLiteral(" \u00b7 o")),
            qPrintable(nameOf(1 - ofWeight)));
        kinds->resize(size);
        // Another kind takes the selection to what has it, by a click here and by any choice of a kind.
        const int gradient = lines[0].kind == Kind::GradReduced ? 0 : 1;
        QTest::mouseClick(
            list->viewport(), Qt::LeftButton, {}, list->visualRect(list->model()->index(gradient, 0)).center());
        QCOMPARE(state()->kind(), Kind::GradReduced);
        QCOMPARE(state()->selection().front().name, QStringLiteral("layers.7.attn.qkv.weight"));
        state()->setKind(Kind::Actv);
        QCOMPARE(state()->selection().front().name, QStringLiteral("layers.7.attn.qkv"));
        state()->setKind(Kind::GradReduced);
        QCOMPARE(state()->selection().front().name, QStringLiteral("layers.7.attn.qkv.weight"));
        // So does a slot that the other kind does not have, as a head of attention.
        state()->setSelection({ { QStringLiteral("layers.7.attn.qkv"), protocolone::slotOf("head_3") } });
        state()->setKind(Kind::Actv);
        QCOMPARE(state()->selection().front().slotText(), QStringLiteral("output"));
    }

    void aValueOverTheFiniteElementsSaysWhatItIsWithout()
    {
        openBadRun();
        state()->setRank(Rank { 1 });
        state()->setKind(Kind::Actv);
        state()->setSelection({ { QStringLiteral("layers.8.ln1"), protocolone::slotOf("output") } });
        state()->setCursor(Step { test::DemoCapsule::kFirstBad + 1 });
        const auto* list = m_window->findChild<QTreeView*>(QStringLiteral("inspectorKinds"));
        QTRY_VERIFY_WITH_TIMEOUT(
            list->model()->index(0, 1).data().toString().endsWith(QStringLiteral(", NaN left out")), kWaitMs);
        state()->setStat(Stat::Zeros); // of all of them
        QTRY_VERIFY_WITH_TIMEOUT(list->model()->index(0, 1).data().toString().endsWith(u'%'), kWaitMs);
        state()->setStat(Stat::Norm);
        // Of a number that is finite itself nothing is in the color of what is not.
        state()->setSelection({ { QStringLiteral("layers.7.attn.qkv"), protocolone::slotOf("output") } });
        state()->setCursor(Step { test::DemoCapsule::kFirstBad });
        QWidget* values = nullptr;
        for (auto* table : m_window->findChildren<views::FactTable*>()) {
            if (table->accessibleName() == QStringLiteral("Values at the cursor"))
                values = table;
        }
        QVERIFY(values);
        QStringList rows;
        QTRY_VERIFY_WITH_TIMEOUT(
            (rows = values->accessibleDescription().split(u'\n')).front().contains(QStringLiteral("step 360")),
            kWaitMs);
        const auto isRose = [values](int row) {
            const QImage image = values->grab({ 0, 22 + row * 34, values->width(), 30 }).toImage();
            for (int x = 0; x < image.width(); ++x) {
                for (int y = 0; y < image.height(); ++y) {
                    const QColor color = image.pixelColor(x, y);
                    if (color.red() > color.green() + 60)
                        return true;
                }
            }
            return false;
        };
        QVERIFY2(rows[1].startsWith(QStringLiteral("norm\t")), qPrintable(rows.join(u'|')));
        QVERIFY2(!isRose(0), qPrintable(rows.join(u'|')));
        QVERIFY2(isRose(3), qPrintable(rows.join(u'|'))); // the largest, which is infinite itself
    }

    void curvesDrawEveryRunThatIsCompared()
    {
        for (const char* file : { "2026-01-05_b_b00001.telltale", "2026-01-06_c_c00001.telltale" })
            test::DemoCapsule(m_dir->path().toStdString(), file).write(100);
        auto* driver = m_window->driver();
        driver->refreshArchive();
        const auto& archived = driver->runs()->runs(items::RunsModel::ArchivedGroup);
        QTRY_COMPARE_WITH_TIMEOUT(archived.size(), std::size_t { 3 }, kWaitMs);
        QString own;
        QStringList others;
        for (const store::RunSummary& run : archived) {
            const QString id = QString::fromStdString(run.id);
            if (run.locator == state()->run()->locator)
                own = id;
            else
                others.append(id);
        }
        QCOMPARE(others.size(), 2);
        state()->setSelection(keys({ "tok_emb.weight", "head.weight" }));
        state()->setRanks(std::vector<Rank> {});
        m_window->views()->setCurrent(QStringLiteral("curves"));
        auto* canvas = m_window->views()->currentView()->findChild<views::CurveCanvas*>();
        driver->compare(own, others);
        QTRY_VERIFY_WITH_TIMEOUT(canvas->picture() && canvas->picture()->series.size() == 6, kWaitMs);
        // A row stands together, its own run first; a run has one color everywhere, a row one dash.
        const std::vector<views::CurveSeries>& series = canvas->picture()->series;
        std::set<QString> names;
        for (std::size_t i = 0; i < series.size(); ++i) {
            QCOMPARE(series[i].row.key, series[i / 3 * 3].row.key);
            QCOMPARE(series[i].slot % 6, static_cast<int>(i % 3));
            QCOMPARE(series[i].slot / 6, static_cast<int>(i / 3));
            QVERIFY(series[i].hasRunColor);
            QCOMPARE(series[i].isOtherRun, i % 3 > 0);
            names.insert(series[i].runName);
        }
        QCOMPARE(names.size(), std::size_t { 3 });
        state()->setSelection(keys({ "tok_emb.weight", "pos_emb.weight", "head.weight", "layers.7.attn.qkv.weight" }));
        QTRY_COMPARE(canvas->picture()->series.size(), std::size_t { 12 });
        for (const views::CurveSeries& one : canvas->picture()->series)
            QVERIFY(one.slot < views::SeriesStyle::kDistinct && one.slot % 6 == one.run); // none turns gray
        state()->setSelection(keys({ "tok_emb.weight", "head.weight" }));
        // One that is renamed meanwhile is called so at once.
        const store::RunRef second = state()->comparedRuns()[1].run;
        QVERIFY(store::renameRun(second->locator, "baseline"));
        driver->refreshArchive();
        QTRY_COMPARE_WITH_TIMEOUT(state()->runName(2), QStringLiteral("baseline"), kWaitMs);
        // One alone has its row's color, in dashes of its own.
        driver->compare(own, { others.front() });
        QTRY_VERIFY_WITH_TIMEOUT(canvas->picture()->series.size() == 4, kWaitMs);
        QVERIFY(!canvas->picture()->series[1].hasRunColor);
        QCOMPARE(canvas->picture()->series[1].slot, canvas->picture()->series[0].slot);
    }

    void theLegendSaysWhatStoodAtBothMarks()
    {
        views::LegendValue value;
        series::CellValue a, b;
        a.state = b.state = series::CellState::Value;
        a.value = 2;
        b.value = 5;
        value.compare(a, b);
        QCOMPARE(value.atA, QStringLiteral("2.000"));
        QCOMPARE(value.atB, QStringLiteral("5.000"));
        QCOMPARE(value.difference, std::optional(3.0));
        b.state = series::CellState::NaN;
        views::LegendValue broken;
        broken.compare(a, b);
        QCOMPARE(broken.atB, QStringLiteral("NaN"));
        QVERIFY(!broken.difference);
        b.state = a.state;
        a.value = -8.58e-4; // as many figures as below it
        b.value = 7.6434e-4;
        views::LegendValue small;
        small.compare(a, b);
        QCOMPARE(small.atA, QStringLiteral("\u22128.580e-4"));
        QCOMPARE(small.atB, QStringLiteral("7.643e-4"));
    }

    /// Colors of cells are values: a note of many steps lays nothing over them.

    void noClickLosesASelection()
    {
        const std::vector<views::ModuleKey> many = keys({ "tok_emb.weight", "pos_emb.weight", "head.weight" });
        state()->setSelection(many);
        auto* canvas = m_window->findChild<views::HeatmapView*>()->canvas();
        QTest::mouseClick(canvas, Qt::LeftButton, {}, canvas->cellRect(20, 50).center().toPoint());
        QCOMPARE(state()->selection().size(), std::size_t { 1 });
        QTest::keyClick(m_window.get(), Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(state()->selection(), many);
        QTest::keyClick(m_window.get(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
        QCOMPARE(state()->selection().size(), std::size_t { 1 });
        m_window->commands()->action("edit.undo")->trigger();
        m_window->commands()->action("edit.undo")->trigger();
        QVERIFY(state()->selection().empty());
        QVERIFY(!m_window->commands()->action("edit.undo")->isEnabled());
    }
};

TELLTALE_TEST(QTEST_MAIN, SelectionTest)

}

#include "selectiontest.moc"
