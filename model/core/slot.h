// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace telltale {

/// What a measured tensor is to the module or call that the series names.
enum class Role : std::uint8_t {
    Value = 0, ///< the thing itself: a parameter, a metric
    Input = 1,
    Output = 2,
    Before = 3, ///< an argument of a collective before the call
    After = 4, ///< and after it
    Named = 5, ///< what the training code calls it: Slot::word
};
inline constexpr unsigned kRoleCount = 6;

/// Which tensor of what its series names. Its text is for people: nothing is ever read out of it, but for what agents
/// and files hold that know texts alone (protocolone.h). Thread: any (a value).
struct Slot {
    Role role = Role::Value;
    std::int32_t number = -1; ///< among the tensors of this role, from 0; -1: it is the only one
    std::int32_t head = -1; ///< of an attention
    std::int32_t expert = -1;
    std::int32_t bin = -1; ///< of a histogram; -1: it is none, or whole
    std::uint32_t call = 0; ///< of several in one micro step, from 0
    std::string word {};
    /// Where the training code has it, from the outside in: a JSON array of places and keys, [1,"hidden",0]. Empty: it
    /// stands by itself, or nobody said.
    std::string position {};

    static Slot input(int number = -1) { return { .role = Role::Input, .number = number }; }
    static Slot output(int number = -1) { return { .role = Role::Output, .number = number }; }
    static Slot ofHead(int head) { return { .head = head }; }
    static Slot named(std::string_view word);

    bool operator==(const Slot&) const = default;
    auto operator<=>(const Slot&) const = default;
    /// Without what older agents do not say: equal for the same tensor, whichever agent measured it.
    Slot identity() const;
    /// "", "input", "input_1", "output@2", "head_3".
    std::string text() const;
    void appendTo(std::string& text) const;
    bool hasText() const { return role != Role::Value || head >= 0 || expert >= 0 || call > 0; }
    /// Whether it says what a slot can say. Names are checked by whoever knows how long they may be.
    bool isSound() const;
};

/// The position as it is written in a Slot; nothing where it is no array of places and keys.
std::string toPosition(std::string_view json);

}

template <> struct std::hash<telltale::Slot> {
    std::size_t operator()(const telltale::Slot& slot) const noexcept;
};
