// SPDX-License-Identifier: GPL-3.0-or-later
#include "serverpeer.h"

#include <vector>

#include <QSslSocket>
#include <QtTest>

#include <telltale/core/bytes.h>
#include <telltale/protocol/codec.h>
#include <telltale/protocol/payloadbuilder.h>

namespace telltale::test {

ServerPeer::ServerPeer(const protocol::JoinString& join, std::unique_ptr<QTcpSocket> socket)
    : m_join(join)
    , m_socket(socket ? std::move(socket) : std::make_unique<QTcpSocket>())
{
    connect(m_socket.get(), &QTcpSocket::readyRead, this, &ServerPeer::onReadyRead);
    connect(m_socket.get(), &QTcpSocket::disconnected, this, [this] { m_isClosed = true; });
}

ServerPeer::~ServerPeer()
{
    m_socket->disconnect(this);
    m_socket->abort();
}

ServerPeer::Handshake ServerPeer::agentHandshake(const protocol::JoinString& join)
{
    Handshake out;
    const auto host = QByteArray::fromStdString(join.host);
    out.host = (host.contains(':') ? '[' + host + ']' : host) + ':' + QByteArray::number(join.port);
    return out;
}

ServerPeer::Handshake ServerPeer::tokenFirstHandshake(const protocol::JoinString& join)
{
    Handshake out = agentHandshake(join);
    out.subprotocol = protocol::limits::kTokenFirstSubprotocol;
    out.authorization = "Bearer " + QByteArray::fromStdString(join.token);
    return out;
}

void ServerPeer::connectOnly()
{
    if (m_socket->state() == QAbstractSocket::UnconnectedState)
        m_socket->connectToHost(QString::fromStdString(m_join.host), m_join.port);
}

void ServerPeer::startUpgrade(const Handshake& handshake)
{
    connectOnly();
    QByteArray request = "GET " + handshake.path + " HTTP/1.1\r\nHost: " + handshake.host
        + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
          "Sec-WebSocket-Version: 13\r\n";
    if (!handshake.subprotocol.isEmpty())
        request += "Sec-WebSocket-Protocol: " + handshake.subprotocol + "\r\n";
    if (!handshake.authorization.isEmpty())
        request += "Authorization: " + handshake.authorization + "\r\n";
    request += handshake.extra + "\r\n";
    if (m_socket->state() == QAbstractSocket::ConnectedState)
        sendRaw(request);
    else
        connect(m_socket.get(), &QTcpSocket::connected, this, [this, request] { sendRaw(request); });
}

bool ServerPeer::upgrade(const Handshake& handshake)
{
    startUpgrade(handshake);
    return QTest::qWaitFor([this] { return m_isUpgraded || m_isClosed; }, 5000) && m_isUpgraded;
}

QByteArray ServerPeer::frame(int opcode, const QByteArray& payload, bool isFinal)
{
    QByteArray out;
    out.append(static_cast<char>((isFinal ? 0x80 : 0) | opcode));
    const auto size = static_cast<quint64>(payload.size());
    if (size < 126) {
        out.append(static_cast<char>(0x80 | size));
    } else {
        const bool isShort = size < 65536;
        out.append(static_cast<char>(0x80 | (isShort ? 126 : 127)));
        for (int shift = isShort ? 8 : 56; shift >= 0; shift -= 8)
            out.append(static_cast<char>(size >> shift));
    }
    out.append(4, '\0'); // masked with the zero key
    return out + payload;
}

void ServerPeer::send(const protocol::Message& message)
{
    sendFrame(2, QByteArray::fromStdString(protocol::encodeMessage(message)));
}

void ServerPeer::stopReading()
{
    m_socket->setReadBufferSize(1);
    disconnect(m_socket.get(), &QTcpSocket::readyRead, this, nullptr);
}

void ServerPeer::onReadyRead()
{
    m_in += m_socket->readAll();
    if (!m_isUpgraded) {
        const qsizetype end = m_in.indexOf("\r\n\r\n");
        if (end < 0)
            return;
        m_response = m_in.left(end);
        m_in.remove(0, end + 4);
        m_isUpgraded = m_response.startsWith("HTTP/1.1 101");
    }
    while (m_isUpgraded && m_in.size() >= 2) {
        const auto byte = [this](qsizetype i) { return static_cast<quint64>(static_cast<unsigned char>(m_in[i])); };
        quint64 size = byte(1) & 127;
        const qsizetype width = size == 126 ? 2 : size == 127 ? 8 : 0;
        if (m_in.size() < 2 + width)
            return;
        if (width != 0)
            size = 0;
        for (qsizetype i = 0; i < width; ++i)
            size = size << 8 | byte(2 + i);
        const qsizetype total = 2 + width + static_cast<qsizetype>(size);
        if (m_in.size() < total)
            return;
        const int opcode = static_cast<int>(byte(0) & 15);
        const QByteArray body = m_in.mid(2 + width, static_cast<qsizetype>(size));
        m_in.remove(0, total);
        if (opcode == 8 && body.size() >= 2)
            m_closeCode = static_cast<unsigned char>(body[0]) << 8 | static_cast<unsigned char>(body[1]);
        if (opcode == 2) {
            auto message = protocol::decodeMessage({ body.constData(), static_cast<std::size_t>(body.size()) });
            QVERIFY(message.has_value());
            m_inbox.push_back(std::move(*message));
            if (onMessage)
                onMessage(m_inbox.back());
        }
    }
}

std::unique_ptr<QTcpSocket> pinnedSocket(const protocol::JoinString& join)
{
    auto socket = std::make_unique<QSslSocket>();
    socket->setPeerVerifyMode(QSslSocket::VerifyNone);
    socket->connectToHostEncrypted(QStringLiteral("127.0.0.1"), join.port);
    const bool isEncrypted = QTest::qWaitFor(
        [&] { return socket->isEncrypted() || socket->state() == QAbstractSocket::UnconnectedState; });
    const QByteArray seen = socket->peerCertificate().digest(QCryptographicHash::Sha256).toHex();
    return isEncrypted && seen.toStdString() == join.fingerprint ? std::unique_ptr<QTcpSocket>(std::move(socket))
                                                                 : nullptr;
}

AgentPeer::AgentPeer(const protocol::JoinString& join, std::string agentId, std::uint64_t incarnation,
    std::unique_ptr<QTcpSocket> socket)
    : peer(join, std::move(socket))
    , m_join(join)
    , m_agentId(std::move(agentId))
    , m_incarnation(incarnation)
{
    peer.onMessage = [this](const protocol::Message& message) {
        if (const auto* challenge = std::get_if<protocol::Challenge>(&message))
            onChallenge(*challenge);
    };
}

void AgentPeer::startKnock()
{
    m_proof = { *protocol::makeNonce(), {}, m_join.fingerprint };
    peer.send(protocol::Knock { m_proof.knockNonce });
}

void AgentPeer::onChallenge(const protocol::Challenge& challenge)
{
    m_proof.challengeNonce = challenge.nonce;
    m_isServerProven = protocol::isSameProof(challenge.proof, protocol::serverProof(m_join.token, m_proof));
    if (m_isServerProven && m_saysHello)
        peer.send(hello());
}

bool AgentPeer::knock()
{
    startKnock();
    return QTest::qWaitFor([this] { return m_isServerProven || peer.isClosed(); }, 5000) && m_isServerProven;
}

protocol::Hello AgentPeer::hello() const
{
    protocol::Hello hello;
    hello.runKey = "run";
    hello.runName = "a run";
    hello.keySource = "run_id";
    hello.agentId = m_agentId;
    hello.host = "host";
    hello.role = "trainer";
    hello.incarnation = m_incarnation;
    hello.framework = "test 1";
    hello.agentVersion = "test";
    hello.proof = protocol::agentProof(m_join.token, m_proof);
    return hello;
}

void AgentPeer::startHello()
{
    m_saysHello = true;
    startKnock();
}

bool AgentPeer::open()
{
    if (!peer.upgrade())
        return false;
    startHello();
    if (!QTest::qWaitFor([this] { return peer.last<protocol::Welcome>() != nullptr || peer.isClosed(); }, 5000)
        || peer.last<protocol::Welcome>() == nullptr)
        return false;
    m_next = peer.last<protocol::Welcome>()->durableSeq + 1;
    return true;
}

std::string AgentPeer::payload(std::uint64_t seq)
{
    auto layout = std::make_shared<SeriesLayout>();
    layout->id = LayoutId { 1 };
    layout->kind = Kind::GradReduced;
    layout->stats = { Stat::Norm, Stat::Mean };
    for (const std::string& name : std::vector<std::string> { "a.weight", "b.weight", "c.weight" }) {
        SeriesDesc series;
        series.name = name;
        series.shape = { 4 };
        series.dtype = DType::F32;
        series.numel = 4;
        layout->series.push_back(series);
    }
    StepBlock block;
    block.layout = layout;
    block.step = Step { static_cast<std::int64_t>(seq) };
    block.wallNs = 1'700'000'000'000'000'000 + static_cast<std::int64_t>(seq);
    const auto value = static_cast<float>(seq);
    block.columns = { { Stat::Norm, std::vector<float> { value, value + 1, value + 2 } },
        { Stat::Mean, std::vector<float> { value / 2, 0, -value } } };
    protocol::PayloadBuilder builder;
    builder.addLayout(*layout);
    builder.addBlock(block);
    return builder.finish();
}

protocol::Batch AgentPeer::batch(std::uint64_t seq) const
{
    const auto* welcome = peer.last<protocol::Welcome>();
    protocol::Batch out;
    out.seq = seq;
    out.epoch = welcome != nullptr ? welcome->epoch : 0;
    out.payload = payload(seq);
    out.crc = crc32c(out.payload);
    return out;
}

void AgentPeer::sendBatch(std::uint64_t seq)
{
    peer.send(batch(seq));
}

void AgentPeer::produce(int n)
{
    for (int i = 0; i < n; ++i)
        sendBatch(m_next++);
}

std::uint64_t AgentPeer::acked() const
{
    const auto* ack = peer.last<protocol::Ack>();
    if (ack != nullptr)
        return ack->durableSeq;
    const auto* welcome = peer.last<protocol::Welcome>();
    return welcome != nullptr ? welcome->durableSeq : 0;
}

bool AgentPeer::isAlive()
{
    produce(1);
    return QTest::qWaitFor([this] { return acked() == produced() || peer.isClosed(); }, 5000) && !peer.isClosed();
}

}
