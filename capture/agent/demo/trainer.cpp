// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/demo/trainer.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <optional>

#include <torch/torch.h>

#include <telltale/demo/corpus.h>
#include <telltale/demo/saboteur.h>
#include <telltale/demo/transformer.h>
#include <telltale/torch/configfile.h>
#include <telltale/torch/trainermon.h>

namespace telltale::demo {
namespace {

/// printf writes the sign of a NaN, which means nothing.
double withoutNanSign(double value)
{
    return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}

using Clock = std::chrono::steady_clock;

constexpr int kBatch = 8;
constexpr int kWindow = 64;
constexpr double kPeakLearningRate = 1e-3;
constexpr double kLastLearningRateShare = 0.1;
constexpr double kGradientLimit = 1.0;
constexpr std::int64_t kWarmupSteps = 50;
constexpr std::chrono::seconds kProgressEvery { 1 };

/// Linear warm-up, then half a cosine down to a tenth, or the same rate on.
double learningRate(std::int64_t step, std::int64_t steps, const std::string& schedule)
{
    if (step < kWarmupSteps)
        return kPeakLearningRate * static_cast<double>(step + 1) / static_cast<double>(kWarmupSteps);
    if (schedule == "constant")
        return kPeakLearningRate;
    const auto done = static_cast<double>(step - kWarmupSteps)
        / static_cast<double>(std::max<std::int64_t>(1, steps - kWarmupSteps));
    const double wave = 0.5 * (1.0 + std::cos(std::numbers::pi * done));
    return kPeakLearningRate * (kLastLearningRateShare + (1.0 - kLastLearningRateShare) * wave);
}

std::string rawBytes(const torch::nn::Module& model)
{
    std::string out;
    for (const auto& entry : model.named_parameters()) {
        const auto dense = entry.value().detach().contiguous();
        out.append(static_cast<const char*>(dense.data_ptr()), dense.nbytes());
    }
    return out;
}

/// How many ranks there are, which write to the same terminal.
int worldSize()
{
    const char* size = std::getenv("WORLD_SIZE");
    return size != nullptr ? std::max(1, static_cast<int>(std::strtol(size, nullptr, 10))) : 1;
}

std::int64_t microseconds(Clock::duration duration)
{
    return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

}

Expected<TrainingResult> train(
    const Options& options, const LoadedConfig& wanted, Sink* sink, int rank, const std::atomic<bool>& interrupted)
{
    auto corpus = Corpus::fromFile(options.textPath, options.seed + static_cast<std::uint64_t>(rank), kWindow);
    if (!corpus)
        return tl::unexpected<Error>(corpus.error());

    // The model is too small for a second thread to win anything, and the dashboard needs the other core; matrix
    // products are threaded by the BLAS.
    if (!std::getenv("OMP_NUM_THREADS"))
        at::set_num_threads(1);
    torch::manual_seed(options.seed);
    ModelShape shape;
    shape.vocabulary = corpus->vocabulary();
    shape.window = kWindow;
    shape.layers = options.layers;
    shape.heads = options.heads;
    shape.width = options.width;
    Transformer model(shape);
    auto saboteur = Saboteur::hired(options.fault, model, rank, worldSize());
    if (!saboteur)
        return tl::unexpected<Error>(saboteur.error());

    torch::optim::AdamW optimizer(model.parameters(), torch::optim::AdamWOptions(kPeakLearningRate).weight_decay(0.01));
    std::optional<TrainerMon> monitor;
    if (sink) {
        MonitorOptions monitorOptions;
        monitorOptions.config = wanted.config;
        monitorOptions.configText = wanted.text;
        monitorOptions.configPath = pathOf(options.configPath);
        monitorOptions.rank = rank;
        monitor.emplace(*sink, std::move(monitorOptions));
        monitor->setMonitor(model, optimizer, { 1, 0, form::kClipped });
    }
    Probe probe(*saboteur, monitor ? &*monitor : nullptr);

    TrainingResult result;
    result.finalLoss = std::numeric_limits<double>::quiet_NaN();
    const std::string who = worldSize() > 1 ? "rank " + std::to_string(rank) + "  " : std::string();
    auto told = Clock::now() - kProgressEvery;
    double tokensPerSecond = 0;
    for (std::int64_t step = 0; step < options.steps && !interrupted.load(); ++step) {
        const auto start = Clock::now();
        saboteur->begin(step, model, optimizer);
        const double rate = learningRate(step, options.steps, options.schedule) * saboteur->learningRateFactor();
        for (auto& group : optimizer.param_groups())
            static_cast<torch::optim::AdamWOptions&>(group.options()).lr(rate);

        auto drawn = corpus->draw(kBatch);
        const auto ids = saboteur->batch(torch::from_blob(drawn.data(), { kBatch, kWindow + 1 }, torch::kInt64));
        const auto logits = model.forward(ids.slice(1, 0, kWindow), probe);
        const auto targets = ids.slice(1, 1, kWindow + 1).reshape({ -1 });
        const auto loss = torch::cross_entropy_loss(logits.view({ -1, shape.vocabulary }), targets);
        optimizer.zero_grad();
        (loss * saboteur->lossFactor()).backward();
        const double norm = torch::nn::utils::clip_grad_norm_(model.parameters(), kGradientLimit);
        result.finalLoss = loss.item<double>();
        if (monitor) {
            monitor->log("loss", result.finalLoss);
            monitor->log("lr", rate);
            monitor->log("grad-norm", norm);
            monitor->log("telltale.samples_seen", static_cast<double>(kBatch * (step + 1)));
            if (tokensPerSecond > 0)
                monitor->log("tokens_per_s", tokensPerSecond);
            monitor->step();
            result.monitorMicroseconds.push_back(microseconds(monitor->lastStepCost()));
        } else {
            optimizer.step();
        }

        const auto now = Clock::now();
        result.stepMicroseconds.push_back(microseconds(now - start));
        tokensPerSecond = kBatch * kWindow / std::chrono::duration<double>(now - start).count();
        result.steps = step + 1;
        if (now - told >= kProgressEvery || result.steps == options.steps) {
            told = now;
            std::fprintf(stderr, "%sstep %lld  loss %.4f  lr %.2e  grad-norm %.3f  %.0f tokens/s\n", who.c_str(),
                static_cast<long long>(step), withoutNanSign(result.finalLoss), rate, withoutNanSign(norm),
                tokensPerSecond);
        }
    }
    result.wasInterrupted = result.steps < options.steps;
    if (!options.weightsPath.empty())
        result.weights = rawBytes(model);
    return result;
}

}
