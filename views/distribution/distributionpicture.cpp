// SPDX-License-Identifier: GPL-3.0-or-later
#include "distributionpicture.h"

#include <algorithm>

#include <QCoreApplication>

namespace telltale::views {

using series::CellState;

namespace {

constexpr int kAllShown = 40; ///< so few bins are shown whether they are empty or not
constexpr int kLeastShown = 12;

QString colorTitle(BinColor color)
{
    return color == BinColor::LogCount ? QCoreApplication::translate("Distribution", "elements")
                                       : QCoreApplication::translate("Distribution", "share of elements");
}

}

double DistributionStrip::shareOf(int column, int bin) const
{
    const double total = totals[static_cast<std::size_t>(column)];
    return total > 0 ? countsOf(column)[static_cast<std::size_t>(bin)] / total : 0;
}

void DistributionStrip::finish(BinColor color, StepRange range)
{
    const int all = bins();
    firstBin = 0;
    lastBin = all - 1;
    if (all > kAllShown) {
        const auto isEmpty = [this](int bin) {
            for (int column = 0; column < columns; ++column) {
                if (countsOf(column)[static_cast<std::size_t>(bin)] > 0)
                    return false;
            }
            return true;
        };
        while (firstBin < lastBin && isEmpty(firstBin))
            ++firstBin;
        while (lastBin > firstBin && isEmpty(lastBin))
            --lastBin;
        // An empty bin beside each end shows that nothing lies beyond.
        firstBin = std::max(0, firstBin - 1);
        lastBin = std::min(all - 1, lastBin + 1);
        while (lastBin - firstBin + 1 < kLeastShown) {
            firstBin = std::max(0, firstBin - 1);
            lastBin = std::min(all - 1, lastBin + 1);
        }
    }
    const int shown = lastBin - firstBin + 1;
    heat.scaleMode = color == BinColor::Share ? HeatScale::Linear : HeatScale::Log;
    heat.kind = row.kind;
    heat.stat = Stat::Hist;
    heat.title = colorTitle(color);
    heat.result.range = range;
    heat.result.rows = shown;
    heat.result.columns = columns;
    heat.result.reduction = series::Reduction::Sum;
    heat.rows.assign(static_cast<std::size_t>(shown), row);
    const std::size_t cells = static_cast<std::size_t>(shown) * static_cast<std::size_t>(columns);
    heat.result.values.assign(cells, 0);
    heat.result.states.assign(cells, CellState::NotCollected);
    for (int column = 0; column < columns; ++column) {
        const auto place = static_cast<std::size_t>(column);
        for (int bin = firstBin; bin <= lastBin; ++bin) {
            const std::size_t at = static_cast<std::size_t>(lastBin - bin) * static_cast<std::size_t>(columns) + place;
            const double count = countsOf(column)[static_cast<std::size_t>(bin)];
            const CellState state = states[place];
            // What is not finite stands in the lane: it must not hide how the rest lies. Without a rest it is all there
            // is.
            const bool isAll = samples[place] == 0 || (totals[place] == 0 && series::isNonFinite(state));
            heat.result.states[at] = isAll ? state : count > 0 ? CellState::Value : CellState::Absent;
            heat.result.values[at] = static_cast<float>(color == BinColor::LogCount ? count : shareOf(column, bin));
        }
    }
    heat.finish();
}

}
