// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/client/servertarget.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <unistd.h>

#include <telltale/agent/session.h>
#include <telltale/protocol/datarules.h>
#include <telltale/protocol/limits.h>
#include <telltale/protocol/payloadbuilder.h>

namespace telltale::client {
namespace {

using StreamClock = agent::Session::Clock;

constexpr std::chrono::seconds kServerPatience { 60 }; ///< without any acknowledgement
constexpr std::chrono::seconds kSettleTime { 5 };
constexpr int kPumpMs = 2;
constexpr int kByeMs = 200;

}

protocol::Hello helloOf(const store::StreamRequest& request)
{
    protocol::Hello hello;
    hello.runKey = request.runKey;
    hello.runName = request.runName;
    hello.keySource = request.keySource;
    hello.agentId = request.agentId;
    hello.host = request.host;
    hello.role = "import";
    hello.incarnation = request.incarnation;
    hello.restartCount = static_cast<std::uint32_t>(request.restartCount);
    hello.rank = request.rank.value;
    hello.worldSize = request.worldSize;
    hello.dp = request.dp;
    hello.tp = request.tp;
    hello.pp = request.pp;
    hello.ep = request.ep;
    hello.framework = request.framework;
    hello.agentVersion = request.agentVersion;
    hello.device = request.device;
    hello.pid = ::getpid();
    protocol::mendNames(hello);
    return hello;
}

struct ServerTarget::Stream {
    Stream(protocol::Hello hello, const protocol::JoinString& join)
        : stream(std::move(hello), {}, 0) // nothing is ever spooled: it stays in memory
        , session(context, join, stream, nullptr, lastError, events())
    {
    }
    agent::Session::Events events()
    {
        agent::Session::Events events;
        events.onRejected = [this](const std::string& reason, Lost /*lost*/) { rejected = reason; };
        events.describe = [this](protocol::Heartbeat& heartbeat) {
            heartbeat.producedSamples = produced.samples;
            heartbeat.producedScalars = produced.scalars;
            heartbeat.isFinal = produced.isFinal;
        };
        return events;
    }

    boost::asio::io_context context;
    agent::LastError lastError;
    agent::Stream stream;
    Produced produced;
    std::string rejected;
    bool isClosed = false;
    StreamClock::time_point progress = StreamClock::now();
    std::uint64_t left = 0;
    agent::Session session;
};

ServerTarget::ServerTarget(ControlClient& server, std::function<bool()> goesOn)
    : m_server(server)
    , m_goesOn(std::move(goesOn))
{
}

ServerTarget::~ServerTarget() = default;

Expected<void> ServerTarget::pump(Stream& stream, int milliseconds)
{
    m_home.check();
    const auto now = StreamClock::now();
    stream.stream.held.takeAnswers();
    stream.session.tick(now);
    stream.context.restart();
    stream.context.run_for(std::chrono::milliseconds(milliseconds));
    if (stream.stream.held.isEmpty()
        || std::exchange(stream.left, stream.stream.held.size()) != stream.stream.held.size())
        stream.progress = now;
    if (!stream.rejected.empty())
        return failure(ErrorCode::BadInput, "the server did not take it: " + stream.rejected);
    if (now - stream.progress > kServerPatience) {
        const std::string why = stream.lastError.get().second;
        return failure(ErrorCode::Io, "the server does not answer" + (why.empty() ? why : ": " + why));
    }
    return {};
}

Expected<void> ServerTarget::waitUntil(Stream& stream, const std::function<bool()>& isDone)
{
    while (!isDone()) {
        if (!m_goesOn())
            return failure(ErrorCode::Canceled, "the import was canceled");
        if (auto ok = pump(stream, kPumpMs); !ok)
            return ok;
    }
    return {};
}

Expected<store::ImportedRun> ServerTarget::find(const store::StreamRequest& request)
{
    return m_server.findStream(helloOf(request));
}

Expected<std::size_t> ServerTarget::open(store::StreamRequest request, Produced before)
{
    protocol::Hello hello = helloOf(request);
    if (auto ok = protocol::checkHello(hello); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    // Its answer brings the agents' token.
    if (const auto asked = m_server.findStream(hello); !asked)
        return tl::unexpected<Error>(asked.error());
    m_streams.push_back(std::make_unique<Stream>(hello, m_server.agentJoin()));
    Stream& stream = *m_streams.back();
    if (auto ok = waitUntil(stream, [&] { return stream.session.isOpen(); }); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    stream.produced = before;
    if (m_streams.size() == 1) {
        if (const auto run = m_server.findStream(hello)) {
            m_capsule = run->locator.text();
            m_runId = run->id;
        }
    }
    return m_streams.size() - 1;
}

Expected<void> ServerTarget::submit(std::size_t number, const std::shared_ptr<SampleBatch>& batch)
{
    Stream& stream = *m_streams[number];
    ingest::countIn(*batch);
    protocol::PayloadBuilder builder;
    std::set<LayoutId> used;
    agent::BatchInfo info;
    for (const auto& layout : batch->layouts)
        stream.stream.layouts.add(layout);
    for (const StepBlock& block : batch->blocks) {
        builder.addBlock(block);
        used.insert(block.layout->id);
        const bool isFirst = &block == &batch->blocks.front();
        info.steps.first = isFirst ? block.step : std::min(info.steps.first, block.step);
        info.steps.last = isFirst ? block.step : std::max(info.steps.last, block.step);
    }
    info.samples = batch->samples;
    info.scalars = batch->scalars;
    for (const Blob& blob : batch->blobs)
        builder.addBlob(blob);
    for (const Event& event : batch->events)
        builder.addEvent(event);
    if (builder.isEmpty())
        return {};
    info.layouts = std::make_shared<const std::vector<LayoutId>>(used.begin(), used.end());
    std::string payload = builder.finish();
    const std::size_t bytes = payload.size();
    const std::uint64_t seq = stream.stream.rules.nextSeq();
    if (auto ok = waitUntil(stream, [&] { return stream.stream.held.hasRoom(bytes); }); !ok)
        return ok;
    if (!stream.stream.held.add(seq, payload, std::move(info), StreamClock::now()))
        return failure(ErrorCode::Io, "there is no memory for what is to be sent");
    stream.stream.rules.onProduced(seq, bytes);
    stream.produced.samples += batch->samples;
    stream.produced.scalars += batch->scalars;
    return pump(stream, 0);
}

Expected<void> ServerTarget::turn()
{
    for (const auto& stream : m_streams) {
        if (stream->isClosed)
            continue;
        if (auto ok = pump(*stream, kPumpMs); !ok)
            return ok;
    }
    return {};
}

Expected<void> ServerTarget::settle()
{
    const auto end = StreamClock::now() + kSettleTime;
    const auto isSafe = [](const auto& stream) { return stream->stream.held.isEmpty(); };
    Expected<void> ok;
    while (ok && !std::all_of(m_streams.begin(), m_streams.end(), isSafe)) {
        if (StreamClock::now() > end)
            return failure(ErrorCode::Io, "the server has not taken all of it in time");
        ok = turn();
    }
    return ok;
}

Expected<void> ServerTarget::close(std::size_t number, const std::string& reason)
{
    Stream& stream = *m_streams[number];
    stream.produced.isFinal = true;
    auto ok = waitUntil(stream, [&] { return stream.stream.held.isEmpty(); });
    stream.isClosed = true;
    if (!ok)
        return ok;
    stream.session.sayBye(reason);
    stream.context.restart();
    stream.context.run_for(std::chrono::milliseconds(kByeMs));
    return {};
}

}
