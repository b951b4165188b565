// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <telltale/protocol/deliveryrules.h>

using namespace telltale::protocol;

namespace {

void require(bool holds)
{
    if (!holds)
        std::abort();
}

/// Numbers out of the fuzzer's bytes; zeros when they run out. Thread: owned by one.
class Bytes {
public:
    Bytes(const std::uint8_t* data, std::size_t size)
        : m_data(data)
        , m_left(size)
    {
    }
    bool isEmpty() const { return m_left == 0; }
    std::uint8_t byte()
    {
        if (m_left == 0)
            return 0;
        --m_left;
        return *m_data++;
    }
    /// Small numbers mostly, any 64-bit number when the byte is 255.
    std::uint64_t number()
    {
        const std::uint8_t first = byte();
        if (first != 255)
            return first;
        std::uint64_t value = 0;
        for (int i = 0; i < 8; ++i)
            value = value << 8 | byte();
        return value;
    }

private:
    const std::uint8_t* m_data;
    std::size_t m_left;
};

/// A hostile or confused agent against the server's rules.
void driveReceiver(Bytes& in)
{
    const std::uint64_t durable = in.number() >> 1;
    ReceiveRules rules(durable, in.byte(), in.number() >> 8, in.number() >> 8);
    std::uint64_t granted = 0;
    while (!in.isEmpty()) {
        const std::uint64_t next = rules.nextSeq();
        const std::uint64_t before = rules.durableSeq();
        switch (in.byte() % 6) {
        case 0: {
            const std::uint64_t seq = in.byte() % 2 == 0 ? next + in.byte() - 2 : in.number();
            const std::uint32_t epoch = in.byte() % 8 == 0 ? in.byte() : rules.epoch();
            const std::size_t bytes = in.number() % (2u << 20);
            const bool crcOk = in.byte() % 8 != 0;
            const auto verdict = rules.onBatch(seq, epoch, bytes, crcOk);
            const bool isAccepted = verdict == ReceiveRules::Verdict::Accept;
            require(rules.nextSeq() == next + (isAccepted ? 1 : 0));
            require(!isAccepted || (seq == next && crcOk && epoch == rules.epoch()));
            require(verdict != ReceiveRules::Verdict::Duplicate || seq < next);
            require(verdict != ReceiveRules::Verdict::AheadNack || seq > next);
            break;
        }
        case 1:
            rules.onDurable(in.byte() % 2 == 0 ? before + in.byte() : in.number());
            break;
        case 2:
            rules.rewindTo(in.byte() % 2 == 0 ? next - in.byte() % 4 : in.number());
            require(rules.nextSeq() <= next);
            break;
        case 3:
            rules.addRejected(in.number(), "reason");
            break;
        case 4:
            rules.setPaused(in.byte() % 2 == 0);
            break;
        default: {
            const Ack ack = rules.takeAck();
            require(ack.durableSeq == rules.durableSeq() && ack.creditBytes <= rules.grantedBytes());
            for (const Rejected& rejected : ack.rejected)
                require(rejected.seq <= ack.durableSeq);
            require(!rules.ackIsDue());
        }
        }
        require(rules.durableSeq() >= before && rules.durableSeq() < rules.nextSeq());
        require(rules.grantedBytes() >= granted);
        granted = rules.grantedBytes();
    }
}

/// A hostile or confused server against the agent's rules.
void driveSender(Bytes& in)
{
    SendRules rules;
    std::uint64_t next = 1 + in.byte();
    while (!in.isEmpty()) {
        const std::uint64_t acked = rules.ackedSeq();
        switch (in.byte() % 6) {
        case 0:
            rules.onProduced(next, in.number() % (1u << 20));
            ++next;
            break;
        case 1: {
            Welcome welcome;
            welcome.storeId.assign(1, static_cast<char>('a' + in.byte() % 3));
            welcome.epoch = in.byte();
            welcome.durableSeq = in.number();
            welcome.creditBytes = in.number() << 12;
            welcome.creditBatches = in.number();
            rules.onWelcome(welcome);
            const auto [first, last] = rules.takeGap();
            require(first <= last && last < rules.firstRetainedSeq());
            break;
        }
        case 2:
            rules.onAck({ in.number(), in.number() << 12, in.number(), {} });
            break;
        case 3:
            rules.onNack({ in.number() });
            break;
        case 4:
            rules.onDisconnected();
            require(rules.nextToSend() == 0);
            break;
        default:
            if (const std::uint64_t seq = rules.nextToSend(); seq != 0) {
                require(rules.isOpen() && seq > rules.ackedSeq() && seq < rules.nextSeq());
                rules.onSent(seq);
                require(rules.nextToSend() != seq);
            }
        }
        require(rules.ackedSeq() >= acked && rules.ackedSeq() < rules.nextSeq());
        require(rules.firstRetainedSeq() > rules.ackedSeq() && rules.firstRetainedSeq() <= rules.nextSeq());
    }
}

}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    Bytes in(data, size);
    if (in.byte() % 2 == 0)
        driveReceiver(in);
    else
        driveSender(in);
    return 0;
}
