// SPDX-License-Identifier: GPL-3.0-or-later
// What parts without Qt say in English is known to the window in every form that their sources can make, and said in
// its language: a sentence that is new or worded anew fails here until its form, and its translation, are.
#include "testmain.h"

#include <cmath>

#include <QCoreApplication>
#include <QDirIterator>
#include <QElapsedTimer>
#include <QFile>
#include <QRegularExpression>
#include <QTemporaryDir>

#include "sourcepath.h"
#include <telltale/alerts/alertsettings.h>
#include <telltale/alerts/webhookwords.h>
#include <telltale/archive/runquery.h>
#include <telltale/common/eventmark.h>
#include <telltale/items/incidentwords.h>
#include <telltale/items/numbertext.h>
#include <telltale/items/saidwords.h>
#include <telltale/items/shownname.h>
#include <telltale/judge/incident.h>
#include <telltale/judge/rules.h>
#include <telltale/judge/wording.h>
#include <telltale/notify/alertsfile.h>
#include <telltale/notify/alertwords.h>
#include <telltale/store/logrecord.h>
#include <telltale/translations/translations.h>

namespace wordstest {

using namespace telltale;
using judge::Rule;
using notify::alertwords::problem;

namespace {

/// The texts in quotes of a C++ source; those that stand side by side are one.
QStringList literalsOf(const QString& path)
{
    QFile file(QString::fromStdString(telltale::test::sourcePath("")) + path);
    if (!file.open(QIODevice::ReadOnly))
        qFatal("there is no %s", qPrintable(path));
    static const QRegularExpression kToken(
        QStringLiteral(
            "//[^\\n]*|#include[^\\n]*|'(?:[^'\\\\\\n]|\\\\.)'|R\"\\((.*?)\\)\"|\"((?:[^\"\\\\\\n]|\\\\.)*)\"|\\S"),
        QRegularExpression::DotMatchesEverythingOption);
    QStringList all;
    bool isBeside = false;
    const QString source = QString::fromUtf8(file.readAll());
    for (auto at = kToken.globalMatch(source); at.hasNext();) {
        const auto match = at.next();
        const bool isText = match.hasCaptured(1) || match.hasCaptured(2);
        QString text = match.captured(1) + match.captured(2);
        if (match.hasCaptured(2))
            text.replace(QLatin1String("\\\""), QLatin1String("\""));
        if (isText && isBeside)
            all.back() += text;
        else if (isText)
            all.append(text);
        isBeside = isText;
    }
    return all;
}

/// Its words stand in one form, in their order.
bool isIn(const QString& literal, const std::vector<const char*>& forms)
{
    static const QRegularExpression kPlace(QStringLiteral(R"(\{[^}]*\}|\d+)"));
    return std::any_of(forms.begin(), forms.end(), [&](const char* text) {
        const QString form = QString::fromUtf8(text);
        qsizetype at = 0;
        for (const QString& part : literal.split(kPlace)) {
            at = form.indexOf(part, at);
            if (at < 0)
                return false;
            at += part.size();
        }
        return true;
    });
}

bool isChinese(const QString& text)
{
    return std::any_of(text.begin(), text.end(), [](QChar c) { return c.unicode() > 0x2E80; });
}

}

class WordsTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { QVERIFY(translations::install(*QCoreApplication::instance(), QStringLiteral("zh_CN"))); }

    void everySentenceOfTheSourcesIsKnown_data()
    {
        QTest::addColumn<bool>("isJudge");
        QTest::addColumn<int>("least");
        QTest::addColumn<QStringList>("others");
        const auto row = [](const char* path, bool isJudge, int least, const QStringList& others = {}) {
            QTest::newRow(path) << isJudge << least << others;
        };
        row("model/judge/wording.cpp", true, 20, { QStringLiteral("loss-scale") });
        row("model/judge/peerwords.cpp", true, 8, { QStringLiteral("noise-scale") });
        row("model/judge/attemptdiff.cpp", true, 4);
        row("model/judge/forecast.cpp", true, 1);
        // A rule's word, and what the window makes a sentence of itself.
        row("model/judge/cardwords.cpp", true, 8,
            { QStringLiteral("ranks"), QStringLiteral(", rank {}"),
                QStringLiteral("First abnormal: step {}{}, {}, {}: {}.{}") });
        row("model/alerts/alertdocument.cpp", false, 10);
        row("model/alerts/alertsettings.cpp", false, 4);
        row("model/alerts/webhookwords.cpp", false, 4);
        row("app/notify/alertsfile.cpp", false, 5);
        // Names in quotes stand for places.
        row("model/config/alertfields.cpp", false, 4, { QStringLiteral("\"AnomalyTurbulence\" or \"AnomalyNan\"") });
        row("model/config/fieldreader.cpp", false, 10);
        row("model/config/listfields.cpp", false, 4);
        row("model/config/parse.cpp", false, 8);
        row("model/config/runcheck.cpp", false, 4);
        row("model/config/targetfields.cpp", false, 4,
            { QStringLiteral("\"tensor\", \"tuple[2]\" or \"tuple[2]:0\"") });
        row("model/config/textfields.cpp", false, 0,
            { QStringLiteral("[] or two moments such as [\"Dec03_21-34-40\", \"Dec03_21-34-41\"]"),
                QStringLiteral("\"s,b,h,d\" or \"b,s,h,d\""), QStringLiteral("\"share\" or \"total\"") });
        row("app/notify/commandchannel.cpp", false, 5);
        row("app/notify/webhookchannel.cpp", false, 3, { QStringLiteral("application/json; charset=utf-8") });
    }
    void everySentenceOfTheSourcesIsKnown()
    {
        QFETCH(bool, isJudge);
        QFETCH(int, least);
        QFETCH(QStringList, others);
        static const QRegularExpression kWord(QStringLiteral("[a-z]{2}"), QRegularExpression::CaseInsensitiveOption);
        const bool isConfig = QByteArray(QTest::currentDataTag()).startsWith("model/config/");
        const auto forms = isJudge ? items::incidentwords::forms()
            : isConfig             ? items::saidwords::forms()
                                   : notify::alertwords::forms();
        int count = 0;
        for (const QString& literal : literalsOf(QString::fromLatin1(QTest::currentDataTag()))) {
            QString words = literal;
            words.remove(QRegularExpression(QStringLiteral(R"(\{[^}]*\})")));
            // The names of fields are single words.
            if (others.contains(literal) || !words.contains(kWord) || (!isJudge && !literal.contains(u' ')))
                continue;
            QVERIFY2(
                isIn(literal.startsWith(QLatin1String("; ")) ? literal.mid(2) : literal, forms), qPrintable(literal));
            ++count;
        }
        QVERIFY2(count >= least, qPrintable(QString::number(count))); // else they stand elsewhere now
    }

    void everyFormHasItsTranslation()
    {
        for (const auto& [context, forms] :
            { std::pair { "Incident", items::incidentwords::forms() },
                std::pair { "Alert", notify::alertwords::forms() }, std::pair { "Said", items::saidwords::forms() } }) {
            for (const char* form : forms) {
                const QString english = QString::fromUtf8(form);
                const QString text = QCoreApplication::translate(context, form);
                QVERIFY2(text != english || english.contains(QLatin1String("Inf in")), form);
                for (const char* place : { "%1", "%2", "%3", "%4", "%5" })
                    QVERIFY2(text.count(QLatin1String(place)) == english.count(QLatin1String(place)), form);
            }
        }
        for (int phase = 0; phase <= static_cast<int>(judge::Phase::Step); ++phase) {
            const QString word = items::incidentwords::phaseText(static_cast<judge::Phase>(phase));
            QVERIFY2(isChinese(word), qPrintable(word));
        }
    }

    /// Whatever a rule of the table says of a row, however its numbers are.
    void whatEveryRuleSeesIsSaid()
    {
        int count = 0;
        for (const Kind kind : { Kind::Scalar, Kind::GradReduced }) {
            const series::RowIndex rows(series::RowIndex(), 1, [kind](std::size_t) {
                return series::RowIndex::Measured { { "layers.1.fc.weight", {} }, SeriesId { 1 }, kind, Rank { 0 } };
            });
            judge::Watchlist list;
            list.rows.push_back({ kind });
            list.rollups.push_back({ kind, "layers.1", 1 });
            for (const judge::RuleInfo& info : judge::ruleTable()) {
                for (const auto state :
                    { series::CellState::NaN, series::CellState::PosInf, series::CellState::NegInf }) {
                    for (const double value : { 0.5, 8.0 }) {
                        for (const std::int64_t lasted : { 1, 5 }) {
                            judge::Sighting sighting;
                            sighting.rule = info.rule;
                            sighting.row = sighting.rollup = 0;
                            sighting.state = state;
                            sighting.value = value;
                            sighting.expected = 2;
                            sighting.z = 7;
                            sighting.growth = 0.1;
                            sighting.lasted = lasted;
                            const auto finding = judge::witnessOf(rows, list, sighting, Step { 9 }).finding;
                            if (finding.sentence.empty()) // found by comparing ranks or attempts
                                continue;
                            ++count;
                            QVERIFY2(isChinese(items::incidentwords::seen(finding)), finding.sentence.c_str());
                        }
                    }
                }
            }
        }
        QVERIFY(count >= 15 * 24);
    }

    /// Each form is one that agents, the store or a filter can still say: its words stand in their sources.
    void everyFormIsSaidSomewhere()
    {
        QString all;
        for (const char* folder : { "app/main", "capture/agent/python/telltale", "capture/agent/torch",
                 "capture/server", "model/archive", "model/config", "model/core", "model/judge", "model/store" }) {
            QDirIterator files(QString::fromStdString(telltale::test::sourcePath("")) + QLatin1String(folder),
                { QStringLiteral("*.py"), QStringLiteral("*.cpp"), QStringLiteral("*.h") }, QDir::Files,
                QDirIterator::Subdirectories);
            while (files.hasNext()) {
                QFile file(files.next());
                QVERIFY(file.open(QIODevice::ReadOnly));
                all += QString::fromUtf8(file.readAll());
            }
        }
        // Texts side by side are one, and what stands between them in C++ is a place as well.
        all.replace(QRegularExpression(QStringLiteral("\"\\s*\\n\\s*f?\"")), QString());
        all.replace(QLatin1String("\\\""), QLatin1String("\""));
        all.replace(QLatin1String("top_left"), QLatin1String("top left"));
        all.replace(QLatin1String("bottom_right"), QLatin1String("bottom right"));
        QVERIFY(all.size() > 1'000'000);
        static const QRegularExpression kPlace(QStringLiteral("%\\d|(?= of each of )|: |; "));
        int count = 0;
        for (const char* form : items::saidwords::forms()) {
            if (QString::fromUtf8(form) == QLatin1String("missing closing parenthesis"))
                break; // from here on PCRE2's
            ++count;
            for (const QString& part : QString::fromUtf8(form).split(kPlace, Qt::SkipEmptyParts))
                QVERIFY2(all.contains(part.trimmed()), qPrintable(QString::fromUtf8(form) + u'\n' + part));
        }
        QVERIFY(count > 100);
    }

    void whatAgentsStoresAndFiltersSayIsSaid()
    {
        using items::saidwords::inLanguage;
        const auto chinese = [](const char* english) {
            QString text = inLanguage(QString::fromUtf8(english));
            // Names and values stay.
            static const QRegularExpression kEnglish(
                QStringLiteral("\\b(the|is|was|it|has|not|because|cannot|choose)\\b"));
            return isChinese(text) && !text.contains(kEnglish) ? QString() : text;
        };
        for (const char* english :
            { "not observed: attention of blocks.0.attn, because it neither calls scaled_dot_product_attention nor is "
              "called with queries and keys",
                "not observed: linear of head, because it has no weight matrix",
                "mean over all 32 queries of each of 4 sequences, causal (top left)",
                "mean over 64 of 2048 queries, causal (bottom right), masked", "mean over all 8 queries",
                "share of a query's attention, mean over the queries of a row, sum over the keys of a column; first "
                "sequence; every 4th query, causal (bottom right)",
                "another Telltale (process 12) writes to /data; close it, or use another data directory",
                "moe-4rank: layers 3: stored values are damaged and left out",
                "quantifier does not follow a repeatable item",
                "attention is switched off after 3 internal errors; training goes on",
                "rank 9 does not exist; this run has ranks 0 to 3", "rank 9 does not exist; this run has only rank 0",
                "/ops is 7; it must be a list of operation names",
                "/step_interval is \"x\"; it must be a whole number from 1 to 100",
                "the operation \"nrm\" is unknown; did you mean \"norm\"?",
                "revision 2 of the config for all ranks, from step 1106 on", "takes over revision 2 of the config",
                "runs revision 2 of the config", "was past step 9 when revision 2 of the config came",
                "refuses revision 2 of the config: it was past the step 3 times",
                "nothing is collected from this step on: 100 steps are collected, as collect_times asks",
                "nothing is collected from this step on: dynamic_on is false in the changed config",
                "nothing is collected from this step on: collect_times is 0 in the changed config",
                "the changed config is in force from this step",
                "\"layers.9\" matches nothing in this model; did you mean \"layers.0\"?",
                "telltale-demo-trainer is neither beside telltale nor on the PATH; build it (it needs LibTorch: "
                "libtorch-dev) or put it there" })
            QVERIFY2(chinese(english).isEmpty(), qPrintable(chinese(english)));
        QVERIFY(
            isChinese(inLanguage(QString::fromStdString(judge::judgedEvent({ { Step { 0 }, Step { 9 } } }, 0).text))));
        store::LogRecord stopped;
        stopped.kind = "config";
        stopped.text = "nothing is collected from this step on: dynamic_on is false in the changed config";
        const views::EventMark flag = views::EventMark::of(stopped).value_or(views::EventMark {});
        QVERIFY(isChinese(flag.label) && isChinese(flag.brief) && flag.label.startsWith(flag.brief));
        QVERIFY(inLanguage(QStringLiteral("another Telltale (process 14359) writes to /d"))
                    .contains(QLatin1String("14359")));
        for (const char* line : { "state:odd", "since:never", "config:x", "severity:low" }) {
            const auto query = archive::RunQuery::parse(line, 0);
            if (!query)
                QVERIFY2(chinese(query.error().sentence().c_str()).isEmpty(), query.error().sentence().c_str());
        }
        for (const char* pattern : { "(", ")", "[a", "*a", "a\\", "[b-a]", "a{3,2}", "(?z)", "\\2" }) {
            const QString error = QRegularExpression(QString::fromUtf8(pattern)).errorString();
            QVERIFY2(isChinese(inLanguage(error)), qPrintable(error));
        }
        for (const char* other : { "", "blocks.0 says hello", "100 % done; no more", "a: b: c", "已经是中文" })
            QCOMPARE(inLanguage(QString::fromUtf8(other)), QString::fromUtf8(other));
    }

    /// A log of many lines in the gui thread.
    void whatIsUnknownCostsLittle()
    {
        const QString unknown = QStringLiteral("rank 3: step 12: something that nobody knows: and more; of it");
        QElapsedTimer timer;
        timer.start();
        for (int i = 0; i < 1000; ++i)
            QCOMPARE(items::saidwords::inLanguage(unknown), unknown);
        QVERIFY2(timer.elapsed() < 1000, qPrintable(QString::number(timer.elapsed())));
    }

    /// A card and the view beside it write the same number alike.
    void aCardWritesNumbersAsViewsDo()
    {
        judge::Finding finding;
        const auto said = [&finding](const std::string& sentence) {
            finding.sentence = sentence;
            return items::incidentwords::seen(finding);
        };
        for (const double value : { 1.5e-7, -0.2512, 12345.678, 99999.4, 99999.6, 3.1416e12, 0.0, -2e-4, 0.0123456,
                 9999.4, double(NAN), -double(INFINITY) }) {
            const QString text = said("fell from 8 to " + judge::numberText(value));
            QVERIFY2(text.contains(items::formatValue(value)), qPrintable(text));
        }
        QVERIFY(said("computes 12.5 % longer than the other rank (z 7)").contains(QStringLiteral("12.5 ")));
        QVERIFY(said("fell from 8 to -1.5e-07").contains(QStringLiteral("\u22121.5e-7")));
        QVERIFY(said("3 of 37748736 elements").contains(QStringLiteral("37\u202F748\u202F736")));
        QVERIFY(said("NaN in 1 of 81,920 elements").contains(QStringLiteral("81\u202F920"))
            || said("1 of 81,920 elements").contains(QStringLiteral("81\u202F920")));
        QVERIFY(said("only rank 3 of 8 was abnormal").contains(u'8'));
        finding.step = Step { 31215 };
        QVERIFY(items::incidentwords::moment(finding, false).contains(items::formatStep(31215)));
        for (const char* name : { "layers.3", "1.2.3", "7 of 8", "", "-", "0x10", "1e", "infinite" })
            QCOMPARE(items::reformatNumber(QString::fromUtf8(name)), QString::fromUtf8(name));
    }

    void aNameInAnotherScriptStandsApart()
    {
        judge::Finding finding;
        finding.sentence = "computes 43 % longer than the other rank (z 10)";
        QVERIFY(items::incidentwords::seen(finding).contains(QStringLiteral("rank 长")));
        finding.sentence = "computes 43 % longer than the median of 4 ranks that do the same (z 10)";
        QVERIFY(items::incidentwords::seen(finding).contains(QStringLiteral("中位数长")));
    }

    /// Of what is no tensor's no pass is named: the step is in its moment.
    void aTimeIsOfNoPass()
    {
        judge::Incident incident;
        incident.phase = judge::Phase::Step;
        incident.first.step = Step { 253 };
        incident.first.rank = Rank { 1 };
        incident.first.name = "forward_cpu_ms";
        incident.first.sentence = "computes 43 % longer than the other rank (z 10)";
        incident.sentence
            = "First abnormal: step 253, rank 1, forward_cpu_ms, step: computes 43 % longer than the other "
              "rank (z 10).";
        const QString card = items::incidentwords::card(incident);
        const QString place = QStringLiteral("forward_cpu_ms");
        QVERIFY2(card.contains(place + QStringLiteral(": ")) || card.contains(place + u'\uFF1A'), qPrintable(card));
    }

    void aCardNamesTheMicroStep()
    {
        judge::Incident incident;
        incident.first.name = "layers.1.fc.weight";
        incident.first.microStep = 2;
        incident.first.sentence = "an element is NaN";
        incident.sentence = "First abnormal: step 0, layers.1.fc.weight (micro step 2), forward: an element is NaN.";
        const QString card = items::incidentwords::card(incident);
        QVERIFY2(card.contains(QStringLiteral("layers.1.fc.weight µ2")) && !card.contains(QStringLiteral("micro")),
            qPrintable(card));
    }

    void theWholeModelIsSaidWhereverATensorIsNamed()
    {
        QCOMPARE(items::shownName(QStringLiteral("(model)")), QStringLiteral("（模型）"));
        QCOMPARE(items::shownTensor(QStringLiteral("(model)"), Slot::input()), QStringLiteral("（模型） input"));
    }

    void whatReceiversAnswerIsSaid()
    {
        using alerts::judgeAnswer;
        using alerts::Shape;
        const auto answer
            = [](const std::string& english) { return notify::alertwords::answer(QString::fromStdString(english)); };
        for (const int status : { 200, 302, 403, 404, 429, 500 }) {
            for (const Shape shape : alerts::kShapes) {
                for (const char* body : { "", "no_service; ask", "{\"errcode\": 3}", "{\"code\":1,\"msg\":\"why\"}" }) {
                    const std::string english = judgeAnswer(shape, status, body).sentence;
                    QVERIFY2(isChinese(answer(english)), english.c_str());
                    QVERIFY2(!answer(english).contains(QLatin1String("answered")), english.c_str());
                }
            }
        }
        QCOMPARE(answer("it answered 403: no_service"), QStringLiteral("对方回应 403：no_service"));
        QCOMPARE(answer("it did not answer within 10 s"), QStringLiteral("10 秒内没有回应"));
        QVERIFY(answer("it refused with 310000 (keywords not in content)").contains(QStringLiteral("（keywords")));
        QCOMPARE(notify::alertwords::receiver(QStringLiteral("webhook team (https://h/…)")),
            QStringLiteral("Webhook team (https://h/…)"));
        QCOMPARE(answer("it hums"), QStringLiteral("it hums"));
    }

    void whatIsWrongWithTheFileIsSaid()
    {
        const QTemporaryDir dir;
        const auto said = [&dir](const char* text) {
            QFile file(dir.filePath(QStringLiteral("alerts.json")));
            if (!file.open(QIODevice::WriteOnly) || file.write(text) < 0)
                return QString();
            file.close();
            const auto settings = notify::loadAlerts(dir.path().toStdString());
            return settings ? QString() : problem(QString::fromStdString(settings.error().sentence()));
        };
        for (const char* text : { "{", "[]", R"({"severity": "loud"})", R"({"settle_s": -1})", R"({"x": 1})",
                 R"({"console": 3})", R"({"console": {"on": 3}})", R"({"webhooks": 3})",
                 R"({"webhooks": [{"url": "x"}]})", R"({"webhooks": [{"url": ""}]})",
                 "{\"webhooks\": [{\"url\": \"http://a b\"}]}", "{\"webhooks\": [{\"url\": \"http://\"}]}",
                 "{\"webhooks\": [{\"url\": \"http://a\", \"template\": \"x\", \"secret\": \"s\"}]}",
                 "{\"webhooks\": [{\"url\": \"http://a\", \"name\": 3}]}", R"({"commands": [{"argv": []}]})" }) {
            QString words = said(text);
            QVERIFY2(words.startsWith(dir.path()) && isChinese(words), qPrintable(words));
            // What is left in English are names and values.
            words.remove(dir.path()).remove(QRegularExpression(QStringLiteral("\"[^\"]*\"|'[^']*'")));
            QVERIFY2(!words.contains(QRegularExpression(QStringLiteral("\\b(the|must|is|be|it|has|there|to)\\b"))),
                qPrintable(words));
        }
        QCOMPARE(said(R"({"severity": "loud", "x": 1})"),
            dir.filePath(QStringLiteral("alerts.json"))
                + QStringLiteral(": “severity”必须是 warning 或 critical; 没有“x”"));
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, WordsTest)

}

#include "wordstest.moc"
