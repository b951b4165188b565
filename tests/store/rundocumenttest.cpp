// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <QTemporaryDir>

#include <telltale/analysis/rundocument.h>
#include <telltale/store/confighistory.h>
#include <telltale/store/runreader.h>

#include "capsulebuilder.h"

namespace rundocumenttest {

using namespace telltale;
using namespace telltale::analysis;
using test::CapsuleBuilder;

namespace {

Blob blobOf(const std::string& kind, const std::string& name, std::int64_t step, std::string bytes)
{
    static int number = 0;
    Blob blob;
    blob.id = kind + "-" + std::to_string(++number);
    blob.parts = 1;
    blob.kind = kind;
    blob.name = name;
    blob.step = Step { step };
    blob.bytes = std::move(bytes);
    return blob;
}

Event eventOf(const std::string& kind, const std::string& json)
{
    Event event;
    event.kind = kind;
    event.step = Step { 1 };
    event.json = json;
    return event;
}

}

/// What a run says of itself, as its ranks and people wrote it. Thread: the test's.
class RunDocumentTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init()
    {
        m_dir = std::make_unique<QTemporaryDir>();
        m_builder = std::make_unique<CapsuleBuilder>(m_dir->filePath(QStringLiteral("run.telltale")).toStdString());
        for (const int rank : { 1, 0 })
            m_streams[rank] = m_builder->addAttempt(Rank { rank }, 0);
    }
    void cleanup() { m_builder.reset(); }

    void aRunThatSaysNothingIsEmpty()
    {
        const RunDocument document = read();
        QVERIFY(document.hyperparameters.empty() && document.environment.empty() && document.config.empty());
        QVERIFY(document.tags.empty() && document.notes.empty());
        QVERIFY(factsOf(document.config).empty());
    }

    void theNewestOfTheLowestRankCounts()
    {
        stage(1,
            { blobOf("hyperparameters", "h", 0, R"({"lr": 9})"),
                blobOf("environment", "e", 0, R"({"host": "b", "torch": "2"})") });
        stage(0,
            { blobOf("hyperparameters", "h", 0, R"({"lr": 1, "b": {"c": [1, 2], "d": "x"}})"),
                blobOf("environment", "e", 0, R"({"host": "a", "torch": "2", "gpu": "H"})"),
                blobOf("config", "config.json", 0, R"({"ops": ["min"]} )") });
        stage(0, { blobOf("hyperparameters", "h", 5, R"({"z": 2, "b": {"c": [], "d": null}, "a": {}})") });
        stage(1, { blobOf("environment", "e", 9, "no json") });
        const RunDocument document = read();
        // The order in which they were written stays.
        QCOMPARE(factsOf(document.hyperparameters),
            (std::vector<Fact> { { "z", "2" }, { "b.c", "[]" }, { "b.d", "null" }, { "a", "{}" } }));
        QCOMPARE(document.environment.at("gpu").get<std::string>(), std::string("H"));
        // What rank 1 said last cannot be read: it says nothing, not something old.
        QVERIFY(document.otherEnvironments.empty());
        QCOMPARE(factsOf(document.config), (std::vector<Fact> { { "ops", R"(["min"])" } }));
        QCOMPARE(toJson(document).at("hyperparameters").at("z").get<int>(), 2);
    }

    /// An agent that puts it in force need not report the file again; one that reports a file later has another.
    void aRevisionInForceIsTheConfig()
    {
        const auto record = [](std::string_view phase, std::int64_t step, const std::string& json) {
            Event event = eventOf("config", json);
            event.phase = phase;
            event.step = Step { step };
            event.rev = 3;
            return event;
        };
        stage(0, { blobOf("config", "config.json", 0, R"({"ops": ["min"]})") });
        append(record(store::configphase::kOffered, 5, R"({"config": {"ops": ["min", "max"]}})"));
        const std::vector<Fact> reported { { "ops", R"(["min"])" } };
        QCOMPARE(factsOf(read().config), reported);
        stage(0, {}, { record(store::configphase::kApplied, 5, "{}") });
        QCOMPARE(factsOf(read().config), (std::vector<Fact> { { "ops", R"(["min","max"])" } }));
        stage(0, { blobOf("config", "config.json", 9, R"({"ops": ["norm"]})") });
        QCOMPARE(factsOf(read().config), (std::vector<Fact> { { "ops", R"(["norm"])" } }));
    }

    void ranksSayWhatDiffers()
    {
        stage(0, { blobOf("environment", "e", 0, R"({"host": "a", "torch": "2"})") });
        stage(1, { blobOf("environment", "e", 0, R"({"host": "b", "torch": "2"})") });
        const RunDocument document = read();
        QCOMPARE(document.otherEnvironments.size(), std::size_t { 1 });
        QCOMPARE(document.otherEnvironments.at(Rank { 1 }).dump(), std::string(R"({"host":"b"})"));
    }

    void aPersonsWordCountsForMoreThanTheTrainings()
    {
        stage(0, {}, { eventOf("tags", R"({"tags": ["a", "b", 3, ""]})"), eventOf("notes", R"({"notes": "own"})") });
        QCOMPARE(read().tags, (std::vector<std::string> { "a", "b" }));
        QCOMPARE(read().notes, std::string("own"));
        QVERIFY(read().notesAuthor.empty());

        append(tagsEvent({ "c" }, { "a" }, Step { 2 }));
        append(notesEvent("mine\nsecond line", Step { 2 }));
        // The training begins again and says its own once more.
        stage(0, {}, { eventOf("tags", R"({"tags": ["a", "b", "d"]})"), eventOf("notes", R"({"notes": "own"})") });
        QCOMPARE(read().tags, (std::vector<std::string> { "b", "c", "d" }));
        QCOMPARE(read().notes, std::string("mine\nsecond line"));
        QCOMPARE(read().notesAuthor, std::string("somebody"));

        append(tagsEvent({ "a" }, {}, Step { 2 }));
        append(notesEvent("", Step { 2 }));
        QCOMPARE(read().tags, (std::vector<std::string> { "b", "c", "d", "a" }));
        QVERIFY(read().notes.empty());
    }

    void documentsAreListedWholeAndInOrder()
    {
        stage(0, { blobOf("text", "sample", 3, "one") });
        stage(1, { blobOf("text", "sample", 1, "two"), blobOf("image", "map", 1, "three") });
        Blob half = blobOf("text", "half", 4, "begin, ");
        half.parts = 2;
        stage(0, { half });
        auto reader = open();
        auto found = CapsuleBuilder::must(reader->documents("text"));
        QCOMPARE(found.size(), std::size_t { 2 });
        QCOMPARE(found[0].rank, Rank { 0 });
        QCOMPARE(found[1].rank, Rank { 1 });
        QCOMPARE(found[1].step, Step { 1 });
        QCOMPARE(CapsuleBuilder::must(reader->document(found[1].id)), std::string("two"));
        const std::int64_t last = found.back().id;
        QVERIFY(CapsuleBuilder::must(reader->documents("text", last)).empty());
        half.part = 1;
        half.bytes = "end";
        stage(0, { half });
        found = CapsuleBuilder::must(reader->documents("text", last));
        QCOMPARE(found.size(), std::size_t { 1 });
        QCOMPARE(CapsuleBuilder::must(reader->document(found[0].id)), std::string("begin, end"));
        QVERIFY(!reader->document(1'000'000));
    }

private:
    void stage(int rank, std::vector<Blob> blobs, std::vector<Event> events = {})
    {
        m_builder->stage(m_streams[rank], {}, {}, std::move(events), std::move(blobs));
        m_builder->commit();
    }
    /// As a person's word comes into the log.
    void append(Event event)
    {
        event.author = "somebody";
        store::OwnRecord record;
        record.token = 1;
        record.event = std::move(event);
        m_builder->writer().stageRecord(std::move(record));
        m_builder->commit();
    }
    std::unique_ptr<store::RunReader> open()
    {
        return CapsuleBuilder::must(store::openReader(m_builder->liveHandle()));
    }
    RunDocument read() { return CapsuleBuilder::must(readRunDocument(*open())); }

    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<CapsuleBuilder> m_builder;
    std::map<int, std::int64_t> m_streams;
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, RunDocumentTest)

}

#include "rundocumenttest.moc"
