// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/agent/session.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <telltale/agent/runidentity.h>
#include <telltale/agent/say.h>
#include <telltale/core/bytes.h>
#include <telltale/protocol/codec.h>
#include <telltale/protocol/limits.h>

namespace telltale::agent {
namespace {

constexpr std::chrono::seconds kConnectTime { 10 };
constexpr std::chrono::milliseconds kMaxPause { 60000 };
constexpr std::chrono::milliseconds kSilentHeartbeat { 1000 };
constexpr std::size_t kMaxQueuedBytes = 1u << 20;

}

protocol::Clocks clocksNow()
{
    using namespace std::chrono;
    return { duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count(),
        duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count() };
}

Session::Session(boost::asio::io_context& context, protocol::JoinString join, Stream& stream, Counters* counters,
    LastError& lastError, Events events, Steering* steering)
    : m_context(context)
    , m_join(std::move(join))
    , m_stream(stream)
    , m_counters(counters)
    , m_lastError(lastError)
    , m_events(std::move(events))
    , m_steering(steering)
    , m_backoff(kernelRandom())
    , m_heartbeat(protocol::limits::kHeartbeat)
{
}

Session::~Session()
{
    if (m_transport)
        m_transport->abort();
}

void Session::tick(Clock::time_point now)
{
    m_home.check();
    switch (m_state) {
    case State::Waiting:
        if (now >= m_retryAt) {
            m_state = State::Resolving;
            m_deadline = now + kConnectTime;
            m_resolver.start(m_join.host, m_join.port);
            tick(now);
        }
        return;
    case State::Resolving:
        if (m_resolver.isDone())
            connectResolved(now);
        else if (now > m_deadline)
            retryLater(fmt::format("the name {} was not found in time", m_join.host));
        return;
    case State::Connecting:
        if (now > m_deadline)
            retryLater(fmt::format("{}:{} did not answer", m_join.host, m_join.port));
        return;
    case State::AwaitingProof:
        if (now > m_deadline)
            retryLater(fmt::format("{}:{} did not prove itself", m_join.host, m_join.port));
        return;
    case State::AwaitingWelcome:
        if (now > m_deadline)
            retryLater(fmt::format("{}:{} did not say Welcome", m_join.host, m_join.port));
        return;
    case State::Open:
        if (now - m_lastReceived > protocol::limits::kMessageTimeout)
            return retryLater(fmt::format("{}:{} has been silent for 15 s", m_join.host, m_join.port));
        if (now - m_lastHeartbeat >= (m_events.isSilent && m_events.isSilent() ? kSilentHeartbeat : m_heartbeat))
            sendHeartbeat(now);
        if (m_steering)
            for (const protocol::ConfigStatus& status : m_steering->takeAnswers())
                m_transport->send(protocol::encodeMessage(status));
        sendBatches();
        return;
    case State::Over:
        return;
    }
}

void Session::connectResolved(Clock::time_point now)
{
    const Resolver::Endpoints endpoints = m_resolver.take();
    if (const auto allowed = mayConnect(m_join, endpoints); !allowed)
        return retryLater(allowed.error().sentence());
    m_state = State::Connecting;
    m_deadline = now + kConnectTime;
    m_transport = Transport::connect(m_context, m_join, endpoints, *this);
}

void Session::onOpen()
{
    const auto knock = m_introduction.knock();
    if (!knock)
        return retryLater(knock.error().sentence());
    m_transport->send(protocol::encodeMessage(*knock));
    m_state = State::AwaitingProof;
    m_deadline = Clock::now() + kConnectTime;
}

void Session::handle(const protocol::Challenge& challenge)
{
    auto proof = m_introduction.answer(challenge);
    if (!proof) {
        // A server of ours counts it, and shows it to whoever wonders where the agent is.
        m_transport->send(protocol::encodeMessage(protocol::Bye { "wrong token", 0, 0 }));
        m_transport->close({});
        m_transport.reset();
        retryLater(proof.error().sentence());
        if (m_counters) {
            m_counters->refused = true;
            // Whoever reads it at the training's end has no run to look at.
            if (!std::exchange(m_isRefusalTold, true))
                say(proof.error().sentence());
        }
        return;
    }
    protocol::Hello hello = m_stream.hello;
    hello.firstRetainedSeq = m_stream.rules.firstRetainedSeq();
    hello.nextSeq = m_stream.rules.nextSeq();
    hello.clocks = clocksNow();
    hello.remoteConfigAllowed = m_steering && m_steering->isOpen();
    hello.proof = std::move(*proof);
    m_transport->send(protocol::encodeMessage(hello));
    m_state = State::AwaitingWelcome;
    m_deadline = Clock::now() + kConnectTime;
}

void Session::onMessage(std::string_view bytes)
{
    m_lastReceived = Clock::now();
    auto message = protocol::decodeMessage(bytes);
    if (!message)
        return retryLater(fmt::format("the server sent what is not a message: {}", message.error().what));
    if (m_state == State::AwaitingProof) {
        if (const auto* challenge = std::get_if<protocol::Challenge>(&*message))
            handle(*challenge);
        else if (const auto* bye = std::get_if<protocol::Bye>(&*message))
            handle(*bye);
        return;
    }
    if (m_state == State::AwaitingWelcome) {
        if (const auto* welcome = std::get_if<protocol::Welcome>(&*message))
            handle(*welcome);
        else if (const auto* bye = std::get_if<protocol::Bye>(&*message))
            handle(*bye);
        return;
    }
    if (m_state != State::Open)
        return;
    if (const auto* ack = std::get_if<protocol::Ack>(&*message))
        handle(*ack);
    else if (const auto* nack = std::get_if<protocol::Nack>(&*message))
        handle(*nack);
    else if (const auto* bye = std::get_if<protocol::Bye>(&*message))
        handle(*bye);
    else if (const auto* offer = std::get_if<protocol::ConfigOffer>(&*message))
        handle(*offer);
    else if (const auto* ask = std::get_if<protocol::RecorderAsk>(&*message); ask && m_steering)
        m_steering->take(*ask);
    else if (const auto* notice = std::get_if<protocol::Notice>(&*message))
        handle(*notice);
}

void Session::handle(const protocol::Welcome& welcome)
{
    if (welcome.proto < m_stream.hello.protoMin || welcome.proto > m_stream.hello.protoMax)
        return retryLater(
            fmt::format("the server speaks version {} of the protocol, this agent does not", welcome.proto));
    if (m_wasOpen && m_counters)
        ++m_counters->reconnects;
    m_state = State::Open;
    m_wasOpen = true;
    m_failures = 0;
    m_backoff.reset();
    m_sentLayouts.clear();
    m_preparedSeq = 0;
    if (welcome.heartbeatMs > 0)
        m_heartbeat = std::chrono::milliseconds(std::clamp<std::uint32_t>(welcome.heartbeatMs, 250, 10000));
    m_stream.rules.onWelcome(welcome);
    if (m_counters) {
        m_counters->connected = true;
        m_counters->refused = false;
    }
    m_lastError.set(Trouble::None, {});
    forget();
    takeGap();
    sendHeartbeat(Clock::now());
    if (const auto inForce = m_steering ? m_steering->inForce() : std::nullopt)
        m_transport->send(protocol::encodeMessage(*inForce));
    sendBatches();
}

void Session::handle(const protocol::Ack& ack)
{
    for (const protocol::Rejected& rejected : ack.rejected)
        note(rejected);
    m_stream.rules.onAck(ack);
    forget();
    takeGap();
    sendBatches();
}

void Session::note(const protocol::Rejected& rejected)
{
    const BatchInfo* info = m_stream.held.info(rejected.seq);
    Lost lost { rejected.samples, rejected.scalars };
    if (!rejected.isInPart) {
        lost = info ? Lost { info->samples, info->scalars } : Lost {};
        // The layouts that came with it are not known: what uses them brings them again.
        if (info && info->layouts)
            for (const LayoutId id : *info->layouts)
                m_sentLayouts.erase(id);
        else
            m_sentLayouts.clear();
        m_preparedSeq = 0;
    }
    m_stream.held.markRejected(rejected.seq, lost);
    m_lastError.set(Trouble::Rejected,
        fmt::format("the server refused {} batch {}: {}", rejected.isInPart ? "a part of" : "all of", rejected.seq,
            rejected.reason));
    if (m_events.onRejected)
        m_events.onRejected(rejected.reason, lost);
}

void Session::handle(const protocol::Nack& nack)
{
    if (nack.nextSeq < m_stream.rules.firstRetainedSeq())
        return retryLater(fmt::format("the server asks for batch {}, which it had acknowledged", nack.nextSeq));
    m_sentLayouts.clear();
    m_preparedSeq = 0;
    m_stream.rules.onNack(nack);
    sendBatches();
}

void Session::handle(const protocol::Bye& bye)
{
    // Before its proof it may be anybody.
    if (m_state != State::AwaitingProof)
        m_serverWantsPause = std::min(std::chrono::milliseconds(bye.retryAfterMs), kMaxPause);
    retryLater(fmt::format("the server said goodbye: {}", bye.reason));
}

void Session::handle(const protocol::ConfigOffer& offer)
{
    const auto answer = m_steering ? m_steering->take(offer) : std::nullopt;
    if (!answer)
        return;
    if (m_transport->queuedBytes() > kMaxQueuedBytes)
        return retryLater("the server offers configs and does not read the answers");
    m_transport->send(protocol::encodeMessage(*answer));
}

/// Somebody's console is no place for a server that talks much.
void Session::handle(const protocol::Notice& notice)
{
    const Clock::time_point now = Clock::now();
    if (now - m_noticesSince >= std::chrono::minutes(1)) {
        m_noticesSince = now;
        m_notices = 0;
    }
    if (++m_notices <= protocol::limits::kMaxNoticesPerMinute)
        say(std::string_view(notice.text).substr(0, protocol::limits::kMaxNoticeBytes));
}

void Session::sendBatches()
{
    while (m_state == State::Open && m_transport->queuedBytes() < kMaxQueuedBytes) {
        const std::uint64_t seq = m_stream.rules.nextToSend();
        if (seq == 0)
            return;
        if (seq != m_preparedSeq) {
            auto ready = outgoing(m_stream, seq, m_sentLayouts);
            if (const std::string trouble = m_stream.held.takeTrouble(); !trouble.empty())
                m_lastError.set(Trouble::Lost, trouble);
            if (!ready)
                return;
            m_prepared = std::move(*ready);
            m_preparedSeq = seq;
            m_stream.rules.onResized(seq, m_prepared.payload.size());
            if (m_stream.rules.nextToSend() != seq)
                return;
        }
        protocol::Batch batch;
        batch.seq = seq;
        batch.epoch = m_stream.rules.epoch();
        if (const BatchInfo* info = m_stream.held.info(seq)) {
            batch.samples = info->samples;
            batch.scalars = info->scalars;
        }
        batch.crc = crc32c(m_prepared.payload);
        batch.payload = std::move(m_prepared.payload);
        m_preparedSeq = 0;
        m_sentLayouts.insert(m_prepared.added.begin(), m_prepared.added.end());
        if (m_counters) {
            ++m_counters->batchesSent;
            m_counters->bytesSent += batch.payload.size();
        }
        m_stream.rules.onSent(seq);
        m_transport->send(protocol::encodeMessage(batch));
    }
}

void Session::sendHeartbeat(Clock::time_point now)
{
    m_lastHeartbeat = now;
    protocol::Heartbeat heartbeat;
    heartbeat.clocks = clocksNow();
    heartbeat.seq = m_stream.rules.nextSeq();
    heartbeat.spoolBytes = m_stream.disk.usedBytes();
    if (m_events.describe)
        m_events.describe(heartbeat);
    m_transport->send(protocol::encodeMessage(heartbeat));
}

void Session::forget()
{
    const HeldStore::Forgotten gone = m_stream.held.forgetUpTo(m_stream.rules.ackedSeq());
    if (gone.batches > 0 && m_events.onForgotten)
        m_events.onForgotten(gone);
}

void Session::takeGap()
{
    const auto [first, last] = m_stream.rules.takeGap();
    if (first != 0 && m_events.onGap)
        m_events.onGap(first, last);
}

void Session::sayBye(const std::string& reason, std::function<void()> onTaken)
{
    if (m_state == State::Open) {
        sendHeartbeat(Clock::now());
        protocol::Bye bye;
        bye.reason = reason;
        bye.lastSeq = m_stream.rules.nextSeq() - 1;
        m_transport->send(protocol::encodeMessage(bye));
        m_transport->close(std::move(onTaken));
        m_transport.reset();
        m_stream.rules.onDisconnected();
    }
    if (m_counters)
        m_counters->connected = false;
    m_state = State::Over;
}

void Session::onClosed(const std::string& reason)
{
    retryLater(reason);
}

void Session::retryLater(const std::string& why)
{
    m_lastError.set(Trouble::Connection, why);
    if (m_transport) {
        m_transport->abort();
        m_transport.reset();
    }
    if (m_state == State::Open)
        m_stream.rules.onDisconnected();
    if (m_counters)
        m_counters->connected = m_counters->refused = false;
    ++m_failures;
    m_state = State::Waiting;
    const auto pause = std::max<std::chrono::milliseconds>(m_backoff.next(), std::exchange(m_serverWantsPause, {}));
    m_retryAt = Clock::now() + pause;
}

}
