// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/server/controlconnection.h>

#include <algorithm>
#include <utility>
#include <variant>

#include <telltale/ingest/streamrequest.h>
#include <telltale/protocol/datarules.h>
#include <telltale/protocol/limits.h>
#include <telltale/protocol/utf8.h>
#include <telltale/server/controlendpoint.h>
#include <telltale/store/archive.h>
#include <telltale/store/runfacts.h>
#include <telltale/store/stepnote.h>
#include <telltale/store/storeservice.h>

namespace telltale::server {

namespace limits = protocol::limits;

namespace {

/// To what one message may hold: what one rank runs, and the beginnings of long reasons.
void shorten(RunSteering& steering, Rank rank)
{
    constexpr std::size_t kReasonBytes = limits::kMaxMessageBytes / 4;
    constexpr std::size_t kMostRanks = limits::kMaxSubmessages - 8;
    if (steering.ranks.size() > kMostRanks)
        steering.ranks.resize(kMostRanks);
    const auto said = std::find_if(steering.ranks.begin(), steering.ranks.end(),
        [rank](const RankSteering& other) { return rank.value < 0 ? !other.runs.empty() : other.rank == rank; });
    for (auto other = steering.ranks.begin(); other != steering.ranks.end(); ++other) {
        if (other != said)
            other->runs.clear();
        other->reason = protocol::cutUtf8(other->reason, kReasonBytes / steering.ranks.size());
    }
}

}

ControlConnection::ControlConnection(std::uint64_t id, std::unique_ptr<QWebSocket> socket, ConnectionHost& host,
    Doorkeeper& door, const ServerLimits& serverLimits, ControlEndpoint& endpoint)
    : PeerConnection(id, std::move(socket), host, door, serverLimits)
    , m_endpoint(endpoint)
{
}

ControlConnection::~ControlConnection()
{
    ControlConnection::leave();
}

const std::string* ControlConnection::proofIn(const protocol::Message& message) const
{
    const auto* hello = std::get_if<protocol::ControlHello>(&message);
    return hello != nullptr ? &hello->proof : nullptr;
}

void ControlConnection::take(protocol::Message& message)
{
    std::visit([this](auto& content) { take(content); }, message);
}

void ControlConnection::take(protocol::ControlHello& hello)
{
    if (!speaks(hello.protoMin, hello.protoMax))
        return;
    if (m_endpoint.isCrowded())
        return refuse({ "crowd", "refused: too many ask for something at once" });
    open({});
    host().onGreeted(*this);
}

/// Heartbeats keep the connection; of a later version: no harm, no answer.
template <typename Other> void ControlConnection::take(Other&) { }

bool ControlConnection::begin()
{
    m_home.check();
    if (m_isBusy)
        refuse("control", "cut: it asks for more before it has its answer");
    return !std::exchange(m_isBusy, true);
}

template <typename Found> void ControlConnection::later(std::function<Found()> work, std::function<void(Found)> done)
{
    m_endpoint.submit([&endpoint = m_endpoint, id = id(), work = std::move(work), done = std::move(done)] {
        return [&endpoint, id, found = std::make_shared<Found>(work()), done] {
            if (endpoint.find(id) != nullptr)
                done(std::move(*found));
        };
    });
}

void ControlConnection::reply(protocol::ControlReply reply)
{
    m_home.check();
    m_isBusy = false;
    m_incoming.reset();
    send(reply);
}

void ControlConnection::reply(const Expected<store::ImportedRun>& run)
{
    m_home.check();
    protocol::ControlReply out;
    if (run) {
        out.runId = run->id;
        out.capsule = run->locator.text();
        out.damage = run->damage;
    } else {
        out.error = run.error().what;
        out.todo = run.error().todo;
    }
    reply(std::move(out));
}

void ControlConnection::take(protocol::ImportRun& request)
{
    if (!begin())
        return;
    if (request.bytes == 0)
        return reply(failure(ErrorCode::BadInput, request.fileName + " is empty: it holds no run"));
    m_incoming = std::make_shared<Incoming>();
    m_expected = request.bytes;
    m_received = m_taken = 0;
    later<Expected<store::ImportedRun>>(
        [incoming = m_incoming, dataDir = m_endpoint.store().dataDir(),
            name = request.fileName]() -> Expected<store::ImportedRun> {
            auto upload = store::RunUpload::begin(dataDir, name);
            if (!upload)
                return tl::unexpected(upload.error());
            incoming->upload = std::move(*upload);
            return store::ImportedRun {};
        },
        [this](const Expected<store::ImportedRun>& begun) {
            if (begun)
                send(protocol::RunTaken { 0 });
            else
                reply(begun);
        });
}

void ControlConnection::take(protocol::RunPart& part)
{
    if (!m_incoming) // what was on its way when the import failed
        return;
    const std::size_t bytes = part.data.size();
    m_received += bytes;
    if (m_received > m_expected || bytes == 0 || bytes > limits::kMaxRunPartBytes
        || m_received - m_taken > limits::kImportWindow) {
        refuse("control", "cut: it sends more of a run than it may");
        return;
    }
    struct Progress {
        bool isOver = false;
        Expected<store::ImportedRun> run;
    };
    later<Progress>(
        [incoming = m_incoming, data = std::move(part.data), isLast = m_received == m_expected,
            &store = m_endpoint.store()]() -> Progress {
            if (!incoming->upload) // an earlier part could not be written
                return {};
            if (auto ok = incoming->upload->append(data); !ok) {
                incoming->upload.reset();
                return { true, tl::unexpected(ok.error()) };
            }
            if (!isLast)
                return {};
            auto run = incoming->upload->finish();
            incoming->upload.reset();
            if (run)
                store.noteArchiveChanged();
            return { true, std::move(run) };
        },
        [this, incoming = m_incoming, bytes](const Progress& progress) {
            if (incoming != m_incoming)
                return;
            m_taken += bytes;
            if (progress.isOver)
                reply(progress.run);
            else
                send(protocol::RunTaken { m_taken });
        });
}

void ControlConnection::take(protocol::FindStream& request)
{
    if (!begin())
        return;
    protocol::mendNames(request.stream);
    if (const auto ok = protocol::checkHello(request.stream); !ok) {
        reply(tl::unexpected(ok.error()));
        return;
    }
    later<protocol::ControlReply>(
        [dataDir = m_endpoint.store().dataDir(), stream = ingest::requestOf(request.stream, 0)] {
            protocol::ControlReply found;
            const store::ImportedRun run = store::importedAs(dataDir, stream);
            found.capsule = run.locator.text();
            found.runId = run.id;
            return found;
        },
        [this](protocol::ControlReply found) {
            found.agentToken = m_endpoint.agentToken();
            reply(std::move(found));
        });
}

SteeringAnswer ControlConnection::steeringReply(Rank rank)
{
    return [&endpoint = m_endpoint, id = id(), rank](const Expected<RunSteering>& found) {
        ControlConnection* peer = endpoint.find(id);
        if (peer == nullptr)
            return;
        if (!found)
            return peer->reply(tl::unexpected(found.error()));
        RunSteering steering = *found;
        shorten(steering, rank);
        peer->m_isBusy = false;
        peer->send(protocol::ConfigState { std::move(steering) });
    };
}

void ControlConnection::take(protocol::ConfigAsk& request)
{
    if (begin())
        m_endpoint.steering().ask(request.run, request.rev, steeringReply(Rank { request.rank }));
}

void ControlConnection::take(protocol::ConfigPush& request)
{
    if (begin())
        m_endpoint.steering().push(request.request, steeringReply(Rank { -1 }));
}

void ControlConnection::take(protocol::NoteWrite& request)
{
    if (!begin())
        return;
    store::StepNote note { request.id, request.steps, std::move(request.text), std::move(request.author),
        request.wallNs, request.isRemoved };
    if (const auto ok = note.check(); !ok)
        return reply(tl::unexpected(ok.error()));
    later<Expected<store::RunLocator>>(
        [dataDir = m_endpoint.store().dataDir(), run = std::move(request.run)] { return store::findRun(dataDir, run); },
        [this, event = note.event()](const Expected<store::RunLocator>& run) {
            if (!run)
                return reply(tl::unexpected(run.error()));
            m_endpoint.append(
                { 0, *run, Rank { -1 }, event }, [&endpoint = m_endpoint, id = id()](const auto& written) {
                    if (ControlConnection* peer = endpoint.find(id))
                        peer->reply(written ? Expected<store::ImportedRun>(store::ImportedRun {})
                                            : tl::unexpected(written.error()));
                });
        });
}

void ControlConnection::leave()
{
    // Its draft goes where it was written.
    if (m_incoming) {
        m_endpoint.submit([incoming = std::move(m_incoming)]() -> JobQueue::Delivery {
            incoming->upload.reset();
            return {};
        });
    }
    m_incoming.reset();
}

}
