// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribution.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace telltale::analysis {
namespace {

/// Of an edge. Those beside a power of two stand a last place below it, so that the power itself lies on the right side
/// (core/histogram.h): they mean it.
double magnitude(double edge)
{
    const double size = std::abs(edge);
    const double next = std::nextafter(size, std::numeric_limits<double>::infinity());
    int exponent = 0;
    return size > 0 && std::frexp(next, &exponent) == 0.5 ? next : size;
}

/// The magnitudes in a bin, from the least to the greatest.
std::pair<double, double> magnitudesOf(std::span<const double> edges, std::size_t bin)
{
    const double low = magnitude(edges[bin]);
    const double high = magnitude(edges[bin + 1]);
    if (edges[bin] < 0 && edges[bin + 1] > 0)
        return { 0, std::max(low, high) };
    return std::minmax(low, high);
}

/// The bin of zeros alone.
bool isZero(std::span<const double> edges, std::size_t bin)
{
    return edges[bin] == 0 && edges[bin + 1] <= std::numeric_limits<double>::denorm_min();
}

double inside(double low, double high, double unit)
{
    if (std::isinf(low) || std::isinf(high))
        return std::isinf(low) ? high : low;
    const bool isOneSided = low > 0 || high < 0;
    const double ratio
        = isOneSided ? std::max(std::abs(low), std::abs(high)) / std::min(std::abs(low), std::abs(high)) : 0;
    if (ratio <= 2.5)
        return low + (high - low) * unit;
    const double sign = low > 0 ? 1 : -1;
    return sign * std::exp2(std::log2(std::abs(low)) * (1 - unit) + std::log2(std::abs(high)) * unit);
}

}

double quantile(std::span<const double> edges, std::span<const double> counts, double share)
{
    const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
    if (!(total > 0))
        return std::numeric_limits<double>::quiet_NaN();
    const double wanted = share * total;
    double below = 0; // each element stands in the middle of its share, so that the answer stays in its bin
    std::size_t last = 0;
    for (std::size_t bin = 0; bin < counts.size(); ++bin) {
        if (counts[bin] <= 0)
            continue;
        last = bin;
        if (below + counts[bin] >= wanted) {
            if (isZero(edges, bin))
                return 0;
            return inside(edges[bin], edges[bin + 1], std::max(0.0, wanted - below - 0.5) / counts[bin]);
        }
        below += counts[bin];
    }
    return inside(edges[last], edges[last + 1], 1);
}

FormatLoss lossOf(std::span<const double> edges, std::span<const double> counts, Format format)
{
    const FormatFacts& facts = formatFacts(format);
    const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
    FormatLoss loss;
    if (!(total > 0))
        return { { 0, 1 }, { 0, 1 }, { 0, 1 } };
    for (std::size_t bin = 0; bin < counts.size(); ++bin) {
        if (counts[bin] <= 0 || isZero(edges, bin))
            continue;
        const auto [least, most] = magnitudesOf(edges, bin);
        const double share = counts[bin] / total;
        const auto add = [share](ShareBounds& bounds, bool all, bool some) {
            bounds.least += all ? share : 0;
            bounds.most += some ? share : 0;
        };
        const bool mayBeZero = least == 0; // a wide bin around zero may hold zeros, which lose nothing
        add(loss.flushed, most <= facts.flushed && edges[bin] * edges[bin + 1] >= 0, least < facts.flushed);
        add(loss.subnormal, least >= facts.flushed && most <= facts.normal,
            most > facts.flushed && least < facts.normal);
        add(loss.overflowed, least >= facts.over && !mayBeZero, most > facts.over);
    }
    return loss;
}

bool hasOctaves(std::span<const double> edges)
{
    const auto has = [edges](double limit, double sign) {
        return std::any_of(edges.begin(), edges.end(),
            [limit, sign](double edge) { return edge * sign > 0 && magnitude(edge) == limit; });
    };
    return std::all_of(kFormats.begin(), kFormats.end(), [&has](const FormatFacts& facts) {
        return has(facts.flushed, 1) && has(facts.flushed, -1) && has(facts.normal, 1) && has(facts.normal, -1);
    });
}

}
