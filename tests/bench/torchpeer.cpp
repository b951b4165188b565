// SPDX-License-Identifier: GPL-3.0-or-later
#include "torchpeer.h"

#include <torch/torch.h>

namespace telltale::bench {

struct TorchPeer::State {
    std::vector<at::Tensor> tensors;
    double sink = 0;
};

TorchPeer::TorchPeer(const std::vector<std::vector<float>>& tensors)
    : m_state(new State)
{
    at::set_num_threads(1);
    for (const auto& t : tensors) {
        m_state->tensors.push_back(
            torch::from_blob(const_cast<float*>(t.data()), { static_cast<std::int64_t>(t.size()) }, torch::kFloat32));
    }
}

TorchPeer::~TorchPeer()
{
    delete m_state;
}

void TorchPeer::sixOps()
{
    const torch::NoGradGuard noGrad;
    double sum = 0;
    for (const at::Tensor& t : m_state->tensors) {
        sum += t.norm().item<double>() + t.mean().item<double>() + t.min().item<double>() + t.max().item<double>();
        sum += at::isnan(t).sum().item<double>();
        sum += (t.abs() < 1e-8).sum().item<double>() / static_cast<double>(t.numel());
    }
    m_state->sink = sum;
}

void TorchPeer::foreachNorm()
{
    const torch::NoGradGuard noGrad;
    m_state->sink = at::_foreach_norm(m_state->tensors).front().item<double>();
}

}
