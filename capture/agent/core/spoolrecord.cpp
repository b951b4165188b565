// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/agent/spoolrecord.h>

#include <telltale/core/bytes.h>

namespace telltale::agent::spoolrecord {

void append(std::string& out, std::uint64_t seq, std::string_view payload)
{
    std::string number;
    putLe(number, seq);
    putLe(out, static_cast<std::uint32_t>(payload.size()));
    putLe(out, crc32c(payload, crc32c(number)));
    out += number;
    out += payload;
}

Scan scan(std::string_view segment)
{
    Scan result;
    if (!segment.starts_with(kMagic)) {
        result.isTorn = kMagic.starts_with(segment);
        return result;
    }
    std::size_t at = kMagic.size();
    while (at < segment.size()) {
        const std::size_t left = segment.size() - at;
        if (left < kHeaderBytes) {
            result.isTorn = true;
            break;
        }
        const std::size_t length = getLe<std::uint32_t>(segment, at);
        if (length > kMaxPayload)
            break;
        if (left - kHeaderBytes < length) {
            result.isTorn = true;
            break;
        }
        const std::string_view covered = segment.substr(at + 8, 8 + length);
        if (crc32c(covered) != getLe<std::uint32_t>(segment, at + 4))
            break;
        result.records.push_back({ getLe<std::uint64_t>(segment, at + 8), covered.substr(8), at + kHeaderBytes });
        at += kHeaderBytes + length;
    }
    result.goodBytes = at;
    return result;
}

}
