// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <telltale/torch/configfile.h>
#include <telltale/torch/sink.h>
#include <telltale/torch/watchedfile.h>

namespace telltale {

/// Whether the environment asks for dynamic start and stop (DYNAMIC_MONITOR).
bool isDynamicWanted();

/// Knows what is in force while a training runs: another config comes from the dashboard (through the sink) or from the
/// job's config file, which is looked at under DYNAMIC_MONITOR and while a dashboard is there, and a collection ends by
/// itself. What it finds, the monitor puts in force whole, or not at all.
/// Thread: training.
class ConfigKeeper {
public:
    struct Change {
        config::MonitorConfig config; ///< dynamicOn: whether it collects
        bool isSwitchAlone = false; ///< series and hooks stay what they are
        std::uint64_t rev = 0; ///< of the dashboard's, 0 = of the file
        std::string text {}; ///< of the file
    };
    /// The collection in progress.
    struct Collection {
        bool isOn = false;
        std::int64_t collected = 0;
        std::int64_t wanted = 0;
    };

    /// path: the job's config file, "" = none.
    ConfigKeeper(Sink& sink, LoadedConfig loaded, const std::string& path, int rank);

    /// Whether the config's dynamic_on counts from the start.
    bool isSwitched() const { return m_isSwitched; }
    /// Says what is in force.
    void begin(std::int64_t step, bool isOn);
    /// What is to be in force from `step` on, which begins now; then taken() or refused() answers. Ask until there is
    /// none. With nothing to do it takes three atomic loads.
    std::optional<Change> next(std::int64_t step, const Collection& now);
    void taken(const Change& change, std::int64_t step);
    void refused(const Change& change, std::int64_t step, const std::string& why);
    /// True once after collect_times is reached: the collection is over.
    bool hasEnded(std::int64_t step, const Collection& now);
    /// For tests. Null where there is no file.
    WatchedFile* file() { return m_file.get(); }

private:
    /// What is to be answered once the file has it.
    struct Answer {
        std::uint64_t rev = 0;
        std::int64_t step = 0;
        std::string json;
    };

    std::optional<Change> changeOf(Expected<LoadedConfig> seen, std::int64_t step, const Collection& now);
    bool comesByTheDashboard(const config::MonitorConfig& edited) const;
    void writeAndAnswer(std::uint64_t rev, std::int64_t step);
    /// rev: none = whatever is to be answered. A second call finds nothing. Thread: any.
    void giveAnswer(std::optional<std::uint64_t> rev = {});
    void say(std::uint64_t rev, std::int64_t step, bool isOn, const std::string& why);
    void tellStop(std::int64_t step, const std::string& what, const char* more);
    bool isWriter() const;

    Sink& m_sink;
    const int m_rank;
    config::MonitorConfig m_config; ///< in force
    config::MonitorConfig m_applied; ///< what of it the series and hooks are made for
    std::string m_text; ///< of the file
    bool m_isSwitched = false;
    bool m_isOver = false; ///< the collection, as collect_times asks
    std::uint64_t m_rev = 0;
    std::optional<config::MonitorConfig> m_edit; ///< of the file, before the dashboard has made a revision of it
    std::string m_trouble; ///< with the file, told last
    std::chrono::steady_clock::time_point m_patience {}; ///< until when an answer waits for the file
    std::atomic<bool> m_isAnswerDue { false };
    std::mutex m_answerLock; ///< guards the answer
    std::optional<Answer> m_answer;
    std::unique_ptr<WatchedFile> m_file;
};

}
