// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/series/envelope.h>

#include <algorithm>
#include <cmath>

namespace telltale::series {

CellState stateOf(const Sample& sample)
{
    if (sample.nan)
        return CellState::NaN;
    if (sample.posInf)
        return CellState::PosInf;
    if (sample.negInf)
        return CellState::NegInf;
    return sample.finite ? CellState::Value : CellState::Absent;
}

CellState stateOf(const Bucket& bucket)
{
    CellState counted = CellState::NotCollected;
    if (bucket.nans > 0)
        counted = CellState::NaN;
    else if (bucket.posInfs > 0)
        counted = CellState::PosInf;
    else if (bucket.negInfs > 0)
        counted = CellState::NegInf;
    else if (bucket.finite > 0)
        counted = CellState::Value;
    else if (bucket.samples > 0)
        counted = CellState::Absent;
    return stronger(bucket.state, counted);
}

void append(Bucket& bucket, const Sample& sample)
{
    Bucket one;
    one.samples = 1;
    if (sample.finite) {
        one.finite = 1;
        one.min = one.max = one.mean = one.first = one.last = sample.value;
    }
    one.nans = sample.nan ? 1 : 0;
    one.posInfs = sample.posInf ? 1 : 0;
    one.negInfs = sample.negInf ? 1 : 0;
    one.state = stateOf(sample);
    append(bucket, one);
}

void append(Bucket& bucket, const Bucket& later)
{
    if (later.finite > 0) {
        if (bucket.finite == 0) {
            bucket.min = later.min;
            bucket.max = later.max;
            bucket.mean = later.mean;
            bucket.first = later.first;
        } else {
            bucket.min = std::min(bucket.min, later.min);
            bucket.max = std::max(bucket.max, later.max);
            const double weight
                = static_cast<double>(later.finite) / (static_cast<double>(bucket.finite) + later.finite);
            // Two products, not a difference times a weight: values near the largest double must not overflow.
            const double mean = bucket.mean * (1 - weight) + later.mean * weight;
            bucket.mean = std::clamp(mean, bucket.min, bucket.max);
        }
        bucket.last = later.last;
    }
    bucket.samples += later.samples;
    bucket.finite += later.finite;
    bucket.nans += later.nans;
    bucket.posInfs += later.posInfs;
    bucket.negInfs += later.negInfs;
    bucket.state = stronger(bucket.state, stateOf(later));
}

double reduce(const Bucket& bucket, Reduction reduction)
{
    switch (reduction) {
    case Reduction::LargestMagnitude:
        return std::abs(bucket.min) > std::abs(bucket.max) ? bucket.min : bucket.max;
    case Reduction::Smallest:
        return bucket.min;
    case Reduction::Sum:
        return std::round(bucket.mean * bucket.finite); // exact up to 2^51
    case Reduction::Mean:
    case Reduction::None:
        break;
    }
    return bucket.mean;
}

}
