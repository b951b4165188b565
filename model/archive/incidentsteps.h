// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/core/ids.h>
#include <telltale/store/runlocator.h>

namespace telltale::archive {

/// Where a run's incidents began, up to where they were told, and where each was last seen, with so many steps before
/// and behind; rising, and none twice. Thread: query; blocks.
Expected<std::vector<StepRange>> stepsOfIncidents(const store::RunLocator& run, std::int64_t around);

}
