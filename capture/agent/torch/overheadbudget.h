// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace telltale {

/// Keeps what monitoring takes of the training's own time within telltale.overhead_budget: says which of the steps that
/// the config selects are collected, by what the last ones took. It asks no clock. The Python agent's budget.py has the
/// same rules; tests/data/overheadbudget.json is for both. Thread: training.
class OverheadBudget {
public:
    using Nanoseconds = std::chrono::nanoseconds;
    /// For the run's log.
    struct News {
        std::string sentence;
        std::string json;
    };

    /// interval: the config selects each such step.
    OverheadBudget(double percent, std::int64_t interval)
        : m_percent(percent)
        , m_interval(interval)
    {
    }

    /// Of a step that the config selects. By the step's number, so that what few admit, more admit, too, in every rank.
    bool admits(std::int64_t step) const { return step / m_interval % m_stride == 0; }
    std::int64_t stride() const { return m_stride; }
    /// One step in so many is collected; 0 = all that the config selects.
    std::int64_t every() const { return m_stride > 1 ? m_stride * m_interval : 0; }
    /// A step has ended; elapsed: its length with `cost`, which is what monitoring took of it. 0 = not known.
    std::optional<News> stepEnded(bool isCollected, Nanoseconds cost, Nanoseconds elapsed);

private:
    using Recent = std::deque<double>;

    void decide();
    std::optional<News> news();

    const double m_percent;
    const std::int64_t m_interval;
    std::int64_t m_stride = 1;
    std::int64_t m_toldStride = 1;
    bool m_isOver = false; ///< even with the fewest
    bool m_isOverTold = false;
    bool m_isWarm = false; ///< the first that was collected is over: it made series and touched memory first
    Recent m_collected, m_idle, m_own;
    double m_before = 0; ///< what it took before the last change, a share
    double m_after = 0; ///< and is to take now
    Nanoseconds m_time { 0 };
    std::optional<Nanoseconds> m_toldAt;
};

}
