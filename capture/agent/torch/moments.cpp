// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/torch/moments.h>

#include <sstream>

namespace telltale {
namespace {

template <typename Key> Key keyOf(torch::TensorImpl* impl)
{
    if constexpr (std::is_pointer_v<Key>) {
        return impl;
    } else {
        std::ostringstream text;
        text << impl;
        return text.str();
    }
}

}

MomentKey momentKey(const torch::Tensor& parameter)
{
    return keyOf<MomentKey>(parameter.unsafeGetTensorImpl());
}

Moments momentsOf(torch::optim::Optimizer& optimizer, const MomentKey& key)
{
    auto& states = optimizer.state();
    const auto found = states.find(key);
    if (found == states.end())
        return {};
    if (auto* const adamw = dynamic_cast<torch::optim::AdamWParamState*>(found->second.get()))
        return { adamw->exp_avg(), adamw->exp_avg_sq() };
    if (auto* const adam = dynamic_cast<torch::optim::AdamParamState*>(found->second.get()))
        return { adam->exp_avg(), adam->exp_avg_sq() };
    return {};
}

}
