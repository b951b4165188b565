// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/exchange/foreignreader.h>

namespace telltale::exchange {

/// SQLite files of msprobe's csv2db (8.2 to 8.3: monitor_metrics.db) and data2db (26: monitor_data.trend.db). Thread:
/// any.
class TrendDbReader final : public ForeignReader {
public:
    const char* id() const override { return "csv2db"; }
    const char* about() const override { return "SQLite files of msprobe's csv2db (8) and data2db (26)"; }
    bool claims(const std::filesystem::path& path) const override;
    Expected<void> read(const std::filesystem::path& path, ForeignRun& run, const Progress& progress) const override;
};

}
