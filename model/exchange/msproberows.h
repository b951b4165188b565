// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <telltale/exchange/csvrows.h>
#include <telltale/exchange/foreignrun.h>
#include <telltale/exchange/msprobefolder.h>

namespace telltale::exchange {

/// Which series a row of msprobe's is of: its name taken apart by what its file holds. `scope` is of monitor_v2.
struct MsprobePlace {
    Kind kind = Kind::Unspecified;
    SeriesDesc desc;
};
std::optional<MsprobePlace> msprobePlace(
    std::string_view prefix, std::string_view name, std::string_view scope, bool isTensor);
/// The statistic of a column; nothing where it is none that a run knows.
std::optional<Stat> msprobeStat(std::string_view column);

/// Reads the csv files of one process. Thread: one.
class MsprobeRows {
public:
    MsprobeRows(ForeignProcess& process, ForeignRun& run)
        : m_process(process)
        , m_run(run)
    {
    }
    void read(const MsprobeFile& file);

private:
    struct Columns {
        std::ptrdiff_t vpp = -1, name = -1, step = -1, micro = -1, scope = -1, shape = -1, dtype = -1;
        std::vector<std::pair<std::size_t, Stat>> stats;
        std::size_t count = 0;
    };
    std::optional<Columns> columnsOf(const CsvRows& rows);
    bool takeRow(const MsprobeFile& file, const Columns& columns, const std::vector<std::string_view>& cells);
    bool takeCollective(const Columns& columns, const std::vector<std::string_view>& cells);
    ForeignSeries* seriesOf(
        const MsprobeFile& file, const Columns& columns, const std::vector<std::string_view>& cells);

    ForeignProcess& m_process;
    ForeignRun& m_run;
    std::unordered_map<std::string, ForeignSeries*> m_known; ///< by file kind, name, stage and micro step
    std::vector<std::pair<std::string, ForeignSeries*>> m_order; ///< of the rows of the file before
    std::size_t m_row = 0;
    std::string m_prefix, m_key;
};

}
