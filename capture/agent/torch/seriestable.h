// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <telltale/torch/sink.h>

namespace telltale {

/// The series of one kind and their values of the current step. Series only ever get more: those known when a step is
/// first published make one layout, later ones make further layouts. Thread: training.
class SeriesTable {
public:
    /// No stats = the six ops.
    SeriesTable(Kind kind, std::vector<Stat> stats);

    Kind kind() const { return m_kind; }
    std::size_t size() const { return m_series.size(); }
    const SeriesDesc& series(std::size_t i) const { return m_series[i]; }
    std::size_t add(SeriesDesc series);

    /// Six-op kinds: all results, in series order; an entry counts when its flags say so.
    tt_stats* results() { return m_results.data(); }
    /// Other kinds: makes series i present at this step with this value of its stat number `stat`.
    void set(std::size_t i, std::size_t stat, double value);

    /// Registers series that have no layout yet. May allocate: called between steps, before beginStep.
    /// False when the sink refused them.
    bool registerNew(Sink& sink);
    /// Copies what is present into the open step; then nothing is.
    void publish(Sink& sink);
    /// Forgets the values of this step.
    void clear();
    /// Samples (six ops and stats) or scalars that this step holds.
    std::uint64_t samples() const;
    std::uint64_t scalars() const;

private:
    struct Part {
        std::uint32_t layout = 0; ///< 0: refused, never asked again
        std::size_t first = 0;
        std::size_t count = 0;
    };

    bool isPresent(std::size_t i) const;
    bool isPresent(const Part& part) const;
    std::uint64_t presentCount() const;
    void publish(Sink& sink, const Part& part);

    Kind m_kind;
    std::vector<Stat> m_stats;
    std::vector<SeriesDesc> m_series;
    std::vector<tt_stats> m_results; ///< six-op kinds
    std::vector<double> m_values; ///< other kinds, series-major
    std::vector<std::uint8_t> m_present; ///< other kinds
    std::vector<Part> m_parts;
};

}
