// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace telltale {

/// What was measured. Numbers travel on the wire and stand in capsules: never reuse one.
enum class Kind : std::uint8_t {
    Unspecified = 0,
    Scalar = 1, ///< loss, lr, grad-norm, whatever the user logs; f64, one value a step
    ParamOrigin = 2,
    ParamUpdated = 3,
    GradUnreduced = 4,
    GradReduced = 5,
    Actv = 6,
    ActvGrad = 7,
    ExpAvg = 8,
    ExpAvgSq = 9,
    MgDirection = 10,
    Update = 11,
    UpdateRatio = 12,
    Comm = 13,
    Attention = 14, ///< per head: entropy and softmax max
    Linear = 15,
    Router = 16,
    GradSign = 17,
};
inline constexpr int kKindCount = 18;

/// One column of a series. Numbers travel on the wire and stand in capsules: never reuse one.
enum class Stat : std::uint8_t {
    Unspecified = 0,
    Norm = 1,
    Mean = 2,
    Min = 3,
    Max = 4,
    Zeros = 5, ///< share of elements with abs(x) < eps
    Nans = 6, ///< count
    PosInfs = 7, ///< count of +Inf
    NegInfs = 8, ///< count of -Inf
    Value = 9, ///< the value of a scalar
    Entropy = 10, ///< nats
    SoftmaxMax = 11,
    StableRank = 12,
    KernelNorm = 13,
    Checksum = 14,
    Hist = 15, ///< count of elements in the bin that the series' slot names
    Agreement = 16, ///< share of elements whose sign agrees (mg_direction)
    Similarity = 17, ///< mean cosine of a router's rows
    AbsMax = 64, ///< derived by the reader from Min and Max, never stored
};
inline constexpr int kStoredStatCount = 18;

/// The field's own word for a kind ("grad_unreduced"): used by the command line, CSV, config and the window.
std::string_view kindName(Kind kind);
std::optional<Kind> kindFromName(std::string_view name);
/// "norm", "nans", "absmax", ...
std::string_view statName(Stat stat);
std::optional<Stat> statFromName(std::string_view name);

/// Counts of non-finite elements are columns that describe the other columns of the same series.
constexpr bool isNonFiniteCount(Stat stat)
{
    return stat == Stat::Nans || stat == Stat::PosInfs || stat == Stat::NegInfs;
}

}
