// SPDX-License-Identifier: GPL-3.0-or-later
// The whole way in one command: a training process, the agent, the server, the capsule, the window and the pictures.
#include "sourcepath.h"
#include <QDir>
#include <QFile>
#include <QImageReader>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QtTest>

namespace {

constexpr int kSteps = 24;

struct Ran {
    int code = -1;
    QByteArray out;
    QByteArray err;
};

Ran runOf(const QStringList& arguments)
{
    QProcess process;
    process.start(
        QDir(QCoreApplication::applicationDirPath()).absoluteFilePath(QStringLiteral("../bin/telltale")), arguments);
    process.waitForFinished(240'000);
    return { process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1, process.readAllStandardOutput(),
        process.readAllStandardError() };
}

}

class DemoTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void headlessDemoLeavesPicturesAndAWholeCapsule()
    {
        const QTemporaryDir dir;
        const QString out = dir.filePath(QStringLiteral("out"));
        QVERIFY(qputenv("TELLTALE_DATA_DIR", dir.filePath(QStringLiteral("elsewhere")).toUtf8()));
        const Ran demo = runOf(
            { QStringLiteral("demo"), QStringLiteral("--headless"), QStringLiteral("--steps"), QString::number(kSteps),
                QStringLiteral("--fault"), QStringLiteral("nan@12:layers.1.mlp.fc1"), QStringLiteral("--out"), out });
        QVERIFY(qunsetenv("TELLTALE_DATA_DIR"));
        QVERIFY2(demo.code == 0, demo.err.constData());

        QFile file(out + QStringLiteral("/summary.json"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QJsonObject summary = QJsonDocument::fromJson(file.readAll()).object();
        QCOMPARE(summary.value(QLatin1String("steps")).toInt(), kSteps);
        QCOMPARE(summary.value(QLatin1String("dropped")).toInt(-1), 0);
        QVERIFY(summary.value(QLatin1String("produced")).toDouble() > 0);
        QCOMPARE(
            summary.value(QLatin1String("stored")).toDouble(), summary.value(QLatin1String("produced")).toDouble());
        for (const char* name : { "window", "heatmap", "curves" })
            QVERIFY2(QImageReader(out + QLatin1Char('/') + QLatin1String(name) + QStringLiteral(".png")).size().width()
                    >= 1120,
                name);

        const QString capsule = summary.value(QLatin1String("capsule")).toString();
        QVERIFY2(capsule.startsWith(out + QStringLiteral("/data/runs/")), "--out is nearer than the environment");
        const Ran inspected
            = runOf({ QStringLiteral("inspect"), capsule, QStringLiteral("--verify"), QStringLiteral("--json") });
        QVERIFY2(inspected.code == 0, inspected.err.constData());
        QVERIFY(QJsonDocument::fromJson(inspected.out).isObject());

        // The fault is where it was put: the activation of that module is NaN from that step on, and finite before.
        const Ran shown = runOf({ QStringLiteral("show"), capsule, QStringLiteral("--series"),
            QStringLiteral("layers.1.mlp.fc1"), QStringLiteral("--kind"), QStringLiteral("actv"),
            QStringLiteral("--stat"), QStringLiteral("norm"), QStringLiteral("--json") });
        QVERIFY2(shown.code == 0, shown.err.constData());
        QVERIFY(shown.out.contains("NaN"));

        const QString csv = dir.filePath(QStringLiteral("heat.csv"));
        const Ran rendered = runOf({ QStringLiteral("render"), capsule, QStringLiteral("--view"),
            QStringLiteral("heatmap"), QStringLiteral("--kind"), QStringLiteral("actv"), QStringLiteral("-o"), csv });
        QVERIFY2(rendered.code == 0, rendered.err.constData());
        QFile table(csv);
        QVERIFY(table.open(QIODevice::ReadOnly));
        QVERIFY(table.readAll().contains("NaN"));

        // Every view that the help names draws the run.
        const QByteArray help = runOf({ QStringLiteral("render"), QStringLiteral("--help") }).out;
        const QRegularExpression line(QStringLiteral("^  --view V +(.+)$"), QRegularExpression::MultilineOption);
        const QStringList ids = line.match(QString::fromUtf8(help)).captured(1).split(QStringLiteral(", "));
        QVERIFY2(ids.contains(QLatin1String("curves")) && ids.contains(QLatin1String("overview")), help.constData());
        for (const QString& id : ids) {
            const QString picture = dir.filePath(id + QStringLiteral(".png"));
            const Ran drawn = runOf(
                { QStringLiteral("render"), capsule, QStringLiteral("--view"), id, QStringLiteral("-o"), picture });
            // One rank calls no collectives, and one run is compared with none: that is said.
            static const QHash<QString, QByteArray> kRefused { { QStringLiteral("communication"),
                                                                   "no series of kind comm" },
                { QStringLiteral("compare"), "--with RUN" } };
            if (kRefused.contains(id)) {
                QCOMPARE(drawn.code, 2);
                QVERIFY2(drawn.err.contains(kRefused[id]), drawn.err.constData());
                continue;
            }
            QVERIFY2(drawn.code == 0, drawn.err.constData());
            QCOMPARE(QImageReader(picture).size(), QSize(1600, 1000));
        }
    }

    void theReadmeShowsEveryVerbWithOptionsThatItHas()
    {
        QFile file(QString::fromStdString(telltale::test::sourcePath("README.md")));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QString readme = QString::fromUtf8(file.readAll());
        const Ran all = runOf({ QStringLiteral("--help") });
        QCOMPARE(all.code, 0);
        static const QRegularExpression row(
            QStringLiteral("^  ([a-z]+(?: [a-z]+)?)  +\\S"), QRegularExpression::MultilineOption);
        static const QRegularExpression option(QStringLiteral(" (--?[a-z][a-z-]*)"));
        int verbs = 0;
        for (auto at = row.globalMatch(QString::fromUtf8(all.out)); at.hasNext(); ++verbs) {
            const QString verb = at.next().captured(1);
            const Ran own = runOf(verb.split(u' ') << QStringLiteral("--help"));
            QCOMPARE(own.code, 0);
            QVERIFY2(own.out.startsWith("usage: telltale " + verb.toUtf8()), own.out.constData());
            QVERIFY2(readme.contains(QStringLiteral("telltale ") + verb), qPrintable(verb));
            for (const QString& line : readme.split(u'\n')) {
                if (!line.startsWith(QStringLiteral("    telltale ") + verb + u' '))
                    continue;
                for (auto flags = option.globalMatch(line.section(u'#', 0, 0)); flags.hasNext();) {
                    const QString flag = flags.next().captured(1);
                    QVERIFY2(own.out.contains("\n  " + flag.toUtf8() + ' '), qPrintable(line));
                }
            }
        }
        QVERIFY(verbs >= 8);
    }

    void withoutAPythonThatCanTrainTheDemoSaysWhatToDo()
    {
        QTemporaryDir dir;
        QVERIFY(qputenv("TELLTALE_PYTHON", "/bin/false"));
        const Ran ran = runOf({ QStringLiteral("demo"), QStringLiteral("--python"), QStringLiteral("--headless"),
            QStringLiteral("--out"), dir.path() });
        QVERIFY(qunsetenv("TELLTALE_PYTHON"));
        QVERIFY(ran.code != 0);
        QVERIFY2(ran.err.contains("./dev run --python"), ran.err.constData());
        QCOMPARE(ran.err.count('\n'), 1);
    }

    void qtsMessagesGoIntoTheLogWithWhatIsForeignInThemEscaped()
    {
        const QTemporaryDir dir;
        const QString log = dir.filePath(QStringLiteral("log"));
        const QString capsule
            = QString::fromStdString(telltale::test::sourcePath("tests/data/v1/cpp-finished/run.telltale"));
        const QString copy = dir.filePath(QStringLiteral("run.telltale"));
        QVERIFY(QFile::copy(capsule, copy));
        const QStringList words { QStringLiteral("render"), copy, QStringLiteral("--view"), QStringLiteral("curves"),
            QStringLiteral("-o"), dir.filePath(QStringLiteral("a.png")), QStringLiteral("--log-file"), log };
        const QByteArray fatal = qgetenv("QT_FATAL_WARNINGS");
        qunsetenv("QT_FATAL_WARNINGS"); // this one is provoked
        QVERIFY(qputenv("QT_STYLE_OVERRIDE", "\x1b[31mred"));
        const Ran ran = runOf(words);
        const Ran quiet = runOf(words + QStringList { QStringLiteral("--log-level"), QStringLiteral("error") });
        QVERIFY(qunsetenv("QT_STYLE_OVERRIDE"));
        if (!fatal.isEmpty())
            QVERIFY(qputenv("QT_FATAL_WARNINGS", fatal));
        QVERIFY2(ran.code == 0 && quiet.code == 0, ran.err.constData());
        QCOMPARE(quiet.err, QByteArray());
        QFile file(log);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray kept = file.readAll();
        QVERIFY2(kept.contains(" warning QApplication: invalid style override '\\u001b[31mred'"), kept.constData());
        QVERIFY2(
            ran.err.contains("telltale: QApplication: invalid style override '\\u001b[31mred'"), ran.err.constData());
        QVERIFY(!kept.contains('\x1b') && !ran.err.contains('\x1b'));
    }

    void wrongUsageIsOneSentenceAndExit2()
    {
        for (const QStringList& words :
            { QStringList { QStringLiteral("demo"), QStringLiteral("--steps"), QStringLiteral("0") },
                QStringList { QStringLiteral("serve"), QStringLiteral("--port"), QStringLiteral("1") },
                QStringList { QStringLiteral("render"), QStringLiteral("x"), QStringLiteral("--view"),
                    QStringLiteral("pie"), QStringLiteral("-o"), QStringLiteral("x.png") } }) {
            const Ran ran = runOf(words);
            QCOMPARE(ran.code, 2);
            QVERIFY(ran.err.startsWith("telltale: "));
            QCOMPARE(ran.err.count('\n'), 1);
            QVERIFY(ran.out.isEmpty());
        }
    }
};

QTEST_GUILESS_MAIN(DemoTest)
#include "demotest.moc"
