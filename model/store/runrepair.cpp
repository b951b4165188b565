// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/runrepair.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

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
#include <telltale/store/storedtile.h>
#include <telltale/store/tilecodec.h>
#include <telltale/store/tilerow.h>

namespace telltale::store {
namespace {

using Sentences = std::vector<std::string>;

constexpr std::size_t kMostInLog = 200; ///< sentences of the log's record; its text has their number

struct SalvagedTable {
    const char* name;
    const char* what; ///< for people
};
constexpr SalvagedTable kSalvagedTables[] { { "meta", "what the run says of itself" },
    { "source", "the list of ranks" }, { "stream", "the list of streams" }, { "layout", "the list of layouts" },
    { "grp", "the list of groups" }, { "series", "the list of series" }, { "tail", "the newest steps" },
    { "tile", "the stored values" }, { "callorder", "the order of calls" }, { "event", "the log" },
    { "blob", "the documents" }, { "dropped", "the list of what was dropped" },
    { "quarantine", "the list of refused batches" } };

Expected<void> copyTables(sqlite3* from, sqlite3* to, Sentences& lost)
{
    for (const auto& [name, what] : kSalvagedTables) {
        const auto rows = salvageRows(from, to, name);
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

class TileRepair {
public:
    TileRepair(sqlite3* db, Sentences& lost)
        : m_db(db)
        , m_lost(lost)
    {
    }

    Expected<void> run()
    {
        auto ok = dropDamaged();
        if (ok)
            ok = dropUncounted();
        if (ok)
            ok = fillHoles();
        for (const auto& found : m_found) {
            const Lost& tiles = found.second;
            m_lost.push_back(tiles.tile.place() + " is lost"
                + (tiles.count > 1 ? fmt::format(": {} tiles in these steps", tiles.count) : std::string()));
        }
        return ok;
    }

private:
    struct Lost {
        StoredTile tile; ///< with the steps of all
        std::size_t count = 0;
    };

    void add(const StoredTile& tile)
    {
        Lost& all = m_found.try_emplace({ tile.kind, tile.stat, tile.rank }, Lost { tile, 0 }).first->second;
        all.tile.steps
            = { std::min(all.tile.steps.first, tile.steps.first), std::max(all.tile.steps.last, tile.steps.last) };
        ++all.count;
    }

    Expected<void> dropDamaged()
    {
        std::vector<std::int64_t> bad;
        auto ok = forEachRow(m_db, kTileRows, [this, &bad](const Statement& row) {
            const StoredTile tile = StoredTile::of(row);
            if (tile.isWhole && isInPlace(row))
                return;
            bad.push_back(tile.id);
            if (row.integer(8) == 0) // a coarser one is made of those: nothing is lost with it
                m_dropped.emplace(std::tuple(row.integer(12), row.integer(9), row.integer(3)), tile);
        });
        for (const std::int64_t id : bad) {
            if (ok)
                ok = execute(m_db, ("DELETE FROM tile WHERE id = " + std::to_string(id)).c_str());
        }
        return ok;
    }

    /// Without the counts of its non-finite elements a value would look finite that was not.
    Expected<void> dropUncounted()
    {
        std::string lacking;
        for (const Stat count : { Stat::Nans, Stat::PosInfs, Stat::NegInfs }) {
            const int stat = static_cast<int>(count);
            lacking
                += fmt::format("{}(instr(grp.stats, x'{:02X}') > 0 AND NOT EXISTS(SELECT 1 FROM tile AS other WHERE "
                               "other.lvl = 0 AND other.stat = {} AND other.grp = tile.grp AND other.c0 = tile.c0))",
                    lacking.empty() ? "" : " OR ", stat, stat);
        }
        std::vector<std::int64_t> bad;
        auto ok = forEachRow(
            m_db, std::string(kTileRows) + " WHERE tile.lvl = 0 AND (" + lacking + ")", [&](const Statement& row) {
                bad.push_back(row.integer(0));
                m_dropped.emplace(std::tuple(row.integer(12), row.integer(9), row.integer(3)), StoredTile::of(row));
                m_steps.try_emplace({ row.integer(12), row.integer(9) }, stepsOf(row));
            });
        for (const std::int64_t id : bad) {
            if (ok)
                ok = execute(m_db, ("DELETE FROM tile WHERE id = " + std::to_string(id)).c_str());
        }
        return ok;
    }

    static std::vector<Step> stepsOf(const Statement& row)
    {
        const auto view = openTile(row.blob(2));
        return view ? view->firstSteps() : std::vector<Step>();
    }

    /// Every statistic of every group of a layout has the same columns: what lacks one gets it with nothing collected.
    Expected<void> fillHoles()
    {
        struct Group {
            int lanes = 0;
            std::string stats;
            std::pair<std::int64_t, std::int64_t> layout;
            Kind kind = Kind::Unspecified;
            Rank rank;
        };
        std::map<std::int64_t, Group> groups;
        auto ok = forEachRow(m_db,
            "SELECT grp.id, series, stats, stream, layout, kind, rank FROM grp LEFT JOIN source ON source.id = "
            "grp.source",
            [&](const Statement& row) {
                groups[row.integer(0)]
                    = { static_cast<int>(row.integer(1)), std::string(row.blob(2)), { row.integer(3), row.integer(4) },
                          static_cast<Kind>(row.integer(5)), Rank { static_cast<std::int32_t>(row.integer(6)) } };
            });
        std::set<std::tuple<std::int64_t, std::int64_t, char>> there; // group, column, statistic
        std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::vector<Step>> columns; // layout, column
        const auto learn = [&](std::int64_t group, std::int64_t column, const auto& steps) {
            const auto of = groups.find(group);
            if (of == groups.end())
                return;
            auto& known = columns[{ of->second.layout.first, of->second.layout.second, column }];
            if (known.empty())
                known = steps();
        };
        if (ok)
            ok = forEachRow(m_db, std::string(kTileRows) + " WHERE tile.lvl = 0", [&](const Statement& row) {
                there.emplace(row.integer(12), row.integer(9), static_cast<char>(row.integer(3)));
                learn(row.integer(12), row.integer(9), [&row] { return stepsOf(row); });
            });
        for (const auto& [place, steps] : m_steps)
            learn(place.first, place.second, [&known = steps] { return known; });
        auto insert = Statement::prepare(m_db,
            "INSERT INTO tile(lvl, stat, grp, c0, first_step, last_step, crc, data) VALUES(0, ?, ?, ?, ?, ?, ?, ?)");
        if (!ok || !insert)
            return ok ? tl::unexpected<Error>(insert.error()) : ok;
        for (const auto& [id, group] : groups) {
            const auto from = std::tuple(group.layout.first, group.layout.second, std::int64_t { -1 });
            for (auto at = columns.lower_bound(from); at != columns.end()
                 && std::get<0>(at->first) == group.layout.first && std::get<1>(at->first) == group.layout.second;
                 ++at) {
                for (const char stat : group.stats) {
                    const std::int64_t column = std::get<2>(at->first);
                    if (at->second.empty() || there.contains({ id, column, stat }))
                        continue;
                    if (ok = writeHole(*insert, { 0, stat, id, column, 0, 0 }, group.lanes, at->second); !ok)
                        return ok;
                    const auto [low, high] = std::minmax_element(at->second.begin(), at->second.end());
                    add({ 0, static_cast<Stat>(stat), group.kind, group.rank, { *low, *high }, 0, false });
                    m_dropped.erase({ id, column, stat });
                }
            }
        }
        for (const auto& dropped : m_dropped)
            add(dropped.second); // of steps of which nothing is left
        return {};
    }

    static Expected<void> writeHole(Statement& insert, TileRow row, int lanes, const std::vector<Step>& steps)
    {
        const std::string nothing(static_cast<std::size_t>(lanes) * steps.size(), '\0');
        TilePlanes planes;
        planes.lanes = lanes;
        planes.columns = static_cast<int>(steps.size());
        planes.firstSteps = steps;
        planes.presence = reinterpret_cast<const std::uint8_t*>(nothing.data());
        planes.planes.resize(1);
        const std::string data = encodeTile(planes);
        row.firstStep = std::min_element(steps.begin(), steps.end())->value;
        row.lastStep = std::max_element(steps.begin(), steps.end())->value;
        return insert.run(
            row.stat, row.group, row.firstColumn, row.firstStep, row.lastStep, row.crcWith(data), Bytes { data });
    }

    sqlite3* m_db;
    Sentences& m_lost;
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, StoredTile> m_dropped; ///< group, column, statistic
    std::map<std::tuple<Kind, Stat, Rank>, Lost> m_found;
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Step>> m_steps; ///< group, column: of what was dropped
};

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

Expected<void> salvage(sqlite3* from, const std::string& draft, const std::string& lostLog, Sentences& lost)
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
        ok = copyTables(from, db->get(), lost);
    if (ok
        && queryInteger(db->get(),
               "SELECT EXISTS(SELECT 1 FROM meta WHERE key = 'store_id') AND (EXISTS(SELECT 1 FROM tile) OR "
               "EXISTS(SELECT 1 FROM tail) OR EXISTS(SELECT 1 FROM event) OR EXISTS(SELECT 1 FROM blob))")
                .value_or(0)
            == 0)
        return failure(ErrorCode::Damaged, "nothing of what it holds can be read");
    if (ok)
        ok = dropDamagedBlobs(db->get(), lost);
    if (ok)
        ok = dropPartDocuments(db->get(), lost);
    if (ok)
        ok = TileRepair(db->get(), lost).run();
    if (ok)
        ok = settleMeta(db->get(), lostLog, lost);
    return ok ? execute(db->get(), "COMMIT") : ok;
}

}

Expected<RepairReport> repairRun(const RunLocator& run, const std::string& to)
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
        from = rescue.open(report.lost);
        if (!from)
            return failure(from.error().code, "cannot repair " + path + ": " + from.error().what, from.error().todo);
        summary = describeRun(RunLocator::ofFile(rescue.copy()));
    }
    if (auto ok = salvage(from->get(), file->draft(), lostLogSentence(from->get(), path), report.lost); !ok)
        return failure(ok.error().code, "cannot repair " + path + ": " + ok.error().what, ok.error().todo);
    const RunState state = endedState(summary.state);
    if (auto sealed = file->seal(state, summary.modifiedNs); !sealed) {
        // The newest steps are those that nobody has looked at yet: without them the rest is a run.
        report.lost.push_back("the newest steps are lost: " + sealed.error().what);
        auto db = openDatabase(file->draft(), OpenMode::Write);
        auto ok = db ? execute(db->get(), "DELETE FROM tail") : tl::unexpected<Error>(db.error());
        if (!ok)
            return tl::unexpected<Error>(std::move(ok.error()));
    }
    if (auto ok = file->finish(repairedEvent(run, report), state, summary.modifiedNs); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    return report;
}

}
