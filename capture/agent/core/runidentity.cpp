// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/agent/runidentity.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <initializer_list>

#include <sys/random.h>
#include <unistd.h>

#include <fmt/format.h>

namespace telltale::agent {
namespace {

std::optional<std::int32_t> number(const std::optional<std::string>& text)
{
    if (!text)
        return std::nullopt;
    std::int32_t value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error != std::errc {} || end != text->data() + text->size() || value < 0)
        return std::nullopt;
    return value;
}

std::int32_t firstNumber(
    const RunIdentity::Environment& environment, std::initializer_list<const char*> names, std::int32_t fallback)
{
    for (const char* name : names)
        if (const auto value = number(environment(name)))
            return *value;
    return fallback;
}

std::string hostName()
{
    std::array<char, 256> name {};
    return ::gethostname(name.data(), name.size() - 1) == 0 && name[0] ? std::string(name.data()) : "localhost";
}

void deriveRunKey(
    RunIdentity& identity, const RunIdentity::Arguments& arguments, const RunIdentity::Environment& environment)
{
    const auto take = [&identity](const std::string& key, const char* source) {
        identity.runKey = key.substr(0, 256);
        identity.keySource = source;
    };
    if (!arguments.runId.empty())
        return take(arguments.runId, "run_id");
    if (const auto key = environment("TELLTALE_RUN_ID"))
        return take(*key, "TELLTALE_RUN_ID");
    if (const auto key = environment("TORCHELASTIC_RUN_ID"); key && *key != "none")
        return take(*key, "TORCHELASTIC_RUN_ID");
    if (const auto key = environment("SLURM_JOB_ID"))
        return take(*key, "SLURM_JOB_ID");
    const auto address = environment("MASTER_ADDR");
    const auto port = environment("MASTER_PORT");
    if (address && port)
        return take(fmt::format("{}:{}:{}", *address, *port, identity.worldSize), "MASTER_ADDR");
    take(fmt::format("{:016x}{:016x}", kernelRandom(), kernelRandom()), "random");
}

}

RunIdentity RunIdentity::derive(const Arguments& arguments, const Environment& environment)
{
    RunIdentity identity;
    identity.rank = arguments.rank >= 0
        ? arguments.rank
        : firstNumber(environment, { "RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "RANK_ID" }, 0);
    identity.worldSize = arguments.worldSize > 0
        ? arguments.worldSize
        : firstNumber(
            environment, { "WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "RANK_SIZE" }, 1);
    identity.restartCount = static_cast<std::uint32_t>(arguments.restartCount >= 0
            ? arguments.restartCount
            : firstNumber(environment, { "TORCHELASTIC_RESTART_COUNT", "SLURM_RESTART_COUNT" }, 0));
    deriveRunKey(identity, arguments, environment);
    identity.runName = arguments.runName.empty() ? identity.runKey : arguments.runName;
    identity.role = arguments.role.empty() ? "trainer" : arguments.role;
    identity.host = hostName();
    identity.agentId = fmt::format("{}/{}/{}", identity.host, identity.rank, identity.role);
    identity.incarnation = kernelRandom() | 1u;
    return identity;
}

std::optional<std::string> processEnvironment(const char* name)
{
    const char* value = std::getenv(name);
    if (!value || !*value)
        return std::nullopt;
    return std::string(value);
}

std::uint64_t kernelRandom()
{
    std::uint64_t value = 0;
    if (::getrandom(&value, sizeof(value), GRND_NONBLOCK) != static_cast<ssize_t>(sizeof(value)))
        value = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count())
            ^ (static_cast<std::uint64_t>(::getpid()) << 40);
    return value;
}

}
