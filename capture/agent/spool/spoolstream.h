// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/spool/stream.h>

namespace telltale::agent {

/// A stream as its process left it in a spool folder.
struct SpooledStream {
    std::unique_ptr<Stream> stream; ///< null when there is nothing to deliver
    std::string byeReason; ///< how the process ended, as far as it could write it down; else empty
    std::vector<std::string> damages; ///< sentences
};

/// Takes a spool folder over; holes are filled with batches that count what was in them, so that the seqs have none. A
/// folder with nothing in it is removed. Fails with Busy while its process lives, NotFound without a folder, Damaged
/// when nothing says whose it is, Canceled once `canceled` is set. Thread: any; may take as long as the disk.
Expected<SpooledStream> openSpooledStream(const std::filesystem::path& folder, std::uint64_t capBytes,
    const std::atomic<bool>* canceled = nullptr, std::shared_ptr<Disk> disk = nullptr);

/// Every spool in or under `folder`, the oldest first: attempts are numbered in the order in which they ran.
std::vector<std::filesystem::path> findSpools(const std::filesystem::path& folder);

}
