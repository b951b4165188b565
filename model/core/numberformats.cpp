// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/core/numberformats.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <telltale/core/histogram.h>

namespace telltale {
namespace {

/// Of an edge. Those beside a power of two stand a last place below it, so that the power itself lies on the right side
/// (histogram.h): they mean it.
double magnitude(double edge)
{
    const double size = std::abs(edge);
    const double next = std::nextafter(size, std::numeric_limits<double>::infinity());
    int exponent = 0;
    return size > 0 && std::frexp(next, &exponent) == 0.5 ? next : size;
}

/// What a bin's elements are in a format: all of them, some of them.
struct Fate {
    bool allFlushed = false, someFlushed = false;
    bool allSubnormal = false, someSubnormal = false;
    bool allOver = false, someOver = false;
};

Fate fateOf(std::span<const double> edges, std::size_t bin, const NumberFormatFacts& facts)
{
    if (isZeroBin(edges, bin))
        return {};
    const double low = magnitude(edges[bin]);
    const double high = magnitude(edges[bin + 1]);
    const bool isAround = edges[bin] < 0 && edges[bin + 1] > 0; // it may hold zeros, which lose nothing
    const double least = isAround ? 0 : std::min(low, high);
    const double most = std::max(low, high);
    return { most <= facts.flushed && !isAround, least < facts.flushed, least >= facts.flushed && most <= facts.normal,
        most > facts.flushed && least<facts.normal, least >= facts.over, most> facts.over };
}

}

FormatLoss lossOf(std::span<const double> edges, std::span<const double> counts, NumberFormat format)
{
    const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
    if (!(total > 0))
        return { { 0, 1 }, { 0, 1 }, { 0, 1 } };
    FormatLoss loss;
    for (std::size_t bin = 0; bin < counts.size(); ++bin) {
        if (counts[bin] <= 0)
            continue;
        const Fate fate = fateOf(edges, bin, kNumberFormats[static_cast<std::size_t>(format)]);
        const auto add = [count = counts[bin]](ShareBounds& bounds, bool all, bool some) {
            bounds.least += all ? count : 0;
            bounds.most += some ? count : 0;
        };
        add(loss.flushed, fate.allFlushed, fate.someFlushed);
        add(loss.subnormal, fate.allSubnormal, fate.someSubnormal);
        add(loss.overflowed, fate.allOver, fate.someOver);
    }
    for (ShareBounds* bounds : { &loss.flushed, &loss.subnormal, &loss.overflowed }) {
        bounds->least /= total;
        bounds->most /= total;
    }
    return loss;
}

bool hasOctaves(std::span<const double> edges)
{
    if (std::ranges::equal(edges, octaveEdges()))
        return true;
    const auto has = [edges](double limit, double sign) {
        return std::any_of(edges.begin(), edges.end(),
            [limit, sign](double edge) { return edge * sign > 0 && magnitude(edge) == limit; });
    };
    return std::all_of(kNumberFormats.begin(), kNumberFormats.end(), [&has](const NumberFormatFacts& facts) {
        return has(facts.flushed, 1) && has(facts.flushed, -1) && has(facts.normal, 1) && has(facts.normal, -1);
    });
}

std::vector<std::uint8_t> lostBins(std::span<const double> edges, Stat share)
{
    const int place = static_cast<int>(share) - static_cast<int>(Stat::Fp16Underflow);
    const NumberFormatFacts& facts = kNumberFormats[static_cast<std::size_t>(place / 2)];
    std::vector<std::uint8_t> lost(edges.size() - 1);
    for (std::size_t bin = 0; bin < lost.size(); ++bin) {
        const Fate fate = fateOf(edges, bin, facts);
        lost[bin] = place % 2 == 0 ? fate.allFlushed : fate.allOver;
    }
    return lost;
}

}
