// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <vector>

#include <telltale/store/runreader.h>

namespace telltale::views {

struct CurveRequest;

/// How long each rank computed in the steps up to one: the five numbers of a box. Thread: any (a value).
struct RankTimes {
    static constexpr std::int64_t kSteps = 128;

    struct Box {
        Rank rank;
        double low = 0, quarter = 0, median = 0, threeQuarters = 0, high = 0; ///< 2.5, 25, 50, 75 and 97.5 %
        std::vector<double> steps; ///< what each took, NaN where it is not known
        bool isSlow = false; ///< by 5 % against the median of the others, and longer than it in 3 of 4 steps
    };
    std::string scalar; ///< "forward_ms", in its own unit
    StepRange steps;
    std::vector<Box> boxes; ///< by rank, those with a finite value; empty: the run says no such time, or of one rank

    bool isEmpty() const { return boxes.size() < 2; }
};

/// So many means of neighboring values, what is not finite left out; as they are where there are no more. Thread: any.
std::vector<double> thinned(const std::vector<double>& values, std::size_t points);

/// Of the first scalar that says how long a rank computes without waiting for others (judge::ScalarRole::ComputeTime),
/// else of one that says how long a step takes, up to the end of the asked steps. Thread: query.
Expected<RankTimes> readRankTimes(
    store::RunReader& reader, const CurveRequest& request, const series::CancelToken& cancel);

}
