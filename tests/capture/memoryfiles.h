// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace telltale::test {

/// Whether this machine has a place for pages that outlive a killed process.
inline bool hasMemoryFiles()
{
    struct statfs memory { };
    return ::statfs("/dev/shm", &memory) == 0 && memory.f_type == TMPFS_MAGIC && ::access("/dev/shm", W_OK) == 0;
}

}
