// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/core/plaintext.h>

#include <array>
#include <cstdint>
#include <ctime>

namespace telltale {
namespace {

constexpr char kHex[] = "0123456789abcdef";
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// The character of a valid sequence.
std::uint32_t decode(std::string_view sequence)
{
    static constexpr std::uint32_t kFirstBits[] { 0, 0x7F, 0x1F, 0x0F, 0x07 };
    std::uint32_t code = static_cast<unsigned char>(sequence[0]) & kFirstBits[sequence.size()];
    for (const char c : sequence.substr(1))
        code = code << 6 | (static_cast<unsigned char>(c) & 0x3FU);
    return code;
}

/// C0, DEL and C1; the separators of lines and paragraphs; marks, embeddings, overrides and isolates of direction; the
/// byte order mark.
bool isControl(std::uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || code == 0x200E || code == 0x200F
        || (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

bool isFileNamePart(std::uint32_t code)
{
    if (code >= 0x80)
        return !isControl(code) && code != 0xA0 && code != 0x3000 && !(code >= 0x2000 && code <= 0x200B);
    return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') || (code >= '0' && code <= '9') || code == '-'
        || code == '.' || code == '+' || code == '_';
}

/// Calls onCharacter(bytes, isBroken) for each character, or byte that is part of none, until it returns false.
template <typename OnCharacter> void forEachCharacter(std::string_view text, OnCharacter onCharacter)
{
    while (!text.empty()) {
        const std::size_t length = utf8SequenceLength(text);
        const std::string_view sequence = text.substr(0, length == 0 ? 1 : length);
        if (!onCharacter(sequence, length == 0))
            return;
        text.remove_prefix(sequence.size());
    }
}

}

std::size_t utf8SequenceLength(std::string_view text)
{
    const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto isTail = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xC0u) == 0x80u; };
    const unsigned first = byte(0);
    if (first < 0x80)
        return 1;
    if (first >= 0xC2 && first <= 0xDF)
        return isTail(1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        if (!isTail(1) || !isTail(2))
            return 0;
        const bool overlong = first == 0xE0 && byte(1) < 0xA0;
        const bool surrogate = first == 0xED && byte(1) >= 0xA0;
        return overlong || surrogate ? 0 : 3;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        if (!isTail(1) || !isTail(2) || !isTail(3))
            return 0;
        const bool overlong = first == 0xF0 && byte(1) < 0x90;
        const bool tooHigh = first == 0xF4 && byte(1) >= 0x90;
        return overlong || tooHigh ? 0 : 4;
    }
    return 0;
}

std::string terminalText(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    forEachCharacter(text, [&out](std::string_view sequence, bool isBroken) {
        if (isBroken) {
            out += kReplacement;
            return true;
        }
        const std::uint32_t code = decode(sequence);
        if (isControl(code)) {
            out += "\\u";
            for (int shift = 12; shift >= 0; shift -= 4)
                out += kHex[code >> shift & 15];
        } else {
            out += sequence;
        }
        return true;
    });
    return out;
}

std::string fileNameText(std::string_view text, std::size_t maxBytes)
{
    std::string out;
    forEachCharacter(text, [&out, maxBytes](std::string_view sequence, bool isBroken) {
        std::string piece;
        const bool isHidden = out.empty() && sequence == ".";
        if (!isBroken && !isHidden && isFileNamePart(decode(sequence))) {
            piece = sequence;
        } else {
            for (const char c : sequence) {
                const auto byte = static_cast<unsigned char>(c);
                piece += { '%', kHex[byte >> 4], kHex[byte & 15] };
            }
        }
        if (out.size() + piece.size() > maxBytes)
            return false;
        out += piece;
        return true;
    });
    return out.empty() ? "run" : out;
}

std::string utcTimeText(std::int64_t unixNs)
{
    if (unixNs == 0)
        return {};
    const auto seconds = static_cast<std::time_t>(unixNs / 1'000'000'000);
    std::tm utc {};
    gmtime_r(&seconds, &utc);
    std::array<char, 32> text {};
    return { text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc) };
}

std::string countText(std::uint64_t count, std::string_view one, std::string_view many)
{
    return std::to_string(count) + ' ' + std::string(count == 1 ? one : many);
}

}
