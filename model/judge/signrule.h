// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <telltale/core/ids.h>

namespace telltale::judge {

// How alike the signs of a gradient are in two runs, and msprobe's reading of it. Thread: any.

/// At one step: the share of elements whose sign is the same, 0..1.
struct SignSample {
    Step step;
    double similarity = 0;
};

/// What the rule of msprobe's grad_probe says of one weight: suspicious where fewer than 97 % of the signs are the same
/// at the first step, or where the share falls by more than 0.03 from one step to the next that is known.
struct SignVerdict {
    static constexpr double kLeastAtFirst = 0.97;
    static constexpr double kMostDrop = 0.03;

    SignSample first; ///< the earliest step
    SignSample least; ///< the earliest of the lowest
    double largestDrop = 0; ///< from a step to the next; 0 where it never falls
    std::optional<Step> suspicious; ///< the first step at which the rule holds
    std::optional<double> before; ///< the share at the step before that; none at the first
    double then = 0; ///< and at it
    bool isAtMost = false; ///< the shares are the largest that can be (mostSimilar)

    bool isSuspicious() const { return suspicious.has_value(); }
    /// What is suspicious, as the end of an English sentence: "the share of equal signs falls from 1 to 0 (a drop over
    /// 0.03)". Of a suspicious one.
    std::string reason() const;
};

/// Of samples by ascending step, at least one; a similarity that is no number is left out.
SignVerdict judgeSignSimilarity(std::span<const SignSample> samples);

/// Where gradient and momentum agree in a share `a` of the elements in one run and `b` in the other, so many at most
/// have gradient and momentum of the same signs in both.
double mostSimilar(double a, double b);

/// As grad_probe has it: an element counts as positive where it is > 0; zero, negative and NaN are alike. 0 without
/// elements. Both have equally many.
double signSimilarity(std::span<const float> a, std::span<const float> b);
/// The same of bits, 1 = positive, the lowest of a byte first; `count` elements.
double signSimilarity(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b, std::uint64_t count);

}
