// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include <telltale/config/monitorconfig.h>

namespace telltale::config {

/// Of each problem, what holds in place of what could not be read: "1 is used" of a default, or that nothing is
/// selected. "" where more of the field was read, where the name is unknown, and of a warning. Thread: any.
std::vector<std::string> whatHoldsInstead(const ParsedConfig& parsed);

}
