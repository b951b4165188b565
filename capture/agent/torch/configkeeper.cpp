// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/torch/configkeeper.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <strings.h>

#include <telltale/agent/say.h>
#include <telltale/config/revision.h>

namespace telltale {
namespace {

constexpr std::int64_t kSoon = 2; // steps: ranks differ by no more than this when one of them ends a collection

bool isSame(const config::MonitorConfig& a, const config::MonitorConfig& b)
{
    return config::canonicalConfigText(a) == config::canonicalConfigText(b);
}

config::MonitorConfig switched(config::MonitorConfig config, bool isOn)
{
    config.dynamicOn = isOn;
    return config;
}

std::optional<int> numberIn(const char* name)
{
    const char* text = std::getenv(name);
    if (!text || !*text)
        return std::nullopt;
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return *end == '\0' && value >= 0 && value < 1'000'000 ? std::optional(static_cast<int>(value)) : std::nullopt;
}

/// Whether the rank is the lowest collecting one of its node, which writes into the node's file: each node may have one
/// of its own. Where the launcher does not say which ranks those are, every rank is.
bool isWriter(int rank, const std::vector<int>& moduleRanks)
{
    for (const auto& [place, count] : { std::pair { "LOCAL_RANK", "LOCAL_WORLD_SIZE" },
             std::pair { "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE" } }) {
        const auto at = numberIn(place);
        const auto of = numberIn(count);
        if (!at || !of || *at >= *of || *at > rank)
            continue;
        const auto collects = [&moduleRanks](int one) {
            return moduleRanks.empty() || std::find(moduleRanks.begin(), moduleRanks.end(), one) != moduleRanks.end();
        };
        for (int one = rank - *at; one < rank - *at + *of; ++one)
            if (collects(one))
                return one == rank;
    }
    return true;
}

}

bool isDynamicWanted()
{
    const char* dynamic = std::getenv("DYNAMIC_MONITOR");
    return dynamic && ::strcasecmp(dynamic, "true") == 0;
}

ConfigKeeper::ConfigKeeper(Sink& sink, LoadedConfig loaded, const std::string& path, int rank)
    : m_sink(sink)
    , m_rank(rank)
    , m_config(loaded.config)
    , m_applied(loaded.config)
    , m_text(std::move(loaded.text))
    , m_isSwitched(!path.empty() && isDynamicWanted())
    , m_file(path.empty() ? nullptr : std::make_unique<WatchedFile>(path, m_isSwitched))
{
}

void ConfigKeeper::begin(std::int64_t step, bool isOn)
{
    say(m_rev, step, isOn, "the config of the start");
}

std::optional<ConfigKeeper::Change> ConfigKeeper::next(std::int64_t step, const Collection& now)
{
    if (m_file)
        if (auto seen = m_file->takeChange())
            if (auto change = changeOf(*std::move(seen), step, now))
                return change;
    const auto due = m_sink.configDue(step);
    if (!due)
        return std::nullopt;
    Change change;
    change.rev = due->rev;
    const auto parsed = config::parseMonitorConfig(due->json);
    if (!parsed) {
        m_sink.refuseConfig(due->rev, step, parsed.error().sentence());
        return std::nullopt;
    }
    change.config = parsed->config;
    change.isSwitchAlone = isSame(switched(m_applied, change.config.dynamicOn), change.config);
    return change;
}

std::optional<ConfigKeeper::Change> ConfigKeeper::changeOf(
    Expected<LoadedConfig> seen, std::int64_t step, const Collection& now)
{
    if (!seen) {
        const std::string sentence = "the config that is in force stays so: " + seen.error().sentence();
        if (std::exchange(m_trouble, sentence) != sentence) {
            agent::say(sentence);
            m_sink.event("log", step, sentence, "{}");
        }
        return std::nullopt;
    }
    m_trouble.clear();
    m_text = seen->text;
    if ((m_rev > 0 && isSame(seen->config, m_config)) || m_sink.isConfigOffered(seen->text))
        return std::nullopt; // what the dashboard wants, written by this rank or by a quicker one
    Change change { std::move(seen->config), false, 0, seen->text };
    if (change.config.dynamicOn && change.config.collectTimes > 0)
        return change;
    // Another rank that reached collect_times has written the file; this one ends by itself, at the same step.
    const std::int64_t left = now.wanted - now.collected;
    const bool isWritten = isSame(change.config, switched(m_config, false));
    if (isWritten && (!now.isOn || (0 < left && left <= kSoon)))
        return std::nullopt;
    change.config.dynamicOn = false;
    change.isSwitchAlone = true;
    return change;
}

void ConfigKeeper::taken(const Change& change, std::int64_t step)
{
    m_config = change.config;
    if (!change.isSwitchAlone)
        m_applied = change.config;
    m_isOver = false;
    if (change.rev == 0)
        return say(0, step, change.config.dynamicOn, "config.json was edited");
    m_isSwitched = true;
    say(change.rev, step, change.config.dynamicOn, {});
    write();
}

void ConfigKeeper::refused(const Change& change, std::int64_t step, const std::string& why)
{
    if (change.rev > 0)
        m_sink.refuseConfig(change.rev, step, why);
    else
        m_sink.event("log", step, "the config that is in force stays so: " + why, "{}");
}

bool ConfigKeeper::hasEnded(std::int64_t step, const Collection& now)
{
    if (m_isOver || !now.isOn || now.collected < now.wanted)
        return false;
    m_isOver = true;
    m_config.dynamicOn = false;
    say(m_rev, step, false, "collect_times is reached");
    if (m_isSwitched)
        write();
    return true;
}

void ConfigKeeper::say(std::uint64_t rev, std::int64_t step, bool isOn, const std::string& why)
{
    m_rev = rev;
    m_sink.setConfigInForce(rev, step, config::canonicalConfigText(switched(m_config, isOn)), why);
}

void ConfigKeeper::write()
{
    if (m_file && isWriter(m_rank, m_config.moduleRanks))
        m_file->write(m_text, m_config);
}

}
