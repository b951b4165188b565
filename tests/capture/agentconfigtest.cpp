// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <cstring>
#include <string>

#include <telltale/agent/telltale_agent.h>

namespace agentconfigtest {

namespace {

QJsonObject read(const char* text, std::size_t length)
{
    char* json = tt_config_read(text, length);
    const auto document = QJsonDocument::fromJson(json);
    tt_free(json);
    return document.object();
}

QJsonObject read(const char* text)
{
    return read(text, std::strlen(text));
}

}

/// The config as a training process reads it: through the C ABI of libtelltale_agent.so.
class AgentConfigTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void aConfigGivesEveryFieldInForceAndEveryProblem()
    {
        const auto out = read(R"({"eps": "small", "ndigits": 8, "wg_distribution": true, // comment
            "cc_distribution": {"enable": true}, "telltale": {"threads": 3, "later": 1},})");
        QCOMPARE(out[QStringLiteral("ok")], QJsonValue(true));
        QVERIFY(out[QStringLiteral("error")].isNull());
        const auto config = out[QStringLiteral("config")].toObject();
        QCOMPARE(config[QStringLiteral("eps")].toDouble(), 1e-8);
        QCOMPARE(config[QStringLiteral("ndigits")].toInt(), 8);
        QCOMPARE(config[QStringLiteral("wg_distribution")], QJsonValue(true));
        QCOMPARE(config[QStringLiteral("mv_distribution")], QJsonValue(false));
        const auto comm = config[QStringLiteral("cc_distribution")].toObject();
        QCOMPARE(comm[QStringLiteral("enable")], QJsonValue(true));
        QCOMPARE(comm[QStringLiteral("cc_log_only")], QJsonValue(false));
        const auto own = config[QStringLiteral("telltale")].toObject();
        QCOMPARE(own[QStringLiteral("threads")].toInt(), 3);
        QCOMPARE(own[QStringLiteral("later")].toInt(), 1);
        const auto problems = out[QStringLiteral("problems")].toArray();
        QCOMPARE(problems.size(), 2);
        QCOMPARE(problems[0].toObject()[QStringLiteral("pointer")].toString(), QStringLiteral("/eps"));
        QCOMPARE(problems[0].toObject()[QStringLiteral("is_error")], QJsonValue(true));
        QVERIFY(problems[0].toObject()[QStringLiteral("sentence")].toString().contains(QStringLiteral("\"small\"")));
        QCOMPARE(problems[0].toObject()[QStringLiteral("instead")], QJsonValue(QStringLiteral("1e-08 is used")));
        QCOMPARE(problems[1].toObject()[QStringLiteral("instead")], QJsonValue(QString()));
        QCOMPARE(problems[1].toObject()[QStringLiteral("is_error")], QJsonValue(false));
    }

    void aTextThatIsNoConfigGivesTheDefaults()
    {
        for (const auto& out : { read("{"), read("[1]"), read(nullptr, 7), read("\xff\xfe") }) {
            QCOMPARE(out[QStringLiteral("ok")], QJsonValue(false));
            QVERIFY(!out[QStringLiteral("error")].toString().isEmpty());
            const auto config = out[QStringLiteral("config")].toObject();
            QCOMPARE(config[QStringLiteral("step_interval")].toInt(), 1);
            QCOMPARE(config[QStringLiteral("all_xy")], QJsonValue(true));
        }
    }

    void textThatIsNotUtf8IsToldAsUtf8()
    {
        const auto out = read("{\"targets\": {\"a\xff\": {}}}");
        QCOMPARE(out[QStringLiteral("ok")], QJsonValue(false));
    }

    void namesAndSlotsMatchAsTheConfigSays()
    {
        QCOMPARE(tt_target_matches("0:blocks.0", "module.blocks.0.attn"), 1);
        QCOMPARE(tt_target_matches("blocks.0", "blocks.01"), 0);
        QCOMPARE(tt_target_matches(nullptr, nullptr), 1);
        const tt_slot second { TT_ROLE_OUTPUT, 1, -1, -1, 0, nullptr, nullptr };
        QCOMPARE(tt_selects_slot(R"({"output": "tuple[2]:1"})", &second, 0), 1);
        QCOMPARE(tt_selects_slot(R"({"output": "tuple[2]:1"})", &second, 1), 0);
        QCOMPARE(tt_selects_slot(nullptr, &second, 1), 1);
    }

    void nothingIsFreedWithoutHarm() { tt_free(nullptr); }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, AgentConfigTest)

}

#include "agentconfigtest.moc"
