// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include <telltale/ingest/batchsink.h>

namespace telltale::test {

/// What survives a server: streams with their batches. Commits at once, or when told to. Thread: any (locked).
class FakeDisk {
public:
    struct Stream {
        StreamId id;
        std::uint32_t epoch = 0;
        std::uint64_t durable = 0;
        std::vector<std::shared_ptr<const SampleBatch>> taken;
        std::vector<std::uint64_t> quarantined;
        std::vector<std::string> closed; ///< reasons, in order
        bool isOpen = false;
    };

    void setCommitsAtOnce(bool on)
    {
        const std::lock_guard lock(m_mutex);
        m_commitsAtOnce = on;
    }
    void setFull(bool on)
    {
        const std::lock_guard lock(m_mutex);
        m_isFull = on;
    }
    void commit()
    {
        std::unique_lock lock(m_mutex);
        for (auto& [key, stream] : m_streams)
            commitLocked(stream);
        wake(lock);
    }
    void report(store::StoreEvent event)
    {
        std::unique_lock lock(m_mutex);
        m_events.push_back(std::move(event));
        wake(lock);
    }
    /// The only stream there is, or that of one agent.
    Stream stream(const std::string& agentId = {}) const
    {
        const std::lock_guard lock(m_mutex);
        for (const auto& [key, stream] : m_streams) {
            if (agentId.empty() || std::get<1>(key) == agentId)
                return stream;
        }
        return {};
    }
    std::size_t streams() const
    {
        const std::lock_guard lock(m_mutex);
        return m_streams.size();
    }

private:
    friend class FakeSink;
    using Key = std::tuple<std::string, std::string, std::uint64_t>;

    void commitLocked(Stream& stream)
    {
        if (stream.durable < stream.taken.size() + stream.quarantined.size()) {
            for (const std::uint64_t seq : stream.quarantined) {
                if (seq > stream.durable)
                    m_events.push_back(store::BatchQuarantined { stream.id, seq, "unreadable" });
            }
            stream.durable = stream.taken.size() + stream.quarantined.size();
            m_events.push_back(store::StreamDurable { stream.id, stream.durable });
        }
    }
    void wake(std::unique_lock<std::mutex>& lock)
    {
        const auto call = m_events.empty() ? std::function<void()>() : m_wake;
        lock.unlock();
        if (call)
            call();
    }
    Stream* find(StreamId id)
    {
        for (auto& [key, stream] : m_streams) {
            if (stream.id == id)
                return &stream;
        }
        return nullptr;
    }

    mutable std::mutex m_mutex;
    std::map<Key, Stream> m_streams;
    std::vector<store::StoreEvent> m_events;
    std::function<void()> m_wake;
    std::int64_t m_lastId = 0;
    bool m_commitsAtOnce = true;
    bool m_isFull = false;
};

/// One server's handle on the disk.
class FakeSink : public ingest::BatchSink {
public:
    explicit FakeSink(std::shared_ptr<FakeDisk> disk)
        : m_disk(std::move(disk))
    {
    }

    void setWake(std::function<void()> wake) override
    {
        const std::lock_guard lock(m_disk->m_mutex);
        m_disk->m_wake = std::move(wake);
    }
    std::vector<store::StoreEvent> takeEvents() override
    {
        const std::lock_guard lock(m_disk->m_mutex);
        return std::exchange(m_disk->m_events, {});
    }
    bool openStream(store::StreamRequest request) override
    {
        std::unique_lock lock(m_disk->m_mutex);
        auto& stream = m_disk->m_streams[{ request.runKey, request.agentId, request.incarnation }];
        // As the store: every opening has an id of its own, and the older one ends.
        std::vector<StreamId> fenced;
        if (stream.isOpen)
            fenced.push_back(stream.id);
        stream.id = StreamId { ++m_disk->m_lastId };
        stream.isOpen = true;
        // What was taken and not committed is gone with the server that took it.
        while (!stream.taken.empty() && stream.taken.size() + stream.quarantined.size() > stream.durable)
            stream.taken.pop_back();
        store::StreamOpened opened;
        opened.token = request.token;
        opened.stream = stream.id;
        opened.storeId = "fake";
        opened.epoch = ++stream.epoch;
        opened.durableSeq = stream.durable;
        opened.fenced = std::move(fenced);
        opened.run = std::make_shared<store::RunHandle>(store::RunHandle { {}, "fake1", request.runName, {} });
        for (const auto& batch : stream.taken)
            opened.layouts.insert(opened.layouts.end(), batch->layouts.begin(), batch->layouts.end());
        m_disk->m_events.push_back(std::move(opened));
        m_disk->wake(lock);
        return true;
    }
    bool submit(std::shared_ptr<const SampleBatch> batch) override
    {
        std::unique_lock lock(m_disk->m_mutex);
        if (m_disk->m_isFull)
            return false;
        if (auto* stream = m_disk->find(batch->stream)) {
            stream->taken.push_back(std::move(batch));
            if (m_disk->m_commitsAtOnce)
                m_disk->commitLocked(*stream);
        }
        m_disk->wake(lock);
        return true;
    }
    bool quarantine(StreamId id, std::uint64_t seq, std::string, std::string, Lost) override
    {
        std::unique_lock lock(m_disk->m_mutex);
        if (m_disk->m_isFull)
            return false;
        if (auto* stream = m_disk->find(id)) {
            stream->quarantined.push_back(seq);
            if (m_disk->m_commitsAtOnce)
                m_disk->commitLocked(*stream);
        }
        m_disk->wake(lock);
        return true;
    }
    void closeStream(StreamId id, std::string reason, std::uint64_t, Produced) override
    {
        const std::lock_guard lock(m_disk->m_mutex);
        if (auto* stream = m_disk->find(id)) {
            stream->closed.push_back(std::move(reason));
            stream->isOpen = false;
        }
    }

private:
    std::shared_ptr<FakeDisk> m_disk;
};

}
