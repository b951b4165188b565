// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <telltale/exchange/eventfiles.h>
#include <telltale/exchange/eventrecords.h>
#include <telltale/exchange/eventtags.h>
#include <telltale/exchange/foreignrun.h>

namespace telltale::exchange {

/// Puts what the records of one event file say into a process. Thread: one; file, process and run outlive it.
class EventValues {
public:
    EventValues(const EventFile& file, ForeignProcess& process, ForeignRun& run)
        : m_file(file)
        , m_process(process)
        , m_run(run)
    {
    }

    /// The values of the record that `records` is at.
    void take(EventRecords& records);
    /// Puts the histograms that were taken into bins. What stays the same from step to step decides which bins a tag is
    /// kept in; of a file that goes on, that takes two of them.
    void settleHistograms(bool goesOn = false);
    /// That the newest value is of.
    std::optional<std::int64_t> step() const { return m_step; }

private:
    struct Histograms {
        std::vector<std::int64_t> steps;
        std::vector<double> least;
        std::vector<std::vector<double>> limits, counts;
        std::vector<double> edges; ///< once it is decided
        std::vector<double> sameLimits; ///< and the bins of the file that these are; empty: these are our own
        double sameLeast = 0;
    };
    struct Tag {
        ForeignSeries* series = nullptr;
        std::size_t track = 0;
        std::unique_ptr<Histograms> histograms;
        EventPlace place;
        std::string tag;
        std::optional<std::size_t> overSamples; ///< it repeats that tag, with counts of samples as its steps
        std::int64_t step = 0; ///< of its newest value
        double value = 0;
    };
    void take(const EventRecords& records, EventValue& value);
    void takeOverSamples(const Tag& metric, std::int64_t samples, double value);
    Tag& tagOf(std::string_view text);
    void settle(Tag& tag);
    void chooseEdges(Histograms& read);

    const EventFile& m_file;
    ForeignProcess& m_process;
    ForeignRun& m_run;
    std::vector<std::unique_ptr<Tag>> m_tags;
    std::unordered_map<std::string, std::size_t> m_byText;
    std::map<std::string, std::unique_ptr<Tag>> m_histograms;
    std::size_t m_at = 0;
    std::optional<std::int64_t> m_step;
    std::optional<std::int64_t> m_counted; ///< newest step of which the samples are known
    EventValue m_value;
};

}
