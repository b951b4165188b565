// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include <torch/torch.h>

#include <telltale/core/expected.h>
#include <telltale/demo/fault.h>

namespace telltale::demo {

/// Makes a fault happen: it changes what the training computes, never what is recorded of it. Thread: training, and
/// what autograd runs a hook on.
class Saboteur {
public:
    /// Checks that `model` can have the fault, chooses the module where none was named, and hangs into the model what
    /// it takes. `rank` of `world`: who this is.
    static Expected<Saboteur> hired(Fault fault, torch::nn::Module& model, int rank, int world);

    const Fault& fault() const { return m_fault; }
    /// Before a step: what happens to weights, moments and modules at it.
    void begin(std::int64_t step, torch::nn::Module& model, torch::optim::Optimizer& optimizer);
    /// [batch, position]; returns `ids` unless the fault strikes here and now.
    torch::Tensor batch(torch::Tensor ids) const;
    /// What a module has put out; returns `value` unless the fault strikes here and now.
    torch::Tensor output(const std::string& module, torch::Tensor value) const;
    double scoreFactor(const std::string& module) const { return m_fault.scoreFactor(*m_step, module); }
    double inputFactor(const std::string& module) const { return m_fault.inputFactor(*m_step, module); }
    double learningRateFactor() const { return m_fault.learningRateFactor(*m_step); }
    double lossFactor() const { return m_fault.lossFactor(*m_step); }

private:
    explicit Saboteur(Fault fault);
    bool strikes(FaultKind kind) const { return m_fault.strikes(kind, *m_step); }
    void spoilWeights(torch::nn::Module& model) const;

    Fault m_fault;
    std::shared_ptr<std::int64_t> m_step; ///< shared with the hooks, which outlive a move
};

}
