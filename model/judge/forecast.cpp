// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/forecast.h>

#include <cmath>

#include <fmt/format.h>

#include <telltale/judge/wording.h>

namespace telltale::judge {

double largestOf(DType type)
{
    switch (type) {
    case DType::F16:
        return 65504.0;
    case DType::BF16:
        return 3.3895e38;
    case DType::F32:
        return 3.4028e38;
    case DType::F64:
        return 1.7976e308;
    default:
        return 0;
    }
}

std::string overflowForecast(double magnitude, double growth, DType type, Step now)
{
    constexpr double kSoon = 1e6; // steps: nobody plans for what is later
    const double limit = largestOf(type);
    if (!(magnitude > 0) || !(growth > 0) || limit <= magnitude)
        return {};
    const double steps = std::ceil(std::log(limit / magnitude) / growth);
    if (steps > kSoon)
        return {};
    return fmt::format("; at this rate its largest magnitude, {}, overflows {} at about step {}", numberText(magnitude),
        dtypeName(type), now.value + static_cast<std::int64_t>(steps));
}

}
