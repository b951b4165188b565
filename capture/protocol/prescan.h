// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

#include <telltale/core/expected.h>

namespace telltale::protocol {

/// Walks the wire format by hand before protobuf sees it, so that no peer can make us allocate more than a small
/// multiple of what it sent (2 MiB of empty submessages are 184 MiB once parsed). Counts submessages, repeated strings
/// and packed elements, refuses groups and everything that does not fit its length. Costs no memory. Thread: any.
Expected<void> prescanEnvelope(std::string_view bytes);
Expected<void> prescanPayload(std::string_view bytes);

}
