// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include <telltale/core/ids.h>
#include <telltale/core/kinds.h>

namespace telltale::series {

/// One row of a view: the same tensor in every attempt of one rank, oldest first. For each step the newest attempt that
/// has begun by then answers.
struct RowAttempts {
    RowAttempts() = default;
    RowAttempts(std::initializer_list<SeriesId> ids) // NOLINT(google-explicit-constructor): it is a list of them
        : series(ids)
    {
    }
    bool operator==(const RowAttempts&) const = default;

    std::vector<SeriesId> series;
    int bin = 0; ///< of series that are histograms: a row is one of their bins
};

/// What one pixel or cell shows. NaN wins over +Inf over -Inf over a value over the ways of having none.
enum class CellState : std::uint8_t {
    NotCollected = 0,
    Gap = 1, ///< dropped or lost, by a Drop or Gap record
    Damaged = 2, ///< a stored blob failed its crc
    Absent = 3, ///< measured, but no finite element and no non-finite count either (empty tensor)
    Value = 4,
    NegInf = 5,
    PosInf = 6,
    NaN = 7,
};

constexpr bool isNonFinite(CellState state)
{
    return state >= CellState::NegInf;
}

using telltale::Reduction;
constexpr Reduction reductionFor(Stat stat)
{
    return factsOf(stat).reduction;
}

/// Everything that a range of steps of one series says, without losing a non-finite sample. min, max, mean, first and
/// last are over finite samples; with `samples - nonFinite() == 0` they mean nothing.
struct Bucket {
    double min = std::numeric_limits<double>::infinity();
    double max = -std::numeric_limits<double>::infinity();
    double mean = 0;
    double first = 0;
    double last = 0;
    std::uint32_t samples = 0; ///< samples that were collected
    std::uint32_t finite = 0; ///< of them with a finite value
    std::uint32_t nans = 0; ///< samples with at least one NaN element (or NaN value)
    std::uint32_t posInfs = 0;
    std::uint32_t negInfs = 0;
    CellState state = CellState::NotCollected; ///< strongest of the bucket
};

struct CurveQuery {
    RowAttempts row;
    Stat stat = Stat::Norm;
    StepRange range;
    int pixels = 0; ///< number of equal buckets to divide the range into
};

struct CurveResult {
    StepRange range;
    std::vector<Bucket> buckets; ///< one a pixel
    int level = 0; ///< pyramid level that answered, 0 = every sample was read
    bool exact = true; ///< false: a finer level exists and would change pixels (first/last at bucket edges)
};

/// What a reader knows of some rows, whatever the steps: where they lie. Each makes its own.
struct FoundRows {
    virtual ~FoundRows() = default;
};

/// Whoever asks for the same rows again and again, of other steps, keeps one: they are looked for once. Thread: its
/// asker's.
struct RowsMemo {
    std::shared_ptr<const FoundRows> found {};
};

struct HeatQuery {
    std::vector<RowAttempts> rows;
    Stat stat = Stat::Norm;
    StepRange range;
    int pixels = 0;
    std::shared_ptr<RowsMemo> memo {}; ///< of these rows and this statistic; none: they are asked for once
    bool isScan = false; ///< of all ranks or of a whole run: what is decoded for it is not kept for others
};

struct HeatResult {
    StepRange range;
    int rows = 0;
    int columns = 0;
    std::vector<float> values; ///< row-major; meaningful where state is Value (and "last finite" where non-finite)
    std::vector<CellState> states; ///< row-major
    Reduction reduction = Reduction::Mean;
    int level = 0;
    float min = 0; ///< over Value cells
    float max = 0;
};

struct CellValue {
    double value = 0;
    CellState state = CellState::NotCollected;
    std::uint64_t nans = 0; ///< elements
    std::uint64_t posInfs = 0;
    std::uint64_t negInfs = 0;
    std::uint64_t identity = 0; ///< of a statistic that is one: all 64 bits, of which `value` has the first 53
    Step step { 0 }; ///< of the value, or that which was asked for
};

/// What a readout says of a tensor's statistic beside non-finite elements: norm and mean are over the finite ones and
/// stay, the extremes are the non-finite ones themselves, the share of zeros is over all elements. Where nothing is
/// finite, or there is no element, every one of them is NaN. `numel` 0 = unknown.
CellState readoutState(Stat stat, const CellValue& cell, std::uint64_t numel);
/// Whether that is a value of the finite elements beside others, which the cell's state names. `numel` 0 = unknown.
bool isPartOf(Stat stat, const CellValue& cell, std::uint64_t numel);

struct RawValue {
    Step step;
    double value = 0;
    CellState state = CellState::NotCollected;
    std::uint64_t identity = 0; ///< as in CellValue
};

/// Set by whoever no longer wants the answer; queries look at it between blobs.
using CancelToken = std::shared_ptr<std::atomic<bool>>;

}
