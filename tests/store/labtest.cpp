// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <QLocale>
#include <QTemporaryDir>

#include <telltale/judge/runjudge.h>
#include <telltale/lab/replay.h>
#include <telltale/lab/suggestion.h>

#include "madeuptraining.h"

namespace labtest {

using namespace telltale;
using namespace telltale::lab;
using namespace telltale::test;
using judge::Incident;
using Label = judge::Incident::Label;

namespace {

Incident at(int step, const char* name, const char* rule = "level", Label label = Label::None, int rank = 0)
{
    Incident incident;
    incident.first.rule = rule;
    incident.first.step = incident.opened = incident.lastStep = Step { step };
    incident.first.rank = Rank { rank };
    incident.first.kind = Kind::GradReduced;
    incident.first.name = name;
    incident.key = std::string(rule) + '/' + std::to_string(step);
    incident.label = label;
    return incident;
}

Incident openedAt(Incident incident, int step)
{
    incident.opened = Step { step };
    return incident;
}

/// Counts what is read past the memory.
class CountingReader final : public store::RunReader {
public:
    explicit CountingReader(store::RunReader& reader)
        : m_reader(reader)
    {
    }
    int reads = 0;

    Expected<std::shared_ptr<const store::Catalog>> catalog() override { return m_reader.catalog(); }
    Expected<store::LogPage> log(store::LogCursor after, const store::LogFilter& filter, std::size_t limit) override
    {
        return m_reader.log(after, filter, limit);
    }
    Expected<series::CurveResult> curve(const series::CurveQuery& query, const series::CancelToken& cancel) override
    {
        return m_reader.curve(query, cancel);
    }
    Expected<series::HeatResult> heatmap(const series::HeatQuery& query, const series::CancelToken& cancel) override
    {
        ++reads;
        return m_reader.heatmap(query, cancel);
    }
    Expected<std::vector<series::CellValue>> column(
        Step step, Stat stat, std::span<const series::RowAttempts> rows, bool nearest) override
    {
        ++reads;
        return m_reader.column(step, stat, rows, nearest);
    }
    Expected<void> raw(const series::RowAttempts& row, Stat stat, StepRange range,
        const std::function<bool(const series::RawValue&)>& sink) override
    {
        return m_reader.raw(row, stat, range, sink);
    }
    Expected<std::string> blob(const std::string& kind, const std::string& name, Step step) override
    {
        return m_reader.blob(kind, name, step);
    }
    Expected<std::vector<store::DocumentInfo>> documents(const std::string& kind, std::int64_t after) override
    {
        return m_reader.documents(kind, after);
    }
    Expected<std::string> document(std::int64_t id) override { return m_reader.document(id); }

private:
    store::RunReader& m_reader;
};

}

/// Rules against what people said: hits, false alarms, what is missed, lead time, suggestions. Thread: test.
class LabTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void placesNearEachOtherAreOne()
    {
        const Incident one = at(150, "layers.1.fc.weight");
        QVERIFY(isSame(one, at(150, "layers.1.fc.weight")));
        QVERIFY(isSame(one, at(200, "layers.1.fc", "nonfinite")));
        QVERIFY(!isSame(one, at(201, "layers.1.fc.weight")));
        QVERIFY(!isSame(one, at(150, "layers.2.fc.weight")));
        QVERIFY(!isSame(one, at(150, "layers.1.fc.weight", "level", Label::None, 1)));
        QVERIFY(isSame(one, at(150, "layers.1.fc.weight", "level", Label::None, -1)));
    }

    void labelsAreTheTruth()
    {
        Truth truth;
        truth.labeled = { at(50, "layers.0.fc", "level", Label::True), at(150, "layers.1.fc", "level", Label::True),
            at(250, "layers.2.fc", "drift", Label::True), at(350, "layers.3.fc", "level", Label::False) };
        QCOMPARE(truth.count(Label::True), 3);
        const std::vector<Incident> before { at(50, "layers.0.fc"), at(150, "layers.1.fc"),
            at(250, "layers.2.fc", "drift"), at(350, "layers.3.fc") };
        const std::vector<Incident> after { openedAt(at(50, "layers.0.fc"), 46), openedAt(at(150, "layers.1.fc"), 148),
            at(355, "layers.3.fc", "loss"), at(450, "head") };
        const Comparison found = compare(truth, before, after);
        // One that nobody has labeled is neither a hit nor a false alarm.
        QCOMPARE(found.all, (Score { "", 4, 4, 2, 1, 1, 2 }));
        QCOMPARE(found.rules.size(), std::size_t { 3 });
        QCOMPARE(found.rules[0], (Score { "level", 3, 3, 2, 0, 0, 2 }));
        QCOMPARE(found.rules[1], (Score { "loss", 0, 1, 0, 0, 1, {} }));
        QCOMPARE(found.rules[2], (Score { "drift", 1, 0, 0, 1, 0, {} }));
        QCOMPARE(found.appeared.size(), std::size_t { 1 });
        QCOMPARE(found.appeared.front().first.name, std::string("head"));
        QCOMPARE(found.vanished.size(), std::size_t { 1 });
        QCOMPARE(found.vanished.front().first.name, std::string("layers.2.fc"));
    }

    void inACleanRunAllElseIsFalse()
    {
        Truth truth;
        truth.isClean = true;
        truth.labeled = { at(50, "layers.0.fc", "level", Label::True) };
        const std::vector<Incident> found { at(50, "layers.0.fc"), at(150, "layers.1.fc") };
        QCOMPARE(compare(truth, {}, found).all, (Score { "", 0, 2, 1, 0, 1, 0 }));
        truth.isClean = false;
        QCOMPARE(compare(truth, {}, found).all.falseAlarms, 0);
    }

    void aSuggestionSeparatesOrSaysThatNoneDoes()
    {
        // What is false is found up to 5, what is true up to 20.
        const std::vector<Trial> trials { { 2, 3, 0, 2 }, { 4, 3, 0, 1 }, { 6, 3, 0, 0 }, { 10, 3, 0, 0 },
            { 16, 3, 0, 0 }, { 25, 1, 2, 0 }, { 40, 0, 3, 0 } };
        const auto found = suggest(trials, 4);
        QVERIFY(found && found->separates);
        QCOMPARE(found->best.value, 10.0);
        QCOMPARE(found->from, 6.0);
        QCOMPARE(found->to, 16.0);
        QCOMPARE(found->now.falseAlarms, 1);
        // What is as good already stays.
        QCOMPARE(suggest(trials, 6)->best.value, 6.0);
        QCOMPARE(suggest(trials, 6)->from, 6.0);
        // No value does both: the best that there is.
        const auto none = suggest({ { 2, 2, 0, 2 }, { 4, 1, 1, 2 }, { 6, 1, 1, 1 }, { 8, 0, 2, 1 } }, 2);
        QVERIFY(none && !none->separates);
        QCOMPARE(none->best.value, 2.0);
        // Nothing to separate.
        QVERIFY(!suggest({ { 2, 2, 0, 0 }, { 4, 1, 1, 0 } }, 2));
        QVERIFY(!suggest({ { 2, 0, 0, 1 }, { 4, 0, 0, 0 } }, 2));
    }

    void whatIsTriedIsWithinTheTable()
    {
        for (const judge::RuleInfo& info : judge::ruleTable()) {
            for (const judge::Parameter& parameter : info.parameters) {
                if (parameter.name.empty())
                    continue;
                const double now = (parameter.standard + parameter.least) / 2;
                const std::vector<double> values = valuesToTry(parameter, now);
                QVERIFY(values.size() >= 5 && std::is_sorted(values.begin(), values.end()));
                QVERIFY(values.front() >= parameter.least && values.back() <= parameter.most);
                for (const double one : values)
                    QVERIFY2(one == now || QString::number(one, 'g', QLocale::FloatingPointShortest).size() <= 8,
                        qPrintable(QString::number(one, 'g', QLocale::FloatingPointShortest)));
                for (const double one : { now, parameter.standard })
                    QVERIFY(std::find(values.begin(), values.end(), one) != values.end());
            }
        }
    }

    void aRunIsJudgedAgainWithoutReadingIt()
    {
        const QTemporaryDir dir;
        const std::string folder = dir.path().toStdString();
        const std::string path = folder + "/run.telltale";
        CapsuleBuilder builder(path);
        Training training;
        training.ranks = 2;
        training.steps = 400;
        training.hasChecksums = true;
        // Six times as large for three steps, and hundred times at another.
        training.value = [](int rank, int step, Kind kind, const std::string& name, double usual) {
            const bool isIt = rank == 1 && kind == Kind::GradReduced && name.starts_with("layers.1");
            return usual * (isIt && step >= 200 && step < 203 ? 6 : isIt && step == 320 ? 100 : 1);
        };
        training.write(builder);
        std::uint64_t token = 0;
        const auto write = [&](const Event& event) {
            builder.writer().stageRecord({ ++token, builder.locator(), Rank { -1 }, event });
            builder.commit();
        };
        std::vector<Incident> found;
        {
            const auto reader = CapsuleBuilder::must(store::openReader(builder.liveHandle()));
            judge::Rules low;
            low.setValue(judge::Rule::Level, 0, 3);
            judge::RunJudge judge(low);
            CapsuleBuilder::must(judge.judgeAll(*reader));
            found = judge.incidents();
        }
        QCOMPARE(found.size(), std::size_t { 2 });
        for (const Incident& incident : found)
            write(judge::incidentEvent(incident, 1));
        judge::IncidentBook book;
        {
            const auto reader = CapsuleBuilder::must(store::openReader(builder.liveHandle()));
            CapsuleBuilder::must(book.update(*reader));
        }
        write(judge::annotationEvent(
            { book.inOrder()[0]->id, judge::Annotation::Action::False, {} }, Step { 200 }, "me", 2));
        write(judge::annotationEvent(
            { book.inOrder()[1]->id, judge::Annotation::Action::True, {} }, Step { 320 }, "me", 2));
        write(cleanEvent(true, Step { 399 }, "me", 3));
        builder.finish();

        const auto reader = CapsuleBuilder::must(store::openReader(builder.handle()));
        CountingReader counting(*reader);
        LabRun run;
        const auto first = CapsuleBuilder::must(run.replay(counting, folder, nullptr));
        QVERIFY(first.truth.isClean && first.truth.labeled.size() == 2);
        QVERIFY(counting.reads > 0 && first.isWhole && run.bytes() > 0);
        const int read = counting.reads;
        std::vector<Trial> trials;
        for (const double z : { 2.0, 4.0, 6.0, 12.0, 50.0, 100.0 }) {
            judge::Rules rules;
            rules.setValue(judge::Rule::Level, 0, z);
            const auto again = CapsuleBuilder::must(run.replay(counting, folder, &rules));
            judge::RunJudge judge(rules);
            CapsuleBuilder::must(judge.judgeAll(*reader));
            QVERIFY2(again.after == judge.incidents(), std::to_string(z).c_str());
            const Score& score = again.comparison.all;
            trials.push_back({ z, score.hits, score.missed, score.falseAlarms });
        }
        // The words of an incident are the only thing that may need another look.
        QVERIFY2(counting.reads - read <= 12, std::to_string(counting.reads - read).c_str());
        const auto suggestion = suggest(trials, 4);
        QVERIFY(suggestion && suggestion->separates);
        QVERIFY(suggestion->best.hits == 1 && suggestion->best.falseAlarms == 0);
        // Somebody else wants something newer.
        const auto cancel = std::make_shared<std::atomic<bool>>(true);
        judge::Rules rules;
        rules.setValue(judge::Rule::Level, 0, 7);
        const auto canceled = run.replay(counting, folder, &rules, cancel);
        QVERIFY(!canceled && canceled.error().code == ErrorCode::Canceled);
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, LabTest)

}

#include "labtest.moc"
