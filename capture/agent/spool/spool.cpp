// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/spool/spool.h>

#include <algorithm>
#include <cerrno>

#include <fcntl.h>

#include <fmt/format.h>

#include <telltale/core/bytes.h>
#include <telltale/protocol/payloadbuilder.h>

namespace telltale::agent {
namespace {

/// What is left to the others of the disk: a tenth of a small one. A large one that many share is often fuller than
/// that, and has room for a spool all the same.
constexpr std::uint64_t kMostSpareBytes = 8ULL << 30;
constexpr const char* kByeFile = "bye";

std::string parentOf(const std::string& path)
{
    return std::filesystem::path(path).parent_path().string();
}

}

Spool::Spool(const std::filesystem::path& folder, std::uint64_t capBytes, std::shared_ptr<Disk> disk)
    : m_disk(std::move(disk))
    , m_folder(folder.string())
    , m_capBytes(std::max<std::uint64_t>(capBytes, 64u << 10))
    , m_allowedBytes(m_capBytes)
    , m_owner(*m_disk, m_folder)
{
}

std::string Spool::segmentPath(std::uint32_t number) const
{
    return fmt::format("{}/{:08}.seg", m_folder, number);
}

Expected<void> Spool::startSegment()
{
    if (!m_owner.isClaimed()) {
        // The run's folder is this user's alone as well, but may have been made by somebody else.
        const std::string run = parentOf(m_folder);
        if (m_disk->makeFolders(parentOf(run)) != 0)
            return systemFailure("cannot create", parentOf(run), errno);
        if (m_disk->makePrivateFolder(run) != 0 && m_disk->makeFolders(run) != 0)
            return systemFailure("cannot create", run, errno);
        if (m_disk->makePrivateFolder(m_folder) != 0)
            return systemFailure("cannot create", m_folder, errno);
        if (auto claimed = m_owner.claim(); !claimed)
            return claimed;
        refreshFreeSpace();
    }
    if (auto synced = sync(); !synced)
        return synced;
    m_current.close();
    const std::string path = segmentPath(m_nextNumber);
    const int fd = m_disk->open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND);
    if (fd < 0) {
        const int error = errno;
        m_nextNumber += error == EEXIST ? 1 : 0;
        return systemFailure("cannot open", path, error);
    }
    m_current = FileHandle(fd);
    m_segments.push_back({ m_nextNumber++, 0, 0, false });
    m_layoutsInSegment.clear();
    m_syncedBytes = 0;
    m_syncedSeq = 0;
    // Twice, since nothing can be delivered without it.
    std::string start(spoolrecord::kMagic);
    for (int i = 0; i < 2; ++i)
        spoolrecord::append(start, spoolrecord::Kind::Hello, 0, m_hello, {});
    if (auto written = write(start); !written) {
        // Without its head the segment is nothing: try again with another one later.
        if (m_current.isOpen())
            loseUnsynced();
        return written;
    }
    m_disk->syncFolder(m_folder);
    return {};
}

Expected<void> Spool::write(std::string_view bytes)
{
    Segment& segment = m_segments.back();
    std::string_view rest = bytes;
    while (!rest.empty()) {
        const ssize_t written = m_disk->write(m_current.fd(), rest);
        if (written > 0) {
            rest.remove_prefix(static_cast<std::size_t>(written));
            continue;
        }
        const int error = written < 0 ? errno : ENOSPC;
        const std::string path = segmentPath(segment.number);
        const bool isCut = m_disk->truncate(m_current.fd(), segment.bytes) == 0;
        // Some file systems tell by a failed write that earlier ones are lost.
        (void)sync();
        // What a short write left and cannot be cut off stays as damage at the end of its segment.
        if (!isCut && m_current.isOpen())
            loseUnsynced();
        return systemFailure("cannot write", path, error);
    }
    segment.bytes += bytes.size();
    m_usedBytes += bytes.size();
    m_unsyncedBytes += bytes.size();
    return {};
}

Expected<void> Spool::append(const SpoolBatch& batch)
{
    m_home.check();
    const std::string& payload = *batch.payload;
    const auto isFull = [this](std::size_t more) { return m_usedBytes + more > m_allowedBytes; };
    const auto full = [this] { return failure(ErrorCode::NoSpace, fmt::format("the spool {} is full", m_folder)); };
    if (isFull(payload.size()))
        return full();
    if (!m_current.isOpen() || m_segments.empty() || m_segments.back().bytes >= kSegmentBytes)
        if (auto started = startSegment(); !started)
            return started;
    std::string bytes;
    std::vector<LayoutId> added;
    for (const auto& layout : batch.layouts) {
        if (m_layoutsInSegment.contains(layout->id))
            continue;
        protocol::PayloadBuilder builder;
        builder.addLayout(*layout);
        spoolrecord::append(bytes, spoolrecord::Kind::Layouts, 0, builder.finish(), {});
        added.push_back(layout->id);
    }
    const std::size_t before = bytes.size();
    spoolrecord::append(bytes, spoolrecord::Kind::Batch, batch.seq, payload, batch.facts);
    if (isFull(bytes.size()))
        return full();
    const SpoolPlace place { m_segments.back().number,
        static_cast<std::uint32_t>(m_segments.back().bytes + before + spoolrecord::kHeaderBytes),
        static_cast<std::uint32_t>(payload.size()), crc32c(payload) };
    if (auto written = write(bytes); !written)
        return written;
    m_layoutsInSegment.insert(added.begin(), added.end());
    m_segments.back().lastSeq = batch.seq;
    m_unsynced.push_back({ batch, place });
    return {};
}

Expected<void> Spool::sync()
{
    m_home.check();
    if (!m_current.isOpen() || m_unsyncedBytes == 0)
        return {};
    if (m_disk->sync(m_current.fd()) != 0) {
        const int error = errno;
        const std::string path = segmentPath(m_segments.back().number);
        loseUnsynced();
        return systemFailure("cannot sync", path, error);
    }
    for (const Unsynced& one : m_unsynced)
        m_kept.push_back({ one.batch.seq, one.place });
    m_unsynced.clear();
    m_unsyncedBytes = 0;
    m_syncedBytes = m_segments.back().bytes;
    m_syncedSeq = m_segments.back().lastSeq;
    return {};
}

/// Gives the current segment up: what no sync has covered is cut off where that works, and comes back to be written
/// into another one.
void Spool::loseUnsynced()
{
    for (Unsynced& one : m_unsynced)
        m_lost.push_back(std::move(one.batch));
    m_unsynced.clear();
    m_unsyncedBytes = 0;
    Segment& segment = m_segments.back();
    const std::string path = segmentPath(segment.number);
    if (m_disk->truncate(m_current.fd(), m_syncedBytes) == 0) {
        m_usedBytes -= segment.bytes - m_syncedBytes;
        segment.bytes = m_syncedBytes;
        segment.lastSeq = m_syncedSeq;
    }
    m_current.close();
    if (segment.bytes > 0)
        return;
    m_disk->remove(path);
    m_segments.pop_back();
}

Expected<std::string> Spool::read(const SpoolPlace& place)
{
    m_home.check();
    const std::string path = segmentPath(place.segment);
    if (m_readingNumber != place.segment || !m_reading.isOpen()) {
        const int fd = m_disk->open(path, O_RDONLY);
        if (fd < 0)
            return systemFailure("cannot open", path, errno);
        m_reading = FileHandle(fd);
        m_readingNumber = place.segment;
    }
    std::string bytes(place.bytes, '\0');
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t got = m_disk->read(m_reading.fd(), bytes.data() + done, bytes.size() - done, place.offset + done);
        if (got <= 0) {
            const int error = got < 0 ? errno : EIO;
            m_reading.close();
            return systemFailure("cannot read", path, error);
        }
        done += static_cast<std::size_t>(got);
    }
    if (crc32c(bytes) != place.crc)
        return failure(ErrorCode::Damaged, fmt::format("{} is damaged at byte {}", path, place.offset));
    return bytes;
}

void Spool::forgetUpTo(std::uint64_t seq)
{
    while (!m_unsynced.empty() && m_unsynced.front().batch.seq <= seq)
        m_unsynced.pop_front();
    bool removed = false;
    while (!m_segments.empty() && m_segments.front().lastSeq <= seq) {
        const Segment& segment = m_segments.front();
        if (m_segments.size() == 1) {
            m_current.close();
            m_unsyncedBytes = 0;
        }
        if (m_readingNumber == segment.number)
            m_reading.close();
        const std::string path = segmentPath(segment.number);
        if (segment.isDamaged)
            m_disk->rename(path, path + ".damaged");
        else
            m_disk->remove(path);
        m_usedBytes -= std::min(m_usedBytes, segment.bytes);
        m_segments.pop_front();
        removed = true;
    }
    if (removed)
        m_disk->syncFolder(m_folder);
}

void Spool::noteBye(const Bye& bye)
{
    if (!m_owner.isClaimed())
        return;
    const int fd = m_disk->open(m_folder + "/" + kByeFile, O_WRONLY | O_CREAT | O_TRUNC);
    if (fd < 0)
        return;
    const FileHandle file(fd);
    (void)m_disk->write(fd, fmt::format("{}\n{}\n", bye.reason, bye.lastSeq));
}

void Spool::removeIfEmpty()
{
    if (!m_owner.isClaimed() || !m_segments.empty())
        return;
    const auto names = m_disk->list(m_folder);
    if (!names)
        return;
    for (const std::string& name : *names)
        if (name != kByeFile && !SpoolOwner::isOwnFile(name))
            return;
    m_disk->remove(m_folder + "/" + kByeFile);
    m_owner.release();
    m_disk->remove(m_folder);
    m_disk->remove(parentOf(m_folder));
}

double Spool::fill() const
{
    return static_cast<double>(m_usedBytes) / static_cast<double>(m_allowedBytes);
}

void Spool::refreshFreeSpace()
{
    const auto space = m_disk->space(m_folder);
    if (!space)
        return;
    const std::uint64_t spare = std::min(space->capacity / 10, kMostSpareBytes);
    const std::uint64_t more = space->available > spare ? space->available - spare : 0;
    m_allowedBytes = std::max<std::uint64_t>(1, std::min(m_capBytes, m_usedBytes + more));
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
