// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/client/spooldelivery.h>

#include <chrono>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

#include <telltale/agent/session.h>
#include <telltale/spool/productionpage.h>

namespace telltale::client {
namespace {

using Clock = agent::Session::Clock;

constexpr std::chrono::seconds kAckPatience { 30 }; ///< without any acknowledgement
constexpr std::chrono::milliseconds kTurn { 2 };
constexpr std::chrono::milliseconds kByeTime { 200 };

/// Until all of the stream is acknowledged.
Expected<void> deliver(boost::asio::io_context& context, agent::Session& session, const agent::Stream& stream)
{
    std::uint64_t left = stream.held.size();
    auto progress = Clock::now();
    while (!stream.held.isEmpty()) {
        const auto now = Clock::now();
        session.tick(now);
        context.restart();
        context.run_for(kTurn);
        if (std::exchange(left, stream.held.size()) != left)
            progress = now;
        if (session.isWaiting() && session.failures() > 0)
            return failure(ErrorCode::Io, "it went away");
        if (now - progress > kAckPatience)
            return failure(ErrorCode::Io, "it does not answer");
    }
    return {};
}

}

Expected<ingest::SpoolReport> deliverSpool(
    const protocol::JoinString& join, const std::filesystem::path& folder, ingest::SpoolImport::Found found)
{
    ingest::SpoolReport report;
    report.folder = folder.string();
    report.damages = std::move(found.spooled.damages);
    report.isDelivered = true;
    report.isEmpty = found.spooled.stream == nullptr;
    if (report.isEmpty)
        return report;
    agent::Stream& stream = *found.spooled.stream;
    report.runKey = found.hello.runKey;
    report.agentId = found.hello.agentId;
    report.rank = Rank { found.hello.rank };
    stream.hello.capabilities.emplace_back(protocol::limits::kSpoolOnly);
    agent::LastError lastError;
    const auto page = agent::ProductionPage::leftBy(found.hello.incarnation);
    boost::asio::io_context context;
    agent::Session::Events events;
    events.onForgotten = [&report](const agent::HeldStore::Forgotten& gone) { report.batches += gone.batches; };
    events.describe = [&page](protocol::Heartbeat& heartbeat) {
        if (page) {
            heartbeat.producedSamples = page->produced.samples;
            heartbeat.producedScalars = page->produced.scalars;
            heartbeat.isFinal = true;
        }
    };
    agent::Session session(context, join, stream, nullptr, lastError, std::move(events));
    if (const auto done = deliver(context, session, stream); !done) {
        const std::string why = lastError.get().second;
        return failure(done.error().code,
            fmt::format("the server did not take {}: {}", report.folder, why.empty() ? done.error().what : why));
    }
    const std::string& bye = found.spooled.byeReason;
    session.sayBye(bye.empty() ? "restarting" : bye, [&page] {
        if (page)
            page->remove();
    });
    context.restart();
    context.run_for(kByeTime);
    stream.disk.close(std::nullopt);
    return report;
}

}
