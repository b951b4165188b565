// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace telltale::test {

/// A file of the checkout that the tests were built from: sourcePath("tests/data/v1").
std::string sourcePath(std::string_view below);

}
