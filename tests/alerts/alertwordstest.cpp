// SPDX-License-Identifier: GPL-3.0-or-later
// What alerts.json may say, what is posted to whom, what an answer means, and when something is told again.
#include <QtTest>

#include <nlohmann/json.hpp>

#include <telltale/alerts/webhookwords.h>

using namespace telltale;
using namespace telltale::alerts;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

Alert sampleAlert()
{
    Alert alert { "0123abcd", "gpt <small> & \"co\"\n", "/runs/x.telltale", 1'700'000'000'000'000'000, {} };
    alert.incident.id = 7;
    alert.incident.first = { "nonfinite", store::Severity::Critical, Step { 40 }, Rank { 1 }, Kind::Actv,
        "layers.3.mlp", "output", Stat::Norm, "is NaN" };
    alert.incident.sentence = "First abnormal: step 40, rank 1, <at user_id=\"all\"> layers.3.mlp\x1b[31m";
    return alert;
}

/// JSON with the quotes that C++ has for characters.
std::string quoted(std::string text)
{
    std::replace(text.begin(), text.end(), '\'', '"');
    return text;
}

std::string problemsOf(const std::string& text)
{
    const auto settings = AlertSettings::fromJson(text);
    return settings ? std::string() : settings.error().what;
}

}

class AlertWordsTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void whatIsNotSaidIsOffButTheDesktops()
    {
        const auto settings = AlertSettings::fromJson("{}");
        QVERIFY(settings && *settings == AlertSettings {});
        QVERIFY(settings->isDesktopOn && !settings->isConsoleOn && settings->webhooks.empty()
            && settings->commands.empty());
    }

    void whatIsWrittenIsRead()
    {
        AlertSettings settings;
        settings.least = store::Severity::Critical;
        settings.settleS = 0;
        settings.isDesktopOn = false;
        settings.desktopQuietS = 5;
        settings.isConsoleOn = true;
        settings.webhooks = { { "team", false, "https://oapi.dingtalk.com/robot/send?access_token=abc", Shape::DingTalk,
            "SEC1", 3, 7 } };
        settings.commands = { { "note", true, { "/bin/note", "a b" }, 9 } };
        const auto read = AlertSettings::fromJson(settings.toJson());
        QVERIFY2(read, read ? "" : read.error().what.c_str());
        QVERIFY(*read == settings);
        // The schema knows the same fields.
        const json schema = json::parse(AlertSettings::schema());
        const json document = json::parse(settings.toJson());
        for (const auto& [name, value] : document.items())
            QVERIFY2(schema["properties"].contains(name), name.c_str());
        for (const char* list : { "webhooks", "commands" }) {
            for (const auto& [name, value] : document[list][0].items())
                QVERIFY2(schema["properties"][list]["items"]["properties"].contains(name), name.c_str());
        }
    }

    void eachHasANameOfItsOwn()
    {
        const auto settings = AlertSettings::fromJson(quoted("{'webhooks': [{'url': 'http://a', 'template': 'slack'}, "
                                                             "{'url': 'http://b', 'template': 'slack'}, "
                                                             "{'url': 'http://c', 'name': 'slack'}], "
                                                             "'commands': [{'argv': ['/bin/true', 'x']}]}"));
        QVERIFY2(settings, settings ? "" : settings.error().what.c_str());
        QCOMPARE(settings->webhooks[0].name, std::string("slack"));
        QCOMPARE(settings->webhooks[1].name, std::string("slack 2"));
        QCOMPARE(settings->webhooks[2].name, std::string("slack 3"));
        QCOMPARE(settings->commands[0].name, std::string("true"));
    }

    void everyProblemIsSaid()
    {
        const std::string said = problemsOf(
            quoted("{'severity': 'notice', 'settle_s': -1, 'desktop': {'on': 1, 'loud': 2},"
                   "            'webhooks': [{'url': 'ftp://secret.example/SECRET'}, {'url': 'https://h/x', "
                   "'template': 'teams', 'secret': 4},"
                   "                {'url': 'https://h/x y'}, {'on': false}, {'url': 'http://', 'timeout_s': 0}],"
                   "            'commands': [{'argv': 'rm -rf'}, 7], 'color': 'red'}"));
        for (const char* part : { "\"severity\" must be warning or critical", "\"settle_s\" must be a whole number",
                 "\"desktop.on\" must be true or false", "there is no \"desktop.loud\"",
                 "\"webhooks[0].url\" cannot be posted to: the address must begin with https://",
                 "\"webhooks[1].template\" must be generic, slack", "\"webhooks[1].secret\" must be a text",
                 "\"webhooks[2].url\" cannot be posted to: the address has a blank",
                 "\"webhooks[4].url\" cannot be posted to: the address has no host", "\"webhooks[4].timeout_s\" must",
                 "\"commands[0].argv\" must be the program and its words", "\"commands[1]\" must be an object",
                 "there is no \"color\"" })
            QVERIFY2(said.find(part) != std::string::npos, (part + std::string(" is not in ") + said).c_str());
        QVERIFY(said.find("SECRET") == std::string::npos);
        QVERIFY(said.find("webhooks[3]") == std::string::npos); // it is off
        QVERIFY(problemsOf("{").find("no JSON") != std::string::npos);
        QVERIFY(problemsOf("[]").find("\"the document\" must be an object") != std::string::npos);
        const std::string many = quoted("{'webhooks': [") + std::string(17, '0').replace(0, 17, "0,0,0,0,0,0,0,0,0")
            + ",0,0,0,0,0,0,0,0]}";
        QVERIFY(problemsOf(many).find("at most 16") != std::string::npos);
    }

    void nobodyIsShownASecret()
    {
        QCOMPARE(shownUrl("https://hooks.slack.com/services/T0/B0/XYZ"), std::string("https://hooks.slack.com/…"));
        QCOMPARE(shownUrl("https://user:pw@h:8443?token=XYZ"), std::string("https://h:8443/…"));
        QVERIFY(shownUrl("XYZ-no-address").find("XYZ") == std::string::npos);
        AlertSettings settings;
        settings.webhooks = { { "a", true, "https://h/XYZ?k=XYZ", Shape::Feishu, "XYZ" } };
        settings.commands = { { "b", true, { "/bin/b", "--password=XYZ" } } };
        QVERIFY2(settings.toShownJson().find("XYZ") == std::string::npos, settings.toShownJson().c_str());
        QVERIFY(settings.toJson().find("XYZ") != std::string::npos);
    }

    void eachServiceGetsItsOwnBody()
    {
        const std::string text
            = "Telltale: critical in gpt <small> & \\\"co\\\"\\\\u000a\\n"
              "First abnormal: step 40, rank 1, <at user_id=\\\"all\\\"> layers.3.mlp\\\\u001b[31m\\n"
              "More: telltale incidents 0123abcd";
        const auto with = [&text](const char* from, const char* to) {
            return QString::fromStdString(text).replace(QLatin1String(from), QString::fromUtf8(to)).toStdString();
        };
        const Alert alert = sampleAlert();
        std::string slack = QString::fromStdString(text)
                                .replace(QLatin1Char('&'), QLatin1String("&amp;"))
                                .replace(QLatin1Char('<'), QLatin1String("&lt;"))
                                .replace(QLatin1Char('>'), QLatin1String("&gt;"))
                                .toStdString();
        QCOMPARE(webhookBody(Shape::Slack, alert), "{\"text\":\"" + slack + "\"}");
        const std::string feishu = with("<", "＜");
        QCOMPARE(webhookBody(Shape::Feishu, alert), quoted("{'msg_type':'text','content':{'text':'") + feishu + "\"}}");
        QCOMPARE(webhookBody(Shape::Feishu, alert, { "1599360473", "abc=" }),
            quoted("{'timestamp':'1599360473','sign':'abc=','msg_type':'text','content':{'text':'") + feishu + "\"}}");
        QCOMPARE(webhookBody(Shape::DingTalk, alert), quoted("{'msgtype':'text','text':{'content':'") + text + "\"}}");
        const json generic = json::parse(webhookBody(Shape::Generic, alert));
        QCOMPARE(generic["telltale"].get<int>(), 1);
        QCOMPARE(generic["event"].get<std::string>(), std::string("incident"));
        QCOMPARE(generic["time"].get<std::string>(), std::string("2023-11-14T22:13:20Z"));
        QCOMPARE(generic["severity"].get<std::string>(), std::string("critical"));
        QCOMPARE(generic["run"]["id"].get<std::string>(), alert.runId);
        QCOMPARE(generic["run"]["name"].get<std::string>(), alert.runName);
        QCOMPARE(generic["text"].get<std::string>(), alert.text());
        QVERIFY(generic["incident"] == json::parse(judge::toJson(alert.incident)));
        QCOMPARE(
            json::parse(webhookBody(Shape::Generic, Alert::test(1)))["event"].get<std::string>(), std::string("test"));
    }

    void aLongSentenceIsCutAtACharacter()
    {
        Alert alert = sampleAlert();
        alert.incident.sentence = "x";
        for (int i = 0; i < 3000; ++i)
            alert.incident.sentence += "层";
        const json body = json::parse(webhookBody(Shape::DingTalk, alert));
        const auto text = body["text"]["content"].get<std::string>();
        QVERIFY(text.size() < 2400 && text.find("\xEF\xBF\xBD") == std::string::npos);
    }

    void anAnswerMeansWhatTheServiceMeans_data()
    {
        QTest::addColumn<int>("shape");
        QTest::addColumn<int>("status");
        QTest::addColumn<QByteArray>("body");
        QTest::addColumn<int>("verdict");
        const auto row = [](const char* name, Shape shape, int status, const char* body, Verdict verdict) {
            QTest::newRow(name) << static_cast<int>(shape) << status << QByteArray::fromStdString(quoted(body))
                                << static_cast<int>(verdict);
        };
        row("good", Shape::Generic, 204, "", Verdict::Delivered);
        row("slack", Shape::Slack, 200, "ok", Verdict::Delivered);
        row("slack: gone", Shape::Slack, 404, "no_service", Verdict::Refused);
        row("broken", Shape::Slack, 502, "", Verdict::Again);
        row("too often", Shape::Generic, 429, "", Verdict::Again);
        row("moved", Shape::Generic, 302, "", Verdict::Refused);
        row("feishu", Shape::Feishu, 200, "{'code':0,'msg':'success'}", Verdict::Delivered);
        row("feishu, old", Shape::Feishu, 200, "{'StatusCode':0,'StatusMessage':'success'}", Verdict::Delivered);
        row("feishu: sign", Shape::Feishu, 200, "{'code':19021,'msg':'sign match fail'}", Verdict::Refused);
        row("feishu: too often", Shape::Feishu, 200, "{'code':11232,'msg':'frequency limited'}", Verdict::Again);
        row("dingtalk", Shape::DingTalk, 200, "{'errcode':0,'errmsg':'ok'}", Verdict::Delivered);
        row("dingtalk: keyword", Shape::DingTalk, 200, "{'errcode':310000,'errmsg':'keywords not in content'}",
            Verdict::Refused);
        row("dingtalk: too often", Shape::DingTalk, 200, "{'errcode':130101,'errmsg':'send too fast'}", Verdict::Again);
        row("dingtalk: a page", Shape::DingTalk, 200, "<html>", Verdict::Refused);
    }
    void anAnswerMeansWhatTheServiceMeans()
    {
        QFETCH(int, shape);
        QFETCH(int, status);
        QFETCH(QByteArray, body);
        QFETCH(int, verdict);
        const WebhookAnswer answer = judgeAnswer(static_cast<Shape>(shape), status, body.toStdString());
        QCOMPARE(static_cast<int>(answer.verdict), verdict);
        QVERIFY(answer.sentence.starts_with("it "));
    }

    void whatFailsIsTriedAgainWithGrowingPauses()
    {
        DeliveryQueue queue({ 2, 1000, 3, 2s, 5s, 60s });
        DeliveryQueue::Time now {};
        now += 1h;
        QVERIFY(!queue.due());
        QVERIFY(queue.push(sampleAlert()) && queue.push(Alert::test(1)));
        QVERIFY(!queue.push(sampleAlert())); // it is full
        QCOMPARE(queue.counts().undelivered, std::uint64_t { 1 });
        QVERIFY(queue.begin(now) && !queue.begin(now) && !queue.due());
        QVERIFY(!queue.finished(Verdict::Again, now));
        QVERIFY(!queue.begin(now + 1999ms));
        QVERIFY(queue.begin(now += 2s));
        QVERIFY(!queue.finished(Verdict::Again, now));
        QVERIFY(*queue.due() == now + 4s);
        QVERIFY(queue.begin(now += 4s));
        QVERIFY(queue.finished(Verdict::Again, now)); // the third is the last
        QCOMPARE(queue.counts().undelivered, std::uint64_t { 2 });
        const Alert* next = queue.begin(now);
        QVERIFY(next && next->isTest);
        QVERIFY(!queue.finished(Verdict::Again, now, 30s)); // it asked for more
        QVERIFY(*queue.due() == now + 30s);
        QVERIFY(queue.begin(now += 30s));
        QVERIFY(queue.finished(Verdict::Delivered, now));
        QCOMPARE(queue.counts().delivered, std::uint64_t { 1 });
        QVERIFY(!queue.due());
    }

    void noMoreThanSoManyAMinute()
    {
        DeliveryQueue queue({ 64, 3, 8, 2s, 5s, 60s });
        DeliveryQueue::Time now {};
        now += 1h;
        for (int i = 0; i < 7; ++i)
            QVERIFY(queue.push(sampleAlert()));
        int told = 0;
        for (int second = 0; second < 120; ++second) {
            while (queue.begin(now + std::chrono::seconds(second))) {
                ++told;
                queue.finished(Verdict::Delivered, now + std::chrono::seconds(second));
            }
            QCOMPARE(told, second < 60 ? 3 : 6);
        }
        QCOMPARE(queue.dropAll(), std::size_t { 1 });
        QCOMPARE(queue.counts().undelivered, std::uint64_t { 1 });
    }
};

QTEST_GUILESS_MAIN(AlertWordsTest)
#include "alertwordstest.moc"
