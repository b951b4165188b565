// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/csvtext.h>

#include <array>
#include <charconv>
#include <cmath>

#include <telltale/core/plaintext.h>

namespace telltale::exchange {
namespace {

/// Whether a spreadsheet could run it: programs pass over white space and controls in front, and take the wide signs of
/// East Asian keyboards (U+FF1D, U+FF0B, U+FF0D, U+FF20) for the plain ones.
bool isFormula(std::string_view text)
{
    std::size_t at = 0;
    const auto startsWith = [&](std::string_view what) { return text.substr(at, what.size()) == what; };
    while (at < text.size()) {
        if (static_cast<unsigned char>(text[at]) <= ' ' || text[at] == '\x7F')
            ++at;
        else if (startsWith("\u00A0"))
            at += 2;
        else if (startsWith("\u200B") || startsWith("\u3000") || startsWith("\uFEFF"))
            at += 3;
        else
            break;
    }
    if (at < text.size() && std::string_view("=+-@").find(text[at]) != std::string_view::npos)
        return true;
    return startsWith("\uFF1D") || startsWith("\uFF0B") || startsWith("\uFF0D") || startsWith("\uFF20");
}

}

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
    std::array<char, 40> digits {};
    const auto narrow = static_cast<float>(value);
    const auto end = static_cast<double>(narrow) == value
        ? std::to_chars(digits.data(), digits.data() + digits.size(), narrow).ptr
        : std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    line.append(digits.data(), end);
}

}
