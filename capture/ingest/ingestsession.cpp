// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/ingest/ingestsession.h>

#include <algorithm>
#include <cmath>

#include <telltale/core/bytes.h>
#include <telltale/protocol/codec.h>
#include <telltale/protocol/limits.h>

namespace telltale::ingest {
namespace {

/// In double: a peer may claim any clock, and no difference of two may overflow.
double seconds(std::int64_t ns)
{
    return static_cast<double>(ns) / 1e9;
}

}

IngestSession::IngestSession(BatchSink& sink, const store::StreamOpened& opened, Credit credit)
    : m_sink(sink)
    , m_stream(opened.stream)
    , m_rules(opened.durableSeq, opened.epoch, credit.bytes, credit.batches)
{
    for (const auto& layout : opened.layouts) {
        if (m_layouts.add(layout))
            m_seriesCount += layout->series.size();
    }
}

IngestSession::Verdict IngestSession::onBatch(protocol::Batch batch)
{
    ++m_receivedBatches;
    m_receivedBytes += batch.payload.size();
    const bool crcOk = crc32c(batch.payload) == batch.crc;
    const Verdict verdict = m_rules.onBatch(batch.seq, batch.epoch, batch.payload.size(), crcOk);
    if (verdict == Verdict::AheadNack)
        ++m_nacks;
    if (verdict == Verdict::Accept) {
        m_waiting.push_back(std::move(batch));
        offerWaiting();
    }
    return verdict;
}

bool IngestSession::offerWaiting()
{
    while (offerPrepared()) {
        if (m_waiting.empty())
            return true;
        protocol::Batch batch = std::move(m_waiting.front());
        m_waiting.pop_front();
        m_prepared = prepare(std::move(batch));
    }
    return false;
}

bool IngestSession::offerPrepared()
{
    if (auto* batch = std::get_if<std::shared_ptr<const SampleBatch>>(&m_prepared)) {
        if (!m_sink.submit(*batch))
            return false;
        note(**batch);
    } else if (auto* raw = std::get_if<Raw>(&m_prepared)) {
        if (!m_sink.quarantine(m_stream, raw->seq, raw->bytes, raw->reason))
            return false;
        m_pending.push_back({ raw->seq, 0, 0 });
    }
    m_prepared = std::monostate {};
    return true;
}

IngestSession::Prepared IngestSession::prepare(protocol::Batch batch)
{
    std::string reason;
    if (auto decoded = protocol::decodePayload(batch.payload, m_layouts)) {
        reason = intern(*decoded);
        if (reason.empty()) {
            decoded->stream = m_stream;
            decoded->seq = batch.seq;
            decoded->payload = std::move(batch.payload);
            decoded->payloadCrc = batch.crc;
            return std::make_shared<const SampleBatch>(std::move(*decoded));
        }
    } else {
        reason = decoded.error().what;
    }
    ++m_rejected;
    batch.payload.resize(std::min(batch.payload.size(), protocol::limits::kMaxQuarantineBytes));
    return Raw { batch.seq, std::move(batch.payload), std::move(reason) };
}

std::string IngestSession::intern(const SampleBatch& batch)
{
    std::size_t added = 0;
    for (const auto& layout : batch.layouts) {
        const auto known = m_layouts.find(layout->id);
        if (known && *known != *layout)
            return "layout " + std::to_string(layout->id.value) + " is known with other contents";
        if (!known)
            added += layout->series.size();
    }
    if (m_seriesCount + added > protocol::limits::kMaxSeriesPerRun)
        return "more than " + std::to_string(protocol::limits::kMaxSeriesPerRun) + " series in one stream";
    for (const auto& layout : batch.layouts)
        m_layouts.add(layout);
    m_seriesCount += added;
    return {};
}

void IngestSession::note(const SampleBatch& batch)
{
    std::int64_t newest = 0;
    for (const StepBlock& block : batch.blocks)
        newest = std::max(newest, block.wallNs);
    m_pending.push_back({ batch.seq, newest, batch.samples });
    for (const Drop& drop : batch.drops) {
        if (drop.dropClass == 2)
            m_dropped += drop.items;
    }
}

void IngestSession::onHeartbeat(const protocol::Heartbeat& heartbeat, std::int64_t nowWallNs)
{
    m_agentNextSeq = heartbeat.seq;
    m_ringBytes = heartbeat.ringBytes;
    m_spoolBytes = heartbeat.spoolBytes;
    if (heartbeat.dropsByClass.size() > 2)
        m_reportedDrops = heartbeat.dropsByClass[2];
    if (heartbeat.clocks.wallNs != 0) {
        const double offset = seconds(nowWallNs) - seconds(heartbeat.clocks.wallNs);
        m_clockOffset = m_clockOffsetKnown ? std::min(m_clockOffset, offset) : offset;
        m_clockOffsetKnown = true;
    }
}

void IngestSession::onDurable(std::uint64_t seq, std::int64_t nowWallNs)
{
    m_rules.onDurable(seq);
    std::int64_t newest = 0;
    while (!m_pending.empty() && m_pending.front().seq <= seq) {
        newest = std::max(newest, m_pending.front().newestWallNs);
        m_samples += m_pending.front().samples;
        m_pending.pop_front();
    }
    m_newestWallNs = std::max(m_newestWallNs, newest);
    if (newest != 0)
        m_lagSeconds = seconds(nowWallNs) - seconds(newest) - m_clockOffset;
}

void IngestSession::onQuarantined(std::uint64_t seq, std::string reason, std::int64_t nowWallNs)
{
    m_rules.addRejected(seq, std::move(reason));
    onDurable(seq, nowWallNs);
}

std::uint64_t IngestSession::toldSeq() const
{
    const std::uint64_t told = m_agentNextSeq == 0 ? 0 : m_agentNextSeq - 1;
    return std::max(told, m_rules.nextSeq() - 1);
}

void IngestSession::describe(ConnectionInfo& info, Clock::time_point now, std::int64_t nowWallNs)
{
    const double elapsed = std::chrono::duration<double>(now - m_rateSince).count();
    if (elapsed >= 1) {
        m_samplesPerSecond
            = static_cast<std::uint64_t>(std::llround(static_cast<double>(m_samples - m_rateSamples) / elapsed));
        m_rateSamples = m_samples;
        m_rateSince = now;
    }
    info.lagSeconds = m_lagSeconds;
    // What the agent has made and we have not kept grows older by the second.
    if (m_newestWallNs != 0 && toldSeq() > m_rules.durableSeq())
        info.lagSeconds = std::max(m_lagSeconds, seconds(nowWallNs) - seconds(m_newestWallNs) - m_clockOffset);
    info.receivedBytes = m_receivedBytes;
    info.receivedBatches = m_receivedBatches;
    info.duplicates = m_rules.duplicates();
    info.nacks = m_nacks;
    info.rejected = m_rejected;
    info.durableSeq = m_rules.durableSeq();
    info.nextSeq = std::max(m_agentNextSeq, m_rules.nextSeq());
    info.droppedSamples = std::max(m_dropped, m_reportedDrops);
    info.ringBytes = m_ringBytes;
    info.spoolBytes = m_spoolBytes;
    info.samplesPerSecond = m_samplesPerSecond;
}

}
