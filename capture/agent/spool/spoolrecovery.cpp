// SPDX-License-Identifier: GPL-3.0-or-later
// Spool::recover(): what an earlier process left, damaged as it may be.
#include <algorithm>
#include <cerrno>
#include <charconv>

#include <fcntl.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include <telltale/core/bytes.h>
#include <telltale/core/plaintext.h>
#include <telltale/protocol/codec.h>
#include <telltale/protocol/payloadbuilder.h>
#include <telltale/spool/spool.h>

namespace telltale::agent {
namespace {

constexpr std::size_t kMaxByeBytes = 64;
constexpr int kRecoveryReads = 3;
constexpr std::size_t kMaxSegmentBytes = 4 * Spool::kSegmentBytes;

/// Ascending, each seq once, the readable one of two.
void sortBySeq(std::vector<Spool::Recovered::Record>& records)
{
    std::stable_sort(records.begin(), records.end(),
        [](const auto& a, const auto& b) { return a.seq != b.seq ? a.seq < b.seq : a.isWhole && !b.isWhole; });
    records.erase(
        std::unique(records.begin(), records.end(), [](const auto& a, const auto& b) { return a.seq == b.seq; }),
        records.end());
}

/// A stream has no holes but for damage, so numbers that are far from all others are no batches of it: the largest
/// group of neighbors stays. Returns how many went.
std::size_t keepNeighbors(std::vector<Spool::Recovered::Record>& records)
{
    std::size_t bestFirst = 0, best = 0, first = 0;
    for (std::size_t i = 1; i <= records.size(); ++i) {
        if (i < records.size() && records[i].seq - records[i - 1].seq <= Spool::kMaxHole)
            continue;
        if (i - first > best) {
            best = i - first;
            bestFirst = first;
        }
        first = i;
    }
    const std::size_t gone = records.size() - best;
    const auto begin = records.begin() + static_cast<std::ptrdiff_t>(bestFirst);
    records = { begin, begin + static_cast<std::ptrdiff_t>(best) };
    return gone;
}

/// "finished", and on the next line the last seq, which earlier versions did not write.
Spool::Bye byeOf(std::string_view text)
{
    const std::size_t end = std::min(text.find('\n'), text.size());
    Spool::Bye bye { std::string(text.substr(0, std::min(end, kMaxByeBytes))), 0 };
    text.remove_prefix(std::min(end + 1, text.size()));
    std::from_chars(text.data(), text.data() + text.size(), bye.lastSeq);
    return bye;
}

}

Expected<std::string> Spool::readSegment(const std::string& path)
{
    const int fd = m_disk->open(path, O_RDONLY | O_NONBLOCK);
    if (fd < 0)
        return systemFailure("cannot open", path, errno);
    const FileHandle file(fd);
    struct stat info { };
    if (::fstat(fd, &info) != 0)
        return systemFailure("cannot read", path, errno);
    if (!S_ISREG(info.st_mode) || info.st_size > static_cast<off_t>(kMaxSegmentBytes))
        return failure(ErrorCode::TooLarge, fmt::format("{} is no segment of a spool", path));
    std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t got = m_disk->read(fd, bytes.data() + done, bytes.size() - done, done);
        if (got < 0)
            return systemFailure("cannot read", path, errno);
        if (got == 0)
            break;
        done += static_cast<std::size_t>(got);
    }
    bytes.resize(done);
    return bytes;
}

Expected<Spool::Recovered> Spool::recover(const std::atomic<bool>* canceled)
{
    const auto names = m_disk->list(m_folder);
    if (!names && (errno == ENOENT || errno == ENOTDIR))
        return failure(ErrorCode::NotFound, fmt::format("there is no spool {}", m_folder));
    if (!names)
        return systemFailure("cannot read", m_folder, errno);
    if (auto claimed = m_owner.claim(); !claimed)
        return tl::unexpected(claimed.error());
    std::vector<std::uint32_t> numbers;
    for (const std::string& name : *names) {
        std::uint32_t number = 0;
        const auto [end, parsed] = std::from_chars(name.data(), name.data() + name.size(), number);
        if (parsed == std::errc {} && std::string_view(end) == ".seg" && number > 0)
            numbers.push_back(number);
    }
    std::sort(numbers.begin(), numbers.end());
    Recovered out;
    for (const std::uint32_t number : numbers) {
        if (canceled && canceled->load(std::memory_order_relaxed))
            return failure(ErrorCode::Canceled, fmt::format("reading the spool {} was cut short", m_folder));
        recoverSegment(number, out);
    }
    sortBySeq(out.records);
    const std::size_t gone = out.records.empty() ? 0 : keepNeighbors(out.records);
    const bool hasStrangers = gone > 0;
    if (hasStrangers) {
        out.damages.push_back(
            fmt::format("{} in {} left out: their numbers cannot be", countText(gone, "batch", "batches"), m_folder));
        for (Segment& segment : m_segments) {
            const std::uint64_t before = std::exchange(segment.lastSeq, 0);
            for (const Recovered::Record& record : out.records)
                if (record.place.segment == segment.number)
                    segment.lastSeq = record.seq;
            segment.isDamaged = segment.isDamaged || segment.lastSeq != before;
        }
    }
    if (const auto bye = readSegment(m_folder + "/bye"))
        out.bye = byeOf(*bye);
    const bool isEndKnown = out.bye.lastSeq > 0;
    if (isEndKnown)
        out.isDamagedBehind = false;
    else if (hasStrangers || (out.isTorn && !out.bye.reason.empty()))
        out.isDamagedBehind = true; // who says goodbye has written whole records
    refreshFreeSpace();
    return out;
}

void Spool::recoverSegment(std::uint32_t number, Recovered& out)
{
    const std::string path = segmentPath(number);
    m_nextNumber = std::max(m_nextNumber, number + 1);
    auto bytes = readSegment(path);
    // A disk that stumbles is not a damaged spool.
    for (int i = 1; i < kRecoveryReads && !bytes && bytes.error().code == ErrorCode::Io; ++i)
        bytes = readSegment(path);
    if (!bytes) {
        out.damages.push_back(bytes.error().sentence());
        out.isDamagedBefore = out.isDamagedBefore || out.records.empty();
        out.isDamagedBehind = true;
        return;
    }
    const spoolrecord::Scan scan = spoolrecord::scan(*bytes);
    out.isTorn = scan.isTorn;
    if (bytes->empty()) {
        out.empty.push_back(fmt::format("{} is empty: whether batches were lost with it is not known", path));
        out.isDamagedBefore = out.isDamagedBefore || out.records.empty();
    }
    if (scan.isNewer) {
        out.damages.push_back(fmt::format("{} was written by a newer version", path));
        out.isDamagedBefore = out.isDamagedBefore || out.records.empty();
        out.isDamagedBehind = true;
        return;
    }
    Segment segment { number, bytes->size(), 0, scan.isDamaged };
    out.isDamagedBefore = out.isDamagedBefore || (out.records.empty() && scan.isDamagedBefore);
    for (const spoolrecord::View& view : scan.records) {
        if (view.kind == spoolrecord::Kind::Batch) {
            out.records.push_back({ view.seq, view.isWhole, view.hasFacts, view.facts,
                { number, static_cast<std::uint32_t>(view.payloadOffset),
                    static_cast<std::uint32_t>(view.payload.size()), view.isWhole ? crc32c(view.payload) : 0 } });
            segment.lastSeq = std::max(segment.lastSeq, view.seq);
        } else if (!view.isWhole) {
            continue;
        } else if (view.kind == spoolrecord::Kind::Hello) {
            out.hello = std::string(view.payload);
        } else if (const auto batch = protocol::decodePayload(view.payload, out.layouts)) {
            for (const auto& layout : batch->layouts)
                out.layouts.add(layout);
        }
    }
    if (scan.isDamaged)
        out.damages.push_back(fmt::format("{} is damaged at byte {}", path, scan.firstDamage));
    out.isDamagedBehind = scan.isDamagedBehind || (out.isDamagedBehind && segment.lastSeq == 0);
    m_usedBytes += segment.bytes;
    m_segments.push_back(segment);
}

}
