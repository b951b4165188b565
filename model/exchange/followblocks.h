// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <telltale/core/samplebatch.h>
#include <telltale/exchange/foreignrun.h>

namespace telltale::exchange {

/// What of a stream of values goes out at once.
struct FollowedBlocks {
    std::vector<std::shared_ptr<const SeriesLayout>> layouts; ///< new ones
    std::vector<StepBlock> blocks;
};

/// Makes blocks of values that come little by little, for one process of a run. Each statistic of a series stays in the
/// layout that it came in first, so layouts grow only with what is new. Thread: one.
class FollowBlocks {
public:
    /// `mend`: makes names fit; whether it had to.
    explicit FollowBlocks(std::function<bool(SeriesDesc&)> mend)
        : m_mend(std::move(mend))
    {
    }

    /// What a run has of the process already: none of it is taken again, and other values for its steps are left out.
    /// New layouts are numbered behind `layouts`.
    void goOnAfter(const ForeignProcess& stored, std::size_t layouts);
    /// Takes all values out of the process but those of step `held`, which may go on. The process stays the one it is
    /// as long as this lives.
    FollowedBlocks take(ForeignProcess& process, std::optional<std::int64_t> held, ForeignRun& run);
    std::size_t series() const { return m_places.size(); }

private:
    struct Place {
        std::uint32_t layout, index;
    };
    struct Fresh {
        Track* track;
        const ForeignSeries* series;
        std::string key;
    };
    /// A layout's values of a step.
    struct Cells {
        std::vector<double> values;
        std::vector<std::uint64_t> present;
    };
    using Key = std::pair<const ForeignSeries*, Stat>;
    struct KeyHash {
        std::size_t operator()(const Key& key) const
        {
            return std::hash<const void*>()(key.first) * 31 + static_cast<std::size_t>(key.second);
        }
    };

    void findPlaces(ForeignProcess& process, ForeignRun& run, FollowedBlocks& out);
    void addLayouts(std::vector<Fresh>& fresh, FollowedBlocks& out, ForeignRun& run);
    void addTimes(ForeignProcess& process, std::optional<std::int64_t> held);
    void leaveStored(ForeignProcess& process, ForeignRun& run);
    StepBlock blockOf(const SeriesLayout& layout, std::int64_t step, Cells&& cells, ForeignRun& run) const;

    std::function<bool(SeriesDesc&)> m_mend;
    std::vector<std::shared_ptr<const SeriesLayout>> m_layouts;
    std::unordered_map<std::string, Place> m_places; ///< by series and statistic
    std::unordered_map<Key, Place, KeyHash> m_known; ///< the same, found at once
    std::unordered_set<std::int64_t> m_timed;
    std::size_t m_layoutsBefore = 0;
    /// Steps in order, with a hash of what each has, by series and statistic.
    std::unordered_map<std::string, std::vector<std::pair<std::int64_t, std::uint64_t>>> m_stored;
};

}
