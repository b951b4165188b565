// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include <telltale/agent/layoutregistry.h>
#include <telltale/agent/telltale_agent.h>
#include <telltale/core/expected.h>

namespace telltale::agent {

/// A tt_layout_add call, checked and turned into values. Thread: any (a value).
struct LayoutRequest {
    Kind kind = Kind::Unspecified;
    std::vector<Stat> stats;
    BlockType type = BlockType::Stats;
    std::vector<SeriesDesc> series;
    std::string mended; ///< one sentence where names or shapes had to be made to fit, else empty

    static Expected<LayoutRequest> parse(std::uint32_t kind, const std::uint8_t* stats, std::uint32_t statCount,
        const tt_series* series, std::uint32_t count);
};

}
