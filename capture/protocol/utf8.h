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

/// The longest beginning of at most `maxBytes` bytes that does not end inside a character. Of valid UTF-8.
std::string_view cutUtf8(std::string_view text, std::size_t maxBytes);

/// A name that may stand in a capsule: valid UTF-8 of at most limits::kMaxNameBytes bytes without NUL.
bool isValidName(std::string_view name);

/// The text as a valid name: itself where it is one. Else with U+FFFD for what is no character, and where it is too
/// long, cut at a character and ended by "~" and a checksum of all of it, so that two long names stay two.
std::string toName(std::string_view text);

}
