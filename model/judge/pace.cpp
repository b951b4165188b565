// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/pace.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace telltale::judge {
namespace {

double medianOf(std::vector<double> values)
{
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

double spreadOf(const std::deque<double>& values)
{
    constexpr double kSigmasOfMad = 1.4826; // of a normal distribution
    std::vector<double> far(values.begin(), values.end());
    const double median = medianOf(far);
    for (double& one : far)
        one = std::abs(one - median);
    return std::max(Pace::kLeastSpread, kSigmasOfMad * medianOf(std::move(far)));
}

}

std::optional<Pace::Slow> Pace::take(Step step, double lag, double share, double far)
{
    if (m_seen < kWarmUp) {
        ++m_seen;
        return {};
    }
    m_lags.push_back({ step, lag });
    if (m_lags.size() > (kMost + 1) * static_cast<std::size_t>(kBlock))
        m_lags.pop_front();
    if (++m_inBlock < kBlock)
        return {};
    m_inBlock = 0;
    std::vector<double> block;
    for (auto one = m_lags.end() - kBlock; one != m_lags.end(); ++one)
        block.push_back(one->lag);
    const double median = medianOf(std::move(block));
    m_recent.push_back(median);
    const auto isSlow = [least = std::log1p(share)](double one) { return one >= least; };
    const bool isLasting = m_recent.size() > 1 && std::all_of(m_recent.begin(), m_recent.end(), isSlow);
    if (m_past.size() >= kKnown && isLasting) {
        // Of two the smaller one: other work may hold a rank up for more than one block.
        std::vector<double> sorted(m_recent.begin(), m_recent.end());
        std::sort(sorted.begin(), sorted.end());
        const double lasting = sorted[(sorted.size() - 1) / 2];
        const double z = lasting / spreadOf(m_past) * std::sqrt(static_cast<double>(sorted.size()) / 2);
        if (m_since || z >= far) {
            if (!m_since)
                m_since = sinceWhen(lasting);
            if (m_recent.size() > kMost)
                m_recent.pop_front();
            return Slow { *m_since, lasting, z };
        }
    }
    // What was slow for long, and not far enough, is how it is; what was said to be slow is no measure for what is.
    while (m_recent.size() > (isLasting ? kMost : 1)) {
        if (!m_since)
            m_past.push_back(m_recent.front());
        m_recent.pop_front();
    }
    while (m_past.size() > kKept)
        m_past.pop_front();
    m_since.reset();
    return {};
}

Step Pace::sinceWhen(double lag) const
{
    const auto isSlow = [lag](const Lag& one) { return one.lag >= lag / 2; };
    auto first = m_lags.end() - std::min<std::ptrdiff_t>(std::ssize(m_recent) * kBlock, std::ssize(m_lags));
    while (!isSlow(*first) && first + 1 != m_lags.end())
        ++first;
    while (first != m_lags.begin() && isSlow(*(first - 1)))
        --first;
    return first->step;
}

}
