// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <telltale/core/ids.h>

namespace telltale::exchange {

/// One event file, and what its place says. Thread: any (a value).
struct EventFile {
    std::filesystem::path path;
    Rank rank;
    int attempt = 0; ///< as the folder says
    std::string folder; ///< below the rank's
    std::uintmax_t bytes = 0;
};

/// The event files of a file or folder, by path. `isFirstEnough`: one of them will do.
std::vector<EventFile> findEventFiles(const std::filesystem::path& path, bool isFirstEnough = false);

}
