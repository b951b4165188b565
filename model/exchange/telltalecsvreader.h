// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/exchange/foreignreader.h>

namespace telltale::exchange {

/// A file of `telltale export --to csv` (csvwriter.h): every value, attempt and rank again. Thread: any.
class TelltaleCsvReader final : public ForeignReader {
public:
    const char* id() const override { return "csv"; }
    const char* about() const override { return "a file of 'telltale export --to csv'"; }
    bool claims(const std::filesystem::path& path) const override;
    Expected<void> read(const std::filesystem::path& path, ForeignRun& run, const Progress& progress) const override;
};

}
