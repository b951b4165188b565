// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <telltale/config/monitorconfig.h>

namespace telltale {

/// Whether this agent does what a field of the config's table asks for ("wg_distribution", "telltale.threads").
bool isServed(std::string_view field);
/// What a config asks for (holds other than its default) and this agent does not do, by name. Thread: any.
std::vector<std::string> unservedFields(const config::MonitorConfig& config);
/// The same as a sentence, "" when there is nothing to say.
std::string unservedSentence(const config::MonitorConfig& config);

}
