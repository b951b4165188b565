// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/series/query.h>

namespace telltale::test {

/// Of one sample.
inline series::Bucket single(double value)
{
    series::Bucket b;
    b.min = b.max = b.mean = b.first = b.last = value;
    b.samples = b.finite = 1;
    b.state = series::CellState::Value;
    return b;
}

inline series::Bucket nonFinite(series::CellState state)
{
    series::Bucket b;
    b.samples = 1;
    b.state = state;
    b.nans = state == series::CellState::NaN;
    b.posInfs = state == series::CellState::PosInf;
    b.negInfs = state == series::CellState::NegInf;
    return b;
}

}
