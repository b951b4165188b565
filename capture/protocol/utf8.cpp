// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/protocol/utf8.h>

#include <cstdio>
#include <cstring>

#include <telltale/core/bytes.h>
#include <telltale/core/plaintext.h>
#include <telltale/protocol/limits.h>

namespace telltale::protocol {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD"; ///< U+FFFD

/// Number of bytes from the start that are valid.
std::size_t validPrefix(std::string_view text)
{
    std::size_t i = 0;
    while (i < text.size()) {
        if (i + 8 <= text.size()) {
            std::uint64_t word;
            std::memcpy(&word, text.data() + i, 8);
            if ((word & 0x8080808080808080u) == 0) {
                i += 8;
                continue;
            }
        }
        const std::size_t n = utf8SequenceLength(text.substr(i));
        if (n == 0)
            break;
        i += n;
    }
    return i;
}

}

bool isUtf8(std::string_view text)
{
    return validPrefix(text) == text.size();
}

std::string toUtf8(std::string_view text)
{
    std::string out;
    for (;;) {
        const std::size_t n = validPrefix(text);
        out.append(text.substr(0, n));
        if (n == text.size())
            return out;
        out.append(kReplacement);
        text.remove_prefix(n + 1);
    }
}

std::string_view cutUtf8(std::string_view text, std::size_t maxBytes)
{
    if (text.size() <= maxBytes)
        return text;
    const auto isTail = [text](std::size_t i) { return (static_cast<unsigned char>(text[i]) & 0xC0u) == 0x80u; };
    while (maxBytes > 0 && isTail(maxBytes))
        --maxBytes;
    return text.substr(0, maxBytes);
}

bool isValidName(std::string_view name)
{
    return name.size() <= limits::kMaxNameBytes && name.find('\0') == std::string_view::npos && isUtf8(name);
}

std::string toName(std::string_view text)
{
    if (isValidName(text))
        return std::string(text);
    std::string name = toUtf8(text);
    for (std::size_t at = name.find('\0'); at != std::string::npos; at = name.find('\0', at))
        name.replace(at, 1, kReplacement);
    if (name.size() <= limits::kMaxNameBytes)
        return name;
    constexpr std::size_t kEnd = 9; // "~" and eight digits
    char end[kEnd + 1];
    std::snprintf(end, sizeof(end), "~%08x", crc32c(text));
    return std::string(cutUtf8(name, limits::kMaxNameBytes - kEnd)) + end;
}

}
