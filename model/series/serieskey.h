// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>

#include <telltale/core/slot.h>

namespace telltale::series {

/// What tells the rows of one kind and rank apart. Two series with equal keys are the same tensor, measured the same
/// way. Thread: any (a value).
struct SeriesKey {
    std::string name; ///< "layers.0.attn"
    Slot slot {}; ///< its identity
    int microStep = -1; ///< -1: of the whole step
    int chunk = 0; ///< of a model in virtual pipeline stages
    std::string definition {}; ///< how it was calculated, where there are several ways
    std::uint32_t form = 0; ///< bits of telltale::form

    bool operator==(const SeriesKey&) const = default;
    auto operator<=>(const SeriesKey&) const = default;
    /// "layers.0.attn:output", as people write it on the command line and in filters.
    std::string text() const { return slot.hasText() ? name + ':' + slot.text() : name; }
};

}

template <> struct std::hash<telltale::series::SeriesKey> {
    std::size_t operator()(const telltale::series::SeriesKey& key) const noexcept
    {
        std::size_t value = std::hash<std::string> {}(key.name);
        for (const std::size_t part : { std::hash<telltale::Slot> {}(key.slot),
                 std::hash<std::string> {}(key.definition), static_cast<std::size_t>(key.microStep),
                 static_cast<std::size_t>(key.chunk), static_cast<std::size_t>(key.form) })
            value = value * 0x9E3779B97F4A7C15u + part;
        return value;
    }
};
