// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "heatquery.h"

namespace telltale::views {

/// Which ranks other than the one that a heat map shows have non-finite values, column by column: what is broken
/// elsewhere must not look healthy here. Thread: any (a value).
struct HeatElsewhere {
    StepRange range;
    std::vector<std::vector<Rank>> columns; ///< ranks ascending

    /// Of the column that holds `step`; empty where there are none.
    std::vector<Rank> at(Step step) const;
};

/// Asks one rank after the other, so that no answer is larger than the picture's own. Thread: query.
Expected<HeatElsewhere> readElsewhere(
    store::RunReader& reader, const HeatRequest& request, const series::CancelToken& cancel = {});

}
