// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace telltale {

/// Length in bytes of the valid UTF-8 sequence at the start of `text`, which is not empty; 0 = not valid. Strict: no
/// overlong forms, no surrogates, nothing above U+10FFFF. Thread: any.
std::size_t utf8SequenceLength(std::string_view text);

/// Text from outside (a name, a host, a reason, a path) as one line that a terminal or a log only shows. What could
/// move the cursor, end the line, run a command of the terminal or turn the order of letters is written as JSON would
/// escape it, `\u001b`; a byte that is no UTF-8 as U+FFFD. Inside a JSON document the result therefore still means the
/// same text. Thread: any.
std::string terminalText(std::string_view text);

/// Text from outside as part of a file's name: letters of any script, digits and `-.+_` stay, other bytes become `%xx`;
/// at most `maxBytes` long, cut at a character. Never empty, never hidden, never a path of its own. Thread: any.
std::string fileNameText(std::string_view text, std::size_t maxBytes = 120);

/// A moment in nanoseconds of Unix time: "2026-11-21T12:04:00Z"; "" for 0. Thread: any.
std::string utcTimeText(std::int64_t unixNs);

/// "1 batch", "2 batches". Thread: any.
std::string countText(std::uint64_t count, std::string_view one, std::string_view many);

}
