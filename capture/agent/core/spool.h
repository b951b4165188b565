// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <telltale/agent/filehandle.h>
#include <telltale/core/expected.h>
#include <telltale/protocol/layouttable.h>

namespace telltale::agent {

/// Where a batch lies on disk.
struct SpoolPlace {
    std::uint32_t segment = 0; ///< 0 = nowhere
    std::uint32_t offset = 0;
    std::uint32_t bytes = 0;
};

/// Batches of one stream that the server has not acknowledged, in segments of 16 MiB in one folder, written in the
/// order of their seqs. The folder comes into being with the first batch. Thread: sender.
class Spool {
public:
    static constexpr std::uint64_t kSegmentBytes = 16u << 20;

    /// What an earlier process left.
    struct Recovered {
        struct Record {
            std::uint64_t seq = 0;
            SpoolPlace place;
        };
        std::string hello; ///< encoded message
        protocol::LayoutTable layouts;
        std::vector<Record> records; ///< ascending, holes where something was damaged
        std::vector<std::string> damages; ///< sentences
        std::string byeReason; ///< of noteBye()
    };

    Spool(std::filesystem::path folder, std::uint64_t capBytes);

    /// The message that starts every segment. Set before the first append.
    void setHello(std::string encodedHello) { m_hello = std::move(encodedHello); }

    Expected<SpoolPlace> append(std::uint64_t seq, std::string_view payload, const std::vector<LayoutId>& layouts,
        const protocol::LayoutTable& table);
    /// fdatasync of what was appended since the last one.
    Expected<void> sync();
    Expected<std::string> read(const SpoolPlace& place);
    /// Deletes the segments that hold nothing newer.
    void forgetUpTo(std::uint64_t seq);
    /// Writes down how the process ended, for whoever delivers what is left. Nothing without a folder.
    void noteBye(const std::string& reason);
    /// Deletes the folder if nothing is left in it.
    void removeIfEmpty();

    /// Reads an existing folder and takes it over (NotFound: none; Busy: a living process owns it). Cuts torn tails
    /// off; damaged segments are kept beside as *.damaged.
    /// Gives up with Cancelled, and deletes nothing, once `cancelled` is set.
    Expected<Recovered> recover(const std::atomic<bool>* cancelled = nullptr);

    std::uint64_t usedBytes() const { return m_usedBytes; }
    /// The share of what may be used that is used: of the cap, less where the disk has under 10 % to spare.
    double fill() const;
    /// Looks at the free disk space again.
    void refreshFreeSpace();
    const std::filesystem::path& folder() const { return m_folder; }

private:
    struct Segment {
        std::uint32_t number = 0;
        std::uint64_t bytes = 0;
        std::uint64_t lastSeq = 0;
    };

    std::filesystem::path segmentPath(std::uint32_t number) const;
    Expected<void> claim();
    Expected<void> startSegment();
    Expected<void> write(std::string_view bytes);
    void recoverSegment(std::uint32_t number, Recovered& out);

    const std::filesystem::path m_folder;
    const std::uint64_t m_capBytes;
    std::uint64_t m_allowedBytes;
    std::string m_hello;
    FileHandle m_lock;
    FileHandle m_current;
    FileHandle m_reading;
    std::uint32_t m_readingNumber = 0;
    std::uint32_t m_nextNumber = 1;
    std::deque<Segment> m_segments;
    std::unordered_set<LayoutId> m_layoutsInSegment;
    std::uint64_t m_usedBytes = 0;
    bool m_isDirty = false;
};

/// Names a folder after any text: bytes other than letters, digits, '.', '_' and '-' become %XX, a leading dot too, and
/// long names end in a hash.
std::string folderName(std::string_view text);

}
