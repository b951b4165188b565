// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/csvtext.h>

#include <cmath>

#include <telltale/core/celltext.h>
#include <telltale/core/plaintext.h>

namespace telltale::exchange {

void appendCell(std::string& line, std::string_view text)
{
    std::string shown = terminalText(text);
    if (isFormula(text))
        shown.insert(shown.begin(), '\'');
    if (shown.find_first_of(",\"\r\n") == std::string::npos) {
        line += shown;
        return;
    }
    line += '"';
    for (const char c : shown) {
        line += c;
        if (c == '"')
            line += c;
    }
    line += '"';
}

std::string textOfCell(std::string_view cell)
{
    return std::string(cell.starts_with('\'') && isFormula(cell.substr(1)) ? cell.substr(1) : cell);
}

void appendNumber(std::string& line, double value)
{
    if (std::isnan(value)) {
        line += "NaN";
        return;
    }
    if (std::isinf(value)) {
        line += value > 0 ? "Infinity" : "-Infinity";
        return;
    }
    line += shortestDigits(value);
}

}
