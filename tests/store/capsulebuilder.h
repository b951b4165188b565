// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <telltale/core/samplebatch.h>
#include <telltale/store/capsulewriter.h>
#include <telltale/store/runhandle.h>
#include <telltale/store/storeservice.h>

namespace telltale::test {

/// Writes capsules for tests through the store's own writer. A failure throws: a test cannot go on without its capsule.
/// Thread: the test's.
class CapsuleBuilder {
public:
    explicit CapsuleBuilder(std::string path, const std::string& name = "a test run", const std::string& id = "abc123",
        std::int64_t createdNs = 1'700'000'000'000'000'000)
        : m_path(std::move(path))
        , m_live(std::make_shared<store::LiveRun>())
    {
        store::RunMeta meta;
        meta.storeId = "store-" + m_path;
        meta.runId = id;
        meta.runKey = "key";
        meta.name = name;
        meta.createdNs = createdNs;
        m_writer = must(store::CapsuleWriter::create(m_path, meta, *m_live));
    }

    /// `place`: dp, tp, pp, ep.
    std::int64_t addAttempt(
        Rank rank, int attempt, const std::string& host = "host", std::array<int, 4> place = { -1, -1, -1, -1 })
    {
        store::StreamRequest request;
        request.dp = place[0];
        request.tp = place[1];
        request.pp = place[2];
        request.ep = place[3];
        request.agentId = host + "/" + std::to_string(rank.value);
        request.host = host;
        request.framework = host;
        request.pid = 4711;
        request.rank = rank;
        request.incarnation = ++m_incarnation;
        return must(m_writer->book().addStream(request, attempt));
    }

    std::shared_ptr<const SeriesLayout> addLayout(Kind kind, std::vector<Stat> stats, std::vector<std::string> names)
    {
        auto layout = std::make_shared<SeriesLayout>();
        layout->id = LayoutId { ++m_layout };
        layout->kind = kind;
        layout->stats = std::move(stats);
        for (std::string& name : names) {
            SeriesDesc series;
            series.name = std::move(name);
            series.shape = { 4, 8 };
            series.dtype = DType::F32;
            series.numel = 32;
            layout->series.push_back(std::move(series));
        }
        return layout;
    }

    /// Stages one batch of these blocks, in order.
    void stage(std::int64_t stream, std::vector<StepBlock> blocks, std::vector<Drop> drops = {},
        std::vector<Event> events = {}, std::vector<Blob> blobs = {})
    {
        auto batch = std::make_shared<SampleBatch>();
        batch->stream = StreamId { stream };
        batch->seq = ++m_seq[stream];
        for (const StepBlock& block : blocks)
            batch->layouts.push_back(block.layout);
        batch->blocks = std::move(blocks);
        batch->drops = std::move(drops);
        batch->events = std::move(events);
        batch->blobs = std::move(blobs);
        const std::string conflict = must(m_writer->stage(stream, std::move(batch)));
        if (!conflict.empty())
            throw std::runtime_error(conflict);
    }
    void setNextSeq(std::int64_t stream, std::uint64_t seq) { m_seq[stream] = seq - 1; }
    void commit() { must(m_writer->commit()); }
    /// Every stream ends, and what that releases is released.
    void releaseAll()
    {
        for (const auto& [id, stream] : m_writer->streams())
            must(m_writer->book().leave(id, store::SourceState::Lost, 0));
        must(m_writer->releaseIdle(store::CapsuleWriter::Clock::now(), std::chrono::milliseconds { 0 }));
    }
    void finish()
    {
        must(m_writer->finish(store::RunState::Finished));
        m_writer->tidyUp();
        m_writer.reset();
    }
    /// As a crash leaves it: the connection goes, nothing is sealed.
    void crash() { m_writer.reset(); }

    store::RunLocator locator() const { return store::RunLocator::ofFile(m_path); }
    store::RunHandle liveHandle() const { return { locator(), "abc123", "a test run", m_live }; }
    store::RunHandle handle() const { return { locator(), "abc123", "a test run", nullptr }; }
    const std::shared_ptr<store::LiveRun>& live() const { return m_live; }
    store::CapsuleWriter& writer() { return *m_writer; }

    template <typename T> static T must(Expected<T> value)
    {
        if (!value)
            throw std::runtime_error(value.error().sentence());
        if constexpr (!std::is_void_v<T>)
            return std::move(*value);
    }

private:
    std::string m_path;
    std::shared_ptr<store::LiveRun> m_live;
    std::unique_ptr<store::CapsuleWriter> m_writer;
    std::uint64_t m_incarnation = 0;
    std::uint32_t m_layout = 0;
    std::map<std::int64_t, std::uint64_t> m_seq;
};

}
