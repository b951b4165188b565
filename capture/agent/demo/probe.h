// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include <torch/torch.h>

#include <telltale/demo/saboteur.h>

namespace telltale {
class TrainerMon;
}

namespace telltale::demo {

/// What the model shows on its way forward: each module's output goes through here, to be spoiled by a fault and then
/// seen by the monitor. Thread: training.
class Probe {
public:
    /// `monitor` may be null.
    Probe(const Saboteur& saboteur, TrainerMon* monitor);

    /// Returns `value` unless the fault strikes here and now.
    torch::Tensor output(const std::string& module, torch::Tensor value);
    /// Scale to use for the attention scores of `module`, whose queries and keys are [batch, head, position, dim] and
    /// may be spoiled as well.
    double attention(const std::string& module, torch::Tensor& query, torch::Tensor& key, double scale);

private:
    const Saboteur& m_saboteur;
    TrainerMon* const m_monitor;
};

}
