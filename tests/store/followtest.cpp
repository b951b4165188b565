// SPDX-License-Identifier: GPL-3.0-or-later
// Event files are read on while somebody writes them: what comes in is what is there in the end, whether a record was
// cut in the middle, a file came later, or a training began again.
#include "testmain.h"

#include <array>
#include <atomic>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <thread>

#include <QTemporaryDir>

#include <telltale/exchange/eventfile.h>
#include <telltale/exchange/foreignreader.h>
#include <telltale/ingest/followimport.h>
#include <telltale/ingest/storetarget.h>
#include <telltale/store/account.h>
#include <telltale/store/archive.h>
#include <telltale/store/runreader.h>
#include <telltale/store/storeservice.h>

#include "verbcall.h"

namespace followtest {

using namespace telltale;
using namespace telltale::test;
namespace fs = std::filesystem;

namespace {

void append(const fs::path& path, std::string_view bytes)
{
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary | std::ios::app) << bytes;
}

std::string scalars(const std::vector<std::string>& tags, std::int64_t step, float value)
{
    std::string out;
    for (const std::string& tag : tags) { // a record a tag, as SummaryWriter.add_scalar has it
        const std::vector<std::string> one { tag };
        exchange::ScalarEvent event(one);
        event.set(std::span(&value, 1), std::array<std::uint8_t, 1> { 1 });
        event.appendTo(out, 1.7e9 + static_cast<double>(step), Step { step });
        value += 1;
    }
    return out;
}

std::string textOf(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    return { std::istreambuf_iterator<char>(file), {} };
}

/// A run's values as `telltale export --to csv` says them, in order.
std::string valuesOf(const std::string& capsule, const fs::path& scratch)
{
    static int number = 0;
    const fs::path csv = scratch / ("values" + std::to_string(++number) + ".csv");
    const Outcome done = call(app::exportVerb, { capsule, "--to", "csv", "-o", csv.string(), "--json" });
    if (done.code != 0)
        throw std::runtime_error(done.err);
    std::vector<std::string> lines;
    std::ifstream file(csv);
    for (std::string line; std::getline(file, line);)
        lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    std::string all;
    for (const std::string& line : lines)
        all += line + '\n';
    return all;
}

}

class FollowTest : public QObject {
    Q_OBJECT
private:
    QTemporaryDir m_folder;
    fs::path m_dir { m_folder.path().toStdString() };
    int m_count = 0;

    fs::path fresh(const std::string& name)
    {
        const fs::path path = m_dir / (name + std::to_string(++m_count));
        fs::create_directories(path);
        return path;
    }
    /// What an import of the whole gives.
    std::string wholeOf(const fs::path& events)
    {
        const fs::path data = fresh("whole");
        const Outcome done = call(app::importVerb, { events.string(), "--data-dir", data.string(), "--json" });
        if (done.json()["runs"].empty())
            throw std::runtime_error(done.err);
        return valuesOf(done.json()["runs"][0]["capsule"].get<std::string>(), m_dir);
    }

    /// Follows what the steps of a story leave, and looks after each.
    struct Following {
        explicit Following(const fs::path& events, const fs::path& data)
        {
            store::StoreOptions options;
            options.dataDir = data.string();
            service = std::move(store::StoreService::start(options).value());
            target = std::make_unique<ingest::StoreTarget>(*service);
            import = std::make_unique<ingest::FollowImport>(std::vector<fs::path> { events }, *target);
        }
        ~Following() { end(); }
        /// As a process that is killed leaves it: nobody says how it ended.
        void drop()
        {
            import.reset();
            target.reset();
            service->stop(60'000);
            service.reset();
        }
        void look(int times = 1)
        {
            for (int i = 0; i < times; ++i) {
                const auto came = import->advance();
                QVERIFY2(came.has_value(), came ? "" : came.error().what.c_str());
            }
            QVERIFY(service->flush(std::chrono::seconds(10)));
        }
        std::string end()
        {
            if (!service)
                return {};
            const auto ended = import->finish("finished");
            if (!ended)
                throw std::runtime_error(ended.error().what);
            std::string capsule = target->capsule();
            import.reset();
            target.reset();
            service->stop(60'000);
            service.reset();
            return capsule;
        }
        std::unique_ptr<store::StoreService> service;
        std::unique_ptr<ingest::StoreTarget> target;
        std::unique_ptr<ingest::FollowImport> import;
    };

private Q_SLOTS:
    void whatGrowsIsSeenAndEndsAsTheWhole()
    {
        const fs::path events = fresh("events");
        const fs::path file = events / "rank_0" / "events.out.tfevents.1.host";
        Following following(events, fresh("data"));
        following.look(); // nothing is there
        append(file, exchange::firstRecord(1.7e9));
        following.look();
        QCOMPARE(following.import->report().processes, 0);
        const std::vector<std::string> tags { "loss", "rate", "grad_reduced.norm/0:a.weight" };
        for (int step = 0; step < 50; ++step) {
            append(file, scalars(tags, step, static_cast<float>(step) * 0.5f));
            if (step % 5 == 0)
                following.look();
        }
        following.look();
        // All but the newest step, which may go on.
        const auto live = following.service->liveRuns();
        QCOMPARE(live.size(), std::size_t { 1 });
        QCOMPARE(store::describeRun(live[0]->locator).lastStep.value, std::int64_t { 48 });
        QCOMPARE(store::describeRun(live[0]->locator).state, store::RunState::Live);
        following.look(6); // quiet for a while
        QCOMPARE(store::describeRun(live[0]->locator).lastStep.value, std::int64_t { 49 });
        // Another rank comes, and another file of the first.
        append(events / "rank_1" / "events.out.tfevents.2.host",
            exchange::firstRecord(1.7e9) + scalars(tags, 60, 1) + scalars(tags, 61, 2));
        append(events / "rank_0" / "events.out.tfevents.2.host",
            exchange::firstRecord(1.7e9) + scalars({ "loss", "late" }, 60, NAN));
        following.look();
        const std::string capsule = following.end();
        QCOMPARE(store::describeRun(store::RunLocator::ofFile(capsule)).state, store::RunState::Finished);
        QCOMPARE(store::describeRun(store::RunLocator::ofFile(capsule)).ranks, 2);
        const std::string values = valuesOf(capsule, m_dir);
        QVERIFY(values.find("nan") != std::string::npos || values.find("NaN") != std::string::npos);
        QCOMPARE(values, wholeOf(events));
    }

    void everyCutOfAFileWaitsForTheRest()
    {
        const fs::path source = fresh("source") / "events.out.tfevents.1.host";
        append(source, exchange::firstRecord(1.7e9));
        for (int step = 0; step < 6; ++step)
            append(source, scalars({ "loss", "rate" }, step, static_cast<float>(step)));
        std::string text;
        exchange::appendText(text, "notes", "what was said", 1.7e9);
        append(source, text);
        const std::string whole = textOf(source);
        const fs::path events = fresh("events");
        const fs::path file = events / "events.out.tfevents.1.host";
        Following following(events, fresh("data"));
        for (const char byte : whole) { // byte by byte
            append(file, std::string_view(&byte, 1));
            following.look();
        }
        const auto damages = following.import->run().damages();
        const std::string capsule = following.end();
        QVERIFY(damages.empty());
        QCOMPARE(valuesOf(capsule, m_dir), wholeOf(events));
        const auto reader = store::openReader({ store::RunLocator::ofFile(capsule), {}, {}, nullptr });
        const auto texts = (*reader)->documents("text");
        QVERIFY(texts && texts->size() == 1);
        QCOMPARE((*texts)[0].name, std::string("notes"));
    }

    void aStepThatGoesOnAfterAWhileIsWhole()
    {
        const fs::path events = fresh("events");
        const fs::path file = events / "events.out.tfevents.1.host";
        Following following(events, fresh("data"));
        append(file, exchange::firstRecord(1.7e9));
        for (int step = 0; step < 4; ++step) {
            append(file, scalars({ "loss", "rate" }, step, 1));
            following.look(8);
            append(file, scalars({ "late", "later" }, step, 5));
            following.look(8);
        }
        append(file, scalars({ "loss" }, 4, 1));
        following.look(8);
        append(file, scalars({ "rate", "late" }, 4, 7));
        const std::string capsule = following.end();
        QCOMPARE(valuesOf(capsule, m_dir), wholeOf(events));
    }

    void aTrainingThatBeganAgainIsAnotherAttempt()
    {
        const fs::path events = fresh("events");
        Following following(events, fresh("data"));
        for (int file = 0; file < 3; ++file) {
            std::string name = "events.out.tfevents.";
            name.append(1, static_cast<char>('0' + file)).append(".host");
            const fs::path path = events / name;
            append(path, exchange::firstRecord(1.7e9));
            for (int step = file * 3; step < 10 + file; ++step) {
                append(path, scalars({ "loss" }, step, static_cast<float>(file * 100 + step)));
                following.look();
            }
        }
        const std::string capsule = following.end();
        QCOMPARE(valuesOf(capsule, m_dir), wholeOf(events));
    }

    void whatWasFollowedBeforeGoesOn()
    {
        const fs::path events = fresh("events");
        const fs::path data = fresh("data");
        const fs::path file = events / "rank_0" / "events.out.tfevents.100.host";
        const std::vector<std::string> tags { "loss", "rate", "grad_reduced.norm/0:a.weight" };
        append(file, exchange::firstRecord(1.7e9) + scalars({ "much too long " + std::string(5000, 'n') }, 1, 1));
        std::string text;
        exchange::appendText(text, "notes", "what was said", 1.7e9);
        append(file, text);
        for (int round = 0; round < 4; ++round) {
            Following following(events, data);
            for (int step = round * 10; step < round * 10 + 10; ++step) {
                append(file, scalars(tags, step, step == 11 ? NAN : static_cast<float>(step) * 0.5f));
                if (step % 3 == 0)
                    following.look();
            }
            if (round == 1) { // of a rank that comes, and names that come, too
                append(events / "rank_1" / "events.out.tfevents.120.host",
                    exchange::firstRecord(1.7e9) + scalars(tags, 12, 1) + scalars(tags, 13, 2));
                append(file, scalars({ "late" }, 19, 7));
            }
            following.look(round == 2 ? 8 : 1); // or the newest step was not taken yet
            QCOMPARE(following.import->goesOn(), round > 0);
            if (round < 3)
                following.drop();
        }
        const auto runs = store::listRuns(data.string());
        QCOMPARE(runs.size(), std::size_t { 1 });
        QCOMPARE(runs[0].state, store::RunState::Finished);
        const std::string capsule = runs[0].locator.text();
        QCOMPARE(valuesOf(capsule, m_dir), wholeOf(events));
        const auto reader = store::openReader({ runs[0].locator, {}, {}, nullptr });
        QCOMPARE((*reader)->documents("text")->size(), std::size_t { 1 });
        const auto accounts = store::readAccounts(runs[0].locator, false);
        QVERIFY(accounts && accounts->size() == 2);
        for (const store::SourceAccount& account : *accounts) {
            QVERIFY(account.samples.stored + account.scalars.stored > 0);
            QCOMPARE(account.samples.missing + account.scalars.missing, std::uint64_t { 0 });
            QCOMPARE(account.samples.beyond + account.scalars.beyond, std::uint64_t { 0 });
        }
        // Nothing new: the run stays as it is, also where a step is told again, which is said.
        const std::string whole = wholeOf(events);
        const std::string again = "values that were told again for a step that the run has (the stored ones stay)";
        for (const int told : { 0, 1 }) {
            if (told > 0)
                append(file, scalars({ "loss" }, 39, 99));
            const Outcome anew = call(
                app::importVerb, { "--follow", "--idle", "1", events.string(), "--data-dir", data.string(), "--json" });
            QCOMPARE(anew.code, 0);
            const auto json = anew.json();
            int said = 0;
            for (const auto& left : json["runs"][0]["left_out"])
                said += left["what"] == again ? left["count"].get<int>() : 0;
            QCOMPARE(said, told);
            QCOMPARE(valuesOf(capsule, m_dir), whole);
        }
        // Another training in the same folder is another run.
        fs::remove_all(events / "rank_0");
        fs::remove_all(events / "rank_1");
        append(events / "rank_0" / "events.out.tfevents.200.host", exchange::firstRecord(1.7e9) + scalars(tags, 12, 5));
        Following(events, data).look();
        QCOMPARE(store::listRuns(data.string()).size(), std::size_t { 2 });
        const Outcome anew = call(app::importVerb,
            { "--follow", "--again", "--idle", "1", events.string(), "--data-dir", data.string(), "--json" });
        QVERIFY(anew.json()["runs"][0]["new"].get<bool>());
        QCOMPARE(store::listRuns(data.string()).size(), std::size_t { 3 });
    }

    /// "-attempt10" stands before "-attempt2": the run numbers them as they come.
    void attemptsThatComeOutOfOrderGoOn()
    {
        const fs::path events = fresh("events");
        const fs::path data = fresh("data");
        for (const char* folder : { "rank_0", "rank_0-attempt2", "rank_0-attempt10" })
            append(events / folder / "events.out.tfevents.1.host",
                exchange::firstRecord(1.7e9) + scalars({ "loss" }, 1, 1) + scalars({ "loss" }, 2, 2));
        std::string first;
        for (int round = 0; round < 3; ++round) {
            Following following(events, data);
            following.look(8);
            following.drop();
            const auto runs = store::listRuns(data.string());
            QCOMPARE(runs.size(), std::size_t { 1 });
            const std::string values = valuesOf(runs[0].locator.text(), m_dir);
            first = round == 0 ? values : first;
            QCOMPARE(values, first);
            QVERIFY(store::verifyRun(runs[0].locator)->problems.empty());
        }
        const auto accounts = store::readAccounts(store::listRuns(data.string())[0].locator, false);
        QCOMPARE(accounts->size(), std::size_t { 3 });
        for (const store::SourceAccount& account : *accounts)
            QCOMPARE(account.scalars.stored, std::uint64_t { 4 }); // and when each step was
    }

    void damageIsPassedOverAndTold()
    {
        const fs::path events = fresh("events");
        const fs::path file = events / "events.out.tfevents.1.host";
        Following following(events, fresh("data"));
        append(file, exchange::firstRecord(1.7e9) + scalars({ "loss" }, 1, 1));
        following.look();
        std::string bad = scalars({ "loss" }, 2, 2);
        bad[3] = 'x'; // of the length: nobody knows where the next one begins
        append(file, bad);
        following.look();
        append(file, scalars({ "loss" }, 3, 3) + scalars({ "loss" }, 4, 4));
        following.look();
        std::string wrong = scalars({ "loss" }, 5, 5);
        wrong[wrong.size() - 6] ^= 1; // of the data
        append(file, wrong + scalars({ "loss" }, 6, 6) + scalars({ "loss" }, 7, 7).substr(0, 20));
        following.look();
        const fs::path data = fs::path(following.service->dataDir());
        const auto ended = following.import->finish("finished");
        QVERIFY(ended.has_value());
        QCOMPARE(following.import->run().damages().size(), std::size_t { 1 });
        const std::string told = following.import->run().damages()[0];
        QVERIFY2(told.find("2 records are damaged") != std::string::npos, told.c_str());
        QVERIFY2(told.find("ends within a record") != std::string::npos, told.c_str());
        QCOMPARE(following.import->report().scalars, std::uint64_t { 8 }); // 1, 3, 4, 6, and when each was
    }

    void theVerbEndsWhenNothingComes()
    {
        const fs::path events = fresh("events");
        const fs::path data = fresh("data");
        append(events / "events.out.tfevents.1.host",
            exchange::firstRecord(1.7e9) + scalars({ "loss" }, 1, 1) + scalars({ "loss" }, 2, 2));
        const Outcome done = call(
            app::importVerb, { "--follow", "--idle", "1", events.string(), "--data-dir", data.string(), "--json" });
        QVERIFY2(done.code == 0, done.err.c_str());
        const auto run = done.json()["runs"][0];
        QCOMPARE(run["ended"].get<std::string>(), std::string("idle"));
        QCOMPARE(valuesOf(run["capsule"].get<std::string>(), m_dir), wholeOf(events));
        QVERIFY(call(app::importVerb, { "--idle", "1", events.string(), "--data-dir", data.string() }).code == 2);
        const fs::path csv = m_dir / "notes.txt";
        append(csv, "nothing");
        const Outcome bad = call(app::importVerb, { "--follow", csv.string(), "--data-dir", data.string() });
        QVERIFY(bad.code == 2 && bad.err.find("they alone can be followed") != std::string::npos);
    }

    void ctrlCLeavesARunThatWasInterrupted()
    {
        const fs::path events = fresh("events");
        const fs::path data = fresh("data");
        append(events / "events.out.tfevents.1.host",
            exchange::firstRecord(1.7e9) + scalars({ "loss" }, 1, 1) + scalars({ "loss" }, 2, 2));
        std::atomic_bool isOver { false };
        std::thread user([&] { // as soon as the run is there
            while (!isOver && store::listRuns(data.string()).empty())
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
            std::raise(SIGINT);
        });
        const Outcome done
            = call(app::importVerb, { "--follow", events.string(), "--data-dir", data.string(), "--json" });
        isOver = true;
        user.join();
        QVERIFY2(done.code == 0, done.err.c_str());
        QCOMPARE(done.json()["runs"][0]["ended"].get<std::string>(), std::string("interrupted"));
        const auto runs = store::listRuns(data.string());
        QCOMPARE(runs.size(), std::size_t { 1 });
        QCOMPARE(runs[0].state, store::RunState::Interrupted);
        QCOMPARE(runs[0].lastStep.value, std::int64_t { 2 });
    }
};

TELLTALE_TEST(QTEST_APPLESS_MAIN, FollowTest)

}

#include "followtest.moc"
