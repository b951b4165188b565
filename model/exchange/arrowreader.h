// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/exchange/foreignreader.h>

namespace telltale::exchange {

/// Parquet and Arrow (Feather) files: tables as WideCsvReader takes them, and those that `telltale export` writes; or a
/// folder of several. `python3 -m telltale tables` reads them, since pyarrow can, and hands their rows over as csv.
/// Thread: any.
class ArrowReader final : public ForeignReader {
public:
    const char* id() const override { return "parquet"; }
    const char* about() const override
    {
        return "Parquet and Arrow files of W&B, Trackio and telltale export, or a folder of them; by pyarrow";
    }
    bool claims(const std::filesystem::path& path) const override;
    Expected<void> read(const std::filesystem::path& path, ForeignRun& run, const Progress& progress) const override;
};

}
