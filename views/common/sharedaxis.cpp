// SPDX-License-Identifier: GPL-3.0-or-later
#include "sharedaxis.h"

#include <algorithm>
#include <cmath>

#include <QFontMetricsF>

#include <telltale/items/guithread.h>

#include "theme.h"
#include "viewstate.h"

namespace telltale::views {

namespace {

/// Smallest of 1, 2, 5 x 10^k that is >= wanted.
std::int64_t niceStride(double wanted)
{
    std::int64_t decade = 1;
    while (static_cast<double>(decade) * 10 < wanted)
        decade *= 10;
    for (const std::int64_t factor : { 1, 2, 5, 10 }) {
        if (static_cast<double>(decade * factor) >= wanted)
            return decade * factor;
    }
    return decade * 10;
}

}

SharedAxis::SharedAxis(ViewState* state, QObject* parent)
    : QObject(parent)
    , m_state(state)
{
    items::assertGuiThread();
    connect(state, &ViewState::visibleRangeChanged, this, &SharedAxis::changed);
}

std::vector<SharedAxis::Tick> SharedAxis::ticks(int width) const
{
    return ticksFor(m_state->visibleRange(), width);
}

std::vector<SharedAxis::Tick> SharedAxis::ticksFor(StepRange range, int width)
{
    std::vector<Tick> ticks;
    if (range.isEmpty() || width <= 0)
        return ticks;
    const QFontMetricsF metrics(numberFont(11));
    const double widest = std::max(metrics.horizontalAdvance(formatStep(range.first.value)),
        metrics.horizontalAdvance(formatStep(range.last.value)));
    const double pixelsPerStep = static_cast<double>(width) / static_cast<double>(range.count());
    // In a narrow plot they stand closer: two tell little of where a step is.
    for (const double spacing : { std::max(widest + 24.0, 72.0), widest + 16.0 }) {
        if (ticks.size() >= 3)
            break;
        ticks.clear();
        const std::int64_t stride = niceStride(std::max(1.0, spacing / pixelsPerStep));
        const std::int64_t remainder = ((range.first.value % stride) + stride) % stride;
        const std::int64_t begin = range.first.value + (remainder == 0 ? 0 : stride - remainder);
        for (std::int64_t step = begin; step <= range.last.value; step += stride)
            ticks.push_back({ xOfStep(range, Step { step }, width), step });
    }
    return ticks;
}

double SharedAxis::xOf(Step step, int width) const
{
    return xOfStep(m_state->visibleRange(), step, width);
}

double SharedAxis::xOfStep(StepRange range, Step step, int width)
{
    if (range.isEmpty())
        return 0;
    return (static_cast<double>(step.value - range.first.value) + 0.5) * width / static_cast<double>(range.count());
}

Step SharedAxis::stepAt(double x, int width) const
{
    const StepRange range = m_state->visibleRange();
    if (range.isEmpty() || width <= 0)
        return range.first;
    const double offset = std::floor(x * static_cast<double>(range.count()) / width);
    const double last = static_cast<double>(range.count() - 1);
    return Step { range.first.value + static_cast<std::int64_t>(std::clamp(offset, 0.0, last)) };
}

}
