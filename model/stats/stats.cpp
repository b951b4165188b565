// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/stats/stats.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <telltale/core/nothrow.h>

#include "binblock.h"
#include "dispatch.h"
#include "finish.h"
#include "passes.h"
#include "workers.h"

namespace telltale::stats {

Eps makeEps(double eps)
{
    auto narrow = static_cast<float>(eps);
    if (static_cast<double>(narrow) < eps)
        narrow = std::nextafter(narrow, std::numeric_limits<float>::infinity());
    return { eps, narrow };
}

std::size_t widthOf(std::uint32_t dtype)
{
    constexpr std::size_t kWidths[] = { 0, 4, 8, 2, 2, 1, 1, 2, 4, 8, 1 };
    dtype &= ~TT_WITH_CHECKSUM;
    return dtype <= TT_BOOL ? kWidths[dtype] : 0;
}

void measureBlock(
    const void* data, std::uint32_t dtype, std::size_t first, std::size_t count, const Eps& eps, BlockPartial& out)
{
    const std::uint32_t type = dtype & ~TT_WITH_CHECKSUM;
    kernel().block[type](data, first, count, eps, out);
    if (type != dtype) // the block is still in the nearest cache
        out.checksum = kernel().checksum[type](data, first, count);
}

namespace {

bool isUsable(const tt_tensor& tensor)
{
    return widthOf(tensor.dtype) > 0 && (tensor.data != nullptr || tensor.numel == 0);
}

std::uint64_t blocksOf(const tt_tensor& tensor)
{
    return isUsable(tensor) ? (tensor.numel + kBlockElements - 1) / kBlockElements : 0;
}

void doBlock(const tt_tensor& tensor, std::uint64_t block, const Eps& eps, BlockPartial& out, std::uint64_t* bins)
{
    const std::uint64_t first = block * kBlockElements;
    const std::uint64_t count = std::min<std::uint64_t>(kBlockElements, tensor.numel - first);
    measureBlock(tensor.data, tensor.dtype, first, count, eps, out);
    if (bins)
        countBins(tensor.data, tensor.dtype & ~TT_WITH_CHECKSUM, first, count, bins);
}

/// Of one entry; null where nobody asks for them.
std::uint64_t* binsOf(std::uint64_t* bins, std::size_t entry)
{
    return bins ? bins + entry * TT_BINS : nullptr;
}

int computeAlone(
    const tt_tensor* tensors, std::size_t count, const Eps& eps, tt_stats* results, std::uint64_t* bins) noexcept
{
    int status = 0;
    for (std::size_t i = 0; i < count; ++i) {
        results[i] = {};
        if (bins)
            std::fill_n(binsOf(bins, i), TT_BINS, std::uint64_t { 0 });
        if (!isUsable(tensors[i])) {
            status = -1;
            continue;
        }
        Totals totals;
        const std::uint64_t blocks = blocksOf(tensors[i]);
        for (std::uint64_t b = 0; b < blocks; ++b) {
            BlockPartial partial;
            doBlock(tensors[i], b, eps, partial, binsOf(bins, i));
            totals.add(partial);
        }
        totals.finish(tensors[i].numel, tensors[i].dtype, results[i]);
    }
    return status;
}

/// One list of blocks over all tensors, in pieces: a table of one large and many small tensors balances too.
int computeTogether(
    const tt_tensor* tensors, std::size_t count, const Eps& eps, tt_stats* results, std::uint64_t* bins, int threads)
{
    std::vector<std::uint64_t> firstBlock(count + 1, 0);
    int status = 0;
    for (std::size_t i = 0; i < count; ++i) {
        firstBlock[i + 1] = firstBlock[i] + blocksOf(tensors[i]);
        status = isUsable(tensors[i]) ? status : -1;
    }
    const std::uint64_t blocks = firstBlock[count];
    std::vector<BlockPartial> partials(blocks);
    if (bins)
        std::fill_n(bins, count * TT_BINS, std::uint64_t { 0 });
    runPieces(threads, (blocks + kPieceBlocks - 1) / kPieceBlocks, [&](std::uint64_t piece) {
        const std::uint64_t begin = piece * kPieceBlocks;
        const std::uint64_t end = std::min(begin + kPieceBlocks, blocks);
        auto i = static_cast<std::size_t>(
            std::upper_bound(firstBlock.begin(), firstBlock.end(), begin) - firstBlock.begin() - 1);
        for (std::uint64_t b = begin; b < end; ++b) {
            while (b >= firstBlock[i + 1])
                ++i;
            doBlock(tensors[i], b - firstBlock[i], eps, partials[b], binsOf(bins, i));
        }
    });
    for (std::size_t i = 0; i < count; ++i) {
        results[i] = {};
        if (!isUsable(tensors[i]))
            continue;
        Totals totals;
        for (std::uint64_t b = firstBlock[i]; b < firstBlock[i + 1]; ++b)
            totals.add(partials[b]);
        totals.finish(tensors[i].numel, tensors[i].dtype, results[i]);
    }
    return status;
}

}
}

extern "C" int tt_stats_bins(
    const tt_tensor* tensors, size_t count, double eps, tt_stats* results, uint64_t* bins, int threads)
{
    using namespace telltale::stats;
    const auto compute = [&] {
        const Eps limits = makeEps(eps);
        std::uint64_t elements = 0;
        for (std::size_t i = 0; i < count; ++i)
            elements += isUsable(tensors[i]) ? tensors[i].numel : 0;
        if (threads <= 1 || elements < kParallelElements)
            return computeAlone(tensors, count, limits, results, bins);
        return computeTogether(tensors, count, limits, results, bins, std::min(threads, kMostThreads));
    };
    return telltale::withoutThrowing(
        compute, [&](const char*) noexcept { return computeAlone(tensors, count, makeEps(eps), results, bins); });
}

extern "C" int tt_stats_compute(const tt_tensor* tensors, size_t count, double eps, tt_stats* results, int threads)
{
    return tt_stats_bins(tensors, count, eps, results, nullptr, threads);
}

extern "C" int tt_stats_tensor_bins(
    const void* data, uint64_t numel, uint32_t dtype, double eps, tt_stats* result, uint64_t* bins, int threads)
{
    return telltale::withoutThrowing([&] {
        const tt_tensor tensor { data, numel, dtype, 0 };
        return tt_stats_bins(&tensor, 1, eps, result, bins, threads);
    });
}

extern "C" int tt_stats_tensor(
    const void* data, uint64_t numel, uint32_t dtype, double eps, tt_stats* result, int threads)
{
    return tt_stats_tensor_bins(data, numel, dtype, eps, result, nullptr, threads);
}
