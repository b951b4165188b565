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

constexpr std::chrono::milliseconds kOften { 100 }, kSeldom { 500 }; // between two looks at the file
constexpr std::chrono::seconds kWriting { 2 }; // that an answer waits for the file
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

/// Whether the rank is the lowest collecting one of its node, or the lowest where none collects, which writes into the
/// node's file: each node may have one of its own. Where the launcher does not say which ranks those are, every rank
/// is.
bool isLowest(int rank, const std::vector<int>& moduleRanks)
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
        return *at == 0;
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
{
    if (path.empty())
        return;
    m_file = std::make_unique<WatchedFile>(path, m_text, [&seen = m_sink, isOften = m_isSwitched] {
        return isOften ? kOften : seen.isSteered() ? kSeldom : kSeldom.zero();
    });
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
    if (m_isAnswerDue.load(std::memory_order_acquire)) {
        if (std::chrono::steady_clock::now() < m_patience)
            return std::nullopt;
        giveAnswer();
    }
    const auto due = m_sink.configDue(step);
    if (!due)
        return std::nullopt;
    Change change;
    change.rev = due->rev;
    const auto edit = std::exchange(m_edit, std::nullopt);
    const auto parsed = config::parseMonitorConfig(due->json);
    if (!parsed) {
        m_sink.refuseConfig(due->rev, step, parsed.error().sentence());
        return std::nullopt;
    }
    if (edit && isSame(parsed->config, *edit)) { // which runs, and whose collection is not begun again
        writeAndAnswer(due->rev, step);
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
    if (!seen->saysDynamicOn()) // then it goes on as before
        seen->config.dynamicOn = now.isOn;
    if ((m_rev > 0 && isSame(seen->config, m_config)) || m_sink.isConfigOffered(seen->text))
        return std::nullopt; // what the dashboard wants, written by this rank or by a quicker one
    if (comesByTheDashboard(seen->config))
        return std::nullopt;
    Change change { std::move(seen->config), false, 0, seen->text };
    if (!m_isSwitched && !m_config.dynamicOn)
        change.config.dynamicOn = true; // without DYNAMIC_MONITOR the switch means nothing before it is touched
    if (change.config.dynamicOn && change.config.collectTimes > 0)
        return change;
    // Another rank that reached collect_times has written the file; this one ends by itself, at the same step.
    const std::int64_t left = now.wanted - now.collected;
    const bool isWritten = isSame(change.config, switched(m_config, false));
    if (isWritten && (!now.isOn || (0 < left && left <= kSoon)))
        return std::nullopt;
    if (now.isOn)
        tellStop(
            step, change.config.dynamicOn ? "collect_times is 0" : "dynamic_on is false", " in the changed config");
    change.config.dynamicOn = false;
    change.isSwitchAlone = true;
    return change;
}

/// It hears of an edit from the rank that writes the file, and offers it to all, but for what it may not change.
/// Another rank would take for an edit what is written of a config that it has not been asked for, or no longer.
bool ConfigKeeper::comesByTheDashboard(const config::MonitorConfig& edited) const
{
    return m_sink.isSteered() && !isWriter() && config::localChanges(m_config, edited).empty();
}

void ConfigKeeper::taken(const Change& change, std::int64_t step)
{
    m_config = change.config;
    if (!change.isSwitchAlone)
        m_applied = change.config;
    m_isOver = false;
    m_isSwitched = true;
    if (change.rev > 0)
        return writeAndAnswer(change.rev, step);
    m_edit = change.isSwitchAlone ? std::nullopt : std::optional(change.config);
    say(0, step, change.config.dynamicOn, "config.json was edited");
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
    if (m_isSwitched) {
        tellStop(step, std::to_string(now.collected), " steps are collected, as collect_times asks");
        if (m_file && isWriter())
            m_file->write(m_text, m_config, [] {});
    }
    say(m_rev, step, false, "collect_times is reached");
    return true;
}

void ConfigKeeper::tellStop(std::int64_t step, const std::string& what, const char* more)
{
    m_sink.event("config", step, "nothing is collected from this step on: " + what + more, "{}");
}

void ConfigKeeper::say(std::uint64_t rev, std::int64_t step, bool isOn, const std::string& why)
{
    giveAnswer(); // to what was before
    m_rev = rev;
    m_sink.setConfigInForce(rev, step, config::canonicalConfigText(switched(m_config, isOn)), why);
}

/// A restart after the answer goes on with what was chosen, so the file has it by then.
void ConfigKeeper::writeAndAnswer(std::uint64_t rev, std::int64_t step)
{
    m_rev = rev;
    {
        const std::lock_guard lock(m_answerLock);
        m_answer = { rev, step, config::canonicalConfigText(m_config) };
        m_isAnswerDue = true;
    }
    m_patience = std::chrono::steady_clock::now() + kWriting;
    if (m_file && isWriter())
        m_file->write(m_text, m_config, [this, rev] { giveAnswer(rev); });
    else
        giveAnswer();
}

void ConfigKeeper::giveAnswer(std::optional<std::uint64_t> rev)
{
    const std::lock_guard lock(m_answerLock);
    if (!m_answer || (rev && *rev != m_answer->rev))
        return;
    m_sink.setConfigInForce(m_answer->rev, m_answer->step, m_answer->json, {});
    m_answer.reset();
    m_isAnswerDue.store(false, std::memory_order_release);
}

bool ConfigKeeper::isWriter() const
{
    return isLowest(m_rank, m_config.moduleRanks);
}

}
