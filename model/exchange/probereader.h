// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/exchange/foreignreader.h>

namespace telltale::exchange {

/// What grad_probe leaves, msprobe's or Telltale's: rank{R}/grad_summary_{step}.csv of the levels L0 to L2 (heads with
/// or without capitals), and rank{R}/step{N}/{parameter}.npy with the signs. The run is the one that `python -m
/// telltale.gradprobe` sends: norm, least and largest of every gradient, its distribution over the config's bounds, its
/// signs. Thread: any.
class ProbeReader final : public ForeignReader {
public:
    const char* id() const override { return "grad-probe"; }
    const char* about() const override { return "folders of msprobe's grad_probe, with summaries and signs"; }
    bool claims(const std::filesystem::path& path) const override;
    Expected<void> read(const std::filesystem::path& path, ForeignRun& run, const Progress& progress) const override;
};

}
