// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/ingest/ingestsession.h>

#include <algorithm>
#include <cmath>

#include <telltale/core/bytes.h>
#include <telltale/protocol/codec.h>
#include <telltale/protocol/limits.h>
#include <telltale/spool/productionpage.h>

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
            m_refusals.knownSeries += layout->series.size();
    }
}

IngestSession::Verdict IngestSession::onBatch(protocol::Batch batch)
{
    m_home.check();
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
    return takeNack() ? Verdict::AheadNack : verdict;
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
        if (!m_sink.quarantine(m_stream, raw->seq, raw->bytes, raw->reason, raw->lost))
            return false;
        m_pending.push_back({ raw->seq, 0, 0 });
        m_dropped += raw->lost.samples;
    }
    m_prepared = std::monostate {};
    return true;
}

IngestSession::Prepared IngestSession::prepare(protocol::Batch batch)
{
    m_refusals.refusesUnknown = batch.seq == m_askedAgain;
    auto decoded = protocol::decodePayload(batch.payload, m_layouts, &m_refusals);
    if (decoded)
        return accept(std::move(*decoded), std::move(batch));
    if (decoded.error().code == ErrorCode::NotFound) {
        // Its layouts went down with a batch that could not be read: the agent has it still, and sends them again.
        m_askedAgain = batch.seq;
        m_nackDue = true;
        ++m_nacks;
        m_waiting.clear();
        m_rules.rewindTo(batch.seq);
        return std::monostate {};
    }
    ++m_rejected;
    batch.payload.resize(std::min(batch.payload.size(), store::kMaxQuarantineBytes));
    return Raw { batch.seq, std::move(batch.payload), std::move(decoded.error().what),
        { batch.samples, batch.scalars } };
}

IngestSession::Prepared IngestSession::accept(SampleBatch decoded, protocol::Batch batch)
{
    for (const auto& layout : decoded.layouts) {
        if (!m_layouts.find(layout->id))
            m_refusals.knownSeries += layout->series.size();
        m_layouts.add(layout);
    }
    if (!m_refusals.left.reason.empty())
        noteRefused(decoded, batch);
    m_throttle.cut(decoded);
    decoded.stream = m_stream;
    decoded.seq = batch.seq;
    decoded.payload = std::move(batch.payload);
    decoded.payloadCrc = batch.crc;
    return std::make_shared<const SampleBatch>(std::move(decoded));
}

/// What was left out stands among the batch's drops, and the agent hears of it with the ack.
void IngestSession::noteRefused(SampleBatch& decoded, const protocol::Batch& batch)
{
    const protocol::Refusals::Left& left = m_refusals.left;
    // What the agent says that it holds counts even what cannot be read.
    const auto missing = [](std::uint64_t announced, std::uint64_t taken, std::uint64_t counted) {
        return announced > taken ? announced - taken : counted;
    };
    protocol::Rejected rejected { batch.seq, left.reason, true };
    rejected.samples = missing(batch.samples, decoded.samples, left.samples);
    rejected.scalars = missing(batch.scalars, decoded.scalars, left.scalars);
    const std::pair<std::uint32_t, std::uint64_t> lost[] { { dropclass::kTensors, rejected.samples },
        { dropclass::kScalars, rejected.scalars }, { dropclass::kEvents, left.events },
        { dropclass::kBlobs, left.blobs } };
    const std::string reason = "the server refused it: " + left.reason;
    for (const auto& [dropClass, items] : lost) {
        if (items > 0)
            decoded.drops.push_back({ dropClass, left.steps.first, left.steps.last, items, 0, reason });
    }
    m_rules.addRejected(std::move(rejected));
}

void IngestSession::note(const SampleBatch& batch)
{
    std::int64_t newest = 0;
    for (const StepBlock& block : batch.blocks) {
        newest = std::max(newest, block.wallNs);
        if (block.step <= m_newestSteps.last)
            continue;
        const bool isFirst = m_newestSteps.last < batch.blocks.front().step;
        m_newestSteps.last = block.step;
        m_newestSteps.lastNs = block.wallNs;
        if (isFirst) {
            m_newestSteps.first = block.step;
            m_newestSteps.firstNs = block.wallNs;
        }
    }
    m_pending.push_back({ batch.seq, newest, batch.samples });
    for (const Drop& drop : batch.drops) {
        if (dropclass::isSamples(drop.dropClass))
            m_dropped += drop.items;
    }
}

void IngestSession::onHeartbeat(const protocol::Heartbeat& heartbeat, std::int64_t nowWallNs)
{
    m_home.check();
    m_agentNextSeq = std::min(heartbeat.seq, protocol::limits::kMaxSeq);
    m_produced = { std::max(m_produced.samples, heartbeat.producedSamples),
        std::max(m_produced.scalars, heartbeat.producedScalars), m_produced.isFinal || heartbeat.isFinal };
    if (heartbeat.nextStep > m_nextStep && heartbeat.cost == m_costSums)
        m_cost = {}; // steps go by, and nothing of them is measured
    else
        m_cost.note(heartbeat.cost);
    m_costSums = heartbeat.cost;
    m_nextStep = heartbeat.nextStep;
    m_thinning = heartbeat.thinning;
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
    m_home.check();
    m_rules.onDurable(seq);
    std::int64_t newest = 0;
    const std::uint64_t before = m_samples;
    while (!m_pending.empty() && m_pending.front().seq <= seq) {
        newest = std::max(newest, m_pending.front().newestWallNs);
        m_samples += m_pending.front().samples;
        m_pending.pop_front();
    }
    m_arrivals.note(Clock::now(), m_samples - before);
    m_newestWallNs = std::max(m_newestWallNs, newest);
    if (newest != 0)
        m_lagSeconds = seconds(nowWallNs) - seconds(newest) - m_clockOffset;
}

void IngestSession::onQuarantined(std::uint64_t seq, std::string reason, std::int64_t nowWallNs)
{
    m_rules.addRejected(seq, std::move(reason));
    onDurable(seq, nowWallNs);
}

void IngestSession::lookForPage(std::uint64_t incarnation)
{
    if (m_produced.isFinal)
        return;
    if (const auto page = agent::ProductionPage::leftBy(incarnation)) {
        m_produced = page->produced;
        page->remove();
    }
}

std::uint64_t IngestSession::announcedSeq() const
{
    const std::uint64_t announced = m_agentNextSeq == 0 ? 0 : m_agentNextSeq - 1;
    return std::max(announced, m_rules.nextSeq() - 1);
}

void IngestSession::describe(ConnectionInfo& info, Clock::time_point now, std::int64_t nowWallNs)
{
    info.lagSeconds = m_lagSeconds;
    // What the agent has made and we have not kept grows older by the second.
    if (m_newestWallNs != 0 && announcedSeq() > m_rules.durableSeq())
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
    info.samplesPerSecond = static_cast<std::uint64_t>(std::llround(m_arrivals.perSecond(now)));
    info.nextStep = m_nextStep;
    info.monitorMs = m_cost.monitorMs();
    info.stepMs = m_cost.stepMs();
    info.collectedEvery = static_cast<std::int64_t>(std::min(m_thinning.every, protocol::limits::kMaxSeq));
    info.overheadBudget = static_cast<double>(m_thinning.budgetPpm) / 1e4;
}

}
