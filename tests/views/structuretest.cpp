// SPDX-License-Identifier: GPL-3.0-or-later
#include "shots.h"
#include "testmain.h"

#include <functional>

#include <QBuffer>
#include <QClipboard>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTextBlock>
#include <QTextDocument>

#include <telltale/runs/paneltree.h>
#include <telltale/runs/stacktext.h>
#include <telltale/structure/modulecard.h>
#include <telltale/structure/structureview.h>

#include "looks.h"
#include "tellingrun.h"

namespace structuretest {

using namespace telltale;
using namespace telltale::views;

/// The model of a run as an outline. Thread: the test's.
class StructureTest : public QObject, test::TellingRun {
    Q_OBJECT
private Q_SLOTS:
    void init() { beginRun(); }
    void cleanup() { endRun(); }

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

    /// As of a list of modules, which is never called itself.
    void whatHasNothingIsNotSaidToHaveAll()
    {
        ModuleCard card;
        const auto* hint = card.findChild<QLabel*>(QStringLiteral("structureHint"));
        card.show({}, { Kind::Actv }, {});
        QVERIFY2(hint->text().contains(QStringLiteral("collected of it already")), qPrintable(hint->text()));
        card.show({}, {}, {});
        QVERIFY2(!hint->text().contains(QStringLiteral("already")), qPrintable(hint->text()));
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
        for (const QSize size : { QSize(1060, 720), QSize(560, 700) }) {
            auto* structure = open<StructureView>();
            structure->resize(size);
            m_state->setSelection({ { QStringLiteral("layers.0.fc.weight"), {} } });
            settle(structure);
            QVERIFY(structure->renderImage(size).save(
                test::shot(QStringLiteral("structure-%1-%2-%3.png").arg(theme, language).arg(size.width()))));
        }
    }
};

TELLTALE_TEST(QTEST_MAIN, StructureTest)

}

#include "structuretest.moc"
