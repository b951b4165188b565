// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <csignal>
#include <thread>
#include <utility>

#include <pthread.h>

#include <telltale/core/nothrow.h>

namespace telltale {

/// A new thread that blocks every signal from its first instruction, so that the training process's handlers run where
/// they always did; an exception that its body lets go ends the thread alone. `name` is what the kernel calls it, at
/// most 15 characters. Throws std::system_error or std::bad_alloc when the system has no thread left. Thread: any.
template <typename Body> std::thread quietThread(const char* name, Body body)
{
    struct Quiet {
        Quiet()
        {
            sigset_t all;
            sigfillset(&all);
            pthread_sigmask(SIG_SETMASK, &all, &before);
        }
        ~Quiet() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
        Quiet(const Quiet&) = delete;
        Quiet& operator=(const Quiet&) = delete;

        sigset_t before {};
    } quiet;
    return std::thread([name, body = std::move(body)]() mutable {
        ::pthread_setname_np(::pthread_self(), name);
        withoutThrowing([&body] { body(); });
    });
}

}
