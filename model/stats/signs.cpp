// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/stats/stats.h>

#include <algorithm>
#include <atomic>
#include <limits>

#include <telltale/core/nothrow.h>

#include "dispatch.h"
#include "workers.h"

namespace telltale::stats {
namespace {

bool isPair(const tt_tensor& a, const tt_tensor& b)
{
    const auto isFloat = [](const tt_tensor& t) { return t.dtype >= TT_F32 && t.dtype <= TT_BF16; };
    return isFloat(a) && isFloat(b) && a.numel == b.numel && (a.numel == 0 || (a.data && b.data));
}

std::uint64_t blocksOf(const tt_tensor& a, const tt_tensor& b)
{
    return isPair(a, b) ? (a.numel + kBlockElements - 1) / kBlockElements : 0;
}

std::int64_t agreementOf(const tt_tensor& a, const tt_tensor& b, std::uint64_t block)
{
    const std::uint64_t first = block * kBlockElements;
    const std::uint64_t count = std::min<std::uint64_t>(kBlockElements, a.numel - first);
    return kernel().signs.row[a.dtype - TT_F32].block[b.dtype - TT_F32](a.data, b.data, first, count);
}

double shareOf(std::int64_t sum, std::uint64_t numel)
{
    return numel == 0 ? std::numeric_limits<double>::quiet_NaN()
                      : (static_cast<double>(sum) / static_cast<double>(numel) + 1) / 2;
}

/// The sums are whole numbers: their order, and so the number of threads, changes nothing.
std::int64_t agreementTogether(const tt_tensor& a, const tt_tensor& b, int threads)
{
    const std::uint64_t blocks = blocksOf(a, b);
    if (threads == 1) {
        std::int64_t sum = 0;
        for (std::uint64_t block = 0; block < blocks; ++block)
            sum += agreementOf(a, b, block);
        return sum;
    }
    std::atomic<std::int64_t> sum { 0 };
    runPieces(threads, (blocks + kPieceBlocks - 1) / kPieceBlocks, [&](std::uint64_t piece) {
        std::int64_t mine = 0;
        for (std::uint64_t block = piece * kPieceBlocks; block < std::min((piece + 1) * kPieceBlocks, blocks); ++block)
            mine += agreementOf(a, b, block);
        sum += mine;
    });
    return sum;
}

}
}

extern "C" int tt_sign_agreement(const tt_tensor* a, const tt_tensor* b, size_t count, double* out, int threads)
{
    using namespace telltale::stats;
    const auto agree = [&](int most) {
        int status = 0;
        for (std::size_t i = 0; i < count; ++i) {
            out[i] = std::numeric_limits<double>::quiet_NaN();
            if (!isPair(a[i], b[i])) {
                status = -1;
                continue;
            }
            const int parts = a[i].numel < kParallelElements ? 1 : std::clamp(most, 1, kMostThreads);
            out[i] = shareOf(agreementTogether(a[i], b[i], parts), a[i].numel);
        }
        return status;
    };
    return telltale::withoutThrowing([&] { return agree(threads); }, [&](const char*) noexcept { return agree(1); });
}
