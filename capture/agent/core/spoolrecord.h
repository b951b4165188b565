// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telltale::agent {

/// A spool segment is the magic word and then records: length u32 | crc32c of the rest u32 | seq u64 | payload, little
/// endian. Records with seq 0 describe what follows: the first is the stream's Hello message, the others are payloads
/// that hold nothing but layouts. Thread: any (pure functions).
namespace spoolrecord {
inline constexpr std::string_view kMagic = "TTSPOOL1";
inline constexpr std::size_t kHeaderBytes = 16;
inline constexpr std::size_t kMaxPayload = (1u << 20) + 4096;

struct View {
    std::uint64_t seq = 0;
    std::string_view payload;
    std::size_t payloadOffset = 0; ///< in the segment
};

/// What a segment holds up to the first record that is not whole.
struct Scan {
    std::vector<View> records;
    std::size_t goodBytes = 0; ///< where the first bad record starts; the size when all are good
    bool isTorn = false; ///< the rest is the beginning of a record, as a crash leaves it
};

void append(std::string& out, std::uint64_t seq, std::string_view payload);
/// Views point into `segment`.
Scan scan(std::string_view segment);
}

}
