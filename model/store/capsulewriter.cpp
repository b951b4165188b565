// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/capsulewriter.h>

#include <algorithm>

#include <sqlite3.h>

#include <telltale/store/capsulefile.h>
#include <telltale/store/clock.h>

namespace telltale::store {
namespace {

/// Batches of a stream after which a layout that they do not use counts as replaced.
constexpr std::uint64_t kReplacedAfter = series::kTileColumns;
/// 64 MiB of WAL: tail rows that are written and deleted within one cycle never reach the file.
constexpr int kCheckpointPages = 8192;

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

CapsuleWriter::CapsuleWriter(Connection db, LiveRun& live)
    : m_db(std::move(db))
    , m_live(live)
    , m_transaction(m_db.get())
    , m_records(m_transaction)
    , m_book(m_transaction, m_records)
    , m_layouts(live)
    , m_staged(m_book, m_layouts)
{
}

Expected<std::unique_ptr<CapsuleWriter>> CapsuleWriter::open(const std::string& path, LiveRun& live)
{
    return open(path, live, false);
}

Expected<std::unique_ptr<CapsuleWriter>> CapsuleWriter::open(const std::string& path, LiveRun& live, bool isNew)
{
    auto db = openForWriting(path);
    if (!db)
        return tl::unexpected<Error>(std::move(db.error()));
    // A recorder may have died before its first word; then there was nothing to lose.
    const auto hasBegun = queryInteger(db->get(), "SELECT EXISTS(SELECT 1 FROM stream)");
    const bool isWithoutLog = !isNew && hasBegun.value_or(0) != 0 && lacksItsLog(db->get(), path);
    auto ok = execute(db->get(), "PRAGMA journal_mode=WAL");
    if (ok && isWithoutLog)
        ok = noteLostLog(db->get());
    // A run that nobody ended keeps its log: one without is known to have lost it.
    sqlite3_db_config(db->get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    if (!ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    std::unique_ptr<CapsuleWriter> writer(new CapsuleWriter(std::move(*db), live));
    ok = writer->load();
    if (!ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    return writer;
}

Expected<void> CapsuleWriter::load()
{
    auto ok = execute(m_db.get(), "PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=-4096");
    if (!ok)
        return ok;
    sqlite3_wal_hook(
        m_db.get(),
        [](void* self, sqlite3*, const char*, int pages) {
            static_cast<CapsuleWriter*>(self)->m_walPages = pages;
            return SQLITE_OK;
        },
        this);
    ok = m_transaction.prepare();
    if (ok)
        ok = m_records.prepare();
    if (ok)
        ok = m_book.load();
    if (!ok)
        return ok;
    for (const auto& [id, source] : sources())
        m_live.lastStep.store(std::max(m_live.lastStep.load(), source.lastStep.value));
    auto damage = m_layouts.load(m_db.get());
    if (!damage)
        return tl::unexpected<Error>(std::move(damage.error()));
    m_damage = std::move(*damage);
    ok = setState(RunState::Live);
    return ok ? m_layouts.resume() : ok;
}

Expected<void> CapsuleWriter::setState(RunState state)
{
    return m_book.setMeta("state", std::to_string(static_cast<int>(state)));
}

bool CapsuleWriter::isDuplicate(std::int64_t id, std::uint64_t seq)
{
    if (seq > streams().at(id).stagedSeq)
        return false;
    ++m_book.touch(id).duplicates;
    return true;
}

Expected<std::string> CapsuleWriter::stage(std::int64_t stream, std::shared_ptr<const SampleBatch> batch)
{
    m_home.check();
    if (isDuplicate(stream, batch->seq))
        return std::string();
    if (std::string why = m_staged.conflict(stream, *batch); !why.empty())
        return why;
    for (const StepBlock& block : batch->blocks) {
        LiveLayout* known = m_layouts.find(stream, block.layout->id);
        if (known == nullptr || !known->isReleased())
            continue;
        if (auto ok = restore(*known); !ok)
            return tl::unexpected<Error>(std::move(ok.error()));
    }
    m_staged.take(stream, std::move(batch));
    return std::string();
}

Expected<std::int64_t> CapsuleWriter::addStream(const StreamRequest& request)
{
    return m_book.addStream(request, std::max(request.restartCount, m_book.attemptsOf(request.rank)));
}

void CapsuleWriter::stageQuarantine(
    std::int64_t stream, std::uint64_t seq, std::string raw, std::string reason, Lost lost, std::vector<Drop> drops)
{
    if (isDuplicate(stream, seq))
        return;
    // Of which steps it was is not known.
    const StepRange none;
    const std::string why = "the server refused a batch: " + reason;
    if (lost.samples > 0)
        drops.push_back({ dropclass::kTensors, none.first, none.last, lost.samples, raw.size(), why });
    if (lost.scalars > 0)
        drops.push_back({ dropclass::kScalars, none.first, none.last, lost.scalars, 0, why });
    m_staged.quarantine({ stream, seq, std::move(raw), std::move(reason), std::move(drops) });
}

Expected<void> CapsuleWriter::commit()
{
    m_home.check();
    m_layouts.findFull();
    auto done = m_transaction.run([this]() -> Expected<void> {
        auto ok = m_staged.write(m_records);
        return ok ? m_layouts.sealSome() : ok;
    });
    if (!done) {
        m_layouts.rolledBack();
        return done;
    }
    m_layouts.committed();
    m_staged.committed(m_transaction.news(), m_live);
    checkpoint(false);
    return {};
}

Expected<void> CapsuleWriter::releaseIdle(Clock::time_point now, std::chrono::milliseconds grace)
{
    m_home.check();
    if (hasStaged())
        return {};
    const auto idle = m_layouts.select([&](const LiveLayout& layout) {
        return layout.nextColumn() > 0 && now - layout.lastUse() >= grace
            && (!m_book.isRunning(layout.stream())
                || streams().at(layout.stream()).batches - layout.lastBatch() >= kReplacedAfter);
    });
    if (idle.empty())
        return {};
    auto done = m_transaction.run([&] { return m_layouts.sealIdle(idle); });
    if (!done) {
        m_layouts.rolledBack();
        for (LiveLayout* layout : idle)
            layout->use(now, layout->lastBatch()); // not again at the next turn
        return done;
    }
    for (const LiveLayout* layout : idle)
        m_staged.forgetCallOrder(*layout);
    m_layouts.releaseSealed(idle);
    checkpoint(false);
    return {};
}

Expected<void> CapsuleWriter::restore(LiveLayout& layout)
{
    const std::size_t rows = m_layouts.tail().size();
    auto done = m_transaction.run([&] { return m_layouts.restore(layout); });
    if (!done) {
        m_layouts.tail().shrinkTo(rows);
        m_layouts.giveBack(layout);
    }
    return done;
}

Expected<void> CapsuleWriter::finish(RunState state)
{
    m_home.check();
    while (hasStaged()) {
        if (auto ok = commit(); !ok)
            return ok;
    }
    auto ok = m_transaction.run([&]() -> Expected<void> {
        auto done = m_layouts.sealAll();
        if (done)
            done = execute(m_db.get(), "DELETE FROM tail");
        if (done)
            done = m_book.setMeta("modified_ns", std::to_string(wallClockNs()));
        return done ? setState(state) : done;
    });
    if (!ok)
        return ok;
    static_cast<void>(execute(m_db.get(), "PRAGMA incremental_vacuum"));
    checkpoint(true);
    m_live.closed.store(true, std::memory_order_release);
    m_live.clearOpenTiles();
    return {};
}

bool CapsuleWriter::tidyUp()
{
    m_home.check();
    return execute(m_db.get(), "PRAGMA journal_mode=DELETE").has_value();
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
