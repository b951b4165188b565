// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "comparequery.h"

namespace telltale::views {

/// Fills the map of an answer: the rows that both runs have, each cell of B against that of A. A cell that is finite in
/// one run alone, or not finite in different ways, is shown as what is not finite; two NaN are equal, and so are two
/// infinities of one sign. Thread: query.
void addDifferenceMap(CompareAnswer& answer, const CompareRequest& request, ComparePart a, ComparePart b);

}
