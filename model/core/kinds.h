// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace telltale {

/// What was measured; the rows are in kindtable.h.
enum class Kind : std::uint8_t {
    Unspecified = 0,
#define TELLTALE_KIND(name, number, word, title, field) name = number,
#include <telltale/core/kindtable.h>
#undef TELLTALE_KIND
};

/// One column of a series, or what readers derive of others: AbsMax of Min and Max, what number formats would lose of
/// Hist. The rows are in kindtable.h.
enum class Stat : std::uint8_t {
    Unspecified = 0,
#define TELLTALE_STAT(name, number, ...) name = number,
#define TELLTALE_DERIVED_STAT(name, number, ...) name = number,
#include <telltale/core/kindtable.h>
#undef TELLTALE_STAT
#undef TELLTALE_DERIVED_STAT
};

/// How the values of a statistic travel, are kept and stand in Column::values.
enum class ColumnType : std::uint8_t { F32, U64, F64 };

/// How several steps become one cell of a picture.
enum class Reduction : std::uint8_t {
    LargestMagnitude,
    Smallest,
    Mean,
    Sum, ///< whole numbers that add up: what a bin counted
    None, ///< nothing between two of them means anything: kept step by step, and never drawn
};

/// What a statistic says of a tensor with elements that are not finite.
enum class NonFinite : std::uint8_t {
    Itself, ///< the value is what it is
    OverFinite, ///< it is over the finite elements, or all that are no NaN, and NaN where there is none
    OverAll, ///< a share of all elements
    Least, ///< the least element itself
    Greatest,
    Magnitude,
    Counts, ///< it counts them, and describes the other statistics of its series
    Bits, ///< it knows bits and no numbers
};

enum class Shown : std::uint8_t {
    Number,
    Share, ///< percent
    Count,
    Identity, ///< 16 hexadecimal digits: equal or not, nothing else
    Bin, ///< a count for each bin of its tensor's histogram: histogram.h
};

/// One row of the table.
struct StatFacts {
    Stat stat;
    std::string_view word; ///< "norm", "nans": command line, CSV, config, window
    ColumnType column;
    bool isSample; ///< what produced, stored and dropped count
    Reduction reduction;
    NonFinite nonFinite;
    Shown shown;
    std::string_view field; ///< config field that brings it; "" = it comes with its kind
    bool isOfPass; ///< one of tt_stats
};

/// By number; those that are derived come last.
inline constexpr std::array kStatTable {
    StatFacts { Stat::Unspecified, "unspecified", ColumnType::F32, true, Reduction::None, NonFinite::Itself,
        Shown::Number, "", false },
#define TELLTALE_STAT(name, number, word, column, isSample, reduction, nonFinite, shown, field)                        \
    StatFacts { Stat::name, word, ColumnType::column, isSample, Reduction::reduction, NonFinite::nonFinite,            \
        Shown::shown, field, false },
#define TELLTALE_PASS_STAT(name, number, word, column, isSample, reduction, nonFinite, shown, field, member)           \
    StatFacts { Stat::name, word, ColumnType::column, isSample, Reduction::reduction, NonFinite::nonFinite,            \
        Shown::shown, field, true },
#define TELLTALE_DERIVED_STAT(name, number, word, column, reduction, nonFinite, shown)                                 \
    StatFacts { Stat::name, word, ColumnType::column, false, Reduction::reduction, NonFinite::nonFinite, Shown::shown, \
        "", false },
#include <telltale/core/kindtable.h>
#undef TELLTALE_STAT
#undef TELLTALE_DERIVED_STAT
};

inline constexpr int kKindCount = 1
#define TELLTALE_KIND(...) +1
#include <telltale/core/kindtable.h>
#undef TELLTALE_KIND
    ;
inline constexpr int kDerivedStatCount = 0
#define TELLTALE_DERIVED_STAT(...) +1
#include <telltale/core/kindtable.h>
#undef TELLTALE_DERIVED_STAT
    ;
/// Those that are sent and stored: all that are not derived.
inline constexpr int kStoredStatCount = static_cast<int>(kStatTable.size()) - kDerivedStatCount;

/// Whether it is sent and stored, and whether there is one: numbers come from outside, too.
constexpr bool isStoredStat(Stat stat)
{
    return stat != Stat::Unspecified && static_cast<int>(stat) < kStoredStatCount;
}

/// Whether readers make it of others.
constexpr bool isDerivedStat(Stat stat)
{
    const int place = static_cast<int>(stat) - static_cast<int>(Stat::AbsMax);
    return place >= 0 && place < kDerivedStatCount;
}

/// Of a number that is no statistic: those of Unspecified.
constexpr const StatFacts& factsOf(Stat stat)
{
    const auto number = static_cast<std::size_t>(stat);
    if (isDerivedStat(stat))
        return kStatTable[number - static_cast<std::size_t>(Stat::AbsMax) + kStoredStatCount];
    return kStatTable[isStoredStat(stat) ? number : 0];
}

/// The field's own word for a kind ("grad_unreduced"): used by the command line, CSV, config and the window.
std::string_view kindName(Kind kind);
/// Knows the words of older agents, too.
std::optional<Kind> kindFromName(std::string_view name);
/// As people read it ("gradient, reduced"), in English; the source of its translations.
const char* kindTitle(Kind kind);
/// The config field that brings a kind ("wg_distribution", "telltale.attention_hook"); "" = the user's own calls.
std::string_view kindField(Kind kind);
/// "norm", "nans", "absmax", ...
constexpr std::string_view statName(Stat stat)
{
    return factsOf(stat).word;
}
std::optional<Stat> statFromName(std::string_view name);

constexpr ColumnType columnType(Stat stat)
{
    return factsOf(stat).column;
}
/// Counts and checksums: whole numbers, which nothing else of their series describes.
constexpr bool isWhole(Stat stat)
{
    return columnType(stat) == ColumnType::U64;
}
/// Counts of non-finite elements are columns that describe the other columns of the same series.
constexpr bool isNonFiniteCount(Stat stat)
{
    return factsOf(stat).nonFinite == NonFinite::Counts;
}
/// All its 64 bits count, and no double holds them: nothing may turn it into a number.
constexpr bool isIdentity(Stat stat)
{
    return factsOf(stat).shown == Shown::Identity;
}
/// An identity as people read it: "00f3a0b1c2d3e4f5".
std::string identityText(std::uint64_t identity);
constexpr bool countsAsSample(Stat stat)
{
    return factsOf(stat).isSample;
}

}
