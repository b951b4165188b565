// SPDX-License-Identifier: GPL-3.0-or-later
// Webhooks against a real web server on loopback, real programs, and the desktop's notifications against a bus of our
// own.
#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusServer>
#include <QDBusVirtualObject>
#include <QDir>
#include <QFile>
#include <QMessageAuthenticationCode>
#include <QTemporaryDir>
#include <QUrl>
#include <QUrlQuery>
#include <QtTest>

#include <telltale/alerts/webhookwords.h>
#include <telltale/notify/commandchannel.h>
#include <telltale/notify/desktopchannel.h>
#include <telltale/notify/webhookchannel.h>

#include "localhook.h"

using namespace telltale;
using namespace telltale::alerts;
using namespace telltale::notify;
using telltale::test::LocalHook;
using namespace std::chrono_literals;

namespace {

Alert incidentAlert(const std::string& run = "gpt")
{
    Alert alert { "0123abcd", run, "/runs/" + run, 1'700'000'000'000'000'000, {} };
    alert.incident.id = 5;
    alert.incident.first.rule = "loss";
    alert.incident.first.severity = store::Severity::Critical;
    alert.incident.first.step = Step { 40 };
    alert.incident.sentence = "First abnormal: step 40 $(touch x); 'loss'";
    return alert;
}

DeliveryQueue::Limits quickly(int tries = 8)
{
    DeliveryQueue::Limits limits;
    limits.firstPause = 20ms;
    limits.tries = tries;
    return limits;
}

/// A channel, what it logged, and how its messages ended.
template <typename Kind, typename Options> struct Sent {
    QStringList log;
    std::vector<std::pair<bool, QString>> ends;
    Kind channel;

    Sent(const Options& options, const DeliveryQueue::Limits& limits)
        : channel(options, limits, [this](const std::string& line) { log << QString::fromStdString(line); })
    {
        QObject::connect(&channel, &Channel::told, &channel,
            [this](bool isDelivered, const QString& sentence) { ends.emplace_back(isDelivered, sentence); });
    }
};
using SentHook = Sent<WebhookChannel, Webhook>;
using SentCommand = Sent<CommandChannel, Command>;

Webhook hookAt(const std::string& url, Shape shape = Shape::Generic)
{
    Webhook hook;
    hook.name = "team";
    hook.url = url;
    hook.shape = shape;
    hook.perMinute = 600;
    return hook;
}

QByteArray hmacOf(const QByteArray& key, const QByteArray& text)
{
    return QMessageAuthenticationCode::hash(text, key, QCryptographicHash::Sha256).toBase64();
}

/// The desktop's notifications, on a bus between two ends.
class Notifications : public QDBusVirtualObject {
public:
    std::vector<QList<QVariant>> shown;

    QString introspect(const QString&) const override { return {}; }
    bool handleMessage(const QDBusMessage& message, const QDBusConnection& connection) override
    {
        if (message.member() != QLatin1String("Notify"))
            return false;
        shown.push_back(message.arguments());
        return connection.send(message.createReply(static_cast<uint>(shown.size())));
    }
};

}

class AlertSendTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { qputenv("http_proxy", "http://127.0.0.1:1"); } // this machine is never behind it

    void eachServiceIsPostedItsBody_data()
    {
        QTest::addColumn<int>("shape");
        QTest::addColumn<QByteArray>("answer");
        QTest::newRow("generic") << static_cast<int>(Shape::Generic) << QByteArray();
        QTest::newRow("slack") << static_cast<int>(Shape::Slack) << QByteArray("ok");
        QTest::newRow("feishu") << static_cast<int>(Shape::Feishu) << QByteArray("{\"code\":0}");
        QTest::newRow("dingtalk") << static_cast<int>(Shape::DingTalk) << QByteArray("{\"errcode\":0}");
    }
    void eachServiceIsPostedItsBody()
    {
        QFETCH(int, shape);
        QFETCH(QByteArray, answer);
        LocalHook server;
        server.answer = [&](int) { return LocalHook::ok(answer); };
        SentHook sent(hookAt(server.url(), static_cast<Shape>(shape)), quickly());
        sent.channel.send(incidentAlert());
        QTRY_COMPARE(sent.ends.size(), std::size_t { 1 });
        QVERIFY2(sent.ends[0].first, qPrintable(sent.ends[0].second));
        QCOMPARE(server.posts.size(), std::size_t { 1 });
        QVERIFY(server.posts[0].head.startsWith("POST /hook/SECRET HTTP/1.1\r\n"));
        QVERIFY(server.posts[0].head.toLower().contains("content-type: application/json"));
        QCOMPARE(server.posts[0].body.toStdString(), webhookBody(static_cast<Shape>(shape), incidentAlert()));
        QVERIFY2(sent.log.isEmpty(), qPrintable(sent.log.join(u'\n')));
    }

    void messagesAreSignedAsTheServicesWantIt()
    {
        LocalHook server;
        server.answer = [](int) { return LocalHook::ok("{\"errcode\":0}"); };
        Webhook hook = hookAt(server.url("/robot/send?access_token=SECRET"), Shape::DingTalk);
        hook.secret = "SEC+1";
        SentHook ding(hook, quickly());
        ding.channel.send(incidentAlert());
        QTRY_COMPARE(ding.ends.size(), std::size_t { 1 });
        const QByteArray target = server.posts[0].head.split(' ')[1];
        const QUrlQuery query(QUrl::fromEncoded(target));
        const QByteArray time = query.queryItemValue(QStringLiteral("timestamp")).toLatin1();
        QVERIFY(time.size() == 13 && query.hasQueryItem(QStringLiteral("access_token")));
        // No '+' may stand there: it would be read as a blank.
        QCOMPARE(target.mid(target.indexOf("sign=") + 5), hmacOf("SEC+1", time + "\nSEC+1").toPercentEncoding());

        LocalHook other;
        other.answer = server.answer;
        hook = hookAt(other.url(), Shape::Feishu);
        hook.secret = "SEC+1";
        SentHook feishu(hook, quickly());
        feishu.channel.send(incidentAlert());
        QTRY_COMPARE(feishu.ends.size(), std::size_t { 1 });
        const QJsonObject body = QJsonDocument::fromJson(other.posts[0].body).object();
        const QByteArray at = body[QLatin1String("timestamp")].toString().toLatin1();
        QCOMPARE(at.size(), 10);
        QCOMPARE(body[QLatin1String("sign")].toString().toLatin1(), hmacOf(at + "\nSEC+1", {}));
    }

    void whatFailsForAWhileIsDeliveredOnce()
    {
        LocalHook server;
        server.answer = [](int n) { return n < 2 ? LocalHook::reply("500 Oh") : LocalHook::ok(); };
        SentHook sent(hookAt(server.url()), quickly());
        sent.channel.send(incidentAlert("a"));
        sent.channel.send(incidentAlert("b")); // in order
        QTRY_COMPARE(sent.ends.size(), std::size_t { 2 });
        QVERIFY(sent.ends[0].first && sent.ends[1].first);
        QCOMPARE(server.posts.size(), std::size_t { 4 });
        QVERIFY(server.posts[2].body.contains("in a") && server.posts[3].body.contains("in b"));
        QVERIFY(server.posts[2].ms - server.posts[1].ms >= 40 && server.posts[1].ms - server.posts[0].ms >= 20);
        QCOMPARE(sent.log.size(), 1);
        QVERIFY(sent.log[0].contains(QLatin1String("it answered 500; it is tried again")));
        QVERIFY(!sent.log[0].contains(QLatin1String("SECRET")));
        QCOMPARE(sent.channel.counts().undelivered, std::uint64_t { 0 });
    }

    void whoNeverAnswersHoldsNobodyUpForLong()
    {
        LocalHook server;
        server.answer = [](int n) { return n < 2 ? QByteArray() : LocalHook::ok(); };
        Webhook hook = hookAt(server.url());
        hook.timeoutS = 1;
        SentHook sent(hook, quickly(2));
        sent.channel.send(incidentAlert("a"));
        sent.channel.send(incidentAlert("b"));
        QTRY_COMPARE_WITH_TIMEOUT(sent.ends.size(), std::size_t { 2 }, 20'000);
        QVERIFY(!sent.ends[0].first && sent.ends[1].first);
        QCOMPARE(sent.ends[0].second, QStringLiteral("it did not answer within 1 s"));
        QCOMPARE(sent.channel.counts().undelivered, std::uint64_t { 1 });
        QVERIFY(sent.log.last().contains(QLatin1String("after 2 attempts")));
        QVERIFY(sent.log.last().contains(QLatin1String("not delivered so far: 1")));
        QVERIFY(sent.log.last().contains(QLatin1String("webhook team (http://127.0.0.1:")));
    }

    void whoAsksForAPauseGetsIt()
    {
        LocalHook server;
        server.answer
            = [](int n) { return n == 0 ? LocalHook::reply("429 Slow", "Retry-After: 1\r\n") : LocalHook::ok(); };
        SentHook sent(hookAt(server.url()), quickly());
        sent.channel.send(incidentAlert());
        QTRY_COMPARE_WITH_TIMEOUT(sent.ends.size(), std::size_t { 1 }, 20'000);
        QVERIFY(sent.ends[0].first);
        QVERIFY(server.posts[1].ms - server.posts[0].ms >= 999);
    }

    void whatIsRefusedIsNotTriedAgain_data()
    {
        QTest::addColumn<QByteArray>("answer");
        QTest::addColumn<QString>("said");
        QTest::newRow("gone") << LocalHook::reply("404 No", {}, "no_service") << QStringLiteral("404: no_service");
        QTest::newRow("moved") << LocalHook::reply("302 There", "Location: http://127.0.0.1:1/\r\n")
                               << QStringLiteral("302, that it has moved; give the new address");
    }
    void whatIsRefusedIsNotTriedAgain()
    {
        QFETCH(QByteArray, answer);
        QFETCH(QString, said);
        LocalHook server;
        server.answer = [&](int) { return answer; };
        SentHook sent(hookAt(server.url()), quickly());
        sent.channel.send(incidentAlert());
        QTRY_COMPARE(sent.ends.size(), std::size_t { 1 });
        QVERIFY(!sent.ends[0].first && sent.ends[0].second.contains(said));
        QCOMPARE(server.posts.size(), std::size_t { 1 });
        QCOMPARE(sent.channel.counts().undelivered, std::uint64_t { 1 });
        QVERIFY(!sent.log.join(u'\n').contains(QLatin1String("SECRET")));
    }

    void whoIsNotThereIsNamedWithoutItsAddress()
    {
        SentHook sent(hookAt("http://127.0.0.1:1/hook/SECRET?token=SECRET"), quickly(2));
        sent.channel.send(incidentAlert());
        QTRY_COMPARE_WITH_TIMEOUT(sent.ends.size(), std::size_t { 1 }, 20'000);
        QVERIFY2(
            sent.ends[0].second.startsWith(QLatin1String("it cannot be reached (")), qPrintable(sent.ends[0].second));
        QVERIFY(!sent.log.join(u'\n').contains(QLatin1String("SECRET")));
    }

    void whatDoesNotFitIsCountedAndSaid()
    {
        LocalHook server;
        server.answer = [](int) { return QByteArray(); };
        DeliveryQueue::Limits limits = quickly();
        limits.most = 2;
        SentHook sent(hookAt(server.url()), limits);
        for (int i = 0; i < 5; ++i)
            sent.channel.send(incidentAlert());
        QCOMPARE(sent.log.size(), 3);
        QVERIFY(sent.log.last().contains(QLatin1String("not delivered so far: 3")));
        sent.channel.giveUp("the program ends");
        QCOMPARE(sent.channel.counts().undelivered, std::uint64_t { 5 });
        QVERIFY(sent.log.last().startsWith(QLatin1String("2 alerts are not delivered to the webhook team")));
    }

    void aCommandGetsTheIncident()
    {
        const QTemporaryDir dir;
        const std::string out = dir.filePath(QStringLiteral("out")).toStdString();
        SentCommand sent({ "note", true,
                             { "/bin/sh", "-c", "{ echo \"$1\"; env | grep ^TELLTALE_ALERT_ | sort; cat; } > \"$0\"",
                                 out, "a b; $(touch x)" } },
            quickly());
        sent.channel.send(incidentAlert("my run"));
        QTRY_COMPARE(sent.ends.size(), std::size_t { 1 });
        QVERIFY2(sent.ends[0].first, qPrintable(sent.ends[0].second));
        QFile file(QString::fromStdString(out));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray said = file.readAll();
        QVERIFY2(said.startsWith("a b; $(touch x)\n"), said.constData());
        for (const char* line : { "\nTELLTALE_ALERT_RUN=my run\n", "\nTELLTALE_ALERT_RUN_ID=0123abcd\n",
                 "\nTELLTALE_ALERT_SEVERITY=critical\n", "\nTELLTALE_ALERT_STEP=40\n",
                 "\nTELLTALE_ALERT_SENTENCE=First abnormal: step 40 $(touch x); 'loss'\n" })
            QVERIFY2(said.contains(line), said.constData());
        QVERIFY(said.endsWith(QByteArray::fromStdString(incidentAlert("my run").toJson()) + '\n'));
        QVERIFY(!QFile::exists(QStringLiteral("x")));
    }

    void aCommandThatFailsIsSaid_data()
    {
        QTest::addColumn<QStringList>("argv");
        QTest::addColumn<QString>("said");
        const QString sh = QStringLiteral("/bin/sh");
        const QString c = QStringLiteral("-c");
        QTest::newRow("code") << QStringList { sh, c, QStringLiteral("echo no room >&2; exit 3") }
                              << QStringLiteral("it ended with 3: no room");
        QTest::newRow("late") << QStringList { sh, c, QStringLiteral("exec sleep 60") }
                              << QStringLiteral("it was ended, as it took more than 1 s");
        QTest::newRow("killed") << QStringList { sh, c, QStringLiteral("kill -9 $$") } << QStringLiteral("it crashed");
        QTest::newRow("none") << QStringList { QStringLiteral("/no/such/program") }
                              << QStringLiteral("it cannot be started (");
    }
    void aCommandThatFailsIsSaid()
    {
        QFETCH(QStringList, argv);
        QFETCH(QString, said);
        Command command { "note", true, {}, 1 };
        for (const QString& word : argv)
            command.argv.push_back(word.toStdString());
        SentCommand sent(command, quickly());
        sent.channel.send(incidentAlert());
        QTRY_COMPARE_WITH_TIMEOUT(sent.ends.size(), std::size_t { 1 }, 20'000);
        QVERIFY(!sent.ends[0].first);
        QVERIFY2(sent.ends[0].second.startsWith(said), qPrintable(sent.ends[0].second));
        QVERIFY(sent.log.last().contains(QLatin1String("the command note has not taken an alert after 1 attempt: it")));
        QCOMPARE(sent.channel.counts().undelivered, std::uint64_t { 1 });
    }

    void theDesktopShowsOneInAQuietTime()
    {
        QDBusServer bus(QStringLiteral("unix:tmpdir=/tmp"));
        bus.setAnonymousAuthenticationAllowed(true);
        QVERIFY(bus.isConnected());
        Notifications notifications;
        QObject::connect(&bus, &QDBusServer::newConnection, &notifications, [&](QDBusConnection connection) {
            connection.registerVirtualObject(QStringLiteral("/org/freedesktop/Notifications"), &notifications);
            m_peer = std::make_unique<QDBusConnection>(connection);
        });
        DesktopChannel channel(QDBusConnection::connectToPeer(bus.address(), QStringLiteral("peer-alerts")), 1s,
            [](const std::string&) {});
        std::vector<bool> told;
        QObject::connect(&channel, &DesktopChannel::told, this, [&](bool isDelivered) { told.push_back(isDelivered); });
        QTRY_VERIFY(m_peer);
        Alert first = incidentAlert("a<b>");
        first.incident.sentence = "in <b>";
        channel.send(first);
        QTRY_COMPARE(told, std::vector<bool> { true });
        QCOMPARE(notifications.shown[0].at(0).toString(), QStringLiteral("Telltale"));
        QCOMPARE(notifications.shown[0].at(3).toString(), QStringLiteral("Telltale: critical in a<b>"));
        QCOMPARE(notifications.shown[0].at(4).toString(), QStringLiteral("in &lt;b&gt;"));
        for (const char* run : { "b", "c", "d" })
            channel.send(incidentAlert(run));
        QCOMPARE(notifications.shown.size(), std::size_t { 1 });
        QTRY_COMPARE_WITH_TIMEOUT(notifications.shown.size(), std::size_t { 2 }, 20'000);
        QCOMPARE(notifications.shown[1].at(3).toString(), QStringLiteral("Telltale: 3 more incident(s)"));
        channel.send(incidentAlert("e")); // it is quiet again
        QTRY_COMPARE_WITH_TIMEOUT(notifications.shown.size(), std::size_t { 3 }, 20'000);
        QCOMPARE(notifications.shown[2].at(3).toString(), QStringLiteral("Telltale: critical in e"));

        // A click says which it was of, and what lets a window come to the front; the rest is nobody's or not of ours.
        QCOMPARE(notifications.shown[0].at(5).toStringList().value(0), QStringLiteral("default"));
        std::vector<std::pair<AlertPlace, QString>> clicks;
        QObject::connect(&channel, &DesktopChannel::clicked, this,
            [&](const AlertPlace& place, const QString& token) { clicks.emplace_back(place, token); });
        const auto say = [this](const char* what, const QVariantList& arguments) {
            QDBusMessage signal = QDBusMessage::createSignal(QStringLiteral("/org/freedesktop/Notifications"),
                QStringLiteral("org.freedesktop.Notifications"), QString::fromLatin1(what));
            signal.setArguments(arguments);
            QVERIFY(m_peer->send(signal));
        };
        const QString pressed = QStringLiteral("default");
        say("ActionInvoked", { 99U, pressed });
        say("ActionInvoked", { 1U, QStringLiteral("snooze") });
        say("ActivationToken", { 1U, QStringLiteral("token-1") });
        say("ActionInvoked", { 1U, pressed });
        say("NotificationClosed", { 1U, 2U });
        say("ActionInvoked", { 1U, pressed });
        say("ActivationToken", { 1U, QStringLiteral("token-2") });
        say("ActionInvoked", { 2U, pressed }); // several: the run of the first
        say("ActionInvoked", { 3U, pressed });
        QTRY_COMPARE(clicks.size(), std::size_t { 3 });
        QVERIFY((clicks[0] == std::pair(AlertPlace { "/runs/a<b>", 5 }, QStringLiteral("token-1"))));
        QVERIFY((clicks[1] == std::pair(AlertPlace { "/runs/b" }, QString())));
        QVERIFY((clicks[2] == std::pair(AlertPlace { "/runs/e", 5 }, QString())));
        // A test is of no run.
        channel.send(Alert::test(0));
        QTRY_COMPARE(told.size(), std::size_t { 4 });
        QVERIFY(notifications.shown[3].at(5).toStringList().isEmpty());
        m_peer.reset();
        QDBusConnection::disconnectFromPeer(QStringLiteral("peer-alerts"));
    }

private:
    std::unique_ptr<QDBusConnection> m_peer;
};

QTEST_GUILESS_MAIN(AlertSendTest)
#include "alertsendtest.moc"
