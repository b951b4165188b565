// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/protocol/utf8.h>

#include <cstring>

#include <telltale/core/plaintext.h>
#include <telltale/protocol/limits.h>

namespace telltale::protocol {
namespace {

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
        out.append("\xEF\xBF\xBD");
        text.remove_prefix(n + 1);
    }
}

bool isValidName(std::string_view name)
{
    return name.size() <= limits::kMaxNameBytes && name.find('\0') == std::string_view::npos && isUtf8(name);
}

}
