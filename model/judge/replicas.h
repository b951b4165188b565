// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/core/ids.h>
#include <telltale/core/kinds.h>
#include <telltale/series/rowindex.h>
#include <telltale/store/runreader.h>

namespace telltale::judge {

/// Watches by their checksums which tensors are the same on several ranks, bit by bit. Which should be is learned:
/// ranks that agree after kLearned steps are replicas of each other, whatever made them so (data parallelism, or what
/// tensor-parallel ranks hold twice). Where the topology is known, those of one data-parallel group are from the
/// beginning on. Parts of one matrix should differ. Thread: any (a value).
class Replicas {
public:
    static constexpr int kLearned = 3;

    struct Divergence {
        Step step;
        Kind kind = Kind::Unspecified;
        std::uint32_t tensor = 0; ///< of the index
        /// That hold something else than most of their replicas; all of them where none are most.
        std::vector<Rank> minority;
        std::size_t ranks = 0; ///< that were replicas
        bool areParts = false; ///< the other way round: parts of one matrix that are the same
    };

    /// What the catalog has with checksums.
    void take(const store::Catalog& catalog);
    bool isEmpty() const { return m_groups.empty(); }
    /// Judges a step of which every rank is known, in order.
    Expected<std::vector<Divergence>> judge(store::RunReader& reader, Step step);

private:
    struct Member {
        Rank rank;
        std::size_t row = 0; ///< in m_rows
        int part = -1; ///< of the model, by the topology; -1: not known
        std::int64_t shard = -1; ///< where its part of the matrix begins
    };
    struct Group {
        Kind kind = Kind::Unspecified;
        std::uint32_t tensor = 0;
        bool isMatrix = false;
        std::vector<Member> members;
    };
    struct Learned {
        int steps = 0;
        std::map<Rank, std::uint64_t> classOf; ///< ranks of one class are replicas
    };

    std::optional<Divergence> judge(const Group& group, Learned& learned, const std::vector<std::uint64_t>& bits) const;

    std::vector<Group> m_groups;
    std::vector<series::RowAttempts> m_rows;
    std::map<std::pair<Kind, std::uint32_t>, Learned> m_learned;
};

}
