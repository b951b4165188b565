// SPDX-License-Identifier: GPL-3.0-or-later
// What a commit writes of the staged batches; sealing and publishing are in capsulecommit.cpp.
#include <telltale/store/capsulewriter.h>

#include <algorithm>
#include <map>
#include <string>

#include <sqlite3.h>

#include <telltale/core/bytes.h>
#include <telltale/store/capsulestatements.h>
#include <telltale/store/clock.h>
#include <telltale/store/layoutcodec.h>

namespace telltale::store {

Expected<void> CapsuleWriter::writeLayout(const LiveLayout& live)
{
    const SeriesLayout& layout = *live.layout();
    const SourceId source = m_streams.at(live.stream()).source;
    const std::string bytes = encodeLayout(layout);
    auto ok = m_sql->layout.bind(1, live.stream())
                  .bind(2, static_cast<std::int64_t>(layout.id.value))
                  .bindBlob(3, bytes)
                  .bind(4, static_cast<std::int64_t>(crc32c(bytes)))
                  .run();
    if (!ok)
        return ok;
    std::string stats;
    for (Stat stat : layout.stats)
        stats += static_cast<char>(stat);
    const int width = static_cast<int>(layout.width());
    for (const LiveGroup& group : live.groups()) {
        ok = m_sql->group.bind(1, group.id.value)
                 .bind(2, live.stream())
                 .bind(3, static_cast<std::int64_t>(layout.id.value))
                 .bind(4, source.value)
                 .bind(5, static_cast<int>(layout.kind))
                 .bindBlob(6, stats)
                 .bind(7, group.lanes)
                 .bind(8, group.firstPosition)
                 .run();
        for (int lane = 0; ok && lane < group.lanes; lane += width) {
            const SeriesDesc& series = layout.series[static_cast<std::size_t>((group.firstPosition + lane) / width)];
            const std::string shape = encodeShape(series.shape);
            const std::string fullShape = encodeShape(series.fullShape);
            ok = m_sql->series.bind(1, m_nextSeries++)
                     .bind(2, source.value)
                     .bind(3, static_cast<int>(layout.kind))
                     .bindText(4, series.name)
                     .bindText(5, series.slot.text())
                     .bind(6, series.vppStage)
                     .bind(7, series.microStep)
                     .bind(8, static_cast<std::int64_t>(series.form))
                     .bindText(9, series.definition)
                     .bindBlob(10, shape)
                     .bind(11, static_cast<int>(series.dtype))
                     .bind(12, static_cast<std::int64_t>(series.numel))
                     .bind(13, series.shardOffset)
                     .bindBlob(14, fullShape)
                     .bind(15, group.id.value)
                     .bind(16, lane)
                     .run();
            m_writing.series.add(m_nextSeries - 1);
        }
        if (!ok)
            return ok;
    }
    return {};
}

Expected<void> CapsuleWriter::writeStaged()
{
    const std::int64_t firstSeries = m_nextSeries;
    Expected<void> ok;
    for (std::size_t i = 0; ok && i < m_newLayouts.size(); ++i)
        ok = writeLayout(*m_newLayouts[i]);
    for (std::size_t i = 0; ok && i < m_staged.size(); ++i) {
        const Staged& staged = m_staged[i];
        if (staged.tailId != 0) {
            const StepRange steps = staged.batch->steps();
            ok = m_sql->tail.bind(1, staged.tailId)
                     .bind(2, staged.stream)
                     .bind(3, static_cast<std::int64_t>(staged.batch->seq))
                     .bind(4, steps.first.value)
                     .bind(5, steps.last.value)
                     .bind(6, static_cast<std::int64_t>(crc32c(staged.tail)))
                     .bindBlob(7, staged.tail)
                     .run();
        }
        if (ok)
            ok = writeExtras(staged);
    }
    for (std::size_t i = 0; ok && i < m_callOrders.size(); ++i) {
        const CallOrder& order = m_callOrders[i];
        std::string ids;
        for (std::uint32_t id : order.ids)
            putLe(ids, id);
        ok = m_sql->callOrder.bind(1, order.stream)
                 .bind(2, static_cast<std::int64_t>(order.layout.value))
                 .bind(3, order.step.value)
                 .bindBlob(4, ids)
                 .run();
    }
    for (std::size_t i = 0; ok && i < m_quarantined.size(); ++i)
        ok = writeQuarantined(m_quarantined[i]);
    if (!ok)
        m_nextSeries = firstSeries;
    return ok;
}

Expected<void> CapsuleWriter::writeQuarantined(const Quarantined& bad)
{
    Expected<void> ok;
    if (hasRoomForQuarantine(m_db.get()))
        ok = m_sql->quarantine.bind(1, bad.stream)
                 .bind(2, static_cast<std::int64_t>(bad.seq))
                 .bindText(3, bad.reason)
                 .bind(4, static_cast<std::int64_t>(crc32c(bad.raw)))
                 .bindBlob(5, bad.raw)
                 .run();
    for (const Drop& drop : bad.drops) {
        if (ok)
            ok = writeDropped(m_streams.at(bad.stream).source, drop);
    }
    return ok;
}

Expected<void> CapsuleWriter::writeDropped(SourceId source, const Drop& drop)
{
    const auto write = [&](Statement& statement) {
        return statement.bind(1, source.value)
            .bind(2, static_cast<std::int64_t>(drop.dropClass))
            .bind(3, drop.firstStep.value)
            .bind(4, drop.lastStep.value)
            .bind(5, static_cast<std::int64_t>(drop.items))
            .bind(6, static_cast<std::int64_t>(drop.bytes))
            .bindText(7, drop.reason)
            .run();
    };
    // A storm of events is cut in every batch for as long as it lasts: that is one loss, which grows. Of samples it is
    // drawn which steps have none, so each stretch stays by itself.
    if (drop.dropClass == dropclass::kEvents) {
        auto ok = write(m_sql->droppedMore);
        if (!ok)
            return ok;
        if (sqlite3_changes(m_db.get()) > 0) {
            m_writing.drops.add(queryInteger(m_db.get(), "SELECT max(id) FROM dropped").value_or(0));
            return ok;
        }
    }
    auto ok = write(m_sql->dropped);
    m_writing.drops.add(sqlite3_last_insert_rowid(m_db.get()));
    return ok;
}

bool CapsuleWriter::hasRoomForQuarantine(sqlite3* db)
{
    // What is rejected beyond this is counted and not kept: it is there to find out what is wrong, and a peer that has
    // nothing else to send must not fill the disk.
    constexpr const char* kHasRoom
        = "SELECT count(*) < 1000 AND ifnull(sum(length(data)), 0) < 8388608 FROM quarantine";
    return queryInteger(db, kHasRoom).value_or(1) != 0;
}

Expected<void> CapsuleWriter::writeExtras(const Staged& staged)
{
    const SourceInfo& source = m_sources.at(m_streams.at(staged.stream).source.value);
    const SampleBatch& batch = *staged.batch;
    Expected<void> ok;
    for (std::size_t i = 0; ok && i < batch.events.size(); ++i) {
        const Event& event = batch.events[i];
        ok = m_sql->event.bind(1, source.id.value)
                 .bindText(2, event.kind)
                 .bind(3, source.rank.value)
                 .bind(4, event.step.value)
                 .bind(5, event.wallNs)
                 .bindText(6, event.text)
                 .bindText(7, event.json)
                 .bind(8, static_cast<std::int64_t>(event.ref))
                 .bind(9, event.lastStep.value_or(event.step).value)
                 .bindText(10, event.rule)
                 .bindText(11, event.phase)
                 .bindText(12, event.cause)
                 .bind(13, static_cast<std::int64_t>(event.rev))
                 .bindText(14, event.author)
                 .run();
        m_writing.events.add(sqlite3_last_insert_rowid(m_db.get()));
    }
    for (std::size_t i = 0; ok && i < batch.blobs.size(); ++i) {
        const Blob& blob = batch.blobs[i];
        ok = m_sql->blob.bind(1, staged.stream)
                 .bindText(2, blob.id)
                 .bind(3, static_cast<std::int64_t>(blob.part))
                 .bind(4, static_cast<std::int64_t>(blob.parts))
                 .bindText(5, blob.kind)
                 .bindText(6, blob.name)
                 .bind(7, blob.step.value)
                 .bind(8, static_cast<std::int64_t>(crc32c(blob.bytes)))
                 .bindBlob(9, blob.bytes)
                 .run();
        if (sqlite3_changes(m_db.get()) > 0)
            m_writing.blobs.add(sqlite3_last_insert_rowid(m_db.get()));
    }
    for (std::size_t i = 0; ok && i < batch.drops.size(); ++i)
        ok = writeDropped(source.id, batch.drops[i]);
    return ok;
}

Expected<void> CapsuleWriter::writeStreams()
{
    std::map<std::int64_t, StepRange> steps;
    for (const Staged& staged : m_staged) {
        const StepRange range = staged.batch->steps();
        if (range.isEmpty())
            continue;
        SourceInfo source = m_sources.at(m_streams.at(staged.stream).source.value);
        auto [entry, isNew] = steps.try_emplace(source.id.value, StepRange { source.firstStep, source.lastStep });
        if (entry->second.isEmpty())
            entry->second = range;
        entry->second.first = std::min(entry->second.first, range.first);
        entry->second.last = std::max(entry->second.last, range.last);
    }
    for (std::int64_t id : m_touchedStreams) {
        const StreamRow& stream = m_streams.at(id);
        auto ok = m_sql->streamSeq.bind(1, static_cast<std::int64_t>(stream.stagedSeq))
                      .bind(2, static_cast<std::int64_t>(stream.duplicates))
                      .bind(3, static_cast<std::int64_t>(stream.rejected))
                      .bind(4, id)
                      .run();
        if (ok && stream.account)
            ok = setMeta(accountKey(id), stream.account->text());
        if (!ok)
            return ok;
    }
    for (const auto& [id, range] : steps) {
        auto ok = m_sql->sourceSteps.bind(1, range.first.value).bind(2, range.last.value).bind(3, id).run();
        if (ok)
            ok = sourceWritten(SourceId(id));
        if (!ok)
            return ok;
        // Repeating the commit widens by the same range again: no harm.
        m_sources.at(id).firstStep = range.first;
        m_sources.at(id).lastStep = range.last;
    }
    if (const std::int64_t now = wallClockNs(); now - m_lastMetaNs > 1'000'000'000) {
        m_lastMetaNs = now;
        for (const char* key : { "modified_ns", "last_seen_ns" }) {
            if (auto ok = setMeta(key, std::to_string(now)); !ok)
                return ok;
        }
    }
    return {};
}

}
