// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/spool/spoolrecord.h>

#include <algorithm>
#include <optional>

#include <telltale/core/bytes.h>

namespace telltale::agent::spoolrecord {
namespace {

constexpr std::string_view kMarkText = "TTR2";
constexpr std::size_t kCrcCovers = 8; ///< the header's crc is of what follows it
/// A reader that looks for the next record after damage checks so many bytes at most, in units of the segment's size:
/// bytes made to look like records everywhere must not cost their square.
constexpr std::size_t kSearchFactor = 16;

struct Found {
    View view;
    std::size_t bytes = 0; ///< of header and payload
    bool isTorn = false; ///< the segment ends before the payload does
};

/// A header with a good crc may still be made up.
bool isPossible(const View& view)
{
    const auto& [samples, scalars, samplesBefore, scalarsBefore, steps] = view.facts;
    return view.seq > 0 && samples <= kMaxSamples && scalars <= kMaxSamples && isStep(steps.first.value)
        && isStep(steps.last.value);
}

std::optional<Found> readAt(std::string_view segment, std::size_t at)
{
    if (segment.size() - at < kHeaderBytes || !segment.substr(at).starts_with(kMarkText))
        return std::nullopt;
    if (crc32c(segment.substr(at + kCrcCovers, kHeaderBytes - kCrcCovers)) != getLe<std::uint32_t>(segment, at + 4))
        return std::nullopt;
    const std::size_t length = getLe<std::uint32_t>(segment, at + 8);
    const auto kind = getLe<std::uint32_t>(segment, at + 16);
    if (length > kMaxPayload || kind > static_cast<std::uint32_t>(Kind::Layouts))
        return std::nullopt;
    Found found;
    found.bytes = kHeaderBytes + length;
    found.isTorn = segment.size() - at < found.bytes;
    View& view = found.view;
    view.kind = static_cast<Kind>(kind);
    view.hasFacts = true;
    view.seq = getLe<std::uint64_t>(segment, at + 32);
    view.facts.samples = getLe<std::uint32_t>(segment, at + 20);
    view.facts.scalars = getLe<std::uint32_t>(segment, at + 24);
    view.facts.samplesBefore = getLe<std::uint64_t>(segment, at + 40);
    view.facts.scalarsBefore = getLe<std::uint64_t>(segment, at + 48);
    view.facts.steps
        = { Step { getLe<std::int64_t>(segment, at + 56) }, Step { getLe<std::int64_t>(segment, at + 64) } };
    view.payloadOffset = at + kHeaderBytes;
    view.payload = segment.substr(view.payloadOffset, length);
    view.isWhole = !found.isTorn && crc32c(view.payload) == getLe<std::uint32_t>(segment, at + 12);
    if (view.kind == Kind::Batch && !isPossible(view))
        return std::nullopt;
    return found;
}

/// `budget`: bytes that may still be checked.
std::optional<Found> readAt1(std::string_view segment, std::size_t at, std::size_t& budget)
{
    if (segment.size() - at < kHeaderBytes1)
        return std::nullopt;
    const std::size_t length = getLe<std::uint32_t>(segment, at);
    if (length > kMaxPayload)
        return std::nullopt;
    Found found;
    found.bytes = kHeaderBytes1 + length;
    found.isTorn = segment.size() - at < found.bytes;
    if (found.isTorn)
        return found;
    if (length > budget)
        return std::nullopt;
    budget -= length;
    const std::string_view covered = segment.substr(at + 8, 8 + length);
    if (crc32c(covered) != getLe<std::uint32_t>(segment, at + 4))
        return std::nullopt;
    View& view = found.view;
    view.seq = getLe<std::uint64_t>(segment, at + 8);
    view.payload = covered.substr(8);
    view.payloadOffset = at + kHeaderBytes1;
    if (view.seq == 0)
        view.kind = at == kMagic1.size() ? Kind::Hello : Kind::Layouts;
    return found;
}

void noteDamage(Scan& result, std::size_t at)
{
    if (!result.isDamaged)
        result.firstDamage = at;
    result.isDamaged = true;
}

/// Damage that nobody can say of what was there.
void noteHole(Scan& result, std::size_t at, bool hasBatch)
{
    noteDamage(result, at);
    result.isDamagedBefore = result.isDamagedBefore || !hasBatch;
    result.isDamagedBehind = true;
}

Scan scan2(std::string_view segment, std::size_t at)
{
    Scan result;
    bool hasBatch = false;
    while (at < segment.size()) {
        auto found = readAt(segment, at);
        if (!found) {
            const std::string_view rest = segment.substr(at);
            if (rest.size() < kHeaderBytes && (rest.starts_with(kMarkText) || kMarkText.starts_with(rest))) {
                result.isTorn = true;
                break;
            }
            noteHole(result, at, hasBatch);
            at = std::min(segment.find(kMarkText, at + 1), segment.size());
            continue;
        }
        if (found->isTorn)
            result.isTorn = true;
        else if (!found->view.isWhole)
            noteDamage(result, at);
        if (found->view.kind == Kind::Batch) {
            hasBatch = true;
            result.isDamagedBehind = false;
        }
        result.records.push_back(found->view);
        // The length is as good as its header; behind it the next record starts, or the search does.
        at += std::min(found->bytes, segment.size() - at);
    }
    return result;
}

/// Where the next whole record starts behind damage; npos: nowhere. A segment has no room for more seqs than fit in.
std::size_t findNext1(std::string_view segment, std::size_t at, std::uint64_t lastSeq, std::size_t& budget)
{
    for (; at + kHeaderBytes1 < segment.size(); ++at) {
        const std::uint64_t seq = getLe<std::uint64_t>(segment, at + 8);
        const bool isPlausible
            = seq == 0 || lastSeq == 0 || (seq > lastSeq && seq - lastSeq <= segment.size() / kHeaderBytes1);
        if (!isPlausible)
            continue;
        const auto found = readAt1(segment, at, budget);
        if (found && !found->isTorn && !found->view.payload.empty())
            return at;
    }
    return std::string_view::npos;
}

Scan scan1(std::string_view segment)
{
    Scan result;
    std::size_t budget = kSearchFactor * segment.size();
    std::size_t at = kMagic1.size();
    std::uint64_t lastSeq = 0;
    while (at < segment.size()) {
        const auto found = readAt1(segment, at, budget);
        if (found && !found->isTorn) {
            if (found->view.kind == Kind::Batch) {
                lastSeq = found->view.seq;
                result.isDamagedBehind = false;
            }
            result.records.push_back(found->view);
            at += found->bytes;
            continue;
        }
        const std::size_t next = findNext1(segment, at + 1, lastSeq, budget);
        // A record that was cut short is the last thing in a segment, unless it is its length that is damaged.
        if (next == std::string_view::npos && (found || segment.size() - at < kHeaderBytes1)) {
            result.isTorn = true;
            break;
        }
        noteHole(result, at, lastSeq > 0);
        at = std::min(next, segment.size());
    }
    return result;
}

}

void append(std::string& out, Kind kind, std::uint64_t seq, std::string_view payload, const Facts& facts)
{
    std::string covered;
    putLe(covered, static_cast<std::uint32_t>(payload.size()));
    putLe(covered, crc32c(payload));
    putLe(covered, static_cast<std::uint32_t>(kind));
    putLe(covered, static_cast<std::uint32_t>(facts.samples));
    putLe(covered, static_cast<std::uint32_t>(facts.scalars));
    putLe(covered, std::uint32_t { 0 });
    putLe(covered, seq);
    putLe(covered, facts.samplesBefore);
    putLe(covered, facts.scalarsBefore);
    putLe(covered, facts.steps.first.value);
    putLe(covered, facts.steps.last.value);
    out += kMarkText;
    putLe(out, crc32c(covered));
    out += covered;
    out += payload;
}

Scan scan(std::string_view segment)
{
    Scan result;
    if (segment.starts_with(kMagic))
        return scan2(segment, kMagic.size());
    if (segment.starts_with(kMagic1))
        return scan1(segment);
    if (kMagic.starts_with(segment) || kMagic1.starts_with(segment)) {
        result.isTorn = true;
        return result;
    }
    // The magic word itself may be what is damaged.
    result = scan2(segment, 0);
    if (result.records.empty() && segment.size() > kMagic1.size())
        result = scan1(segment);
    result.isNewer = result.records.empty() && segment.starts_with(kMagic.substr(0, kMagic.size() - 1));
    result.isDamaged = true;
    return result;
}

}
