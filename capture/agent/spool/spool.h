// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/core/threadhome.h>
#include <telltale/protocol/layouttable.h>
#include <telltale/spool/disk.h>
#include <telltale/spool/filehandle.h>
#include <telltale/spool/spoolowner.h>
#include <telltale/spool/spoolrecord.h>

namespace telltale::agent {

/// Where a batch lies on disk.
struct SpoolPlace {
    std::uint32_t segment = 0; ///< 0 = nowhere
    std::uint32_t offset = 0; ///< of the payload
    std::uint32_t bytes = 0;
    std::uint32_t crc = 0; ///< of the payload
};

/// A batch on its way to the disk.
struct SpoolBatch {
    std::uint64_t seq = 0;
    std::shared_ptr<const std::string> payload;
    std::vector<std::shared_ptr<const SeriesLayout>> layouts; ///< that its blocks use
    spoolrecord::Facts facts;
};

/// Batches of one stream that the server has not acknowledged, in segments of 16 MiB in one folder, written in the
/// order of their seqs. The folder comes into being with the first batch. Every call may take as long as the disk.
/// Thread: owned by one. Invariant: a batch counts as kept only after a sync that covers it; when a sync fails, all
/// batches since the last good one come back to be written anew, since a later sync that succeeds says nothing of them.
class Spool {
public:
    static constexpr std::uint64_t kSegmentBytes = 16u << 20;
    /// Seqs that may be missing in one place: more than a whole segment of the smallest batches holds.
    static constexpr std::uint64_t kMaxHole = 1u << 18;

    /// How a process ended.
    struct Bye {
        std::string reason; ///< empty: it could not say so
        std::uint64_t lastSeq = 0; ///< of the last batch that it made; 0: not known
    };

    /// What an earlier process left.
    struct Recovered {
        struct Record {
            std::uint64_t seq = 0;
            bool isWhole = true; ///< else only what it held is known
            bool hasFacts = false;
            spoolrecord::Facts facts;
            SpoolPlace place;
        };
        std::string hello; ///< encoded message
        protocol::LayoutTable layouts;
        std::vector<Record> records; ///< ascending seqs, each once; holes where something was damaged
        bool isDamagedBefore = false; ///< at least one more batch was before the first record
        bool isDamagedBehind = false; ///< or behind the last
        bool isTorn = false; ///< the last segment ends within a record, as it does where the process was killed
        std::vector<std::string> damages; ///< sentences
        std::vector<std::string> empty; ///< segments of no bytes, which nobody need keep
        Bye bye; ///< of noteBye()
    };
    struct Kept {
        std::uint64_t seq = 0;
        SpoolPlace place;
    };

    Spool(const std::filesystem::path& folder, std::uint64_t capBytes, std::shared_ptr<Disk> disk);

    /// The message that starts every segment. Set before the first append.
    void setHello(std::string encodedHello) { m_hello = std::move(encodedHello); }

    /// Into the page cache, where the end of the process does not reach it.
    Expected<void> append(const SpoolBatch& batch);
    Expected<void> sync();
    /// What syncs covered since the last call.
    std::vector<Kept> takeKept() { return std::exchange(m_kept, {}); }
    /// What has to be written anew, ascending.
    std::vector<SpoolBatch> takeLost() { return std::exchange(m_lost, {}); }
    std::uint64_t unsyncedBytes() const { return m_unsyncedBytes; }

    Expected<std::string> read(const SpoolPlace& place);
    /// Deletes the segments that hold nothing newer; damaged ones stay beside as *.damaged.
    void forgetUpTo(std::uint64_t seq);
    /// Writes down how the process ended, for whoever delivers what is left. Nothing without a folder.
    void noteBye(const Bye& bye);
    /// Deletes the folder if nothing is left in it.
    void removeIfEmpty();

    /// Reads an existing folder and takes it over (NotFound: none; Busy: a living process owns it). Changes nothing.
    /// Gives up with Canceled once `canceled` is set.
    Expected<Recovered> recover(const std::atomic<bool>* canceled = nullptr);

    bool isClaimed() const { return m_owner.isClaimed(); }
    /// The file system has no locks: the folder is kept by a file that names the process.
    bool isWithoutLocks() const { return m_owner.isByName(); }
    std::uint64_t usedBytes() const { return m_usedBytes; }
    /// The share of what may be used that is used: of the cap, less where the disk has under 10 % or 8 GiB to spare.
    double fill() const;
    /// Looks at the free disk space again.
    void refreshFreeSpace();
    const std::string& folder() const { return m_folder; }

private:
    struct Segment {
        std::uint32_t number = 0;
        std::uint64_t bytes = 0;
        std::uint64_t lastSeq = 0;
        bool isDamaged = false;
    };
    struct Unsynced {
        SpoolBatch batch;
        SpoolPlace place;
    };

    std::string segmentPath(std::uint32_t number) const;
    Expected<void> startSegment();
    Expected<void> write(std::string_view bytes);
    void loseUnsynced();
    Expected<std::string> readSegment(const std::string& path);
    void recoverSegment(std::uint32_t number, Recovered& out);

    const std::shared_ptr<Disk> m_disk;
    const std::string m_folder;
    const std::uint64_t m_capBytes;
    std::uint64_t m_allowedBytes;
    std::string m_hello;
    SpoolOwner m_owner;
    FileHandle m_current;
    FileHandle m_reading;
    std::uint32_t m_readingNumber = 0;
    std::uint32_t m_nextNumber = 1;
    std::deque<Segment> m_segments;
    std::unordered_set<LayoutId> m_layoutsInSegment;
    std::uint64_t m_usedBytes = 0;
    std::uint64_t m_syncedBytes = 0; ///< of the current segment
    std::uint64_t m_syncedSeq = 0; ///< the last one in them
    std::uint64_t m_unsyncedBytes = 0;
    std::deque<Unsynced> m_unsynced;
    std::vector<Kept> m_kept;
    std::vector<SpoolBatch> m_lost;
    ThreadHome m_home;
};

/// Names a folder after any text: bytes other than letters, digits, '.', '_' and '-' become %XX, a leading dot too, and
/// long names end in a hash.
std::string folderName(std::string_view text);

}
