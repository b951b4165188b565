// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>

namespace telltale::agent {

/// Keeps a forked child from acting as its parent: in the child every registered flag is set, and every registered file
/// or socket is closed, so that a worker that outlives the training process holds neither its lock nor its connection.
/// Thread: any. Process-wide, because pthread_atfork is.
namespace forkguard {
void keepFromChildren(int fd);
void forget(int fd);
void watch(std::atomic<bool>* inChild);
void unwatch(std::atomic<bool>* inChild);
}

}
