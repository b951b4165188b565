// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace telltale::judge {

/// What a series of positive numbers did lately, and how far the next one leaves that: a two-sided robust z on
/// logarithms,
///
///     z = (log x - median) / (1.4826 x max(MAD, kLeastMad))
///
/// over the last kWindow values that were not far themselves (F. R. Hampel, "The influence curve and its role in robust
/// estimation", 1974: the median and the median absolute deviation hold while less than half of the values are bad). A
/// value that is far stays out of the window, so that a spike does not blind the rule to the next one; kAccepted far
/// ones in a row are a new level, and the window begins anew. Says nothing before kArmed values.
///
/// A training that falls or grows evenly leaves that window, too: what makes a jump is that the value is as far from
/// the kRecent values right before it, far ones among them. Thread: any (a value).
class Baseline {
public:
    static constexpr int kWindow = 128;
    static constexpr int kArmed = 32;
    static constexpr int kAccepted = 16;
    static constexpr int kRecent = 8;
    static constexpr double kLeastMad = 0.05; ///< of a logarithm: a change by 5 % is never unusual

    Baseline() { rearm(); }

    struct Verdict {
        double z = 0; ///< 0 before it is armed; of what is not far, an upper bound
        double logFactor = 0; ///< log(x / median)
        // Of what is far alone.
        double jump = 0; ///< log(x / median of the kRecent before it)
        double median = 0; ///< of the values
    };
    /// Judges x > 0, and takes it unless |z| > far.
    Verdict judge(double x, double far);
    /// What comes next is not to be measured by what was.
    void rearm();
    /// A whole window is known: nothing has begun anew lately.
    bool isSettled() const { return m_count == kWindow; }
    /// log(last / median of those right before it), also before it is armed; nothing before kRecent values.
    std::optional<double> lastJump() const;

private:
    void take(float y);
    double recentMedian() const;

    std::array<float, kWindow> m_ring {}; ///< in the order in which they came
    std::array<float, kWindow> m_sorted {}; ///< and infinity where there is none yet
    std::array<float, kRecent> m_recent {}; ///< the last, in turn
    int m_seen = 0;
    int m_count = 0;
    int m_next = 0;
    int m_far = 0; ///< in a row
};

}
