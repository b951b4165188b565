// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <optional>

namespace telltale::judge {

/// Whether something grows evenly, or faster and faster: which never jumps away from its own past, and overflows in the
/// end. Of the last kWindow logarithms the medians of four quarters; each is above the one before. A spike is in one
/// quarter at most, a new level between two of them. Thread: any (a value).
class Growth {
public:
    static constexpr int kWindow = 32;
    static constexpr int kQuarter = kWindow / 4;
    static constexpr int kSettled = 100; ///< values that a training needs to find its sizes
    static constexpr int kGradientsSettled = 200; ///< and its gradients, which grow tenfold where attention wakes up

    struct Rate {
        double total = 0; ///< a logarithm: from the first quarter to the last, 24 steps
        double now = 0; ///< of a step, lately
        int steps = 0; ///< that it has grown, this one included: since it left its first size for good
    };
    /// Takes x > 0. Says how fast it grows where that is by `least` at least over the window, a logarithm, once it has
    /// taken `settled` values.
    std::optional<Rate> take(double x, double least, int settled = kSettled);

private:
    float quarter(int number) const; ///< its median, 0 = the oldest

    std::array<float, kWindow> m_ring {}; ///< in turn
    int m_seen = 0;
};

}
