// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>

namespace telltale::server {

/// How fast something goes on, by pairs of a step and a time. Thread: any (a value).
class StepRate {
public:
    void note(std::int64_t step, std::int64_t ns)
    {
        if (m_isKnown && (step <= m_last.step || ns <= m_last.ns))
            return;
        m_last = { step, ns };
        if (!m_isKnown)
            m_old = m_young = m_last;
        m_isKnown = true;
        if (ns - m_young.ns < kWindowNs)
            return;
        m_old = m_young;
        m_young = m_last;
    }
    /// 0 = not known.
    double perSecond() const
    {
        return m_last.ns > m_old.ns
            ? static_cast<double>(m_last.step - m_old.step) / static_cast<double>(m_last.ns - m_old.ns) * 1e9
            : 0;
    }

    /// Where it is at `ns` if it goes on so, and no farther than it gets in a few seconds; INT64_MIN = not known.
    std::int64_t stepAt(std::int64_t ns) const
    {
        if (!m_isKnown)
            return INT64_MIN;
        const auto since = static_cast<double>(std::clamp<std::int64_t>(ns - m_last.ns, 0, kFarthestNs));
        return m_last.step + static_cast<std::int64_t>(std::min(perSecond() * since / 1e9, kFarthestSteps));
    }

private:
    static constexpr std::int64_t kFarthestNs = 5'000'000'000;
    static constexpr double kFarthestSteps = 1e6;
    static constexpr std::int64_t kWindowNs = 1'000'000'000;
    struct Moment {
        std::int64_t step = 0;
        std::int64_t ns = 0;
    };
    Moment m_old, m_young, m_last;
    bool m_isKnown = false;
};

}
