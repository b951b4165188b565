// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/capsulestatements.h>

#include <telltale/store/schema.h>

namespace telltale::store {

Expected<std::unique_ptr<CapsuleWriter::Statements>> CapsuleWriter::Statements::prepare(sqlite3* db)
{
    auto all = std::make_unique<Statements>();
    // What was found changed when the capsule was opened stays known for it.
    const std::string writeSourceText = "INSERT OR REPLACE INTO meta(key, value) SELECT 'source.' || id, "
        + telltale::store::sourceText()
        + " FROM source WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM meta WHERE key = 'source.' || ?1 AND value = "
          "'changed')";
    struct {
        Statement* statement;
        std::string_view sql;
    } const table[] = {
        { &all->begin, "BEGIN IMMEDIATE" },
        { &all->commit, "COMMIT" },
        { &all->rollback, "ROLLBACK" },
        { &all->meta, "INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)" },
        { &all->source,
            "INSERT INTO source(id, rank, attempt, agent_id, host, pid, device, framework, agent_version, dp, tp, pp, "
            "ep, first_step, last_step, state) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, -1, 0)" },
        { &all->sourceState, "UPDATE source SET state = ? WHERE id = ?" },
        { &all->stream,
            "INSERT INTO stream(id, source, agent_id, incarnation, epoch, durable_seq, duplicates, rejected) VALUES(?, "
            "?, ?, ?, 1, ?, 0, 0)" },
        { &all->streamEpoch, "UPDATE stream SET epoch = ? WHERE id = ?" },
        { &all->streamSeq,
            "UPDATE stream SET durable_seq = max(durable_seq, ?), duplicates = ?, rejected = ? WHERE id = ?" },
        { &all->sourceSteps, "UPDATE source SET first_step = ?, last_step = ? WHERE id = ?" },
        { &all->sourceText, writeSourceText },
        { &all->layout, "INSERT INTO layout(stream, id, bytes, crc) VALUES(?, ?, ?, ?)" },
        { &all->group,
            "INSERT INTO grp(id, stream, layout, source, kind, stats, series, first_position) VALUES(?, ?, ?, ?, ?, ?, "
            "?, ?)" },
        { &all->series,
            "INSERT INTO series(id, source, kind, name, slot, vpp_stage, micro_step, form, definition, shape, dtype, "
            "numel, shard_offset, full_shape, grp, lane) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)" },
        { &all->tail,
            "INSERT INTO tail(id, stream, seq, first_step, last_step, crc, data) VALUES(?, ?, ?, ?, ?, ?, ?)" },
        { &all->tailDelete, "DELETE FROM tail WHERE id = ?" },
        { &all->tailRead, "SELECT data FROM tail WHERE id = ?" },
        { &all->tailTrim, "UPDATE tail SET crc = ?, data = ? WHERE id = ?" },
        // A change of a change is one of what that changes.
        { &all->event,
            "INSERT INTO event(source, kind, rank, step, wall_ns, text, json, ref, last_step, rule, phase, cause, rev, "
            "author) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, coalesce((SELECT changed.ref FROM event AS changed WHERE "
            "changed.id = ?8), nullif(?8, 0)), nullif(?9, ?4), nullif(?10, ''), nullif(?11, ''), nullif(?12, ''), "
            "nullif(?13, 0), nullif(?14, ''))" },
        { &all->blob,
            "INSERT OR IGNORE INTO blob(stream, blob_id, part, parts, kind, name, step, crc, data) VALUES(?, ?, ?, ?, "
            "?, ?, ?, ?, ?)" },
        { &all->dropped,
            "INSERT INTO dropped(source, class, first_step, last_step, items, bytes, reason) VALUES(?, ?, ?, ?, ?, ?, "
            "?)" },
        // With a new id, by which readers know that something has changed. Steps that are not known (the last before
        // the first) are no bound of steps that are.
        { &all->droppedMore,
            "UPDATE dropped SET id = (SELECT max(id) + 1 FROM dropped), first_step = min(first_step, ?3), last_step = "
            "max(last_step, ?4), items = CAST(min(items + ?5, 1000000000000000000) AS INTEGER), bytes = CAST(min(bytes "
            "+ ?6, 1000000000000000000) AS INTEGER) WHERE id = (SELECT id FROM (SELECT * FROM dropped ORDER BY id DESC "
            "LIMIT "
            "1000) WHERE source = ?1 AND class = ?2 AND reason = ?7 AND (last_step < first_step) = (?4 < ?3) LIMIT "
            "1)" },
        { &all->callOrder, "INSERT OR REPLACE INTO callorder(stream, layout, first_step, ids) VALUES(?, ?, ?, ?)" },
        { &all->quarantine, "INSERT OR IGNORE INTO quarantine(stream, seq, reason, crc, data) VALUES(?, ?, ?, ?, ?)" },
    };
    for (const auto& [statement, sql] : table) {
        auto prepared = Statement::prepare(db, sql);
        if (!prepared)
            return tl::unexpected<Error>(std::move(prepared.error()));
        *statement = std::move(*prepared);
    }
    return all;
}

}
