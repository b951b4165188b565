// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace telltale {

/// The block of the model that a tensor belongs to: its name up to and with the first number ("layers.3"), else its
/// first word ("head"). Thread: any (pure).
std::string blockOf(const std::string& name);

}
