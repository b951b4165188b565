// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include <telltale/series/query.h>
#include <telltale/store/catalog.h>
#include <telltale/store/rowsof.h>
#include <telltale/store/tilesource.h>

namespace telltale::store {

/// One attempt's share of a row: the steps for which it answers, and where its values lie.
struct RowSegment {
    SourceId source;
    Kind kind = Kind::Unspecified;
    TileSet tiles;
    int lane = 0;
    SeriesId series;
    StepRange steps; ///< between kEver's
};
inline constexpr StepRange kEver { Step { std::numeric_limits<std::int64_t>::min() / 4 },
    Step { std::numeric_limits<std::int64_t>::max() } };

/// Finds things of a catalog by their ids, and which attempt answers for which steps. Thread: its reader's.
class RunIndex {
public:
    void setCatalog(std::shared_ptr<const Catalog> catalog);
    const std::shared_ptr<const Catalog>& catalog() const { return m_catalog; }
    /// With their first and last steps, newer than the catalog's.
    void setSources(const std::vector<SourceInfo>& sources);
    /// More of the log: gaps and drops.
    void addLosses(const std::vector<LogRecord>& records);
    /// Without their tiles' shares. By step, each step in one segment at most: the newest attempt answers from its own
    /// first step on. Series that are unknown or lack the statistic have no segment.
    std::vector<RowSegment> segments(const series::RowAttempts& row, Stat stat) const;
    /// Of a share of a number format, in all histograms of the group of one; null of any other statistic. Cost:
    /// O(histograms of the group).
    std::shared_ptr<const BinShares> sharesOf(SeriesId histogram, Stat stat) const;
    /// As statisticsBeside of rowsof.h, of a series that is a histogram.
    Beside statisticsBeside(SeriesId histogram) const;
    /// Another one wherever a row may have other segments, or another index is asked.
    std::uint64_t revision() const { return m_revision; }
    /// The newest step of a source, of any kind.
    std::optional<Step> newestStep(SourceId source) const;
    /// Steps of this source and of this sort of data that were produced and are not stored.
    std::vector<StepRange> gaps(SourceId source, Kind kind) const;

    /// Steps behind which batches of this source are lost for good, up to its next collected step.
    std::vector<StepRange> losses(SourceId source) const;

private:
    struct Place {
        const GroupInfo* group = nullptr;
        int lane = 0;
    };
    /// Where a series' values lie, or those of one of its bins.
    std::optional<Place> placeOf(const SeriesInfo& series, int bin) const;

    struct Dropped {
        std::uint32_t dropClass = 0;
        StepRange steps;
    };
    void changed();

    std::shared_ptr<const Catalog> m_catalog;
    std::uint64_t m_revision = 0;
    std::unordered_map<SourceId, StepRange> m_sourceSteps;
    std::unordered_map<SourceId, std::vector<Dropped>> m_dropped;
    std::unordered_map<SourceId, Rank> m_ranks;
    std::unordered_map<Rank, std::vector<Step>> m_lossesAfter;
};

}
