// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/signrule.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

namespace telltale::judge {

SignVerdict judgeSignSimilarity(std::span<const SignSample> samples)
{
    SignVerdict verdict;
    const SignSample* before = nullptr;
    for (const SignSample& one : samples) {
        if (!std::isfinite(one.similarity))
            continue;
        bool isSuspicious = false;
        if (!before) {
            verdict.first = verdict.least = one;
            isSuspicious = one.similarity < SignVerdict::kLeastAtFirst;
        } else {
            const double drop = before->similarity - one.similarity;
            verdict.largestDrop = std::max(verdict.largestDrop, drop);
            isSuspicious = drop > SignVerdict::kMostDrop;
        }
        if (one.similarity < verdict.least.similarity)
            verdict.least = one;
        if (isSuspicious && !verdict.suspicious) {
            verdict.suspicious = one.step;
            verdict.before = before ? std::optional(before->similarity) : std::nullopt;
            verdict.then = one.similarity;
        }
        before = &one;
    }
    return verdict;
}

std::string SignVerdict::reason() const
{
    if (!before)
        return fmt::format("{} {:.4g} of the signs are the same (below {} at first)", isAtMost ? "at most" : "only",
            then, kLeastAtFirst);
    return fmt::format("the {}share of equal signs falls from {:.4g} to {:.4g} (a drop over {})",
        isAtMost ? "largest possible " : "", *before, then, kMostDrop);
}

double mostSimilar(double a, double b)
{
    return 1 - std::abs(a - b);
}

double signSimilarity(std::span<const float> a, std::span<const float> b)
{
    std::uint64_t same = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        same += (a[i] > 0) == (b[i] > 0) ? 1 : 0;
    return a.empty() ? 0 : static_cast<double>(same) / static_cast<double>(a.size());
}

double signSimilarity(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b, std::uint64_t count)
{
    std::uint64_t differing = 0;
    for (std::uint64_t i = 0; i < count; i += 8) {
        const auto byte = static_cast<std::size_t>(i / 8);
        const std::uint64_t here = std::min<std::uint64_t>(8, count - i);
        const auto mask = static_cast<std::uint8_t>((1U << here) - 1U);
        differing += static_cast<std::uint64_t>(std::popcount(static_cast<std::uint8_t>((a[byte] ^ b[byte]) & mask)));
    }
    return count == 0 ? 0 : static_cast<double>(count - differing) / static_cast<double>(count);
}

}
