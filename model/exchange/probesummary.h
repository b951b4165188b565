// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/exchange/foreignrun.h>

namespace telltale::exchange {

/// The first line of a grad_summary_{step}.csv. Thread: any (a value).
struct ProbeHead {
    explicit ProbeHead(const std::vector<std::string_view>& cells);
    bool isSummary() const { return name < columns; }

    std::size_t columns = 0;
    std::size_t name, max, min, norm, shape; ///< columns; past the last where there is none
    bool hasChecksums = false; ///< of level L0
    bool hasZeros = false; ///< the share "=0" of level L2
    std::vector<std::size_t> shares; ///< columns of the intervals
    std::vector<std::string> bounds; ///< between them, as they are written
};

/// Puts the summaries of one rank into its process. Thread: one.
class ProbeSummaries {
public:
    ProbeSummaries(ForeignProcess& process, ForeignRun& run)
        : m_process(process)
        , m_run(run)
    {
    }
    /// One step; the parameters that it names, in their order.
    std::vector<std::string> read(const std::filesystem::path& path, std::int64_t step);

private:
    /// What is wrong with the line.
    std::optional<std::string> take(
        const ProbeHead& head, const std::vector<std::string_view>& cells, std::int64_t step, bool hasBins);
    bool chooseBins(const ProbeHead& head, const std::string& path);

    ForeignProcess& m_process;
    ForeignRun& m_run;
    std::optional<std::vector<std::string>> m_bounds; ///< of the first summary
    std::vector<double> m_edges; ///< and the bins that they make; empty: none
    std::string m_definition;
};

}
