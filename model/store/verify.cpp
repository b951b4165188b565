// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/runstore.h>

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include <telltale/core/bytes.h>
#include <telltale/store/capsulefile.h>
#include <telltale/store/sqlite.h>
#include <telltale/store/storedtile.h>

namespace telltale::store {
namespace {

constexpr double kShareOfTiles = 0.7; ///< of the work; most of the rest is the file's structure

/// Why the rows end early, if they do.
template <typename Take> std::string forEachRow(Statement& rows, const Take& take)
{
    for (;;) {
        auto more = rows.step();
        if (!more)
            return more.error().what;
        if (!*more)
            return {};
        take(rows);
    }
}

bool contains(const std::vector<Stat>& stats, Stat stat)
{
    return stats.empty() || std::find(stats.begin(), stats.end(), stat) != stats.end();
}

}

Expected<VerifyReport> CapsuleStore::verify(const RunLocator& run, const Progress& progress) const
{
    const std::string& path = run.text();
    auto db = openForReading(path);
    if (!db)
        return tl::unexpected<Error>(std::move(db.error()));
    ProgressWatch watch(db->get(), progress);
    const auto count = queryInteger(db->get(), "SELECT count(*) FROM tile");
    const double all = static_cast<double>(std::max<std::int64_t>(count.value_or(0), 1)) / kShareOfTiles;
    VerifyReport report;
    if (std::string lost = lostLogSentence(db->get(), path); !lost.empty())
        report.problems.push_back(std::move(lost));
    auto tiles = Statement::prepare(db->get(), kTileRows);
    if (!tiles)
        return tl::unexpected<Error>(std::move(tiles.error()));
    std::string end = forEachRow(*tiles, [&](const Statement& row) {
        const StoredTile tile = StoredTile::of(row);
        watch.tell(static_cast<double>(report.blobs++) / all);
        report.bytes += tile.bytes;
        if (!tile.isWhole)
            report.problems.push_back(fmt::format("{} is lost: tile {} has a wrong checksum", tile.place(), tile.id));
        else if (!isInPlace(row))
            report.problems.push_back(
                fmt::format("{} is lost: tile {} lies where it does not belong", tile.place(), tile.id));
    });
    if (!end.empty())
        report.problems.push_back("not every tile can be read: " + end);
    struct {
        const char* what;
        const char* sql;
    } const tables[] = {
        { "tail row", "SELECT id, crc, data FROM tail" },
        { "blob", "SELECT id, crc, data FROM blob" },
        { "quarantined batch", "SELECT id, crc, data FROM quarantine" },
        { "layout", "SELECT id, crc, bytes FROM layout" },
    };
    for (const auto& [what, sql] : tables) {
        auto rows = Statement::prepare(db->get(), sql);
        if (!rows)
            return tl::unexpected<Error>(std::move(rows.error()));
        end = forEachRow(*rows, [&report, name = what](const Statement& row) {
            const std::string_view data = row.blob(2);
            ++report.blobs;
            report.bytes += data.size();
            if (crc32c(data) != static_cast<std::uint32_t>(row.integer(1)))
                report.problems.push_back(fmt::format("{} {} has a wrong checksum", name, row.integer(0)));
        });
        if (!end.empty())
            report.problems.push_back(fmt::format("a {} cannot be read: {}", what, end));
    }
    // Every statistic of a group has the same columns.
    auto uneven = Statement::prepare(db->get(),
        "SELECT tile.grp, tile.c0, length(grp.stats) - count(*) FROM tile JOIN grp ON grp.id = tile.grp WHERE lvl = 0 "
        "GROUP BY tile.grp, tile.c0 HAVING count(*) <> length(grp.stats)");
    if (!uneven)
        return tl::unexpected<Error>(std::move(uneven.error()));
    end = forEachRow(*uneven, [&report](const Statement& row) {
        report.problems.push_back(fmt::format(
            "{} tiles of group {} are missing at column {}", row.integer(2), row.integer(0), row.integer(1)));
    });
    if (!end.empty())
        report.problems.push_back("the tiles cannot be counted: " + end);
    std::size_t findings = 0;
    auto check = Statement::prepare(db->get(), "PRAGMA integrity_check(100)");
    if (check) {
        end = forEachRow(*check, [&findings](const Statement& row) { findings += row.text(0) == "ok" ? 0 : 1; });
        findings += end.empty() ? 0 : 1;
    }
    if (findings > 0)
        report.problems.push_back(fmt::format("the file's structure is damaged ({} {})",
            findings >= 100 ? std::string("100 or more") : std::to_string(findings),
            findings == 1 ? "finding" : "findings"));
    if (watch.isCanceled()) // what was read is no answer
        return failure(ErrorCode::Canceled, "the check was canceled");
    return report;
}

Expected<std::vector<std::string>> CapsuleStore::lostIn(const RunLocator& run, const RunPart& part) const
{
    auto db = openForReading(run.text());
    if (!db)
        return tl::unexpected<Error>(std::move(db.error()));
    std::vector<std::string> lost;
    std::map<std::tuple<Kind, Stat, Rank>, StoredTile> worst; // with the range that covers all of its kind
    auto tiles = Statement::prepare(
        db->get(), std::string(kTileRows) + " WHERE tile.first_step <= ?1 AND tile.last_step >= ?2 AND grp.kind = ?3");
    auto tail = Statement::prepare(db->get(), "SELECT crc, data FROM tail WHERE first_step <= ?1 AND last_step >= ?2");
    if (!tiles || !tail)
        return tl::unexpected<Error>(std::move(tiles ? tail.error() : tiles.error()));
    std::string end;
    for (const Kind kind : part.kinds) {
        tiles->bind(1, part.steps.last.value).bind(2, part.steps.first.value).bind(3, static_cast<int>(kind));
        end = forEachRow(*tiles, [&](const Statement& row) {
            const StoredTile tile = StoredTile::of(row);
            if (tile.isWhole || !contains(part.stats, tile.stat) || (part.rank && tile.rank != *part.rank))
                return;
            StoredTile& all = worst.try_emplace({ tile.kind, tile.stat, tile.rank }, tile).first->second;
            all.steps = { std::min(all.steps.first, tile.steps.first), std::max(all.steps.last, tile.steps.last) };
        });
        if (!end.empty())
            lost.push_back("not every tile can be read: " + end);
    }
    for (const auto& [key, tile] : worst)
        lost.push_back(tile.place() + ": stored values are damaged and left out");
    std::size_t rows = 0;
    tail->bind(1, part.steps.last.value).bind(2, part.steps.first.value);
    end = forEachRow(*tail, [&rows](const Statement& row) {
        rows += crc32c(row.blob(1)) == static_cast<std::uint32_t>(row.integer(0)) ? 0 : 1;
    });
    if (rows > 0 || !end.empty())
        lost.emplace_back("the newest steps: stored batches are damaged and left out");
    return lost;
}

}
