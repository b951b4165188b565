// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/retention.h>

#include <algorithm>
#include <iterator>

namespace telltale::store {

std::vector<RunSummary> runsToGo(
    std::vector<RunSummary> runs, const Pins& pins, const RetentionRule& rule, std::int64_t nowNs)
{
    if (!rule.olderThanNs && !rule.keep)
        return {};
    std::stable_sort(
        runs.begin(), runs.end(), [](const RunSummary& a, const RunSummary& b) { return a.modifiedNs > b.modifiedNs; });
    // Pinned runs are beside the number: it is of those that would go otherwise.
    std::erase_if(runs, [&pins](const RunSummary& run) {
        return run.isElsewhere || run.state == RunState::Live || run.state == RunState::Newer || pins.has(run.locator);
    });
    runs.erase(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(std::min(rule.keep.value_or(0), runs.size())));
    std::erase_if(
        runs, [&](const RunSummary& run) { return rule.olderThanNs && nowNs - run.modifiedNs <= *rule.olderThanNs; });
    std::reverse(runs.begin(), runs.end());
    return runs;
}

}
