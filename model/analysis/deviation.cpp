// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/analysis/deviation.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace telltale::analysis {

namespace {

constexpr double kToSigma = 1.4826; ///< MAD of a normal distribution to its standard deviation
constexpr double kSmallest = 1e-3; ///< of the median: how far below it a value counts, so that 0 has a logarithm

double medianOf(std::vector<double>& values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1)
        return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// What the series is judged by: see largestDeviation. Empty where it is nearly always 0.
std::vector<double> judged(std::span<const double> values)
{
    std::vector<double> sizes;
    for (const double value : values)
        sizes.push_back(std::abs(value));
    const double typical = medianOf(sizes);
    if (!(typical > 0))
        return {};
    const bool isSigned = std::any_of(values.begin(), values.end(), [](double v) { return v < 0; })
        && std::any_of(values.begin(), values.end(), [](double v) { return v > 0; });
    std::vector<double> result;
    for (const double value : values)
        result.push_back(isSigned ? value / typical : std::log(std::abs(value) / typical + kSmallest));
    return result;
}

}

double largestDeviation(std::span<const double> values)
{
    if (values.size() <= kBefore)
        return 0;
    const std::vector<double> y = judged(values);
    struct Judged {
        double distance;
        double spread;
    };
    std::vector<Judged> all;
    std::vector<double> distances, before;
    for (std::size_t t = kBefore; t < y.size(); ++t) {
        before.assign(y.begin() + static_cast<std::ptrdiff_t>(t - kBefore), y.begin() + static_cast<std::ptrdiff_t>(t));
        const double median = medianOf(before);
        for (double& value : before)
            value = std::abs(value - median);
        all.push_back({ std::abs(y[t] - median), kToSigma * medianOf(before) });
        distances.push_back(all.back().distance);
    }
    if (all.empty())
        return 0;
    const double noise = std::max(kToSigma * medianOf(distances), kLeastSpread);
    double worst = 0;
    for (const Judged& one : all)
        worst = std::max(worst, one.distance / std::max(one.spread, noise));
    return worst;
}

}
