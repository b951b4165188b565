// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/exchange/foreignreader.h>

namespace telltale::exchange {

/// What msprobe's monitor leaves: folders of csv files, a rank each, of TrainerMon and of monitor_v2, with stack_info,
/// module_struct and anomalies beside them. Folders of one rank are attempts. Thread: any.
class MsprobeReader final : public ForeignReader {
public:
    const char* id() const override { return "msprobe-csv"; }
    const char* about() const override { return "csv folders of msprobe's monitor, with stacks, structure and alerts"; }
    bool claims(const std::filesystem::path& path) const override;
    Expected<void> read(const std::filesystem::path& path, ForeignRun& run, const Progress& progress) const override;
};

}
