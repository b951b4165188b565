// SPDX-License-Identifier: GPL-3.0-or-later
#include "distributioncurves.h"

#include <algorithm>
#include <string_view>

#include <telltale/analysis/distribution.h>
#include <telltale/core/numberformats.h>
#include <telltale/plot/curvetrace.h>

namespace telltale::views {
namespace {

/// Those below the median have one color and those above it another; how a line is dashed says how far out it is.
constexpr std::array<int, 7> kQuantileColors { 13, 7, 1, 0, 3, 9, 15 };

/// What a curve shows of one column.
using ColumnValue = std::function<double(int column)>;

CurveSeries curveOf(
    const DistributionStrip& strip, const QString& name, int slot, StepRange range, const ColumnValue& value)
{
    CurveSeries one;
    one.row = strip.row;
    one.row.label = name.section(u' ', -1); // "e4m3" leaves room for its value
    one.row.bin = name;
    one.stat = Stat::Hist;
    one.slot = slot;
    one.result.range = range;
    one.result.buckets.resize(static_cast<std::size_t>(strip.columns));
    for (int column = 0; column < strip.columns; ++column) {
        const auto place = static_cast<std::size_t>(column);
        series::Bucket& bucket = one.result.buckets[place];
        bucket.state = strip.states[place];
        bucket.samples = strip.samples[place];
        if (bucket.state == series::CellState::NaN)
            bucket.nans = bucket.samples;
        else if (bucket.state == series::CellState::PosInf)
            bucket.posInfs = bucket.samples;
        else if (bucket.state == series::CellState::NegInf)
            bucket.negInfs = bucket.samples;
        if (bucket.samples == 0 || !(strip.totals[place] > 0))
            continue;
        bucket.finite = bucket.samples;
        bucket.min = bucket.max = bucket.mean = bucket.first = bucket.last = value(column);
    }
    one.join = longestJoin(one.result.buckets);
    return one;
}

double lossIn(const DistributionStrip& strip, std::span<const double> counts, NumberFormat format, BelowStrips below)
{
    const FormatLoss loss = lossOf(*strip.edges, counts, format);
    return below == BelowStrips::Flushed  ? loss.flushed.least
        : below == BelowStrips::Subnormal ? loss.subnormal.least
                                          : loss.overflowed.least;
}

/// What lies within a quarter of the usual reach of nine tenths of the elements is near zero beside the others: where
/// a quantile has no more than that, its sign and its decade are chance, and a log axis would make them all there is to
/// see.
double nearZero(const CurvePicture& quantiles)
{
    const auto at = [&](std::string_view name) -> const std::vector<series::Bucket>& {
        const auto one = std::find_if(kQuantiles.begin(), kQuantiles.end(),
            [name](const QuantileName& quantile) { return name == quantile.name; });
        return quantiles.series[static_cast<std::size_t>(one - kQuantiles.begin())].result.buckets;
    };
    std::vector<double> reaches;
    for (std::size_t column = 0; column < at("p95").size(); ++column) {
        if (at("p95")[column].finite > 0)
            reaches.push_back((at("p95")[column].mean - at("p5")[column].mean) / 2);
    }
    if (reaches.empty())
        return 0;
    const auto middle = reaches.begin() + static_cast<std::ptrdiff_t>(reaches.size() / 2);
    std::nth_element(reaches.begin(), middle, reaches.end());
    return *middle / 4;
}

}

CurvePicture curvesBelow(const DistributionStrip& strip, BelowStrips below, StepRange range, bool isLive)
{
    CurvePicture picture;
    picture.range = range;
    picture.isLive = isLive;
    picture.hasOneStep = true; // histograms are rare beside steps, and other runs may go on
    if (below == BelowStrips::Quantiles) {
        for (std::size_t i = 0; i < kQuantiles.size(); ++i) {
            picture.series.push_back(
                curveOf(strip, QString::fromLatin1(kQuantiles[i].name), kQuantileColors[i], range, [&](int column) {
                    const double value = analysis::quantile(*strip.edges, strip.countsOf(column), kQuantiles[i].share);
                    if (strip.reaches.empty())
                        return value;
                    // A bin reaches beyond the tensor's largest element, which is known.
                    const auto& [least, greatest] = strip.reaches[static_cast<std::size_t>(column)];
                    return std::min(std::max(value, least), greatest);
                }));
        }
        picture.linear = nearZero(picture);
        return picture;
    }
    if (!hasOctaves(*strip.edges))
        return picture;
    for (std::size_t i = 0; i < kNumberFormats.size(); ++i) {
        picture.series.push_back(curveOf(strip, QString::fromLatin1(kNumberFormats[i].name), static_cast<int>(i), range,
            [&](int column) { return lossIn(strip, strip.countsOf(column), static_cast<NumberFormat>(i), below); }));
        picture.series.back().stat = Stat::Zeros; // a share of all elements as well: in percent
    }
    return picture;
}

}
