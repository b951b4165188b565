// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <deque>
#include <string>

#include <telltale/judge/incidentdesk.h>
#include <telltale/judge/rankjudge.h>
#include <telltale/judge/replicas.h>
#include <telltale/series/rowindex.h>

namespace telltale::judge {

// What rules see, with its words. Thread: any (constant).

std::string numberText(double value);
/// `step`: at which it became known.
Witness witnessOf(const series::RowIndex& rows, const Watchlist& list, const Sighting& sighting, Step step);
Witness witnessOf(const series::RowIndex& rows, const Replicas::Divergence& one);
/// Of steps that were given up lately, the last of them now.
Witness witnessOfGivenUp(const std::deque<Step>& lately, Rank rank);

}
