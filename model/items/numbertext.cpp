// SPDX-License-Identifier: GPL-3.0-or-later
#include "numbertext.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <QRegularExpression>

namespace telltale::items {

namespace {

constexpr QChar kMinus(0x2212);
constexpr QChar kGroup(0x202F);
constexpr QChar kUnitSpace(0x00A0);

/// Groups of three from 1 000 on; `digits` are plain digits with an optional fraction.
QString grouped(const QString& digits)
{
    const qsizetype point = digits.indexOf(QLatin1Char('.'));
    QString whole = point < 0 ? digits : digits.left(point);
    for (qsizetype at = whole.size() - 3; at > 0; at -= 3)
        whole.insert(at, kGroup);
    return point < 0 ? whole : whole + digits.mid(point);
}

QString withUnit(double value, const QString& unit)
{
    const double rounded = std::abs(value);
    const int decimals = rounded < 9.995 ? 1 : 0;
    QString text = QString::number(rounded, 'f', decimals);
    return (value < 0 ? QString(kMinus) : QString()) + text + (unit.isEmpty() ? QString() : kUnitSpace + unit);
}

}

QString formatStep(qint64 step)
{
    const QString digits = step < 0 ? QString::number(step).mid(1) : QString::number(step);
    return (step < 0 ? QString(kMinus) : QString()) + grouped(digits);
}

QString formatSteps(StepRange steps)
{
    const QString first = formatStep(steps.first.value);
    return steps.count() <= 1 ? first : first + QChar(0x2013) + formatStep(steps.last.value);
}

QString formatPower(double value, int significant)
{
    const QString text = QString::number(std::abs(value), 'e', std::max(0, significant - 1));
    const qsizetype at = text.indexOf(QLatin1Char('e'));
    QString mantissa = text.left(at);
    if (mantissa.contains(QLatin1Char('.'))) {
        while (mantissa.endsWith(QLatin1Char('0')))
            mantissa.chop(1);
        if (mantissa.endsWith(QLatin1Char('.')))
            mantissa.chop(1);
    }
    const int exponent = text.mid(at + 1).toInt();
    const QString digits = QString::number(std::abs(exponent));
    return (value < 0 ? QString(kMinus) : QString()) + mantissa + QLatin1Char('e')
        + (exponent < 0 ? QStringLiteral("-") : QString()) + digits;
}

namespace {

/// `hasZeros`: a whole number has as many figures as another one.
QString formatFigures(double value, int significant, bool hasZeros)
{
    if (std::isnan(value))
        return QStringLiteral("NaN");
    if (std::isinf(value))
        return (value > 0 ? QStringLiteral("+") : QString(kMinus)) + QStringLiteral("Inf");
    if (value == 0)
        return QStringLiteral("0");
    const QString sign = value < 0 ? QString(kMinus) : QString();
    const double magnitude = std::abs(value);
    if (magnitude < 1e-3 || magnitude >= 99999.5)
        return formatPower(value, significant);
    const double rounded = magnitude * (1 + 0.5 * std::pow(10, -significant)); // 0.099997 is 0.1000
    const int whole = static_cast<int>(std::floor(std::log10(rounded))) + 1;
    const bool isWhole = !hasZeros && magnitude >= 10 && magnitude == std::floor(magnitude);
    const int decimals = isWhole ? 0 : std::clamp(significant - whole, 0, 12);
    return sign + grouped(QString::number(magnitude, 'f', decimals));
}

}

/// A whole number is a count more often than a measure, and no less exact without its zeros.
QString formatValue(double value, int significant)
{
    return formatFigures(value, significant, false);
}

QString formatBytes(quint64 bytes)
{
    static constexpr std::array kUnits { "B", "kB", "MB", "GB", "TB", "PB" };
    double value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 999.5 && unit + 1 < kUnits.size()) {
        value /= 1000;
        ++unit;
    }
    const int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    return QString::number(value, 'f', decimals) + kUnitSpace + QLatin1String(kUnits.at(unit));
}

QString formatShort(double value)
{
    if (!std::isfinite(value))
        return formatValue(value);
    static constexpr std::array kUnits { "", "k", "M", "G", "T" };
    double scaled = value;
    std::size_t unit = 0;
    while (std::abs(scaled) >= 999.5 && unit + 1 < kUnits.size()) {
        scaled /= 1000;
        ++unit;
    }
    if (unit == 0 && scaled == std::floor(scaled))
        return formatStep(static_cast<qint64>(scaled));
    return withUnit(scaled, QLatin1String(kUnits.at(unit)));
}

QString formatFraction(double share, int significant)
{
    return formatFigures(share * 100, significant, true)
        + (std::isfinite(share) ? kUnitSpace + QStringLiteral("%") : QString());
}

QString reformatNumber(const QString& given)
{
    // "81,920": as counts are written where nobody has told of U+202F.
    static const QRegularExpression kGrouped(
        QRegularExpression::anchoredPattern(QStringLiteral(R"(\d{1,3}(,\d{3})+)")));
    QString text = given;
    if (kGrouped.match(given).hasMatch())
        text.remove(u',');
    static const QRegularExpression kNumber(
        QRegularExpression::anchoredPattern(QStringLiteral(R"([+-]?(\d+)(\.\d+)?(e[+-]?\d+)?|-?nan|[+-]?inf)")));
    const auto match = kNumber.match(text);
    if (!match.hasMatch())
        return text;
    bool isWhole = false;
    const qint64 whole = text.toLongLong(&isWhole);
    if (isWhole)
        return formatStep(whole);
    if (text.endsWith(QLatin1String("nan")))
        return formatValue(std::numeric_limits<double>::quiet_NaN());
    // As many figures as it has there, and no zeros that nobody measured.
    QString digits = match.captured(1) + match.captured(2).mid(1);
    digits.remove(QRegularExpression(QStringLiteral("^0+")));
    return formatValue(text.toDouble(), std::clamp(static_cast<int>(digits.size()), 1, 4));
}

}
