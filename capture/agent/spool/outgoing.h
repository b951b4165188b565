// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include <telltale/spool/stream.h>

namespace telltale::agent {

/// A held batch as it is sent. Thread: sender.
struct Outgoing {
    std::string payload;
    std::vector<LayoutId> added; ///< layouts in front of it
};

/// For a connection that has seen the layouts `known`; what cannot be read is replaced by what says so. None: the disk
/// is still reading it.
std::optional<Outgoing> outgoing(Stream& stream, std::uint64_t seq, const std::unordered_set<LayoutId>& known);

}
