// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include <telltale/judge/incidentdesk.h>
#include <telltale/judge/rules.h>
#include <telltale/judge/watchlist.h>
#include <telltale/store/catalog.h>
#include <telltale/store/runreader.h>

namespace telltale::judge {

/// A rank of one attempt.
struct AttemptOf {
    const Watchlist& list;
    StepRange steps; ///< that were measured
};

/// How many steps of a new attempt must be there before it is compared: an optimizer without state has none to measure
/// at the first.
inline constexpr std::int64_t kStepsToCompare = 3;

/// What a rank that was started again does otherwise than the attempt before it did at the same step, or left behind:
/// weights, learning rate, moments (Rule::Attempt). Asks the run. Thread: any (constant).
Expected<std::optional<Witness>> differenceOf(store::RunReader& reader, const store::Catalog& catalog,
    const Rules& rules, const AttemptOf& before, const AttemptOf& now);

}
