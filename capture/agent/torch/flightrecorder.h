// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <telltale/config/monitorconfig.h>
#include <telltale/torch/seriestable.h>
#include <telltale/torch/sink.h>

namespace telltale {

/// telltale.flight_recorder: the last steps of what the config does not send, kept in memory until something goes
/// wrong. The Python agent's flightrecorder.py has the same rules; tests/data/flightrecorder.json is for both. Thread:
/// training, between steps.
class FlightRecorder {
public:
    static constexpr std::size_t kMostBytes = 64u << 20; ///< of all steps that are kept, and of those on their way

    /// What is measured: what the config sends, and what is kept of it besides: the kinds that a training without a
    /// config has, of the config's targets, as far as the config does not send them.
    struct Plan {
        config::MonitorConfig wanted;
        std::set<Kind> kept; ///< empty = nothing is left to be kept
    };
    /// sends: the config sends something of this rank.
    static Plan planFor(const config::MonitorConfig& config, bool sends);

    FlightRecorder(std::int64_t steps, std::set<Kind> kept, std::size_t mostBytes = kMostBytes);

    bool keeps(Kind kind) const { return m_kept.contains(kind); }
    /// Keeps its part of a step that is over, and looks at all of it for a reason. Run metrics come last.
    void take(std::int64_t step, std::span<SeriesTable* const> tables);
    /// What is kept goes out. The first reason is the one that is said.
    void trip(std::string why);
    /// Begins to send what is kept, where there is a reason, and goes on with it.
    void stepEnds(std::int64_t step, Sink& sink, std::span<SeriesTable* const> tables);
    /// The training ends: what is on its way goes now, even where it must wait for room.
    void finish(Sink& sink, std::span<SeriesTable* const> tables);
    /// Between steps: its series end. What is on its way goes now, as far as there is room.
    void letGo(Sink& sink, std::span<SeriesTable* const> tables);

private:
    struct Kept {
        std::int64_t step = 0;
        std::map<Kind, SeriesTable::Values> tables;
        std::size_t bytes = 0;
    };
    void look(std::int64_t step, const SeriesTable& table);
    void begin(Sink& sink);
    void send(Sink& sink, std::span<SeriesTable* const> tables, std::size_t most, bool isLast);
    bool write(const Kept& kept, Sink& sink, std::span<SeriesTable* const> tables);
    void tell(Sink& sink, const std::string& sentence, const std::string& json) const;

    std::size_t m_most;
    std::set<Kind> m_kept;
    std::size_t m_mostBytes;
    std::deque<Kept> m_ring, m_leaving;
    std::size_t m_bytes = 0, m_leavingBytes = 0;
    std::size_t m_fits; ///< steps, as far as memory goes
    bool m_isShortTold = false;
    std::map<Kind, std::vector<std::int64_t>> m_lastBroken; ///< steps, by series
    std::optional<std::string> m_why;
    std::int64_t m_step = 0;
};

}
