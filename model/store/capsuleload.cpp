// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/capsulewriter.h>

#include <algorithm>
#include <charconv>

#include <sqlite3.h>

#include <telltale/core/bytes.h>
#include <telltale/store/capsulefile.h>
#include <telltale/store/capsulestatements.h>
#include <telltale/store/clock.h>
#include <telltale/store/schema.h>
#include <telltale/store/tailcodec.h>
#include <telltale/store/tailreplay.h>

namespace telltale::store {
namespace {

std::int64_t numberOf(std::string_view text)
{
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

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
    std::unique_ptr<CapsuleWriter> writer(new CapsuleWriter(path, std::move(*db), live));
    ok = writer->prepare();
    if (ok)
        ok = writer->load();
    if (!ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    return writer;
}

Expected<void> CapsuleWriter::prepare()
{
    auto ok = execute(m_db.get(), "PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=-16384");
    if (!ok)
        return ok;
    sqlite3_wal_hook(
        m_db.get(),
        [](void* self, sqlite3*, const char*, int pages) {
            static_cast<CapsuleWriter*>(self)->m_walPages = pages;
            return SQLITE_OK;
        },
        this);
    auto statements = Statements::prepare(m_db.get());
    if (!statements)
        return tl::unexpected<Error>(std::move(statements.error()));
    m_sql = std::move(*statements);
    auto sealer = TileSealer::create(m_db.get());
    if (!sealer)
        return tl::unexpected<Error>(std::move(sealer.error()));
    m_sealer = std::move(*sealer);
    return {};
}

Expected<void> CapsuleWriter::load()
{
    auto ok = loadMeta();
    if (ok)
        ok = loadStreams();
    if (!ok)
        return ok;
    auto replay = replayTail(m_db.get());
    if (!replay)
        return tl::unexpected<Error>(std::move(replay.error()));
    m_damage = std::move(replay->damage);
    for (auto& [key, layout] : replay->layouts) {
        if (const auto stream = m_streams.find(key.first); stream != m_streams.end())
            stream->second.layouts[key.second] = layout.get();
        m_layouts.push_back(std::move(layout));
    }
    for (TailReplay::Row& row : replay->rows) {
        TailRow kept { row.id, {}, false };
        for (const auto& entry : row.columns)
            kept.columns.push_back(entry);
        m_tails.push_back(std::move(kept));
    }
    const struct {
        std::int64_t* next;
        const char* sql;
    } counters[] = {
        { &m_nextGroup, "SELECT ifnull(max(id), 0) + 1 FROM grp" },
        { &m_nextSeries, "SELECT ifnull(max(id), 0) + 1 FROM series" },
        { &m_nextTail, "SELECT ifnull(max(id), 0) + 1 FROM tail" },
    };
    for (const auto& [next, sql] : counters) {
        auto value = queryInteger(m_db.get(), sql);
        if (!value)
            return tl::unexpected<Error>(std::move(value.error()));
        *next = *value;
    }
    ok = setState(RunState::Live);
    if (!ok)
        return ok;
    for (auto& layout : m_layouts) {
        if (layout->isReleased())
            continue;
        for (LiveGroup& group : layout->groups()) {
            if (auto resumed = m_sealer->resume(group, layout->layout()->stats); !resumed)
                return resumed;
        }
        m_touched.insert(layout.get());
        publish(*layout);
    }
    return {};
}

Expected<void> CapsuleWriter::loadMeta()
{
    return forEachRow(m_db.get(), "SELECT key, value FROM meta", [this](const Statement& row) {
        const std::string_view key = row.text(0);
        const std::string value(row.text(1));
        if (key == "store_id")
            m_meta.storeId = value;
        else if (key == "run_id")
            m_meta.runId = value;
        else if (key == "run_key")
            m_meta.runKey = value;
        else if (key == "key_source")
            m_meta.keySource = value;
        else if (key == "name")
            m_meta.name = value;
        else if (key == "world_size")
            m_meta.worldSize = static_cast<int>(numberOf(value));
        else if (key == "created_ns")
            m_meta.createdNs = numberOf(value);
    });
}

Expected<void> CapsuleWriter::loadStreams()
{
    const std::string doubt
        = "UPDATE meta SET value = 'changed' WHERE key IN (SELECT 'source.' || id FROM source WHERE "
        + sourceWasChanged() + ')';
    if (auto ok = execute(m_db.get(), doubt.c_str()); !ok)
        return ok;
    constexpr std::string_view kSources
        = "SELECT id, rank, attempt, agent_id, first_step, last_step, state FROM source";
    auto ok = forEachRow(m_db.get(), kSources, [this](const Statement& row) {
        SourceInfo source;
        source.id = SourceId(row.integer(0));
        source.rank = Rank(static_cast<std::int32_t>(row.integer(1)));
        source.attempt = static_cast<int>(row.integer(2));
        source.agentId = row.text(3);
        source.firstStep = Step(row.integer(4));
        source.lastStep = Step(row.integer(5));
        source.state = static_cast<SourceState>(row.integer(6));
        m_live.lastStep.store(std::max(m_live.lastStep.load(), source.lastStep.value));
        m_sources[source.id.value] = std::move(source);
    });
    if (!ok)
        return ok;
    constexpr std::string_view kStreams
        = "SELECT id, source, agent_id, incarnation, durable_seq, duplicates, rejected, epoch, (SELECT CAST(value AS "
          "INTEGER) FROM meta WHERE key = 'told_seq.' || stream.id), (SELECT value FROM meta WHERE key = 'account.' || "
          "stream.id) FROM stream";
    return forEachRow(m_db.get(), kStreams, [this](const Statement& row) -> Expected<void> {
        StreamRow stream;
        stream.id = row.integer(0);
        stream.source = SourceId(row.integer(1));
        stream.agentId = row.text(2);
        stream.incarnation = static_cast<std::uint64_t>(row.integer(3));
        stream.durableSeq = stream.stagedSeq = static_cast<std::uint64_t>(row.integer(4));
        stream.duplicates = static_cast<std::uint64_t>(row.integer(5));
        stream.rejected = static_cast<std::uint64_t>(row.integer(6));
        stream.epoch = static_cast<std::uint32_t>(row.integer(7));
        stream.announcedSeq = static_cast<std::uint64_t>(row.integer(8));
        if (const std::string_view account = row.text(9); !account.empty())
            stream.account = StreamAccount::parse(account);
        else if (stream.durableSeq > 0)
            stream.account.reset();
        if (!m_sources.contains(stream.source.value))
            return failure(ErrorCode::Damaged, "a stream of the capsule has no source");
        m_streams[stream.id] = std::move(stream);
        return {};
    });
}

Expected<void> CapsuleWriter::sealRest()
{
    for (auto& layout : m_layouts) {
        if (layout->isReleased())
            continue;
        if (auto ok = sealLayout(*layout); !ok)
            return ok;
    }
    return execute(m_db.get(), "DELETE FROM tail");
}

Expected<void> CapsuleWriter::finish(RunState state)
{
    while (hasStaged()) {
        if (auto ok = commit(); !ok)
            return ok;
    }
    auto ok = transaction([&]() -> Expected<void> {
        if (auto sealed = sealRest(); !sealed)
            return sealed;
        if (auto saved = setMeta("modified_ns", std::to_string(wallClockNs())); !saved)
            return saved;
        return setState(state);
    });
    if (!ok)
        return ok;
    static_cast<void>(execute(m_db.get(), "PRAGMA incremental_vacuum"));
    checkpoint(true);
    m_live.closed.store(true, std::memory_order_release);
    m_live.clearOpenTiles();
    return {};
}

bool CapsuleWriter::leaveWal()
{
    m_sealer.reset();
    m_sql.reset();
    return execute(m_db.get(), "PRAGMA journal_mode=DELETE").has_value();
}

}
