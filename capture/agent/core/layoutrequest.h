// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include <telltale/agent/layoutregistry.h>
#include <telltale/agent/telltale_agent.h>
#include <telltale/core/expected.h>

namespace telltale::agent {

/// NULL is a value. What it says may be unsound. Thread: any (pure).
Slot slotOf(const tt_slot* slot);
/// A tt_layout_add call, checked and turned into values. Thread: any (pure).
Expected<LayoutRequest> readRequest(std::uint32_t kind, const std::uint8_t* stats, std::uint32_t statCount,
    const tt_series* series, std::uint32_t count);
/// The same of tt_layout_add_histograms.
Expected<LayoutRequest> readHistogramRequest(
    std::uint32_t kind, const double* edges, std::uint32_t edgeCount, const tt_series* series, std::uint32_t count);

}
