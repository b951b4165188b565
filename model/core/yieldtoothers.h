// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace telltale {

/// Lets other threads go first where a machine is full: the calling thread, and those that it starts, wait longer and
/// get less. A refusal of the system does not matter. Thread: any.
inline void yieldToOthers()
{
    constexpr int kNice = 5;
    const sched_param none {};
    (void)::sched_setscheduler(0, SCHED_BATCH, &none);
    (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kNice);
}

}
