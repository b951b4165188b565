// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "curvequery.h"

namespace telltale::views {

/// Puts the other ranks of every series of `picture` behind it: as thin lines of their own while a plot can hold them,
/// as one band from the smallest to the largest beyond that. Non-finite samples of a band stay in its buckets, so that
/// the lane above the plot shows them. Thread: query.
Expected<CurvePicture> withOtherRanks(
    store::RunReader& reader, CurvePicture picture, const CurveRequest& request, const series::CancelToken& cancel);

/// Widens the buckets of `into` by those of another rank.
void widen(std::vector<series::Bucket>& into, const std::vector<series::Bucket>& other);

}
