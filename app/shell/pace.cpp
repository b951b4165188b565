// SPDX-License-Identifier: GPL-3.0-or-later
#include "pace.h"

#include <algorithm>

namespace telltale::shell {
namespace {

constexpr std::size_t kMostRates = 60;
constexpr double kMsPerSecond = 1000;
constexpr std::int64_t kPatienceMs = 2000; ///< steps come in batches, and a step may take twice as long as another

}

void Pace::note(std::int64_t ms, std::int64_t step)
{
    const std::int64_t since = std::max<std::int64_t>(1, ms - m_ms);
    const double seconds = static_cast<double>(since) / kMsPerSecond;
    if (m_isBegun && step == m_step) {
        if (since > 2 * m_took + kPatienceMs)
            m_stepsPerSecond = std::min(m_stepsPerSecond, 1 / seconds);
        return;
    }
    if (m_isBegun && step > m_step) {
        m_took = since;
        m_stepsPerSecond = static_cast<double>(step - m_step) / seconds;
        m_rates.push_back(m_stepsPerSecond);
        if (m_rates.size() > kMostRates)
            m_rates.erase(m_rates.begin());
    }
    // A step before: the training was begun again.
    m_isBegun = true;
    m_ms = ms;
    m_step = step;
}

}
