// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace telltale::bench {

/// What a step of a small training takes of its thread, in milliseconds, under telltale::watch().
struct RecorderCost {
    double sent = 0; ///< gradients are measured and sent
    double kept = 0; ///< the same, and the flight recorder keeps the rest
    double all = 0; ///< all of it is sent
};
/// The three take turns. `folder`: for what they spool, since nobody listens.
RecorderCost recorderCost(const std::string& folder);

}
