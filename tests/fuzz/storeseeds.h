// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>

namespace telltale::fuzz {

/// Small seeds of what a capsule holds: path inside the corpus -> bytes.
std::map<std::string, std::string> storeSeeds();

}
