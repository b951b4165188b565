// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <telltale/core/threadhome.h>
#include <telltale/protocol/messages.h>

namespace telltale::protocol {

/// The server's side of delivery for one stream: pure, socket-free. Thread: owned by one.
/// Invariant: what it accepts forms next, next + 1, ... without holes or repeats.
class ReceiveRules {
public:
    enum class Verdict {
        Accept, ///< hand to the store; nextSeq has advanced
        Duplicate, ///< seq <= accepted already: count it; ack again (durable only)
        AheadNack, ///< seq > next: send Nack{next}
        StaleEpoch, ///< close 1008
        BadCrc, ///< close 1002
        OverCredit, ///< close 1008
    };

    /// A (re)connected stream: the store says what is durable, the session which epoch and how much credit it granted.
    /// When Hello.first_retained_seq > durable + 1 the agent no longer holds what comes next: the caller records a Gap,
    /// says the store's own durable_seq in the Welcome and passes first_retained_seq - 1 here, or the stream would wait
    /// for ever.
    ReceiveRules(std::uint64_t durableSeq, std::uint32_t epoch, std::uint64_t creditBytes, std::uint64_t creditBatches);

    /// `crcOk`: crc32c(payload) equals batch.crc. Bytes counted against the credit: payload size.
    Verdict onBatch(std::uint64_t seq, std::uint32_t epoch, std::size_t payloadBytes, bool crcOk);
    /// The store committed everything up to `seq`. Credit is granted anew for what left the queue.
    void onDurable(std::uint64_t seq);
    /// The store could not take an accepted batch after all: expect it again (the caller sends Nack{next}).
    void rewindTo(std::uint64_t nextSeq);
    /// A batch that decodes but breaks a limit or a schema: acked as rejected once the store has quarantined it.
    void addRejected(std::uint64_t seq, std::string reason) { addRejected(Rejected { seq, std::move(reason) }); }
    void addRejected(Rejected rejected);
    /// Zero credit while the store is in trouble; the old window when it recovers.
    void setPaused(bool paused);

    std::uint64_t nextSeq() const { return m_next; }
    std::uint64_t durableSeq() const { return m_durable; }
    std::uint64_t duplicates() const { return m_duplicates; }
    std::uint32_t epoch() const { return m_epoch; }
    /// The ack that says all of the above; empties the rejected list.
    Ack takeAck();
    bool ackIsDue() const { return m_ackDue; }

    /// Cumulative credit since the Welcome, as it states it: never less than one batch of the largest size, which may
    /// be more than the constructor was given.
    std::uint64_t grantedBytes() const { return m_grantedBytes; }
    std::uint64_t grantedBatches() const { return m_grantedBatches; }

private:
    void grant();

    std::uint64_t m_next = 1;
    std::uint64_t m_durable = 0;
    std::uint64_t m_duplicates = 0;
    std::uint32_t m_epoch = 0;
    std::uint64_t m_windowBytes = 0;
    std::uint64_t m_windowBatches = 0;
    std::uint64_t m_receivedBytes = 0;
    std::uint64_t m_receivedBatches = 0;
    std::uint64_t m_grantedBytes = 0;
    std::uint64_t m_grantedBatches = 0;
    bool m_paused = false;
    bool m_ackDue = false;
    std::vector<std::pair<std::uint64_t, std::size_t>> m_undurable;
    std::vector<Rejected> m_rejected;
    ThreadHome m_home;
};

/// The agent's side: which held batch to send next, what may be forgotten. Pure, socket-free. Thread: owned by one.
/// It knows seqs and sizes only; the bytes are in the ring's encoder or in the spool.
class SendRules {
public:
    /// A batch took its seq (they come in order without holes, starting at 1 or where the spool left off, or behind
    /// what the server has already of a stream that nothing was made of here; a caller that has lost a batch puts one
    /// with a Drop in its place).
    void onProduced(std::uint64_t seq, std::size_t payloadBytes);
    void onWelcome(const Welcome& welcome);
    void onAck(const Ack& ack);
    void onNack(const Nack& nack);
    void onDisconnected();

    /// The next seq to send within the credit, 0 = nothing now. `onSent` moves on.
    std::uint64_t nextToSend() const;
    void onSent(std::uint64_t seq);
    /// A held batch goes out with another size than it was produced with (layouts that a new connection has not seen
    /// were added): credit counts what is really sent. Call before onSent.
    void onResized(std::uint64_t seq, std::size_t payloadBytes)
    {
        for (std::size_t i = m_heldStart; i < m_held.size() && m_held[i].seq <= seq; ++i)
            if (m_held[i].seq == seq)
                m_held[i].bytes = payloadBytes;
    }

    /// Everything up to here is durable at the server and may be forgotten.
    std::uint64_t ackedSeq() const { return m_acked; }
    std::uint64_t nextSeq() const { return m_nextSeq; }
    std::uint64_t firstRetainedSeq() const { return m_acked + 1 < m_firstHeld ? m_firstHeld : m_acked + 1; }
    std::uint32_t epoch() const { return m_epoch; }
    bool isOpen() const { return m_open; }
    /// The server lost what it had acked (another store_id, or durable_seq went back): seqs [first, second] are gone
    /// for good and a Gap event must be produced. {0, 0} = none.
    std::pair<std::uint64_t, std::uint64_t> takeGap();

private:
    struct Held {
        std::uint64_t seq;
        std::size_t bytes;
    };
    const Held* find(std::uint64_t seq) const;
    void forget(std::uint64_t durable);

    std::vector<Held> m_held;
    std::size_t m_heldStart = 0;
    std::uint64_t m_nextSeq = 1;
    std::uint64_t m_firstHeld = 1;
    std::uint64_t m_acked = 0;
    std::uint64_t m_cursor = 1;
    std::uint32_t m_epoch = 0;
    std::string m_storeId;
    std::uint64_t m_creditBytes = 0;
    std::uint64_t m_creditBatches = 0;
    std::uint64_t m_sentBytes = 0;
    std::uint64_t m_sentBatches = 0;
    std::pair<std::uint64_t, std::uint64_t> m_gap { 0, 0 };
    std::pair<std::uint64_t, std::uint64_t> m_toldGap { 0, 0 };
    bool m_open = false;
    ThreadHome m_home;
};

}
