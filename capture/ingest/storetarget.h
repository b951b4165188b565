// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

#include <telltale/core/drops.h>
#include <telltale/core/threadhome.h>
#include <telltale/ingest/batchsink.h>
#include <telltale/ingest/importtarget.h>

namespace telltale::ingest {

/// A store of this process. Thread: owned by one; blocks.
class StoreTarget final : public ImportTarget {
public:
    explicit StoreTarget(store::StoreService& service);
    ~StoreTarget() override;
    StoreTarget(const StoreTarget&) = delete;
    StoreTarget& operator=(const StoreTarget&) = delete;

    Expected<store::ImportedRun> find(const store::StreamRequest& request) override;
    Expected<std::size_t> open(store::StreamRequest request, Produced before = {}) override;
    Expected<void> submit(std::size_t stream, const std::shared_ptr<SampleBatch>& batch) override;
    Expected<void> turn() override;
    Expected<void> close(std::size_t stream, const std::string& reason) override;
    Expected<void> settle() override { return flush(std::chrono::seconds(5)); }
    std::string capsule() const override { return m_run ? m_run->locator.text() : std::string(); }
    std::string runId() const override { return m_run ? m_run->id : std::string(); }
    /// Until all of it is durable.
    Expected<void> flush(std::chrono::milliseconds atMost);

private:
    struct Stream {
        StreamId id;
        std::uint64_t seq = 0;
        Produced produced;
    };
    Expected<void> wait();

    store::StoreService& m_service;
    StoreSink m_sink;
    std::mutex m_mutex;
    std::condition_variable m_came;
    bool m_isSet = false;
    bool m_isOpen = false;
    std::vector<Stream> m_streams;
    store::RunRef m_run;
    ThreadHome m_home;
};

}
