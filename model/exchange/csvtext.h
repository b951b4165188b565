// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace telltale::exchange {

/// Appends a cell of RFC 4180: quoted where it must be, what a terminal would act on escaped, and what a spreadsheet
/// would run as a formula behind an apostrophe. Thread: any (pure).
void appendCell(std::string& line, std::string_view text);
/// What appendCell() wrote, its quotes gone already: the apostrophe in front of a formula goes, too.
std::string textOfCell(std::string_view cell);
/// "NaN", "Infinity", "-Infinity", or the shortest digits that read back as the same number; of a float32 its own.
void appendNumber(std::string& line, double value);

}
