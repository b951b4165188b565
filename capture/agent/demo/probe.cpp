// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/demo/probe.h>

#include <limits>

#include <telltale/torch/trainermon.h>

namespace telltale::demo {
namespace {

constexpr double kSpike = 1000.0;

}

Probe::Probe(const Fault& fault, TrainerMon* monitor)
    : m_fault(fault)
    , m_monitor(monitor)
{
}

torch::Tensor Probe::output(const std::string& module, torch::Tensor value)
{
    if (m_fault.strikesOutputAt(m_step, module))
        value = spoiled(value);
    if (m_monitor)
        m_monitor->tap(module, value);
    return value;
}

double Probe::attention(const std::string& module, const torch::Tensor& query, const torch::Tensor& key, double scale)
{
    scale *= m_fault.scoreFactor(m_step, module);
    if (m_monitor)
        m_monitor->attention(module, query, key, scale, true);
    return scale;
}

torch::Tensor Probe::spoiled(const torch::Tensor& value) const
{
    if (m_fault.kind == FaultKind::Spike)
        return value * kSpike;
    auto addend = torch::zeros_like(value);
    const bool isNan = m_fault.kind == FaultKind::Nan;
    addend.view(-1)[0] = isNan ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
    return value + addend;
}

}
