// SPDX-License-Identifier: GPL-3.0-or-later
#include "training.h"

#include <telltale/core/histogram.h>

namespace telltale::bench {
namespace {

constexpr int kHistogramEach = 10;

std::shared_ptr<SeriesLayout> layoutOf(std::uint32_t id, Kind kind, std::vector<Stat> stats)
{
    auto layout = std::make_shared<SeriesLayout>();
    layout->id = LayoutId { id };
    layout->kind = kind;
    layout->stats = std::move(stats);
    return layout;
}

SeriesDesc& add(SeriesLayout& layout, std::string name)
{
    layout.series.emplace_back();
    layout.series.back().name = std::move(name);
    return layout.series.back();
}

StepBlock block(const std::shared_ptr<const SeriesLayout>& layout, std::int64_t step)
{
    StepBlock one;
    one.layout = layout;
    one.step = Step { step };
    return one;
}

}

Training::Training()
    : m_norms(layoutOf(1, Kind::GradReduced, { Stat::Norm, Stat::Nans, Stat::PosInfs, Stat::NegInfs }))
    , m_heads(layoutOf(2, Kind::Attention, { Stat::Entropy, Stat::SoftmaxMax }))
    , m_bins(layoutOf(3, Kind::Update, { Stat::Hist }))
    , m_sites(layoutOf(4, Kind::Comm, { Stat::Norm, Stat::Nans }))
    , m_scalars(layoutOf(5, Kind::Scalar, { Stat::Value }))
{
    for (int i = 0; i < kTensors; ++i)
        add(*m_norms, tensorName(i));
    for (int i = 0; i < kBlocks * kHeads; ++i) {
        SeriesDesc& one = add(*m_heads, "layers." + std::to_string(i / kHeads) + ".attn");
        one.slot = Slot::ofHead(i % kHeads);
        one.shape = { kHeads, kHeads, 1024, 1024 };
    }
    m_bins->edges.assign(octaveEdges().begin(), octaveEdges().end());
    for (int i = 0; i < kHistograms; ++i)
        add(*m_bins, tensorName(i)).numel = 1000;
    for (int i = 0; i < kSites; ++i)
        add(*m_sites, "all_reduce#" + std::to_string(i)).slot = { Role::After, 0 };
    for (const char* name : { "loss", "lr", "grad-norm" })
        add(*m_scalars, name);
}

std::string Training::tensorName(int i)
{
    return "layers." + std::to_string(i * kBlocks / kTensors) + ".mlp.fc" + std::to_string(i) + ".weight";
}

std::vector<float> Training::noisy(std::size_t count)
{
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = static_cast<float>(1 + i % 37) * m_noise(m_random);
    return values;
}

void Training::append(SampleBatch& batch, std::int64_t step, int rank)
{
    const std::vector<std::uint64_t> broken(kTensors, step % 5000 == 17 && rank == 1 ? 1 : 0);
    const std::vector<std::uint64_t> none(kTensors);
    batch.blocks.push_back(block(m_norms, step));
    batch.blocks.back().columns
        = { { Stat::Norm, noisy(kTensors) }, { Stat::Nans, broken }, { Stat::PosInfs, none }, { Stat::NegInfs, none } };
    batch.blocks.push_back(block(m_heads, step));
    batch.blocks.back().columns
        = { { Stat::Entropy, noisy(kBlocks * kHeads) }, { Stat::SoftmaxMax, noisy(kBlocks * kHeads) } };
    batch.blocks.push_back(block(m_sites, step));
    batch.blocks.back().columns = { { Stat::Norm, noisy(kSites) }, { Stat::Nans, std::vector<std::uint64_t>(kSites) } };
    batch.blocks.push_back(block(m_scalars, step));
    batch.blocks.back().columns
        = { { Stat::Value, std::vector<double> { 3.0 / (1.0 + 1e-4 * double(step)), 1e-4, 1 } } };
    if (step % kHistogramEach != 0)
        return;
    const std::size_t bins = (m_bins->edges.size() - 1) * kHistograms;
    std::vector<std::uint64_t> counts(bins);
    for (std::size_t i = 0; i < bins; ++i)
        counts[i] = (i * 7 + static_cast<std::size_t>(step)) % 60;
    batch.blocks.push_back(block(m_bins, step));
    batch.blocks.back().columns = { { Stat::Hist, counts } };
}

std::vector<std::shared_ptr<const SeriesLayout>> Training::layouts() const
{
    return { m_norms, m_heads, m_bins, m_sites, m_scalars };
}

}
