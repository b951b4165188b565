// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/capsulewriter.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include <sqlite3.h>

#include <telltale/core/bytes.h>
#include <telltale/store/capsulestatements.h>
#include <telltale/store/clock.h>
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
    TailEncoder kept;
    const auto layoutOf = [&row](const TailBlock& tail) {
        const auto entry = std::find_if(row.columns.begin(), row.columns.end(),
            [&tail](const auto& item) { return item.first->layout()->id == tail.layout; });
        return entry == row.columns.end() ? nullptr : entry->first;
    };
    auto whole = decodeTail(
        m_sql->tailRead.blob(0),
        [&](const TailBlock& head) {
            const LiveLayout* layout = layoutOf(head);
            return layout != nullptr && fits(head, *layout->layout()) && !isSealedTo(*layout, head.column);
        },
        [&](TailBlock& tail) {
            tail.block.layout = layoutOf(tail)->layout();
            kept.append(tail.block, tail.column);
        });
    m_sql->tailRead.reset();
    if (!whole)
        return whole;
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
    const auto countDropped = [&dropped](const std::vector<Drop>& drops) {
        for (const Drop& drop : drops)
            dropped += dropclass::isSamples(drop.dropClass) ? drop.items : 0;
    };
    for (const Staged& staged : m_staged) {
        samples += staged.batch->samples;
        countDropped(staged.batch->drops);
        const StepRange steps = staged.batch->steps();
        m_news.addSteps(steps);
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
    for (const Quarantined& bad : m_quarantined)
        countDropped(bad.drops);
    m_live.storedSamples.fetch_add(samples);
    m_live.droppedSamples.fetch_add(dropped);
    m_live.lastCommitWallNs.store(wallClockNs());
    for (std::int64_t id : m_touchedStreams) {
        StreamRow& stream = m_streams.at(id);
        if (stream.durableSeq < stream.stagedSeq)
            m_news.addBatches({ id, stream.durableSeq + 1, stream.stagedSeq });
        stream.durableSeq = stream.stagedSeq;
    }
    forgetDropped();
    m_touched.clear();
    m_touchedStreams.clear();
    m_newLayouts.clear();
    m_staged.clear();
    m_quarantined.clear();
    m_callOrders.clear();
}

void CapsuleWriter::forgetDropped()
{
    std::erase_if(m_tails,
        [this](const TailRow& row) { return std::binary_search(m_droppedNow.begin(), m_droppedNow.end(), row.id); });
    m_trimmedNow = false;
    m_sealedNow.clear();
    m_droppedNow.clear();
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
