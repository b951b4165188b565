// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/config/relaxedjson.h>

#include <cstddef>

namespace telltale::config {
namespace {

bool isBlank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

}

std::string plainJson(std::string_view text)
{
    std::string out(text);
    constexpr auto kNone = std::string::npos;
    std::size_t comma = kNone; // the last comma with only blanks after it so far
    for (std::size_t i = 0; i < out.size(); ++i) {
        const char c = out[i];
        if (c == '"') {
            comma = kNone;
            for (++i; i < out.size() && out[i] != '"' && out[i] != '\n'; ++i)
                i += out[i] == '\\' ? 1u : 0u;
        } else if (c == '/' && i + 1 < out.size() && out[i + 1] == '/') {
            for (; i < out.size() && out[i] != '\n'; ++i)
                out[i] = ' ';
        } else if (c == ',') {
            comma = i;
        } else if (!isBlank(c)) {
            if ((c == '}' || c == ']') && comma != kNone)
                out[comma] = ' ';
            comma = kNone;
        }
    }
    return out;
}

}
