// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/exchange/foreignrun.h>

namespace telltale::exchange {

/// Takes the lines of Telltale's own csv into a run; what stands between step and value is the same for many lines and
/// looked at once. Thread: one.
class TelltaleCsvRows {
public:
    TelltaleCsvRows(std::string path, ForeignRun& run);

    /// The line that is the `number`-th.
    void takeLine(std::string_view line, std::size_t number);
    void finish();

private:
    /// The bins of one histogram, as they come: a line each.
    struct BinsRead {
        std::vector<std::string> texts;
        std::map<std::int64_t, std::vector<double>> counts; ///< by step
    };
    struct Place {
        ForeignProcess* process = nullptr;
        Kind kind = Kind::Unspecified;
        SeriesDesc desc;
        ForeignSeries* series = nullptr;
        Stat stat = Stat::Unspecified;
        std::shared_ptr<BinsRead> bins;
        std::size_t bin = 0;
    };

    Place* placeOf(std::string_view middle);
    bool fill(Place& place, std::string_view middle);
    bool takeValue(std::int64_t step, std::string_view text);
    void finishBins(const Place& place);

    const std::string m_path;
    ForeignRun& m_run;
    std::string m_middle;
    Place* m_place = nullptr;
    std::map<std::string, Place> m_places;
    std::map<std::string, std::shared_ptr<BinsRead>> m_bins;
    std::size_t m_bad = 0, m_badLines = 0;
};

}
