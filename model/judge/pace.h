// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <deque>
#include <optional>

#include <telltale/core/ids.h>

namespace telltale::judge {

/// Whether one of several ranks that do the same work computes longer than the others, and goes on doing so. Of its
/// lag, the logarithm of its time over the others', the medians of blocks of kBlock steps are compared with how such
/// medians wandered before: on a machine that does other work, too, a rank is slower for a dozen steps, and then
/// another. Two blocks in a row decide. Says nothing of the first steps, which allocate and compile, nor before it
/// knows kKnown blocks. Thread: any (a value).
class Pace {
public:
    static constexpr int kWarmUp = 16; ///< steps
    static constexpr int kBlock = 8;
    static constexpr std::size_t kKnown = 8; ///< blocks
    static constexpr std::size_t kKept = 32;
    static constexpr std::size_t kMost = 8; ///< blocks that wait for a decision
    static constexpr double kLeastSpread = 0.005; ///< of a block's median: clocks are no better

    struct Slow {
        Step since;
        double lag = 0; ///< a logarithm
        double z = 0; ///< against how blocks wandered
    };
    /// `share`: the least that counts, 0.05 is 5 %. `far`: the least z. Says it again with every block that it lasts.
    std::optional<Slow> take(Step step, double lag, double share, double far);

private:
    struct Lag {
        Step step;
        double lag = 0;
    };
    Step sinceWhen(double lag) const;

    std::deque<Lag> m_lags; ///< of the last kMost + 1 blocks
    std::deque<double> m_past; ///< medians of blocks
    std::deque<double> m_recent; ///< of those that are not in the past yet: the last, and slow ones right before it
    std::optional<Step> m_since; ///< while it is slow
    int m_seen = 0;
    int m_inBlock = 0;
};

}
