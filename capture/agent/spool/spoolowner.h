// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include <telltale/core/expected.h>
#include <telltale/core/threadhome.h>
#include <telltale/spool/disk.h>
#include <telltale/spool/filehandle.h>

namespace telltale::agent {

/// Keeps a spool folder for one living process: by a file lock, and where the file system has none by a file that names
/// the process. Thread: owned by one.
class SpoolOwner {
public:
    SpoolOwner(Disk& disk, const std::string& folder)
        : m_disk(disk)
        , m_folder(folder)
    {
    }

    /// Busy while another process has it.
    Expected<void> claim();
    bool isClaimed() const { return m_lock.isOpen(); }
    /// The file system has no locks.
    bool isByName() const { return m_isByName; }
    void release();
    /// Files of the claim, not of the spool.
    static bool isOwnFile(const std::string& name);

private:
    Expected<void> claimByName();

    Disk& m_disk;
    const std::string m_folder;
    FileHandle m_lock;
    bool m_isByName = false;
    ThreadHome m_home;
};

}
