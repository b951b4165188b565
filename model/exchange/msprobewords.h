// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

#include <telltale/store/catalog.h>

namespace telltale::exchange {

/// Where msprobe keeps a series' rows, and what it calls it. As the Python agent's csv output (sinks/layout.py) has it.
struct MsprobeRowWords {
    std::string prefix; ///< of its file: "actv_grad"
    std::string name; ///< "blocks.0.attn.core.input_0"
    bool hasMicroStep = false;
    bool isFixed = false; ///< its files have no shape and dtype
};
/// Of a statistic of it; a router's two have a file each. An empty prefix: msprobe has no such rows.
MsprobeRowWords msprobeRowWords(const store::SeriesInfo& series, Stat stat);
/// "router_weight_similarity" where msprobe has another word than we.
std::string msprobeColumn(Kind kind, Stat stat);

}
