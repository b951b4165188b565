// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <telltale/judge/rules.h>

namespace telltale::lab {

/// What a parameter at some value gives on all chosen runs together.
struct Trial {
    double value = 0;
    int hits = 0;
    int missed = 0;
    int falseAlarms = 0;
};

/// The values that are tried of a parameter: over all that it may be, evenly on a logarithmic scale, denser around
/// what is usual; whole numbers where it counts. In order.
std::vector<double> valuesToTry(const judge::Parameter& parameter, double now);

/// The value of a parameter that separates what people said is true from what they said is false. Thread: any (a
/// value).
struct Suggestion {
    bool separates = false; ///< all that is true is found, and nothing that is false
    Trial best; ///< in the middle of those that are as good; the one in force where that is as good as any
    Trial now;
    double from = 0; ///< of the values around it that are as good
    double to = 0;
};
/// Nothing where nobody has said both what is true and what is false: any value would do. `trials`: by value, the one
/// in force among them.
std::optional<Suggestion> suggest(const std::vector<Trial>& trials, double now);

}
