// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace telltale::config {

/// JSON with `//` comments and trailing commas as plain JSON of the same length: what is not JSON becomes blanks, so
/// that positions in parser messages stay right. Text in strings is left alone. Thread: any.
std::string plainJson(std::string_view text);

}
