// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <telltale/core/ids.h>
#include <telltale/core/kinds.h>
#include <telltale/core/slot.h>

namespace telltale {

enum class DType : std::uint8_t {
    Unknown = 0,
    F32 = 1,
    F64 = 2,
    F16 = 3,
    BF16 = 4,
    I8 = 5,
    U8 = 6,
    I16 = 7,
    I32 = 8,
    I64 = 9,
    Bool = 10,
};
/// "float32", "bfloat16", ...
std::string_view dtypeName(DType dtype);

/// Bits that say how a series was measured.
namespace form {
inline constexpr std::uint32_t kAccumulated = 1u << 0; ///< sum over the micro steps so far
inline constexpr std::uint32_t kScaled = 1u << 1; ///< before a loss scaler's unscaling
inline constexpr std::uint32_t kClipped = 1u << 2; ///< after gradient clipping
inline constexpr std::uint32_t kTotal = 1u << 3; ///< total over all consumers of a tensor
inline constexpr std::uint32_t kSampled = 1u << 4; ///< of a sample of the elements or queries
inline constexpr std::uint32_t kMicro = 1u << 5; ///< of one micro step alone
inline constexpr std::uint32_t kInputSide = 1u << 6;
}

/// One tensor of a layout. `name` is the framework's own.
struct SeriesDesc {
    std::string name;
    Slot slot;
    std::int32_t vppStage = 0;
    std::int32_t microStep = -1; ///< -1 = whole step
    std::uint32_t form = 0;
    std::string definition; ///< named definition where more than one exists ("sr", "sr_root"); else empty
    std::vector<std::int64_t> shape;
    DType dtype = DType::Unknown;
    std::uint64_t numel = 0;
    std::int64_t shardOffset = -1; ///< first element of the shard in the full tensor, -1 = not sharded
    std::vector<std::int64_t> fullShape;

    bool operator==(const SeriesDesc&) const = default;
};

/// The series that one call writes, in call order. Immutable; the id is scoped to one stream.
struct SeriesLayout {
    LayoutId id;
    Kind kind = Kind::Unspecified;
    std::vector<Stat> stats;
    std::vector<SeriesDesc> series;
    std::vector<double> edges {}; ///< of histograms (histogram.h), the layout's only statistic; else empty

    bool operator==(const SeriesLayout&) const = default;
    /// Values of one series in a column: one, or one a bin.
    std::size_t width() const { return edges.empty() ? 1 : edges.size() - 1; }
    /// Of protocol 1, see protocolone.h.
    bool hasBinsAsSeries() const { return edges.empty() && stats.size() == 1 && stats.front() == Stat::Hist; }
    /// Values of all series in a column.
    std::size_t cells() const { return series.size() * width(); }
};

/// The layout, or an equal one that is in use already: what the ranks of a run have in common is kept once. Thread:
/// any.
std::shared_ptr<const SeriesLayout> shareLayout(std::shared_ptr<const SeriesLayout> layout);

/// Values of one stat for all series of a layout at one step: width() of each, by position in the layout.
/// Their type is columnType(stat); see protocolone.h.
/// Entries of series that are not present hold 0 and mean nothing.
struct Column {
    Stat stat = Stat::Unspecified;
    std::variant<std::vector<float>, std::vector<std::uint64_t>, std::vector<double>> values;

    std::size_t size() const
    {
        return std::visit([](const auto& v) { return v.size(); }, values);
    }
};

/// One step of one layout.
struct StepBlock {
    std::shared_ptr<const SeriesLayout> layout;
    Step step;
    std::int64_t wallNs = 0; ///< Unix time
    std::vector<std::uint64_t> present; ///< bitmap, bit i = series i was measured; empty = all were
    std::vector<Column> columns; ///< in the order of layout->stats
    std::vector<std::uint32_t> callIds; ///< execution order by position; empty = the layout's own order

    bool isPresent(std::size_t i) const { return present.empty() || ((present[i / 64] >> (i % 64)) & 1u) != 0; }
};

struct Blob {
    std::string id;
    std::uint32_t part = 0;
    std::uint32_t parts = 1;
    std::string kind; ///< "structure", "stack", "config", "grad_sign"
    std::string name;
    Step step;
    std::string bytes; ///< at most 512 KiB a part
};

struct Event {
    std::string kind; ///< "anomaly", "config", "restart", "gap", "drop", "clock", "log"
    Step step;
    std::int64_t wallNs = 0;
    std::string text;
    std::string json;
    // What few events say; nothing, and 0, is what an event does not say.
    std::uint64_t ref
        = 0; ///< id in the run's log of the first record, of the same kind and rank, that this one changes
    std::string rule {};
    std::string phase {}; ///< of an incident
    std::string cause {};
    std::optional<Step> lastStep {}; ///< of what lasts
    std::uint64_t rev = 0; ///< of the config
    std::string author {};
    std::string severity {}; ///< of an incident; agents do not send it

    bool operator==(const Event&) const = default;
    /// Of its texts.
    std::size_t bytes() const
    {
        return kind.size() + text.size() + json.size() + rule.size() + phase.size() + cause.size() + author.size()
            + severity.size();
    }
};

/// Why something that was produced is not stored. Class 0 events, 1 scalars, 2 per-tensor, 3 histograms, 4 raw.
struct Drop {
    std::uint32_t dropClass = 2;
    Step firstStep;
    Step lastStep;
    std::uint64_t items = 0; ///< samples (class 2), else things of that class
    std::uint64_t bytes = 0;
    std::string reason;
};

/// Everything one wire batch says, decoded once and never changed. Shared between threads by shared_ptr to const.
struct SampleBatch {
    StreamId stream; ///< set by ingest when the store has named the stream
    std::uint64_t seq = 0;
    std::string payload; ///< as received: what the store writes as the landing strip
    std::uint32_t payloadCrc = 0; ///< crc32c of payload
    std::vector<std::shared_ptr<const SeriesLayout>>
        layouts; ///< layouts this payload introduces (may repeat known ones)
    std::vector<StepBlock> blocks; ///< by step, then in call order
    std::vector<Blob> blobs;
    std::vector<Event> events;
    std::vector<Drop> drops;
    bool stepComplete = true; ///< false: later batches continue the last step
    std::uint64_t samples = 0; ///< see sampleCount; scalars, blobs and events are not samples
    std::uint64_t scalars = 0;

    StepRange steps() const;
    /// Rough RAM cost, what bounded queues count.
    std::size_t byteCost() const;
};

/// Number of samples in a block: the values of present series and of statistics that count as one. A histogram is as
/// many as it has bins; scalars count none.
std::uint64_t sampleCount(const StepBlock& block);

}
