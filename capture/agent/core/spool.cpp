// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/agent/spool.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <functional>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <telltale/agent/spoolrecord.h>
#include <telltale/core/bytes.h>
#include <telltale/protocol/codec.h>
#include <telltale/protocol/payloadbuilder.h>

namespace fs = std::filesystem;

namespace telltale::agent {
namespace {

constexpr double kSpareDiskShare = 0.1;
constexpr const char* kByeFile = "bye";
constexpr std::size_t kMaxByeBytes = 64;

void syncFolder(const fs::path& folder)
{
    if (auto handle = FileHandle::open(folder.string(), O_RDONLY | O_DIRECTORY))
        ::fsync(handle->fd());
}

}

Spool::Spool(fs::path folder, std::uint64_t capBytes)
    : m_folder(std::move(folder))
    , m_capBytes(std::max<std::uint64_t>(capBytes, 64u << 10))
    , m_allowedBytes(m_capBytes)
{
}

fs::path Spool::segmentPath(std::uint32_t number) const
{
    return m_folder / fmt::format("{:08}.seg", number);
}

Expected<void> Spool::claim()
{
    if (m_lock.isOpen())
        return {};
    const std::string path = (m_folder / "lock").string();
    auto lock = FileHandle::open(path, O_RDWR | O_CREAT);
    if (!lock)
        return tl::unexpected(lock.error());
    if (::flock(lock->fd(), LOCK_EX | LOCK_NB) != 0)
        return failure(ErrorCode::Busy, fmt::format("the spool {} belongs to a living process", m_folder.string()));
    m_lock = std::move(*lock);
    return {};
}

Expected<void> Spool::startSegment()
{
    std::error_code error;
    if (!m_lock.isOpen()) {
        fs::create_directories(m_folder.parent_path(), error);
        if (::mkdir(m_folder.c_str(), 0700) != 0 && errno != EEXIST)
            return systemFailure("cannot create", m_folder.string(), errno);
        if (auto claimed = claim(); !claimed)
            return claimed;
        refreshFreeSpace();
    }
    if (auto synced = sync(); !synced)
        return synced;
    m_current.close();
    auto file = FileHandle::open(segmentPath(m_nextNumber).string(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND);
    if (!file)
        return tl::unexpected(file.error());
    m_current = std::move(*file);
    m_segments.push_back({ m_nextNumber++, 0, 0 });
    m_layoutsInSegment.clear();
    std::string start(spoolrecord::kMagic);
    spoolrecord::append(start, 0, m_hello);
    if (auto written = write(start); !written) {
        // Without its head the segment is nothing: try again with another one later.
        m_current.close();
        fs::remove(segmentPath(m_segments.back().number), error);
        m_segments.pop_back();
        return written;
    }
    syncFolder(m_folder);
    return {};
}

Expected<void> Spool::write(std::string_view bytes)
{
    Segment& segment = m_segments.back();
    const std::string path = segmentPath(segment.number).string();
    if (auto written = m_current.writeAll(bytes, path); !written) {
        // If even that fails, the next open finds the torn tail.
        if (::ftruncate(m_current.fd(), static_cast<off_t>(segment.bytes)) != 0)
            m_current.close();
        return written;
    }
    segment.bytes += bytes.size();
    m_usedBytes += bytes.size();
    m_isDirty = true;
    return {};
}

Expected<SpoolPlace> Spool::append(std::uint64_t seq, std::string_view payload, const std::vector<LayoutId>& layouts,
    const protocol::LayoutTable& table)
{
    if (static_cast<double>(m_usedBytes + payload.size()) > static_cast<double>(m_allowedBytes))
        return failure(ErrorCode::NoSpace, fmt::format("the spool {} is full", m_folder.string()));
    if (!m_current.isOpen() || m_segments.empty() || m_segments.back().bytes >= kSegmentBytes)
        if (auto started = startSegment(); !started)
            return tl::unexpected(started.error());
    std::string bytes;
    std::vector<LayoutId> added;
    for (const LayoutId id : layouts) {
        const auto layout = table.find(id);
        if (!layout || m_layoutsInSegment.contains(id))
            continue;
        protocol::PayloadBuilder builder;
        builder.addLayout(*layout);
        spoolrecord::append(bytes, 0, builder.finish());
        added.push_back(id);
    }
    const std::size_t before = bytes.size();
    spoolrecord::append(bytes, seq, payload);
    const SpoolPlace place { m_segments.back().number,
        static_cast<std::uint32_t>(m_segments.back().bytes + before + spoolrecord::kHeaderBytes),
        static_cast<std::uint32_t>(payload.size()) };
    if (auto written = write(bytes); !written)
        return tl::unexpected(written.error());
    m_layoutsInSegment.insert(added.begin(), added.end());
    m_segments.back().lastSeq = seq;
    return place;
}

Expected<void> Spool::sync()
{
    if (!m_isDirty || !m_current.isOpen())
        return {};
    if (::fdatasync(m_current.fd()) != 0)
        return systemFailure("cannot sync", segmentPath(m_segments.back().number).string(), errno);
    m_isDirty = false;
    return {};
}

Expected<std::string> Spool::read(const SpoolPlace& place)
{
    const std::string path = segmentPath(place.segment).string();
    if (m_readingNumber != place.segment || !m_reading.isOpen()) {
        auto file = FileHandle::open(path, O_RDONLY);
        if (!file)
            return tl::unexpected(file.error());
        m_reading = std::move(*file);
        m_readingNumber = place.segment;
    }
    std::string raw(place.bytes + spoolrecord::kHeaderBytes, '\0');
    const ssize_t got
        = ::pread(m_reading.fd(), raw.data(), raw.size(), static_cast<off_t>(place.offset - spoolrecord::kHeaderBytes));
    if (got != static_cast<ssize_t>(raw.size()))
        return systemFailure("cannot read", path, got < 0 ? errno : EIO);
    if (crc32c(std::string_view(raw).substr(8)) != getLe<std::uint32_t>(raw, 4))
        return failure(ErrorCode::Damaged, fmt::format("{} is damaged at byte {}", path, place.offset));
    raw.erase(0, spoolrecord::kHeaderBytes);
    return raw;
}

void Spool::forgetUpTo(std::uint64_t seq)
{
    bool removed = false;
    while (!m_segments.empty() && m_segments.front().lastSeq <= seq) {
        const Segment& segment = m_segments.front();
        if (m_segments.size() == 1)
            m_current.close();
        if (m_readingNumber == segment.number)
            m_reading.close();
        std::error_code error;
        fs::remove(segmentPath(segment.number), error);
        m_usedBytes -= std::min(m_usedBytes, segment.bytes);
        m_segments.pop_front();
        removed = true;
    }
    if (m_segments.empty())
        m_isDirty = false;
    if (removed)
        syncFolder(m_folder);
}

void Spool::noteBye(const std::string& reason)
{
    if (!m_lock.isOpen())
        return;
    const std::string path = (m_folder / kByeFile).string();
    if (auto file = FileHandle::open(path, O_WRONLY | O_CREAT | O_TRUNC))
        (void)file->writeAll(reason, path);
}

void Spool::removeIfEmpty()
{
    if (!m_lock.isOpen() || !m_segments.empty())
        return;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(m_folder, error))
        if (entry.path().filename() != "lock" && entry.path().filename() != kByeFile)
            return;
    fs::remove(m_folder / kByeFile, error);
    fs::remove(m_folder / "lock", error);
    m_lock.close();
    fs::remove(m_folder, error);
    fs::remove(m_folder.parent_path(), error);
}

double Spool::fill() const
{
    return static_cast<double>(m_usedBytes) / static_cast<double>(m_allowedBytes);
}

void Spool::refreshFreeSpace()
{
    std::error_code error;
    const fs::space_info space = fs::space(m_folder, error);
    if (error)
        return;
    const auto spare = static_cast<std::uint64_t>(static_cast<double>(space.capacity) * kSpareDiskShare);
    const std::uint64_t more = space.available > spare ? space.available - spare : 0;
    m_allowedBytes = std::max<std::uint64_t>(1, std::min(m_capBytes, m_usedBytes + more));
}

Expected<Spool::Recovered> Spool::recover(const std::atomic<bool>* cancelled)
{
    std::error_code error;
    if (!fs::is_directory(m_folder, error))
        return failure(ErrorCode::NotFound, fmt::format("there is no spool {}", m_folder.string()));
    if (auto claimed = claim(); !claimed)
        return tl::unexpected(claimed.error());
    std::vector<std::uint32_t> numbers;
    for (const auto& entry : fs::directory_iterator(m_folder, error)) {
        const std::string name = entry.path().filename().string();
        std::uint32_t number = 0;
        const auto [end, parsed] = std::from_chars(name.data(), name.data() + name.size(), number);
        if (parsed == std::errc {} && std::string_view(end) == ".seg")
            numbers.push_back(number);
    }
    std::sort(numbers.begin(), numbers.end());
    Recovered out;
    for (const std::uint32_t number : numbers) {
        if (cancelled && cancelled->load(std::memory_order_relaxed))
            return failure(ErrorCode::Cancelled, fmt::format("reading the spool {} was cut short", m_folder.string()));
        recoverSegment(number, out);
    }
    std::ifstream bye(m_folder / kByeFile);
    std::getline(bye, out.byeReason);
    out.byeReason.resize(std::min(out.byeReason.size(), kMaxByeBytes));
    refreshFreeSpace();
    return out;
}

void Spool::recoverSegment(std::uint32_t number, Recovered& out)
{
    const std::string path = segmentPath(number).string();
    m_nextNumber = std::max(m_nextNumber, number + 1);
    auto file = FileHandle::open(path, O_RDONLY);
    struct stat info { };
    if (!file || ::fstat(file->fd(), &info) != 0 || info.st_size > static_cast<off_t>(4 * kSegmentBytes)) {
        out.damages.push_back(fmt::format("{} cannot be read", path));
        return;
    }
    std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
    const ssize_t got = ::pread(file->fd(), bytes.data(), bytes.size(), 0);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    const spoolrecord::Scan scan = spoolrecord::scan(bytes);
    Segment segment { number, scan.goodBytes, 0 };
    bool isFirst = true;
    for (const spoolrecord::View& record : scan.records) {
        if (record.seq == 0 && std::exchange(isFirst, false)) {
            out.hello = std::string(record.payload);
        } else if (record.seq == 0) {
            if (const auto batch = protocol::decodePayload(record.payload, out.layouts))
                for (const auto& layout : batch->layouts)
                    out.layouts.add(layout);
        } else if (out.records.empty() || record.seq > out.records.back().seq) {
            out.records.push_back({ record.seq,
                { number, static_cast<std::uint32_t>(record.payloadOffset),
                    static_cast<std::uint32_t>(record.payload.size()) } });
            segment.lastSeq = record.seq;
        }
    }
    std::error_code error;
    if (scan.goodBytes < bytes.size()) {
        if (!scan.isTorn) {
            out.damages.push_back(fmt::format("{} is damaged at byte {}", path, scan.goodBytes));
            fs::copy_file(path, path + ".damaged", fs::copy_options::skip_existing, error);
        }
        fs::resize_file(path, scan.goodBytes, error);
    }
    m_usedBytes += scan.goodBytes;
    m_segments.push_back(segment);
}

std::string folderName(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        const bool isPlain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'
            || c == '-' || (c == '.' && !out.empty());
        if (isPlain)
            out += c;
        else
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    if (out.size() > 120) {
        out.resize(120);
        out += fmt::format("-{:08x}", crc32c(text));
    }
    return out.empty() ? "%" : out;
}

}
