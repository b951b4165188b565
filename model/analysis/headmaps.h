// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/analysis/attentionheads.h>
#include <telltale/core/expected.h>
#include <telltale/store/runreader.h>

namespace telltale::analysis {

/// The kind of the stored documents that HeadMaps are read from.
inline constexpr const char* kHeadMapKind = "attention_map";

/// The attention of some heads of one module at one step, queries x keys, made coarse by the agent: a cell is what the
/// queries of its row give to the keys of its column together, on average, so that a row adds up to 1. Thread: any (a
/// value).
struct HeadMaps {
    static constexpr float kUnseen = -1; ///< none of these queries may attend to any of these keys

    std::vector<int> heads;
    AttentionShape shape;
    int rows = 0;
    int columns = 0;
    std::int64_t queriesPerRow = 1;
    std::int64_t keysPerColumn = 1;
    std::int64_t looked = 0; ///< queries of each head that were looked at
    double scale = 0; ///< of the scores
    int call = 0;
    int chunk = 0;
    std::string definition;
    std::vector<float> cells; ///< head by head, row by row; NaN where a score of one of the queries was not finite

    float cell(std::size_t head, int row, int column) const
    {
        return cells[(head * static_cast<std::size_t>(rows) + static_cast<std::size_t>(row))
                * static_cast<std::size_t>(columns)
            + static_cast<std::size_t>(column)];
    }
    /// Where a head stands among `heads`; none: it has no map.
    std::optional<std::size_t> placeOf(int head) const;
    /// Queries (keys) of a row (column): the first, and the last.
    std::pair<std::int64_t, std::int64_t> queriesOf(int row) const;
    std::pair<std::int64_t, std::int64_t> keysOf(int column) const;
};

/// Of a stored document. What is none is ErrorCode::Damaged.
Expected<HeadMaps> parseHeadMaps(std::string_view document);

/// The documents of a rank that are nearest to a step, one a module, in the order of their first ones: the newest at or
/// before it, and where there is none the first after it.
std::vector<store::DocumentInfo> headMapsAt(const std::vector<store::DocumentInfo>& all, Rank rank, Step step);
/// The documents of the module of one, in a range of steps: one a step (that of the latest attempt), by step.
std::vector<store::DocumentInfo> headMapsLike(
    const std::vector<store::DocumentInfo>& all, const store::DocumentInfo& one, StepRange range);

}
