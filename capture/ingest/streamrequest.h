// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include <telltale/protocol/messages.h>
#include <telltale/store/storeservice.h>

namespace telltale::ingest {

/// What the store needs of a Hello. Thread: any (pure).
store::StreamRequest requestOf(const protocol::Hello& hello, std::uint64_t token);

}
