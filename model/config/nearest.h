// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string_view>

namespace telltale::config {

/// The name that needs the fewest single-character edits, "" when none is near enough to be meant. Thread: any.
std::string_view nearestName(std::string_view wrong, std::span<const std::string_view> names);

}
