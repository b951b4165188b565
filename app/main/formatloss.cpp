// SPDX-License-Identifier: GPL-3.0-or-later
#include "formatloss.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include <telltale/core/numberformats.h>

namespace telltale::app {
namespace {

/// Empty where one could not be read.
std::vector<double> readable(std::span<const std::int64_t> counts)
{
    if (std::any_of(counts.begin(), counts.end(), [](std::int64_t count) { return count < 0; }))
        return {};
    return { counts.begin(), counts.end() };
}

}

std::string formatLossHeading()
{
    std::string text;
    for (const NumberFormatFacts& facts : kNumberFormats)
        text += fmt::format("{:<36}", fmt::format("{} flushed, subnormal, over", facts.name));
    return text;
}

std::string formatLossText(std::span<const double> edges, std::span<const std::int64_t> counts)
{
    const std::vector<double> numbers = readable(counts);
    if (numbers.empty())
        return "damaged";
    std::string text;
    for (std::size_t i = 0; i < kNumberFormats.size(); ++i) {
        const auto loss = lossOf(edges, numbers, static_cast<NumberFormat>(i));
        const std::string over = loss.overflowed.isExact()
            ? fmt::format("{:.4g} %", 100 * loss.overflowed.least)
            : fmt::format("{:.4g} to {:.4g} %", 100 * loss.overflowed.least, 100 * loss.overflowed.most);
        text += fmt::format("{:<36}",
            fmt::format("{:.4g} %, {:.4g} %, {}", 100 * loss.flushed.least, 100 * loss.subnormal.least, over));
    }
    return text;
}

std::string formatLossJson(std::span<const double> edges, std::span<const std::int64_t> counts)
{
    const std::vector<double> numbers = readable(counts);
    if (numbers.empty())
        return "null";
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < kNumberFormats.size(); ++i) {
        const auto loss = lossOf(edges, numbers, static_cast<NumberFormat>(i));
        texts.push_back(
            fmt::format(R"("{}":{{"flushed":{},"subnormal":{},"overflowed":[{},{}]}})", kNumberFormats[i].name,
                loss.flushed.least, loss.subnormal.least, loss.overflowed.least, loss.overflowed.most));
    }
    return fmt::format("{{{}}}", fmt::join(texts, ","));
}

}
