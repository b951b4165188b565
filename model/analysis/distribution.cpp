// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribution.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <telltale/core/histogram.h>

namespace telltale::analysis {
namespace {

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
            if (isZeroBin(edges, bin))
                return 0;
            return inside(edges[bin], edges[bin + 1], std::max(0.0, wanted - below - 0.5) / counts[bin]);
        }
        below += counts[bin];
    }
    return inside(edges[last], edges[last + 1], 1);
}

}
