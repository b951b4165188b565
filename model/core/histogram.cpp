// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/core/histogram.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace telltale {

Expected<void> checkEdges(std::span<const double> edges)
{
    if (edges.size() < 2 || edges.size() > kMaxBins + 1)
        return failure(ErrorCode::BadInput,
            "a histogram has " + std::to_string(edges.size()) + " edges; it needs 2 to "
                + std::to_string(kMaxBins + 1));
    // Not by >=, which lets a NaN pass.
    if (std::adjacent_find(edges.begin(), edges.end(), [](double a, double b) { return !(a < b); }) != edges.end())
        return failure(ErrorCode::BadInput, "the edges of a histogram do not rise from one to the next");
    return {};
}

std::string binText(std::span<const double> edges, std::size_t bin)
{
    const double low = edges[bin];
    const double high = edges[bin + 1];
    const bool isOverflow = bin > 0 && std::isinf(high);
    const bool isClosed = bin + 2 == edges.size() || std::isinf(edges[bin + 2]);
    char text[64];
    std::snprintf(text, sizeof text, "%c%.4g, %.4g%c", isOverflow ? '(' : '[', low, high, isClosed ? ']' : ')');
    return text;
}

}
