// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/core/samplebatch.h>

namespace telltale::exchange {

/// Scalar series of a process: when each step was, by the clock of who wrote it.
inline constexpr const char* kWallTimeName = "telltale.wall_ns";
/// Scalar series of a process: how many samples it had seen by each step; it is an axis of the plots.
inline constexpr const char* kSamplesSeenName = "telltale.samples_seen";

/// The values of one statistic of one series, step by step, in the order in which a file has them; of a histogram the
/// counts of its bins, one step after the other. An identity lies in the bits of its double. Thread: any (a value).
struct Track {
    Stat stat = Stat::Unspecified;
    std::vector<std::int64_t> steps;
    std::vector<double> values;

    void add(std::int64_t step, double value)
    {
        steps.push_back(step);
        values.push_back(value);
    }
};

/// One tensor or metric of one process. Thread: any (a value).
struct ForeignSeries {
    Kind kind = Kind::Unspecified;
    SeriesDesc desc;
    std::vector<double> edges; ///< of a histogram: then there is one track
    std::vector<Track> tracks;

    Track& track(Stat stat);
    std::size_t width() const { return edges.empty() ? 1 : edges.size() - 1; }
};

/// A document of a process: text, structure, stacks, config.
struct ForeignDocument {
    std::string kind;
    std::string name;
    Step step;
    std::string bytes;
    std::function<Expected<std::string>()> later = {}; ///< in place of the bytes: reads them when they are wanted
};

/// One process of a run that another tool recorded. Thread: one.
class ForeignProcess {
public:
    ForeignProcess(Rank rank, int attempt)
        : m_rank(rank)
        , m_attempt(attempt)
    {
    }
    Rank rank() const { return m_rank; }
    int attempt() const { return m_attempt; }

    /// The series of these names; made where there is none. It stays where it is.
    ForeignSeries& series(Kind kind, const SeriesDesc& desc, const std::vector<double>& edges = {});
    std::deque<ForeignSeries>& all() { return m_series; }
    const std::deque<ForeignSeries>& all() const { return m_series; }
    /// Takes over what another says, behind what is here already; its names begin with `prefix` then.
    void absorb(ForeignProcess& other, const std::string& prefix = {});
    /// When a step was, where nothing earlier has said so.
    void noteTime(std::int64_t step, std::int64_t wallNs);
    const std::unordered_map<std::int64_t, std::int64_t>& times() const { return m_times; }
    /// Takes the steps out that nobody asks for any more.
    template <typename Wanted> void keepTimes(const Wanted& isWanted)
    {
        std::erase_if(m_times, [&](const auto& one) { return !isWanted(one.first); });
        m_hasTimed = false;
    }

    std::vector<ForeignDocument> documents;
    std::vector<Event> events;
    std::string framework, host, device;
    int dp = -1, tp = -1, pp = -1, ep = -1;

private:
    Rank m_rank;
    int m_attempt;
    std::deque<ForeignSeries> m_series;
    std::unordered_map<std::string, ForeignSeries*> m_byName;
    std::unordered_map<std::int64_t, std::int64_t> m_times;
    std::int64_t m_lastTimed = 0;
    bool m_hasTimed = false;
};

/// A run that another tool recorded, as a reader of its format finds it. What the format says and a run cannot hold,
/// and what could not be read, is listed. Thread: one.
class ForeignRun {
public:
    ForeignProcess& process(Rank rank, int attempt = 0);
    const std::map<std::pair<int, Rank>, ForeignProcess>& processes() const { return m_processes; }
    /// How many attempts of a rank there are.
    int attemptsOf(Rank rank) const;
    std::uint64_t values() const;

    std::string name; ///< what it is called; empty: nobody says
    std::int64_t createdNs = 0;
    /// What of the files a run has no place for, and how often it was met.
    const std::map<std::string, std::uint64_t>& leftOut() const { return m_leftOut; }
    void leaveOut(const std::string& what, std::uint64_t count = 1) { m_leftOut[what] += count; }
    /// What could not be read: one sentence each.
    const std::vector<std::string>& damages() const { return m_damages; }
    void noteDamage(std::string sentence);

private:
    std::map<std::pair<int, Rank>, ForeignProcess> m_processes; ///< by attempt and rank
    std::map<std::string, std::uint64_t> m_leftOut;
    std::vector<std::string> m_damages;
};

}
