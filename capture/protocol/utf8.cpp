// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/protocol/utf8.h>

#include <cstring>

#include <telltale/protocol/limits.h>

namespace telltale::protocol {
namespace {

/// Length of the valid sequence at the start of `text`, 0 = not valid.
std::size_t sequenceLength(std::string_view text)
{
    const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto isTail = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xC0u) == 0x80u; };
    const unsigned first = byte(0);
    if (first < 0x80)
        return 1;
    if (first >= 0xC2 && first <= 0xDF)
        return isTail(1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        if (!isTail(1) || !isTail(2))
            return 0;
        const bool overlong = first == 0xE0 && byte(1) < 0xA0;
        const bool surrogate = first == 0xED && byte(1) >= 0xA0;
        return overlong || surrogate ? 0 : 3;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        if (!isTail(1) || !isTail(2) || !isTail(3))
            return 0;
        const bool overlong = first == 0xF0 && byte(1) < 0x90;
        const bool tooHigh = first == 0xF4 && byte(1) >= 0x90;
        return overlong || tooHigh ? 0 : 4;
    }
    return 0;
}

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
        const std::size_t n = sequenceLength(text.substr(i));
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
        out.append("\xEF\xBF\xBD");
        text.remove_prefix(n + 1);
    }
}

bool isValidName(std::string_view name)
{
    return name.size() <= limits::kMaxNameBytes && name.find('\0') == std::string_view::npos && isUtf8(name);
}

}
