// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/core/kinds.h>

#include "telltale.pb.h"

/// Kind and Stat have the same numbers on the wire and in memory; a test compares their words. For .cpp files of this
/// folder only.
namespace telltale::protocol::wire {

using namespace telltale::capture::v1;

static_assert(Kind_ARRAYSIZE == kKindCount);
static_assert(Stat_ARRAYSIZE == kStoredStatCount);

}
