// SPDX-License-Identifier: GPL-3.0-or-later
// Alone in its file: a test that proves the way from one format to the next links a table of its own in its place.
#include <telltale/store/formats.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace telltale::store {
namespace {

constexpr std::array kFormat1 {
    TableText { "meta", "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID" },
    TableText { "source",
        "CREATE TABLE source(id INTEGER PRIMARY KEY, rank INTEGER, attempt INTEGER, agent_id TEXT, host TEXT, pid "
        "INTEGER, device TEXT, framework TEXT, agent_version TEXT, dp INTEGER, tp INTEGER, pp INTEGER, ep INTEGER, "
        "first_step INTEGER, last_step INTEGER, state INTEGER, UNIQUE(rank, attempt))" },
    TableText { "stream",
        "CREATE TABLE stream(id INTEGER PRIMARY KEY, source INTEGER, agent_id TEXT, incarnation INTEGER, epoch "
        "INTEGER, "
        "durable_seq INTEGER, duplicates INTEGER, rejected INTEGER, UNIQUE(agent_id, incarnation))" },
    TableText {
        "layout", "CREATE TABLE layout(stream INTEGER, id INTEGER, bytes BLOB, crc INTEGER, PRIMARY KEY(stream, id))" },
    TableText { "grp",
        "CREATE TABLE grp(id INTEGER PRIMARY KEY, stream INTEGER, layout INTEGER, source INTEGER, kind INTEGER, stats "
        "BLOB, series INTEGER, first_position INTEGER, UNIQUE(stream, layout, first_position))" },
    TableText { "series",
        "CREATE TABLE series(id INTEGER PRIMARY KEY, source INTEGER, kind INTEGER, name TEXT, slot TEXT, vpp_stage "
        "INTEGER, micro_step INTEGER, form INTEGER, definition TEXT, shape BLOB, dtype INTEGER, numel INTEGER, "
        "shard_offset INTEGER, full_shape BLOB, grp INTEGER, lane INTEGER)" },
    TableText { "tail",
        "CREATE TABLE tail(id INTEGER PRIMARY KEY, stream INTEGER, seq INTEGER, first_step INTEGER, last_step INTEGER, "
        "crc INTEGER, data BLOB, UNIQUE(stream, seq))" },
    TableText { "tile",
        "CREATE TABLE tile(id INTEGER PRIMARY KEY, lvl INTEGER, stat INTEGER, grp INTEGER, c0 INTEGER, first_step "
        "INTEGER, last_step INTEGER, crc INTEGER, data BLOB, UNIQUE(lvl, stat, grp, c0))" },
    TableText { "callorder",
        "CREATE TABLE callorder(stream INTEGER, layout INTEGER, first_step INTEGER, ids BLOB, PRIMARY KEY(stream, "
        "layout, first_step))" },
    TableText { "event",
        "CREATE TABLE event(id INTEGER PRIMARY KEY, source INTEGER, kind TEXT, rank INTEGER, step INTEGER, wall_ns "
        "INTEGER, text TEXT, json TEXT)" },
    TableText { "anomaly",
        "CREATE TABLE anomaly(id INTEGER PRIMARY KEY, rule TEXT, series INTEGER, stat INTEGER, step INTEGER, wall_ns "
        "INTEGER, text TEXT, json TEXT)" },
    TableText { "blob",
        "CREATE TABLE blob(id INTEGER PRIMARY KEY, stream INTEGER, blob_id TEXT, part INTEGER, parts INTEGER, kind "
        "TEXT, name TEXT, step INTEGER, crc INTEGER, data BLOB, UNIQUE(stream, blob_id, part))" },
    TableText { "dropped",
        "CREATE TABLE dropped(id INTEGER PRIMARY KEY, source INTEGER, class INTEGER, first_step INTEGER, last_step "
        "INTEGER, items INTEGER, bytes INTEGER, reason TEXT)" },
    TableText { "quarantine",
        "CREATE TABLE quarantine(id INTEGER PRIMARY KEY, stream INTEGER, seq INTEGER, reason TEXT, crc INTEGER, data "
        "BLOB, UNIQUE(stream, seq))" },
    TableText { "config_revision",
        "CREATE TABLE config_revision(rev INTEGER, rank INTEGER, step INTEGER, who TEXT, wall_ns INTEGER, json TEXT, "
        "status TEXT, PRIMARY KEY(rev, rank))" },
    TableText { "annotation",
        "CREATE TABLE annotation(id INTEGER PRIMARY KEY, kind TEXT, step INTEGER, series INTEGER, wall_ns INTEGER, "
        "text "
        "TEXT, json TEXT)" },
};

/// Without the tables that nobody wrote, and with a log whose records say more and can change earlier ones.
constexpr auto kFormat2 = [] {
    constexpr std::string_view kGone[] { "anomaly", "config_revision", "annotation" };
    constexpr TableText kEvent { "event",
        "CREATE TABLE event(id INTEGER PRIMARY KEY, source INTEGER, kind TEXT, rank INTEGER, step INTEGER, wall_ns "
        "INTEGER, text TEXT, json TEXT, ref INTEGER, last_step INTEGER, rule TEXT, phase TEXT, cause TEXT, rev "
        "INTEGER, "
        "author TEXT)" };
    std::array<TableText, kFormat1.size() - std::size(kGone)> tables {};
    std::size_t next = 0;
    for (const TableText& table : kFormat1) {
        if (std::find(std::begin(kGone), std::end(kGone), table.name) == std::end(kGone))
            tables[next++] = table.name == kEvent.name ? kEvent : table;
    }
    return tables;
}();

constexpr std::array kIndexes2 {
    IndexText { "event_kind", "event", "(kind)" },
    IndexText { "event_rank", "event", "(rank)" },
    IndexText { "event_steps", "event", "(last_step, step)" },
    IndexText { "event_ref", "event", "(ref) WHERE ref IS NOT NULL" },
};

/// With a word for how grave an incident is: until then that stood in its cause, and of those from then it does.
constexpr auto kFormat5 = [] {
    constexpr TableText kEvent { "event",
        "CREATE TABLE event(id INTEGER PRIMARY KEY, source INTEGER, kind TEXT, rank INTEGER, step INTEGER, wall_ns "
        "INTEGER, text TEXT, json TEXT, ref INTEGER, last_step INTEGER, rule TEXT, phase TEXT, cause TEXT, rev "
        "INTEGER, "
        "author TEXT, severity TEXT)" };
    auto tables = kFormat2;
    for (TableText& table : tables)
        table = table.name == kEvent.name ? kEvent : table;
    return tables;
}();

constexpr const char* kUpgrade2
    = "ALTER TABLE event ADD COLUMN ref INTEGER; ALTER TABLE event ADD COLUMN last_step INTEGER; ALTER TABLE event ADD "
      "COLUMN rule TEXT; ALTER TABLE event ADD COLUMN phase TEXT; ALTER TABLE event ADD COLUMN cause TEXT; ALTER TABLE "
      "event ADD COLUMN rev INTEGER; ALTER TABLE event ADD COLUMN author TEXT; DROP TABLE anomaly; DROP TABLE "
      "config_revision; DROP TABLE annotation";
constexpr const char* kView1
    = "CREATE TEMP VIEW event AS SELECT *, NULL AS ref, NULL AS last_step, NULL AS rule, NULL AS phase, NULL AS cause, "
      "NULL AS rev, NULL AS author, NULL AS severity FROM main.event";
/// What a log has said before stays as it was: it may be damaged, and that hinders no run from going on.
constexpr const char* kUpgrade5 = "ALTER TABLE event ADD COLUMN severity TEXT";
constexpr const char* kView2 = "CREATE TEMP VIEW event AS SELECT *, NULL AS severity FROM main.event";

constexpr std::array kFormats {
    CapsuleFormat { kFormat1, {}, "", kView1 },
    CapsuleFormat { kFormat2, kIndexes2, kUpgrade2, kView2 },
    // The same tables; layouts may have edges, and a lane of a group is a bin then.
    CapsuleFormat { kFormat2, kIndexes2, "", kView2 },
    // The same; layouts have slots as structure, and series.slot is for people.
    CapsuleFormat { kFormat2, kIndexes2, "", kView2 },
    CapsuleFormat { kFormat5, kIndexes2, kUpgrade5, "" },
    // The same; a tile of histograms has its lanes together.
    CapsuleFormat { kFormat5, kIndexes2, "", "" },
};

}

std::span<const CapsuleFormat> capsuleFormats()
{
    return kFormats;
}

}
