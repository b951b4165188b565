// SPDX-License-Identifier: GPL-3.0-or-later
// A training that is started again, held against the attempt before it.
#include "testmain.h"

#include "judged.h"

namespace judgeattemptstest {

using namespace telltale;
using namespace telltale::judge;
using telltale::test::CapsuleBuilder;
using telltale::test::kNaN;
using telltale::test::summary;
using telltale::test::Training;

namespace {

Training withMoments()
{
    Training training;
    training.kinds = { Kind::ParamOrigin, Kind::Actv, Kind::GradReduced, Kind::ExpAvg, Kind::ExpAvgSq,
        Kind::ParamUpdated, Kind::Scalar };
    // What a step leaves, the next one finds.
    training.value = [](int, int step, Kind kind, const std::string& name, double usual) {
        const bool isWeight = kind == Kind::ParamOrigin || kind == Kind::ParamUpdated;
        return isWeight ? 10 + static_cast<double>(name.size()) + 0.01 * (step + (kind == Kind::ParamUpdated ? 1 : 0))
                        : usual;
    };
    return training;
}

/// Steps 0 to 199 by one, and from `from` on by the other.
std::vector<Incident> incidentsOfBoth(const Training& first, const Training& second, int from)
{
    const QTemporaryDir dir;
    CapsuleBuilder builder(dir.path().toStdString() + "/run.telltale");
    first.write(builder, builder.addAttempt(Rank { 0 }, 0), 0, 0, 200);
    second.write(builder, builder.addAttempt(Rank { 0 }, 1), 0, from, 300);
    builder.finish();
    const auto reader = CapsuleBuilder::must(store::openReader(builder.handle()));
    RunJudge judge;
    CapsuleBuilder::must(judge.judgeAll(*reader));
    // As it is recorded: a few steps at a time.
    const auto live = CapsuleBuilder::must(store::openReader(builder.handle()));
    RunJudge following;
    for (int step = 0; step < 300; step += 7)
        CapsuleBuilder::must(following.advance(*live, { Step { step }, Step { step + 6 } }));
    if (summary(following.incidents()) != summary(judge.incidents()))
        qFatal("followed: %s, again: %s", summary(following.incidents()).c_str(), summary(judge.incidents()).c_str());
    return judge.incidents();
}

Training times(Kind kind, const char* name, double factor)
{
    Training training = withMoments();
    const auto usually = training.value;
    training.value = [=](int rank, int step, Kind of, const std::string& text, double usual) {
        const double value = usually(rank, step, of, text, usual);
        return of == kind && text == name ? value * factor : value;
    };
    return training;
}

}

class JudgeAttemptsTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void oneThatGoesOnWithAllOfItsStateIsNoIncident()
    {
        QCOMPARE(summary(incidentsOfBoth(withMoments(), withMoments(), 150)), std::string());
        QCOMPARE(summary(incidentsOfBoth(withMoments(), withMoments(), 200)), std::string());
    }

    void anotherLearningRateIsTold()
    {
        for (const int from : { 150, 200 }) {
            const auto incidents = incidentsOfBoth(withMoments(), times(Kind::Scalar, "lr", 10), from);
            QCOMPARE(summary(incidents), "attempt lr@" + std::to_string(from) + "/0");
            QVERIFY2(incidents.front().sentence.find("the learning rate is 0.01, and was 0.001") != std::string::npos,
                incidents.front().sentence.c_str());
            QVERIFY(incidents.front().first.severity == store::Severity::Warning);
        }
        const auto lower = incidentsOfBoth(withMoments(), times(Kind::Scalar, "lr", 0.5), 150);
        QVERIFY(lower.size() == 1 && lower.front().first.severity == store::Severity::Notice);
    }

    void momentsThatAreGoneAreTold()
    {
        Training without = withMoments();
        without.collects
            = [](int step, Kind kind) { return step != 150 || (kind != Kind::ExpAvg && kind != Kind::ExpAvgSq); };
        const auto incidents = incidentsOfBoth(withMoments(), without, 150);
        QCOMPARE(summary(incidents), std::string("attempt layers.0.fc.weight@150/0"));
        QVERIFY2(incidents.front().sentence.find("the optimizer has no first moments, which 4 tensors had")
                != std::string::npos,
            incidents.front().sentence.c_str());
        QVERIFY(incidents.front().phase == Phase::Optimizer);
        // What is not collected any more is nothing that is gone.
        without.kinds = { Kind::ParamOrigin, Kind::Actv, Kind::GradReduced, Kind::ParamUpdated, Kind::Scalar };
        QCOMPARE(summary(incidentsOfBoth(withMoments(), without, 150)), std::string());
    }

    void otherMomentsAndWeightsAreTold()
    {
        QCOMPARE(summary(incidentsOfBoth(withMoments(), times(Kind::ExpAvgSq, "layers.2.fc.weight", 3), 150)),
            std::string("attempt layers.2.fc.weight@150/0"));
        const Training other = times(Kind::ParamOrigin, "layers.1.fc.weight", 1.05);
        const auto incidents = incidentsOfBoth(withMoments(), other, 150);
        QCOMPARE(summary(incidents), std::string("attempt layers.1.fc.weight@150/0"));
        QVERIFY(incidents.front().phase == Phase::Weight);
        QVERIFY2(incidents.front().sentence.find("the norms of 1 of 4 weights are others") != std::string::npos,
            incidents.front().sentence.c_str());
        QCOMPARE(summary(incidentsOfBoth(withMoments(), other, 200)), std::string("attempt layers.1.fc.weight@200/0"));
        // Steps that nobody has seen may lie between.
        QCOMPARE(summary(incidentsOfBoth(withMoments(), other, 230)), std::string());
    }

    void whatWentWrongBeforeIsNoCauseOfWhatDoesNow()
    {
        Training bad = withMoments();
        const auto usually = bad.value;
        bad.value = [usually](int rank, int step, Kind kind, const std::string& name, double usual) {
            return step >= 195 && kind == Kind::Actv ? kNaN : usually(rank, step, kind, name, usual);
        };
        const auto incidents = incidentsOfBoth(bad, bad, 150);
        QCOMPARE(summary(incidents), std::string("nonfinite layers.0:input@195/0; nonfinite layers.0:input@195/0"));
        QVERIFY(incidents[0].key != incidents[1].key);
        QVERIFY(incidents[0].isOver && incidents[0].lastStep == Step { 199 } && !incidents[1].isOver);
        const auto recovered = incidentsOfBoth(bad, times(Kind::Scalar, "lr", 10), 150);
        QCOMPARE(summary(recovered), std::string("nonfinite layers.0:input@195/0; attempt lr@150/0"));
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, JudgeAttemptsTest)

}

#include "judgeattemptstest.moc"
