// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include <telltale/core/ids.h>
#include <telltale/core/samplebatch.h>

namespace telltale::judge {

/// What the type can hold; 0 where it does not overflow to infinity, or is not known.
double largestOf(DType type);
/// " At this rate its largest magnitude, 812, leaves float16 at about step 160."; nothing where it never does within a
/// million steps. `growth`: of a step, a logarithm.
std::string overflowForecast(double magnitude, double growth, DType type, Step now);

}
