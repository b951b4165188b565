// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

#include <telltale/config/monitorconfig.h>
#include <telltale/core/expected.h>

namespace telltale::server {

/// A config without errors, as it is offered. Thread: any (a value).
struct CheckedConfig {
    config::MonitorConfig config;
    std::string json; ///< canonical
    std::string hash;
};

/// All errors of a config in one sentence; TooLarge where no rank would take it.
Expected<CheckedConfig> checkedConfig(std::string_view text);

}
