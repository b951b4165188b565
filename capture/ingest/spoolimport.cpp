// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/ingest/spoolimport.h>

#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <utility>
#include <variant>

#include <telltale/core/bytes.h>
#include <telltale/ingest/streamrequest.h>
#include <telltale/protocol/datarules.h>
#include <telltale/spool/outgoing.h>

namespace fs = std::filesystem;

namespace telltale::ingest {
namespace {

constexpr std::uint64_t kSpoolCap = std::uint64_t { 1 } << 40; ///< nothing is appended
/// Undecoded batches that may wait for the store.
constexpr IngestSession::Credit kWindow { 32u << 20, 1024 };

std::int64_t wallNs()
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

}

/// Outlives the importer where the store's wake is under way.
struct SpoolImport::Wakeup {
    std::mutex mutex;
    std::condition_variable came;
    bool isSet = false;

    void set()
    {
        {
            const std::lock_guard lock(mutex);
            isSet = true;
        }
        came.notify_one();
    }
    void wait()
    {
        std::unique_lock lock(mutex);
        came.wait(lock, [this] { return isSet; });
        isSet = false;
    }
};

SpoolImport::SpoolImport(BatchSink& sink)
    : m_sink(sink)
    , m_wakeup(std::make_shared<Wakeup>())
{
    m_sink.setWake([wakeup = m_wakeup] { wakeup->set(); });
}

SpoolImport::~SpoolImport()
{
    m_sink.setWake({});
}

Expected<SpoolImport::Found> SpoolImport::open(const fs::path& folder)
{
    auto spooled = agent::openSpooledStream(folder, kSpoolCap);
    if (!spooled)
        return tl::unexpected<Error>(std::move(spooled.error()));
    Found found { {}, std::move(*spooled) };
    if (found.spooled.stream) {
        found.hello = found.spooled.stream->hello;
        found.hello.firstRetainedSeq = found.spooled.stream->rules.firstRetainedSeq();
        protocol::mendNames(found.hello);
        if (auto ok = protocol::checkHello(found.hello); !ok)
            return failure(ErrorCode::BadInput, folder.string() + " cannot be imported: " + ok.error().what);
    }
    return found;
}

Expected<store::StreamOpened> SpoolImport::openStream(const protocol::Hello& hello)
{
    const std::uint64_t token = m_nextToken++;
    if (!m_sink.openStream(requestOf(hello, token)))
        return failure(ErrorCode::Busy, "the store is held up", "try again later");
    for (;;) {
        for (store::StoreEvent& event : m_sink.takeEvents()) {
            if (auto* opened = std::get_if<store::StreamOpened>(&event); opened && opened->token == token)
                return std::move(*opened);
            if (auto* refused = std::get_if<store::StreamRefused>(&event); refused && refused->token == token)
                return tl::unexpected<Error>(std::move(refused->error));
        }
        m_wakeup->wait();
    }
}

/// As a connection would send it: layouts come with the first batch that uses them.
std::string SpoolImport::payloadOf(agent::Stream& stream, std::uint64_t seq, LayoutSet& known)
{
    // Without a thread of its own the disk never keeps a batch for later.
    auto out = agent::outgoing(stream, seq, known);
    if (!out)
        return agent::lostBesidePayload();
    known.insert(out->added.begin(), out->added.end());
    return std::move(out->payload);
}

/// Takes in what the store says; acknowledged batches leave the spool.
Expected<void> SpoolImport::digest(agent::Stream& stream, IngestSession& session)
{
    m_wakeup->wait();
    for (store::StoreEvent& event : m_sink.takeEvents()) {
        if (const auto* durable = std::get_if<store::StreamDurable>(&event)) {
            if (durable->stream == session.stream())
                session.onDurable(durable->seq, wallNs());
        } else if (auto* bad = std::get_if<store::BatchQuarantined>(&event)) {
            if (bad->stream == session.stream())
                session.onQuarantined(bad->seq, std::move(bad->reason), wallNs());
        } else if (auto* trouble = std::get_if<store::StoreTrouble>(&event)) {
            // Nobody waits here for a disk to be cleared: what is not durable stays in the spool.
            if (!trouble->recovered)
                return tl::unexpected<Error>(std::move(trouble->error));
        } else if (auto* stopped = std::get_if<store::RunStopped>(&event)) {
            return tl::unexpected<Error>(std::move(stopped->error));
        }
    }
    stream.held.forgetUpTo(session.takeAck().durableSeq);
    session.offerWaiting();
    return {};
}

Expected<void> SpoolImport::feed(agent::Stream& stream, IngestSession& session, std::uint32_t epoch)
{
    m_home.check();
    LayoutSet known;
    std::uint64_t rejected = 0;
    const std::uint64_t first = stream.rules.firstRetainedSeq();
    std::uint64_t seq = first;
    const std::uint64_t end = stream.rules.nextSeq();
    while (seq < end) {
        if (session.hasWaiting()) {
            if (auto ok = digest(stream, session); !ok)
                return ok;
            if (session.takeNack()) {
                seq = session.rules().nextSeq();
                known.clear();
            }
            continue;
        }
        protocol::Batch batch;
        batch.seq = seq;
        batch.epoch = epoch;
        // Layouts that stood in a refused batch were not taken in.
        if (std::exchange(rejected, session.rejected()) != session.rejected())
            known.clear();
        batch.payload = payloadOf(stream, seq, known);
        batch.crc = crc32c(batch.payload);
        switch (session.onBatch(std::move(batch))) {
        case IngestSession::Verdict::Accept:
        case IngestSession::Verdict::Duplicate:
            ++seq;
            break;
        case IngestSession::Verdict::OverCredit:
            if (auto ok = digest(stream, session); !ok)
                return ok;
            break;
        default:
            if (session.rules().nextSeq() < first)
                return failure(ErrorCode::Damaged,
                    "the spool does not follow on what the run has: batch " + std::to_string(session.rules().nextSeq())
                        + " is missing");
            seq = session.rules().nextSeq();
            known.clear();
            break;
        }
    }
    while (session.hasWaiting() || !session.isSettled()) {
        if (auto ok = digest(stream, session); !ok)
            return ok;
    }
    stream.held.forgetUpTo(session.rules().durableSeq());
    return {};
}

Expected<SpoolReport> SpoolImport::take(const fs::path& folder, Found found)
{
    SpoolReport report;
    report.folder = folder.string();
    report.damages = std::move(found.spooled.damages);
    if (!found.spooled.stream) {
        report.isEmpty = true;
        return report;
    }
    agent::Stream& stream = *found.spooled.stream;
    report.runKey = found.hello.runKey;
    report.agentId = found.hello.agentId;
    report.rank = Rank { found.hello.rank };
    const auto opened = openStream(found.hello);
    if (!opened)
        return tl::unexpected<Error>(opened.error());
    report.capsule = opened->run->locator.text();
    report.runId = opened->run->id;
    IngestSession session(m_sink, *opened, kWindow);
    auto fed = feed(stream, session, opened->epoch);
    report.samples = session.durableSamples();
    report.duplicates = session.rules().duplicates();
    report.rejected = session.rejected();
    report.batches = session.rules().durableSeq() - opened->durableSeq - report.rejected;
    session.lookForPage(found.hello.incarnation);
    m_sink.closeStream(session.stream(), found.spooled.byeReason, stream.rules.nextSeq() - 1, session.produced());
    if (!fed)
        return tl::unexpected<Error>(std::move(fed.error()));
    stream.disk.close(std::nullopt);
    return report;
}

}
