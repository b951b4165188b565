// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>

namespace telltale::stats {

/// Runs job(0) .. job(pieces - 1), each once, on the caller and on up to `threads` - 1 threads that sleep between
/// calls. Whoever is free takes the next piece, so the caller waits for no thread that has not woken yet: where the
/// processors are taken, by the training's own threads above all, it does the work itself. It also does when the
/// threads are busy with another call, cannot be had, or do not exist in this process (after a fork). The job must not
/// throw. Thread: any.
void runPieces(int threads, std::uint64_t pieces, const std::function<void(std::uint64_t)>& job);

}
