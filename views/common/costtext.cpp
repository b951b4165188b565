// SPDX-License-Identifier: GPL-3.0-or-later
#include "costtext.h"

#include <QCoreApplication>

namespace telltale::views {
namespace {

/// Two figures that count; what is less than the last place shows is no zero.
QString shortNumber(double value)
{
    if (value > 0 && value < 0.05)
        return QStringLiteral("< 0.1");
    return QString::number(value, 'f', value < 9.95 ? 1 : 0);
}

}

QString formatMilliseconds(double ms)
{
    constexpr double kSecond = 1000;
    if (ms >= 10 * kSecond)
        return QCoreApplication::translate("telltale::views", "%1 s").arg(ms / kSecond, 0, 'f', 1);
    return QCoreApplication::translate("telltale::views", "%1 ms").arg(shortNumber(ms));
}

QString formatShare(double share)
{
    return QCoreApplication::translate("telltale::views", "%1 %").arg(shortNumber(share * 100));
}

QString formatPercent(double percent)
{
    return QCoreApplication::translate("telltale::views", "%1 %").arg(QString::number(percent, 'g', 4));
}

QString formatEvery(qint64 every)
{
    const bool isSecond = every % 10 == 2 && every % 100 != 12;
    return (isSecond ? QCoreApplication::translate("telltale::views", "every %1nd step")
                     : QCoreApplication::translate("telltale::views", "every %1th step"))
        .arg(every);
}

}
