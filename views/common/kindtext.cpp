// SPDX-License-Identifier: GPL-3.0-or-later
#include "kindtext.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <QCoreApplication>

#include "csv.h"

namespace telltale::views {

namespace {

constexpr std::array kStates { "not_collected", "gap", "damaged", "absent", "value", "neginf", "posinf", "nan" };
static_assert(kStates.size() == static_cast<std::size_t>(series::CellState::NaN) + 1);

}

QString kindText(Kind kind)
{
    return QCoreApplication::translate("Kind", kindTitle(kind));
}

QString statValueText(Stat stat, double value, int significant)
{
    if (factsOf(stat).shown == Shown::Share)
        return formatFraction(value, significant);
    const bool isExact = isNonFiniteCount(stat) && value == std::floor(value) && std::abs(value) < 1e15;
    QString text = isExact ? formatStep(static_cast<qint64>(value)) : formatValue(value, significant);
    // Below each other all have as many figures: 8.580e-4, 7.643e-4.
    if (const qsizetype power = text.indexOf(u'e'); power > 0)
        text = text.left(value < 0)
            + QString::number(std::abs(value), 'e', std::max(0, significant - 1)).section(u'e', 0, 0) + text.mid(power);
    return text;
}

QString statText(Stat stat)
{
    // Without a title of its own a statistic is called by its word.
    switch (stat) {
    case Stat::Norm:
        return QCoreApplication::translate("Stat", "norm");
    case Stat::Mean:
        return QCoreApplication::translate("Stat", "mean");
    case Stat::Min:
        return QCoreApplication::translate("Stat", "min");
    case Stat::Max:
        return QCoreApplication::translate("Stat", "max");
    case Stat::AbsMax:
        return QCoreApplication::translate("Stat", "largest magnitude");
    case Stat::Zeros:
        return QCoreApplication::translate("Stat", "share of zeros");
    case Stat::Nans:
        return QCoreApplication::translate("Stat", "NaN count");
    case Stat::PosInfs:
        return QCoreApplication::translate("Stat", "+Inf count");
    case Stat::NegInfs:
        return QCoreApplication::translate("Stat", "-Inf count");
    case Stat::Value:
        return QCoreApplication::translate("Stat", "value");
    case Stat::Checksum:
        return QCoreApplication::translate("Stat", "checksum");
    case Stat::Entropy:
        return QCoreApplication::translate("Stat", "entropy");
    case Stat::SoftmaxMax:
        return QCoreApplication::translate("Stat", "softmax max");
    case Stat::StableRank:
        return QCoreApplication::translate("Stat", "stable rank");
    case Stat::KernelNorm:
        return QCoreApplication::translate("Stat", "kernel norm");
    case Stat::Agreement:
        return QCoreApplication::translate("Stat", "agreement");
    case Stat::Similarity:
        return QCoreApplication::translate("Stat", "similarity");
    case Stat::MaxLogit:
        return QCoreApplication::translate("Stat", "max logit");
    case Stat::Fp16Underflow:
        return QCoreApplication::translate("Stat", "fp16 underflow");
    case Stat::Fp16Overflow:
        return QCoreApplication::translate("Stat", "fp16 overflow");
    case Stat::Bf16Underflow:
        return QCoreApplication::translate("Stat", "bf16 underflow");
    case Stat::Bf16Overflow:
        return QCoreApplication::translate("Stat", "bf16 overflow");
    case Stat::E4M3Underflow:
        return QCoreApplication::translate("Stat", "e4m3 underflow");
    case Stat::E4M3Overflow:
        return QCoreApplication::translate("Stat", "e4m3 overflow");
    case Stat::E5M2Underflow:
        return QCoreApplication::translate("Stat", "e5m2 underflow");
    case Stat::E5M2Overflow:
        return QCoreApplication::translate("Stat", "e5m2 overflow");
    default:
        return QString::fromUtf8(statName(stat));
    }
}

void writeCell(CsvWriter& csv, series::CellState state, double value, bool isFloat)
{
    csv.text(QLatin1String(kStates.at(static_cast<std::size_t>(state))));
    switch (state) {
    case series::CellState::Value:
        isFloat ? csv.number32(value) : csv.number(value);
        break;
    case series::CellState::NaN:
        csv.number(std::numeric_limits<double>::quiet_NaN());
        break;
    case series::CellState::PosInf:
        csv.number(std::numeric_limits<double>::infinity());
        break;
    case series::CellState::NegInf:
        csv.number(-std::numeric_limits<double>::infinity());
        break;
    default:
        csv.empty();
    }
}

}
