// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <array>
#include <ctime>
#include <random>

#include <QAbstractItemModelTester>
#include <QMimeData>
#include <QPersistentModelIndex>
#include <QRegularExpression>
#include <QSignalSpy>

#include <telltale/anomalies/lanes.h>
#include <telltale/items/moduletreemodel.h>
#include <telltale/store/rowsof.h>

namespace moduletreetest {

using namespace telltale;
using namespace telltale::items;

namespace {

/// Activations, but for "loss" and what begins with "linear:".
std::shared_ptr<store::Catalog> catalogOf(const std::vector<std::string>& names, const char* key = "run")
{
    auto catalog = std::make_shared<store::Catalog>();
    catalog->runKey = key;
    for (const std::string& name : names) {
        store::SeriesInfo series;
        series.id = SeriesId { static_cast<std::int64_t>(catalog->series.size()) + 1 };
        const bool isLinear = name.starts_with("linear:");
        series.kind = name == "loss" ? Kind::Scalar : isLinear ? Kind::Linear : Kind::Actv;
        SeriesDesc desc;
        desc.name = isLinear ? name.substr(7) : name;
        series.desc = std::make_shared<const SeriesDesc>(std::move(desc));
        catalog->series.push_back(series);
    }
    catalog->rows = store::indexRows(*catalog);
    return catalog;
}

/// Every row that is shown, one a line, with its parents in front.
QStringList outline(const ModuleTreeModel& model, const QModelIndex& parent = {})
{
    QStringList lines;
    for (int row = 0; row < model.rowCount(parent); ++row) {
        const QModelIndex index = model.index(row, 0, parent);
        lines.append(model.pathOf(index));
        lines.append(outline(model, index));
    }
    return lines;
}

std::shared_ptr<store::Catalog> bigCatalog(int count)
{
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i)
        names.push_back("model.decoder.layers." + std::to_string(i / 1000) + ".mlp.experts." + std::to_string(i % 1000)
            + (i % 2 == 0 ? ".gate_proj.weight" : ".down_proj.weight"));
    return catalogOf(names);
}

ModuleTree treeOf(const store::Catalog& catalog)
{
    ModuleTree tree;
    for (const auto& insertion : tree.append(catalog.rows, catalog.series.size(), {}))
        tree.insert(insertion);
    return tree;
}

/// Time of this thread on a core: other programs of the machine do not count.
qint64 threadCpuNs()
{
    timespec now {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<qint64>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}

/// The modules of a run as a tree. Thread: the test's.
class ModuleTreeTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() { QTest::failOnWarning(QRegularExpression(QStringLiteral(".?"))); }

    void dottedNamesBecomeATree()
    {
        ModuleTreeModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setCatalog(
            catalogOf({ "loss", "tok_emb", "layers.0.attn.qkv", "layers.0.attn.proj", "layers.1.mlp", "head" }));
        QCOMPARE(model.rowCount(), 3); // the scalar is no module
        QCOMPARE(model.index(1, 0).data().toString(), QStringLiteral("layers"));
        const QModelIndex qkv = model.indexOf(QStringLiteral("layers.0.attn.qkv"));
        QCOMPARE(qkv.data().toString(), QStringLiteral("qkv"));
        QCOMPARE(qkv.parent().data().toString(), QStringLiteral("attn"));
        QCOMPARE(model.namesBelow(model.index(1, 0)).size(), std::size_t { 3 });
        QCOMPARE(model.tree().moduleCount(), 5);
        const std::unique_ptr<QMimeData> dragged(model.mimeData({ model.index(1, 0), qkv }));
        QCOMPARE(dragged->text().split(u'\n').size(), 3);
    }

    void aNewerCatalogKeepsWhatIsSelected()
    {
        ModuleTreeModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setCatalog(catalogOf({ "a.x", "a.y", "b.z" }));
        const QPersistentModelIndex z = model.indexOf(QStringLiteral("b.z"));
        const QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
        const QSignalSpy layouts(&model, &QAbstractItemModel::layoutChanged);
        const QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
        model.setCatalog(catalogOf({ "a.x", "a.y", "b.z", "last", "a.w", "a", "b.z.in.ner" }));
        QVERIFY(z.isValid());
        QCOMPARE(model.pathOf(z), QStringLiteral("b.z"));
        QCOMPARE(model.rowCount(z), 1);
        QCOMPARE(model.indexOf(QStringLiteral("a.w")).row(), 2);
        QCOMPARE(model.tree().moduleCount(), 7);
        QCOMPARE(model.tree().matchCount(), 7);
        QCOMPARE(inserted.count(), 3); // below the root, below a, below b.z
        model.setCatalog(catalogOf({ "a.x", "a.y", "b.z", "last", "a.w", "a", "b.z.in.ner" }));
        QCOMPARE(inserted.count() + resets.count() + layouts.count(), 3);
        model.setFilter(QStringLiteral("a.*"));
        QVERIFY(!z.isValid());
        QCOMPARE(model.tree().matchCount(), 3); // "a" has series itself, but only leads to the others
        QVERIFY(model.indexOf(QStringLiteral("a")).isValid());
        QCOMPARE(resets.count(), 0);
        model.setCatalog(catalogOf({ "other" }, "another run"));
        QCOMPARE(model.tree().matchCount(), 0);
        model.setFilter(QString());
        QCOMPARE(model.tree().matchCount(), 1);
        model.setCatalog(nullptr);
        QCOMPARE(model.rowCount(), 0);
    }

    /// Series come in any order, under any filter: the tree is the one that is made of all of them at once.
    void aTreeThatGrowsIsTheTreeOfTheWhole_data()
    {
        QTest::addColumn<QString>("filter");
        for (const char* filter : { "", "3", "m1.*", "/m[02]\\..*m4/", "no such" })
            QTest::newRow(filter) << QString::fromLatin1(filter);
    }
    void aTreeThatGrowsIsTheTreeOfTheWhole()
    {
        QFETCH(QString, filter);
        std::mt19937 random(7);
        std::vector<std::string> names;
        ModuleTreeModel growing;
        QAbstractItemModelTester tester(&growing, QAbstractItemModelTester::FailureReportingMode::QtTest);
        growing.setFilter(filter);
        growing.setCatalog(catalogOf({ "m9" }));
        names.emplace_back("m9");
        const QSignalSpy resets(&growing, &QAbstractItemModel::modelReset);
        for (int round = 0; round < 40; ++round) {
            for (unsigned more = random() % 4; more > 0; --more) {
                std::string name;
                for (unsigned depth = random() % 4 + 1; depth > 0; --depth)
                    name.append(name.empty() ? "m" : ".m").append(std::to_string(random() % 5));
                names.push_back(name);
            }
            growing.setCatalog(catalogOf(names));
            ModuleTreeModel whole;
            whole.setCatalog(catalogOf(names));
            whole.setFilter(filter);
            QCOMPARE(growing.tree().matchCount(), whole.tree().matchCount());
            QCOMPARE(growing.tree().moduleCount(), whole.tree().moduleCount());
            QCOMPARE(outline(growing), outline(whole));
        }
        QCOMPARE(resets.count(), 0);
    }

    void aLargeTreeIsFilledInSlicesAndKeepsWhatIsSelected()
    {
        constexpr int kAll = 3 * static_cast<int>(ModuleTreeModel::kSlice);
        ModuleTreeModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        int largest = 0;
        connect(&model, &ModuleTreeModel::grown, &model, [&, before = 0]() mutable {
            largest = std::max(largest, model.tree().moduleCount() - before);
            before = model.tree().moduleCount();
        });
        const auto catalog = bigCatalog(kAll);
        model.setCatalog(catalog);
        QVERIFY(model.tree().moduleCount() < kAll && !model.tree().isWhole());
        const QPersistentModelIndex first
            = model.indexOf(QStringLiteral("model.decoder.layers.0.mlp.experts.0.gate_proj.weight"));
        QVERIFY(first.isValid());
        const QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
        model.setFilter(QStringLiteral("gate"));
        QTRY_VERIFY(model.tree().isWhole());
        QCOMPARE(model.tree().moduleCount(), kAll);
        QCOMPARE(model.tree().matchCount(), kAll / 2);
        QVERIFY(first.isValid());
        QVERIFY(largest <= static_cast<int>(ModuleTreeModel::kSlice));
        QCOMPARE(resets.count(), 0);
        model.setCatalog(catalog); // the same run again, and then another in the middle of being filled
        model.setCatalog(catalogOf({ "other" }, "another run"));
        QVERIFY(model.tree().isWhole());
        QCOMPARE(model.tree().moduleCount(), 1);
    }

    void filters_data()
    {
        QTest::addColumn<QString>("filter");
        QTest::addColumn<int>("shown");
        QTest::newRow("nothing") << QString() << 6;
        QTest::newRow("text") << QStringLiteral("ATTN") << 3;
        QTest::newRow("glob") << QStringLiteral("layers.*.attn.qkv") << 2;
        QTest::newRow("glob is the whole name") << QStringLiteral("*qkv") << 2;
        QTest::newRow("set") << QStringLiteral("layers.[0-0].*") << 2;
        QTest::newRow("inverted set") << QStringLiteral("layers.[!0].*") << 2;
        QTest::newRow("question mark") << QStringLiteral("layers.?.mlp") << 1;
        QTest::newRow("a module is what is below it") << QStringLiteral("layers.0") << 2;
        QTest::newRow("a glob of modules too") << QStringLiteral("*.attn") << 3;
        QTest::newRow("expression") << QStringLiteral("/\\.(qkv|mlp)$/") << 3;
        QTest::newRow("broken expression") << QStringLiteral("/(/") << 0;
        QTest::newRow("no such name") << QStringLiteral("conv") << 0;
    }
    void filters()
    {
        QFETCH(QString, filter);
        QFETCH(int, shown);
        ModuleTreeModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setCatalog(catalogOf(
            { "tok", "layers.0.attn.qkv", "layers.0.attn.proj", "layers.1.attn.qkv", "layers.1.mlp", "head" }));
        model.setFilter(filter);
        QCOMPARE(model.tree().matchCount(), shown);
        QCOMPARE(model.filterError().isEmpty(), filter != QStringLiteral("/(/"));
    }

    /// A kind that is collected of some layers came first; then more modules come, a few and many.
    void modulesStandAsTheModelHasThem()
    {
        ModuleTreeModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        std::vector<std::string> names { "linear:layers.3.fc", "linear:head", "linear:layers.1.fc" };
        model.setCatalog(catalogOf(names));
        const auto segments = [&](const QString& below) {
            const QModelIndex parent = model.indexOf(below);
            QStringList found;
            for (int row = 0; row < model.rowCount(parent); ++row)
                found.append(model.pathOf(model.index(row, 0, parent)).section(u'.', -1));
            return found.join(u' ');
        };
        QCOMPARE(segments(QStringLiteral("layers")), QStringLiteral("3 1")); // nothing says otherwise
        for (const char* name : { "tok", "layers.0.fc", "layers.1.fc", "layers.2.fc", "layers.3.fc", "head" })
            names.emplace_back(name);
        model.setCatalog(catalogOf(names));
        QCOMPARE(segments({}), QStringLiteral("tok layers head"));
        QCOMPARE(segments(QStringLiteral("layers")), QStringLiteral("0 1 2 3"));
        names.emplace_back("layers.4.fc");
        model.setCatalog(catalogOf(names));
        QCOMPARE(segments(QStringLiteral("layers")), QStringLiteral("0 1 2 3 4"));
        model.setFilter(QStringLiteral("layers.[13]"));
        QCOMPARE(segments(QStringLiteral("layers")), QStringLiteral("1 3"));
        names.emplace_back("layers.5.fc");
        model.setCatalog(catalogOf(names));
        model.setFilter({});
        QCOMPARE(segments(QStringLiteral("layers")), QStringLiteral("0 1 2 3 4 5"));
        model.sortByWorst(true);
        QCOMPARE(segments({}), QStringLiteral("tok layers head"));
        QCOMPARE(views::blocksOf(*catalogOf(names)).front(), QStringLiteral("tok"));
    }

    void aHundredThousandSeriesCanBeFiltered_data()
    {
        QTest::addColumn<QString>("filter");
        QTest::newRow("text") << QStringLiteral("experts.77");
        QTest::newRow("glob") << QStringLiteral("*layers.4?.*down*");
        QTest::newRow("expression") << QStringLiteral("/layers\\.[1-3]\\..*gate/");
#if !defined(__SANITIZE_THREAD__) // showing all rows takes longer there than a test function may
        QTest::newRow("all") << QStringLiteral("layers");
#endif
    }
    void aHundredThousandSeriesCanBeFiltered()
    {
        QFETCH(QString, filter);
        static const auto catalog = bigCatalog(100'000);
        ModuleTree tree = treeOf(*catalog);
        QCOMPARE(tree.moduleCount(), 100'000);
        const qint64 before = threadCpuNs();
        tree.filter(NamePattern(filter.toStdString()));
        qInfo("filter %s: %.1f ms for 100 000 series, %d shown", qPrintable(filter),
            static_cast<double>(threadCpuNs() - before) / 1e6, tree.matchCount());
        QVERIFY(tree.matchCount() > 0 && tree.matchCount() <= 100'000);
    }

    void aNameThatIsNoUtf8StandsInTheTree()
    {
        ModuleTree tree = treeOf(*catalogOf({ "a.w\xff", "a.v" }));
        QCOMPARE(tree.moduleCount(), 2);
        tree.filter(NamePattern("w"));
        QCOMPARE(tree.matchCount(), 1);
    }

    void theWorstOfASubtreeClimbsToItsHead()
    {
        ModuleTreeModel model;
        const auto catalog = catalogOf({ "a.x", "a.y", "b.z", "c" });
        model.setCatalog(catalog);
        WorstValue calm, loud, source;
        calm.known = loud.known = source.known = true;
        calm.deviation = 2;
        loud.nonFinite = series::CellState::NaN;
        source.nonFinite = series::CellState::PosInf;
        source.isSource = true;
        model.setWorst(analysis::worstOfNames(*catalog->rows, std::array { calm, source, loud }));
        const auto worst = [&](const char* path) {
            return model.indexOf(QString::fromLatin1(path)).data(WorstRole).value<WorstValue>();
        };
        QVERIFY(worst("a").isSource);
        QVERIFY(!worst("a.x").isNonFinite());
        QVERIFY(worst("b").isNonFinite() && !worst("b").isSource);
        QVERIFY(!worst("c").known);
    }

    void siblingsStandByTheirWorstValues()
    {
        ModuleTreeModel model;
        const QAbstractItemModelTester tester(&model);
        const auto catalog = catalogOf({ "a.x", "a.y", "b.z", "c", "d" });
        model.setCatalog(catalog);
        WorstValue calm, loud, source;
        calm.known = loud.known = source.known = true;
        calm.deviation = 2;
        loud.deviation = 50;
        source.nonFinite = series::CellState::NaN;
        source.isSource = true;
        const QPersistentModelIndex kept = model.indexOf(QStringLiteral("b.z"));
        model.setWorst(analysis::worstOfNames(*catalog->rows, std::array { calm, calm, source, loud }));
        QCOMPARE(model.loudest(), loud.deviation);
        const auto top = [&] {
            QStringList names;
            for (int row = 0; row < model.rowCount(); ++row)
                names.append(model.pathOf(model.index(row, 0)));
            return names.join(u' ');
        };
        QCOMPARE(top(), QStringLiteral("a b c d"));
        model.sortByWorst(true);
        QCOMPARE(top(), QStringLiteral("b c a d")); // the source, the loud, the calm, what was not measured
        QCOMPARE(kept, QPersistentModelIndex(model.indexOf(QStringLiteral("b.z"))));
        QCOMPARE(kept.parent().row(), 0);
        // What comes later is placed by its value, too.
        model.setCatalog(catalogOf({ "a.x", "a.y", "b.z", "c", "d", "a.w" }));
        QCOMPARE(top(), QStringLiteral("b c a d"));
        QVERIFY(model.indexOf(QStringLiteral("a.w")).isValid());
        model.sortByWorst(false);
        QCOMPARE(top(), QStringLiteral("a b c d"));
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, ModuleTreeTest)

}

#include "moduletreetest.moc"
