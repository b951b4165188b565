// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload.h"

#include <cmath>

#include <telltale/protocol/payloadbuilder.h>

namespace telltale::bench {

Workload::Workload(int tensors, unsigned seed)
    : m_random(0x9E3779B97F4A7C15ull * (seed + 1))
{
    auto layout = std::make_shared<SeriesLayout>();
    layout->id = LayoutId { 1 };
    layout->kind = Kind::GradReduced;
    layout->stats
        = { Stat::Norm, Stat::Mean, Stat::Min, Stat::Max, Stat::Zeros, Stat::Nans, Stat::PosInfs, Stat::NegInfs };
    static constexpr const char* kParts[] { "ln1.weight", "attn.qkv.weight", "attn.qkv.bias", "attn.proj.weight",
        "ln2.weight", "mlp.fc1.weight", "mlp.fc1.bias", "mlp.fc2.weight", "mlp.fc2.bias", "ln2.bias" };
    for (int i = 0; i < tensors; ++i) {
        SeriesDesc series;
        series.name = "layers." + std::to_string(i / 10) + "." + kParts[i % 10];
        series.shape = { 512, 512 };
        series.dtype = DType::F32;
        series.numel = 512 * 512;
        layout->series.push_back(std::move(series));
        m_scale.push_back(std::exp(noise() * 3));
    }
    m_layout = std::move(layout);
}

/// Roughly normal, variance about 1: the sum of the four 16-bit parts of one xorshift word.
float Workload::noise()
{
    m_random ^= m_random << 13;
    m_random ^= m_random >> 7;
    m_random ^= m_random << 17;
    float sum = -2;
    for (int part = 0; part < 4; ++part)
        sum += static_cast<float>((m_random >> (16 * part)) & 0xFFFFu) * (1.0f / 65536);
    return sum * 1.7f;
}

StepBlock Workload::next()
{
    const std::size_t n = m_layout->series.size();
    std::vector<float> norm(n), mean(n), min(n), max(n), zeros(n, 0.0f);
    for (std::size_t i = 0; i < n; ++i) {
        m_scale[i] *= 1 + 0.002f * noise();
        const float spread = m_scale[i] / 512;
        norm[i] = m_scale[i] * (1 + 0.05f * noise());
        mean[i] = spread * 0.01f * noise();
        min[i] = -spread * (4.5f + 0.4f * noise());
        max[i] = spread * (4.5f + 0.4f * noise());
    }
    StepBlock block;
    block.layout = m_layout;
    block.step = Step { m_step };
    block.wallNs = 1'700'000'000'000'000'000 + m_step * 30'000'000;
    block.columns = { { Stat::Norm, std::move(norm) }, { Stat::Mean, std::move(mean) }, { Stat::Min, std::move(min) },
        { Stat::Max, std::move(max) }, { Stat::Zeros, std::move(zeros) }, { Stat::Nans, std::vector<std::uint64_t>(n) },
        { Stat::PosInfs, std::vector<std::uint64_t>(n) }, { Stat::NegInfs, std::vector<std::uint64_t>(n) } };
    ++m_step;
    return block;
}

std::vector<std::string> Workload::payloads(int steps, int stepsPerBatch)
{
    std::vector<std::string> result;
    protocol::PayloadBuilder builder;
    for (int step = 0; step < steps;) {
        if (step == 0)
            builder.addLayout(*m_layout);
        for (int i = 0; i < stepsPerBatch && step < steps; ++i, ++step)
            builder.addBlock(next());
        result.push_back(builder.finish());
    }
    return result;
}

}
