// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>

#include <telltale/judge/incidentdesk.h>
#include <telltale/judge/noisescale.h>
#include <telltale/judge/peers.h>
#include <telltale/store/catalog.h>
#include <telltale/store/runreader.h>

namespace telltale::judge {

/// How noisy the gradients of a data-parallel group are. Thread: any (constant).
Witness witnessOf(const NoiseScale::Odd& odd);

/// What one rank does unlike its peers, with its words: of a roll-up the tensor that is as far from the others as any,
/// and first in the order of a step, which the run is asked for. Thread: any (constant).
Witness witnessOf(store::RunReader& reader, const store::Catalog& catalog,
    const std::map<SourceId, const Watchlist*>& lists, const Peers::Odd& odd);

}
