// SPDX-License-Identifier: GPL-3.0-or-later
// Which steps the columns of a HeatPicture are of, and which of them were collected.
#include "heatpicture.h"

#include <algorithm>
#include <numeric>

namespace telltale::views {

using series::CellState;

StepRange HeatPicture::stepsOf(int column) const
{
    if (axes == HeatAxes::ModuleByRank)
        return { atStep, atStep };
    // Column c holds the steps s with floor((s - first) * columns / count) == c.
    const std::int64_t count = result.range.count();
    const auto firstOf = [&](std::int64_t c) { return (c * count + result.columns - 1) / result.columns; };
    return { Step { result.range.first.value + firstOf(column) },
        Step { result.range.first.value + firstOf(column + 1) - 1 } };
}

StepRange HeatPicture::collectedSteps(int column) const
{
    const StepRange steps = stepsOf(column);
    const auto sample = std::ranges::lower_bound(collected, column);
    if (interval == 0 || sample == collected.end() || *sample != column)
        return steps;
    const std::int64_t since = interval * (sample - collected.begin());
    return { std::max(steps.first, Step { firstSample.first.value + since }),
        std::min(steps.last, Step { firstSample.last.value + since }) };
}

StepRange HeatPicture::stepsOf(int row, int column) const
{
    return cellSteps.empty() ? collectedSteps(column)
                             : StepRange { cellSteps[at(row, column)], cellSteps[at(row, column)] };
}

std::pair<int, int> HeatPicture::drawnColumns(int column, double plotWidth, int end) const
{
    if (!holds(plotWidth) || column >= end)
        return { column, column + 1 };
    const auto from = held.begin() + held[static_cast<std::size_t>(column)];
    const auto to = std::find_if(from, held.begin() + end, [&from](int one) { return one != *from; });
    return { *from, static_cast<int>(to - held.begin()) };
}

int HeatPicture::columnOf(Step step) const
{
    if (axes == HeatAxes::ModuleByRank || !result.range.contains(step))
        return -1;
    return static_cast<int>((step.value - result.range.first.value) * result.columns / result.range.count());
}

void HeatPicture::findCollected()
{
    collected.clear();
    held.clear();
    interval = 0;
    for (int column = 0; column < columns() && axes != HeatAxes::ModuleByRank; ++column) {
        if (strongest[static_cast<std::size_t>(column)] != CellState::NotCollected)
            collected.push_back(column);
    }
    findInterval();
    holdCollected();
}

/// Known where no column can have two samples, and one interval alone puts them where they are.
void HeatPicture::findInterval()
{
    const std::int64_t count = result.range.count();
    const auto last = static_cast<std::int64_t>(collected.size()) - 1;
    if (last < 1)
        return;
    const bool isWhole = count == columns();
    // What a run has more of than the other is in its own mean.
    for (std::size_t i = 0; sides && !isWhole && i < result.states.size(); ++i) {
        const auto column = static_cast<int>(i % static_cast<std::size_t>(columns()));
        const bool isAlone
            = (sides->statesA[i] == CellState::NotCollected) != (sides->statesB[i] == CellState::NotCollected);
        if (isAlone && collected.front() <= column && column <= collected.back())
            return;
    }
    const StepRange from = stepsOf(collected.front());
    const StepRange to = stepsOf(collected.back());
    const std::int64_t least = std::max(
        (to.first.value - from.last.value + last - 1) / last, isWhole ? std::int64_t { 1 } : count / columns() + 1);
    for (std::int64_t each = least; each * last <= to.last.value - from.first.value; ++each) {
        StepRange first = from;
        for (std::int64_t i = 1; i <= last && !first.isEmpty(); ++i) {
            const StepRange steps = stepsOf(collected[static_cast<std::size_t>(i)]);
            first.first = std::max(first.first, Step { steps.first.value - i * each });
            first.last = std::min(first.last, Step { steps.last.value - i * each });
        }
        if (first.isEmpty())
            continue;
        const bool isSecond = interval > 0;
        interval = isSecond ? 0 : each;
        firstSample = first;
        if (isSecond)
            return;
    }
}

/// A step that nobody collected, between two that somebody did or before the next can be, is the schedule and no loss:
/// where it has no room for its dots, the last collected one stays.
void HeatPicture::holdCollected()
{
    constexpr double kLongest = 32; ///< steps
    constexpr int kUneven = 2; ///< so many times the interval before or after: more was left out than usual
    const auto count = static_cast<std::size_t>(columns());
    if (collected.size() < 3 || collected.size() == count)
        return;
    const double steps = static_cast<double>(result.range.count()) / columns(); // of a column
    held.resize(count);
    std::iota(held.begin(), held.end(), 0);
    for (std::size_t i = 0; i < collected.size(); ++i) {
        const int before = i > 0 ? collected[i] - collected[i - 1] : 0;
        const int after = i + 2 < collected.size() ? collected[i + 2] - collected[i + 1] : 0;
        const bool isLast = i + 1 == collected.size();
        const int next
            = isLast ? std::min(before, collected[i - 1] - collected[i - 2]) : collected[i + 1] - collected[i];
        const Step until { std::min(collectedSteps(collected[i]).last.value + interval - 1, result.range.last.value) };
        const int end = isLast && interval > 0 ? columnOf(until) + 1 : std::min(collected[i] + next, columns());
        if (next <= kUneven * std::max(before, after) && next * steps <= kLongest)
            std::fill(held.begin() + collected[i], held.begin() + end, collected[i]);
    }
}

}
