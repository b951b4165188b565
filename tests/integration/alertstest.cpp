// SPDX-License-Identifier: GPL-3.0-or-later
// The whole way: a server without a window, a training in which something goes wrong, and who is told of it.
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include "../alerts/localhook.h"

using telltale::test::LocalHook;

namespace {

QString program(const char* name)
{
    return QDir(QCoreApplication::applicationDirPath())
        .absoluteFilePath(QStringLiteral("../bin/") + QLatin1String(name));
}

/// `telltale serve`, for as long as it lives.
struct AlertServer {
    QProcess process;
    QString join;

    bool start(const QString& dataDir)
    {
        process.setStandardErrorFile(dataDir + QStringLiteral("/said"), QIODevice::Append);
        process.start(program("telltale"),
            { QStringLiteral("serve"), QStringLiteral("--data-dir"), dataDir, QStringLiteral("--listen"),
                QStringLiteral("127.0.0.1:0") });
        if (!QTest::qWaitFor([this] { return process.canReadLine(); }, 20'000))
            return false;
        join = QString::fromUtf8(process.readLine().trimmed());
        return join.startsWith(QLatin1String("telltale://"));
    }
    ~AlertServer()
    {
        process.terminate();
        process.waitForFinished(20'000);
    }
    void stop()
    {
        process.terminate();
        QVERIFY(QTest::qWaitFor([this] { return process.state() == QProcess::NotRunning; }, 20'000));
    }
};

struct Ended {
    int code = -1;
    QByteArray out;
    QByteArray err;
};

/// Runs to its end while this thread answers what is posted.
Ended runProgram(const char* name, const QStringList& words, const QStringList& environment = {})
{
    QProcess process;
    process.setEnvironment(QProcess::systemEnvironment() + environment);
    process.start(program(name), words);
    if (!QTest::qWaitFor([&] { return process.state() == QProcess::NotRunning; }, 240'000))
        return {};
    return { process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError() };
}

}

class AlertsTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init()
    {
        m_dir = std::make_unique<QTemporaryDir>();
        QVERIFY(QDir(m_dir->path()).mkpath(QStringLiteral("data")));
    }

    void aFaultIsOneMessage()
    {
        LocalHook hook;
        LocalHook other;
        writeSettings({ { QStringLiteral("settle_s"), 1 }, { QStringLiteral("webhooks"), hooks(hook) } });
        AlertServer server;
        QVERIFY(server.start(data()));
        train(server, "one", QStringLiteral("nan@30:layers.1.mlp.fc1"));
        QTRY_COMPARE_WITH_TIMEOUT(hook.posts.size(), std::size_t { 1 }, 20'000);
        const QJsonObject body = QJsonDocument::fromJson(hook.posts[0].body).object();
        QCOMPARE(body[QLatin1String("event")].toString(), QStringLiteral("incident"));
        const QJsonObject run = body[QLatin1String("run")].toObject();
        QCOMPARE(run[QLatin1String("name")].toString(), QStringLiteral("demo-gpt"));
        const QByteArray id = run[QLatin1String("id")].toString().toUtf8();
        QVERIFY(
            body[QLatin1String("text")].toString().endsWith(QStringLiteral("telltale incidents ") + QLatin1String(id)));
        const Ended listed = runProgram("telltale", words({ "incidents", id.constData() }));
        QVERIFY2(listed.code == 0 && listed.out.contains("layers.1.mlp.fc1"), listed.err.constData());
        QCOMPARE(body[QLatin1String("severity")].toString(), QStringLiteral("critical"));
        const QJsonObject incident = body[QLatin1String("incident")].toObject();
        QCOMPARE(incident[QLatin1String("step")].toInt(), 30);
        QCOMPARE(incident[QLatin1String("name")].toString(), QStringLiteral("layers.1.mlp.fc1"));

        // An edit counts at once. A run in which nothing goes wrong tells nobody; the next that does, the other one.
        writeSettings({ { QStringLiteral("settle_s"), 0 }, { QStringLiteral("webhooks"), hooks(other) } });
        train(server, "two", {});
        train(server, "three", QStringLiteral("nan@31:layers.0.mlp.fc1"));
        QTRY_COMPARE_WITH_TIMEOUT(other.posts.size(), std::size_t { 1 }, 20'000);
        QVERIFY(other.posts[0].body.contains("step 31, "));
        server.stop();

        // After a restart nothing of this is told again.
        QVERIFY(server.start(data()));
        train(server, "four", QStringLiteral("nan@32:layers.1.mlp.fc1"));
        QTRY_COMPARE_WITH_TIMEOUT(other.posts.size(), std::size_t { 2 }, 20'000);
        QVERIFY(other.posts[1].body.contains("step 32, "));
        server.stop();
        QCOMPARE(hook.posts.size(), std::size_t { 1 });
        QCOMPARE(other.posts.size(), std::size_t { 2 });
    }

    void whatIsWrongWithTheFileIsSaid()
    {
        LocalHook hook;
        writeSettings({ { QStringLiteral("webhooks"), hooks(hook) } });
        AlertServer server;
        QVERIFY(server.start(data()));
        write("{\"severity\": \"loud\", \"webhooks\": [{\"url\": \"gopher://SECRET\"}]}");
        QTRY_VERIFY_WITH_TIMEOUT(said().contains("\"severity\" must be warning or critical"), 20'000);
        QVERIFY(said().contains("what was in force stays so"));
        train(server, "one", QStringLiteral("nan@30:layers.1.mlp.fc1"));
        QTRY_COMPARE_WITH_TIMEOUT(hook.posts.size(), std::size_t { 1 }, 20'000);
        server.stop();
        QVERIFY2(!said().contains("SECRET"), said().constData());
        const Ended listed = runProgram("telltale", words({ "alerts" }));
        QCOMPARE(listed.code, 2);
        QVERIFY(listed.err.contains("\"webhooks[0].url\" cannot be posted to") && !listed.err.contains("SECRET"));
    }

    void theTrainingsConsoleSaysIt()
    {
        writeSettings({ { QStringLiteral("settle_s"), 0 },
            { QStringLiteral("console"), QJsonObject { { QStringLiteral("on"), true } } } });
        AlertServer server;
        QVERIFY(server.start(data()));
        const QByteArray console = train(server, "one", QStringLiteral("nan@10:layers.1.mlp.fc1"), 1000);
        server.stop();
        QVERIFY2(console.contains("\ntelltale: critical: "), console.constData());
        QCOMPARE(console.count("telltale: critical: "), 1);
    }

    void whatIsNotDeliveredAtTheEndIsSaid()
    {
        LocalHook hook;
        hook.answer = [](int) { return QByteArray(); };
        writeSettings({ { QStringLiteral("settle_s"), 600 }, { QStringLiteral("webhooks"), hooks(hook) } });
        AlertServer server;
        QVERIFY(server.start(data()));
        train(server, "one", QStringLiteral("nan@30:layers.1.mlp.fc1"));
        server.stop();
        QCOMPARE(hook.posts.size(), std::size_t { 1 }); // it is told all the same
        QVERIFY2(
            said().contains("1 alert is not delivered to the webhook generic (http://127.0.0.1:"), said().constData());
    }

    void theVerbsTellWhoIsTold()
    {
        LocalHook good;
        LocalHook bad;
        bad.answer = [](int) { return LocalHook::reply("403 No"); };
        QJsonArray both = hooks(good);
        both.append(hooks(bad)[0]);
        QCOMPARE(runProgram("telltale", words({ "alerts" })).code, 0); // there is no file
        writeSettings({ { QStringLiteral("severity"), QStringLiteral("critical") },
            { QStringLiteral("desktop"), QJsonObject { { QStringLiteral("on"), false } } },
            { QStringLiteral("webhooks"), both } });
        const Ended listed = runProgram("telltale", words({ "alerts" }));
        QCOMPARE(listed.code, 0);
        QVERIFY2(listed.out.contains("webhook      generic 2, on: generic, http://127.0.0.1:"), listed.out.constData());
        QVERIFY(listed.out.contains("critical incidents") && !listed.out.contains("SECRET"));
        const QJsonObject shown
            = QJsonDocument::fromJson(runProgram("telltale", words({ "alerts", "--json" })).out).object();
        QCOMPARE(shown[QLatin1String("webhooks")].toArray().size(), 2);

        const Ended tested = runProgram("telltale", words({ "alerts", "test", "--json" }));
        QCOMPARE(tested.code, 1);
        const QJsonArray answers = QJsonDocument::fromJson(tested.out).array();
        QCOMPARE(answers.size(), 2);
        QCOMPARE(good.posts.size() + bad.posts.size(), std::size_t { 2 });
        QCOMPARE(
            QJsonDocument::fromJson(good.posts[0].body)[QLatin1String("event")].toString(), QStringLiteral("test"));
        for (const QJsonValue& answer : answers)
            QCOMPARE(answer[QLatin1String("answer")].toString(),
                answer[QLatin1String("delivered")].toBool() ? QStringLiteral("it answered 200")
                                                            : QStringLiteral("it answered 403"));
        bad.answer = [](int) { return LocalHook::ok(); };
        const Ended again = runProgram("telltale", words({ "alerts", "test" }));
        QCOMPARE(again.code, 0);
        QCOMPARE(again.out.count("told "), 2);
    }

private:
    QString data() const { return m_dir->filePath(QStringLiteral("data")); }
    QByteArray said() const
    {
        QFile file(data() + QStringLiteral("/said"));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    QStringList words(std::initializer_list<const char*> first) const
    {
        QStringList all;
        for (const char* word : first)
            all << QLatin1String(word);
        return all << QStringLiteral("--data-dir") << data();
    }
    void write(const QByteArray& text) const
    {
        QFile file(data() + QStringLiteral("/alerts.json"));
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text) == text.size());
    }
    void writeSettings(const QJsonObject& settings) const { write(QJsonDocument(settings).toJson()); }
    static QJsonArray hooks(const LocalHook& hook)
    {
        return { QJsonObject { { QStringLiteral("url"), QString::fromStdString(hook.url()) } } };
    }
    /// What it said on its console.
    QByteArray train(const AlertServer& server, const char* id, const QString& fault, int steps = 40) const
    {
        QStringList trainer = QStringLiteral("--layers 2 --heads 2 --width 32 --steps %1").arg(steps).split(u' ');
        if (!fault.isEmpty())
            trainer << QStringLiteral("--fault") << fault;
        const Ended trained = runProgram("telltale-demo-trainer", trainer,
            { QStringLiteral("TELLTALE_JOIN=") + server.join, QStringLiteral("TELLTALE_RUN_ID=") + QLatin1String(id),
                QStringLiteral("TELLTALE_DIR=") + m_dir->path() });
        if (trained.code != 0)
            qFatal("%s", trained.err.constData());
        return trained.err;
    }

    std::unique_ptr<QTemporaryDir> m_dir;
};

QTEST_GUILESS_MAIN(AlertsTest)
#include "alertstest.moc"
