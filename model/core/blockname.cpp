// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/core/blockname.h>

#include <algorithm>
#include <cctype>

namespace telltale {

std::string blockOf(const std::string& name)
{
    std::size_t begin = 0;
    while (begin <= name.size()) {
        const std::size_t end = std::min(name.find('.', begin), name.size());
        const bool isNumber = end > begin
            && std::all_of(name.begin() + static_cast<std::ptrdiff_t>(begin),
                name.begin() + static_cast<std::ptrdiff_t>(end), [](unsigned char c) { return std::isdigit(c) != 0; });
        if (isNumber)
            return name.substr(0, end);
        begin = end + 1;
    }
    return name.substr(0, name.find('.'));
}

}
