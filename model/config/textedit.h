// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace telltale::config {

/// Bytes of a text. Thread: any (a value).
struct TextSpan {
    std::size_t begin = 0;
    std::size_t end = 0;

    bool operator==(const TextSpan&) const = default;
};

/// Where the value that a JSON pointer names stands in a text that is JSON but for // comments and trailing commas; of
/// a name that stands there twice the last, as JSON's readers have it. Nothing when it is not there.
std::optional<TextSpan> findValue(std::string_view text, std::string_view pointer);
/// The same; of what is not there, the object or list that would hold it. The text's first byte where nothing is found.
TextSpan findPlace(std::string_view text, std::string_view pointer);
/// The text with a member of the document, or of an object in it, holding `json`; where it is not there yet it is added
/// at the end of its object. All else stays as it is. `pointer` names at most one object on the way.
std::string withMember(std::string_view text, std::string_view pointer, std::string_view json);

}
