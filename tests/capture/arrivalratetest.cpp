// SPDX-License-Identifier: GPL-3.0-or-later
// How many samples a second come, where they come in bursts.
#include "testmain.h"

#include <telltale/ingest/arrivalrate.h>

namespace arrivalratetest {

using telltale::ingest::ArrivalRate;
using namespace std::chrono_literals;

class ArrivalRateTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void samplesThatComeEachThirdSecondAreARateAtEachSecond()
    {
        const ArrivalRate::Clock::time_point begin {};
        ArrivalRate rate;
        for (int second = 0; second < 60; ++second) {
            if (second % 3 == 0)
                rate.note(begin + second * 1s, 3000);
            rate.note(begin + second * 1s, 0); // what becomes durable without samples is no arrival
            const double perSecond = rate.perSecond(begin + second * 1s + 500ms);
            QCOMPARE(perSecond, second < 3 ? 0.0 : 1000.0);
        }
    }

    void aBurstIsNotARateOfItsOwn()
    {
        const ArrivalRate::Clock::time_point begin {};
        ArrivalRate rate;
        rate.note(begin, 5000);
        rate.note(begin + 10ms, 5000);
        QCOMPARE(rate.perSecond(begin + 20ms), 0.0);
        rate.note(begin + 2s, 5000);
        QCOMPARE(rate.perSecond(begin + 2s), 5000.0); // what came after the first, by the time since the first
    }

    void samplesThatComeNoMoreAreNone()
    {
        const ArrivalRate::Clock::time_point begin {};
        ArrivalRate rate;
        rate.note(begin, 100);
        rate.note(begin + 10s, 100);
        QCOMPARE(rate.perSecond(begin + 10s), 10.0);
        QCOMPARE(rate.perSecond(begin + 32s), 10.0);
        QCOMPARE(rate.perSecond(begin + 33s), 0.0);
        rate.note(begin + 100s, 100); // what comes after a pause does not count it in
        QCOMPARE(rate.perSecond(begin + 100s), 0.0);
        rate.note(begin + 102s, 100);
        QCOMPARE(rate.perSecond(begin + 102s), 50.0);
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, ArrivalRateTest)

}

#include "arrivalratetest.moc"
