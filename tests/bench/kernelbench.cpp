// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <random>

#include <telltale/stats/stats.h>

#include "memoryread.h"
#include "report.h"
#ifdef TELLTALE_HAVE_TORCH
#include "torchpeer.h"
#endif

namespace telltale::bench {
namespace {

/// Shapes of a GPT with 8 layers of width 512: 25 M parameters in 101 tensors.
std::vector<std::vector<float>> gptTensors()
{
    constexpr std::size_t kWidth = 512;
    std::vector<std::size_t> sizes { 256 * kWidth, 128 * kWidth };
    for (int layer = 0; layer < 8; ++layer) {
        for (const std::size_t n : { kWidth, kWidth, kWidth * 3 * kWidth, 3 * kWidth, kWidth * kWidth, kWidth, kWidth,
                 kWidth, kWidth * 4 * kWidth, 4 * kWidth, 4 * kWidth * kWidth, kWidth })
            sizes.push_back(n);
    }
    for (const std::size_t n : { kWidth, kWidth, 256 * kWidth })
        sizes.push_back(n);
    std::mt19937 generator(1);
    std::vector<std::vector<float>> tensors;
    for (const std::size_t n : sizes) {
        std::vector<float> t(n);
        for (float& x : t)
            x = static_cast<float>(static_cast<std::int32_t>(generator())) * 1e-12f;
        tensors.push_back(std::move(t));
    }
    return tensors;
}

}

void benchKernel(Report& report)
{
    const auto tensors = gptTensors();
    std::vector<tt_tensor> table;
    double elements = 0;
    for (const auto& t : tensors) {
        table.push_back({ t.data(), t.size(), TT_F32, 0 });
        elements += static_cast<double>(t.size());
    }
    std::vector<tt_stats> results(table.size());
    volatile std::uint64_t sink = 0;
    const auto reads = memoryReads();
    std::vector<std::function<void(std::size_t)>> parts {
        [&](std::size_t i) { tt_stats_compute(&table[i], 1, TT_DEFAULT_EPS, &results[i], 1); },
    };
    for (const MemoryRead& way : reads) {
        parts.emplace_back([&](std::size_t i) {
            sink = way.read(reinterpret_cast<const char*>(tensors[i].data()), tensors[i].size() * sizeof(float));
        });
    }
    const auto seconds = minima(31, tensors.size(), parts);
    const auto best = std::min_element(seconds.begin() + 1, seconds.end());
    const MemoryRead& fastestRead = reads[static_cast<std::size_t>(best - seconds.begin()) - 1];
    report.add({ "kernel_f32", seconds[0] / elements * 1e9, "ns/element", "plain read (" + fastestRead.name + ")",
        *best / elements * 1e9, 0.85 });
#ifdef TELLTALE_HAVE_TORCH
    TorchPeer torch(tensors);
    const auto whole = medians(15,
        { [&] { tt_stats_compute(table.data(), table.size(), TT_DEFAULT_EPS, results.data(), 1); },
            [&] { torch.foreachNorm(); }, [&] { torch.sixOps(); } });
    const double ms = whole[0] * 1e3;
    report.add({ "kernel_of_a_model", ms, "ms", "torch._foreach_norm (norm only)", whole[1] * 1e3, 0.9 });
    report.add({ "kernel_of_a_model_six_ops", ms, "ms", "six torch ops", whole[2] * 1e3, 20 });
#endif
}

}
