// SPDX-License-Identifier: GPL-3.0-or-later
// Which incidents of a run's log are told: against a real store and its feed.
#include <atomic>

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <telltale/alerts/alertwatch.h>
#include <telltale/store/runreader.h>
#include <telltale/store/storeservice.h>

#include "../store/capsulecontent.h"

using namespace telltale;
using namespace telltale::store;
using namespace telltale::store::test;
using alerts::Alert;
using alerts::AlertWatch;
using judge::Annotation;
using judge::Incident;
using namespace std::chrono_literals;

namespace {

Incident incidentAt(std::int64_t step, Severity severity, std::int64_t id = 0)
{
    Incident incident;
    incident.id = id;
    incident.opened = incident.lastStep = Step { step };
    incident.first.rule = "loss";
    incident.first.severity = severity;
    incident.first.step = Step { step };
    incident.sentence = "First abnormal: step " + std::to_string(step);
    return incident;
}

/// A store with one run, and a watch that has heard all that was written.
class Watched {
public:
    explicit Watched(const std::string& dir)
        : m_recorder(dir)
        , m_opened(m_recorder.open(makeRequest("job", 1)))
        , m_run(m_opened.run)
    {
        watch();
    }
    /// As a server that was started again: another watch.
    void watch()
    {
        m_feed.reset();
        m_watch = std::make_unique<AlertWatch>([this] { ++m_wakes; });
        m_feed = std::make_unique<judge::IncidentFeed>(
            m_recorder.service(), [this](const RunRef& run, const Incident& incident, judge::IncidentNews news) {
                m_watch->onIncident(run, incident, news);
            });
    }

    std::int64_t write(const Event& event)
    {
        const std::uint64_t token = ++m_token;
        if (!m_recorder.service().append({ token, m_run->locator, Rank { -1 }, event }))
            qFatal("the record was not taken");
        std::int64_t id = 0;
        const auto isWritten = [&] {
            m_recorder.collect();
            for (const StoreEvent& one : m_recorder.events) {
                if (const auto* written = std::get_if<RecordWritten>(&one); written && written->token == token)
                    id = written->id;
            }
            return id != 0;
        };
        if (!QTest::qWaitFor(isWritten, 20'000) || !m_feed->settle(20s))
            qFatal("a record was not heard of");
        return id;
    }
    std::int64_t write(const Incident& incident) { return write(judge::incidentEvent(incident, 1)); }
    void say(std::int64_t id, Annotation::Action action)
    {
        write(judge::annotationEvent({ id, action, "a note" }, Step { 1 }, "me", 2));
    }
    std::vector<std::string> told(std::chrono::seconds settle = 0s)
    {
        std::vector<std::string> all;
        for (const Alert& alert : m_watch->take(AlertWatch::Clock::now(), settle))
            all.push_back(alert.incident.sentence);
        return all;
    }
    AlertWatch& alerts() { return *m_watch; }
    const RunRef& run() const { return m_run; }
    void end()
    {
        m_recorder.service().closeStream(m_opened.stream, "finished", 0);
        if (!QTest::qWaitFor([this] { return m_recorder.service().liveRuns().empty(); }, 20'000))
            qFatal("the run did not end");
    }
    int wakes() const { return m_wakes; }

private:
    Recorder m_recorder;
    StreamOpened m_opened;
    RunRef m_run;
    std::atomic<int> m_wakes { 0 };
    std::uint64_t m_token = 0;
    std::unique_ptr<AlertWatch> m_watch;
    std::unique_ptr<judge::IncidentFeed> m_feed; ///< last: it calls the watch
};

using Sentences = std::vector<std::string>;

}

class AlertWatchTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init()
    {
        m_dir = std::make_unique<QTemporaryDir>();
        m_watched = std::make_unique<Watched>(m_dir->path().toStdString());
    }
    void cleanup() { m_watched.reset(); }

    void anIncidentIsToldOnce()
    {
        const std::int64_t id = m_watched->write(incidentAt(7, Severity::Critical));
        const auto told = m_watched->alerts().take(AlertWatch::Clock::now(), 0s);
        QCOMPARE(told.size(), std::size_t { 1 });
        QCOMPARE(told[0].incident.id, id);
        QCOMPARE(told[0].runId, m_watched->run()->id);
        QCOMPARE(told[0].locator, m_watched->run()->locator.text());
        Incident again = incidentAt(5, Severity::Critical, id);
        again.isOver = true;
        m_watched->write(again);
        QVERIFY(m_watched->told().empty() && !m_watched->alerts().due(0s));
        m_watched->write(incidentAt(9, Severity::Warning));
        QCOMPARE(m_watched->told(), Sentences { "First abnormal: step 9" });
    }

    void aRecordOfARunThatIsOverLeavesItsFileAlone()
    {
        const std::int64_t id = m_watched->write(incidentAt(7, Severity::Critical));
        auto beside = openReader(*m_watched->run()); // so that the file stays as it is recorded
        QVERIFY(beside && (*beside)->catalog());
        m_watched->end();
        m_watched->say(id, Annotation::Action::True);
        beside->reset();
        const QString log = QString::fromStdString(m_watched->run()->locator.text()) + QStringLiteral("-wal");
        QVERIFY(QTest::qWaitFor([&] { return !QFile::exists(log); }, 20'000)); // nobody reads it any more
    }

    void whatBecomesPartOfAnotherIsNotToldBesideIt()
    {
        const std::int64_t whole = m_watched->write(incidentAt(7, Severity::Critical));
        Incident part = incidentAt(60, Severity::Critical);
        part.id = m_watched->write(part);
        part.into = whole;
        m_watched->write(part);
        QCOMPARE(m_watched->told(), Sentences { "First abnormal: step 7" });
    }

    void itIsToldAsItIsOnceItHasSettled()
    {
        const std::int64_t id = m_watched->write(incidentAt(7, Severity::Critical));
        QVERIFY(m_watched->told(1h).empty());
        QVERIFY(m_watched->alerts().due(1h).value() > AlertWatch::Clock::now() + 50min);
        m_watched->write(incidentAt(5, Severity::Critical, id)); // it began earlier
        const auto told = m_watched->alerts().take(AlertWatch::Clock::now() + 2h, 1h);
        QCOMPARE(told.size(), std::size_t { 1 });
        QCOMPARE(told[0].incident.first.step, Step { 5 });
    }

    void whatIsTooSlightIsToldWhenItBecomesGraver()
    {
        m_watched->alerts().setLeast(Severity::Critical);
        const std::int64_t id = m_watched->write(incidentAt(7, Severity::Warning));
        QVERIFY(m_watched->told().empty());
        m_watched->alerts().setLeast(Severity::Warning);
        QVERIFY2(m_watched->told().empty(), "another setting tells nothing that is old");
        m_watched->alerts().setLeast(Severity::Critical);
        m_watched->write(incidentAt(7, Severity::Critical, id));
        QCOMPARE(m_watched->told().size(), std::size_t { 1 });
    }

    void whatPeopleKnowAlreadyIsNotTold_data()
    {
        QTest::addColumn<int>("action");
        QTest::addColumn<bool>("isTold");
        QTest::newRow("acknowledged") << static_cast<int>(Annotation::Action::Acknowledge) << false;
        QTest::newRow("a false alarm") << static_cast<int>(Annotation::Action::False) << false;
        QTest::newRow("true") << static_cast<int>(Annotation::Action::True) << true;
        QTest::newRow("a note") << static_cast<int>(Annotation::Action::Note) << true;
    }
    void whatPeopleKnowAlreadyIsNotTold()
    {
        QFETCH(int, action);
        QFETCH(bool, isTold);
        const std::int64_t id = m_watched->write(incidentAt(7, Severity::Critical));
        m_watched->say(id, static_cast<Annotation::Action>(action));
        QCOMPARE(m_watched->told().size(), std::size_t { isTold ? 1U : 0U });
        m_watched->write(incidentAt(7, Severity::Critical, id));
        QVERIFY(m_watched->told().empty());
    }

    void afterARestartNothingIsToldAgain()
    {
        const std::int64_t told = m_watched->write(incidentAt(7, Severity::Critical));
        const std::int64_t slight = m_watched->write(incidentAt(8, Severity::Notice));
        QCOMPARE(m_watched->told().size(), std::size_t { 1 });
        m_watched->watch();
        m_watched->write({ "restart", Step { 9 }, 3, "the training began again", "{}" });
        QVERIFY(m_watched->told().empty());
        m_watched->write(incidentAt(6, Severity::Critical, told));
        QVERIFY(m_watched->told().empty());
        m_watched->write(incidentAt(12, Severity::Critical));
        m_watched->write(incidentAt(8, Severity::Critical, slight)); // nobody was told of it
        const Sentences both { "First abnormal: step 8", "First abnormal: step 12" };
        QCOMPARE(m_watched->told(), both);
    }

    void howFarTheJudgeIsIsNoIncident()
    {
        m_watched->write(judge::judgedEvent({ StepRange { Step { 0 }, Step { 6 } }, 10, 1, 11 }, 1));
        QCOMPARE(m_watched->wakes(), 0);
        m_watched->write(incidentAt(7, Severity::Critical));
        QCOMPARE(m_watched->wakes(), 1);
        QCOMPARE(m_watched->told(), Sentences { "First abnormal: step 7" });
    }

    void whatWaitsIsToldThoughItsRunEndsMeanwhile()
    {
        m_watched->write(incidentAt(7, Severity::Critical));
        m_watched->end();
        m_watched->write({ "note", Step { 9 }, 3, "of a run that has ended", "{}" });
        QCOMPARE(m_watched->told(), Sentences { "First abnormal: step 7" });
    }

    void whatAnAgentSaysIsNoIncident()
    {
        Event event = judge::incidentEvent(incidentAt(7, Severity::Critical), 1);
        event.kind = "incidental";
        m_watched->write(event);
        QVERIFY(m_watched->told().empty());
    }

private:
    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<Watched> m_watched;
};

QTEST_GUILESS_MAIN(AlertWatchTest)
#include "alertwatchtest.moc"
