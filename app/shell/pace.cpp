// SPDX-License-Identifier: GPL-3.0-or-later
#include "pace.h"

#include <algorithm>

namespace telltale::shell {
namespace {

constexpr std::size_t kMostRates = 60;
constexpr double kMsPerSecond = 1000;
constexpr std::int64_t kEnoughSteps = 10; ///< of fewer, one more or less in a second is a large part
constexpr std::int64_t kMostMs = 10'000; ///< that are looked back for them
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
    if (step < m_step) // the training was begun again
        m_seen.clear();
    m_seen.emplace_back(ms, step);
    while (m_seen.size() > 2 && (step - m_seen[1].second >= kEnoughSteps || ms - m_seen[1].first >= kMostMs))
        m_seen.pop_front();
    if (m_isBegun && step > m_step) {
        m_took = since;
        const auto& [fromMs, from] = m_seen.front();
        m_stepsPerSecond = static_cast<double>(step - from) * kMsPerSecond
            / static_cast<double>(std::max<std::int64_t>(1, ms - fromMs));
        m_rates.push_back(m_stepsPerSecond);
        if (m_rates.size() > kMostRates)
            m_rates.erase(m_rates.begin());
    }
    m_isBegun = true;
    m_ms = ms;
    m_step = step;
}

}
