// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/recordwriter.h>

#include <sqlite3.h>

#include <telltale/core/bytes.h>
#include <telltale/core/drops.h>
#include <telltale/store/layoutcodec.h>

namespace telltale::store {
namespace {

bool hasRoomForQuarantine(sqlite3* db)
{
    // What is rejected beyond this is counted and not kept: it is there to find out what is wrong, and a peer that has
    // nothing else to send must not fill the disk.
    constexpr const char* kHasRoom
        = "SELECT count(*) < 1000 AND ifnull(sum(length(data)), 0) < 8388608 FROM quarantine";
    return queryInteger(db, kHasRoom).value_or(1) != 0;
}

}

Expected<void> RecordWriter::prepare()
{
    return prepareAll(m_transaction.db(),
        {
            { &m_layout, "INSERT INTO layout(stream, id, bytes, crc) VALUES(?, ?, ?, ?)" },
            { &m_group,
                "INSERT INTO grp(id, stream, layout, source, kind, stats, series, first_position) VALUES(?, ?, ?, ?, "
                "?, ?, ?, ?)" },
            { &m_series,
                "INSERT INTO series(source, kind, name, slot, vpp_stage, micro_step, form, definition, shape, dtype, "
                "numel, shard_offset, full_shape, grp, lane) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)" },
            { &m_callOrder, "INSERT OR REPLACE INTO callorder(stream, layout, first_step, ids) VALUES(?, ?, ?, ?)" },
            // A change of a change is one of what that changes.
            { &m_event,
                "INSERT INTO event(source, kind, rank, step, wall_ns, text, json, ref, last_step, rule, phase, cause, "
                "rev, author, severity) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, coalesce((SELECT changed.ref FROM event AS "
                "changed "
                "WHERE changed.id = ?8), nullif(?8, 0)), nullif(?9, ?4), nullif(?10, ''), nullif(?11, ''), "
                "nullif(?12, ''), nullif(?13, 0), nullif(?14, ''), nullif(?15, ''))" },
            { &m_blob,
                "INSERT OR IGNORE INTO blob(stream, blob_id, part, parts, kind, name, step, crc, data) VALUES(?, ?, ?, "
                "?, ?, ?, ?, ?, ?)" },
            { &m_dropped,
                "INSERT INTO dropped(source, class, first_step, last_step, items, bytes, reason) VALUES(?, ?, ?, ?, ?, "
                "?, ?)" },
            // With a new id, by which readers know that something has changed. Steps that are not known (the last
            // before the first) are no bound of steps that are.
            { &m_droppedMore,
                "UPDATE dropped SET id = (SELECT max(id) + 1 FROM dropped), first_step = min(first_step, ?3), "
                "last_step = max(last_step, ?4), items = CAST(min(items + ?5, 1000000000000000000) AS INTEGER), bytes "
                "= CAST(min(bytes + ?6, 1000000000000000000) AS INTEGER) WHERE id = (SELECT id FROM (SELECT * FROM "
                "dropped ORDER BY id DESC LIMIT 1000) WHERE source = ?1 AND class = ?2 AND reason = ?7 AND (last_step "
                "< first_step) = (?4 < ?3) LIMIT 1)" },
            { &m_quarantine, "INSERT OR IGNORE INTO quarantine(stream, seq, reason, crc, data) VALUES(?, ?, ?, ?, ?)" },
        });
}

Expected<void> RecordWriter::writeLayout(SourceId source, const LiveLayout& live)
{
    m_home.check();
    const SeriesLayout& layout = *live.layout();
    const std::string bytes = encodeLayout(layout);
    auto ok = m_layout.run(live.stream(), layout.id, Bytes { bytes }, crc32c(bytes));
    std::string stats;
    for (Stat stat : layout.stats)
        stats += static_cast<char>(stat);
    const int width = static_cast<int>(layout.width());
    for (const LiveGroup& group : live.groups()) {
        if (ok)
            ok = m_group.run(group.id, live.stream(), layout.id, source, layout.kind, Bytes { stats }, group.lanes,
                group.firstPosition);
        for (int lane = 0; ok && lane < group.lanes; lane += width) {
            const SeriesDesc& series = layout.series[static_cast<std::size_t>((group.firstPosition + lane) / width)];
            const std::string shape = encodeShape(series.shape);
            const std::string fullShape = encodeShape(series.fullShape);
            ok = m_series.run(source, layout.kind, series.name, series.slot.text(), series.vppStage, series.microStep,
                series.form, series.definition, Bytes { shape }, series.dtype, series.numel, series.shardOffset,
                Bytes { fullShape }, group.id, lane);
            m_transaction.writing().series.add(sqlite3_last_insert_rowid(m_transaction.db()));
        }
    }
    return ok;
}

Expected<void> RecordWriter::writeCallOrder(const CallOrder& order)
{
    std::string ids;
    for (std::uint32_t id : order.ids)
        putLe(ids, id);
    return m_callOrder.run(order.stream, order.layout, order.step, Bytes { ids });
}

Expected<void> RecordWriter::writeEvent(const SourceInfo& source, const Event& event)
{
    m_home.check();
    auto ok = m_event.run(source.id, event.kind, source.rank, event.step, event.wallNs, event.text, event.json,
        event.ref, event.lastStep.value_or(event.step), event.rule, event.phase, event.cause, event.rev, event.author,
        event.severity);
    m_transaction.writing().events.add(sqlite3_last_insert_rowid(m_transaction.db()));
    return ok;
}

Expected<void> RecordWriter::writeBlob(std::int64_t stream, const Blob& blob)
{
    auto ok = m_blob.run(stream, blob.id, blob.part, blob.parts, blob.kind, blob.name, blob.step, crc32c(blob.bytes),
        Bytes { blob.bytes });
    if (sqlite3_changes(m_transaction.db()) > 0)
        m_transaction.writing().blobs.add(sqlite3_last_insert_rowid(m_transaction.db()));
    return ok;
}

Expected<void> RecordWriter::writeDrop(SourceId source, const Drop& drop)
{
    m_home.check();
    sqlite3* db = m_transaction.db();
    IdRange& written = m_transaction.writing().drops;
    const auto write = [&](Statement& statement) {
        return statement.run(
            source, drop.dropClass, drop.firstStep, drop.lastStep, drop.items, drop.bytes, drop.reason);
    };
    // A storm of events is cut in every batch for as long as it lasts: that is one loss, which grows. Of samples it is
    // drawn which steps have none, so each stretch stays by itself.
    if (drop.dropClass == dropclass::kEvents) {
        auto ok = write(m_droppedMore);
        if (!ok)
            return ok;
        if (sqlite3_changes(db) > 0) {
            written.add(queryInteger(db, "SELECT max(id) FROM dropped").value_or(0));
            return ok;
        }
    }
    auto ok = write(m_dropped);
    written.add(sqlite3_last_insert_rowid(db));
    return ok;
}

Expected<void> RecordWriter::writeQuarantined(SourceId source, const Quarantined& bad)
{
    Expected<void> ok;
    if (hasRoomForQuarantine(m_transaction.db()))
        ok = m_quarantine.run(bad.stream, bad.seq, bad.reason, crc32c(bad.raw), Bytes { bad.raw });
    for (std::size_t i = 0; ok && i < bad.drops.size(); ++i)
        ok = writeDrop(source, bad.drops[i]);
    return ok;
}

}
