// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include <telltale/config/monitorconfig.h>
#include <telltale/core/expected.h>

namespace telltale {

/// A monitor config and the text it came from, as the agent sends it. Thread: any (a value).
struct LoadedConfig {
    config::MonitorConfig config;
    std::string text;
    /// Whether the text has a dynamic_on of its own, whatever it says.
    bool saysDynamicOn() const;
};

/// A config that collects everything the C++ agent serves.
std::string everythingConfigText();
/// "" where it is the JSON text itself: begins with '{' or '/' '/'.
std::string pathOf(const std::string& pathOrText);
/// From a file's path, from the JSON text itself, or everythingConfigText()
/// when empty. Bad fields are told on standard error and hold their defaults; an error is a file that cannot be read or
/// is not JSON.
Expected<LoadedConfig> loadMonitorConfig(const std::string& pathOrText);

}
