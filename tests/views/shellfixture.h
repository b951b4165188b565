// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <filesystem>
#include <string>

#include <telltale/core/protocolone.h>

#include "../store/capsulebuilder.h"

namespace telltale::test {

/// A small run as a training job would leave it: a 12-block transformer on two ranks, activations, gradients and
/// scalars over 400 steps, layers.7.attn.qkv overflowing on rank 1 at step 360 with everything behind it non-finite.
/// Thread: the test's.
class DemoCapsule {
public:
    static constexpr int kSteps = 400;
    static constexpr int kFirstBad = 360;

    explicit DemoCapsule(const std::string& dataDir, const std::string& file = "2026-01-02_gpt-12l_abc123.telltale")
        : m_path(dataDir + "/runs/" + file)
    {
        std::filesystem::create_directories(dataDir + "/runs");
    }

    const std::string& path() const { return m_path; }

    void write(int steps = kSteps, bool finish = true)
    {
        CapsuleBuilder builder(m_path);
        const auto activations = layout(builder, Kind::Actv, {}, "output");
        const auto gradients = layout(builder, Kind::GradReduced, ".weight", "");
        const auto scalars = builder.addLayout(Kind::Scalar, { Stat::Value }, { "loss", "lr", "grad-norm" });
        for (int rank = 0; rank < 2; ++rank) {
            const std::int64_t stream = builder.addAttempt(Rank { rank }, 0);
            for (int first = 0; first < steps; first += 50) {
                std::vector<StepBlock> blocks;
                for (int step = first; step < std::min(first + 50, steps); ++step) {
                    blocks.push_back(tensors(activations, step, rank, 1));
                    blocks.push_back(tensors(gradients, step, rank, 1e-3));
                    blocks.push_back(scalarBlock(scalars, step));
                }
                builder.stage(
                    stream, std::move(blocks), {}, {}, first == 0 && rank == 0 ? records() : std::vector<Blob>());
                builder.commit();
            }
        }
        if (!finish)
            return;
        for (const auto& [id, stream] : builder.writer().streams())
            CapsuleBuilder::must(builder.writer().book().leave(id, store::SourceState::Finished, stream.durableSeq));
        builder.finish();
    }

    static std::vector<std::string> modules()
    {
        std::vector<std::string> names { "tok_emb", "pos_emb" };
        for (int block = 0; block < 12; ++block) {
            for (const char* part : { "ln1", "attn.qkv", "attn.proj", "ln2", "mlp.fc", "mlp.proj" })
                names.push_back("layers." + std::to_string(block) + '.' + part);
        }
        names.push_back("head");
        return names;
    }

    /// What stack_info and print_struct leave: one document each for all modules, sent at the first collected step.
    static std::vector<Blob> records()
    {
        const std::string stacks
            = R"({"0:": "File train.py, line 3, in main", )"
              R"("0:layers.7.attn.qkv": "File <b>model.py</b>, line 41, in forward, \n y = f(x) \n"})";
        const std::string passed
            = R"({"0:layers.7.attn.qkv": {"input": {"config": "list[1]", "0": "size=(8, 64), dtype=torch.float32"}, )"
              R"("output": {"config": "tensor", "tensor": "size=(8, 192), dtype=torch.float32"}}})";
        return { { "stacks", 0, 1, "stack", "stack_info", Step { 1 }, stacks },
            { "passed", 0, 1, "module_struct", "module_struct", Step { 1 }, passed } };
    }

private:
    static std::shared_ptr<const SeriesLayout> layout(
        CapsuleBuilder& builder, Kind kind, const std::string& suffix, const std::string& slot)
    {
        std::vector<std::string> names = modules();
        for (std::string& name : names)
            name += suffix;
        const auto made = builder.addLayout(kind,
            { Stat::Norm, Stat::Mean, Stat::Min, Stat::Max, Stat::Zeros, Stat::Nans, Stat::PosInfs, Stat::NegInfs },
            std::move(names));
        auto slotted = std::make_shared<SeriesLayout>(*made);
        for (SeriesDesc& series : slotted->series)
            series.slot = protocolone::slotOf(slot);
        return slotted;
    }

    static double noise(int a, int b)
    {
        const double x = std::sin(a * 12.9898 + b * 78.233) * 43758.5453;
        return x - std::floor(x);
    }

    static StepBlock tensors(const std::shared_ptr<const SeriesLayout>& layout, int step, int rank, double scale)
    {
        constexpr std::size_t kSource = 2 + 7 * 6 + 1; // layers.7.attn.qkv
        StepBlock block;
        block.layout = layout;
        block.step = Step { step };
        block.wallNs = 1'700'000'000'000'000'000 + step * 300'000'000LL;
        const std::size_t count = layout->series.size();
        std::vector<float> norm(count), mean(count), min(count), max(count), zeros(count);
        std::vector<std::uint64_t> nans(count), posInfs(count), negInfs(count);
        for (std::size_t i = 0; i < count; ++i) {
            const auto row = static_cast<int>(i);
            double level = scale * (2 + 40 * std::pow(noise(row, 3), 3)) * (1 + 0.1 * noise(row, step));
            const bool source = i == kSource && rank == 1;
            if (source && step > 240)
                level *= std::exp((step - 240) * 0.06);
            norm[i] = static_cast<float>(level);
            mean[i] = static_cast<float>(level * 0.01 * (noise(step, row) - 0.5));
            min[i] = static_cast<float>(-level * 0.4);
            max[i] = static_cast<float>(level * 0.5);
            zeros[i] = 0.001F;
            if (rank == 1 && step >= kFirstBad && source)
                posInfs[i] = 3;
            if (rank == 1 && step >= kFirstBad && i > kSource && step % 3 != 2)
                nans[i] = 512;
        }
        block.columns = { { Stat::Norm, norm }, { Stat::Mean, mean }, { Stat::Min, min }, { Stat::Max, max },
            { Stat::Zeros, zeros }, { Stat::Nans, nans }, { Stat::PosInfs, posInfs }, { Stat::NegInfs, negInfs } };
        return block;
    }

    static StepBlock scalarBlock(const std::shared_ptr<const SeriesLayout>& layout, int step)
    {
        StepBlock block;
        block.layout = layout;
        block.step = Step { step };
        block.wallNs = 1'700'000'000'000'000'000 + step * 300'000'000LL;
        block.columns = { { Stat::Value,
            std::vector<double> { 2.6 + 3 * std::exp(-step / 60.0) + 0.1 * noise(step, 1), 6e-4 * (1 - step / 800.0),
                0.4 + noise(step, 2) * 0.2 } } };
        return block;
    }

    std::string m_path;
};

}
