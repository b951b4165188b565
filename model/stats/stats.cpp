// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/stats/stats.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "finish.h"
#include "workers.h"

namespace telltale::stats {
namespace {

/// Below this many elements a second thread costs more than it brings.
constexpr std::uint64_t kParallelElements = 1u << 18;

const KernelTable& chooseKernel()
{
#if defined(__x86_64__)
    const char* wish = std::getenv("TELLTALE_KERNEL");
    const bool portable = wish != nullptr && std::strcmp(wish, "portable") == 0;
    const bool narrow = wish != nullptr && std::strcmp(wish, "avx2") == 0;
    if (!portable && !narrow && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")
        && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
        return avx512Kernel();
    if (!portable && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return avx2Kernel();
#endif
    return portableKernel();
}

const KernelTable& kernel()
{
    static const KernelTable& table = chooseKernel();
    return table;
}

Eps makeEps(double eps)
{
    auto narrow = static_cast<float>(eps);
    if (static_cast<double>(narrow) < eps)
        narrow = std::nextafter(narrow, std::numeric_limits<float>::infinity());
    return { eps, narrow };
}

bool isUsable(const tt_tensor& tensor)
{
    return tensor.dtype >= TT_F32 && tensor.dtype <= TT_BOOL && (tensor.data != nullptr || tensor.numel == 0);
}

std::uint64_t blocksOf(const tt_tensor& tensor)
{
    return isUsable(tensor) ? (tensor.numel + kBlockElements - 1) / kBlockElements : 0;
}

void doBlock(const tt_tensor& tensor, std::uint64_t block, const Eps& eps, BlockPartial& out)
{
    const std::uint64_t first = block * kBlockElements;
    const std::uint64_t count = std::min<std::uint64_t>(kBlockElements, tensor.numel - first);
    kernel().block[tensor.dtype](tensor.data, first, count, eps, out);
}

int computeAlone(const tt_tensor* tensors, std::size_t count, const Eps& eps, tt_stats* results)
{
    int status = 0;
    for (std::size_t i = 0; i < count; ++i) {
        results[i] = {};
        if (!isUsable(tensors[i])) {
            status = -1;
            continue;
        }
        Totals totals;
        const std::uint64_t blocks = blocksOf(tensors[i]);
        for (std::uint64_t b = 0; b < blocks; ++b) {
            BlockPartial partial;
            doBlock(tensors[i], b, eps, partial);
            totals.add(partial);
        }
        totals.finish(tensors[i].numel, results[i]);
    }
    return status;
}

/// One list of blocks over all tensors, cut into equal runs: a table of one large and many small tensors balances too.
int computeTogether(const tt_tensor* tensors, std::size_t count, const Eps& eps, tt_stats* results, int threads)
{
    std::vector<std::uint64_t> firstBlock(count + 1, 0);
    int status = 0;
    for (std::size_t i = 0; i < count; ++i) {
        firstBlock[i + 1] = firstBlock[i] + blocksOf(tensors[i]);
        status = isUsable(tensors[i]) ? status : -1;
    }
    const std::uint64_t blocks = firstBlock[count];
    std::vector<BlockPartial> partials(blocks);
    const auto parts = static_cast<std::uint64_t>(threads);
    runParts(threads, [&](int part) {
        const std::uint64_t begin = blocks * static_cast<std::uint64_t>(part) / parts;
        const std::uint64_t end = blocks * (static_cast<std::uint64_t>(part) + 1) / parts;
        auto i = static_cast<std::size_t>(
            std::upper_bound(firstBlock.begin(), firstBlock.end(), begin) - firstBlock.begin() - 1);
        for (std::uint64_t b = begin; b < end; ++b) {
            while (b >= firstBlock[i + 1])
                ++i;
            doBlock(tensors[i], b - firstBlock[i], eps, partials[b]);
        }
    });
    for (std::size_t i = 0; i < count; ++i) {
        results[i] = {};
        if (!isUsable(tensors[i]))
            continue;
        Totals totals;
        for (std::uint64_t b = firstBlock[i]; b < firstBlock[i + 1]; ++b)
            totals.add(partials[b]);
        totals.finish(tensors[i].numel, results[i]);
    }
    return status;
}

}
}

extern "C" int tt_stats_compute(const tt_tensor* tensors, size_t count, double eps, tt_stats* results, int threads)
{
    using namespace telltale::stats;
    const Eps limits = makeEps(eps);
    std::uint64_t elements = 0;
    for (std::size_t i = 0; i < count; ++i)
        elements += isUsable(tensors[i]) ? tensors[i].numel : 0;
    if (threads <= 1 || elements < kParallelElements)
        return computeAlone(tensors, count, limits, results);
    return computeTogether(tensors, count, limits, results, std::min(threads, 16));
}

extern "C" const char* tt_stats_kernel_name(void)
{
    return telltale::stats::kernel().name;
}
