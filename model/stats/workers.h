// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

namespace telltale::stats {

/// Runs job(0) .. job(parts - 1), job(0) on the caller, the others on threads that sleep between calls. When the
/// threads are busy with another call, cannot be had, or do not exist in this process (after a fork), the caller does
/// their parts itself: the result is the same. The job must not throw. Thread: any.
void runParts(int parts, const std::function<void(int)>& job);

}
