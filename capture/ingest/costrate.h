// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>

#include <telltale/protocol/messages.h>

namespace telltale::ingest {

/// What monitoring takes of a step, over the last seconds that a training spent in steps, by the sums that its agent
/// says now and then. Thread: any (a value).
class CostRate {
public:
    void note(const protocol::CostSums& sums)
    {
        if (!m_isKnown || isBack(sums)) {
            m_old = m_young = m_last = sums;
            m_isKnown = true;
            m_isWhole = false;
            return;
        }
        if (sums.steps == m_last.steps)
            return;
        m_last = sums;
        if (m_last.stepNs - m_young.stepNs < kWindowNs)
            return;
        m_old = m_young;
        m_young = m_last;
        m_isWhole = true;
    }
    /// Of one step; 0 = not known.
    double stepMs() const { return perStep(length()); }
    /// No more than that.
    double monitorMs() const { return perStep(std::min(length(), m_last.monitorNs - m_old.monitorNs)); }

private:
    static constexpr std::uint64_t kWindowNs = 2'000'000'000;
    static constexpr std::uint64_t kLongestStepNs = 24ull * 3600 * 1'000'000'000; ///< nobody waits for that

    bool isBack(const protocol::CostSums& sums) const
    {
        return sums.steps < m_last.steps || sums.stepNs < m_last.stepNs || sums.monitorNs < m_last.monitorNs;
    }
    std::uint64_t steps() const { return m_last.steps - m_old.steps; }
    std::uint64_t length() const { return m_last.stepNs - m_old.stepNs; }
    double perStep(std::uint64_t ns) const
    {
        const bool isSane = m_isWhole && steps() > 0 && length() / steps() <= kLongestStepNs;
        return isSane ? static_cast<double>(ns) / static_cast<double>(steps()) / 1e6 : 0;
    }

    protocol::CostSums m_old, m_young, m_last;
    bool m_isKnown = false;
    bool m_isWhole = false;
};

}
