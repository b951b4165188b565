// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>

/// What a histogram (core/histogram.h) says of the tensor that it counts; what number formats would lose of it is in
/// core/numberformats.h. Thread: any (pure).
namespace telltale::analysis {

/// The value that `share` (0..1) of the counted elements lie below, NaN without elements. Inside a bin the elements are
/// taken to lie evenly, over the logarithm where the bin spans more than an octave on one side of zero; so it is off by
/// a bin's width at most. Of an open bin its finite edge is the answer.
double quantile(std::span<const double> edges, std::span<const double> counts, double share);

}
