// SPDX-License-Identifier: GPL-3.0-or-later
#include "costline.h"

#include <cmath>

#include <QCoreApplication>
#include <QStringList>

#include <telltale/common/costtext.h>
#include <telltale/common/theme.h>

namespace telltale::views {
namespace {

struct CostLine {
    Q_DECLARE_TR_FUNCTIONS(telltale::views::CostLine)
};

}

QString costLine(const config::CostEstimate& estimate, bool isChange, double budget)
{
    const auto series = static_cast<int>(std::min(estimate.series, 1e9));
    const QString count = formatStep(series);
    QStringList parts { estimate.isWhole ? CostLine::tr("about %1 series").arg(count)
                                         : CostLine::tr("at least %1 series").arg(count),
        CostLine::tr("%1 samples a step").arg(formatShort(estimate.samples)) };
    if (estimate.bytesPerSecond)
        parts.append(CostLine::tr("%1/s").arg(formatBytes(static_cast<quint64>(*estimate.bytesPerSecond))));
    if (isChange && estimate.addedMs) {
        const QChar sign = *estimate.addedMs < 0 ? QChar(0x2212) : QChar(u'+');
        parts.append(CostLine::tr("%1 a step (%2)")
                         .arg(sign + formatMilliseconds(std::abs(*estimate.addedMs)),
                             formatShare(std::abs(estimate.addedShare))));
    }
    if (isChange && estimate.everyWithin > 0)
        parts.append(CostLine::tr("over the budget of %1: the agent will collect %2")
                         .arg(formatPercent(budget), formatEvery(estimate.everyWithin)));
    return parts.join(CostLine::tr(", "));
}

}
