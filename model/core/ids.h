// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace telltale {

/// A number with a meaning. Two ids of different tags do not compare, convert or mix.
/// Thread: any (a value).
template <typename Tag, typename Value> struct StrongId {
    using ValueType = Value;

    Value value {};

    constexpr StrongId() = default;
    constexpr explicit StrongId(Value v)
        : value(v)
    {
    }
    constexpr auto operator<=>(const StrongId&) const = default;
};

/// Row of `source` in one capsule: one (rank, attempt) of one run.
using SourceId = StrongId<struct SourceTag, std::int64_t>;
/// Row of `stream` in one capsule: one incarnation of one agent.
using StreamId = StrongId<struct StreamTag, std::int64_t>;
/// Row of `series` in one capsule: one tensor of one source and kind. A value is (SeriesId, Stat).
using SeriesId = StrongId<struct SeriesTag, std::int64_t>;
/// A group of at most 128 series of one source and kind that are stored in the same tiles.
using GroupId = StrongId<struct GroupTag, std::int64_t>;
/// Layout number, unique within one stream.
using LayoutId = StrongId<struct LayoutTag, std::uint32_t>;
/// Global rank of a training process.
using Rank = StrongId<struct RankTag, std::int32_t>;
/// Optimizer steps seen plus the run's start iteration.
using Step = StrongId<struct StepTag, std::int64_t>;

/// Closed range of steps. Empty when last < first.
/// Steps lie between -2^53 and 2^53: a double holds each of them, and no count of them overflows.
inline constexpr std::int64_t kFarthestStep = std::int64_t { 1 } << 53;
constexpr bool isStep(std::int64_t value)
{
    return -kFarthestStep <= value && value <= kFarthestStep;
}

struct StepRange {
    Step first { 0 };
    Step last { -1 };

    constexpr bool isEmpty() const { return last < first; }
    /// Number of integer steps covered.
    constexpr std::int64_t count() const { return isEmpty() ? 0 : last.value - first.value + 1; }
    constexpr bool contains(Step s) const { return first <= s && s <= last; }
    constexpr bool operator==(const StepRange&) const = default;
};

}

template <typename Tag, typename Value> struct std::hash<telltale::StrongId<Tag, Value>> {
    std::size_t operator()(const telltale::StrongId<Tag, Value>& id) const noexcept
    {
        return std::hash<Value> {}(id.value);
    }
};
