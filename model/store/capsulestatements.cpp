// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/capsulestatements.h>

namespace telltale::store {

Expected<std::unique_ptr<CapsuleWriter::Statements>> CapsuleWriter::Statements::prepare(sqlite3* db)
{
    auto all = std::make_unique<Statements>();
    struct {
        Statement* statement;
        std::string_view sql;
    } const table[] = {
        { &all->begin, "BEGIN IMMEDIATE" },
        { &all->commit, "COMMIT" },
        { &all->rollback, "ROLLBACK" },
        { &all->meta, "INSERT OR REPLACE INTO meta VALUES(?, ?)" },
        { &all->source, "INSERT INTO source VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, -1, 0)" },
        { &all->sourceState, "UPDATE source SET state = ? WHERE id = ?" },
        { &all->stream, "INSERT INTO stream VALUES(?, ?, ?, ?, 1, ?, 0, 0)" },
        { &all->streamEpoch, "UPDATE stream SET epoch = ? WHERE id = ?" },
        { &all->streamSeq,
            "UPDATE stream SET durable_seq = max(durable_seq, ?), duplicates = ?, rejected = ? WHERE id = ?" },
        { &all->sourceSteps, "UPDATE source SET first_step = ?, last_step = ? WHERE id = ?" },
        { &all->layout, "INSERT INTO layout VALUES(?, ?, ?, ?)" },
        { &all->group, "INSERT INTO grp VALUES(?, ?, ?, ?, ?, ?, ?, ?)" },
        { &all->series, "INSERT INTO series VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)" },
        { &all->tail, "INSERT INTO tail VALUES(?, ?, ?, ?, ?, ?, ?)" },
        { &all->tailDelete, "DELETE FROM tail WHERE id = ?" },
        { &all->tailRead, "SELECT data FROM tail WHERE id = ?" },
        { &all->tailTrim, "UPDATE tail SET crc = ?, data = ? WHERE id = ?" },
        { &all->event, "INSERT INTO event VALUES(NULL, ?, ?, ?, ?, ?, ?, ?)" },
        { &all->blob, "INSERT OR IGNORE INTO blob VALUES(NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)" },
        { &all->dropped, "INSERT INTO dropped VALUES(NULL, ?, ?, ?, ?, ?, ?, ?)" },
        { &all->callOrder, "INSERT OR REPLACE INTO callorder VALUES(?, ?, ?, ?)" },
        { &all->quarantine, "INSERT OR IGNORE INTO quarantine VALUES(NULL, ?, ?, ?, ?, ?)" },
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
