// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/agent/agentoptions.h>

#include <algorithm>
#include <cstring>

#include <unistd.h>

#include <fmt/format.h>

#include <telltale/agent/remoteconfig.h>
#include <telltale/protocol/datarules.h>
#include <telltale/protocol/utf8.h>
#include <telltale/spool/spool.h>

namespace telltale::agent {
namespace {

std::string text(const char* value)
{
    return value ? std::string(value) : std::string();
}

std::filesystem::path defaultSpoolDir(const RunIdentity::Environment& environment)
{
    if (const auto folder = environment("TELLTALE_DIR"))
        return *folder;
    if (const auto folder = environment("XDG_STATE_HOME"))
        return std::filesystem::path(*folder) / "telltale" / "spool";
    if (const auto folder = environment("HOME"))
        return std::filesystem::path(*folder) / ".local" / "state" / "telltale" / "spool";
    return fmt::format("/tmp/telltale-{}/spool", ::getuid());
}

Expected<Mode> modeFrom(const std::string& name, bool hasJoin)
{
    if (name.empty())
        return hasJoin ? Mode::Online : Mode::Disabled;
    if (name == "online")
        return Mode::Online;
    if (name == "offline")
        return Mode::Offline;
    if (name == "disabled")
        return Mode::Disabled;
    return failure(ErrorCode::BadInput, fmt::format("the mode \"{}\" is unknown", name.substr(0, 40)),
        "use online, offline or disabled");
}

/// Copies as much as the caller's version of the struct has.
Expected<tt_options> copyOf(const tt_options* options)
{
    tt_options copy {};
    copy.size = sizeof(copy);
    copy.rank = -1;
    copy.dp = copy.tp = copy.pp = copy.ep = -1;
    copy.restart_count = -1;
    if (!options)
        return copy;
    if (options->size < offsetof(tt_options, join) + sizeof(options->join) || options->size > 4096)
        return failure(
            ErrorCode::BadInput, fmt::format("tt_options.size is {}", options->size), "set it to sizeof(tt_options)");
    std::memcpy(&copy, options, std::min<std::size_t>(options->size, sizeof(copy)));
    return copy;
}

}

Expected<AgentOptions> AgentOptions::resolve(const tt_options* given, const RunIdentity::Environment& environment)
{
    const auto options = copyOf(given);
    if (!options)
        return tl::unexpected(options.error());
    std::string join = text(options->join);
    if (join.empty())
        join = environment("TELLTALE_JOIN").value_or("");
    std::string modeName = text(options->mode);
    if (modeName.empty())
        modeName = environment("TELLTALE_MODE").value_or("");
    const auto mode = modeFrom(modeName, !join.empty());
    if (!mode)
        return tl::unexpected(mode.error());

    AgentOptions out;
    out.mode = *mode;
    if (*mode == Mode::Online) {
        if (join.empty())
            return failure(ErrorCode::BadInput, "there is no join string",
                "copy it from the window into TELLTALE_JOIN, or use the mode offline");
        auto parsed = protocol::JoinString::parse(join);
        if (!parsed)
            return tl::unexpected(parsed.error());
        if (parsed->isControl)
            return failure(ErrorCode::BadInput, "this join string is for the command line",
                "a training takes the one from the dashboard's Connections page");
        out.join = std::move(*parsed);
    }
    out.identity = RunIdentity::derive({ text(options->run_id), text(options->run_name), text(options->role),
                                           options->rank, options->world_size, options->restart_count },
        environment);
    out.spoolDir = options->spool_dir && *options->spool_dir ? std::filesystem::path(options->spool_dir)
                                                             : defaultSpoolDir(environment);
    out.configText = text(options->config_text);
    out.steering.isServed = options->takes_configs != 0;
    out.steering.isAllowed = takesRemoteConfig(environment("TELLTALE_REMOTE_CONFIG").value_or("").c_str());
    if (options->ring_bytes > 0)
        out.ringBytes = options->ring_bytes;
    if (options->spool_cap_bytes > 0)
        out.spoolCapBytes = options->spool_cap_bytes;
    if (options->flush_ms > 0)
        out.flush = std::chrono::milliseconds(options->flush_ms);
    if (options->batch_ms > 0)
        out.batch = std::chrono::milliseconds(std::min<std::uint32_t>(options->batch_ms, 10000));

    protocol::Hello& hello = out.hello;
    const RunIdentity& identity = out.identity;
    hello.runKey = protocol::toName(identity.runKey);
    hello.runName = identity.runName;
    hello.keySource = identity.keySource;
    hello.agentId = protocol::toName(identity.agentId);
    hello.host = identity.host;
    hello.role = identity.role;
    hello.incarnation = identity.incarnation;
    hello.restartCount = identity.restartCount;
    hello.rank = identity.rank;
    hello.worldSize = identity.worldSize;
    hello.dp = options->dp;
    hello.tp = options->tp;
    hello.pp = options->pp;
    hello.ep = options->ep;
    hello.framework = text(options->framework);
    hello.agentVersion = agent::agentVersion();
    hello.pid = ::getpid();
    hello.device = text(options->device);
    hello.capabilities.emplace_back(protocol::limits::kNotice);
    if (out.steering.isServed)
        hello.capabilities.emplace_back(protocol::limits::kFlightRecorder);
    protocol::mendNames(hello);
    return out;
}

std::filesystem::path AgentOptions::runFolder() const
{
    return spoolDir / folderName(identity.runKey);
}

std::filesystem::path AgentOptions::streamFolder() const
{
    return runFolder() / fmt::format("{}-{:016x}", folderName(identity.agentId), identity.incarnation);
}

const char* agentVersion()
{
    return "0.1.0";
}

}
