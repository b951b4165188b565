// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <telltale/core/samplebatch.h>

namespace telltale::bench {

/// What one rank of a transformer sends of a step, of every kind that a view draws, again and again with other numbers:
/// 480 tensors' norms, 12 x 12 heads, 8 call sites, three scalars, and of two tensors a histogram every ten steps; a
/// NaN on rank 1 every 5,000 steps. Deterministic. Thread: owned by one.
class Training {
public:
    static constexpr int kBlocks = 12, kTensors = 480, kHeads = 12, kHistograms = 2, kSites = 8;
    static constexpr std::int64_t kSamplesAStep = kTensors + kBlocks * kHeads + kSites;

    Training();
    static std::string tensorName(int i);
    /// Adds the blocks of `step`.
    void append(SampleBatch& batch, std::int64_t step, int rank);
    std::vector<std::shared_ptr<const SeriesLayout>> layouts() const;

private:
    std::vector<float> noisy(std::size_t count);

    std::mt19937 m_random { 1 };
    std::normal_distribution<float> m_noise { 1.0F, 0.05F };
    std::shared_ptr<SeriesLayout> m_norms, m_heads, m_bins, m_sites, m_scalars;
};

}
