// SPDX-License-Identifier: GPL-3.0-or-later
#include "attentionheads.h"

#include <algorithm>
#include <cmath>

namespace telltale::analysis {

namespace {

constexpr double kOneHot = 0.95;
constexpr double kFalling = 0.7;
constexpr double kCollapsing = 0.5;
constexpr double kAlike = 0.01; ///< of the uniform head's own numbers

HeadNumbers seeingAll(std::int64_t keys)
{
    return { std::log(static_cast<double>(keys)), 1 / static_cast<double>(keys) };
}

bool isNear(const HeadNumbers& a, const HeadNumbers& uniform)
{
    return std::abs(a.entropy - uniform.entropy) <= kAlike * uniform.entropy
        && std::abs(a.softmaxMax - uniform.softmaxMax) <= kAlike * uniform.softmaxMax;
}

}

AttentionShape AttentionShape::of(std::span<const std::int64_t> shape)
{
    if (shape.size() == 4)
        return { shape[0], shape[1], shape[2], shape[3] };
    if (shape.size() == 2)
        return { 0, 0, shape[0], shape[1] };
    return {};
}

std::vector<HeadNumbers> uniformHeads(const AttentionShape& shape, std::int64_t looked)
{
    if (shape.keys <= 1)
        return {};
    const std::int64_t rows = looked > 0 ? std::min(looked, shape.queries) : shape.queries;
    HeadNumbers sum;
    std::int64_t seeing = 0;
    for (std::int64_t row = 1; row <= rows; ++row) {
        // The last query sees the last key; with a cache of keys the first one sees more than itself.
        const std::int64_t seen = row * shape.queries / rows + shape.keys - shape.queries;
        if (seen <= 0)
            continue;
        const HeadNumbers one = seeingAll(seen);
        sum.entropy += one.entropy;
        sum.softmaxMax += one.softmaxMax;
        ++seeing;
    }
    std::vector<HeadNumbers> heads { seeingAll(shape.keys) };
    if (seeing > 0)
        heads.push_back({ sum.entropy / static_cast<double>(seeing), sum.softmaxMax / static_cast<double>(seeing) });
    return heads;
}

HeadSign signOf(const HeadNumbers& now, double before, std::span<const HeadNumbers> uniform)
{
    if (!std::isfinite(now.entropy))
        return HeadSign::None;
    if (std::isfinite(before) && before > 0) {
        if (now.entropy < kCollapsing * before)
            return HeadSign::Collapsing;
        if (now.entropy < kFalling * before)
            return HeadSign::Falling;
    }
    if (now.softmaxMax >= kOneHot)
        return HeadSign::OneHot;
    if (std::any_of(uniform.begin(), uniform.end(), [&](const HeadNumbers& one) { return isNear(now, one); }))
        return HeadSign::Uniform;
    return HeadSign::None;
}

}
