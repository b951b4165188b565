// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest/QtTest>

#include <cctype>
#include <random>

#include <telltale/protocol/codec.h>
#include <telltale/protocol/datarules.h>
#include <telltale/protocol/joinstring.h>
#include <telltale/protocol/limits.h>
#include <telltale/protocol/utf8.h>
#include <telltale/protocol/wiretables.h>

using namespace telltale;
using namespace telltale::protocol;

namespace {

Hello fullHello()
{
    Hello hello;
    hello.protoMin = 1;
    hello.protoMax = 3;
    hello.capabilities = { "config", "" };
    hello.runKey = "run";
    hello.runName = "nächster Versuch 运行";
    hello.keySource = "SLURM_JOB_ID";
    hello.agentId = "node1/3/trainer";
    hello.host = "node1";
    hello.role = "trainer";
    hello.incarnation = 0xFEDCBA9876543210u;
    hello.restartCount = 2;
    hello.rank = 3;
    hello.worldSize = 8;
    hello.dp = 1;
    hello.tp = 0;
    hello.pp = -1;
    hello.ep = 7;
    hello.framework = "libtorch 1.13.1";
    hello.agentVersion = "0.1.0";
    hello.pid = 4711;
    hello.device = "cuda:0";
    hello.firstRetainedSeq = 17;
    hello.nextSeq = UINT64_MAX;
    hello.clocks = { 5, -6 };
    hello.configHash = "ab12";
    hello.remoteConfigAllowed = true;
    hello.proof = "\xff not text";
    return hello;
}

RunSteering fullSteering()
{
    RunSteering out { "id", 3, "{}", "somebody", 120, 99, { Rank { 1 } }, {} };
    for (const auto state : { RankSteering::State::None, RankSteering::State::Refused, RankSteering::State::Lost })
        out.ranks.push_back({ Rank { 1 }, "host", state, 3, 121, -1, "why", 2, "{\"ops\":[\"norm\"]}" });
    return out;
}

std::vector<Message> allMessages()
{
    Heartbeat heartbeat;
    heartbeat.clocks = { INT64_MIN, INT64_MAX };
    heartbeat.seq = 9;
    heartbeat.ringBytes = 1;
    heartbeat.spoolBytes = 2;
    heartbeat.dropsByClass = { 0, 1, 2, 3, UINT64_MAX };
    heartbeat.producedSamples = 12;
    heartbeat.cost = { 1, UINT64_MAX, 3 };
    heartbeat.thinning = { UINT64_MAX, 5 };
    heartbeat.nextStep = INT64_MAX;
    return { fullHello(), Hello {}, Welcome { 1, { "a" }, "store", 4, 5, 6, 7, 8, 9 },
        Batch { 1, 2, 0xDEADBEEF, std::string("\0\xFF payload", 10) }, Batch {},
        Ack { 3, 4, 5, { { 1, "unknown kind" }, { 2, "" } } }, Nack { 7 }, heartbeat, Heartbeat {},
        ConfigOffer { 1, "{\"targets\":{}}", "h", -1 }, ConfigStatus { 1, 2, "over budget", 100, "h", "" },
        ConfigStatus { 0, configstatus::kInForce, "config.json was edited", -1, "h", "{\"ops\":[\"norm\"]}" },
        Bye { "finished", 1500, 33 }, Knock { std::string(32, '\xff') }, Challenge { std::string(32, 0), "\xc3 bytes" },
        ControlHello { 1, 2, "program", "\xc3 bytes" }, ImportRun { "run.telltale", 1ull << 40 },
        RunPart { std::string("\0\xff", 2) }, RunTaken { 7 }, FindStream { fullHello() },
        ControlReply { "what", "todo", "id", "/a/b", { "x", "y" }, "token" }, ConfigAsk { "job", 7, 0 },
        NoteWrite { "a1b2", { Step { 4 }, Step { 9 } }, "node 7 came back", "somebody", 12, 34, true },
        ConfigAsk { "job", 0, -1 }, ConfigPush { { "job", "{}", { Rank { 0 }, Rank { 3 } }, 120, "somebody" } },
        ConfigState { fullSteering() }, ConfigState {}, RecorderAsk { "an incident" }, RecorderAsk {},
        Notice { "critical: it is NaN" }, Notice {} };
}

std::string varint(std::uint64_t value)
{
    std::string out;
    for (; value >= 0x80; value >>= 7)
        out.push_back(static_cast<char>(value | 0x80u));
    out.push_back(static_cast<char>(value));
    return out;
}

std::string field(unsigned number, std::string_view inner)
{
    return varint(number << 3 | 2u) + varint(inner.size()) + std::string(inner);
}

std::string repeated(std::string_view part, std::size_t bytes)
{
    std::string out;
    while (out.size() + part.size() <= bytes)
        out.append(part);
    return out;
}

}

class ProtocolTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void theProtoNamesKindsAndStatisticsAsTheTableDoes()
    {
        const auto constantOf = [](const char* prefix, std::string_view word) {
            std::string text(prefix);
            for (const char c : word)
                text += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
            return text;
        };
        for (int i = 0; i < kKindCount; ++i)
            QCOMPARE(wire::Kind_Name(static_cast<wire::Kind>(i)), constantOf("KIND_", kindName(static_cast<Kind>(i))));
        for (int i = 0; i < kStoredStatCount; ++i)
            QCOMPARE(wire::Stat_Name(static_cast<wire::Stat>(i)), constantOf("STAT_", statName(static_cast<Stat>(i))));
    }

    void everyMessageComesBackEqual()
    {
        for (const Message& message : allMessages()) {
            const auto decoded = decodeMessage(encodeMessage(message));
            QVERIFY2(decoded, decoded ? "" : decoded.error().what.c_str());
            QVERIFY(*decoded == message);
        }
    }

    void whatAHelloSaysOfItsProcessIsMendedAndNotRefused()
    {
        Hello hello = fullHello();
        const Hello was = hello;
        mendNames(hello);
        QVERIFY(hello == was);
        hello.host = std::string("node\0one", 8);
        hello.device.assign(5000, 'x');
        hello.framework = "torch\xff";
        mendNames(hello);
        for (const std::string* text : { &hello.host, &hello.device, &hello.framework })
            QVERIFY2(isValidName(*text), text->c_str());
        QVERIFY(checkHello(hello));
        hello.agentId.assign(limits::kMaxNameBytes + 1, 'x'); // a name that streams are told apart by
        QVERIFY(!checkHello(hello));
    }

    void aConfigOfMoreThan64KiBIsRefusedAtBothEnds()
    {
        ConfigOffer offer { 1, std::string(limits::kMaxConfigBytes, ' '), "h", 0 };
        ConfigStatus status { 0, configstatus::kInForce, std::string(20'000, 'w') + "\xff", 0, "h", offer.json };
        QVERIFY(checkConfigOffer(offer));
        QVERIFY(!checkConfigStatus(status));
        mendReason(status);
        QVERIFY(checkConfigStatus(status));
        offer.json += ' ';
        status.json += ' ';
        QCOMPARE(checkConfigOffer(offer).error().code, ErrorCode::TooLarge);
        QVERIFY(!checkConfigOffer(offer).error().todo.empty());
        QCOMPARE(checkConfigStatus(status).error().code, ErrorCode::TooLarge);
        QVERIFY(!checkConfigOffer({ 0, "{}", "h", 0 })); // 0 is what nobody offered
        QVERIFY(!checkConfigOffer({ limits::kMaxSeq + 1, "{}", "h", 0 }));
        QVERIFY(!checkConfigOffer({ 1, "{}", "h", INT64_MAX }));
        QVERIFY(!checkConfigOffer({ 1, "{}", std::string("h\0", 2), 0 }));
        QVERIFY(!checkConfigOffer({ 1, "", "h", 0 }));
    }

    void damagedBytesGiveAnErrorOrAMessage()
    {
        std::mt19937 random(1);
        for (const Message& message : allMessages()) {
            const std::string good = encodeMessage(message);
            for (std::size_t at = 0; at < good.size(); ++at) {
                for (const unsigned flip : { 1u, 0x80u, 0xFFu, static_cast<unsigned>(random() & 0xFFu) }) {
                    std::string bad = good;
                    bad[at] = static_cast<char>(static_cast<unsigned char>(bad[at]) ^ flip);
                    const auto decoded = decodeMessage(bad);
                    QVERIFY(decoded || !decoded.error().what.empty());
                }
                const auto cut = decodeMessage(good.substr(0, at));
                QVERIFY(cut || cut.error().code == ErrorCode::BadInput);
            }
        }
        for (int i = 0; i < 20'000; ++i) {
            std::string noise(random() % 64, '\0');
            for (char& c : noise)
                c = static_cast<char>(random());
            const auto decoded = decodeMessage(noise);
            QVERIFY(
                decoded || decoded.error().code == ErrorCode::BadInput || decoded.error().code == ErrorCode::TooLarge);
        }
    }

    void unknownFieldsAreIgnored()
    {
        const std::string nack
            = field(5, varint(1 << 3) + varint(42) + field(500, "later") + varint(501 << 3) + varint(1));
        const auto decoded = decodeMessage(field(700, "more") + nack);
        QVERIFY(decoded);
        QVERIFY(*decoded == Message { Nack { 42 } });
        const auto foreign = decodeMessage(field(700, "only"));
        QVERIFY(!foreign);
        QCOMPARE(foreign.error().code, ErrorCode::BadInput);
    }

    void invalidUtf8IsRefusedOnReadingAndReplacedOnWriting()
    {
        QVERIFY(!decodeMessage(field(9, field(1, "\xC3\x28"))));
        const auto decoded = decodeMessage(encodeMessage(Bye { "a\xFF\xC3z", 0, 0 }));
        QVERIFY(decoded);
        QCOMPARE(std::get<Bye>(*decoded).reason, std::string("a\xEF\xBF\xBD\xEF\xBF\xBDz"));
    }

    void utf8IsStrict()
    {
        for (const char* good : { "", "a", "é", "运行", "😀", "\xF4\x8F\xBF\xBF", "\xED\x9F\xBF" })
            QVERIFY2(isUtf8(good), good);
        for (const char* bad : { "\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                 "\xF5", "\xE2\x82", "abcdefgh\xFF", "\xC3" })
            QVERIFY2(!isUtf8(bad), bad);
        QVERIFY(isValidName(std::string(limits::kMaxNameBytes, 'n')));
        QVERIFY(!isValidName(std::string(limits::kMaxNameBytes + 1, 'n')));
        QVERIFY(!isValidName(std::string("a\0b", 3)));
    }

    void aTextBecomesANameOfWholeCharacters()
    {
        QCOMPARE(toName("layers.0"), std::string("layers.0"));
        QCOMPARE(toName(std::string_view("a\0b", 3)),
            std::string("a\xEF\xBF\xBD"
                        "b"));
        // Cut inside a character, as many bytes as are allowed: what replaces the torn one takes more room than it had.
        std::string chinese;
        while (chinese.size() <= limits::kMaxNameBytes)
            chinese += "损";
        for (std::size_t cut = limits::kMaxNameBytes - 4; cut <= chinese.size(); ++cut)
            QVERIFY2(isValidName(toName(chinese.substr(0, cut))), qPrintable(QString::number(cut)));
        const std::string longName = std::string(2000, 'x');
        QVERIFY(toName(longName + "a") != toName(longName + "b"));
        QCOMPARE(toName(toName(longName)), toName(longName));
    }

    void bombsAreRefusedBeforeTheyAreParsed_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<int>("code");
        const auto row = [](const char* name, const std::string& bytes, ErrorCode code) {
            QTest::newRow(name) << QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size()))
                                << static_cast<int>(code);
        };
        const std::size_t room = limits::kMaxMessageBytes - 16;
        row("2 MiB", std::string(2u << 20, '\0'), ErrorCode::TooLarge);
        row("empty submessages", field(4, repeated(field(4, ""), room)), ErrorCode::TooLarge);
        row("empty strings", field(1, repeated(field(3, ""), room)), ErrorCode::TooLarge);
        row("packed ones", field(6, field(5, std::string(room - 8, '\1'))), ErrorCode::TooLarge);
        row("unpacked ones", field(6, repeated(varint(5 << 3) + '\1', room)), ErrorCode::TooLarge);
        row("empty bodies", repeated(field(1, ""), room), ErrorCode::TooLarge);
        row("groups", std::string(room, '\x0B'), ErrorCode::BadInput);
        row("endless varint", std::string(room, '\xFF'), ErrorCode::BadInput);
        row("length beyond the end", varint(4 << 3 | 2) + varint(1u << 30), ErrorCode::BadInput);
        row("field zero", std::string("\0\0", 2), ErrorCode::BadInput);
    }
    void bombsAreRefusedBeforeTheyAreParsed()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(int, code);
        QElapsedTimer timer;
        timer.start();
        const auto decoded = decodeMessage({ bytes.constData(), static_cast<std::size_t>(bytes.size()) });
        QVERIFY(!decoded);
        QCOMPARE(static_cast<int>(decoded.error().code), code);
        QVERIFY2(timer.elapsed() < 500, qPrintable(QString::number(timer.elapsed())));
    }

    void deepNestingInUnknownFieldsIsNotFollowed()
    {
        std::string nested;
        while (nested.size() < 100'000)
            nested = field(90, nested);
        const auto decoded = decodeMessage(nested + encodeMessage(Nack { 1 }));
        QVERIFY(decoded);
    }

    void joinStringComesBackEqual_data()
    {
        QTest::addColumn<QString>("host");
        QTest::addColumn<bool>("hasFingerprint");
        QTest::newRow("loopback") << QStringLiteral("127.0.0.1") << false;
        QTest::newRow("name with TLS") << QStringLiteral("gpu-1.example.org") << true;
        QTest::newRow("IPv6") << QStringLiteral("::1") << false;
    }
    void joinStringComesBackEqual()
    {
        QFETCH(QString, host);
        QFETCH(bool, hasFingerprint);
        JoinString join { host.toStdString(), 47801, "aB3-._~", hasFingerprint ? std::string(64, 'a') : "" };
        for (const bool isControl : { false, true }) {
            join.isControl = isControl;
            const auto parsed
                = JoinString::parse(QStringLiteral(" %1\n").arg(QString::fromStdString(join.toString())).toStdString());
            QVERIFY2(parsed, parsed ? "" : parsed.error().what.c_str());
            QVERIFY(*parsed == join);
            QCOMPARE(std::string(parsed->path()), std::string(isControl ? "/control" : "/capture"));
        }
    }

    void joinStringTakesWhatPeopleWrite()
    {
        const std::string pairs = std::string("AB:").append(62, 'c');
        const auto parsed
            = JoinString::parse(std::string("telltale://localhost/#fp=").append(pairs).append("&token=t&later=1"));
        QVERIFY2(parsed, parsed ? "" : parsed.error().what.c_str());
        QCOMPARE(parsed->port, std::uint16_t { limits::kDefaultPort });
        QCOMPARE(parsed->fingerprint, std::string("ab").append(62, 'c'));
    }

    void brokenJoinStringsAreNamed()
    {
        for (const char* bad : { "", "http://a#token=t", "telltale://", "telltale://h:1", "telltale://h:1#",
                 "telltale://:1#token=t", "telltale://h:0#token=t", "telltale://h:65536#token=t",
                 "telltale://h:x#token=t", "telltale://h:1#token=a b",
                 "telltale://h:1#token=", "telltale://[::1#token=t", "telltale://[::1]x#token=t",
                 "telltale://a b:1#token=t", "telltale://h:1#token=t&fp=12", "telltale://u@h:1#token=t" }) {
            const auto parsed = JoinString::parse(bad);
            QVERIFY2(!parsed, bad);
            QVERIFY(!parsed.error().todo.empty());
        }
    }
};

QTEST_GUILESS_MAIN(ProtocolTest)
#include "protocoltest.moc"
