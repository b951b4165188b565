// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace telltale {

/// TELLTALE_ENVIRONMENT is not "off".
bool isEnvironmentAllowed();
/// What the training runs on, as a JSON object with the Python agent's names: host, system, processor, memory, command
/// line without what is secret, folder. Reads no variable of the environment. Thread: any; reads /proc.
std::string environmentJson(const std::string& framework);
/// As somebody would type it; what follows a name such as --api-key or --password is hidden.
std::string commandLine(const std::vector<std::string>& arguments);

}
