// SPDX-License-Identifier: GPL-3.0-or-later
#include "sourcepath.h"

namespace telltale::test {

std::string sourcePath(std::string_view below)
{
    return std::string(TELLTALE_SOURCE "/").append(below);
}

}
