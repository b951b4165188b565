// SPDX-License-Identifier: GPL-3.0-or-later
// What `telltale render` writes of a view is what the window shows of it, pixel by pixel, and what `telltale show`
// says.
#include <QFile>
#include <QImage>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QtTest>

#include <telltale/common/dataview.h>
#include <telltale/common/rowlist.h>
#include <telltale/common/viewstate.h>
#include <telltale/settings/settingsfile.h>
#include <telltale/shell/mainwindow.h>
#include <telltale/shell/rundriver.h>
#include <telltale/shell/startup.h>
#include <telltale/shell/viewfactory.h>
#include <telltale/shell/viewtabs.h>
#include <telltale/store/querypool.h>
#include <telltale/translations/translations.h>

#include "../views/manykindscapsule.h"
#include "shots.h"

using namespace telltale;

namespace {

constexpr int kWaitMs = 30'000;
constexpr std::array kViews { "attention", "distribution", "ranks", "compare", "communication", "structure" };

/// What the program writes on its standard output.
QByteArray outputOf(const QStringList& arguments)
{
    QProcess process;
    process.start(
        QDir(QCoreApplication::applicationDirPath()).absoluteFilePath(QStringLiteral("../bin/telltale")), arguments);
    if (!process.waitForFinished(kWaitMs) || process.exitCode() != 0)
        qFatal("%s: %s", qPrintable(arguments.join(u' ')), process.readAllStandardError().constData());
    return process.readAllStandardOutput();
}

QStringList cellsOf(const QString& line)
{
    static const QRegularExpression kCell(QStringLiteral("(?:^|,)(?:\"((?:[^\"]|\"\")*)\"|([^,]*))"));
    QStringList cells;
    for (auto at = kCell.globalMatch(line); at.hasNext();) {
        const auto cell = at.next();
        cells.append(cell.captured(1) + cell.captured(2));
    }
    return cells;
}

}

class RenderViewsTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        QTest::failOnWarning(QRegularExpression(QStringLiteral(".?")));
        QDir(m_dir.path()).mkdir(QStringLiteral("runs"));
        test::ManyKindsCapsule::write(path("a").toStdString(), "a1");
        test::ManyKindsCapsule::write(path("b").toStdString(), "b2", 0.5F);
    }

    void aPictureIsWhatTheWindowShows_data()
    {
        QTest::addColumn<QString>("view");
        QTest::addColumn<QString>("theme");
        for (const char* view : kViews) {
            for (const char* theme : { "dark", "light" })
                QTest::addRow("%s %s", view, theme) << QString::fromLatin1(view) << QString::fromLatin1(theme);
        }
    }
    void aPictureIsWhatTheWindowShows()
    {
        QFETCH(QString, view);
        QFETCH(QString, theme);
        translations::install(*qApp, QStringLiteral("en"));
        shell::applyTheme(*qApp, theme);
        store::QueryPool pool(2);
        shell::AppContext context;
        context.queries = &pool;
        context.dataDir = m_dir.path().toStdString();
        context.connections = [] { return std::vector<ConnectionInfo>(); };
        shell::MainWindow window(context, settings::LoadedSettings());
        window.resize(1600, 1000);
        window.show();
        window.openPath(path("a"));
        views::ViewState* state = window.state();
        QTRY_VERIFY_WITH_TIMEOUT(state->catalog() && state->run()->locator.text() == path("a").toStdString(), kWaitMs);
        const shell::ViewFactory* factory = shell::findView(view);
        state->setKind(factory->kind.value_or(Kind::GradReduced));
        state->setStat(factory->stat.value_or(Stat::Norm));
        // A choice: else the window may still go to a rank that has more to say.
        state->setRank(Rank { 1 });
        state->setRank(Rank { 0 });
        if (factory->needsOthers) {
            const auto* runs = window.driver()->runs();
            QTRY_VERIFY(runs->runs(items::RunsModel::ArchivedGroup).size() == 2);
            window.driver()->compare(idOf("a1", *runs), { idOf("b2", *runs) });
            QTRY_VERIFY(!state->comparedRuns().empty());
        }
        if (factory->rendered == shell::Subject::Selection) {
            std::vector<views::ModuleKey> selection;
            for (const views::Row& row :
                views::buildRows(*state->catalog(), { state->kind(), Rank { 0 }, {}, {}, factory->stat })) {
                if (!row.isAxis())
                    selection.push_back(row.key);
            }
            state->setSelection(std::move(selection), {});
        }
        window.views()->setCurrent(view);
        views::DataView* shown = window.views()->currentView();
        const auto isSettled = [&] {
            QCoreApplication::sendPostedEvents();
            return shown->isVisible() && shown->isSettled();
        };
        QTRY_VERIFY_WITH_TIMEOUT(isSettled(), kWaitMs);
        QTRY_VERIFY_WITH_TIMEOUT(isSettled(), kWaitMs); // what the first answer asks for
        const QImage here = shown->renderImage(shown->size());

        const QString file = m_dir.filePath(view + QStringLiteral(".png"));
        outputOf(arguments(view, file) << QStringLiteral("--theme") << theme << QStringLiteral("--size")
                                       << QStringLiteral("%1x%2").arg(shown->width()).arg(shown->height()));
        const QImage there = QImage(file).convertToFormat(here.format());
        if (there != here) {
            here.save(test::shot(QStringLiteral("render-%1-%2-window.png").arg(view, theme)));
            there.save(test::shot(QStringLiteral("render-%1-%2-verb.png").arg(view, theme)));
        }
        QCOMPARE(there.size(), here.size());
        QVERIFY2(there == here, "the two pictures lie in shots/");
        // It is a picture of something.
        QSet<QRgb> colors;
        for (int y = 0; y < here.height(); y += 3) {
            for (int x = 0; x < here.width(); x += 3)
                colors.insert(here.pixel(x, y));
        }
        QVERIFY(colors.size() > 8);
    }

    void histogramsAreOfGradientsWhereNoKindIsNamed()
    {
        const QString run = m_dir.filePath(QStringLiteral("both.telltale"));
        test::CapsuleBuilder builder(run.toStdString(), "both", "c3");
        const std::int64_t stream = builder.addAttempt(Rank { 0 }, 0);
        std::vector<StepBlock> blocks;
        for (const Kind kind : { Kind::ParamOrigin, Kind::GradReduced }) {
            auto layout = std::make_shared<SeriesLayout>(
                *builder.addLayout(kind, { Stat::Hist }, { std::string(kindName(kind)) }));
            layout->edges = { -1, 0, 1 };
            StepBlock& block = blocks.emplace_back();
            block.layout = layout;
            block.step = Step { 0 };
            block.columns = { { Stat::Hist, std::vector<std::uint64_t> { 3, 4 } } };
        }
        builder.stage(stream, std::move(blocks));
        builder.commit();
        builder.releaseAll();
        builder.finish();
        const QString file = m_dir.filePath(QStringLiteral("both.csv"));
        outputOf({ QStringLiteral("render"), run, QStringLiteral("--view"), QStringLiteral("distribution"),
            QStringLiteral("-o"), file });
        QFile csv(file);
        QVERIFY(csv.open(QIODevice::ReadOnly));
        const QByteArray table = csv.readAll();
        QVERIFY2(table.contains("grad_reduced,-1,0,") && !table.contains("param_origin"), table.constData());
    }

    /// What is selected is a tensor, all its micro steps at once.
    void everyMicroStepIsDrawnOnce()
    {
        const QString run = m_dir.filePath(QStringLiteral("micro.telltale"));
        test::CapsuleBuilder builder(run.toStdString(), "micro", "c4");
        auto layout = std::make_shared<SeriesLayout>(*builder.addLayout(Kind::Actv, { Stat::Norm }, { "fc1", "fc1" }));
        layout->series[1].microStep = 1;
        builder.stage(builder.addAttempt(Rank { 0 }, 0),
            { { layout, Step { 0 }, 0, {}, { { Stat::Norm, std::vector<float> { 2, 3 } } }, {} } });
        builder.commit();
        builder.releaseAll();
        builder.finish();
        const QString file = m_dir.filePath(QStringLiteral("micro.csv"));
        outputOf({ QStringLiteral("render"), run, QStringLiteral("--view"), QStringLiteral("curves"),
            QStringLiteral("--kind"), QStringLiteral("actv"), QStringLiteral("-o"), file });
        QFile csv(file);
        QVERIFY(csv.open(QIODevice::ReadOnly));
        const QByteArray table = csv.readAll();
        QVERIFY2(table.count("fc1,,") == 2 && table.contains("fc1,,-1,0,") && table.contains("fc1,,1,0,"),
            table.constData());
    }

    void aTableHasWhatShowSays_data()
    {
        QTest::addColumn<QString>("view");
        QTest::addColumn<int>("least");
        using Capsule = test::ManyKindsCapsule;
        const int cells = Capsule::kLayers * Capsule::kSteps;
        QTest::newRow("attention") << QStringLiteral("attention")
                                   << 2 * Capsule::kLayers * Capsule::kHeads + 2 * 4 * (Capsule::kSteps - 1);
        QTest::newRow("distribution") << QStringLiteral("distribution") << 12 * Capsule::kSteps;
        QTest::newRow("ranks") << QStringLiteral("ranks") << cells;
        QTest::newRow("compare") << QStringLiteral("compare") << 2 * cells;
        QTest::newRow("communication") << QStringLiteral("communication") << 2;
    }
    void aTableHasWhatShowSays()
    {
        QFETCH(QString, view);
        QFETCH(int, least);
        const QString file = m_dir.filePath(view + QStringLiteral(".csv"));
        outputOf(arguments(view, file));
        QFile csv(file);
        QVERIFY(csv.open(QIODevice::ReadOnly));
        const QStringList lines = QString::fromUtf8(csv.readAll()).split(QStringLiteral("\r\n"), Qt::SkipEmptyParts);
        const QStringList head = cellsOf(lines.front());
        const auto a = said("a");
        const auto b = said("b");
        QVERIFY(a.size() > 100 && a.size() == b.size());
        int checked = 0;
        for (const QString& line : lines.mid(1)) {
            const QStringList cells = cellsOf(line);
            QCOMPARE(cells.size(), head.size());
            const auto cell = [&](const char* name) { return cells.value(head.indexOf(QLatin1String(name))); };
            const auto check = [&](const QHash<QString, QString>& known, const QString& key, const QString& state,
                                   const QString& value) {
                QVERIFY2(known.contains(key), qPrintable(key + u'\n' + line));
                const QString expected = known.value(key);
                const bool isValue = state == QLatin1String("value");
                QVERIFY2(isValue ? expected.toDouble() == value.toDouble() : expected == QLatin1String("NaN"),
                    qPrintable(key + QStringLiteral(": %1 and %2").arg(expected, line)));
                ++checked;
            };
            const QString step = head.contains(QStringLiteral("step")) ? cell("step") : cell("first_step");
            const auto key = [&](const QString& name, const QString& slot, const QString& kind, const QString& stat) {
                return QStringList { name, slot, cell("rank"), kind, stat, step }.join(u'|');
            };
            if (view == QLatin1String("attention")) {
                if (cell("statistic") != QLatin1String("entropy_share")) // of entropy and length
                    check(a, key(cell("name"), QStringLiteral("head_") + cell("head"), view, cell("statistic")),
                        cell("state"), cell("value"));
            } else if (view == QLatin1String("distribution")) {
                if (cell("quantity") == QLatin1String("count"))
                    check(a,
                        key(cell("name"), {}, QStringLiteral("grad_reduced"), QStringLiteral("hist")) + u'|'
                            + QString::number(cell("low").toDouble(), 'g', 17),
                        cell("state"), cell("value"));
            } else if (view == QLatin1String("ranks")) {
                if (cell("first_step") == cell("last_step"))
                    check(a, key(cell("name"), cell("slot"), cell("kind"), cell("statistic")), cell("state"),
                        cell("value"));
            } else if (view == QLatin1String("compare")) {
                QCOMPARE(cell("first_step"), cell("last_step"));
                const QString place = key(cell("name"), cell("slot"), cell("kind"), cell("statistic"));
                if (cell("state").isEmpty()) { // of the map
                    check(a, place, cell("a_state"), cell("a"));
                    check(b, place, cell("b_state"), cell("b"));
                } else {
                    check(cell("run") == QLatin1String("many-a1") ? a : b, place, cell("state"), cell("value"));
                }
            } else {
                QString site = cell("call_site");
                site.replace(QRegularExpression(QStringLiteral("^(.*):(\\d+) +(.*)$")), QStringLiteral("\\1[\\2] \\3"));
                const QString name = QStringLiteral("%1 (%2)").arg(cell("operation"), site);
                check(a, key(name, QStringLiteral("pre_0"), QStringLiteral("comm"), cell("statistic")),
                    cell("before_state"), cell("before"));
                check(a, key(name, QStringLiteral("post_0"), QStringLiteral("comm"), cell("statistic")),
                    cell("after_state"), cell("after"));
            }
        }
        QVERIFY2(checked >= least, qPrintable(QString::number(checked)));
    }

private:
    QString path(const char* name) const
    {
        return m_dir.filePath(QStringLiteral("runs/2026-01-02_%1.telltale").arg(QLatin1String(name)));
    }
    static QString idOf(const std::string& id, const items::RunsModel& runs)
    {
        for (const store::RunSummary& run : runs.runs(items::RunsModel::ArchivedGroup)) {
            if (run.locator.text().find(id == "a1" ? "_a." : "_b.") != std::string::npos)
                return QString::fromStdString(run.id);
        }
        return {};
    }
    QStringList arguments(const QString& view, const QString& file) const
    {
        QStringList all { QStringLiteral("render"), path("a"), QStringLiteral("--view"), view, QStringLiteral("-o"),
            file };
        if (view == QLatin1String("compare"))
            all << QStringLiteral("--with") << path("b");
        return all;
    }

    /// "name|slot|rank|kind|statistic|step" and, of histograms, "|lower edge", with the value, as `telltale show` has
    /// it.
    QHash<QString, QString> said(const char* run) const
    {
        QHash<QString, QString> values;
        const auto text = [](const QJsonValue& value) {
            return value.isString() ? value.toString() : QString::number(value.toDouble(), 'g', 17);
        };
        for (const char* stat : { "norm", "entropy", "softmax_max", "hist" }) {
            const QByteArray json = outputOf({ QStringLiteral("show"), path(run), QStringLiteral("--series"),
                QStringLiteral("*"), QStringLiteral("--stat"), QLatin1String(stat), QStringLiteral("--json") });
            for (const QJsonValue& one : QJsonDocument::fromJson(json)[QStringLiteral("series")].toArray()) {
                const QString place = QStringList { one[QStringLiteral("name")].toString(),
                    one[QStringLiteral("slot")].toString(), text(one[QStringLiteral("rank")]),
                    one[QStringLiteral("kind")].toString(), one[QStringLiteral("stat")].toString() }
                                          .join(u'|');
                const QJsonArray edges = one[QStringLiteral("edges")].toArray();
                for (const QJsonValue& at : one[QStringLiteral("values")].toArray()) {
                    const QString key = place + u'|' + text(at[QStringLiteral("step")]);
                    const QJsonArray counts = at[QStringLiteral("value")].toArray();
                    for (qsizetype bin = 0; bin < counts.size(); ++bin)
                        values.insert(key + u'|' + text(edges[bin]), text(counts[bin]));
                    if (counts.isEmpty())
                        values.insert(key, text(at[QStringLiteral("value")]));
                }
            }
        }
        return values;
    }

    QTemporaryDir m_dir;
};

QTEST_MAIN(RenderViewsTest)
#include "renderviewstest.moc"
