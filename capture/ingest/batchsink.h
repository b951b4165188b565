// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <telltale/store/storeservice.h>

namespace telltale::ingest {

/// Where decoded batches go and where durability is reported from: store::StoreService as the capture side sees it.
/// Thread: capture, except that the wake is called from the sink's own thread.
class BatchSink {
public:
    virtual ~BatchSink() = default;

    virtual void setWake(std::function<void()> wake) = 0;
    virtual std::vector<store::StoreEvent> takeEvents() = 0;
    /// False: the store is held up, and too many wait for it already.
    virtual bool openStream(store::StreamRequest request) = 0;
    /// False: full, offer it again.
    virtual bool submit(std::shared_ptr<const SampleBatch> batch) = 0;
    /// False: full, offer it again.
    virtual bool quarantine(StreamId stream, std::uint64_t seq, std::string raw, std::string reason, Lost lost) = 0;
    virtual void closeStream(StreamId stream, std::string byeReason, std::uint64_t lastSeq, Produced produced) = 0;
};

/// The store itself.
class StoreSink final : public BatchSink {
public:
    explicit StoreSink(store::StoreService& store)
        : m_store(store)
    {
    }

    void setWake(std::function<void()> wake) override { m_store.setWake(std::move(wake)); }
    std::vector<store::StoreEvent> takeEvents() override { return m_store.takeEvents(); }
    bool openStream(store::StreamRequest request) override { return m_store.openStream(std::move(request)); }
    bool submit(std::shared_ptr<const SampleBatch> batch) override { return m_store.submit(std::move(batch)); }
    bool quarantine(StreamId stream, std::uint64_t seq, std::string raw, std::string reason, Lost lost) override
    {
        return m_store.quarantine(stream, seq, std::move(raw), std::move(reason), lost);
    }
    void closeStream(StreamId stream, std::string byeReason, std::uint64_t lastSeq, Produced produced) override
    {
        m_store.closeStream(stream, std::move(byeReason), lastSeq, produced);
    }

private:
    store::StoreService& m_store;
};

}
