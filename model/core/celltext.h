// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace telltale {

/// Whether a spreadsheet could run the text of a cell (UTF-8): programs pass over white space, controls and what has no
/// width in front of it, take the wide signs of East Asian keyboards (U+FF1D, U+FF0B, U+FF0D, U+FF20) for the plain
/// ones, and begin another cell at a tabulator or a carriage return. Thread: any (pure).
bool isFormula(std::string_view text);

/// The fewest digits that read back as the same number, which is finite. Most values were measured as float32: of one
/// that is, its own, which say all that is known. Thread: any (pure).
std::string shortestDigits(double value);

}
