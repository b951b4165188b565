// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/core/kinds.h>

#include <array>

namespace telltale {
namespace {

constexpr std::array<std::string_view, kKindCount> kKindNames { "unspecified", "scalar", "param_origin",
    "param_updated", "grad_unreduced", "grad_reduced", "actv", "actv_grad", "exp_avg", "exp_avg_sq", "mg_direction",
    "update", "ratio", "comm", "attention", "linear", "router", "grad_sign" };
static_assert(kKindNames.size() == kKindCount && !kKindNames.back().empty());

constexpr std::array<std::string_view, kStoredStatCount> kStatNames { "unspecified", "norm", "mean", "min", "max",
    "zeros", "nans", "posinfs", "neginfs", "value", "entropy", "softmax_max", "sr", "kernel_norm", "checksum", "hist",
    "agreement", "similarity" };
static_assert(kStatNames.size() == kStoredStatCount && !kStatNames.back().empty());
constexpr std::string_view kAbsMaxName = "absmax";

}

std::string_view kindName(Kind kind)
{
    const auto i = static_cast<std::size_t>(kind);
    return i < kKindNames.size() ? kKindNames[i] : kKindNames[0];
}

std::optional<Kind> kindFromName(std::string_view name)
{
    for (std::size_t i = 1; i < kKindNames.size(); ++i) {
        if (kKindNames[i] == name)
            return static_cast<Kind>(i);
    }
    return std::nullopt;
}

std::string_view statName(Stat stat)
{
    if (stat == Stat::AbsMax)
        return kAbsMaxName;
    const auto i = static_cast<std::size_t>(stat);
    return i < kStatNames.size() ? kStatNames[i] : kStatNames[0];
}

std::optional<Stat> statFromName(std::string_view name)
{
    if (name == kAbsMaxName)
        return Stat::AbsMax;
    for (std::size_t i = 1; i < kStatNames.size(); ++i) {
        if (kStatNames[i] == name)
            return static_cast<Stat>(i);
    }
    return std::nullopt;
}

}
