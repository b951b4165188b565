// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <vector>

#include "flagplaces.h"

namespace telltale::views {

/// The sign of an incident in a lane above a plot: the worst of those that share a place, beside the flags. Thread: any
/// (a value).
struct IncidentSign {
    double x; ///< px of its middle
    EventMark::Shape shape;

    static constexpr double kHalf = 8; ///< px of the largest, that of the current incident

    /// `xOf`: px of a step. From left to right as their steps.
    static std::vector<IncidentSign> of(const FlagPlaces& flags, StepRange range, const std::vector<EventMark>& marks,
        const std::function<double(Step)>& xOf);
};

}
