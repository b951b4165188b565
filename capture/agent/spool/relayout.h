// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/core/ids.h>
#include <telltale/protocol/layouttable.h>

namespace telltale::agent {

/// The layouts that a payload's blocks use. Thread: any (pure).
Expected<std::vector<LayoutId>> usedLayouts(std::string_view payload, const protocol::LayoutTable& layouts);

/// The same payload with layouts in front, for a connection that has not seen them. The only place where held bytes are
/// encoded again.
Expected<std::string> withLayouts(
    std::string_view payload, const std::vector<LayoutId>& added, const protocol::LayoutTable& layouts);

}
