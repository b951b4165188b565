// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// What the numbers of an attention head say about it.
namespace telltale::analysis {

/// What was attended to: query heads, key heads, queries and keys of a sequence, as agents write it into the shape of
/// an attention's series; 0 where nobody said. Thread: any (a value).
struct AttentionShape {
    std::int64_t heads = 0;
    std::int64_t keyHeads = 0;
    std::int64_t queries = 0;
    std::int64_t keys = 0;

    bool operator==(const AttentionShape&) const = default;
    /// Of series that say {queries, keys} alone, as older agents do, the heads are 0.
    static AttentionShape of(std::span<const std::int64_t> shape);
    /// How many query heads share a key head; 1 where each has its own, or nobody said.
    std::int64_t group() const { return keyHeads > 0 && heads % keyHeads == 0 ? heads / keyHeads : 1; }
};

/// Mean entropy (nats) and mean softmax maximum over the queries.
struct HeadNumbers {
    double entropy = 0;
    double softmaxMax = 0;
};

/// What heads show that look at every key alike: first one that sees all n keys (ln n and 1 / n), then one whose query
/// i sees the keys up to its own, over `looked` evenly strided queries (all when 0), the last one among them, as both
/// agents choose them. Empty where the number of keys is not known. Cost: O(queries looked at).
std::vector<HeadNumbers> uniformHeads(const AttentionShape& shape, std::int64_t looked);

enum class HeadSign : std::uint8_t {
    None,
    Uniform, ///< within 1 % of a head that looks at everything alike, causal or not
    OneHot, ///< nearly all weight on one key (softmax maximum from 0.95 on), as it was before
    Falling, ///< entropy below 0.7 of what it was
    Collapsing, ///< entropy below half of what it was
};

/// `before`: the entropy some steps earlier; NaN where there was none. Non-finite numbers have no sign: they are their
/// own. `uniform`: as uniformHeads.
HeadSign signOf(const HeadNumbers& now, double before, std::span<const HeadNumbers> uniform);

}
