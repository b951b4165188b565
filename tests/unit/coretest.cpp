// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <array>
#include <atomic>
#include <random>
#include <thread>
#include <type_traits>

#include <telltale/core/boundedqueue.h>
#include <telltale/core/bytes.h>
#include <telltale/core/namepattern.h>
#include <telltale/core/protocolone.h>
#include <telltale/core/regularexpression.h>
#include <telltale/core/samplebatch.h>
#include <telltale/core/threadhome.h>

namespace coretest {

using namespace telltale;

class CoreTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void onlyTheFirstThreadMayEnterUntilItIsHandedOver()
    {
#ifdef NDEBUG
        static_assert(std::is_empty_v<ThreadHome>);
#else
        static std::atomic<int> faults;
        const auto before = ThreadHome::onFault.exchange([] { ++faults; });
        const auto there = [](const ThreadHome& home) { std::thread([&home] { home.check(); }).join(); };
        ThreadHome home;
        home.check();
        home.check();
        QCOMPARE(faults.load(), 0);
        there(home);
        QCOMPARE(faults.load(), 1);
        home.handOver();
        there(home);
        QCOMPARE(faults.load(), 1);
        // The thread that it had is another's now.
        home.check();
        QCOMPARE(faults.load(), 2);
        const ThreadHome copy(home);
        copy.check();
        QCOMPARE(faults.load(), 2);
        ThreadHome::onFault = before;
#endif
    }

    void crcIsCastagnoli()
    {
        // RFC 3720, appendix B.4.
        QCOMPARE(crc32c(std::string(32, '\0')), 0x8A9136AAu);
        QCOMPARE(crc32c(std::string(32, '\xFF')), 0x62A8AB43u);
        QCOMPARE(crc32c("123456789"), 0xE3069283u);
        QCOMPARE(crc32c("6789", crc32c("12345")), 0xE3069283u);
        QCOMPARE(crc32c(""), 0u);
    }

    void shuffleTransposesAndComesBack()
    {
        std::mt19937 generator(1);
        for (const std::size_t width : { 1u, 2u, 4u, 8u }) {
            for (std::size_t count = 0; count < 70; ++count) {
                std::string in(count * width, '\0');
                for (char& c : in)
                    c = static_cast<char>(generator());
                std::string shuffled;
                byteShuffle(in, width, shuffled);
                for (std::size_t i = 0; i < count; ++i) {
                    for (std::size_t byte = 0; byte < width; ++byte)
                        QCOMPARE(shuffled[byte * count + i], in[i * width + byte]);
                }
                std::string back;
                byteUnshuffle(shuffled, width, back);
                QCOMPARE(back, in);
            }
        }
    }

    void zstdRefusesDamageAndOtherSizes()
    {
        std::string packed;
        const std::string text(5000, 'x');
        zstdAppend(text, packed);
        std::string out(text.size(), '\0');
        QVERIFY(zstdInto(packed, out.data(), out.size()));
        QCOMPARE(out, text);
        QVERIFY(!zstdInto(packed, out.data(), out.size() - 1));
        std::string larger(text.size() + 1, '\0');
        QVERIFY(!zstdInto(packed, larger.data(), larger.size()));
        QVERIFY(!zstdInto(packed.substr(0, packed.size() / 2), out.data(), out.size()));
    }

    void namesRoundTripAndNumbersAreFixed()
    {
        for (int k = 1; k < kKindCount; ++k)
            QCOMPARE(kindFromName(kindName(static_cast<Kind>(k))), static_cast<Kind>(k));
        for (int s = 1; s < kStoredStatCount; ++s)
            QCOMPARE(statFromName(statName(static_cast<Stat>(s))), static_cast<Stat>(s));
        QCOMPARE(statFromName("absmax"), Stat::AbsMax);
        QCOMPARE(statFromName("e5m2_overflow"), Stat::E5M2Overflow);
        QVERIFY(!kindFromName("unspecified"));
        QCOMPARE(static_cast<int>(Kind::GradReduced), 5);
        QCOMPARE(static_cast<int>(Stat::Nans), 6);
        QCOMPARE(kindFromName("update_ratio"), Kind::UpdateRatio); // as older agents wrote it
        QCOMPARE(kindName(Kind::UpdateRatio), std::string_view("ratio"));
    }

    void aNumberThatIsNoStatisticHasNoFacts()
    {
        for (const int number : { 0, kStoredStatCount, 63, 73, 255 }) {
            QVERIFY(!isStoredStat(static_cast<Stat>(number)));
            QCOMPARE(statName(static_cast<Stat>(number)), std::string_view("unspecified"));
        }
        for (int number = 64; number < 73; ++number) {
            QVERIFY(!isStoredStat(static_cast<Stat>(number)));
            QVERIFY(isDerivedStat(static_cast<Stat>(number)));
            QCOMPARE(static_cast<int>(factsOf(static_cast<Stat>(number)).stat), number);
        }
        QCOMPARE(statName(Stat::AbsMax), std::string_view("absmax"));
    }

    void theTableSaysOfEachStatisticWhatItIs()
    {
        for (int s = 1; s < kStoredStatCount; ++s) {
            const auto stat = static_cast<Stat>(s);
            const bool isCount = stat == Stat::Nans || stat == Stat::PosInfs || stat == Stat::NegInfs;
            QCOMPARE(isNonFiniteCount(stat), isCount);
            QCOMPARE(isWhole(stat), isCount || stat == Stat::Checksum || stat == Stat::Hist);
            QCOMPARE(isIdentity(stat), stat == Stat::Checksum);
            QCOMPARE(columnType(stat) == ColumnType::F64, stat == Stat::Value);
            QCOMPARE(countsAsSample(stat),
                stat != Stat::PosInfs && stat != Stat::NegInfs && stat != Stat::Value && stat != Stat::Checksum);
        }
        QCOMPARE(identityText(0), std::string("0000000000000000"));
        QCOMPARE(identityText(0x00F3A0B1C2D3E4F5u), std::string("00f3a0b1c2d3e4f5"));
        QCOMPARE(identityText(~std::uint64_t { 0 }), std::string(16, 'f'));
    }

    void onlyTheSixOpsOfPresentSeriesCountAsSamples()
    {
        auto layout = std::make_shared<SeriesLayout>();
        layout->kind = Kind::GradReduced;
        layout->stats
            = { Stat::Norm, Stat::Mean, Stat::Min, Stat::Max, Stat::Zeros, Stat::Nans, Stat::PosInfs, Stat::NegInfs };
        layout->series.resize(70);
        StepBlock block;
        block.layout = layout;
        QCOMPARE(sampleCount(block), 70u * 6u);
        block.present = { 0b101, 0b1 };
        QCOMPARE(sampleCount(block), 3u * 6u);
        auto scalars = std::make_shared<SeriesLayout>();
        scalars->kind = Kind::Scalar;
        scalars->stats = { Stat::Value };
        scalars->series.resize(4);
        block.layout = scalars;
        QCOMPARE(sampleCount(block), 0u);
    }

    void aSlotsTextIsForPeople_data()
    {
        QTest::addColumn<Slot>("slot");
        QTest::newRow("") << Slot {};
        QTest::newRow("input") << Slot::input();
        QTest::newRow("input_0") << Slot::input(0);
        QTest::newRow("output_31") << Slot::output(31);
        QTest::newRow("output@2") << Slot { .role = Role::Output, .call = 1 };
        QTest::newRow("input_1@16") << Slot { .role = Role::Input, .number = 1, .call = 15 };
        QTest::newRow("head_3") << Slot::ofHead(3);
        QTest::newRow("head_3@2") << Slot { .head = 3, .call = 1 };
        QTest::newRow("pre_0") << Slot { .role = Role::Before, .number = 0 };
        QTest::newRow("post_2") << Slot { .role = Role::After, .number = 2 };
        QTest::newRow("attention") << Slot::named("attention");
    }

    void aSlotsTextIsForPeople()
    {
        QFETCH(Slot, slot);
        QCOMPARE(slot.text(), std::string(QTest::currentDataTag()));
        QVERIFY(slot.isSound() && slot.hasText() == !slot.text().empty());
        // An older agent had the text alone, and meant the same.
        QCOMPARE(protocolone::slotOf(slot.text()), slot);
    }

    void anOlderAgentsTextIsTakenForMoreThanANameOnlyWhereItWroteItSo_data()
    {
        QTest::addColumn<Kind>("kind");
        QTest::addColumn<Slot>("slot");
        const auto named = [](const char* text) { return Slot::named(text); };
        QTest::newRow("head_3") << Kind::Attention << Slot::ofHead(3);
        QTest::newRow("head_3 ") << Kind::Attention << named("head_3 ");
        QTest::newRow("head_4") << Kind::Actv << named("head_4");
        QTest::newRow("head_3@2") << Kind::Actv << named("head_3@2");
        QTest::newRow("head_") << Kind::Attention << named("head_");
        QTest::newRow("input_1") << Kind::ActvGrad << Slot::input(1);
        QTest::newRow("input_1@1") << Kind::ActvGrad << named("input_1@1");
        QTest::newRow("input_01") << Kind::Actv << named("input_01");
        QTest::newRow("input_-1") << Kind::Actv << named("input_-1");
        QTest::newRow("input@") << Kind::Actv << named("input@");
        QTest::newRow("input@0") << Kind::Actv << named("input@0");
        QTest::newRow("output_4294967296") << Kind::Actv << named("output_4294967296");
        QTest::newRow("output@4294967297") << Kind::Actv << named("output@4294967297");
        QTest::newRow("output@-2147483648") << Kind::Actv << named("output@-2147483648");
        QTest::newRow("input") << Kind::GradReduced << named("input");
        QTest::newRow("pre_0") << Kind::Comm << Slot { .role = Role::Before, .number = 0 };
        QTest::newRow("pre_0@2") << Kind::Actv << named("pre_0@2");
        QTest::newRow("[-inf, -1)") << Kind::Update << named("[-inf, -1)");
    }

    void anOlderAgentsTextIsTakenForMoreThanANameOnlyWhereItWroteItSo()
    {
        QFETCH(Kind, kind);
        QFETCH(Slot, slot);
        const std::string text = QTest::currentDataTag();
        QCOMPARE(protocolone::slotOf(text, kind), slot);
        QCOMPARE(slot.text(), text);
    }

    void theBinsOfOlderHistogramsAreKnownByTheirTexts()
    {
        QCOMPARE(protocolone::slotOf("[-1.000, -0.933)", Kind::Update, true).bin, 1);
        QCOMPARE(protocolone::slotOf("(1, inf]", Kind::Update, true).bin, 31);
        QCOMPARE(protocolone::slotOf("(1, inf]", Kind::Update, true).text(), std::string("(1, inf]"));
        QCOMPARE(protocolone::slotOf("[0.000, 0.100)", Kind::Update, true).bin, -1);
    }

    void whatAMeasuredTensorCannotBeIsNoSlot()
    {
        const Slot none[] { { .role = static_cast<Role>(kRoleCount) }, Slot::input(-2), Slot::ofHead(-2),
            { .number = 0 }, { .role = Role::Input, .word = "input" }, { .role = Role::Named } };
        for (const Slot& slot : none)
            QVERIFY2(!slot.isSound(), slot.text().c_str());
        const auto at = [](const char* position) { return Slot { .role = Role::Input, .position = position }; };
        for (const char* position : { "[1,\"head_3@2\",0]", "[\"\\\"\\u0001\\n]\",\"[0, 1]\",0]", "[0]", "[12,3]" })
            QVERIFY2(at(position).isSound(), position);
        for (const char* position :
            { "1", "[]", "[1, 0]", "[-1]", "[1.5]", "[[0]]", "[null]", "{\"a\":1}", "[0", "[01]", "[0]]", "[0,]",
                "[,0]", "[\"]", "[\"\n\"]", "[\"\\x\"]", "[\"\\u12g4\"]", "[\"\\", "[\"\\u00" })
            QVERIFY2(!at(position).isSound(), position);
        // Where it stands tells no tensor from itself, since older agents do not say it.
        QVERIFY(at("[1]") != at("[2]"));
        QCOMPARE(at("[1]").identity(), at("[2]").identity());
        QVERIFY(std::hash<Slot> {}(Slot::input(1)) != std::hash<Slot> {}(Slot::ofHead(1)));
    }

    void queueIsBoundedByCostAndTakesAtLeastOne()
    {
        BoundedQueue<int> queue(100);
        int wakes = 0;
        queue.setWake([&] { ++wakes; });
        QVERIFY(queue.tryPush(1, 1000));
        QVERIFY(!queue.tryPush(2, 1));
        QCOMPARE(queue.drain(), std::vector<int>({ 1 }));
        QVERIFY(queue.tryPush(3, 60));
        QVERIFY(queue.tryPush(4, 40));
        QVERIFY(!queue.tryPush(5, 1));
        QCOMPARE(wakes, 2);
        queue.close();
        QCOMPARE(queue.drain(), std::vector<int>({ 3, 4 }));
        QVERIFY(!queue.tryPush(6, 1));
    }

    void queueKeepsOrderBetweenThreads()
    {
        BoundedQueue<int> queue(64);
        constexpr int kItems = 20000;
        std::thread producer([&] {
            for (int i = 0; i < kItems; ++i) {
                while (!queue.tryPush(int(i), 1))
                    std::this_thread::yield();
            }
            queue.close();
        });
        int expected = 0;
        bool inOrder = true;
        while (!queue.isClosed() || queue.cost() > 0) {
            for (const int item : queue.waitDrain(std::chrono::steady_clock::now() + std::chrono::seconds(1)))
                inOrder = inOrder && item == expected++;
        }
        producer.join();
        QVERIFY(inOrder);
        QCOMPARE(expected, kItems);
    }

    void anExpressionMatchesTheWholeTextAndGivesItsGroups()
    {
        using Groups = std::vector<std::string>;
        const RegularExpression name(R"((a|ab)(c)?(\d*))");
        QCOMPARE(name.match("ab12"), (Groups { "ab12", "ab", "", "12" })); // the first choice would leave "b12"
        QCOMPARE(name.match("a"), (Groups { "a", "a", "", "" }));
        QCOMPARE(name.match("ab1x"), Groups());
        QCOMPARE(name.match("AB"), Groups());
        QVERIFY(name.isFoundIn("x-ac-x") && !name.isFoundIn("xyz"));
        const RegularExpression word("[a-z]+=", RegularExpression::Letters::AnyCase);
        QCOMPARE(word.match("Key="), Groups { "Key=" });
        QCOMPARE(word.replaced("a=1 B=2 =3", "<$0>"), std::string("<a=>1 <B=>2 =3"));
        QCOMPARE(word.replaced("", "x"), std::string());
        // std::regex would recurse once a character and end the program; and a replacement may be longer than the text.
        const std::string huge(100'000, 'a');
        QCOMPARE(RegularExpression("(?:a|b)*").match(huge).size(), std::size_t(1));
        QCOMPARE(RegularExpression("a").replaced(huge, "xyz").size(), 3 * huge.size());
        QVERIFY_THROWS_EXCEPTION(std::invalid_argument, RegularExpression("(a"));
    }

    void onePatternChoosesNamesEverywhere_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("name");
        QTest::addColumn<bool>("matches");
        const QString qkv = QStringLiteral("layers.7.attn.qkv");
        QTest::newRow("part, case ignored") << QStringLiteral("ATTN") << qkv << true;
        QTest::newRow("another part") << QStringLiteral("mlp") << qkv << false;
        QTest::newRow("a dot is a dot") << QStringLiteral("7xattn") << qkv << false;
        QTest::newRow("nothing is everything") << QStringLiteral("  ") << qkv << true;
        QTest::newRow("glob") << QStringLiteral("LAYERS.?.*qkv") << qkv << true;
        QTest::newRow("glob is the whole name") << QStringLiteral("layers.?") << qkv << false;
        QTest::newRow("glob of the last part") << QStringLiteral("qk*") << qkv << true;
        QTest::newRow("glob of parts") << QStringLiteral("attn.q?v") << qkv << true;
        QTest::newRow("glob within a part") << QStringLiteral("kv*") << qkv << false;
        QTest::newRow("set") << QStringLiteral("layers.[5-8].*") << qkv << true;
        QTest::newRow("not in the set") << QStringLiteral("layers.[0-3].*") << qkv << false;
        QTest::newRow("inverted set") << QStringLiteral("layers.[!-0-3].*") << qkv << true;
        QTest::newRow("closing bracket in a set") << QStringLiteral("a[]x]b") << QStringLiteral("a]b") << true;
        QTest::newRow("open bracket without an end") << QStringLiteral("*[0") << QStringLiteral("list[0") << true;
        QTest::newRow("expression") << QStringLiteral("/[5-8]\\.attn/") << qkv << true;
        QTest::newRow("expression, case counts") << QStringLiteral("/ATTN/") << qkv << false;
        QTest::newRow("expression over an end") << QStringLiteral("/qkv\\s/") << qkv << false;
        QTest::newRow("expression at both ends") << QStringLiteral("/^layers.*qkv$/") << qkv << true;
        QTest::newRow("broken expression") << QStringLiteral("/(/") << qkv << false;
        QTest::newRow("other scripts") << QStringLiteral("ПОТЕРЯ") << QStringLiteral("потеря.среднее") << true;
        QTest::newRow("one character, not one byte") << QStringLiteral("损?") << QStringLiteral("损失") << true;
    }
    void onePatternChoosesNamesEverywhere()
    {
        QFETCH(QString, text);
        QFETCH(QString, name);
        QFETCH(bool, matches);
        const NamePattern pattern(text.toStdString());
        QCOMPARE(pattern.matches(name.toStdString()), matches);
        QCOMPARE(pattern.isValid(), text != QStringLiteral("/(/"));
        NamePattern::Names names;
        for (const std::string& one :
            { std::string("\xff\xfe torn"), name.toStdString(), std::string(), std::string("x y") })
            names.add(one);
        QCOMPARE(pattern.matchEach(names)[1], matches);
    }

    void manyNamesAnswerAsOneByOne()
    {
        std::mt19937 generator(7);
        const std::array patterns { "a", "ab", "*", "?b*", "a*b*a", "[ab]?*", "*[!a]", "/a+b$/", "/^(ab|b)/", "/$/",
            "/a.*\\nb/" };
        NamePattern::Names names;
        std::vector<std::string> texts;
        for (int i = 0; i < 300; ++i) {
            std::string& text = texts.emplace_back();
            for (std::size_t length = generator() % 6; length > 0; --length)
                text += "ab.B"[generator() % 4];
            names.add(text);
        }
        for (const char* text : patterns) {
            const NamePattern pattern { std::string_view(text) };
            const std::vector<bool> hits = pattern.matchEach(names);
            for (std::size_t i = 0; i < texts.size(); ++i)
                QVERIFY2(hits[i] == pattern.matches(texts[i]), (std::string(text) + " on '" + texts[i] + "'").c_str());
        }
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, CoreTest)

}

#include "coretest.moc"
