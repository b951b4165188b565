// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <random>
#include <thread>

#include <telltale/store/querypool.h>

namespace querypooltest {

using namespace telltale;
using namespace telltale::store;
using series::CancelToken;

namespace {

constexpr std::chrono::seconds kDeadline { 20 };

RunRef nowhere()
{
    auto run = std::make_shared<RunHandle>();
    run->locator = RunLocator::ofFile("/nonexistent/run.telltale");
    return run;
}

/// Runs deliveries until `done`, as a consumer's event loop would; false at the deadline.
template <typename Done> bool deliverUntil(QueryPool& pool, Done done)
{
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (!done()) {
        if (std::chrono::steady_clock::now() > deadline)
            return false;
        pool.deliver();
        std::this_thread::yield();
    }
    return true;
}

/// A job that says when it runs and waits to be let go.
struct Gate {
    std::promise<void> started;
    std::promise<void> released;
    std::shared_future<void> release { released.get_future() };
};

QueryPool::Work holding(const std::shared_ptr<Gate>& gate)
{
    return [gate](Expected<RunReader*>, const CancelToken&) -> QueryPool::Delivery {
        gate->started.set_value();
        gate->release.wait();
        return {};
    };
}

}

class QueryPoolTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void theNewestQueuedJobOfAViewWins();
    void aRunningJobIsCanceledByTheNext();
    void deliveriesRunOnTheConsumersThread();
    void nothingIsDeliveredAfterCancel();
    void aDeliveryMayAskAgain();
    void theErrorOfOpeningReachesTheJob();
    void wakeComesForEveryNewAnswer();
    void destructionCancelsWhatRuns();
    void everyViewEndsWithItsLastQuestion();
};

void QueryPoolTest::theNewestQueuedJobOfAViewWins()
{
    QueryPool pool(1);
    auto gate = std::make_shared<Gate>();
    pool.submit(pool.newView(), nowhere(), holding(gate));
    gate->started.get_future().wait();
    const auto view = pool.newView();
    std::atomic<int> ran { 0 };
    std::vector<int> delivered;
    for (int i = 0; i < 3; ++i) {
        pool.submit(view, nowhere(), [i, &ran, &delivered](Expected<RunReader*>, const CancelToken&) {
            ++ran;
            return [i, &delivered] { delivered.push_back(i); };
        });
    }
    QVERIFY(pool.isBusy(view));
    gate->released.set_value();
    QVERIFY(deliverUntil(pool, [&] { return !pool.isBusy(view); }));
    QCOMPARE(delivered, std::vector<int> { 2 });
    QCOMPARE(ran.load(), 1);
}

void QueryPoolTest::aRunningJobIsCanceledByTheNext()
{
    QueryPool pool(1);
    const auto view = pool.newView();
    std::promise<void> started;
    bool oldDelivered = false;
    bool newDelivered = false;
    pool.submit(view, nowhere(), [&](Expected<RunReader*>, const CancelToken& cancel) {
        started.set_value();
        while (!cancel->load())
            std::this_thread::yield();
        return [&oldDelivered] { oldDelivered = true; };
    });
    started.get_future().wait();
    pool.submit(view, nowhere(), [&](Expected<RunReader*>, const CancelToken& cancel) {
        const bool canceled = cancel->load();
        return [&newDelivered, canceled] { newDelivered = !canceled; };
    });
    QVERIFY(deliverUntil(pool, [&] { return newDelivered; }));
    QVERIFY(!oldDelivered);
}

void QueryPoolTest::deliveriesRunOnTheConsumersThread()
{
    QueryPool pool;
    std::thread::id workedOn;
    std::thread::id deliveredOn;
    pool.submit(pool.newView(), nowhere(), [&](Expected<RunReader*>, const CancelToken&) {
        return [&deliveredOn, &workedOn, here = std::this_thread::get_id()] {
            workedOn = here;
            deliveredOn = std::this_thread::get_id();
        };
    });
    QVERIFY(deliverUntil(pool, [&] { return deliveredOn != std::thread::id(); }));
    QCOMPARE(deliveredOn, std::this_thread::get_id());
    QVERIFY(workedOn != std::this_thread::get_id());
}

void QueryPoolTest::nothingIsDeliveredAfterCancel()
{
    QueryPool pool(1);
    const auto view = pool.newView();
    bool delivered = false;
    pool.submit(view, nowhere(),
        [&delivered](Expected<RunReader*>, const CancelToken&) { return [&delivered] { delivered = true; }; });
    // A later job of the same thread proves that the answer lies ready.
    const auto barrier = pool.newView();
    std::promise<void> passed;
    pool.submit(barrier, nowhere(), [&passed](Expected<RunReader*>, const CancelToken&) -> QueryPool::Delivery {
        passed.set_value();
        return {};
    });
    passed.get_future().wait();
    pool.cancel(view);
    QVERIFY(!pool.isBusy(view));
    pool.deliver();
    QVERIFY(!delivered);
}

void QueryPoolTest::aDeliveryMayAskAgain()
{
    QueryPool pool;
    const auto view = pool.newView();
    int rounds = 0;
    std::function<void()> ask = [&] {
        pool.submit(view, nowhere(), [&](Expected<RunReader*>, const CancelToken&) {
            return [&] {
                if (++rounds < 50)
                    ask();
            };
        });
    };
    ask();
    QVERIFY(deliverUntil(pool, [&] { return rounds == 50; }));
    QVERIFY(!pool.isBusy(view));
}

void QueryPoolTest::theErrorOfOpeningReachesTheJob()
{
    QueryPool pool;
    std::string sentence;
    pool.submit(pool.newView(), nowhere(), [&sentence](Expected<RunReader*> reader, const CancelToken&) {
        return [&sentence, text = reader ? std::string() : reader.error().sentence()] { sentence = text; };
    });
    QVERIFY(deliverUntil(pool, [&] { return !sentence.empty(); }));
    QVERIFY(sentence.find("/nonexistent/run.telltale") != std::string::npos);
}

void QueryPoolTest::wakeComesForEveryNewAnswer()
{
    QueryPool pool;
    std::atomic<int> wakes { 0 };
    pool.setWake([&wakes] { ++wakes; });
    int delivered = 0;
    for (int i = 0; i < 20; ++i) {
        const int before = wakes.load();
        pool.submit(pool.newView(), nowhere(),
            [&delivered](Expected<RunReader*>, const CancelToken&) { return [&delivered] { ++delivered; }; });
        QTRY_VERIFY_WITH_TIMEOUT(wakes.load() > before, 20000);
        pool.deliver();
        QCOMPARE(delivered, i + 1);
    }
}

void QueryPoolTest::destructionCancelsWhatRuns()
{
    std::promise<void> started;
    std::atomic<bool> sawCancel { false };
    bool delivered = false;
    {
        QueryPool pool(1);
        pool.submit(pool.newView(), nowhere(), [&](Expected<RunReader*>, const CancelToken& cancel) {
            started.set_value();
            while (!cancel->load())
                std::this_thread::yield();
            sawCancel = true;
            return [&delivered] { delivered = true; };
        });
        started.get_future().wait();
    }
    QVERIFY(sawCancel);
    QVERIFY(!delivered);
}

void QueryPoolTest::everyViewEndsWithItsLastQuestion()
{
    constexpr std::size_t kViews = 8;
    constexpr int kQuestions = 4000;
    QueryPool pool(2);
    std::array<QueryPool::ViewId, kViews> views {};
    for (auto& view : views)
        view = pool.newView();
    std::array<int, kViews> asked {};
    std::array<int, kViews> answered {};
    bool ordered = true;
    std::mt19937 random(3);
    for (int i = 1; i <= kQuestions; ++i) {
        const std::size_t which = random() % kViews;
        asked[which] = i;
        pool.submit(views[which], nowhere(), [&, which, i](Expected<RunReader*>, const CancelToken&) {
            return [&, which, i] {
                ordered = ordered && answered[which] < i;
                answered[which] = i;
            };
        });
        if (random() % 50 == 0) {
            const std::size_t silenced = random() % kViews;
            pool.cancel(views[silenced]);
            asked[silenced] = answered[silenced];
        }
        if (random() % 4 == 0)
            pool.deliver();
    }
    QVERIFY(deliverUntil(
        pool, [&] { return std::none_of(views.begin(), views.end(), [&](auto view) { return pool.isBusy(view); }); }));
    QVERIFY(ordered);
    QCOMPARE(answered, asked);
}

TELLTALE_TEST(QTEST_GUILESS_MAIN, QueryPoolTest)

}

#include "querypooltest.moc"
