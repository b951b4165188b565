// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/demo/probe.h>

#include <telltale/torch/trainermon.h>

namespace telltale::demo {

Probe::Probe(const Saboteur& saboteur, TrainerMon* monitor)
    : m_saboteur(saboteur)
    , m_monitor(monitor)
{
}

torch::Tensor Probe::output(const std::string& module, torch::Tensor value)
{
    value = m_saboteur.output(module, std::move(value));
    if (m_monitor)
        m_monitor->tap(module, value);
    return value;
}

double Probe::attention(const std::string& module, torch::Tensor& query, torch::Tensor& key, double scale)
{
    if (const double factor = m_saboteur.inputFactor(module); factor != 1.0) {
        query = query * factor;
        key = key * factor;
    }
    scale *= m_saboteur.scoreFactor(module);
    if (m_monitor)
        m_monitor->attention(module, query, key, scale, true);
    return scale;
}

}
