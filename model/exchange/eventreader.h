// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/exchange/foreignreader.h>

namespace telltale::exchange {

/// TensorBoard's event files, whoever wrote them: a file, or everything below a folder. A folder "rank0", "rank_0" or
/// "rank0-attempt1" is a rank; files of one folder whose steps overlap are attempts. Thread: any.
class EventReader final : public ForeignReader {
public:
    const char* id() const override { return "tensorboard"; }
    const char* about() const override { return "TensorBoard's event files: scalars, histograms, texts"; }
    bool claims(const std::filesystem::path& path) const override;
    Expected<void> read(const std::filesystem::path& path, ForeignRun& run, const Progress& progress) const override;
};

}
