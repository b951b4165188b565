// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/core/ids.h>

namespace telltale::exchange {

// TensorBoard's event files: TFRecord framing (length, masked crc32c of it, data, masked crc32c of it) around the
// protobuf message Event {1: wall_time f64, 2: step, 3: file_version, 5: Summary {1: Value {1: tag, 2: simple_value
// f32, 5: HistogramProto {1: min, 2: max, 3: num, 4: sum, 5: sum_squares, 6: bucket_limit, 7: bucket}}}}.
// Fields as in tensorflow/core/util/event.proto and framework/summary.proto. Thread: any (pure).

/// Appends one framed record.
void appendRecord(std::string& out, std::string_view data);
/// What every event file begins with.
std::string firstRecord(double wallTime);

/// Events of the same tags, step after step: the message is made once, and each step puts its numbers into it.
class ScalarEvent {
public:
    ScalarEvent() = default;
    explicit ScalarEvent(std::span<const std::string> tags);

    bool isEmpty() const { return m_holes.empty(); }
    /// Of a step, a number a tag, and whether there is one: those that are are 1.
    void set(std::span<const float> values, std::span<const std::uint8_t> isThere);
    /// Appends the record of a step, with the tags that are there; nothing where none is. How many they were.
    std::size_t appendTo(std::string& out, double wallTime, Step step);

private:
    struct Hole {
        std::size_t begin; ///< of the tag's Value in the message
        std::size_t number; ///< of its four bytes
    };
    std::string m_summary;
    std::vector<Hole> m_holes;
    std::vector<std::uint8_t> m_isThere;
    std::size_t m_there = 0;
    std::string m_scratch;
};

/// What TensorBoard keeps of a histogram: counts of bins by their upper ends, between the extremes.
struct EventHistogram {
    std::string_view tag;
    double least = 0, greatest = 0;
    std::span<const double> limits;
    std::span<const double> counts;
};
void appendHistogram(std::string& out, const EventHistogram& histogram, double wallTime, Step step);
/// A text of the plugin "text", once for the run.
void appendText(std::string& out, std::string_view tag, std::string_view text, double wallTime);

}
