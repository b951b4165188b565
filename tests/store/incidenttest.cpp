// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <telltale/judge/incident.h>
#include <telltale/judge/incidentdesk.h>

namespace incidenttest {

using namespace telltale;
using namespace telltale::judge;

namespace {

Incident sample()
{
    Incident incident;
    incident.first = { "nonfinite", store::Severity::Critical, Step { 40 }, Rank { 1 }, Kind::Actv, "layers.3.mlp",
        "output", Stat::Norm, "is NaN" };
    incident.opened = Step { 41 };
    incident.lastStep = Step { 60 };
    incident.phase = Phase::Forward;
    incident.sentence = "First abnormal: step 40";
    incident.evidence = { incident.first };
    incident.ties = { "layers.3.attn:output" };
    incident.reach = { { "layers.3", Rank { 1 }, { Step { 40 }, Step { 60 } }, 12 } };
    incident.folded = 11;
    incident.rev = 2;
    return incident;
}

/// As the store reads it back.
store::LogRecord recordOf(const Event& event, std::int64_t id, int rank = -1)
{
    store::LogRecord record;
    record.kind = event.kind;
    record.id = id;
    record.ref = static_cast<std::int64_t>(event.ref);
    record.rank = Rank { rank };
    record.steps = { event.step, event.lastStep.value_or(event.step) };
    record.text = event.text;
    record.json = event.json;
    record.cause = event.cause;
    record.graveness = event.severity;
    return record;
}

}

class IncidentTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void whatIsWrittenIsRead()
    {
        QVERIFY(incidentFrom(toJson(sample())) == sample());
        QCOMPARE(recordOf(incidentEvent(sample(), 1), 5).severity(), store::Severity::Critical);
        for (const char* text : { "", "[]", "{}", "{\"rule\"", "7" })
            QVERIFY(!incidentFrom(text));
        // What is of another type is left as it is.
        const auto odd = incidentFrom(R"({"rule": "x", "step": "y", "evidence": [1, {}], "reach": 3, "over": 1})");
        QVERIFY(odd && odd->first.step == Step {} && odd->evidence.size() == 1 && !odd->isOver);
    }

    void theBookFoldsWhatBecomesOfAnIncident()
    {
        IncidentBook book;
        QVERIFY(!book.take(recordOf(incidentEvent(sample(), 1), 7, 0))); // an agent's word
        QVERIFY(book.take(recordOf(incidentEvent(sample(), 1), 7)));
        QVERIFY(book.take(
            recordOf(annotationEvent({ 7, Annotation::Action::Note, "the scale" }, Step { 41 }, "me", 2), 8)));
        QVERIFY(
            book.take(recordOf(annotationEvent({ 7, Annotation::Action::Acknowledge, {} }, Step { 41 }, "me", 2), 9)));
        QVERIFY(!book.take(recordOf(annotationEvent({ 99, Annotation::Action::True, {} }, Step { 41 }, "me", 2), 10)));
        Incident later = sample();
        later.id = 7;
        later.first.step = Step { 30 };
        later.isOver = true;
        QVERIFY(book.take(recordOf(incidentEvent(later, 3), 11)));
        QCOMPARE(book.byId().size(), std::size_t { 1 });
        const Incident& known = *book.inOrder().front();
        QCOMPARE(known.id, std::int64_t { 7 });
        QVERIFY(known.isOver && known.isAcknowledged && known.first.step == Step { 30 });
        QCOMPARE(known.notes, std::vector<std::string> { "the scale" });
        Incident before = sample();
        before.first.step = Step { 2 };
        book.take(recordOf(incidentEvent(before, 4), 12));
        QCOMPARE(book.inOrder().front()->id, std::int64_t { 12 });
        // It turns out that it followed from that one.
        later.into = 12;
        const Event folded = incidentEvent(later, 5);
        QCOMPARE(folded.cause, std::string("12"));
        QVERIFY(book.take(recordOf(folded, 13)));
        QCOMPARE(book.inOrder().size(), std::size_t { 1 });
        QCOMPARE(book.standing(7)->id, std::int64_t { 12 });
        QVERIFY(book.standing(99) == nullptr && incidentFrom(toJson(later)) == later);
        before.into = 7; // nothing that a log says makes it go in circles
        before.id = 12;
        book.take(recordOf(incidentEvent(before, 6), 14));
        QVERIFY(book.standing(7) == nullptr);
    }

    /// What it does may show long after it: until the windows that numbers are compared with hold nothing older.
    void whatARaisedLearningRateDoesBelongsToIt()
    {
        for (const bool isLate : { false, true }) {
            IncidentDesk desk;
            const auto cause = witness("learning_rate", 150, 0.001);
            if (!isLate)
                desk.take(cause);
            follow(desk, 150, 187, 0.01);
            desk.take(witness("entropy_collapse", 187));
            follow(desk, 187, 245, 0.01);
            desk.take(witness("entropy_collapse", 245));
            follow(desk, 245, 280, 0.01);
            if (isLate)
                desk.take(cause);
            QCOMPARE(standing(desk), std::string("learning_rate@150+2"));
            QVERIFY(!desk.cases().front().incident.isOver);
            follow(desk, 280, 400, 0.01);
            QVERIFY(desk.cases().front().incident.isOver);
            desk.take(witness("level", 400));
            QCOMPARE(desk.cases().back().incident.first.rule, std::string("level")); // too long after it
        }
    }

    void whatIsExactOrOfALoweredRateIsAnotherIncident()
    {
        IncidentDesk desk;
        desk.take(witness("learning_rate", 150, 0.001));
        follow(desk, 150, 240, 0.01);
        desk.take(witness("nonfinite", 240));
        QCOMPARE(standing(desk), std::string("learning_rate@150+0; nonfinite@240+0"));
        IncidentDesk lowered;
        lowered.take(witness("learning_rate", 150, 0.001));
        follow(lowered, 150, 200, 0.01);
        follow(lowered, 200, 240, 0.001);
        lowered.take(witness("level", 240));
        QCOMPARE(standing(lowered), std::string("learning_rate@150+0; level@240+0"));
    }

    /// A rank that was away comes back with the cause of all that was seen since.
    void aCauseThatComesLateGathersAllThatFollowedFromIt()
    {
        IncidentDesk desk;
        for (const int step : { 110, 170, 400 }) {
            desk.take(witness("level", step));
            follow(desk, step, step + 60, 0);
        }
        QCOMPARE(standing(desk), std::string("level@110+0; level@170+0; level@400+0"));
        const std::string oldest = desk.cases().front().incident.key;
        for (IncidentDesk::Case& one : desk.cases())
            one.isChanged = false;
        desk.take(witness("nonfinite", 100));
        // Sixty steps lie between the first two: too many for the one to have followed from the other.
        QCOMPARE(standing(desk), std::string("nonfinite@100+1; level@170+0; level@400+0"));
        desk.take(witness("nonfinite", 165)); // of that time, and no cause of what was before
        QCOMPARE(standing(desk), std::string("nonfinite@100+1; nonfinite@165+1; level@400+0"));
        IncidentDesk close;
        for (const int step : { 110, 161 }) {
            close.take(witness("level", step));
            follow(close, step, step + 51, 0);
        }
        QCOMPARE(standing(close), std::string("level@110+0; level@161+0"));
        close.cases().front().incident.lastStep = Step { 112 }; // and one more finding late
        close.take(witness("nonfinite", 100));
        QCOMPARE(standing(close), std::string("nonfinite@100+2"));
        QCOMPARE(close.cases().back().into, close.cases().front().incident.key);
        QVERIFY(close.cases().back().isChanged && close.cases().back().incident.isOver);
        QCOMPARE(close.cases().front().incident.key, oldest);
        close.take(witness("level", 230)); // what was folded takes nothing more
        QCOMPARE(standing(close), std::string("nonfinite@100+2; level@230+0"));
        // What is known late follows itself from what was before.
        IncidentDesk chain;
        for (const int step : { 100, 160 }) {
            chain.take(witness("nonfinite", step));
            follow(chain, step, step + 51, 0);
        }
        chain.take(witness("nonfinite", 130));
        QCOMPARE(standing(chain), std::string("nonfinite@100+2"));
    }

    /// What comes before it may be less severe, and says less: nothing that was known of it is lost.
    void anIncidentIsAsSevereAsTheWorstOfIt()
    {
        IncidentDesk desk;
        Witness replica = witness("replica", 400);
        replica.finding.severity = store::Severity::Critical;
        replica.finding.sentence = "differs on rank 2";
        replica.moment.place = INT32_MAX;
        desk.take(replica);
        Witness drift = witness("drift", 400);
        drift.finding.severity = store::Severity::Warning;
        drift.seen = Step { 402 };
        desk.take(drift);
        QCOMPARE(standing(desk), std::string("drift@400+1"));
        QCOMPARE(desk.cases().front().incident.first.severity, store::Severity::Critical);
        const auto noted = desk.noted(drift.block, Step { 400 }, 10);
        QVERIFY(std::any_of(noted.begin(), noted.end(),
            [](const Witness* one) { return one->finding.sentence == "differs on rank 2"; }));
        // What follows may be worse, too, and what is folded late.
        IncidentDesk grows;
        Witness mild = drift;
        mild.finding.step = mild.moment.step = mild.seen = Step { 10 };
        grows.take(mild);
        QCOMPARE(grows.cases().front().incident.first.severity, store::Severity::Warning);
        Witness bad = witness("nonfinite", 12);
        bad.finding.severity = store::Severity::Critical;
        grows.take(bad);
        QCOMPARE(standing(grows), std::string("drift@10+1"));
        QCOMPARE(grows.cases().front().incident.first.severity, store::Severity::Critical);
    }

private:
    static Witness witness(const char* rule, int step, double rateBefore = 0)
    {
        Witness one;
        one.finding.rule = rule;
        one.finding.step = one.seen = Step { step };
        one.finding.rank = Rank { 0 };
        one.finding.kind = Kind::Actv;
        one.finding.name = one.block = "layers." + std::to_string(step % 7);
        one.moment = { Step { step }, Phase::Forward, 5 };
        one.rateBefore = rateBefore;
        return one;
    }

    static void follow(IncidentDesk& desk, int from, int to, double learningRate)
    {
        for (int step = from; step < to; ++step)
            desk.passed({ 0, Step { step }, {}, learningRate });
    }

    /// "rule@step+folded; ..." of those that stand by themselves.
    static std::string standing(const IncidentDesk& desk)
    {
        std::string text;
        for (const IncidentDesk::Case& one : desk.cases()) {
            if (one.into.empty())
                text += (text.empty() ? "" : "; ") + one.incident.first.rule + '@'
                    + std::to_string(one.begins.step.value) + '+' + std::to_string(one.incident.folded);
        }
        return text;
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, IncidentTest)

}

#include "incidenttest.moc"
