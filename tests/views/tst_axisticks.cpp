// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <algorithm>
#include <array>
#include <random>
#include <set>

#include <QFontMetricsF>
#include <QImage>
#include <QPainter>

#include <telltale/common/axispainter.h>
#include <telltale/common/eventmark.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/labels.h>
#include <telltale/common/sharedaxis.h>
#include <telltale/common/theme.h>
#include <telltale/common/valuescale.h>

namespace tst_axisticks {

using namespace telltale;
using namespace telltale::views;

class AxisTicks : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void stepLabelsNeverOverlap()
    {
        std::mt19937_64 random(7);
        const QFontMetricsF metrics(numberFont(11));
        for (int round = 0; round < 4000; ++round) {
            const int width = std::uniform_int_distribution<int>(1, 4000)(random);
            const auto magnitude = std::uniform_int_distribution<int>(0, 40)(random);
            const auto first = static_cast<std::int64_t>(random() % (1ULL << magnitude));
            const auto count
                = 1 + static_cast<std::int64_t>(random() % (1ULL << std::uniform_int_distribution<int>(0, 40)(random)));
            const StepRange range { Step { first }, Step { first + count - 1 } };
            double end = -1e9;
            std::int64_t last = -1;
            for (const SharedAxis::Tick& tick : SharedAxis::ticksFor(range, width)) {
                const double half = metrics.horizontalAdvance(formatStep(tick.step)) / 2;
                QVERIFY(tick.x - half > end);
                QVERIFY(range.contains(Step { tick.step }));
                QVERIFY(tick.step > last);
                end = tick.x + half;
                last = tick.step;
            }
        }
    }

    void everyStepLiesUnderItsOwnPixel()
    {
        const StepRange range { Step { 100 }, Step { 299 } };
        for (std::int64_t step = 100; step < 300; ++step) {
            const double x = SharedAxis::xOfStep(range, Step { step }, 800);
            QCOMPARE(static_cast<std::int64_t>(x * 200 / 800) + 100, step);
        }
    }

    void valueLabelsAreFewApartAndInside()
    {
        std::mt19937 random(9);
        std::uniform_real_distribution<double> exponent(-12, 12);
        for (int round = 0; round < 6000; ++round) {
            const auto mode = static_cast<ValueScale::Mode>(round % 3);
            double low = std::pow(10, exponent(random)) * (mode == ValueScale::Mode::Log || round % 2 ? 1 : -1);
            const double high = low + std::pow(10, exponent(random));
            const ValueScale scale(mode, low, high);
            const int length = std::uniform_int_distribution<int>(20, 900)(random);
            const auto ticks = scale.ticks(length);
            QVERIFY(ticks.size() <= 6);
            double last = -1e9;
            for (const ValueScale::Tick& tick : ticks) {
                const double at = scale.unitOf(tick.value) * length;
                QVERIFY(at >= -0.6 && at <= length + 0.6);
                QVERIFY(at - last >= 14);
                QVERIFY(!tick.label.isEmpty());
                last = at;
            }
        }
    }

    void neighboringLabelsDiffer()
    {
        for (const double base : { 1.0, 1000.0, 31000.0, 2.5e-5 }) {
            for (const auto& [mode, factor] : { std::pair(ValueScale::Mode::Linear, 1.0007),
                     std::pair(ValueScale::Mode::Log, 1.0007), std::pair(ValueScale::Mode::Log, 1.65) }) {
                const auto ticks = ValueScale(mode, base, base * factor).ticks(300);
                QVERIFY(ticks.size() > 1);
                for (std::size_t i = 1; i < ticks.size(); ++i)
                    QVERIFY2(ticks[i].label != ticks[i - 1].label, qPrintable(ticks[i].label));
            }
        }
    }

    void decadesReadAsTheDesignWritesThem()
    {
        const auto ticks = ValueScale(ValueScale::Mode::Log, 1, 1e5).ticks(200);
        QStringList labels;
        for (const ValueScale::Tick& tick : ticks)
            labels << tick.label;
        QCOMPARE(labels,
            QStringList({ QStringLiteral("1"), QStringLiteral("10"), QStringLiteral("100"), QStringLiteral("1e3"),
                QStringLiteral("1e4"), QStringLiteral("1e5") }));
    }

    /// Also where a plot has room for two numbers, and what it shows is no whole decade.
    void theDecadeInAShortLogAxisIsNamed()
    {
        for (int length = 60; length <= 100; length += 8) {
            for (double low = 0.11; low < 1; low += 0.013) {
                for (double high = low * 1.3; high < low * 10; high += low * 0.17) {
                    const auto ticks = ValueScale(ValueScale::Mode::Log, low, high).ticks(length);
                    const QByteArray place = QByteArray::number(low) + " to " + QByteArray::number(high);
                    QVERIFY2(ticks.size() > 1, place.constData());
                    QVERIFY2(high < 1
                            || std::any_of(ticks.begin(), ticks.end(),
                                [](const ValueScale::Tick& tick) { return tick.value == 1; }),
                        place.constData());
                }
            }
        }
        QStringList labels;
        for (const ValueScale::Tick& tick : ValueScale(ValueScale::Mode::Log, 600, 4300).ticks(60))
            labels << tick.label;
        QCOMPARE(labels, QStringList({ formatStep(1000), formatStep(2000), formatStep(4000) }));
        labels.clear();
        for (const ValueScale::Tick& tick : ValueScale(ValueScale::Mode::Log, 0.36, 2.5).ticks(75))
            labels << tick.label;
        QVERIFY2(labels.contains(QStringLiteral("0.5")), qPrintable(labels.join(u' '))); // else its lower half had none
    }

    void ticksAcrossAThousandthAreWrittenAlike()
    {
        QStringList labels;
        for (const ValueScale::Tick& tick : ValueScale(ValueScale::Mode::Linear, 0, 0.00105).ticks(140, 22))
            labels << tick.label;
        QVERIFY(labels.contains(QStringLiteral("1e-3")));
        QVERIFY(labels.contains(QStringLiteral("8e-4")));
        QCOMPARE(formatTick(0.004, 0.002), QStringLiteral("0.004"));
        for (const auto mode : { ValueScale::Mode::Log, ValueScale::Mode::Symlog }) {
            for (const ValueScale::Tick& tick : ValueScale(mode, 2e-4, 5.6e-3).ticks(210, 30))
                QVERIFY2(tick.label.contains(QLatin1Char('e')), qPrintable(tick.label)); // 5e-3 as 2e-3
        }
        // A learning rate of a thousandth reads so on every axis.
        QCOMPARE(formatTick(0.001, 0.001), formatTick(0.001, 0.0005));
    }

    void theTicksOfALogAxisAreOfOneForm()
    {
        const auto labelsOf = [](const ValueScale& scale, int length) {
            QStringList labels;
            for (const ValueScale::Tick& tick : scale.ticks(length))
                labels << tick.label;
            return labels.join(u' ');
        };
        constexpr auto kLog = ValueScale::Mode::Log;
        QCOMPARE(labelsOf({ kLog, 1e-3, 1 }, 90), QStringLiteral("0.001 0.01 0.1 1"));
        QCOMPARE(labelsOf({ kLog, 9e-4, 0.04 }, 100), QStringLiteral("0.001 0.003 0.01 0.03"));
        QCOMPARE(labelsOf({ kLog, 1e-4, 1 }, 150), QStringLiteral("1e-4 1e-3 1e-2 1e-1 1"));
        QCOMPARE(labelsOf({ kLog, 1e-5, 1e-2 }, 100), QStringLiteral("1e-5 1e-4 1e-3 1e-2"));
        QCOMPARE(labelsOf(ValueScale(kLog, 1e-5, 1e-2).ofShares(), 100),
            QString(QStringLiteral("0.001_% 0.01_% 0.1_% 1_%")).replace(u'_', QChar(0x00A0)));
        QCOMPARE(labelsOf({ kLog, 100, 5000 }, 100),
            QStringList({ QStringLiteral("100"), QStringLiteral("300"), formatStep(1000), formatStep(3000) })
                .join(u' '));
        QCOMPARE(labelsOf({ kLog, 1, 1000 }, 100), QStringLiteral("1 10 100 ") + formatStep(1000));
        QCOMPARE(labelsOf(ValueScale(kLog, 1e-5, 1).ofShares(), 100).count(u'e'), 0);
        // Evenly numbered ones too.
        constexpr auto kLinear = ValueScale::Mode::Linear;
        QCOMPARE(labelsOf({ kLinear, 0, 0.005 }, 150), QStringLiteral("0 0.001 0.002 0.003 0.004 0.005"));
        QCOMPARE(labelsOf({ kLinear, 8000, 12000 }, 120), QStringLiteral("8e3 9e3 1e4 1.1e4 1.2e4"));
        // With the ends named beside them they are as those have to be.
        const auto beside = ValueScale(kLog, 9e-4, 0.5).ticks(100, 30, 6, true);
        QCOMPARE(beside.back().label, QStringLiteral("1e-1"));
        QCOMPARE(ValueScale(kLog, 2e-3, 0.5).ticks(100, 30, 6, true).back().label, QStringLiteral("0.1"));
        // A label keeps the figures that it has.
        QCOMPARE(formatTick(0.0042, 1e-4, false), QStringLiteral("0.0042"));
        QCOMPARE(formatTick(-0.35, 0.01, true), QStringLiteral("\u22123.5e-1"));
        // Of any range there are no two that mix.
        std::mt19937 random(4);
        std::uniform_real_distribution<double> exponent(-7, 7);
        for (int round = 0; round < 4000; ++round) {
            const double low = std::pow(10, exponent(random));
            const ValueScale scale(
                round % 2 ? kLog : ValueScale::Mode::Symlog, low, low * std::pow(10, std::abs(exponent(random))));
            bool hasPowers = false;
            bool hasOthers = false;
            for (const ValueScale::Tick& tick : scale.ticks(20 + round % 300)) {
                const bool isPower = tick.label.contains(u'e');
                hasPowers = hasPowers || isPower;
                hasOthers = hasOthers || (!isPower && tick.value > 0 && (tick.value < 1 || tick.value >= 1000));
                const QString number = QString(tick.label).remove(QChar(0x202F)).replace(QChar(0x2212), u'-');
                QVERIFY2(
                    std::abs(number.toDouble() - tick.value) <= 1e-6 * std::abs(tick.value), qPrintable(tick.label));
            }
            QVERIFY2(!hasPowers || !hasOthers, qPrintable(labelsOf(scale, 20 + round % 300)));
        }
    }

    void aSymlogAxisNamesBothItsEnds()
    {
        for (const auto& [low, high] : { std::pair(0.02, 0.6), std::pair(-0.7, -0.03), std::pair(-0.3, 0.6) }) {
            for (const double linear : { 0.0, 0.01, 0.1, 0.3 }) {
                const ValueScale scale(ValueScale::Mode::Symlog, low, high, linear);
                const auto ticks = scale.ticks(480);
                const QByteArray place = QByteArray::number(low) + " linear " + QByteArray::number(linear);
                QVERIFY2(ticks.size() >= 3, place.constData());
                QVERIFY2(scale.unitOf(ticks.front().value) < 0.35, place.constData());
                QVERIFY2(scale.unitOf(ticks.back().value) > 0.65, place.constData());
            }
        }
    }

    void aSymlogAxisOfOneDecadeLooksLikeNoLinearOne()
    {
        for (const int length : { 150, 200, 480 }) {
            std::set<double> magnitudes;
            for (const ValueScale::Tick& tick : ValueScale(ValueScale::Mode::Symlog, -0.2433, 0.2433).ticks(length))
                magnitudes.insert(std::abs(tick.value));
            magnitudes.erase(0);
            QVERIFY2(magnitudes.size() >= 2, qPrintable(QString::number(length)));
        }
    }

    void cutLabelsOfDifferentRowsDiffer()
    {
        const QFontMetricsF metrics(codeFont(11));
        std::vector<QString> texts;
        for (int head = 0; head < 16; ++head)
            texts.push_back(QStringLiteral("blocks.0.attn.core head_%1 mean over queries").arg(head));
        texts.push_back(QStringLiteral("head"));
        for (const double width : { 60.0, 86.0, 130.0 }) {
            const auto fitted = fitLabels(texts, metrics, width);
            QCOMPARE(std::set<QString>(fitted.begin(), fitted.end()).size(), texts.size());
            QCOMPARE(fitted.back(), QStringLiteral("head"));
            for (const QString& text : fitted)
                QVERIFY2(metrics.horizontalAdvance(text) <= width + 1, qPrintable(text));
        }
        QVERIFY(fitLabels(texts, metrics, 86)[3].contains(QStringLiteral("head_3")));
        // Layers that are alike but for what is cut keep their number and what tells their parts apart.
        std::vector<QString> layers;
        for (int layer = 0; layer < 12; ++layer) {
            for (const char* part : { "fc1.weight", "fc2.weight", "fc2.bias" })
                layers.push_back(QStringLiteral("%1.mlp.experts.%2").arg(layer).arg(QLatin1String(part)));
        }
        QCOMPARE(fitLabels(layers, metrics, 108)[34], QStringLiteral("L11 \u2026fc2.weight"));
        QCOMPARE(fitLabels(layers, metrics, 400)[34], layers[34]);
        // Without a number the front goes, and what fits stays whole.
        const QString deep = QStringLiteral("model.decoder.embed.tokens");
        QCOMPARE(fitLabels({ deep, QStringLiteral("model.decoder.head") }, metrics, 86),
            (std::vector { QStringLiteral("\u2026embed.tokens"), QStringLiteral("\u2026decoder.head") }));
        QCOMPARE(fitLabels({ deep }, metrics, 86).front(), QStringLiteral("\u2026embed.tokens"));
        // Runs of one name are told apart by their numbers, however long the name is.
        const QString run = QStringLiteral("a-long-name-of-a-run #c6c2a041");
        for (const QString& text : fitLabels({ run, run }, metrics, 110))
            QCOMPARE(text, QStringLiteral("\u2026a-run #c6c2a041"));
        // Of two stacks of layers each keeps its name.
        const auto stacks
            = fitLabels({ QStringLiteral("encoder.layers.3.fc1.weight"), QStringLiteral("encoder.layers.4.fc1.weight"),
                            QStringLiteral("decoder.layers.3.fc1.weight") },
                metrics, 124);
        QVERIFY2(stacks[0].startsWith(QStringLiteral("encoder")), qPrintable(stacks[0]));
        QVERIFY2(stacks[2].startsWith(QStringLiteral("decoder")), qPrintable(stacks[2]));
        QCOMPARE(fitLabels({ QStringLiteral("7.attention.qkv"), QStringLiteral("7.attention.out") }, metrics, 86),
            (std::vector { QStringLiteral("\u2026qkv"), QStringLiteral("\u2026out") }));
        // The number of a block stands only where two would read the same without it.
        QCOMPARE(fitLabels({ QStringLiteral("layers.2.fc1.weight"), QStringLiteral("layers.3.fc1.weight"),
                               QStringLiteral("layers.3.fc2.weight") },
                     metrics, 100),
            (std::vector { QStringLiteral("\u20262.fc1.weight"), QStringLiteral("\u20263.fc1.weight"),
                QStringLiteral("\u20263.fc2.weight") }));
        // What is left has no hole: as many of the last parts as there is room for.
        const QString expert = QStringLiteral("blocks.3.mlp.experts.1.fc1.weight");
        QCOMPARE(fitLabels({ QStringLiteral("head"), expert }, metrics, 164)[1],
            QStringLiteral("\u2026experts.1.fc1.weight"));
        QCOMPARE(fitLabels({ expert }, metrics, 130).front(), QStringLiteral("\u20261.fc1.weight"));
        QCOMPARE(fitLabels({ QStringLiteral("blocks.3.experts.1.mlp.fc1.weight"),
                               QStringLiteral("blocks.3.experts.2.mlp.fc1.weight") },
                     metrics, 110),
            (std::vector { QStringLiteral("L3.1 \u2026fc1.weight"), QStringLiteral("L3.2 \u2026fc1.weight") }));
        // Of those that end alike in one block the part behind its number stays.
        std::vector<QString> parts;
        for (const char* name : { "2.attn.proj.weight", "2.mlp.proj.weight", "3.attn.proj.weight" })
            parts.push_back(QLatin1String(name));
        QCOMPARE(fitLabels(parts, metrics, 108, true),
            (std::vector { QStringLiteral("L2 attn.\u2026weight"), QStringLiteral("L2 mlp.\u2026weight"),
                QStringLiteral("L3 \u2026proj.weight") }));
        // In a legend the number stands wherever it has room.
        const QString alone = QStringLiteral("3.attn.proj.weight");
        QCOMPARE(fitLabels({ alone, QStringLiteral("0.mlp.fc1.weight") }, metrics, 108, true),
            (std::vector { QStringLiteral("L3 \u2026proj.weight"), QStringLiteral("0.mlp.fc1.weight") }));
        QCOMPARE(fitLabels({ alone }, metrics, 108).front(), QStringLiteral("\u2026proj.weight"));
    }

    void labelsLoseTheirPathBeforeTheirSlot()
    {
        const QFontMetricsF metrics(codeFont(11));
        const auto widthOf = [&](int chars) { return metrics.horizontalAdvance(QString(chars, u'0')) + 0.5; };
        const std::vector<QString> texts { QStringLiteral("blocks.1.mlp.experts.3 input"),
            QStringLiteral("blocks.10.mlp.experts.3.fc1 input"), QStringLiteral("blocks.2 output") };
        const auto wide = fitLabels(texts, metrics, widthOf(18));
        QCOMPARE(wide[0], QStringLiteral("\u2026experts.3 input"));
        QCOMPARE(wide[1], QStringLiteral("\u20263.fc1 input"));
        const auto narrow = fitLabels(texts, metrics, widthOf(14));
        QCOMPARE(narrow[0], QStringLiteral("\u20263 input"));
        QCOMPARE(narrow[1], QStringLiteral("\u20263.fc1 input"));
        QCOMPARE(narrow[2], QStringLiteral("\u20262 output"));
        // What tells two of them apart stays.
        const auto alike
            = fitLabels({ texts[1], QStringLiteral("blocks.10.mlp.experts.3.fc2 input") }, metrics, widthOf(14));
        QVERIFY2(alike[0].contains(QStringLiteral("fc1")), qPrintable(alike[0]));
        QVERIFY2(alike[1].contains(QStringLiteral("fc2")), qPrintable(alike[1]));
        const auto sites = fitLabels({ QStringLiteral("all_reduce train.py:55 reduce before"),
                                         QStringLiteral("all_reduce train.py:55 reduce after"),
                                         QStringLiteral("all_reduce tensorparallel.py:20 _summed before") },
            metrics, widthOf(16));
        QCOMPARE(sites[0], QStringLiteral("\u2026reduce before"));
        QCOMPARE(sites[1], QStringLiteral("\u2026reduce after"));
        QCOMPARE(sites[2], QStringLiteral("\u2026_summed before"));
        // A file's name loses its own front, so that all of the room says where it is.
        const std::vector<QString> site { QStringLiteral("all_reduce tensorparallel.py:20 _summed") };
        QCOMPARE(fitLabels(site, metrics, widthOf(29))[0], QStringLiteral("\u2026tensorparallel.py:20 _summed"));
        QCOMPARE(fitLabels(site, metrics, widthOf(17))[0], QStringLiteral("\u2026el.py:20 _summed"));
        QCOMPARE(fitLabels(site, metrics, widthOf(13))[0], QStringLiteral("\u2026:20 _summed"));
        // Nor do the dots of what is cut become one more than they are.
        QCOMPARE(fitLabels(site, metrics, widthOf(15))[0], QStringLiteral("\u2026:20 _summed"));
        for (const QString& letters :
            fitLabels({ QStringLiteral("a1.py:7"), QStringLiteral("b1.py:7") }, metrics, widthOf(6)))
            QVERIFY2(!letters.startsWith(QStringLiteral("\u2026.")), qPrintable(letters));
    }

    void labelsInANarrowColumnKeepTheirLastParts()
    {
        const QFontMetricsF metrics(codeFont(11));
        std::vector<QString> texts;
        for (const char* part : { "ln1", "attn.qkv", "attn.proj", "ln2", "mlp.router", "mlp.fc1" }) {
            for (const char* tensor : { "weight", "bias" })
                texts.push_back(QStringLiteral("blocks.2.%1.%2").arg(QLatin1String(part), QLatin1String(tensor)));
        }
        for (const int chars : { 11, 13, 16 }) {
            const auto fitted = fitLabels(texts, metrics, metrics.horizontalAdvance(QString(chars, u'0')) + 0.5);
            QCOMPARE(std::set<QString>(fitted.begin(), fitted.end()).size(), texts.size());
            for (std::size_t i = 0; i < texts.size(); ++i) {
                QVERIFY2(!fitted[i].contains(u'#'), qPrintable(fitted[i]));
                const bool isWhole = fitted[i].endsWith(texts[i].section(u'.', -1)); // alone it may do
                QVERIFY2(isWhole || fitted[i].contains(texts[i].section(u'.', -2, -2).left(4)),
                    qPrintable(texts[i] + u' ' + fitted[i]));
            }
        }
    }

    void labelsMoveApartBeforeOneIsDropped()
    {
        const auto places = placeLabels({ 2, 7, 60, 61, 62, 63, 98 }, 13, 0, 100, 20);
        QCOMPARE(places[0], std::optional(2.0));
        QCOMPARE(places[1], std::optional(15.0));
        QCOMPARE(places[2], std::optional(60.0));
        QCOMPARE(places[3], std::optional(73.0));
        QVERIFY(!places[4] || *places[4] - 62 <= 20);
        QVERIFY(places[6].has_value());
        double last = -1e9;
        for (const auto& place : places) {
            QVERIFY(!place || *place - last >= 13);
            last = place.value_or(last);
        }
    }

    void scaleMapsBackAndForth()
    {
        for (const auto mode : { ValueScale::Mode::Linear, ValueScale::Mode::Log, ValueScale::Mode::Symlog }) {
            const ValueScale scale(mode, 0.5, 7000);
            for (double unit = 0; unit <= 1; unit += 0.05)
                QVERIFY(std::abs(scale.unitOf(scale.valueAt(unit)) - unit) < 1e-9);
        }
    }

    void noWordStandsOnAMark()
    {
        const auto drawn = [](const QString& word, std::vector<EventMark> others, std::vector<EventMark> over = {},
                               const std::vector<bool>& marked = {}) {
            others.push_back({ Step { 98 }, EventMark::Shape::Flag, word, 0, 0 });
            QImage image(400, 17, QImage::Format_ARGB32_Premultiplied);
            image.fill(Qt::black);
            QPainter painter(&image);
            AxisPainter(painter, Theme::dark())
                .events(image.rect(), image.rect(), { Step { 0 }, Step { 99 } }, others, over, marked);
            return image;
        };
        const auto hasWord = [&](const std::vector<EventMark>& others, const std::vector<EventMark>& over = {}) {
            return drawn(QStringLiteral("rules"), others, over) != drawn({}, others, over);
        };
        QVERIFY(hasWord({})); // before its flag, at the end
        QVERIFY(hasWord({ { Step { 60 }, EventMark::Shape::Flag, {} } }));
        QVERIFY(!hasWord({ { Step { 94 }, EventMark::Shape::Flag, {} } }));
        QVERIFY(!hasWord({ { Step { 94 }, EventMark::Shape::Checkpoint, {} } }));
        QVERIFY(!hasWord({}, { { Step { 94 }, EventMark::Shape::Critical, {} } }));
        // Nor on what is not finite.
        std::vector<series::CellState> columns(100, series::CellState::Value);
        columns[50] = series::CellState::NaN;
        const QString word = QStringLiteral("rules");
        const auto marked = AxisPainter::nonFinite(columns);
        QVERIFY(drawn(word, {}, {}, marked) != drawn({}, {}, {}, marked));
        columns[95] = series::CellState::PosInf;
        const auto behind = AxisPainter::nonFinite(columns);
        QCOMPARE(drawn(word, {}, {}, behind), drawn({}, {}, {}, behind));
    }

    void numbersOfOneScaleHaveAsManyDecimals()
    {
        const auto aligned = [](const std::vector<std::pair<double, const char*>>& labels, bool areShares = false) {
            std::vector<ValueScale::Tick> ticks;
            for (const auto& [value, label] : labels)
                ticks.push_back({ value, QString::fromUtf8(label) });
            alignDecimals(ticks, areShares);
            QStringList texts;
            for (const ValueScale::Tick& tick : ticks)
                texts.append(tick.label);
            return texts.join(u' ');
        };
        QCOMPARE(aligned({ { 0.754, "0.75" }, { 0.6, "0.6" }, { 0, "0" } }), QStringLiteral("0.75 0.60 0"));
        QCOMPARE(aligned({ { 0.25, "0.25" }, { 0.5, "0.5" }, { 1, "1" } }), QStringLiteral("0.25 0.50 1.00"));
        QCOMPARE(aligned({ { 3.248, "3.2" }, { 2.5, "2.50" } }), QStringLiteral("3.25 2.50")); // no digit is made up
        QCOMPARE(aligned({ { 0.125, "12.5\u00A0%" }, { 0.2, "20\u00A0%" } }, true),
            QStringLiteral("12.5\u00A0% 20.0\u00A0%"));
        QCOMPARE(aligned({ { 1e-4, "1e-4" }, { 0.25, "0.25" } }), QStringLiteral("1e-4 0.25"));
        QCOMPARE(aligned({ { 20, "20" }, { 1000, "1\u202F000" } }), QStringLiteral("20 1\u202F000"));
    }

    void aFlagAtTheEndTurnsItsClothToTheLeft()
    {
        const auto drawn = [](std::int64_t step) {
            QImage image(420, 17, QImage::Format_ARGB32_Premultiplied);
            image.fill(Qt::black);
            QPainter painter(&image);
            const QRectF plot(0, 0, 400, 17);
            AxisPainter(painter, Theme::dark())
                .events(plot, plot, { Step { 0 }, Step { 99 } }, { { Step { step }, EventMark::Shape::Flag, {} } }, {});
            int left = image.width(), right = 0, count = 0;
            for (int y = 0; y < image.height(); ++y) {
                for (int x = 0; x < image.width(); ++x) {
                    if (image.pixelColor(x, y) == Theme::dark().accent) {
                        left = std::min(left, x);
                        right = std::max(right, x);
                        ++count;
                    }
                }
            }
            return std::array { left, right, count };
        };
        const auto inside = drawn(50), end = drawn(99);
        QVERIFY(end[1] < 400);
        QCOMPARE(end[1] - end[0], inside[1] - inside[0]);
        QCOMPARE(end[2], inside[2]);
    }

    /// The sign of an incident stands beside the flag of its step, and the flag's word clear of both.
    void aFlagAndAnIncidentOfOneStepStandBesideEachOther()
    {
        const StepRange range { Step { 0 }, Step { 99 } };
        const QRect plot(0, 0, 400, 17);
        const auto drawn = [&](std::int64_t step, const QString& label, bool hasIncident, bool isHatched = false) {
            const std::vector<EventMark> flags { { Step { step }, EventMark::Shape::Flag, label, 1, 1 } };
            std::vector<EventMark> incidents;
            if (hasIncident)
                incidents.push_back({ Step { step }, EventMark::Shape::Warning, {} });
            std::vector<bool> marked(100);
            std::fill(marked.begin() + step, marked.end(), isHatched);
            QImage image(plot.size(), QImage::Format_ARGB32_Premultiplied);
            image.fill(Theme::dark().base);
            QPainter painter(&image);
            AxisPainter axis(painter, Theme::dark());
            axis.events(plot, plot, range, flags, incidents, marked);
            axis.incidents(plot, plot, range, incidents);
            return image;
        };
        const auto spanOf = [&](const QImage& image, const QColor& color) {
            QRect span;
            for (int y = 0; y < image.height(); ++y) {
                for (int x = 0; x < image.width(); ++x) {
                    if (image.pixelColor(x, y) == color)
                        span |= QRect(x, y, 1, 1);
                }
            }
            return span;
        };
        const auto differing = [](const QImage& a, const QImage& b) {
            QRect span;
            for (int y = 0; y < a.height(); ++y) {
                for (int x = 0; x < a.width(); ++x) {
                    if (a.pixel(x, y) != b.pixel(x, y))
                        span |= QRect(x, y, 1, 1);
                }
            }
            return span;
        };
        const QString rev = QStringLiteral("rev 1");
        for (const std::int64_t step : { std::int64_t { 0 }, std::int64_t { 50 }, std::int64_t { 99 } }) {
            const QRect flag = spanOf(drawn(step, {}, false), Theme::dark().accent);
            QCOMPARE(spanOf(drawn(step, {}, true), Theme::dark().accent), flag); // all of it is seen
            const QRect sign = spanOf(drawn(step, {}, true), Theme::dark().warnMark);
            QVERIFY(sign.isValid() && (sign.right() < flag.left() || flag.right() < sign.left()));
            for (const bool isHatched : { false, true }) {
                const QRect word = differing(drawn(step, rev, true, isHatched), drawn(step, {}, true, isHatched));
                if (step == 0 && isHatched) // there is no room before it
                    continue;
                QVERIFY2(word.width() > 15, qPrintable(QString::number(step)));
                QVERIFY(word.right() + 3 < sign.left() || sign.right() + 3 < word.left());
                QVERIFY(word.right() < flag.left() || flag.right() < word.left());
                QVERIFY(!isHatched || word.right() < step * 4);
            }
        }
    }

    /// Also where one painter draws several lanes.
    void signsAskedForFirstAreThoseThatAreDrawn()
    {
        const StepRange range { Step { 0 }, Step { 99 } };
        const std::vector<EventMark> incidents { { Step { 50 }, EventMark::Shape::Warning, {} } };
        std::set<double> places;
        const auto drawn = [&](bool isAsked) {
            QImage image(400, 34, QImage::Format_ARGB32_Premultiplied);
            image.fill(Theme::dark().base);
            QPainter painter(&image);
            AxisPainter one(painter, Theme::dark());
            for (const std::int64_t flag : { 50, 90 }) {
                const QRect lane(0, flag == 50 ? 0 : 17, 400, 17);
                const std::vector<EventMark> events { { Step { flag }, EventMark::Shape::Flag, {} } };
                AxisPainter own(painter, Theme::dark());
                AxisPainter& axis = isAsked ? one : own;
                if (isAsked)
                    places.insert(axis.signs(lane, range, events, incidents).front().x);
                axis.events(lane, lane, range, events, incidents);
                axis.incidents(lane, lane, range, incidents);
            }
            return image;
        };
        QCOMPARE(drawn(true), drawn(false));
        QCOMPARE(places.size(), std::size_t { 2 }); // beside the flag, and where there is none
    }

    void flagsOfOneRevisionThatTouchAreNamedOnce()
    {
        const auto drawn = [](const QString& first) {
            QImage image(400, 17, QImage::Format_ARGB32_Premultiplied);
            image.fill(Qt::black);
            QPainter painter(&image);
            const EventMark second { Step { 51 }, EventMark::Shape::Flag, QStringLiteral("rev 1"), 2, 1 };
            AxisPainter(painter, Theme::dark())
                .events(image.rect(), image.rect(), { Step { 0 }, Step { 99 } },
                    { second, { Step { 50 }, EventMark::Shape::Flag, first, 1, 1 } }, {});
            return image;
        };
        QCOMPARE(drawn(QStringLiteral("rev 1")), drawn({}));
        QVERIFY(drawn(QStringLiteral("rev 2")) != drawn({}));
    }

    void theLastOfFlagsThatTouchIsNamed()
    {
        const auto markOf = [](std::int64_t step, const char* text) {
            store::LogRecord record;
            record.kind = "restart"; // which has its text as its label
            record.text = text;
            record.steps = { Step { step }, Step { step } };
            return *EventMark::of(record);
        };
        const auto drawnMarks = [](const std::vector<EventMark>& marks) {
            QImage image(400, 17, QImage::Format_ARGB32_Premultiplied);
            image.fill(Qt::black);
            QPainter painter(&image);
            AxisPainter(painter, Theme::dark())
                .events(image.rect(), image.rect(), { Step { 0 }, Step { 99 } }, marks, {});
            return image;
        };
        const auto drawn = [&](const char* first, const char* second) {
            return drawnMarks({ markOf(40, first), markOf(41, second) });
        };
        const QRect before(0, 0, 158, 17), behind(176, 0, 224, 17);
        const QImage none = drawn("", "");
        constexpr const char* kEnd
            = "nothing is collected from this step on: 5 steps are collected, as collect_times asks";
        const QImage both = drawn("rev 1", kEnd);
        QVERIFY(both.copy(behind) != none.copy(behind));
        QVERIFY(both.copy(before) != none.copy(before));
        QCOMPARE(both.copy(behind), drawn("rev 1", "nothing is collected from this step on").copy(behind));
        // In no language is it looked for in what is drawn.
        EventMark marks[] { markOf(40, "rev 1"), markOf(41, kEnd) };
        marks[1].label.replace(QStringLiteral(": "), QStringLiteral("\uFF1A"));
        QCOMPARE(drawnMarks({ marks[0], marks[1] }), both);
        const QImage cut
            = drawn("", "a sentence that is longer than all the room that there is, before the flag as behind it");
        QVERIFY(cut.copy(behind) != none.copy(behind));
    }

    void numbersReadAsTheDesignWritesThem()
    {
        QCOMPARE(formatStep(31215), QStringLiteral("31\u202F215"));
        QCOMPARE(formatStep(999), QStringLiteral("999"));
        QCOMPARE(formatStep(-1234567), QStringLiteral("\u22121\u202F234\u202F567"));
        QCOMPARE(formatValue(27.444), QStringLiteral("27.44"));
        QCOMPARE(formatValue(27.444, 3), QStringLiteral("27.4"));
        QCOMPARE(formatValue(64), QStringLiteral("64")); // a count
        QCOMPARE(statValueText(Stat::Nans, 1), QStringLiteral("1"));
        QCOMPARE(statValueText(Stat::Nans, 0.5), QStringLiteral("0.5000"));
        QCOMPARE(statValueText(Stat::Norm, 1), QStringLiteral("1.000"));
        QCOMPARE(statValueText(Stat::Value, 1e-4), QStringLiteral("1.000e-4"));
        QCOMPARE(statValueText(Stat::Value, -8.58e-4, 3), QStringLiteral("\u22128.58e-4"));
        QCOMPARE(statValueText(Stat::Value, 1e6, 1), QStringLiteral("1e6"));
        QCOMPARE(formatValue(64.004), QStringLiteral("64.00"));
        QCOMPARE(formatValue(0.099997), QStringLiteral("0.1000")); // as many figures as its neighbors have
        QCOMPARE(formatValue(0.099994), QStringLiteral("0.09999"));
        QCOMPARE(formatValue(99.9951), QStringLiteral("100.0"));
        QCOMPARE(formatValue(1.28e-4), QStringLiteral("1.28e-4"));
        QCOMPARE(formatValue(8.91e6), QStringLiteral("8.91e6"));
        QCOMPARE(formatValue(-65312), QStringLiteral("\u221265\u202F312"));
        QCOMPARE(formatValue(std::nan("")), QStringLiteral("NaN"));
        QCOMPARE(formatValue(-INFINITY), QStringLiteral("\u2212Inf"));
        QCOMPARE(formatShort(186000), QStringLiteral("186\u00A0k"));
        QCOMPARE(formatShort(2.1e6), QStringLiteral("2.1\u00A0M"));
        QCOMPARE(formatBytes(1840000000), QStringLiteral("1.84\u00A0GB"));
    }
};

TELLTALE_TEST(QTEST_MAIN, AxisTicks)

}

#include "tst_axisticks.moc"
