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
    tt_stats* results() { return m_now.results.data(); }
    /// Six-op kinds: histograms too, of every series that is added from now on.
    void setBinned(bool on) { m_isBinned = on; }
    /// Where the elements of series i are counted (TT_BINS of them, those of the next one behind); null without.
    std::uint64_t* bins(std::size_t i) { return m_isBinned ? m_now.bins.data() + i * TT_BINS : nullptr; }
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
    std::uint64_t samples() const { return samples(m_now); }
    std::uint64_t scalars() const;
    /// Whether series i was measured in this step and something in it is not finite.
    bool isBroken(std::size_t i) const;

    /// What the series of one step hold; of those that came up later it has nothing.
    struct Values {
        std::vector<tt_stats> results; ///< six-op kinds
        std::vector<std::uint64_t> bins; ///< of histograms, series-major; present as the results are
        std::vector<double> values; ///< other kinds, series-major
        std::vector<std::uint8_t> present; ///< other kinds

        std::size_t bytes() const
        {
            return results.size() * sizeof(tt_stats) + bins.size() * sizeof(std::uint64_t)
                + values.size() * sizeof(double) + present.size();
        }
    };
    const Values& values() const { return m_now; }
    std::uint64_t samples(const Values& values) const;
    /// Copies what an earlier step held into the open one; false when there is no room for it.
    bool publish(Sink& sink, const Values& values) const;

private:
    struct Part {
        std::uint32_t layout = 0; ///< 0: refused, never asked again
        std::uint32_t histograms = 0; ///< likewise
        std::size_t first = 0;
        std::size_t count = 0;
    };

    bool isPresent(const Values& values, std::size_t i) const;
    bool isPresent(const Values& values, const Part& part) const;
    std::uint64_t presentCount(const Values& values) const;
    bool publish(Sink& sink, const Part& part, const Values& values) const;
    bool publishBins(Sink& sink, const Part& part, const Values& values) const;

    Kind m_kind;
    std::vector<Stat> m_stats;
    bool m_isBinned = false;
    std::vector<SeriesDesc> m_series;
    Values m_now;
    std::vector<Part> m_parts;
};

}
