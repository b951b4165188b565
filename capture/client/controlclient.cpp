// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/client/controlclient.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <telltale/protocol/limits.h>
#include <telltale/store/runfiles.h>

namespace telltale::client {
namespace {

namespace fs = std::filesystem;
namespace limits = protocol::limits;

constexpr std::chrono::seconds kConnectTime { 10 };
/// Without any word of the server, which says something at every heartbeat.
constexpr std::chrono::seconds kPatience { 30 };

/// A folder of its own that goes with it.
class Scratch {
public:
    Scratch()
    {
        std::error_code error;
        std::string name = (fs::temp_directory_path(error) / "telltale-import-XXXXXX").native();
        if (!error && ::mkdtemp(name.data()) != nullptr)
            m_folder = name;
    }
    ~Scratch()
    {
        std::error_code error;
        if (!m_folder.empty())
            fs::remove_all(m_folder, error);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    const fs::path& folder() const { return m_folder; } ///< empty when there is none

private:
    fs::path m_folder;
};

}

Expected<protocol::JoinString> controlJoin(const std::string& dataDir)
{
    std::ifstream file(store::controlFile(dataDir));
    std::string line;
    if (!std::getline(file, line))
        return failure(ErrorCode::NotFound, "no server on " + dataDir + " takes requests");
    return protocol::JoinString::parse(line);
}

Expected<std::unique_ptr<ControlClient>> ControlClient::connect(const protocol::JoinString& join)
{
    if (!join.isControl)
        return failure(ErrorCode::BadInput, "this join string is for trainings",
            fmt::format("the one that is wanted stands in the file {} of the server's data directory",
                fs::path(store::controlFile({})).filename().native()));
    std::unique_ptr<ControlClient> client(new ControlClient(join));
    auto proof = client->m_link.connect(kConnectTime);
    if (!proof)
        return tl::unexpected(proof.error());
    protocol::ControlHello hello;
    hello.protoMin = hello.protoMax = limits::kProtoVersion;
    hello.program = "telltale";
    hello.proof = std::move(*proof);
    client->m_link.send(hello);
    const auto answer = client->hear();
    if (!answer)
        return tl::unexpected(answer.error());
    if (!std::holds_alternative<protocol::Welcome>(*answer))
        return failure(ErrorCode::BadInput, fmt::format("{}:{} does not say Welcome", join.host, join.port));
    return client;
}

ControlClient::~ControlClient() = default;

protocol::JoinString ControlClient::agentJoin() const
{
    protocol::JoinString join = m_link.join();
    join.isControl = false;
    join.token = m_agentToken;
    return join;
}

Expected<protocol::Message> ControlClient::hear()
{
    m_home.check();
    auto heard = std::chrono::steady_clock::now();
    for (;;) {
        auto message = m_link.receive(limits::kHeartbeat);
        const auto now = std::chrono::steady_clock::now();
        if (message)
            heard = now;
        if (const auto* bye = message ? std::get_if<protocol::Bye>(&*message) : nullptr)
            return failure(ErrorCode::Denied, "the server said goodbye: " + bye->reason);
        const bool isWaiting = message ? std::holds_alternative<protocol::Heartbeat>(*message)
                                       : message.error().code == ErrorCode::Canceled && now - heard <= kPatience;
        if (!isWaiting)
            return message;
        m_link.send(protocol::Heartbeat {});
    }
}

Expected<store::ImportedRun> ControlClient::takeReply(protocol::ControlReply reply)
{
    if (!reply.error.empty())
        return failure(ErrorCode::Io, std::move(reply.error), std::move(reply.todo));
    m_agentToken = std::move(reply.agentToken);
    return store::ImportedRun { store::RunLocator::fromText(std::move(reply.capsule)), std::move(reply.runId),
        std::move(reply.damage) };
}

Expected<store::ImportedRun> ControlClient::hearReply(const std::function<Expected<void>(std::uint64_t)>& onTaken)
{
    for (;;) {
        auto message = hear();
        if (!message)
            return tl::unexpected(message.error());
        if (auto* reply = std::get_if<protocol::ControlReply>(&*message))
            return takeReply(std::move(*reply));
        const auto* taken = std::get_if<protocol::RunTaken>(&*message);
        if (taken && onTaken) {
            if (auto ok = onTaken(taken->bytes); !ok)
                return tl::unexpected(ok.error());
        }
    }
}

Expected<store::ImportedRun> ControlClient::findStream(const protocol::Hello& stream)
{
    m_link.send(protocol::FindStream { stream });
    return hearReply();
}

Expected<RunSteering> ControlClient::hearSteering()
{
    for (;;) {
        auto message = hear();
        if (!message)
            return tl::unexpected(message.error());
        if (auto* state = std::get_if<protocol::ConfigState>(&*message))
            return std::move(state->steering);
        if (auto* reply = std::get_if<protocol::ControlReply>(&*message))
            return failure(ErrorCode::Io, std::move(reply->error), std::move(reply->todo));
    }
}

Expected<RunSteering> ControlClient::askConfig(const std::string& run, std::uint64_t rev, Rank rank)
{
    m_link.send(protocol::ConfigAsk { run, rev, rank.value });
    return hearSteering();
}

Expected<RunSteering> ControlClient::pushConfig(const ConfigRequest& request)
{
    m_link.send(protocol::ConfigPush { request });
    return hearSteering();
}

Expected<void> ControlClient::writeNote(const protocol::NoteWrite& note)
{
    m_link.send(note);
    const auto reply = hearReply();
    return reply ? Expected<void>() : tl::unexpected(reply.error());
}

Expected<store::ImportedRun> ControlClient::importRun(const std::string& path)
{
    const std::string fileName = fs::path(path).filename().native();
    std::error_code error;
    if (!fs::exists(path + "-wal", error))
        return upload(path, fileName);
    const Scratch scratch;
    if (scratch.folder().empty())
        return failure(
            ErrorCode::Io, "cannot make a folder for a copy of " + path, "set TMPDIR to where there is room");
    const std::string whole = scratch.folder() / fileName;
    if (auto copied = store::copyRun(store::RunLocator::ofFile(path), whole); !copied)
        return tl::unexpected(copied.error());
    return upload(whole, fileName);
}

Expected<store::ImportedRun> ControlClient::upload(const std::string& path, const std::string& fileName)
{
    std::ifstream file(path, std::ios::binary);
    std::error_code error;
    const std::uint64_t bytes = fs::file_size(path, error);
    if (!file || error)
        return failure(ErrorCode::Io, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    m_link.send(protocol::ImportRun { fileName, bytes });
    return hearReply([&, sent = std::uint64_t { 0 }](std::uint64_t taken) mutable -> Expected<void> {
        while (sent < bytes && sent < taken + limits::kImportWindow) {
            const auto most = std::min<std::uint64_t>(
                { limits::kMaxRunPartBytes, bytes - sent, taken + limits::kImportWindow - sent });
            std::string data(static_cast<std::size_t>(most), '\0');
            if (!file.read(data.data(), static_cast<std::streamsize>(data.size())))
                return failure(ErrorCode::Io, path + " became shorter while it was read");
            sent += data.size();
            m_link.send(protocol::RunPart { std::move(data) });
        }
        return {};
    });
}

}
