// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <span>

namespace telltale::demo {

/// telltale-demo-trainer from its arguments (without the program's name) to its exit code: 0 done or stopped by a
/// signal, 1 the work failed, 2 wrong usage or bad input. Thread: the caller's.
int runCommand(std::span<const char* const> arguments, const std::atomic<bool>& interrupted);

}
