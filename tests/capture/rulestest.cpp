// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <deque>
#include <limits>
#include <random>
#include <set>

#include <telltale/protocol/deliveryrules.h>
#include <telltale/protocol/limits.h>

namespace rulestest {

using namespace telltale::protocol;

namespace {

struct Faults {
    unsigned lossPercent = 0;
    unsigned duplicatePercent = 0;
    unsigned reorderPercent = 0;
    bool hasCrashes = false; ///< reconnects, server restarts, corrupt bytes, a store in trouble
    bool hasStoreLoss = false; ///< the store comes back older, or as another one
};

/// Both rule machines with a link, a store and an agent's memory between them. Any broken promise is kept as a
/// sentence. Thread: owned by one.
class World {
public:
    World(std::uint64_t seed, Faults faults)
        : m_random(seed)
        , m_faults(faults)
    {
        connect();
    }

    void run(int operations)
    {
        for (int i = 0; i < operations && m_broken.empty(); ++i)
            oneOperation();
    }

    /// Faults stop: everything that the agent holds must arrive. A connection that lost something is replaced, as TCP
    /// would do; one that did not must get there by itself.
    void settle()
    {
        const bool wasLossy = m_isLossy;
        m_faults = {};
        setPaused(false);
        if (wasLossy || !m_send.isOpen())
            reconnect();
        for (int round = 0; round < 20'000 && m_broken.empty(); ++round) {
            if (m_send.ackedSeq() + 1 == m_send.nextSeq() && m_pending.empty())
                break;
            sendSome(8);
            while (!m_toServer.empty())
                deliverToServer();
            commit(m_pending.size());
            sendAck();
            while (!m_toAgent.empty())
                deliverToAgent();
            if (!m_send.isOpen())
                reconnect();
        }
        if (m_send.ackedSeq() + 1 != m_send.nextSeq())
            broken("not everything was delivered after the faults stopped");
        for (std::uint64_t seq = 1; seq < m_send.nextSeq(); ++seq) {
            if (m_rows.contains(seq) == m_gaps.contains(seq))
                broken(m_rows.contains(seq) ? "a stored batch is also told as a gap" : "a hole is not explained");
        }
    }

    const std::string& brokenPromise() const { return m_broken; }
    std::uint64_t stored() const { return m_rows.size(); }
    std::uint64_t gaps() const { return m_gaps.size(); }
    std::uint64_t duplicates() const { return m_duplicates; }
    std::uint64_t exhausted() const { return m_exhausted; }

private:
    struct Frame {
        std::uint64_t seq;
        std::uint32_t epoch;
        std::size_t bytes;
        bool crcOk;
    };

    std::uint64_t below(std::uint64_t n) { return m_random() % n; }
    bool chance(unsigned percent) { return below(100) < percent; }
    void broken(std::string what)
    {
        if (m_broken.empty())
            m_broken = std::move(what);
    }

    void oneOperation()
    {
        switch (below(12)) {
        case 0:
        case 1:
        case 2:
            produce();
            break;
        case 3:
        case 4:
            sendSome(1 + below(4));
            break;
        case 5:
        case 6:
            if (!m_toServer.empty())
                deliverToServer();
            break;
        case 7:
            if (!m_toAgent.empty())
                deliverToAgent();
            break;
        case 8:
            commit(below(m_pending.size() + 1));
            break;
        case 9:
            if (m_receive && (m_receive->ackIsDue() || chance(20)))
                sendAck();
            break;
        default:
            if (m_faults.hasCrashes)
                trouble();
        }
    }

    void trouble()
    {
        switch (below(10)) {
        case 0:
            disconnect();
            break;
        case 1:
            reconnect();
            break;
        case 2: // the server is killed and started again
            m_pending.clear();
            reconnect();
            break;
        case 3:
            setPaused(chance(50));
            break;
        case 4: // the store could not take what was accepted
            if (m_receive && !m_pending.empty()) {
                const std::uint64_t first = m_pending[below(m_pending.size())];
                std::erase_if(m_pending, [first](std::uint64_t seq) { return seq >= first; });
                m_receive->rewindTo(first);
                m_toAgent.push_back(Nack { m_receive->nextSeq() });
            }
            break;
        case 5:
            if (!m_toServer.empty())
                m_toServer.front().crcOk = false;
            break;
        case 6:
            if (m_faults.hasStoreLoss && chance(30))
                loseStore();
            break;
        default:
            if (!m_send.isOpen())
                connect();
        }
    }

    void produce()
    {
        static constexpr std::size_t kSizes[] { 0, 100, 5'000, 300'000, limits::kMaxMessageBytes };
        m_send.onProduced(m_send.nextSeq(), kSizes[below(std::size(kSizes))]);
    }

    void sendSome(std::uint64_t count)
    {
        for (; count > 0; --count) {
            const std::uint64_t seq = m_send.nextToSend();
            if (seq == 0) {
                m_exhausted += m_send.isOpen() && m_send.ackedSeq() + 1 < m_send.nextSeq() ? 1 : 0;
                return;
            }
            if (seq <= m_send.ackedSeq() || seq >= m_send.nextSeq())
                broken("a batch was sent that the agent does not hold");
            // The size is the agent's own matter; the credit test below sees the sum of what it counted.
            static constexpr std::size_t kResent[] { 100, 200'000, limits::kMaxMessageBytes };
            const std::size_t bytes = kResent[below(std::size(kResent))];
            m_send.onResized(seq, bytes);
            if (m_send.nextToSend() != seq)
                continue;
            m_send.onSent(seq);
            post(Frame { seq, m_send.epoch(), bytes, true });
        }
    }

    void post(const Frame& frame)
    {
        if (chance(m_faults.lossPercent)) {
            m_isLossy = true;
            return;
        }
        m_toServer.push_back(frame);
        if (chance(m_faults.duplicatePercent)) {
            m_toServer.push_back(frame);
            m_isLossy = true;
        }
        if (m_toServer.size() > 1 && chance(m_faults.reorderPercent)) {
            std::swap(m_toServer.back(), m_toServer[below(m_toServer.size())]);
            m_isLossy = true;
        }
    }

    void deliverToServer()
    {
        const Frame frame = m_toServer.front();
        m_toServer.pop_front();
        if (!m_receive)
            return;
        const std::uint64_t expected = m_receive->nextSeq();
        switch (m_receive->onBatch(frame.seq, frame.epoch, frame.bytes, frame.crcOk)) {
        case ReceiveRules::Verdict::Accept:
            if (frame.seq != expected || m_receive->nextSeq() != expected + 1)
                broken("a batch out of order was accepted");
            if (!frame.crcOk || frame.epoch != m_receive->epoch())
                broken("a damaged or stale batch was accepted");
            m_pending.push_back(frame.seq);
            break;
        case ReceiveRules::Verdict::Duplicate:
            ++m_duplicates;
            if (frame.seq >= expected)
                broken("a new batch was taken for a duplicate");
            break;
        case ReceiveRules::Verdict::AheadNack:
            m_toAgent.push_back(Nack { m_receive->nextSeq() });
            break;
        case ReceiveRules::Verdict::StaleEpoch:
            if (frame.epoch == m_receive->epoch())
                broken("a batch of this epoch was called stale");
            break;
        case ReceiveRules::Verdict::OverCredit:
            if (!m_isLossy)
                broken("an honest agent was cut for credit");
            disconnect();
            break;
        case ReceiveRules::Verdict::BadCrc:
            disconnect();
            break;
        }
    }

    void deliverToAgent()
    {
        const auto message = m_toAgent.front();
        m_toAgent.pop_front();
        if (const auto* ack = std::get_if<Ack>(&message))
            m_send.onAck(*ack);
        else
            m_send.onNack(std::get<Nack>(message));
        checkAcked();
    }

    /// Whatever the agent has forgotten is in the store or told as a gap.
    void checkAcked()
    {
        for (; m_checked < m_send.ackedSeq(); ++m_checked) {
            if (!m_rows.contains(m_checked + 1) && !m_gaps.contains(m_checked + 1))
                broken("a batch was forgotten that is not durable");
        }
    }

    void commit(std::size_t count)
    {
        if (m_isPaused || count == 0)
            return;
        for (; count > 0; --count) {
            if (!m_rows.insert(m_pending.front()).second)
                broken("a batch was stored twice");
            m_durable = m_pending.front();
            m_pending.pop_front();
        }
        if (m_receive)
            m_receive->onDurable(m_durable);
    }

    void sendAck()
    {
        if (!m_receive)
            return;
        const Ack ack = m_receive->takeAck();
        if (ack.durableSeq > m_durable)
            broken("an ack was written before the commit");
        if (chance(m_faults.lossPercent))
            m_isLossy = true;
        else
            m_toAgent.push_back(ack);
    }

    void setPaused(bool paused)
    {
        m_isPaused = paused;
        if (m_receive)
            m_receive->setPaused(paused);
    }

    void loseStore()
    {
        m_pending.clear();
        disconnect();
        m_durable = chance(50) ? 0 : below(m_durable + 1);
        if (chance(50))
            ++m_storeNumber;
        std::erase_if(m_rows, [this](std::uint64_t seq) { return seq > m_durable; });
        std::erase_if(m_gaps, [this](std::uint64_t seq) { return seq > m_durable; });
        m_checked = std::min(m_checked, m_durable);
        connect();
    }

    void disconnect()
    {
        m_send.onDisconnected();
        if (m_receive) // what was accepted is in the store's queue and is committed before the next Hello is answered
            commitAll();
        m_receive.reset();
        m_toAgent.clear();
        m_zombies = m_toServer;
        m_toServer.clear();
        m_isLossy = false;
    }

    void commitAll()
    {
        if (m_isPaused)
            m_pending.clear();
        commit(m_pending.size());
    }

    void connect()
    {
        const std::uint64_t firstRetained = m_send.firstRetainedSeq();
        const std::uint64_t said = m_durable;
        for (; m_durable + 1 < firstRetained; ++m_durable)
            m_gaps.insert(m_durable + 1);
        m_receive.emplace(m_durable, ++m_epoch, 1 + below(3'000'000), 1 + below(6));
        m_receive->setPaused(m_isPaused);
        Welcome welcome;
        welcome.storeId = std::to_string(m_storeNumber);
        welcome.epoch = m_epoch;
        welcome.durableSeq = said;
        welcome.creditBytes = m_receive->grantedBytes();
        welcome.creditBatches = m_receive->grantedBatches();
        m_send.onWelcome(welcome);
        const auto [first, last] = m_send.takeGap();
        if (first != 0 && (first != said + 1 || last + 1 != firstRetained))
            broken("the agent told another gap than the server's");
        checkAcked();
        // Frames of a connection that is gone reach the new session: the epoch fences them off.
        for (const Frame& frame : m_zombies) {
            if (m_receive->onBatch(frame.seq, frame.epoch, frame.bytes, frame.crcOk)
                != ReceiveRules::Verdict::StaleEpoch)
                broken("a batch of an older connection got in");
        }
        m_zombies.clear();
    }

    void reconnect()
    {
        disconnect();
        connect();
    }

    std::mt19937_64 m_random;
    Faults m_faults;
    SendRules m_send;
    std::optional<ReceiveRules> m_receive;
    std::deque<Frame> m_toServer;
    std::deque<Frame> m_zombies;
    std::deque<std::variant<Ack, Nack>> m_toAgent;
    std::deque<std::uint64_t> m_pending;
    std::set<std::uint64_t> m_rows;
    std::set<std::uint64_t> m_gaps;
    std::uint64_t m_durable = 0;
    std::uint64_t m_checked = 0;
    std::uint64_t m_duplicates = 0;
    std::uint64_t m_exhausted = 0;
    std::uint32_t m_epoch = 0;
    int m_storeNumber = 1;
    std::string m_broken;
    bool m_isPaused = false;
    bool m_isLossy = false;
};

}

class RulesTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void randomHistoriesEndWithEveryBatchOnce_data()
    {
        QTest::addColumn<int>("histories");
        QTest::addColumn<unsigned>("percent");
        QTest::addColumn<bool>("crashes");
        QTest::addColumn<bool>("storeLoss");
        QTest::newRow("clean link, credit only") << 4000 << 0u << false << false;
        QTest::newRow("loss, duplication, reordering") << 6000 << 15u << false << false;
        QTest::newRow("reconnects, restarts, trouble in the store") << 6000 << 0u << true << false;
        QTest::newRow("everything, and the store goes back") << 8000 << 8u << true << true;
    }
    void randomHistoriesEndWithEveryBatchOnce()
    {
        QFETCH(int, histories);
        QFETCH(unsigned, percent);
        QFETCH(bool, crashes);
        QFETCH(bool, storeLoss);
        std::uint64_t stored = 0;
        std::uint64_t gaps = 0;
        std::uint64_t duplicates = 0;
        std::uint64_t exhausted = 0;
        for (int seed = 0; seed < histories; ++seed) {
            World world(static_cast<std::uint64_t>(seed), { percent, percent, percent, crashes, storeLoss });
            world.run(160);
            world.settle();
            if (!world.brokenPromise().empty())
                QFAIL(qPrintable(
                    QStringLiteral("seed %1: %2").arg(seed).arg(QString::fromStdString(world.brokenPromise()))));
            stored += world.stored();
            gaps += world.gaps();
            duplicates += world.duplicates();
            exhausted += world.exhausted();
        }
        qInfo("%d histories: %llu stored, %llu in gaps, %llu duplicates refused, %llu times out of credit", histories,
            static_cast<unsigned long long>(stored), static_cast<unsigned long long>(gaps),
            static_cast<unsigned long long>(duplicates), static_cast<unsigned long long>(exhausted));
        QVERIFY(stored > 0 && exhausted > 0);
        QCOMPARE(gaps > 0, storeLoss);
    }

    void pauseGrantsNothingAndResumeGivesTheWindowBack()
    {
        ReceiveRules rules(0, 1, 2u << 20, 4);
        QCOMPARE(rules.onBatch(1, 1, 1000, true), ReceiveRules::Verdict::Accept);
        rules.setPaused(true);
        QVERIFY(rules.ackIsDue());
        const Ack paused = rules.takeAck();
        QCOMPARE(paused.creditBytes, 1000u);
        QCOMPARE(paused.creditBatches, 1u);
        QCOMPARE(paused.durableSeq, 0u);
        rules.onDurable(1);
        rules.setPaused(false);
        const Ack resumed = rules.takeAck();
        QCOMPARE(resumed.creditBytes, (2u << 20) + 1000u);
        QCOMPARE(resumed.creditBatches, 5u);
        QCOMPARE(resumed.durableSeq, 1u);
        QVERIFY(!rules.ackIsDue());
    }

    void rejectedBatchIsToldOnceAndOnlyWhenItIsDurable()
    {
        ReceiveRules rules(0, 1, 2u << 20, 4);
        rules.onBatch(1, 1, 10, true);
        rules.addRejected(1, "unknown kind");
        QVERIFY(rules.takeAck().rejected.empty());
        rules.onDurable(1);
        const Ack ack = rules.takeAck();
        QCOMPARE(ack.rejected.size(), 1u);
        QCOMPARE(ack.rejected[0], (Rejected { 1, "unknown kind" }));
        QVERIFY(rules.takeAck().rejected.empty());
    }

    void overCreditStaleAndDamagedBatchesAreNotAccepted()
    {
        ReceiveRules rules(7, 3, limits::kMaxMessageBytes, 1);
        QCOMPARE(rules.onBatch(8, 2, 10, true), ReceiveRules::Verdict::StaleEpoch);
        QCOMPARE(rules.onBatch(8, 3, 10, false), ReceiveRules::Verdict::BadCrc);
        QCOMPARE(rules.onBatch(8, 3, limits::kMaxMessageBytes + 1, true), ReceiveRules::Verdict::OverCredit);
        QCOMPARE(rules.nextSeq(), 8u);
        QCOMPARE(rules.onBatch(8, 3, 10, true), ReceiveRules::Verdict::Accept);
        QCOMPARE(rules.onBatch(9, 3, 10, true), ReceiveRules::Verdict::OverCredit);
    }

    void spoolOfAnEarlierProcessStartsWhereItLeftOff()
    {
        SendRules rules;
        rules.onProduced(40, 10);
        rules.onProduced(41, 10);
        QCOMPARE(rules.firstRetainedSeq(), 40u);
        Welcome welcome;
        welcome.storeId = std::string(1, 'a');
        welcome.durableSeq = 39;
        welcome.creditBytes = 100;
        welcome.creditBatches = 10;
        rules.onWelcome(welcome);
        QCOMPARE(rules.takeGap(), (std::pair<std::uint64_t, std::uint64_t> { 0, 0 }));
        QCOMPARE(rules.nextToSend(), 40u);
        rules.onSent(40);
        rules.onAck({ 40, 100, 10, {} });
        QCOMPARE(rules.firstRetainedSeq(), 41u);
        QCOMPARE(rules.nextToSend(), 41u);
    }

    void streamThatAnotherBeganGoesOnBehindIt()
    {
        SendRules rules;
        Welcome welcome;
        welcome.durableSeq = 39;
        welcome.creditBytes = 100;
        welcome.creditBatches = 10;
        rules.onWelcome(welcome);
        QCOMPARE(rules.nextSeq(), 40u);
        QCOMPARE(rules.nextToSend(), 0u);
        rules.onProduced(40, 10);
        QCOMPARE(rules.nextToSend(), 40u);
        QCOMPARE(rules.takeGap(), (std::pair<std::uint64_t, std::uint64_t> { 0, 0 }));
        // What no stream has is not believed.
        SendRules other;
        welcome.durableSeq = std::numeric_limits<std::uint64_t>::max();
        other.onWelcome(welcome);
        QCOMPARE(other.nextSeq(), 1u);
    }

    void lossOfWhatWasAckedIsToldOnce()
    {
        SendRules rules;
        for (std::uint64_t seq = 1; seq <= 5; ++seq)
            rules.onProduced(seq, 10);
        Welcome welcome;
        welcome.storeId = std::string(1, 'a');
        welcome.creditBytes = 1000;
        welcome.creditBatches = 10;
        rules.onWelcome(welcome);
        rules.onAck({ 3, 1000, 10, {} });
        rules.onDisconnected();
        QCOMPARE(rules.nextToSend(), 0u);
        welcome.storeId = std::string(1, 'b');
        rules.onWelcome(welcome);
        QCOMPARE(rules.takeGap(), (std::pair<std::uint64_t, std::uint64_t> { 1, 3 }));
        QCOMPARE(rules.nextToSend(), 4u);
        rules.onDisconnected();
        rules.onWelcome(welcome);
        QCOMPARE(rules.takeGap(), (std::pair<std::uint64_t, std::uint64_t> { 0, 0 }));
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, RulesTest)

}

#include "rulestest.moc"
