// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/lab/suggestion.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace telltale::lab {
namespace {

/// Parameters that count steps or times.
bool isCount(const judge::Parameter& parameter)
{
    return parameter.name == "steps" || parameter.name == "times";
}

/// Three digits: what a person would write.
double rounded(double value)
{
    const double unit = std::pow(10.0, std::floor(std::log10(value)) - 2);
    // A unit below 1 is divided by instead: 7.27, and not 7.2700000000000005.
    return unit < 1 ? std::round(value / unit) / std::round(1 / unit) : std::round(value / unit) * unit;
}

/// Fewer wrong words of either kind first, then more hits.
auto merit(const Trial& trial)
{
    return std::tuple(-(trial.missed + trial.falseAlarms), trial.hits);
}

}

std::vector<double> valuesToTry(const judge::Parameter& parameter, double now)
{
    // As far from the standard as anybody goes; the table's limits are only where numbers stop to mean anything.
    constexpr double kFarthest = 16;
    constexpr int kSteps = 12;
    const double least = std::max(parameter.least, parameter.standard / kFarthest);
    const double most = std::min(parameter.most, parameter.standard * kFarthest);
    std::vector<double> values { now, parameter.standard };
    for (int i = 0; i <= kSteps; ++i) {
        const double value = rounded(least * std::pow(most / least, static_cast<double>(i) / kSteps));
        values.push_back(std::clamp(isCount(parameter) ? std::round(value) : value, parameter.least, parameter.most));
    }
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

std::optional<Suggestion> suggest(const std::vector<Trial>& trials, double now)
{
    const auto current
        = std::find_if(trials.begin(), trials.end(), [now](const Trial& trial) { return trial.value == now; });
    const bool isAnyTrue
        = std::any_of(trials.begin(), trials.end(), [](const Trial& trial) { return trial.hits + trial.missed > 0; });
    const bool isAnyFalse
        = std::any_of(trials.begin(), trials.end(), [](const Trial& trial) { return trial.falseAlarms > 0; });
    if (current == trials.end() || !isAnyTrue || !isAnyFalse)
        return {};
    const auto best = std::max_element(
        trials.begin(), trials.end(), [](const Trial& a, const Trial& b) { return merit(a) < merit(b); });
    // The longest stretch of values that are as good: its middle is farthest from what is worse.
    auto from = trials.end();
    auto to = trials.end();
    for (auto begin = trials.begin(); begin != trials.end();) {
        auto end = begin;
        while (end != trials.end() && merit(*end) == merit(*best))
            ++end;
        if (end != begin && (from == trials.end() || end - begin > to - from)) {
            from = begin;
            to = end;
        }
        begin = end == begin ? begin + 1 : end;
    }
    Suggestion suggestion;
    suggestion.best = merit(*current) == merit(*best) ? *current : *(from + (to - from - 1) / 2);
    if (merit(*current) == merit(*best)) {
        from = to = current;
        while (from != trials.begin() && merit(*(from - 1)) == merit(*best))
            --from;
        while (to != trials.end() && merit(*to) == merit(*best))
            ++to;
    }
    suggestion.now = *current;
    suggestion.from = from->value;
    suggestion.to = (to - 1)->value;
    suggestion.separates = best->missed == 0 && best->falseAlarms == 0;
    return suggestion;
}

}
