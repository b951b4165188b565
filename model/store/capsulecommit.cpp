// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/capsulewriter.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <system_error>

#include <sqlite3.h>

#include <telltale/core/bytes.h>
#include <telltale/store/capsulestatements.h>
#include <telltale/store/clock.h>
#include <telltale/store/layoutcodec.h>
#include <telltale/store/tailcodec.h>

namespace telltale::store {
namespace {

constexpr std::size_t kTrimAbove = 1024; ///< tail rows, before those of rarely written layouts are made small
constexpr std::int64_t kSealBudgetMs = 25; ///< longest a commit seals tiles that can wait
/// 64 MiB of WAL: tail rows that are written and deleted within one cycle never reach the file.
constexpr int kCheckpointPages = 8192;

bool isTileFull(const LiveGroup& group)
{
    return std::any_of(group.tiles.begin(), group.tiles.end(),
        [&group](const auto& tile) { return tile->isFull() && tile->firstColumn() >= group.sealed; });
}

}

Expected<void> CapsuleWriter::commit()
{
    for (LiveLayout* layout : m_touched) {
        for (std::size_t g = 0; g < layout->groups().size(); ++g) {
            const bool queued = std::any_of(m_full.begin(), m_full.end(),
                [&](const SealJob& job) { return job.layout == layout && job.group == g; });
            if (isTileFull(layout->groups()[g]) && !queued)
                m_full.push_back({ layout, g });
        }
    }
    auto done = transaction([this]() -> Expected<void> {
        auto ok = writeStaged();
        if (ok)
            ok = writeStreams();
        if (ok)
            ok = sealSome();
        if (ok && !m_sealedNow.empty())
            ok = dropSealedTails();
        return ok;
    });
    if (!done) {
        rolledBack();
        return done;
    }
    afterCommit();
    checkpoint(false);
    return {};
}

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
        for (int lane = 0; ok && lane < group.lanes; ++lane) {
            const SeriesDesc& series = layout.series[static_cast<std::size_t>(group.firstPosition + lane)];
            const std::string shape = encodeShape(series.shape);
            const std::string fullShape = encodeShape(series.fullShape);
            ok = m_sql->series.bind(1, m_nextSeries++)
                     .bind(2, source.value)
                     .bind(3, static_cast<int>(layout.kind))
                     .bindText(4, series.name)
                     .bindText(5, series.slot)
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
        }
        if (!ok)
            return ok;
    }
    m_catalogChanged = true;
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
    for (std::size_t i = 0; ok && i < m_quarantined.size(); ++i) {
        const Quarantined& bad = m_quarantined[i];
        ok = m_sql->quarantine.bind(1, bad.stream)
                 .bind(2, static_cast<std::int64_t>(bad.seq))
                 .bindText(3, bad.reason)
                 .bind(4, static_cast<std::int64_t>(crc32c(bad.raw)))
                 .bindBlob(5, bad.raw)
                 .run();
    }
    if (!ok)
        m_nextSeries = firstSeries;
    return ok;
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
                 .run();
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
    }
    for (std::size_t i = 0; ok && i < batch.drops.size(); ++i) {
        const Drop& drop = batch.drops[i];
        ok = m_sql->dropped.bind(1, source.id.value)
                 .bind(2, static_cast<std::int64_t>(drop.dropClass))
                 .bind(3, drop.firstStep.value)
                 .bind(4, drop.lastStep.value)
                 .bind(5, static_cast<std::int64_t>(drop.items))
                 .bind(6, static_cast<std::int64_t>(drop.bytes))
                 .bindText(7, drop.reason)
                 .run();
    }
    m_catalogChanged = m_catalogChanged || !batch.events.empty() || !batch.blobs.empty() || !batch.drops.empty();
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
        if (!ok)
            return ok;
    }
    for (const auto& [id, range] : steps) {
        auto ok = m_sql->sourceSteps.bind(1, range.first.value).bind(2, range.last.value).bind(3, id).run();
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

Expected<void> CapsuleWriter::sealSome()
{
    const auto start = std::chrono::steady_clock::now();
    // A quarter of what waits spreads the work over the steps that fill the next tiles.
    const std::size_t share = (m_full.size() + 3) / 4;
    std::size_t sealedCount = 0;
    for (const SealJob& job : m_full) {
        const LiveGroup& group = job.layout->groups()[job.group];
        // Readers see two open tiles of a group: a third must not begin.
        const bool urgent = group.tiles.size() > 2 || (group.tiles.size() == 2 && group.tiles.back()->isFull());
        const bool late = std::chrono::steady_clock::now() - start > std::chrono::milliseconds(kSealBudgetMs);
        if (!urgent && (sealedCount >= share || late))
            continue;
        std::int64_t& sealedTo = m_sealedNow.try_emplace(&group, group.sealed).first->second;
        std::size_t left = group.tiles.size();
        bool sealedOne = false;
        for (const auto& tile : group.tiles) {
            if (tile->firstColumn() < group.sealed) {
                --left;
                continue;
            }
            if (!tile->isFull() || (sealedOne && left < 2))
                break;
            sealedOne = true;
            if (auto ok = m_sealer->seal(group, *tile); !ok)
                return ok;
            sealedTo = tile->firstColumn() + series::kTileColumns;
            --left;
            ++sealedCount;
        }
    }
    return {};
}

bool CapsuleWriter::isSealedTo(const LiveLayout& layout, std::int64_t column) const
{
    return std::all_of(layout.groups().begin(), layout.groups().end(), [&](const LiveGroup& group) {
        const auto now = m_sealedNow.find(&group);
        return column < (now == m_sealedNow.end() ? group.sealed : now->second);
    });
}

Expected<void> CapsuleWriter::dropSealedTails()
{
    for (TailRow& row : m_tails) {
        const auto sealed = [this](const auto& entry) { return isSealedTo(*entry.first, entry.second); };
        const auto done = std::count_if(row.columns.begin(), row.columns.end(), sealed);
        if (done == static_cast<std::ptrdiff_t>(row.columns.size())) {
            if (auto ok = m_sql->tailDelete.bind(1, row.id).run(); !ok)
                return ok;
            m_droppedNow.push_back(row.id);
        } else if (done > 0 && !row.trimmed && m_tails.size() > kTrimAbove) {
            if (auto ok = trimTail(row); !ok)
                return ok;
        }
    }
    return {};
}

Expected<void> CapsuleWriter::trimTail(TailRow& row)
{
    m_sql->tailRead.bind(1, row.id);
    auto found = m_sql->tailRead.step();
    if (!found)
        return tl::unexpected<Error>(std::move(found.error()));
    if (!*found)
        return {};
    auto blocks = decodeTail(m_sql->tailRead.blob(0));
    m_sql->tailRead.reset();
    if (!blocks)
        return tl::unexpected<Error>(std::move(blocks.error()));
    TailEncoder kept;
    for (TailBlock& tail : *blocks) {
        const auto entry = std::find_if(row.columns.begin(), row.columns.end(),
            [&tail](const auto& item) { return item.first->layout()->id == tail.layout; });
        if (entry == row.columns.end() || isSealedTo(*entry->first, tail.column))
            continue;
        tail.block.layout = entry->first->layout();
        kept.append(tail.block, tail.column);
    }
    const std::string data = kept.take();
    row.trimmed = true;
    m_trimmedNow = true;
    return m_sql->tailTrim.bind(1, static_cast<std::int64_t>(crc32c(data))).bindBlob(2, data).bind(3, row.id).run();
}

void CapsuleWriter::rolledBack()
{
    m_sealedNow.clear();
    m_droppedNow.clear();
    if (m_trimmedNow) {
        for (TailRow& row : m_tails)
            row.trimmed = false;
    }
    m_trimmedNow = false;
}

void CapsuleWriter::publish(LiveLayout& layout)
{
    for (LiveGroup& group : layout.groups()) {
        for (const auto& tile : group.tiles)
            tile->publish(tile->writtenColumns());
        const std::size_t count = group.tiles.size();
        m_live.setPreviousTile(group.id, count > 1 ? group.tiles[count - 2] : nullptr);
        if (count > 0)
            m_live.setOpenTile(group.id, group.tiles.back());
    }
}

void CapsuleWriter::afterCommit()
{
    std::set<LiveLayout*> changed = m_touched;
    for (const SealJob& job : m_full) {
        LiveGroup& group = job.layout->groups()[job.group];
        const auto now = m_sealedNow.find(&group);
        if (now == m_sealedNow.end())
            continue;
        group.sealed = now->second;
        changed.insert(job.layout);
    }
    std::erase_if(m_full, [](const SealJob& job) { return !isTileFull(job.layout->groups()[job.group]); });
    for (LiveLayout* layout : changed) {
        // A tile that was just sealed stays readable until the next one begins.
        for (LiveGroup& group : layout->groups()) {
            while (group.tiles.size() > 1 && group.tiles.front()->firstColumn() < group.sealed)
                group.tiles.pop_front();
        }
        publish(*layout);
    }
    std::uint64_t samples = 0;
    std::uint64_t dropped = 0;
    for (const Staged& staged : m_staged) {
        samples += staged.batch->samples;
        for (const Drop& drop : staged.batch->drops)
            dropped += drop.items;
        const StepRange steps = staged.batch->steps();
        const std::int64_t newest = staged.batch->stepComplete ? steps.last.value : steps.last.value - 1;
        if (!steps.isEmpty()) {
            m_live.lastStep.store(std::max(m_live.lastStep.load(std::memory_order_relaxed), newest));
            std::int64_t first = steps.first.value;
            for (const auto& [id, source] : m_sources) {
                if (source.lastStep >= source.firstStep)
                    first = std::min(first, source.firstStep.value);
            }
            m_live.firstStep.store(first);
        }
    }
    m_live.storedSamples.fetch_add(samples);
    m_live.droppedSamples.fetch_add(dropped);
    m_live.lastCommitWallNs.store(wallClockNs());
    for (std::int64_t id : m_touchedStreams)
        m_streams.at(id).durableSeq = m_streams.at(id).stagedSeq;
    std::erase_if(m_tails,
        [this](const TailRow& row) { return std::binary_search(m_droppedNow.begin(), m_droppedNow.end(), row.id); });
    if (m_catalogChanged)
        m_live.catalogRevision.fetch_add(1, std::memory_order_release);
    if (!m_touched.empty())
        m_live.dataRevision.fetch_add(1, std::memory_order_release);
    m_catalogChanged = false;
    m_trimmedNow = false;
    m_sealedNow.clear();
    m_droppedNow.clear();
    m_touched.clear();
    m_touchedStreams.clear();
    m_newLayouts.clear();
    m_staged.clear();
    m_quarantined.clear();
    m_callOrders.clear();
}

namespace {

std::uint64_t pragmaNumber(sqlite3* db, const char* sql)
{
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(db, sql, -1, &raw, nullptr) != SQLITE_OK)
        return 0;
    const auto value = sqlite3_step(raw) == SQLITE_ROW ? static_cast<std::uint64_t>(sqlite3_column_int64(raw, 0)) : 0;
    sqlite3_finalize(raw);
    return value;
}

std::uint64_t logicalBytes(sqlite3* db)
{
    return (pragmaNumber(db, "PRAGMA page_count") - pragmaNumber(db, "PRAGMA freelist_count"))
        * pragmaNumber(db, "PRAGMA page_size");
}

}

void CapsuleWriter::checkpoint(bool truncate)
{
    // What a checkpoint cannot write now stays in the log, and the next one tries again.
    if (truncate || m_walPages >= kCheckpointPages) {
        m_walPages = 0;
        sqlite3_wal_checkpoint_v2(
            m_db.get(), nullptr, truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
    }
    // What the database holds, not the file's length: most of a live run's newest pages are still in the log.
    m_live.fileBytes.store(logicalBytes(m_db.get()));
}

}
