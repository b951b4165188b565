// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include <telltale/core/ids.h>

namespace telltale::agent {

/// What is known of a batch that cannot be delivered any more.
struct LostBatch {
    std::uint64_t samples = 0;
    std::uint64_t scalars = 0;
    StepRange steps;
    bool isExact = true; ///< else there may have been more
    std::string why;
};

/// The payload that stands at its seq: the samples as drops, and an event. Thread: any (pure).
std::string lostBatchPayload(const LostBatch& lost);
/// For the second and later of several that are lost together and counted in the first.
std::string lostBesidePayload();

}
