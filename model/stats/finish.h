// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <limits>

#include <telltale/stats/stats.h>

#include "blockpartial.h"

namespace telltale::stats {

/// Blocks of one tensor, combined in index order, and what is derived from them.
struct Totals {
    double sum = 0;
    double sumsq = 0;
    double min = std::numeric_limits<double>::infinity();
    double max = -std::numeric_limits<double>::infinity();
    std::uint64_t zeros = 0;
    std::uint64_t nans = 0;
    std::uint64_t posInfs = 0;
    std::uint64_t negInfs = 0;
    std::uint64_t checksum = 0;

    void add(const BlockPartial& block)
    {
        sum += block.sum;
        sumsq += block.sumsq;
        min = block.min < min ? block.min : min;
        max = block.max > max ? block.max : max;
        zeros += block.zeros;
        nans += block.nans;
        posInfs += block.posInfs;
        negInfs += block.negInfs;
        checksum += block.checksum;
    }

    /// `dtype` as a tt_tensor has it.
    void finish(std::uint64_t numel, std::uint32_t dtype, tt_stats& out) const
    {
        out = {};
        out.numel = numel;
        if (numel == 0)
            return;
        out.flags = TT_STATS_PRESENT;
        if ((dtype & TT_WITH_CHECKSUM) != 0) {
            out.flags |= TT_STATS_CHECKSUM;
            out.checksum = checksum;
        }
        out.nans = nans;
        out.pos_infs = posInfs;
        out.neg_infs = negInfs;
        out.finite = numel - nans - posInfs - negInfs;
        out.zero_count = zeros;
        out.zeros = static_cast<float>(static_cast<double>(zeros) / static_cast<double>(numel));
        if (out.finite == 0)
            return;
        out.sum = sum;
        out.sumsq = sumsq;
        out.norm = toFloat(std::sqrt(sumsq));
        out.mean = toFloat(sum / static_cast<double>(out.finite));
        out.min = toFloat(min);
        out.max = toFloat(max);
    }

    /// Inf would say that an element was infinite: a finite value beyond float's range becomes its largest finite one.
    static float toFloat(double x)
    {
        constexpr auto kMost = static_cast<double>(std::numeric_limits<float>::max());
        return static_cast<float>(x > kMost ? kMost : x < -kMost ? -kMost : x);
    }
};

}
