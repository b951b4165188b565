// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/core/histogram.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

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

std::size_t binOf(std::span<const double> edges, double value)
{
    const auto above = std::upper_bound(edges.begin(), edges.end(), value);
    if (above == edges.begin())
        return edges.size();
    auto bin = static_cast<std::size_t>(above - edges.begin()) - 1;
    const bool isOpen = std::isinf(edges.back());
    const std::size_t greatest = edges.size() - (isOpen ? 2 : 1); // place of the greatest finite edge
    if (greatest > 0 && value == edges[greatest])
        bin = greatest - 1;
    if (isOpen && value == edges.back())
        bin = edges.size() - 2;
    return bin + 1 < edges.size() ? bin : edges.size();
}

bool isZeroBin(std::span<const double> edges, std::size_t bin)
{
    return edges[bin] == 0 && edges[bin + 1] <= std::numeric_limits<double>::denorm_min();
}

std::span<const double> octaveEdges()
{
    // No allocation: the statistics kernel asks for it.
    static const std::array<double, 128> kEdges = [] {
        std::array<int, 62> exponents { -134, -126, -64 };
        std::size_t count = 3;
        for (int exponent = -60; exponent < -32; exponent += 4)
            exponents[count++] = exponent;
        for (int exponent = -32; exponent <= 17; ++exponent)
            exponents[count++] = exponent;
        exponents[count++] = 127;
        exponents[count] = 128;
        constexpr double kInf = std::numeric_limits<double>::infinity();
        std::array<double, 128> edges {};
        const std::size_t zero = 1 + exponents.size();
        edges.front() = -kInf;
        edges[zero] = 0;
        edges[zero + 1] = std::numeric_limits<double>::denorm_min();
        for (std::size_t i = 0; i < exponents.size(); ++i) {
            edges[zero - 1 - i] = std::nextafter(-std::ldexp(1.0, exponents[i]), 0.0);
            edges[zero + 2 + i] = std::ldexp(1.0, exponents[i]);
        }
        // The greatest finite edge belongs below; 2^128 does not.
        edges[126] = std::nextafter(edges[126], 0.0);
        edges.back() = kInf;
        return edges;
    }();
    return kEdges;
}

}
