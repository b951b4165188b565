// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <limits>
#include <memory>
#include <stdexcept>

#include <torch/torch.h>

#include <telltale/torch/flightrecorder.h>
#include <telltale/torch/trainermon.h>

#include "sourcepath.h"
#include "torchrecordingsink.h"

namespace flightrecordertest {

using namespace telltale;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// A training that is watched, or not. Thread: the test's.
struct RecordedTraining {
    explicit RecordedTraining(const char* config, int rank = 0)
    {
        torch::manual_seed(7);
        model->push_back("in", torch::nn::Linear(6, 8));
        model->push_back("drop", torch::nn::Dropout(0.3));
        optimizer = std::make_unique<torch::optim::AdamW>(model->parameters(), torch::optim::AdamWOptions(0.01));
        if (!config)
            return;
        MonitorOptions options;
        options.config = config::parseMonitorConfig(config)->config;
        options.rank = rank;
        monitor = std::make_unique<TrainerMon>(sink, options);
        monitor->setMonitor(*model, *optimizer);
    }
    void run(std::int64_t steps, bool breaks = false)
    {
        for (std::int64_t i = 0; i < steps; ++i) {
            torch::Tensor out = model->forward(torch::randn({ 4, 6 }));
            if (monitor)
                monitor->tap("in", out);
            out.square().mean().backward();
            if (breaks)
                model->parameters().front().mutable_grad()[0][0] = kNaN;
            if (monitor)
                monitor->step();
            else
                optimizer->step();
            optimizer->zero_grad();
        }
    }
    std::vector<std::int64_t> stepsOf(Kind kind) const
    {
        std::vector<std::int64_t> out;
        for (const auto& [step, blocks] : sink.steps)
            if (sink.has(step, kind))
                out.push_back(step);
        return out;
    }
    std::vector<std::string> recorderSays() const
    {
        std::vector<std::string> out;
        for (const std::string& text : sink.events)
            if (text.find("flight recorder") != std::string::npos)
                out.push_back(text);
        return out;
    }

    RecordingSink sink;
    torch::nn::Sequential model;
    std::unique_ptr<torch::optim::AdamW> optimizer;
    std::unique_ptr<TrainerMon> monitor;
};

std::vector<std::int64_t> range(std::int64_t from, std::int64_t to)
{
    std::vector<std::int64_t> out;
    for (; from < to; ++from)
        out.push_back(from);
    return out;
}

constexpr const char* kGradients = R"({"wg_distribution": true, "telltale": {"flight_recorder": 8}})";

}

/// telltale.flight_recorder: its rules, by the cases that the Python agent is held to, too, and a training that has it.
class FlightRecorderTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void theRulesThatBothAgentsHave_data()
    {
        QTest::addColumn<QJsonObject>("given");
        QFile file(QString::fromStdString(telltale::test::sourcePath("tests/data/flightrecorder.json")));
        QVERIFY(file.open(QIODevice::ReadOnly));
        for (const QJsonValue one : QJsonDocument::fromJson(file.readAll()).array())
            QTest::newRow(one[QStringLiteral("name")].toString().toUtf8().constData()) << one.toObject();
    }
    void theRulesThatBothAgentsHave()
    {
        QFETCH(QJsonObject, given);
        SeriesTable table(Kind::Actv, {});
        SeriesDesc desc;
        desc.name = "a";
        desc.slot = Slot::output();
        table.add(desc);
        const auto room = static_cast<std::size_t>(given[QStringLiteral("room")].toInt(1'000'000));
        FlightRecorder recorder(
            given[QStringLiteral("keeps")].toInt(), { Kind::Actv }, room * table.values().bytes() + 1);
        RecordingSink sink;
        std::array<SeriesTable*, 1> tables { &table };
        std::int64_t step = 0;
        for (const QJsonValue part : given[QStringLiteral("script")].toArray()) {
            for (int i = 0; i < part[QStringLiteral("steps")].toInt(); ++i, ++step) {
                tt_stats measured {};
                measured.flags = TT_STATS_PRESENT;
                measured.numel = 4;
                measured.nans = part[QStringLiteral("broken")].toBool() ? 1 : 0;
                measured.finite = 4 - measured.nans;
                if (!part[QStringLiteral("skipped")].toBool())
                    *table.results() = measured;
                sink.asked = part[QStringLiteral("asked")].toString().toStdString();
                recorder.take(step, tables);
                table.clear();
                recorder.stepEnds(step, sink, tables);
            }
        }
        recorder.finish(sink, tables);
        std::vector<std::int64_t> expected, seen;
        std::vector<std::string> told;
        for (const QJsonValue one : given[QStringLiteral("sent")].toArray()) {
            const auto first = one[QStringLiteral("first")].toInt(), last = one[QStringLiteral("last")].toInt();
            std::string span = first == last ? "step " + std::to_string(first)
                                             : "steps " + std::to_string(first) + " to " + std::to_string(last);
            const QJsonArray some = one[QStringLiteral("steps")].toArray();
            for (const QJsonValue number : some)
                expected.push_back(number.toInt());
            if (some.isEmpty()) {
                for (int number = first; number <= last; ++number)
                    expected.push_back(number);
            } else {
                span += " (" + std::to_string(some.size()) + " of them)";
            }
            told.push_back("the flight recorder sends " + span
                + " of actv: " + one[QStringLiteral("why")].toString().toStdString());
        }
        for (const auto& [number, blocks] : sink.steps) {
            QCOMPARE(blocks.size(), std::size_t { 1 });
            QVERIFY(sink.find(number, Kind::Actv, "a", "output"));
            seen.push_back(number);
        }
        QCOMPARE(seen, expected);
        std::vector<std::string> says;
        std::copy_if(sink.events.begin(), sink.events.end(), std::back_inserter(says),
            [](const std::string& text) { return text.find("sends") != std::string::npos; });
        QCOMPARE(says, told);
    }

    void whatIsNotSentIsKeptUntilAValueBreaks()
    {
        RecordedTraining training(kGradients);
        training.run(20);
        QCOMPARE(training.stepsOf(Kind::GradReduced), range(0, 20));
        QVERIFY(training.stepsOf(Kind::Actv).empty() && training.stepsOf(Kind::ExpAvg).empty());
        training.run(1, true);
        training.monitor.reset();
        for (const Kind kind : { Kind::Actv, Kind::ActvGrad, Kind::ParamOrigin, Kind::ParamUpdated, Kind::ExpAvg })
            QCOMPARE(training.stepsOf(kind), range(13, 21));
        QCOMPARE(training.stepsOf(Kind::GradReduced), range(0, 21));
        const auto says = training.recorderSays();
        QCOMPARE(says.size(), std::size_t { 1 });
        QVERIFY2(says[0].find("sends steps 13 to 20") != std::string::npos
                && says[0].find("grad_reduced of in.weight is not finite at step 20") != std::string::npos,
            says[0].c_str());
    }

    void whatIsKeptIsWhatAConfigThatSendsItSends()
    {
        RecordedTraining kept(kGradients);
        kept.run(5);
        kept.sink.asked = "now";
        kept.run(1);
        kept.monitor.reset();
        RecordedTraining sent(R"({"wg_distribution": true, "xy_distribution": true, "mv_distribution": true,
            "param_distribution": true})");
        sent.run(6);
        for (std::int64_t step = 0; step < 6; ++step) {
            for (const auto& [kind, name, slot] : std::vector<std::tuple<Kind, std::string, std::string>> {
                     { Kind::Actv, "in", "output" }, { Kind::ActvGrad, "in", "output" },
                     { Kind::ParamUpdated, "in.weight", "" }, { Kind::ExpAvgSq, "in.bias", "" } }) {
                const auto a = kept.sink.find(step, kind, name, slot), b = sent.sink.find(step, kind, name, slot);
                QCOMPARE(a.has_value(), b.has_value());
                QVERIFY(!a || std::memcmp(&*a, &*b, sizeof *a) == 0);
            }
        }
        QVERIFY(kept.sink.find(5, Kind::ExpAvgSq, "in.bias"));
    }

    void aStreamWithoutRoomGetsItLater()
    {
        RecordedTraining training(kGradients);
        training.run(10);
        training.sink.isFull = true;
        training.sink.asked = "now";
        training.run(1);
        QVERIFY(training.stepsOf(Kind::Actv).empty());
        training.sink.isFull = false;
        training.run(1);
        QCOMPARE(training.stepsOf(Kind::Actv), range(3, 7)); // no more than some at once
        training.monitor.reset();
        QCOMPARE(training.stepsOf(Kind::Actv), range(3, 11));
    }

    void everyStepIsKeptWhereFewAreSentAndRanksThatSendNothingKeepAll()
    {
        RecordedTraining few(R"({"wg_distribution": true, "step_interval": 10, "telltale": {"flight_recorder": 4}})");
        few.run(16);
        few.sink.asked = "now";
        few.run(1);
        few.monitor.reset();
        QCOMPARE(few.stepsOf(Kind::Actv), range(13, 17));
        QCOMPARE(few.stepsOf(Kind::GradReduced), (std::vector<std::int64_t> { 0, 10 }));
        RecordedTraining other(
            R"({"wg_distribution": true, "module_ranks": [3], "telltale": {"flight_recorder": 4}})", 1);
        other.run(6);
        other.sink.asked = "now";
        other.run(1);
        other.monitor.reset();
        for (const Kind kind : { Kind::Actv, Kind::GradReduced, Kind::GradUnreduced, Kind::ExpAvg })
            QCOMPARE(other.stepsOf(kind), range(3, 7));
    }

    void aTrainingThatThrowsSendsWhatIsKept()
    {
        RecordedTraining training(kGradients);
        training.run(10);
        try {
            const auto monitor = std::move(training.monitor);
            throw std::runtime_error("out of memory");
        } catch (const std::runtime_error&) {
            QCOMPARE(training.stepsOf(Kind::Actv), range(2, 10));
        }
    }

    void itIsOffUnlessItIsAskedFor()
    {
        RecordedTraining training(R"({"wg_distribution": true})");
        training.run(3, true);
        training.sink.asked = "now";
        training.run(3);
        training.monitor.reset();
        QVERIFY(training.stepsOf(Kind::Actv).empty() && training.recorderSays().empty());
    }

    void theTrainingEndsInTheSameBits()
    {
        RecordedTraining bare(nullptr), watched(R"({"telltale": {"flight_recorder": 4}})");
        bare.run(20);
        torch::manual_seed(7);
        RecordedTraining again(R"({"telltale": {"flight_recorder": 4}})");
        again.sink.asked = "now";
        again.run(20);
        QVERIFY(!again.stepsOf(Kind::Actv).empty());
        const auto one = bare.model->parameters(), two = again.model->parameters();
        for (std::size_t i = 0; i < one.size(); ++i)
            QVERIFY(torch::equal(one[i], two[i]));
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, FlightRecorderTest)

}

#include "flightrecordertest.moc"
