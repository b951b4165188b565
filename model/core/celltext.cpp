// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/core/celltext.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include <telltale/core/plaintext.h>

namespace telltale {
namespace {

struct Stretch {
    std::uint32_t first, last;
};
/// White space, controls and marks without width.
constexpr Stretch kPassedOver[] { { 0, 0x20 }, { 0x7F, 0xA0 }, { 0xAD, 0xAD }, { 0x1680, 0x1680 }, { 0x180E, 0x180E },
    { 0x2000, 0x200F }, { 0x2028, 0x202F }, { 0x205F, 0x206F }, { 0x3000, 0x3000 }, { 0xFEFF, 0xFEFF } };
constexpr std::uint32_t kSigns[] { '=', '+', '-', '@', 0xFF1D, 0xFF0B, 0xFF0D, 0xFF20 };

/// The character of a valid sequence.
std::uint32_t characterOf(std::string_view sequence)
{
    constexpr std::uint32_t kLead[] { 0x7F, 0x1F, 0x0F, 0x07 };
    std::uint32_t character = static_cast<unsigned char>(sequence.front()) & kLead[sequence.size() - 1];
    for (const char byte : sequence.substr(1))
        character = (character << 6) | (static_cast<unsigned char>(byte) & 0x3F);
    return character;
}

}

bool isFormula(std::string_view text)
{
    if (text.starts_with('\t') || text.starts_with('\r'))
        return true;
    while (!text.empty()) {
        const std::size_t length = utf8SequenceLength(text);
        if (length == 0)
            return false;
        const std::uint32_t character = characterOf(text.substr(0, length));
        const auto holds = [character](Stretch one) { return character >= one.first && character <= one.last; };
        if (std::none_of(std::begin(kPassedOver), std::end(kPassedOver), holds))
            return std::find(std::begin(kSigns), std::end(kSigns), character) != std::end(kSigns);
        text.remove_prefix(length);
    }
    return false;
}

std::string shortestDigits(double value)
{
    std::array<char, 40> digits {};
    const auto narrow = static_cast<float>(value);
    const auto end = static_cast<double>(narrow) == value
        ? std::to_chars(digits.data(), digits.data() + digits.size(), narrow).ptr
        : std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    return { digits.data(), end };
}

}
