// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace telltale {

/// What was measured of a run lately; 0 = not known. Thread: any (a value).
struct RunRates {
    double monitorMs = 0; ///< of a step, in the rank where it is most of one
    double stepMs = 0;
    double bytesPerSample = 0; ///< stored
    bool operator==(const RunRates&) const = default;
};

}
