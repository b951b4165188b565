// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>

#include <telltale/judge/incident.h>

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
    }
};

QTEST_GUILESS_MAIN(IncidentTest)
#include "incidenttest.moc"
