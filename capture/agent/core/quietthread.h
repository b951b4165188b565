// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <csignal>
#include <thread>
#include <utility>

namespace telltale::agent {

/// A new thread that blocks every signal from its first instruction, so that the training process's handlers run where
/// they always did. Thread: any.
template <typename Body> std::thread quietThread(Body body)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        std::thread thread(std::move(body));
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        return thread;
    } catch (...) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
}

}
