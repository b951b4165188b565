// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/ingest/storetarget.h>

#include <utility>
#include <variant>

namespace telltale::ingest {
namespace {

std::uint64_t presentScalars(const StepBlock& block)
{
    std::uint64_t count = 0;
    for (std::size_t i = 0; block.layout->kind == Kind::Scalar && i < block.layout->series.size(); ++i)
        count += block.isPresent(i) ? 1 : 0;
    return count;
}

}

void countIn(SampleBatch& batch)
{
    for (const StepBlock& block : batch.blocks) {
        batch.samples += sampleCount(block);
        batch.scalars += presentScalars(block);
    }
}

StoreTarget::StoreTarget(store::StoreService& service)
    : m_service(service)
    , m_sink(service)
{
    m_sink.setWake([this] {
        {
            const std::lock_guard lock(m_mutex);
            m_isSet = true;
        }
        m_came.notify_one();
    });
}

StoreTarget::~StoreTarget()
{
    m_sink.setWake({});
}

Expected<void> StoreTarget::turn()
{
    m_home.check();
    for (store::StoreEvent& event : m_sink.takeEvents()) {
        if (auto* opened = std::get_if<store::StreamOpened>(&event)) {
            m_streams.push_back({ opened->stream, opened->durableSeq, {} });
            if (!m_run)
                m_run = opened->run;
            m_isOpen = true;
        } else if (auto* refused = std::get_if<store::StreamRefused>(&event)) {
            return tl::unexpected<Error>(std::move(refused->error));
        } else if (auto* bad = std::get_if<store::BatchQuarantined>(&event)) {
            return failure(ErrorCode::BadInput, "the run cannot be written: " + bad->reason);
        } else if (auto* trouble = std::get_if<store::StoreTrouble>(&event); trouble && !trouble->recovered) {
            return tl::unexpected<Error>(std::move(trouble->error));
        } else if (auto* stopped = std::get_if<store::RunStopped>(&event)) {
            return tl::unexpected<Error>(std::move(stopped->error));
        }
    }
    return {};
}

Expected<void> StoreTarget::wait()
{
    {
        std::unique_lock lock(m_mutex);
        m_came.wait_for(lock, std::chrono::milliseconds(20), [this] { return m_isSet; });
        m_isSet = false;
    }
    return turn();
}

Expected<store::ImportedRun> StoreTarget::find(const store::StreamRequest& request)
{
    return store::importedAs(m_service.dataDir(), request);
}

Expected<std::size_t> StoreTarget::open(store::StreamRequest request, Produced before)
{
    m_isOpen = false;
    if (!m_sink.openStream(std::move(request)))
        return failure(ErrorCode::Busy, "the store is held up", "try again later");
    Expected<void> ok;
    while (ok && !m_isOpen)
        ok = wait();
    if (!ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    m_streams.back().produced = before;
    return m_streams.size() - 1;
}

Expected<void> StoreTarget::submit(std::size_t number, const std::shared_ptr<SampleBatch>& batch)
{
    Stream& stream = m_streams[number];
    batch->stream = stream.id;
    batch->seq = ++stream.seq;
    countIn(*batch);
    stream.produced.samples += batch->samples;
    stream.produced.scalars += batch->scalars;
    Expected<void> ok = turn();
    while (ok && !m_sink.submit(batch))
        ok = wait();
    return ok;
}

Expected<void> StoreTarget::close(std::size_t number, const std::string& reason)
{
    Stream& stream = m_streams[number];
    stream.produced.isFinal = true;
    m_sink.closeStream(stream.id, reason, stream.seq, std::exchange(stream.produced, {}));
    return turn();
}

Expected<void> StoreTarget::flush(std::chrono::milliseconds atMost)
{
    if (!m_service.flush(atMost))
        return failure(ErrorCode::Io, "the run does not become durable");
    return turn();
}

}
