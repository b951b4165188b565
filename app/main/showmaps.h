// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "report.h"

namespace telltale::app {

/// `telltale show --maps NAME`: the stored attention maps of the modules that NAME chooses, a line a head, or with
/// --json every cell. Thread: the verb's.
int runShowMaps(const Args& args, Report& report);

}
