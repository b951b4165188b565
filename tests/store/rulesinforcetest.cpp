// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <filesystem>
#include <fstream>
#include <mutex>

#include <QTemporaryDir>

#include <telltale/judge/livejudge.h>
#include <telltale/judge/rulesinforce.h>

#include "madeuptraining.h"

namespace rulesinforcetest {

using namespace telltale;
using namespace telltale::judge;
using namespace telltale::test;

namespace {

Rules without(Rule rule)
{
    Rules rules;
    rules.setOn(rule, false);
    return rules;
}

void writeText(const std::string& path, const std::string& text)
{
    std::ofstream(path) << text;
}

/// What a judge says, on its own thread.
class Said {
public:
    void operator()(const std::string& line)
    {
        const std::lock_guard lock(m_mutex);
        m_lines.push_back(line);
    }
    std::size_t count() const
    {
        const std::lock_guard lock(m_mutex);
        return m_lines.size();
    }

private:
    mutable std::mutex m_mutex;
    std::vector<std::string> m_lines;
};

}

/// By which rules runs are judged: the run's own, those of the folder, the standard ones. Thread: test.
class RulesInForceTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void changesHaveWords()
    {
        Rules other = without(Rule::Loss);
        other.setValue(Rule::Level, 0, 8.5);
        QCOMPARE(changesBetween(Rules(), other), std::string("level.z 6 → 8.5, loss off"));
        QCOMPARE(changesBetween(other, other), std::string());
        QCOMPARE(*Rules::fromJson(other.toJson()), other);
    }

    void problemsHaveTheirPlace()
    {
        std::vector<RulesProblem> problems;
        const Rules rules = Rules::fromJson(
            R"({"rules": {"level": {"z": 1, "steps": 5}, "odd": {}, "loss": {"on": 1, "y": 2}}})", problems);
        std::string places;
        for (const RulesProblem& problem : problems)
            places += problem.pointer + ' ';
        QCOMPARE(places, std::string("/rules/level/z /rules/odd /rules/loss/on /rules/loss/y "));
        QCOMPARE(rules.value(Rule::Level, 0), 6.0);
        QCOMPARE(rules.value(Rule::Level, 2), 5.0);
        problems.clear();
        (void)Rules::fromJson("{", problems);
        QVERIFY(problems.size() == 1 && problems.front().pointer.empty());
    }

    void aFileWithAProblemChangesNothing()
    {
        const QTemporaryDir dir;
        const std::string folder = dir.path().toStdString();
        DefaultRules rules(folder);
        QVERIFY(rules.rules() == Rules() && !rules.isFile() && rules.problem().empty());
        QVERIFY(!rules.refresh());
        QVERIFY(DefaultRules::save(folder, without(Rule::Drift)));
        QVERIFY(rules.refresh());
        QVERIFY(rules.rules() == without(Rule::Drift) && rules.isFile());
        for (const char* text : { "{", R"({"rules": {"drift": {"factor": 0.1}}})", "" }) {
            writeText(DefaultRules::fileIn(folder), text);
            QVERIFY2(rules.refresh(), text);
            QVERIFY2(rules.problem().find("the former rules stay in force") != std::string::npos, text);
            QVERIFY2(rules.rules() == without(Rule::Drift), text);
        }
        QVERIFY(DefaultRules::save(folder, without(Rule::Loss)));
        QVERIFY(rules.refresh());
        QVERIFY(rules.rules() == without(Rule::Loss) && rules.problem().empty());
        std::filesystem::remove(DefaultRules::fileIn(folder));
        QVERIFY(rules.refresh());
        QVERIFY(rules.rules() == Rules() && !rules.isFile());
        QVERIFY(!DefaultRules::save(folder + "/nowhere", Rules()));
    }

    void theNewestOfTheRunsOwnCounts()
    {
        const QTemporaryDir dir;
        const std::string path = dir.path().toStdString() + "/run.telltale";
        CapsuleBuilder builder(path);
        const std::int64_t stream = builder.addAttempt(Rank { 0 }, 0);
        Training training;
        training.write(builder, stream, 0, 0, 10);
        const auto append = [&](const Rules& rules, int step, int rank = -1, const char* json = nullptr) {
            Event event = rulesEvent(rules, Step { step }, "me", 1);
            if (json != nullptr)
                event.json = json;
            builder.writer().stageRecord({ 1, builder.locator(), Rank { rank }, event });
            builder.commit();
        };
        const auto reader = CapsuleBuilder::must(store::openReader(builder.liveHandle()));
        RunRules own;
        QVERIFY(own.update(*reader) && !own.rules());
        append(without(Rule::Drift), 3);
        append(without(Rule::Loss), 5);
        append(without(Rule::Level), 6, 0); // a rank's word
        QVERIFY(own.update(*reader));
        QVERIFY(own.rules() == without(Rule::Loss) && own.since() == Step { 5 } && own.problem().empty());
        append({}, 8, -1, R"({"rules": {"unheard_of": {}}})");
        QVERIFY(own.update(*reader));
        QVERIFY(own.rules() == without(Rule::Loss) && own.problem().find("unheard_of") != std::string::npos);
        const auto inForce = CapsuleBuilder::must(rulesInForce(dir.path().toStdString(), reader.get()));
        QVERIFY(inForce.from == RulesInForce::From::Run && inForce.rules == without(Rule::Loss));
        QVERIFY(inForce.problem.find("unheard_of") != std::string::npos);
    }

    void aRunThatIsRecordedIsJudgedByWhatIsInForceThen()
    {
        const QTemporaryDir dir;
        const std::string folder = dir.path().toStdString();
        QVERIFY(DefaultRules::save(folder, without(Rule::NonFinite)));
        store::test::Recorder recorder(folder);
        auto said = std::make_shared<Said>();
        auto judge
            = std::make_unique<LiveJudge>(recorder.service(), [said](const std::string& line) { (*said)(line); });
        const store::StreamOpened opened = recorder.open(store::test::makeRequest("job", 1));
        const store::RunLocator run = opened.run->locator;
        Training training;
        training.value = [](int, int step, Kind kind, const std::string& name, double usual) {
            const bool isBad = (step >= 50 && step < 60 && name == "layers.0.fc.weight")
                || (step >= 120 && name == "layers.2.fc.weight") || (step == 150 && name == "layers.3.fc.weight");
            return kind == Kind::GradReduced && isBad ? kNaN : usual;
        };
        std::uint64_t seq = 0;
        const auto send = [&](int from, int to) {
            training.send(recorder, opened.stream, seq, from, to);
            QVERIFY(recorder.waitDurable(opened.stream, seq));
        };
        const auto append = [&](const Rules& rules, int step) {
            QVERIFY(recorder.service().append({ 1, run, Rank { -1 }, rulesEvent(rules, Step { step }, "me", 1) }));
        };
        const auto recorded = [&run] {
            const auto reader = CapsuleBuilder::must(store::openReader({ run, {}, {}, nullptr }));
            IncidentBook book;
            CapsuleBuilder::must(book.update(*reader));
            std::string all;
            for (const Incident* incident : book.inOrder())
                all += incident->first.rule + ' ' + incident->first.name + '@'
                    + std::to_string(incident->first.step.value) + (incident->isOver ? " over; " : "; ");
            return all;
        };
        // The folder's rules do not look for what is not finite; the run's own do, from their step on.
        send(0, 100);
        append(Rules(), 99);
        send(100, 130);
        QTRY_COMPARE_WITH_TIMEOUT(recorded(), std::string("nonfinite layers.2.fc.weight@120; "), 20'000);
        // What others found is over with them.
        append(without(Rule::NonFinite), 129);
        send(130, 140);
        QTRY_COMPARE_WITH_TIMEOUT(recorded(), std::string("nonfinite layers.2.fc.weight@120 over; "), 20'000);
        // A problem is said, and changes nothing.
        writeText(DefaultRules::fileIn(folder), "[]");
        int step = 140;
        while (said->count() == 0 && step < 4000) {
            send(step, step + 1);
            ++step;
            QTest::qWait(20);
        }
        QCOMPARE(said->count(), std::size_t { 1 });
        judge.reset();
        QCOMPARE(recorded(), std::string("nonfinite layers.2.fc.weight@120 over; "));
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, RulesInForceTest)

}

#include "rulesinforcetest.moc"
