// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include <QByteArray>
#include <QObject>
#include <QTcpSocket>

#include <telltale/protocol/joinstring.h>
#include <telltale/protocol/limits.h>
#include <telltale/protocol/messages.h>
#include <telltale/protocol/proof.h>

namespace telltale::test {

/// A WebSocket client that keeps no rule it is not told to keep: every byte of the handshake and of each frame can be
/// wrong. Thread: test.
class ServerPeer : public QObject {
public:
    /// The handshake, line by line; defaults are what an agent sends.
    struct Handshake {
        QByteArray path = "/capture";
        QByteArray host;
        QByteArray authorization;
        QByteArray subprotocol = protocol::limits::kSubprotocol;
        QByteArray extra; ///< whole lines with CRLF
    };

    explicit ServerPeer(const protocol::JoinString& join, std::unique_ptr<QTcpSocket> socket = nullptr);
    ~ServerPeer() override;

    static Handshake agentHandshake(const protocol::JoinString& join);
    /// Of an agent that sends its token with the upgrade, as they once did.
    static Handshake tokenFirstHandshake(const protocol::JoinString& join);
    void connectOnly();
    /// True when the server upgraded.
    bool upgrade(const Handshake& handshake);
    bool upgrade() { return upgrade(agentHandshake(m_join)); }
    void startUpgrade(const Handshake& handshake);

    void sendRaw(const QByteArray& bytes) { m_socket->write(bytes); }
    static QByteArray frame(int opcode, const QByteArray& payload, bool isFinal = true);
    void sendFrame(int opcode, const QByteArray& payload, bool isFinal = true)
    {
        sendRaw(frame(opcode, payload, isFinal));
    }
    void send(const protocol::Message& message);
    void stopReading();

    std::function<void(const protocol::Message&)> onMessage; ///< beside the inbox

    QTcpSocket& socket() { return *m_socket; }
    bool isUpgraded() const { return m_isUpgraded; }
    bool isClosed() const { return m_isClosed; } ///< the TCP connection is gone
    int closeCode() const { return m_closeCode; } ///< of the server's close frame, 0 = none
    const QByteArray& response() const { return m_response; }
    const std::deque<protocol::Message>& inbox() const { return m_inbox; }
    /// Stays valid while more arrives.
    template <typename T> const T* last() const
    {
        for (auto it = m_inbox.rbegin(); it != m_inbox.rend(); ++it) {
            if (const T* found = std::get_if<T>(&*it))
                return found;
        }
        return nullptr;
    }
    template <typename T> int count() const
    {
        int n = 0;
        for (const auto& message : m_inbox)
            n += std::holds_alternative<T>(message) ? 1 : 0;
        return n;
    }

private:
    void onReadyRead();

    protocol::JoinString m_join;
    std::unique_ptr<QTcpSocket> m_socket;
    QByteArray m_in;
    QByteArray m_response;
    std::deque<protocol::Message> m_inbox;
    bool m_isUpgraded = false;
    bool m_isClosed = false;
    int m_closeCode = 0;
};

/// Connected and encrypted as an agent does it: any certificate, but only the one of the join string. Else null.
std::unique_ptr<QTcpSocket> pinnedSocket(const protocol::JoinString& join);

/// A peer that keeps the agent's side of the protocol: Hello, batches within the credit, resends on Nack.
class AgentPeer {
public:
    AgentPeer(const protocol::JoinString& join, std::string agentId, std::uint64_t incarnation = 1,
        std::unique_ptr<QTcpSocket> socket = nullptr);

    /// Upgrade, proofs and Welcome.
    bool open();
    /// Knocks, and says Hello as soon as the server has proved itself.
    void startHello();
    /// Knocks and gets the challenge. False when the server does not prove that it knows the token.
    bool knock();
    /// With the proof over the last challenge.
    protocol::Hello hello() const;
    /// Sends batch `seq`, whose contents depend on `seq` alone.
    void sendBatch(std::uint64_t seq);
    static std::string payload(std::uint64_t seq);
    protocol::Batch batch(std::uint64_t seq) const;
    /// Sends the next `n` batches.
    void produce(int n);
    std::uint64_t acked() const;
    std::uint64_t produced() const { return m_next - 1; }
    /// Sends one more batch and waits for its ack.
    bool isAlive();

    ServerPeer peer;

private:
    void startKnock();
    void onChallenge(const protocol::Challenge& challenge);

    const protocol::JoinString m_join;
    std::string m_agentId;
    std::uint64_t m_incarnation;
    std::uint64_t m_next = 1;
    protocol::ProofContext m_proof;
    bool m_isServerProven = false;
    bool m_saysHello = false;
};

}
