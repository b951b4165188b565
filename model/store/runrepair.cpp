// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/runrepair.h>

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/core/bytes.h>
#include <telltale/core/plaintext.h>
#include <telltale/store/capsulefile.h>
#include <telltale/store/filerescue.h>
#include <telltale/store/newrunfile.h>
#include <telltale/store/rowsalvage.h>
#include <telltale/store/runfiles.h>
#include <telltale/store/schema.h>
#include <telltale/store/tilerepair.h>

namespace telltale::store {
namespace {

using Sentences = std::vector<std::string>;

constexpr double kShareOfRescue = 0.1;
constexpr double kShareOfCopying = 0.7; ///< of the rest
constexpr std::size_t kMostInLog = 200; ///< sentences of the log's record; its text has their number

struct SalvagedTable {
    const char* name;
    const char* what; ///< for people
    double share; ///< of the work, about
};
constexpr SalvagedTable kSalvagedTables[] { { "meta", "what the run says of itself", 0.01 },
    { "source", "the list of ranks", 0.01 }, { "stream", "the list of streams", 0.01 },
    { "layout", "the list of layouts", 0.01 }, { "grp", "the list of groups", 0.01 },
    { "series", "the list of series", 0.05 }, { "tail", "the newest steps", 0.05 },
    { "tile", "the stored values", 0.7 }, { "callorder", "the order of calls", 0.01 }, { "event", "the log", 0.05 },
    { "blob", "the documents", 0.05 }, { "dropped", "the list of what was dropped", 0.02 },
    { "quarantine", "the list of refused batches", 0.02 } };

tl::unexpected<Error> repairCanceled()
{
    return failure(ErrorCode::Canceled, "the repair was canceled: nothing was written");
}

Expected<void> copyTables(sqlite3* from, sqlite3* to, Sentences& lost, const Progress& progress)
{
    double begin = 0;
    for (const auto& [name, what, share] : kSalvagedTables) {
        const auto rows = salvageRows(from, to, name, partOf(progress, begin, begin + share));
        begin += share;
        if (!rows)
            return tl::unexpected(rows.error());
        if (rows->stretches > 0)
            lost.push_back(fmt::format("a part of {} is lost: {} of the file cannot be read, {} can", what,
                countText(rows->stretches, "stretch", "stretches"), countText(rows->rows, "row", "rows")));
        if (rows->unfit > 0)
            lost.push_back(
                fmt::format("{} of {} are lost: they are none", countText(rows->unfit, "row", "rows"), what));
    }
    return {};
}

/// Takes out what has another checksum than it was stored with.
Expected<void> dropDamagedBlobs(sqlite3* db, Sentences& lost)
{
    struct {
        const char* table;
        const char* what;
        const char* data;
    } const tables[] { { "tail", "a batch of the newest steps", "data" }, { "blob", "a part of a document", "data" },
        { "quarantine", "a refused batch", "data" }, { "layout", "a layout, and with it its series", "bytes" } };
    for (const auto& [table, what, data] : tables) {
        std::vector<std::int64_t> bad;
        auto ok
            = forEachRow(db, fmt::format("SELECT rowid, crc, {} FROM {}", data, table), [&bad](const Statement& row) {
                  if (crc32c(row.blob(2)) != static_cast<std::uint32_t>(row.integer(1)))
                      bad.push_back(row.integer(0));
              });
        for (const std::int64_t id : bad) {
            if (ok)
                ok = execute(db, fmt::format("DELETE FROM {} WHERE rowid = {}", table, id).c_str());
            lost.push_back(fmt::format("{} is lost: {} {} has a wrong checksum", what, table, id));
        }
        if (!ok)
            return ok;
    }
    return {};
}

/// A document has all of its parts or is none.
Expected<void> dropPartDocuments(sqlite3* db, Sentences& lost)
{
    constexpr const char* kPart
        = "SELECT stream, blob_id FROM blob GROUP BY stream, blob_id HAVING count(*) < max(parts)";
    auto ok = forEachRow(db,
        fmt::format("SELECT kind, name FROM blob WHERE (stream, blob_id) IN ({}) GROUP BY stream, blob_id", kPart),
        [&lost](const Statement& row) {
            lost.push_back(fmt::format("the {} {} is lost: a part of it is missing", row.text(0), row.text(1)));
        });
    return ok ? execute(db, fmt::format("DELETE FROM blob WHERE (stream, blob_id) IN ({})", kPart).c_str()) : ok;
}

/// What is known of the whole file, and would be said of the new one for ever.
Expected<void> settleMeta(sqlite3* db, const std::string& lostLog, Sentences& lost)
{
    if (!lostLog.empty())
        lost.push_back(lostLog);
    auto ok = forEachRow(
        db, "SELECT rank, attempt FROM source WHERE " + sourceWasChanged(), [&lost](const Statement& row) {
            lost.push_back(fmt::format("what the run says of rank {} (attempt {}) was changed by something else than a "
                                       "recorder, and is kept as it is",
                row.integer(0), row.integer(1)));
        });
    if (ok)
        ok = execute(db, "DELETE FROM meta WHERE key = 'log_lost'");
    return ok ? execute(db,
               ("INSERT OR REPLACE INTO meta(key, value) SELECT 'source.' || source.id, " + sourceText()
                   + " FROM source WHERE " + sourceWasChanged())
                   .c_str())
              : ok;
}

Event repairedEvent(const RunLocator& run, const RepairReport& report)
{
    Event event;
    event.kind = "repaired";
    event.text = "repaired from " + std::filesystem::path(run.text()).filename().string() + ": "
        + (report.lost.empty() ? "nothing was lost"
                               : countText(report.lost.size(), "thing", "things") + " could not be read");
    auto lost = nlohmann::json::array();
    for (std::size_t i = 0; i < std::min(report.lost.size(), kMostInLog); ++i)
        lost.push_back(report.lost[i]);
    event.json
        = nlohmann::json { { "lost", std::move(lost) } }.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return event;
}

Expected<void> salvage(
    sqlite3* from, const std::string& draft, const std::string& lostLog, Sentences& lost, const Progress& progress)
{
    auto db = openDatabase(draft, OpenMode::Create);
    if (!db)
        return tl::unexpected<Error>(std::move(db.error()));
    auto ok = execute(db->get(), "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF");
    if (ok)
        ok = createSchema(db->get());
    if (ok)
        ok = execute(db->get(), "BEGIN");
    if (ok)
        ok = copyTables(from, db->get(), lost, partOf(progress, 0, kShareOfCopying));
    if (ok
        && queryInteger(db->get(),
               "SELECT EXISTS(SELECT 1 FROM meta WHERE key = 'store_id') AND (EXISTS(SELECT 1 FROM tile) OR "
               "EXISTS(SELECT 1 FROM tail) OR EXISTS(SELECT 1 FROM event) OR EXISTS(SELECT 1 FROM blob))")
                .value_or(0)
            == 0)
        return failure(ErrorCode::Damaged, "nothing of what it holds can be read");
    // What is broken off while it is read would be taken for lost: only what follows is.
    ProgressWatch watch(db->get(), progress);
    if (ok && watch.tell(kShareOfCopying))
        ok = dropDamagedBlobs(db->get(), lost);
    if (ok)
        ok = dropPartDocuments(db->get(), lost);
    if (ok)
        ok = repairTiles(db->get(), lost);
    if (ok)
        ok = settleMeta(db->get(), lostLog, lost);
    if (watch.isCanceled())
        return repairCanceled();
    return ok ? execute(db->get(), "COMMIT") : ok;
}

}

Expected<RepairReport> repairRun(const RunLocator& run, const std::string& to, const Progress& progress)
{
    const std::string& path = run.text();
    RunSummary summary = describeRun(run);
    if (summary.state == RunState::Live)
        return failure(ErrorCode::Busy, "the run " + path + " is being recorded", "repair it when it has ended");
    auto from = openForReading(path);
    if (!from && from.error().code != ErrorCode::Damaged)
        return failure(from.error().code, "cannot repair " + path + ": " + from.error().what, from.error().todo);
    auto file = NewRunFile::begin(to);
    if (!file)
        return tl::unexpected<Error>(std::move(file.error()));
    RepairReport report;
    FileRescue rescue(path, file->draft() + "-rescue");
    if (!from) {
        from = rescue.open(report.lost, partOf(progress, 0, kShareOfRescue));
        if (!from && from.error().code == ErrorCode::Canceled)
            return repairCanceled();
        if (!from)
            return failure(from.error().code, "cannot repair " + path + ": " + from.error().what, from.error().todo);
        summary = describeRun(RunLocator::ofFile(rescue.copy()));
    }
    auto ok = salvage(from->get(), file->draft(), lostLogSentence(from->get(), path), report.lost,
        partOf(progress, kShareOfRescue, 1));
    if ((!ok && ok.error().code == ErrorCode::Canceled) || (progress && !progress(1)))
        return repairCanceled();
    if (!ok)
        return failure(ok.error().code, "cannot repair " + path + ": " + ok.error().what, ok.error().todo);
    const RunState state = endedState(summary.state);
    if (auto sealed = file->seal(state, summary.modifiedNs); !sealed) {
        // The newest steps are those that nobody has looked at yet: without them the rest is a run.
        report.lost.push_back("the newest steps are lost: " + sealed.error().what);
        auto db = openDatabase(file->draft(), OpenMode::Write);
        ok = db ? execute(db->get(), "DELETE FROM tail") : tl::unexpected<Error>(db.error());
        if (!ok)
            return tl::unexpected<Error>(std::move(ok.error()));
    }
    if (ok = file->finish(repairedEvent(run, report), state, summary.modifiedNs); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    return report;
}

}
