// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/exchange/csvrows.h>
#include <telltale/exchange/foreignrun.h>
#include <telltale/exchange/widecsvhead.h>

namespace telltale::exchange {

/// Takes the rows of a table with a column a metric into a run. Thread: one.
class WideTable {
public:
    /// `unit`: what sentences count its rows in.
    WideTable(std::string path, WideHead head, ForeignRun& run, std::string unit = "line");

    /// Those that it is of (two stand for any more); a table of one run is called as that run.
    void nameRuns(const std::vector<std::string>& runs);
    /// Panels have their runs in the head.
    Expected<void> readHead();
    /// Tables of other metrics belong to the same attempt: a panel is a metric.
    void chooseProcess();
    /// The row that is the `number`-th.
    void take(const CsvRows& rows, std::size_t number);
    void finish(bool isTorn);

private:
    std::vector<Track*>& tracksOf(std::string_view run);
    std::string nameOf(const std::string& column, std::string_view run) const;
    Track& trackOf(const std::string& column, std::string_view run);
    void dropDoubles();

    const std::string m_path;
    WideHead m_head;
    ForeignRun& m_run;
    const std::string m_unit;
    ForeignProcess* m_process = nullptr;
    std::map<std::string, std::vector<Track*>> m_tracks; ///< by run
    std::string m_lastRun;
    std::vector<Track*>* m_lastTracks = nullptr;
    bool m_hasMany = false;
    std::size_t m_bad = 0, m_badRows = 0;
};

}
