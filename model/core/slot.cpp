// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/core/slot.h>

#include <algorithm>
#include <array>

namespace telltale {
namespace {

/// Bytes of the number or JSON string that a text begins with, 0 where it begins with none. A library would end a
/// training that runs out of memory in it.
std::size_t keyLength(std::string_view text)
{
    if (!text.starts_with('"')) {
        const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
        return digits > 1 && text.front() == '0' ? 0 : digits;
    }
    for (std::size_t i = 1; i < text.size(); ++i) {
        if (text[i] == '"')
            return i + 1;
        if (static_cast<unsigned char>(text[i]) < 0x20)
            return 0;
        if (text[i] != '\\')
            continue;
        const std::string_view escaped = text.substr(++i, 5);
        const bool isCode = escaped.size() == 5 && escaped.front() == 'u'
            && escaped.substr(1).find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
        if (!isCode
            && (escaped.empty() || std::string_view("\"\\/bfnrt").find(escaped.front()) == std::string_view::npos))
            return 0;
    }
    return 0;
}

}

Slot Slot::named(std::string_view word)
{
    Slot slot;
    if (!word.empty()) {
        slot.role = Role::Named;
        slot.word = word;
    }
    return slot;
}

Slot Slot::identity() const
{
    Slot slot = *this;
    slot.position.clear();
    return slot;
}

std::string Slot::text() const
{
    std::string text;
    appendTo(text);
    return text;
}

void Slot::appendTo(std::string& text) const
{
    constexpr std::array<std::string_view, kRoleCount> kWords { "", "input", "output", "pre", "post", "" };
    const std::size_t start = text.size();
    const auto of = static_cast<std::size_t>(role);
    text += of < kWords.size() && role != Role::Named ? kWords[of] : word;
    if (number >= 0)
        text += '_' + std::to_string(number);
    const auto addPart = [&](const char* what, std::int32_t part) {
        if (part < 0)
            return;
        if (text.size() > start)
            text += ' ';
        text += what + std::to_string(part);
    };
    addPart("head_", head);
    addPart("expert_", expert);
    if (call > 0)
        text += '@' + std::to_string(call + std::uint64_t { 1 });
}

bool Slot::isSound() const
{
    return static_cast<unsigned>(role) < kRoleCount && std::min({ number, head, expert, bin }) >= -1
        && (number < 0 || role != Role::Value) && word.empty() == (role != Role::Named)
        && (position.empty() || toPosition(position) == position);
}

std::string toPosition(std::string_view json)
{
    std::size_t at = 0;
    bool isPath = json.starts_with('[');
    while (isPath && (at == 0 || json.substr(at, 1) == ",")) {
        const std::size_t length = keyLength(json.substr(++at));
        isPath = length > 0;
        at += length;
    }
    return isPath && json.substr(at) == "]" ? std::string(json) : std::string();
}

}

std::size_t std::hash<telltale::Slot>::operator()(const telltale::Slot& slot) const noexcept
{
    std::size_t value = std::hash<std::string> {}(slot.word) ^ std::hash<std::string> {}(slot.position);
    for (const std::uint32_t part : { static_cast<std::uint32_t>(slot.role), static_cast<std::uint32_t>(slot.number),
             static_cast<std::uint32_t>(slot.head), static_cast<std::uint32_t>(slot.expert),
             static_cast<std::uint32_t>(slot.bin), slot.call })
        value = value * 0x9E3779B97F4A7C15u + part;
    return value;
}
