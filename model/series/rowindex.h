// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <telltale/core/ids.h>
#include <telltale/core/kinds.h>
#include <telltale/core/namepattern.h>
#include <telltale/series/query.h>
#include <telltale/series/serieskey.h>

namespace telltale::series {

/// A bit for each stored statistic.
std::uint32_t statBits(std::span<const Stat> stats);

/// The rows of a run, and every way in which they are looked for: by kind, rank and statistic, by name, by pattern.
/// Built where the catalog is read, once for each of its revisions, and asked from then on.
/// Thread: any (immutable once built). Cost: a second pass over the series to build it.
class RowIndex {
public:
    /// One tensor of one kind and rank, over all attempts of the run.
    struct Row {
        Kind kind = Kind::Unspecified;
        Rank rank;
        std::uint32_t tensor = 0; ///< of key(): the rows of one tensor on several ranks share it
        std::uint32_t stats = 0; ///< that some attempt stored
        std::uint32_t newest = 0; ///< place of the newest attempt's series among those that the index was built from
        RowAttempts attempts; ///< series, oldest first: one of each attempt and layout

        bool answers(Stat stat) const; ///< stores it, or what it is derived from
    };
    using Rows = std::vector<const Row*>; ///< as long as the index lives

    /// What the catalog says of one series.
    struct Measured {
        SeriesKey key;
        SeriesId id;
        Kind kind = Kind::Unspecified;
        Rank rank;
        int attempt = 0;
        std::uint32_t stats = 0;
    };

    RowIndex() = default;
    /// `series` in call order within an attempt, rank and kind.
    explicit RowIndex(std::vector<Measured> series);

    const SeriesKey& key(const Row& row) const { return m_keys[row.tensor]; }
    std::size_t tensorCount() const { return m_keys.size(); }
    /// By kind; in model order within one: call order of the newest attempt, rank after rank; what only older attempts
    /// had follows.
    const std::vector<Row>& rows() const { return m_rows; }
    /// Those of a kind, of one rank and with a statistic where these are given, in model order.
    Rows select(Kind kind, std::optional<Rank> rank = {}, std::optional<Stat> stat = {}) const;
    /// Everything that has exactly this name, in the order of rows().
    Rows named(std::string_view name) const;
    /// Which tensors a pattern chooses: those whose name, or name and slot ("attn:output"), or a module above them it
    /// matches, so that "layers.?" is whole layers.
    std::vector<bool> matching(const NamePattern& pattern) const;

private:
    void addNames();

    std::vector<Row> m_rows;
    std::vector<SeriesKey> m_keys;
    std::vector<std::uint32_t> m_byName; ///< rows by name, then by place
    NamePattern::Names m_names; ///< modules, tensors, and tensors with their slots
    std::vector<std::uint32_t> m_above; ///< beside m_names: the module above, or itself; it stands before
    std::vector<std::uint32_t> m_nameOf; ///< beside m_keys: place in m_names
};

}
