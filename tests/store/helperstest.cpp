// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <atomic>
#include <chrono>
#include <set>
#include <stdexcept>
#include <thread>

#include <telltale/store/helpers.h>

namespace helperstest {

using telltale::store::Helpers;

class HelpersTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everyoneWorksAtTheSameTimeAndIsWaitedFor();
    void whoComesWhileTheyHelpWorksAlone();
    void whatIsThrownHereComesOutWhenAllHaveEnded();
};

void HelpersTest::everyoneWorksAtTheSameTimeAndIsWaitedFor()
{
    Helpers helpers;
    for (int round = 0; round < 200; ++round) {
        std::atomic<int> inside { 0 }, ended { 0 };
        helpers.run(2, [&] {
            ++inside;
            while (inside < 3) // it would not end without the others
                std::this_thread::yield();
            ++ended;
        });
        QCOMPARE(ended.load(), 3);
    }
    int calls = 0;
    helpers.run(0, [&calls] { ++calls; });
    QCOMPARE(calls, 1);
}

void HelpersTest::whoComesWhileTheyHelpWorksAlone()
{
    Helpers helpers;
    std::atomic<bool> isIn { false }, mayEnd { false };
    std::thread first([&] {
        helpers.run(1, [&] {
            isIn = true;
            while (!mayEnd)
                std::this_thread::yield();
        });
    });
    while (!isIn)
        std::this_thread::yield();
    std::set<std::thread::id> threads;
    helpers.run(1, [&threads] { threads.insert(std::this_thread::get_id()); });
    mayEnd = true;
    first.join();
    QCOMPARE(threads, std::set { std::this_thread::get_id() });
}

void HelpersTest::whatIsThrownHereComesOutWhenAllHaveEnded()
{
    Helpers helpers;
    const auto here = std::this_thread::get_id();
    std::atomic<int> inside { 0 };
    std::atomic<bool> hasEnded { false };
    QVERIFY_EXCEPTION_THROWN(helpers.run(1,
                                 [&] {
                                     ++inside;
                                     while (inside < 2)
                                         std::this_thread::yield();
                                     if (std::this_thread::get_id() == here)
                                         throw std::runtime_error("here");
                                     std::this_thread::sleep_for(std::chrono::milliseconds(20));
                                     hasEnded = true;
                                     throw std::runtime_error("there");
                                 }),
        std::runtime_error);
    QVERIFY(hasEnded);
}

TELLTALE_TEST(QTEST_GUILESS_MAIN, HelpersTest)

}

#include "helperstest.moc"
