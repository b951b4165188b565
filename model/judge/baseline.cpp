// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/baseline.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace telltale::judge {
namespace {

/// Of the distances to `center`, which lie sorted to both sides of it: merged until the middle one.
double medianDistance(const float* sorted, int count, double center)
{
    int right = static_cast<int>(std::lower_bound(sorted, sorted + count, static_cast<float>(center)) - sorted);
    int left = right - 1;
    double distance = 0;
    for (int taken = 0; taken <= count / 2; ++taken) {
        const double below = left >= 0 ? center - static_cast<double>(sorted[left]) : HUGE_VAL;
        const double above = right < count ? static_cast<double>(sorted[right]) - center : HUGE_VAL;
        distance = std::min(below, above);
        below <= above ? --left : ++right;
    }
    return distance;
}

}

double Baseline::recentMedian() const
{
    std::array<float, kRecent> sorted = m_recent;
    std::sort(sorted.begin(), sorted.end());
    return (static_cast<double>(sorted[kRecent / 2 - 1]) + static_cast<double>(sorted[kRecent / 2])) / 2;
}

std::optional<double> Baseline::lastJump() const
{
    if (m_seen < kRecent)
        return {};
    std::array<float, kRecent> before = m_recent;
    float& last = before[static_cast<std::size_t>((m_seen - 1) % kRecent)];
    const auto y = static_cast<double>(last);
    std::swap(last, before.back());
    std::sort(before.begin(), before.end() - 1);
    return y - static_cast<double>(before[kRecent / 2 - 1]);
}

Baseline::Verdict Baseline::judge(double x, double far)
{
    constexpr double kSigmasOfMad = 1.4826; // of a normal distribution
    const double y = std::log(x);
    Verdict verdict;
    const auto keep = [this, y] { m_recent[static_cast<std::size_t>(m_seen++ % kRecent)] = static_cast<float>(y); };
    if (m_count >= kArmed) {
        const int middle = m_count / 2;
        const auto at = [this](int i) { return static_cast<double>(m_sorted[static_cast<std::size_t>(i)]); };
        const double median = m_count % 2 == 1 ? at(middle) : (at(middle - 1) + at(middle)) / 2;
        double mad = kLeastMad;
        if (std::abs(y - median) > far * kSigmasOfMad * mad) // else nothing makes it far
            mad = std::max(mad, medianDistance(m_sorted.data(), m_count, median));
        verdict.z = (y - median) / (kSigmasOfMad * mad);
        verdict.logFactor = y - median;
        if (std::abs(verdict.z) > far) {
            verdict.jump = y - recentMedian();
            verdict.median = std::exp(median);
        }
        keep();
        if (std::abs(verdict.z) > far && ++m_far < kAccepted)
            return verdict;
        if (m_far >= kAccepted)
            rearm();
    } else {
        keep();
    }
    m_far = 0;
    take(static_cast<float>(y));
    return verdict;
}

void Baseline::rearm()
{
    m_count = m_next = m_far = 0;
    m_sorted.fill(std::numeric_limits<float>::infinity());
}

void Baseline::take(float y)
{
    float* const sorted = m_sorted.data();
    float& oldest = m_ring[static_cast<std::size_t>(m_next)];
    // How many are below, of all places: many at once, and no branch that nothing could foresee.
    std::int32_t from = 0;
    std::int32_t to = 0;
    for (std::size_t i = 0; i < kWindow; ++i) {
        from += sorted[i] < oldest ? 1 : 0;
        to += sorted[i] < y ? 1 : 0;
    }
    if (m_count < kWindow)
        from = m_count++;
    // What is between the value that goes and the one that comes moves by one.
    if (to > from) {
        std::move(sorted + from + 1, sorted + to, sorted + from);
        sorted[to - 1] = y;
    } else {
        std::move_backward(sorted + to, sorted + from, sorted + from + 1);
        sorted[to] = y;
    }
    oldest = y;
    m_next = (m_next + 1) % kWindow;
}

}
