// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/exchange/foreignreader.h>

namespace telltale::exchange {

/// Tables with a column a metric, as W&B and Trackio write them: a run's history (`_step`, `_runtime`, `_timestamp`),
/// a panel ("Step","RUN - METRIC","RUN - METRIC__MIN",...), Trackio's log (`timestamp`, `run_name`, `step`). Where a
/// table is of several runs, a metric is called by its run, "RUN/METRIC". Thread: any.
class WideCsvReader final : public ForeignReader {
public:
    const char* id() const override { return "wide-csv"; }
    const char* about() const override { return "csv exports of W&B (a run's history, a panel) and of Trackio"; }
    bool claims(const std::filesystem::path& path) const override;
    Expected<void> read(const std::filesystem::path& path, ForeignRun& run, const Progress& progress) const override;
};

}
