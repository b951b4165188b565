// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <functional>
#include <memory>
#include <set>

#include <QEvent>
#include <QLabel>
#include <QPaintEvent>
#include <QScrollArea>
#include <QScrollBar>
#include <QTemporaryDir>
#include <QTranslator>
#include <QTreeView>

#include <telltale/common/kindtext.h>
#include <telltale/common/sharedaxis.h>
#include <telltale/common/viewstate.h>
#include <telltale/core/histogram.h>
#include <telltale/runs/facttable.h>
#include <telltale/runs/inspectorpanel.h>
#include <telltale/runs/inspectortext.h>
#include <telltale/store/querypool.h>

#include "../store/capsulebuilder.h"

namespace inspectortest {

using namespace telltale;
using namespace telltale::views;

namespace {

constexpr int kSteps = 40;
constexpr int kFirst = 10; ///< that has values
constexpr int kSparse = 5;

std::shared_ptr<SeriesLayout> layoutOf(
    test::CapsuleBuilder& builder, Kind kind, Stat stat, const std::string& name, const std::vector<Slot>& slots)
{
    auto layout = std::make_shared<SeriesLayout>(
        *builder.addLayout(kind, { stat }, std::vector<std::string>(slots.size(), name)));
    for (std::size_t i = 0; i < slots.size(); ++i) {
        layout->series[i].slot = slots[i];
        layout->series[i].dtype = slots[i].role == Role::Input ? DType::I64 : DType::F32;
    }
    return layout;
}

/// The module "m" takes whole numbers and gives others, has a weight and four heads; "in" is known by its input. What
/// "n" gives is its step, of its weight that is collected at one in kSparse.
void write(const std::string& path)
{
    test::CapsuleBuilder builder(path);
    const std::vector<Slot> passed { Slot::input(), Slot::output() };
    const auto norms = layoutOf(builder, Kind::Actv, Stat::Norm, "m", passed);
    const auto bins = layoutOf(builder, Kind::Actv, Stat::Hist, "m", passed);
    bins->edges.assign(octaveEdges().begin(), octaveEdges().end());
    for (SeriesDesc& one : bins->series)
        one.definition = "elements a bin";
    const auto gradient = layoutOf(builder, Kind::GradReduced, Stat::Norm, "m.weight", { {} });
    const auto heads = layoutOf(builder, Kind::Attention, Stat::Entropy, "m",
        { Slot::ofHead(0), Slot::ofHead(1), Slot::ofHead(2), Slot::ofHead(3) });
    const auto in = layoutOf(builder, Kind::Actv, Stat::Norm, "in", { Slot::input() });
    const auto own = layoutOf(builder, Kind::Actv, Stat::Norm, "n", { Slot::output() });
    const auto sparse = layoutOf(builder, Kind::GradReduced, Stat::Norm, "n.weight", { {} });
    std::vector<std::uint64_t> counts(2 * (bins->edges.size() - 1));
    for (const std::size_t begin : { std::size_t { 0 }, counts.size() / 2 }) {
        counts[begin + binOf(bins->edges, 1e-12)] = 8;
        counts[begin + binOf(bins->edges, 0.5)] = 24;
    }
    std::vector<StepBlock> blocks;
    for (int step = 0; step < kSteps; ++step) {
        for (const auto& layout : { norms, bins, gradient, heads, in, own, sparse }) {
            if ((step < kFirst && layout != in) || (layout == sparse && step % kSparse != 0))
                continue;
            StepBlock& block = blocks.emplace_back();
            block.layout = layout;
            block.step = Step { step };
            if (layout == bins)
                block.columns = { { Stat::Hist, counts } };
            else
                block.columns = { { layout->stats.front(),
                    std::vector<float>(
                        layout->series.size(), layout == own || layout == sparse ? static_cast<float>(step) : 2) } };
        }
    }
    builder.stage(builder.addAttempt(Rank { 0 }, 0), std::move(blocks));
    builder.commit();
    builder.releaseAll();
    builder.finish();
}

class PaintWatch : public QObject {
public:
    QRegion painted;
    bool eventFilter(QObject*, QEvent* event) override
    {
        if (event->type() == QEvent::Paint)
            painted += static_cast<QPaintEvent*>(event)->region();
        return false;
    }
};

}

/// What the inspector says of a module. Thread: the test's.
class InspectorTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        const std::string path = m_dir.filePath(QStringLiteral("run.telltale")).toStdString();
        write(path);
        m_run = std::make_shared<store::RunHandle>(
            store::RunHandle { store::RunLocator::ofFile(path), "abc123", "run", nullptr });
        m_catalog = test::CapsuleBuilder::must(test::CapsuleBuilder::must(store::openReader(*m_run))->catalog());
    }
    void init()
    {
        m_pool = std::make_unique<store::QueryPool>(1);
        m_pool->setWake([this] {
            QMetaObject::invokeMethod(
                this,
                [this] {
                    m_pool->deliver();
                    if (m_onDelivery)
                        m_onDelivery();
                },
                Qt::QueuedConnection);
        });
        m_state = std::make_unique<ViewState>();
        m_axis = std::make_unique<SharedAxis>(m_state.get());
        m_state->setRun(m_run);
        m_state->setCatalog(m_catalog);
        m_state->setFullRange(m_catalog->steps);
        m_state->setKind(Kind::Actv);
        m_window = std::make_unique<QWidget>(); // whose size its content does not tell
        m_panel = new InspectorPanel(ViewContext { m_state.get(), m_axis.get(), m_pool.get() }, m_window.get());
        m_window->resize(280, 900);
        m_panel->resize(280, 900);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
    }
    void cleanup()
    {
        m_onDelivery = {};
        m_window.reset();
        m_axis.reset();
        m_state.reset();
        m_pool.reset();
    }

    void aTensorStandsOnceWithWhatTheTitleSays()
    {
        choose(Kind::Actv, { Slot::output() });
        m_state->setStat(Stat::Fp16Underflow);
        QCOMPARE(kinds()->model()->rowCount(), 7);
        QTRY_COMPARE(shown(1, 1), statValueText(Stat::Fp16Underflow, 0.25));
        QCOMPARE(shown(2, 1), shown(1, 1));
        std::set<QString> whole;
        for (int row = 0; row < kinds()->model()->rowCount(); ++row) {
            const QString text = kinds()->model()->index(row, 0).data(Qt::ToolTipRole).toString();
            whole.insert(text);
            // Another statistic than that of the title says which it is.
            const QString other = text.contains(QStringLiteral("head ")) ? statText(Stat::Entropy)
                : text.contains(QStringLiteral("weight"))                ? statText(Stat::Norm)
                                                                         : QString();
            QCOMPARE(text.endsWith(u')'), !other.isEmpty());
            QVERIFY2(other.isEmpty() || text.endsWith(u'(' + other + u')'), qPrintable(text));
        }
        QCOMPARE(whole.size(), std::size_t { 7 });
        QVERIFY(title()->text().startsWith(statText(Stat::Fp16Underflow)));
        QVERIFY(!title()->text().contains(statText(Stat::Norm)));
        QVERIFY(title()->wordWrap());
        struct Brackets : QTranslator {
            QString translate(const char*, const char* source, const char*, int) const override
            {
                return source == QByteArrayLiteral(" (%1)") ? QStringLiteral("\uFF08%1\uFF09") : QString();
            }
            bool isEmpty() const override { return false; }
        } brackets;
        QCoreApplication::installTranslator(&brackets);
        m_state->setStat(Stat::Norm);
        m_state->setStat(Stat::Fp16Underflow);
        QCoreApplication::removeTranslator(&brackets);
        const auto* model = kinds()->model();
        QVERIFY(
            !model->match(model->index(0, 0), Qt::ToolTipRole, QStringLiteral("\uFF09"), 1, Qt::MatchEndsWith).empty());
    }

    void aLongValueIsPaintedOutsideItsColumnToo()
    {
        choose(Kind::Actv, { Slot::output() });
        QTRY_VERIFY(!shown(0, 1).isEmpty());
        QTest::qWait(200); // until all is painted
        PaintWatch watch;
        kinds()->viewport()->installEventFilter(&watch);
        const QModelIndex value = kinds()->model()->index(0, 1);
        kinds()->model()->setData(value, QStringLiteral("0.1234, NaN left out"));
        const QPoint besideIt = kinds()->visualRect(value).topLeft() - QPoint(10, -5);
        QTRY_VERIFY(watch.painted.contains(besideIt));
        watch.painted = {};
        kinds()->model()->setData(value, QStringLiteral("1"));
        QTRY_VERIFY(watch.painted.contains(besideIt));
        kinds()->viewport()->removeEventFilter(&watch);
    }

    void aNameIsCutOnlyWhereItsOwnValueIs()
    {
        choose(Kind::Actv, { Slot::output() });
        QTRY_COMPARE(shown(1, 1), QStringLiteral("2.000"));
        const QFontMetrics names(wordsFont(12)), numbers(numberFont(12));
        QWidget* list = kinds()->parentWidget();
        int whole = 0, cut = 0;
        for (int width = 400; width > 150; width -= 3) {
            list->resize(width, list->height());
            QCoreApplication::processEvents();
            for (int row = 0; row < kinds()->model()->rowCount(); ++row) {
                const QString name = kinds()->model()->index(row, 0).data(Qt::ToolTipRole).toString();
                const int room = kinds()->viewport()->width() - numbers.horizontalAdvance(shown(row, 1));
                if (shown(row, 1).contains(u' ') || names.horizontalAdvance(name) + 60 > room)
                    ++cut;
                else {
                    ++whole;
                    QVERIFY2(shown(row, 0) == name, qPrintable(shown(row, 0) + QString::number(width)));
                }
            }
        }
        QVERIFY(whole > 20 && cut > 20);
    }

    void theLastStepIsThatOfTheShownRun()
    {
        auto longer = std::make_shared<store::Catalog>(*m_catalog);
        longer->steps.last = Step { 99 };
        m_state->setCompared(m_run, longer);
        QCOMPARE(m_state->fullRange().last, Step { 99 });
        QCOMPARE(m_state->atStep(), Step { 39 }); // as every view of one step has it
        choose(Kind::Actv, { Slot::output() });
        QTRY_VERIFY(values()->text().startsWith(QStringLiteral("At step 39\t")));
        QTRY_COMPARE(shown(1, 1), QStringLiteral("2.000"));
        // What it has not it says, whatever kind is chosen.
        m_state->setCursor(Step { 60 });
        QCOMPARE(m_state->atStep(), Step { 60 });
        const auto* nothing = m_panel->findChild<QLabel*>(QStringLiteral("inspectorNothing"));
        QTRY_COMPARE(nothing->text(), QStringLiteral("This run has no step 60."));
        QTRY_COMPARE(title()->text(), QStringLiteral("norm of everything collected: this run has no step 60"));
        m_state->setKind(Kind::Update);
        m_state->setCursor(Step { 3 });
        QTRY_COMPARE(title()->text(), QStringLiteral("norm of everything collected: nothing at step 3"));
        m_state->setCursor(Step { kFirst });
        QTRY_COMPARE(title()->text(), QStringLiteral("norm of everything collected"));
    }

    void whatStandsTwiceIsTheSameAtAnyTime()
    {
        m_state->setKind(Kind::GradReduced);
        m_state->setSelection({ { QStringLiteral("n.weight"), {} } });
        QTRY_COMPARE(kinds()->model()->rowCount(), 2);
        const int weight = shown(0, 0).endsWith(QStringLiteral("weight")) ? 0 : 1;
        int compared = 0;
        m_onDelivery = [&] {
            const QString above = values()->text().section(QStringLiteral("norm\t"), 1).section(u'\n', 0, 0);
            QVERIFY2(shown(weight, 1).section(u' ', 0, 0) == above, qPrintable(shown(weight, 1) + u' ' + above));
            ++compared;
        };
        for (const int step : { 38, 20, 31, 35, 12 }) {
            const int own = step / kSparse * kSparse;
            m_state->setCursor(Step { step });
            QTRY_VERIFY2(
                values()->text().contains(QStringLiteral("norm\t%1\n").arg(own)), qPrintable(values()->text()));
            // What is not of the step that is named above says of which it is.
            QTRY_COMPARE(title()->text(),
                own == step ? QStringLiteral("norm of everything collected")
                            : QStringLiteral("norm of everything collected, at step %1").arg(step));
            QCOMPARE(shown(weight, 1).contains(QStringLiteral(" at ")), own != step);
        }
        QVERIFY(compared >= 5);
    }

    void withoutACursorItIsAtTheNewestVisibleStep()
    {
        choose(Kind::Actv, { Slot::output() });
        QTRY_VERIFY(values()->text().startsWith(QStringLiteral("At step 39\t")));
        m_state->zoomTo({ Step { 12 }, Step { 30 } });
        QCOMPARE(m_state->atStep(), Step { 30 });
        QTRY_VERIFY2(values()->text().startsWith(QStringLiteral("At step 30\t")), qPrintable(values()->text()));
    }

    void whatIsChosenElsewhereIsShownFromItsTop()
    {
        const auto* bar = m_panel->findChild<QScrollArea*>()->verticalScrollBar();
        for (int height = 140; height <= 500; height += 12) {
            m_panel->resize(280, height);
            choose(Kind::Actv, { Slot::output() });
            QTRY_COMPARE(kinds()->model()->rowCount(), 7);
            QTest::qWait(1);
            QCOMPARE(bar->value(), 0);
            m_panel->findChild<QScrollArea*>()->verticalScrollBar()->setValue(bar->maximum());
            m_state->setSelection({ { QStringLiteral("in"), Slot::input() } });
            QTest::qWait(1);
            QCOMPARE(bar->value(), 0);
        }
    }

    void hintsOfNeighborsStandApart()
    {
        QWidget window; // whose size its content does not tell
        FactTable table(FactTable::Style::Numbers, &window);
        table.setTitle(QStringLiteral("At step 259"));
        const auto hinted = [](const QString& hint) { return FactTable::Value { QStringLiteral("NaN"), true, hint }; };
        table.set({ QStringLiteral("input"), QStringLiteral("output") },
            { { QStringLiteral("largest magnitude"),
                { hinted(QStringLiteral("\u22123.990e-5 at 180")),
                    hinted(QStringLiteral("\u22120.01805 at 179")) } } });
        table.resize(252, table.sizeHint().height());
        const QImage image = table.grab().toImage();
        int gap = 0, widest = 0; // between what is painted of the hints
        for (int x = 0, isBegun = 0; x < image.width(); ++x) {
            bool isEmpty = true;
            for (int y = image.height() - 11; y < image.height() - 2; ++y)
                isEmpty = isEmpty && image.pixelColor(x, y) == image.pixelColor(0, 0);
            if (!isEmpty && isBegun != 0)
                widest = std::max(widest, gap);
            isBegun |= isEmpty ? 0 : 1;
            gap = isEmpty ? gap + 1 : 0;
        }
        QVERIFY2(widest >= 6, qPrintable(QString::number(widest)));
    }

    void checksumsThatBeginAlikeShowHowTheyEnd()
    {
        series::CellValue cell;
        cell.state = series::CellState::Value;
        const auto picture = [&](std::uint64_t sum) {
            cell.identity = sum;
            FactTable table(FactTable::Style::Numbers);
            table.set({ QStringLiteral("input"), QStringLiteral("output") },
                { { QStringLiteral("checksum"), { valueOf(Stat::Checksum, cell, 0, Step { 0 }), {} } } });
            table.resize(240, 20);
            return table.grab().toImage();
        };
        QVERIFY(picture(0xffffffdc0f2a1b3c) != picture(0xffffffdc0f2a1b3d));
    }

    void theColumnsAreOfTheChosenHeads()
    {
        const auto head = [this] { return values()->text().section(u'\n', 0, 0); };
        choose(Kind::Attention, { Slot::ofHead(0), Slot::ofHead(2) });
        QTRY_COMPARE(head(), QStringLiteral("At step 39\thead 0\thead 2"));
        choose(Kind::Attention, { Slot::ofHead(3) });
        QTRY_COMPARE(head(), QStringLiteral("At step 39\thead 3"));
        // What goes in stays beside what comes out.
        choose(Kind::Actv, { Slot::output() });
        QTRY_COMPARE(head(), QStringLiteral("At step 39\tinput\toutput"));
    }

    void aTypeSaysOfWhatItIs()
    {
        const auto* type = m_panel->findChild<QLabel*>(QStringLiteral("inspectorSubtitle"));
        choose(Kind::Actv, { Slot::output() });
        QVERIFY2(
            type->text().startsWith(QStringLiteral("input int64, output float32, rank 0")), qPrintable(type->text()));
        choose(Kind::Attention, { Slot::ofHead(1) });
        QVERIFY2(type->text().startsWith(QStringLiteral("float32, rank 0")), qPrintable(type->text()));
        m_state->setKind(Kind::Actv);
        m_state->setSelection({ { QStringLiteral("in"), Slot::input() } });
        QVERIFY2(type->text().startsWith(QStringLiteral("input int64, rank 0")), qPrintable(type->text()));
        m_state->setKind(Kind::GradReduced);
        m_state->setSelection({ { QStringLiteral("m.weight"), {} } });
        QVERIFY2(type->text().startsWith(QStringLiteral("float32, rank 0")), qPrintable(type->text()));
        // Of several modules the values are those of one.
        QVERIFY2(!type->text().contains(QStringLiteral("selected")), qPrintable(type->text()));
        m_state->setSelection({ { QStringLiteral("m.weight"), {} }, { QStringLiteral("in"), Slot::input() } });
        QVERIFY2(type->text().endsWith(QStringLiteral(", first of 2 selected")), qPrintable(type->text()));
        // Those that would be too much to draw are selected, too.
        m_state->setSelection({ { QStringLiteral("m.weight"), {} }, { QStringLiteral("in"), Slot::input() } },
            { { QStringLiteral("m.bias"), {} } });
        QVERIFY2(type->text().endsWith(QStringLiteral(", first of 3 selected")), qPrintable(type->text()));
    }

private:
    void choose(Kind kind, const std::vector<Slot>& slots)
    {
        std::vector<ModuleKey> keys;
        for (const Slot& slot : slots)
            keys.push_back({ QStringLiteral("m"), slot });
        m_state->setKind(kind);
        m_state->setSelection(std::move(keys));
    }
    QTreeView* kinds() const { return m_panel->findChild<QTreeView*>(QStringLiteral("inspectorKinds")); }
    QString shown(int row, int column) const { return kinds()->model()->index(row, column).data().toString(); }
    const QLabel* title() const { return m_panel->findChild<QLabel*>(QStringLiteral("inspectorKindsTitle")); }
    const FactTable* values() const
    {
        for (const auto* table : m_panel->findChildren<FactTable*>()) {
            if (table->accessibleName() == QStringLiteral("Values at the cursor"))
                return table;
        }
        return nullptr;
    }

    QTemporaryDir m_dir;
    std::shared_ptr<store::RunHandle> m_run;
    std::shared_ptr<const store::Catalog> m_catalog;
    std::unique_ptr<store::QueryPool> m_pool;
    std::unique_ptr<ViewState> m_state;
    std::unique_ptr<SharedAxis> m_axis;
    std::unique_ptr<QWidget> m_window;
    InspectorPanel* m_panel = nullptr;
    std::function<void()> m_onDelivery;
};

TELLTALE_TEST(QTEST_MAIN, InspectorTest)

}

#include "inspectortest.moc"
