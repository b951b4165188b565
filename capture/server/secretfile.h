// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

#include <telltale/core/expected.h>

namespace telltale::server {

/// Small files that nobody but their owner may read (0600). Thread: any; one writer.
/// NotFound when there is none. A file that others could read is narrowed to 0600 on the way; links are not followed.
Expected<std::string> readSecret(const std::string& path);
/// Durable and whole or not at all: temporary file, fsync, rename, fsync of the directory.
Expected<void> writeSecret(const std::string& path, std::string_view contents);

}
