// SPDX-License-Identifier: GPL-3.0-or-later
#include <cmath>

#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

#include "madeuptraining.h"
#include "verbcall.h"

using namespace telltale;
using namespace telltale::test;

namespace {

using Value = std::function<double(int, int, Kind, const std::string&, double)>;

}

/// `telltale compare`: where two trainings part. Thread: test.
class CompareTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        write("reference", {});
        write("again", {});
        // From step 120 on: a gradient first, and what follows from it.
        write("parted", [](int rank, int step, Kind kind, const std::string& name, double usual) {
            const bool isFirst = step == 120 && kind == Kind::GradReduced && name == "layers.2.fc.weight" && rank == 1;
            const bool follows = step == 120 && kind == Kind::ParamUpdated;
            return isFirst || follows || step > 120 ? usual * 1.001 : usual;
        });
        write("broken", [](int, int step, Kind kind, const std::string& name, double usual) {
            return step == 90 && kind == Kind::GradReduced && name == "layers.1.fc.weight" ? kNaN : usual;
        });
        write("longer", {}, 260);
        write("fewer", {}, 200, 1);
    }

    void theSameTrainingIsEqual()
    {
        const auto json = compare({ path("reference"), path("again"), "--json" });
        QVERIFY(json["equal"].get<bool>());
        QCOMPARE(json["differing"].get<int>(), 0);
        QVERIFY(json["compared"].get<int>() > 10000);
        QCOMPARE(json["unmatched"].get<int>(), 0);
        QCOMPARE(json["only_in_a"].get<int>() + json["only_in_b"].get<int>(), 0);
        QCOMPARE(json["sentence"].get<std::string>(), std::string("Equal at all steps from 0 to 199."));
        QCOMPARE(call(app::compareVerb, { path("reference"), path("again"), "--fail" }).code, 0);
    }

    void whatPartsFirstIsNamedInTheOrderOfAStep()
    {
        const auto json = compare({ path("reference"), path("parted"), "--json" });
        QVERIFY(!json["equal"].get<bool>());
        const auto& first = json["first"][0];
        QCOMPARE(first["step"].get<int>(), 120);
        QCOMPARE(first["name"].get<std::string>(), std::string("layers.2.fc.weight"));
        QCOMPARE(first["kind"].get<std::string>(), std::string("grad_reduced"));
        QCOMPARE(first["rank"].get<int>(), 1);
        QVERIFY(std::abs(first["relative"].get<double>() - 0.001) < 1e-4);
        QCOMPARE(json["first"][1]["kind"].get<std::string>(), std::string("param_updated"));
        // One gradient, and the weights of two ranks.
        QCOMPARE(json["first_count"].get<int>(), 1 + 2 * 4);
        QVERIFY(json["sentence"].get<std::string>().starts_with(
            "Equal until step 119; first: step 120, rank 1, layers.2.fc.weight, grad_reduced norm: "));
        QCOMPARE(call(app::compareVerb, { path("reference"), path("parted"), "--fail" }).code, 1);
        QCOMPARE(call(app::compareVerb, { path("reference"), path("parted") }).code, 0);
        const Outcome text = call(app::compareVerb, { path("reference"), path("parted") });
        QVERIFY2(text.out.find("9 values differ at that step") != std::string::npos, text.out.c_str());
    }

    void aToleranceTakesAsEqualWhatIsNear()
    {
        QVERIFY(compare({ path("reference"), path("parted"), "--tolerance", "0.01", "--json" })["equal"].get<bool>());
        QVERIFY(!compare({ path("reference"), path("parted"), "--tolerance", "1e-4", "--json" })["equal"].get<bool>());
        for (const char* bad : { "", "x", "-1", "nan", "1e-6x", "2" }) {
            const Outcome said = call(app::compareVerb, { path("reference"), path("again"), "--tolerance", bad });
            QCOMPARE(said.code, 2);
            QVERIFY2(said.err.find("--tolerance") != std::string::npos, said.err.c_str());
        }
    }

    void aNaNDiffersFromANumberAndNotFromItself()
    {
        const auto json = compare({ path("reference"), path("broken"), "--json" });
        QCOMPARE(json["first"][0]["step"].get<int>(), 90);
        QCOMPARE(json["first"][0]["b"].get<std::string>(), std::string("NaN"));
        QVERIFY(json["first"][0]["relative"].is_null());
        QVERIFY(compare({ path("broken"), path("broken"), "--json" })["equal"].get<bool>());
        // No tolerance takes it for a number.
        QVERIFY(!compare({ path("reference"), path("broken"), "--tolerance", "0.99", "--json" })["equal"].get<bool>());
    }

    void onlyWhatBothHaveIsCompared()
    {
        const auto longer = compare({ path("reference"), path("longer"), "--json" });
        QVERIFY(longer["equal"].get<bool>());
        QCOMPARE(longer["steps"][1].get<int>(), 199);
        const auto fewer = compare({ path("reference"), path("fewer"), "--json" });
        QVERIFY(fewer["equal"].get<bool>());
        QVERIFY(fewer["only_in_a"].get<int>() > 0);
        QCOMPARE(fewer["only_in_b"].get<int>(), 0);
    }

    void aPartIsComparedAlone()
    {
        const auto kind = compare({ path("reference"), path("parted"), "--kind", "param_updated", "--json" });
        QCOMPARE(kind["kinds"].size(), std::size_t { 1 });
        QCOMPARE(kind["first"][0]["kind"].get<std::string>(), std::string("param_updated"));
        QVERIFY(compare({ path("reference"), path("parted"), "--steps", "0:119", "--json" })["equal"].get<bool>());
        const auto one = compare({ path("reference"), path("parted"), "--modules", "layers.0.*", "--json" });
        QVERIFY(one["first"][0]["name"].get<std::string>().starts_with("layers.0."));
        const Outcome none = call(app::compareVerb, { path("reference"), path("again"), "--kind", "comm" });
        QCOMPARE(none.code, 2);
        QVERIFY(none.err.find("nothing in common") != std::string::npos);
        QCOMPARE(call(app::compareVerb, { path("reference"), path("again"), "--steps", "900:" }).code, 2);
    }

private:
    std::string path(const char* name) const { return m_dir.path().toStdString() + '/' + name + ".telltale"; }
    static nlohmann::json compare(std::vector<std::string> words)
    {
        const Outcome said = call(app::compareVerb, std::move(words));
        if (said.code != 0)
            qWarning("%s", said.err.c_str());
        return said.json();
    }
    void write(const char* name, const Value& value, int steps = 200, int ranks = 2) const
    {
        CapsuleBuilder builder(path(name), name);
        Training training;
        training.ranks = ranks;
        training.steps = steps;
        if (value)
            training.value = value;
        training.write(builder);
        builder.finish();
    }

    QTemporaryDir m_dir;
};

QTEST_GUILESS_MAIN(CompareTest)
#include "comparetest.moc"
