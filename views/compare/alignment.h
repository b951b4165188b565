// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <telltale/plot/xwarp.h>
#include <telltale/store/runreader.h>

namespace telltale::views {

/// What a run had seen (samples, tokens, time since its first step) at its steps, by which another run is laid beside
/// it. Thread: any (a value).
class Progress {
public:
    /// Reads it over `range` from any rank that records it, `preferred` first. Empty where the run does not, or only at
    /// one step. Thread: query.
    static Expected<Progress> read(store::RunReader& reader, const store::Catalog& catalog, XAxis axis, Rank preferred,
        StepRange range, const series::CancelToken& cancel);

    bool isEmpty() const { return m_points.size() < 2; }
    double at(Step step) const; ///< in a straight line between the steps that are known, and beyond them
    /// The step that had seen so much, to the nearest; none where the run never was there.
    std::optional<Step> stepAt(double quantity) const;

private:
    struct Point {
        double step;
        double quantity;
    };
    std::vector<Point> m_points; ///< both ascending
};

/// Which steps of a run stand in the columns of another one's picture: an empty range where none does.
using StepColumns = std::vector<StepRange>;

/// All of them, and no more.
StepRange hullOf(const StepColumns& columns);
/// The answer to a question about hullOf(columns), at the places of `columns`, as if `range` had been asked for.
series::HeatResult movedTo(const StepColumns& columns, StepRange range, const series::HeatResult& result);
series::CurveResult movedTo(const StepColumns& columns, StepRange range, const series::CurveResult& result);

}
