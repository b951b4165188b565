// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <type_traits>
#include <utility>

#include <torch/torch.h>

namespace telltale {

/// The optimizer's moments of one parameter; undefined before its first step and for optimizers without them.
/// Thread: training (a value).
struct Moments {
    torch::Tensor first; ///< exp_avg
    torch::Tensor second; ///< exp_avg_sq
};

/// What the optimizer files the state of a parameter under: text in LibTorch 1, an address in LibTorch 2.
using MomentKey = std::decay_t<decltype(std::declval<torch::optim::Optimizer&>().state())>::key_type;
MomentKey momentKey(const torch::Tensor& parameter);
Moments momentsOf(torch::optim::Optimizer& optimizer, const MomentKey& key);

}
