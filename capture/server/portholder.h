// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace telltale::server {

/// "telltale (pid 4711)": the process that listens on a TCP port of this machine, as far as /proc lets us read. Empty
/// when it does not (another user's process). Thread: any.
std::string describePortHolder(std::uint16_t port);

}
