// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/torch/trainermon.h>

#include <utility>

#include <telltale/torch/monitorstate.h>

namespace telltale {

TrainerMon::TrainerMon(Sink& sink, MonitorOptions options)
    : m_state(std::make_shared<State>(sink, std::move(options)))
{
}

TrainerMon::~TrainerMon()
{
    m_state->removeHooks();
}

void TrainerMon::setMonitor(torch::nn::Module& model, torch::optim::Optimizer& optimizer, ModelOptions options)
{
    m_state->setMonitor(model, optimizer, options);
}

void TrainerMon::tap(std::string_view name, const torch::Tensor& tensor, const Slot& slot)
{
    m_state->tap(name, tensor, slot);
}

void TrainerMon::attention(
    std::string_view name, const torch::Tensor& query, const torch::Tensor& key, double scale, bool causal)
{
    m_state->attention(name, query, key, scale, causal);
}

void TrainerMon::log(std::string_view name, double value)
{
    m_state->log(name, value);
}

torch::Tensor TrainerMon::step(const torch::optim::Optimizer::LossClosure& closure)
{
    auto* const optimizer = m_state->optimizer();
    TORCH_CHECK(optimizer, "TrainerMon::step() needs setMonitor() first");
    torch::Tensor loss;
    if (closure) {
        // The gradients that the optimizer uses exist only after the closure ran; the last run is the one that counts.
        loss = optimizer->step([this, &closure] {
            auto value = closure();
            beforeStep();
            return value;
        });
    } else {
        beforeStep();
        loss = optimizer->step();
    }
    afterStep();
    return loss;
}

void TrainerMon::beforeStep()
{
    m_state->beforeStep();
}

void TrainerMon::afterStep()
{
    m_state->afterStep();
}

std::int64_t TrainerMon::stepNumber() const
{
    return m_state->step();
}

bool TrainerMon::isCollecting() const
{
    return m_state->isCollecting();
}

bool TrainerMon::lookAtConfigNow()
{
    return m_state->lookAtConfigNow();
}

std::chrono::nanoseconds TrainerMon::lastStepCost() const
{
    return m_state->lastCost();
}

std::uint64_t TrainerMon::internalErrors() const
{
    return m_state->internalErrors();
}

}
