// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <telltale/config/monitorconfig.h>
#include <telltale/core/expected.h>

namespace telltale::config {

/// A config without errors; else all of them in one sentence, or the first `most` and how many more. Thread: any.
Expected<MonitorConfig> soundConfig(std::string_view text, std::size_t most = SIZE_MAX);

}
