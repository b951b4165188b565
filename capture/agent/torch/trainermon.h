// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <torch/torch.h>

#include <telltale/config/monitorconfig.h>
#include <telltale/core/slot.h>
#include <telltale/torch/sink.h>

namespace telltale {

/// How a TrainerMon works, beside what the config says it collects.
struct MonitorOptions {
    config::MonitorConfig config;
    std::string configText {}; ///< that it was read from
    std::string configPath {}; ///< the job's file, as ConfigKeeper uses it; "" = none
    bool isOn = true; ///< off: nothing is collected
    int rank = 0;
};

/// What the model and its loop look like.
struct ModelOptions {
    int gradAccSteps = 1; ///< micro steps (backward passes) per optimizer step
    std::int64_t startIteration = 0; ///< number of the first optimizer step
    std::uint32_t gradientForm = 0; ///< what the loop did to the gradients before step(): form::kClipped, form::kScaled
};

/// Watches a LibTorch training: weights, gradients, Adam moments and structure by itself, activations where the model
/// calls tap(), attention where it calls attention(), run metrics where the loop calls log().
///
/// Training stays bitwise the same: nothing draws a random number, writes to a tensor, joins the gradient graph or
/// throws into it (an internal error is counted and told once; the third of one kind switches that kind off). Thread:
/// training; gradient hooks may run on autograd's threads.
class TrainerMon {
public:
    /// The sink must live as long as the monitor.
    TrainerMon(Sink& sink, MonitorOptions options);
    TrainerMon(const TrainerMon&) = delete;
    TrainerMon& operator=(const TrainerMon&) = delete;
    ~TrainerMon();

    /// Call once, when the optimizer knows its parameters. The optimizer must live as long as the monitor or until the
    /// next call. Sends the module structure.
    void setMonitor(torch::nn::Module& model, torch::optim::Optimizer& optimizer, ModelOptions options = {});

    /// Says that `tensor` is what module `name` takes (Slot::input(), Slot::input(1)) or gives in this forward pass;
    /// measures it and, in the backward pass, its gradient (the total over everything that consumed it). Passes under
    /// torch::NoGradGuard are not training and are left alone.
    void tap(std::string_view name, const torch::Tensor& tensor, const Slot& slot = Slot::output());
    /// Entropy and softmax maximum of every head of softmax(scale * query . key^T), see attentionStats().
    void attention(
        std::string_view name, const torch::Tensor& query, const torch::Tensor& key, double scale, bool causal);
    /// A run metric ("loss", "lr", "grad-norm", any name) of the step that the next step() ends. Sent at every step,
    /// whatever the config collects.
    void log(std::string_view name, double value);

    /// optimizer.step() with the measurements before and after it; counts one step.
    torch::Tensor step(const torch::optim::Optimizer::LossClosure& closure = nullptr);
    /// The two halves of step(), for loops that call the optimizer themselves.
    void beforeStep();
    void afterStep();

    /// Number of the step that is being collected.
    std::int64_t stepNumber() const;
    bool isCollecting() const;
    /// Waits until the config file as it is now has been looked at, so that the step in progress is the last under the
    /// old config; false when that took too long. Where nobody wants to know of edits it is not. Not for the training
    /// loop.
    bool lookAtConfigNow();
    /// Time spent in the monitor during the last finished step.
    std::chrono::nanoseconds lastStepCost() const;
    std::uint64_t internalErrors() const;

private:
    class State;
    const std::shared_ptr<State> m_state; ///< gradient hooks hold it weakly
};

}
