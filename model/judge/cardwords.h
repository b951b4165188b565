// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <set>

#include <telltale/judge/incidentdesk.h>
#include <telltale/store/catalog.h>
#include <telltale/store/runreader.h>

namespace telltale::judge {

/// The ranks that are judged, and those of them that are not finite now.
struct RanksSeen {
    std::set<Rank> all;
    std::set<Rank> bad;
};

/// Gives an incident that is new, or begins elsewhere than was known, its sentence and its evidence. Asks the run what
/// only it knows: how much of a tensor, and what went into it. Thread: any (constant).
void describe(store::RunReader& reader, const store::Catalog& catalog, const IncidentDesk& desk, const RanksSeen& ranks,
    IncidentDesk::Case& one);

}
