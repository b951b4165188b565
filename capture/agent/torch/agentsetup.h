// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include <telltale/agent/telltale_agent.h>

namespace telltale {

/// "libtorch 1.13.1".
std::string frameworkName();
/// RANK, else what the common launchers set, else 0.
int rankFromEnvironment();
/// Options of an agent on the CPU that takes the rest from the environment. Points into both strings.
tt_options agentOptions(const std::string& framework, const std::string& configText);

}
