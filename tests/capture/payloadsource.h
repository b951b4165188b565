// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <telltale/core/samplebatch.h>

namespace telltale::tests {

/// Step blocks of one layout that look like training: norms wander by 5 % around a slow drift, means jitter around
/// zero, extremes follow the norm, few elements are zero, hardly anything is NaN. Thread: owned by one.
class PayloadSource {
public:
    PayloadSource(
        std::uint32_t id, std::vector<Stat> stats, std::size_t series, unsigned seed, Kind kind = Kind::GradReduced)
        : m_random(seed)
    {
        auto layout = std::make_shared<SeriesLayout>();
        layout->id = LayoutId { id };
        layout->kind = kind;
        layout->stats = std::move(stats);
        for (std::size_t i = 0; i < series; ++i) {
            SeriesDesc desc;
            desc.name = "layers." + std::to_string(i / 4) + ".mlp.weight_" + std::to_string(i % 4);
            desc.slot = i % 2 == 0 ? Slot {} : Slot::input(1);
            desc.microStep = static_cast<std::int32_t>(i % 3) - 1;
            desc.shape = { 512, -1, static_cast<std::int64_t>(i) };
            desc.dtype = DType::BF16;
            desc.numel = 512 * 512;
            desc.shardOffset = static_cast<std::int64_t>(i % 2) - 1;
            layout->series.push_back(std::move(desc));
            m_scale.push_back(std::exp(2 * noise()));
        }
        m_layout = std::move(layout);
    }

    StepBlock next()
    {
        for (float& scale : m_scale)
            scale *= 1 + 0.002f * noise();
        StepBlock block;
        block.layout = m_layout;
        block.step = Step { m_step };
        block.wallNs = 1'700'000'000'000'000'000 + m_step * 50'000'000;
        ++m_step;
        for (const Stat stat : m_layout->stats)
            block.columns.push_back(column(stat));
        return block;
    }

    void dropSome(StepBlock& block)
    {
        const std::size_t n = m_scale.size();
        block.present.assign((n + 63) / 64, 0);
        bool isWhole = true;
        for (std::size_t i = 0; i < n; ++i) {
            if (random() % 3 != 0) {
                block.present[i / 64] |= std::uint64_t { 1 } << (i % 64);
                continue;
            }
            isWhole = false;
            for (Column& each : block.columns)
                std::visit([i](auto& values) { values[i] = 0; }, each.values);
        }
        if (isWhole)
            block.present.clear();
    }

    void shuffleCalls(StepBlock& block)
    {
        block.callIds.clear();
        for (std::size_t i = 0; i < m_scale.size(); ++i)
            block.callIds.push_back(static_cast<std::uint32_t>(random()));
    }

    std::uint32_t random() { return static_cast<std::uint32_t>(m_random()); }

private:
    float noise() { return m_normal(m_random); }

    Column column(Stat stat)
    {
        const std::size_t n = m_scale.size();
        if (stat == Stat::Checksum) {
            std::vector<std::uint64_t> values(n);
            std::generate(values.begin(), values.end(), [this] { return std::uint64_t { random() } << 32 | random(); });
            return { stat, std::move(values) };
        }
        if (isNonFiniteCount(stat)) {
            std::vector<std::uint64_t> values(n, 0);
            if (n > 0 && random() % 32 == 0)
                values[random() % n] = random() % 1000;
            return { stat, std::move(values) };
        }
        if (stat == Stat::Value) {
            std::vector<double> values(n);
            std::generate(values.begin(), values.end(), [this] { return 2.0 + 0.01 * static_cast<double>(noise()); });
            return { stat, std::move(values) };
        }
        std::vector<float> values(n);
        for (std::size_t i = 0; i < n; ++i) {
            const float spread = m_scale[i] / 512;
            switch (stat) {
            case Stat::Mean:
                values[i] = spread * 0.01f * noise();
                break;
            case Stat::Min:
                values[i] = -spread * (4.5f + 0.3f * noise());
                break;
            case Stat::Max:
                values[i] = spread * (4.5f + 0.3f * noise());
                break;
            case Stat::Zeros:
                values[i] = i % 16 == 0 ? static_cast<float>(random() % 8) / (512 * 512) : 0.0f;
                break;
            default:
                values[i] = m_scale[i] * (1 + 0.05f * noise());
            }
        }
        return { stat, std::move(values) };
    }

    std::mt19937 m_random;
    std::normal_distribution<float> m_normal;
    std::shared_ptr<const SeriesLayout> m_layout;
    std::vector<float> m_scale;
    std::int64_t m_step = 0;
};

}
