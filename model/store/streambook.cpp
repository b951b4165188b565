// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/streambook.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include <telltale/store/clock.h>
#include <telltale/store/schema.h>
#include <telltale/store/storeservice.h>

namespace telltale::store {
namespace {

std::int64_t numberOf(std::string_view text)
{
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

}

Expected<void> StreamBook::load()
{
    // What was found changed when the capsule was opened stays known for it.
    const std::string writeSourceText = "INSERT OR REPLACE INTO meta(key, value) SELECT 'source.' || id, "
        + sourceText()
        + " FROM source WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM meta WHERE key = 'source.' || ?1 AND value = "
          "'changed')";
    auto ok = prepareAll(m_transaction.db(),
        {
            { &m_saveMeta, "INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)" },
            { &m_source,
                "INSERT INTO source(id, rank, attempt, agent_id, host, pid, device, framework, agent_version, dp, tp, "
                "pp, ep, first_step, last_step, state) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, -1, 0)" },
            { &m_sourceState, "UPDATE source SET state = ? WHERE id = ?" },
            { &m_sourceSteps, "UPDATE source SET first_step = ?, last_step = ? WHERE id = ?" },
            { &m_sourceText, writeSourceText },
            { &m_stream,
                "INSERT INTO stream(id, source, agent_id, incarnation, epoch, durable_seq, duplicates, rejected) "
                "VALUES(?, ?, ?, ?, 1, 0, 0, 0)" },
            { &m_streamEpoch, "UPDATE stream SET epoch = ? WHERE id = ?" },
            { &m_streamSeq,
                "UPDATE stream SET durable_seq = max(durable_seq, ?), duplicates = ?, rejected = ? WHERE id = ?" },
        });
    if (ok)
        ok = loadMeta();
    const std::string doubt
        = "UPDATE meta SET value = 'changed' WHERE key IN (SELECT 'source.' || id FROM source WHERE "
        + sourceWasChanged() + ')';
    if (ok)
        ok = execute(m_transaction.db(), doubt.c_str());
    if (!ok)
        return ok;
    constexpr std::string_view kSources
        = "SELECT id, rank, attempt, agent_id, first_step, last_step, state FROM source";
    ok = forEachRow(m_transaction.db(), kSources, [this](const Statement& row) {
        SourceInfo source;
        source.id = SourceId(row.integer(0));
        source.rank = Rank(static_cast<std::int32_t>(row.integer(1)));
        source.attempt = static_cast<int>(row.integer(2));
        source.agentId = row.text(3);
        source.firstStep = Step(row.integer(4));
        source.lastStep = Step(row.integer(5));
        source.state = static_cast<SourceState>(row.integer(6));
        m_sources[source.id.value] = std::move(source);
    });
    if (!ok)
        return ok;
    constexpr std::string_view kStreams
        = "SELECT id, source, agent_id, incarnation, durable_seq, duplicates, rejected, epoch, (SELECT CAST(value AS "
          "INTEGER) FROM meta WHERE key = 'told_seq.' || stream.id), (SELECT value FROM meta WHERE key = 'account.' || "
          "stream.id) FROM stream";
    return forEachRow(m_transaction.db(), kStreams, [this](const Statement& row) -> Expected<void> {
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

Expected<void> StreamBook::loadMeta()
{
    return forEachRow(m_transaction.db(), "SELECT key, value FROM meta", [this](const Statement& row) {
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

bool StreamBook::isRunning(std::int64_t stream) const
{
    return m_streams.contains(stream) && sourceOf(stream).state == SourceState::Running;
}

std::int64_t StreamBook::findStream(const std::string& agentId, std::uint64_t incarnation) const
{
    for (const auto& [id, stream] : m_streams) {
        if (stream.agentId == agentId && stream.incarnation == incarnation)
            return id;
    }
    return 0;
}

int StreamBook::attemptsOf(Rank rank) const
{
    int attempts = 0;
    for (const auto& [id, source] : m_sources) {
        if (source.rank == rank)
            attempts = std::max(attempts, source.attempt + 1);
    }
    return attempts;
}

SourceInfo StreamBook::newestOf(Rank rank) const
{
    SourceInfo newest;
    newest.rank = rank;
    for (const auto& [id, source] : m_sources) {
        if (source.rank == rank && source.attempt >= newest.attempt)
            newest = source;
    }
    return newest;
}

Expected<void> StreamBook::setMeta(const std::string& key, const std::string& value)
{
    return m_saveMeta.run(key, value);
}

Expected<void> StreamBook::sourceWritten(SourceId source)
{
    return m_sourceText.run(source);
}

Expected<void> StreamBook::writeSeq(const StreamRow& stream, std::uint64_t seq)
{
    return m_streamSeq.run(seq, stream.duplicates, stream.rejected, stream.id);
}

Expected<std::int64_t> StreamBook::addStream(const StreamRequest& request, int attempt)
{
    m_home.check();
    SourceInfo source;
    source.id = SourceId(m_sources.empty() ? 1 : m_sources.rbegin()->first + 1);
    source.rank = request.rank;
    source.attempt = attempt;
    source.agentId = request.agentId;
    StreamRow stream;
    stream.id = m_streams.empty() ? 1 : m_streams.rbegin()->first + 1;
    stream.source = source.id;
    stream.agentId = request.agentId;
    stream.incarnation = request.incarnation;
    stream.epoch = 1;
    auto done = m_transaction.run([&]() -> Expected<void> {
        auto ok = m_source.run(source.id, source.rank, attempt, request.agentId, request.host, request.pid,
            request.device, request.framework, request.agentVersion, request.dp, request.tp, request.pp, request.ep);
        if (ok)
            ok = sourceWritten(source.id);
        return ok ? m_stream.run(stream.id, source.id, stream.agentId, stream.incarnation) : ok;
    });
    if (!done)
        return tl::unexpected<Error>(std::move(done.error()));
    m_sources[source.id.value] = source;
    m_streams[stream.id] = stream;
    m_transaction.news().areSourcesChanged = true;
    return stream.id;
}

Expected<void> StreamBook::skipTo(std::int64_t id, std::uint64_t firstRetained)
{
    StreamRow& stream = m_streams.at(id);
    if (firstRetained <= stream.durableSeq + 1)
        return {};
    Event gap;
    gap.kind = "gap";
    gap.step = sourceOf(id).lastStep;
    gap.wallNs = wallClockNs();
    gap.text = "batches " + std::to_string(stream.durableSeq + 1) + " to " + std::to_string(firstRetained - 1)
        + " are lost: neither the agent nor the store has them";
    auto done = m_transaction.run([&]() -> Expected<void> {
        auto ok = m_records.writeEvent(sourceOf(id), gap);
        return ok ? writeSeq(stream, firstRetained - 1) : ok;
    });
    if (done)
        stream.durableSeq = stream.stagedSeq = firstRetained - 1;
    return done;
}

Expected<void> StreamBook::resume(std::int64_t id)
{
    StreamRow& stream = m_streams.at(id);
    auto done = m_transaction.run([&]() -> Expected<void> {
        auto ok = m_sourceState.run(SourceState::Running, stream.source);
        if (ok)
            ok = sourceWritten(stream.source);
        return ok ? m_streamEpoch.run(stream.epoch + 1, id) : ok;
    });
    if (!done)
        return done;
    ++stream.epoch;
    m_sources.at(stream.source.value).state = SourceState::Running;
    m_transaction.news().areSourcesChanged = true;
    return {};
}

Expected<void> StreamBook::leave(std::int64_t id, SourceState state, std::uint64_t announcedSeq, Produced produced)
{
    StreamRow& stream = m_streams.at(id);
    std::optional<StreamAccount> account = stream.account;
    if (account) {
        Produced& known = account->produced;
        known = { std::max(known.samples, produced.samples), std::max(known.scalars, produced.scalars),
            known.isFinal || produced.isFinal };
    }
    auto done = m_transaction.run([&]() -> Expected<void> {
        auto ok = m_sourceState.run(state, stream.source);
        if (ok)
            ok = sourceWritten(stream.source);
        if (ok && account)
            ok = setMeta(accountKey(id), account->text());
        if (!ok || announcedSeq <= stream.announcedSeq)
            return ok;
        return setMeta(toldSeqKey(id), std::to_string(announcedSeq));
    });
    if (!done)
        return done;
    stream.announcedSeq = std::max(stream.announcedSeq, announcedSeq);
    stream.account = account;
    m_sources.at(stream.source.value).state = state;
    m_transaction.news().areSourcesChanged = true;
    return {};
}

StreamRow& StreamBook::touch(std::int64_t stream)
{
    m_home.check();
    m_touched.insert(stream);
    return m_streams.at(stream);
}

Expected<void> StreamBook::writeTouched(const std::map<SourceId, StepRange>& steps)
{
    for (std::int64_t id : m_touched) {
        const StreamRow& stream = m_streams.at(id);
        auto ok = writeSeq(stream, stream.stagedSeq);
        if (ok && stream.account)
            ok = setMeta(accountKey(id), stream.account->text());
        if (!ok)
            return ok;
    }
    for (const auto& [id, range] : steps) {
        // Repeating the commit widens by the same range again: no harm.
        SourceInfo& source = m_sources.at(id.value);
        const bool isFirst = source.lastStep < source.firstStep;
        source.firstStep = isFirst ? range.first : std::min(source.firstStep, range.first);
        source.lastStep = isFirst ? range.last : std::max(source.lastStep, range.last);
        auto ok = m_sourceSteps.run(source.firstStep, source.lastStep, id);
        if (ok)
            ok = sourceWritten(id);
        if (!ok)
            return ok;
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

void StreamBook::committed()
{
    for (std::int64_t id : m_touched) {
        StreamRow& stream = m_streams.at(id);
        if (stream.durableSeq < stream.stagedSeq)
            m_transaction.news().addBatches({ id, stream.durableSeq + 1, stream.stagedSeq });
        stream.durableSeq = stream.stagedSeq;
    }
    m_touched.clear();
}

}
