// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string>
#include <vector>

#include <telltale/judge/factsheet.h>
#include <telltale/judge/runcomparison.h>

namespace telltale::judge {

// What a comparison says to people and scripts: `telltale compare` and the Compare view say the same. Thread: any.

/// "1.28e-04", "NaN", a checksum; with all digits where `isWhole`.
std::string comparedText(const series::CellValue& cell, Stat stat, bool isWhole);
/// Both values of a deviation, told apart by as many digits as that takes.
std::pair<std::string, std::string> comparedTexts(const Deviation& one);

/// One JSON document: "equal", "sentence", "tolerance", "steps", "kinds", "ranks", "first", "facts", "signs", ...
std::string reportJson(const Comparison& found, std::span<const DifferingFact> facts, int indent = 2);
/// Lines of plain text with the same.
std::string reportText(const Comparison& found, std::span<const DifferingFact> facts);

}
