// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/exchange/foreignreader.h>

namespace telltale::exchange {

/// Telltale's own runs, where several are to become one: the ranks of a training that were recorded apart. Its
/// processes keep their ranks; one that is there already is another attempt. What the server added to a log (incidents,
/// notes, config revisions) stays with the run that it is of. Thread: any.
class RunsReader final : public ForeignReader {
public:
    const char* id() const override { return "telltale"; }
    const char* about() const override { return "runs of Telltale (.telltale); with --merge several become one"; }
    bool claims(const std::filesystem::path& path) const override;
    Expected<void> read(const std::filesystem::path& path, ForeignRun& run, const Progress& progress) const override;
};

}
