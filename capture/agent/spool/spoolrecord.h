// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/core/ids.h>

namespace telltale::agent {

/// A spool segment is a magic word, whose last character is the version, and then records, little endian.
///
/// Version 2: "TTR2" | crc32c of the rest of the header u32 | length u32 | crc32c of the payload u32 | kind u32 |
/// samples u32 | scalars u32 | 0 u32 | seq u64 | samples before u64 | scalars before u64 | first step i64 | last step
/// i64 | payload. The header has a crc of its own and says what the payload holds, so a payload that cannot be read is
/// still counted; "before" counts all that the stream produced until then, so records that are gone altogether are
/// counted by those beside them.
///
/// Version 1, read only: length u32 | crc32c of the rest u32 | seq u64 | payload. Records with seq 0 describe what
/// follows: the first is the Hello message, the others are layouts. Thread: any (pure functions).
namespace spoolrecord {
inline constexpr std::string_view kMagic = "TTSPOOL2";
inline constexpr std::string_view kMagic1 = "TTSPOOL1";
inline constexpr std::size_t kHeaderBytes = 72;
inline constexpr std::size_t kHeaderBytes1 = 16;
inline constexpr std::size_t kMaxPayload = (1u << 20) + 4096;
inline constexpr std::uint64_t kMaxSamples = 4u << 20; ///< of one batch: more than its decoded size has room for

enum class Kind : std::uint32_t {
    Batch = 0,
    Hello = 1, ///< the stream's Hello message
    Layouts = 2, ///< a payload that holds nothing but layouts
};

/// What a batch holds, where its payload cannot say so any more.
struct Facts {
    std::uint64_t samples = 0;
    std::uint64_t scalars = 0;
    std::uint64_t samplesBefore = 0; ///< in all batches of the stream with smaller seqs
    std::uint64_t scalarsBefore = 0;
    StepRange steps;
};

struct View {
    Kind kind = Kind::Batch;
    bool isWhole = true; ///< else only the header could be read
    bool hasFacts = false; ///< version 1 has none
    std::uint64_t seq = 0; ///< batches only
    Facts facts;
    std::string_view payload;
    std::size_t payloadOffset = 0; ///< in the segment
};

/// What of a segment can be read: what follows damage is found again.
struct Scan {
    std::vector<View> records; ///< in the order of the file
    bool isDamaged = false; ///< something is neither a record nor the beginning of one at the end
    bool isDamagedBefore = false; ///< before the first batch, so that others may have been there
    bool isDamagedBehind = false; ///< behind the last one, likewise
    std::size_t firstDamage = 0; ///< where
    bool isTorn = false; ///< ends with the beginning of a record, as a crash leaves it
    bool isNewer = false; ///< of a version that is not known here; nothing was read
};

void append(std::string& out, Kind kind, std::uint64_t seq, std::string_view payload, const Facts& facts);
/// Views point into `segment`. Takes time linear in its size whatever it holds.
Scan scan(std::string_view segment);
}

}
