// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace telltale::shell {

/// How fast a training goes, as far as its newest step tells: a second without one says nothing of a training whose
/// steps take ten. Thread: any (a value), one at a time.
class Pace {
public:
    /// Where its run stands, `ms` milliseconds after any moment; call it about once a second.
    void note(std::int64_t ms, std::int64_t step);

    double stepsPerSecond() const { return m_stepsPerSecond; }
    const std::vector<double>& rates() const { return m_rates; } ///< steps/s, one a new step seen, oldest first

private:
    bool m_isBegun = false;
    std::int64_t m_ms = 0; ///< when the newest step was first seen
    std::int64_t m_took = 0; ///< until then from the one seen before it
    std::int64_t m_step = -1;
    double m_stepsPerSecond = 0;
    std::deque<std::pair<std::int64_t, std::int64_t>> m_seen; ///< ms and step: of enough steps to tell
    std::vector<double> m_rates;
};

}
