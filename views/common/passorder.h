// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <telltale/analysis/nonfinite.h>
#include <telltale/store/catalog.h>

namespace telltale::views {

/// Every kind that a run has, with a statistic that shows what is not finite, in the order in which a step comes to
/// them: what breaks at one step began in the first of them, whatever is shown. Thread: any.
std::vector<analysis::Quantity> quantitiesInPassOrder(const store::Catalog& catalog);

}
