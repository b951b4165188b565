// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include <telltale/alerts/alertsettings.h>
#include <telltale/core/expected.h>

namespace telltale::notify {

std::string alertsPath(const std::string& dataDir);

/// The document, or what counts where there is none. An error says every problem and never a secret. Thread: any, does
/// I/O.
Expected<alerts::AlertSettings> loadAlerts(const std::string& dataDir);
/// After a power cut there is the old document or the new one; nobody but the owner can read either.
Expected<void> saveAlerts(const std::string& dataDir, const alerts::AlertSettings& settings);

/// What tells one state of the file from another; -1 = there is none.
struct FileStamp {
    long long changedNs = -1;
    long long size = -1;
    unsigned long long inode = 0;
    bool operator==(const FileStamp&) const = default;
};
FileStamp stampOf(const std::string& dataDir);

}
