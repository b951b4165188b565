// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <telltale/agent/stream.h>
#include <telltale/core/expected.h>

namespace telltale::agent {

/// A stream as its process left it in a spool folder.
struct SpooledStream {
    std::unique_ptr<Stream> stream; ///< null when there is nothing to deliver
    std::string byeReason; ///< how the process ended, as far as it could write it down; else empty
    std::vector<std::string> damages; ///< sentences
};

/// Takes a spool folder over; holes are filled with batches that say so, so that the seqs have none. A folder with
/// nothing to deliver is removed. Fails with Busy while its process lives, NotFound without a folder, Cancelled once
/// `cancelled` is set. Thread: any.
Expected<SpooledStream> openSpooledStream(
    const std::filesystem::path& folder, std::uint64_t capBytes, const std::atomic<bool>* cancelled = nullptr);

/// Every spool in or under `folder`, the oldest first: attempts are numbered in the order in which they ran.
std::vector<std::filesystem::path> findSpools(const std::filesystem::path& folder);

/// A payload that says a batch is lost, to stand at its seq. Thread: any (pure).
std::string lostBatchPayload(const std::string& why);

}
