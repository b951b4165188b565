// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace telltale {

/// What was measured of a run lately; 0 = not known. Thread: any (a value).
struct RunRates {
    double monitorMs = 0; ///< of a step, in the rank where it is most of one
    double stepMs = 0;
    double bytesPerSample = 0; ///< stored
    std::int64_t every = 0; ///< there, one in so many steps is collected; 0 = as its config has it
    bool operator==(const RunRates&) const = default;
};

}
