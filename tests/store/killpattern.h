// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "capsulecontent.h"

namespace telltale::store::test {

inline constexpr int kKillSteps = 5; ///< steps a batch

inline std::shared_ptr<SeriesLayout> killTensors()
{
    return makeLayout(1, Kind::GradReduced, { Stat::Norm, Stat::Mean, Stat::Nans }, 150);
}
inline std::shared_ptr<SeriesLayout> killScalars()
{
    return makeLayout(2, Kind::Scalar, { Stat::Value }, 3);
}
/// What series i of either layout holds at a step.
inline double killValue(std::int64_t step, std::size_t series, std::size_t stat)
{
    const auto mixed = static_cast<std::uint64_t>(step) * 2654435761u + series * 40503u + stat * 97u;
    return static_cast<double>(mixed % 65521) / (stat == 2 ? 1.0 : 8.0);
}

}
