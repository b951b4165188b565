// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include <torch/torch.h>

#include <telltale/demo/fault.h>

namespace telltale {
class TrainerMon;
}

namespace telltale::demo {

/// What the model shows on its way forward: each module's output goes through here, to be spoiled by a fault and then
/// seen by the monitor. Thread: training.
class Probe {
public:
    /// `monitor` may be null.
    Probe(const Fault& fault, TrainerMon* monitor);

    void setStep(std::int64_t step) { m_step = step; }
    /// Returns `value` unless the fault strikes here and now.
    torch::Tensor output(const std::string& module, torch::Tensor value);
    /// Scale to use for the attention scores of `module`, whose queries and keys are [batch, head, position, dim].
    double attention(const std::string& module, const torch::Tensor& query, const torch::Tensor& key, double scale);

private:
    torch::Tensor spoiled(const torch::Tensor& value) const;

    const Fault m_fault;
    TrainerMon* const m_monitor;
    std::int64_t m_step = 0;
};

}
