// SPDX-License-Identifier: GPL-3.0-or-later
#include "rankspicture.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace telltale::views {

StepRange ReplicaPicture::stepsOf(int column) const
{
    const std::int64_t count = range.count();
    const auto firstOf = [&](std::int64_t c) { return (c * count + columns() - 1) / columns(); };
    return { Step { range.first.value + firstOf(column) }, Step { range.first.value + firstOf(column + 1) - 1 } };
}

std::vector<Rank> ReplicaPicture::withoutAt(const analysis::SamenessAt& oneStep) const
{
    std::vector<Rank> found;
    found.reserve(oneStep.without.size());
    for (const std::size_t place : oneStep.without)
        found.push_back(ranks[place]);
    return found;
}

std::vector<std::size_t> unlikeMost(const std::vector<series::CellValue>& checksums)
{
    auto odd = analysis::minorityOf(checksums);
    if (std::ranges::count(checksums, series::CellState::Value, &series::CellValue::state) == std::ssize(odd))
        odd.clear();
    return odd;
}

double spreadOf(const std::vector<series::CellValue>& values)
{
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    int count = 0;
    for (const series::CellValue& one : values) {
        if (one.state != series::CellState::Value)
            continue;
        low = std::min(low, one.value);
        high = std::max(high, one.value);
        ++count;
    }
    if (count < 2)
        return std::numeric_limits<double>::quiet_NaN();
    const double unit = std::max(std::abs(low), std::abs(high));
    return unit > 0 ? (high - low) / unit : 0;
}

}
