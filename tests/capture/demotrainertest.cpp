// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <csignal>

#include <telltale/config/monitorconfig.h>
#include <telltale/demo/options.h>
#include <telltale/demo/trainer.h>
#include <telltale/torch/configfile.h>

#include "torchrecordingsink.h"

namespace demotrainertest {

using namespace telltale;
using namespace telltale::demo;

namespace {

constexpr int kDeadlineMs = 120'000;

Expected<Options> options(std::vector<const char*> arguments)
{
    return parseOptions(arguments);
}

config::MonitorConfig everything()
{
    config::MonitorConfig config;
    config.wgDistribution = true;
    config.mvDistribution = true;
    config.paramDistribution = true;
    config.xyDistribution = true;
    config.attentionHook = true;
    return config;
}

/// A model small enough for a test, trained in this process.
TrainingResult trained(Sink* sink, const std::string& fault, std::int64_t steps)
{
    Options o;
    o.steps = steps;
    o.layers = 2;
    o.width = 32;
    o.heads = 2;
    if (!fault.empty())
        o.fault = parseFault(fault).value();
    const std::atomic<bool> interrupted { false };
    auto result = train(o, LoadedConfig { everything(), {} }, sink, 0, interrupted);
    if (!result)
        qFatal("%s", result.error().sentence().c_str());
    return *std::move(result);
}

}

class DemoTrainerTest : public QObject {
    Q_OBJECT

private:
    struct Finished {
        int code = -1;
        QByteArray out;
        QByteArray err;
    };

    std::unique_ptr<QProcess> start(const QStringList& arguments)
    {
        auto process = std::make_unique<QProcess>();
        auto environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("TELLTALE_MODE"), QStringLiteral("offline"));
        if (!environment.contains(QStringLiteral("TELLTALE_DIR")))
            environment.insert(QStringLiteral("TELLTALE_DIR"), m_directory.filePath(QStringLiteral("spool")));
        environment.remove(QStringLiteral("TELLTALE_JOIN"));
        process->setProcessEnvironment(environment);
        process->start(
            QCoreApplication::applicationDirPath() + QStringLiteral("/../bin/telltale-demo-trainer"), arguments);
        return process;
    }
    Finished finish(QProcess& process)
    {
        if (!process.waitForFinished(kDeadlineMs)) {
            process.kill();
            process.waitForFinished();
            return {};
        }
        return { process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError() };
    }
    Finished run(const QString& arguments) { return finish(*start(QProcess::splitCommand(arguments))); }
    QString path(const char* name) const { return m_directory.filePath(QLatin1String(name)); }
    static QByteArray contents(const QString& path)
    {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

    QTemporaryDir m_directory;

private Q_SLOTS:
    void weightsAreBitwiseEqualWithEverythingMonitored()
    {
        const auto common = QStringLiteral(" --steps 25 --layers 2 --width 64 --weights-out ");
        const auto bare = run(QStringLiteral("--no-agent") + common + path("bare"));
        QCOMPARE(bare.code, 0);
        const auto watched = run(common + path("watched"));
        QVERIFY2(watched.code == 0, watched.err.constData());
        const auto weights = contents(path("bare"));
        QVERIFY(weights.size() > 400'000);
        QVERIFY(weights == contents(path("watched")));
        const auto other = run(QStringLiteral("--no-agent --seed 5") + common + path("other"));
        QCOMPARE(other.code, 0);
        QVERIFY(weights != contents(path("other")));

        const auto summary = QJsonDocument::fromJson(watched.out).object();
        QCOMPARE(summary[QLatin1String("steps")].toInt(), 25);
        QVERIFY(summary[QLatin1String("produced")].toInt() > 25 * 200);
        QCOMPARE(summary[QLatin1String("dropped")].toInt(-1), 0);
        QVERIFY(summary[QLatin1String("monitor_ms_p50")].toDouble() > 0);
    }

    void samplesAreSaidToBeKeptOnlyWhereTheyAre_data()
    {
        QTest::addColumn<bool>("hasSpool");
        QTest::newRow("with a spool") << true;
        QTest::newRow("a file where the folder should be") << false;
    }
    void samplesAreSaidToBeKeptOnlyWhereTheyAre()
    {
        QFETCH(bool, hasSpool);
        const QString spool = path(hasSpool ? "kept" : "file");
        if (!hasSpool)
            QVERIFY(QFile(spool).open(QIODevice::WriteOnly));
        qputenv("TELLTALE_DIR", spool.toUtf8());
        const auto finished = run(QStringLiteral("--steps 3 --layers 1 --width 32"));
        qunsetenv("TELLTALE_DIR");
        QCOMPARE(finished.code, 0);
        QVERIFY2(finished.err.contains("samples did not reach the dashboard"), finished.err.constData());
        QCOMPARE(finished.err.contains("what the spool took is kept there"), hasSpool);
        QCOMPARE(
            finished.err.contains("metrics were not stored: neither the server nor the spool took them"), !hasSpool);
    }

    void stepTimesAreOneNumberALine()
    {
        const auto finished
            = run(QStringLiteral("--no-agent --steps 4 --layers 1 --width 32 --step-times ") + path("times"));
        QCOMPARE(finished.code, 0);
        const auto lines = contents(path("times")).trimmed().split('\n');
        QCOMPARE(lines.size(), 4);
        for (const auto& line : lines)
            QVERIFY(line.toLongLong() > 0);
    }

    void aBadFieldIsSaidWithWhatHoldsInstead()
    {
        QFile file(path("config.json"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(
            R"({"step_interval": 0, "ops": ["maxx", "norm"], "telltale": {"threads": 99}, "module_ranks": "all"})");
        file.close();
        const auto said
            = run(QStringLiteral("--no-agent --steps 1 --layers 1 --width 32 --config ") + file.fileName()).err;
        for (const char* end :
            { "; 1 is used\n", "from 1 to 16; 2 is used\n", "; nothing is selected by it\n", "\"max\"?\n" })
            QVERIFY2(said.contains(end), said.constData());
    }

    void oneRankOfManySaysWhichItIs()
    {
        const auto words = QProcess::splitCommand(QStringLiteral("--steps 1 --layers 1 --width 32"));
        const auto alone = finish(*start(words));
        QVERIFY2(alone.err.startsWith("step 0  loss "), alone.err.constData());
        QVERIFY(qputenv("WORLD_SIZE", "2") && qputenv("RANK", "1"));
        const auto process = start(words);
        QVERIFY(qunsetenv("WORLD_SIZE") && qunsetenv("RANK"));
        const auto ofTwo = finish(*process);
        QVERIFY2(ofTwo.err.startsWith("rank 1  step 0  loss "), ofTwo.err.constData());
    }

    void aSignalEndsTheTrainingCleanly()
    {
        const auto process = start(QProcess::splitCommand(
            QStringLiteral("--steps 1000000 --layers 1 --width 32 --weights-out ") + path("stopped")));
        process->setReadChannel(QProcess::StandardError);
        QVERIFY(process->waitForReadyRead(kDeadlineMs)); // the first progress line: it trains
        QCOMPARE(::kill(static_cast<pid_t>(process->processId()), SIGTERM), 0);
        const auto finished = finish(*process);
        QVERIFY2(finished.code == 0, finished.err.constData());
        QVERIFY(finished.err.contains("stopped by a signal after step"));
        const auto summary = QJsonDocument::fromJson(finished.out).object();
        QVERIFY(summary[QLatin1String("interrupted")].toBool());
        QVERIFY(!contents(path("stopped")).isEmpty());
    }

    void badUsageIsOneSentenceAndExitCodeTwo_data()
    {
        QTest::addColumn<QString>("arguments");
        QTest::addColumn<QString>("part");
        QTest::newRow("unknown flag") << QStringLiteral("--stepps 3") << QStringLiteral("--stepps");
        QTest::newRow("missing value") << QStringLiteral("--steps") << QStringLiteral("takes a value");
        QTest::newRow("no number") << QStringLiteral("--steps many") << QStringLiteral("many");
        QTest::newRow("width") << QStringLiteral("--width 33 --heads 4") << QStringLiteral("multiple");
        QTest::newRow("fault") << QStringLiteral("--fault boom@3") << QStringLiteral("boom");
        QTest::newRow("no step") << QStringLiteral("--fault nan") << QStringLiteral("step is missing");
        QTest::newRow("no such module") << QStringLiteral("--no-agent --steps 1 --fault nan@0:layers.9")
                                        << QStringLiteral("layers.9");
        QTest::newRow("lr has no module") << QStringLiteral("--fault lr@3:head") << QStringLiteral("no module");
        QTest::newRow("lull has no module") << QStringLiteral("--fault lull@3:head") << QStringLiteral("no module");
        QTest::newRow("no rank") << QStringLiteral("--fault nan@3:head:x") << QStringLiteral("not a rank: \"x\"");
        QTest::newRow("no such rank") << QStringLiteral("--no-agent --steps 1 --fault nan@0:head:1")
                                      << QStringLiteral("there is only rank 0");
        QTest::newRow("no matrix") << QStringLiteral("--no-agent --steps 1 --fault nan-weight@0:ln_f")
                                   << QStringLiteral("choose one of tok_emb");
        QTest::newRow("no schedule") << QStringLiteral("--schedule linear") << QStringLiteral("--schedule");
        QTest::newRow("no text") << QStringLiteral("--no-agent --text /nonexistent/text")
                                 << QStringLiteral("/nonexistent/text");
        QTest::newRow("no config") << QStringLiteral("--no-agent --config /nonexistent/c.json")
                                   << QStringLiteral("c.json");
    }
    void badUsageIsOneSentenceAndExitCodeTwo()
    {
        QFETCH(QString, arguments);
        QFETCH(QString, part);
        const auto finished = run(arguments);
        QCOMPARE(finished.code, 2);
        QVERIFY(finished.out.isEmpty());
        QVERIFY2(finished.err.startsWith("telltale-demo-trainer: ") && finished.err.contains(part.toUtf8()),
            finished.err.constData());
        QCOMPARE(finished.err.count('\n'), 1);
    }

    void flagsTakeTheirValueEitherWay()
    {
        const auto o = options({ "--steps", "12", "--seed=9", "--fault=inf@4:head", "--no-agent" });
        QVERIFY(o);
        QCOMPARE(o->steps, std::int64_t { 12 });
        QCOMPARE(o->seed, std::uint64_t { 9 });
        QVERIFY(o->fault.kind == FaultKind::Inf && o->fault.step == 4 && o->fault.module == "head");
        QVERIFY(!o->agentWanted);
    }

    void theLossFalls() { QVERIFY(trained(nullptr, {}, 120).finalLoss < 3.2); }

    void everyNamedModuleIsSeen()
    {
        RecordingSink sink;
        trained(&sink, {}, 2);
        for (const char* name : { "tok_emb", "pos_emb", "layers.0", "layers.1.ln1", "layers.1.attn",
                 "layers.1.attn.qkv", "layers.1.attn.proj", "layers.1.ln2", "layers.1.mlp", "layers.1.mlp.fc1",
                 "layers.1.mlp.fc2", "ln_f", "head" }) {
            QVERIFY2(sink.find(1, Kind::Actv, name, "output"), name);
            QVERIFY2(sink.find(1, Kind::ActvGrad, name, "output"), name);
        }
        QVERIFY(sink.find(1, Kind::GradUnreduced, "layers.0.attn.qkv.weight"));
        QVERIFY(sink.find(1, Kind::ExpAvgSq, "layers.0.attn.qkv.weight"));
        QVERIFY(sink.value(1, Kind::Attention, "layers.0.attn", "head_1"));
        for (const char* name : { "loss", "lr", "grad-norm", "tokens_per_s" })
            QVERIFY2(sink.value(1, Kind::Scalar, name), name);
        QVERIFY(sink.events.empty());
    }

    void nanAppearsFirstAtItsStepAndModule()
    {
        RecordingSink sink;
        trained(&sink, "nan@3:layers.1.ln2", 5);
        QCOMPARE(sink.find(2, Kind::Actv, "layers.1.ln2", "output")->nans, std::uint64_t { 0 });
        QCOMPARE(sink.find(3, Kind::Actv, "layers.1.ln2", "output")->nans, std::uint64_t { 1 });
        QCOMPARE(sink.find(3, Kind::Actv, "layers.1.attn", "output")->nans, std::uint64_t { 0 });
        QVERIFY(sink.find(3, Kind::Actv, "layers.1.mlp.fc1", "output")->nans > 0);
        QCOMPARE(sink.find(3, Kind::ParamOrigin, "head.weight")->nans, std::uint64_t { 0 });
        QVERIFY(sink.find(4, Kind::ParamOrigin, "layers.0.attn.qkv.weight")->nans > 0);
        QVERIFY(std::isnan(*sink.value(3, Kind::Scalar, "loss")));
    }

    void infAndSpikeStrikeOnce()
    {
        RecordingSink inf;
        trained(&inf, "inf@1:layers.0.mlp.fc2", 2);
        QCOMPARE(inf.find(1, Kind::Actv, "layers.0.mlp.fc2", "output")->pos_infs, std::uint64_t { 1 });
        RecordingSink spike;
        trained(&spike, "spike@2", 4);
        const auto norm
            = [&](std::int64_t step) { return spike.find(step, Kind::Actv, "layers.1.mlp.fc1", "output")->norm; };
        QVERIFY(norm(2) > 500 * norm(1));
        QVERIFY(norm(3) < 10 * norm(1));
        QCOMPARE(spike.find(3, Kind::ParamUpdated, "head.weight")->nans, std::uint64_t { 0 });
    }

    void aFrozenModuleStopsMovingAndLosesItsGradient()
    {
        RecordingSink sink;
        trained(&sink, "freeze@2:layers.0.mlp", 5);
        const auto norm
            = [&](std::int64_t step, const char* name) { return sink.find(step, Kind::ParamUpdated, name)->norm; };
        QVERIFY(norm(1, "layers.0.mlp.fc1.weight") != norm(0, "layers.0.mlp.fc1.weight"));
        QCOMPARE(norm(4, "layers.0.mlp.fc1.weight"), norm(1, "layers.0.mlp.fc1.weight"));
        QVERIFY(norm(4, "layers.1.mlp.fc1.weight") != norm(1, "layers.1.mlp.fc1.weight"));
        QVERIFY(sink.find(1, Kind::GradUnreduced, "layers.0.mlp.fc1.weight"));
        QVERIFY(!sink.find(2, Kind::GradUnreduced, "layers.0.mlp.fc1.weight"));
        QVERIFY(!sink.find(2, Kind::GradReduced, "layers.0.mlp.fc1.weight"));
    }

    void attentionEntropyCollapsesInItsLayerOnly()
    {
        RecordingSink sink;
        trained(&sink, "entropy-collapse@5:layers.0.attn", 60);
        const auto entropy
            = [&](std::int64_t step, const char* name) { return *sink.value(step, Kind::Attention, name, "head_0"); };
        QVERIFY(entropy(4, "layers.0.attn") > 2.5);
        QVERIFY(entropy(59, "layers.0.attn") < 0.6 * entropy(4, "layers.0.attn"));
        QVERIFY(entropy(59, "layers.1.attn") > 0.8 * entropy(4, "layers.1.attn"));
    }

    void queriesAndKeysGrowAndTheirScoresWithThem()
    {
        RecordingSink sink;
        RecordingSink clean;
        trained(&sink, "logit-growth@3:layers.0.attn", 5);
        trained(&clean, {}, 5);
        const auto logit = [](RecordingSink& from, std::int64_t step) {
            return *from.value(step, Kind::Attention, "layers.0.attn", "head_0", 2);
        };
        QCOMPARE(logit(sink, 2), logit(clean, 2));
        const double factor = logit(sink, 3) / logit(clean, 3);
        QVERIFY2(std::abs(factor - 1.02 * 1.02) < 1e-4, qPrintable(QString::number(factor)));
    }

    void theLearningRateJumps()
    {
        RecordingSink sink;
        trained(&sink, "lr@3", 5);
        const auto rate = [&](std::int64_t step) { return *sink.value(step, Kind::Scalar, "lr"); };
        for (const std::int64_t step : { 3, 4 }) // in the warm-up, which goes on
            QCOMPARE(rate(step), 10 * rate(2) * static_cast<double>(step + 1) / 3);
    }

    void anOutputIsZeroForGoodAndOneElementFlips()
    {
        RecordingSink zero;
        trained(&zero, "zero@2:layers.0.mlp", 5);
        for (const std::int64_t step : { 1, 2, 3, 4 }) {
            const auto output = *zero.find(step, Kind::Actv, "layers.0.mlp", "output");
            QCOMPARE(output.zero_count == output.numel, step >= 2);
        }
        RecordingSink flip;
        trained(&flip, "flip-output@2", 4);
        const auto least
            = [&](std::int64_t step, const char* name) { return flip.find(step, Kind::Actv, name, "output")->min; };
        QVERIFY(least(2, "layers.1.mlp.fc1") < -1e30f && least(2, "layers.1.mlp.fc2") > -1e3f);
        QVERIFY(least(1, "layers.1.mlp.fc1") > -10 && least(3, "layers.1.mlp.fc1") > -10);
        QVERIFY(std::isfinite(*flip.value(3, Kind::Scalar, "loss")));
    }

    void aNanArisesInABackwardPassAlone()
    {
        RecordingSink sink;
        trained(&sink, "nan-backward@2:layers.1.mlp.fc2", 3);
        QCOMPARE(sink.find(2, Kind::Actv, "head", "output")->nans, std::uint64_t { 0 });
        QCOMPARE(sink.find(2, Kind::ActvGrad, "layers.1.mlp.fc2", "output")->nans, std::uint64_t { 0 });
        QVERIFY(sink.find(2, Kind::ActvGrad, "layers.1.mlp.fc1", "output")->nans > 0);
        const auto nans
            = [&](std::int64_t step, const char* name) { return sink.find(step, Kind::GradUnreduced, name)->nans; };
        QCOMPARE(nans(1, "layers.1.mlp.fc2.weight"), std::uint64_t { 0 });
        QCOMPARE(nans(2, "layers.1.mlp.fc2.bias"), std::uint64_t { 1 });
        QVERIFY(nans(2, "layers.1.mlp.fc2.weight") > 0);
        QCOMPARE(nans(2, "head.weight"), std::uint64_t { 0 });
    }

    void oneWeightBreaksOrFlipsBeforeAStep()
    {
        RecordingSink broken;
        trained(&broken, "nan-weight@2", 3);
        QCOMPARE(broken.find(1, Kind::ParamUpdated, "layers.1.mlp.fc2.weight")->nans, std::uint64_t { 0 });
        QCOMPARE(broken.find(2, Kind::ParamOrigin, "layers.1.mlp.fc2.weight")->nans, std::uint64_t { 1 });
        RecordingSink flipped;
        trained(&flipped, "flip-weight@2:layers.0.mlp.fc1", 4);
        for (const std::int64_t step : { 1, 2, 3 }) {
            const auto before = *flipped.find(step - 1, Kind::ParamUpdated, "layers.0.mlp.fc1.weight");
            const auto after = *flipped.find(step, Kind::ParamOrigin, "layers.0.mlp.fc1.weight");
            QCOMPARE(after.sum != before.sum, step == 2);
            QVERIFY(std::abs(after.norm - before.norm) < 1e-3f * before.norm); // no norm shows it
        }
    }

    void queriesGrowByTwoPercentAStep()
    {
        RecordingSink sink;
        trained(&sink, "query-growth@2:layers.0.attn", 6);
        for (const std::int64_t step : { 1, 2, 3, 4, 5 }) {
            const double before = sink.find(step - 1, Kind::ParamUpdated, "layers.0.attn.qkv.weight")->sumsq;
            const double growth = sink.find(step, Kind::ParamOrigin, "layers.0.attn.qkv.weight")->sumsq / before - 1;
            if (step < 2)
                QCOMPARE(growth, 0.0);
            else // of about a third of the sum
                QVERIFY2(growth > 0.0404 / 4 && growth < 0.0404 / 2, qPrintable(QString::number(growth)));
        }
    }

    void gradientsSpikeInTheirModuleAndAreTinyBeforeALullEnds()
    {
        RecordingSink spike;
        trained(&spike, "grad-spike@2:layers.0.mlp.fc1", 4);
        const auto norm = [](RecordingSink& sink, std::int64_t step, const char* name) {
            return sink.find(step, Kind::GradUnreduced, name)->norm;
        };
        const char* struck = "layers.0.mlp.fc1.weight";
        QVERIFY(norm(spike, 2, struck) > 30 * norm(spike, 1, struck));
        QVERIFY(norm(spike, 3, struck) < 3 * norm(spike, 1, struck));
        QVERIFY(norm(spike, 2, "layers.0.mlp.fc2.weight") < 3 * norm(spike, 1, "layers.0.mlp.fc2.weight"));
        RecordingSink lull;
        trained(&lull, "lull@3", 5);
        for (const std::int64_t step : { 0, 1, 2 })
            QVERIFY(norm(lull, 3, "head.weight") > 300 * norm(lull, step, "head.weight"));
        QVERIFY(norm(lull, 4, "head.weight") > norm(lull, 3, "head.weight") / 3);
        QVERIFY(*lull.value(2, Kind::Scalar, "loss") > 1);
    }

    void aBatchIsOneTokenAndMomentsAreForgotten()
    {
        RecordingSink token;
        trained(&token, "repeated-token@2", 4);
        for (const std::int64_t step : { 1, 2, 3 }) {
            const auto rows = *token.find(step, Kind::GradUnreduced, "tok_emb.weight");
            QCOMPARE(rows.numel - rows.zero_count <= 32, step == 2); // the row of one token, of the test's width
        }
        RecordingSink reset;
        trained(&reset, "reset-moments@3", 5);
        const auto moment = [&](std::int64_t step) { return reset.find(step, Kind::ExpAvgSq, "head.weight"); };
        QVERIFY(moment(2) && !moment(3) && moment(4));
        QVERIFY(moment(4)->norm < moment(2)->norm * 2);
    }

    void aFaultIsOfTheRankThatItNames()
    {
        const auto here = parseFault("nan@3:layers.1.ln2:0"), there = parseFault("lr@2:1"),
                   all = parseFault("nan@3:head");
        QVERIFY(here && here->module == "layers.1.ln2" && here->rank == 0);
        QVERIFY(there && there->module.empty() && there->rank == 1);
        QVERIFY(all && !all->rank);
        qputenv("WORLD_SIZE", "2");
        const double spared = trained(nullptr, "nan@1:head:1", 3).finalLoss;
        const double struck = trained(nullptr, "nan@1:head:0", 3).finalLoss;
        qunsetenv("WORLD_SIZE");
        QCOMPARE(spared, trained(nullptr, {}, 3).finalLoss);
        QVERIFY(std::isnan(struck));
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, DemoTrainerTest)

}

#include "demotrainertest.moc"
