// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/series/query.h>

namespace telltale::series {

/// One collected step of one series, as level 0 stores it. `value` means something when `finite`; without a finite
/// value and without a non-finite count the sample is that of an empty tensor.
struct Sample {
    double value = 0;
    bool finite = false;
    bool nan = false;
    bool posInf = false;
    bool negInf = false;
    std::uint64_t identity = 0; ///< as in CellValue
};

/// NaN over +Inf over -Inf over a value over the ways of having none: the order of the enum.
constexpr CellState stronger(CellState a, CellState b)
{
    return a < b ? b : a;
}
CellState stateOf(const Sample& sample);
/// What the counts say, never weaker than the state that the bucket has.
CellState stateOf(const Bucket& bucket);

/// Puts a sample behind everything that the bucket holds: samples come in the order of their steps.
void append(Bucket& bucket, const Sample& sample);
/// Puts a later bucket behind an earlier one. Associative, exact in all but the last bits of the mean; the mean stays
/// within [min, max].
void append(Bucket& bucket, const Bucket& later);

/// The number that a heat cell shows for a bucket with finite samples.
double reduce(const Bucket& bucket, Reduction reduction);

}
