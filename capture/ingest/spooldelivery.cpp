// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/ingest/spooldelivery.h>

#include <charconv>
#include <chrono>
#include <fstream>
#include <utility>

#include <boost/asio/io_context.hpp>

#include <telltale/agent/session.h>

namespace telltale::ingest {
namespace {

using Clock = agent::Session::Clock;

constexpr std::chrono::seconds kPatience { 30 }; ///< without any acknowledgement
constexpr std::chrono::milliseconds kTurn { 2 };
constexpr std::chrono::milliseconds kByeTime { 200 };

std::string firstWord(const std::string& path)
{
    std::ifstream file(path);
    std::string word;
    file >> word;
    return word;
}

}

Expected<protocol::JoinString> joinOfServer(const std::string& dataDir)
{
    protocol::JoinString join;
    join.host = "127.0.0.1";
    join.token = firstWord(dataDir + "/server/token");
    const std::string port = firstWord(dataDir + "/server/port");
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), join.port);
    if (join.token.empty() || error != std::errc {} || join.port == 0)
        return failure(ErrorCode::NotFound, "no capture server has run on " + dataDir);
    return join;
}

Expected<SpoolReport> deliverSpool(
    const protocol::JoinString& join, const std::filesystem::path& folder, SpoolImport::Found found)
{
    SpoolReport report;
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

    boost::asio::io_context context;
    agent::LastError lastError;
    agent::Session::Events events;
    events.onForgotten = [&report](const agent::HeldStore::Forgotten& gone) { report.batches += gone.batches; };
    events.replaceDamaged = [](std::uint64_t, const std::string& why) { return agent::lostBatchPayload(why); };
    agent::Session session(context, join, stream, nullptr, lastError, std::move(events));
    std::uint64_t left = stream.held.size();
    auto progress = Clock::now();
    while (!stream.held.isEmpty()) {
        const auto now = Clock::now();
        session.tick(now);
        context.restart();
        context.run_for(kTurn);
        if (std::exchange(left, stream.held.size()) != left)
            progress = now;
        if (now - progress > kPatience || (session.isWaiting() && session.failures() > 0)) {
            std::string why = lastError.get();
            return failure(ErrorCode::Io,
                "the server does not take " + report.folder
                    + (why.empty() ? std::string(": it does not answer") : " (" + std::move(why) + ")"));
        }
    }
    // A process that died without a word has none to pass on.
    if (!found.spooled.byeReason.empty()) {
        session.sayBye(found.spooled.byeReason);
        context.restart();
        context.run_for(kByeTime);
    }
    stream.spool.removeIfEmpty();
    return report;
}

}
