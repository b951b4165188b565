// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <telltale/core/ids.h>
#include <telltale/core/kinds.h>
#include <telltale/core/namepattern.h>
#include <telltale/series/hashplaces.h>
#include <telltale/series/query.h>
#include <telltale/series/serieskey.h>

namespace telltale::series {

/// A bit for each stored statistic, and one for histograms of which shares of number formats can be read.
std::uint32_t statBits(std::span<const Stat> stats, std::span<const double> edges = {});
/// Whether they have a statistic, or what it is derived from.
bool answers(std::uint32_t statBits, Stat stat);

/// The rows of a run, and every way in which they are looked for: by kind, rank and statistic, by name, by pattern.
/// Built where the catalog is read, once for each of its revisions that adds series, and asked from then on. Tensors
/// keep their numbers over the revisions of a run: what is new has the highest.
/// Thread: any (immutable once built).
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

        bool answers(Stat stat) const { return series::answers(stats, stat); }
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

    RowIndex();
    /// Those of `before`, and then as many more as are `added`, in call order within an attempt, rank and kind. Cost:
    /// only the added are looked up by their names; rows are put in order anew, by numbers alone.
    RowIndex(const RowIndex& before, std::size_t added, const std::function<Measured(std::size_t)>& measured);

    const SeriesKey& key(const Row& row) const { return key(row.tensor); }
    const SeriesKey& key(std::uint32_t tensor) const { return m_tensors->keys[tensor]; }
    std::size_t tensorCount() const { return m_tensors->keys.size(); }
    /// A scalar is never of one tensor with anything else.
    bool isScalar(std::uint32_t tensor) const { return m_tensors->isScalar[tensor]; }
    /// By kind; in model order within one: call order of the newest attempt, rank after rank; what only older attempts
    /// had follows.
    const std::vector<Row>& rows() const { return m_rows; }
    /// Those of a kind, of one rank and with a statistic where these are given, in model order.
    Rows select(Kind kind, std::optional<Rank> rank = {}, std::optional<Stat> stat = {}) const;
    /// Places of the names of all tensors but scalars, without their slots: as the kind that most are of has them, so
    /// that a kind that is collected of a few modules puts none of them first. What only others have stands before what
    /// is next to it there, as a parameter of the model's own before the first module, and else at the end.
    std::vector<std::uint32_t> namesInModelOrder() const;
    /// Everything that has exactly this name, in the order of rows().
    Rows named(std::string_view name) const;
    /// Which tensors a pattern chooses: those whose name, or name and slot ("attn:output"), or a module above them it
    /// matches, so that "layers.?" is whole layers.
    std::vector<bool> matching(const NamePattern& pattern) const;
    /// As matching, of one tensor.
    bool chooses(const NamePattern& pattern, std::uint32_t tensor) const;

    /// All names of tensors, without and with their slots, and of the modules above them, by their places.
    const NamePattern::Names& names() const { return m_tensors->names; }
    std::uint32_t above(std::uint32_t place) const { return m_tensors->above[place]; } ///< itself where there is none
    std::uint32_t placeOf(std::string_view name) const ///< UINT32_MAX: unknown
    {
        return m_tensors->placeOf(name, std::hash<std::string_view> {}(name));
    }
    /// Of a tensor's name: without its slot, or with it.
    std::uint32_t placeOfName(std::uint32_t tensor) const
    {
        return key(tensor).slot.hasText() ? above(m_tensors->nameOf[tensor]) : m_tensors->nameOf[tensor];
    }
    std::uint32_t placeOfText(std::uint32_t tensor) const { return m_tensors->nameOf[tensor]; }

private:
    /// Shared by the revisions that have the same tensors.
    struct Tensors {
        std::vector<SeriesKey> keys;
        std::vector<bool> isScalar;
        std::vector<std::uint32_t> nameOf; ///< place in `names`, with the slot
        std::vector<std::uint32_t> nextOfName; ///< another of the same name
        HashPlaces byKey;
        NamePattern::Names names; ///< modules, tensors, and tensors with their slots
        std::vector<std::uint32_t> above; ///< beside names: the module above, or itself; it stands before
        std::vector<std::uint32_t> firstOfName; ///< beside names: a tensor of exactly that name
        HashPlaces byName;

        void reserve(std::size_t more);
        std::uint32_t find(const SeriesKey& key, std::size_t hash, bool scalar) const;
        std::uint32_t add(SeriesKey key, std::size_t hash, bool scalar);
        std::uint32_t placeOf(std::string_view name, std::size_t hash) const; ///< not of a name with its slot
        std::uint32_t addName(std::string_view name);
        std::uint32_t addText(std::string_view text, std::size_t hash, std::uint32_t module);
    };
    struct Series {
        SeriesId id;
        Kind kind = Kind::Unspecified;
        Rank rank;
        int attempt = 0;
        std::uint32_t stats = 0;
        std::uint32_t tensor = 0;
    };
    void layOut();
    std::vector<std::uint32_t> merged(
        const std::vector<std::uint32_t>& places, const std::vector<std::uint32_t>& more) const;

    std::shared_ptr<const Tensors> m_tensors; ///< never null
    std::vector<Series> m_series; ///< as they were given
    std::vector<Row> m_rows;
    std::vector<std::uint32_t> m_byTensor; ///< rows by tensor, then by place
    std::vector<std::uint32_t> m_firstOf; ///< by tensor: its first in m_byTensor; and the end
};

}
