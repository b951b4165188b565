// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/core/blockname.h>

#include <algorithm>
#include <cctype>

namespace telltale {

std::size_t dottedBytes(std::string_view name)
{
    return std::min({ name.find(' '), name.find('('), name.size() }); // find_first_of asks anew at every char
}

std::string blockOf(const std::string& name)
{
    const std::size_t dotted = dottedBytes(name);
    std::size_t begin = 0;
    while (begin <= dotted) {
        const std::size_t end = std::min({ name.find('.', begin), dotted, name.size() });
        const bool isNumber = end > begin
            && std::all_of(name.begin() + static_cast<std::ptrdiff_t>(begin),
                name.begin() + static_cast<std::ptrdiff_t>(end), [](unsigned char c) { return std::isdigit(c) != 0; });
        if (isNumber)
            return name.substr(0, end);
        begin = end + 1;
    }
    const std::size_t dot = name.find('.');
    return dot < dotted ? name.substr(0, dot) : name;
}

}
