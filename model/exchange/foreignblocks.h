// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <telltale/core/samplebatch.h>
#include <telltale/exchange/foreignrun.h>

namespace telltale::exchange {

/// What a process of a foreign run measured, as agents send it: layouts, and block after block in rising steps. A value
/// that is told twice for one step counts as it was told last. Thread: one; the process stays as it is meanwhile.
class ForeignBlocks {
public:
    /// Puts the tracks of `process` in order.
    ForeignBlocks(ForeignProcess& process, ForeignRun& run);

    const std::vector<std::shared_ptr<const SeriesLayout>>& layouts() const { return m_layouts; }
    std::size_t size() const { return m_order.size(); } ///< blocks
    /// Makes the next one; once for each.
    StepBlock next();
    std::size_t done() const { return m_next; }

private:
    struct Member {
        const ForeignSeries* series;
        std::vector<const Track*> tracks; ///< in the order of the layout's stats, over the same steps
        std::size_t at = 0;
    };
    struct Group {
        std::shared_ptr<const SeriesLayout> layout;
        std::vector<Member> members;
        std::vector<bool> isWhole; ///< of its stats: all values are whole numbers
    };
    void addGroup(std::vector<Member> members);
    Column makeColumn(Group& group, std::size_t stat, Step step) const;

    std::vector<Group> m_groups;
    std::vector<std::shared_ptr<const SeriesLayout>> m_layouts;
    std::vector<std::pair<std::int64_t, std::uint32_t>> m_order; ///< step, group
    std::size_t m_next = 0;
    const ForeignProcess& m_process;
};

}
