// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <telltale/core/expected.h>
#include <telltale/core/samplebatch.h>
#include <telltale/store/archive.h>
#include <telltale/store/storeservice.h>

namespace telltale::ingest {

/// Who takes the processes of a run that is imported, each as the stream that an agent would send. Thread: owned by
/// one; blocks.
class ImportTarget {
public:
    virtual ~ImportTarget() = default;
    /// The run that has the stream; nothing where there is none.
    virtual Expected<store::ImportedRun> find(const store::StreamRequest& request) = 0;
    /// The stream's number here. One that a run has already goes on: `before` is what that has of it.
    virtual Expected<std::size_t> open(store::StreamRequest request, Produced before = {}) = 0;
    /// Waits until there is room. What it counts stands in the batch then.
    virtual Expected<void> submit(std::size_t stream, const std::shared_ptr<SampleBatch>& batch) = 0;
    /// Between batches, some times a second: an error of what was submitted comes here.
    virtual Expected<void> turn() = 0;
    /// No more comes; `reason` as agents say it: "finished", or nothing where nobody knows.
    virtual Expected<void> close(std::size_t stream, const std::string& reason) = 0;
    /// Waits, for a few seconds at most, until what was submitted is safe.
    virtual Expected<void> settle() = 0;
    /// Of the first stream: the run's file, where that is known.
    virtual std::string capsule() const = 0;
    virtual std::string runId() const = 0;
};

/// Fills in how much there is in a batch.
void countIn(SampleBatch& batch);

}
