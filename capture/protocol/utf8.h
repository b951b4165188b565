// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace telltale::protocol {

/// Strict UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF. NUL is allowed here. Thread: any.
bool isUtf8(std::string_view text);

/// The text with every byte that is not part of valid UTF-8 replaced by U+FFFD, so that one bad character in a message
/// never costs the batch that carries it.
std::string toUtf8(std::string_view text);

/// A name that may stand in a capsule: valid UTF-8 of at most limits::kMaxNameBytes bytes without NUL.
bool isValidName(std::string_view name);

}
