// SPDX-License-Identifier: GPL-3.0-or-later
#include "agentfakeserver.h"

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <sstream>

#include <sys/socket.h>
#include <unistd.h>

#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include <telltale/core/bytes.h>
#include <telltale/protocol/codec.h>
#include <telltale/protocol/datarules.h>
#include <telltale/protocol/deliveryrules.h>
#include <telltale/protocol/layouttable.h>
#include <telltale/protocol/limits.h>
#include <telltale/protocol/proof.h>

namespace telltale::test {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;

namespace {

std::string fingerprintOf(X509* certificate)
{
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest {};
    unsigned length = 0;
    X509_digest(certificate, EVP_sha256(), digest.data(), &length);
    constexpr char kDigits[] = "0123456789abcdef";
    std::string out;
    for (unsigned i = 0; i < length; ++i)
        out += { kDigits[digest[i] >> 4], kDigits[digest[i] & 15] };
    return out;
}

std::string fingerprintOf(asio::ssl::context& tls)
{
    return fingerprintOf(SSL_CTX_get0_certificate(tls.native_handle()));
}

}

std::uint64_t FakeStore::samples() const
{
    std::lock_guard lock(mutex);
    std::uint64_t sum = 0;
    for (const auto& [id, stream] : streams)
        for (const auto& [seq, batch] : stream.batches)
            sum += batch.samples;
    return sum;
}

std::uint64_t FakeStore::scalars() const
{
    std::lock_guard lock(mutex);
    std::uint64_t sum = 0;
    for (const auto& [id, stream] : streams)
        for (const auto& [seq, batch] : stream.batches)
            sum += batch.scalars;
    return sum;
}

std::uint64_t FakeStore::droppedItems(std::uint32_t dropClass) const
{
    std::lock_guard lock(mutex);
    std::uint64_t sum = 0;
    for (const auto& [id, stream] : streams)
        for (const auto& [seq, batch] : stream.batches)
            for (const Drop& drop : batch.drops)
                sum += drop.dropClass == dropClass ? drop.items : 0;
    return sum;
}

std::vector<std::string> FakeStore::eventKinds() const
{
    std::lock_guard lock(mutex);
    std::vector<std::string> kinds;
    for (const auto& [id, stream] : streams)
        for (const auto& [seq, batch] : stream.batches)
            for (const Event& event : batch.events)
                kinds.push_back(event.kind);
    return kinds;
}

protocol::CostSums FakeStore::cost() const
{
    std::lock_guard lock(mutex);
    return streams.empty() ? protocol::CostSums {} : streams.begin()->second.cost;
}

std::set<std::int64_t> FakeStore::steps() const
{
    std::lock_guard lock(mutex);
    std::set<std::int64_t> out;
    for (const auto& [id, stream] : streams)
        for (const auto& [seq, batch] : stream.batches)
            for (const StepBlock& block : batch.blocks)
                out.insert(block.step.value);
    return out;
}

std::size_t FakeStore::statusCount() const
{
    std::lock_guard lock(mutex);
    return statuses.size();
}

protocol::ConfigStatus FakeStore::statusOf(std::uint64_t rev, std::uint32_t status) const
{
    std::lock_guard lock(mutex);
    const auto found = std::find_if(statuses.rbegin(), statuses.rend(),
        [rev, status](const protocol::ConfigStatus& one) { return one.rev == rev && one.status == status; });
    return found == statuses.rend() ? protocol::ConfigStatus {} : *found;
}

FakeServer::FakeServer(FakeStore& store, std::uint16_t port, asio::ssl::context* tls)
    : m_store(store)
    , m_tls(tls)
    , m_acceptor(m_context)
{
    const tcp::endpoint endpoint(asio::ip::address_v4::loopback(), port);
    m_acceptor.open(endpoint.protocol());
    m_acceptor.set_option(asio::socket_base::reuse_address(true));
    m_acceptor.bind(endpoint);
    m_acceptor.listen();
    m_port = m_acceptor.local_endpoint().port();
    m_acceptor_thread = std::thread([this] { acceptLoop(); });
}

FakeServer::~FakeServer()
{
    m_isStopping = true;
    ::shutdown(m_acceptor.native_handle(), SHUT_RDWR);
    m_acceptor_thread.join();
    {
        std::lock_guard lock(m_mutex);
        for (const int fd : m_sockets)
            ::shutdown(fd, SHUT_RDWR);
    }
    for (std::thread& thread : m_threads)
        thread.join();
}

std::string FakeServer::join(const std::string& fingerprint) const
{
    std::string text = "telltale://127.0.0.1:" + std::to_string(m_port) + "#token=" + kToken;
    return fingerprint.empty() ? text : text + "&fp=" + fingerprint;
}

void FakeServer::forgetHeard()
{
    {
        const std::lock_guard lock(m_mutex);
        std::string().swap(m_heard);
    }
    const std::lock_guard lock(m_store.mutex);
    for (auto& [incarnation, stream] : m_store.streams)
        stream.batches.clear();
}

std::string FakeServer::heard() const
{
    std::lock_guard lock(m_mutex);
    return m_heard;
}

void FakeServer::hear(std::string_view bytes)
{
    constexpr std::size_t kEnough = 1u << 20;
    std::lock_guard lock(m_mutex);
    if (m_heard.size() < kEnough)
        m_heard += bytes;
}

void FakeServer::offer(protocol::ConfigOffer offer)
{
    std::lock_guard lock(m_mutex);
    m_offers.push_back(std::move(offer));
}

std::optional<protocol::ConfigOffer> FakeServer::nextOffer()
{
    std::lock_guard lock(m_mutex);
    if (m_offers.empty())
        return std::nullopt;
    auto offer = std::move(m_offers.front());
    m_offers.pop_front();
    return offer;
}

void FakeServer::acceptLoop()
{
    while (!m_isStopping) {
        beast::error_code error;
        tcp::socket socket(m_context);
        m_acceptor.accept(socket, error);
        if (error)
            return;
        ++m_connections;
        std::lock_guard lock(m_mutex);
        m_sockets.push_back(socket.native_handle());
        m_threads.emplace_back([this, socket = std::move(socket)]() mutable {
            const int fd = socket.native_handle();
            try {
                if (m_tls) {
                    beast::websocket::stream<beast::ssl_stream<tcp::socket>> ws(std::move(socket), *m_tls);
                    ws.next_layer().handshake(asio::ssl::stream_base::server);
                    serve(ws);
                } else {
                    beast::websocket::stream<tcp::socket> ws(std::move(socket));
                    serve(ws);
                }
            } catch (const std::exception&) {
                // The other side is gone, or the server stops: both are what the tests do to it.
            }
            std::lock_guard done(m_mutex);
            std::erase(m_sockets, fd);
        });
    }
}

template <typename Socket> void FakeServer::serve(Socket& ws)
{
    using namespace protocol;
    const auto waitForTheEnd = [this] {
        while (!m_isStopping)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
    };
    if (m_faults.isHung)
        return waitForTheEnd();

    beast::flat_buffer buffer;
    beast::http::request<beast::http::string_body> request;
    beast::http::read(ws.next_layer(), buffer, request);
    const auto complain = [this](const std::string& what) {
        std::lock_guard lock(m_store.mutex);
        m_store.complaints.push_back(what);
    };
    {
        std::ostringstream text;
        text << request;
        hear(text.str());
    }
    const std::string offered(request[beast::http::field::sec_websocket_protocol]);
    if (request.target() != limits::kPath || offered.find(limits::kSubprotocol) != 0
        || request.count(beast::http::field::origin) > 0 || request.count(beast::http::field::authorization) > 0)
        complain("request");
    const char* chosen = m_faults.isOlder ? limits::kTokenFirstSubprotocol : limits::kSubprotocol;
    ws.set_option(beast::websocket::stream_base::decorator([chosen](beast::websocket::response_type& response) {
        response.set(beast::http::field::sec_websocket_protocol, chosen);
    }));
    ws.binary(true);
    ws.read_message_max(limits::kMaxMessageBytes);
    ws.accept(request);

    const auto send = [&ws](const Message& message) {
        const std::string bytes = encodeMessage(message);
        ws.write(asio::buffer(bytes));
    };
    const auto receive = [&]() -> std::optional<Message> {
        buffer.consume(buffer.size());
        ws.read(buffer);
        hear({ static_cast<const char*>(buffer.cdata().data()), buffer.size() });
        if (!ws.got_binary())
            complain("text frame");
        auto message = decodeMessage({ static_cast<const char*>(buffer.cdata().data()), buffer.size() });
        if (!message)
            complain("message: " + message.error().what);
        return message ? std::optional<Message>(std::move(*message)) : std::nullopt;
    };

    const auto opening = receive();
    const auto* knock = opening ? std::get_if<Knock>(&*opening) : nullptr;
    if (!knock)
        return complain("no Knock");
    const ProofContext context { knock->nonce, *makeNonce(), m_tls ? fingerprintOf(*m_tls) : std::string() };
    send(Challenge { context.challengeNonce, serverProof(m_faults.isSquatting ? "a guess" : kToken, context) });
    const auto first = receive();
    const auto* hello = first ? std::get_if<Hello>(&*first) : nullptr;
    if (!hello)
        return complain(first && std::holds_alternative<Bye>(*first) ? "wrong token" : "no Hello");
    if (!isSameProof(hello->proof, agentProof(kToken, context)))
        return complain("wrong proof");
    Welcome welcome;
    std::uint64_t incarnation = hello->incarnation;
    std::optional<ReceiveRules> rules;
    {
        std::lock_guard lock(m_store.mutex);
        ++m_store.hellos;
        FakeStore::Stream& stream = m_store.streams[incarnation];
        stream.hello = *hello;
        welcome.storeId = m_store.storeId;
        welcome.epoch = static_cast<std::uint32_t>(m_store.hellos);
        welcome.durableSeq = stream.durableSeq;
        stream.durableSeq = std::max(stream.durableSeq, hello->firstRetainedSeq - 1);
        rules.emplace(stream.durableSeq, welcome.epoch, m_faults.creditBytes, m_faults.creditBatches);
    }
    welcome.creditBytes = rules->grantedBytes();
    welcome.creditBatches = rules->grantedBatches();
    welcome.heartbeatMs = 250;
    send(welcome);
    if (m_faults.isDeafAfterWelcome)
        return waitForTheEnd();

    // A server that keeps layouts for one connection only: the agent must send them again on every one.
    LayoutTable layouts;
    std::minstd_rand random(static_cast<unsigned>(incarnation) + static_cast<unsigned>(welcome.epoch));
    int batches = 0;
    for (;;) {
        auto message = receive();
        if (!message)
            return;
        constexpr int kOffersAtOnce = 16; // their answers are read in between
        for (int i = 0; i < kOffersAtOnce; ++i)
            if (const auto offer = nextOffer())
                send(*offer);
        if (const auto* status = std::get_if<ConfigStatus>(&*message)) {
            if (const auto ok = checkConfigStatus(*status); !ok)
                complain(ok.error().what);
            std::lock_guard lock(m_store.mutex);
            m_store.statuses.push_back(*status);
            continue;
        }
        if (const auto* bye = std::get_if<Bye>(&*message)) {
            std::lock_guard lock(m_store.mutex);
            m_store.streams[incarnation].bye = bye->reason;
            continue;
        }
        if (const auto* heard = std::get_if<Heartbeat>(&*message)) {
            {
                std::lock_guard lock(m_store.mutex);
                m_store.streams[incarnation].cost = heard->cost;
                m_store.streams[incarnation].nextStep = heard->nextStep;
            }
            Heartbeat beat;
            beat.seq = rules->durableSeq();
            send(beat);
            continue;
        }
        const auto* batch = std::get_if<Batch>(&*message);
        if (!batch) {
            complain("unexpected message");
            return;
        }
        if (m_faults.isMute)
            continue;
        if (static_cast<int>(random() % 100) < m_faults.losePercent) {
            // Credit for it is used all the same, as a server that lost it in a queue would count.
            rules->onBatch(batch->seq + 1'000'000, batch->epoch, batch->payload.size(), true);
            send(rules->takeAck());
            send(Nack { rules->nextSeq() });
            continue;
        }
        const bool crcOk = crc32c(batch->payload) == batch->crc;
        const auto verdict = rules->onBatch(batch->seq, batch->epoch, batch->payload.size(), crcOk);
        if (verdict == ReceiveRules::Verdict::Accept) {
            auto decoded = decodePayload(batch->payload, layouts);
            if (decoded)
                for (const auto& layout : decoded->layouts)
                    if (!layouts.add(layout))
                        complain("layout changed");
            if (m_faults.isRejecting)
                rules->addRejected(batch->seq, "refused by the test");
            rules->onDurable(batch->seq);
            std::lock_guard lock(m_store.mutex);
            FakeStore::Stream& stream = m_store.streams[incarnation];
            if (batch->seq <= stream.durableSeq)
                ++m_store.repeated;
            stream.durableSeq = batch->seq;
            if (!decoded) {
                ++m_store.undecodable;
                m_store.complaints.push_back(decoded.error().what);
            } else if (!m_faults.isRejecting) {
                stream.batches.emplace(batch->seq, std::move(*decoded));
            }
        } else if (verdict == ReceiveRules::Verdict::AheadNack) {
            send(rules->takeAck());
            send(Nack { rules->nextSeq() });
        } else if (verdict != ReceiveRules::Verdict::Duplicate) {
            complain("verdict " + std::to_string(static_cast<int>(verdict)));
            return;
        }
        if (rules->ackIsDue())
            send(rules->takeAck());
        ++batches;
        if (m_faults.disconnectEvery > 0 && batches >= m_faults.disconnectEvery)
            return;
    }
}

SelfSigned::SelfSigned()
    : context(std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server))
{
    EVP_PKEY* key = EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256");
    X509* certificate = X509_new();
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
        reinterpret_cast<const unsigned char*>("telltale test"), -1, -1, 0);
    X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
    X509_sign(certificate, key, EVP_sha256());
    SSL_CTX_use_certificate(context->native_handle(), certificate);
    SSL_CTX_use_PrivateKey(context->native_handle(), key);
    fingerprint = fingerprintOf(certificate);
    X509_free(certificate);
    EVP_PKEY_free(key);
}

}
